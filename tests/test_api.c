/* test_api.c - spec strings and their error texts, limits, hashing options, and
 * golden files: snapshots that must load, and be made again, for ever.
 *
 * test_api --write-golden writes the golden files that are missing. */
#include "query/query.h"
#include "suite.h"
#include <dirent.h>
#include <math.h>

/* Specs that are refused, with the whole sentence */

typedef struct refusal {
    const char *spec, *text;
} refusal;

static const refusal refusals[] = {
    {"", "no kind of filter \"\""},
    {"nothing", "no kind of filter \"nothing\""},
    {"blom", "no kind of filter \"blom\"; did you mean \"bloom\"?"},
    {"lur", "no kind of filter \"lur\"; did you mean \"lru\"?"},
    {"foo", "no kind of filter \"foo\""},
    {"Bloom:k=3", "no kind of filter \"Bloom\"; did you mean \"bloom\"?"},
    {"bloom,k=3", "no kind of filter \"bloom,k=3\""},
    {"bloom:", "bloom: expected key=value, not \"\""},
    {"bloom:k", "bloom: expected key=value, not \"k\""},
    {"bloom:k=3,", "bloom: expected key=value, not \"\""},
    {"bloom:=3", "bloom: no option \"\""},
    {"bloom:memroy=1M", "bloom: no option \"memroy\"; did you mean \"memory\"?"},
    {"stable:delet=run", "stable: no option \"delet\"; did you mean \"delete\"?"},
    {"bloom:colour=red", "bloom: no option \"colour\""},
    {"bloom:k=", "bloom: k must be 1..32, not nothing"},
    {"bloom:k=40", "bloom: k must be 1..32, not 40"},
    {"bloom:k=-1", "bloom: k must be 1..32, not -1"},
    {"bloom:k=2.5", "bloom: k must be 1..32, not 2.5"},
    {"bloom:k=3;seed=1", "bloom: k must be 1..32, not 3;seed=1"},
    {"bloom:k=3,k=3", "bloom: k is given twice"},
    {"bloom:memory=1", "bloom: memory must be a size 1K..64T, not 1"},
    {"bloom:memory=65T", "bloom: memory must be a size 1K..64T, not 65T"},
    {"bloom:memory=99999999999999999999999",
     "bloom: memory must be a size 1K..64T, not 99999999999999999999999"},
    {"bloom:memory=1e-1", "bloom: memory must be a size 1K..64T, not 1e-1"},
    {"bloom:memory=1M,cells=1000", "bloom: give memory or cells, not both"},
    {"bloom:cells=63", "bloom: cells must be 64..1e15, not 63"},
    {"bloom:cells=100,k=7", "bloom: cells must be a multiple of 7 here, not 100"},
    {"bloom:cells=1e14,k=1,shards=16",
     "bloom: cells=100000000000000 in shards=16 take more than 2^47 bytes"},
    {"bloom:layout=two", "bloom: layout must be one of parts|one|line, not two"},
    {"bloom:layout=", "bloom: layout must be one of parts|one|line, not nothing"},
    {"bloom:shards=3", "bloom: shards must be a power of 2 in 1..256, not 3"},
    {"bloom:shards=512", "bloom: shards must be 1..256, not 512"},
    {"bloom:memory=1K,shards=256", "bloom: memory=1024 is too small for shards=256"},
    {"window:memory=1K,window=100,shards=4", "window: memory=1024 is too small for shards=4"},
    {"bloom:seed=18446744073709551616",
     "bloom: seed must be 0..18446744073709551615, not 18446744073709551616"},
    {"bloom:hash=md5", "bloom: hash must be one of xxh3|sip, not md5"},
    {"bloom:hash=sip,secret=00", "bloom: secret must be 32 digits 0-9 a-f, not 00"},
    {"bloom:secret=00000000000000000000000000000000", "bloom: secret is only for hash=sip"},
    {"bloom:keys=number", "bloom: keys must be one of text|bytes|i64|u64, not number"},
    {"bloom:fpr=2", "bloom: fpr must be 1e-9..0.5, not 2"},
    {"bloom:fpr=nan", "bloom: fpr must be 1e-9..0.5, not nan"},
    {"bloom:memory=1K,distinct=1e9,fpr=0.001",
     "bloom: memory must be at least 1797205504 for distinct=1000000000 at fpr=0.001, not 1024"},
    {"bloom:distinct=1e14,fpr=1e-9",
     "bloom: distinct=1e14 at fpr=1e-9 need 5.39e14 bytes, and the most is 2^47"},
    {"stable:fade=1,k=2,fpr=0.1", "stable: give fade or fpr, not both"},
    {"importance:memory=1K,k=1,width=1,fpr=3e-4,gap=1,low=1,high=7",
     "importance: no filter of this size has fpr=0.0003"},
    {"stable:width=9", "stable: width must be 1..8, not 9"},
    {"stable:cells=64,k=2,fade=64", "stable: fade must be below cells=64, not 64"},
};

