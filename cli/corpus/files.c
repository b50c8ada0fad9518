/* files.c - which files a run reads, in which order, and where each one's output goes. */
#include "corpus.h"
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *files_copy(const char *text) {
    char *const copy = cli_alloc(strlen(text) + 1);
    return strcpy(copy, text);
}

static bool files_ends(const char *name, size_t n, const char *ending) {
    const size_t m = strlen(ending);
    return n > m && memcmp(name + n - m, ending, m) == 0;
}

/* What the name says: how it is packed, and whether it is JSON; false: neither JSON nor text. */
static bool files_kind(const char *name, packing *pack, bool *json) {
    size_t n = strlen(name);
    *pack = files_ends(name, n, ".gz")    ? PACK_GZIP
            : files_ends(name, n, ".zst") ? PACK_ZSTD
                                          : PACK_NONE;
    n -= *pack == PACK_GZIP ? 3 : *pack == PACK_ZSTD ? 4 : 0;
    *json = files_ends(name, n, ".jsonl") || files_ends(name, n, ".ndjson") ||
            files_ends(name, n, ".json");
    return *json || files_ends(name, n, ".txt");
}

/* The path without what leads out of a folder: leading slashes, and each . and .. */
static char *files_inside(const char *path) {
    char *const clean = cli_alloc(strlen(path) + 1);
    size_t n = 0;
    for (const char *p = path; *p;) {
        const size_t part = strcspn(p, "/");
        const bool dots = (part == 1 && p[0] == '.') || (part == 2 && memcmp(p, "..", 2) == 0);
        if (part > 0 && !dots) {
            if (n > 0) clean[n++] = '/';
            memcpy(clean + n, p, part);
            n += part;
        }
        p += part + (p[part] == '/');
    }
    clean[n] = '\0';
    return clean;
}

/* The first folder of the output's path; many are one. */
static size_t files_folder(corpus_files *f, const char *out) {
    const size_t n = strcspn(out, "/");
    const char *const name = out[n] ? out : ".";
    const size_t length = out[n] ? n : 1;
    for (size_t i = 0; i < f->folders; i++)
        if (strlen(f->folder[i]) == length && memcmp(f->folder[i], name, length) == 0) return i;
    if (f->folders == CORPUS_FOLDERS) return CORPUS_FOLDERS - 1;
    char *const copy = cli_alloc(length + 12);
    memcpy(copy, name, length);
    copy[length] = '\0';
    if (f->folders == CORPUS_FOLDERS - 1) strcpy(copy, "(others)");
    f->folder[f->folders] = copy;
    return f->folders++;
}

