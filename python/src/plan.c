/* plan.c - what mathematics says: predictions, curves and plans. */
#include "ebpy.h"
#include <stdlib.h>
#include <string.h>

/* (items, distinct, zipf, gap, rate, value, order) */
static bool plan_workload(PyObject *tuple, eb_workload *w) {
    EB_INIT(*w);
    return PyArg_ParseTuple(tuple, "ddddddI", &w->items, &w->distinct, &w->zipf, &w->gap, &w->rate,
                            &w->value, &w->order);
}

static PyObject *plan_point(const eb_prediction *p) {
    return ebpy_result_make(EBPY_PREDICTION, "(ddddddddddddddd)", p->items, p->fpr, p->fnr, p->fill,
                            p->mean_fpr, p->mean_fnr, p->fpr_low, p->fpr_high, p->fnr_low,
                            p->fnr_high, p->settles_after, p->wrong, p->error, p->error_bound,
                            p->bits);
}

static PyObject *plan_points(const eb_prediction *p, size_t n) {
    PyObject *const list = PyList_New(0);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *const point = plan_point(&p[i]);
        if (point) PyList_Append(list, point);
        Py_XDECREF(point);
    }
    return list;
}

/* _predict(spec, workload, positions): a list of predictions; without positions, of one. */
PyObject *ebpy_predict(PyObject *module, PyObject *args) {
    const char *spec;
    PyObject *load, *positions, *out = NULL;
    eb_workload w;
    eb_error err;
    eb_status status;
    (void)module;
    if (!PyArg_ParseTuple(args, "sO!O!", &spec, &PyTuple_Type, &load, &PyTuple_Type, &positions) ||
        !plan_workload(load, &w))
        return NULL;
    const size_t given = (size_t)PyTuple_Size(positions), n = given ? given : 1;
    double *const at = calloc(n, sizeof *at);
    eb_prediction *const p = calloc(n, sizeof *p);
    if (!at || !p) PyErr_NoMemory();
    for (size_t i = 0; i < n && at && p; i++) {
        p[i].size = sizeof *p;
        if (given) at[i] = PyFloat_AsDouble(PyTuple_GetItem(positions, (Py_ssize_t)i));
    }
    if (!PyErr_Occurred()) {
        Py_BEGIN_ALLOW_THREADS;
        status = eb_predict(spec, &w, given ? at : NULL, n, p, &err);
        Py_END_ALLOW_THREADS;
        out = status ? ebpy_raise(status, &err) : plan_points(p, n);
    }
    free(at);
    free(p);
    return out;
}

/* _plan(workload, max_bytes, max_fpr, max_fnr, window, caps, prefer, all_kinds, options): a list of
 * offers. */
enum { PLAN_OFFERS = 64 };
PyObject *ebpy_plan(PyObject *module, PyObject *args) {
    PyObject *load, *list = NULL;
    eb_workload w;
    eb_goal g;
    eb_error err;
    eb_status status;
    size_t n = 0;
    unsigned long long caps;
    (void)module;
    EB_INIT(g);
    if (!PyArg_ParseTuple(args, "O!ddddKIIz", &PyTuple_Type, &load, &g.max_bytes, &g.max_fpr,
                          &g.max_fnr, &g.window, &caps, &g.prefer, &g.all_kinds, &g.options) ||
        !plan_workload(load, &w))
        return NULL;
    g.load = &w;
    g.caps = caps;
    eb_offer *const offer = calloc(PLAN_OFFERS, sizeof *offer);
    if (!offer) return PyErr_NoMemory();
    for (int i = 0; i < PLAN_OFFERS; i++) offer[i].size = sizeof *offer;
    Py_BEGIN_ALLOW_THREADS;
    status = eb_plan(&g, offer, PLAN_OFFERS, &n, &err);
    Py_END_ALLOW_THREADS;
    if (status)
        ebpy_raise(status, &err);
    else
        list = PyList_New(0);
    for (size_t i = 0; i < n && list; i++) {
        const eb_offer *const o = &offer[i];
        PyObject *const one =
            ebpy_result_make(EBPY_OFFER, "(ssddddd)", o->spec, o->kind->name, o->bytes, o->mean_fpr,
                             o->mean_fnr, o->lines, o->error);
        if (one) PyList_Append(list, one);
        Py_XDECREF(one);
    }
    free(offer);
    return list;
}
