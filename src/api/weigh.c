/* weigh.c - eb_weigh: how many bits each class of keys should have in a weighted filter.  The
 * public side of filter/membership/weights.c. */
#include "base/base.h"
#include "math/probability.h"
#include <everbloom/experimental.h>
#include <math.h>

static eb_status weigh_check(const eb_class *classes, size_t n, double bits, eb_error *err) {
    double queries = 0, members = 0;
    if (n < 1) return ebi_fail(err, EB_EINVAL, "there must be at least one class");
    if (!(bits >= 64 && bits <= 1e15))
        return ebi_fail(err, EB_EINVAL, "bits must be 64..1e15, not %g", bits);
    for (size_t c = 0; c < n; c++) {
        const eb_class *const one = &classes[c];
        if (!(one->keys > 0 && one->members >= 0 && one->members <= one->keys &&
              one->queries >= 0 && isfinite(one->keys) && isfinite(one->queries)))
            return ebi_fail(err, EB_EINVAL,
                            "class %zu: keys must be above 0, members 0..keys and queries 0 or "
                            "more, not %g, %g and %g",
                            c + 1, one->keys, one->members, one->queries);
        queries += one->queries;
        members += one->members;
    }
    if (!(queries > 0 && members > 0))
        return ebi_fail(err, EB_EINVAL, "there must be members and queries in some class");
    return EB_OK;
}

eb_status eb_weigh(const eb_class *classes, size_t n, double bits, unsigned rule, uint8_t *k,
                   double *fpr, double *plain_fpr, eb_error *err) {
    EBI_TRY(weigh_check(classes, n, bits, err));
    const ebi_weights w = {n, bits, classes};
    *plain_fpr = ebi_weights_plain(&w, k);
    *fpr = rule == EB_WEIGH_PAPER ? ebi_weights_paper(&w, k) : ebi_weights_best(&w, k);
    return EB_OK;
}
