/* module.c - the module: its exceptions, specs, kinds, predictions and plans, and the command
 * itself. */
#include "ebpy.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

PyObject *ebpy_error, *ebpy_busy;
int everbloom_main(int argc, char **argv); /* main of the command */

/* ---- Errors. */
static const char *module_status(eb_status status) {
    static const char *const names[] = {
        "OK",      "ENOMEM",    "EINVAL", "ESIZE",  "ESPEC", "EFORMAT", "EVERSION", "EMISMATCH",
        "ENOTSUP", "EREADONLY", "EFULL",  "ELIMIT", "EKEY",  "EVALUE",  "ETIME",    "ESTOPPED"};
    const size_t at = (size_t)-status;
    return at < sizeof names / sizeof *names ? names[at] : "unknown";
}

PyObject *ebpy_raise(eb_status status, const eb_error *err) {
    if (status == EB_ENOMEM) return PyErr_Format(PyExc_MemoryError, "%s", err->text);
    PyObject *const at = err->at == EB_NOWHERE ? (Py_INCREF(Py_None), Py_None)
                                               : PyLong_FromUnsignedLongLong(err->at);
    PyObject *const name = PyUnicode_FromString(module_status(status));
    /* What it quotes, of a key or of damaged bytes, may be no UTF-8, or end inside a character. */
    PyObject *const text =
        PyUnicode_DecodeUTF8(err->text, (Py_ssize_t)strlen(err->text), "backslashreplace");
    PyObject *const e =
        at && name && text ? PyObject_CallFunctionObjArgs(ebpy_error, text, NULL) : NULL;
    if (e && !PyObject_SetAttrString(e, "status", name) && !PyObject_SetAttrString(e, "at", at))
        PyErr_SetObject(ebpy_error, e);
    Py_XDECREF(e);
    Py_XDECREF(text);
    Py_XDECREF(name);
    Py_XDECREF(at);
    return NULL;
}

bool ebpy_arguments(const char *function, PyObject *const *args, Py_ssize_t n, PyObject *kwnames,
                    const char *const *names, Py_ssize_t least, PyObject **out) {
    Py_ssize_t known = 0;
    for (; names[known]; known++) out[known] = known < n ? args[known] : NULL;
    if (n > known) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd arguments, not %zd", function, known,
                     n);
        return false;
    }
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_Size(kwnames); i++) {
        PyObject *const name = PyTuple_GetItem(kwnames, i);
        Py_ssize_t at = 0;
        while (at < known && PyUnicode_CompareWithASCIIString(name, names[at])) at++;
        if (at == known || out[at]) {
            PyErr_Format(PyExc_TypeError,
                         at == known ? "%s() has no argument %R" : "%s() got argument %R twice",
                         function, name);
            return false;
        }
        out[at] = args[n + i];
    }
    for (Py_ssize_t i = 0; i < least; i++)
        if (!out[i]) {
            PyErr_Format(PyExc_TypeError, "%s() needs argument '%s'", function, names[i]);
            return false;
        }
    return true;
}

/* ---- What Python says better than C: everbloom/_arrays.py. */
PyObject *ebpy_helper(const char *name, PyObject *argument) {
    static PyObject *helpers;
    if (!helpers && !(helpers = PyImport_ImportModule("everbloom._arrays"))) return NULL;
    return PyObject_CallMethod(helpers, name, "O", argument);
}

PyObject *ebpy_array(PyObject *bytearray, char type, bool scalar) {
    PyObject *out = NULL;
    if (scalar) {
        const char *const p = PyByteArray_AsString(bytearray);
        double count;
        uint64_t hash;
        if (type == '?')
            out = PyBool_FromLong(*p);
        else if (type == 'd')
            out = PyFloat_FromDouble((memcpy(&count, p, sizeof count), count));
        else
            out = PyLong_FromUnsignedLongLong((memcpy(&hash, p, sizeof hash), hash));
    } else {
        static PyObject *helpers;
        const char name[] = {type, 0};
        if (helpers || (helpers = PyImport_ImportModule("everbloom._arrays")))
            out = PyObject_CallMethod(helpers, "array", "Os", bytearray, name);
    }
    Py_DECREF(bytearray);
    return out;
}

/* ---- Specs and kinds. */
static PyObject *module_describe(PyObject *module, PyObject *spec) {
    eb_spec_info info;
    eb_error err;
    const char *const text = PyUnicode_AsUTF8AndSize(spec, NULL);
    (void)module;
    EB_INIT(info);
    if (!text) return NULL;
    const eb_status status = eb_spec_describe(text, &info, &err);
    if (status) return ebpy_raise(status, &err);
    return ebpy_result_make(EBPY_SPEC, "(ssKKIN)", info.canonical, info.kind, info.bytes,
                            info.snapshot_bytes, info.shards, ebpy_caps(info.caps));
}

static PyObject *module_options(const eb_option *o) {
    PyObject *const list = PyList_New(0);
    for (; list && o->key; o++) {
        PyObject *const option = ebpy_result_make(EBPY_OPTION, "(ssssss)", o->key, o->type, o->dflt,
                                                  o->min, o->max, o->help);
        if (option) PyList_Append(list, option);
        Py_XDECREF(option);
    }
    return list;
}

static PyObject *module_kinds(PyObject *module, PyObject *unused) {
    size_t n;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    PyObject *const list = PyList_New(0);
    (void)module, (void)unused;
    for (size_t i = 0; list && i < n; i++) {
        PyObject *const kind = ebpy_result_make(
            EBPY_KIND, "(ssssNN)", kinds[i]->name, kinds[i]->question, kinds[i]->summary,
            kinds[i]->paper, ebpy_caps(kinds[i]->caps), module_options(kinds[i]->options));
        if (kind) PyList_Append(list, kind);
        Py_XDECREF(kind);
    }
    if (!PyErr_Occurred()) return list;
    Py_XDECREF(list);
    return NULL;
}

