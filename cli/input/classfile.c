/* classfile.c - files of CLASS<TAB>TEXT lines: hot lists, and rules that give keys a class. */
#include "values.h"
#include <stdlib.h>

typedef struct reading {
    class_file *file;
    const char *text_name;
    uint32_t classes;
} reading;

static void keep_line(class_file *file, uint32_t class_number, const char *text, size_t len) {
    file->lines = cli_grow(file->lines, &file->lines_cap, (file->n + 1) * sizeof *file->lines);
    file->bytes = cli_grow(file->bytes, &file->bytes_cap, file->used + len + 1);
    file->lines[file->n++] = (class_line){class_number, file->used, len};
    memcpy(file->bytes + file->used, text, len);
    file->bytes[file->used + len] = '\0';
    file->used += len + 1;
}

static void take_line(void *ctx, reader *r, const char *line, const char *end) {
    const reading *const to = ctx;
    const size_t len = (size_t)(end - line);
    const char *const tab = len > 0 ? memchr(line, '\t', len) : NULL;
    const eb_key number = {line, tab ? (size_t)(tab - line) : len};
    if (!tab)
        cli_fail("%s: line %llu: a line must be CLASS, a tab and %s, not \"%.*s\"", r->name,
                 (unsigned long long)r->records, to->text_name, len > 40 ? 40 : (int)len, line);
    keep_line(to->file, value_read(r, "class", number, 1, to->classes), line + number.len + 1,
              len - number.len - 1);
}

class_file class_file_read(const char *path, const char *text_name, bool nul, uint32_t classes) {
    class_file file = {0};
    reading to = {&file, text_name, classes};
    reader r = {.separator = nul ? '\0' : '\n'};
    reader_open_one(&r, path);
    reader_each(&r, take_line, &to);
    reader_close(&r);
    return file;
}

void class_file_free(class_file *file) {
    free(file->lines);
    free(file->bytes);
    *file = (class_file){0};
}
