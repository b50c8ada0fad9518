/* p000_synthetic.c - the paper's synthetic data at equal P (K = 5, P = 10): importance
 * 1..50 that occurs equally often, in proportion, or in inverse proportion to itself;
 * 10, 30 and 50 % repeats of any earlier key; 200000 records. */
#include "p000_streams.h"
#include <math.h>
#include <stdlib.h>

enum { SYN_LAWS = 3, SYN_SHARES = 3, SYN_STREAMS = SYN_LAWS * SYN_SHARES, SYN_FIFTHS = 5 };
static const char *const syn_laws[SYN_LAWS] = {"equal", "proportional", "inverse"};
static const int syn_shares[SYN_SHARES] = {10, 30, 50};

static p000_tally *syn_measure(const lab_options *o) {
    p000_stream s[SYN_STREAMS];
    for (int i = 0; i < SYN_STREAMS; i++)
        s[i] = (p000_stream){.law = (p000_law)(i / SYN_SHARES),
                             .records = 200000,
                             .fresh = 1 - syn_shares[i % SYN_SHARES] / 100.0,
                             .nearness = 0};
    return p000_measure(o, s, SYN_STREAMS);
}

static const p000_tally *syn_at(const p000_tally *t, int law, int share, p000_kind kind) {
    return &t[(law * SYN_SHARES + share) * P000_KINDS + (int)kind];
}

static double syn_rate(const p000_tally *t, lab_rate r, p000_share share, bool weighted) {
    return 100 * p000_rate(t, r, share, weighted, 1, P000_HIGH);
}

static double syn_fifth(const p000_tally *t, lab_rate r, int fifth) {
    return p000_rate(t, r, P000_OF_OWN, false, 10 * fifth + 1, 10 * fifth + 10);
}

static double syn_fifth_error(const p000_tally *t, lab_rate r, int fifth) {
    return p000_rate_error(t, r, P000_OF_OWN, false, 10 * fifth + 1, 10 * fifth + 10);
}

/* All rates */

static void syn_row(lab_table *out, const p000_tally *t, int law, int share, p000_kind k) {
    const p000_tally *c = syn_at(t, law, share, k);
    char text[2][80];
    for (p000_share s = P000_OF_ALL; s <= P000_OF_OWN; s++)
        snprintf(text[s], sizeof text[s], "%.2f|%.2f|%.2f|%.2f", syn_rate(c, LAB_FPR, s, false),
                 syn_rate(c, LAB_FNR, s, false), syn_rate(c, LAB_FPR, s, true),
                 syn_rate(c, LAB_FNR, s, true));
    lab_table_row(out, "%d %%|%s|%s|%s|%.3f|%.3f", syn_shares[share], p000_names[k], text[0],
                  text[1], 100 * p000_rate_error(c, LAB_FPR, P000_OF_OWN, false, 1, P000_HIGH),
                  100 * p000_rate_error(c, LAB_FNR, P000_OF_OWN, false, 1, P000_HIGH));
}

static void syn_print_all(const lab_options *o, const p000_tally *t) {
    lab_details(o, "All rates, counted both ways", true);
    for (int law = 0; law < SYN_LAWS; law++) {
        lab_say(o, "Importance occurs: %s", syn_laws[law]);
        lab_table *out = lab_table_new(
            "repeats|filter|FP|FN|wFP|wFN|FP of distinct|FN of repeats|wFP of distinct|"
            "wFN of repeats|error of FP|error of FN");
        for (int share = 0; share < SYN_SHARES; share++)
            for (int k = 0; k < P000_KINDS; k++) syn_row(out, t, law, share, (p000_kind)k);
        lab_table_print(out, o);
    }
    lab_details(o, NULL, false);
}

/* Numbers to reach */

static void syn_factors(lab_options *o, const p000_tally *t) {
    static const double sbf[SYN_LAWS] = {59.7, 59.7, 60.0}, mc[SYN_LAWS] = {28.6, 42.9, 5.9};
    static const double factor[SYN_LAWS] = {2.1, 1.4, 10.1};
    lab_table *out = lab_checks_new("10 % repeats, wFP % of all queries", "expected");
    for (int law = 0; law < SYN_LAWS; law++) {
        const p000_tally *s = syn_at(t, law, 0, P000_SBF), *m = syn_at(t, law, 0, P000_MC);
        const double a = syn_rate(s, LAB_FPR, P000_OF_ALL, true);
        const double b = syn_rate(m, LAB_FPR, P000_OF_ALL, true);
        const double a_error = 100 * p000_rate_error(s, LAB_FPR, P000_OF_ALL, true, 1, P000_HIGH);
        const double b_error = 100 * p000_rate_error(m, LAB_FPR, P000_OF_ALL, true, 1, P000_HIGH);
        const double error = a / b * hypot(a_error / a, b_error / b);
        char what[3][60];
        snprintf(what[0], sizeof what[0], "SBF, %s", syn_laws[law]);
        snprintf(what[1], sizeof what[1], "MC, %s", syn_laws[law]);
        snprintf(what[2], sizeof what[2], "SBF / MC, %s", syn_laws[law]);
        lab_check_row(o, out, what[0], (lab_check){sbf[law], a, a_error, 4 * a_error + 0.2, 2});
        lab_check_row(o, out, what[1], (lab_check){mc[law], b, b_error, 4 * b_error + 0.2, 2});
        lab_check_row(o, out, what[2], (lab_check){factor[law], a / b, error, 4 * error + 0.05, 2});
    }
    lab_table_print(out, o);
}

