/* spec.c - turns spec strings, kind[:key=value{,key=value}], into parameters, and parameters into
 * canonical spec strings.
 *
 * Everything is driven by the option table of the kind: types, ranges and defaults are read from
 * the same texts that `everbloom kinds` prints.  There is no other list of options. */
#include "base/decimal.h"
#include "base/rng.h"
#include "filter.h"
#include "number.h"
#include "snapshot.h"
#include <math.h>
#include <stdio.h>

typedef struct spec_text { /* part of the spec, not NUL-terminated */
    const char *p;
    size_t len;
} spec_text;

static bool spec_equal(spec_text t, const char *s) {
    return strlen(s) == t.len && memcmp(t.p, s, t.len) == 0;
}

/* Suggestions for misspelt names */

enum { SPEC_WORD_MAX = 24 };

static size_t spec_distance(spec_text a,
                            const char *b) { /* Levenshtein distance; long words are far */
    const size_t n = strlen(b);
    if (a.len > SPEC_WORD_MAX || n > SPEC_WORD_MAX) return SPEC_WORD_MAX;
    size_t row[SPEC_WORD_MAX + 1];
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            const size_t replaced = diagonal + (a.p[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = ebi_min_size(replaced, ebi_min_size(row[j], row[j - 1]) + 1);
        }
    }
    return row[n];
}

typedef struct spec_guess {
    const char *word;
    size_t distance;
} spec_guess;

static void spec_consider(spec_guess *g, spec_text t, const char *word) {
    const size_t d = spec_distance(t, word);
    const bool near = d <= 1 || (d == 2 && (t.len > 4 || t.p[0] == word[0]));
    if (near && d < t.len && (!g->word || d < g->distance)) *g = (spec_guess){word, d};
}

static eb_status spec_unknown(eb_error *err, const char *where, const char *what, spec_text t,
                              spec_guess guess) {
    const int len = t.len > 80 ? 80 : (int)t.len;
    if (guess.word)
        return ebi_fail(err, EB_ESPEC, "%sno %s \"%.*s\"; did you mean \"%s\"?", where, what, len,
                        t.p, guess.word);
    return ebi_fail(err, EB_ESPEC, "%sno %s \"%.*s\"", where, what, len, t.p);
}

static eb_status spec_find_kind(spec_text name, const ebi_kind **kind, eb_error *err) {
    spec_guess guess = {0};
    for (size_t i = 0; i < ebi_registry_size; i++) {
        const ebi_kind *const k = ebi_registry[i].kind;
        if (spec_equal(name, k->info.name)) {
            *kind = k;
            return EB_OK;
        }
        spec_consider(&guess, name, k->info.name);
    }
    return spec_unknown(err, "", "kind of filter", name, guess);
}

static eb_status spec_find_option(const ebi_kind *kind, spec_text key, size_t *index,
                                  eb_error *err) {
    spec_guess guess = {0};
    char where[64];
    for (size_t i = 0; kind->info.options[i].key; i++) {
        if (spec_equal(key, kind->info.options[i].key)) {
            *index = i;
            return EB_OK;
        }
        spec_consider(&guess, key, kind->info.options[i].key);
    }
    (void)snprintf(where, sizeof where, "%s: ", kind->info.name);
    return spec_unknown(err, where, "option", key, guess);
}

/* Values */

static bool spec_is_choice(const eb_option *o) {
    return strchr(o->type, '|') != NULL;
}

/* The n-th of a|b|c; an empty text if there are fewer. */
static spec_text spec_choice(const char *type, uint64_t n) {
    const char *p = type;
    for (; n > 0 && p; n--) {
        p = strchr(p, '|');
        if (p) p++;
    }
    if (!p) return (spec_text){"", 0};
    return (spec_text){p, strcspn(p, "|")};
}

static bool spec_read_choice(const eb_option *o, spec_text t, uint64_t *value) {
    for (uint64_t i = 0;; i++) {
        const spec_text c = spec_choice(o->type, i);
        if (c.len == 0) return false;
        if (c.len == t.len && memcmp(c.p, t.p, t.len) == 0) {
            *value = i;
            return true;
        }
    }
}

