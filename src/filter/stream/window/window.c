/* window.c - did this key occur within the last `window` records, or units of time?  Nothing in the
 * window is forgotten, whatever comes.
 *
 * The hash of a key selects a line and a fingerprint.  A line is a ring of fingerprints in order of
 * arrival.  Time is cut into eras, each a part of the window, and marks in the line say which
 * entries came in which era.  A full line drops the top bit of each of its fingerprints to make
 * room for more.  Then it has more false positives, but no false negatives.  A key costs one line,
 * which is written only if an entry is added or moved.
 *
 *       | head | state, 320 bytes | lines of 64 or 128 bytes | a bit for every 16 lines |
 *
 * A line with mode=elastic (the default):
 *
 *       bits 0-7 stamp, the era in which it was last written, modulo 256
 *       bits 8-12 w | 13-17 wn | 18-24 nn | 25-31 head, the slot of the oldest entry
 *       bits 32 ..    slots of w bits: N(w) = floor((bits - 32 - eras) / (w + 1)), at most 64 (96)
 *       last N + eras bits: marks, oldest first: 0 an entry, 1 the end of an era, ones at the end
 *
 * Eras.  An era lasts ceil(window / eras).  Entries live in the era in which they came and in
 * `eras` more: for the whole window at least, and for 1 / eras of it longer at most.  A line that
 * is used drops what is before the d-th mark if d eras have ended since it was last written:
 * ebi_window_expire, which the loops in simd/ repeat inline. window_era.c ends eras and sweeps
 * lines that are not used.  The bits at the end of the block say which pages of 16 lines hold
 * something, so that the sweep can skip the others.
 *
 * Widths.  When enough entries have expired, a narrow line takes wider fingerprints again.  The nn
 * entries from the narrow time are known to wn < w bits until they expire.  A key that matches such
 * an entry may be another key, so a refresh leaves that entry where it is.  Only a line with 64
 * (96) entries has no more room: then overload=degrade stores nothing and says seen, so that no key
 * passes twice within a window, and overload=shorten drops the oldest entry.  Both are counted.
 *
 * refresh=yes: age counts from the last time a key came.  Every repeat within the window is seen.
 * refresh=no: age counts from the first time.  A key that comes all the time passes once in a
 * window, and the times at which it passes are always more than a window apart.
 *
 * unit=records counts the keys of a shard.  With several shards, each keeps six standard deviations
 * more than its share. unit=time takes the time of keys, with `items` keys planned for a window.
 * If more come, the false-positive rate rises (overload=degrade) or the window becomes shorter
 * (overload=shorten: an era ends when it has its share of the items).
 *
 * mode=rotate: Bloom filters, one for each era, in one line: window_rotate.c.  Smaller and faster
 * at rates of 5 % and more, but keys may be kept for half a window too long.
 *
 * Invariants, which check() verifies in loaded bytes: an unused line is zero; otherwise 1 <= w <=
 * the spec's; nn <= n <= N(w); wn < w if nn > 0, else wn = w; no bits are set between slots and
 * marks. */
#include "math/probability.h"
#include "window_line.h"
#include <math.h>

static const eb_option window_options[] = {
    EBI_COMMON_OPTIONS,
    {"mode", "elastic|rotate", "elastic", NULL, NULL, "rotate: for fpr of 5 % and more", false},
    {"window", "count", NULL, "1", "1e18", "how long keys are remembered, in units", false},
    {"unit", "records|time", "records", NULL, NULL, "unit of the window", false},
    {"items", "count", NULL, "1", "1e18", "keys planned for a window (default: as memory allows)",
     false},
    {"print_bits", "int", NULL, "1", "31", "bits of a fingerprint; mode=rotate: bits set by a key",
     false},
    {"eras", "int", NULL, "1", "30", "parts of the window that expire at once", false},
    {"line", "64|128", NULL, NULL, NULL,
     "bytes of a line (default: 128 for fpr below 1e-4, else 64)", false},
    {"refresh", "yes|no", "no", NULL, NULL, "yes: age counts from the last time a key came", false},
    {"overload", "shorten|degrade", "degrade", NULL, NULL,
     "when more than items come: shorten the window, or degrade fpr", false},
    {"fpr", "real", "0.001", "1e-8", "0.3", "wanted false-positive rate; sets memory or window",
     true},
    {0}};

