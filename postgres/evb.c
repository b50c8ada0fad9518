/* evb.c - the type evb of PostgreSQL, and where functions get filters and keys from.
 *
 * A value is a snapshot: the same bytes as in files, in Redis and in SQLite.  Whatever comes from
 * outside is loaded, so checked, before it becomes a value; and a value is checked again when it is
 * used, because the database's files are outside, too.
 *
 * Loading copies and checks all of a filter: milliseconds.  A function that is called for every row
 * keeps the loaded filter with its call (fn_extra) and recognises the value: by its toast pointer
 * if it is stored out of line, else by its header, which holds the checksum. */
#include "evb.h"

#include <access/detoast.h>
#include <catalog/pg_type.h>
#include <common/base64.h>
#include <libpq/pqformat.h>
#include <mb/pg_wchar.h>
#include <utils/builtins.h>
#include <utils/timestamp.h>
#include <utils/uuid.h>

PG_MODULE_MAGIC;

/* ---- Memory and errors ----------------------------------------------------------------------- */

/* palloc aligns to 8 bytes, the library wants 16: the address that palloc gave is kept before the
 * block. */
static void *evb_alloc_with(void *context, size_t bytes, int flags) {
    char *raw;
    uintptr_t p;
    if (bytes > MaxAllocHugeSize - 32) return NULL;
    raw = MemoryContextAllocExtended(context, bytes + 32,
                                     flags | MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
    if (!raw) return NULL;
    p = ((uintptr_t)raw + 31) & ~(uintptr_t)15;
    ((char **)p)[-1] = raw;
    return (void *)p;
}

static void *evb_alloc(void *context, size_t bytes) {
    return evb_alloc_with(context, bytes, 0);
}

static void *evb_alloc_zeroed(void *context, size_t bytes) {
    return evb_alloc_with(context, bytes, MCXT_ALLOC_ZERO);
}

static void evb_free(void *context, void *p, size_t bytes) {
    (void)context, (void)bytes;
    if (p) pfree(((char **)p)[-1]);
}

eb_allocator evb_memory(MemoryContext context) {
    return (eb_allocator){sizeof(eb_allocator), context, evb_alloc, evb_alloc_zeroed, evb_free};
}

void evb_fail(const eb_error *err) {
    int code = ERRCODE_INTERNAL_ERROR;
    char words[sizeof *err];
    switch (err->status) {
    case EB_ENOMEM:
        code = ERRCODE_OUT_OF_MEMORY;
        break;
    case EB_EINVAL:
    case EB_ESPEC:
        code = ERRCODE_INVALID_PARAMETER_VALUE;
        break;
    case EB_EFORMAT:
    case EB_EVERSION:
        code = ERRCODE_INVALID_BINARY_REPRESENTATION;
        break;
    case EB_EMISMATCH:
    case EB_ENOTSUP:
    case EB_EREADONLY:
        code = ERRCODE_FEATURE_NOT_SUPPORTED;
        break;
    case EB_EFULL:
    case EB_ELIMIT:
        code = ERRCODE_PROGRAM_LIMIT_EXCEEDED;
        break;
    case EB_EKEY:
        code = ERRCODE_DATATYPE_MISMATCH;
        break;
    case EB_EVALUE:
        code = ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
        break;
    case EB_ETIME:
        code = ERRCODE_DATETIME_VALUE_OUT_OF_RANGE;
        break;
    default:
        break;
    }
    sql_error_text(err, words);
    ereport(ERROR, (errcode(code), errmsg("%s", words)));
}

/* ---- Filters --------------------------------------------------------------------------------- */

eb_filter *evb_load(const struct varlena *value, MemoryContext context) {
    const eb_allocator memory = evb_memory(context);
    eb_snapshot_info info;
    eb_filter *f;
    eb_error err;
    const size_t len = VARSIZE_ANY_EXHDR(value);
    EB_INIT(info);
    if (eb_snapshot_describe(VARDATA_ANY(value), len, &info, &err) != EB_OK) evb_fail(&err);
    if (info.bytes != len)
        ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                        errmsg("the filter has %llu bytes, but the value has %zu",
                               (unsigned long long)info.bytes, len)));
    if (eb_load(&f, VARDATA_ANY(value), len, NULL, &memory, &err) != EB_OK) evb_fail(&err);
    return f;
}

char *evb_seeded(const char *spec) {
    char seeded[2 * EB_SPEC_MAX];
    uint64_t drawn;
    eb_error err;
    if (!pg_strong_random(&drawn, sizeof drawn))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("no random bytes for a seed")));
    if (sql_seeded(spec, drawn, seeded, &err) != EB_OK) evb_fail(&err);
    return pstrdup(seeded);
}

