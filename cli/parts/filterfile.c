/* filterfile.c - filters made from the command line, and filters in files.
 *
 * A spec is put together from --filter, -m and --seed; what none of them says is the default. */
#include "filterfile.h"
#include "fade.h"
#include "input/values.h"
#include "io.h"
#include "window.h"
#include <ctype.h>
#include <errno.h>
#include <everbloom/experimental.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Specs as text. */

enum { SPEC_TEXT = 1024 };

/* The value of key in a spec, with its length; NULL if the spec does not say. */
static const char *spec_value(const char *spec, const char *key, size_t *length) {
    size_t key_length = strlen(key);
    const char *p = strchr(spec, ':');
    while (p) {
        p++;
        if (strncmp(p, key, key_length) == 0 && p[key_length] == '=') {
            p += key_length + 1;
            *length = strcspn(p, ",");
            return p;
        }
        p = strchr(p, ',');
    }
    return NULL;
}

static bool spec_has(const char *spec, const char *key) {
    size_t length;
    return spec_value(spec, key, &length) != NULL;
}

/* How many classes its class_bits=1:2:3 gives to a weighted filter. */
static uint32_t spec_classes(const char *spec) {
    size_t length;
    uint32_t n = 1;
    const char *const k = spec_value(spec, "class_bits", &length);
    for (size_t i = 0; i < length; i++) n += k[i] == ':';
    return n;
}

static void spec_append(char *spec, const char *key, const char *value, size_t length) {
    size_t used = strlen(spec);
    int n = snprintf(spec + used, SPEC_TEXT - used, "%c%s=%.*s", strchr(spec, ':') ? ',' : ':', key,
                     (int)length, value);
    if (n < 0 || (size_t)n >= SPEC_TEXT - used) cli_fail("the filter's spec is too long: %s", spec);
}

void spec_drop(char *spec, const char *key) {
    size_t length;
    char *value = spec + (spec_value(spec, key, &length) - spec);
    char *from = value - strlen(key) - 1, *to = value + length;
    if (*to == ',')
        to++;
    else
        from--;
    memmove(from, to, strlen(to) + 1);
}

static void append_number(char *spec, uint64_t seed) {
    char text[24];
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    spec_append(spec, "seed", text, (size_t)n);
}

