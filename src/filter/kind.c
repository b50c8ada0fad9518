/* kind.c - the registry of all kinds of filters, and the size computations that they share. */
#include "kind.h"
#include <math.h>

const ebi_entry ebi_registry[] = {
#define EBI_KIND(name, number) {&ebi_kind_##name, number},
#include "kinds.def"
#undef EBI_KIND
};
const size_t ebi_registry_size = EBI_COUNT_OF(ebi_registry);

uint64_t ebi_budget(const ebi_params *p) {
    assert(p->opt[EBI_O_SHARDS] >= 1);
    const uint64_t each = (p->opt[EBI_O_MEMORY] - EBI_OVERHEAD) / p->opt[EBI_O_SHARDS] / 64 * 64;
    return each > sizeof(ebi_block_head) ? each - sizeof(ebi_block_head) : 0;
}

double ebi_memory_for(const ebi_params *p, double bytes) {
    assert(bytes >= 0);
    const double each = ceil((bytes + sizeof(ebi_block_head)) / 64) * 64;
    return EBI_OVERHEAD + (double)p->opt[EBI_O_SHARDS] * each;
}

/* Cells are read eight bytes at a time from any byte on, so this much must follow the last cell. */
enum { KIND_TAIL_BITS = 64 };

eb_status ebi_size_cells(ebi_params *p, const ebi_args *a, const char *kind, unsigned width,
                         uint64_t multiple, uint64_t fixed, eb_error *err) {
    assert(width >= 1 && multiple >= 1 && fixed % 64 == 0);
    uint64_t cells = p->opt[EBI_O_CELLS];
    if (!a->given[EBI_O_CELLS]) {
        const uint64_t budget = ebi_budget(p);
        const uint64_t bits = budget > fixed + 8 ? (budget - fixed) * 8 - KIND_TAIL_BITS : 0;
        cells = bits / width / multiple * multiple;
    } else if (cells % multiple != 0) {
        return ebi_fail(err, EB_ESPEC, "%s: cells must be a multiple of %llu here, not %llu", kind,
                        (unsigned long long)multiple, (unsigned long long)cells);
    }
    if (cells < 64)
        return ebi_fail(err, EB_ESPEC, "%s: memory=%llu is too small for shards=%llu", kind,
                        (unsigned long long)p->opt[EBI_O_MEMORY],
                        (unsigned long long)p->opt[EBI_O_SHARDS]);
    p->opt[EBI_O_CELLS] = cells;
    p->span =
        sizeof(ebi_block_head) + fixed + ebi_round_up((cells * width + KIND_TAIL_BITS + 7) / 8, 64);
    return EB_OK;
}
