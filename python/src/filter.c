/* filter.c - the Filter object: keys one by one and in batches, snapshots, and the rule for
 * threads.
 *
 * Calls with one key hold the lock of the interpreter.  Batches and whole-filter operations release
 * it, and mark the filter as being read or written meanwhile.  A call that would collide raises
 * BusyError, so there is never a data race. */
#include "ebpy.h"
#include <stdlib.h>
#include <string.h>

PyTypeObject *ebpy_filter_type;

#define FILTER_WITHOUT_LOCK(call)                                                                  \
    do {                                                                                           \
        Py_BEGIN_ALLOW_THREADS;                                                                    \
        status = (call);                                                                           \
        Py_END_ALLOW_THREADS;                                                                      \
    } while (0)

static bool filter_busy(const char *what) {
    PyErr_Format(
        ebpy_busy,
        "another thread %s this filter now: use a lock, or a filter for each thread and merge them",
        what);
    return false;
}

static inline bool filter_readable(const ebpy_filter *s) {
    return !s->writer || filter_busy("changes");
}
static inline bool filter_writable(const ebpy_filter *s) {
    return filter_readable(s) && (!s->readers || filter_busy("reads"));
}

bool ebpy_begin_read(ebpy_filter *s) {
    if (!filter_readable(s)) return false;
    s->readers++;
    return true;
}

bool ebpy_begin_write(ebpy_filter *s) {
    return filter_writable(s) && (s->writer = true);
}

/* ---- Life. */
PyObject *ebpy_filter_wrap(PyTypeObject *type, eb_filter *f) {
    const allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    ebpy_filter *const s = (ebpy_filter *)alloc(type, 0);
    if (!s) {
        eb_free(f);
        return NULL;
    }
    s->f = f;
    s->caps = eb_caps(f);
    s->keys = ebpy_key_type(f);
    return (PyObject *)s;
}

static void filter_dealloc(ebpy_filter *s) {
    PyTypeObject *const type = Py_TYPE(s);
    const freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    eb_free(s->f);
    if (s->viewed) PyBuffer_Release(&s->view);
    free_object(s);
    Py_DECREF(type);
}

/* kind[:options] and options by name: memory="64M", fpr=0.001. */
static PyObject *filter_spec_text(PyObject *spec, PyObject *kwargs) {
    PyObject *key, *value, *text = spec;
    Py_ssize_t at = 0;
    Py_INCREF(text);
    bool colon = PyUnicode_FindChar(spec, ':', 0, PyUnicode_GetLength(spec), 1) >= 0;
    while (kwargs && text && PyDict_Next(kwargs, &at, &key, &value)) {
        PyObject *const longer =
            PyBool_Check(value)
                ? PyUnicode_FromFormat("%U%s%U=%s", text, colon ? "," : ":", key,
                                       value == Py_True ? "yes" : "no")
                : PyUnicode_FromFormat("%U%s%U=%S", text, colon ? "," : ":", key, value);
        Py_DECREF(text);
        text = longer;
        colon = true;
    }
    return text;
}

static bool filter_draw(uint64_t *seed) {
    PyObject *const os = PyImport_ImportModule("os");
    PyObject *const drawn =
        os ? PyObject_CallMethod(os, "urandom", "i", (int)sizeof *seed) : (PyObject *)NULL;
    char *const bytes = drawn ? PyBytes_AsString(drawn) : NULL;
    if (bytes) memcpy(seed, bytes, sizeof *seed);
    Py_XDECREF(os);
    Py_XDECREF(drawn);
    return bytes != NULL;
}

static PyObject *filter_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *spec;
    char seeded[2 * EB_SPEC_MAX];
    uint64_t seed;
    eb_filter *f = NULL;
    eb_error err;
    eb_status status;
    if (!PyArg_ParseTuple(args, "U:Filter", &spec)) return NULL;
    PyObject *const text = filter_spec_text(spec, kwargs);
    const char *const utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (!utf8 || !filter_draw(&seed)) {
        Py_XDECREF(text);
        return NULL;
    }
    status = eb_spec_seed(utf8, seed, seeded, sizeof seeded, &err);
    Py_DECREF(text);
    if (status) return ebpy_raise(status, &err);
    FILTER_WITHOUT_LOCK(eb_new(&f, seeded, NULL, &err));
    return status ? ebpy_raise(status, &err) : ebpy_filter_wrap(type, f);
}

