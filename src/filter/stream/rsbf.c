/* rsbf.c - the reservoir sampling based Bloom filter (section 3, Algorithm 1, of the paper named in
 * dedup_bits.h).  Kept as published.
 *
 * rule=run, the default, gives the numbers of the paper's tables: every record, seen or not and
 * from the first on, resets one random bit of each part and sets its own.  If all keys are new, the
 * load q settles at 1 - q = q: half of the bits, and false positives of 2^-k.
 *
 * rule=printed is Algorithm 1.  With s bits a part, record i is
 *
 *       i < s             inserted, and nothing reset
 *       s/i > pstar       inserted with probability s/i; if so, one random bit of each part is
 * reset s/i <= pstar      for each of its bits that is 0: find a bit of that part that is 1, reset
 *                         it, set the record's
 *
 * The listing inserts records that are reported seen, too. rule=text inserts only new ones, as the
 * text says.  (Neither gives the paper's numbers: with n <= s records nothing is ever reset, so
 * misses would be zero in all cells for 512 MB, where the tables have 7 % to 22 %.) Loads are at
 * most 1 - 1/e after s records and do not grow from then on, so false positives stay below equation
 * 6.1, (1 - 1/e)^k.
 *
 * A set bit is found by random probing, first at the record's victim, then at numbers of its own
 * generator, RSBF_PROBES in all.  With a load of 1/2 all of them miss with probability 2^-64.  If
 * they do, or if the part is empty, nothing is reset. */
#include "dedup_bits.h"
#include <math.h>

enum { RSBF_O_RULE = EBI_O_PARTS_OWN, RSBF_O_PSTAR, RSBF_O_BALANCED };
enum { RSBF_RULE_RUN, RSBF_RULE_PRINTED, RSBF_RULE_TEXT };
enum { RSBF_PROBES = 64, RSBF_MILLION = 1000000 };

static const eb_option rsbf_options[] = {
    EBI_PARTS_OPTIONS("limit on false positives of an endless stream; sets k"),
    {"rule", "run|printed|text", "run", NULL, NULL,
     "what gives the paper's numbers, its listing, or its text", false},
    {"pstar", "fixed", "0.03", "0.0001", "1",
     "rule=printed and text: swap bits from s/i = pstar on", false},
    {"fpr_balanced", "real", NULL, "1e-6", "0.5",
     "k by section 6.1: the mean of 1 and what equation 6.1 wants for this rate", true},
    {0}};

static double rsbf_fpr_of(const ebi_params *p, double k) {
    assert(k >= 1);
    return p->opt[RSBF_O_RULE] == RSBF_RULE_RUN ? exp2(-k) : ebi_parts_fpr_full(p, k);
}

/* k for fpr_balanced=. More bits mean fewer false positives, one bit the fewest false negatives.
 * The paper takes the mean, which is 3 for 10 %.  (Its tables were made with 2.) */
static eb_status rsbf_balance(ebi_params *p, const ebi_args *a, ebi_args *settled, eb_error *err) {
    *settled = *a;
    if (!a->given[RSBF_O_BALANCED]) return EB_OK;
    if (a->given[EBI_O_PARTS] || a->given[EBI_O_PARTS_FPR])
        return ebi_fail(err, EB_ESPEC, "rsbf: give one of k, fpr and fpr_balanced");
    const double wanted = log(a->real[RSBF_O_BALANCED]) / log(ebi_parts_fpr_full(p, 1));
    p->opt[EBI_O_PARTS] = (uint64_t)fmax(round((1 + wanted) / 2), 1);
    settled->given[EBI_O_PARTS] = true;
    return EB_OK;
}

static eb_status rsbf_resolve(ebi_params *p, const ebi_args *args, eb_error *err) {
    ebi_args settled;
    EBI_TRY(rsbf_balance(p, args, &settled, err));
    return ebi_parts_resolve(p, &settled, "rsbf", EBI_FADE_RSBF, rsbf_fpr_of, err);
}

/* Loops */

EBI_INLINE void rsbf_run_step(const ebi_parts *d, const ebi_record *r) {
    ebi_parts_insert(d, r, ebi_choose_all);
}

EBI_INLINE void rsbf_set_all(const ebi_parts *d, const ebi_record *r) {
    for (unsigned j = 0; j < d->k; j++) ebi_part_set(d, j, r->at[j]);
}

EBI_INLINE void rsbf_reservoir(const ebi_parts *d, const ebi_record *r, const uint64_t *victim) {
    uint64_t own = r->draw;
    if (ebi_random_below(&own, r->number) >= d->s) return;
    rsbf_set_all(d, r);
    for (unsigned j = 0; j < d->k; j++) ebi_part_reset(d, j, victim[j]);
}

