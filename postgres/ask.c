/* ask.c - functions of PostgreSQL that ask filters: one answer, or one row of them. */
#include "evb.h"

#include <catalog/pg_type.h>
#include <funcapi.h>
#include <lib/stringinfo.h>
#include <math.h>
#include <miscadmin.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/jsonb.h>
#include <utils/lsyscache.h>

/* The key of argument 1, asked of the filter of argument 0, as of argument 2 if it is there. */
static void ask_key(FunctionCallInfo fcinfo, bool *seen, double *count) {
    const evb_asked *const asked = evb_argument(fcinfo);
    const bool as_of = PG_NARGS() > 2;
    evb_key key;
    uint64_t time;
    eb_error err;
    evb_key_of(PG_GETARG_DATUM(1), asked->key, asked->numbers, &key);
    if (as_of) time = evb_time_of(PG_GETARG_DATUM(2));
    if (sql_ask(asked->f, asked->text, &key.keys, as_of ? &time : NULL, seen, count, &err) != EB_OK)
        evb_fail(&err);
}

PG_FUNCTION_INFO_V1(evb_has);
Datum evb_has(PG_FUNCTION_ARGS) {
    bool seen;
    ask_key(fcinfo, &seen, NULL);
    PG_RETURN_BOOL(seen);
}

PG_FUNCTION_INFO_V1(evb_count);
Datum evb_count(PG_FUNCTION_ARGS) {
    double count;
    ask_key(fcinfo, NULL, &count);
    PG_RETURN_FLOAT8(count);
}

/* A row of numbers; NAN is NULL. */
static Datum ask_row(FunctionCallInfo fcinfo, const double *numbers, int n) {
    Datum values[8];
    bool nulls[8];
    TupleDesc row;
    if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "this function returns a row");
    for (int i = 0; i < n; i++) {
        nulls[i] = isnan(numbers[i]);
        values[i] = Float8GetDatum(numbers[i]);
    }
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls));
}

PG_FUNCTION_INFO_V1(evb_estimate);
Datum evb_estimate(PG_FUNCTION_ARGS) {
    const evb_asked *const asked = evb_argument(fcinfo);
    evb_key key;
    eb_hash hash;
    eb_estimate e;
    eb_error err;
    const eb_batch b = eb_batch_hashes(&hash, 1);
    EB_INIT(e);
    evb_key_of(PG_GETARG_DATUM(1), asked->key, asked->numbers, &key);
    if (eb_hash_keys(asked->f, &key.keys, 1, &hash, &err) != EB_OK ||
        eb_estimate_batch(asked->f, &b, &e, &err) != EB_OK)
        evb_fail(&err);
    return ask_row(fcinfo, (double[]){e.count, e.lower, e.upper, e.confidence}, 4);
}

/* The counts of several distinct keys together: an array of text or bigint. */
PG_FUNCTION_INFO_V1(evb_sum);
Datum evb_sum(PG_FUNCTION_ARGS) {
    const evb_asked *const asked = evb_argument(fcinfo);
    ArrayType *const array = PG_GETARG_ARRAYTYPE_P(1);
    const Oid type = ARR_ELEMTYPE(array);
    int16 len;
    bool by_value, *nulls;
    char align;
    Datum *keys;
    int n, used = 0;
    eb_hash *hash;
    eb_sum sum;
    eb_error err;
    eb_batch b;
    EB_INIT(sum);
    get_typlenbyvalalign(type, &len, &by_value, &align);
    deconstruct_array(array, type, len, by_value, align, &keys, &nulls, &n);
    hash = palloc(sizeof *hash * (Size)(n + 1));
    for (int i = 0; i < n; i++) {
        evb_key key;
        if (nulls[i]) continue;
        evb_key_of(keys[i], type, asked->numbers, &key);
        if (eb_hash_keys(asked->f, &key.keys, 1, &hash[used++], &err) != EB_OK) evb_fail(&err);
    }
    b = eb_batch_hashes(hash, (size_t)used);
    if (eb_sum_batch(asked->f, &b, &sum, &err) != EB_OK) evb_fail(&err);
    return ask_row(fcinfo, (double[]){sum.sum, sum.error, sum.median, sum.upper}, 4);
}

