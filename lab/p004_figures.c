/* p004_figures.c - Figures 6, 8 and 9 and the order of arrival: 1000 keys, 100000
 * records by Zipf's law.  The report's figures have no numbers to read off, so
 * what is expected comes from simulations made apart from this library. */
#include "paper_004.h"
#include <math.h>

typedef struct fig_row {
    p004_policy policy;
    double gamma, theta;
    unsigned k;
    p004_order order;
    p004_phases phases;
    double ratio, ratio_sd, size, size_sd, low; /* NAN: not known; sd 0: as measured */
} fig_row;

static p004_result fig_run(const lab_options *o, const fig_row *r) {
    p004_case c = p004_usual(r->policy, r->gamma, r->theta);
    c.size = p004_size_of(r->policy, c.keys, r->k, r->gamma);
    c.order = r->order;
    c.phases = r->phases;
    return p004_run(o, &c);
}

static bool fig_promises(p004_policy policy) { /* never too low */
    return policy == P004_MS || policy == P004_MI || policy == P004_RMX;
}

/* Small numbers have most of their mean in few runs: what was measured may spread more. */
static void fig_cell(lab_options *o, lab_table *t, const char *name, const char *what,
                     double expected, double sd, double got, double got_sd, int digits) {
    char text[120];
    snprintf(text, sizeof text, "%s, %s", name, what);
    p004_cell_row(o, t, text, &(p004_cell){NAN, expected, fmax(sd, got_sd), got, got_sd, digits});
}

static void fig_print(lab_options *o, lab_table *t, const char *at, const fig_row *r) {
    const p004_result got = fig_run(o, r);
    char name[80];
    snprintf(name, sizeof name, "%s %s", at, p004_names[r->policy]);
    fig_cell(o, t, name, "E_ratio", r->ratio, r->ratio_sd, got.mean.ratio, got.sd.ratio, 4);
    fig_cell(o, t, name, "E_add", r->size, r->size_sd, got.mean.size, got.sd.size, 2);
    if (fig_promises(r->policy))
        lab_promise(o, got.mean.low == 0, "%s is never too low", name);
    else
        fig_cell(o, t, name, "too low", r->low, 0, got.mean.low, got.sd.low, 4);
}

typedef struct fig_pair {
    double ratio, ratio_sd, size, size_sd;
} fig_pair;

/* Figure 6 a, b: gamma */

enum { FIG6_POLICIES = 6 };
static const p004_policy fig6_policy[FIG6_POLICIES] = {P004_MS,    P004_MI,         P004_RM,
                                                       P004_RM_BF, P004_RM_BF_STAR, P004_RMX};
static const struct {
    double gamma;
    fig_pair of[FIG6_POLICIES];
} fig6[] = {
    {.25,
     {{.0006, .0007, .94, 0},
      {.0003, 0, .05, 0},
      {.0028, .0018, .74, 0},
      {.0015, 0, .09, 0},
      {.0015, 0, .09, 0},
      {.0002, 0, .01, 0}}},
    {.5,
     {{.0096, .0028, 5.80, .86},
      {.0052, .0019, .54, .28},
      {.0355, .0060, 3.07, 0},
      {.0216, .0052, .92, 0},
      {.0213, .0050, .44, 0},
      {.0043, .0020, .13, 0}}},
    {.7,
     {{.0321, .0057, 11.26, 1.21},
      {.0183, .0049, 1.26, .39},
      {.1225, .0117, 12.8, 1.4},
      {.0884, .0099, 12.2, 0},
      {.0629, .0071, 5.5, 0},
      {.0165, .0047, .32, .10}}},
    {1,
     {{.1012, .0092, 21.3, 1.2},
      {.0629, .0076, 2.64, .47},
      {.4632, .0192, 54.4, 0},
      {.4371, 0, 57.6, 0},
      {.2209, .0108, 24.7, 0},
      {.0506, .0060, .60, 0}}},
    {1.5,
     {{.2847, .0116, 41.4, 1.4},
      {.1979, .0097, 6.21, .50},
      {.870, 0, 168, 0},
      {.886, 0, 180, 0},
      {.553, 0, 65.9, 0},
      {.1517, .0093, 1.26, 0}}},
    {2,
     {{.4861, .0160, 64.8, 2.0},
      {.3732, .0175, 11.3, .7},
      {.972, 0, 286, 0},
      {.981, 0, 298, 0},
      {.771, 0, 109, 0},
      {.2723, .0138, 1.79, 0}}},
};

