/* alloc.h - memory for handles and blocks, from a host's allocator or from the library's own. */
#ifndef EBI_ALLOC_H
#define EBI_ALLOC_H
#include "base.h"
#include <everbloom/experimental.h>

extern const eb_allocator ebi_malloc; /* the library's own */

/* The allocator to use: a copy of mem, or the library's own if mem is NULL. */
eb_status ebi_allocator(eb_allocator *out, const eb_allocator *mem, eb_error *err);

/* Memory that begins at a cache line, or NULL: also for more bytes than size_t can say. */
enum { EBI_ALIGN = 64 };
void *ebi_alloc(const eb_allocator *mem, uint64_t bytes);
void *ebi_alloc_zeroed(const eb_allocator *mem, uint64_t bytes);
void ebi_release(const eb_allocator *mem, void *p, uint64_t bytes); /* NULL is fine */
/* Where a block is after the host moved what it gave, or left it in place. */
void *ebi_move(const eb_allocator *mem, void *p, uint64_t bytes, eb_mover *move, void *ctx);
#endif