enum { WINDOW_ERAS = 14, WINDOW_ROTATE_ERAS = 2 };
static const double window_wide_lines_below = 1e-4;

/* Parameters */

EBI_INLINE bool window_rotates(const ebi_params *p) {
    return p->opt[EBI_WINDOW_MODE] == EBI_WINDOW_ROTATE;
}

static unsigned window_bytes(const ebi_params *p) {
    return p->opt[EBI_WINDOW_LINE] ? 128 : 64;
}

static unsigned window_cells(const ebi_params *p) { /* of a line */
    const unsigned generations = (unsigned)p->opt[EBI_WINDOW_ERAS] + 1;
    if (window_rotates(p)) return EBI_WINDOW_ROTATE_BITS / generations * generations;
    return window_bytes(p) == 64 ? 64 : EBI_WINDOW_SLOTS_MAX;
}

static uint64_t window_share(uint64_t n, uint64_t parts) {
    assert(parts > 0);
    return n / parts + (n % parts > 0);
}

static uint64_t window_root_up(uint64_t x) { /* ceil(sqrt(x)), x <= 10^18 */
    uint64_t r = (uint64_t)1 << (ebi_log2(x | 1) / 2 + 1);
    for (uint64_t next = (r + x / r) / 2; next < r; next = (r + x / r) / 2) r = next;
    return r * r < x ? r + 1 : r;
}

static uint64_t window_pages(uint64_t lines) {
    return window_share(lines, EBI_WINDOW_PAGE);
}

static uint64_t window_page_bytes(uint64_t lines) {
    return ebi_round_up(window_share(window_pages(lines), 8), 64);
}

ebi_window ebi_window_of(const ebi_params *p) {
    const unsigned eras = (unsigned)p->opt[EBI_WINDOW_ERAS], bytes = window_bytes(p);
    return (ebi_window){
        .count = p->derived[2],
        .pages = window_pages(p->derived[2]),
        .ticks = p->derived[0],
        .length = window_share(p->derived[0], eras),
        .quota = p->derived[1],
        .bytes = bytes,
        .eras = eras,
        .w = (unsigned)p->opt[EBI_WINDOW_W],
        .cap = bytes == 64 ? 64 : EBI_WINDOW_SLOTS_MAX,
        .room = 8 * bytes - EBI_WINDOW_HEADER - eras,
        .rotate = window_rotates(p),
        .refresh = p->opt[EBI_WINDOW_REFRESH] == EBI_WINDOW_YES,
        .degrade = p->opt[EBI_WINDOW_OVERLOAD] == EBI_WINDOW_DEGRADE,
    };
}

ebi_window ebi_window_open(const ebi_params *p, const uint8_t *block) {
    uint8_t *const fixed = ebi_writable(block) + sizeof(ebi_block_head);
    ebi_window x = ebi_window_of(p);
    x.state = (ebi_window_state *)(void *)fixed;
    x.lines = fixed + sizeof(ebi_window_state);
    x.held = (uint64_t *)(void *)(x.lines + x.count * x.bytes);
    return x;
}

/* The share of keys that are taken for another and are not stored.  With refresh=yes such a key
 * takes the other's place, which then lives longer; measured, 0.3 of it is lost.  Eras that end
 * when they have their share of the items count what is stored. */
static double window_lost(const ebi_params *p) {
    const bool refresh = p->opt[EBI_WINDOW_REFRESH] == EBI_WINDOW_YES;
    const bool counted = p->opt[EBI_WINDOW_UNIT] == EBI_WINDOW_TIME &&
                         p->opt[EBI_WINDOW_OVERLOAD] == EBI_WINDOW_SHORTEN;
    if (refresh && !window_rotates(p)) return 0.3;
    return refresh || counted ? 0 : 1;
}

static ebi_window_plan window_plan(const ebi_params *p) {
    return (ebi_window_plan){(unsigned)p->opt[EBI_WINDOW_MODE], (unsigned)p->opt[EBI_WINDOW_ERAS],
                             window_bytes(p), window_lost(p)};
}

