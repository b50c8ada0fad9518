/* times.h - the time of a line, in milliseconds since 1970, in all the ways that logs write it. */
#ifndef EVERBLOOM_TIMES_H
#define EVERBLOOM_TIMES_H
#include "cli.h"

/* Numbers are seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by their
 * size; else RFC 3339 and its relatives, a date alone, the form of web servers, or that of syslog,
 * whose year is the one that is nearest to `about`.  Without a zone: UTC.  With a format,
 * strptime's letters say what stands there.  False: it is no time, or one before 1970. */
bool time_read(eb_key text, const char *format, uint64_t about, uint64_t *ms);
bool time_format_is_known(const char *format); /* can strptime read it? */
#define TIMES_WANTED "seconds since 1970 or a time such as 2026-01-31T12:00:00Z"
#endif
