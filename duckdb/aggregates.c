/* aggregates.c - aggregates of DuckDB that make filters.
 *
 * DuckDB runs every aggregate on all its threads.  evb_agg takes only kinds whose bytes do not
 * depend on the order of the rows.  evb_stream_agg takes every kind and wants an ORDER BY: DuckDB
 * then sorts the rows of a group and gives them to one state. */
#include "duck.h"
#include <sql.h>

typedef struct aggregates_state {
    eb_filter *f; /* NULL: no row yet */
} aggregates_state;

typedef struct aggregates_variant {
    const char *name;
    int key;
    bool any_order;
} aggregates_variant;
static const aggregates_variant aggregates_variants[] = {
    {"evb_agg", DUCK_VARCHAR, true},        {"evb_agg", DUCK_BIGINT, true},
    {"evb_agg", DUCK_BLOB, true},           {"evb_stream_agg", DUCK_VARCHAR, false},
    {"evb_stream_agg", DUCK_BIGINT, false}, {"evb_stream_agg", DUCK_BLOB, false},
};

static void aggregates_fail(duck_any info, const eb_error *err) {
    const aggregates_variant *const v = duck.aggregate_function_get_extra_info(info);
    char words[sizeof *err], whole[sizeof words + 32];
    sql_error_text(err, words);
    (void)snprintf(whole, sizeof whole, "%s: %s", v->name, words);
    duck.aggregate_function_set_error(info, whole);
}

static eb_status aggregates_refuse(eb_error *err, eb_status status, const char *words) {
    *err = (eb_error){.status = status, .at = EB_NOWHERE};
    (void)snprintf(err->text, sizeof err->text, "%s", words);
    return status;
}

static eb_status aggregates_make(const aggregates_variant *v, const duck_string *spec, bool is_null,
                                 eb_filter **out, eb_error *err) {
    const uint64_t wanted = EB_CAN_MERGE | EB_ORDER_FREE;
    const eb_key text = duck_bytes(spec);
    char words[EB_SPEC_MAX];
    eb_spec_info info;
    EB_INIT(info);
    if (is_null)
        return aggregates_refuse(err, EB_ESPEC,
                                 "the spec is NULL: try 'bloom:distinct=1e6,fpr=0.001'");
    if (text.len >= sizeof words) return aggregates_refuse(err, EB_ESPEC, "the spec is too long");
    memcpy(words, text.p, text.len);
    words[text.len] = '\0';
    const eb_status status = eb_spec_describe(words, &info, err);
    if (status != EB_OK) return status;
    if (info.snapshot_bytes > UINT32_MAX)
        return aggregates_refuse(err, EB_ELIMIT,
                                 "the filter is too large: values have at most 4 GB");
    if (v->any_order && (info.caps & wanted) != wanted)
        return aggregates_refuse(err, EB_ENOTSUP,
                                 "such a filter depends on the order of the rows: use "
                                 "evb_stream_agg(key, spec ORDER BY ...); a counting filter can "
                                 "also be made with update=plain");
    return eb_new(out, info.canonical, NULL, err);
}

static duck_size aggregates_size(duck_any info) {
    (void)info;
    return sizeof(aggregates_state);
}

static void aggregates_init(duck_any info, duck_any state) {
    (void)info;
    ((aggregates_state *)state)->f = NULL;
}

static void aggregates_delete(duck_any *states, duck_size n) {
    for (size_t i = 0; i < n; i++) {
        aggregates_state *const s = states[i];
        eb_free(s->f);
        s->f = NULL;
    }
}

static void aggregates_update(duck_any info, duck_any chunk, duck_any *states) {
    const aggregates_variant *const v = duck.aggregate_function_get_extra_info(info);
    const duck_keys keys = duck_keys_of(duck.data_chunk_get_vector(chunk, 0), v->key);
    const duck_keys specs = duck_keys_of(duck.data_chunk_get_vector(chunk, 1), DUCK_VARCHAR);
    const size_t rows = duck.data_chunk_get_size(chunk);
    eb_key room[DUCK_FEW];
    eb_error err;
    for (size_t row = 0, end; row < rows; row = end) { /* runs of rows of one group */
        aggregates_state *const s = states[row];
        for (end = row + 1; end < rows && states[end] == states[row];) end++;
        if (!s->f && aggregates_make(v, (const duck_string *)specs.data + row,
                                     duck_is_null(specs.validity, row), &s->f, &err) != EB_OK) {
            aggregates_fail(info, &err);
            return;
        }
        for (size_t at = row, n; at < end; at += n) {
            n = end - at;
            const eb_keys k = duck_take(&keys, at, &n, room);
            const eb_batch b = eb_batch_keys(&k, n);
            if (n > 0 && eb_add_batch(s->f, &b, &err) != EB_OK) {
                aggregates_fail(info, &err);
                return;
            }
            if (n == 0) n = 1; /* NULL is no key */
        }
    }
}