static void fig6_gamma(lab_options *o) {
    lab_table *const t = p004_cells_new("gamma");
    for (size_t g = 0; g < sizeof fig6 / sizeof *fig6; g++)
        for (int i = 0; i < FIG6_POLICIES; i++) {
            const fig_pair e = fig6[g].of[i];
            char at[20];
            snprintf(at, sizeof at, "%g", fig6[g].gamma);
            fig_print(o, t, at,
                      &(fig_row){fig6_policy[i], fig6[g].gamma, .5, 5, P004_MIXED, P004_INSERTS,
                                 e.ratio, e.ratio_sd, e.size, e.size_sd, NAN});
        }
    lab_table_print(t, o);
}

/* Figure 6 c: k */

static void fig6_k(lab_options *o) {
    static const double ms[] = {136.6, 48.6, 27.0, 16.7, 11.3, 7.7, 5.3, 3.8};
    static const double mi[] = {136.6, 17.6, 5.3, 2.5, 1.26, .66, .41, .25};
    static const double wrong[] = {.504, .210, .089, .040, .018, .0088, .0042, .0023};
    lab_table *const t = p004_cells_new("k");
    for (unsigned k = 1; k <= 8; k++) {
        char at[20];
        snprintf(at, sizeof at, "%u", k);
        fig_print(
            o, t, at,
            &(fig_row){P004_MS, .7, .5, k, P004_MIXED, P004_INSERTS, NAN, 0, ms[k - 1], 0, 0});
        fig_print(o, t, at,
                  &(fig_row){P004_MI, .7, .5, k, P004_MIXED, P004_INSERTS, wrong[k - 1], 0,
                             mi[k - 1], 0, 0});
    }
    lab_table_print(t, o);
}

void p004_run_figure6(lab_options *o) {
    lab_say(o, "Figures 6a and 6b: the counters become scarce (k = 5, skew 0.5).");
    fig6_gamma(o);
    lab_say(o, "Figure 6c: more counters for a key, gamma = 0.7.");
    fig6_k(o);
}

static void fig_rows(lab_options *o, const char *what, const fig_row *rows, size_t n) {
    lab_table *const t = p004_cells_new(what);
    for (size_t i = 0; i < n; i++) {
        char at[20];
        snprintf(at, sizeof at, "%g", rows[i].theta);
        fig_print(o, t, at, &rows[i]);
    }
    lab_table_print(t, o);
}

/* Figure 8: skew, without and with deletions */

