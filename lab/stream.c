/* stream.c - streams of key ids with known laws.
 *
 * "copies" is the data of the de-duplication paper: exactly D keys once each,
 * n - D uniform copies of them, all shuffled.  Nothing is stored: record t takes
 * slot pi(t) of the unshuffled list, where pi is a keyed permutation of 0..n-1;
 * slots below D are the keys themselves, slot i >= D is a copy of the key that a
 * hash of i names.
 *
 * "gaps" and "depths" are endless streams: a record is a new key, or repeats the
 * key of the record `gap` before (that key may have come again meanwhile), or
 * the key at an exact place in the list of keys by last appearance. */
#include "lab.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lab_stream {
    size_t (*next)(lab_stream *s, uint64_t *ids, size_t cap);
    uint64_t records, at; /* at: records given out */
    uint64_t ids;         /* all ids are below this */
    uint64_t known;       /* gaps, depths: ids given out */
    uint64_t seed;
    lab_rng rng;
    unsigned bits;   /* copies: the permutation works on this many bits */
    double fresh;    /* gaps, depths */
    lab_gap gap;     /* gaps, depths */
    uint32_t *past;  /* gaps, depths, list: the id of each record */
    uint32_t *newer; /* depths: Fenwick tree over records that are their key's last */
    uint32_t *last;  /* depths: the last record of each id */
    uint64_t live;   /* depths: keys in the tree */
};

static lab_stream *stream_new(uint64_t records, uint64_t ids, uint64_t seed,
                              size_t (*next)(lab_stream *, uint64_t *, size_t)) {
    lab_stream *s = lab_alloc(1, sizeof *s);
    s->next = next;
    s->records = records;
    s->ids = ids;
    s->seed = seed;
    s->rng.state = lab_mix(seed ^ 0x6c61627374726d00u);
    return s;
}

size_t lab_stream_next(lab_stream *s, uint64_t *ids, size_t cap) {
    const uint64_t left = s->records - s->at;
    const size_t n = s->next(s, ids, left < cap ? (size_t)left : cap);
    s->at += n;
    return n;
}

uint64_t lab_stream_ids(const lab_stream *s) {
    return s->ids;
}

uint64_t lab_stream_salt(const lab_stream *s) {
    return lab_mix(s->seed + 1);
}

uint64_t lab_stream_records(const lab_stream *s) {
    return s->records;
}

void lab_stream_free(lab_stream *s) {
    if (!s) return;
    free(s->past);
    free(s->newer);
    free(s->last);
    free(s);
}

/* Copies, shuffled */

/* A permutation of the numbers of `bits` bits: rounds of steps that can be undone
 * (multiply by an odd number, add, fold the upper half into the lower). */
static uint64_t stream_permute_bits(uint64_t x, unsigned bits, uint64_t key) {
    const uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
    for (unsigned round = 0; round < 4; round++) {
        x = ((x + key) * 0xd1342543de82ef95u) & mask;
        x ^= x >> (bits / 2 + 1);
        x = (x * 0xaf251af3b0f025b5u) & mask;
        x ^= x >> (bits / 2);
        key = key * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    }
    return x;
}

/* Of 0..n-1: walk along the larger permutation's cycle until inside. */
static uint64_t stream_permute(const lab_stream *s, uint64_t x) {
    do x = stream_permute_bits(x, s->bits, s->rng.state);
    while (x >= s->records);
    return x;
}

static size_t stream_next_copies(lab_stream *s, uint64_t *ids, size_t cap) {
    for (size_t i = 0; i < cap; i++) {
        const uint64_t slot = stream_permute(s, s->at + i);
        lab_rng r = {slot ^ s->rng.state};
        ids[i] = slot < s->ids ? slot : lab_below(&r, s->ids);
    }
    return cap;
}

lab_stream *lab_stream_copies(uint64_t records, uint64_t distinct, uint64_t seed) {
    lab_stream *s = stream_new(records, distinct, seed, stream_next_copies);
    s->bits = 2;
    while (s->bits < 64 && (uint64_t)1 << s->bits < records) s->bits++;
    return s;
}

static size_t stream_next_uniform(lab_stream *s, uint64_t *ids, size_t cap) {
    for (size_t i = 0; i < cap; i++) ids[i] = lab_below(&s->rng, s->ids);
    return cap;
}

lab_stream *lab_stream_uniform(uint64_t records, uint64_t universe, uint64_t seed) {
    return stream_new(records, universe, seed, stream_next_uniform);
}

