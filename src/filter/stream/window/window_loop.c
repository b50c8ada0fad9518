/* window_loop.c - the portable loops of mode=elastic, and the rarer operations on a line: changing
 * its width, and removing an entry from the middle.  All other loops must leave the same bytes. */
#include "window_line.h"

/* Packs all fingerprints with another width, the oldest into slot 0.  They are put together in a
 * separate place, so that no load waits for a store. */
static void window_repack(const ebi_window *x, uint8_t *line, ebi_window_line *l, unsigned w) {
    uint64_t to[16] = {0};
    uint64_t out = ebi_load64(line) & ebi_ones(EBI_WINDOW_HEADER);
    unsigned used = EBI_WINDOW_HEADER, word = 0;
    for (unsigned i = 0; i < l->n; i++) {
        const uint64_t print =
            ebi_window_get(x, line, ebi_window_slot(l, i), l->w) & (uint32_t)ebi_ones(w);
        out |= print << used;
        used += w;
        if (used < 64) continue;
        to[word++] = out;
        used -= 64;
        out = used > 0 ? print >> (w - used) : 0;
    }
    to[word] = out;
    for (word = 0; word < x->bytes / 8; word++) ebi_store64(line + 8 * word, to[word]);
    l->w = w;
    l->slots = ebi_window_slots(x, w);
    l->head = 0;
}

/* Gives a narrow line wider fingerprints again, if it has become emptier. */
static void window_widen(const ebi_window *x, uint8_t *line, ebi_window_line *l) {
    if (l->w == x->w || l->nn > 0 || ebi_window_slots(x, l->w + 1) < l->n + EBI_WINDOW_SLACK)
        return;
    unsigned w = x->w;
    while (ebi_window_slots(x, w) < l->n + EBI_WINDOW_SLACK) w--;
    l->wn = l->w;
    l->nn = l->n;
    window_repack(x, line, l, w);
    if (l->nn == 0) l->wn = l->w;
}

/* The place of the i-th oldest entry's mark: i zeros and some ones are before it. */
static unsigned window_mark_of(const ebi_window_line *l, unsigned i) {
    assert(i < l->n);
    for (unsigned at = i;;) {
        const unsigned ones = at + 1 - ebi_wide_zeros(l->marks | ~ebi_wide_ones(at + 1));
        if (i + ones == at) return at;
        at = i + ones;
    }
}

static void window_take_mark(ebi_window_line *l, unsigned i) {
    assert(i < l->n);
    const unsigned at = window_mark_of(l, i);
    const ebi_wide before = ebi_wide_ones(at);
    l->marks = (l->marks & before) | ((l->marks >> 1) & ~before) | (ebi_wide)1 << 127;
}

/* The bits of word k that are in [from, to). */
EBI_INLINE uint64_t window_range(unsigned k, unsigned from, unsigned to) {
    assert(from <= to);
    const unsigned low = from > 64 * k ? from - 64 * k : 0, high = to - 64 * k;
    return ebi_ones(high < 64 ? high : 64) & ~ebi_ones(low < 64 ? low : 64);
}

/* Moves bits [from, to) of a line w places up, or down.  Loads come before stores. */
static void window_shift_up(uint8_t *line, unsigned from, unsigned to, unsigned w) {
    assert(from <= to);
    for (unsigned k = (to + w - 1) / 64 + 1; k-- > (from + w) / 64;) {
        const uint64_t here = ebi_load64(line + 8 * k), mask = window_range(k, from + w, to + w);
        const uint64_t below = k > 0 ? ebi_load64(line + 8 * k - 8) >> (64 - w) : 0;
        ebi_store64(line + 8 * k, (here & ~mask) | ((here << w | below) & mask));
    }
}

static void window_shift_down(uint8_t *line, unsigned words, unsigned from, unsigned to,
                              unsigned w) {
    assert(from <= to);
    for (unsigned k = (from - w) / 64; k <= (to - w - 1) / 64; k++) {
        const uint64_t here = ebi_load64(line + 8 * k), mask = window_range(k, from - w, to - w);
        const uint64_t above = k + 1 < words ? ebi_load64(line + 8 * k + 8) << (64 - w) : 0;
        ebi_store64(line + 8 * k, (here & ~mask) | ((here >> w | above) & mask));
    }
}

/* Moves slots into a gap, from the side of it where they are in one piece.  Returns whether the
 * head moves. */
static bool window_close_gap(const ebi_window *x, uint8_t *line, unsigned w, unsigned head,
                             unsigned gap, unsigned last) {
    const unsigned at = EBI_WINDOW_HEADER + gap * w;
    if (gap < head) {
        if (last > gap)
            window_shift_down(line, x->bytes / 8, at + w, EBI_WINDOW_HEADER + (last + 1) * w, w);
        return false;
    }
    if (gap > head) window_shift_up(line, EBI_WINDOW_HEADER + head * w, at, w);
    return true;
}

static void window_take_out(const ebi_window *x, uint8_t *line, ebi_window_line *l, unsigned i) {
    assert(i < l->n);
    const unsigned gap = ebi_window_slot(l, i), last = ebi_window_slot(l, l->n - 1);
    window_take_mark(l, i);
    if (window_close_gap(x, line, l->w, l->head, gap, last)) l->head = ebi_window_slot(l, 1);
    l->n--;
}

