/* arrow.c - columns of Arrow (pyarrow, polars, pandas, DuckDB), by the PyCapsule interface: no copy
 * and no dependency.
 *
 * The three structures are Arrow's C data interface, whose layout never changes. */
#include "ebpy.h"
#include <stdlib.h>
#include <string.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* What keeps the column of a stream alive. */
typedef struct arrow_chunks {
    struct ArrowSchema schema;
    struct ArrowArray *array;
    size_t n, cap;
} arrow_chunks;

void ebpy_arrow_free(void *arrow) {
    arrow_chunks *const c = arrow;
    if (!c) return;
    for (size_t i = 0; i < c->n; i++)
        if (c->array[i].release) c->array[i].release(&c->array[i]);
    if (c->schema.release) c->schema.release(&c->schema);
    free(c->array);
    free(c);
}

static bool arrow_refuse_null(const struct ArrowArray *a, size_t at) {
    const uint8_t *const valid = a->n_buffers > 0 ? a->buffers[0] : NULL;
    if (a->null_count == 0 || !valid) return true;
    for (int64_t i = 0; i < a->length; i++) {
        const int64_t bit = a->offset + i;
        if (valid[bit / 8] >> bit % 8 & 1) continue;
        PyErr_Format(PyExc_ValueError, "key %zd is null: drop or fill nulls first",
                     (Py_ssize_t)at + (Py_ssize_t)i);
        return false;
    }
    return true;
}

static bool arrow_unknown(const char *format) {
    PyErr_Format(PyExc_TypeError,
                 "an Arrow column of format '%s': keys are strings, binaries or integers", format);
    return false;
}

/* Views of strings: 16 bytes each, with the text inside or in one of the buffers behind. */
static bool arrow_views(const struct ArrowArray *a, eb_key *out) {
    const char *const view = a->buffers[1];
    for (int64_t i = 0; i < a->length; i++) {
        const char *const v = view + 16 * (a->offset + i);
        int32_t len, buffer, offset;
        memcpy(&len, v, 4);
        memcpy(&buffer, v + 8, 4);
        memcpy(&offset, v + 12, 4);
        out[i] = (eb_key){len <= 12 ? v + 4 : (const char *)a->buffers[2 + buffer] + offset,
                          (size_t)len};
    }
    return true;
}

static size_t arrow_number(const char *format, bool *is_signed) {
    static const char codes[] = "cCsSiIlL";
    const char *const known = format[0] && !format[1] ? strchr(codes, format[0]) : NULL;
    if (!known) return 0;
    *is_signed = (known - codes) % 2 == 0;
    return (size_t)1 << (known - codes) / 2;
}

/* The keys of one array, as they lie; views need memory of the arena. */
static bool arrow_describe(const ebpy_filter *s, const char *format, const struct ArrowArray *a,
                           size_t at, ebpy_arena *arena, eb_keys *out) {
    bool is_signed = false;
    const size_t width = arrow_number(format, &is_signed);
    const bool view = format[0] == 'v' && format[1];
    const char code = format[view];
    /* Binaries are strings to a filter of text, as bytes are. */
    const eb_key_type type = code == 'u' || code == 'U' ? EB_TEXT : EB_STRING;
    if (!arrow_refuse_null(a, at)) return false;
    if (width) {
        *out = eb_keys_column(is_signed ? EB_I64 : EB_U64,
                              (const char *)a->buffers[1] + (size_t)a->offset * width, width);
        return true;
    }
    if (!strchr("uUzZ", code) || !code || format[view + 1]) return arrow_unknown(format);
    if (s->keys == EB_BYTES && type == EB_TEXT) {
        PyErr_SetString(PyExc_TypeError, "the filter has keys=bytes: give binaries, not strings");
        return false;
    }
    if (view) {
        eb_key *const array = ebpy_arena_take(arena, ((size_t)a->length + 1) * sizeof *array);
        *out = eb_keys_array(type, array);
        return array && arrow_views(a, array);
    }
    const char *const data = a->buffers[2] ? a->buffers[2] : "";
    if (code == 'u' || code == 'z') {
        const int32_t *const offsets = (const int32_t *)a->buffers[1] + a->offset;
        *out = eb_keys_offsets32(type, data, a->length ? (size_t)offsets[a->length] : 0, offsets);
    } else {
        const int64_t *const offsets = (const int64_t *)a->buffers[1] + a->offset;
        *out = eb_keys_offsets64(type, data, a->length ? (size_t)offsets[a->length] : 0, offsets);
    }
    return true;
}

