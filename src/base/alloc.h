/* alloc.h - memory for handles and blocks, from the host's allocator or from the library's own.
 * Everything that the library allocates goes through here. */
#ifndef EBI_ALLOC_H
#define EBI_ALLOC_H
#include "base.h"
#include <everbloom/experimental.h>

extern const eb_allocator ebi_malloc; /* the library's own */

/* Sets *out to the allocator to use: a copy of mem, or the library's own if mem is NULL. */
eb_status ebi_allocator(eb_allocator *out, const eb_allocator *mem, eb_error *err);

/* Memory aligned to a cache line; NULL on failure, and for sizes that do not fit in size_t. */
enum { EBI_ALIGN = 64 };
void *ebi_alloc(const eb_allocator *mem, uint64_t bytes);
void *ebi_alloc_zeroed(const eb_allocator *mem, uint64_t bytes);
void ebi_release(const eb_allocator *mem, void *p, uint64_t bytes); /* p may be NULL */
/* Where the block is after the host has moved its allocation with `move`, or left it in place. */
void *ebi_move(const eb_allocator *mem, void *p, uint64_t bytes, eb_mover *move, void *ctx);
#endif
