/* streams.c - streams in many orders, by name, scaled to a filter with K slots.
 * A plus between names: phases of equal length, with keys of their own. */
#include "lab.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char lab_stream_names[] =
    "  loop:r           r K keys, over and over\n"
    "  two:r            r K keys twice in the same order; twoshuf:r in another order\n"
    "  passes:r         r K keys, over and over, each time in another order\n"
    "  zipf0.7:m        independent draws of m K keys; key i has weight i^-0.7 (any exponent)\n"
    "  unif:g, exp:g    half new, half repeats of the record so many before: uniform up to g K,\n"
    "  par:g, logn:g    exponential of mean g K, Pareto (1) from g K, log-normal of median g K "
    "(2)\n"
    "  burst:a          a K sessions at a time, of 20 records on average\n"
    "  drift:v          zipf1.0:10 whose ranks move on by v keys a record\n"
    "  scan:m           half zipf1.0:m, half keys that never return\n"
    "  scanburst:m      exp:0.3, and m K new keys after every 5 m K records\n"
    "  shuf:m           m K keys once each and copies of them for the rest, shuffled\n"
    "  oldhot:m         m K keys once; then half of the records are any of them, half new\n"
    "  hot:g            unif:g, but one key makes up 5 % of all records\n"
    "  near:s           half new; record t repeats the one t u^s before it, u uniform (paper "
    "000)\n";

typedef struct streams_part {
    uint32_t *out;
    uint64_t n, next; /* records; the first id that is free */
    double slots, exponent, size;
    lab_rng rng;
} streams_part;

static uint64_t streams_keys(const streams_part *s) { /* of a universe of size K */
    return (uint64_t)fmax(1, s->size * s->slots);
}

static bool streams_toss(streams_part *s) {
    return lab_random(&s->rng) >> 63;
}

/* Draws of rank 1..n with weight rank^-a: rejection from the integral's inverse. */
typedef struct streams_zipf {
    double a, low, high, n;
} streams_zipf;

static double streams_integral(double x, double a) { /* of x^-a */
    const double log_x = log(x), e = (1 - a) * log_x;
    return fabs(e) > 1e-8 ? expm1(e) / e * log_x : log_x * (1 + e / 2);
}

static double streams_inverse(double y, double a) {
    const double e = fmax(y * (1 - a), -1);
    return exp(fabs(e) > 1e-8 ? log1p(e) / e * y : y * (1 - e / 2));
}

static streams_zipf streams_zipf_of(double a, uint64_t n) {
    return (streams_zipf){a, streams_integral(1.5, a) - 1, streams_integral((double)n + 0.5, a),
                          (double)n};
}

static uint64_t streams_zipf_draw(const streams_zipf *z, lab_rng *r) {
    for (;;) {
        const double y = z->high + lab_unit(r) * (z->low - z->high);
        const double k = fmin(fmax(floor(streams_inverse(y, z->a) + 0.5), 1), z->n);
        if (y >= streams_integral(k + 0.5, z->a) - pow(k, -z->a)) return (uint64_t)k - 1;
    }
}

/* Passes over the same keys */

static void streams_shuffle(streams_part *s, uint32_t *list, uint64_t n) {
    for (uint64_t i = n; i > 1; i--) {
        const uint64_t j = lab_below(&s->rng, i);
        const uint32_t other = list[j];
        list[j] = list[i - 1];
        list[i - 1] = other;
    }
}

static void streams_pass(streams_part *s, uint64_t at, uint64_t keys, bool shuffled) {
    const uint64_t n = keys < s->n - at ? keys : s->n - at;
    uint32_t *const list = lab_alloc(keys, sizeof *list);
    for (uint64_t i = 0; i < keys; i++) list[i] = (uint32_t)(s->next + i);
    if (shuffled) streams_shuffle(s, list, keys);
    memcpy(s->out + at, list, n * sizeof *list);
    free(list);
}

static void streams_passes(streams_part *s, bool shuffled) {
    const uint64_t keys = streams_keys(s);
    for (uint64_t at = 0; at < s->n; at += keys) streams_pass(s, at, keys, shuffled);
    s->next += keys;
}

