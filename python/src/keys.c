/* keys.c - what Python calls keys, as the library's eb_keys: str, bytes and int; lists of them;
 * buffers of numbers, bytes and characters (numpy); and whatever arrow.c knows.
 *
 * Where bytes lie in objects that another thread could free, keys are hashed before the interpreter
 * is released.  Buffers stay locked by their view. */
#include "ebpy.h"
#include <stdlib.h>
#include <string.h>

enum { KEYS_CHUNK = 256, KEYS_PIECE = 1 << 16 };

bool ebpy_keys_keep(const ebpy_filter *s) {
    return (s->caps & EB_KEEPS_KEYS) != 0;
}

/* ---- Memory that does not move. */
void *ebpy_arena_take(ebpy_arena *a, size_t bytes) {
    a->used = (a->used + 7) & ~(size_t)7;
    if (!a->last || a->used > a->cap || a->cap - a->used < bytes) {
        const size_t cap = bytes > KEYS_PIECE ? bytes : KEYS_PIECE;
        void **const piece = malloc(sizeof(void *) * 2 + cap);
        if (!piece) return PyErr_NoMemory();
        piece[0] = a->last;
        a->last = piece;
        a->used = 0;
        a->cap = cap;
    }
    char *const p = (char *)a->last + sizeof(void *) * 2 + a->used;
    a->used += bytes;
    return p;
}

void ebpy_arena_free(ebpy_arena *a) {
    for (void *piece = a->last; piece;) {
        void *const next = *(void **)piece;
        free(piece);
        piece = next;
    }
    *a = (ebpy_arena){0};
}

/* ---- One key. */
static size_t keys_decimal(long long number, char text[EBPY_TEXT]) {
    char back[EBPY_TEXT];
    size_t n = 0, len = 0;
    unsigned long long rest =
        number < 0 ? 0 - (unsigned long long)number : (unsigned long long)number;
    do back[n++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0) text[len++] = '-';
    while (n) text[len++] = back[--n];
    return len;
}

static bool keys_text(PyObject *o, eb_key *out) {
    Py_ssize_t len;
    out->p = PyUnicode_AsUTF8AndSize(o, &len);
    out->len = (size_t)len;
    return out->p != NULL;
}

static bool keys_bytes(PyObject *o, eb_key *out) {
    char *p;
    Py_ssize_t len;
    if (PyBytes_AsStringAndSize(o, &p, &len)) return false;
    *out = (eb_key){p, (size_t)len};
    return true;
}

static bool keys_number(PyObject *o, char text[EBPY_TEXT], eb_key *out, PyObject **hold) {
    int overflow;
    const long long number = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (number == -1 && PyErr_Occurred()) return false;
    if (!overflow) {
        *out = (eb_key){text, keys_decimal(number, text)};
        return true;
    }
    /* Of an int proper: subclasses may print as they like. */
    PyObject *const plain = PyNumber_Long(o);
    *hold = plain ? PyNumber_ToBase(plain, 10) : NULL;
    Py_XDECREF(plain);
    return *hold && keys_text(*hold, out);
}

static bool keys_allowed(const ebpy_filter *s, bool bytes) {
    if (s->keys != EB_BYTES || bytes) return true;
    PyErr_SetString(PyExc_TypeError, "the filter has keys=bytes: give bytes, not str or int");
    return false;
}

int ebpy_key_from(const ebpy_filter *s, PyObject *o, char text[EBPY_TEXT], eb_key *out,
                  PyObject **hold) {
    *hold = NULL;
    if (PyUnicode_Check(o)) return keys_allowed(s, false) && keys_text(o, out) ? 1 : -1;
    if (PyBytes_Check(o)) return keys_bytes(o, out) ? 1 : -1;
    if (PyBool_Check(o)) {
        PyErr_SetString(PyExc_TypeError, "a key is str, bytes or int, not bool");
        return -1;
    }
    if (PyLong_Check(o)) return keys_allowed(s, false) && keys_number(o, text, out, hold) ? 1 : -1;
    if (PyByteArray_Check(o)) { /* a copy: somebody may change it */
        *hold = PyBytes_FromObject(o);
        return *hold && keys_bytes(*hold, out) ? 1 : -1;
    }
    return 0;
}

