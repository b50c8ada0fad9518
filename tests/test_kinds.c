/* test_kinds.c - the conformance suite: what every kind in the registry must do,
 * whatever its rules are.  No line here names a kind. */
#include "suite.h"
#include <ctype.h>

enum { STREAM = 1500, UNIVERSE = 1000 };

/* Specs */

static void resolves_to_itself(const suite_case *c) {
    char once[EB_SPEC_MAX], twice[EB_SPEC_MAX];
    OK(calls_resolve(c->text, once, NULL));
    OK(calls_resolve(once, twice, NULL));
    HOLDS(strcmp(once, twice) == 0);
    HOLDS(strcmp(once, c->spec) == 0);
    eb_filter *const f = suite_new(c->text), *const g = suite_new(once);
    HOLDS(strcmp(eb_spec(f), once) == 0);
    HOLDS(suite_equal(f, g));
    for (size_t i = 0; c->kind->info.options[i].key; i++) { /* wishes shape nothing */
        char wish[80];
        (void)snprintf(wish, sizeof wish, "%s=", c->kind->info.options[i].key);
        const char *const at = strstr(once, wish);
        HOLDS(!c->kind->info.options[i].wish || !at || (at[-1] != ':' && at[-1] != ','));
    }
    eb_free(f);
    eb_free(g);
}

static void canonical_specs_resolve_to_themselves(void **state) {
    (void)state;
    suite_each(resolves_to_itself);
}

/* One name, one meaning: an option that several kinds have holds the same sort of value in all. */
static const char *sort_of_value(const eb_option *o) {
    if (strcmp(o->type, "list") == 0 || strcmp(o->type, "hex") == 0) return o->type;
    return strchr(o->type, '|') && !isdigit((unsigned char)o->type[0]) ? "word" : "number";
}

/* Words that name the same choices must name them alike: a set of choices contains the other, or
 * they have none in common. */
static bool choices_agree(const eb_option *a, const eb_option *b) {
    size_t common = 0, of_a = 0, of_b = 0;
    for (const char *p = a->type; *p; p += strcspn(p, "|"), p += *p == '|') of_a++;
    for (const char *q = b->type; *q; q += strcspn(q, "|"), q += *q == '|') {
        of_b++;
        for (const char *p = a->type; *p; p += strcspn(p, "|"), p += *p == '|')
            common += strcspn(p, "|") == strcspn(q, "|") && strncmp(p, q, strcspn(p, "|")) == 0;
    }
    return common == 0 || common == of_a || common == of_b || strcmp(a->key, "store") == 0;
}

static void recommended_kinds_come_first_and_ask(void **state) {
    (void)state;
    size_t n, asked = 0;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    while (asked < n && kinds[asked]->question) asked++;
    HOLDS(asked >= 10 && asked < n);
    for (size_t i = 0; i < n; i++) {
        suite_at("%s", kinds[i]->name);
        HOLDS((kinds[i]->question != NULL) == (i < asked));
        if (i < asked) HOLDS(kinds[i]->question[strlen(kinds[i]->question) - 1] == '?');
    }
}

static void a_name_has_one_meaning(void **state) {
    (void)state;
    for (size_t i = 0; i < ebi_registry_size; i++)
        for (size_t j = 0; j < i; j++)
            for (const eb_option *a = ebi_registry[i].kind->info.options; a->key; a++)
                for (const eb_option *b = ebi_registry[j].kind->info.options; b->key; b++) {
                    if (strcmp(a->key, b->key) != 0) continue;
                    suite_at("%s of %s and %s", a->key, ebi_registry[i].kind->info.name,
                             ebi_registry[j].kind->info.name);
                    HOLDS(strcmp(sort_of_value(a), sort_of_value(b)) == 0);
                    HOLDS(a->wish == b->wish);
                    if (strchr(a->type, '|') && strchr(b->type, '|')) HOLDS(choices_agree(a, b));
                }
}

