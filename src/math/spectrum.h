/* spectrum.h - counters that keys share: how wrong counts are, and how long the
 * counters get.
 *
 * n distinct keys, key i comes f_i times; each has k counters, one in each of k
 * parts, so that a counter has Poisson(load) keys, load = n / counters in a part.
 * Records come in random order where that matters (mi, rmx, rm).
 *
 *   spectrum.c         how often keys come; the sum on a counter
 *   spectrum_errors.c  shares of wrong counts and sizes of errors, for each policy
 *   spectrum_bits.c    what counters cost in each layout
 *
 * A spectrum takes microseconds, a sum and an error about a millisecond. */
#ifndef EBI_SPECTRUM_H
#define EBI_SPECTRUM_H
#include <stdbool.h>
#include <stddef.h>

/* Classes of keys that come about equally often, the most frequent first. */
enum { EBI_SPECTRUM_CLASSES = 48 };
typedef struct ebi_spectrum {
    size_t classes;
    double keys[EBI_SPECTRUM_CLASSES], count[EBI_SPECTRUM_CLASSES];
    double distinct, f1; /* keys; with their repeats */
} ebi_spectrum;
/* f_i = max(1, c / i^skew), c such that the c / i^skew add up to items.  distinct >= 1. */
void ebi_spectrum_zipf(ebi_spectrum *s, double distinct, double items, double skew);

/* The law of a counter's sum, on values 0..31 and then 8 to each doubling. */
enum { EBI_SUM_VALUES = 376 };
typedef struct ebi_sum {
    double p[EBI_SUM_VALUES]; /* p[i]: of ebi_sum_value(i) */
} ebi_sum;
double ebi_sum_value(size_t i);
void ebi_sum_give(ebi_sum *s, double value, double p); /* between two steps: to both */
/* load <= 1e6; heavier loads are taken for it. */
void ebi_sum_of(ebi_sum *out, const ebi_spectrum *s, double load);
/* The same for keys whose counts have this law. */
void ebi_sum_of_law(ebi_sum *out, const ebi_sum *one, double load);
/* The largest count on a counter instead: what minimal increase leaves there. */
void ebi_max_of(ebi_sum *out, const ebi_spectrum *s, double load);

/* Errors of the counts of keys that are there.  NAN: no formula. */
typedef struct ebi_count_errors {
    double wrong; /* share of keys */
    double size;  /* root of the mean square error over all keys, right ones included */
    double low;   /* share of keys whose count is too low */
} ebi_count_errors;
typedef struct ebi_sharing {
    unsigned k;
    double load;
} ebi_sharing;
/* Minimum selection: all k counters are hit, and the least of k sums. */
ebi_count_errors ebi_errors_ms(const ebi_sharing *c, const ebi_spectrum *s);
/* Minimal increase.  A key is wrong if all its counters were ahead of it at one time.  Other keys
 * are taken to be right themselves, and the races with them, after the key came first, to be
 * independent: shares within 12 %, sizes within 20 % up to a load of 1.2.  With k = 2, where errors
 * make others, sizes are up to two thirds too low. */
ebi_count_errors ebi_errors_mi(const ebi_sharing *c, const ebi_spectrum *s);
/* Recurring minimum with exact entries.  A key gets its entry while one counter is still clean, if
 * it comes then: wrong are those that do not.  entries: room for so many, 0.9 of it used.  Keys
 * beyond share the room in turns: some come late, a cube stands for how many; and few of them very
 * late, its square for how far (fitted: shares within 15 %, sizes within 25 %; where all keys come
 * equally often, sizes are up to 75 % too high). */
ebi_count_errors ebi_errors_rmx(const ebi_sharing *c, const ebi_spectrum *s, double entries);
/* Recurring minimum as published, with so many second counters in each part: keys that came too
 * late (as rmx), or whose two least counters were level at a time when they came, so that adds were
 * lost, or whom the second counters mistake for another.  marks: with a Bloom filter of moved keys,
 * which loses no adds.  Shares are within 6 %; there is no formula for sizes, nor for how many are
 * too low: none, or up to two thirds of the wrong ones. */
ebi_count_errors ebi_errors_rm(const ebi_sharing *c, const ebi_spectrum *s, double second_part,
                               bool marks);

/* What bits= must be so that nothing saturates.  clumping: how many counters of a key lie in one
 * line on average, when one does; 1 without windows.  Within 5 %. */
double ebi_bits_line(const ebi_sum *c, double clumping);
double ebi_bits_sai(const ebi_sum *c);
#endif
