/* late.h - lines whose times are not in order count at their own place.
 *
 * The clock of a filter never goes back.  So dedup remembers the keys of lines that are late, or
 * whose times nobody believes yet, beside the filter, each until its own window has ended; and
 * count holds lines back, to give them to the filter in the order of their times. */
#ifndef EVERBLOOM_LATE_H
#define EVERBLOOM_LATE_H
#include "keytable.h"
#include "stream.h"

struct late *late_keys(uint64_t window, bool refresh); /* for dedup; in milliseconds */
struct late *late_lines(void);                         /* for count */
/* In place of eb_add_batch: n lines of the stream. */
void late_add(stream *s, size_t n);
/* What is kept beside the filter goes into it: before it is saved or asked. */
void late_settle(stream *s);
void late_close(struct late *l); /* NULL: nothing; says what could not keep its place */
#endif
