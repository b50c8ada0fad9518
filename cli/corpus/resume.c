/* resume.c - a run that was killed goes on where it was, and ends as if nothing had happened.
 *
 * The folder of -o has a hidden one, .everbloom, with
 *
 *   run         what is done: options, input, and -m if it decides.  "complete" when it is
 *   part.N      the output of file N, which is written now; it gets its name when it is whole
 *   checkpoint  filters and counts at a place between two chunks, and the length of the part there
 *
 * A checkpoint is replaced in one step, after everything that was written before it is on the disk.
 * What was written after it is written again, with the same bytes: chunks end at the same places.
 */
#include "corpus.h"
#include "parts/filterfile.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESUME_OPTIONS = 2000, RESUME_HEAD = 3 };
static const char resume_magic[8] = "EBCORP1";

char *corpus_path(const corpus_run *run, const char *name) {
    const size_t size = strlen(run->out) + strlen(name) + 2;
    char *const path = cli_alloc(size);
    snprintf(path, size, "%s/%s", run->out, name);
    return path;
}

char *resume_part(const corpus_run *run, size_t file) {
    char name[64];
    snprintf(name, sizeof name, RESUME_FOLDER "/part.%zu", file);
    return corpus_path(run, name);
}

/* ---- What a run does, as text: two runs with the same text have the same output. */

static uint64_t resume_hash(const corpus_run *run, const void *bytes, size_t n) {
    const eb_key key = {bytes, n};
    const eb_keys keys = eb_keys_array(EB_STRING, &key);
    eb_hash hash;
    eb_error err;
    if (eb_hash_keys(run->hash, &keys, 1, &hash, &err) != EB_OK) cli_fail("%s", err.text);
    return hash;
}

static void resume_options(const corpus_run *run, char *text, size_t cap) {
    char normal[32];
    size_t n = (size_t)snprintf(text, cap, "everbloom corpus %s:", EB_VERSION);
    for (size_t i = 0; i < run->rules && n < cap; i++)
        n += (size_t)snprintf(text + n, cap - n, " %s(%s,%ux%u)", run->rule[i].name,
                              normal_print(run->rule[i].normal, normal), run->rule[i].bands,
                              run->rule[i].rows);
    for (size_t i = 0; i < run->matchers && n < cap; i++) {
        eb_parts parts = {.size = sizeof parts};
        eb_snapshot_info info = {.size = sizeof info};
        if (run->match[i].own) continue;
        if (eb_save_parts(run->match[i].filter, &parts, NULL) != EB_OK ||
            eb_snapshot_describe(parts.front, sizeof parts.front, &info, NULL) != EB_OK)
            cli_fail("%s: the filter cannot be read", run->match[i].name);
        n += (size_t)snprintf(text + n, cap - n, " against %s(%016llx)", run->match[i].name,
                              (unsigned long long)info.id[0]);
    }
    const settings *const s = run->set;
    if (n < cap)
        snprintf(
            text + n, cap - n,
            " context %llu action %d threshold %.9g%s text %s bad %d full %s level %d drop %.9g "
            "seed %s report %d",
            (unsigned long long)corpus_of(s)->context, run->action, run->threshold,
            corpus_of(s)->threshold > 0 ? " given" : "",
            corpus_of(s)->text ? corpus_of(s)->text : "text", run->on_bad,
            s->on_full ? s->on_full : "grow", run->level, s->max_drop, s->seed ? s->seed : "0",
            corpus_of(s)->report != NULL);
}

static void resume_input(const corpus_run *run, char *text, size_t cap) {
    uint64_t hash = 0;
    for (size_t i = run->first; i < run->end; i++) {
        const corpus_file *const f = &run->files.file[i];
        const uint64_t part[5] = {hash, f->bytes, f->changed,
                                  resume_hash(run, f->path, strlen(f->path)),
                                  resume_hash(run, f->out, strlen(f->out))};
        hash = resume_hash(run, part, sizeof part);
    }
    snprintf(text, cap, "input: %zu files, %016llx", run->end - run->first,
             (unsigned long long)hash);
}

/* ---- The folder. */