static void tables_are_complete(void **state) {
    (void)state;
    size_t n;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    HOLDS(n == ebi_registry_size && n > 0);
    for (size_t i = 0; i < n; i++) {
        suite_at("%s", kinds[i]->name);
        HOLDS(kinds[i] == &ebi_registry[i].kind->info);
        HOLDS(strlen(kinds[i]->summary) > 10 && strlen(kinds[i]->paper) > 5);
        for (size_t j = 0; j < i; j++)
            HOLDS(strcmp(kinds[i]->name, kinds[j]->name) != 0 &&
                  ebi_registry[i].number != ebi_registry[j].number);
        for (const eb_option *o = kinds[i]->options; o->key; o++) {
            suite_at("%s, option %s", kinds[i]->name, o->key);
            const bool number = !strchr(o->type, '|') && strcmp(o->type, "hex") != 0;
            HOLDS(o->help && strlen(o->help) > 5);
            HOLDS(!number || (o->min && o->max));
            for (const eb_option *other = kinds[i]->options; other < o; other++)
                HOLDS(strcmp(o->key, other->key) != 0);
        }
    }
}

static void caps_are_kept(const suite_case *c) {
    const uint64_t caps = c->kind->info.caps;
    HOLDS(!(caps & EB_CAN_REMOVE) == !c->kind->removing);
    HOLDS(!(caps & EB_CAN_MERGE) == !c->kind->merge);
    HOLDS(!c->kind->timed || (caps & EB_USES_TIME));
    const uint64_t own = suite_caps(c);                                /* with these options */
    HOLDS((own & ~caps & ~(uint64_t)(EB_ORDER_FREE | EB_GROWS)) == 0); /* options add only these */
    HOLDS(!(own & EB_FORGETS) || !(own & EB_NO_FALSE_NEGATIVES));
}

static void caps_and_functions_agree(void **state) {
    (void)state;
    suite_each_base(caps_are_kept);
}

static void default_filter_works(const suite_case *c) {
    eb_filter *const f = suite_new(c->kind->info.name);
    bool seen = true;
    if (eb_add(f, "12", 2, &seen, NULL) != EB_EVALUE) /* a value of 1 may be out of range */
        HOLDS(!seen && calls_has(f, "12", 2) && calls_count_of(f, "12", 2) > 0);
    HOLDS(!calls_has(f, "34567", 5) && calls_count_of(f, "34567", 5) == 0);
    eb_free(f);
}

static void defaults_make_a_filter(void **state) {
    (void)state;
    suite_each_base(default_filter_works);
}

/* Batches */

static void feed_singly(eb_filter *f, const suite_stream *s, uint8_t *seen) {
    for (size_t i = 0; i < s->n; i++) {
        const eb_batch one = suite_part(s, i, i + 1);
        OK(calls_add(f, &one, seen + i));
    }
}

static void feed_in_batches(eb_filter *f, const suite_stream *s, uint8_t *seen, uint64_t seed) {
    for (size_t i = 0; i < s->n;) {
        const size_t n = ebi_min(s->n - i, 1 + suite_below(&seed, 200));
        const eb_batch part = suite_part(s, i, i + n);
        OK(calls_add(f, &part, seen + i));
        i += n;
    }
}

static void batches_are_singles(const suite_case *c) {
    eb_filter *const one = suite_new(c->spec), *const many = suite_new(c->spec);
    eb_filter *const whole = suite_new(c->spec);
    suite_stream s = suite_make_stream(one, STREAM, UNIVERSE, 11);
    uint8_t a[STREAM], b[STREAM], d[STREAM];
    const eb_batch all = suite_part(&s, 0, s.n), none = suite_part(&s, 0, 0);
    feed_singly(one, &s, a);
    feed_in_batches(many, &s, b, 12);
    OK(calls_add(whole, &all, d));
    HOLDS(memcmp(a, b, STREAM) == 0 && suite_equal(one, many));
    HOLDS(memcmp(a, d, STREAM) == 0 && suite_equal(one, whole));
    OK(calls_add(whole, &none, d));
    HOLDS(suite_equal(one, whole));
    suite_free_stream(&s);
    eb_free(one);
    eb_free(many);
    eb_free(whole);
}