static int spec_hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

static bool spec_read_secret(spec_text t, uint64_t secret[2]) { /* 32 hex digits, high half first */
    if (t.len != 32) return false;
    for (size_t i = 0; i < 32; i++) {
        const int digit = spec_hex_digit(t.p[i]);
        if (digit < 0) return false;
        secret[i / 16] = secret[i / 16] << 4 | (uint64_t)digit;
    }
    return true;
}

static eb_status spec_bad_value(const ebi_kind *kind, const eb_option *o, spec_text t,
                                eb_error *err) {
    char rule[200];
    if (spec_is_choice(o))
        (void)snprintf(rule, sizeof rule, "one of %s", o->type);
    else if (strcmp(o->type, "hex") == 0)
        (void)snprintf(rule, sizeof rule, "32 digits 0-9 a-f");
    else if (strcmp(o->type, "list") == 0)
        (void)snprintf(rule, sizeof rule, "up to 8 numbers %s..%s with colons between", o->min,
                       o->max);
    else
        (void)snprintf(rule, sizeof rule, "%s%s..%s", strcmp(o->type, "size") == 0 ? "a size " : "",
                       o->min, o->max);
    return ebi_fail(err, EB_ESPEC, "%s: %s must be %s, not %.*s", kind->info.name, o->key, rule,
                    t.len == 0 ? 7 : (t.len > 80 ? 80 : (int)t.len), t.len == 0 ? "nothing" : t.p);
}

static bool spec_read_number(const eb_option *o, spec_text t, uint64_t *value, double *real) {
    uint64_t low, high;
    double low_real, high_real;
    const bool list = strcmp(o->type, "list") == 0;
    const char *const type = list ? "int" : o->type;
    if (!ebi_number_read(o->min, strlen(o->min), type, &low, &low_real) ||
        !ebi_number_read(o->max, strlen(o->max), type, &high, &high_real))
        return false;
    if (list) return ebi_list_read(t.p, t.len, low, high, value);
    if (!ebi_number_read(t.p, t.len, o->type, value, real)) return false;
    if (strcmp(o->type, "real") == 0) return *real >= low_real && *real <= high_real;
    if (strcmp(o->type, "fixed") == 0)
        return (int64_t)*value >= (int64_t)low && (int64_t)*value <= (int64_t)high;
    if (strcmp(o->type, "number") == 0) return true; /* any 64 bits */
    return *value >= low && *value <= high;
}

static bool spec_read_value(const eb_option *o, spec_text t, ebi_params *p, uint64_t *value,
                            double *real) {
    if (spec_is_choice(o)) return spec_read_choice(o, t, value);
    if (strcmp(o->type, "hex") == 0) return spec_read_secret(t, p->secret);
    return spec_read_number(o, t, value, real);
}

/* Parsing */

static eb_status spec_pair(const ebi_kind *kind, spec_text pair, ebi_params *p, ebi_args *a,
                           eb_error *err) {
    const char *const equals = memchr(pair.p, '=', pair.len);
    if (!equals)
        return ebi_fail(err, EB_ESPEC, "%s: expected key=value, not \"%.*s\"", kind->info.name,
                        pair.len > 80 ? 80 : (int)pair.len, pair.p);
    const spec_text key = {pair.p, (size_t)(equals - pair.p)};
    const spec_text value = {equals + 1, pair.len - key.len - 1};
    size_t i = 0;
    EBI_TRY(spec_find_option(kind, key, &i, err));
    const eb_option *const o = &kind->info.options[i];
    if (a->given[i])
        return ebi_fail(err, EB_ESPEC, "%s: %s is given twice", kind->info.name, o->key);
    if (!spec_read_value(o, value, p, &p->opt[i], &a->real[i]))
        return spec_bad_value(kind, o, value, err);
    a->given[i] = true;
    return EB_OK;
}

eb_status ebi_spec_pairs(const ebi_kind *kind, const char *text, ebi_params *p, ebi_args *a,
                         eb_error *err) {
    for (;;) {
        const size_t len = strcspn(text, ",");
        EBI_TRY(spec_pair(kind, (spec_text){text, len}, p, a, err));
        if (text[len] == '\0') return EB_OK;
        text += len + 1;
    }
}

