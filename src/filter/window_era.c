/* window_era.c - eras of the window filter: when they end, what window was kept, and lines that
 * nobody comes to.
 *
 * An era ends when its time is over or, with overload=shorten, when it has got its share of the
 * planned keys.  Eras that end in time last length = ceil(window / eras), one after the other; a
 * key stays for the rest of its era and for `eras` more.  So what is kept at all times is the time
 * since the eras-th last era began; that is smallest at the moment when an era begins.
 *
 * Lines know their era modulo 256.  A line that nobody touches for so long would come alive again,
 * with false positives at worst; so with every era another 200th of the lines is due to be
 * looked at, a few with each key, and those with nothing alive are emptied.  After an idle gap
 * that outlives all entries everything is emptied at once, if there were enough keys since the
 * last time to pay for it.  Numbers of eras are not spent on idle time: a gap counts as eras + 1.
 */
#include "window.h"

enum { SWEEP_ERAS = 200, SWEEP_LINES = 16, CLEAR_LINES = 64 };

static uint64_t *window_start(const ebi_window *x, uint64_t era) {
    return &x->state->start[era % EBI_WINDOW_STARTS];
}

static uint64_t window_bit(uint64_t era) {
    return UINT64_C(1) << era % EBI_WINDOW_STARTS;
}

void ebi_window_forgot(const ebi_window *x, uint64_t kept) {
    if (kept < x->ticks) x->state->shortest = ebi_min(x->state->shortest, kept);
}

/* Keys at the moment when an era began early may belong to the one before. */
static void window_look_back(const ebi_window *x) {
    const uint64_t era = x->state->era, first = era - x->eras;
    if (era < x->eras) return;
    const uint64_t kept = *window_start(x, era) - *window_start(x, first);
    const bool early = x->state->early & window_bit(first);
    ebi_window_forgot(x, kept - (early && kept > 0));
}

static void window_clear_if_due(const ebi_window *x) {
    if (x->state->dirty < x->count / CLEAR_LINES) return;
    memset(x->lines, 0, x->count * x->bytes);
    x->state->dirty = x->state->unswept = 0;
}

static uint64_t window_end_in_time(const ebi_window *x, uint64_t time) {
    ebi_window_state *const s = x->state;
    const uint64_t start = *window_start(x, s->era), passed = (time - start) / x->length;
    const uint64_t more = ebi_min(passed, x->eras + 1);
    for (uint64_t i = 1; i <= more; i++) {
        *window_start(x, s->era + i) = start + (passed - more + i) * x->length;
        s->early &= ~window_bit(s->era + i);
    }
    s->era += more;
    if (passed > x->eras) window_clear_if_due(x);
    return more;
}

static uint64_t window_end_early(const ebi_window *x, uint64_t time) {
    ebi_window_state *const s = x->state;
    s->era++;
    *window_start(x, s->era) = time;
    s->early |= window_bit(s->era);
    return 1;
}

void ebi_window_close_eras(const ebi_window *x, uint64_t time) {
    ebi_window_state *const s = x->state;
    const uint64_t start = *window_start(x, s->era);
    const bool in_time = time >= start && time - start >= x->length;
    const uint64_t more = in_time ? window_end_in_time(x, time) : window_end_early(x, time);
    s->entered = 0;
    s->unswept = ebi_min(x->count, s->unswept + more * (x->count / SWEEP_ERAS + 1));
    window_look_back(x);
}

void ebi_window_sweep(const ebi_window *x) {
    ebi_window_state *const s = x->state;
    for (unsigned i = 0; i < SWEEP_LINES && s->unswept > 0; i++, s->unswept--) {
        uint8_t *const line = x->lines + s->swept * x->bytes;
        const unsigned age = (unsigned)(s->era - line[0]) % EBI_WINDOW_STAMPS;
        if (age > x->eras) memset(line, 0, x->bytes);
        s->swept = s->swept + 1 < x->count ? s->swept + 1 : 0;
    }
}
