/* calls.c - adding and asking: the only file that makes batches.
 *
 * All keys of a command come at one time: the primary's clock, in milliseconds since 1970, or what
 * the command said.  A clock that steps back is clamped, never refused.  Replicas and the
 * append-only file get the time with the keys, so that all of them have the same bytes. */
#include "module.h"
#include <math.h>

/* Buffers of the running command.  They grow to the largest command, and are not given back. */
static struct {
    size_t cap;
    eb_key *key;
    eb_hash *hash;
    uint8_t *seen;
    double *count;
    uint64_t *weight;
} calls_buffer;

static void *calls_grow(void *old, size_t n, size_t size) {
    if (old) RedisModule_Free(old);
    return RedisModule_Alloc(n * size);
}

static void calls_reserve(size_t n) {
    if (n <= calls_buffer.cap) return;
    const size_t cap = n < 64 ? 64 : n;
    calls_buffer.key = calls_grow(calls_buffer.key, cap, sizeof *calls_buffer.key);
    calls_buffer.hash = calls_grow(calls_buffer.hash, cap, sizeof *calls_buffer.hash);
    calls_buffer.seen = calls_grow(calls_buffer.seen, cap, sizeof *calls_buffer.seen);
    calls_buffer.count = calls_grow(calls_buffer.count, cap, sizeof *calls_buffer.count);
    calls_buffer.weight = calls_grow(calls_buffer.weight, cap, sizeof *calls_buffer.weight);
    calls_buffer.cap = cap;
}

uint64_t *ev_weights(size_t n) {
    calls_reserve(n);
    return calls_buffer.weight;
}

ev_call ev_items(server_string *const *item, size_t n) {
    return (ev_call){.item = item, .step = 1, .n = n};
}

ev_call ev_hashes(const void *packed, size_t n) {
    return (ev_call){.hashes = packed, .n = n};
}

/* Keys as hashes. */
static eb_status calls_hash(const ev_value *v, const ev_call *c, eb_error *err) {
    if (c->hashes) {
        const uint8_t *p = c->hashes;
        for (size_t i = 0; i < c->n; i++, p += 8) {
            eb_hash h = 0;
            for (int b = 7; b >= 0; b--) h = h << 8 | p[b];
            calls_buffer.hash[i] = h;
        }
        return EB_OK;
    }
    for (size_t i = 0; i < c->n; i++)
        calls_buffer.key[i].p =
            RedisModule_StringPtrLen(c->item[i * c->step], &calls_buffer.key[i].len);
    const eb_keys keys = eb_keys_array(EB_STRING, calls_buffer.key);
    return eb_hash_keys(v->f, &keys, c->n, calls_buffer.hash, err);
}

static uint64_t calls_time(const ev_value *v, ev_call *c) {
    if (v->clocked && c->time == 0) c->time = (uint64_t)RedisModule_Milliseconds();
    return c->time;
}

static eb_status calls_batch(const ev_value *v, ev_call *c, eb_batch *b, eb_error *err) {
    calls_reserve(c->n);
    const eb_status status = calls_hash(v, c, err);
    if (status != EB_OK) return status;
    *b = eb_batch_hashes(calls_buffer.hash, c->n);
    if (v->caps & EB_KEEPS_KEYS && c->item) { /* a list keeps what was hashed */
        static eb_keys keys;
        keys = eb_keys_array(EB_STRING, calls_buffer.key);
        b->keys = &keys;
        b->expelled = c->expelled;
        b->ctx = c->expelled_ctx;
    }
    if (c->weight) b->value = c->weight;
    if (c->same_weight) b->flags |= EB_SAME_VALUE;
    c->seen = calls_buffer.seen;
    c->count = calls_buffer.count;
    b->seen = c->seen;
    if (c->want_count) b->count = c->count;
    calls_time(v, c);
    if (v->clocked) {
        b->time = &c->time;
        b->flags |= EB_SAME_TIME | EB_CLAMP_TIMES;
    }
    return EB_OK;
}

/* One item with nothing else said has a call of its own in the library, which is cheaper. */
static bool calls_is_plain(const ev_value *v, const ev_call *c) {
    return c->n == 1 && c->item && !c->weight && !v->clocked && !c->want_count && !c->expelled;
}

static eb_status calls_add_plain(ev_value *v, ev_call *c, eb_error *err) {
    size_t len;
    bool seen;
    const char *const p = RedisModule_StringPtrLen(c->item[0], &len);
    calls_reserve(1);
    c->seen = calls_buffer.seen;
    ev_changed(v);
    const eb_status status = eb_add(v->f, p, len, &seen, err);
    c->seen[0] = seen;
    c->done = status == EB_OK;
    ev_total_adds += c->done;
    return status;
}

eb_status ev_add(ev_value *v, ev_call *c, eb_error *err) {
    eb_batch b;
    c->done = 0;
    if (calls_is_plain(v, c)) return calls_add_plain(v, c, err);
    eb_status status = calls_batch(v, c, &b, err);
    if (status != EB_OK) return status;
    ev_changed(v);
    status = eb_add_batch(v->f, &b, err);
    c->done = status == EB_OK ? c->n : status == EB_EFULL ? (size_t)err->at : 0;
    ev_total_adds += c->done;
    return status;
}

eb_status ev_ask(const ev_value *v, ev_call *c, eb_error *err) {
    eb_batch b;
    const eb_status status = calls_batch(v, c, &b, err);
    ev_total_asks += c->n;
    return status == EB_OK ? eb_ask_batch(v->f, &b, err) : status;
}