/* Sizes.  The lines of a shard that memory= or cells= give; 0: neither is given. */
static double window_given_lines(const ebi_params *p, const ebi_args *a) {
    if (a->given[EBI_O_CELLS]) return (double)(p->opt[EBI_O_CELLS] / window_cells(p));
    const uint64_t budget = ebi_budget(p), bytes = window_bytes(p);
    const uint64_t room = budget - ebi_min(budget, sizeof(ebi_window_state));
    const uint64_t most = room / bytes; /* without the bits for pages */
    return (double)((room - ebi_min(room, window_page_bytes(most))) / bytes);
}

/* How many records a shard must keep so that all shards together keep a window. */
static double window_padded(double window, double shards) {
    assert(window > 0 && shards >= 1);
    return shards > 1 ? window / shards + 6 * sqrt(window / shards) : window;
}

static double window_unpadded(double load, double shards) {
    assert(load > 0 && shards >= 1);
    const double root = sqrt(9 + load) - 3;
    return shards > 1 ? shards * root * root : load;
}

static bool window_by_time(const ebi_params *p) {
    return p->opt[EBI_WINDOW_UNIT] == EBI_WINDOW_TIME;
}

/* The keys planned for a window in one shard; 0: as many as fit. */
static double window_given_load(const ebi_params *p, const ebi_args *a) {
    const double shards = (double)p->opt[EBI_O_SHARDS];
    if (!window_by_time(p) && a->given[EBI_WINDOW_WINDOW])
        return window_padded((double)p->opt[EBI_WINDOW_WINDOW], shards);
    return a->given[EBI_WINDOW_ITEMS] ? (double)p->opt[EBI_WINDOW_ITEMS] / shards : 0;
}

typedef struct window_size {
    double lines, load, fpr; /* of a shard */
} window_size;

static window_size window_choose_size(const ebi_params *p, const ebi_args *a) {
    const ebi_window_plan plan = window_plan(p);
    const bool sized = a->given[EBI_O_CELLS] || a->given[EBI_O_MEMORY];
    const double bits = 8 * window_bytes(p), load = window_given_load(p, a);
    const double fpr = a->real[EBI_WINDOW_FPR], each = ebi_window_bits(&plan, fpr);
    if (!sized && load > 0) return (window_size){ceil(each * load / bits), load, fpr};
    const double lines = window_given_lines(p, a);
    if (load > 0 && lines > 0)
        return (window_size){lines, load, ebi_window_fpr(&plan, lines * bits / load)};
    return (window_size){lines, fmax(1, floor(lines * bits / each)), fpr};
}

static void window_choose_line(ebi_params *p, const ebi_args *a) {
    if (a->given[EBI_WINDOW_LINE] || window_rotates(p)) return;
    p->opt[EBI_WINDOW_LINE] = 0;
    p->opt[EBI_WINDOW_LINE] = window_choose_size(p, a).fpr < window_wide_lines_below;
}

static double window_memory(const ebi_params *p,
                            double lines) { /* for so many lines in each shard */
    assert(lines >= 0);
    const double pages = ceil(lines / (512 * EBI_WINDOW_PAGE)) * 64;
    return ebi_memory_for(p, sizeof(ebi_window_state) + lines * window_bytes(p) + pages);
}

static eb_status window_check_size(const ebi_params *p, const ebi_args *a, window_size s,
                                   eb_error *err) {
    const ebi_window_plan plan = window_plan(p);
    const double fpr = a->real[EBI_WINDOW_FPR], bits = 8 * window_bytes(p);
    if (s.lines < 1)
        return ebi_fail(err, EB_ESPEC, "window: memory=%llu is too small for shards=%llu",
                        (unsigned long long)p->opt[EBI_O_MEMORY],
                        (unsigned long long)p->opt[EBI_O_SHARDS]);
    if (s.fpr > (a->given[EBI_WINDOW_FPR] ? 1.02 * fpr : 0.5)) {
        const bool cells = a->given[EBI_O_CELLS];
        const double lines = ceil(ebi_window_bits(&plan, fpr) * s.load / bits);
        return ebi_fail(err, EB_ESPEC,
                        "window: %s must be at least %.0f for %.10g keys with fpr=%g, not %llu",
                        cells ? "cells" : "memory",
                        cells ? lines * (double)window_cells(p) : window_memory(p, lines),
                        s.load * (double)p->opt[EBI_O_SHARDS], fpr,
                        (unsigned long long)p->opt[cells ? EBI_O_CELLS : EBI_O_MEMORY]);
    }
    return EB_OK;
}