/* A key in a collection, where other integers count, too. */
static bool keys_element(const ebpy_filter *s, PyObject *o, size_t at, char text[EBPY_TEXT],
                         eb_key *out, PyObject **hold) {
    const int is = ebpy_key_from(s, o, text, out, hold);
    if (is) return is > 0;
    PyObject *const index = PyIndex_Check(o) ? PyNumber_Index(o) : NULL;
    if (index) {
        const bool good = keys_allowed(s, false) && keys_number(index, text, out, hold);
        Py_DECREF(index);
        return good;
    }
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "key %zd is of type %S: a key is str, bytes or int",
                 (Py_ssize_t)at, (PyObject *)Py_TYPE(o));
    return false;
}

/* ---- Hashing. */
bool ebpy_hash_some(const ebpy_filter *s, const eb_keys *keys, size_t at, size_t n, eb_hash *out) {
    eb_error err;
    const eb_status status = eb_hash_keys(s->f, keys, n, out, &err);
    if (status == EB_OK) return true;
    if (err.at != EB_NOWHERE) err.at += at;
    ebpy_raise(status, &err);
    return false;
}

bool ebpy_keys_hash(const ebpy_filter *s, ebpy_keys *k) {
    if (k->hash || !k->n) return true;
    eb_error err;
    eb_status status;
    if (!(k->hash = malloc(k->n * sizeof *k->hash))) return PyErr_NoMemory() != NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = eb_hash_keys(s->f, &k->keys, k->n, k->hash, &err);
    Py_END_ALLOW_THREADS;
    return status == EB_OK || ebpy_raise(status, &err);
}

/* ---- Lists and tuples. */
typedef struct keys_chunk {
    PyObject *o[KEYS_CHUNK], *hold[KEYS_CHUNK];
    eb_key key[KEYS_CHUNK];
    int64_t number[KEYS_CHUNK];
    char text[KEYS_CHUNK][EBPY_TEXT];
} keys_chunk;

/* All of the chunk are numbers that fit. */
static bool keys_chunk_numbers(keys_chunk *c, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int overflow = 0;
        if (Py_TYPE(c->o[i]) != &PyLong_Type) return false;
        c->number[i] = PyLong_AsLongLongAndOverflow(c->o[i], &overflow);
        if (overflow) return false;
    }
    return true;
}

static bool keys_chunk_hash(const ebpy_filter *s, keys_chunk *c, size_t at, size_t n,
                            eb_hash *out) {
    size_t held = 0;
    bool good = true;
    if (s->keys != EB_BYTES && Py_TYPE(c->o[0]) == &PyLong_Type && keys_chunk_numbers(c, n)) {
        const eb_keys keys = eb_keys_column(EB_I64, c->number, sizeof *c->number);
        return ebpy_hash_some(s, &keys, at, n, out);
    }
    for (size_t i = 0; i < n && good; i++, held++) {
        PyObject *const o = c->o[i];
        c->hold[i] = NULL;
        if (Py_TYPE(o) == &PyUnicode_Type && s->keys != EB_BYTES)
            good = keys_text(o, &c->key[i]);
        else
            good = keys_element(s, o, at + i, c->text[i], &c->key[i], &c->hold[i]);
    }
    if (good) {
        const eb_keys keys = eb_keys_array(EB_STRING, c->key);
        good = ebpy_hash_some(s, &keys, at, n, out);
    }
    for (size_t i = 0; i < held; i++) Py_XDECREF(c->hold[i]);
    return good;
}

static bool keys_hash_list(const ebpy_filter *s, PyObject *list, ebpy_keys *out) {
    keys_chunk c;
    const bool is_list = PyList_Check(list);
    bool good = true;
    for (size_t at = 0; at < out->n && good; at += KEYS_CHUNK) {
        const size_t n = out->n - at < KEYS_CHUNK ? out->n - at : KEYS_CHUNK;
        size_t got = 0;
        /* Turning other objects to numbers may run code that changes the list: own what is looked
         * at. */
        for (; got < n; got++) {
            const Py_ssize_t i = (Py_ssize_t)(at + got);
            if (!(c.o[got] = is_list ? PyList_GetItem(list, i) : PyTuple_GetItem(list, i))) break;
            __builtin_prefetch(c.o[got], 1);
            __builtin_prefetch((char *)c.o[got] + 64);
        }
        for (size_t i = 0; i < got; i++) Py_INCREF(c.o[i]);
        good = got == n && keys_chunk_hash(s, &c, at, n, out->hash + at);
        for (size_t i = 0; i < got; i++) Py_DECREF(c.o[i]);
    }
    return good;
}