/* The state that is read stays as it is: DuckDB combines some of them several times. */
static void aggregates_combine(duck_any info, duck_any *from, duck_any *into, duck_size n) {
    const aggregates_variant *const v = duck.aggregate_function_get_extra_info(info);
    eb_error err;
    for (size_t i = 0; i < n; i++) {
        const aggregates_state *const a = from[i];
        aggregates_state *const b = into[i];
        eb_status status = EB_OK;
        if (!a->f) continue;
        if (!b->f)
            status = eb_clone(&b->f, a->f, NULL, &err);
        else if (v->any_order)
            status = eb_merge(b->f, a->f, 1, &err);
        else
            status = aggregates_refuse(&err, EB_ENOTSUP,
                                       "rows came on several threads: say in which order with "
                                       "evb_stream_agg(key, spec ORDER BY ...)");
        if (status != EB_OK) {
            aggregates_fail(info, &err);
            return;
        }
    }
}

/* What threads made is merged into an empty filter, also if there was only one: so the bytes are
 * the same. */
static eb_status aggregates_whole(const aggregates_variant *v, aggregates_state *s, eb_error *err) {
    eb_filter *whole;
    if (!v->any_order) return EB_OK;
    eb_status status = eb_clone(&whole, s->f, NULL, err);
    if (status != EB_OK) return status;
    status = eb_clear(whole, err);
    if (status == EB_OK) status = eb_merge(whole, s->f, 1, err);
    if (status != EB_OK) {
        eb_free(whole);
        return status;
    }
    eb_free(s->f);
    s->f = whole;
    return EB_OK;
}

static void aggregates_finalize(duck_any info, duck_any *states, duck_any out, duck_size n,
                                duck_size offset) {
    const aggregates_variant *const v = duck.aggregate_function_get_extra_info(info);
    eb_error err;
    for (size_t i = 0; i < n; i++) {
        aggregates_state *const s = states[i];
        if (!s->f) {
            duck_set_null(out, offset + i);
            continue;
        }
        eb_status status = aggregates_whole(v, s, &err);
        const size_t len = eb_save_size(s->f);
        void *const bytes = status == EB_OK ? malloc(len) : NULL;
        if (status == EB_OK)
            status = bytes ? eb_save(s->f, bytes, len, &err)
                           : aggregates_refuse(&err, EB_ENOMEM, "out of memory");
        if (status == EB_OK)
            duck.vector_assign_string_element_len(out, offset + i, bytes, len);
        else
            aggregates_fail(info, &err);
        free(bytes);
        if (status != EB_OK) return;
    }
}

static void aggregates_add(duck_any set, const aggregates_variant *v) {
    duck_any function = duck.create_aggregate_function();
    duck_any key = duck.create_logical_type(v->key);
    duck_any spec = duck.create_logical_type(DUCK_VARCHAR);
    duck_any result = duck.create_logical_type(DUCK_BLOB);
    duck.aggregate_function_set_name(function, v->name);
    duck.aggregate_function_add_parameter(function, key);
    duck.aggregate_function_add_parameter(function, spec);
    duck.aggregate_function_set_return_type(function, result);
    duck.aggregate_function_set_functions(function, aggregates_size, aggregates_init,
                                          aggregates_update, aggregates_combine,
                                          aggregates_finalize);
    duck.aggregate_function_set_destructor(function, aggregates_delete);
    duck.aggregate_function_set_special_handling(function);
    duck.aggregate_function_set_extra_info(function, (void *)(uintptr_t)v, NULL);
    (void)duck.add_aggregate_function_to_set(set, function); /* the set is checked as a whole */
    duck.destroy_aggregate_function(&function);
    duck.destroy_logical_type(&key);
    duck.destroy_logical_type(&spec);
    duck.destroy_logical_type(&result);
}

bool duck_register_aggregates(duck_any connection) {
    const size_t n = sizeof aggregates_variants / sizeof *aggregates_variants;
    bool done = true;
    for (size_t i = 0, end; i < n && done; i = end) { /* variants of one name */
        duck_any set = duck.create_aggregate_function_set(aggregates_variants[i].name);
        for (end = i;
             end < n && aggregates_variants[end].any_order == aggregates_variants[i].any_order;
             end++)
            aggregates_add(set, &aggregates_variants[end]);
        done = duck.register_aggregate_function_set(connection, set) == 0;
        duck.destroy_aggregate_function_set(&set);
    }
    return done;
}