static eb_status window_settle(ebi_params *p, double lines, eb_error *err) {
    const uint64_t shards = p->opt[EBI_O_SHARDS], window = p->opt[EBI_WINDOW_WINDOW];
    if (lines > (double)(UINT64_C(1) << (64 - EBI_WINDOW_W_MAX)) / (double)shards)
        return ebi_fail(err, EB_ESPEC,
                        "window: %.0f bytes of lines and fingerprints need more than 64 bits of "
                        "hash: take less memory, a smaller window or a higher fpr",
                        window_memory(p, lines));
    const uint64_t count = (uint64_t)lines;
    p->opt[EBI_O_CELLS] = count * window_cells(p);
    p->span = sizeof(ebi_block_head) + sizeof(ebi_window_state) + count * window_bytes(p) +
              window_page_bytes(count);
    p->derived[2] = count;
    const uint64_t each = window_share(window, shards);
    const bool by_time = window_by_time(p);
    p->derived[0] = by_time || shards == 1 ? window : each + 6 * window_root_up(each);
    const bool ends_early = by_time && p->opt[EBI_WINDOW_OVERLOAD] == EBI_WINDOW_SHORTEN;
    p->derived[1] = ends_early
                        ? window_share(p->opt[EBI_WINDOW_ITEMS], shards * p->opt[EBI_WINDOW_ERAS])
                        : UINT64_MAX;
    return EB_OK;
}

static eb_status window_check_options(const ebi_params *p, const ebi_args *a, eb_error *err) {
    if (window_rotates(p) && p->opt[EBI_WINDOW_LINE])
        return ebi_fail(err, EB_ESPEC, "window: line must be 64 for mode=rotate, not 128");
    if (window_rotates(p) && a->given[EBI_WINDOW_W] &&
        p->opt[EBI_WINDOW_W] > EBI_WINDOW_ROTATE_W_MAX)
        return ebi_fail(err, EB_ESPEC, "window: print_bits must be 1..8 for mode=rotate, not %llu",
                        (unsigned long long)p->opt[EBI_WINDOW_W]);
    if (a->given[EBI_O_CELLS] && p->opt[EBI_O_CELLS] % window_cells(p) != 0)
        return ebi_fail(err, EB_ESPEC, "window: cells must be a multiple of %u here, not %llu",
                        window_cells(p), (unsigned long long)p->opt[EBI_O_CELLS]);
    return EB_OK;
}

static void window_choose_window(ebi_params *p, const ebi_args *a, double load) {
    const double shards = (double)p->opt[EBI_O_SHARDS];
    const double all = window_by_time(p) ? load * shards : window_unpadded(load, shards);
    const uint64_t items = (uint64_t)fmax(fmin(floor(all + 0.5), 1e18), 1);
    if (!a->given[EBI_WINDOW_WINDOW])
        p->opt[EBI_WINDOW_WINDOW] = a->given[EBI_WINDOW_ITEMS] ? p->opt[EBI_WINDOW_ITEMS] : items;
    if (!a->given[EBI_WINDOW_ITEMS])
        p->opt[EBI_WINDOW_ITEMS] = window_by_time(p) ? items : p->opt[EBI_WINDOW_WINDOW];
}

/* An era is a whole number of units, so a short window has as many eras as fit. */
static void window_choose_eras(ebi_params *p, const ebi_args *a) {
    const uint64_t usual = window_rotates(p) ? WINDOW_ROTATE_ERAS : WINDOW_ERAS;
    const uint64_t window = p->opt[EBI_WINDOW_WINDOW];
    if (a->given[EBI_WINDOW_ERAS]) return;
    p->opt[EBI_WINDOW_ERAS] =
        a->given[EBI_WINDOW_WINDOW] ? window_share(window, window_share(window, usual)) : usual;
}