/* ---- Joins. */
static PyObject *module_join(PyObject *module, PyObject *args) {
    PyObject *a, *b;
    eb_join join;
    eb_error err;
    eb_status status;
    (void)module;
    EB_INIT(join);
    if (!PyArg_ParseTuple(args, "O!O!:join", ebpy_filter_type, &a, ebpy_filter_type, &b))
        return NULL;
    ebpy_filter *const f = (ebpy_filter *)a, *const g = (ebpy_filter *)b;
    if (!ebpy_begin_read(f)) return NULL;
    if (!ebpy_begin_read(g)) return ebpy_end_read(f), NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = eb_join_size(f->f, g->f, &join, &err);
    Py_END_ALLOW_THREADS;
    ebpy_end_read(f);
    ebpy_end_read(g);
    return status ? ebpy_raise(status, &err)
                  : ebpy_result_make(EBPY_JOIN, "(ddd)", join.join, join.error, join.upper);
}

/* ---- The command.  It ends the process, as a command does. */
static PyObject *module_command(PyObject *module, PyObject *words) {
    const Py_ssize_t n = PyList_Size(words);
    (void)module;
    if (n < 0) return NULL;
    char **const argv = calloc((size_t)n + 1, sizeof *argv);
    if (!argv) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(argv[i] = PyBytes_AsString(PyList_GetItem(words, i)))) return free(argv), NULL;
    /* As a shell starts a program; Python ignores the one and catches the other. */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    exit(everbloom_main((int)n, argv));
}

static PyMethodDef module_methods[] = {
    {"describe", module_describe, METH_O,
     "describe(spec)\n--\n\nWhat a spec costs and can do, without making the filter.\n\n"
     ">>> describe(\"bloom:distinct=1e6,fpr=0.01\").bytes < 2**21\n"
     "True\n"},
    {"kinds", module_kinds, METH_NOARGS,
     "kinds()\n--\n\nAll kinds of filters, those that answer a question first.\n\n"
     ">>> \"lru\" in [kind.name for kind in kinds()]\n"
     "True\n"},
    {"join", module_join, METH_VARARGS,
     "join(a, b)\n--\n\nThe size of the join of two streams: the sum over keys of the products of "
     "their counts.\n\n"
     ">>> spec = \"spectral:memory=64K,update=plain\"\n"
     ">>> a, b = Filter(spec), Filter(spec)\n"
     ">>> a.update([\"x\", \"x\", \"y\"])\n"
     ">>> b.update([\"x\", \"z\"])\n"
     ">>> join(a, b).upper\n"
     "2.0\n"},
    {"_predict", ebpy_predict, METH_VARARGS, NULL},
    {"_plan", ebpy_plan, METH_VARARGS, NULL},
    {"_command", module_command, METH_O, NULL},
    {0}};

/* Py_buffer is declared by us where the limited API does not have it: is it what this interpreter
 * has? */
static bool module_check_layout(void) {
    Py_buffer view;
    PyObject *const bytes = PyBytes_FromStringAndSize("abc", 3);
    if (!bytes) return false;
    memset(&view, 0, sizeof view);
    bool good = PyObject_GetBuffer(bytes, &view, PyBUF_FORMAT | PyBUF_STRIDES) == 0;
    good = good && view.buf == PyBytes_AsString(bytes) && view.obj == bytes && view.len == 3 &&
           view.itemsize == 1 && view.readonly == 1 && view.ndim == 1 &&
           strcmp(view.format, "B") == 0 && view.shape[0] == 3 && view.strides[0] == 1 &&
           !view.suboffsets;
    if (good) PyBuffer_Release(&view);
    Py_DECREF(bytes);
    if (!good && !PyErr_Occurred())
        PyErr_SetString(PyExc_ImportError,
                        "everbloom: this interpreter has another buffer protocol");
    return good;
}

static struct PyModuleDef module_definition = {PyModuleDef_HEAD_INIT,
                                               "everbloom._everbloom",
                                               "The C part of everbloom.",
                                               -1,
                                               module_methods,
                                               NULL,
                                               NULL,
                                               NULL,
                                               NULL};

static PyObject *module_exception(PyObject *module, const char *name, const char *doc,
                                  PyObject *base) {
    PyObject *const e = PyErr_NewExceptionWithDoc(name, doc, base, NULL);
    Py_XINCREF(e);
    if (e && PyModule_AddObject(module, name + sizeof "everbloom." - 1, e)) return NULL;
    return e;
}

PyMODINIT_FUNC PyInit__everbloom(void) {
    PyObject *const module = PyModule_Create(&module_definition);
    if (module && module_check_layout() &&
        (ebpy_error = module_exception(module, "everbloom.Error",
                                       "A call that the library refused.  status: such as 'ESPEC'; "
                                       "at: the key or byte, or None.",
                                       PyExc_ValueError)) &&
        (ebpy_busy =
             module_exception(module, "everbloom.BusyError",
                              "Another thread uses the filter in a way that excludes this call.",
                              PyExc_RuntimeError)) &&
        ebpy_results_add(module) && ebpy_filter_add_type(module) &&
        !PyModule_AddStringConstant(module, "__version__", EB_VERSION))
        return module;
    Py_XDECREF(module);
    return NULL;
}
