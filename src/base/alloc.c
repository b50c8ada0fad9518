/* alloc.c - memory for handles and blocks, aligned to cache lines.
 *
 * The library's own allocator uses malloc for small blocks and mapped memory for large ones. Mapped
 * blocks begin at a huge page, because filters touch random lines and would otherwise miss the TLB
 * on each of them.
 *
 * A host's allocator only promises 16-byte alignment.  So the library asks it for 64 bytes more,
 * starts at the next cache line, and notes in the byte before it how many bytes it skipped:
 *
 *       | 16 to 64 bytes, the last one holds their number | what the library uses | */
#include "alloc.h"
#include "os.h"
#include <stdlib.h>

enum { ALLOC_LARGE = 2 * EBI_OS_HUGE_PAGE, ALLOC_HOST_ALIGN = 16 };

static bool alloc_is_mapped(size_t size) {
    return EBI_OS_CAN_MAP && size >= ALLOC_LARGE;
}

static void *alloc_get(void *ctx, size_t size) {
    (void)ctx;
    if (size > SIZE_MAX - EBI_ALIGN) return NULL;
    if (alloc_is_mapped(size)) return ebi_os_map(size);
    return aligned_alloc(EBI_ALIGN, (size_t)ebi_round_up(size, EBI_ALIGN));
}

static void *alloc_get_zeroed(void *ctx, size_t size) {
    void *const p = alloc_get(ctx, size);
    if (p && !alloc_is_mapped(size)) memset(p, 0, size);
    return p;
}

static void alloc_put_back(void *ctx, void *p, size_t size) {
    (void)ctx;
    if (alloc_is_mapped(size))
        ebi_os_unmap(p, size);
    else
        free(p);
}

const eb_allocator ebi_malloc = {sizeof ebi_malloc, NULL, alloc_get, alloc_get_zeroed,
                                 alloc_put_back};

eb_status ebi_allocator(eb_allocator *out, const eb_allocator *mem, eb_error *err) {
    if (!mem) mem = &ebi_malloc;
    EBI_CHECK_SIZE(mem, eb_allocator, err);
    if (!mem->alloc || !mem->free)
        return ebi_fail(err, EB_EINVAL, "an eb_allocator must have alloc and free");
    *out = *mem;
    return EB_OK;
}

static bool alloc_is_own(const eb_allocator *mem) {
    return mem->alloc == alloc_get;
}

/* Takes what the host allocated, and returns the aligned part that the library uses. */
static uint8_t *alloc_align(uint8_t *given) {
    if (!given) return NULL;
    assert((uintptr_t)given % ALLOC_HOST_ALIGN == 0);
    const size_t skip = EBI_ALIGN - (uintptr_t)given % EBI_ALIGN;
    given[skip - 1] = (uint8_t)skip;
    return given + skip;
}

/* The largest allocation.  Beyond it, pointer differences and snapshot sizes would overflow. */
static const uint64_t alloc_most = PTRDIFF_MAX - 4096;

void *ebi_alloc(const eb_allocator *mem, uint64_t bytes) {
    assert(mem != NULL && mem->alloc != NULL);
    if (bytes > alloc_most) return NULL;
    if (alloc_is_own(mem)) return mem->alloc(mem->ctx, (size_t)bytes);
    return alloc_align(mem->alloc(mem->ctx, (size_t)bytes + EBI_ALIGN));
}

void *ebi_alloc_zeroed(const eb_allocator *mem, uint64_t bytes) {
    assert(mem != NULL && mem->alloc != NULL);
    if (bytes > alloc_most) return NULL;
    if (!mem->alloc_zeroed) {
        void *const p = ebi_alloc(mem, bytes);
        if (p) memset(p, 0, (size_t)bytes);
        return p;
    }
    if (alloc_is_own(mem)) return mem->alloc_zeroed(mem->ctx, (size_t)bytes);
    return alloc_align(mem->alloc_zeroed(mem->ctx, (size_t)bytes + EBI_ALIGN));
}

void ebi_release(const eb_allocator *mem, void *p, uint64_t bytes) {
    if (!p) return;
    assert(mem->free != NULL);
    if (alloc_is_own(mem)) {
        mem->free(mem->ctx, p, (size_t)bytes);
        return;
    }
    uint8_t *const ours = p;
    mem->free(mem->ctx, ours - ours[-1], (size_t)bytes + EBI_ALIGN);
}

void *ebi_move(const eb_allocator *mem, void *p, uint64_t bytes, eb_mover *move, void *ctx) {
    if (!p || alloc_is_own(mem)) return p;
    uint8_t *const ours = p;
    const size_t skip = ours[-1];
    uint8_t *const given = move(ctx, ours - skip, (size_t)bytes + EBI_ALIGN);
    if (!given) return p;
    const size_t now =
        EBI_ALIGN -
        (uintptr_t)given % EBI_ALIGN; /* the new place may have another offset in its line */
    if (now != skip) memmove(given + now, given + skip, (size_t)bytes);
    return alloc_align(given);
}
