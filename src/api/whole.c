/* whole.c - what concerns a filter as a whole: its statistics, its views of cells, and the list of
 * kinds. */
#include "filter.h"
#include "math/probability.h"
#include <math.h>

/* The head of a shard.  Copied, because a view may be at any address. */
static ebi_block_head whole_head(const eb_filter *f, uint64_t shard) {
    ebi_block_head head;
    assert(shard < ebi_shards(f));
    memcpy(&head, ebi_shard(f, shard), sizeof head);
    return head;
}

/* The sums of what the heads of all shards say. */
static void whole_heads(const eb_filter *f, eb_stats *sum) {
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        const ebi_block_head head = whole_head(f, i);
        sum->adds = ebi_plus(sum->adds, head.items);
        sum->new_keys = ebi_plus(sum->new_keys, head.new_keys);
        sum->clock = ebi_max(sum->clock, head.clock);
    }
    if (!ebi_uses_time(f->kind, &f->p)) sum->clock = sum->adds;
    if (!ebi_counts_new(f->kind)) sum->new_keys = EB_UNKNOWN;
}

static void whole_fading(const eb_filter *f, eb_stats *sum) {
    ebi_faded_counts faded;
    sum->rate_time = NAN;
    if (!f->kind->timed || !f->kind->timed->fading) return;
    f->kind->timed->fading(&f->p, &faded);
    sum->halflife = faded.halflife;
    sum->too_low = faded.epsilon;
    sum->too_high = faded.excess;
    if (faded.halflife > 0)
        sum->rate_time = faded.halflife / log(2);
    else if (faded.weight > 0)
        sum->rate_time = faded.weight;
}

static void whole_cells(const eb_filter *f, eb_stats *sum) {
    for (uint64_t i = 0; i < ebi_shards(f); i++) {
        eb_stats one = {.size = sizeof one};
        f->kind->stat(&f->p, ebi_shard(f, i), &one);
        sum->cells += one.cells;
        sum->cells_used += one.cells_used;
        sum->fpr += one.fpr / (double)ebi_shards(f);
        sum->saturated += one.saturated;
        sum->window = i == 0 ? one.window : fmin(sum->window, one.window);
    }
    sum->fill = (double)sum->cells_used / (double)sum->cells;
}

eb_status eb_stat(const eb_filter *f, uint32_t what, eb_stats *out, eb_error *err) {
    EBI_CHECK_SIZE(out, eb_stats, err);
    if ((what & ~(uint32_t)EB_STAT_CELLS) != 0)
        return ebi_fail(err, EB_EINVAL, "eb_stat: what must be 0 or EB_STAT_CELLS, not %u", what);
    eb_stats sum = {.size = sizeof sum,
                    .bytes = f->handle_bytes + ebi_max(f->room, ebi_bytes(f)),
                    .capacity = EB_UNKNOWN,
                    .parts = 1};
    if (f->kind->growing) {
        sum.capacity = f->kind->growing->capacity(&f->p);
        sum.parts = f->kind->growing->parts(&f->p);
    }
    whole_heads(f, &sum);
    whole_fading(f, &sum);
    if (what & EB_STAT_CELLS) {
        whole_cells(f, &sum);
    } else {
        sum.cells = sum.cells_used = sum.saturated = EB_UNKNOWN;
        sum.fill = sum.fpr = sum.window = NAN;
    }
    *out = sum;
    return EB_OK;
}

double eb_faded(const eb_filter *f, double period) {
    ebi_faded_counts faded;
    if (!f->kind->timed || !f->kind->timed->fading || !(period > 0)) return 0;
    f->kind->timed->fading(&f->p, &faded);
    if (faded.halflife > 0) return 1 - exp2(-period / faded.halflife);
    return faded.weight > 0 ? period / faded.weight : 0;
}

const eb_kind_info *const *eb_kinds(size_t *n) {
    static const eb_kind_info *const infos[] = {
#define EBI_KIND(name, number) &ebi_kind_##name.info,
#include "filter/kinds.def"
#undef EBI_KIND
    };
    *n = EBI_COUNT_OF(infos);
    return infos;
}

uint64_t eb_caps(const eb_filter *f) {
    const uint64_t caps = ebi_caps_of(f->kind, &f->p);
    return (caps & EB_CAN_MERGE) && ebi_merge_scales(f) ? caps | EB_CAN_SCALE : caps;
}

bool eb_cells_view_of(const eb_filter *f, eb_cells_view *v) {
    return f->shard_bits == 0 && f->kind->view && f->kind->view(&f->p, f->block, v);
}
