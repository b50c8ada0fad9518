/* functions.c - functions of DuckDB that ask filters: evb_has, evb_count, evb_top.
 *
 * DuckDB calls them with up to 2048 rows at a time, on many threads.  Loading a filter checks and
 * copies all of it, so those asked last are kept with the function and found by their id; threads
 * share them. */
#include "duck.h"
#include <pthread.h>
#include <sql.h>

/* ---- Filters that were asked last ------------------------------------------------------------ */

typedef struct functions_loaded {
    eb_filter *f;
    uint64_t id[2];
    unsigned holders; /* under the lock */
} functions_loaded;

enum { FUNCTIONS_CACHED = 8 };
typedef struct functions_variant {
    const char *name;
    int key;
    pthread_mutex_t lock;
    functions_loaded *cached[FUNCTIONS_CACHED]; /* the latest first; NULL: none */
} functions_variant;

static void functions_drop(functions_loaded *l) { /* under the lock */
    if (!l || --l->holders > 0) return;
    eb_free(l->f);
    free(l);
}

static void functions_delete(void *variant) {
    functions_variant *const v = variant;
    for (size_t i = 0; i < FUNCTIONS_CACHED; i++) functions_drop(v->cached[i]);
    (void)pthread_mutex_destroy(&v->lock);
    free(v);
}

static void functions_release(functions_variant *v, functions_loaded *l) {
    if (!l) return;
    (void)pthread_mutex_lock(&v->lock);
    functions_drop(l);
    (void)pthread_mutex_unlock(&v->lock);
}

/* The lock is held while a filter is loaded, so threads that want the same one wait for it instead
 * of loading it again. */
static functions_loaded *functions_find(functions_variant *v, eb_key value, eb_error *err) {
    eb_snapshot_info info;
    functions_loaded *l = NULL;
    EB_INIT(info);
    if (eb_snapshot_describe(value.p, value.len, &info, err) != EB_OK) return NULL;
    if (info.bytes != value.len) {
        *err = (eb_error){.status = EB_EFORMAT, .at = EB_NOWHERE};
        (void)snprintf(err->text, sizeof err->text,
                       "the filter has %llu bytes, but the value has %zu",
                       (unsigned long long)info.bytes, value.len);
        return NULL;
    }
    (void)pthread_mutex_lock(&v->lock);
    size_t i = 0;
    while (i < FUNCTIONS_CACHED - 1 && v->cached[i] &&
           memcmp(v->cached[i]->id, info.id, sizeof info.id) != 0)
        i++;
    if (v->cached[i] && memcmp(v->cached[i]->id, info.id, sizeof info.id) == 0)
        l = v->cached[i];
    else {
        eb_filter *f;
        if (eb_load(&f, value.p, value.len, NULL, NULL, err) == EB_OK) {
            l = malloc(sizeof *l);
            if (l) {
                *l = (functions_loaded){.f = f, .holders = 1};
                memcpy(l->id, info.id, sizeof l->id);
                functions_drop(v->cached[i]);
            } else {
                eb_free(f);
                *err = (eb_error){.status = EB_ENOMEM, .at = EB_NOWHERE, .text = "out of memory"};
            }
        }
    }
    if (l) {
        memmove(&v->cached[1], &v->cached[0], i * sizeof *v->cached);
        v->cached[0] = l;
        l->holders++;
    }
    (void)pthread_mutex_unlock(&v->lock);
    return l;
}

static void functions_fail(duck_any info, const eb_error *err) {
    const functions_variant *const v = duck.scalar_function_get_extra_info(info);
    char words[sizeof *err], whole[sizeof words + 32];
    sql_error_text(err, words);
    (void)snprintf(whole, sizeof whole, "%s: %s", v->name, words);
    duck.scalar_function_set_error(info, whole);
}

/* Rows from `row` on whose filter is the same value in the same place. */
static size_t functions_run(const duck_keys *filters, size_t row, size_t rows) {
    const duck_string *const s = filters->data;
    size_t end = row + 1;
    while (end < rows && !duck_is_null(filters->validity, end) &&
           memcmp(&s[end], &s[row], sizeof *s) == 0)
        end++;
    return end - row;
}