static eb_status window_resolve(ebi_params *p, const ebi_args *a, eb_error *err) {
    const bool *const given = a->given;
    window_choose_eras(p, a);
    window_choose_line(p, a);
    EBI_TRY(window_check_options(p, a, err));
    if (given[EBI_O_CELLS] && given[EBI_WINDOW_WINDOW] && given[EBI_WINDOW_ITEMS] &&
        given[EBI_WINDOW_W] && !given[EBI_WINDOW_FPR])
        return window_settle(p, window_given_lines(p, a), err);
    const window_size s = window_choose_size(p, a);
    const ebi_window_plan plan = window_plan(p);
    EBI_TRY(window_check_size(p, a, s, err));
    if (!given[EBI_WINDOW_W]) p->opt[EBI_WINDOW_W] = ebi_window_width(&plan, s.fpr);
    window_choose_window(p, a, s.load);
    return window_settle(p, s.lines, err);
}

static const ebi_ops *window_select(const ebi_params *p) {
    if (window_rotates(p)) return ebi_window_rotate(p);
    const ebi_ops *const best = ebi_window_vbmi(p), *const good = ebi_window_avx2(p);
    return best ? best : good ? good : &ebi_window_portable;
}

/* The whole filter */

static void window_init(const ebi_params *p, uint8_t *block) {
    ebi_window_open(p, block).state->shortest = UINT64_MAX;
}

static void window_advance(const ebi_params *p, uint8_t *block, uint64_t time) {
    const ebi_window x = ebi_window_open(p, block);
    if (window_by_time(p) && ebi_window_is_over(&x, time)) ebi_window_close_eras(&x, time);
}

static bool window_is_zero_between(const uint8_t *line, unsigned from,
                                   unsigned to) { /* from, to: bits */
    assert(from <= to);
    for (unsigned bit = from; bit < to; bit++)
        if (line[bit / 8] >> bit % 8 & 1) return false;
    return true;
}

static bool window_line_is_sound(const ebi_window *x, const uint8_t *line) {
    uint32_t header;
    memcpy(&header, line, sizeof header);
    if ((header >> 8 & 31) == 0) return ebi_window_is_zero(x, line);
    const ebi_window_line l = ebi_window_read(x, line);
    return l.w <= x->w && l.head < l.slots && l.n <= l.slots && l.nn <= l.n &&
           (l.nn > 0 ? l.wn >= 1 && l.wn < l.w : l.wn == l.w) &&
           ~(l.marks | ebi_wide_ones(ebi_window_marks(x, l.n))) == 0 &&
           window_is_zero_between(line, EBI_WINDOW_HEADER + l.slots * l.w,
                                  8 * x->bytes - ebi_window_marks(x, l.slots));
}

static bool window_state_is_sound(const ebi_params *p, const uint8_t *block, const ebi_window *x) {
    const ebi_window_state *const s = x->state;
    const ebi_block_head *const head = ebi_head_of(block);
    const uint64_t last = window_by_time(p) ? head->clock : head->items;
    return s->swept < x->pages && s->unswept <= x->pages && s->early >> EBI_WINDOW_STARTS == 0 &&
           s->start[s->era % EBI_WINDOW_STARTS] <= last && s->entered <= head->items &&
           s->saturated <= head->items && (s->shortest < x->ticks || s->shortest == UINT64_MAX);
}

/* Whether the bits of exactly those pages are set that hold something. */
static bool window_pages_are_sound(const ebi_window *x) {
    uint64_t held = 0;
    for (uint64_t page = 0; page < 8 * window_page_bytes(x->count); page++) {
        const bool bit = x->held[page / 64] >> page % 64 & 1;
        bool any = false;
        for (uint64_t i = page * EBI_WINDOW_PAGE;
             i < ebi_min((page + 1) * EBI_WINDOW_PAGE, x->count); i++)
            any |= !ebi_window_is_zero(x, x->lines + i * x->bytes);
        if (any != bit) return false;
        held += bit;
    }
    return held == x->state->held;
}

static eb_status window_check(const ebi_params *p, const uint8_t *block, eb_error *err) {
    const ebi_window x = ebi_window_open(p, block);
    if (!window_state_is_sound(p, block, &x) || !window_pages_are_sound(&x))
        return ebi_fail(err, EB_EFORMAT, "damaged window filter: its eras are invalid");
    for (uint64_t i = 0; i < x.count && !x.rotate; i++)
        if (!window_line_is_sound(&x, x.lines + i * x.bytes))
            return ebi_fail(err, EB_EFORMAT, "damaged window filter: line %llu is invalid",
                            (unsigned long long)i);
    return EB_OK;
}