static void spec_defaults(const ebi_kind *kind, ebi_params *p, ebi_args *a) {
    for (size_t i = 0; kind->info.options[i].key; i++) {
        const eb_option *const o = &kind->info.options[i];
        assert(i < EBI_OPTIONS_MAX);
        if (a->given[i] || !o->dflt) continue;
        const bool ok =
            spec_read_value(o, (spec_text){o->dflt, strlen(o->dflt)}, p, &p->opt[i], &a->real[i]);
        assert(ok);
        (void)ok;
    }
}

static eb_status spec_common(const ebi_kind *kind, ebi_params *p, const ebi_args *a,
                             eb_error *err) {
    const char *const name = kind->info.name;
    if (a->given[EBI_O_MEMORY] && a->given[EBI_O_CELLS])
        return ebi_fail(err, EB_ESPEC, "%s: give memory or cells, not both", name);
    if ((p->opt[EBI_O_SHARDS] & (p->opt[EBI_O_SHARDS] - 1)) != 0)
        return ebi_fail(err, EB_ESPEC, "%s: shards must be a power of 2 in 1..256, not %llu", name,
                        (unsigned long long)p->opt[EBI_O_SHARDS]);
    if (p->opt[EBI_O_HASH] != EBI_HASH_SIP && a->given[EBI_O_SECRET])
        return ebi_fail(err, EB_ESPEC, "%s: secret is only for hash=sip", name);
    if (p->opt[EBI_O_HASH] == EBI_HASH_SIP && !a->given[EBI_O_SECRET]) {
        uint64_t state = p->opt[EBI_O_SEED];
        p->secret[0] = ebi_random(&state);
        p->secret[1] = ebi_random(&state);
    }
    p->value_max = UINT32_MAX;
    return EB_OK;
}

/* Options as values */

/* The value of a number for an option of this type, if it is in the option's range; else false. */
static bool spec_number_value(const eb_option *o, double value, uint64_t *whole) {
    static const double million = 1e6;
    uint64_t low, high;
    double low_real, high_real;
    if (!ebi_number_read(o->min, strlen(o->min), o->type, &low, &low_real) ||
        !ebi_number_read(o->max, strlen(o->max), o->type, &high, &high_real))
        return false;
    if (!(value >= low_real && value <= high_real)) return false;
    *whole = 0;
    if (strcmp(o->type, "fixed") == 0)
        *whole = (uint64_t)llround(value * million);
    else if (strcmp(o->type, "real") != 0)
        *whole = value >= high_real ? high : (uint64_t)value;
    return true;
}

bool ebi_spec_set(const ebi_kind *kind, size_t option, double value, ebi_params *p, ebi_args *a) {
    const eb_option *const o = &kind->info.options[option];
    uint64_t whole;
    assert(!a->given[option] && o->min && o->max && !spec_is_choice(o));
    if (!spec_number_value(o, value, &whole)) return false;
    p->opt[option] = whole;
    a->real[option] = strcmp(o->type, "fixed") == 0  ? (double)(int64_t)whole / 1e6
                      : strcmp(o->type, "real") == 0 ? value
                                                     : (double)whole;
    a->given[option] = true;
    return true;
}

bool ebi_spec_set_nearest(const ebi_kind *kind, size_t option, double value, ebi_params *p,
                          ebi_args *a) {
    const eb_option *const o = &kind->info.options[option];
    uint64_t whole;
    double low, high;
    if (!ebi_number_read(o->min, strlen(o->min), o->type, &whole, &low) ||
        !ebi_number_read(o->max, strlen(o->max), o->type, &whole, &high))
        return false;
    return ebi_spec_set(kind, option, fmax(low, fmin(high, value)), p, a);
}

size_t ebi_spec_option(const ebi_kind *kind, const char *key) {
    for (size_t i = 0; kind->info.options[i].key; i++)
        if (strcmp(kind->info.options[i].key, key) == 0) return i;
    return EBI_OPTIONS_MAX;
}