/* Key i of what arrow_describe made, as bytes: for filters that keep keys, and for dictionaries. */
static bool arrow_key(const eb_keys *k, size_t i, ebpy_arena *arena, eb_key *out) {
    if (k->layout == EB_ARRAY) {
        *out = ((const eb_key *)k->data)[i];
    } else if (k->layout == EB_OFFSETS32) {
        const int32_t *const o = (const int32_t *)k->offsets + i;
        *out = (eb_key){(const char *)k->data + o[0], (size_t)(o[1] - o[0])};
    } else if (k->layout == EB_OFFSETS64) {
        const int64_t *const o = (const int64_t *)k->offsets + i;
        *out = (eb_key){(const char *)k->data + o[0], (size_t)(o[1] - o[0])};
    } else {
        char *const text = ebpy_arena_take(arena, EBPY_TEXT);
        uint64_t x = 0;
        if (!text) return false;
        memcpy(&x, (const char *)k->data + i * k->width, k->width);
        if (k->type == EB_I64) {
            const unsigned shift = 64 - 8 * (unsigned)k->width;
            out->len =
                (size_t)PyOS_snprintf(text, EBPY_TEXT, "%lld", (long long)(x << shift) >> shift);
        } else {
            out->len = (size_t)PyOS_snprintf(text, EBPY_TEXT, "%llu", (unsigned long long)x);
        }
        out->p = text;
    }
    return true;
}

/* Indices into a dictionary of keys. */
static bool arrow_dictionary(const ebpy_filter *s, const struct ArrowSchema *schema,
                             const struct ArrowArray *a, size_t at, ebpy_arena *arena,
                             eb_keys *out) {
    bool is_signed;
    const size_t width = arrow_number(schema->format, &is_signed);
    const struct ArrowArray *const d = a->dictionary;
    eb_keys words;
    if (!width || !d) return arrow_unknown(schema->format);
    if (!arrow_refuse_null(a, at) ||
        !arrow_describe(s, schema->dictionary->format, d, 0, arena, &words))
        return false;
    eb_key *const word = ebpy_arena_take(arena, ((size_t)d->length + 1) * sizeof *word);
    eb_key *const array = ebpy_arena_take(arena, ((size_t)a->length + 1) * sizeof *array);
    if (!word || !array) return false;
    for (size_t i = 0; i < (size_t)d->length; i++)
        if (!arrow_key(&words, i, arena, &word[i])) return false;
    for (size_t i = 0; i < (size_t)a->length; i++) {
        uint64_t index = 0;
        memcpy(&index, (const char *)a->buffers[1] + ((size_t)a->offset + i) * width, width);
        if (index >= (uint64_t)d->length) {
            PyErr_Format(PyExc_ValueError, "key %zd is outside of its dictionary",
                         (Py_ssize_t)(at + i));
            return false;
        }
        array[i] = word[index];
    }
    *out = eb_keys_array(EB_STRING, array);
    return true;
}

static bool arrow_one(const ebpy_filter *s, const struct ArrowSchema *schema,
                      const struct ArrowArray *a, size_t at, ebpy_arena *arena, eb_keys *out) {
    return schema->dictionary ? arrow_dictionary(s, schema, a, at, arena, out)
                              : arrow_describe(s, schema->format, a, at, arena, out);
}

