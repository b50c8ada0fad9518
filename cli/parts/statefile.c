/* statefile.c - see statefile.h.
 *
 * What has changed is found by hashes of small pages, kept from save to save: 1.6 % of the filter's
 * memory.  A journal that has become as large as the filter is folded in: the file is replaced. */
#include "statefile.h"
#include "io.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE = 512,              /* bytes whose change is noticed together */
    JOURNAL_LEAST = 4 << 20, /* smaller files are written anew, always */
    FOLD_SHARE = 50,         /* at the end of a run, a change of more than this part is folded in */
    HEAD = 40,
    PIECE_HEAD = 16
};
static const unsigned char section_magic[8] = {0x89, 'E', 'V', 'S', '\r', '\n', 0x1a, '\n'};
typedef enum section_type { SECTION_NOTE = 1, SECTION_JOURNAL = 2 } section_type;

/* XXH3 with seed 0, as the library has it for keys of a filter with that seed. */
static uint64_t hash_of(const void *bytes, size_t n) {
    static eb_filter *hasher;
    const eb_key key = {bytes, n};
    const eb_keys keys = eb_keys_array(EB_BYTES, &key);
    eb_hash hash;
    eb_error err;
    if (!hasher && eb_new(&hasher, "bloom:cells=64,k=1,seed=0,keys=bytes", NULL, &err) != EB_OK)
        cli_fail("%s", err.text);
    if (eb_hash_keys(hasher, &keys, 1, &hash, &err) != EB_OK) cli_fail("%s", err.text);
    return hash;
}

static void put64(unsigned char *p, uint64_t n) {
    for (int i = 0; i < 8; i++) p[i] = (unsigned char)(n >> (8 * i));
}

static uint64_t get64(const unsigned char *p) {
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) n |= (uint64_t)p[i] << (8 * i);
    return n;
}

/* ---- Sections: magic, type, length of the body, checksum of the body, checksum of all that. */

static void write_head(unsigned char head[HEAD], section_type type, const void *body, size_t n) {
    memcpy(head, section_magic, sizeof section_magic);
    put64(head + 8, type);
    put64(head + 16, n);
    put64(head + 24, hash_of(body, n));
    put64(head + 32, hash_of(head, HEAD - 8));
}

void section_write_note(atomic_file *file, const char *note) {
    unsigned char head[HEAD];
    const size_t n = strlen(note);
    write_head(head, SECTION_NOTE, note, n);
    atomic_write(file, head, HEAD);
    atomic_write(file, note, n);
}

static bool apply_piece(unsigned char *bytes, size_t end, const unsigned char **p, size_t *left) {
    if (*left < PIECE_HEAD) return false;
    const uint64_t at = get64(*p), n = get64(*p + 8);
    if (at > end || n > end - at || n > *left - PIECE_HEAD) return false;
    memcpy(bytes + at, *p + PIECE_HEAD, (size_t)n);
    *p += PIECE_HEAD + n;
    *left -= PIECE_HEAD + (size_t)n;
    return true;
}

static bool apply(section_type type, const unsigned char *body, size_t n, unsigned char *bytes,
                  size_t end, sections *s) {
    if (type == SECTION_NOTE) {
        if (n >= STATE_NOTE || memchr(body, '\0', n)) return false;
        memcpy(s->note, body, n);
        s->note[n] = '\0';
        return true;
    }
    if (type != SECTION_JOURNAL) return false;
    s->journals++;
    while (n > 0)
        if (!apply_piece(bytes, end, &body, &n)) return false;
    return true;
}

/* Can a crash have left these bytes?  Only behind the note, which is written with the snapshot. */
static bool may_be_torn(sections *s) {
    s->torn = s->note[0] != '\0';
    return s->torn;
}

bool sections_read(unsigned char *bytes, size_t end, size_t length, sections *s) {
    *s = (sections){0};
    for (size_t at = end, n; at < length; at += HEAD + n) {
        const unsigned char *const head = bytes + at;
        const size_t left = length - at, known = left < 8 ? left : 8;
        if (is_zero(head, left)) return may_be_torn(s);
        if (memcmp(head, section_magic, known) != 0) return false;
        if (left < HEAD) return may_be_torn(s);
        if (get64(head + 32) != hash_of(head, HEAD - 8)) return false;
        n = (size_t)get64(head + 16);
        if (n > left - HEAD) return may_be_torn(s);
        if (get64(head + 24) != hash_of(head + HEAD, n)) return n == left - HEAD && may_be_torn(s);
        if (!apply((section_type)get64(head + 8), head + HEAD, n, bytes, end, s)) return false;
    }
    return true;
}

/* ---- The state of this run. */

static struct {
    const char *path; /* NULL: none */
    char note[STATE_NOTE];
    uint64_t *hash; /* of the pages, as they are in the file; NULL: not known */
    size_t pages;
    uint64_t bytes;   /* of the snapshot */
    uint64_t file;    /* of the file; 0: there is none that can be added to */
    uint64_t changed; /* by this run, in journals */
    dev_t dev;
    ino_t ino;
} state;

static size_t pages_of(const eb_parts *parts) {
    size_t n = 0;
    for (uint32_t i = 0; i < parts->n; i++) n += (parts->part[i].len + PAGE - 1) / PAGE;
    return n;
}

typedef void take_page(void *ctx, size_t number, uint64_t at, const unsigned char *p, size_t n);

