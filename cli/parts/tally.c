/* tally.c - how often keys came, exactly, in bounded memory.
 *
 * Counts are kept in a table.  When it is full, they go to temporary files, by the first bits of
 * their keys' hashes, and the table starts again; in the end the files are added up one by one.
 * A table may need twice its size while it grows, so it is full at half of the limit. */
#include "tally.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool table_is_full(const keytable *t, size_t limit) {
    return t->n * sizeof *t->keys + t->used + t->n_slots * sizeof *t->slots > limit / 2;
}

typedef struct spilled_key { /* its bytes follow */
    eb_hash hash;
    uint64_t count;
    size_t len;
} spilled_key;

static _Noreturn void fail_temporary(void) {
    cli_fail("a temporary file: %s", strerror(errno));
}

static FILE *open_part(void) {
    const char *const dir = getenv("TMPDIR");
    char name[4096];
    snprintf(name, sizeof name, "%s/everbloom.XXXXXX", dir && *dir ? dir : "/tmp");
    const int fd = mkstemp(name);
    if (fd < 0) fail_temporary();
    unlink(name);
    FILE *const file = fdopen(fd, "w+b");
    if (!file) fail_temporary();
    return file;
}

static void spill(tally *t) {
    for (size_t i = 0; i < t->table.n; i++) {
        const table_key *const k = &t->table.keys[i];
        const spilled_key head = {k->hash, k->count, k->len};
        FILE **const part = &t->part[k->hash >> 56];
        if (!*part) *part = open_part();
        if (fwrite(&head, sizeof head, 1, *part) != 1 ||
            fwrite(t->table.bytes + k->at, 1, k->len, *part) != k->len)
            fail_temporary();
    }
    keytable_free(&t->table);
    t->spilled++;
}

void tally_add(tally *t, eb_hash hash, eb_key key, uint64_t count) {
    keytable_get(&t->table, hash, key)->count += count;
    if (table_is_full(&t->table, t->limit)) spill(t);
}

static void take_table(const keytable *t, tally_take *take, void *ctx) {
    for (size_t i = 0; i < t->n; i++) {
        const table_key *const k = &t->keys[i];
        take(ctx, k->hash, (eb_key){t->bytes + k->at, k->len}, k->count);
    }
}

static void read_part(FILE *part, keytable *into, size_t limit) {
    spilled_key head;
    char *bytes = NULL;
    size_t cap = 0;
    if (fflush(part) != 0) fail_temporary();
    rewind(part);
    while (fread(&head, sizeof head, 1, part) == 1) {
        bytes = cli_grow(bytes, &cap, head.len + 1);
        if (fread(bytes, 1, head.len, part) != head.len) fail_temporary();
        keytable_get(into, head.hash, (eb_key){bytes, head.len})->count += head.count;
        if (table_is_full(into, limit))
            cli_fail("the keys to count exactly are far too many for %zu bytes: give more -m",
                     limit);
    }
    if (ferror(part)) fail_temporary();
    free(bytes);
}

void tally_each(tally *t, tally_take *take, void *ctx) {
    if (t->spilled == 0) {
        take_table(&t->table, take, ctx);
        return;
    }
    spill(t);
    for (size_t i = 0; i < TALLY_PARTS; i++) {
        if (!t->part[i]) continue;
        keytable one = {0};
        read_part(t->part[i], &one, t->limit);
        take_table(&one, take, ctx);
        keytable_free(&one);
    }
}

void tally_free(tally *t) {
    keytable_free(&t->table);
    for (size_t i = 0; i < TALLY_PARTS; i++)
        if (t->part[i]) fclose(t->part[i]);
    *t = (tally){0};
}