/* ---- Streams: several arrays in a row. */
static bool arrow_read(struct ArrowArrayStream *stream, arrow_chunks *c) {
    int status = stream->get_schema(stream, &c->schema);
    while (!status) {
        if (c->n == c->cap) {
            const size_t cap = c->cap ? 2 * c->cap : 16;
            struct ArrowArray *const more = realloc(c->array, cap * sizeof *more);
            if (!more) return PyErr_NoMemory() != NULL;
            c->array = more;
            c->cap = cap;
        }
        memset(&c->array[c->n], 0, sizeof c->array[c->n]);
        status = stream->get_next(stream, &c->array[c->n]);
        if (!status && !c->array[c->n].release) return true;
        if (!status) c->n++;
    }
    const char *const text = stream->get_last_error(stream);
    PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s", text ? text : "no reason given");
    return false;
}

static bool arrow_join(const ebpy_filter *s, arrow_chunks *c, ebpy_keys *out) {
    const bool keep = ebpy_keys_keep(s);
    eb_key *array = NULL;
    size_t at = 0;
    for (size_t i = 0; i < c->n; i++) out->n += (size_t)c->array[i].length;
    if (c->n == 1) return arrow_one(s, &c->schema, c->array, 0, &out->arena, &out->keys);
    if (keep)
        array = ebpy_arena_take(&out->arena, (out->n + 1) * sizeof *array);
    else if (!(out->hash = malloc((out->n + 1) * sizeof *out->hash)))
        PyErr_NoMemory();
    if (!array && !out->hash) return false;
    for (size_t i = 0; i < c->n; i++) {
        const size_t n = (size_t)c->array[i].length;
        eb_keys keys;
        if (!arrow_one(s, &c->schema, &c->array[i], at, &out->arena, &keys)) return false;
        if (!keep && !ebpy_hash_some(s, &keys, at, n, out->hash + at)) return false;
        for (size_t j = 0; keep && j < n; j++)
            if (!arrow_key(&keys, j, &out->arena, &array[at + j])) return false;
        at += n;
    }
    if (keep) out->keys = eb_keys_array(EB_STRING, array);
    return true;
}

static bool arrow_from_stream(const ebpy_filter *s, PyObject *capsule, ebpy_keys *out) {
    struct ArrowArrayStream *const stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    arrow_chunks *const c = stream ? calloc(1, sizeof *c) : NULL;
    if (!stream) return false;
    if (!c) return PyErr_NoMemory() != NULL;
    out->arrow = c;
    return arrow_read(stream, c) && arrow_join(s, c, out);
}

static bool arrow_from_array(const ebpy_filter *s, PyObject *pair, ebpy_keys *out) {
    PyObject *first, *second;
    if (!PyArg_ParseTuple(pair, "OO", &first, &second)) return false;
    const struct ArrowSchema *const schema = PyCapsule_GetPointer(first, "arrow_schema");
    const struct ArrowArray *const array =
        schema ? PyCapsule_GetPointer(second, "arrow_array") : NULL;
    if (!array) return false;
    out->n = (size_t)array->length;
    return arrow_one(s, schema, array, 0, &out->arena, &out->keys);
}

int ebpy_arrow_keys(const ebpy_filter *s, PyObject *o, ebpy_keys *out) {
    static const char *const ways[] = {"__arrow_c_array__", "__arrow_c_stream__"};
    for (int stream = 0; stream < 2; stream++) {
        PyObject *const method = PyObject_GetAttrString(o, ways[stream]);
        if (!method) {
            PyErr_Clear();
            continue;
        }
        out->owner = PyObject_CallObject(method, NULL);
        Py_DECREF(method);
        if (!out->owner) { /* a series of pandas without pyarrow: there are other ways */
            PyErr_Clear();
            continue;
        }
        return (stream ? arrow_from_stream : arrow_from_array)(s, out->owner, out) ? 1 : -1;
    }
    return 0;
}