/* 64M and 64MiB are powers of 1024, 64MB is a power of ten. */
double size_in_bytes(const cli_command *c, const char *option, const char *text) {
    static const char units[] = "KMGT";
    char *end;
    double bytes = strtod(text, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    const char *const behind = *end ? end + 1 : end;
    const bool decimal = strcmp(behind, "B") == 0;
    for (const char *u = units; unit && u <= unit; u++) bytes *= decimal ? 1000 : 1024;
    const bool known = decimal || !*behind || strcmp(behind, "iB") == 0;
    if (!(bytes >= 1024 && bytes <= 64 * 0x1p40) || (*end && !unit) || !known)
        cli_misuse(c, "%s must be a size from 1K to 64T, such as 500K, 64M or 2GiB, not \"%s\"",
                   option, text);
    return bytes;
}

const char *size_for_spec(const cli_command *c, const char *option, const char *text,
                          char number[32]) {
    if (!strchr(text, 'B')) return text;
    snprintf(number, 32, "%.0f", floor(size_in_bytes(c, option, text)));
    return number;
}

static void append_range(const cli_command *c, const settings *set, char *spec) {
    if (!set->importance_range) return;
    const char *colon = strchr(set->importance_range, ':');
    if (!colon)
        cli_misuse(c, "--importance-range must be A:B, such as 1:100, not \"%s\"",
                   set->importance_range);
    if (spec_has(spec, "low") || spec_has(spec, "high"))
        cli_misuse(c, "--importance-range and --filter both give a range: give one of them");
    spec_append(spec, "low", set->importance_range, (size_t)(colon - set->importance_range));
    spec_append(spec, "high", colon + 1, strlen(colon + 1));
}

static void append_growth(const cli_command *c, const settings *set, char *spec) {
    if (!set->on_full || strcmp(set->on_full, "grow") != 0) return;
    if (strncmp(spec, "bloom", 5) != 0 || (spec[5] && spec[5] != ':'))
        cli_misuse(c, "--on-full grow needs a filter that can grow, such as --filter bloom");
    if (!spec_has(spec, "grow")) spec_append(spec, "grow", "2", 1);
}

static bool describes_filter(const settings *set) {
    return set->filter || set->memory || set->max_drop > 0 || set->items > 0 || set->distinct > 0 ||
           set->importance_range || set->removable || stretch_is_given(set->window) ||
           fade_is_asked(set);
}

/* What --filter, -m and their like say, without a seed of its own. */
static void spec_of_options(const cli_command *c, const settings *set, char *spec) {
    if (set->filter && (set->max_drop > 0 || set->items > 0 || set->distinct > 0))
        cli_misuse(c, "--max-drop, --items and --distinct choose a filter: not with --filter");
    if (set->filter && set->removable)
        cli_misuse(c, "--removable chooses a filter: not with --filter");
    if (set->filter && strlen(set->filter) >= SPEC_TEXT) cli_misuse(c, "--filter is too long");
    bool sized = c->filter && c->filter(c, set, spec, SPEC_TEXT);
    if (set->filter) {
        strcpy(spec, set->filter);
        sized = true;
    }
    append_range(c, set, spec);
    if (set->memory) (void)size_in_bytes(c, "-m", set->memory);
    if (set->memory && spec_has(spec, "memory"))
        cli_misuse(c, "-m and --filter both say how much memory: give one of them");
    if ((set->seed || set->family) && spec_has(spec, "seed"))
        cli_misuse(c, "%s and --filter both give a seed: give one of them",
                   set->seed ? "--seed" : "--family");
    if (set->seed && set->family) cli_misuse(c, "--seed and --family: give one of them");
    append_growth(c, set, spec);
    const char *memory = set->memory ? set->memory : sized ? NULL : DEFAULT_MEMORY;
    char number[32];
    if (memory) memory = size_for_spec(c, "-m", memory, number);
    if (memory && !spec_has(spec, "cells")) spec_append(spec, "memory", memory, strlen(memory));
}

static uint64_t random_seed(void) {
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) cli_fail("no random bytes for a seed");
    return seed;
}

/* Filters that are meant to be merged need one seed: so kinds that can be have the same one unless
 * it is given.  Others get one that nobody can guess, so that nobody can prepare keys that collide.
 */
static void append_seed(char *spec, const settings *set, const char *state_spec) {
    size_t length, given;
    eb_error err;
    const char *const seed = state_spec ? spec_value(state_spec, "seed", &length) : NULL;
    const char *const wish = spec_value(spec, "seed", &given);
    const bool random = wish ? given == strlen("random") && memcmp(wish, "random", given) == 0
                             : set->seed && strcmp(set->seed, "random") == 0;
    if (wish && !random) return;
    if (wish) spec_drop(spec, "seed");
    if (set->seed && !random)
        spec_append(spec, "seed", set->seed, strlen(set->seed));
    else if (set->family)
        append_number(spec, family_seed(set->family));
    else if (seed)
        spec_append(spec, "seed", seed, length);
    else {
        if (random) spec_append(spec, "seed", "random", strlen("random"));
        if (eb_spec_seed(spec, random_seed(), spec, SPEC_TEXT, &err) != EB_OK)
            cli_fail("%s", err.text);
        if (!spec_has(spec, "seed")) append_number(spec, 0);
    }
}

uint64_t filter_option(const eb_filter *f, const char *key) {
    char spec[EB_SPEC_MAX];
    size_t length;
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    const char *value = spec_value(spec, key, &length);
    return value ? strtoull(value, NULL, 10) : 0;
}

bool filter_is(const eb_filter *f, const char *kind) {
    char spec[EB_SPEC_MAX];
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    return strncmp(spec, kind, strlen(kind)) == 0 && spec[strlen(kind)] == ':';
}

bool filter_is_frozen(const eb_filter *f) {
    char spec[EB_SPEC_MAX];
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    return spec_has(spec, "frozen");
}