static size_t stream_next_earlier(lab_stream *s, uint64_t *ids, size_t cap) {
    for (size_t i = 0; i < cap; i++) {
        const uint64_t t = s->at + i;
        const bool fresh = t == 0 || lab_unit(&s->rng) < s->fresh;
        s->past[t] = fresh ? (uint32_t)s->known++ : s->past[lab_below(&s->rng, t)];
        ids[i] = s->past[t];
    }
    return cap;
}

/* Gaps */

double lab_gap_draw(const lab_gap *g, lab_rng *r) {
    const double u = lab_unit(r);
    if (g->law == LAB_UNIFORM) return g->scale * u;
    if (g->law == LAB_EXPONENTIAL) return -g->scale * log(u);
    return g->scale * pow(u, -1 / g->shape);
}

double lab_gap_density(const lab_gap *g, double gap) {
    if (g->law == LAB_UNIFORM) return gap < g->scale ? 1 / g->scale : 0;
    if (g->law == LAB_EXPONENTIAL) return exp(-gap / g->scale) / g->scale;
    return gap < g->scale ? 0 : g->shape / gap * pow(g->scale / gap, g->shape);
}

static size_t stream_next_gaps(lab_stream *s, uint64_t *ids, size_t cap) {
    for (size_t i = 0; i < cap; i++) {
        const uint64_t t = s->at + i;
        double gap = (double)t; /* as far as the first record: a new key */
        if (lab_unit(&s->rng) >= s->fresh) gap = lab_gap_draw(&s->gap, &s->rng);
        s->past[t] = gap >= (double)t ? (uint32_t)s->known++ : s->past[t - 1 - (uint64_t)gap];
        ids[i] = s->past[t];
    }
    return cap;
}

lab_stream *lab_stream_gaps(uint64_t records, double fresh, lab_gap gap, uint64_t seed) {
    if (records > UINT32_MAX) lab_die("a stream with gaps has at most %u records", UINT32_MAX);
    lab_stream *s = stream_new(records, records, seed, stream_next_gaps);
    s->fresh = fresh;
    s->gap = gap;
    s->past = lab_alloc(records, sizeof *s->past);
    return s;
}

lab_stream *lab_stream_earlier(uint64_t records, double fresh, uint64_t seed) {
    lab_stream *s = lab_stream_gaps(records, fresh, (lab_gap){LAB_UNIFORM, 0, 0}, seed);
    s->next = stream_next_earlier;
    return s;
}

/* A list */

static size_t stream_next_list(lab_stream *s, uint64_t *ids, size_t cap) {
    for (size_t i = 0; i < cap; i++) ids[i] = s->past[s->at + i];
    return cap;
}

lab_stream *lab_stream_list(uint32_t *list, uint64_t records, uint64_t ids, uint64_t seed) {
    lab_stream *s = stream_new(records, ids, seed, stream_next_list);
    s->past = list;
    return s;
}

/* Depths: a Fenwick tree marks the records that are the last of their key. */

static void stream_mark(lab_stream *s, uint64_t record, uint32_t by) {
    for (uint64_t i = record + 1; i <= s->records; i += i & -i) s->newer[i] += by;
    s->live += by == 1 ? 1 : (uint64_t)-1;
}

/* The record that `rank` marked records (0: none) stand before. */
static uint64_t stream_select(const lab_stream *s, uint64_t rank) {
    uint64_t at = 0, step = 1;
    while (step * 2 <= s->records) step *= 2;
    for (; step; step /= 2)
        if (at + step <= s->records && s->newer[at + step] <= rank) {
            at += step;
            rank -= s->newer[at];
        }
    return at;
}

static uint64_t stream_deep_key(lab_stream *s) {
    if (lab_unit(&s->rng) < s->fresh) return s->known++;
    const double depth = lab_gap_draw(&s->gap, &s->rng);
    if (depth >= (double)s->live) return s->known++;
    return s->past[stream_select(s, s->live - 1 - (uint64_t)depth)];
}

static size_t stream_next_depths(lab_stream *s, uint64_t *ids, size_t cap) {
    for (size_t i = 0; i < cap; i++) {
        const uint64_t t = s->at + i, known = s->known, id = stream_deep_key(s);
        if (id < known) stream_mark(s, s->last[id], (uint32_t)-1);
        stream_mark(s, t, 1);
        s->last[id] = (uint32_t)t;
        s->past[t] = (uint32_t)id;
        ids[i] = id;
    }
    return cap;
}

lab_stream *lab_stream_depths(uint64_t records, double fresh, lab_gap depth, uint64_t seed) {
    lab_stream *s = lab_stream_gaps(records, fresh, depth, seed);
    s->next = stream_next_depths;
    s->newer = lab_alloc(records + 1, sizeof *s->newer);
    s->last = lab_alloc(records, sizeof *s->last);
    return s;
}
