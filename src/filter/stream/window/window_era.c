/* window_era.c - the eras of the window filter: when they end, which window was really kept, and
 * how lines are emptied that are not used.
 *
 * An era ends when its time is over or, with overload=shorten, when it has its share of the planned
 * keys.  Eras that end by time last length = ceil(window / eras).  A key stays for the rest of its
 * era and for `eras` more.  So the window that is kept is the time since the eras-th last era
 * began.  It is shortest at the moment when an era begins.
 *
 * Lines know their era modulo 256, so a line that is not used for that long would seem young again.
 * To prevent this, each era makes another 192nd of the lines due for sweeping.  With each key one
 * page (16 lines) is looked at, and lines in which everything is too old are emptied.  Bits say
 * which pages are empty, and these are skipped 64 at a time.  Pages that are still due when the
 * next era ends are swept then, all at once: either few keys came and few pages hold anything, or
 * earlier keys have paid for it.  Idle time does not use up numbers of eras: a gap counts as eras +
 * 1.
 *
 * So every line is looked at every 192 eras, or a gap later.  If it was alive then, it is dead the
 * next time, and at most 192 + (eras + 1) + eras < 256 eras old. */
#include "window.h"

enum { WINDOW_ERA_SWEEP_ERAS = 192 };
static_assert(WINDOW_ERA_SWEEP_ERAS + 2 * EBI_WINDOW_ERAS_MAX + 1 < EBI_WINDOW_STAMPS,
              "no stamp comes back");

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

static uint64_t window_end_in_time(const ebi_window *x, uint64_t time) {
    ebi_window_state *const s = x->state;
    const uint64_t start = *window_start(x, s->era), passed = (time - start) / x->length;
    const uint64_t more = ebi_min(passed, x->eras + 1);
    for (uint64_t i = 1; i <= more; i++) {
        *window_start(x, s->era + i) = start + (passed - more + i) * x->length;
        s->early &= ~window_bit(s->era + i);
    }
    s->era += more;
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
    ebi_window_sweep(x, x->pages);
    const uint64_t more = in_time ? window_end_in_time(x, time) : window_end_early(x, time);
    s->entered = 0;
    s->unswept = ebi_min(x->pages, more * (x->pages / WINDOW_ERA_SWEEP_ERAS + 1));
    window_look_back(x);
}

/* Pages */

void ebi_window_hold(const ebi_window *x, const eb_hash *h, size_t n) {
    assert(n <= EBI_LONG_BATCH);
    for (size_t i = 0; i < n; i++) {
        const uint64_t page = eb_scale(h[i], x->count) / EBI_WINDOW_PAGE;
        const uint64_t bit = UINT64_C(1) << page % 64;
        x->state->held += (x->held[page / 64] & bit) == 0;
        x->held[page / 64] |= bit;
    }
}

/* Empties lines in which everything is too old.  Returns whether anything is left. */
static bool window_sweep_page(const ebi_window *x, uint64_t page) {
    assert(page < x->pages);
    const uint64_t first = page * EBI_WINDOW_PAGE;
    const uint64_t end = ebi_min(first + EBI_WINDOW_PAGE, x->count);
    bool left = false;
    for (uint64_t i = first; i < end; i++) {
        uint8_t *const line = x->lines + i * x->bytes;
        if (ebi_window_is_dead(x, line))
            memset(line, 0, x->bytes);
        else
            left |= !ebi_window_is_zero(x, line);
    }
    return left;
}

/* How many pages to skip: from the next one to the first that holds something, or to the end of a
 * word of bits. */
static uint64_t window_empty_pages(const ebi_window *x) {
    assert(x->state->swept < x->pages);
    const uint64_t at = x->state->swept, bits = x->held[at / 64] >> at % 64;
    return bits == 0 ? 64 - at % 64 : ebi_ctz(bits);
}

static void window_pass(const ebi_window *x, uint64_t pages) {
    ebi_window_state *const s = x->state;
    assert(pages <= s->unswept && s->swept + pages <= x->pages);
    s->unswept -= pages;
    s->swept += pages;
    if (s->swept == x->pages) s->swept = 0;
}

void ebi_window_sweep(const ebi_window *x, uint64_t most) {
    ebi_window_state *const s = x->state;
    while (s->unswept > 0 && most > 0) {
        const uint64_t empty = window_empty_pages(x), to_end = x->pages - s->swept;
        if (empty > 0) {
            window_pass(x, ebi_min(empty, ebi_min(to_end, s->unswept)));
            continue;
        }
        if (!window_sweep_page(x, s->swept)) {
            x->held[s->swept / 64] &= ~(UINT64_C(1) << s->swept % 64);
            s->held--;
        }
        window_pass(x, 1);
        most--;
    }
}