PG_FUNCTION_INFO_V1(evb_join_size);
Datum evb_join_size(PG_FUNCTION_ARGS) {
    eb_filter *const a = evb_load((struct varlena *)PG_GETARG_BYTEA_PP(0), CurrentMemoryContext);
    eb_filter *const b = evb_load((struct varlena *)PG_GETARG_BYTEA_PP(1), CurrentMemoryContext);
    eb_join join;
    eb_error err;
    EB_INIT(join);
    if (eb_join_size(a, b, &join, &err) != EB_OK) evb_fail(&err);
    return ask_row(fcinfo, (double[]){join.join, join.error, join.upper}, 3);
}

PG_FUNCTION_INFO_V1(evb_merge);
Datum evb_merge(PG_FUNCTION_ARGS) {
    eb_filter *const a = evb_load((struct varlena *)PG_GETARG_BYTEA_PP(0), CurrentMemoryContext);
    eb_filter *const b = evb_load((struct varlena *)PG_GETARG_BYTEA_PP(1), CurrentMemoryContext);
    eb_error err;
    if (eb_merge(a, b, 1, &err) != EB_OK) evb_fail(&err);
    PG_RETURN_BYTEA_P(evb_save(a));
}

PG_FUNCTION_INFO_V1(evb_range);
Datum evb_range(PG_FUNCTION_ARGS) {
    eb_filter *const f = evb_argument(fcinfo)->f;
    eb_range r;
    eb_error err;
    EB_INIT(r);
    if (eb_range_count(f, (uint64_t)PG_GETARG_INT64(1), (uint64_t)PG_GETARG_INT64(2), &r, &err) !=
        EB_OK)
        evb_fail(&err);
    return ask_row(fcinfo, (double[]){r.lower, r.upper}, 2);
}

PG_FUNCTION_INFO_V1(evb_quantile);
Datum evb_quantile(PG_FUNCTION_ARGS) {
    eb_filter *const f = evb_argument(fcinfo)->f;
    eb_quantile q;
    eb_error err;
    Datum values[3];
    bool nulls[3] = {false, false, false};
    TupleDesc row;
    EB_INIT(q);
    if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "this function returns a row");
    if (eb_range_quantile(f, PG_GETARG_FLOAT8(1), &q, &err) != EB_OK) evb_fail(&err);
    values[0] = Int64GetDatum((int64)q.value);
    values[1] = Int64GetDatum((int64)q.lower);
    values[2] = Int64GetDatum((int64)q.upper);
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls));
}

PG_FUNCTION_INFO_V1(evb_info);
Datum evb_info(PG_FUNCTION_ARGS) {
    eb_filter *const f = evb_argument(fcinfo)->f;
    sql_member member[SQL_INFO_MEMBERS];
    eb_error err;
    StringInfoData s;
    if (sql_info(f, member, &err) != EB_OK) evb_fail(&err);
    initStringInfo(&s);
    appendStringInfo(&s, "{\"spec\":\"%s\"", eb_spec(f));
    for (int i = 0; i < SQL_INFO_MEMBERS; i++)
        if (isfinite(member[i].number))
            appendStringInfo(&s, ",\"%s\":%.17g", member[i].name, member[i].number);
        else
            appendStringInfo(&s, ",\"%s\":null", member[i].name);
    appendStringInfoChar(&s, '}');
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(s.data));
}

/* Was the key there before, in this query?  Each call in a query has a filter of its own. */
PG_FUNCTION_INFO_V1(evb_seen);
Datum evb_seen(PG_FUNCTION_ARGS) {
    eb_filter *f = fcinfo->flinfo->fn_extra;
    evb_key key;
    uint8_t seen;
    eb_error err;
    eb_batch b = eb_batch_keys(&key.keys, 1);
    if (!f) f = fcinfo->flinfo->fn_extra = evb_make(PG_GETARG_TEXT_PP(1), fcinfo->flinfo->fn_mcxt);
    evb_key_of(PG_GETARG_DATUM(0), get_fn_expr_argtype(fcinfo->flinfo, 0), evb_wants_numbers(f),
               &key);
    b.seen = &seen;
    if (eb_add_batch(f, &b, &err) != EB_OK) evb_fail(&err);
    PG_RETURN_BOOL(seen);
}
