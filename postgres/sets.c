/* sets.c - functions of PostgreSQL that give rows: frequent keys, the kinds of filters. */
#include "evb.h"

#include <funcapi.h>
#include <math.h>
#include <mb/pg_wchar.h>
#include <utils/builtins.h>

/* A key of the filter, which may have come from anyone: bytes that are no text are an error. */
static Datum sets_text(eb_key key) {
    char *const raw = memcpy(palloc(key.len + 1), key.p, key.len);
    const char *text;
    raw[key.len] = '\0';
    text = pg_any_to_server(raw, (int)key.len, PG_UTF8);
    return PointerGetDatum(
        cstring_to_text_with_len(text, text == raw ? (int)key.len : (int)strlen(text)));
}

/* Keys with a count of at_least, the most frequent first. */
static void sets_keys(FunctionCallInfo fcinfo, eb_filter *f, double at_least, size_t most) {
    ReturnSetInfo *const rows = (ReturnSetInfo *)fcinfo->resultinfo;
    eb_top_list list;
    eb_error err;
    eb_top_key *keys;
    EB_INIT(list);
    list.at_least = at_least;
    if (eb_top(f, &list, &err) != EB_OK) evb_fail(&err); /* how many are there? */
    list.cap = Min(list.matching, most);
    keys = palloc(sizeof *keys * (list.cap + 1));
    list.keys = keys;
    if (eb_top(f, &list, &err) != EB_OK) evb_fail(&err);
    for (size_t i = 0; i < list.n; i++) {
        bool nulls[4] = {false, false, false, false};
        Datum values[4];
        values[0] = sets_text(keys[i].key);
        values[1] = Float8GetDatum(keys[i].count);
        values[2] = Float8GetDatum(keys[i].lower);
        values[3] = Float8GetDatum(list.watermark);
        tuplestore_putvalues(rows->setResult, rows->setDesc, values, nulls);
    }
}

PG_FUNCTION_INFO_V1(evb_top);
Datum evb_top(PG_FUNCTION_ARGS) {
    const int64 n = PG_GETARG_INT64(1);
    if (n < 1)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the number of keys must be 1 or more, not %lld", (long long)n)));
    InitMaterializedSRF(fcinfo, 0);
    sets_keys(fcinfo, evb_load((struct varlena *)PG_GETARG_BYTEA_PP(0), CurrentMemoryContext), 0,
              (size_t)n);
    return (Datum)0;
}

PG_FUNCTION_INFO_V1(evb_iceberg);
Datum evb_iceberg(PG_FUNCTION_ARGS) {
    const double at_least = PG_GETARG_FLOAT8(1);
    if (!(at_least > 0))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the threshold must be above 0, not %g", at_least)));
    InitMaterializedSRF(fcinfo, 0);
    sets_keys(fcinfo, evb_load((struct varlena *)PG_GETARG_BYTEA_PP(0), CurrentMemoryContext),
              at_least, SIZE_MAX);
    return (Datum)0;
}

PG_FUNCTION_INFO_V1(evb_plan);
Datum evb_plan(PG_FUNCTION_ARGS) {
    ReturnSetInfo *const rows = (ReturnSetInfo *)fcinfo->resultinfo;
    const sql_wishes wishes = {.distinct = PG_GETARG_FLOAT8(0),
                               .fpr = PG_GETARG_FLOAT8(1),
                               .fnr = PG_GETARG_FLOAT8(2),
                               .bytes = PG_GETARG_FLOAT8(3),
                               .items = PG_GETARG_FLOAT8(4),
                               .any_order = PG_GETARG_BOOL(5)};
    eb_offer *const offers = palloc0(sizeof *offers * SQL_OFFERS);
    eb_error err;
    size_t n;
    InitMaterializedSRF(fcinfo, 0);
    if (sql_plan(&wishes, offers, &n, &err) != EB_OK) evb_fail(&err);
    for (size_t i = 0; i < n; i++) {
        const double numbers[] = {offers[i].bytes, offers[i].mean_fpr, offers[i].mean_fnr,
                                  sql_fpr_at_end(&wishes, &offers[i])};
        Datum values[6];
        bool nulls[6] = {false, false};
        values[0] = CStringGetTextDatum(offers[i].kind->name);
        values[1] = CStringGetTextDatum(offers[i].spec);
        for (int j = 0; j < 4; j++) {
            nulls[2 + j] = isnan(numbers[j]);
            values[2 + j] = Float8GetDatum(numbers[j]);
        }
        tuplestore_putvalues(rows->setResult, rows->setDesc, values, nulls);
    }
    return (Datum)0;
}

PG_FUNCTION_INFO_V1(evb_kinds);
Datum evb_kinds(PG_FUNCTION_ARGS) {
    ReturnSetInfo *const rows = (ReturnSetInfo *)fcinfo->resultinfo;
    size_t n;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    InitMaterializedSRF(fcinfo, 0);
    for (size_t i = 0; i < n; i++) {
        const char *const words[] = {kinds[i]->name, kinds[i]->question, kinds[i]->summary,
                                     kinds[i]->paper};
        Datum values[5];
        bool nulls[5];
        for (int j = 0; j < 4; j++) {
            nulls[j] = !words[j];
            values[j] = words[j] ? CStringGetTextDatum(words[j]) : (Datum)0;
        }
        nulls[4] = false;
        values[4] = BoolGetDatum(sql_any_order(kinds[i]));
        tuplestore_putvalues(rows->setResult, rows->setDesc, values, nulls);
    }
    return (Datum)0;
}