static bool resume_is_empty(const char *folder) {
    DIR *const dir = opendir(folder);
    if (!dir) cli_fail("%s: %s", folder, strerror(errno));
    bool empty = true;
    for (const struct dirent *d; (d = readdir(dir)) != NULL;)
        empty &= strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
                 strcmp(d->d_name, ".everbloom") == 0;
    closedir(dir);
    return empty;
}

static void resume_make_folder(const char *path) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST) cli_fail("%s: %s", path, strerror(errno));
}

typedef struct resume_lines {
    char options[RESUME_OPTIONS], input[RESUME_OPTIONS], memory[64], state[16];
} resume_lines;

static void resume_line(FILE *f, char *line, size_t cap) {
    line[0] = '\0';
    if (fgets(line, (int)cap, f)) line[strcspn(line, "\n")] = '\0';
}

/* Of the file `run`; false: there is none. */
static bool resume_read(const char *path, resume_lines *was) {
    FILE *const f = fopen(path, "re");
    if (!f) return false;
    resume_line(f, was->options, sizeof was->options);
    resume_line(f, was->input, sizeof was->input);
    resume_line(f, was->memory, sizeof was->memory);
    resume_line(f, was->state, sizeof was->state);
    fclose(f);
    return true;
}

/* What a filter finds that forgets depends on its size; for others -m is only a limit. */
static void resume_memory(const corpus_run *run, char *text, size_t cap) {
    bool forgets = false;
    for (size_t i = 0; i < run->matchers; i++)
        forgets |= run->match[i].own && run->on_full == FULL_FORGET;
    snprintf(text, cap, "%s", !forgets ? "any" : run->set->memory ? run->set->memory : "none");
}

static void resume_write(const corpus_run *run, const char *memory, const char *state) {
    resume_lines now;
    atomic_file file;
    resume_options(run, now.options, sizeof now.options);
    resume_input(run, now.input, sizeof now.input);
    const char *const line[] = {now.options, now.input, memory, state};
    char *const path = corpus_path(run, RESUME_RUN);
    atomic_open(&file, path);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        atomic_write(&file, line[i], strlen(line[i]));
        atomic_write(&file, "\n", 1);
    }
    atomic_commit(&file);
    free(path);
}

void resume_planned(const corpus_run *run) {
    char memory[64];
    resume_memory(run, memory, sizeof memory);
    if (run->out) resume_write(run, memory, "begun");
}

static void resume_remove(const corpus_run *run, const char *name) {
    char *const path = corpus_path(run, name);
    if (unlink(path) != 0 && errno != ENOENT) cli_fail("%s: %s", path, strerror(errno));
    free(path);
}

static void resume_refuse(const corpus_run *run, const resume_lines *was, const char *other) {
    cli_fail("%s: the folder has %s with other %s: give the same, another folder, or --force to "
             "begin anew",
             run->out, strcmp(was->state, "complete") == 0 ? "the output of a run" : "a run begun",
             other);
}

/* Two texts of resume_options differ: in which option first? */
static const char *resume_differing(const char *was, const char *now) {
    static const char *const names[][2] = {
        {" context ", "--context"}, {" action ", "--action"}, {" threshold ", "--threshold"},
        {" text ", "--text"},       {" bad ", "--on-bad"},    {" full ", "--on-full"},
        {" level ", "--level"},     {" drop ", "--max-drop"}, {" seed ", "--seed"},
        {" report ", "--report"}};
    const char *differing = "--unit, --normalise, --similarity or --against", *at = now;
    size_t same = 0;
    while (was[same] && was[same] == now[same]) same++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const found = strstr(at, names[i][0]);
        if (!found || (size_t)(found - now) + strlen(names[i][0]) > same) break;
        differing = names[i][1];
        at = found;
    }
    return differing;
}

static void resume_refuse_options(const corpus_run *run, const resume_lines *was, const char *now) {
    char other[80];
    snprintf(other, sizeof other, "options (%s)", resume_differing(was->options, now));
    resume_refuse(run, was, other);
}

