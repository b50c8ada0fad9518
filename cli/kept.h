/* kept.h - candidates of iceberg behind the snapshot of their filter: docs/FORMAT.md. */
#ifndef EVERBLOOM_KEPT_H
#define EVERBLOOM_KEPT_H
#include "cli.h"
#include <everbloom/query.h>

enum { KEPT_MAGIC = 8 };

typedef struct kept {
    double watermark, total;
    size_t memory;      /* for candidates */
    eb_candidate *list; /* keys lie in the bytes that they were read from */
    size_t n;
} kept;

/* Bytes from outside: are they candidates of this filter?  free(k->list). */
bool kept_read(kept *k, const eb_filter *f, const void *bytes, size_t length);
bool kept_is_whole(const eb_filter *f, const void *bytes, size_t length);
bool kept_begins(const void *bytes, size_t length); /* are they meant to be some? */
/* From cli_alloc. */
char *kept_write(const eb_iceberg *ice, const eb_filter *f, size_t memory, size_t *length);
#endif
