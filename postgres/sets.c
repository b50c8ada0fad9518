/* sets.c - functions of PostgreSQL that give rows: the kinds of filters. */
#include "evb.h"

#include <funcapi.h>
#include <utils/builtins.h>

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
        values[4] = BoolGetDatum((kinds[i]->caps & (EB_CAN_MERGE | EB_ORDER_FREE)) ==
                                 (EB_CAN_MERGE | EB_ORDER_FREE));
        tuplestore_putvalues(rows->setResult, rows->setDesc, values, nulls);
    }
    return (Datum)0;
}
