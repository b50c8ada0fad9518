/* query.h - questions that need more than one look-up, and operations on whole filters.
 *
 * Everywhere: k counters a key among m, F1 keys counted with their repeats, F2 the sum of the
 * squares of all counts. EB_ENOTSUP, with the reason, if the kind or an option of the filter does
 * not allow an answer.  Batches have keys or hashes, as everywhere; keys take 8 bytes each from the
 * filter's allocator during the call (EB_ENOMEM). */
#ifndef EVERBLOOM_QUERY_H
#define EVERBLOOM_QUERY_H
#include "everbloom.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Counts with bounds for the keys of a batch. upper is certain as long as only keys that had been
 * added were removed. lower holds with the probability `confidence` over the choice of the hash
 * seed, whatever the other keys are: at least 1 - e^-k, or 1 - 1/e where counters of a key lie in
 * one window, and near 1 in a filter with room to spare.  A minimum that only one counter attains
 * (single) is wrong about a hundred times as often as one that recurs. */
typedef struct eb_estimate {
    size_t size; /* sizeof the structure, set before the call */
    double count, lower, upper, confidence;
    uint32_t single; /* 1: only one counter has the least value */
    uint32_t reserved;
} eb_estimate;
EB_API eb_status eb_estimate_batch(const eb_filter *f, const eb_batch *b,
                                   eb_estimate *out /* n of them, all with the size of the first */,
                                   eb_error *err);

/* The total count of n different keys. upper is certain. sum is right on average, with the standard
 * error sqrt(F2 n / m), F2 estimated; median is the median of k such sums, for keys among which a
 * few dominate.  With many small counts sum is closer to the truth; with a few large ones,
 * upper. */
typedef struct eb_sum {
    size_t size;
    double sum, error, median, upper;
} eb_sum;
EB_API eb_status eb_sum_batch(const eb_filter *f, const eb_batch *b, eb_sum *out, eb_error *err);

/* The join of two streams: the sum over keys of the products of their counts. join is right on
 * average, so it may be above upper, which is certain.  The specs must be equal.
 */
typedef struct eb_join {
    size_t size;
    double join, error, upper;
} eb_join;
EB_API eb_status eb_join_size(const eb_filter *a, const eb_filter *b, eb_join *out, eb_error *err);

/* A new filter with the same content and other options.  changes is one of:
 *   frozen=line                         as few bytes as possible, to send, keep or map.  It is
 *                                       read-only (EB_EREADONLY), gives the same answers, and can
 *                                       be merged into filters with the spec that it had
 *   frozen=no[,store=][,counter_bits=]  takes keys again, in the store that it had or another;
 *                                       EB_EINVAL if the counters do not fit there
 *   cells=HALF                          half as many counters, as if made so (update=plain, span=0)
 * Other changes: EB_ENOTSUP. */
EB_API eb_status eb_convert(eb_filter **out, const eb_filter *f, const char *changes,
                            const eb_allocator *mem, eb_error *err);

/* Deltas: the difference between an earlier and a later state of a filter, or between any two
 * filters. write gets the bytes in order; if it does not return EB_OK, the call ends and returns
 * the same. eb_patch makes the later filter from the earlier one and the delta.  It checks that the
 * delta belongs to base (EB_EMISMATCH) and is intact (EB_EFORMAT): the bytes may come from anyone.
 * It allocates no more than base and delta together, and the filter. */
typedef eb_status (*eb_write)(void *ctx, const void *bytes, size_t n);
EB_API eb_status eb_diff(const eb_filter *base, const eb_filter *now, eb_write write, void *ctx,
                         eb_error *err);
EB_API eb_status eb_patch(eb_filter **out, const eb_filter *base, const void *delta, size_t len,
                          const eb_allocator *mem, eb_error *err);

/* Top lists, for filters with EB_KEEPS_KEYS (top).  Lists the kept keys that occur at_least times
 * or more, most frequent first, equal counts in the order of their bytes.  Keys point into the
 * filter: valid until it changes.  A key that is not kept occurs at most `watermark` times.  So if
 * at_least is larger than that, the list is complete. */
typedef struct eb_top_key {
    eb_key key;   /* of a very long key only its first bytes are kept: then cut is 1 */
    double count; /* never too low */
    double lower; /* certain lower bound */
    uint32_t cut;
    uint32_t reserved;
} eb_top_key;
typedef struct eb_top_list {
    size_t size;
    double at_least;      /* in; 0: all keys that are kept */
    const uint64_t *time; /* in: the moment asked about; NULL: the filter's clock */
    eb_top_key *keys;     /* in: room for cap keys; may be NULL if cap is 0 */
    size_t cap;
    size_t n;         /* out: keys written */
    size_t matching;  /* out: keys that match; larger than n if cap is too small */
    double watermark; /* out; 0: every key is kept */
    double total;     /* out: of the counts of all keys, kept or not: a share is count / total */
    uint64_t first;   /* out: time of the first key, with counts that fade; else EB_UNKNOWN */
} eb_top_list;
EB_API eb_status eb_top(const eb_filter *f, eb_top_list *list, eb_error *err);

/* Ranges, for filters with EB_KEYS_ARE_NUMBERS (dyadic).  With keys=i64, cast: (uint64_t)x in,
 * (int64_t)value out.  The domain is low .. low + 2^bits - 1, of the filter's spec.
 *
 * How many keys lie in from..to, both included: lower and upper are certain as long as only keys
 * that had been added were removed.  EB_EKEY if a number is outside the domain. probes: nodes read
 * for upper, at most 2 ceil(log2(length/2 + 1)); nodes that arrays count together are one probe. */
typedef struct eb_range {
    size_t size;
    double lower, upper;
    uint64_t probes;
} eb_range;
EB_API eb_status eb_range_count(const eb_filter *f, uint64_t from, uint64_t to, eb_range *out,
                                eb_error *err);
/* The smallest value such that a share q (0..1) of all values is no larger.  It certainly lies in
 * lower..upper; value is the best estimate.  EB_EINVAL if there are no values. */
typedef struct eb_quantile {
    size_t size;
    uint64_t value, lower, upper;
} eb_quantile;
EB_API eb_status eb_range_quantile(const eb_filter *f, double q, eb_quantile *out, eb_error *err);

#ifdef __cplusplus
}
#endif
#endif
