/* query.h - questions to counting filters (spectral, spectral_rm, dyadic) that need
 * more than one look-up, and operations on whole filters.
 *
 * Everywhere: k counters a key among m, F1 keys counted with their repeats, F2 the
 * sum of the squares of all counts.  EB_ENOTSUP with a reason in err where the
 * filter's kind or policy makes an answer wrong; nothing is changed then. */
#ifndef EVERBLOOM_QUERY_H
#define EVERBLOOM_QUERY_H
#include "everbloom.h"
#ifdef __cplusplus
extern "C" {
#endif

/* One key.  upper is certain as long as nothing was removed that was not there.
 * lower holds with the probability `confidence` over the choice of the hash seed,
 * whatever the other keys are: at least 1 - e^-k, or 1 - 1/e where counters of a key
 * lie in one window, and near 1 in a filter with room to spare.  A minimum that only one counter
 * attains (single) is wrong about a hundred times as often as one that recurs. */
#define EB_COUNT_FULL 281474976710655.0 /* 2^48-1: a counter found no room; all that is known */
typedef struct eb_estimate {
    size_t size; /* sizeof the structure, set before the call */
    double count, lower, upper, confidence;
    bool single;
} eb_estimate;
EB_API eb_status eb_estimate_key(const eb_filter *f, eb_hash h, eb_estimate *out, eb_error *err);

/* The counts of n different keys together.  upper is certain.  sum is right on
 * average, with the standard error sqrt(F2 n / m), F2 estimated; median is the
 * median of k such sums, for keys among which a few dominate.  With many small
 * counts sum is nearer than upper; with few large ones upper is. */
typedef struct eb_sum {
    size_t size;
    double sum, error, median, upper;
} eb_sum;
EB_API eb_status eb_sum_keys(const eb_filter *f, const eb_hash *h, size_t n, eb_sum *out,
                             eb_error *err);

/* The mean value of all occurrences of n different keys: sums holds the keys with their values for
 * multiplicity, counts holds them with 1 each.  It lies in lower..upper unless the sum or the count
 * is more than two of its standard errors off; upper is INFINITY if the count may be 0. */
typedef struct eb_average {
    size_t size;
    double average, lower, upper;
} eb_average;
EB_API eb_status eb_average_keys(const eb_filter *sums, const eb_filter *counts, const eb_hash *h,
                                 size_t n, eb_average *out, eb_error *err);

/* The whole stream: F1, and F2 with its standard error (at most F2 sqrt(2/m)). */
typedef struct eb_moments {
    size_t size;
    double f1, f2, f2_error;
} eb_moments;
EB_API eb_status eb_moments_of(const eb_filter *f, eb_moments *out, eb_error *err);

/* The join of two streams: the sum over keys of the products of their counts.
 * join is right on average, upper is certain.  Equal specs. */
typedef struct eb_join {
    size_t size;
    double join, error, upper;
} eb_join;
EB_API eb_status eb_join_size(const eb_filter *a, const eb_filter *b, eb_join *out, eb_error *err);

/* The same by bifocal sampling: a and b are hashes of keys of tuples that were drawn at random,
 * without replacement, from each stream, in random order, repeats of a key as they came.
 * eb_join_sample_size says how many tuples are published to do; more is better.  Sparse keys
 * are looked up for the first sparse_n tuples of each (0: all).  Filters of the same seed; join is
 * a little too high as far as their counts are, and error, which may be chosen by, counts that in.
 */
typedef struct eb_join_samples {
    const eb_hash *a, *b;
    size_t a_n, b_n, sparse_n;
} eb_join_samples;
EB_API eb_status eb_join_sampled(const eb_filter *a, const eb_filter *b, const eb_join_samples *s,
                                 eb_join *out, eb_error *err);
EB_API size_t eb_join_sample_size(double tuples);

/* Operations.  Filters of two must have equal specs.  Adding up is eb_merge.
 *
 * eb_subtract takes the stream of one out of another that contains it; EB_EINVAL if
 * it cannot.
 *
 * The others make a new filter, with the allocator mem or the library's own:
 *   product, maximum, minimum   for each key no less than the product (or so) of its
 *                               counts; no more keys can be added, removed or merged
 *                               (EB_EREADONLY).  The product of two eb_count is a
 *                               better bound than the count of the product.
 *   fold                        half as many counters, as if made so (policy=ms) */
typedef enum eb_combination { EB_PRODUCT, EB_MAXIMUM, EB_MINIMUM } eb_combination;
EB_API eb_status eb_subtract(eb_filter *from, const eb_filter *what, eb_error *err);
EB_API eb_status eb_combine(eb_filter **out, const eb_filter *a, const eb_filter *b,
                            eb_combination how, const eb_allocator *mem, eb_error *err);
EB_API eb_status eb_fold(eb_filter **out, const eb_filter *f, const eb_allocator *mem,
                         eb_error *err);

/* A window that slides over a stream, by panes: 1..EB_PANES_MAX filters of one spec (policy=ms or
 * rmx), each for a part of the window, and one for the whole.  eb_panes_add adds to the newest pane
 * and to the whole, and says what the whole had seen; eb_panes_turn ends the newest pane and drops
 * the oldest.  When to turn is the caller's to say: after so many keys, or so much time.
 * The whole counts as a filter of the keys in the window does (rmx: never too low, a little
 * higher); it and the panes (age 0: the newest; NULL: there are not so many) stay the window's own.
 */
typedef struct eb_panes eb_panes;
enum { EB_PANES_MAX = 65536 };
EB_API eb_status eb_panes_new(eb_panes **out, const char *spec, size_t panes,
                              const eb_allocator *mem, eb_error *err);
EB_API void eb_panes_free(eb_panes *w); /* NULL is fine */
EB_API eb_status eb_panes_add(eb_panes *w, const eb_batch *b, uint8_t *seen /* n, or NULL */);
EB_API void eb_panes_turn(eb_panes *w);
EB_API const eb_filter *eb_panes_whole(const eb_panes *w);
EB_API const eb_filter *eb_panes_pane(const eb_panes *w, size_t age);

/* Freezing: the same filter in the fewest bytes, to be sent, kept or mapped (eb_view), not
 * changed: adding and removing give EB_EREADONLY, eb_clear does nothing.  It answers all
 * questions as before, and counts as equal to the filter that it was: it can be merged
 * into it, subtracted from it and combined with it.
 *
 * code says how counters are written: "line" (NULL; fast to ask), "elias" (shorter where
 * counts are large) or "steps" (shorter where most counters are 0 and 1), which take 4 to
 * 8 times as long to ask.  A frozen filter can be frozen again, in another code.
 *
 * eb_thaw makes a filter that takes keys of one that does not: with the store= and bits=
 * that it had (NULL, 0), or others; EB_EINVAL if the counters do not fit there. */
EB_API eb_status eb_freeze(eb_filter **out, const eb_filter *f, const char *code,
                           const eb_allocator *mem, eb_error *err);
EB_API eb_status eb_thaw(eb_filter **out, const eb_filter *f, const char *store, double bits,
                         const eb_allocator *mem, eb_error *err);

/* What the counters are like: counters[b] of them hold a number of b bits, 0 having none. */
typedef struct eb_lengths {
    size_t size;
    double bits; /* of memory for each counter */
    bool frozen;
    uint64_t counters[49];
} eb_lengths;
EB_API eb_status eb_lengths_of(const eb_filter *f, eb_lengths *out, eb_error *err);

/* Ranges of numbers: filters of kind dyadic.  A value is a 64-bit number; eb_from_signed keeps
 * the order of signed ones.  EB_EINVAL, with nothing changed, if a value is outside of the
 * filter's domain or n counts are 0; counts NULL: 1 each.
 *
 * How many values lie in from..to, both included: lower and upper are certain as long as nothing
 * was removed that was not there.  probes: nodes asked for upper, at most 2 ceil(log2(length/2 +
 * 1)), what is counted exactly together being one. */
typedef struct eb_range {
    size_t size;
    double lower, upper;
    unsigned probes;
} eb_range;
EB_API eb_status eb_range_domain(const eb_filter *f, uint64_t *low, uint64_t *high, eb_error *err);
EB_API eb_status eb_range_add(eb_filter *f, const uint64_t *values, const uint32_t *counts,
                              size_t n, eb_error *err);
EB_API eb_status eb_range_remove(eb_filter *f, const uint64_t *values, const uint32_t *counts,
                                 size_t n, eb_error *err);
EB_API eb_status eb_range_count(const eb_filter *f, uint64_t from, uint64_t to, eb_range *out,
                                eb_error *err);
/* The least value such that a share q (0..1) of all values is no larger: it lies in
 * lower..upper, certainly.  value is the best guess.  EB_EINVAL if there are no values. */
typedef struct eb_quantile {
    size_t size;
    uint64_t value, lower, upper;
} eb_quantile;
EB_API eb_status eb_range_quantile(const eb_filter *f, double q, eb_quantile *out, eb_error *err);
EB_API uint64_t eb_from_signed(int64_t value);
EB_API int64_t eb_to_signed(uint64_t value);

/* Icebergs: all keys that came T times or more, T chosen when the stream has gone by,
 * as often as wanted.  Keys that may be among them are kept beside the filter in
 * `memory` bytes (1K..32G).  Every T above the watermark is answered completely: a key
 * that is not among the answers came fewer than T times.  Counts are never too low.
 *
 * The filter must count, never too low, and be empty at first, else only keys that
 * come again are found; it must outlive the iceberg and not be changed by others.
 * eb_iceberg_add is eb_add_batch for keys that are kept: b->hash are the hashes that
 * eb_hash_keys makes of keys.
 *
 * eb_iceberg_expect, before anything is added, says that T will be no less than
 * at_least (1 or more; else EB_EINVAL).  Keys are then kept from half of it on, which
 * saves most of the time and of the room.
 *
 * eb_iceberg_resume, before anything is added, goes on from where another iceberg on
 * the same filter was: its watermark, total and candidates.  EB_EINVAL if they cannot
 * have been those of one.
 *
 * Reading the stream again makes counts exact.  eb_iceberg_recount begins it, for one
 * T: above the watermark only the candidates are counted; else they are searched for,
 * among the keys to which the filter gives T.  Then eb_iceberg_read takes the same
 * stream, in any order, and the watermark says whether all found room.  After that no
 * more can be added (EB_EINVAL); another recount can. */
typedef struct eb_iceberg eb_iceberg;
typedef struct eb_candidate {
    eb_key key; /* until the next call that changes the iceberg */
    double count;
} eb_candidate;
typedef struct eb_iceberg_state {
    size_t size;
    double watermark;
    double total, read_again; /* of all values, in the first and in the last reading */
    uint64_t keys, bytes;     /* kept; of memory besides the filter */
    bool exact;
} eb_iceberg_state;
EB_API eb_status eb_iceberg_new(eb_iceberg **out, eb_filter *f, size_t memory,
                                const eb_allocator *mem, eb_error *err);
EB_API void eb_iceberg_free(eb_iceberg *ice); /* not the filter */
EB_API eb_status eb_iceberg_expect(eb_iceberg *ice, double at_least);
EB_API eb_status eb_iceberg_resume(eb_iceberg *ice, const eb_iceberg_state *was,
                                   const eb_candidate *kept, size_t n);
EB_API eb_status eb_iceberg_add(eb_iceberg *ice, const eb_key *keys, const eb_batch *b);
EB_API eb_status eb_iceberg_recount(eb_iceberg *ice, double at_least);
EB_API eb_status eb_iceberg_read(eb_iceberg *ice, const eb_key *keys, const eb_batch *b);
EB_API void eb_iceberg_state_of(const eb_iceberg *ice, eb_iceberg_state *out);
/* The candidates with such counts, in no order that matters; *at is 0 for the first. */
EB_API bool eb_iceberg_next(const eb_iceberg *ice, double at_least, uint64_t *at,
                            eb_candidate *out);

/* Triggers: a key is named when its count reaches at_least, once, by the very add that
 * does it; none is missed, some may be named too early.  fired[i] is the count then, or
 * 0.  The keys that were named are kept in `memory` bytes; EB_ENOMEM, with nothing
 * added, if the keys of a batch might not find room there. */
typedef struct eb_trigger eb_trigger;
EB_API eb_status eb_trigger_new(eb_trigger **out, eb_filter *f, double at_least, size_t memory,
                                const eb_allocator *mem, eb_error *err);
EB_API void eb_trigger_free(eb_trigger *t); /* not the filter */
EB_API eb_status eb_trigger_add(eb_trigger *t, const eb_key *keys, const eb_batch *b,
                                double *fired);

/* Multiscan: all keys that came at_least times or more, exactly, with memory for a
 * small part of the keys, by reading the stream several times:
 *
 *     do {
 *         for each batch of the stream: eb_multiscan_add(m, keys, value, n);
 *     } while (eb_multiscan_end(m, &state) == EB_OK && !state.done && !state.stuck);
 *
 * A reading counts, in a small filter, the keys that reached at_least in all readings
 * before, and so fewer each time, until those left fit into memory.  items: of all
 * values, as far as it is known, else 0; it chooses the filter of the first reading.
 * stuck: more readings would hardly help, since with so little memory nearly all keys
 * share counters with others that reach at_least together; `wanted` bytes would do. */
typedef struct eb_multiscan eb_multiscan;
typedef struct eb_multiscan_state {
    size_t size;
    bool done, stuck;
    uint32_t readings;
    double items;    /* of all values, in the last reading */
    double passed;   /* of those that were not sorted out before it */
    double wanted;   /* bytes */
    uint64_t keys;   /* left, if done */
    char filter[96]; /* that the last reading filled */
} eb_multiscan_state;
EB_API eb_status eb_multiscan_new(eb_multiscan **out, double at_least, size_t memory, double items,
                                  uint64_t seed, const eb_allocator *mem, eb_error *err);
EB_API void eb_multiscan_free(eb_multiscan *m);
EB_API eb_status eb_multiscan_add(eb_multiscan *m, const eb_key *keys, const uint32_t *value,
                                  size_t n);
EB_API eb_status eb_multiscan_end(eb_multiscan *m, eb_multiscan_state *out);
EB_API bool eb_multiscan_next(const eb_multiscan *m, uint64_t *at, eb_candidate *out); /* if done */

/* Mathematics: the share of keys whose minimum is too high with so many distinct
 * keys, and how far at most, but for a share e^-k, with F1 = items. */
EB_API double eb_count_error_rate(double counters, unsigned k, double distinct);
EB_API double eb_count_error_bound(double counters, unsigned k, double items);
#ifdef __cplusplus
}
#endif
#endif