static void refusals_are_clear_sentences(void **state) {
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(refusals); i++) {
        char buf[EB_SPEC_MAX] = "untouched";
        eb_error err = {.text = ""};
        eb_filter *f = NULL;
        suite_at("%s", refusals[i].spec);
        GIVES(EB_ESPEC, calls_resolve(refusals[i].spec, buf, &err));
        assert_string_equal(err.text, refusals[i].text);
        HOLDS(err.status == EB_ESPEC && strcmp(buf, "untouched") == 0);
        GIVES(EB_ESPEC, eb_new(&f, refusals[i].spec, NULL, NULL));
        HOLDS(f == NULL);
    }
}

/* Whatever the option is: one below its range and one above it are refused with
 * key, range and value. */
static void range_is_named(const suite_case *c) {
    for (const eb_option *o = c->kind->info.options; o->key; o++) {
        if (!o->min || strcmp(o->type, "list") == 0) continue;
        char spec[200], end[80];
        eb_error err = {.text = ""};
        (void)snprintf(spec, sizeof spec, "%s:%s=1e30", c->kind->info.name, o->key);
        (void)snprintf(end, sizeof end, "%s..%s, not 1e30", o->min, o->max);
        suite_at("%s", spec);
        GIVES(EB_ESPEC, calls_resolve(spec, (char[EB_SPEC_MAX]){0}, &err));
        HOLDS(strstr(err.text, end) && strstr(err.text, o->key) && !strchr(err.text, '\n'));
    }
}

static void every_range_is_named(void **state) {
    (void)state;
    suite_each_base(range_is_named);
}

static void long_and_odd_specs_are_refused(void **state) {
    (void)state;
    char spec[4000];
    eb_error err = {.text = ""};
    (void)snprintf(spec, sizeof spec, "bloom:k=%0*d", 3900, 1); /* 000...1 is the number 1 */
    OK(calls_resolve(spec, (char[EB_SPEC_MAX]){0}, &err));
    memset(spec + 8, '9', 3900);
    GIVES(EB_ESPEC, calls_resolve(spec, (char[EB_SPEC_MAX]){0}, &err));
    HOLDS(strlen(err.text) < 150);
    memset(spec, 'x', sizeof spec - 1);
    spec[sizeof spec - 1] = '\0';
    GIVES(EB_ESPEC, calls_resolve(spec, (char[EB_SPEC_MAX]){0}, &err));
    HOLDS(strlen(err.text) < 150);
}

/* Specs that mean the same */

static void same(const char *a, const char *b) {
    char x[EB_SPEC_MAX], y[EB_SPEC_MAX];
    suite_at("%s and %s", a, b);
    OK(calls_resolve(a, x, NULL));
    OK(calls_resolve(b, y, NULL));
    assert_string_equal(x, y);
}

