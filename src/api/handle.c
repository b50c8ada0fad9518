/* handle.c - making, cloning, clearing and freeing filters, and what a handle knows: its spec, its
 * shards and its clock.  What happens to keys is in batch.c. */
#include "base/rng.h"
#include "filter.h"
#include <everbloom/experimental.h>

/* Sets the parameters, and what follows from them. */
static void handle_set(eb_filter *f, const ebi_params *p) {
    f->p = *p;
    f->ops = f->kind->select ? f->kind->select(p) : &f->kind->ops;
    const size_t len =
        ebi_spec_print(f->kind, p, f->spec, f->handle_bytes - offsetof(eb_filter, spec));
    assert(len < f->handle_bytes - offsetof(eb_filter, spec));
    (void)len;
}

eb_status ebi_handle(eb_filter **out, const ebi_kind *kind, const ebi_params *p,
                     const eb_allocator *mem, eb_error *err) {
    eb_allocator from;
    EBI_TRY(ebi_allocator(&from, mem, err));
    char spec[EB_SPEC_MAX];
    const size_t bytes = ebi_handle_bytes(kind, ebi_spec_print(kind, p, spec, sizeof spec));
    eb_filter *const f = ebi_alloc_zeroed(&from, bytes);
    if (!f) return ebi_fail(err, EB_ENOMEM, "no memory for a handle");
    f->kind = kind;
    assert(bytes <= UINT16_MAX);
    f->handle_bytes = (uint16_t)bytes;
    handle_set(f, p);
    f->mem = from;
    f->shard_bits = (uint8_t)ebi_log2(p->opt[EBI_O_SHARDS]);
    ebi_single_open(f);
    *out = f;
    return EB_OK;
}

eb_status ebi_handle_with_block(eb_filter **out, const ebi_kind *kind, const ebi_params *p,
                                bool zeroed, const eb_allocator *mem, eb_error *err) {
    eb_filter *f;
    EBI_TRY(ebi_handle(&f, kind, p, mem, err));
    f->room = ebi_bytes(f);
    f->block = zeroed ? ebi_alloc_zeroed(&f->mem, f->room) : ebi_alloc(&f->mem, f->room);
    if (f->block) {
        *out = f;
        return EB_OK;
    }
    const uint64_t bytes = ebi_bytes(f);
    eb_free(f);
    return ebi_fail(err, EB_ENOMEM, "%s: no memory for a block of %llu bytes", kind->info.name,
                    (unsigned long long)bytes);
}

static void handle_init(eb_filter *f) { /* the block must be zero */
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        ebi_head(ebi_shard(f, i))->rng = ebi_mix(f->p.opt[EBI_O_SEED] + ebi_mix(i + 1));
        if (f->kind->init) f->kind->init(&f->p, ebi_shard(f, i));
    }
}

eb_status ebi_new(eb_filter **out, const ebi_kind *kind, const ebi_params *p,
                  const eb_allocator *mem, eb_error *err) {
    eb_filter *f = NULL;
    EBI_TRY(ebi_handle_with_block(&f, kind, p, true, mem, err));
    handle_init(f);
    *out = f;
    return EB_OK;
}

eb_status eb_new(eb_filter **out, const char *spec, const eb_allocator *mem, eb_error *err) {
    const ebi_kind *kind;
    ebi_params p;
    EBI_TRY(ebi_spec_parse(spec, &kind, &p, err));
    if (kind->counted && p.opt[kind->counted->frozen] != 0)
        return ebi_fail(err, EB_ESPEC, "%s: frozen filters are made from others, with eb_convert",
                        kind->info.name);
    return ebi_new(out, kind, &p, mem, err);
}

void eb_free(eb_filter *f) {
    if (!f) return;
    const eb_allocator mem = f->mem;
    if (!(f->flags & EBI_FLAG_BORROWED)) ebi_release(&mem, f->block, f->room);
    ebi_release(&mem, f, f->handle_bytes);
}

void eb_move(eb_filter **f, eb_mover *move, void *ctx) {
    const eb_allocator mem = (*f)->mem;
    *f = ebi_move(&mem, *f, (*f)->handle_bytes, move, ctx);
    if (!((*f)->flags & EBI_FLAG_BORROWED))
        (*f)->block = ebi_move(&mem, (*f)->block, (*f)->room, move, ctx);
}