static void resume_compare_memory(const corpus_run *run, const char *was) {
    const char *const now = run->set->memory;
    const bool none = strcmp(was, "none") == 0;
    if (strcmp(was, "any") == 0 || (none && !now)) return;
    if (!none && now &&
        size_in_bytes(run->command, "-m", now) == size_in_bytes(run->command, "-m", was))
        return;
    cli_fail("%s: the folder has a run %s%s, whose filter forgets: its size decides what is "
             "found. %s, give another folder, or --force to begin anew",
             run->out, none ? "without -m" : "with -m ", none ? "" : was,
             none ? "Leave -m out" : "Give the same -m");
}

/* True: the run was there before, with the same options and input. */
static bool resume_compare(const corpus_run *run, const char *path, bool *complete) {
    resume_lines now, was;
    resume_options(run, now.options, sizeof now.options);
    resume_input(run, now.input, sizeof now.input);
    if (!resume_read(path, &was)) {
        if (!resume_is_empty(run->out) && !run->set->force)
            cli_fail("%s: the folder is not empty: give another one, or --force to replace files "
                     "in it",
                     run->out);
        return false;
    }
    if (run->set->force) return false;
    if (strcmp(now.options, was.options) != 0) resume_refuse_options(run, &was, now.options);
    if (strcmp(now.input, was.input) != 0)
        resume_refuse(run, &was, "input (names, sizes or times of files)");
    resume_compare_memory(run, was.memory);
    *complete = strcmp(was.state, "complete") == 0;
    return true;
}

bool resume_begin(corpus_run *run) {
    bool complete = false;
    if (!run->out) return true;
    resume_make_folder(run->out);
    char *const folder = corpus_path(run, RESUME_FOLDER), *const path =
                                                              corpus_path(run, RESUME_RUN);
    resume_make_folder(folder);
    state_lock(path, "-o");
    if (!resume_compare(run, path, &complete)) {
        resume_remove(run, RESUME_CHECKPOINT);
        resume_write(run, "any", "begun");
    }
    free(folder);
    free(path);
    if (complete) cli_warn("%s: complete already, with these options and this input", run->out);
    return !complete;
}

void resume_sync(const corpus_run *run) {
    const int fd = open(run->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || syncfs(fd) != 0) cli_fail("%s: %s", run->out, strerror(errno));
    close(fd);
}

void resume_end(const corpus_run *run) {
    if (!run->out) return;
    char memory[64];
    resume_memory(run, memory, sizeof memory);
    resume_sync(run);
    resume_write(run, memory, "complete");
    resume_remove(run, RESUME_CHECKPOINT);
}

/* Of runs that were killed; all but that of a place that is gone on from. */
static void resume_remove_parts(const corpus_run *run, const corpus_place *place) {
    char keep[32], *const path = corpus_path(run, RESUME_FOLDER);
    snprintf(keep, sizeof keep, "part.%zu", place->file);
    DIR *const dir = opendir(path);
    if (!dir) cli_fail("%s: %s", path, strerror(errno));
    for (const struct dirent *d; (d = readdir(dir)) != NULL;)
        if (strncmp(d->d_name, "part.", 5) == 0 && !(place->open && strcmp(d->d_name, keep) == 0))
            (void)unlinkat(dirfd(dir), d->d_name, 0);
    closedir(dir);
    free(path);
}

/* ---- Checkpoints. */

/* What is saved besides the filters. */
typedef struct resume_body {
    corpus_place place;
    corpus_found found;
    corpus_full on_full;
    size_t matchers;
    struct {
        double planned, promise, taken;
        bool told;
    } match[CORPUS_MATCHERS];
} resume_body;

static void resume_put(atomic_file *file, const eb_filter *f) {
    eb_parts parts = {.size = sizeof parts};
    eb_error err;
    if (eb_save_parts(f, &parts, &err) != EB_OK) cli_fail("%s", err.text);
    for (uint32_t p = 0; p < parts.n; p++)
        atomic_write_sparse(file, parts.part[p].p, parts.part[p].len);
}