/* A removal says when the key was added; without a time it is taken out of the present. */
eb_status ev_remove(ev_value *v, ev_call *c, eb_error *err) {
    eb_batch b;
    const uint64_t when = c->time;
    const eb_status status = calls_batch(v, c, &b, err);
    if (status != EB_OK) return status;
    b.seen = NULL;
    b.count = NULL;
    b.flags &= ~(uint32_t)EB_CLAMP_TIMES;
    if (when == 0) {
        b.time = NULL;
        b.flags &= ~(uint32_t)EB_SAME_TIME;
    }
    ev_changed(v);
    return eb_remove_batch(v->f, &b, err);
}

/* EB.INSERT key [TIME t] [WEIGHT w | WEIGHTS] ITEMS item [weight] ..., or EB.HADD. */
void ev_replicate_add(server_ctx *ctx, server_string *key, const ev_value *v, const ev_call *c) {
    if (c->done == 0) return;
    if (!v->clocked && c->done == c->n && !c->part) { /* the same without a time: much cheaper */
        RedisModule_ReplicateVerbatim(ctx);
        return;
    }
    const long long time = v->clocked ? (long long)c->time : 0;
    const long long weight = c->weight ? (long long)c->weight[0] : 1;
    if (c->hashes && c->weight) {
        RedisModule_Replicate(ctx, ev_command(EV_HADD), "sbclcl", key, (const char *)c->hashes,
                              c->done * 8, "TIME", time, "WEIGHT", weight);
    } else if (c->hashes) {
        RedisModule_Replicate(ctx, ev_command(EV_HADD), "sbcl", key, (const char *)c->hashes,
                              c->done * 8, "TIME", time);
    } else if (c->step == 2) {
        RedisModule_Replicate(ctx, ev_command(EV_INSERT), "sclccv", key, "TIME", time, "WEIGHTS",
                              "ITEMS", c->item, c->done * 2);
    } else if (c->weight) {
        RedisModule_Replicate(ctx, ev_command(EV_INSERT), "sclclcv", key, "TIME", time, "WEIGHT",
                              weight, "ITEMS", c->item, c->done);
    } else {
        RedisModule_Replicate(ctx, ev_command(EV_INSERT), "sclcv", key, "TIME", time, "ITEMS",
                              c->item, c->done);
    }
}

void ev_spec(const ev_value *v, char *out) {
    strcpy(out, eb_spec(v->f));
}

eb_status ev_describe(const ev_value *v, int cells, ev_info *out, eb_error *err) {
    eb_stats s;
    EB_INIT(s);
    const eb_status status = eb_stat(v->f, cells ? EB_STAT_CELLS : 0, &s, err);
    if (status != EB_OK) return status;
    *out = (ev_info){.adds = s.adds,
                     .new_keys = s.new_keys,
                     .capacity = s.capacity,
                     .parts = s.parts,
                     .clock = s.clock,
                     .cells = s.cells,
                     .saturated = s.saturated,
                     .fill = s.fill,
                     .fpr = s.fpr,
                     .fnr = NAN,
                     .window = s.window,
                     .halflife = s.halflife};
    if (!cells || s.adds == 0) return EB_OK;
    char spec[EB_SPEC_MAX];
    eb_workload w;
    eb_prediction p;
    EB_INIT(w);
    EB_INIT(p);
    ev_spec(v, spec);
    w.items = (double)s.adds;
    if (eb_predict(spec, &w, NULL, 1, &p, NULL) == EB_OK) out->fnr = p.fnr;
    return EB_OK;
}

eb_status ev_range(const ev_value *v, uint64_t from, uint64_t to, double *lower, double *upper,
                   eb_error *err) {
    eb_range r;
    EB_INIT(r);
    const eb_status status = eb_range_count(v->f, from, to, &r, err);
    *lower = r.lower;
    *upper = r.upper;
    return status;
}

eb_status ev_top(const ev_value *v, double at_least, eb_top_key *keys, size_t cap, size_t *n,
                 double *watermark, eb_error *err) {
    eb_top_list list;
    EB_INIT(list);
    list.at_least = at_least;
    list.keys = keys;
    list.cap = cap;
    const uint64_t now = v->clocked ? (uint64_t)RedisModule_Milliseconds() : 0;
    if (v->clocked) list.time = &now;
    eb_status status = eb_top(v->f, &list, err);
    if (status == EB_ETIME) { /* the filter's clock is ahead of this server's */
        list.time = NULL;
        status = eb_top(v->f, &list, err);
    }
    *n = list.n;
    *watermark = list.watermark;
    return status;
}

eb_status ev_plan(const ev_goal *goal, ev_offer *out, eb_error *err) {
    eb_goal g;
    eb_workload w;
    eb_offer best;
    size_t n;
    EB_INIT(g);
    EB_INIT(w);
    EB_INIT(best);
    w.items = goal->items;
    w.distinct = goal->distinct;
    g.load = &w;
    g.max_bytes = goal->bytes;
    g.max_fpr = goal->fpr;
    g.max_fnr = goal->fnr;
    g.caps = goal->caps;
    g.prefer = goal->bytes > 0 ? EB_FEWEST_MISSES : EB_SMALLEST;
    eb_status status = eb_plan(&g, &best, 1, &n, err);
    if (status != EB_OK) return status;
    memcpy(out->spec, best.spec, sizeof best.spec);
    eb_spec_info info;
    EB_INIT(info);
    status = eb_spec_describe(out->spec, &info, err);
    out->bytes = (double)info.bytes;
    out->fpr = best.mean_fpr;
    out->fnr = best.mean_fnr;
    return status;
}