static void sizes_and_counts_take_suffixes(void **state) {
    (void)state;
    same("bloom:memory=64M", "bloom");
    same("bloom:memory=1M", "bloom:memory=1048576");
    same("bloom:memory=1m", "bloom:memory=1024K");
    same("bloom:memory=0.5G", "bloom:memory=512M");
    same("bloom:cells=7K", "bloom:cells=7000");
    same("bloom:cells=0.7e6", "bloom:cells=700K");
    same("bloom:distinct=1e6,fpr=0.01", "bloom:distinct=1M,fpr=1e-2");
    same("bloom:seed=7,k=3", "bloom:k=3,seed=7");
    same("stable:cells=1000,k=2,fade=8.4010", "stable:cells=1000,k=2,fade=8.401");
    char spec[EB_SPEC_MAX];
    OK(calls_resolve("stable:fade=8.401,cells=43690,k=2,width=3,delete=run", spec, NULL));
    assert_string_equal(spec,
                        "stable:k=2,width=3,fade=8.401,delete=run,cells=43690,seed=0,shards=1,"
                        "keys=text,hash=xxh3");
}

/* One option of a spec, as text and as a number. */
static void gets(const char *spec, const char *key, const char *text, double number) {
    char got[EB_SPEC_MAX];
    double value;
    suite_at("%s of %s", key, spec);
    OK(eb_spec_get(spec, key, got, sizeof got, &value, NULL));
    assert_string_equal(got, text);
    HOLDS(value == number || (isnan(value) && isnan(number)));
    OK(eb_spec_get(spec, key, NULL, 0, &value, NULL));
    OK(eb_spec_get(spec, key, got, sizeof got, NULL, NULL));
}

static void options_can_be_read(void **state) {
    (void)state;
    eb_error err;
    char small[4];
    gets("bloom", "k", "", NAN);
    gets("bloom:k=7", "k", "7", 7);
    gets("bloom:memory=64M,seed=3,k=5", "memory", "64M", 67108864);
    gets("bloom:memory=64M,seed=3,k=5", "seed", "3", 3);
    gets("bloom:memory=64M,keys=i64", "keys", "i64", NAN);
    gets("bloom:fpr=1e-3", "fpr", "1e-3", 1e-3);
    gets("dyadic:keys=i64,low=-12", "low", "-12", -12);
    gets("stable:fade=8.4", "fade", "8.4", 8.4);
    GIVES(EB_ESPEC, eb_spec_get("bloom", "fade", NULL, 0, NULL, &err));
    assert_string_equal(err.text, "bloom: no option \"fade\"");
    GIVES(EB_ESPEC, eb_spec_get("blom:k=7", "k", NULL, 0, NULL, &err));
    GIVES(EB_EINVAL, eb_spec_get("bloom:cells=123456", "cells", small, sizeof small, NULL, &err));
    assert_string_equal(err.text, "the value of cells has 7 bytes: the buffer has 4");
    eb_filter *const f = suite_new("bloom:memory=4K,k=5,seed=9");
    gets(eb_spec(f), "seed", "9", 9);
    gets(eb_spec(f), "keys", "text", NAN);
    gets(eb_spec(f), "memory", "", NAN);
    eb_free(f);
    eb_free(NULL);
}

static void sets(const char *spec, const char *key, const char *value, const char *wanted) {
    char out[EB_SPEC_MAX];
    suite_at("%s=%s in %s", key, value ? value : "nothing", spec);
    OK(eb_spec_set(spec, key, value, out, sizeof out, NULL));
    assert_string_equal(out, wanted);
    (void)snprintf(out, sizeof out, "%s", spec); /* in place */
    OK(eb_spec_set(out, key, value, out, sizeof out, NULL));
    assert_string_equal(out, wanted);
}

static void options_can_be_set(void **state) {
    (void)state;
    eb_error err;
    char out[12] = "same";
    sets("bloom", "k", "7", "bloom:k=7");
    sets("bloom", "k", NULL, "bloom");
    sets("bloom:k=5", "k", "7", "bloom:k=7");
    sets("bloom:k=5", "k", NULL, "bloom");
    sets("bloom:memory=1M,k=5,seed=2", "k", "7", "bloom:memory=1M,k=7,seed=2");
    sets("bloom:memory=1M,k=5,seed=2", "memory", NULL, "bloom:k=5,seed=2");
    sets("bloom:memory=1M,k=5", "keys", "bytes", "bloom:memory=1M,k=5,keys=bytes");
    GIVES(EB_ESPEC, eb_spec_set("bloom", "k", "99", out, sizeof out, &err));
    assert_string_equal(err.text, "bloom: k must be 1..32, not 99");
    GIVES(EB_ESPEC, eb_spec_set("bloom", "fade", "9", out, sizeof out, &err));
    GIVES(EB_ESPEC, eb_spec_set("blom", "k", "9", out, sizeof out, &err));
    GIVES(EB_EINVAL, eb_spec_set("bloom:memory=4K", "k", "9", out, sizeof out, &err));
    assert_string_equal(err.text, "the spec has 20 bytes: the buffer has 12");
    assert_string_equal(out, "same");
}

