/* columns.c - what a binding for data frames does: columns of numbers, and texts in one buffer with
 * offsets, become keys in batches.  A number is the key that its decimal text is, as in a pipe, so
 * the command finds it:  columns [COMMAND FOLDER] */
#include "host.h"
#include <inttypes.h>

enum { ROWS = 3000, SLICE = 256 };

/* Numbers of 4 or 8 bytes, stride bytes from one to the next (which may be negative); or, with
 * offsets, texts. */
typedef struct column {
    const void *data;
    ptrdiff_t stride;
    size_t width;
    const int32_t *offset; /* or NULL */
} column;

static int64_t number_at(const column *c, size_t i) {
    const char *const p = (const char *)c->data + (ptrdiff_t)i * c->stride;
    int64_t wide;
    int32_t narrow;
    if (c->width == sizeof wide) return memcpy(&wide, p, sizeof wide), wide;
    return memcpy(&narrow, p, sizeof narrow), narrow;
}

/* Hashes of rows from..from+n-1. */
static void hash_slice(const eb_filter *f, const column *c, size_t from, size_t n, eb_hash *hash) {
    char text[SLICE][24];
    eb_key key[SLICE];
    for (size_t i = 0; i < n; i++) {
        const size_t row = from + i;
        if (c->offset) {
            key[i].p = (const char *)c->data + c->offset[row];
            key[i].len = (size_t)(c->offset[row + 1] - c->offset[row]);
        } else {
            key[i].p = text[i];
            key[i].len = (size_t)snprintf(text[i], sizeof text[i], "%" PRId64, number_at(c, row));
        }
    }
    eb_hash_keys(f, key, n, hash);
}

static void add_column(eb_filter *f, const column *c, size_t rows) {
    eb_hash hash[SLICE];
    for (size_t from = 0; from < rows; from += SLICE) {
        const size_t n = rows - from < SLICE ? rows - from : SLICE;
        const eb_batch b = eb_batch_hashes(hash, n);
        hash_slice(f, c, from, n, hash);
        MUST(eb_add_batch(f, &b, &why));
    }
}

static size_t count_known(const eb_filter *f, const column *c, size_t rows) {
    eb_hash hash[SLICE];
    uint8_t seen[SLICE];
    size_t known = 0;
    for (size_t from = 0; from < rows; from += SLICE) {
        const size_t n = rows - from < SLICE ? rows - from : SLICE;
        eb_batch b = eb_batch_hashes(hash, n);
        hash_slice(f, c, from, n, hash);
        b.seen = seen;
        MUST(eb_ask_batch(f, &b, &why));
        for (size_t i = 0; i < n; i++) known += seen[i];
    }
    return known;
}

static void write_file(const char *path, const void *bytes, size_t len) {
    FILE *const file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, len, file) == len && fclose(file) == 0, "a file can be written");
}

/* How many lines does `everbloom test` print for these numbers? */
static size_t count_by_command(const char *command, const char *folder, const eb_filter *f,
                               const int64_t *number) {
    static char snapshot[1 << 17], lines[ROWS * 24];
    char path[2][1000], call[4000];
    size_t len = 0, printed = 0;
    (void)snprintf(path[0], sizeof path[0], "%s/columns.evb", folder);
    (void)snprintf(path[1], sizeof path[1], "%s/columns.txt", folder);
    (void)snprintf(call, sizeof call, "'%s' test '%s' '%s'", command, path[0], path[1]);
    MUST(eb_save(f, snapshot, sizeof snapshot, &why));
    write_file(path[0], snapshot, eb_save_size(f));
    for (int i = 0; i < ROWS; i++)
        len += (size_t)snprintf(lines + len, sizeof lines - len, "%" PRId64 "\n", number[i]);
    write_file(path[1], lines, len);
    FILE *const out = popen(call, "r");
    CHECK(out, "the command can be run");
    for (int c = fgetc(out); c != EOF; c = fgetc(out)) printed += c == '\n';
    CHECK(pclose(out) != -1, "the command ends");
    (void)remove(path[0]);
    (void)remove(path[1]);
    return printed;
}

int main(int argc, char **argv) {
    static int64_t number[ROWS], other[ROWS];
    static int32_t small[ROWS], offset[ROWS + 1];
    static char text[ROWS * 24];
    eb_filter *f, *g;
    for (int i = 0; i < ROWS; i++) {
        number[i] = small[i] = i * 37 - 5000;
        other[i] = INT64_MAX - i;
        offset[i + 1] = offset[i] + sprintf(text + offset[i], "%d", small[i]);
    }
    const column wide = {number, sizeof *number, sizeof *number, NULL},
                 narrow = {small, sizeof *small, sizeof *small, NULL}, texts = {text, 0, 0, offset},
                 strange = {other, sizeof *other, sizeof *other, NULL},
                 back = {&number[ROWS - 1], -(ptrdiff_t)sizeof *number, sizeof *number, NULL},
                 slice = {text, 0, 0, offset + 500};
    MUST(eb_new(&f, "bloom:memory=32K,k=7,seed=2", NULL, &why));
    MUST(eb_new(&g, "bloom:memory=32K,k=7,seed=2", NULL, &why));
    add_column(f, &wide, ROWS);
    const column *const same[] = {&narrow, &texts, &back};
    for (int i = 0; i < 3; i++) {
        add_column(g, same[i], ROWS);
        CHECK(count_known(f, same[i], ROWS) == ROWS, "equal numbers are equal keys in any column");
        CHECK(host_same(f, g), "columns of equal keys make equal filters");
        MUST(eb_clear(g, &why));
    }
    add_column(g, &slice, ROWS - 500);
    CHECK(count_known(g, &wide, 500) < 20 && count_known(g, &texts, ROWS) >= ROWS - 500,
          "a slice of a column has its rows and no others");
    CHECK(count_known(f, &strange, ROWS) < 20, "numbers that were not added are unknown");
    if (argc == 3) {
        CHECK(count_by_command(argv[1], argv[2], f, number) == ROWS,
              "the command finds every number of the column");
        CHECK(count_by_command(argv[1], argv[2], f, other) == count_known(f, &strange, ROWS),
              "the command and the column agree about numbers that were not added");
    }
    eb_free(f);
    eb_free(g);
    puts("columns: numbers, texts with offsets, slices and strides are the same keys");
    return 0;
}
