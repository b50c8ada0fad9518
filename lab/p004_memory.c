/* p004_memory.c - equal memory: what a side table of rmx is worth against more
 * counters for ms or mi.  A counter is taken for 6.9 bits, an entry for 128. */
#include "paper_004.h"
#include <math.h>

#define MEMORY_ENTRY (128 / 6.9)

/* The best k for so many counters. */
static p004_result memory_best(const lab_options *o, p004_policy policy, p004_phases phases,
                               double counters, unsigned *best_k) {
    p004_result best = {.mean = {INFINITY, INFINITY, 0}};
    const unsigned ideal = (unsigned)round(counters / 1000 * log(2));
    for (unsigned k = ideal > 2 ? ideal - 2 : 1; k <= ideal + 3; k++) {
        p004_case c = p004_usual(policy, .7, .5);
        c.size = (p004_size){k, floor(counters / k) * k, 0};
        c.phases = phases;
        const p004_result r = p004_run(o, &c);
        if (r.mean.ratio >= best.mean.ratio) continue;
        best = r;
        *best_k = k;
    }
    return best;
}

/* A table for a twentieth of the keys beside as many counters as are left. */
static p004_result memory_rmx(const lab_options *o, p004_phases phases, double counters) {
    enum { ENTRIES = 56 }; /* of a thousand keys: buckets of eight */
    p004_result best = {.mean = {INFINITY, INFINITY, 0}};
    for (unsigned k = 4; k <= 10; k++) {
        p004_case c = p004_usual(P004_RMX, .7, .5);
        c.size = (p004_size){k, floor((counters - ENTRIES * MEMORY_ENTRY) / k) * k, ENTRIES};
        c.phases = phases;
        const p004_result r = p004_run(o, &c);
        if (r.mean.ratio < best.mean.ratio) best = r;
    }
    return best;
}

typedef struct memory_line {
    double budget; /* times the counters of gamma = 0.7 */
    double ms[2], rmx[2], mi[2], window_ms[2], window_rmx[2];
} memory_line;

static void memory_row(lab_options *o, lab_table *t, double budget, const char *what,
                       const double expected[2], const p004_result *got) {
    char name[80];
    snprintf(name, sizeof name, "%g: %s, E_ratio", budget, what);
    p004_cell_row(o, t, name, &(p004_cell){NAN, expected[0], 0, got->mean.ratio, got->sd.ratio, 4});
    snprintf(name, sizeof name, "%g: %s, E_add", budget, what);
    p004_cell_row(o, t, name, &(p004_cell){NAN, expected[1], 0, got->mean.size, got->sd.size, 2});
}

void p004_run_memory(lab_options *o) {
    static const memory_line lines[] = {
        {1.13, {.0211, 8.8}, {.0216, 1.76}, {.0113, .79}, {.0211, 1.62}, {.0216, .98}},
        {1.25, {.0132, 6.7}, {.0144, .88}, {.0068, .56}, {.0132, 1.22}, {.0144, .64}},
        {1.5, {.0056, 4.2}, {.0055, .29}, {.0029, .29}, {.0056, .73}, {.0055, .23}},
        {2, {.0010, 1.5}, {.0014, .10}, {.0005, .06}, {.0010, .25}, {.0014, .06}},
    };
    lab_table *const t = p004_cells_new("memory");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const memory_line *const l = &lines[i];
        const double counters = l->budget * 5000 / .7;
        unsigned k = 0;
        const p004_result ms = memory_best(o, P004_MS, P004_INSERTS, counters, &k);
        const p004_result mi = memory_best(o, P004_MI, P004_INSERTS, counters, &k);
        const p004_result rmx = memory_rmx(o, P004_INSERTS, counters);
        const p004_result window_ms = memory_best(o, P004_MS, P004_WINDOW, counters, &k);
        const p004_result window_rmx = memory_rmx(o, P004_WINDOW, counters);
        memory_row(o, t, l->budget, "MS, best k", l->ms, &ms);
        memory_row(o, t, l->budget, "RM-X, 5 % entries", l->rmx, &rmx);
        memory_row(o, t, l->budget, "MI, best k", l->mi, &mi);
        memory_row(o, t, l->budget, "MS, window", l->window_ms, &window_ms);
        memory_row(o, t, l->budget, "RM-X, window", l->window_rmx, &window_rmx);
        lab_promise(o, rmx.mean.size < ms.mean.size, "%g: errors of RM-X are smaller than of MS",
                    l->budget);
    }
    lab_table_print(t, o);
}
