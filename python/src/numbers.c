/* numbers.c - values and times: one number for all keys, or a number for each of them. */
#include "ebpy.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool numbers_refuse(const char *what, size_t at) {
    PyErr_Format(PyExc_ValueError, "%s %zd is not a number from 0 to 2^64-1", what, (Py_ssize_t)at);
    return false;
}

/* Fractions of a unit of time, or of a weight, do not count. */
static bool numbers_real(double x, const char *what, size_t at, uint64_t *out) {
    if (!(x >= 0 && x < 0x1p64)) return numbers_refuse(what, at);
    *out = (uint64_t)x;
    return true;
}

static bool numbers_one(PyObject *o, const char *what, size_t at, uint64_t *out) {
    if (PyFloat_Check(o)) return numbers_real(PyFloat_AsDouble(o), what, at, out);
    PyObject *const index = PyNumber_Index(o);
    if (!index) return false;
    *out = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (!PyErr_Occurred()) return true;
    PyErr_Clear();
    return numbers_refuse(what, at);
}

static bool numbers_are(Py_ssize_t have, size_t n, const char *what) {
    if (have == (Py_ssize_t)n) return true;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError,
                     "%zd keys have %zd %ss: give one for each key, or one for all", (Py_ssize_t)n,
                     have, what);
    return false;
}

static bool numbers_element(const Py_buffer *v, size_t width, bool is_signed, size_t i,
                            const char *what, uint64_t *out) {
    const char *const p = (const char *)v->buf + (Py_ssize_t)i * v->strides[0];
    uint64_t x = 0;
    if (!width) {
        float f;
        double d;
        if (v->itemsize == sizeof f)
            memcpy(&f, p, sizeof f), d = f;
        else
            memcpy(&d, p, sizeof d);
        return numbers_real(d, what, i, out);
    }
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy((char *)&x + sizeof x - width, p, width);
#else
    memcpy(&x, p, width);
#endif
    if (is_signed && x >> (8 * width - 1)) return numbers_refuse(what, i);
    *out = x;
    return true;
}

/* 1, 0: not a buffer of numbers, -1: an exception was raised.  Dates of numpy look like 8 small
 * numbers, so buffers of bytes want a second look, unless sure. */
static int numbers_from_buffer(PyObject *o, bool sure, size_t n, const char *what,
                               ebpy_numbers *out) {
    Py_buffer v;
    bool is_signed = false, good = true;
    if (PyObject_GetBuffer(o, &v, PyBUF_FORMAT | PyBUF_STRIDES)) return PyErr_Clear(), 0;
    const char *const format = v.format ? v.format : "B";
    const size_t width = ebpy_number_format(format, &is_signed);
    const bool real = strcmp(format, "d") == 0 || strcmp(format, "f") == 0;
    if (v.ndim != 1 || (width == 1 && !sure) || !(real || (width && width == (size_t)v.itemsize))) {
        PyBuffer_Release(&v);
        return 0;
    }
    good = numbers_are(v.shape[0], n, what);
    if (good && !(out->array = malloc((n + 1) * sizeof *out->array)))
        good = PyErr_NoMemory() != NULL;
    for (size_t i = 0; i < n && good; i++)
        good = numbers_element(&v, width, is_signed, i, what, &out->array[i]);
    PyBuffer_Release(&v);
    out->p = out->array;
    return good ? 1 : -1;
}

static bool numbers_from_list(PyObject *o, size_t n, const char *what, ebpy_numbers *out) {
    PyObject *const tuple = PySequence_Tuple(o);
    bool good = tuple && numbers_are(PyTuple_Size(tuple), n, what);
    if (good && !(out->array = malloc((n + 1) * sizeof *out->array)))
        good = PyErr_NoMemory() != NULL;
    for (size_t i = 0; i < n && good; i++)
        good = numbers_one(PyTuple_GetItem(tuple, (Py_ssize_t)i), what, i, &out->array[i]);
    Py_XDECREF(tuple);
    out->p = out->array;
    return good;
}

bool ebpy_numbers_from(PyObject *o, size_t n, const char *what, ebpy_numbers *out) {
    *out = (ebpy_numbers){0};
    if (!o || o == Py_None) return true;
    if (PyLong_Check(o) || PyFloat_Check(o)) {
        out->p = &out->one;
        out->same = true;
        return numbers_one(o, what, 0, &out->one);
    }
    const int is = numbers_from_buffer(o, false, n, what, out);
    if (is) return is > 0;
    /* Dates, series and scalars of other packages become a number, a list or a buffer of int64. */
    PyObject *const other = ebpy_helper("numbers", o);
    bool good = other != NULL;
    if (good && PyLong_Check(other))
        good = ebpy_numbers_from(other, n, what, out);
    else if (good) {
        const int buffer = numbers_from_buffer(other, true, n, what, out);
        good = buffer ? buffer > 0 : numbers_from_list(other, n, what, out);
    }
    Py_XDECREF(other);
    return good;
}

void ebpy_numbers_free(ebpy_numbers *x) {
    free(x->array);
    x->array = NULL;
}