static void batches_equal_singles(void **state) {
    (void)state;
    suite_each(batches_are_singles);
}

/* Counts come with the adding as if each key were asked about after its turn, but for counters that
 * find no room: who asks later gets a larger count. */
static void adding_counts(const suite_case *c) {
    if (!(suite_caps(c) & EB_CAN_COUNT)) return;
    eb_filter *const one = suite_new(c->spec), *const many = suite_new(c->spec);
    suite_stream s = suite_make_stream(one, STREAM, UNIVERSE, 13);
    static double after[STREAM];
    uint64_t seed = 14;
    for (size_t i = 0, n; i < s.n; i += n) {
        n = ebi_min(s.n - i, 1 + suite_below(&seed, 200));
        const eb_batch part = suite_part(&s, i, i + n);
        OK(calls_add_count(many, &part, after + i));
    }
    for (size_t i = 0; i < s.n; i++) {
        const eb_batch key = suite_part(&s, i, i + 1);
        double count;
        OK(eb_add_batch(one, &key, NULL));
        calls_count(one, key.hash, 1, &count);
        if (after[i] == count) continue;
        eb_stats full = {.size = sizeof full};
        calls_stat(one, &full);
        HOLDS(after[i] < count && full.saturated > 0);
    }
    HOLDS(suite_equal(one, many));
    suite_free_stream(&s);
    eb_free(one);
    eb_free(many);
}

static void adding_can_count(void **state) {
    (void)state;
    suite_each(adding_counts);
}

static void cuts_do_not_matter(const suite_case *c) {
    enum { N = 140 };
    uint8_t seen[N], want[N];
    eb_filter *const whole = suite_new(c->spec);
    suite_stream s = suite_make_stream(whole, N, N / 2, 21);
    const eb_batch all = suite_part(&s, 0, N);
    OK(calls_add(whole, &all, want));
    for (size_t cut = 0; cut <= N; cut += c->far ? 35 : c->base ? 1 : 9) {
        eb_filter *const f = suite_new(c->spec);
        const eb_batch left = suite_part(&s, 0, cut), right = suite_part(&s, cut, N);
        OK(calls_add(f, &left, seen));
        OK(calls_add(f, &right, seen + cut));
        HOLDS(memcmp(seen, want, N) == 0 && suite_equal(f, whole));
        eb_free(f);
    }
    suite_free_stream(&s);
    eb_free(whole);
}

static void a_batch_may_be_cut_anywhere(void **state) {
    (void)state;
    suite_each(cuts_do_not_matter);
}

static void asking_is_consistent(const suite_case *c) {
    enum { N = 500 };
    eb_filter *const f = suite_filled(c->spec, STREAM, 31), *const copy =
                                                                suite_filled(c->spec, STREAM, 31);
    suite_stream s = suite_make_stream(f, N, UNIVERSE, 31);
    uint8_t seen[N], one;
    double count[N], single;
    for (size_t i = 0; i < N; i += 2) s.hash[i] = suite_key(f, ebi_mix(i)); /* half of them fresh */
    calls_test(f, s.hash, N, seen);
    calls_count(f, s.hash, N, count);
    for (size_t i = 0; i < N; i++) {
        calls_test(f, s.hash + i, 1, &one);
        calls_count(f, s.hash + i, 1, &single);
        HOLDS(one == seen[i] && single == count[i] && seen[i] <= 1);
        HOLDS((count[i] > 0) == (seen[i] == 1));
        HOLDS((suite_caps(c) & EB_CAN_COUNT) || count[i] == seen[i]);
    }
    HOLDS(suite_equal(f, copy)); /* asking changes nothing */
    suite_free_stream(&s);
    eb_free(f);
    eb_free(copy);
}

static void asking_is_the_same_for_one_and_many(void **state) {
    (void)state;
    suite_each(asking_is_consistent);
}

