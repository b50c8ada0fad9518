/* source.c - the plain bytes of a file, unpacked by whoever asks for them.
 *
 * The other commands unpack in a thread of their own, behind a pipe (input/unpack.c).  Here the
 * pipeline has the threads, and a chunk is unpacked where it is read. */
#include "corpus.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#include "input/gzip.h"
#include "input/unpack.h"

enum { SOURCE_BLOCK = 256 << 10 };

struct source {
    int fd;
    const char *format; /* NULL: plain */
    bool ended;         /* of the file */
    bool between;       /* a member or frame has just ended */
    bool held;          /* there may be more without any input */
    uint64_t before;    /* bytes of the file before `in` */
    size_t used, n;
#ifdef HAVE_GZIP
    gzip_in *gzip;
#endif
#ifdef HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
    char in[SOURCE_BLOCK];
};

/* Bytes of the file after those of `in`, which were used; -1: why. */
static long source_next(source *s, char *to, size_t most, char *why, size_t cap) {
    ssize_t n;
    do n = read(s->fd, to, most);
    while (n < 0 && errno == EINTR);
    if (n < 0) snprintf(why, cap, "%s", strerror(errno));
    s->before += s->n;
    s->used = s->n = 0;
    s->ended = n == 0;
    return (long)n;
}

/* False: it cannot be read. */
static bool source_fill(source *s, char *why, size_t cap) {
    if (s->used < s->n || s->ended) return true;
    const long n = source_next(s, s->in, sizeof s->in, why, cap);
    if (n > 0) s->n = (size_t)n;
    return n >= 0;
}

static bool source_begin(source *s, char *why, size_t cap) {
    bool more;
    if (!source_fill(s, why, cap)) return false;
    s->format = unpack_format(s->in, s->n, &more);
    if (!s->format) return true;
    const bool gzip = strcmp(s->format, "gzip") == 0, zstd = strcmp(s->format, "zstd") == 0;
#ifdef HAVE_GZIP
    if (gzip && (s->gzip = gzip_open()) != NULL) return true;
#endif
#ifdef HAVE_ZSTD
    if (zstd && (s->zstd = ZSTD_createDStream()) != NULL) return true;
#endif
    if (gzip || zstd)
        snprintf(why, cap, "%s data, but this everbloom was built without it", s->format);
    else
        snprintf(why, cap, "%s data; corpus reads plain files, gzip and zstd", s->format);
    return false;
}

source *source_open(const char *path, char *why, size_t cap) {
    source *const s = calloc(1, sizeof *s);
    if (!s) cli_fail("out of memory (%zu bytes wanted)", sizeof *s);
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        snprintf(why, cap, "%s", strerror(errno));
    else {
        (void)posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        if (source_begin(s, why, cap)) return s;
    }
    source_close(s);
    return NULL;
}

void source_close(source *s) {
    if (!s) return;
    if (s->fd >= 0) close(s->fd);
#ifdef HAVE_GZIP
    gzip_close(s->gzip);
#endif
#ifdef HAVE_ZSTD
    ZSTD_freeDStream(s->zstd);
#endif
    free(s);
}

bool source_is_packed(const source *s) {
    return s->format != NULL;
}

uint64_t source_packed_bytes(const source *s) {
    return s->before + s->used;
}

#if defined HAVE_GZIP || defined HAVE_ZSTD
static long source_damaged(const source *s, char *why, size_t cap) {
    snprintf(why, cap, "the %s data is damaged at byte %llu", s->format,
             (unsigned long long)source_packed_bytes(s));
    return -1;
}

/* The end of the file: was it expected? */
static long source_end(const source *s, char *why, size_t cap) {
    if (s->between) return 0;
    snprintf(why, cap, "the %s data ends too early, at byte %llu", s->format,
             (unsigned long long)source_packed_bytes(s));
    return -1;
}
#endif

#ifdef HAVE_GZIP
static long source_gzip(source *s, char *to, size_t most, char *why, size_t cap) {
    for (;;) {
        if (!source_fill(s, why, cap)) return -1;
        if (s->ended && !s->held) return source_end(s, why, cap);
        if (s->between && s->in[s->used] == 0) { /* zeros behind the last member: padding */
            s->used++;
            continue;
        }
        size_t in = s->n - s->used, out = most;
        const gzip_result result = gzip_next(s->gzip, s->in + s->used, &in, to, &out);
        s->used += in;
        if (result == GZIP_DAMAGED) return source_damaged(s, why, cap);
        s->between = result == GZIP_END;
        s->held = !s->between && out == most;
        if (out > 0) return (long)out;
    }
}
#endif

#ifdef HAVE_ZSTD
static long source_zstd(source *s, char *to, size_t most, char *why, size_t cap) {
    ZSTD_outBuffer out = {to, most, 0};
    while (out.pos == 0) {
        if (!source_fill(s, why, cap)) return -1;
        ZSTD_inBuffer in = {s->in, s->n, s->used};
        const size_t left = ZSTD_decompressStream(s->zstd, &out, &in);
        if (ZSTD_isError(left)) return source_damaged(s, why, cap);
        const bool stuck = in.pos == s->used && out.pos == 0;
        s->used = in.pos;
        if (s->ended && stuck) return source_end(s, why, cap);
        s->between = left == 0;
    }
    return (long)out.pos;
}
#endif

static long source_plain(source *s, char *to, size_t most, char *why, size_t cap) {
    const size_t there = s->n - s->used, n = there < most ? there : most;
    if (n == 0 && !s->ended) {
        const long got = source_next(s, to, most, why, cap);
        if (got > 0) s->before += (uint64_t)got;
        return got;
    }
    memcpy(to, s->in + s->used, n); /* what the format was known by */
    s->used += n;
    return (long)n;
}

long source_read(source *s, char *to, size_t most, char *why, size_t cap) {
#ifdef HAVE_GZIP
    if (s->format && strcmp(s->format, "gzip") == 0) return source_gzip(s, to, most, why, cap);
#endif
#ifdef HAVE_ZSTD
    if (s->format && strcmp(s->format, "zstd") == 0) return source_zstd(s, to, most, why, cap);
#endif
    return source_plain(s, to, most, why, cap);
}
