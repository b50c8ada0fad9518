/* hottest.h - the keys whose counts are largest now, of counts that all fade alike.
 *
 * Between arrivals all counts fade by the same factor, so their order does not change: a key is
 * ranked by log2(count) + time / half-life, which stays as it is until the key comes again.  The
 * table keeps the `room` best ranks.  What was turned away or had to go is remembered by the best
 * rank among it: the watermark.  A key that is not in the table has at most that count. */
#ifndef EVERBLOOM_HOTTEST_H
#define EVERBLOOM_HOTTEST_H
#include "cli.h"

typedef struct hot_key {
    eb_hash hash;
    double rank;
    char *bytes;
    size_t len, cap;
    size_t at; /* in the heap */
} hot_key;

typedef struct hottest {
    hot_key *keys; /* n of room, in no order */
    size_t *heap;  /* numbers of keys: the least rank first */
    size_t n, room;
    size_t *slots; /* by hash: 1 + the number of a key; 0: empty */
    size_t n_slots;
    double watermark; /* a rank; -INFINITY: nothing was turned away */
} hottest;

void hottest_open(hottest *h, size_t room);
/* A key has come, and has this rank now. */
void hottest_offer(hottest *h, eb_hash hash, eb_key key, double rank);
void hottest_close(hottest *h);
#endif