EBI_INLINE void rsbf_swap(const ebi_parts *d, const ebi_record *r, const uint64_t *victim) {
    uint64_t own = r->draw;
    for (unsigned j = 0; j < d->k; j++) {
        uint64_t probe = victim[j];
        if (ebi_bit(d->bits, r->at[j])) continue;
        for (int i = 1; i < RSBF_PROBES && d->load[j] > 0 && !ebi_bit(d->bits, probe); i++)
            probe = j * d->s + ebi_random_below(&own, d->s);
        ebi_part_reset(d, j, probe);
        ebi_part_set(d, j, r->at[j]);
    }
}

/* s/i <= pstar, in whole numbers: s <= floor(i pstar), with pstar in millionths. */
EBI_INLINE bool rsbf_swaps(const ebi_parts *d, uint64_t i) {
    const uint64_t pstar = d->p->opt[RSBF_O_PSTAR];
    return d->s <= i / RSBF_MILLION * pstar + i % RSBF_MILLION * pstar / RSBF_MILLION;
}

EBI_INLINE void rsbf_printed_step(const ebi_parts *d, const ebi_record *r) {
    uint64_t victim[EBI_K_MAX];
    ebi_choose_all(d, r->at, r->draw, victim);
    if (r->number < d->s)
        rsbf_set_all(d, r);
    else if (rsbf_swaps(d, r->number))
        rsbf_swap(d, r, victim);
    else
        rsbf_reservoir(d, r, victim);
}

EBI_INLINE void rsbf_text_step(const ebi_parts *d, const ebi_record *r) {
    if (!r->seen) rsbf_printed_step(d, r);
}

EBI_PARTS_LOOPS(rsbf_run, ebi_choose_all)
EBI_PARTS_LOOPS(rsbf_printed, ebi_choose_all)
EBI_PARTS_LOOPS(rsbf_text, ebi_choose_all)

static const ebi_ops *rsbf_select(const ebi_params *p) {
    const uint64_t rule = p->opt[RSBF_O_RULE];
    return rule == RSBF_RULE_RUN       ? rsbf_run_loops(p)
           : rule == RSBF_RULE_PRINTED ? rsbf_printed_loops(p)
                                       : rsbf_text_loops(p);
}

/* rule=text if all keys are new: a bit of a key that is reported new is zero with probability
 * (1-q)/(1-q^k), so dq/d(ln i) = 1 - q - q(1-q^k). */
static double rsbf_text_load(double k, double pstar) {
    enum { RSBF_STEPS = 1000 };
    const double step = -log(pstar) / RSBF_STEPS;
    double q = 1 - exp(-1);
    for (int i = 0; i < RSBF_STEPS; i++) q += step * (1 - 2 * q + pow(q, k + 1));
    return q;
}

/* rule=printed if all keys are new.  The load is q = 1 - 1/e after s records.  Then it nears 1/2 as
 * dq/d(ln i) = 1 - 2q until i = s/pstar.  From there on swaps keep it.  A bit that a key has set is
 * swapped away at rate (1-q)/q per s records, and set again at rate 1. */
static void rsbf_predict_printed(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    const double k = (double)p->opt[EBI_O_PARTS], s = (double)ebi_parts_size(p);
    const double pstar = (double)p->opt[RSBF_O_PSTAR] / RSBF_MILLION;
    if (w->items > 0 || w->distinct > 0 || w->zipf > 0) return; /* there is no formula */
    const bool text = p->opt[RSBF_O_RULE] == RSBF_RULE_TEXT;
    const double q = text ? rsbf_text_load(k, pstar) : 0.5 + (0.5 - exp(-1)) * pstar * pstar;
    const double hits = w->gap > 0 ? w->gap / s : INFINITY;
    const double zero = (1 - q) * -expm1(-hits / q);
    out->fill = q;
    out->fpr = out->mean_fpr = pow(q, k);
    out->fnr = out->mean_fnr = ebi_one_minus_pow1m(zero, k);
    out->settles_after = s / pstar;
}

static void rsbf_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    if (p->opt[RSBF_O_RULE] == RSBF_RULE_RUN)
        ebi_parts_predict(p, w, out);
    else
        rsbf_predict_printed(p, w, out);
}

const ebi_kind ebi_kind_rsbf = {
    .info = {"rsbf", "reservoir sampling: a key resets one random bit of each part",
             EBI_PARTS_PAPER "1", EB_FORGETS, rsbf_options, NULL},
    .resolve = rsbf_resolve,
    .select = rsbf_select,
    .predict = rsbf_predict,
    EBI_PARTS_MEMBERS,
};
