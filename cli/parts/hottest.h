/* hottest.h - the keys whose counts are largest now, of counts that fade.
 *
 * If all counts fade by the same factor, their order does not change between arrivals: a key is
 * ranked by log2(count) + time / half-life, which stays as it is until the key comes again.  The
 * table keeps the `room` best ranks.  What was turned away or had to go is remembered by the best
 * rank among it: the watermark.  A key that is not in the table has at most that count.
 *
 * If counts are forgotten by age, they change when an epoch begins: the ranks are the counts, and
 * all of them are given anew then.  Counts only fall until a key comes again, and are nothing when
 * all is forgotten; so watermarks are kept by time, and the largest of those that are not too old
 * counts. */
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

/* Largest counts by time: an old one is forgotten after `life`, or a 63rd of it later. */
enum { HOT_MARKS = 64 };
typedef struct hot_marks {
    double most[HOT_MARKS]; /* of a span of time each, a ring */
    uint64_t span, newest;
} hot_marks;
void hot_marks_open(hot_marks *m, uint64_t life);
void hot_marks_put(hot_marks *m, uint64_t time, double count); /* never before the last */
double hot_marks_most(const hot_marks *m, uint64_t time);

void hottest_open(hottest *h, size_t room);
void hottest_rank_again(hottest *h, const double *rank); /* of keys[0..n-1] */
/* A key has come, and has this rank now. */
void hottest_offer(hottest *h, eb_hash hash, eb_key key, double rank);
void hottest_close(hottest *h);
#endif