void resume_save(const corpus_run *run, const corpus_place *place) {
    resume_body body;
    atomic_file file;
    memset(&body, 0, sizeof body);
    body.place = *place;
    body.found = run->found;
    body.on_full = run->on_full;
    body.matchers = run->matchers;
    for (size_t i = 0; i < run->matchers; i++) {
        const matcher *const m = &run->match[i];
        body.match[i].planned = m->planned;
        body.match[i].promise = m->promise;
        body.match[i].taken = m->taken;
        body.match[i].told = m->told;
    }
    uint64_t head[RESUME_HEAD] = {0, sizeof body, resume_hash(run, &body, sizeof body)};
    memcpy(head, resume_magic, sizeof resume_magic);
    resume_sync(run);
    char *const path = corpus_path(run, RESUME_CHECKPOINT);
    atomic_open(&file, path);
    atomic_write(&file, head, sizeof head);
    atomic_write(&file, &body, sizeof body);
    for (size_t i = 0; i < run->matchers; i++)
        if (run->match[i].own) resume_put(&file, run->match[i].filter);
    if (run->top) resume_put(&file, run->top);
    atomic_commit(&file);
    free(path);
}

static bool resume_get(eb_filter **f, const char **p, size_t *left) {
    eb_snapshot_info info = {.size = sizeof info};
    if (eb_snapshot_describe(*p, *left, &info, NULL) != EB_OK || info.bytes > *left ||
        eb_load(f, *p, *left, NULL, NULL, NULL) != EB_OK)
        return false;
    *p += info.bytes;
    *left -= (size_t)info.bytes;
    return true;
}

static bool resume_filters(corpus_run *run, const char *p, size_t left) {
    for (size_t i = 0; i < run->matchers; i++)
        if (run->match[i].own && !resume_get(&run->match[i].filter, &p, &left)) return false;
    if (run->top) {
        eb_free(run->top);
        run->top = NULL;
        if (!resume_get(&run->top, &p, &left)) return false;
    }
    return left == 0;
}

static bool resume_body_ok(const corpus_run *run, const resume_body *b) {
    return b->matchers == run->matchers && b->place.file >= run->first &&
           b->place.file <= run->end && b->on_full <= FULL_STOP;
}

/* Takes it as it is, or not at all: bytes that are damaged are no checkpoint. */
static bool resume_take(corpus_run *run, const char *bytes, size_t n, corpus_place *place) {
    uint64_t head[RESUME_HEAD];
    resume_body body;
    if (n < sizeof head + sizeof body) return false;
    memcpy(head, bytes, sizeof head);
    if (memcmp(head, resume_magic, sizeof resume_magic) != 0 || head[1] != sizeof body)
        return false;
    memcpy(&body, bytes + sizeof head, sizeof body);
    if (head[2] != resume_hash(run, &body, sizeof body) || !resume_body_ok(run, &body))
        return false;
    if (!resume_filters(run, bytes + sizeof head + sizeof body, n - sizeof head - sizeof body))
        return false;
    for (size_t i = 0; i < run->matchers; i++) {
        run->match[i].planned = body.match[i].planned;
        run->match[i].promise = body.match[i].promise;
        run->match[i].taken = body.match[i].taken;
        run->match[i].told = body.match[i].told;
    }
    run->on_full = body.on_full;
    run->found = body.found;
    *place = body.place;
    return true;
}

static bool resume_load_from(corpus_run *run, const char *path, corpus_place *place) {
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    if (fstat(fd, &st) != 0) cli_fail("%s: %s", path, strerror(errno));
    const size_t n = (size_t)st.st_size;
    char *const bytes = mapped_open(fd, path, n);
    if (!resume_take(run, bytes, n, place))
        cli_fail("%s: the checkpoint is damaged: give --force to begin anew", path);
    mapped_close(bytes, n);
    close(fd);
    return true;
}

bool resume_load(corpus_run *run, corpus_place *place) {
    *place = (corpus_place){.file = run->first};
    if (!run->out) return false;
    char *const path = corpus_path(run, RESUME_CHECKPOINT);
    const bool found = resume_load_from(run, path, place);
    resume_remove_parts(run, place);
    free(path);
    return found;
}
