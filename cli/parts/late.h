/* late.h - lines whose times are not in order count at their own place.
 *
 * The clock of a filter never goes back.  So dedup remembers the keys of lines that are late, or
 * whose times are not yet accepted, beside the filter, until the window of each has ended; and
 * count and top hold lines back, to give them to the filter in the order of their times. */
#ifndef EVERBLOOM_LATE_H
#define EVERBLOOM_LATE_H
#include "keytable.h"
#include "stream.h"

struct late *late_keys(uint64_t window, bool refresh); /* for dedup; in milliseconds */
struct late *late_lines(bool with_keys);               /* for count, and for top with keys */
/* In place of eb_add_batch: n lines of the stream. */
void late_add(stream *s, size_t n);
void late_hold(stream *s, size_t from, size_t n); /* of them, if lines are held back */
/* All lines that are held back, for a look at the filter on the way: a later one may be too late.
 */
void late_give(stream *s);
/* What is kept beside the filter goes into it: before it is saved or asked. */
void late_settle(stream *s);
void late_close(struct late *l); /* NULL: nothing; says what could not keep its place */
#endif
