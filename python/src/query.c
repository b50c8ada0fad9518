/* query.c - methods of Filter for questions that need more than one look-up. */
#include "ebpy.h"
#include <stdlib.h>
#include <string.h>

#define QUERY_WITHOUT_LOCK(call)                                                                   \
    do {                                                                                           \
        Py_BEGIN_ALLOW_THREADS;                                                                    \
        status = (call);                                                                           \
        Py_END_ALLOW_THREADS;                                                                      \
    } while (0)

/* Keys and times of a question, as a batch.  The caller frees k and t in any case. */
static bool query_batch(const ebpy_filter *s, PyObject *keys, PyObject *time, PyObject **tuple,
                        ebpy_keys *k, ebpy_numbers *t, eb_batch *b) {
    /* A single key takes the way of a list of one. */
    const bool one = PyUnicode_Check(keys) || PyBytes_Check(keys) || PyLong_Check(keys) ||
                     PyByteArray_Check(keys);
    *tuple = one ? PyTuple_Pack(1, keys) : NULL;
    if (one && !*tuple) return false;
    if (!ebpy_keys_from(s, one ? *tuple : keys, k) || !ebpy_keys_hash(s, k)) return false;
    k->scalar = k->scalar || one;
    if (!ebpy_numbers_from(time, k->n, "time", t)) return false;
    *b = eb_batch_make(k->hash, NULL, k->n);
    b->time = t->p;
    b->flags = t->same ? EB_SAME_TIME : 0;
    return true;
}

static PyObject *query_estimate_made(const eb_estimate *e) {
    return ebpy_result_make(EBPY_ESTIMATE, "(dddd)", e->count, e->lower, e->upper, e->confidence);
}