/* Keys of a tuple in an array, for filters that keep keys. */
static bool keys_array_list(const ebpy_filter *s, PyObject *tuple, ebpy_keys *out) {
    eb_key *const array = ebpy_arena_take(&out->arena, (out->n + 1) * sizeof *array);
    if (!array) return false;
    for (size_t i = 0; i < out->n; i++) {
        char text[EBPY_TEXT];
        PyObject *hold = NULL;
        bool good =
            keys_element(s, PyTuple_GetItem(tuple, (Py_ssize_t)i), i, text, &array[i], &hold);
        if (good && (array[i].p == text || hold)) {
            void *const copy = ebpy_arena_take(&out->arena, array[i].len);
            good = copy != NULL;
            if (good) array[i].p = memcpy(copy, array[i].p, array[i].len);
        }
        Py_XDECREF(hold);
        if (!good) return false;
    }
    out->keys = eb_keys_array(EB_STRING, array);
    return true;
}

static bool keys_from_list(const ebpy_filter *s, PyObject *list, ebpy_keys *out) {
    const Py_ssize_t n = PySequence_Size(list);
    if (n < 0) return false;
    out->n = (size_t)n;
    if (ebpy_keys_keep(s)) {
        out->owner = PySequence_Tuple(list);
        out->n = out->owner ? (size_t)PyTuple_Size(out->owner) : 0;
        return out->owner && keys_array_list(s, out->owner, out);
    }
    out->hash = malloc((out->n + 1) * sizeof *out->hash);
    if (!out->hash) return PyErr_NoMemory() != NULL;
    return keys_hash_list(s, list, out);
}

/* ---- Buffers. */
size_t ebpy_number_format(const char *format, bool *is_signed) {
    static const char native[] = "bBhHiIlLqQ";
    static const size_t width[] = {1, 2, sizeof(int), sizeof(long), sizeof(long long)};
    static const size_t standard[] = {1, 2, 4, 4, 8};
    bool exact = true;
    if (!format) format = "B";
    if (*format == '@' || *format == '=' || *format == '<') exact = *format++ == '@';
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    if (!exact) return 0;
#endif
    const char *const known = *format && !format[1] ? strchr(native, *format) : NULL;
    if (!known) return 0;
    const size_t which = (size_t)(known - native);
    *is_signed = which % 2 == 0;
    return exact ? width[which / 2] : standard[which / 2];
}

/* Characters of 4 bytes (numpy's U), padded with zeros, become UTF-8. */
static bool keys_from_characters(const Py_buffer *v, ebpy_keys *out) {
    const size_t most = (size_t)v->itemsize / 4;
    eb_key *const array = ebpy_arena_take(&out->arena, (out->n + 1) * sizeof *array);
    if (!array) return false;
    for (size_t i = 0; i < out->n; i++) {
        const char *const from = (const char *)v->buf + (Py_ssize_t)i * v->strides[0];
        size_t chars = most;
        uint32_t c = 0;
        while (chars && (memcpy(&c, from + 4 * (chars - 1), 4), !c)) chars--;
        unsigned char *const text = ebpy_arena_take(&out->arena, chars * 4), *to = text;
        if (!text) return false;
        for (size_t j = 0; j < chars; j++) {
            memcpy(&c, from + 4 * j, 4);
            if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
                PyErr_Format(PyExc_ValueError, "key %zd has a character that UTF-8 cannot encode",
                             (Py_ssize_t)i);
                return false;
            }
            if (c < 0x80) {
                *to++ = (unsigned char)c;
                continue;
            }
            if (c >= 0x10000) *to++ = (unsigned char)(0xf0 | c >> 18);
            if (c >= 0x800)
                *to++ = (unsigned char)(c >= 0x10000 ? 0x80 | (c >> 12 & 0x3f) : 0xe0 | c >> 12);
            *to++ = (unsigned char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
            *to++ = (unsigned char)(0x80 | (c & 0x3f));
        }
        array[i] = (eb_key){text, (size_t)(to - text)};
        out->arena.used -= chars * 4 - (size_t)(to - text); /* give back what was too much */
    }
    out->keys = eb_keys_array(EB_TEXT, array);
    return true;
}