static PyObject *filter_loads(PyTypeObject *type, PyObject *bytes) {
    Py_buffer view;
    eb_filter *f = NULL;
    eb_error err;
    eb_status status;
    if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE)) return NULL;
    FILTER_WITHOUT_LOCK(eb_load(&f, view.buf, (size_t)view.len, NULL, NULL, &err));
    PyBuffer_Release(&view);
    return status ? ebpy_raise(status, &err) : ebpy_filter_wrap(type, f);
}

static PyObject *filter_view(PyTypeObject *type, PyObject *args) {
    PyObject *bytes;
    int trust;
    Py_buffer view;
    eb_filter *f = NULL;
    eb_error err;
    eb_status status;
    if (!PyArg_ParseTuple(args, "Op", &bytes, &trust)) return NULL;
    if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE)) return NULL;
    FILTER_WITHOUT_LOCK(eb_view(&f, view.buf, (size_t)view.len, trust ? EB_TRUST : 0, NULL, &err));
    ebpy_filter *const s = status ? NULL : (ebpy_filter *)ebpy_filter_wrap(type, f);
    if (!s) {
        PyBuffer_Release(&view);
        return status ? ebpy_raise(status, &err) : NULL;
    }
    s->view = view;
    s->viewed = true;
    return (PyObject *)s;
}

static PyObject *filter_copy(ebpy_filter *s, PyObject *unused) {
    eb_filter *f = NULL;
    eb_error err;
    eb_status status;
    (void)unused;
    if (!ebpy_begin_read(s)) return NULL;
    FILTER_WITHOUT_LOCK(eb_clone(&f, s->f, NULL, &err));
    ebpy_end_read(s);
    return status ? ebpy_raise(status, &err) : ebpy_filter_wrap(Py_TYPE(s), f);
}

static PyObject *filter_dumps(ebpy_filter *s, PyObject *unused) {
    eb_error err;
    eb_status status;
    (void)unused;
    if (!ebpy_begin_read(s)) return NULL;
    const size_t n = eb_save_size(s->f);
    PyObject *const bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n);
    char *const to = bytes ? PyBytes_AsString(bytes) : NULL;
    if (!bytes) return ebpy_end_read(s), NULL;
    FILTER_WITHOUT_LOCK(eb_save(s->f, to, n, &err));
    ebpy_end_read(s);
    if (!status) return bytes;
    Py_DECREF(bytes);
    return ebpy_raise(status, &err);
}

static PyObject *filter_clear(ebpy_filter *s, PyObject *unused) {
    eb_error err;
    eb_status status;
    (void)unused;
    if (!ebpy_begin_write(s)) return NULL;
    FILTER_WITHOUT_LOCK(eb_clear(s->f, &err));
    ebpy_end_write(s);
    if (status) return ebpy_raise(status, &err);
    return ebpy_none();
}

static PyObject *filter_merge(ebpy_filter *s, PyObject *const *args, Py_ssize_t n,
                              PyObject *kwnames) {
    static const char *const names[] = {"other", "weight", NULL};
    PyObject *a[2];
    eb_error err;
    eb_status status;
    if (!ebpy_arguments("merge", args, n, kwnames, names, 1, a)) return NULL;
    if (!PyObject_TypeCheck(a[0], ebpy_filter_type))
        return PyErr_Format(PyExc_TypeError, "merge takes a Filter"), NULL;
    const long long weight = a[1] ? PyLong_AsLongLong(a[1]) : 1;
    if (weight == -1 && PyErr_Occurred()) return NULL;
    ebpy_filter *const from = (ebpy_filter *)a[0];
    if (from == s)
        return PyErr_Format(PyExc_ValueError, "merge takes another filter: copy() this one"), NULL;
    if (!ebpy_begin_write(s)) return NULL;
    if (!ebpy_begin_read(from)) return ebpy_end_write(s), NULL;
    FILTER_WITHOUT_LOCK(eb_merge(s->f, from->f, weight, &err));
    ebpy_end_read(from);
    ebpy_end_write(s);
    if (status) return ebpy_raise(status, &err);
    return ebpy_none();
}

