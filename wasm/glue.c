/* glue.c - the library as everbloom.mjs calls it: every argument is a number or an address in the
 * module's memory.
 *
 * Structures stay on this side, so that JavaScript knows no layout but arrays of doubles.  A call
 * that fails returns 0 or a negative status; glue_error says why. */
#include <everbloom/everbloom.h>
#include <everbloom/query.h>
#include <stdlib.h>
#include <string.h>

#define GLUE(name) __attribute__((export_name(#name)))

enum { GLUE_HASHES = 0, GLUE_OFFERS = 24 };
static eb_error glue_why;
static eb_offer glue_offers[GLUE_OFFERS];

GLUE(allocate) void *glue_allocate(size_t bytes) {
    return malloc(bytes);
}

GLUE(release) void glue_release(void *p) {
    free(p);
}

GLUE(error) const char *glue_error(void) {
    return glue_why.text;
}

GLUE(error_at) double glue_error_at(void) {
    return glue_why.at == EB_NOWHERE ? -1 : (double)glue_why.at;
}

GLUE(status_name) const char *glue_status_name(int status) {
    return eb_status_name((eb_status)status);
}

GLUE(version) const char *glue_version(void) {
    return EB_VERSION;
}

/* Life */

GLUE(make) eb_filter *glue_make(const char *spec, uint64_t seed) { /* of kinds that draw one */
    char seeded[2 * EB_SPEC_MAX];
    eb_filter *f;
    if (eb_spec_seed(spec, seed, seeded, sizeof seeded, &glue_why) != EB_OK) return NULL;
    return eb_new(&f, seeded, NULL, &glue_why) == EB_OK ? f : NULL;
}

GLUE(load) eb_filter *glue_load(const void *bytes, size_t n) {
    eb_filter *f;
    return eb_load(&f, bytes, n, NULL, NULL, &glue_why) == EB_OK ? f : NULL;
}

GLUE(clone) eb_filter *glue_clone(const eb_filter *f) {
    eb_filter *copy;
    return eb_clone(&copy, f, NULL, &glue_why) == EB_OK ? copy : NULL;
}

GLUE(free) void glue_free(eb_filter *f) {
    eb_free(f);
}

GLUE(save_size) size_t glue_save_size(const eb_filter *f) {
    return eb_save_size(f);
}

GLUE(save) int glue_save(const eb_filter *f, void *to, size_t cap) {
    return eb_save(f, to, cap, &glue_why);
}

GLUE(clear) int glue_clear(eb_filter *f) {
    return eb_clear(f, &glue_why);
}

GLUE(merge) int glue_merge(eb_filter *into, const eb_filter *from, double weight) {
    return eb_merge(into, from, (int64_t)weight, &glue_why);
}

GLUE(spec) const char *glue_spec(const eb_filter *f) {
    return eb_spec(f);
}

GLUE(caps) uint32_t glue_caps(const eb_filter *f) {
    return (uint32_t)eb_caps(f);
}

GLUE(advance) int glue_advance(eb_filter *f, uint64_t time) {
    return eb_advance(f, time, &glue_why);
}

/* Keys: a type of eb_key_type with bytes and offsets, or GLUE_HASHES with 64-bit hashes. */

typedef struct glue_input {
    eb_keys keys;
    eb_batch batch;
} glue_input;

static void glue_open(glue_input *in, uint32_t type, const void *data, size_t bytes,
                      const int32_t *offsets, size_t n) {
    in->keys = offsets ? eb_keys_offsets32((eb_key_type)type, data, bytes, offsets)
                       : eb_keys_column((eb_key_type)type, data, 8);
    in->batch = type == GLUE_HASHES ? eb_batch_hashes(data, n) : eb_batch_keys(&in->keys, n);
}

GLUE(hash) /* of GLUE_HASHES there are none: the library refuses their type */
int glue_hash(const eb_filter *f, uint32_t type, const void *data, size_t bytes,
              const int32_t *offsets, size_t n, eb_hash *out) {
    glue_input in;
    glue_open(&in, type, data, bytes, offsets, n);
    return eb_hash_keys(f, &in.keys, n, out, &glue_why);
}

static void glue_fill(glue_input *in, const uint64_t *value, const uint64_t *time, uint8_t *seen,
                      double *count) {
    in->batch.value = value;
    in->batch.time = time;
    in->batch.seen = seen;
    in->batch.count = count;
}

GLUE(add)
int glue_add(eb_filter *f, uint32_t type, const void *data, size_t bytes, const int32_t *offsets,
             size_t n, const uint64_t *value, const uint64_t *time, uint8_t *seen, double *count) {
    glue_input in;
    glue_open(&in, type, data, bytes, offsets, n);
    glue_fill(&in, value, time, seen, count);
    return eb_add_batch(f, &in.batch, &glue_why);
}

