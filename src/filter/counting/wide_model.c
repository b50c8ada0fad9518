/* wide_model.c - predicts the errors of counters that join, by filling a small filter.
 *
 * There is no formula for how often counters join and how wrong counts become.  But both depend
 * only on how many keys a word has and how often these occur.  So a filter of every s-th key in an
 * s-th of the counters is wrong as often and by as much.  Keys are added in WIDE_MODEL_ROUNDS
 * rounds, in the same order in each, with their share of their count.  That is close enough to any
 * order for conservative updates.  A prediction takes at most 10 ms, whatever the parameters. */
#include "counting.h"
#include "math/probability.h"
#include <math.h>

enum {
    WIDE_MODEL_CELLS = 1 << 15,
    WIDE_MODEL_KEYS = 1 << 15,
    WIDE_MODEL_ROUGH = 8, /* keys and cells are divided by this for a rough prediction */
    WIDE_MODEL_ROUNDS = 4,
    WIDE_MODEL_LOOKS = 32
};

typedef struct wide_model {
    ebi_counting c;
    uint64_t keys;
    const ebi_spectrum *spectrum;
    size_t
        class_of_key; /* of the last key that was asked about, and the keys of the classes before */
    double before;
    uint64_t segment[8 + WIDE_MODEL_CELLS / 16 + 8];
} wide_model;

static void wide_model_open(wide_model *m, const ebi_counting *like, const ebi_spectrum *s,
                            bool rough) {
    const double part = rough ? 1. / WIDE_MODEL_ROUGH : 1, keys = WIDE_MODEL_KEYS * part;
    const double cells = fmin((double)like->n, WIDE_MODEL_CELLS * part);
    const double most = cells * fmin(1, keys * (double)like->n / (cells * s->distinct));
    memset(m, 0, sizeof *m);
    m->spectrum = s;
    m->c = *like;
    m->c.n = (uint64_t)fmax(16.0 * like->k, most);
    m->c.window = m->c.n;
    m->c.part = m->c.n / m->c.k;
    m->keys = (uint64_t)ceil(fmin(keys, s->distinct * (double)m->c.n / (double)like->n));
    m->c.counters = (ebi_counter_array){
        .state = (ebi_store_state *)(void *)m->segment, .n = m->c.n, .bytes = sizeof m->segment};
    m->c.store->open(&m->c.counters);
}

/* A number in [0, 1) that belongs to a key. */
static double wide_model_real(uint64_t key, uint64_t of) {
    return (double)(ebi_mix(key * 4 + of) >> 11) * 0x1p-53;
}

/* How often a key occurs.  All keys of a class have the same count, up to rounding.  Must be called
 * for keys in order, from 0 on in each round. */
static uint64_t wide_model_count(wide_model *m, uint64_t key) {
    const ebi_spectrum *const s = m->spectrum;
    const double rank = ((double)key + wide_model_real(0, 0)) * s->distinct / (double)m->keys;
    if (key == 0) {
        m->class_of_key = 0;
        m->before = 0;
    }
    while (m->class_of_key + 1 < s->classes && rank >= m->before + s->keys[m->class_of_key])
        m->before += s->keys[m->class_of_key++];
    return (uint64_t)fmin(s->count[m->class_of_key] + wide_model_real(key, 1),
                          (double)EBI_COUNTER_MAX);
}

static uint64_t wide_model_share(uint64_t count, uint64_t key, int round) { /* up to that round */
    return (uint64_t)((double)count * round / WIDE_MODEL_ROUNDS + wide_model_real(key, 2));
}

static void wide_model_add(wide_model *m, uint64_t key, uint64_t by) {
    assert(by > 0);
    uint64_t pos[EBI_COUNTING_K_MAX];
    ebi_counting_positions(&m->c, ebi_mix(key), pos);
    (void)ebi_counting_raise_all(&m->c, pos, by, !m->c.linear);
}

/* The highest bits of the cells of a word in which no cells are joined. */
static uint64_t wide_model_tops(void) {
    uint64_t tops = 0;
    for (unsigned i = 1; i <= EBI_WIDE_CELLS; i++)
        tops |= UINT64_C(1) << (i * EBI_WIDE_LAYOUT / EBI_WIDE_CELLS - 1);
    return tops;
}