eb_status ebi_spec_settle(const ebi_kind *kind, ebi_params *p, ebi_args *a, eb_error *err) {
    spec_defaults(kind, p, a);
    EBI_TRY(spec_common(kind, p, a, err));
    EBI_TRY(kind->resolve(p, a, err));
    uint64_t bytes;
    if (!ebi_mul(p->span, p->opt[EBI_O_SHARDS], &bytes) || bytes > (UINT64_C(1) << 47))
        return ebi_fail(err, EB_ESPEC, "%s: cells=%llu in shards=%llu take more than 2^47 bytes",
                        kind->info.name, (unsigned long long)p->opt[EBI_O_CELLS],
                        (unsigned long long)p->opt[EBI_O_SHARDS]);
    char canonical[EB_SPEC_MAX];
    if (ebi_spec_print(kind, p, canonical, sizeof canonical) >= sizeof canonical)
        return ebi_fail(err, EB_ESPEC, "%s: the spec is longer than %d bytes", kind->info.name,
                        EB_SPEC_MAX - 1);
    return EB_OK;
}

eb_status ebi_spec_parse(const char *spec, const ebi_kind **kind, ebi_params *p, eb_error *err) {
    ebi_args a = {0};
    memset(p, 0, sizeof *p);
    const size_t name = strcspn(spec, ":");
    EBI_TRY(spec_find_kind((spec_text){spec, name}, kind, err));
    if (spec[name] == ':') EBI_TRY(ebi_spec_pairs(*kind, spec + name + 1, p, &a, err));
    return ebi_spec_settle(*kind, p, &a, err);
}

/* Only filters whose counters are sums of counts, from which keys can be removed, can be merged
 * with a weight. */
uint64_t ebi_spec_caps(const ebi_kind *kind, const ebi_params *p) {
    const uint64_t caps = ebi_caps_of(kind, p);
    const uint64_t sums = EB_CAN_MERGE | EB_CAN_REMOVE;
    return kind->counted && (caps & sums) == sums ? caps | EB_CAN_SCALE : caps;
}

eb_status eb_spec_describe(const char *spec, eb_spec_info *out, eb_error *err) {
    const ebi_kind *kind;
    ebi_params p;
    EBI_CHECK_SIZE(out, eb_spec_info, err);
    EBI_TRY(ebi_spec_parse(spec, &kind, &p, err));
    const uint64_t block = p.span * p.opt[EBI_O_SHARDS]; /* resolved: at most 2^47 */
    const size_t len = ebi_spec_print(kind, &p, out->canonical, sizeof out->canonical);
    out->kind = kind->info.name;
    out->caps = ebi_spec_caps(kind, &p);
    out->bytes = ebi_handle_bytes(kind, len) + block + (uint64_t)2 * EBI_ALIGN;
    out->snapshot_bytes = ebi_snapshot_offset(len) + block;
    out->shards = (uint32_t)p.opt[EBI_O_SHARDS];
    out->keys = (uint32_t)(EB_TEXT + p.opt[EBI_O_KEYS]);
    return EB_OK;
}

/* Printing */

typedef struct spec_out { /* counts like snprintf */
    char *buf;
    size_t cap, len;
} spec_out;

static void spec_put(spec_out *out, const char *s, size_t len) {
    for (size_t i = 0; i < len; i++, out->len++)
        if (out->len + 1 < out->cap) out->buf[out->len] = s[i];
    if (out->cap > 0) out->buf[ebi_min(out->len, out->cap - 1)] = '\0';
}

static void spec_put_value(spec_out *out, const eb_option *o, uint64_t value, const ebi_params *p) {
    char text[40];
    if (spec_is_choice(o)) {
        const spec_text c = spec_choice(o->type, value);
        spec_put(out, c.p, c.len);
        return;
    }
    if (strcmp(o->type, "hex") == 0)
        (void)snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)p->secret[0],
                       (unsigned long long)p->secret[1]);
    else if (strcmp(o->type, "fixed") == 0)
        ebi_fixed_write(value, text, sizeof text);
    else if (strcmp(o->type, "list") == 0)
        ebi_list_write(value, text, sizeof text);
    else if (strcmp(o->type, "number") == 0 && p->opt[EBI_O_KEYS] == EBI_KEYS_I64)
        (void)snprintf(text, sizeof text, "%lld", (long long)value);
    else
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    spec_put(out, text, strlen(text));
}

