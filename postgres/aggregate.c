/* aggregate.c - aggregates of PostgreSQL that make filters.
 *
 * evb_agg runs in parallel and takes only kinds whose bytes do not depend on the order of the keys,
 * so two workers make the same filter as none.  evb_stream_agg takes every kind, in the order that
 * the query says.
 *
 * Rows wait until a batch is full: a batch is several times as fast as its keys one by one. */
#include "evb.h"

#include <catalog/pg_type.h>
#include <miscadmin.h>
#include <utils/builtins.h>

enum { BATCH = 256 };
typedef struct aggregate_state {
    eb_filter *f;
    bool keeps_keys, numbers, has_value, has_time;
    size_t n;
    eb_hash hash[BATCH];
    uint64_t value[BATCH], time[BATCH];
} aggregate_state;

static MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context)) elog(ERROR, "called outside of an aggregate");
    return context;
}

static void aggregate_add(aggregate_state *s, eb_batch *b) {
    eb_error err;
    if (s->has_value) b->value = s->value;
    if (s->has_time) b->time = s->time;
    if (b->n && eb_add_batch(s->f, b, &err) != EB_OK) evb_fail(&err);
    s->n = 0;
}

static void aggregate_flush(aggregate_state *s) {
    eb_batch b = eb_batch_hashes(s->hash, s->n);
    CHECK_FOR_INTERRUPTS();
    aggregate_add(s, &b);
}

/* What evb_agg may take.  The message names the way out. */
static void aggregate_must_merge(const eb_filter *f) {
    const uint64_t wanted = EB_CAN_MERGE | EB_ORDER_FREE;
    if ((eb_caps(f) & wanted) == wanted) return;
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("evb_agg cannot make this filter, because it depends on the order of the rows"),
             errhint("Use evb_stream_agg(key, spec ORDER BY ...); a counting filter can also "
                     "be made with update=plain.")));
}

static aggregate_state *aggregate_begin(FunctionCallInfo fcinfo, bool merges) {
    const MemoryContext context = aggregate_context(fcinfo);
    aggregate_state *s;
    if (PG_ARGISNULL(2))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the spec is NULL"),
                        errhint("Try 'bloom:distinct=1e6,fpr=0.001'.")));
    s = MemoryContextAlloc(context, sizeof *s);
    s->f = evb_make(PG_GETARG_TEXT_PP(2), context);
    if (merges) aggregate_must_merge(s->f);
    s->keeps_keys = (eb_caps(s->f) & EB_KEEPS_KEYS) != 0;
    s->numbers = evb_wants_numbers(s->f);
    s->has_value = PG_NARGS() > 3;
    s->has_time = PG_NARGS() > 4;
    s->n = 0;
    return s;
}

