/* convert.c - eb_convert: makes a filter with the same content and other options.  It reads the
 * wanted options and calls freezing, thawing or folding. */
#include "query.h"

eb_status ebi_query_new(eb_filter **out, const eb_filter *f, const ebi_params *change,
                        const ebi_args *given, const eb_allocator *mem, eb_error *err) {
    char spec[EB_SPEC_MAX];
    ebi_params p = {.opt = {0}};
    ebi_args a = {.given = {false}};
    (void)ebi_spec_thawed(f, spec, sizeof spec);
    EBI_TRY(ebi_spec_pairs(f->kind, spec + strlen(f->kind->info.name) + 1, &p, &a, err));
    for (size_t i = 0; given && i < EBI_OPTIONS_MAX; i++) {
        if (!given->given[i]) continue;
        p.opt[i] = change->opt[i];
        a.real[i] = given->real[i];
        a.given[i] = p.opt[i] != EBI_OFF;
    }
    EBI_TRY(ebi_spec_settle(f->kind, &p, &a, err));
    return ebi_new(out, f->kind, &p, mem, err);
}

static eb_status convert_refused(const char *changes, const char *why, eb_error *err) {
    return ebi_fail(err, EB_ENOTSUP,
                    "changes may be frozen=line, frozen=no[,store=][,counter_bits=] or cells=, not "
                    "%.60s%s%.200s",
                    *changes ? changes : "nothing", *why ? ": " : "", why);
}

eb_status eb_convert(eb_filter **out, const eb_filter *f, const char *changes,
                     const eb_allocator *mem, eb_error *err) {
    ebi_params p = {.opt = {0}};
    ebi_args a = {.given = {false}};
    size_t given = 0;
    eb_error why;
    *out = NULL;
    if (!changes) return ebi_fail(err, EB_EINVAL, "no changes are named");
    EBI_TRY(ebi_query_counts(f, err));
    if (ebi_spec_pairs(f->kind, changes, &p, &a, &why) != EB_OK)
        return convert_refused(changes, why.text, err);
    for (size_t i = 0; i < EBI_OPTIONS_MAX; i++) given += a.given[i];
    const bool store = a.given[EBI_C_STORE], bits = a.given[EBI_C_BITS];
    const bool frozen = a.given[EBI_C_FROZEN], cells = a.given[EBI_O_CELLS];
    const uint64_t half = f->p.opt[EBI_O_CELLS] / 2;
    if (frozen && p.opt[EBI_C_FROZEN] != 0 && given == 1) return ebi_freeze(out, f, mem, err);
    if (frozen && p.opt[EBI_C_FROZEN] == 0 && given == (size_t)1 + store + bits) {
        if (store && !bits) p.opt[EBI_C_BITS] = EBI_OFF; /* as the store prefers */
        a.given[EBI_C_BITS] = store || bits;
        return ebi_thaw(out, f, &p, &a, mem, err);
    }
    if (!cells || given > 1) return convert_refused(changes, "", err);
    if (p.opt[EBI_O_CELLS] != half)
        return ebi_fail(err, EB_ENOTSUP, "only half as many counters can be made: cells=%llu",
                        (unsigned long long)half);
    return ebi_fold(out, f, mem, err);
}
