/* late.c - see late.h. */
#include "late.h"
#include <stdlib.h>

enum { LATE_KEYS = 1 << 18, LATE_HELD = 1 << 16, LATE_BYTES = 64 << 20 };

typedef struct held {
    uint64_t time, value, number; /* number: in the order in which they came */
    eb_hash hash;
    eb_key key; /* if the filter keeps keys */
} held;

struct late {
    bool holds; /* lines; else it keeps keys */
    uint64_t displaced;
    held doubted; /* its time is far ahead, and no other line agrees yet */
    bool has_doubted;

    uint64_t window;
    bool refresh;
    keytable keys; /* count: the time at which the key's window ends */
    uint64_t ends; /* the last of these */

    held *lines;
    size_t n;
    bool in_order;
    uint64_t numbers, given; /* given: the last time that the filter got */
    arena text[2];           /* their keys, and room for those that stay when others are given */
    size_t bytes;            /* of these keys */
    bool keeps_keys;
};

struct late *late_keys(uint64_t window, bool refresh) {
    struct late *const l = cli_alloc(sizeof *l);
    *l = (struct late){.window = window, .refresh = refresh};
    return l;
}

struct late *late_lines(bool with_keys) {
    struct late *const l = cli_alloc(sizeof *l);
    *l = (struct late){.holds = true, .in_order = true, .keeps_keys = with_keys};
    l->lines = cli_alloc(2 * LATE_HELD * sizeof *l->lines);
    return l;
}

void late_close(struct late *l) {
    if (!l) return;
    if (l->displaced > 0)
        cli_warn("%llu %s too late to count at %s own place, and counted at the time of the "
                 "previous line",
                 (unsigned long long)l->displaced, l->displaced == 1 ? "line was" : "lines were",
                 l->displaced == 1 ? "its" : "their");
    keytable_free(&l->keys);
    free(l->lines);
    arena_free(&l->text[0]);
    arena_free(&l->text[1]);
    free(l);
}

static void must(eb_status status, const eb_error *err) {
    if (status != EB_OK) cli_fail("the filter refuses keys: %s", err->text);
}

/* ---- Keys beside a window. */

static const eb_key no_key = {"", 0}; /* the table is of hashes */

static void add_run(stream *s, const eb_hash *hash, size_t n, const uint64_t *time, uint8_t *seen) {
    eb_batch batch = eb_batch_hashes(hash, n);
    eb_error err;
    batch.time = time;
    batch.seen = seen;
    must(eb_add_batch(s->filter, &batch, &err), &err);
}

/* Is the time in the window of the entry, which begins when its line was printed? */
static bool is_repeat(const struct late *l, const table_key *k, uint64_t time) {
    return k && time < k->count && k->count < time + 2 * l->window;
}

static bool filter_has(const stream *s, size_t i) {
    eb_batch one = eb_batch_hashes(s->hash + i, 1);
    uint8_t seen = 0;
    eb_error err;
    one.time = &s->now[i];
    one.seen = &seen;
    must(eb_ask_batch(s->filter, &one, &err), &err);
    return seen;
}

/* Without those whose windows have ended. */
static void purge(struct late *l, uint64_t now) {
    keytable rest = {0};
    for (size_t i = 0; i < l->keys.n; i++)
        if (l->keys.keys[i].count > now)
            keytable_get(&rest, l->keys.keys[i].hash, no_key)->count = l->keys.keys[i].count;
    keytable_free(&l->keys);
    l->keys = rest;
}

static void remember(stream *s, struct late *l, eb_hash hash, uint64_t time, uint64_t now) {
    if (l->keys.n >= LATE_KEYS) purge(l, now);
    if (l->keys.n >= LATE_KEYS) {
        add_run(s, &hash, 1, &now, NULL);
        l->displaced++;
        return;
    }
    const uint64_t end = time + l->window;
    keytable_get(&l->keys, hash, no_key)->count = end;
    if (end > l->ends) l->ends = end;
}

/* What the filter knows is of the window before its clock: for a time in there, a repeat. */
static bool take_odd(stream *s, struct late *l, size_t i) {
    table_key *const k = keytable_find(&l->keys, s->hash[i], no_key);
    const uint64_t time = s->time[i], end = time + l->window;
    if (is_repeat(l, k, time)) {
        if (l->refresh && k->count < end) k->count = end;
        if (k->count > l->ends) l->ends = k->count;
        return true;
    }
    if (s->place[i] == PLACE_LATE && end > s->now[i] && filter_has(s, i)) return true;
    if (s->place[i] == PLACE_LATE) {
        remember(s, l, s->hash[i], time, s->now[i]);
    } else {
        l->doubted = (held){.time = time, .hash = s->hash[i]};
        l->has_doubted = true;
    }
    return false;
}

/* The next line says whether the time of a line was right. */
static void settle_doubt(stream *s, struct late *l, bool refuted, uint64_t now) {
    if (!l->has_doubted) return;
    l->has_doubted = false;
    if (refuted)
        remember(s, l, l->doubted.hash, l->doubted.time, now);
    else
        add_run(s, &l->doubted.hash, 1, &l->doubted.time, NULL);
}

static bool is_odd(const stream *s, const struct late *l, size_t i) {
    return s->place[i] != PLACE_IN_ORDER ||
           (l->keys.n > 0 && is_repeat(l, keytable_find(&l->keys, s->hash[i], no_key), s->time[i]));
}