static Datum aggregate_step(FunctionCallInfo fcinfo, bool merges) {
    aggregate_state *const s =
        PG_ARGISNULL(0) ? aggregate_begin(fcinfo, merges) : (aggregate_state *)PG_GETARG_POINTER(0);
    evb_key key;
    eb_error err;
    if (PG_ARGISNULL(1)) PG_RETURN_POINTER(s);
    evb_key_of(PG_GETARG_DATUM(1), get_fn_expr_argtype(fcinfo->flinfo, 1), s->numbers, &key);
    if (s->has_value) s->value[s->n] = PG_ARGISNULL(3) ? 1 : evb_weight_of(PG_GETARG_DATUM(3));
    if (s->has_time) {
        if (PG_ARGISNULL(4))
            ereport(ERROR,
                    (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the time of a row is NULL")));
        s->time[s->n] = evb_time_of(PG_GETARG_DATUM(4));
    }
    if (s->keeps_keys) {
        eb_batch b = eb_batch_keys(&key.keys, 1);
        aggregate_add(s, &b);
    } else {
        if (eb_hash_keys(s->f, &key.keys, 1, &s->hash[s->n], &err) != EB_OK) evb_fail(&err);
        if (++s->n == BATCH) aggregate_flush(s);
    }
    PG_RETURN_POINTER(s);
}

PG_FUNCTION_INFO_V1(evb_agg_step);
Datum evb_agg_step(PG_FUNCTION_ARGS) {
    return aggregate_step(fcinfo, true);
}

PG_FUNCTION_INFO_V1(evb_stream_agg_step);
Datum evb_stream_agg_step(PG_FUNCTION_ARGS) {
    return aggregate_step(fcinfo, false);
}

PG_FUNCTION_INFO_V1(evb_stream_agg_final);
Datum evb_stream_agg_final(PG_FUNCTION_ARGS) {
    aggregate_state *s;
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    s = (aggregate_state *)PG_GETARG_POINTER(0);
    aggregate_flush(s);
    PG_RETURN_BYTEA_P(evb_save(s->f));
}

/* What workers made is merged into an empty filter, also if there was only one: so the bytes are
 * the same. */
PG_FUNCTION_INFO_V1(evb_agg_final);
Datum evb_agg_final(PG_FUNCTION_ARGS) {
    const eb_allocator memory = evb_memory(CurrentMemoryContext);
    aggregate_state *s;
    eb_filter *whole;
    eb_error err;
    bytea *value;
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    s = (aggregate_state *)PG_GETARG_POINTER(0);
    aggregate_flush(s);
    if (eb_clone(&whole, s->f, &memory, &err) != EB_OK || eb_clear(whole, &err) != EB_OK ||
        eb_merge(whole, s->f, 1, &err) != EB_OK)
        evb_fail(&err);
    value = evb_save(whole);
    eb_free(whole);
    PG_RETURN_BYTEA_P(value);
}

/* A state that holds a filter and no rows that wait. */
static aggregate_state *aggregate_of(eb_filter *f, MemoryContext context) {
    aggregate_state *const s = MemoryContextAllocZero(context, sizeof *s);
    s->f = f;
    s->keeps_keys = (eb_caps(f) & EB_KEEPS_KEYS) != 0;
    s->numbers = evb_wants_numbers(f);
    return s;
}

PG_FUNCTION_INFO_V1(evb_agg_combine);
Datum evb_agg_combine(PG_FUNCTION_ARGS) {
    const MemoryContext context = aggregate_context(fcinfo);
    aggregate_state *into = PG_ARGISNULL(0) ? NULL : (aggregate_state *)PG_GETARG_POINTER(0);
    aggregate_state *const from = PG_ARGISNULL(1) ? NULL : (aggregate_state *)PG_GETARG_POINTER(1);
    eb_error err;
    if (!from) {
        if (!into) PG_RETURN_NULL();
        PG_RETURN_POINTER(into);
    }
    aggregate_flush(from);
    if (!into) {
        const eb_allocator memory = evb_memory(context);
        eb_filter *f;
        if (eb_clone(&f, from->f, &memory, &err) != EB_OK) evb_fail(&err);
        PG_RETURN_POINTER(aggregate_of(f, context));
    }
    aggregate_flush(into);
    if (eb_merge(into->f, from->f, 1, &err) != EB_OK) evb_fail(&err);
    PG_RETURN_POINTER(into);
}

PG_FUNCTION_INFO_V1(evb_agg_serial);
Datum evb_agg_serial(PG_FUNCTION_ARGS) {
    aggregate_state *const s = (aggregate_state *)PG_GETARG_POINTER(0);
    (void)aggregate_context(fcinfo);
    aggregate_flush(s);
    PG_RETURN_BYTEA_P(evb_save(s->f));
}

PG_FUNCTION_INFO_V1(evb_agg_deserial);
Datum evb_agg_deserial(PG_FUNCTION_ARGS) {
    (void)aggregate_context(fcinfo);
    PG_RETURN_POINTER(
        aggregate_of(evb_load((struct varlena *)PG_GETARG_BYTEA_PP(0), CurrentMemoryContext),
                     CurrentMemoryContext));
}

PG_FUNCTION_INFO_V1(evb_merge_agg_step);
Datum evb_merge_agg_step(PG_FUNCTION_ARGS) {
    const MemoryContext context = aggregate_context(fcinfo);
    aggregate_state *s = PG_ARGISNULL(0) ? NULL : (aggregate_state *)PG_GETARG_POINTER(0);
    eb_error err;
    eb_filter *f;
    if (PG_ARGISNULL(1)) {
        if (!s) PG_RETURN_NULL();
        PG_RETURN_POINTER(s);
    }
    if (!s)
        PG_RETURN_POINTER(
            aggregate_of(evb_load((struct varlena *)PG_GETARG_BYTEA_PP(1), context), context));
    f = evb_load((struct varlena *)PG_GETARG_BYTEA_PP(1), CurrentMemoryContext);
    if (eb_merge(s->f, f, 1, &err) != EB_OK) evb_fail(&err);
    eb_free(f);
    PG_RETURN_POINTER(s);
}