/* ---- One answer for a key -------------------------------------------------------------------- */

static eb_status functions_ask(const eb_filter *f, const duck_keys *keys, size_t row, size_t n,
                               duck_any out, uint8_t *seen, double *count, eb_error *err) {
    eb_key room[DUCK_FEW];
    for (size_t end = row + n, some; row < end; row += some) {
        some = end - row;
        const eb_keys k = duck_take(keys, row, &some, room);
        eb_batch b = eb_batch_keys(&k, some);
        if (seen) b.seen = seen + row;
        if (count) b.count = count + row;
        if (some > 0) {
            const eb_status status = eb_ask_batch(f, &b, err);
            if (status != EB_OK) return status;
        } else { /* NULL is no key */
            duck_set_null(out, row);
            some = 1;
        }
    }
    return EB_OK;
}

static void functions_keys(duck_any info, duck_any chunk, duck_any out, uint8_t *seen,
                           double *count) {
    functions_variant *const v = duck.scalar_function_get_extra_info(info);
    const duck_keys filters = duck_keys_of(duck.data_chunk_get_vector(chunk, 0), DUCK_BLOB);
    const duck_keys keys = duck_keys_of(duck.data_chunk_get_vector(chunk, 1), v->key);
    const size_t rows = duck.data_chunk_get_size(chunk);
    eb_error err;
    for (size_t row = 0, n; row < rows; row += n) {
        n = 1;
        if (duck_is_null(filters.validity, row)) {
            duck_set_null(out, row);
            continue;
        }
        n = functions_run(&filters, row, rows);
        functions_loaded *const l =
            functions_find(v, duck_bytes((const duck_string *)filters.data + row), &err);
        const bool done = l && functions_ask(l->f, &keys, row, n, out, seen, count, &err) == EB_OK;
        functions_release(v, l);
        if (!done) {
            functions_fail(info, &err);
            return;
        }
    }
}

static void has(duck_any info, duck_any chunk, duck_any out) {
    functions_keys(info, chunk, out, duck.vector_get_data(out), NULL);
}

static void count(duck_any info, duck_any chunk, duck_any out) {
    functions_keys(info, chunk, out, NULL, duck.vector_get_data(out));
}

/* ---- A list ---------------------------------------------------------------------------------- */

/* Appends the n most frequent keys to the list's child, which has `used` elements. */
static eb_status top_append(const eb_filter *f, size_t n, duck_any out, size_t *used,
                            eb_error *err) {
    eb_top_list list;
    EB_INIT(list);
    eb_status status = eb_top(f, &list, err); /* how many are there? */
    if (status != EB_OK || list.matching == 0) return status;
    list.cap = list.matching < n ? list.matching : n;
    eb_top_key *const keys = malloc(list.cap * sizeof *keys);
    if (keys) {
        list.keys = keys;
        status = eb_top(f, &list, err);
    }
    if (!keys || (status == EB_OK && (duck.list_vector_reserve(out, *used + list.n) != 0 ||
                                      duck.list_vector_set_size(out, *used + list.n) != 0))) {
        *err = (eb_error){.status = EB_ENOMEM, .at = EB_NOWHERE, .text = "out of memory"};
        status = EB_ENOMEM;
    }
    if (status == EB_OK) {
        const duck_any rows = duck.list_vector_get_child(out);
        const duck_any texts = duck.struct_vector_get_child(rows, 0);
        double *number[3];
        for (duck_size j = 0; j < 3; j++)
            number[j] = duck.vector_get_data(duck.struct_vector_get_child(rows, j + 1));
        for (size_t i = 0; i < list.n; i++, ++*used) {
            duck.vector_assign_string_element_len(texts, *used, keys[i].key.p, keys[i].key.len);
            number[0][*used] = keys[i].count;
            number[1][*used] = keys[i].lower;
            number[2][*used] = list.watermark;
        }
    }
    free(keys);
    return status;
}

