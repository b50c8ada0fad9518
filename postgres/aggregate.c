/* aggregate.c - aggregates of PostgreSQL that make filters.
 *
 * evb_agg runs in parallel and takes only kinds whose bytes do not depend on the order of the keys,
 * so two workers make the same filter as none.  evb_stream_agg takes every kind, in the order that
 * the query says. */
#include "evb.h"

#include <catalog/pg_type.h>
#include <miscadmin.h>
#include <utils/builtins.h>

typedef struct aggregate_state {
    Oid type;     /* of the keys */
    bool numbers; /* that are wanted for times */
    sql_rows rows;
} aggregate_state;

static MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context)) elog(ERROR, "called outside of an aggregate");
    return context;
}

static void aggregate_flush(aggregate_state *s) {
    eb_error err;
    if (sql_rows_flush(&s->rows, &err) != EB_OK) evb_fail(&err);
}

/* A state of a context that holds a filter, and no rows that wait. */
static aggregate_state *aggregate_of(eb_filter *f, MemoryContext context, Oid type, int arguments) {
    aggregate_state *const s = MemoryContextAlloc(context, sizeof *s);
    s->type = type;
    s->numbers = evb_wants_numbers(f);
    sql_rows_begin(&s->rows, f, arguments > 3, arguments > 4);
    return s;
}

static aggregate_state *aggregate_begin(FunctionCallInfo fcinfo) {
    const MemoryContext context = aggregate_context(fcinfo);
    if (PG_ARGISNULL(2))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the spec is NULL"),
                        errhint("Try 'bloom:distinct=1e6,fpr=0.001'.")));
    return aggregate_of(evb_make(PG_GETARG_TEXT_PP(2), context), context,
                        get_fn_expr_argtype(fcinfo->flinfo, 1), PG_NARGS());
}

static uint64_t aggregate_time(FunctionCallInfo fcinfo) {
    if (PG_ARGISNULL(4))
        ereport(ERROR,
                (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the time of a row is NULL")));
    return evb_time_of(PG_GETARG_DATUM(4));
}

/* Anything but a bigint. */
static eb_status aggregate_key(aggregate_state *s, Datum value, eb_error *err) {
    evb_key key;
    evb_key_of(value, s->type, s->numbers, &key);
    if (key.keys.type == EB_I64) return sql_rows_number(&s->rows, key.number, err);
    return sql_rows_bytes(&s->rows, (eb_key_type)key.keys.type, key.bytes, err);
}

static void aggregate_describe(const char *spec, eb_spec_info *info) {
    eb_error err;
    EB_INIT(*info);
    if (eb_spec_describe(spec, info, &err) != EB_OK) evb_fail(&err);
}

/* Do workers make the same filter as one process? */
static bool aggregate_any_order(const eb_spec_info *info) {
    const uint64_t wanted = EB_CAN_MERGE | EB_ORDER_FREE;
    return (info->caps & wanted) == wanted;
}

/* What evb_agg may take.  The message names the way out. */
PG_FUNCTION_INFO_V1(evb_parallel_spec_in);
Datum evb_parallel_spec_in(PG_FUNCTION_ARGS) {
    /* A seed is drawn here, once for all workers. */
    const char *const spec = evb_seeded(PG_GETARG_CSTRING(0));
    eb_spec_info info;
    aggregate_describe(spec, &info);
    if (!aggregate_any_order(&info))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("evb_agg cannot make a filter of kind %s with these options, because "
                        "it depends on the order of the rows",
                        info.kind),
                 errhint("Use evb_stream_agg(key, spec ORDER BY ...); a counting filter can "
                         "also be made with update=plain.")));
    PG_RETURN_TEXT_P(cstring_to_text(spec));
}

/* What evb_count_agg may take: filters that count, with update=plain if they would depend on the
 * order without it. */