#define INS P004_MIXED, P004_INSERTS
#define DEL P004_MIXED, P004_DELETIONS
#define WIN P004_MIXED, P004_WINDOW
static const fig_row fig8_inserts[] = {
    {P004_MS, .7, 0, 5, INS, .0321, .0057, 17.9, 1.6, 0},
    {P004_MI, .7, 0, 5, INS, .0283, .0058, .90, .17, 0},
    {P004_RMX, .7, 0, 5, INS, .0163, .0034, .32, 0, 0},
    {P004_MS, .7, .5, 5, INS, .0321, .0057, 11.3, 1.2, 0},
    {P004_MI, .7, .5, 5, INS, .0183, .0049, 1.26, .39, 0},
    {P004_RMX, .7, .5, 5, INS, .0165, .0047, .32, .10, 0},
    {P004_MS, .7, 1, 5, INS, .0321, .0057, 3.74, .53, 0},
    {P004_MI, .7, 1, 5, INS, .0150, .0041, .81, .32, 0},
    {P004_RMX, .7, 1, 5, INS, .0137, .0045, .32, 0, 0},
    {P004_MS, .7, 1.5, 5, INS, .0321, .0057, .46, .10, 0},
    {P004_MI, .7, 1.5, 5, INS, .0099, .0033, .18, .08, 0},
    {P004_RMX, .7, 1.5, 5, INS, .0140, .0040, .21, 0, 0},
    {P004_MS, .7, 2, 5, INS, .0321, .0057, .18, .02, 0},
    {P004_MI, .7, 2, 5, INS, .0066, .0024, .08, .02, 0},
    {P004_RMX, .7, 2, 5, INS, .0220, .0049, .15, 0, 0},
};
static const fig_row fig8_deletions[] = {
    {P004_MS, .7, 0, 5, DEL, .0268, .0047, 9.9, 0, 0},
    {P004_MI_LOWERED, .7, 0, 5, DEL, .620, 0, 48.2, 0, .617},
    {P004_RM, .7, 0, 5, DEL, .207, 0, 19.5, 0, .114},
    {P004_RMX, .7, 0, 5, DEL, NAN, 0, NAN, 0, 0},
    {P004_MS, .7, .5, 5, DEL, .0268, .0047, 6.8, 0, 0},
    {P004_MI_LOWERED, .7, .5, 5, DEL, .602, .013, 40.7, 1.9, .598},
    {P004_RM, .7, .5, 5, DEL, .201, .015, 11.3, 0, .116},
    {P004_RMX, .7, .5, 5, DEL, NAN, 0, NAN, 0, 0},
    {P004_MS, .7, 1, 5, DEL, .0262, 0, 2.3, 0, 0},
    {P004_MI_LOWERED, .7, 1, 5, DEL, .549, 0, 26, 0, .545},
    {P004_RM, .7, 1, 5, DEL, .191, 0, 18, 0, .107},
    {P004_RMX, .7, 1, 5, DEL, NAN, 0, NAN, 0, 0},
    {P004_MS, .7, 1.5, 5, DEL, .0195, 0, .28, 0, 0},
    {P004_MI_LOWERED, .7, 1.5, 5, DEL, .365, 0, 13, 0, .361},
    {P004_RM, .7, 1.5, 5, DEL, .102, 0, 67, 67, .036},
    {P004_RMX, .7, 1.5, 5, DEL, NAN, 0, NAN, 0, 0},
    {P004_MS, .7, 2, 5, DEL, .0137, 0, .12, 0, 0},
    {P004_MI_LOWERED, .7, 2, 5, DEL, .275, 0, 6, 0, .273},
    {P004_RM, .7, 2, 5, DEL, .061, 0, 34, 34, .004},
    {P004_RMX, .7, 2, 5, DEL, NAN, 0, NAN, 0, 0},
};

void p004_run_figure8(lab_options *o) {
    lab_say(o, "Figure 8, full lines: inserts only, by skew (gamma = 0.7, k = 5).");
    fig_rows(o, "skew", fig8_inserts, sizeof fig8_inserts / sizeof *fig8_inserts);
    lab_say(o,
            "Figure 8, dotted lines: ten phases, after each a twentieth of the keys is deleted.");
    fig_rows(o, "skew", fig8_deletions, sizeof fig8_deletions / sizeof *fig8_deletions);
}

/* Figure 9: a window over the last fifth */

void p004_run_figure9(lab_options *o) {
    static const fig_row rows[] = {
        {P004_MS, .7, .5, 5, WIN, .0321, .0057, 2.11, .25, 0},
        {P004_MI_LOWERED, .7, .5, 5, WIN, .969, .006, 25.6, 1.0, NAN},
        {P004_RM, .7, .5, 5, WIN, .127, .013, 3.18, 0, .044},
        {P004_RM_BF_STAR, .7, .5, 5, WIN, .063, 0, 1.20, 0, NAN},
        {P004_RMX, .7, .5, 5, WIN, .0165, .0047, .31, .09, 0},
        {P004_MS, .7, 1, 5, WIN, .0307, 0, .68, 0, 0},
        {P004_MI_LOWERED, .7, 1, 5, WIN, .946, 0, 31, 0, NAN},
        {P004_RM, .7, 1, 5, WIN, .178, 0, 5.9, 0, .049},
        {P004_RMX, .7, 1, 5, WIN, .0111, 0, .17, 0, 0},
    };
    lab_say(o, "Figure 9: only the last fifth of the records stays, by skew (gamma = 0.7, k = 5).");
    fig_rows(o, "skew", rows, sizeof rows / sizeof *rows);
}