static void seeded(const char *spec, const char *wanted) {
    char out[EB_SPEC_MAX];
    suite_at("a seed for %s", spec);
    (void)snprintf(out, sizeof out, "%s", spec);
    OK(eb_spec_seed(spec, UINT64_MAX, out, sizeof out, NULL));
    assert_string_equal(out, wanted);
    OK(eb_spec_seed(out, 7, out, sizeof out, NULL)); /* in place; what has a seed keeps it */
    assert_string_equal(out, wanted);
}

static void seeds_are_drawn_by_callers(void **state) {
    (void)state;
    eb_filter *f;
    eb_error err;
    char out[12] = "same";
    seeded("lru:memory=1M", "lru:memory=1M,seed=18446744073709551615");
    seeded("window", "window:seed=18446744073709551615");
    seeded("choosy:seed=random,memory=1M", "choosy:seed=18446744073709551615,memory=1M");
    seeded("lru:seed=0", "lru:seed=0");
    seeded("bloom:memory=1M", "bloom:memory=1M"); /* filters of this kind can be merged */
    seeded("spectral:seed=random", "spectral:seed=18446744073709551615");
    GIVES(EB_ESPEC, eb_spec_seed("blom", 1, out, sizeof out, &err));
    GIVES(EB_EINVAL, eb_spec_seed("bloom:memory=4K", 1, out, sizeof out, &err));
    GIVES(EB_EINVAL, eb_spec_seed("lru:seed=random", 1000, out, sizeof out, &err));
    assert_string_equal(out, "same");
    GIVES(EB_ESPEC, eb_new(&f, "lru:seed=random", NULL, &err)); /* nothing else knows the word */
}

/* Limits */

static void *refuse(void *context, size_t size) {
    (void)context;
    return size > 1 << 20 ? NULL : malloc(size);
}

static void release(void *context, void *p, size_t size) {
    (void)context, (void)size;
    free(p);
}

static void no_memory(const suite_case *c) {
    static const char *const sizes[] = {"1G", "1T", "64T"};
    const eb_allocator mem = {sizeof mem, NULL, refuse, NULL, release};
    for (size_t i = 0; i < SUITE_COUNT(sizes); i++) {
        char spec[200], canonical[EB_SPEC_MAX], again[EB_SPEC_MAX];
        eb_error err = {.text = ""};
        eb_filter *f = NULL;
        (void)snprintf(spec, sizeof spec, "%s:memory=%s", c->kind->info.name, sizes[i]);
        suite_at("%s", spec);
        const eb_status status = calls_resolve(spec, canonical, &err);
        if (status == EB_ESPEC && strlen(err.text) > 20) continue; /* too large for the kind */
        OK(status);
        OK(calls_resolve(canonical, again, NULL));
        HOLDS(strcmp(canonical, again) == 0);
        GIVES(EB_ENOMEM, eb_new(&f, canonical, &mem, &err));
        HOLDS(f == NULL && strstr(err.text, "no memory for a block of "));
    }
}

static void huge_filters_are_refused_by_the_allocator(void **state) {
    (void)state;
    suite_each_base(no_memory);
    eb_filter *f = NULL; /* the library's own: the machine says no, or gives pages not yet there */
    const eb_status status = eb_new(&f, "bloom:memory=64T", NULL, NULL);
    HOLDS(status == EB_ENOMEM || status == EB_OK);
    eb_free(f);
}

/* Hashing */