static PyObject *filter_advance(ebpy_filter *s, PyObject *time) {
    ebpy_numbers t;
    eb_error err;
    if (!ebpy_numbers_from(time, 1, "time", &t)) return ebpy_numbers_free(&t), NULL;
    const bool free_to_write = t.p && filter_writable(s);
    const eb_status status = free_to_write ? eb_advance(s->f, *t.p, &err) : EB_OK;
    ebpy_numbers_free(&t);
    if (!t.p) return PyErr_Format(PyExc_TypeError, "advance takes a time"), NULL;
    if (!free_to_write) return NULL;
    if (status) return ebpy_raise(status, &err);
    return ebpy_none();
}

/* ---- Batches. */
typedef enum filter_do { FILTER_ADD, FILTER_ASK, FILTER_REMOVE } filter_do;
typedef enum filter_want { FILTER_NOTHING, FILTER_SEEN, FILTER_COUNT } filter_want;

/* What a batch answers goes into a bytearray, which numpy can take over. */
static PyObject *filter_room(size_t n, filter_want want, eb_batch *b) {
    PyObject *const bytes = PyByteArray_FromStringAndSize(
        NULL, (Py_ssize_t)(want == FILTER_COUNT ? n * sizeof(double) : n));
    if (bytes && want == FILTER_COUNT) b->count = (double *)(void *)PyByteArray_AsString(bytes);
    if (bytes && want == FILTER_SEEN) b->seen = (uint8_t *)PyByteArray_AsString(bytes);
    return bytes;
}

static bool filter_call(ebpy_filter *s, filter_do what, const eb_batch *b) {
    eb_error err;
    eb_status status;
    if (!(what == FILTER_ASK ? ebpy_begin_read(s) : ebpy_begin_write(s))) return false;
    FILTER_WITHOUT_LOCK(what == FILTER_ADD   ? eb_add_batch(s->f, b, &err)
                        : what == FILTER_ASK ? eb_ask_batch(s->f, b, &err)
                                             : eb_remove_batch(s->f, b, &err));
    if (what == FILTER_ASK)
        ebpy_end_read(s);
    else
        ebpy_end_write(s);
    return !status || ebpy_raise(status, &err);
}

static PyObject *filter_run(ebpy_filter *s, filter_do what, filter_want want, ebpy_keys *k,
                            PyObject *value, PyObject *time) {
    ebpy_numbers v = {0}, t = {0};
    eb_batch b = eb_batch_make(k->hash, k->hash ? NULL : &k->keys, k->n);
    PyObject *out = NULL;
    if (ebpy_numbers_from(value, k->n, "value", &v) && ebpy_numbers_from(time, k->n, "time", &t) &&
        (out = filter_room(k->n, want, &b))) {
        b.value = v.p;
        b.time = t.p;
        b.flags = (v.same ? EB_SAME_VALUE : 0) | (t.same ? EB_SAME_TIME : 0);
        if (!filter_call(s, what, &b)) {
            Py_DECREF(out);
            out = NULL;
        }
    }
    ebpy_numbers_free(&v);
    ebpy_numbers_free(&t);
    return out;
}

/* One key, or a collection of keys. */
static PyObject *filter_keys(ebpy_filter *s, filter_do what, filter_want want, PyObject *keys,
                             PyObject *value, PyObject *time) {
    ebpy_keys k = {0};
    char text[EBPY_TEXT];
    eb_key key;
    PyObject *hold, *out = NULL;
    const int is = ebpy_key_from(s, keys, text, &key, &hold);
    if (is > 0) {
        k.n = 1;
        k.scalar = true;
        k.keys = eb_keys_array(EB_STRING, &key);
    }
    if (is > 0 || (is == 0 && ebpy_keys_from(s, keys, &k)))
        out = filter_run(s, what, want, &k, value, time);
    const bool scalar = k.scalar;
    ebpy_keys_free(&k);
    Py_XDECREF(hold);
    if (!out || want != FILTER_NOTHING)
        return out ? ebpy_array(out, want == FILTER_COUNT ? 'd' : '?', scalar) : NULL;
    Py_DECREF(out);
    return ebpy_none();
}