eb_filter *evb_make(const text *spec, MemoryContext context) {
    const eb_allocator memory = evb_memory(context);
    char *const words = evb_seeded(text_to_cstring(spec));
    eb_spec_info info;
    eb_filter *f;
    eb_error err;
    EB_INIT(info);
    if (eb_spec_describe(words, &info, &err) != EB_OK) evb_fail(&err);
    if (info.snapshot_bytes > MaxAllocSize - VARHDRSZ)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("a filter of %llu bytes is too large: values have at most 1 GB",
                               (unsigned long long)info.snapshot_bytes)));
    if (eb_new(&f, words, &memory, &err) != EB_OK) evb_fail(&err);
    pfree(words);
    return f;
}

bytea *evb_save(const eb_filter *f) {
    const size_t len = eb_save_size(f);
    eb_error err;
    bytea *value;
    if (len > MaxAllocSize - VARHDRSZ)
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                 errmsg("the filter has grown to %zu bytes: values have at most 1 GB", len)));
    value = palloc(len + VARHDRSZ);
    SET_VARSIZE(value, len + VARHDRSZ);
    if (eb_save(f, VARDATA(value), len, &err) != EB_OK) evb_fail(&err);
    return value;
}

typedef struct evb_cache {
    evb_asked asked;
    MemoryContext memory; /* of the filter alone */
    bool stored;          /* out of line: toast says where */
    struct varatt_external toast;
    unsigned char head[EB_SNAPSHOT_HEAD];
} evb_cache;

/* Is this the value that the filter was loaded from? */
static bool evb_is_cached(const evb_cache *c, const struct varlena *value) {
    return c && c->asked.f && VARSIZE_ANY_EXHDR(value) >= EB_SNAPSHOT_HEAD &&
           memcmp(c->head, VARDATA_ANY(value), EB_SNAPSHOT_HEAD) == 0;
}

const evb_asked *evb_argument(FunctionCallInfo fcinfo) {
    evb_cache *c = fcinfo->flinfo->fn_extra;
    struct varlena *const raw = (struct varlena *)PG_GETARG_POINTER(0);
    const bool stored = VARATT_IS_EXTERNAL_ONDISK(raw);
    struct varatt_external toast = {0};
    struct varlena *value;
    if (stored) {
        VARATT_EXTERNAL_GET_POINTER(toast, raw);
        if (c && c->asked.f && c->stored && memcmp(&c->toast, &toast, sizeof toast) == 0)
            return &c->asked;
    } else if (!VARATT_IS_EXTENDED(raw) && evb_is_cached(c, raw))
        return &c->asked;
    value = pg_detoast_datum_packed(raw);
    if (!c) {
        c = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof *c);
        c->memory = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "everbloom filter",
                                          ALLOCSET_DEFAULT_SIZES);
        c->asked.key = PG_NARGS() > 1 ? get_fn_expr_argtype(fcinfo->flinfo, 1) : InvalidOid;
        fcinfo->flinfo->fn_extra = c;
    }
    if (!evb_is_cached(c, value)) {
        c->asked.f = NULL;
        MemoryContextReset(c->memory);
        c->asked.f = evb_load(value, c->memory);
        c->asked.numbers = evb_wants_numbers(c->asked.f);
        c->asked.text = sql_is_text(c->asked.f);
        memcpy(c->head, VARDATA_ANY(value), EB_SNAPSHOT_HEAD);
    }
    c->stored = stored;
    c->toast = toast;
    if (value != raw) pfree(value);
    return &c->asked;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

bool evb_wants_numbers(const eb_filter *f) {
    const char *const spec = eb_spec(f);
    return strstr(spec, ",keys=i64") != NULL || strstr(spec, ",keys=u64") != NULL;
}

/* 2026-01-31T23:59:59.5Z: the same in every time zone and date style. */
static void evb_time_text(Timestamp t, const char *zone, evb_key *key) {
    struct pg_tm tm;
    fsec_t fraction;
    if (timestamp2tm(t, NULL, &tm, &fraction, NULL, NULL) != 0)
        ereport(ERROR,
                (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("timestamp out of range")));
    snprintf(key->text, sizeof key->text, "%04d-%02d-%02dT%02d:%02d:%02d.%06d", tm.tm_year,
             tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)fraction);
    key->bytes.len = strlen(key->text);
    while (key->text[key->bytes.len - 1] == '0') key->bytes.len--;
    if (key->text[key->bytes.len - 1] == '.') key->bytes.len--;
    strcpy(key->text + key->bytes.len, zone);
    key->bytes.len += strlen(zone);
}

