/* sql.h - what the extensions of databases share: rows that wait for a batch, the members of
 * evb_info, plans.  No database's name is in it, and it allocates nothing. */
#ifndef SQL_H
#define SQL_H
#include <everbloom/query.h>

/* Keys on their way into a filter.  They wait until there are enough for a batch, which is several
 * times as fast as its keys one by one.  Bytes of keys are copied: a database takes them back after
 * the row.  Keys are added in the order in which they came, also if their types change.
 *
 * There may be one for each group of a query, so it is small. */
enum { SQL_ROWS = 128, SQL_ROWS_BYTES = 4096 };
typedef struct sql_rows {
    eb_filter *f;
    size_t n;
    uint32_t type; /* of the keys that wait */
    bool has_value, has_time;
    union {
        int64_t number[SQL_ROWS]; /* EB_I64 */
        struct {                  /* EB_TEXT, EB_BYTES */
            int32_t offset[SQL_ROWS + 1];
            char bytes[SQL_ROWS_BYTES];
        } text;
    } key;
    uint64_t value[SQL_ROWS], time[SQL_ROWS];
} sql_rows;

/* Fills in all but value and time of the next row: set r->value[r->n] and r->time[r->n] before the
 * call if the rows have them. */
void sql_rows_begin(sql_rows *r, eb_filter *f, bool has_value, bool has_time);
eb_status sql_rows_flush(sql_rows *r, eb_error *err);
eb_status sql_rows_bytes(sql_rows *r, eb_key_type type, eb_key key, eb_error *err);
eb_status sql_rows_other_type(sql_rows *r, eb_key_type type, eb_error *err);

static inline eb_status sql_rows_number(sql_rows *r, int64_t x, eb_error *err) {
    if (r->type != EB_I64) {
        const eb_status status = sql_rows_other_type(r, EB_I64, err);
        if (status != EB_OK) return status;
    }
    r->key.number[r->n] = x;
    return ++r->n < SQL_ROWS ? EB_OK : sql_rows_flush(r, err);
}

/* Are the filter's keys text?  Find out once for each filter. */
bool sql_is_text(const eb_filter *f);
/* Asks about one key: an EB_I64 in a column, or bytes in an array.  If keys are text, it takes the
 * short way, also for numbers.  time, seen, count: or NULL. */
eb_status sql_ask(const eb_filter *f, bool text, const eb_keys *key, const uint64_t *time,
                  bool *seen, double *count, eb_error *err);

/* The spec, with the drawn seed if it says seed=random.  Without seed= it is 0 here for all kinds:
 * a query that is run again gives the same filter. */
eb_status sql_seeded(const char *spec, uint64_t drawn, char out[2 * EB_SPEC_MAX], eb_error *err);

/* The sentence of an error.  A place among the rows that waited would say nothing to the user: "key
 * 17 is ..." becomes "a key is ...".  It may quote bytes of a damaged value: what is no UTF-8
 * becomes '?'. */
void sql_error_text(const eb_error *err, char out[sizeof(eb_error)]);

/* Can evb_agg of PostgreSQL make filters of this kind, with update=plain if it counts? */
bool sql_any_order(const eb_kind_info *kind);

/* What evb_info says besides the spec, in order.  A number that is not finite is null. */
typedef struct sql_member {
    const char *name;
    double number;
} sql_member;
enum { SQL_INFO_MEMBERS = 9 };
eb_status sql_info(const eb_filter *f, sql_member out[SQL_INFO_MEMBERS], eb_error *err);

/* What evb_plan asks.  0: not told, or no bound. */
typedef struct sql_wishes {
    double items, distinct, fpr, fnr, bytes;
    bool any_order; /* kinds that evb_agg takes in PostgreSQL: they merge, and order does not matter
                     */
} sql_wishes;
enum { SQL_OFFERS = 32 };
eb_status sql_plan(const sql_wishes *w, eb_offer out[SQL_OFFERS], size_t *n, eb_error *err);
/* The rate of false positives of an offer when all keys are in it, which is when a database asks.
 * The bound of a plan is on the mean while they are added.  NAN: no formula. */
double sql_fpr_at_end(const sql_wishes *w, const eb_offer *offer);
#endif