static void add_to_window(stream *s, struct late *l, size_t n) {
    if (l->keys.n > 0 && s->now[0] >= l->ends) keytable_free(&l->keys);
    for (size_t i = 0, j; i < n; i = j) {
        settle_doubt(s, l, s->refuted[i], s->now[i]);
        for (j = i; j < n && !is_odd(s, l, j);) j++;
        if (j > i) add_run(s, s->hash + i, j - i, s->time + i, s->hit + i);
        if (j == n) break;
        s->hit[j] = take_odd(s, l, j);
        j++;
    }
}

/* ---- Lines held back. */

static int by_time(const void *a, const void *b) {
    const held *const x = a, *const y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static eb_key copy_key(arena *to, eb_key key) {
    char *const text = arena_get(to, key.len + 1);
    if (key.len > 0) memcpy(text, key.p, key.len);
    arena_take(to, key.len + 1);
    return (eb_key){text, key.len};
}

/* The keys of lines that are gone make room. */
static void move_keys(struct late *l) {
    arena rest = l->text[1];
    l->bytes = 0;
    for (size_t i = 0; i < l->n; i++) {
        l->lines[i].key = copy_key(&rest, l->lines[i].key);
        l->bytes += l->lines[i].key.len + 1;
    }
    if (l->has_doubted) l->doubted.key = copy_key(&rest, l->doubted.key);
    arena_reset(&l->text[0]);
    l->text[1] = l->text[0];
    l->text[0] = rest;
}

/* The first n of them, in the order of their times. */
static void give(stream *s, struct late *l, size_t n) {
    if (!l->in_order) qsort(l->lines, l->n, sizeof *l->lines, by_time);
    for (size_t i = 0; i < n;) {
        eb_hash hash[STREAM_BATCH];
        uint64_t time[STREAM_BATCH], value[STREAM_BATCH];
        eb_key key[STREAM_BATCH];
        uint8_t seen[STREAM_BATCH];
        size_t m = 0;
        for (; m < STREAM_BATCH && i < n; m++, i++) {
            const held *const h = &l->lines[i];
            l->displaced += h->time < l->given;
            l->given = h->time > l->given ? h->time : l->given;
            hash[m] = h->hash;
            time[m] = l->given;
            value[m] = h->value;
            key[m] = h->key;
        }
        eb_batch batch = eb_batch_hashes(hash, m);
        const eb_keys keys = eb_keys_array(EB_STRING, key);
        eb_error err;
        if (l->keeps_keys) batch.keys = &keys;
        batch.time = time;
        batch.value = s->values.from ? value : NULL;
        batch.seen = seen;
        must(eb_add_batch(s->filter, &batch, &err), &err);
        exact_add(s->exact, &batch);
        for (size_t k = 0; k < m; k++) s->seen += seen[k];
    }
    l->n -= n;
    memmove(l->lines, l->lines + n, l->n * sizeof *l->lines);
    l->in_order = true;
    if (l->keeps_keys) move_keys(l);
}

static void hold(stream *s, struct late *l, held h) {
    if (l->n == 2 * LATE_HELD || l->bytes > LATE_BYTES) give(s, l, (l->n + 1) / 2);
    if (l->keeps_keys) {
        h.key = copy_key(&l->text[0], h.key);
        l->bytes += h.key.len + 1;
    }
    l->in_order = l->in_order && (l->n == 0 || l->lines[l->n - 1].time <= h.time);
    l->lines[l->n++] = h;
}

void late_hold(stream *s, size_t from, size_t n) {
    struct late *const l = s->late;
    if (l->given == 0) l->given = s->times.begun;
    for (size_t i = from; i < from + n; i++) {
        held h = {s->time[i], s->values.from ? s->value[i] : 1, l->numbers++, s->hash[i],
                  s->key[i]};
        if (l->has_doubted && !s->refuted[i]) hold(s, l, l->doubted);
        l->has_doubted = s->place[i] == PLACE_AHEAD;
        if (!l->has_doubted) {
            hold(s, l, h);
        } else {
            if (l->keeps_keys) h.key = copy_key(&l->text[0], h.key);
            l->doubted = h;
        }
        s->hit[i] = 0;
    }
}

/* ---- Both. */

void late_add(stream *s, size_t n) {
    if (s->late->holds)
        late_hold(s, 0, n);
    else
        add_to_window(s, s->late, n);
}

void late_give(stream *s) {
    give(s, s->late, s->late->n);
}

void late_settle(stream *s) {
    struct late *const l = s->late;
    if (l->holds) {
        if (l->has_doubted) {
            hold(s, l, l->doubted);
            if (l->doubted.time > s->times.last) s->times.last = l->doubted.time;
        }
        l->has_doubted = false;
        give(s, l, l->n);
        return;
    }
    if (!s->state) return;
    settle_doubt(s, l, false, s->times.last);
    s->times.last = s->times.doubted > s->times.last ? s->times.doubted : s->times.last;
    purge(l, s->times.last);
    for (size_t i = 0; i < l->keys.n; i++)
        add_run(s, &l->keys.keys[i].hash, 1, &s->times.last, NULL);
    keytable_free(&l->keys);
}