/* The share of all fingerprints of w bits that match an entry.  Entries differ, because otherwise
 * the later one would not have been stored, except for those that have dropped bits since.  Wide
 * fingerprints rarely become equal by that. */
enum { WINDOW_COUNTED_BITS = 12 };

static double window_count_matches(const ebi_window *x, const uint8_t *line,
                                   const ebi_window_line *l) {
    uint64_t match[1 << WINDOW_COUNTED_BITS >> 6] = {0};
    unsigned n = 0;
    for (unsigned i = 0; i < l->n; i++) {
        const unsigned known = i < l->nn ? l->wn : l->w;
        const uint32_t print = ebi_window_get(x, line, ebi_window_slot(l, i), l->w);
        for (uint32_t f = print & (uint32_t)ebi_ones(known); f < UINT32_C(1) << l->w;
             f += UINT32_C(1) << known)
            match[f / 64] |= UINT64_C(1) << f % 64;
    }
    for (size_t i = 0; i < EBI_COUNT_OF(match); i++) n += ebi_popcount(match[i]);
    return ldexp(n, -(int)l->w);
}

static double window_matches(const ebi_window *x, const uint8_t *line, const ebi_window_line *l) {
    if (l->w <= WINDOW_COUNTED_BITS) return window_count_matches(x, line, l);
    return fmin(1, ldexp(l->nn, -(int)l->wn) + ldexp(l->n - l->nn, -(int)l->w));
}

static void window_stat(const ebi_params *p, const uint8_t *block, eb_stats *out) {
    const ebi_window x = ebi_window_open(p, block);
    double sum = 0;
    for (uint64_t i = 0; i < x.count && !x.rotate; i++) {
        const uint8_t *const line = x.lines + i * x.bytes;
        ebi_window_line l = ebi_window_read(&x, line);
        ebi_window_expire(&x, &l, x.state->era);
        out->cells_used += l.n;
        if (l.n > 0) sum += window_matches(&x, line, &l);
    }
    out->fpr = sum / (double)x.count;
    if (x.rotate) ebi_window_rotate_stat(&x, out);
    out->cells = p->opt[EBI_O_CELLS];
    out->saturated = x.state->saturated;
    out->window = (double)p->opt[EBI_WINDOW_WINDOW];
    if (x.state->shortest < x.ticks)
        out->window =
            (double)x.state->shortest * (window_by_time(p) ? 1 : (double)p->opt[EBI_O_SHARDS]);
}

/* Prediction.  While nothing has expired, lines only grow, and their width follows from their
 * number of entries.  Later the plan gives the rate, if the filter is used as planned. */

static double window_young_fpr(const ebi_window *x, double per_line) {
    assert(per_line >= 0);
    double sum = 0;
    for (unsigned n = 1, w = x->w; n <= x->cap; n++) {
        while (w > 1 && ebi_window_slots(x, w) < n) w--;
        const double some = n < x->cap ? ebi_poisson_pmf(per_line, n) : ebi_poisson_ge(per_line, n);
        sum += some * (1 - pow(1 - ldexp(1, -(int)w), n));
    }
    return sum;
}

static double window_old_fpr(const ebi_params *p, const ebi_window *x, double window) {
    const ebi_window_plan plan = window_plan(p);
    const double bits = 8.0 * x->bytes * (double)x->count / window;
    if (x->rotate) return ebi_window_rotate_fpr(&plan, x->w, bits);
    const double fpr = ebi_window_fpr(&plan, bits);
    return x->w == ebi_window_width(&plan, fpr) ? fpr : NAN;
}

/* The share of repeats that are missed if all keys come equally often, endlessly.  With refresh,
 * those with gaps longer than an entry lives: the window, and up to an era more.  Without, a key is
 * missed once in each life of an entry, in which it comes life / distinct times; a life begins as
 * long after the end of an era as it takes the key to come.  A key that is taken for another is not
 * missed. */