static void keys_are_hashes(const suite_case *c) {
    /* Kinds that keep keys get bytes of hashes as keys here; numbers: test_range.c */
    if (suite_caps(c) & (EB_KEEPS_KEYS | EB_KEYS_ARE_NUMBERS)) return;
    eb_filter *const f = suite_new(c->spec), *const g = suite_new(c->spec);
    const bool one_is_a_value = f->p.value_min <= 1; /* of kinds that use values */
    for (int i = 0; i < 300 && (one_is_a_value || !(suite_caps(c) & EB_USES_VALUE)); i++) {
        char text[32];
        const int len = snprintf(text, sizeof text, "key %d", i % 200);
        const eb_key key = {text, (size_t)len};
        eb_hash h;
        calls_hash(f, &key, 1, &h);
        const eb_batch one = A_BATCH(1, &h, NULL, NULL);
        uint8_t by_hash;
        bool by_key;
        OK(calls_add(g, &one, &by_hash));
        const bool before = calls_has(f, text, (size_t)len);
        OK(eb_add(f, text, (size_t)len, &by_key, NULL));
        HOLDS(by_key == (by_hash != 0));
        HOLDS(by_key == before || (suite_caps(c) & EB_USES_TIME));
    }
    HOLDS(suite_equal(f, g));
    eb_free(f);
    eb_free(g);
}

static void single_keys_equal_their_hashes(void **state) {
    (void)state;
    suite_each(keys_are_hashes);
}

/* Copies */

static void clone_is_equal_and_independent(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, STREAM, 41);
    eb_filter *copy, *same;
    OK(eb_clone(&copy, f, NULL, NULL));
    OK(eb_clone(&same, f, NULL, NULL));
    HOLDS(suite_equal(f, copy));
    suite_stream s = suite_make_stream(f, 200, UINT64_MAX, 42);
    for (size_t i = 0; i < s.n; i++) s.time[i] += UINT64_C(1) << 40;
    uint8_t a[200], b[200];
    const eb_batch all = suite_part(&s, 0, s.n);
    OK(calls_add(copy, &all, a));
    HOLDS(!suite_equal(f, copy) && suite_equal(f, same));
    OK(calls_add(f, &all, b));
    HOLDS(memcmp(a, b, s.n) == 0 && suite_equal(f, copy));
    suite_free_stream(&s);
    eb_free(f);
    eb_free(copy);
    eb_free(same);
}

static void clones_are_equal_and_independent(void **state) {
    (void)state;
    suite_each(clone_is_equal_and_independent);
}

static void cleared_is_new(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, STREAM, 51), *const fresh = suite_new(c->spec);
    eb_stats stats = {.size = sizeof stats};
    HOLDS(!suite_equal(f, fresh));
    (void)eb_clear(f, NULL);
    HOLDS(suite_equal(f, fresh));
    calls_stat(f, &stats);
    HOLDS(stats.adds == 0 && stats.clock == 0 && stats.cells_used == 0 && stats.fpr == 0);
    eb_free(f);
    eb_free(fresh);
}

static void clear_makes_it_new(void **state) {
    (void)state;
    suite_each(cleared_is_new);
}

/* Without the cells, statistics are quick and agree with those that look at them. */
static void quick_statistics_agree(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 700, 5);
    eb_stats quick = {.size = sizeof quick}, whole = quick;
    eb_error err;
    OK(eb_stat(f, 0, &quick, NULL));
    OK(eb_stat(f, EB_STAT_CELLS, &whole, NULL));
    HOLDS(quick.adds == whole.adds && quick.new_keys == whole.new_keys);
    HOLDS(quick.bytes == whole.bytes && quick.clock == whole.clock);
    HOLDS(quick.cells == EB_UNKNOWN && whole.cells > 0 && whole.cells != EB_UNKNOWN);
    HOLDS(quick.saturated == EB_UNKNOWN && whole.saturated <= whole.cells);
    HOLDS(quick.fpr != quick.fpr && quick.fill != quick.fill && quick.window != quick.window);
    HOLDS((quick.rate_time > 0) == (eb_faded(f, 1) > 0));
    GIVES(EB_EINVAL, eb_stat(f, 2, &quick, &err));
    eb_free(f);
}

