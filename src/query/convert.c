/* convert.c - the same content with other options: eb_convert reads what is wanted and picks who
 * does it. */
#include "query.h"
#include <stdlib.h>

enum {
    CONVERT_FROZEN,
    CONVERT_STORE,
    CONVERT_BITS,
    CONVERT_CELLS,
    CONVERT_KEYS,
    CONVERT_VALUE = 32
};
static const char *const convert_key[] = {"frozen", "store", "counter_bits", "cells"};

typedef struct convert_wishes {
    bool given[CONVERT_KEYS];
    char value[CONVERT_KEYS][CONVERT_VALUE];
} convert_wishes;

static eb_status convert_unknown(const char *text, eb_error *err) {
    return ebi_fail(err, EB_ENOTSUP,
                    "changes may be frozen=line, frozen=no[,store=][,counter_bits=] or "
                    "cells=, not %.60s",
                    *text ? text : "nothing");
}

/* One key=value of n bytes. */
static eb_status convert_read_one(const char *text, size_t n, convert_wishes *w, eb_error *err) {
    for (size_t i = 0; i < CONVERT_KEYS; i++) {
        const size_t key = strlen(convert_key[i]);
        if (n <= key || strncmp(text, convert_key[i], key) != 0 || text[key] != '=') continue;
        const size_t length = n - key - 1;
        if (w->given[i] || length == 0 || length >= CONVERT_VALUE) break;
        memcpy(w->value[i], text + key + 1, length);
        w->given[i] = true;
        return EB_OK;
    }
    return convert_unknown(text, err);
}

static eb_status convert_read(const char *text, convert_wishes *w, eb_error *err) {
    *w = (convert_wishes){{false}, {{0}}};
    for (const char *p = text;; p++) {
        const size_t n = strcspn(p, ",");
        EBI_TRY(convert_read_one(p, n, w, err));
        p += n;
        if (!*p) return EB_OK;
    }
}

static eb_status convert_cells(eb_filter **out, const eb_filter *f, const char *cells,
                               const eb_allocator *mem, eb_error *err) {
    const uint64_t now = f->p.opt[EBI_O_CELLS];
    char *end;
    if (strspn(cells, "0123456789") != strlen(cells) || strtoull(cells, &end, 10) != now / 2)
        return ebi_fail(err, EB_ENOTSUP, "cells=%s: only half as many can be made, cells=%llu",
                        cells, (unsigned long long)now / 2);
    return ebi_fold(out, f, mem, err);
}

eb_status eb_convert(eb_filter **out, const eb_filter *f, const char *changes,
                     const eb_allocator *mem, eb_error *err) {
    convert_wishes w;
    *out = NULL;
    if (!changes) return ebi_fail(err, EB_EINVAL, "no changes are named");
    EBI_TRY(convert_read(changes, &w, err));
    const bool others = w.given[CONVERT_STORE] || w.given[CONVERT_BITS];
    if (w.given[CONVERT_CELLS] && !w.given[CONVERT_FROZEN] && !others)
        return convert_cells(out, f, w.value[CONVERT_CELLS], mem, err);
    if (w.given[CONVERT_CELLS] || !w.given[CONVERT_FROZEN]) return convert_unknown(changes, err);
    if (strcmp(w.value[CONVERT_FROZEN], "no") == 0)
        return ebi_thaw(out, f, w.given[CONVERT_STORE] ? w.value[CONVERT_STORE] : NULL,
                        w.given[CONVERT_BITS] ? w.value[CONVERT_BITS] : NULL, mem, err);
    if (others || strcmp(w.value[CONVERT_FROZEN], "line") != 0)
        return convert_unknown(changes, err);
    return ebi_freeze(out, f, mem, err);
}