/* How many of the first cells of a word are in use.  If none are joined, all at once: adding ones
 * to the bits below its top carries into the top, unless they are all 0. */
static unsigned wide_model_used(uint64_t word, unsigned cells, uint64_t tops) {
    const uint64_t below = ebi_ones(EBI_WIDE_LAYOUT) & ~tops;
    unsigned used = 0;
    if (word >> EBI_WIDE_LAYOUT == 0 && cells == EBI_WIDE_CELLS)
        return ebi_popcount((((word & below) + below) | word) & tops);
    for (unsigned i = 0; i < cells; i++) used += ebi_wide_field(word, ebi_wide_place(word, i)) > 0;
    return used;
}

/* The share of counters in use, of those that keys can have. */
static double wide_model_fill(const wide_model *m) {
    const uint64_t n = m->c.k * m->c.part, tops = wide_model_tops();
    uint64_t used = 0, i = 0;
    for (; i + EBI_WIDE_CELLS <= n; i += EBI_WIDE_CELLS)
        used += wide_model_used(ebi_load64(ebi_wide_at(&m->c.counters, i)), EBI_WIDE_CELLS, tops);
    if (i < n)
        used +=
            wide_model_used(ebi_load64(ebi_wide_at(&m->c.counters, i)), (unsigned)(n - i), tops);
    return (double)used / (double)n;
}

static void wide_model_look_back(wide_model *m, eb_prediction *out) {
    double wrong = 0, squares = 0;
    for (uint64_t key = 0; key < m->keys; key++) {
        uint64_t pos[EBI_COUNTING_K_MAX], counter[EBI_COUNTING_K_MAX];
        ebi_counting_positions(&m->c, ebi_mix(key), pos);
        const double off =
            (double)ebi_counting_minimum(&m->c, pos, counter) - (double)wide_model_count(m, key);
        wrong += off > 0;
        squares += off * off;
    }
    out->wrong = wrong / (double)m->keys;
    out->error = sqrt(squares / (double)m->keys);
}

void ebi_wide_predict(const ebi_counting *c, const ebi_counting_stream *l, eb_prediction *out) {
    wide_model m;
    wide_model_open(&m, c, &l->spectrum, ebi_asks_roughly(out));
    const uint64_t all = m.keys * WIDE_MODEL_ROUNDS, step = 1 + (all - 1) / WIDE_MODEL_LOOKS;
    const double uneven = ebi_counting_unevenness(c, l->spectrum.distinct);
    double sum = 0, fresh = 0, met = 0; /* for the mean over new keys, as they come */
    uint64_t key = 0;
    int round = 0;
    for (uint64_t i = 0; i < all; i++, key = key + 1 == m.keys ? 0 : key + 1, round += key == 0) {
        const uint64_t count = wide_model_count(&m, key);
        const uint64_t by =
            wide_model_share(count, key, round + 1) - wide_model_share(count, key, round);
        if (by > 0) wide_model_add(&m, key, by);
        fresh += by > 0 && wide_model_share(count, key, round) == 0;
        if ((i + 1 + step / 2) % step != 0 || !(fresh > 0)) continue;
        sum += fresh * pow(wide_model_fill(&m), c->k);
        met += fresh;
        fresh = 0;
    }
    const double fill = wide_model_fill(&m);
    out->fill = fill * (double)(m.c.k * m.c.part) / (double)m.c.n;
    out->fpr = fmin(1, pow(fill, c->k) * uneven);
    out->mean_fpr = met > 0 ? fmin(1, sum / met * uneven) : out->fpr;
    if (out->size != EBI_ASK_ALL) return;
    wide_model_look_back(&m, out);
    out->wrong = fmin(1, out->wrong * uneven);
    out->error *= sqrt(uneven);
    out->error_bound = exp(1) * c->k * l->spectrum.f1 / (double)c->n;
    out->bits = (double)c->store->bits_usual / 1e6;
}
