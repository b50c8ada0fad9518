/* metrics.c - how often an answer was wrong, and how sure that number is. */
#include "lab.h"
#include <math.h>

void lab_rates_count(lab_rates *r, const uint8_t *first, const uint8_t *seen, size_t n) {
    uint64_t distinct = 0, reported = 0, right = 0;
    for (size_t i = 0; i < n; i++) {
        distinct += first[i];
        reported += !seen[i];
        right += first[i] & !seen[i];
    }
    r->distinct += distinct;
    r->false_positives += distinct - right;
    r->repeats += n - distinct;
    r->false_negatives += reported - right;
}

void lab_rates_pool(lab_rates *into, const lab_rates *from) {
    into->distinct += from->distinct;
    into->false_positives += from->false_positives;
    into->repeats += from->repeats;
    into->false_negatives += from->false_negatives;
}

static double metrics_all(const lab_rates *r, lab_rate which) {
    return (double)(which == LAB_FPR ? r->distinct : r->repeats);
}

double lab_rate_of(const lab_rates *r, lab_rate which) {
    const double wrong = (double)(which == LAB_FPR ? r->false_positives : r->false_negatives);
    return wrong > 0 ? wrong / metrics_all(r, which) : 0;
}

double lab_error_of(const lab_rates *r, lab_rate which) {
    const double p = lab_rate_of(r, which), n = metrics_all(r, which);
    return n > 0 ? sqrt(p * (1 - p) / n) : 0;
}
