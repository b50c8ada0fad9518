/* test_models.c - every filter against its slow twin: the same answers to the
 * same keys, and the same cells. */
#include "filter/counting/counting.h"
#include "model.h"
#include "suite.h"

/* Bit by bit, as the format says. */
static uint64_t slow_cell(const eb_cells_view *v, uint64_t i) {
    uint64_t value = 0;
    for (uint32_t b = 0; b < v->width; b++) {
        const uint64_t bit = i * v->width + b;
        value |= (uint64_t)((v->cells[bit / 8] >> (bit % 8)) & 1) << b;
    }
    return value;
}

static void compare_cells(const eb_filter *f, const model *m) {
    eb_cells_view v;
    if (!model_has_cells(m) || !eb_cells_view_of(f, &v)) return;
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    uint64_t used = 0;
    for (uint64_t i = 0; i < s.cells; i++) {
        const uint64_t value = slow_cell(&v, i);
        HOLDS(value == model_cell(m, i));
        used += value != 0;
    }
    HOLDS(used == s.cells_used);
}

/* Did counters find no room, or may second ones, which nobody shows?  A twin's
 * always do. */
static bool is_overfull(const eb_filter *f, const char *spec) {
    enum { MEAN_MAX = 80, VALUE_MEAN = 5 };
    eb_stats s = {.size = sizeof s};
    uint64_t saturated = 0;
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        ebi_counting c;
        f->kind->counted->counters(&f->p, ebi_shard(f, i), &c);
        saturated += c.counters.state->saturated;
    }
    calls_stat(f, &s);
    return saturated > 0 || s.adds * VALUE_MEAN * model_int(spec, "k") > MEAN_MAX * s.cells;
}

static void compare_counts(const eb_filter *f, const model *m, const suite_stream *s) {
    double count[4000];
    char spec[EB_SPEC_MAX];
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    HOLDS(s->n <= SUITE_COUNT(count));
    if (!model_counts(m) || is_overfull(f, spec)) return;
    calls_count(f, s->hash, s->n, count);
    for (size_t i = 0; i < s->n; i++) HOLDS(count[i] == (double)model_count(m, s->hash[i]));
}

static void compare_removals(eb_filter *f, model *m, const suite_stream *s) {
    const eb_batch some = suite_part(s, s->n / 4, s->n / 2);
    if (!model_counts(m) || !(eb_caps(f) & EB_CAN_REMOVE)) return;
    OK(eb_remove_batch(f, &some, NULL));
    for (size_t i = s->n / 4; i < s->n / 2; i++) model_remove(m, s->hash[i], (uint32_t)s->value[i]);
    compare_counts(f, m, s);
}

static void twin_agrees(const suite_case *c) {
    enum { N = 2500 };
    char spec[EB_SPEC_MAX];
    eb_filter *const f = suite_new(c->spec);
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    model *const m = model_new(spec);
    if (!m) {
        eb_free(f);
        return;
    }
    suite_stream s = suite_make_stream(f, N, N / 2, 101), fresh = suite_make_stream(f, 500, N, 101);
    uint8_t seen[N];
    const eb_batch all = suite_part(&s, 0, N);
    OK(calls_add(f, &all, seen));
    for (size_t i = 0; i < N; i++)
        HOLDS(model_add(m, s.hash[i], (uint32_t)s.value[i], s.time[i]) == (seen[i] != 0));
    calls_test(f, fresh.hash, fresh.n, seen);
    for (size_t i = 0; i < fresh.n; i++) HOLDS(model_test(m, fresh.hash[i]) == (seen[i] != 0));
    compare_cells(f, m);
    compare_counts(f, m, &s);
    compare_counts(f, m, &fresh);
    compare_removals(f, m, &s);
    suite_free_stream(&s);
    suite_free_stream(&fresh);
    model_free(m);
    eb_free(f);
}

static void filters_agree_with_their_twins(void **state) {
    (void)state;
    suite_each(twin_agrees);
}

static void every_twin_is_of_a_kind(void **state) {
    (void)state;
    size_t n;
    const model_kind *const *const twins = model_list(&n);
    for (size_t i = 0; i < n; i++) {
        char spec[EB_SPEC_MAX];
        suite_at("%s", twins[i]->name);
        OK(calls_resolve(twins[i]->name, spec, NULL));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_twin_is_of_a_kind),
        cmocka_unit_test(filters_agree_with_their_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