static void sip_has_a_secret(void **state) {
    (void)state;
    char a[EB_SPEC_MAX], b[EB_SPEC_MAX];
    OK(calls_resolve("bloom:memory=4K,hash=sip,seed=5", a, NULL));
    HOLDS(strstr(a, "hash=sip,secret=") != NULL); /* made from the seed */
    OK(calls_resolve("bloom:memory=4K,hash=sip,seed=6", b, NULL));
    HOLDS(strcmp(strstr(a, "secret="), strstr(b, "secret=")) != 0);
    eb_filter *const f =
        suite_new("bloom:memory=4K,hash=sip,secret=07060504030201000f0e0d0c0b0a0908");
    const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    const eb_key text = {"everbloom", 9};
    eb_hash h, want;
    calls_hash(f, &text, 1, &h);
    ebi_hash_sip(key, &text, 1, &want);
    HOLDS(h == want);
    (void)snprintf(a, sizeof a, "%s", eb_spec(f));
    HOLDS(strstr(a, "secret=07060504030201000f0e0d0c0b0a0908") != NULL);
    eb_free(f);
}

static void seeds_shape_hashes(void **state) {
    (void)state;
    eb_filter *const f = suite_new("bloom:memory=4K,seed=1"), *const g =
                                                                  suite_new("bloom:memory=4K");
    const eb_key key = {"key", 3};
    eb_hash a, b;
    calls_hash(f, &key, 1, &a);
    calls_hash(g, &key, 1, &b);
    HOLDS(a != b);
    eb_free(f);
    eb_free(g);
}

/* Structures that may grow */

/* Golden files */

static const char golden[] = "tests/golden";
enum { GOLDEN_MAX = 9 << 10, GOLDEN_KEYS = 700 };

/* What every golden filter has seen: some keys twice, in two kinds of batches. */
static eb_filter *golden_filter(const char *spec) {
    eb_filter *const f = suite_new(spec);
    suite_stream s = suite_make_stream(f, GOLDEN_KEYS, GOLDEN_KEYS / 2, 2024);
    for (size_t i = 0; i < GOLDEN_KEYS; i++)
        s.hash[i] = suite_hash(f, &s.hash[i], sizeof s.hash[i]);
    for (size_t i = 0; i < GOLDEN_KEYS;) {
        const size_t n = i < 100 ? 1 : GOLDEN_KEYS - i;
        const eb_batch part = suite_part(&s, i, i + n);
        OK(eb_add_batch(f, &part, NULL));
        i += n;
    }
    suite_free_stream(&s);
    return f;
}

static size_t golden_read(const char *name, uint8_t *bytes) {
    char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", golden, name);
    FILE *const in = fopen(path, "rb");
    if (!in) return 0;
    const size_t len = fread(bytes, 1, GOLDEN_MAX + 1, in);
    (void)fclose(in);
    return len;
}

/* The filter that golden_filter makes of a spec, frozen if the spec says so. */
static eb_filter *golden_again(const eb_filter *f) {
    char spec[EB_SPEC_MAX];
    eb_filter *frozen = NULL;
    (void)ebi_spec_thawed(f, spec, sizeof spec);
    eb_filter *const thawed = golden_filter(spec);
    if (!ebi_is_frozen(f)) return thawed;
    OK(ebi_freeze(&frozen, thawed, NULL, NULL));
    eb_free(thawed);
    return frozen;
}

static void golden_agrees(const char *name) {
    uint8_t bytes[GOLDEN_MAX + 1], again[GOLDEN_MAX];
    const size_t len = golden_read(name, bytes);
    suite_at("%s/%s", golden, name);
    HOLDS(len > 0 && len <= GOLDEN_MAX);
    eb_filter *f;
    OK(eb_load(&f, bytes, len, NULL, NULL, NULL));
    HOLDS(eb_save_size(f) == len);
    OK(eb_save(f, again, len, NULL));
    HOLDS(memcmp(bytes, again, len) == 0);
    eb_filter *const anew = golden_again(f);
    HOLDS(suite_equal(f, anew));
    eb_free(anew);
    eb_free(f);
}