/* ---- One key, the quick way. */
static PyObject *filter_add_key(ebpy_filter *s, PyObject *o) {
    char text[EBPY_TEXT];
    eb_key key;
    PyObject *hold;
    bool seen = false;
    eb_error err;
    const int is = ebpy_key_from(s, o, text, &key, &hold);
    if (is == 0) return filter_keys(s, FILTER_ADD, FILTER_SEEN, o, NULL, NULL);
    if (is < 0 || !filter_writable(s)) return Py_XDECREF(hold), NULL;
    const eb_status status = eb_add(s->f, key.p, key.len, &seen, &err);
    Py_XDECREF(hold);
    return status ? ebpy_raise(status, &err) : PyBool_FromLong(seen);
}

/* -1: an exception was raised; -2: not a key. */
static int filter_ask_key(ebpy_filter *s, PyObject *o, double *count) {
    char text[EBPY_TEXT];
    eb_key key;
    PyObject *hold;
    bool seen = false;
    eb_error err;
    const int is = ebpy_key_from(s, o, text, &key, &hold);
    if (is == 0) return -2;
    if (is < 0 || !filter_readable(s)) return Py_XDECREF(hold), -1;
    const eb_status status = eb_ask(s->f, key.p, key.len, &seen, count, &err);
    Py_XDECREF(hold);
    return status ? (ebpy_raise(status, &err), -1) : seen;
}

static int filter_contains(ebpy_filter *s, PyObject *o) {
    int is = filter_ask_key(s, o, NULL);
    if (is != -2) return is;
    PyObject *const answer = filter_keys(s, FILTER_ASK, FILTER_SEEN, o, NULL, NULL);
    if (!answer) return -1;
    is = PyBool_Check(answer) ? answer == Py_True : -1;
    if (is < 0) PyErr_SetString(PyExc_TypeError, "in takes one key: use seen() for many");
    Py_DECREF(answer);
    return is;
}

/* For iterators that ask about one item after the other: a collection is not a key there. */
static PyObject *filter_add_one(ebpy_filter *s, PyObject *o) {
    PyObject *const answer = filter_add_key(s, o);
    if (!answer || PyBool_Check(answer)) return answer;
    Py_DECREF(answer);
    PyErr_Format(PyExc_TypeError,
                 "an item of type %S is not a key: give a function as key=", Py_TYPE(o));
    return NULL;
}

static PyObject *filter_add(ebpy_filter *s, PyObject *const *args, Py_ssize_t n,
                            PyObject *kwnames) {
    static const char *const names[] = {"key", "value", "time", NULL};
    PyObject *a[3];
    if (n == 1 && !kwnames) return filter_add_key(s, args[0]);
    if (!ebpy_arguments("add", args, n, kwnames, names, 1, a)) return NULL;
    return filter_keys(s, FILTER_ADD, FILTER_SEEN, a[0], a[1], a[2]);
}

static PyObject *filter_seen(ebpy_filter *s, PyObject *const *args, Py_ssize_t n,
                             PyObject *kwnames) {
    static const char *const names[] = {"key", "value", "time", NULL};
    PyObject *a[3];
    if (!ebpy_arguments("seen", args, n, kwnames, names, 1, a)) return NULL;
    return filter_keys(s, FILTER_ASK, FILTER_SEEN, a[0], a[1], a[2]);
}

static PyObject *filter_count(ebpy_filter *s, PyObject *const *args, Py_ssize_t n,
                              PyObject *kwnames) {
    static const char *const names[] = {"key", "time", NULL};
    PyObject *a[2];
    double count;
    if (!ebpy_arguments("count", args, n, kwnames, names, 1, a)) return NULL;
    const int is = a[1] ? -2 : filter_ask_key(s, a[0], &count);
    if (is != -2) return is < 0 ? NULL : PyFloat_FromDouble(count);
    return filter_keys(s, FILTER_ASK, FILTER_COUNT, a[0], NULL, a[1]);
}