GLUE(ask)
int glue_ask(const eb_filter *f, uint32_t type, const void *data, size_t bytes,
             const int32_t *offsets, size_t n, const uint64_t *value, const uint64_t *time,
             uint8_t *seen, double *count) {
    glue_input in;
    glue_open(&in, type, data, bytes, offsets, n);
    glue_fill(&in, value, time, seen, count);
    return eb_ask_batch(f, &in.batch, &glue_why);
}

GLUE(remove)
int glue_remove(eb_filter *f, uint32_t type, const void *data, size_t bytes, const int32_t *offsets,
                size_t n, const uint64_t *value, const uint64_t *time) {
    glue_input in;
    glue_open(&in, type, data, bytes, offsets, n);
    glue_fill(&in, value, time, NULL, NULL);
    return eb_remove_batch(f, &in.batch, &glue_why);
}

/* Adds the lines of a text: those that end in it and, if it is the last piece, the rest.  New lines
 * go to `fresh`, each with a newline, if it is not NULL; it has room for all bytes and one more.
 * out: bytes that were used, bytes in `fresh`, lines, new lines. */
GLUE(lines)
int glue_lines(eb_filter *f, const char *text, size_t bytes, int last, char *fresh, double *out) {
    enum { GLUE_LINES = 4096 };
    static eb_key key[GLUE_LINES];
    static uint8_t seen[GLUE_LINES];
    size_t at = 0, n = 0, written = 0;
    out[2] = out[3] = 0;
    for (bool more = true; more; n = 0) {
        while (n < GLUE_LINES && more) {
            const char *const end = memchr(text + at, '\n', bytes - at);
            more = end || (last && at < bytes);
            if (!more) break;
            key[n].p = text + at;
            key[n].len = (end ? (size_t)(end - text) : bytes) - at;
            at += key[n++].len + (end != NULL);
        }
        eb_keys keys = eb_keys_array(EB_STRING, key);
        eb_batch batch = eb_batch_keys(&keys, n);
        batch.seen = seen;
        const eb_status status = eb_add_batch(f, &batch, &glue_why);
        if (status != EB_OK) return status;
        for (size_t i = 0; i < n; i++) {
            out[3] += !seen[i];
            if (seen[i] || !fresh) continue;
            memcpy(fresh + written, key[i].p, key[i].len);
            written += key[i].len;
            fresh[written++] = '\n';
        }
        out[2] += (double)n;
    }
    out[0] = (double)at;
    out[1] = (double)written;
    return EB_OK;
}

/* Questions */

static double glue_number(uint64_t x) {
    return x == EB_UNKNOWN ? __builtin_nan("") : (double)x;
}

GLUE(stats) int glue_stats(const eb_filter *f, double *out) {
    eb_stats s;
    EB_INIT(s);
    const eb_status status = eb_stat(f, EB_STAT_CELLS, &s, &glue_why);
    const double all[] = {glue_number(s.adds),
                          glue_number(s.new_keys),
                          glue_number(s.bytes),
                          glue_number(s.clock),
                          glue_number(s.capacity),
                          glue_number(s.parts),
                          glue_number(s.cells),
                          glue_number(s.cells_used),
                          glue_number(s.saturated),
                          s.fill,
                          s.fpr,
                          s.window};
    memcpy(out, all, sizeof all);
    return status;
}

/* Four doubles a key: address and length of its bytes, count, lower count.  How many, or a status;
 * the watermark comes first. */
GLUE(top) int glue_top(const eb_filter *f, double at_least, size_t cap, double *out) {
    eb_top_list list;
    EB_INIT(list);
    list.at_least = at_least;
    list.cap = cap;
    list.keys = calloc(cap + 1, sizeof *list.keys);
    if (!list.keys) return EB_ENOMEM;
    const eb_status status = eb_top(f, &list, &glue_why);
    out[0] = list.watermark;
    for (size_t i = 0; status == EB_OK && i < list.n; i++) {
        const eb_top_key *const k = &list.keys[i];
        const double row[] = {(double)(uintptr_t)k->key.p, (double)k->key.len, k->count, k->lower};
        memcpy(out + 1 + 4 * i, row, sizeof row);
    }
    free(list.keys);
    return status == EB_OK ? (int)list.n : status;
}

GLUE(range) int glue_range(const eb_filter *f, uint64_t from, uint64_t to, double *out) {
    eb_range r;
    EB_INIT(r);
    const eb_status status = eb_range_count(f, from, to, &r, &glue_why);
    out[0] = r.lower;
    out[1] = r.upper;
    return status;
}

GLUE(quantile) int glue_quantile(const eb_filter *f, double q, uint64_t *out) {
    eb_quantile a;
    EB_INIT(a);
    const eb_status status = eb_range_quantile(f, q, &a, &glue_why);
    out[0] = a.value;
    out[1] = a.lower;
    out[2] = a.upper;
    return status;
}

