/* tally.h - how often keys came, exactly, in bounded memory. */
#ifndef EVERBLOOM_TALLY_H
#define EVERBLOOM_TALLY_H
#include "keytable.h"

enum { TALLY_PARTS = 256, TALLY_LEAST = 64 << 10 /* bytes: of any limit */ };
typedef struct tally {
    keytable table;
    size_t limit; /* bytes of memory */
    FILE *part[TALLY_PARTS];
    uint64_t spilled; /* times that the table was full */
} tally;

void tally_add(tally *t, eb_hash hash, eb_key key, uint64_t count);
/* Every key once, with its count; those that did not fit into memory come in another order. */
typedef void tally_take(void *ctx, eb_hash hash, eb_key key, uint64_t count);
void tally_each(tally *t, tally_take *take, void *ctx);
void tally_free(tally *t);
bool table_is_full(const keytable *t, size_t limit);
#endif