/* overload=shorten: drops the oldest entry.  The window was then shorter than its era promised. */
static void window_drop_oldest(const ebi_window *x, uint8_t *line, ebi_window_line *l) {
    assert(l->n > 0);
    const uint64_t era = x->state->era;
    const unsigned ended = ebi_wide_ctz(~l->marks); /* eras before that of the oldest entry */
    const uint64_t next = era - x->eras + ended + 1;
    const uint64_t *const start = x->state->start;
    ebi_window_forgot(
        x, ended == x->eras ? 0 : start[era % EBI_WINDOW_STARTS] - start[next % EBI_WINDOW_STARTS]);
    window_take_out(x, line, l, 0);
    if (l->nn > 0) l->nn--;
    if (l->nn == 0) l->wn = l->w;
}

/* Makes one more slot by dropping bits of all fingerprints.  Shorter ones only match more. */
static bool window_make_room(const ebi_window *x, uint8_t *line, ebi_window_line *l) {
    unsigned w = l->w - 1;
    while (w > 0 && ebi_window_slots(x, w) <= l->n) w--;
    if (w == 0) {
        x->state->saturated++;
        if (!x->degrade) window_drop_oldest(x, line, l);
        return !x->degrade;
    }
    window_repack(x, line, l, w);
    if (l->wn >= w) {
        l->wn = w;
        l->nn = 0;
    }
    return true;
}

/* Whether the i-th oldest entry is of the present era. */
static bool window_is_new(const ebi_window *x, const ebi_window_line *l, unsigned i) {
    const unsigned before = l->n - 1 - i; /* entries after it, then ones */
    return (ebi_wide_down(l->marks, ebi_window_marks(x, i)) & ebi_wide_ones(before + 1)) == 0;
}

/* The youngest entry with this fingerprint, counted from the oldest as 1; 0: there is none. */
static unsigned window_find(const ebi_window *x, const uint8_t *line, const ebi_window_line *l,
                            uint32_t print) {
    const uint32_t known = (uint32_t)ebi_ones(l->w), known_in_part = (uint32_t)ebi_ones(l->wn);
    for (unsigned i = l->n; i > 0; i--) {
        const uint32_t there = ebi_window_get(x, line, ebi_window_slot(l, i - 1), l->w);
        if (((there ^ print) & (i > l->nn ? known : known_in_part)) == 0) return i;
    }
    return 0;
}

EBI_INLINE ebi_window_line window_read_now(const ebi_window *x, const uint8_t *line) {
    ebi_window_line l = ebi_window_read(x, line);
    ebi_window_expire(x, &l, x->state->era);
    return l;
}

/* false: even the narrowest fingerprints leave no room, and nothing was done. */
static bool window_append(const ebi_window *x, uint8_t *line, ebi_window_line *l, uint32_t print) {
    if (l->n == l->slots && !window_make_room(x, line, l)) return false;
    l->marks &= ~ebi_wide_up(1, ebi_window_marks(x, l->n));
    const unsigned slot = ebi_window_slot(l, l->n++);
    ebi_window_write(x, line, l);
    ebi_window_put(x, line, slot, l->w, print);
    ebi_window_enter(x, 1);
    return true;
}

/* A repeat: its entry becomes one of the present era.  If the entry is only partly known, it may be
 * another key's, and stays.  So a line that can have wider fingerprints gets them before. */
static void window_refresh(const ebi_window *x, uint8_t *line, ebi_window_line *l, uint32_t print,
                           unsigned i) {
    assert(i < l->n);
    if (window_is_new(x, l, i)) return;
    window_widen(x, line, l);
    if (i >= l->nn) window_take_out(x, line, l, i);
    (void)window_append(x, line, l, print);
}

/* A line is written only if an entry is added or moved.  A line in which everything is too old
 * begins again from zeros: its slots may have been narrower, and old marks would be between the new
 * marks and the slots. */
bool ebi_window_add_one(const ebi_window *x, uint8_t *line, uint32_t print) {
    if (ebi_window_is_dead(x, line)) memset(line, 0, x->bytes);
    ebi_window_line l = window_read_now(x, line);
    const unsigned found = window_find(x, line, &l, print);
    if (found) {
        if (x->refresh) window_refresh(x, line, &l, print, found - 1);
        return true;
    }
    window_widen(x, line, &l);
    return !window_append(x, line, &l, print);
}

bool ebi_window_test_one(const ebi_window *x, const uint8_t *line, uint32_t print) {
    const ebi_window_line l = window_read_now(x, line);
    return window_find(x, line, &l, print) != 0;
}

static void window_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen) {
    assert(b->n <= EBI_LONG_BATCH);
    const ebi_window x = ebi_window_open(p, block);
    ebi_window_places to;
    ebi_window_find_places(&x, x.bytes, b->hash, b->n, true, &to);
    for (size_t i = 0; i < b->n;) {
        for (const size_t end = ebi_window_calm_until(&x, p, block, b, i); i < end; i++) {
            ebi_window_fetch(&x, x.bytes, &to, i + EBI_WINDOW_AHEAD, true);
            seen[i] = ebi_window_add_one(&x, x.lines + to.at[i], ebi_window_print(b->hash[i]));
        }
    }
}

static void window_test(const ebi_params *p, const uint8_t *block, const ebi_batch *b,
                        uint8_t *seen) {
    assert(b->n <= EBI_LONG_BATCH);
    const ebi_window now = ebi_window_open(p, block);
    ebi_window_places to;
    ebi_window_find_places(&now, now.bytes, b->hash, b->n, false, &to);
    for (size_t i = 0, end; i < b->n;) {
        ebi_window_state then;
        const ebi_window x = ebi_window_as_of(p, block, b, i, &then, &end);
        for (; i < end; i++) {
            ebi_window_fetch(&x, x.bytes, &to, i + EBI_WINDOW_AHEAD, false);
            seen[i] = ebi_window_test_one(&x, x.lines + to.at[i], ebi_window_print(b->hash[i]));
        }
    }
}

const ebi_ops ebi_window_portable = {.add = window_add, .test = window_test};
