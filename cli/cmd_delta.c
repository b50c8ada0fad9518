/* cmd_delta.c - diff and patch: what has changed between two snapshots, and the newer one again.
 *
 *     | magic, 8 | header of OLD, 64 | length of NEW, 8 | copy, take, bytes | copy, take, bytes ...
 *
 * Each piece copies bytes from the same place in OLD and takes the next ones from the delta; both
 * numbers are written in groups of 7 bits, low ones first, with the high bit set on all but the
 * last.  A header holds the checksums of its snapshot: the delta fits no other OLD, and whatever
 * comes out must have those of NEW.  docs/FORMAT.md says the same. */
#include "filterfile.h"
#include "io.h"
#include <stdlib.h>
#include <string.h>

static const unsigned char magic[8] = {0x89, 'E', 'V', 'D', '\r', '\n', 0x1a, '\n'};
enum {
    AT_OLD = sizeof magic,
    AT_LENGTH = AT_OLD + EB_SNAPSHOT_HEAD,
    AT_PIECES = AT_LENGTH + 8,
    NUMBER_MAX = 10, /* bytes of a number in groups of 7 bits */
    WORTH_COPYING = 4
};

/* ---- diff */

typedef struct change {
    const unsigned char *old_bytes, *new_bytes;
    size_t old_length, length;
} change;

static bool same_at(const change *c, size_t i) {
    return i < c->old_length && c->old_bytes[i] == c->new_bytes[i];
}

static size_t end_of_same(const change *c, size_t i) {
    const size_t both = c->old_length < c->length ? c->old_length : c->length;
    while (i + 64 <= both && memcmp(c->old_bytes + i, c->new_bytes + i, 64) == 0) i += 64;
    while (i < c->length && same_at(c, i)) i++;
    return i;
}

/* A few equal bytes among changed ones are cheaper taken than copied. */
static size_t end_of_changed(const change *c, size_t i) {
    size_t end = i;
    for (; i < c->length && i < end + WORTH_COPYING; i++)
        if (!same_at(c, i)) end = i + 1;
    return end;
}

static void put_number(output *out, uint64_t n) {
    char bytes[NUMBER_MAX];
    size_t used = 0;
    for (; n >= 128; n >>= 7) bytes[used++] = (char)((n & 127) | 128);
    bytes[used++] = (char)n;
    output_put(out, bytes, used);
}

static void put_delta(output *out, const change *c) {
    char length[8];
    for (unsigned i = 0; i < sizeof length; i++)
        length[i] = (char)((uint64_t)c->length >> 8 * i & 255);
    output_put(out, (const char *)magic, sizeof magic);
    output_put(out, (const char *)c->old_bytes, EB_SNAPSHOT_HEAD);
    output_put(out, length, sizeof length);
    for (size_t at = 0; at < c->length;) {
        const size_t changed = end_of_same(c, at), end = end_of_changed(c, changed);
        put_number(out, changed - at);
        put_number(out, end - changed);
        output_put(out, (const char *)c->new_bytes + changed, end - changed);
        at = end;
    }
}

int run_diff(const cli_command *c, const settings *set, char **operands, size_t n) {
    snapshot before, after;
    atomic_file file;
    output out;
    (void)n;
    refuse_terminal(c, set, "a delta");
    if (strcmp(operands[0], "-") == 0 && strcmp(operands[1], "-") == 0)
        cli_misuse(c, "the snapshots cannot both come from standard input");
    snapshot_open_or_fail(&before, operands[0]);
    snapshot_open_or_fail(&after, operands[1]);
    atomic_open(&file, set->output ? set->output : "-");
    output_open(&out, file.fd, file.path);
    put_delta(&out, &(change){before.bytes, after.bytes, before.length, after.length});
    output_flush(&out);
    output_close(&out);
    atomic_commit(&file);
    snapshot_close(&before);
    snapshot_close(&after);
    return STATUS_YES;
}

/* ---- patch */

typedef struct delta {
    const unsigned char *bytes;
    size_t at, length;
    const char *name;
} delta;

static _Noreturn void damaged(const delta *d, const char *why) {
    cli_fail("%s: damaged delta: %s", d->name, why);
}

static uint64_t take_number(delta *d) {
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 7 * NUMBER_MAX; shift += 7) {
        if (d->at == d->length) damaged(d, "it ends too early");
        const unsigned char byte = d->bytes[d->at++];
        n |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return n;
    }
    damaged(d, "a number is too long");
}

/* NEW is at most OLD and what the delta brings, so that no delta can ask for much memory. */
static size_t length_of_new(const delta *d, const snapshot *old) {
    uint64_t length = 0;
    for (unsigned i = 0; i < 8; i++) length |= (uint64_t)d->bytes[AT_LENGTH + i] << 8 * i;
    if (length > old->length + d->length) damaged(d, "it brings too few bytes");
    return (size_t)length;
}

static void check_fits(const delta *d, const snapshot *old, const char *old_name) {
    if (d->length < AT_PIECES || memcmp(d->bytes, magic, sizeof magic) != 0)
        cli_fail("%s: not a delta", d->name);
    if (memcmp(d->bytes + AT_OLD, old->bytes, EB_SNAPSHOT_HEAD) != 0)
        cli_fail("%s: the delta %s was made for another snapshot", old_name, d->name);
}

static void apply(delta *d, const snapshot *old, char *to, size_t length) {
    size_t done = 0;
    d->at = AT_PIECES;
    while (done < length) {
        const uint64_t copy = take_number(d);
        const uint64_t take = take_number(d);
        const size_t there = done < old->length ? old->length - done : 0;
        if (copy > there || copy > length - done) damaged(d, "it copies what is not there");
        memcpy(to + done, (const char *)old->bytes + done, (size_t)copy);
        done += (size_t)copy;
        if (take > length - done || take > d->length - d->at || copy + take == 0)
            damaged(d, "its pieces do not fit");
        memcpy(to + done, d->bytes + d->at, (size_t)take);
        d->at += (size_t)take;
        done += (size_t)take;
    }
    if (d->at != d->length) damaged(d, "there are bytes behind it");
}

static void check_new(const delta *d, const char *bytes, size_t length) {
    eb_filter *view = NULL;
    eb_error err;
    uint64_t wanted;
    if (eb_snapshot_length(bytes, length, &wanted, &err) != EB_OK ||
        eb_view(&view, bytes, length, 0, &err) != EB_OK)
        damaged(d, err.text);
    if (wanted != length) damaged(d, "the snapshot has another length");
    eb_free(view);
}

int run_patch(const cli_command *c, const settings *set, char **operands, size_t n) {
    const char *const path = n > 1 ? operands[1] : "-";
    snapshot old, changes;
    atomic_file file;
    refuse_terminal(c, set, "a snapshot");
    if (strcmp(operands[0], "-") == 0 && strcmp(path, "-") == 0)
        cli_misuse(c, "the snapshot and the delta cannot both come from standard input");
    snapshot_open_or_fail(&old, operands[0]);
    snapshot_read(&changes, path);
    delta d = {.bytes = changes.bytes, .length = changes.length};
    d.name = strcmp(path, "-") == 0 ? "standard input" : path;
    check_fits(&d, &old, operands[0]);
    const size_t length = length_of_new(&d, &old);
    char *const bytes = cli_alloc(length + 1);
    apply(&d, &old, bytes, length);
    check_new(&d, bytes, length);
    atomic_open(&file, set->output ? set->output : "-");
    atomic_write(&file, bytes, length);
    atomic_commit(&file);
    free(bytes);
    snapshot_close(&old);
    snapshot_close(&changes);
    return STATUS_YES;
}
