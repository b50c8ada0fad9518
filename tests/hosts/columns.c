/* columns.c - what a binding for data frames does: columns of numbers, and texts in one buffer with
 * offsets, become keys in batches.  A number is the key that its decimal text is, as in a pipe, so
 * the command finds it:  columns [COMMAND FOLDER] */
#include "host.h"
#include <inttypes.h>

enum { ROWS = 3000 };

static void add_column(eb_filter *f, const eb_keys *column, size_t rows) {
    const eb_batch b = eb_batch_keys(column, rows);
    MUST(eb_add_batch(f, &b, &why));
}

static size_t count_known(const eb_filter *f, const eb_keys *column, size_t rows) {
    static uint8_t seen[ROWS];
    size_t known = 0;
    eb_batch b = eb_batch_keys(column, rows);
    b.seen = seen;
    MUST(eb_ask_batch(f, &b, &why));
    for (size_t i = 0; i < rows; i++) known += seen[i];
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
    static int64_t far[ROWS + 1];
    static char padded[ROWS][8];
    static char text[ROWS * 24];
    eb_filter *f, *g;
    for (int i = 0; i < ROWS; i++) {
        number[i] = small[i] = i * 37 - 5000;
        other[i] = INT64_MAX - i;
        offset[i + 1] = offset[i] + sprintf(text + offset[i], "%d", small[i]);
    }
    const size_t bytes = (size_t)offset[ROWS];
    for (int i = 0; i <= ROWS; i++) far[i] = offset[i];
    for (int i = 0; i < ROWS; i++)
        memcpy(padded[i], text + offset[i], (size_t)(offset[i + 1] - offset[i]));
    const eb_keys wide = eb_keys_column(EB_I64, number, sizeof *number),
                  narrow = eb_keys_column(EB_I64, small, sizeof *small),
                  texts = eb_keys_offsets32(EB_TEXT, text, bytes, offset),
                  large = eb_keys_offsets64(EB_TEXT, text, bytes, far),
                  fixed = eb_keys_column(EB_TEXT, padded, sizeof *padded),
                  strange = eb_keys_column(EB_I64, other, sizeof *other),
                  slice = eb_keys_offsets32(EB_TEXT, text, bytes, offset + 500);
    eb_keys back = eb_keys_column(EB_I64, &number[ROWS - 1], sizeof *number);
    back.stride = -(ptrdiff_t)sizeof *number;
    MUST(eb_new(&f, "bloom:memory=32K,k=7,seed=2", NULL, &why));
    MUST(eb_new(&g, "bloom:memory=32K,k=7,seed=2", NULL, &why));
    add_column(f, &wide, ROWS);
    const eb_keys *const same[] = {&narrow, &texts, &large, &fixed, &back};
    for (int i = 0; i < 5; i++) {
        add_column(g, same[i], ROWS);
        CHECK(count_known(f, same[i], ROWS) == ROWS, "equal numbers are equal keys in any column");
        CHECK(host_same(f, g), "columns of equal keys make equal filters");
        MUST(eb_clear(g, &why));
    }
    add_column(g, &slice, ROWS - 500);
    CHECK(count_known(g, &wide, 500) < 20 && count_known(g, &texts, ROWS) >= ROWS - 500,
          "a slice of a column has its rows and no others");
    CHECK(count_known(f, &strange, ROWS) < 20, "numbers that were not added are unknown");
    const eb_keys bytes_of = eb_keys_column(EB_BYTES, padded, sizeof *padded);
    const eb_batch wrong = eb_batch_keys(&bytes_of, ROWS);
    REFUSED(eb_add_batch(f, &wrong, &why), EB_EKEY);
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