/* Options that are off are left out: a choice of no, a number that is 0 where 0 is not allowed, or
 * EBI_OFF. */
static bool spec_is_off(const eb_option *o, uint64_t value) {
    static const char *const whole[] = {"int", "count", "size", "fixed"};
    uint64_t least;
    double real;
    if (value == EBI_OFF && !o->dflt) return true;
    if (value != 0) return false;
    if (spec_is_choice(o)) return spec_equal(spec_choice(o->type, 0), "no");
    for (size_t i = 0; i < EBI_COUNT_OF(whole); i++)
        if (strcmp(o->type, whole[i]) == 0)
            return ebi_number_read(o->min, strlen(o->min), o->type, &least, &real) &&
                   (int64_t)least > 0; /* fixed numbers may be negative */
    return false;
}

static void spec_put_options(spec_out *out, const ebi_kind *kind, const ebi_params *p, size_t from,
                             size_t to) {
    for (size_t i = from; i < to && kind->info.options[i].key; i++) {
        const eb_option *const o = &kind->info.options[i];
        if (o->wish || (i == EBI_O_SECRET && p->opt[EBI_O_HASH] != EBI_HASH_SIP)) continue;
        if (spec_is_off(o, p->opt[i])) continue;
        spec_put(out, out->len == strlen(kind->info.name) ? ":" : ",", 1);
        spec_put(out, o->key, strlen(o->key));
        spec_put(out, "=", 1);
        spec_put_value(out, o, p->opt[i], p);
    }
}

size_t ebi_spec_print(const ebi_kind *kind, const ebi_params *p, char *buf, size_t cap) {
    spec_out out = {buf, cap, 0};
    spec_put(&out, kind->info.name, strlen(kind->info.name));
    spec_put_options(&out, kind, p, EBI_O_OWN, EBI_OPTIONS_MAX);
    spec_put_options(&out, kind, p, EBI_O_CELLS, EBI_O_OWN);
    return out.len;
}

size_t ebi_spec_thawed(const eb_filter *f, char *buf, size_t cap) {
    ebi_params p = f->p;
    if (ebi_is_frozen(f)) p.opt[f->kind->counted->frozen] = p.opt[f->kind->counted->frozen + 1] = 0;
    if (f->kind->growing) (void)f->kind->growing->set_parts(&p, 1);
    return ebi_spec_print(f->kind, &p, buf, cap);
}

/* Single options of a spec, as text */

/* The kind of a spec, and where its options begin; "" if there are none. */
static eb_status spec_open(const char *spec, const ebi_kind **kind, const char **options,
                           eb_error *err) {
    const size_t name = strcspn(spec, ":");
    EBI_TRY(spec_find_kind((spec_text){spec, name}, kind, err));
    *options = spec[name] == ':' ? spec + name + 1 : "";
    return EB_OK;
}

/* The next key=value; false: there are no more. */
static bool spec_next(const char **at, spec_text *pair) {
    if (**at == '\0') return false;
    *pair = (spec_text){*at, strcspn(*at, ",")};
    *at += pair->len;
    if (**at == ',') ++*at;
    return true;
}

static bool spec_gives(spec_text pair, const char *key, spec_text *value) {
    const size_t len = strlen(key);
    if (pair.len <= len || pair.p[len] != '=' || memcmp(pair.p, key, len) != 0) return false;
    *value = (spec_text){pair.p + len + 1, pair.len - len - 1};
    return true;
}