static PyObject *query_estimates_list(const eb_estimate *e, size_t n) {
    PyObject *const list = PyList_New(0);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *const one = query_estimate_made(&e[i]);
        if (one) PyList_Append(list, one);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *query_estimate(ebpy_filter *s, PyObject *const *args, Py_ssize_t n,
                                PyObject *kwnames) {
    static const char *const names[] = {"key", "time", NULL};
    PyObject *a[2], *tuple = NULL, *out = NULL;
    ebpy_keys k = {0};
    ebpy_numbers t = {0};
    eb_batch b;
    eb_estimate *e = NULL;
    eb_error err;
    eb_status status = EB_OK;
    if (!ebpy_arguments("estimate", args, n, kwnames, names, 1, a)) return NULL;
    if (query_batch(s, a[0], a[1], &tuple, &k, &t, &b) && (e = calloc(k.n + 1, sizeof *e)) &&
        ebpy_begin_read(s)) {
        for (size_t i = 0; i < k.n; i++) e[i].size = sizeof *e;
        QUERY_WITHOUT_LOCK(eb_estimate_batch(s->f, &b, e, &err));
        ebpy_end_read(s);
        out = status     ? ebpy_raise(status, &err)
              : k.scalar ? query_estimate_made(e)
                         : query_estimates_list(e, k.n);
    } else if (!PyErr_Occurred())
        PyErr_NoMemory();
    free(e);
    ebpy_numbers_free(&t);
    ebpy_keys_free(&k);
    Py_XDECREF(tuple);
    return out;
}

static PyObject *query_sum(ebpy_filter *s, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    static const char *const names[] = {"keys", "time", NULL};
    PyObject *a[2], *tuple = NULL, *out = NULL;
    ebpy_keys k = {0};
    ebpy_numbers t = {0};
    eb_batch b;
    eb_sum sum;
    eb_error err;
    eb_status status = EB_OK;
    EB_INIT(sum);
    if (!ebpy_arguments("sum", args, n, kwnames, names, 1, a)) return NULL;
    if (query_batch(s, a[0], a[1], &tuple, &k, &t, &b) && ebpy_begin_read(s)) {
        QUERY_WITHOUT_LOCK(eb_sum_batch(s->f, &b, &sum, &err));
        ebpy_end_read(s);
        out = status
                  ? ebpy_raise(status, &err)
                  : ebpy_result_make(EBPY_SUM, "(dddd)", sum.sum, sum.error, sum.median, sum.upper);
    }
    ebpy_numbers_free(&t);
    ebpy_keys_free(&k);
    Py_XDECREF(tuple);
    return out;
}

/* ---- Ranges.  The order of signed numbers is that of the library: 2^63 is added. */
static bool query_number(const ebpy_filter *s, PyObject *o, uint64_t *out) {
    if (s->keys != EB_I64)
        *out = PyLong_AsUnsignedLongLong(o);
    else
        *out = (uint64_t)PyLong_AsLongLong(o);
    return !PyErr_Occurred();
}

static PyObject *query_number_made(const ebpy_filter *s, uint64_t x) {
    return s->keys != EB_I64 ? PyLong_FromUnsignedLongLong(x) : PyLong_FromLongLong((int64_t)x);
}

static PyObject *query_range(ebpy_filter *s, PyObject *const *args, Py_ssize_t n,
                             PyObject *kwnames) {
    static const char *const names[] = {"first", "last", NULL};
    PyObject *a[2];
    uint64_t from, to;
    eb_range range;
    eb_error err;
    eb_status status;
    EB_INIT(range);
    if (!ebpy_arguments("range", args, n, kwnames, names, 2, a) || !query_number(s, a[0], &from) ||
        !query_number(s, a[1], &to) || !ebpy_begin_read(s))
        return NULL;
    QUERY_WITHOUT_LOCK(eb_range_count(s->f, from, to, &range, &err));
    ebpy_end_read(s);
    return status ? ebpy_raise(status, &err)
                  : ebpy_result_make(EBPY_RANGE, "(dd)", range.lower, range.upper);
}

static PyObject *query_quantile(ebpy_filter *s, PyObject *share) {
    const double q = PyFloat_AsDouble(share);
    eb_quantile quantile;
    eb_error err;
    eb_status status;
    EB_INIT(quantile);
    if (PyErr_Occurred() || !ebpy_begin_read(s)) return NULL;
    QUERY_WITHOUT_LOCK(eb_range_quantile(s->f, q, &quantile, &err));
    ebpy_end_read(s);
    return status ? ebpy_raise(status, &err)
                  : ebpy_result_make(EBPY_QUANTILE, "(NNN)", query_number_made(s, quantile.value),
                                     query_number_made(s, quantile.lower),
                                     query_number_made(s, quantile.upper));
}

/* ---- Top lists: _top(most, at_least) gives (watermark, [(key, count, lower)]), keys as bytes. */
static PyObject *query_top(ebpy_filter *s, PyObject *args) {
    Py_ssize_t most;
    eb_top_list list;
    eb_error err;
    PyObject *out = NULL;
    EB_INIT(list);
    if (!PyArg_ParseTuple(args, "nd", &most, &list.at_least) || !ebpy_begin_read(s)) return NULL;
    eb_status status = eb_top(s->f, &list, &err); /* how many are there? */
    list.cap = list.matching < (size_t)most ? list.matching : (size_t)most;
    list.keys = status ? NULL : calloc(list.cap + 1, sizeof *list.keys);
    if (list.keys) status = eb_top(s->f, &list, &err);
    ebpy_end_read(s);
    if (status)
        ebpy_raise(status, &err);
    else if (!list.keys)
        PyErr_NoMemory();
    else
        out = PyList_New(0);
    for (size_t i = 0; out && i < list.n; i++) {
        const eb_top_key *const k = &list.keys[i];
        PyObject *const one =
            Py_BuildValue("(y#dd)", k->key.p, (Py_ssize_t)k->key.len, k->count, k->lower);
        if (one) PyList_Append(out, one);
        Py_XDECREF(one);
    }
    free(list.keys);
    return out ? Py_BuildValue("(dN)", list.watermark, out) : NULL;
}

/* ---- Whole filters. */
static PyObject *query_convert(ebpy_filter *s, PyObject *changes) {
    const char *const text = PyUnicode_AsUTF8AndSize(changes, NULL);
    eb_filter *f = NULL;
    eb_error err;
    eb_status status;
    if (!text || !ebpy_begin_read(s)) return NULL;
    QUERY_WITHOUT_LOCK(eb_convert(&f, s->f, text, NULL, &err));
    ebpy_end_read(s);
    return status ? ebpy_raise(status, &err) : ebpy_filter_wrap(Py_TYPE(s), f);
}

/* Called with the interpreter's lock: the delta grows in a bytearray. */
static eb_status query_write(void *ctx, const void *bytes, size_t n) {
    PyObject *const to = ctx;
    const Py_ssize_t len = PyByteArray_Size(to);
    if (PyByteArray_Resize(to, len + (Py_ssize_t)n)) return EB_ESTOPPED;
    memcpy(PyByteArray_AsString(to) + len, bytes, n);
    return EB_OK;
}

static PyObject *query_diff(ebpy_filter *s, PyObject *base) {
    eb_error err;
    if (!PyObject_TypeCheck(base, ebpy_filter_type))
        return PyErr_Format(PyExc_TypeError, "diff takes a Filter"), NULL;
    ebpy_filter *const from = (ebpy_filter *)base;
    PyObject *const delta = PyByteArray_FromStringAndSize(NULL, 0);
    if (!delta || !ebpy_begin_read(s)) return Py_XDECREF(delta), NULL;
    if (!ebpy_begin_read(from)) return ebpy_end_read(s), Py_DECREF(delta), NULL;
    const eb_status status = eb_diff(from->f, s->f, query_write, delta, &err);
    ebpy_end_read(s);
    ebpy_end_read(from);
    PyObject *const out = status || PyErr_Occurred() ? NULL : PyBytes_FromObject(delta);
    if (!out && !PyErr_Occurred()) ebpy_raise(status, &err);
    Py_DECREF(delta);
    return out;
}

static PyObject *query_patch(ebpy_filter *s, PyObject *delta) {
    Py_buffer view;
    eb_filter *f = NULL;
    eb_error err;
    eb_status status;
    if (PyObject_GetBuffer(delta, &view, PyBUF_SIMPLE)) return NULL;
    if (!ebpy_begin_read(s)) return PyBuffer_Release(&view), NULL;
    QUERY_WITHOUT_LOCK(eb_patch(&f, s->f, view.buf, (size_t)view.len, NULL, &err));
    ebpy_end_read(s);
    PyBuffer_Release(&view);
    return status ? ebpy_raise(status, &err) : ebpy_filter_wrap(Py_TYPE(s), f);
}

#define QUERY_FAST(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL | METH_KEYWORDS
PyDoc_STRVAR(query_estimate_doc,
             "estimate($self, key, time=None)\n--\n\n"
             "The count of a key with its bounds; of a collection: a list of them.\n\n"
             ">>> f = Filter(\"spectral:memory=64K\")\n"
             ">>> f.update([\"a\", \"b\", \"a\"])\n"
             ">>> f.estimate(\"a\").upper\n"
             "2.0\n");
PyDoc_STRVAR(query_sum_doc, "sum($self, keys, time=None)\n--\n\n"
                            "The counts of several different keys together.\n\n"
                            ">>> f = Filter(\"spectral:memory=64K,update=plain\")\n"
                            ">>> f.update([\"a\", \"b\", \"a\", \"c\"])\n"
                            ">>> f.sum([\"a\", \"b\"]).upper\n"
                            "3.0\n");
PyDoc_STRVAR(query_diff_doc, "diff($self, base)\n--\n\n"
                             "The difference from an earlier state of this filter, as bytes: "
                             "base.patch(delta) is this one.\n\n"
                             ">>> f = Filter(\"bloom:memory=64K,k=5\")\n"
                             ">>> before = f.copy()\n"
                             ">>> f.update([\"a\", \"b\"])\n"
                             ">>> delta = f.diff(before)\n"
                             ">>> len(delta) < 1000, before.patch(delta).dumps() == f.dumps()\n"
                             "(True, True)\n");
PyMethodDef ebpy_query_methods[] = {
    {"estimate", QUERY_FAST(query_estimate), query_estimate_doc},
    {"sum", QUERY_FAST(query_sum), query_sum_doc},
    {"_range", QUERY_FAST(query_range), NULL},
    {"_quantile", (PyCFunction)query_quantile, METH_O, NULL},
    {"_top", (PyCFunction)query_top, METH_VARARGS, NULL},
    {"convert", (PyCFunction)query_convert, METH_O,
     "convert($self, changes)\n--\n\nA filter with the same content and other options: "
     "\"frozen=line\" is "
     "small and read-only, "
     "\"frozen=no\" takes keys again, \"cells=N\" halves a filter."},
    {"diff", (PyCFunction)query_diff, METH_O, query_diff_doc},
    {"patch", (PyCFunction)query_patch, METH_O,
     "patch($self, delta)\n--\n\nThe later filter that a delta of diff() leads to."},
    {0}};