uint64_t filter_saturated(const eb_filter *f) {
    const eb_stats stats = filter_stats(f);
    return stats.saturated;
}

eb_stats filter_stats(const eb_filter *f) {
    eb_stats stats;
    eb_error err;
    EB_INIT(stats);
    if (eb_stat(f, EB_STAT_CELLS, &stats, &err) != EB_OK) cli_fail("%s", err.text);
    return stats;
}

void filter_counts(const eb_filter *f, const eb_hash *h, size_t n, double *count) {
    eb_error err;
    eb_batch b = eb_batch_hashes(h, n);
    b.count = count;
    if (eb_ask_batch(f, &b, &err) != EB_OK) cli_fail("%s", err.text);
}

double filter_count(const eb_filter *f, eb_hash h) {
    double count = 0;
    filter_counts(f, &h, 1, &count);
    return count;
}

/* Classes are numbered from 1. */
uint32_t filter_classes(const eb_filter *f) {
    uint32_t n = 0, insert_k, query_k;
    while (eb_class_k(f, n + 1, &insert_k, &query_k) == EB_OK) n++;
    return n;
}

/* ---- Snapshots in files. */

typedef struct source {
    int fd;
    const char *name;
    bool regular;
    size_t size; /* of a regular file */
} source;

static source open_source(const char *path) {
    bool is_stdin = strcmp(path, "-") == 0;
    source s = {.name = is_stdin ? "standard input" : path};
    struct stat st;
    s.fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (s.fd < 0 || fstat(s.fd, &st) != 0) cli_fail("%s: %s", s.name, strerror(errno));
    if (S_ISDIR(st.st_mode)) cli_fail("%s: %s", s.name, strerror(EISDIR));
    s.regular = S_ISREG(st.st_mode);
    s.size = (size_t)st.st_size;
    return s;
}

static void close_source(const source *s) {
    if (s->fd != STDIN_FILENO) close(s->fd);
}

static size_t read_source(void *ctx, void *buf, size_t n) {
    const source *s = ctx;
    size_t done = 0;
    while (done < n) {
        ssize_t got = read(s->fd, (char *)buf + done, n - done);
        if (got == 0) break;
        if (got > 0)
            done += (size_t)got;
        else if (errno != EINTR)
            cli_fail("%s: %s", s->name, strerror(errno));
    }
    return done;
}

/* From a pipe: in growing steps, since the length that a header claims is not to be believed. */
static void read_pipe(snapshot *s, source *from) {
    for (size_t cap = 1 << 20;; cap *= 2) {
        void *more = realloc(s->bytes, cap);
        if (!more) cli_fail("%s: no memory for %zu bytes of a snapshot", from->name, cap);
        s->bytes = more;
        s->length += read_source(from, (char *)s->bytes + s->length, cap - s->length);
        if (s->length < cap) return;
    }
}

void snapshot_read(snapshot *s, const char *path) {
    *s = (snapshot){0};
    source from = open_source(path);
    s->mapped = from.regular && from.size > 0;
    if (s->mapped) {
        s->length = from.size;
        s->bytes = mapped_open(from.fd, from.name, s->length);
    } else
        read_pipe(s, &from);
    close_source(&from);
}

/* Where the snapshot ends, and what stands behind it: the sections of a state, whose journal is
 * brought into the snapshot. */
static eb_status find_parts(snapshot *s, eb_error *err) {
    eb_snapshot_info info = {.size = sizeof info};
    const eb_status status = eb_snapshot_describe(s->bytes, s->length, &info, err);
    s->end = s->length;
    if (status != EB_OK) return status;
    s->whole = info.bytes <= s->length;
    if (s->whole) s->end = (size_t)info.bytes;
    if (sections_read(s->bytes, s->end, s->length, &s->behind)) return EB_OK;
    snprintf(err->text, sizeof err->text, "damaged snapshot: there are bytes after its end");
    return err->status = EB_EFORMAT;
}

