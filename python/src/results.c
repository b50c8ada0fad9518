/* results.c - tuples with named fields, which the functions return. */
#include "ebpy.h"
#include <math.h>
#include <stdarg.h>

#define F(name, doc)                                                                               \
    { (char *)name, (char *)doc }
static PyStructSequence_Field results_stats[] = {
    F("adds", "keys added, repeats included"),
    F("new_keys", "adds whose key was not seen before; None: not known"),
    F("bytes", "of memory, in total"),
    F("clock", "the latest time"),
    F("capacity", "full, or grows, when new_keys reaches it; None: never"),
    F("parts", "of a filter that grows; otherwise 1"),
    F("halflife", "time in which counts fade to half; 0: they do not"),
    F("too_low", "counts that fade may be too low by this much"),
    F("too_high", "counts that fade may be too high by this fraction, besides collisions"),
    F("window", "no key of the last `window` (time or adds) was forgotten; 0: no promise"),
    F("cells", "of the filter; None: not asked for"),
    F("cells_used", "None: not asked for"),
    F("saturated", "counters that have overflowed; None: not asked for"),
    F("fpr", "false-positive rate now, computed from the cells"),
    {0}};
static PyStructSequence_Field results_estimate[] = {
    F("count", "estimate"),
    F("lower", "bound, with probability `confidence`"),
    F("upper", "certain bound"),
    F("confidence", "of the lower bound"),
    {0}};
static PyStructSequence_Field results_sum[] = {F("sum", "estimate, right on average"),
                                               F("error", "its standard error"),
                                               F("median", "better if a few keys dominate"),
                                               F("upper", "certain bound"),
                                               {0}};
static PyStructSequence_Field results_range[] = {
    F("lower", "certain bound"), F("upper", "certain bound"), {0}};
static PyStructSequence_Field results_quantile[] = {
    F("value", "best guess"), F("lower", "certain bound"), F("upper", "certain bound"), {0}};
static PyStructSequence_Field results_join[] = {F("join", "estimate, right on average"),
                                                F("error", "its standard error"),
                                                F("upper", "certain bound"),
                                                {0}};
static PyStructSequence_Field results_prediction[] = {
    F("items", "position in the stream"),
    F("fpr", "chance that the next key is reported as seen, though it is new"),
    F("fnr", "chance that a repeat is reported as new"),
    F("fill", "fraction of cells in use"),
    F("mean_fpr", "fpr over the whole stream so far"),
    F("mean_fnr", "fnr over the whole stream so far"),
    F("fpr_low", "mean_fpr is at least this"),
    F("fpr_high", "mean_fpr is at most this"),
    F("fnr_low", "mean_fnr is at least this"),
    F("fnr_high", "mean_fnr is at most this"),
    F("settles_after", "items until the rates stop moving; 0: never"),
    F("wrong", "kinds that count: share of keys whose count is wrong"),
    F("error", "root of the mean square error of counts"),
    F("error_bound", "but for a share e^-k counts are off by less"),
    F("bits", "that a counter needs in its store"),
    {0}};
static PyStructSequence_Field results_offer[] = {
    F("spec", "canonical"),
    F("kind", "its name"),
    F("bytes", "of memory"),
    F("mean_fpr", "new keys reported as seen"),
    F("mean_fnr", "repeats reported as new"),
    F("lines", "cache lines that a key touches, about"),
    F("error", "of counts: root of the mean square"),
    {0}};
static PyStructSequence_Field results_kind[] = {
    F("name", "first word of a spec"),
    F("question", "what it answers; None: kept as published"),
    F("summary", "one line"),
    F("paper", "where it comes from"),
    F("caps", "what it can do, with default options"),
    F("options", "what a spec may say"),
    {0}};
static PyStructSequence_Field results_option[] = {F("key", "name"),
                                                  F("type", "of the value"),
                                                  F("default", "as text, or None"),
                                                  F("min", "as text, or None"),
                                                  F("max", "as text, or None"),
                                                  F("help", "one line"),
                                                  {0}};
static PyStructSequence_Field results_spec[] = {
    F("canonical", "the spec with all that shapes the filter"),
    F("kind", "its name"),
    F("bytes", "of memory that a filter takes"),
    F("snapshot_bytes", "of a snapshot"),
    F("shards", "of the filter"),
    F("caps", "what the filter can do"),
    {0}};
#undef F

