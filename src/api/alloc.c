/* alloc.c - the library's own allocator: malloc for small blocks, mapped and
 * 2 MiB-aligned memory for large ones, with huge pages asked for, since filters
 * touch random lines and would otherwise miss the TLB on each of them. */
#include "filter.h"
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, LARGE = 2 * HUGE_PAGE };

static void *alloc_mapped(size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    const size_t pages = ebi_round_up(size, 4096);
    uint8_t *const p =
        mmap(NULL, pages + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    const size_t before = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
    if (before > 0) (void)munmap(p, before);
    (void)munmap(p + before + pages, HUGE_PAGE - before);
    (void)madvise(p + before, pages, MADV_HUGEPAGE);
    return p + before;
}

static void *alloc_get(void *ctx, size_t size, size_t align) {
    (void)ctx;
    if (size >= LARGE) return alloc_mapped(size);
    return aligned_alloc(align, ebi_round_up(size, align));
}

static void alloc_free(void *ctx, void *p, size_t size) {
    (void)ctx;
    if (size >= LARGE)
        (void)munmap(p, ebi_round_up(size, 4096));
    else
        free(p);
}

const eb_allocator ebi_malloc = {alloc_get, alloc_free, NULL};

uint8_t *ebi_alloc_zeroed(const eb_allocator *mem, size_t size) {
    uint8_t *const p = mem->alloc(mem->ctx, size, 64);
    const bool zero_already = mem->alloc == alloc_get && size >= LARGE;
    if (p && !zero_already) memset(p, 0, size);
    return p;
}