static PyObject *filter_remove(ebpy_filter *s, PyObject *const *args, Py_ssize_t n,
                               PyObject *kwnames) {
    static const char *const names[] = {"key", "value", "time", NULL};
    PyObject *a[3];
    if (!ebpy_arguments("remove", args, n, kwnames, names, 1, a)) return NULL;
    return filter_keys(s, FILTER_REMOVE, FILTER_NOTHING, a[0], a[1], a[2]);
}

/* Iterators are read in pieces: they may be longer than memory. */
enum { FILTER_PIECE = 1 << 16 };
static PyObject *filter_update_by_pieces(ebpy_filter *s, PyObject *iterator, PyObject *value,
                                         PyObject *time) {
    bool more = true;
    while (more) {
        PyObject *const list = PyList_New(0), *item = NULL;
        bool good = list != NULL;
        for (int i = 0; i < FILTER_PIECE && good && (more = (item = PyIter_Next(iterator)) != NULL);
             i++) {
            good = PyList_Append(list, item) == 0;
            Py_DECREF(item);
        }
        good = good && !PyErr_Occurred();
        PyObject *const none =
            good ? filter_keys(s, FILTER_ADD, FILTER_NOTHING, list, value, time) : NULL;
        Py_XDECREF(list);
        if (!none) return NULL;
        Py_DECREF(none);
    }
    return ebpy_none();
}

static bool filter_is_one_number(PyObject *o) {
    return !o || o == Py_None || PyLong_Check(o) || PyFloat_Check(o);
}

static PyObject *filter_update(ebpy_filter *s, PyObject *const *args, Py_ssize_t n,
                               PyObject *kwnames) {
    static const char *const names[] = {"keys", "value", "time", NULL};
    PyObject *a[3];
    if (!ebpy_arguments("update", args, n, kwnames, names, 1, a)) return NULL;
    if (PyUnicode_Check(a[0]) || PyBytes_Check(a[0]))
        return PyErr_Format(PyExc_TypeError,
                            "update takes a collection of keys: use add for one key"),
               NULL;
    if (PyIter_Check(a[0]) && filter_is_one_number(a[1]) && filter_is_one_number(a[2]))
        return filter_update_by_pieces(s, a[0], a[1], a[2]);
    return filter_keys(s, FILTER_ADD, FILTER_NOTHING, a[0], a[1], a[2]);
}

static PyObject *filter_hashes(ebpy_filter *s, PyObject *keys) {
    ebpy_keys k = {0};
    char text[EBPY_TEXT];
    eb_key key;
    PyObject *hold, *out = NULL;
    const int is = ebpy_key_from(s, keys, text, &key, &hold);
    if (is > 0) {
        k.n = 1;
        k.scalar = true;
        k.keys = eb_keys_array(EB_STRING, &key);
    }
    if ((is > 0 || (is == 0 && ebpy_keys_from(s, keys, &k))) && ebpy_keys_hash(s, &k))
        out =
            PyByteArray_FromStringAndSize((const char *)k.hash, (Py_ssize_t)(k.n * sizeof *k.hash));
    const bool scalar = k.scalar;
    ebpy_keys_free(&k);
    Py_XDECREF(hold);
    return out ? ebpy_array(out, 'Q', scalar) : NULL;
}

static PyObject *filter_stats(ebpy_filter *s, PyObject *const *args, Py_ssize_t n,
                              PyObject *kwnames) {
    static const char *const names[] = {"cells", NULL};
    PyObject *a[1];
    eb_stats stats;
    eb_error err;
    eb_status status;
    EB_INIT(stats);
    if (!ebpy_arguments("stats", args, n, kwnames, names, 0, a)) return NULL;
    const int cells = a[0] ? PyObject_IsTrue(a[0]) : 1;
    if (cells < 0 || !ebpy_begin_read(s)) return NULL;
    FILTER_WITHOUT_LOCK(eb_stat(s->f, cells ? EB_STAT_CELLS : 0, &stats, &err));
    ebpy_end_read(s);
    return status ? ebpy_raise(status, &err) : ebpy_stats(&stats);
}