PG_FUNCTION_INFO_V1(evb_count_spec_in);
Datum evb_count_spec_in(PG_FUNCTION_ARGS) {
    const char *spec = evb_seeded(PG_GETARG_CSTRING(0));
    eb_spec_info info;
    aggregate_describe(spec, &info);
    if (!aggregate_any_order(&info) && strstr(spec, "update=") == NULL) {
        char *const plain =
            psprintf("%s%cupdate=plain", spec, strchr(spec, ':') == NULL ? ':' : ',');
        eb_spec_info other;
        EB_INIT(other);
        if (eb_spec_describe(plain, &other, NULL) == EB_OK) {
            spec = plain;
            info = other;
        }
    }
    if (!aggregate_any_order(&info) || !(info.caps & EB_CAN_COUNT))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("evb_count_agg cannot make a filter of kind %s with these options",
                               info.kind),
                        errhint("Try 'spectral:memory=1M', or evb_stream_agg(key, spec ORDER BY "
                                "...) for other kinds that count.")));
    PG_RETURN_TEXT_P(cstring_to_text(spec));
}

PG_FUNCTION_INFO_V1(evb_agg_step);
Datum evb_agg_step(PG_FUNCTION_ARGS) {
    aggregate_state *const s =
        PG_ARGISNULL(0) ? aggregate_begin(fcinfo) : (aggregate_state *)PG_GETARG_POINTER(0);
    sql_rows *const rows = &s->rows;
    eb_error err;
    eb_status status;
    if (PG_ARGISNULL(1)) PG_RETURN_POINTER(s);
    if (rows->has_value)
        rows->value[rows->n] = PG_ARGISNULL(3) ? 1 : evb_weight_of(PG_GETARG_DATUM(3));
    if (rows->has_time) rows->time[rows->n] = aggregate_time(fcinfo);
    status = s->type == INT8OID ? sql_rows_number(rows, PG_GETARG_INT64(1), &err)
                                : aggregate_key(s, PG_GETARG_DATUM(1), &err);
    if (status != EB_OK) evb_fail(&err);
    if (rows->n == 0) CHECK_FOR_INTERRUPTS();
    PG_RETURN_POINTER(s);
}

PG_FUNCTION_INFO_V1(evb_stream_agg_final);
Datum evb_stream_agg_final(PG_FUNCTION_ARGS) {
    aggregate_state *s;
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    s = (aggregate_state *)PG_GETARG_POINTER(0);
    aggregate_flush(s);
    PG_RETURN_BYTEA_P(evb_save(s->rows.f));
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
    if (eb_clone(&whole, s->rows.f, &memory, &err) != EB_OK || eb_clear(whole, &err) != EB_OK ||
        eb_merge(whole, s->rows.f, 1, &err) != EB_OK)
        evb_fail(&err);
    value = evb_save(whole);
    eb_free(whole);
    PG_RETURN_BYTEA_P(value);
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
        if (eb_clone(&f, from->rows.f, &memory, &err) != EB_OK) evb_fail(&err);
        PG_RETURN_POINTER(aggregate_of(f, context, InvalidOid, 0));
    }
    aggregate_flush(into);
    if (eb_merge(into->rows.f, from->rows.f, 1, &err) != EB_OK) evb_fail(&err);
    PG_RETURN_POINTER(into);
}

PG_FUNCTION_INFO_V1(evb_agg_serial);
Datum evb_agg_serial(PG_FUNCTION_ARGS) {
    aggregate_state *const s = (aggregate_state *)PG_GETARG_POINTER(0);
    (void)aggregate_context(fcinfo);
    aggregate_flush(s);
    PG_RETURN_BYTEA_P(evb_save(s->rows.f));
}

PG_FUNCTION_INFO_V1(evb_agg_deserial);
Datum evb_agg_deserial(PG_FUNCTION_ARGS) {
    (void)aggregate_context(fcinfo);
    PG_RETURN_POINTER(
        aggregate_of(evb_load((struct varlena *)PG_GETARG_BYTEA_PP(0), CurrentMemoryContext),
                     CurrentMemoryContext, InvalidOid, 0));
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
        PG_RETURN_POINTER(aggregate_of(evb_load((struct varlena *)PG_GETARG_BYTEA_PP(1), context),
                                       context, InvalidOid, 0));
    f = evb_load((struct varlena *)PG_GETARG_BYTEA_PP(1), CurrentMemoryContext);
    if (eb_merge(s->rows.f, f, 1, &err) != EB_OK) evb_fail(&err);
    eb_free(f);
    PG_RETURN_POINTER(s);
}