static double window_missed(const ebi_params *p, const ebi_window *x, double window,
                            double distinct) {
    assert(window >= 0 && distinct >= 0);
    const double era = window / x->eras, begins = distinct - era / expm1(era / distinct);
    const double life = window + (x->refresh ? era / 2 : era - begins);
    const double gone = exp(-window / distinct) * -expm1(-era / distinct) * distinct / era;
    const double entries =
        x->refresh ? distinct * -expm1(-life / distinct) : distinct * life / (distinct + life);
    const double fpr = x->rotate ? window_old_fpr(p, x, entries * window / life)
                                 : window_young_fpr(x, entries / (double)x->count);
    return x->refresh ? gone * (1 - fpr) : 1 / (1 + life / distinct + fpr / (1 - fpr));
}

static void window_predict_young(const ebi_window *x, double all, double distinct,
                                 eb_prediction *out) {
    out->fnr = out->mean_fnr = 0;
    if (x->rotate || distinct < all) return;
    const double per_line = distinct / (double)x->count, fpr = window_young_fpr(x, per_line);
    if (fpr > 0.01) return; /* keys that are taken for others are not stored */
    out->fpr = fpr;
    out->fill = per_line / x->cap;
}

/* Repeats that are `gap` records apart.  If each repeat refreshes its key, they are seen while the
 * window lasts; else until the first of them is too old. */
static void window_predict_gap(const ebi_window *x, const eb_workload *w, double window,
                               eb_prediction *out) {
    const double gap = w->gap;
    assert(gap > 0);
    const double longest = window * (1 + 1.0 / x->eras);
    const double old = fmin(fmax((gap - window) / (longest - window), 0), 1);
    out->fnr = old * (1 - out->fpr_high);
    if (x->refresh && x->rotate && gap <= window) { /* all keys of a window differ: it is full */
        const double fills = w->distinct > 0 ? fmin(1, window / w->distinct) : 0;
        out->fpr = out->fpr_high;
        out->mean_fpr = out->fpr * (1 - 0.65 * fills); /* while it fills; measured */
        out->accuracy = 0.1;
    }
    if (x->refresh || old > 0) return;
    out->fnr = NAN;
    out->fnr_low = 0; /* for keys that come twice; high for those that come endlessly */
    out->fnr_high = gap / (longest + gap);
}

/* Assumes that as many keys come in a window as planned. */
static void window_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out) {
    const ebi_window x = ebi_window_of(p);
    const double items = (double)p->opt[EBI_WINDOW_ITEMS] / (double)p->opt[EBI_O_SHARDS];
    const double window = window_by_time(p) ? items : (double)x.ticks;
    const double kept = window * (1 + 0.5 / x.eras);
    const double all = w->items > 0 ? w->items : INFINITY;
    const double distinct = w->distinct > 0 ? w->distinct : all;
    /* If at most as many keys come in a window as planned, in any order. */
    out->most_fpr = out->fpr_high = window_old_fpr(p, &x, window);
    if (all <= window) {
        window_predict_young(&x, all, distinct, out);
        return;
    }
    if (distinct == all && all > 2 * kept) out->fpr = window_old_fpr(p, &x, window);
    if (distinct < all && isinf(all) && w->zipf == 0 && w->gap == 0)
        out->fnr = window_missed(p, &x, window, distinct);
    if (w->gap > 0) window_predict_gap(&x, w, window, out);
    if (out->fnr == 0 || isinf(all) || w->gap > 0) out->mean_fnr = out->fnr;
    if (isinf(all) && isnan(out->mean_fpr)) out->mean_fpr = out->fpr;
    out->settles_after = 2 * kept;
}

static const ebi_timed window_timed = {.advance = window_advance};

const ebi_kind ebi_kind_window = {
    .info = {"window", "the keys of the last records or minutes, none of which is forgotten",
             "everbloom's own", EB_FORGETS | EB_USES_TIME, window_options,
             "Was it there in the last million records, or the last ten minutes?"},
    .version = 1,
    .traits = EBI_LONG_BATCHES,
    .resolve = window_resolve,
    .select = window_select,
    .init = window_init,
    .check = window_check,
    .stat = window_stat,
    .predict = window_predict,
    .timed = &window_timed,
};