static PyStructSequence_Desc results_desc[EBPY_RESULTS] = {
    [EBPY_STATS] = {"everbloom.Stats", "What a filter holds.", results_stats, 14},
    [EBPY_ESTIMATE] = {"everbloom.Estimate", "A count with its bounds.", results_estimate, 4},
    [EBPY_SUM] = {"everbloom.Sum", "The sum of the counts of several keys.", results_sum, 4},
    [EBPY_RANGE] = {"everbloom.Range", "How many keys lie in a range.", results_range, 2},
    [EBPY_QUANTILE] = {"everbloom.Quantile", "A quantile with its bounds.", results_quantile, 3},
    [EBPY_JOIN] = {"everbloom.Join", "The size of a join.", results_join, 3},
    [EBPY_PREDICTION] = {"everbloom.Prediction",
                         "What mathematics says of a filter after so many keys.",
                         results_prediction, 15},
    [EBPY_OFFER] = {"everbloom.Offer", "A filter that keeps the bounds of a plan.", results_offer,
                    7},
    [EBPY_KIND] = {"everbloom.Kind", "A kind of filter.", results_kind, 6},
    [EBPY_OPTION] = {"everbloom.Option", "An option of a kind.", results_option, 6},
    [EBPY_SPEC] = {"everbloom.Spec", "What a spec costs and can do.", results_spec, 6}};
static PyTypeObject *results_type[EBPY_RESULTS];

bool ebpy_results_add(PyObject *module) {
    for (int i = 0; i < EBPY_RESULTS; i++) {
        if (!(results_type[i] = PyStructSequence_NewType(&results_desc[i]))) return false;
        Py_INCREF(results_type[i]);
        if (PyModule_AddObject(module, results_desc[i].name + sizeof "everbloom." - 1,
                               (PyObject *)results_type[i]))
            return false;
    }
    return true;
}

PyObject *ebpy_result_make(ebpy_result which, const char *format, ...) {
    va_list args;
    va_start(args, format);
    PyObject *const tuple = Py_VaBuildValue(format, args), *const out =
                                                               tuple ? PyStructSequence_New(
                                                                           results_type[which])
                                                                     : NULL;
    va_end(args);
    for (Py_ssize_t i = 0; out && i < PyTuple_Size(tuple); i++) {
        PyObject *const item = PyTuple_GetItem(tuple, i);
        Py_INCREF(item);
        PyStructSequence_SetItem(out, i, item);
    }
    Py_XDECREF(tuple);
    return out;
}

static PyObject *results_maybe(uint64_t x) {
    if (x == EB_UNKNOWN) return ebpy_none();
    return PyLong_FromUnsignedLongLong(x);
}

PyObject *ebpy_stats(const eb_stats *s) {
    return ebpy_result_make(EBPY_STATS, "(KNKKNKddddNNNd)", s->adds, results_maybe(s->new_keys),
                            s->bytes, s->clock, results_maybe(s->capacity), s->parts, s->halflife,
                            s->too_low, s->too_high, s->window, results_maybe(s->cells),
                            results_maybe(s->cells_used), results_maybe(s->saturated), s->fpr);
}

PyObject *ebpy_caps(uint64_t caps) {
    static const struct {
        uint64_t bit;
        const char *name;
    } names[] = {{EB_CAN_COUNT, "count"},
                 {EB_CAN_REMOVE, "remove"},
                 {EB_CAN_MERGE, "merge"},
                 {EB_CAN_SCALE, "scale"},
                 {EB_NO_FALSE_NEGATIVES, "no_false_negatives"},
                 {EB_ADD_IS_IDEMPOTENT, "idempotent"},
                 {EB_USES_TIME, "time"},
                 {EB_USES_VALUE, "value"},
                 {EB_FORGETS, "forgets"},
                 {EB_KEYS_ARE_NUMBERS, "numbers"},
                 {EB_KEEPS_KEYS, "keeps_keys"},
                 {EB_GROWS, "grows"},
                 {EB_ORDER_FREE, "order_free"}};
    PyObject *const list = PyList_New(0);
    for (size_t i = 0; list && i < sizeof names / sizeof *names; i++) {
        PyObject *const name = caps & names[i].bit ? PyUnicode_FromString(names[i].name) : NULL;
        if (name) PyList_Append(list, name);
        Py_XDECREF(name);
    }
    PyObject *const set = list && !PyErr_Occurred() ? PyFrozenSet_New(list) : NULL;
    Py_XDECREF(list);
    return set;
}