static eb_status check_bytes(snapshot *s, eb_error *err) {
    const eb_status status = find_parts(s, err);
    return status == EB_OK ? eb_view(&s->view, s->bytes, s->end, 0, NULL, err) : status;
}

eb_status snapshot_of_bytes(snapshot *s, void *bytes, size_t length, eb_error *err) {
    *s = (snapshot){.bytes = bytes, .length = length};
    return check_bytes(s, err);
}

eb_status snapshot_open(snapshot *s, const char *path, eb_error *err) {
    snapshot_read(s, path);
    const eb_status status = check_bytes(s, err);
    if (status != EB_OK) snapshot_close(s);
    return status;
}

void snapshot_open_or_fail(snapshot *s, const char *path) {
    eb_error err;
    if (snapshot_open(s, path, &err) != EB_OK) cli_fail("%s: %s", path, err.text);
}

void snapshot_open_to_ask(snapshot *s, const settings *set, const char *path) {
    snapshot_open_or_fail(s, path);
    const char *const differs = reader_key_differs(set, s->behind.note);
    if (differs)
        cli_fail("%s: its keys are from '%s', so give %s here, too", path, s->behind.note, differs);
}

void snapshot_close(snapshot *s) {
    eb_free(s->view);
    if (s->mapped)
        mapped_close(s->bytes, s->length);
    else
        free(s->bytes);
    *s = (snapshot){0};
}

/* Pages of the file are given back as soon as they are read, so that a filter is not twice in
 * memory. */
static eb_status feed(eb_loader *loader, const snapshot *s, eb_error *err) {
    enum { CHUNK = 1 << 20 };
    eb_status status = EB_OK;
    for (size_t at = 0; at < s->end && status == EB_OK; at += CHUNK) {
        char *const chunk = (char *)s->bytes + at;
        const size_t n = s->end - at < CHUNK ? s->end - at : CHUNK;
        status = eb_loader_feed(loader, chunk, n, NULL, NULL, err);
        if (s->mapped) (void)madvise(chunk, n, MADV_DONTNEED);
    }
    return status;
}

/* A filter that can be changed; what stands behind it stays in *s. */
static eb_filter *load(snapshot *s, const char *path) {
    eb_limits limits = {.size = sizeof limits};
    eb_filter *f = NULL;
    eb_loader *loader;
    eb_error err;
    snapshot_read(s, path);
    eb_status status = find_parts(s, &err);
    if (s->whole) limits.bytes = s->end + EB_SNAPSHOT_FRONT; /* all of it at once */
    if (status == EB_OK) status = eb_loader_new(&loader, &limits, NULL, &err);
    if (status != EB_OK) cli_fail("%s: %s", path, err.text);
    status = feed(loader, s, &err);
    if (status == EB_OK) status = eb_loader_finish(loader, &f, &err);
    if (status != EB_OK) cli_fail("%s: %s", path, err.text);
    eb_loader_free(loader);
    return f;
}

eb_filter *snapshot_load(const char *path) {
    snapshot s;
    eb_filter *const f = load(&s, path);
    snapshot_close(&s);
    return f;
}

void filter_save_note(const eb_filter *f, const char *note, const char *path) {
    eb_parts parts = {.size = sizeof parts};
    atomic_file file;
    eb_error err;
    if (eb_save_parts(f, &parts, &err) != EB_OK) cli_fail("%s: cannot save: %s", path, err.text);
    atomic_open(&file, path);
    for (uint32_t i = 0; i < parts.n; i++) atomic_write(&file, parts.part[i].p, parts.part[i].len);
    if (note[0] && strcmp(path, "-") != 0) section_write_note(&file, note);
    atomic_commit(&file);
}

void filter_save(const eb_filter *f, const char *path) {
    filter_save_note(f, "", path);
}

void filter_save_keys(const eb_filter *f, const settings *set, const char *path) {
    char note[STATE_NOTE];
    reader_key_note(set, note, sizeof note);
    filter_save_note(f, strcmp(note, KEYS_ARE_LINES) == 0 ? "" : note, path);
}