eb_status eb_clone(eb_filter **out, const eb_filter *f, const eb_allocator *mem, eb_error *err) {
    eb_filter *copy = NULL;
    EBI_TRY(ebi_handle_with_block(&copy, f->kind, &f->p, false, mem, err));
    memcpy(copy->block, f->block, (size_t)ebi_bytes(f));
    *out = copy;
    return EB_OK;
}

eb_status eb_clear(eb_filter *f, eb_error *err) {
    if (f->flags & EBI_FLAG_VIEW || ebi_is_frozen(f)) return ebi_may_change(f, err);
    if (f->kind->growing) {
        ebi_params p = f->p;
        (void)f->kind->growing->set_parts(&p, 1);
        handle_set(f, &p);
    }
    memset(f->block, 0, (size_t)ebi_bytes(f));
    handle_init(f);
    return EB_OK;
}

eb_status ebi_set_parts(eb_filter *f, uint32_t parts, eb_error *err) {
    ebi_params p = f->p;
    assert(f->kind->growing && f->shard_bits == 0 && !(f->flags & EBI_FLAG_VIEW));
    if (!f->kind->growing->set_parts(&p, parts))
        return ebi_fail(err, EB_EFULL, "%s: the filter is full and cannot grow",
                        f->kind->info.name);
    if (p.span > f->room) {
        uint8_t *const larger = ebi_alloc_zeroed(&f->mem, p.span);
        if (!larger)
            return ebi_fail(err, EB_ENOMEM, "%s: no memory to grow to %llu bytes",
                            f->kind->info.name, (unsigned long long)p.span);
        memcpy(larger, f->block, (size_t)f->p.span);
        ebi_release(&f->mem, f->block, f->room);
        f->block = larger;
        f->room = p.span;
    } else if (p.span > f->p.span) {
        memset(f->block + f->p.span, 0, (size_t)(p.span - f->p.span));
    }
    handle_set(f, &p);
    return EB_OK;
}

const char *eb_spec(const eb_filter *f) {
    return f->spec;
}

/* Shards */

uint32_t eb_shards(const eb_filter *f) {
    return (uint32_t)ebi_shards(f);
}

/* Numbers are not hashes: their top bits are mostly zero. */
uint32_t eb_shard_of(const eb_filter *f, eb_hash h) {
    if (f->kind->domain) h = ebi_inner_hash(h);
    return f->shard_bits == 0 ? 0 : (uint32_t)(h >> (64 - f->shard_bits));
}

/* Time */

eb_status eb_advance(eb_filter *f, uint64_t time, eb_error *err) {
    if (!ebi_uses_time(f->kind, &f->p))
        return ebi_fail(err, EB_ENOTSUP, "%s filters have no clock", f->kind->info.name);
    EBI_TRY(ebi_may_change(f, err));
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        const uint64_t clock = ebi_head_of(ebi_shard(f, i))->clock;
        if (time < clock)
            return ebi_fail(err, EB_ETIME, "time %llu is before the clock, %llu",
                            (unsigned long long)time, (unsigned long long)clock);
    }
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        if (f->kind->timed && f->kind->timed->advance)
            f->kind->timed->advance(&f->p, ebi_shard(f, i), time);
        ebi_head(ebi_shard(f, i))->clock = time;
    }
    return EB_OK;
}

/* Classes of weighted filters: include/everbloom/experimental.h. */

eb_status eb_class_k(const eb_filter *f, uint32_t class_number, uint32_t *insert_k,
                     uint32_t *query_k) {
    if (!f->kind->classed) return EB_ENOTSUP;
    if (class_number < 1 || class_number > f->kind->classed->classes(&f->p)) return EB_EINVAL;
    f->kind->classed->get_k(f->block, class_number, insert_k, query_k);
    return EB_OK;
}

eb_status eb_set_class_k(eb_filter *f, uint32_t class_number, uint32_t insert_k, uint32_t query_k,
                         bool renewed, eb_error *err) {
    if (!f->kind->classed)
        return ebi_fail(err, EB_ENOTSUP, "%s filters have no classes", f->kind->info.name);
    if (f->flags & EBI_FLAG_VIEW) return ebi_fail(err, EB_EREADONLY, "a view cannot be changed");
    for (uint64_t i = 0; i < ebi_shards(f); i++)
        EBI_TRY(f->kind->classed->set_k(&f->p, ebi_shard(f, i), class_number, insert_k, query_k,
                                        renewed, err));
    return EB_OK;
}
