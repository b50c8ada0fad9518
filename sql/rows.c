/* rows.c - keys of rows, collected into batches: see sql.h. */
#include "sql.h"

void sql_rows_begin(sql_rows *r, eb_filter *f, bool has_value, bool has_time) {
    r->f = f;
    r->n = 0;
    r->type = 0;
    r->has_value = has_value;
    r->has_time = has_time;
}

static eb_status rows_add(sql_rows *r, const eb_keys *keys, size_t n, size_t first, eb_error *err) {
    eb_batch b = eb_batch_keys(keys, n);
    if (r->has_value) b.value = r->value + first;
    if (r->has_time) b.time = r->time + first;
    return eb_add_batch(r->f, &b, err);
}

eb_status sql_rows_flush(sql_rows *r, eb_error *err) {
    const size_t n = r->n;
    r->n = 0;
    if (n == 0) return EB_OK;
    if (r->type == EB_I64) {
        const eb_keys numbers = eb_keys_column(EB_I64, r->key.number, sizeof *r->key.number);
        return rows_add(r, &numbers, n, 0, err);
    }
    const eb_keys text = eb_keys_offsets32((eb_key_type)r->type, r->key.text.bytes,
                                           (size_t)r->key.text.offset[n], r->key.text.offset);
    return rows_add(r, &text, n, 0, err);
}

/* The value and the time of the next row are already there: they move to the front. */
static eb_status rows_empty(sql_rows *r, eb_error *err) {
    const uint64_t value = r->value[r->n], time = r->time[r->n];
    const eb_status status = sql_rows_flush(r, err);
    r->value[0] = value;
    r->time[0] = time;
    return status;
}

eb_status sql_rows_other_type(sql_rows *r, eb_key_type type, eb_error *err) {
    const eb_status status = rows_empty(r, err);
    r->type = type;
    if (type != EB_I64) r->key.text.offset[0] = 0;
    return status;
}

eb_status sql_rows_bytes(sql_rows *r, eb_key_type type, eb_key key, eb_error *err) {
    eb_status status = EB_OK;
    if (r->type != (uint32_t)type) status = sql_rows_other_type(r, type, err);
    if (status == EB_OK &&
        key.len > SQL_ROWS_BYTES - (size_t)r->key.text.offset[r->n]) /* no room */
        status = rows_empty(r, err);
    if (status != EB_OK) return status;
    if (key.len > SQL_ROWS_BYTES) {
        const eb_keys alone = eb_keys_array(type, &key);
        return rows_add(r, &alone, 1, 0, err);
    }
    const int32_t at = r->key.text.offset[r->n];
    memcpy(r->key.text.bytes + at, key.p, key.len);
    r->key.text.offset[++r->n] = at + (int32_t)key.len;
    return r->n < SQL_ROWS ? EB_OK : sql_rows_flush(r, err);
}
