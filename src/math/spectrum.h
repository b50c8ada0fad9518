/* spectrum.h - counters that keys share: how wrong counts are, and how long the counters get.
 *
 * A stream has n distinct keys, and key i occurs f_i times.  A key has k counters, one in each of k
 * parts.  So each counter has Poisson(load) keys, load = n / counters in a part.  Where the order
 * matters (mi, rmx, rm), records come in random order.
 *
 *     spectrum.c         how often keys occur; the sum on a counter
 *     spectrum_errors.c  shares of wrong counts and sizes of errors, for each policy
 *     spectrum_bits.c    the bits that counters take in each store
 *
 * A spectrum takes microseconds, a sum or an error about a millisecond. */
#ifndef EBI_SPECTRUM_H
#define EBI_SPECTRUM_H
#include <stdbool.h>
#include <stddef.h>

/* Classes of keys that occur about equally often, the most frequent first. */
enum { EBI_SPECTRUM_CLASSES = 48 };
typedef struct ebi_spectrum {
    size_t classes;
    double keys[EBI_SPECTRUM_CLASSES], count[EBI_SPECTRUM_CLASSES];
    double distinct, f1; /* distinct keys; all records */
} ebi_spectrum;
/* Zipf's law: f_i = max(1, c / i^skew), where the c / i^skew add up to items. distinct >= 1. */
void ebi_spectrum_zipf(ebi_spectrum *s, double distinct, double items, double skew);

/* The distribution of a counter's sum, on values 0..31 and then 8 in each doubling. */
enum { EBI_SUM_VALUES = 376 };
typedef struct ebi_sum {
    double p[EBI_SUM_VALUES]; /* p[i]: of ebi_sum_value(i) */
} ebi_sum;
double ebi_sum_value(size_t i);
void ebi_sum_give(ebi_sum *s, double value,
                  double p); /* value lies between two steps: adds to both */
/* load <= 1e6; higher loads are treated as 1e6. */
void ebi_sum_of(ebi_sum *out, const ebi_spectrum *s, double load);
/* The same for keys whose counts have this distribution. */
void ebi_sum_of_law(ebi_sum *out, const ebi_sum *one, double load);
/* The largest count on a counter instead of the sum: what minimal increase leaves there. */
void ebi_max_of(ebi_sum *out, const ebi_spectrum *s, double load);

/* Errors of the counts of keys that occurred.  NAN: there is no formula. */
typedef struct ebi_count_errors {
    double wrong; /* share of keys */
    double size;  /* root of the mean square error over all keys, right ones included */
    double low;   /* share of keys whose count is too low */
} ebi_count_errors;
typedef struct ebi_sharing {
    unsigned k;
    double load;
} ebi_sharing;
/* Minimum selection: all k counters are raised, and the count is the least of k sums. */
ebi_count_errors ebi_errors_ms(const ebi_sharing *c, const ebi_spectrum *s);
/* Minimal increase.  A key is wrong if all its counters were ahead of it at the same time.  Assumes
 * that the other keys are right themselves, and that the races with them are independent after the
 * key first occurred; in an overfull table, that counters rise together.  Shares are within 12 %
 * and sizes within 20 % up to a load of 1.2, within 30 % from a load of 5 on if skew <= 1, and
 * between these up to a half too low.  With k = 2, where errors cause others, sizes are up to two
 * thirds too low. */
ebi_count_errors ebi_errors_mi(const ebi_sharing *c, const ebi_spectrum *s);
/* Recurring minimum with exact entries.  A key gets its entry if it occurs while one of its
 * counters is still its own; the keys that do not are wrong.  `entries` is the size of the table,
 * of which 0.9 is used.  Keys beyond that share the room in turns, so that some get it late: the
 * cube of the share models how many, its square how late (fitted; shares within 15 %, sizes within
 * 25 %; if all keys occur equally often, sizes are up to 75 % too high). */
ebi_count_errors ebi_errors_rmx(const ebi_sharing *c, const ebi_spectrum *s, double entries);
/* Recurring minimum as published, with second_part second counters in each part.  Wrong are keys
 * that got second counters too late (as in rmx), keys whose two least counters were equal when they
 * occurred, so that adds were lost, and keys that the second counters mistake for others. marks:
 * with a Bloom filter of moved keys, which loses no adds.  Shares are within 6 %.  There is no
 * formula for sizes, nor for how many counts are too low: none, or up to two thirds of the wrong
 * ones. */
ebi_count_errors ebi_errors_rm(const ebi_sharing *c, const ebi_spectrum *s, double second_part,
                               bool marks);

/* The least bits= with which no counter saturates, within 5 %. clumping: how many counters of a key
 * lie in one line on average, when one does; 1 without span=. */
double ebi_bits_line(const ebi_sum *c, double clumping);
double ebi_bits_sai(const ebi_sum *c);
#endif
