/* answers.c - what functions of every database say alike: see sql.h. */
#include "sql.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>

/* The bytes of the UTF-8 character at p; 0 if there is none. */
static size_t answers_utf8(const unsigned char *p) {
    const size_t n = *p < 0x80   ? 1
                     : *p < 0xc2 ? 0
                     : *p < 0xe0 ? 2
                     : *p < 0xf0 ? 3
                     : *p < 0xf5 ? 4
                                 : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if (n < 3) return *p < 0x20 || *p == 0x7f ? 0 : n;
    const unsigned two = (unsigned)p[0] << 8 | p[1]; /* too long, surrogates, beyond the last one */
    const bool bad = (two >= 0xe080 && two < 0xe0a0) || (two >= 0xeda0 && two < 0xedc0) ||
                     (two >= 0xf080 && two < 0xf090) || two >= 0xf490;
    return bad ? 0 : n;
}

void sql_error_text(const eb_error *err, char out[sizeof(eb_error)]) {
    const char *const word = err->text, *const space = strchr(word, ' ');
    const char *rest = space && err->at != EB_NOWHERE ? space + 1 : word;
    while (isdigit((unsigned char)*rest)) rest++;
    if (rest > word && rest[-1] != ' ')
        (void)snprintf(out, sizeof *err, "a %.*s%s", (int)(space - word), word, rest);
    else
        (void)snprintf(out, sizeof *err, "%s", word);
    for (unsigned char *p = (unsigned char *)out; *p;) {
        const size_t n = answers_utf8(p);
        if (n == 0) *p = '?';
        p += n ? n : 1;
    }
}

static bool answers_describes(const char *kind, const char *options) {
    const uint64_t wanted = EB_CAN_MERGE | EB_ORDER_FREE;
    char spec[64];
    eb_spec_info info;
    EB_INIT(info);
    (void)snprintf(spec, sizeof spec, "%s%s", kind, options);
    return eb_spec_describe(spec, &info, NULL) == EB_OK && (info.caps & wanted) == wanted;
}

eb_status sql_seeded(const char *spec, uint64_t drawn, char out[2 * EB_SPEC_MAX], eb_error *err) {
    char given[EB_SPEC_MAX];
    const eb_status status = eb_spec_get(spec, "seed", given, sizeof given, NULL, err);
    if (status != EB_OK) return status;
    if (strcmp(given, "random") == 0) return eb_spec_seed(spec, drawn, out, 2 * EB_SPEC_MAX, err);
    return eb_spec_set(spec, "seed", given[0] ? given : "0", out, 2 * EB_SPEC_MAX, err);
}

bool sql_any_order(const eb_kind_info *kind) {
    return answers_describes(kind->name, "") || answers_describes(kind->name, ":update=plain");
}

static double answers_known(uint64_t x) {
    return x == EB_UNKNOWN ? NAN : (double)x;
}

eb_status sql_info(const eb_filter *f, sql_member out[SQL_INFO_MEMBERS], eb_error *err) {
    eb_stats s;
    EB_INIT(s);
    const eb_status status = eb_stat(f, EB_STAT_CELLS, &s, err);
    if (status != EB_OK) return status;
    const sql_member members[SQL_INFO_MEMBERS] = {
        {"adds", (double)s.adds},
        {"new_keys", answers_known(s.new_keys)},
        {"capacity", answers_known(s.capacity)},
        {"bytes", (double)s.bytes},
        {"clock", (double)s.clock},
        {"fill", s.fill},
        {"fpr", s.fpr},
        {"saturated", (double)s.saturated},
        {"window", s.window},
    };
    memcpy(out, members, sizeof members);
    return EB_OK;
}

static eb_workload answers_load(const sql_wishes *w) {
    eb_workload load;
    EB_INIT(load);
    load.items = w->items > 0 ? w->items : w->distinct;
    load.distinct = w->distinct;
    return load;
}

double sql_fpr_at_end(const sql_wishes *w, const eb_offer *offer) {
    const eb_workload load = answers_load(w);
    eb_prediction p;
    EB_INIT(p);
    return eb_predict(offer->spec, &load, NULL, 1, &p, NULL) == EB_OK ? p.fpr : NAN;
}

eb_status sql_plan(const sql_wishes *w, eb_offer out[SQL_OFFERS], size_t *n, eb_error *err) {
    eb_workload load = answers_load(w);
    load.items = w->items; /* none: a set */
    eb_goal goal;
    EB_INIT(goal);
    goal.load = &load;
    goal.max_bytes = w->bytes;
    goal.max_fpr = w->fpr;
    goal.max_fnr = w->fnr;
    if (w->any_order) goal.caps |= EB_CAN_MERGE | EB_ORDER_FREE;
    if (w->fnr == 0 && w->bytes == 0)
        goal.caps |= EB_NO_FALSE_NEGATIVES; /* least memory: of what? */
    goal.prefer = w->bytes > 0 ? EB_FEWEST_MISSES : EB_SMALLEST;
    for (size_t i = 0; i < SQL_OFFERS; i++) out[i].size = sizeof *out;
    return eb_plan(&goal, out, SQL_OFFERS, n, err);
}