static void statistics_are_quick_or_whole(void **state) {
    (void)state;
    suite_each_near(quick_statistics_agree);
}

/* Cells do not depend on the order of the keys. */
static void any_order_is_the_same(const suite_case *c) {
    enum { KEYS = 1500 };
    if (!(suite_caps(c) & EB_ORDER_FREE)) return;
    HOLDS(!(suite_caps(c) & EB_USES_TIME));
    eb_filter *const f = suite_new(c->spec), *const g = suite_new(c->spec);
    suite_stream s = suite_make_stream(f, KEYS, KEYS / 3, 19);
    const eb_batch all = suite_part(&s, 0, KEYS);
    uint64_t random = 23;
    OK(eb_add_batch(f, &all, NULL));
    for (size_t i = KEYS - 1; i > 0; i--) {
        const size_t j = suite_below(&random, i + 1);
        const eb_hash h = s.hash[i];
        const uint64_t value = s.value[i];
        s.hash[i] = s.hash[j], s.hash[j] = h;
        s.value[i] = s.value[j], s.value[j] = value;
    }
    OK(eb_add_batch(g, &all, NULL));
    HOLDS(suite_same_cells(f, g));
    suite_free_stream(&s);
    eb_free(f);
    eb_free(g);
}

static void order_matters_only_where_it_may(void **state) {
    (void)state;
    suite_each(any_order_is_the_same);
}

/* The cells of a filter with a seed, after keys (not hashes). */
static eb_filter *with_seed(const char *spec, uint64_t seed) {
    char text[2 * EB_SPEC_MAX];
    (void)snprintf(text, sizeof text, "%s,seed=%llu", spec, (unsigned long long)seed);
    eb_filter *const f = suite_new(text);
    suite_stream s = suite_make_stream(f, 500, 1, 61);
    for (size_t i = 0; i < s.n; i++) s.time[i] = i + 1;
    for (size_t i = 0; i < s.n; i++) s.hash[i] = suite_hash(f, &s.time[i], sizeof s.time[i]);
    const eb_batch all = suite_part(&s, 0, s.n);
    OK(eb_add_batch(f, &all, NULL));
    suite_free_stream(&s);
    return f;
}

static void seed_decides(const suite_case *c) {
    if (strstr(c->text, "seed=")) return;
    eb_filter *const a = with_seed(c->text, 1), *const b = with_seed(c->text, 1);
    eb_filter *const other = with_seed(c->text, UINT64_MAX);
    HOLDS(suite_equal(a, b));
    HOLDS(!suite_same_cells(a, other));
    eb_filter *const fresh = suite_new(c->spec);
    for (uint64_t i = 0; i < ebi_shards(fresh); i++) { /* each shard has its own generator */
        HOLDS(ebi_head_of(ebi_shard(fresh, i))->rng != ebi_head_of(ebi_shard(other, i))->rng);
        for (uint64_t j = 0; j < i; j++)
            HOLDS(ebi_head_of(ebi_shard(fresh, i))->rng != ebi_head_of(ebi_shard(fresh, j))->rng);
    }
    eb_free(fresh);
    eb_free(a);
    eb_free(b);
    eb_free(other);
}

static void the_seed_decides_every_byte(void **state) {
    (void)state;
    suite_each(seed_decides);
}

/* Promises that caps make */

static void misses_nothing(const suite_case *c) {
    if (!(suite_caps(c) & EB_NO_FALSE_NEGATIVES)) return;
    eb_filter *const f = suite_new(c->spec);
    suite_stream s = suite_make_stream(f, STREAM, UINT64_MAX, 71);
    uint8_t seen[STREAM];
    feed_in_batches(f, &s, seen, 72);
    calls_test(f, s.hash, s.n, seen);
    for (size_t i = 0; i < s.n; i++) HOLDS(seen[i]);
    suite_free_stream(&s);
    eb_free(f);
}