/* ---- Properties. */
static PyObject *filter_get_spec(ebpy_filter *s, void *unused) {
    (void)unused;
    return ebpy_spec(s->f);
}
static PyObject *filter_get_caps(ebpy_filter *s, void *unused) {
    (void)unused;
    return ebpy_caps(s->caps);
}
static PyObject *filter_get_keys(ebpy_filter *s, void *unused) {
    static const char *const names[] = {"", "text", "bytes", "i64", "u64"};
    (void)unused;
    return PyUnicode_FromString(names[s->keys <= EB_U64 ? s->keys : 0]);
}
static PyObject *filter_get_shards(ebpy_filter *s, void *unused) {
    (void)unused;
    return PyLong_FromUnsignedLong(eb_shards(s->f));
}
static PyGetSetDef filter_properties[] = {
    {"spec", (getter)filter_get_spec, NULL,
     "The canonical spec: everything that shapes the filter.", NULL},
    {"caps", (getter)filter_get_caps, NULL,
     "What the filter can do: a frozenset such as {'count', 'merge'}.", NULL},
    {"keys", (getter)filter_get_keys, NULL, "What its keys are: 'text', 'bytes', 'i64' or 'u64'.",
     NULL},
    {"shards", (getter)filter_get_shards, NULL, "The number of shards.", NULL},
    {0}};

#define FILTER_FAST(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL | METH_KEYWORDS

static char filter_doc[] =
    "Filter(spec, **options)\n--\n\n"
    "A filter, made from a spec such as \"lru:memory=64M\"; options may be given by name.\n\n"
    ">>> f = Filter(\"bloom\", distinct=1000, fpr=0.001)\n"
    ">>> f.add(\"apple\")   # was it there before?\n"
    "False\n"
    ">>> f.add(\"apple\"), \"apple\" in f, \"pear\" in f\n"
    "(True, True, False)\n";
PyDoc_STRVAR(
    filter_add_doc,
    "add($self, key, value=None, time=None)\n--\n\n"
    "Add a key, or a collection of keys: was it (probably) there before?\n\n"
    "A collection is added as a batch, and the answer is an array.  A call that fails adds\n"
    "nothing.  value: multiplicity, importance or class; time: a number in the filter's unit,\n"
    "or a date, which becomes milliseconds since 1970.\n\n"
    ">>> f = Filter(\"lru:memory=1M\")\n"
    ">>> f.add(\"a\"), f.add(\"a\")\n"
    "(False, True)\n"
    ">>> list(map(bool, f.add([\"a\", \"b\", b\"b\", 42, \"42\"])))\n"
    "[True, False, True, False, True]\n");
PyDoc_STRVAR(filter_update_doc,
             "update($self, keys, value=None, time=None)\n--\n\n"
             "Add all keys of a collection or an iterator, without answers.  Iterators are read\n"
             "in pieces of 65536 keys, of which a failing piece is not added.\n\n"
             ">>> f = Filter(\"spectral:memory=64K\")\n"
             ">>> f.update(word for word in \"to be or not to be\".split())\n"
             ">>> f.count(\"be\")\n"
             "2.0\n");
PyDoc_STRVAR(filter_seen_doc, "seen($self, key, value=None, time=None)\n--\n\n"
                              "Is a key, or are the keys of a collection, (probably) there?\n\n"
                              ">>> f = Filter(\"bloom:memory=1K,k=5\")\n"
                              ">>> f.update([\"a\", \"b\"])\n"
                              ">>> list(map(bool, f.seen([\"a\", \"c\"])))\n"
                              "[True, False]\n");
PyDoc_STRVAR(filter_count_doc,
             "count($self, key, time=None)\n--\n\n"
             "How often was a key, or each key of a collection, added?  Never too low, unless\n"
             "counts fade; inf if its counters are full.  time: the moment asked about.\n\n"
             ">>> f = Filter(\"spectral:memory=64K\")\n"
             ">>> f.update([\"a\", \"b\", \"a\"])\n"
             ">>> f.count(\"a\"), list(map(float, f.count([\"b\", \"c\"])))\n"
             "(2.0, [1.0, 0.0])\n");
