/* ebpy.h - what the files of the Python extension share.
 *
 * The extension uses the limited API of CPython 3.8, so one binary serves every later version.
 * Three things that it needs joined the limited API after 3.8, but are in all versions since then
 * with the same layout: the buffer protocol (3.11), PyUnicode_AsUTF8AndSize (3.10) and
 * METH_FASTCALL (3.10).  They are declared here, and the module checks the layout of Py_buffer when
 * it is imported. */
#ifndef EBPY_H
#define EBPY_H
#define PY_SSIZE_T_CLEAN
#include <everbloom/everbloom.h>
#include <everbloom/query.h>
#include <Python.h>
#include <stdbool.h>

#if Py_LIMITED_API < 0x030b0000
typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#define PyBUF_SIMPLE 0
extern int PyObject_GetBuffer(PyObject *o, Py_buffer *view, int flags);
extern void PyBuffer_Release(Py_buffer *view);
#endif
#if Py_LIMITED_API < 0x030a0000
extern const char *PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *len);
#endif
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

static inline PyObject *ebpy_none(void) {
    Py_INCREF(Py_None);
    return Py_None;
}

/* ---- Errors: module.c */
extern PyObject *ebpy_error, *ebpy_busy;
PyObject *ebpy_raise(eb_status status, const eb_error *err); /* returns NULL */
/* Arguments of a call by position or name into out[], those not given NULL; names end with NULL.
 * False: an exception was raised. */
bool ebpy_arguments(const char *function, PyObject *const *args, Py_ssize_t n, PyObject *kwnames,
                    const char *const *names, Py_ssize_t least, PyObject **out);
PyObject *ebpy_helper(const char *name, PyObject *argument); /* a function of everbloom._arrays */
/* A numpy array, or a list, of what the bytearray holds; takes the reference.  type: ?, d or Q. */
PyObject *ebpy_array(PyObject *bytearray, char type, bool scalar);

/* ---- Results with named fields: results.c */
typedef enum ebpy_result {
    EBPY_STATS,
    EBPY_ESTIMATE,
    EBPY_SUM,
    EBPY_RANGE,
    EBPY_QUANTILE,
    EBPY_JOIN,
    EBPY_PREDICTION,
    EBPY_OFFER,
    EBPY_KIND,
    EBPY_OPTION,
    EBPY_SPEC,
    EBPY_RESULTS
} ebpy_result;
bool ebpy_results_add(PyObject *module);
/* A result of the fields that Py_BuildValue makes of format and what follows: a tuple. */
PyObject *ebpy_result_make(ebpy_result which, const char *format, ...);
PyObject *ebpy_stats(const eb_stats *s);
PyObject *ebpy_caps(uint64_t caps);                       /* a frozenset of names */
PyObject *ebpy_predict(PyObject *module, PyObject *args); /* plan.c */
PyObject *ebpy_plan(PyObject *module, PyObject *args);

/* ---- The Filter object: filter.c */
typedef struct ebpy_filter {
    PyObject_HEAD eb_filter *f;
    uint64_t caps;
    uint32_t keys;    /* eb_key_type of the filter */
    uint32_t readers; /* calls that read without the lock of the interpreter */
    bool writer;      /* a call that writes without it */
    bool viewed;
    Py_buffer view; /* of a view */
} ebpy_filter;
extern PyTypeObject *ebpy_filter_type;
bool ebpy_filter_add_type(PyObject *module);
extern PyMethodDef ebpy_query_methods[]; /* query.c */
/* A new object of this type for f, which it owns also on failure. */
PyObject *ebpy_filter_wrap(PyTypeObject *type, eb_filter *f);
/* A filter can be read by many threads, or written by one: else BusyError.  The lock of the
 * interpreter is held here; what is between begin and end may release it. */
bool ebpy_begin_read(ebpy_filter *s);
bool ebpy_begin_write(ebpy_filter *s);
static inline void ebpy_end_read(ebpy_filter *s) {
    s->readers--;
}
static inline void ebpy_end_write(ebpy_filter *s) {
    s->writer = false;
}

/* What the library names in a way that will change: one place to adapt. */
static inline PyObject *ebpy_spec(const eb_filter *f) {
    return PyUnicode_FromString(eb_spec(f));
}
static inline uint32_t ebpy_key_type(const eb_filter *f) {
    const char *const text = eb_spec(f);
    return strstr(text, "keys=bytes") ? EB_BYTES
           : strstr(text, "keys=i64") ? EB_I64
           : strstr(text, "keys=u64") ? EB_U64
                                      : EB_TEXT;
}

/* ---- Keys: keys.c, arrow.c */
typedef struct ebpy_arena { /* pieces of memory that never move */
    void *last;
    size_t used, cap;
} ebpy_arena;
void *ebpy_arena_take(ebpy_arena *a, size_t bytes); /* NULL: MemoryError was raised */
void ebpy_arena_free(ebpy_arena *a);

typedef struct ebpy_keys { /* all zero before ebpy_keys_from */
    size_t n;
    bool scalar;   /* one key was given, not a collection */
    eb_hash *hash; /* n of them, or NULL: then keys */
    eb_keys keys;  /* valid if keys.size is not 0 */
    Py_buffer view;
    bool viewed;
    PyObject *owner; /* of what keys points to */
    ebpy_arena arena;
    void *arrow; /* of arrow.c */
} ebpy_keys;
/* One key: 1, out points into o, text or *hold; 0: o is not a key; -1: an exception was raised. */
enum { EBPY_TEXT = 24 };
int ebpy_key_from(const ebpy_filter *s, PyObject *o, char text[EBPY_TEXT], eb_key *out,
                  PyObject **hold);
/* All keys of a collection.  Keys of lists are hashed on the way, unless the filter keeps keys. */
bool ebpy_keys_from(const ebpy_filter *s, PyObject *o, ebpy_keys *out);
void ebpy_keys_free(ebpy_keys *k);
bool ebpy_keys_hash(const ebpy_filter *s,
                    ebpy_keys *k);         /* fills k->hash; releases the interpreter */
bool ebpy_keys_keep(const ebpy_filter *s); /* the filter wants keys, not only hashes */
/* Hashes of n keys starting at index `at` of the collection; false: an exception was raised. */
bool ebpy_hash_some(const ebpy_filter *s, const eb_keys *keys, size_t at, size_t n, eb_hash *out);
/* 1: o is an Arrow array or stream and *out has its keys; 0: it is not; -1: an exception was
 * raised. */
int ebpy_arrow_keys(const ebpy_filter *s, PyObject *o, ebpy_keys *out);
void ebpy_arrow_free(void *arrow);
/* How many bytes a number of this struct format has, and whether it is signed; 0: not a number of
 * ours. */
size_t ebpy_number_format(const char *format, bool *is_signed);

/* Values or times: NULL, one number for all, or n numbers. */
typedef struct ebpy_numbers {
    const uint64_t *p;
    bool same;
    uint64_t one;
    uint64_t *array;
} ebpy_numbers;
bool ebpy_numbers_from(PyObject *o, size_t n, const char *what, ebpy_numbers *out);
void ebpy_numbers_free(ebpy_numbers *x);
#endif