static void golden_files_load_and_are_made_again(void **state) {
    (void)state;
    DIR *const dir = opendir(golden);
    HOLDS(dir != NULL);
    size_t files = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!strstr(entry->d_name, ".evb")) continue;
        golden_agrees(entry->d_name);
        files++;
    }
    (void)closedir(dir);
    HOLDS(files >= 20);
}

/* The cases that have a file: the default and each choice of a kind's own options.  The name is
 * the spec's text without what all of them share. */
static bool golden_name(const suite_case *c, char *name, size_t cap) {
    const char *const memory = strstr(c->text, ":memory="); /* the least that will do */
    const bool small = memory && (memory[9] == 'K' && strchr("248", memory[8]));
    const char *const rest = small ? memory + strlen(":memory=2K") : NULL;
    if (!rest || c->far || strstr(rest, "shards") || strstr(rest, "seed") || strstr(rest, "hash"))
        return false;
    for (const eb_option *o = c->kind->info.options; *rest && o->key; o++)
        if (strncmp(rest + 1, o->key, strlen(o->key)) == 0 && rest[1 + strlen(o->key)] == '=' &&
            !strchr(o->type, '|'))
            return false;
    (void)snprintf(name, cap, "%s%s.evb", c->kind->info.name, rest);
    for (char *p = name; *p; p++)
        if (*p == ',' || *p == '=') *p = '-';
    return true;
}

static void golden_write_file(const char *name, const eb_filter *f) {
    uint8_t bytes[GOLDEN_MAX + 1];
    char path[400];
    const size_t len = eb_save_size(f);
    if (golden_read(name, bytes) > 0) return;
    (void)snprintf(path, sizeof path, "%s/%s", golden, name);
    FILE *const out = fopen(path, "wb");
    if (!out || len > GOLDEN_MAX || eb_save(f, bytes, len, NULL) != EB_OK ||
        fwrite(bytes, 1, len, out) != len || fclose(out) != 0) {
        (void)fprintf(stderr, "test_api: cannot write %s\n", path);
        exit(2);
    }
    (void)printf("%s: %zu bytes\n", path, len);
}

static void golden_write(const suite_case *c) {
    char name[300];
    if (!golden_name(c, name, sizeof name)) return;
    eb_filter *const f = golden_filter(c->spec), *frozen;
    golden_write_file(name, f);
    if (c->base && c->kind->growing) {
        (void)snprintf(name, sizeof name, "%s:limit=40,grow=2,fpr=0.05", c->kind->info.name);
        eb_filter *const grown = golden_filter(name);
        (void)snprintf(name, sizeof name, "%s-grown.evb", c->kind->info.name);
        golden_write_file(name, grown);
        eb_free(grown);
    }
    if (c->base && c->kind->counted) {
        OK(ebi_freeze(&frozen, f, NULL, NULL));
        (void)snprintf(name, sizeof name, "%s-frozen.evb", c->kind->info.name);
        golden_write_file(name, frozen);
        eb_free(frozen);
    }
    eb_free(f);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_are_clear_sentences),
        cmocka_unit_test(every_range_is_named),
        cmocka_unit_test(long_and_odd_specs_are_refused),
        cmocka_unit_test(sizes_and_counts_take_suffixes),
        cmocka_unit_test(options_can_be_read),
        cmocka_unit_test(options_can_be_set),
        cmocka_unit_test(seeds_are_drawn_by_callers),
        cmocka_unit_test(huge_filters_are_refused_by_the_allocator),
        cmocka_unit_test(sip_has_a_secret),
        cmocka_unit_test(seeds_shape_hashes),
        cmocka_unit_test(golden_files_load_and_are_made_again),
    };
    if (argc == 2 && strcmp(argv[1], "--write-golden") == 0) {
        suite_each_near(golden_write);
        static const char *const others[][2] = {{"lru-leaders.evb", "lru:cells=1300"}};
        for (size_t i = 0; i < SUITE_COUNT(others); i++) {
            eb_filter *const f = golden_filter(others[i][1]);
            golden_write_file(others[i][0], f);
            eb_free(f);
        }
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