static void no_false_negatives_where_promised(void **state) {
    (void)state;
    suite_each(misses_nothing);
}

static void seen_adds_change_no_cell(const suite_case *c) {
    if (!(suite_caps(c) & EB_ADD_IS_IDEMPOTENT) || c->far) return;
    eb_filter *const f = suite_filled(c->spec, STREAM, 81);
    suite_stream s = suite_make_stream(f, 300, UINT64_MAX, 82);
    size_t repeats = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (i % 2) s.hash[i] = s.hash[i - 1];
        s.time[i] += UINT64_C(1) << 40;
        eb_filter *before;
        uint8_t seen;
        OK(eb_clone(&before, f, NULL, NULL));
        const eb_batch one = suite_part(&s, i, i + 1);
        OK(calls_add(f, &one, &seen));
        HOLDS(!seen || suite_same_cells(f, before));
        repeats += seen;
        eb_free(before);
    }
    HOLDS(repeats >= s.n / 3);
    suite_free_stream(&s);
    eb_free(f);
}

static void seen_adds_change_nothing_where_promised(void **state) {
    (void)state;
    suite_each(seen_adds_change_no_cell);
}

/* Removal in batches equals removal of single keys, and a batch that ends with a
 * key that was never there removes nothing. */
static void removal_is_all_or_nothing(const suite_case *c) {
    enum { N = 700 };
    if (!(suite_caps(c) & EB_CAN_REMOVE)) return;
    eb_filter *const many = suite_new(c->spec), *const one = suite_new(c->spec);
    suite_stream s = suite_make_stream(many, N, N / 2, 83);
    const eb_batch all = suite_part(&s, 0, N), half = suite_part(&s, 0, N / 2);
    OK(eb_add_batch(many, &all, NULL));
    OK(eb_add_batch(one, &all, NULL));
    const eb_hash kept = s.hash[N - 1];
    const uint64_t value = s.value[N - 1];
    s.value[N - 1] = UINT32_MAX; /* never so often */
    const eb_status status = eb_remove_batch(many, &all, NULL);
    HOLDS(status == EB_EVALUE && suite_equal(many, one));
    s.value[N - 1] = value;
    OK(eb_remove_batch(many, &half, NULL));
    for (size_t i = 0; i < N / 2; i++) {
        const eb_batch single = suite_part(&s, i, i + 1);
        OK(eb_remove_batch(one, &single, NULL));
    }
    HOLDS(suite_equal(many, one));
    double count;
    calls_count(many, &kept, 1, &count);
    HOLDS(!(suite_caps(c) & EB_NO_FALSE_NEGATIVES) || count >= (double)value);
    suite_free_stream(&s);
    eb_free(many);
    eb_free(one);
}

static void removals_are_all_or_nothing(void **state) {
    (void)state;
    suite_each(removal_is_all_or_nothing);
}

/* Of filters whose merge is no more than valid: counts are no lower than the truth
 * and than those of either filter. */
static void merged_counts_are_bounds(eb_filter *a, const eb_filter *b, const suite_stream *s) {
    double *const left = calloc(3 * s->n, sizeof *left);
    HOLDS(left != NULL);
    double *const right = left + s->n, *const merged = left + 2 * s->n;
    calls_count(a, s->hash, s->n, left);
    calls_count(b, s->hash, s->n, right);
    OK(eb_merge(a, b, 1, NULL));
    calls_count(a, s->hash, s->n, merged);
    for (size_t i = 0; i < s->n; i++) {
        double truth = 0;
        for (size_t j = 0; j < s->n; j++)
            truth += s->hash[j] == s->hash[i] ? (double)s->value[j] : 0;
        HOLDS(merged[i] >= truth && merged[i] >= left[i] && merged[i] >= right[i]);
    }
    free(left);
}