static void each_page(const eb_parts *parts, take_page *take, void *ctx) {
    uint64_t at = 0;
    size_t number = 0;
    for (uint32_t i = 0; i < parts->n; i++) {
        const unsigned char *const p = parts->part[i].p;
        const size_t length = parts->part[i].len;
        for (size_t from = 0; from < length; from += PAGE)
            take(ctx, number++, at + from, p + from, length - from < PAGE ? length - from : PAGE);
        at += length;
    }
}

static void learn_page(void *ctx, size_t number, uint64_t at, const unsigned char *p, size_t n) {
    (void)ctx, (void)at;
    state.hash[number] = hash_of(p, n);
}

static void learn(const eb_parts *parts) {
    if (state.bytes != parts->bytes || !state.hash) {
        free(state.hash);
        state.pages = pages_of(parts);
        state.hash = cli_alloc(state.pages * sizeof *state.hash);
    }
    state.bytes = parts->bytes;
    each_page(parts, learn_page, NULL);
}

/* So that whatever was put in its place by others is replaced, not added to. */
static bool is_ours(const struct stat *st) {
    return state.file > 0 && st->st_dev == state.dev && st->st_ino == state.ino &&
           (uint64_t)st->st_size == state.file;
}

static void know_file(void) {
    struct stat st;
    state.file = 0;
    if (stat(state.path, &st) != 0) return;
    state.dev = st.st_dev;
    state.ino = st.st_ino;
    state.file = (uint64_t)st.st_size;
}

static void get_parts(const eb_filter *f, eb_parts *parts) {
    eb_error err;
    *parts = (eb_parts){.size = sizeof *parts};
    if (eb_save_parts(f, parts, &err) != EB_OK)
        cli_fail("%s: cannot save: %s", state.path, err.text);
}

void state_begin(const char *path, const eb_filter *f, const sections *found, const char *note) {
    state.path = path;
    snprintf(state.note, sizeof state.note, "%s", note);
    if (!found || found->torn || strcmp(found->note, note) != 0) return;
    eb_parts parts;
    get_parts(f, &parts);
    if (parts.bytes < JOURNAL_LEAST) return;
    learn(&parts);
    know_file();
}

/* ---- Saving. */

static void save_whole(const eb_parts *parts) {
    atomic_file file;
    atomic_open(&file, state.path);
    for (uint32_t i = 0; i < parts->n; i++)
        atomic_write_sparse(&file, parts->part[i].p, parts->part[i].len);
    section_write_note(&file, state.note);
    atomic_commit(&file);
    state.changed = 0;
    if (parts->bytes < JOURNAL_LEAST) return;
    learn(parts);
    know_file();
}

/* Pages that changed, as pieces; neighbours are one. */
typedef struct journal {
    unsigned char *bytes; /* the head of the section first */
    size_t n, cap;
    size_t piece;  /* where the last one begins; 0: none */
    uint64_t next; /* where in the snapshot it ends */
} journal;

static void add_page(void *ctx, size_t number, uint64_t at, const unsigned char *p, size_t n) {
    journal *const j = ctx;
    const uint64_t hash = hash_of(p, n);
    if (state.hash[number] == hash) return;
    state.hash[number] = hash;
    j->bytes = cli_grow(j->bytes, &j->cap, j->n + PIECE_HEAD + n);
    if (!j->piece || j->next != at) {
        j->piece = j->n;
        put64(j->bytes + j->n, at);
        put64(j->bytes + j->n + 8, 0);
        j->n += PIECE_HEAD;
    }
    memcpy(j->bytes + j->n, p, n);
    put64(j->bytes + j->piece + 8, get64(j->bytes + j->piece + 8) + n);
    j->n += n;
    j->next = at + n;
}

/* False: it is not the file that we know any more. */
static bool append(const journal *j) {
    struct stat st;
    const int fd = open(state.path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !is_ours(&st)) {
        if (fd >= 0) close(fd);
        return false;
    }
    for (size_t done = 0; done < j->n;) {
        const ssize_t n = write(fd, j->bytes + done, j->n - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR) {
            const int why = errno;
            (void)!ftruncate(fd, (off_t)state.file);
            cli_fail("%s: %s", state.path, strerror(why));
        }
    }
    if (fdatasync(fd) != 0 || close(fd) != 0) cli_fail("%s: %s", state.path, strerror(errno));
    state.file += j->n;
    state.changed += j->n;
    return true;
}

static bool worth_appending(const eb_parts *parts, size_t n, bool at_end) {
    if (state.file - state.bytes + n > parts->bytes) return false;
    return !at_end || (state.changed + n) * FOLD_SHARE < parts->bytes;
}

static bool save_changes(const eb_parts *parts, bool at_end) {
    if (!state.hash || state.file == 0 || parts->bytes != state.bytes) return false;
    journal j = {.n = HEAD, .cap = 1 << 16};
    j.bytes = cli_alloc(j.cap);
    each_page(parts, add_page, &j);
    const bool changed = j.n > HEAD;
    bool done = worth_appending(parts, changed ? j.n : 0, at_end);
    if (done && changed) {
        write_head(j.bytes, SECTION_JOURNAL, j.bytes + HEAD, j.n - HEAD);
        done = append(&j);
    }
    free(j.bytes);
    return done;
}

void state_save(const eb_filter *f, bool at_end) {
    eb_parts parts;
    get_parts(f, &parts);
    if (!save_changes(&parts, at_end)) save_whole(&parts);
}

void state_change_filter(void) {
    free(state.hash);
    state.hash = NULL;
    state.file = state.bytes = 0;
}

void state_end(void) {
    free(state.hash);
    memset(&state, 0, sizeof state);
}

uint64_t family_seed(const char *name) {
    return hash_of(name, strlen(name));
}
