/* join.c - relations that are scanned, the filter of one, and the condition on counts. */
#include "join.h"
#include "filterfile.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Relations. */

relation relation_open(const cli_command *c, const settings *set, char *path,
                       const field_list *field) {
    relation r = {.c = c, .set = *set, .paths = {path, NULL}, .distinct = set->distinct};
    r.set.field = *field;
    r.set.s_field = (field_list){0};
    r.set.output = NULL;
    r.set.memory = NULL; /* which is for exact counts */
    r.set.distinct = 0;  /* which is kept above */
    return r;
}

typedef struct scan {
    relation *r;
    relation_take *take; /* or NULL */
    void *ctx;
} scan;

static void take_batch(void *ctx, const stream *s, size_t n) {
    const scan *const of = ctx;
    for (size_t i = 0; i < n; i++) of->r->column += (double)s->key[i].len + 1;
    of->r->rows += n;
    if (of->take) of->take(of->ctx, s, n);
}

void relation_scan(relation *r, eb_filter *f, bool adds, relation_take *take, void *ctx) {
    scan of = {r, take, ctx};
    stream s = {.set = &r->set, .print = PRINT_NONE, .adds = adds, .filter = f};
    s.take = take_batch;
    s.ctx = &of;
    r->rows = 0;
    r->column = 0;
    stream_open(&s, r->c, r->paths);
    s.bad.silent = r->scanned;
    r->scanned = true;
    const int status = stream_run(&s);
    stream_close(&s);
    if (status != STATUS_YES) exit(status);
}

static eb_filter *make_filter(const char *spec) {
    eb_filter *f;
    eb_error err;
    if (eb_new(&f, spec, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    return f;
}

/* Of a filter with one bit a key, the share of bits that are set tells how many keys there were. */
double relation_distinct(relation *r) {
    if (r->distinct > 0) return r->distinct;
    if (!reader_can_reread(r->paths[0]))
        cli_misuse(r->c, "%s can be read only once: give --distinct or --filter",
                   strcmp(r->paths[0], "-") == 0 ? "standard input" : r->paths[0]);
    eb_filter *const f = make_filter("bloom:memory=16M,k=1");
    relation_scan(r, f, true, NULL, NULL);
    const eb_stats stats = filter_stats(f);
    eb_free(f);
    const double empty = fmax(1 - stats.fill, 1 / (double)stats.cells);
    return r->distinct = fmax(1, ceil(-(double)stats.cells * log(empty)));
}

eb_filter *relation_filter(const relation *r, const char *more, double cells, double distinct) {
    char spec[200];
    settings set = r->set;
    snprintf(spec, sizeof spec, "spectral:%s,cells=%.0f", more, fmax(64, ceil(cells * distinct)));
    if (!set.filter) set.filter = spec;
    return filter_open(r->c, &set);
}

/* ---- The condition on counts. */

having having_read(const cli_command *c, const char *text) {
    static const struct {
        const char *text;
        having_op op;
    } ops[] = {{">=", HAVING_FROM},
               {"<=", HAVING_UPTO},
               {">", HAVING_MORE},
               {"<", HAVING_LESS},
               {"=", HAVING_EQUAL}};
    having h = {HAVING_ANY, 0};
    if (!text) return h;
    const char *p = text + strspn(text, " ");
    for (size_t i = 0; i < sizeof ops / sizeof *ops && h.op == HAVING_ANY; i++)
        if (strncmp(p, ops[i].text, strlen(ops[i].text)) == 0) {
            h.op = ops[i].op;
            p += strlen(ops[i].text);
        }
    p += strspn(p, " ");
    char *end;
    h.count = strtoull(p, &end, 10);
    if (h.op == HAVING_ANY || !isdigit((unsigned char)*p) || *end || end - p > 18)
        cli_misuse(c, "--having must be >, >=, =, < or <= and a whole number, not \"%s\"", text);
    return h;
}

uint64_t multiplied(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

bool having_holds(having h, uint64_t count) {
    switch (h.op) {
    case HAVING_ANY:
        return count > 0;
    case HAVING_MORE:
        return count > h.count;
    case HAVING_FROM:
        return count >= h.count;
    case HAVING_EQUAL:
        return count == h.count;
    case HAVING_LESS:
        return count < h.count;
    case HAVING_UPTO:
        return count <= h.count;
    }
    return false;
}

bool having_possible(having h, uint64_t r, uint64_t s) {
    if (s == 0) return false;
    if (h.op == HAVING_EQUAL) return h.count > 0 && h.count % r == 0 && h.count / r <= s;
    return having_holds(h, h.op == HAVING_LESS || h.op == HAVING_UPTO ? r : multiplied(r, s));
}