/* Counts that fade are rounded in each of two filters, and again in their sum. */
static void same_up_to_rounding(const eb_filter *a, const eb_filter *b, const suite_stream *s) {
    eb_stats x = {.size = sizeof x}, y = {.size = sizeof y};
    calls_stat(a, &x);
    calls_stat(b, &y);
    HOLDS(x.adds == y.adds && x.clock == y.clock && x.too_low == y.too_low);
    for (size_t i = 0; i < s->n && x.saturated + y.saturated == 0; i++) {
        double counts[2];
        calls_count(a, s->hash + i, 1, &counts[0]);
        calls_count(b, s->hash + i, 1, &counts[1]);
        NEAR(counts[0], counts[1], 4 * x.too_low + x.too_high * (2 + counts[1]));
    }
}

/* Of lists whose counts fade: no less than either filter said, but for what fading may lose. */
static void merged_fading_counts_are_bounds(eb_filter *a, eb_filter *b, const suite_stream *s) {
    eb_stats x = {.size = sizeof x}, y = {.size = sizeof y};
    calls_stat(a, &x);
    calls_stat(b, &y);
    OK(eb_advance(a, x.clock > y.clock ? x.clock : y.clock, NULL));
    OK(eb_advance(b, x.clock > y.clock ? x.clock : y.clock, NULL));
    eb_filter *both = NULL;
    OK(eb_clone(&both, a, NULL, NULL));
    OK(eb_merge(both, b, 1, NULL));
    for (size_t i = 0; i < s->n; i++) {
        double left, right, merged;
        calls_count(a, s->hash + i, 1, &left);
        calls_count(b, s->hash + i, 1, &right);
        calls_count(both, s->hash + i, 1, &merged);
        HOLDS(merged >= left - x.too_low && merged >= right - x.too_low);
    }
    eb_free(both);
}

/* Both filters have counted a key that both streams have. */
static void merged_is_equal(eb_filter *a, const eb_filter *b, const eb_filter *both,
                            const suite_stream *s) {
    const eb_status status = eb_merge(a, b, 1, NULL);
    if (suite_limited(a)) { /* parts have other keys, and may have too many */
        HOLDS(status == EB_OK || status == EB_EFULL);
        for (size_t i = 0; status == EB_OK && i < s->n; i++) {
            uint8_t seen;
            calls_test(a, s->hash + i, 1, &seen);
            HOLDS(seen);
        }
        return;
    }
    OK(status);
    eb_filter *whole = NULL; /* what was new to both parts nobody knows */
    OK(eb_clone(&whole, both, NULL, NULL));
    OK(eb_clear(whole, NULL));
    OK(eb_merge(whole, both, 1, NULL));
    HOLDS(suite_equal(a, whole));
    eb_free(whole);
}

static void merge_is_both_streams(const suite_case *c) {
    eb_error err = {.text = ""};
    eb_filter *const a = suite_new(c->spec), *const b = suite_new(c->spec);
    eb_filter *const both = suite_new(c->spec);
    suite_stream s = suite_make_stream(a, STREAM, UNIVERSE, 91);
    const eb_batch left = suite_part(&s, 0, 500), right = suite_part(&s, 500, STREAM);
    const eb_batch all = suite_part(&s, 0, STREAM);
    OK(eb_add_batch(a, &left, NULL));
    OK(eb_add_batch(b, &right, NULL));
    OK(eb_add_batch(both, &all, NULL));
    const bool merges = suite_caps(c) & EB_CAN_MERGE;
    /* Of counts that may be too low nothing else can be asked. */
    const bool sums = !(suite_caps(c) & EB_CAN_COUNT) || (suite_caps(c) & EB_CAN_REMOVE) ||
                      !(suite_caps(c) & EB_NO_FALSE_NEGATIVES);
    if (merges && (suite_caps(c) & EB_FORGETS) && c->kind->keeping) {
        merged_fading_counts_are_bounds(a, b, &s);
    } else if (merges && (suite_caps(c) & EB_FORGETS)) {
        OK(eb_merge(a, b, 1, &err));
        same_up_to_rounding(a, both, &s);
    } else if (merges && (c->kind->traits & EBI_MERGE_BOUNDS || !sums)) {
        merged_counts_are_bounds(a, b, &s);
    } else if (merges) {
        merged_is_equal(a, b, both, &s);
    } else {
        eb_filter *before;
        OK(eb_clone(&before, a, NULL, NULL));
        GIVES(EB_ENOTSUP, eb_merge(a, b, 1, &err));
        HOLDS(strstr(err.text, c->kind->info.name) && suite_equal(a, before));
        eb_free(before);
    }
    suite_free_stream(&s);
    eb_free(a);
    eb_free(b);
    eb_free(both);
}