eb_status eb_spec_get(const char *spec, const char *key, char *text, size_t cap, double *number,
                      eb_error *err) {
    const ebi_kind *kind;
    const char *options;
    size_t i = 0;
    spec_text pair, value = {"", 0};
    uint64_t whole;
    double real;
    EBI_TRY(spec_open(spec, &kind, &options, err));
    EBI_TRY(spec_find_option(kind, (spec_text){key, strlen(key)}, &i, err));
    const eb_option *const o = &kind->info.options[i];
    while (spec_next(&options, &pair))
        if (spec_gives(pair, key, &value)) break;
    if (text && value.len >= cap)
        return ebi_fail(err, EB_EINVAL, "the value of %s has %zu bytes: the buffer has %zu", key,
                        value.len + 1, cap);
    if (text) {
        memcpy(text, value.p, value.len);
        text[value.len] = '\0';
    }
    if (!number) return EB_OK;
    const bool numeric =
        !spec_is_choice(o) && strcmp(o->type, "hex") != 0 && strcmp(o->type, "list") != 0;
    *number =
        numeric && ebi_number_read(value.p, value.len, o->type, &whole, &real) ? real : (double)NAN;
    return EB_OK;
}

/* Whether the option can have this value, as far as syntax and range go. */
static eb_status spec_check_value(const ebi_kind *kind, const eb_option *o, spec_text value,
                                  eb_error *err) {
    ebi_params unused;
    uint64_t whole;
    double real;
    if (spec_read_value(o, value, &unused, &whole, &real)) return EB_OK;
    return spec_bad_value(kind, o, value, err);
}

static void spec_put_pair(spec_out *out, const char *key, spec_text value) {
    spec_put(out, strchr(out->buf, ':') ? "," : ":", 1);
    spec_put(out, key, strlen(key));
    spec_put(out, "=", 1);
    spec_put(out, value.p, value.len);
}

static eb_status spec_copy(const char *spec, char *out, size_t cap, eb_error *err) {
    const size_t len = strlen(spec);
    if (len >= cap)
        return ebi_fail(err, EB_EINVAL, "the spec has %zu bytes: the buffer has %zu", len + 1, cap);
    memmove(out, spec, len + 1);
    return EB_OK;
}

eb_status eb_spec_seed(const char *spec, uint64_t seed, char *out, size_t cap, eb_error *err) {
    const ebi_kind *kind;
    const char *options;
    spec_text pair, given = {NULL, 0};
    ebi_decimal_text number;
    EBI_TRY(spec_open(spec, &kind, &options, err));
    while (spec_next(&options, &pair))
        if (spec_gives(pair, "seed", &given)) break;
    if (given.p ? !spec_equal(given, "random") : (kind->info.caps & EB_CAN_MERGE) != 0)
        return spec_copy(spec, out, cap, err);
    ebi_decimal_print(seed, false, &number);
    return eb_spec_set(spec, "seed", number.text, out, cap, err);
}

eb_status eb_spec_set(const char *spec, const char *key, const char *value, char *out, size_t cap,
                      eb_error *err) {
    char made[2 * EB_SPEC_MAX];
    spec_out to = {made, sizeof made, 0};
    const ebi_kind *kind;
    const char *options;
    size_t i = 0;
    spec_text pair, was;
    EBI_TRY(spec_open(spec, &kind, &options, err));
    EBI_TRY(spec_find_option(kind, (spec_text){key, strlen(key)}, &i, err));
    const spec_text wanted = {value, value ? strlen(value) : 0};
    if (value) EBI_TRY(spec_check_value(kind, &kind->info.options[i], wanted, err));
    spec_put(&to, kind->info.name, strlen(kind->info.name));
    bool is_set = false;
    while (spec_next(&options, &pair)) {
        const bool found = spec_gives(pair, key, &was);
        if (found && value && !is_set) spec_put_pair(&to, key, wanted);
        is_set = is_set || found;
        if (found) continue;
        spec_put(&to, strchr(made, ':') ? "," : ":", 1);
        spec_put(&to, pair.p, pair.len);
    }
    if (value && !is_set) spec_put_pair(&to, key, wanted);
    if (to.len >= sizeof made)
        return ebi_fail(err, EB_ESPEC, "%s: the spec is longer than %zu bytes", kind->info.name,
                        sizeof made - 1);
    if (to.len >= cap)
        return ebi_fail(err, EB_EINVAL, "the spec has %zu bytes: the buffer has %zu", to.len + 1,
                        cap);
    memcpy(out, made, to.len + 1);
    return EB_OK;
}