static void syn_fifths(lab_options *o, const p000_tally *t) {
    static const double mc[SYN_FIFTHS] = {64.1, 56.4, 49.9, 44.2, 39.4};
    const p000_tally *c = syn_at(t, 0, 1, P000_MC);
    lab_table *out = lab_checks_new("MC, equal, 30 % repeats: FN % of repeats", "expected");
    for (int i = 0; i < SYN_FIFTHS; i++) {
        char what[40];
        const double error = 100 * syn_fifth_error(c, LAB_FNR, i);
        snprintf(what, sizeof what, "importance %d-%d", 10 * i + 1, 10 * i + 10);
        lab_check_row(
            o, out, what,
            (lab_check){mc[i], 100 * syn_fifth(c, LAB_FNR, i), error, 4 * error + 0.3, 2});
    }
    lab_table_print(out, o);
}

/* The shapes of Figures 10-17 */

static bool syn_flat(const p000_tally *c, lab_rate r, int from, int to) {
    for (int i = from; i <= to; i++)
        for (int j = from; j < i; j++)
            if (fabs(syn_fifth(c, r, i) - syn_fifth(c, r, j)) >
                4.5 * hypot(syn_fifth_error(c, r, i), syn_fifth_error(c, r, j)))
                return false;
    return true;
}

static bool syn_falls(const p000_tally *c, lab_rate r) {
    for (int i = 1; i < SYN_FIFTHS; i++)
        if (syn_fifth(c, r, i) - syn_fifth(c, r, i - 1) >=
            4 * hypot(syn_fifth_error(c, r, i), syn_fifth_error(c, r, i - 1)))
            return false;
    return syn_fifth(c, r, 0) > syn_fifth(c, r, SYN_FIFTHS - 1);
}

static void syn_shapes(lab_options *o, const p000_tally *t, int law, int share) {
    char where[60];
    const p000_tally *c = syn_at(t, law, share, P000_BF_THIRD);
    snprintf(where, sizeof where, "%s, %d %% repeats", syn_laws[law], syn_shares[share]);
    for (int k = P000_SBF; k < P000_KINDS; k++)
        lab_promise(o, syn_flat(&c[k], LAB_FPR, 0, 4), "%s: FP of %s does not depend on importance",
                    where, p000_names[k]);
    lab_promise(o, syn_flat(&c[P000_SBF], LAB_FNR, 0, 4), "%s: FN of SBF is flat", where);
    lab_promise(o,
                syn_flat(&c[P000_2C], LAB_FNR, 0, 1) && syn_flat(&c[P000_2C], LAB_FNR, 3, 4) &&
                    syn_fifth(&c[P000_2C], LAB_FNR, 0) > syn_fifth(&c[P000_2C], LAB_FNR, 4),
                "%s: FN of 2C has two steps", where);
    for (int k = P000_MC; k <= P000_HB; k++)
        lab_promise(o, syn_falls(&c[k], LAB_FNR), "%s: FN of %s falls with importance", where,
                    p000_names[k]);
    lab_promise(o,
                syn_rate(&c[P000_H], LAB_FPR, P000_OF_ALL, true) <
                    syn_rate(&c[P000_MC], LAB_FPR, P000_OF_ALL, true),
                "%s: H has a lower wFP than MC", where);
}

void p000_run_synthetic(lab_options *o) {
    p000_tally *t = syn_measure(o);
    syn_factors(o, t);
    syn_fifths(o, t);
    for (int i = 0; i < SYN_STREAMS; i++) syn_shapes(o, t, i / SYN_SHARES, i % SYN_SHARES);
    syn_print_all(o, t);
    free(t);
}

/* I_fp and I_fn in tenths of the range of importance. */
void p000_run_arrays(lab_options *o) {
    p000_tally *t = syn_measure(o);
    puts("law,repeats,filter,importance,share,fp_of_all,fn_of_all,fp,fn");
    for (int i = 0; i < SYN_STREAMS; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s,%d", syn_laws[i / SYN_SHARES], syn_shares[i % SYN_SHARES]);
        p000_put_arrays(name, syn_at(t, i / SYN_SHARES, i % SYN_SHARES, P000_BF_THIRD));
    }
    free(t);
}