static void merging_equals_feeding_both(void **state) {
    (void)state;
    suite_each(merge_is_both_streams);
}

static void without_counts(const suite_case *c) {
    if (suite_caps(c) & EB_CAN_COUNT) return;
    eb_filter *const f = suite_filled(c->spec, 100, 1), *const before =
                                                            suite_filled(c->spec, 100, 1);
    const eb_hash h = 1;
    double count = -1;
    eb_error err;
    eb_batch b = *SUITE_ONE(h);
    b.count = &count;
    GIVES(EB_ENOTSUP, eb_ask_batch(f, &b, &err));
    HOLDS(strstr(err.text, c->kind->info.name) && count < 0);
    GIVES(EB_ENOTSUP, eb_add_batch(f, &b, NULL));
    HOLDS(suite_equal(f, before));
    eb_free(f);
    eb_free(before);
}

static void only_kinds_that_count_give_counts(void **state) {
    (void)state;
    suite_each_base(without_counts);
}

static void others_do_not_merge(const suite_case *c) {
    eb_filter *const f = suite_filled(c->spec, 100, 1), *const before =
                                                            suite_filled(c->spec, 100, 1);
    size_t n;
    const suite_case *const all = suite_cases(&n);
    for (size_t i = 0; i < n; i++) {
        if (all[i].far) continue;
        char a[EB_SPEC_MAX], b[EB_SPEC_MAX];
        eb_error err = {.text = ""};
        eb_filter *const other = suite_new(all[i].spec);
        (void)snprintf(a, sizeof a, "%s", eb_spec(f));
        (void)snprintf(b, sizeof b, "%s", eb_spec(other));
        if (strcmp(a, b) != 0) {
            GIVES(EB_EMISMATCH, eb_merge(f, other, 1, &err));
            HOLDS(strlen(err.text) > 20 && suite_equal(f, before));
        }
        eb_free(other);
    }
    eb_free(f);
    eb_free(before);
}

static void different_filters_do_not_merge(void **state) {
    (void)state;
    suite_each_base(others_do_not_merge);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_complete),
        cmocka_unit_test(a_name_has_one_meaning),
        cmocka_unit_test(recommended_kinds_come_first_and_ask),
        cmocka_unit_test(caps_and_functions_agree),
        cmocka_unit_test(canonical_specs_resolve_to_themselves),
        cmocka_unit_test(defaults_make_a_filter),
        cmocka_unit_test(batches_equal_singles),
        cmocka_unit_test(adding_can_count),
        cmocka_unit_test(a_batch_may_be_cut_anywhere),
        cmocka_unit_test(asking_is_the_same_for_one_and_many),
        cmocka_unit_test(single_keys_equal_their_hashes),
        cmocka_unit_test(clones_are_equal_and_independent),
        cmocka_unit_test(clear_makes_it_new),
        cmocka_unit_test(the_seed_decides_every_byte),
        cmocka_unit_test(no_false_negatives_where_promised),
        cmocka_unit_test(seen_adds_change_nothing_where_promised),
        cmocka_unit_test(removals_are_all_or_nothing),
        cmocka_unit_test(order_matters_only_where_it_may),
        cmocka_unit_test(statistics_are_quick_or_whole),
        cmocka_unit_test(merging_equals_feeding_both),
        cmocka_unit_test(only_kinds_that_count_give_counts),
        cmocka_unit_test(different_filters_do_not_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
