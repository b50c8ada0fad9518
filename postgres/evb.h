/* evb.h - what the files of the PostgreSQL extension share. */
#ifndef EVB_H
#define EVB_H
#include <postgres.h>

#include <fmgr.h>
#include <sql.h>
#include <utils/memutils.h>

/* Memory of a context.  It gives NULL when there is none, so nothing longjmps through the library.
 */
eb_allocator evb_memory(MemoryContext context);

/* Raises an error with a SQLSTATE for the status. */
void evb_fail(const eb_error *err) pg_attribute_noreturn();

/* A filter of a context: from a value, which may have come from anyone; from a spec, unless it is
 * too large for a value.  They raise errors. */
eb_filter *evb_load(const struct varlena *value, MemoryContext context);
char *evb_seeded(const char *spec); /* with a drawn seed if it says seed=random */
eb_filter *evb_make(const text *spec, MemoryContext context);
bytea *evb_save(const eb_filter *f);

/* The filter that the first argument stands for, and what every row wants to know beside it.  It is
 * loaded once and kept until the argument changes. */
typedef struct evb_asked {
    eb_filter *f;
    bool numbers; /* see evb_wants_numbers */
    bool text;    /* see sql_is_text */
    Oid key;      /* type of the second argument */
} evb_asked;
const evb_asked *evb_argument(FunctionCallInfo fcinfo);

/* A key as the library wants it: one of them.  It points into the datum and into itself. */
typedef struct evb_key {
    eb_keys keys;
    eb_key bytes;
    int64_t number;
    char text[64];
} evb_key;
/* whole: numbers are wanted for times, not their text (keys=i64). */
void evb_key_of(Datum value, Oid type, bool whole, evb_key *key);
/* Are the filter's keys numbers (keys=i64 or u64)?  Not for every row. */
bool evb_wants_numbers(const eb_filter *f);

/* Milliseconds since 1970, the unit of windows and half-lives that the command uses, too. */
uint64_t evb_time_of(Datum timestamptz);
uint64_t evb_weight_of(Datum int8);
#endif