void refuse_terminal(const cli_command *c, const settings *set, const char *what) {
    const char *const path = set->save ? set->save : set->output;
    bool to_stdout = !path || strcmp(path, "-") == 0;
    if (to_stdout && !set->state && !set->force && isatty(STDOUT_FILENO))
        cli_misuse(c, "%s is not for a terminal: give %s FILE, or --force", what,
                   set->save ? "--save" : "-o");
}

eb_status spec_resolve(const char *spec, char canonical[EB_SPEC_MAX], eb_error *err) {
    eb_spec_info info;
    EB_INIT(info);
    const eb_status status = eb_spec_describe(spec, &info, err);
    if (status == EB_OK) memcpy(canonical, info.canonical, EB_SPEC_MAX);
    return status;
}

void hash_keys(const eb_filter *f, const eb_key *keys, size_t n, eb_hash *out) {
    const eb_keys all = eb_keys_array(EB_STRING, keys);
    eb_error err;
    if (eb_hash_keys(f, &all, n, out, &err) != EB_OK) cli_fail("%s", err.text);
}

/* ---- From the command line to a filter. */

static void classify(eb_filter *f, const class_file *file, const char *path) {
    eb_hash *const hash = cli_alloc(file->n * sizeof *hash + 1);
    uint64_t *const class_number = cli_alloc(file->n * sizeof *class_number + 1);
    eb_error err;
    for (size_t i = 0; i < file->n; i++) {
        const eb_key key = {file->bytes + file->lines[i].at, file->lines[i].len};
        hash_keys(f, &key, 1, &hash[i]);
        class_number[i] = file->lines[i].class_number;
    }
    eb_batch batch = eb_batch_hashes(hash, file->n);
    batch.value = class_number;
    if (eb_classify(f, &batch, &err) != EB_OK) cli_fail("%s: %s", path, err.text);
    free(hash);
    free(class_number);
}