static void files_add(corpus_files *f, const char *path, const char *out, const struct stat *st) {
    f->file = cli_grow(f->file, &f->cap, (f->n + 1) * sizeof *f->file);
    corpus_file *const file = &f->file[f->n++];
    *file = (corpus_file){.path = files_copy(path), .out = files_inside(out)};
    file->bytes = (uint64_t)st->st_size;
    file->changed = (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
    (void)files_kind(path, &file->pack, &file->json);
    file->folder = files_folder(f, file->out);
    f->bytes += file->bytes;
}

/* ---- Folders. */

typedef struct files_walk {
    corpus_files *f;
    dev_t out_dev; /* the folder of -o is not read, wherever it is */
    ino_t out_ino;
    size_t strip; /* of the path, to get the output's */
} files_walk;

static int files_compare(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int files_visible(const struct dirent *d) {
    return d->d_name[0] != '.';
}

static void files_walk_folder(files_walk *w, const char *path) {
    struct dirent **entry;
    const int n = scandir(path, &entry, files_visible, files_compare);
    if (n < 0) cli_fail("%s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        const size_t size = strlen(path) + strlen(entry[i]->d_name) + 2;
        char *const inner = cli_alloc(size);
        struct stat st;
        snprintf(inner, size, "%s/%s", path, entry[i]->d_name);
        if (stat(inner, &st) != 0) cli_fail("%s: %s", inner, strerror(errno));
        packing pack;
        bool json;
        if (S_ISDIR(st.st_mode)) {
            if (st.st_dev != w->out_dev || st.st_ino != w->out_ino) files_walk_folder(w, inner);
        } else if (S_ISREG(st.st_mode) && files_kind(inner, &pack, &json))
            files_add(w->f, inner, inner + w->strip, &st);
        else
            w->f->skipped++;
        free(inner);
        free(entry[i]);
    }
    free(entry);
}

/* The files of an only folder have their places in it; else a path is kept as it is written. */
static void files_operand(files_walk *w, const char *path, bool only) {
    struct stat st;
    if (stat(path, &st) != 0) cli_fail("%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode)) {
        size_t n = strlen(path);
        while (n > 1 && path[n - 1] == '/') n--;
        char *const folder = files_copy(path);
        folder[n] = '\0';
        w->strip = only ? n : 0;
        files_walk_folder(w, folder);
        free(folder);
    } else if (S_ISREG(st.st_mode))
        files_add(w->f, path, path, &st);
    else
        cli_fail("%s: neither a file nor a folder", path);
}

/* ---- Lists and patterns. */

static void files_list(files_walk *w, const char *list) {
    reader in = {.separator = '\n'};
    reader_open_one(&in, list);
    for (fill got; (got = reader_fill(&in, -1)) != FILL_END;) {
        if (got == FILL_ERROR) cli_fail("%s: %s", list, in.problem);
        for (;;) {
            char *const line = in.buf + in.begin;
            const char *const end = reader_next(&in);
            if (!end) break;
            line[end - line] = '\0';
            if (*line) files_operand(w, line, false);
        }
    }
    reader_close(&in);
}

static void files_pattern(files_walk *w, const char *operand, bool only) {
    struct stat st;
    glob_t found;
    if (stat(operand, &st) == 0 || !strpbrk(operand, "*?[")) {
        files_operand(w, operand, only);
        return;
    }
    if (glob(operand, 0, NULL, &found) != 0) cli_fail("%s: no file has such a name", operand);
    for (size_t i = 0; i < found.gl_pathc; i++) files_operand(w, found.gl_pathv[i], false);
    globfree(&found);
}

/* Two files with one output would overwrite each other. */
static int files_by_out(const void *a, const void *b) {
    return strcmp((*(const corpus_file *const *)a)->out, (*(const corpus_file *const *)b)->out);
}

static void files_refuse_twins(const corpus_files *f) {
    const corpus_file **const order = cli_alloc((f->n + 1) * sizeof *order);
    for (size_t i = 0; i < f->n; i++) order[i] = &f->file[i];
    qsort(order, f->n, sizeof *order, files_by_out);
    for (size_t i = 1; i < f->n; i++)
        if (strcmp(order[i - 1]->out, order[i]->out) == 0)
            cli_fail("%s and %s would both be written to %s in the folder of -o",
                     order[i - 1]->path, order[i]->path, order[i]->out);
    free(order);
}

void files_find(corpus_files *f, char **operands, size_t n, const char *files_from,
                const char *out) {
    struct stat st;
    files_walk w = {.f = f};
    if (out && stat(out, &st) == 0) {
        w.out_dev = st.st_dev;
        w.out_ino = st.st_ino;
    }
    for (size_t i = 0; i < n; i++) files_pattern(&w, operands[i], n == 1 && !files_from);
    if (files_from) files_list(&w, files_from);
    files_refuse_twins(f);
}

void files_free(corpus_files *f) {
    for (size_t i = 0; i < f->n; i++) {
        free(f->file[i].path);
        free(f->file[i].out);
    }
    for (size_t i = 0; i < f->folders; i++) free(f->folder[i]);
    free(f->file);
    *f = (corpus_files){0};
}