/* The order of arrival */

void p004_run_orders(lab_options *o) {
    static const struct {
        const char *name;
        fig_row row;
    } rows[] = {
        {"mixed", {P004_MI, .7, .5, 5, P004_MIXED, P004_INSERTS, .0183, .0049, 1.26, .39, 0}},
        {"mixed", {P004_RMX, .7, .5, 5, P004_MIXED, P004_INSERTS, .0165, .0047, .32, .10, 0}},
        {"grouped", {P004_MI, .7, .5, 5, P004_GROUPED, P004_INSERTS, .0071, 0, 5.4, 0, 0}},
        {"grouped", {P004_RMX, .7, .5, 5, P004_GROUPED, P004_INSERTS, .0256, 0, 10.0, 0, 0}},
        {"round robin", {P004_MI, .7, .5, 5, P004_ROUND_ROBIN, P004_INSERTS, .0071, 0, .94, 0, 0}},
        {"round robin", {P004_RMX, .7, .5, 5, P004_ROUND_ROBIN, P004_INSERTS, .0256, 0, 9.5, 0, 0}},
        {"palindrome", {P004_MI, .7, .5, 5, P004_PALINDROME, P004_INSERTS, .0248, 0, 3.1, 0, 0}},
        {"palindrome", {P004_RMX, .7, .5, 5, P004_PALINDROME, P004_INSERTS, .0256, 0, 8.3, 0, 0}},
        {"grouped", {P004_MS, .7, .5, 5, P004_GROUPED, P004_INSERTS, .0321, .0057, 11.26, 1.21, 0}},
    };
    lab_table *const t = p004_cells_new("order");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fig_print(o, t, rows[i].name, &rows[i].row);
    lab_table_print(t, o);
}

/* All of these as curves */

static void fig_curve(const lab_options *o, const char *figure, const fig_row *r, double x) {
    const p004_result got = fig_run(o, r);
    printf("%s,%s,%g,%.6f,%.6f,%.6f\n", figure, p004_names[r->policy], x, got.mean.ratio,
           got.mean.size, got.mean.low);
}

void p004_run_curves(lab_options *o) {
    static const double gammas[] = {.15, .25, .35, .5, .6, .7, .85, 1, 1.25, 1.5, 2};
    static const p004_policy lowered[] = {P004_MS, P004_MI_LOWERED, P004_RM, P004_RM_BF_STAR,
                                          P004_RMX};
    puts("figure,policy,x,ratio,size,low");
    for (int i = 0; i < FIG6_POLICIES; i++) {
        fig_row r = {fig6_policy[i], .7, .5, 5, P004_MIXED, P004_INSERTS, 0, 0, 0, 0, 0};
        for (size_t g = 0; g < sizeof gammas / sizeof *gammas; g++) {
            r.gamma = gammas[g];
            fig_curve(o, "6a", &r, r.gamma);
        }
        r.gamma = .7;
        for (r.k = 2; r.k <= 8; r.k++) fig_curve(o, "6c", &r, r.k);
        r.k = 5;
        for (r.theta = 0; r.theta < 2.1; r.theta += .25) fig_curve(o, "8", &r, r.theta);
    }
    for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++) {
        fig_row r = {lowered[i], .7, 0, 5, P004_MIXED, P004_DELETIONS, 0, 0, 0, 0, 0};
        for (; r.theta < 2.1; r.theta += .25) fig_curve(o, "8d", &r, r.theta);
        r.phases = P004_WINDOW;
        for (r.theta = 0; r.theta < 2.1; r.theta += .25) fig_curve(o, "9", &r, r.theta);
    }
}