/* Prediction and planning */

typedef struct glue_stream { /* as everbloom.mjs writes it: doubles */
    double items, distinct, zipf, gap, rate, value, order;
} glue_stream;

static eb_workload glue_load_of(const glue_stream *s) {
    eb_workload w;
    EB_INIT(w);
    w.items = s->items;
    w.distinct = s->distinct;
    w.zipf = s->zipf;
    w.gap = s->gap;
    w.rate = s->rate;
    w.value = s->value;
    w.order = (uint32_t)s->order;
    return w;
}

enum { GLUE_PREDICTED = 16 };

GLUE(predict)
int glue_predict(const char *spec, const glue_stream *stream, const double *items, size_t n,
                 double *out) {
    const eb_workload w = glue_load_of(stream);
    eb_prediction *const p = calloc(n, sizeof *p);
    if (!p) return EB_ENOMEM;
    p->size = sizeof *p;
    const eb_status status = eb_predict(spec, &w, items, n, p, &glue_why);
    for (size_t i = 0; status == EB_OK && i < n; i++) {
        const double all[GLUE_PREDICTED] = {
            p[i].items,         p[i].fpr,      p[i].fnr,         p[i].fill,
            p[i].settles_after, p[i].mean_fpr, p[i].mean_fnr,    p[i].accuracy,
            p[i].fpr_low,       p[i].fpr_high, p[i].fnr_low,     p[i].fnr_high,
            p[i].wrong,         p[i].error,    p[i].error_bound, p[i].most_fpr};
        memcpy(out + GLUE_PREDICTED * i, all, sizeof all);
    }
    free(p);
    return status;
}

typedef struct glue_goal { /* doubles, too */
    glue_stream stream;
    double max_bytes, max_fpr, max_fnr, window, caps, prefer, all_kinds;
} glue_goal;

GLUE(plan) int glue_plan(const glue_goal *wish, const char *options) { /* how many offers */
    const eb_workload w = glue_load_of(&wish->stream);
    eb_goal g;
    size_t n;
    EB_INIT(g);
    g.load = &w;
    g.options = options;
    g.max_bytes = wish->max_bytes;
    g.max_fpr = wish->max_fpr;
    g.max_fnr = wish->max_fnr;
    g.window = wish->window;
    g.caps = (uint64_t)wish->caps;
    g.prefer = (uint32_t)wish->prefer;
    g.all_kinds = (uint32_t)wish->all_kinds;
    for (size_t i = 0; i < GLUE_OFFERS; i++) EB_INIT(glue_offers[i]);
    const eb_status status = eb_plan(&g, glue_offers, GLUE_OFFERS, &n, &glue_why);
    return status == EB_OK ? (int)n : status;
}

GLUE(offer_spec) const char *glue_offer_spec(size_t i) {
    return glue_offers[i].spec;
}

GLUE(offer) const char *glue_offer(size_t i, double *out) { /* its kind */
    const eb_offer *const o = &glue_offers[i];
    const double all[] = {o->bytes,    o->mean_fpr, o->mean_fnr, o->most_fpr,
                          o->most_fnr, o->regret,   o->lines,    o->error};
    memcpy(out, all, sizeof all);
    return o->kind->name;
}

/* What a spec costs: bytes, bytes of a snapshot, caps. */
GLUE(describe) int glue_describe(const char *spec, double *out, char *canonical) {
    eb_spec_info s;
    EB_INIT(s);
    const eb_status status = eb_spec_describe(spec, &s, &glue_why);
    if (status != EB_OK) return status;
    out[0] = (double)s.bytes;
    out[1] = (double)s.snapshot_bytes;
    out[2] = (double)s.caps;
    memcpy(canonical, s.canonical, sizeof s.canonical);
    return status;
}

/* Kinds; texts that are not there are address 0. */

GLUE(kinds) size_t glue_kinds(void) {
    size_t n;
    (void)eb_kinds(&n);
    return n;
}

GLUE(kind_text) const char *glue_kind_text(size_t i, int which) {
    size_t n;
    const eb_kind_info *const k = eb_kinds(&n)[i];
    return which == 0 ? k->name : which == 1 ? k->summary : which == 2 ? k->paper : k->question;
}

GLUE(kind_caps) uint32_t glue_kind_caps(size_t i) {
    size_t n;
    return (uint32_t)eb_kinds(&n)[i]->caps;
}

GLUE(option_text) const char *glue_option_text(size_t i, size_t option, int which) {
    size_t n;
    const eb_option *const o = &eb_kinds(&n)[i]->options[option];
    const char *const all[] = {o->key, o->type, o->dflt, o->min, o->max, o->help};
    return all[which];
}
