/* weigh.c - bits for classes of keys: the public side of theory/weights.c. */
#include "base/base.h"
#include "theory/theory.h"
#include <everbloom/weighted.h>
#include <math.h>

static eb_status weigh_read(const eb_class *classes, size_t n, double bits, ebi_weights *w,
                            eb_error *err) {
    double queries = 0, members = 0;
    if (n < 1 || n > EB_CLASSES_MAX)
        return ebi_fail(err, EB_EINVAL, "classes must be 1..%d, not %zu", EB_CLASSES_MAX, n);
    if (!(bits >= 64 && bits <= 1e15))
        return ebi_fail(err, EB_EINVAL, "bits must be 64..1e15, not %g", bits);
    *w = (ebi_weights){.n = (int)n, .bits = bits};
    for (size_t c = 0; c < n; c++) {
        const eb_class *const one = &classes[c];
        if (!(one->keys > 0 && one->members >= 0 && one->members <= one->keys &&
              one->queries >= 0 && isfinite(one->keys) && isfinite(one->queries)))
            return ebi_fail(err, EB_EINVAL,
                            "class %zu: keys must be above 0, members 0..keys and queries 0 or "
                            "more, not %g, %g and %g",
                            c + 1, one->keys, one->members, one->queries);
        w->keys[c] = one->keys;
        w->members[c] = one->members;
        w->queries[c] = one->queries;
        queries += one->queries;
        members += one->members;
    }
    if (!(queries > 0 && members > 0))
        return ebi_fail(err, EB_EINVAL, "there must be members and queries in some class");
    for (size_t c = 0; c < n; c++) w->queries[c] /= queries;
    return EB_OK;
}

eb_status eb_weigh(const eb_class *classes, size_t n, double bits, unsigned rule, uint8_t *k,
                   double *fpr, double *plain_fpr, eb_error *err) {
    ebi_weights w;
    int plain[EBI_WEIGHTS_MAX], best[EBI_WEIGHTS_MAX];
    EB_TRY(weigh_read(classes, n, bits, &w, err));
    *plain_fpr = ebi_weights_plain(&w, plain);
    *fpr = rule == EB_WEIGH_PAPER ? ebi_weights_paper(&w, best) : ebi_weights_best(&w, best);
    for (size_t c = 0; c < n; c++) k[c] = (uint8_t)best[c];
    return EB_OK;
}