static eb_filter *new_filter(const char *spec) {
    eb_filter *f;
    eb_error err;
    if (eb_new(&f, spec, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    return f;
}

const char order_seen_shuffled[] = "shuffled, as seen";

/* As far as the options describe a filter: is it this one?  Else *wanted is theirs. */
static bool describes(const cli_command *c, const settings *set, const char *found, char *wanted) {
    char spec[SPEC_TEXT];
    size_t length;
    eb_error err;
    if (describes_filter(set))
        spec_of_options(c, set, spec);
    else {
        (void)snprintf(spec, sizeof spec, "%s", found);
        if (set->seed || set->family) spec_drop(spec, "seed");
    }
    append_seed(spec, set, found);
    /* How far it has grown is not for the command line to say. */
    const char *const grown = spec_value(found, "grown", &length);
    if (grown && !spec_has(spec, "grown")) {
        spec_append(spec, "grown", grown, length);
        const char *const limit = spec_value(found, "limit", &length);
        if (limit && !spec_has(spec, "limit")) spec_append(spec, "limit", limit, length);
    }
    if (spec_resolve(spec, wanted, &err) != EB_OK) cli_fail("%s", err.text);
    return strcmp(wanted, found) == 0;
}

/* The state must be the filter that the command line describes; one of the two that it may have
 * come to, if the order of lines was left to be seen. */
static void compare_state(const cli_command *c, const settings *set, const eb_filter *state) {
    char wanted[EB_SPEC_MAX];
    const char *const found = eb_spec(state);
    settings seen = *set;
    seen.order = order_seen_shuffled;
    const bool looks = set->items > 0 && !set->order && describes(c, &seen, found, wanted);
    if (looks || describes(c, set, found, wanted)) return;
    cli_fail("%s: holds a different filter: leave out -m and the other options that describe one, "
             "or give another file\n"
             "  in the file: %s\n"
             "  asked for:   %s",
             set->state, found, wanted);
}

/* Whoever cannot save shall say so before the work, not after it. */
static void check_can_save(const char *path) {
    atomic_file probe;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) cli_fail("%s: not a regular file", path);
    atomic_open(&probe, path);
    atomic_discard(&probe);
}

/* With a hot list, which has room for all keys of the file unless the spec says hot=. */
static eb_filter *new_classified(const cli_command *c, const settings *set, char *spec) {
    char resolved[EB_SPEC_MAX], hot[24];
    eb_error err;
    if (set->class_field.n || set->class_rules)
        cli_misuse(c, "--classes and %s: give one of them",
                   set->class_field.n ? "--class-field" : "--class-rules");
    if (strncmp(spec, "weighted:", 9) != 0 || !spec_has(spec, "class_bits"))
        cli_misuse(
            c, "--classes needs --filter weighted:class_bits=..., with a number for each class");
    if (spec_resolve(spec, resolved, &err) != EB_OK) cli_fail("%s", err.text);
    class_file file = class_file_read(set->classes, "a key", set->nul, spec_classes(spec));
    const int n = snprintf(hot, sizeof hot, "%zu", file.n ? file.n : 1);
    if (!spec_has(spec, "hot")) spec_append(spec, "hot", hot, (size_t)n);
    eb_filter *f = new_filter(spec);
    classify(f, &file, set->classes);
    class_file_free(&file);
    return f;
}

void refuse_numbers(const cli_command *c, const eb_filter *f) {
    if (eb_caps(f) & EB_KEYS_ARE_NUMBERS)
        cli_misuse(c, "the keys of this filter are numbers, not text: use 'everbloom range'");
}

static eb_filter *open_filter(const cli_command *c, const settings *set, snapshot *was) {
    char spec[SPEC_TEXT];
    struct stat st;
    if (set->state) {
        check_can_save(set->state);
        state_lock(set->state, "--state");
    }
    bool exists = set->state && stat(set->state, &st) == 0;
    if (set->state && !exists && errno != ENOENT) cli_fail("%s: %s", set->state, strerror(errno));
    if (exists && set->classes)
        cli_fail("%s: --classes is for a new filter: the hot list is frozen with the first key",
                 set->state);
    if (exists) {
        eb_filter *f = load(was, set->state);
        compare_state(c, set, f);
        if (filter_is_frozen(f))
            cli_fail("%s: frozen, it takes no more keys; 'everbloom thaw' makes one that does",
                     set->state);
        return f;
    }
    spec_of_options(c, set, spec);
    append_seed(spec, set, NULL);
    return set->classes ? new_classified(c, set, spec) : new_filter(spec);
}

void filter_spec(const cli_command *c, const settings *set, char *spec) {
    char text[SPEC_TEXT];
    spec_of_options(c, set, text);
    append_seed(text, set, NULL);
    if (strlen(text) >= 2 * EB_SPEC_MAX) cli_fail("the spec of this filter is too long");
    strcpy(spec, text);
}

void filter_spec_like(const cli_command *c, const settings *set, const eb_filter *f, char *spec) {
    char text[SPEC_TEXT];
    spec_of_options(c, set, text);
    append_seed(text, set, eb_spec(f));
    if (strlen(text) >= 2 * EB_SPEC_MAX) cli_fail("the spec of this filter is too long");
    strcpy(spec, text);
}

/* The keys of a state are made as they always were. */
static void compare_note(const settings *set, const char *found, const char *note) {
    if (!*found || set->new_keys || strcmp(found, note) == 0) return;
    cli_fail(
        "%s: its keys are from '%s', and now would be from '%s': give the same options, another "
        "--state, or --new-keys if both make the same keys",
        set->state, found, note);
}

static eb_filter *open_for(const cli_command *c, const settings *set, bool numbers) {
    char note[STATE_NOTE];
    snapshot was = {0};
    eb_filter *const f = open_filter(c, set, &was);
    if (!numbers) refuse_numbers(c, f);
    if (!set->state) return f;
    reader_key_note(set, note, sizeof note);
    if (was.bytes) compare_note(set, was.behind.note, note);
    state_begin(set->state, f, was.bytes ? &was.behind : NULL, note);
    snapshot_close(&was);
    return f;
}

eb_filter *filter_open(const cli_command *c, const settings *set) {
    return open_for(c, set, false);
}

eb_filter *filter_open_numbers(const cli_command *c, const settings *set) {
    return open_for(c, set, true);
}