PyDoc_STRVAR(filter_remove_doc,
             "remove($self, key, value=None, time=None)\n--\n\n"
             "Take out a key, or the keys of a collection, that were added before.\n\n"
             ">>> f = Filter(\"spectral:memory=64K,update=plain\")\n"
             ">>> f.update([\"a\", \"a\"])\n"
             ">>> f.remove(\"a\")\n"
             ">>> f.count(\"a\")\n"
             "1.0\n");
PyDoc_STRVAR(filter_merge_doc,
             "merge($self, other, weight=1)\n--\n\n"
             "Add the keys of another filter with an equal spec, weight times; a negative weight "
             "subtracts.\n\n"
             ">>> a, b = Filter(\"bloom:memory=1K,k=5\"), Filter(\"bloom:memory=1K,k=5\")\n"
             ">>> b.update([\"x\"])\n"
             ">>> a.merge(b)\n"
             ">>> \"x\" in a\n"
             "True\n");

static PyMethodDef filter_methods[] = {
    {"add", FILTER_FAST(filter_add), filter_add_doc},
    {"_add_one", (PyCFunction)filter_add_one, METH_O, NULL},
    {"update", FILTER_FAST(filter_update), filter_update_doc},
    {"seen", FILTER_FAST(filter_seen), filter_seen_doc},
    {"count", FILTER_FAST(filter_count), filter_count_doc},
    {"remove", FILTER_FAST(filter_remove), filter_remove_doc},
    {"merge", FILTER_FAST(filter_merge), filter_merge_doc},
    {"clear", (PyCFunction)filter_clear, METH_NOARGS,
     "clear($self)\n--\n\nForget everything: back to the empty filter."},
    {"advance", (PyCFunction)filter_advance, METH_O,
     "advance($self, time)\n--\n\nLet time pass without a key."},
    {"copy", (PyCFunction)filter_copy, METH_NOARGS,
     "copy($self)\n--\n\nAn independent copy; the copy of a view can be changed."},
    {"dumps", (PyCFunction)filter_dumps, METH_NOARGS, "dumps($self)\n--\n\nA snapshot, as bytes."},
    {"loads", (PyCFunction)filter_loads, METH_O | METH_CLASS,
     "loads($type, snapshot)\n--\n\nThe filter of a snapshot.  All bytes are checked: they may "
     "come from "
     "anyone."},
    {"_view", (PyCFunction)filter_view, METH_VARARGS | METH_CLASS, NULL},
    {"hashes", (PyCFunction)filter_hashes, METH_O,
     "hashes($self, keys)\n--\n\nThe 64-bit hashes that the filter makes of keys."},
    {"stats", FILTER_FAST(filter_stats),
     "stats($self, cells=True)\n--\n\nWhat the filter holds.  Without cells it is quick, and what "
     "needs a "
     "look at all cells is "
     "nan or None."},
    {0}};

bool ebpy_filter_add_type(PyObject *module) {
    static PyMethodDef all[48];
    size_t n = 0;
    for (const PyMethodDef *m = filter_methods; m->ml_name; m++) all[n++] = *m;
    for (const PyMethodDef *m = ebpy_query_methods; m->ml_name; m++) all[n++] = *m;
    PyType_Slot slots[] = {{Py_tp_new, (void *)filter_new},
                           {Py_tp_dealloc, (void *)filter_dealloc},
                           {Py_tp_methods, all},
                           {Py_tp_getset, filter_properties},
                           {Py_sq_contains, (void *)filter_contains},
                           {Py_tp_doc, filter_doc},
                           {0, NULL}};
    PyType_Spec spec = {"everbloom._everbloom.Filter", sizeof(ebpy_filter), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    ebpy_filter_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!ebpy_filter_type) return false;
    Py_INCREF(ebpy_filter_type);
    return PyModule_AddObject(module, "Filter", (PyObject *)ebpy_filter_type) == 0;
}