static const int64 evb_epoch = (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;

void evb_key_of(Datum value, Oid type, bool whole, evb_key *key) {
    key->bytes.p = key->text;
    switch (type) {
    case INT8OID:
        key->number = DatumGetInt64(value);
        key->keys = eb_keys_column(EB_I64, &key->number, sizeof key->number);
        return;
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
        if (TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value))) {
            strcpy(key->text,
                   TIMESTAMP_IS_NOBEGIN(DatumGetTimestamp(value)) ? "-infinity" : "infinity");
            key->bytes.len = strlen(key->text);
        } else if (whole) { /* microseconds since 1970 */
            key->number = DatumGetTimestamp(value) + evb_epoch;
            key->keys = eb_keys_column(EB_I64, &key->number, sizeof key->number);
            return;
        } else
            evb_time_text(DatumGetTimestamp(value), type == TIMESTAMPTZOID ? "Z" : "", key);
        break;
    case UUIDOID: {
        static const char digits[] = "0123456789abcdef";
        const pg_uuid_t *const uuid = DatumGetUUIDP(value);
        char *p = key->text;
        for (int i = 0; i < UUID_LEN; i++) {
            if (i == 4 || i == 6 || i == 8 || i == 10) *p++ = '-';
            *p++ = digits[uuid->data[i] >> 4];
            *p++ = digits[uuid->data[i] & 15];
        }
        key->bytes.len = (size_t)(p - key->text);
        break;
    }
    default: { /* text, bytea */
        struct varlena *const v = PG_DETOAST_DATUM_PACKED(value);
        char *const bytes = VARDATA_ANY(v);
        key->bytes.p = bytes;
        key->bytes.len = VARSIZE_ANY_EXHDR(v);
        if (type != BYTEAOID && GetDatabaseEncoding() != PG_UTF8) {
            key->bytes.p = pg_server_to_any(bytes, (int)key->bytes.len, PG_UTF8);
            if (key->bytes.p != bytes) key->bytes.len = strlen(key->bytes.p);
        }
    }
    }
    key->keys = eb_keys_array(type == BYTEAOID ? EB_BYTES : EB_TEXT, &key->bytes);
}

uint64_t evb_time_of(Datum timestamptz) {
    const int64 t = DatumGetTimestampTz(timestamptz);
    if (TIMESTAMP_NOT_FINITE(t) || t < -evb_epoch)
        ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                        errmsg("a time must be finite and not before 1970")));
    return (uint64_t)(t + evb_epoch) / 1000;
}

uint64_t evb_weight_of(Datum int8) {
    const int64 weight = DatumGetInt64(int8);
    if (weight < 0)
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                        errmsg("a weight must be 0 or more, not %lld", (long long)weight)));
    return (uint64_t)weight;
}

/* ---- The type -------------------------------------------------------------------------------- */

/* Checks a value that came from outside, by loading it once. */
static bytea *evb_checked(bytea *value) {
    const MemoryContext memory =
        AllocSetContextCreate(CurrentMemoryContext, "everbloom check", ALLOCSET_DEFAULT_SIZES);
    (void)evb_load((struct varlena *)value, memory);
    MemoryContextDelete(memory);
    return value;
}

PG_FUNCTION_INFO_V1(evb_in);
Datum evb_in(PG_FUNCTION_ARGS) {
    const char *const text = PG_GETARG_CSTRING(0);
    const size_t n = strlen(text);
    const int most = pg_b64_dec_len((int)n);
    bytea *value;
    int len;
    if (n > MaxAllocSize / 4 * 3)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the text of a filter is too long")));
    value = palloc((Size)most + VARHDRSZ);
    len = pg_b64_decode(text, (int)n, VARDATA(value), most);
    if (len < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                        errmsg("a value of type evb is written in base64, without spaces")));
    SET_VARSIZE(value, (Size)len + VARHDRSZ);
    PG_RETURN_BYTEA_P(evb_checked(value));
}

PG_FUNCTION_INFO_V1(evb_out);
Datum evb_out(PG_FUNCTION_ARGS) {
    const bytea *const value = PG_GETARG_BYTEA_PP(0);
    const int n = (int)VARSIZE_ANY_EXHDR(value), most = pg_b64_enc_len(n);
    char *const text = palloc_extended((Size)most + 1, MCXT_ALLOC_HUGE);
    const int len = pg_b64_encode(VARDATA_ANY(value), n, text, most);
    text[len < 0 ? 0 : len] = '\0';
    PG_RETURN_CSTRING(text);
}

PG_FUNCTION_INFO_V1(evb_recv);
Datum evb_recv(PG_FUNCTION_ARGS) {
    const StringInfo buf = (StringInfo)PG_GETARG_POINTER(0);
    const int n = buf->len - buf->cursor;
    bytea *const value = palloc((Size)n + VARHDRSZ);
    SET_VARSIZE(value, (Size)n + VARHDRSZ);
    pq_copymsgbytes(buf, VARDATA(value), n);
    PG_RETURN_BYTEA_P(evb_checked(value));
}

PG_FUNCTION_INFO_V1(evb_send);
Datum evb_send(PG_FUNCTION_ARGS) {
    PG_RETURN_BYTEA_P(PG_GETARG_BYTEA_P_COPY(0));
}

PG_FUNCTION_INFO_V1(evb_from_bytea);
Datum evb_from_bytea(PG_FUNCTION_ARGS) {
    PG_RETURN_BYTEA_P(evb_checked(PG_GETARG_BYTEA_P(0)));
}
