/* choosy_field.h - the mean field of a Bloom filter in lines of 512 bits that takes in a key only
 * if few of its bits are still zero. */
#ifndef EBI_CHOOSY_FIELD_H
#define EBI_CHOOSY_FIELD_H
#include <stdbool.h>
#include <stddef.h>

typedef struct ebi_choosy {
    unsigned k;          /* bits of a key, 1..12 */
    double s;            /* a key may cost this many bits more than the average one */
    double xmax;         /* no line fills beyond this share, 0..1 */
    double bits_per_key; /* all bits / all distinct keys, > 0 */
    double share;        /* distinct keys / records, 0 < share < 1 */
    bool rough;          /* steps four times as long: rates within 3 % */
    double retry;        /* of keys that cost more, this share is taken in, at each arrival anew */
} ebi_choosy;

typedef struct ebi_choosy_rates {
    double load, fpr, fnr;     /* at the end of the stream */
    double mean_fpr, mean_fnr; /* of all first arrivals, of all repeats */
} ebi_choosy_rates;

/* The stream: every key once and (1-share)/share repeats a key on average, spread uniformly over
 * the keys and over the stream.  About a millisecond. */
ebi_choosy_rates ebi_choosy_field(const ebi_choosy *c);
/* The same at n ascending places of the stream, 0..1, from one integration. */
void ebi_choosy_course(const ebi_choosy *c, const double *place, ebi_choosy_rates *out, size_t n);
#endif