static void top(duck_any info, duck_any chunk, duck_any out) {
    functions_variant *const v = duck.scalar_function_get_extra_info(info);
    const duck_keys filters = duck_keys_of(duck.data_chunk_get_vector(chunk, 0), DUCK_BLOB);
    const duck_keys most = duck_keys_of(duck.data_chunk_get_vector(chunk, 1), DUCK_BIGINT);
    const size_t rows = duck.data_chunk_get_size(chunk);
    duck_list *const lists = duck.vector_get_data(out);
    size_t used = 0;
    eb_error err;
    for (size_t row = 0; row < rows; row++) {
        const int64_t n = ((const int64_t *)most.data)[row];
        lists[row] = (duck_list){used, 0};
        if (duck_is_null(filters.validity, row) || duck_is_null(most.validity, row)) {
            duck_set_null(out, row);
            continue;
        }
        if (n < 1) {
            duck.scalar_function_set_error(info, "evb_top: the number of keys must be 1 or more");
            return;
        }
        functions_loaded *const l =
            functions_find(v, duck_bytes((const duck_string *)filters.data + row), &err);
        const bool done = l && top_append(l->f, (size_t)n, out, &used, &err) == EB_OK;
        functions_release(v, l);
        if (!done) {
            functions_fail(info, &err);
            return;
        }
        lists[row].length = used - lists[row].offset;
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

static duck_any functions_top_type(void) {
    static const char *names[] = {"key", "count", "lower", "watermark"};
    duck_any member[4];
    for (int i = 0; i < 4; i++)
        member[i] = duck.create_logical_type(i == 0 ? DUCK_VARCHAR : DUCK_DOUBLE);
    duck_any row = duck.create_struct_type(member, names, 4);
    const duck_any list = duck.create_list_type(row);
    for (int i = 0; i < 4; i++) duck.destroy_logical_type(&member[i]);
    duck.destroy_logical_type(&row);
    return list;
}

static bool functions_add(duck_any set, const char *name, int key, int result, duck_call *call) {
    functions_variant *const v = malloc(sizeof *v);
    if (!v) return false;
    memset(v, 0, sizeof *v);
    v->name = name;
    v->key = key;
    (void)pthread_mutex_init(&v->lock, NULL);
    duck_any function = duck.create_scalar_function();
    duck_any filter = duck.create_logical_type(DUCK_BLOB), second = duck.create_logical_type(key);
    duck_any type = result ? duck.create_logical_type(result) : functions_top_type();
    duck.scalar_function_set_name(function, name);
    duck.scalar_function_add_parameter(function, filter);
    duck.scalar_function_add_parameter(function, second);
    duck.scalar_function_set_return_type(function, type);
    duck.scalar_function_set_special_handling(function);
    duck.scalar_function_set_function(function, call);
    duck.scalar_function_set_extra_info(function, v, functions_delete);
    const bool done = duck.add_scalar_function_to_set(set, function) == 0;
    duck.destroy_scalar_function(&function);
    duck.destroy_logical_type(&filter);
    duck.destroy_logical_type(&second);
    duck.destroy_logical_type(&type);
    return done;
}

bool duck_register_functions(duck_any connection) {
    static const struct {
        const char *name;
        int keys[3], result; /* 0: none, the list of evb_top */
        duck_call *call;
    } rows[] = {
        {"evb_has", {DUCK_VARCHAR, DUCK_BIGINT, DUCK_BLOB}, DUCK_BOOLEAN, has},
        {"evb_count", {DUCK_VARCHAR, DUCK_BIGINT, DUCK_BLOB}, DUCK_DOUBLE, count},
        {"evb_top", {DUCK_BIGINT}, 0, top},
    };
    bool done = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && done; i++) {
        duck_any set = duck.create_scalar_function_set(rows[i].name);
        for (size_t j = 0; j < 3 && rows[i].keys[j] && done; j++)
            done = functions_add(set, rows[i].name, rows[i].keys[j], rows[i].result, rows[i].call);
        done = done && duck.register_scalar_function_set(connection, set) == 0;
        duck.destroy_scalar_function_set(&set);
    }
    return done;
}