static void streams_loop(streams_part *s) {
    streams_passes(s, false);
}

static void streams_shuffled_passes(streams_part *s) {
    streams_passes(s, true);
}

static void streams_two(streams_part *s) {
    const uint64_t n = 2 * streams_keys(s);
    if (n < s->n) s->n = n;
    streams_passes(s, false);
}

static void streams_two_shuffled(streams_part *s) {
    const uint64_t n = 2 * streams_keys(s);
    if (n < s->n) s->n = n;
    streams_passes(s, true);
}

/* Draws */

static void streams_draw_zipf(streams_part *s) {
    const streams_zipf z = streams_zipf_of(s->exponent, streams_keys(s));
    for (uint64_t i = 0; i < s->n; i++)
        s->out[i] = (uint32_t)(s->next + streams_zipf_draw(&z, &s->rng));
    s->next += streams_keys(s);
}

static void streams_drift(streams_part *s) {
    const double speed = s->size;
    s->size = 10;
    const streams_zipf z = streams_zipf_of(1, streams_keys(s));
    for (uint64_t i = 0; i < s->n; i++)
        s->out[i] = (uint32_t)(s->next + (uint64_t)(speed * (double)i) +
                               (streams_keys(s) - 1 - streams_zipf_draw(&z, &s->rng)));
    s->next += streams_keys(s) + (uint64_t)(speed * (double)s->n) + 1;
}

static void streams_scan(streams_part *s) {
    const uint64_t keys = streams_keys(s), first = s->next;
    const streams_zipf z = streams_zipf_of(1, keys);
    s->next += keys;
    for (uint64_t i = 0; i < s->n; i++)
        s->out[i] =
            (uint32_t)(streams_toss(s) ? first + streams_zipf_draw(&z, &s->rng) : s->next++);
}

static void streams_old_hot(streams_part *s) {
    const uint64_t keys = streams_keys(s), first = s->next;
    for (uint64_t i = 0; i < s->n; i++)
        s->out[i] =
            (uint32_t)(i >= keys && streams_toss(s) ? first + lab_below(&s->rng, keys) : s->next++);
}

static void streams_copies(streams_part *s) {
    const uint64_t keys = streams_keys(s) < s->n ? streams_keys(s) : s->n;
    for (uint64_t i = 0; i < s->n; i++)
        s->out[i] = (uint32_t)(s->next + (i < keys ? i : lab_below(&s->rng, keys)));
    streams_shuffle(s, s->out, s->n);
    s->next += keys;
}

/* Gaps */

static double streams_normal(lab_rng *r) {
    return sqrt(-2 * log(lab_unit(r))) * cos(6.283185307179586 * lab_unit(r));
}

typedef double streams_gap(double scale, lab_rng *r);

static double streams_gap_uniform(double scale, lab_rng *r) {
    return scale * lab_unit(r);
}
static double streams_gap_exponential(double scale, lab_rng *r) {
    return -scale * log(lab_unit(r));
}
static double streams_gap_pareto(double scale, lab_rng *r) {
    return scale / lab_unit(r);
}
static double streams_gap_log_normal(double scale, lab_rng *r) {
    return scale * exp(2 * streams_normal(r));
}

static uint32_t streams_back(streams_part *s, uint64_t t, double gap) {
    const bool fresh = streams_toss(s) || gap >= (double)t;
    return fresh ? (uint32_t)s->next++ : s->out[t - 1 - (uint64_t)gap];
}

static void streams_gaps(streams_part *s, streams_gap *gap) {
    const double scale = streams_keys(s) > 1 ? s->size * s->slots : 1;
    for (uint64_t t = 0; t < s->n; t++) s->out[t] = streams_back(s, t, gap(scale, &s->rng));
}

static void streams_uniform(streams_part *s) {
    streams_gaps(s, streams_gap_uniform);
}
static void streams_exponential(streams_part *s) {
    streams_gaps(s, streams_gap_exponential);
}
static void streams_pareto(streams_part *s) {
    streams_gaps(s, streams_gap_pareto);
}
static void streams_log_normal(streams_part *s) {
    streams_gaps(s, streams_gap_log_normal);
}