/* Bytes that are padded with zeros (numpy's S): the library strips them from text only. */
static bool keys_from_padded(const Py_buffer *v, ebpy_keys *out) {
    eb_key *const array = ebpy_arena_take(&out->arena, (out->n + 1) * sizeof *array);
    if (!array) return false;
    for (size_t i = 0; i < out->n; i++) {
        const char *const p = (const char *)v->buf + (Py_ssize_t)i * v->strides[0];
        size_t len = (size_t)v->itemsize;
        while (len && !p[len - 1]) len--;
        array[i] = (eb_key){p, len};
    }
    out->keys = eb_keys_array(EB_BYTES, array);
    return true;
}

/* Is f a format of n characters of this code, such as 12s? */
static bool keys_is_format(const char *f, char code) {
    if (*f == '<' || *f == '=' || *f == '@') f++;
    while (*f >= '0' && *f <= '9') f++;
    return f[0] == code && !f[1];
}

/* 1: the keys are there; 0: not a buffer of ours (there is no other way to ask in 3.8); -1: an
 * exception was raised. Dates of numpy look like 8 small numbers, so buffers of bytes want a second
 * look, unless sure. */
static int keys_from_buffer(const ebpy_filter *s, PyObject *o, bool sure, ebpy_keys *out) {
    bool is_signed = false;
    if (PyObject_GetBuffer(o, &out->view, PyBUF_FORMAT | PyBUF_STRIDES)) {
        PyErr_Clear();
        return 0;
    }
    out->viewed = true;
    const Py_buffer *const v = &out->view;
    const char *const format = v->format ? v->format : "B";
    if (v->ndim != 1) {
        if (v->ndim == 0) return 0;
        PyErr_Format(PyExc_ValueError, "keys have one dimension, not %d", v->ndim);
        return -1;
    }
    out->n = (size_t)v->shape[0];
    const size_t width = ebpy_number_format(format, &is_signed);
    if (width == 1 && !is_signed && !sure) return 0;
    if (width && width == (size_t)v->itemsize)
        out->keys = eb_keys_column(is_signed ? EB_I64 : EB_U64, v->buf, width);
    else if (keys_is_format(format, 's')) {
        if (s->keys == EB_BYTES) return keys_from_padded(v, out) ? 1 : -1;
        out->keys = eb_keys_column(EB_TEXT, v->buf, (size_t)v->itemsize);
    } else if (keys_is_format(format, 'w'))
        return keys_from_characters(v, out) ? 1 : -1;
    else
        return 0;
    out->keys.stride = v->strides[0];
    return 1;
}

static void keys_forget(ebpy_keys *k) {
    if (k->viewed) PyBuffer_Release(&k->view);
    k->viewed = false;
    k->n = 0;
}

/* ---- Any collection. */
bool ebpy_keys_from(const ebpy_filter *s, PyObject *o, ebpy_keys *out) {
    if (PyList_Check(o) || PyTuple_Check(o)) return keys_from_list(s, o, out);
    if (!PyByteArray_Check(o)) {
        const int is = keys_from_buffer(s, o, false, out);
        if (is) return is > 0;
        const bool one = out->viewed && out->view.ndim == 0;
        keys_forget(out);
        if (one) { /* a number of numpy */
            PyObject *const tuple = PyTuple_Pack(1, o);
            const bool good = tuple && keys_from_list(s, tuple, out);
            out->scalar = true;
            Py_XDECREF(tuple);
            return good;
        }
    }
    const int arrow = ebpy_arrow_keys(s, o, out);
    if (arrow) return arrow > 0;
    PyObject *const other = ebpy_helper("keys", o); /* a list, or a buffer */
    if (!other) return false;
    bool good;
    if (PyList_Check(other))
        good = keys_from_list(s, other, out);
    else if (!(good = keys_from_buffer(s, other, true, out) > 0) && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError,
                     "keys of type %S: give str, bytes, int, or a collection of them",
                     (PyObject *)Py_TYPE(o));
    Py_DECREF(other);
    return good;
}

void ebpy_keys_free(ebpy_keys *k) {
    free(k->hash);
    keys_forget(k);
    Py_XDECREF(k->owner);
    ebpy_arena_free(&k->arena);
    ebpy_arrow_free(k->arrow);
    *k = (ebpy_keys){0};
}