static void streams_hot(streams_part *s) {
    const uint32_t hot = (uint32_t)s->next++;
    for (uint64_t t = 0; t < s->n; t++) {
        const double gap = streams_gap_uniform(s->size * s->slots, &s->rng);
        s->out[t] = lab_below(&s->rng, 20) == 0 ? hot : streams_back(s, t, gap);
    }
}

static void streams_near(streams_part *s) {
    for (uint64_t t = 0; t < s->n; t++)
        s->out[t] = streams_back(s, t, (double)t * pow(lab_unit(&s->rng), s->size));
}

static void streams_scan_bursts(streams_part *s) {
    const uint64_t keys = streams_keys(s);
    for (uint64_t t = 0; t < s->n; t++) {
        const double gap = streams_gap_exponential(0.3 * s->slots, &s->rng);
        s->out[t] = t % (6 * keys) >= 5 * keys ? (uint32_t)s->next++ : streams_back(s, t, gap);
    }
}

static void streams_bursts(streams_part *s) {
    const uint64_t open = streams_keys(s);
    uint32_t *const session = lab_alloc(open, sizeof *session);
    for (uint64_t i = 0; i < open; i++) session[i] = (uint32_t)s->next++;
    for (uint64_t i = 0; i < s->n; i++) {
        const uint64_t at = lab_below(&s->rng, open);
        s->out[i] = session[at];
        if (lab_below(&s->rng, 20) == 0) session[at] = (uint32_t)s->next++;
    }
    free(session);
}

/* Names */

static const struct {
    const char *name;
    void (*make)(streams_part *s);
} streams_known[] = {{"loop", streams_loop},
                     {"two", streams_two},
                     {"twoshuf", streams_two_shuffled},
                     {"passes", streams_shuffled_passes},
                     {"zipf", streams_draw_zipf},
                     {"unif", streams_uniform},
                     {"exp", streams_exponential},
                     {"par", streams_pareto},
                     {"logn", streams_log_normal},
                     {"burst", streams_bursts},
                     {"drift", streams_drift},
                     {"scan", streams_scan},
                     {"scanburst", streams_scan_bursts},
                     {"shuf", streams_copies},
                     {"oldhot", streams_old_hot},
                     {"hot", streams_hot},
                     {"near", streams_near}};

static void streams_make(streams_part *s, const char *name, size_t len) {
    char text[40] = "";
    if (len < sizeof text) memcpy(text, name, len);
    const size_t letters = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    const char *const colon = strchr(text, ':');
    s->exponent = strtod(text + letters, NULL);
    s->size = colon ? strtod(colon + 1, NULL) : 0;
    for (size_t i = 0; s->size > 0 && i < sizeof streams_known / sizeof *streams_known; i++)
        if (strlen(streams_known[i].name) == letters &&
            memcmp(text, streams_known[i].name, letters) == 0) {
            streams_known[i].make(s);
            return;
        }
    lab_die("no stream \"%.*s\"; streams are such as loop:1.65, zipf1.0:10, unif:0.8", (int)len,
            name);
}

lab_stream *lab_stream_named(const char *name, double slots, uint64_t records, uint64_t seed) {
    uint32_t *const list = lab_alloc(records, sizeof *list);
    uint64_t made = 0, parts = 1;
    streams_part s = {.slots = slots, .rng = {lab_mix(seed)}};
    for (const char *p = name; *p; p++) parts += *p == '+';
    for (const char *p = name; *p; p += strspn(p, "+")) {
        const size_t len = strcspn(p, "+");
        s.out = list + made;
        s.n = records / parts;
        streams_make(&s, p, len);
        made += s.n;
        p += len;
    }
    return lab_stream_list(list, made, s.next, seed);
}

lab_stream *lab_stream_open(const char *name, double slots, uint64_t records, uint64_t seed) {
    if (strncmp(name, "lines:", 6) == 0) return lab_stream_text(name + 6, false, records, seed);
    if (strncmp(name, "words:", 6) == 0) return lab_stream_text(name + 6, true, records, seed);
    if (access(name, R_OK) == 0) return lab_stream_text(name, false, records, seed);
    return lab_stream_named(name, slots, records, seed);
}
