/* unpack.c - compressed input: see unpack.h.  Each format is a loop over blocks of input. */
#include "unpack.h"
#include "cli.h"
#include "gzip.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_BZIP2
#include <bzlib.h>
#endif
#ifdef HAVE_LZ4
#include <lz4frame.h>
#endif

enum { UNPACK_BLOCK = 256 << 10, UNPACK_PIPE = 1 << 20 };

typedef enum unpack_result {
    UNPACK_DONE,
    UNPACK_DAMAGED,
    UNPACK_SHORT,
    UNPACK_TROUBLE
} unpack_result;

struct unpacker {
    const char *format;
    unpack_result (*run)(unpacker *u);
    int fd, to;
    pthread_t thread;
    unpack_result result;
    int trouble;               /* errno of UNPACK_TROUBLE; 0: nobody reads any more */
    unsigned long long before; /* bytes of the file before `in` */
    size_t used, n;            /* of `in`: taken, and there */
    char in[UNPACK_BLOCK], out[UNPACK_BLOCK];
};

/* ---- Bytes in and out; inline, since a command without any format uses none of them. */

/* False: the file has ended, or cannot be read. */
static inline bool fill(unpacker *u) {
    if (u->used < u->n) return true;
    ssize_t n;
    do n = read(u->fd, u->in, sizeof u->in);
    while (n < 0 && errno == EINTR);
    if (n < 0) u->trouble = errno;
    if (n <= 0) return false;
    u->before += u->n;
    u->used = 0;
    u->n = (size_t)n;
    return true;
}

static inline bool put(unpacker *u, size_t n) {
    const char *p = u->out;
    while (n > 0) {
        const ssize_t done = write(u->to, p, n);
        if (done > 0) {
            p += done;
            n -= (size_t)done;
        } else if (errno != EINTR)
            return false;
    }
    return true;
}

/* What the end of the file means: it was expected, or the data ends too early. */
static inline unpack_result ended(const unpacker *u, bool between) {
    return u->trouble ? UNPACK_TROUBLE : between ? UNPACK_DONE : UNPACK_SHORT;
}

/* ---- The formats.  A file may be several packed ones, one behind the other. */

#ifdef HAVE_GZIP
/* gzip pads with zeros on tapes and disks. */
static bool only_zeros(unpacker *u) {
    while (fill(u))
        for (; u->used < u->n; u->used++)
            if (u->in[u->used]) return false;
    return true;
}

static unpack_result gzip_loop(unpacker *u, gzip_in *z) {
    bool between = false, held = false;
    for (;;) {
        if (!held && !fill(u)) return ended(u, between);
        if (between && u->in[u->used] == 0) return only_zeros(u) ? ended(u, true) : UNPACK_DAMAGED;
        size_t in = u->n - u->used, out = sizeof u->out;
        const gzip_result result = gzip_next(z, u->in + u->used, &in, u->out, &out);
        u->used += in;
        if (result == GZIP_DAMAGED) return UNPACK_DAMAGED;
        if (!put(u, out)) return UNPACK_TROUBLE;
        between = result == GZIP_END;
        held = !between && out == sizeof u->out; /* there may be more without any input */
    }
}

static unpack_result run_gzip(unpacker *u) {
    gzip_in *const z = gzip_open();
    if (!z) return UNPACK_TROUBLE;
    const unpack_result result = gzip_loop(u, z);
    gzip_close(z);
    return result;
}
#else
#define run_gzip NULL
#endif

#ifdef HAVE_ZSTD
static unpack_result run_zstd(unpacker *u) {
    ZSTD_DStream *const z = ZSTD_createDStream();
    unpack_result result = UNPACK_DONE;
    size_t left = 1; /* 0: a frame has just ended */
    if (!z) return UNPACK_TROUBLE;
    for (bool full = false; result == UNPACK_DONE;) {
        if (!full && !fill(u)) {
            result = ended(u, left == 0);
            break;
        }
        ZSTD_inBuffer in = {u->in, u->n, u->used};
        ZSTD_outBuffer out = {u->out, sizeof u->out, 0};
        left = ZSTD_decompressStream(z, &out, &in);
        u->used = in.pos;
        full = out.pos == out.size && left != 0;
        if (ZSTD_isError(left))
            result = UNPACK_DAMAGED;
        else if (!put(u, out.pos))
            result = UNPACK_TROUBLE;
    }
    ZSTD_freeDStream(z);
    return result;
}
#else
#define run_zstd NULL
#endif

#ifdef HAVE_LZMA
static unpack_result run_xz(unpacker *u) {
    lzma_stream z = LZMA_STREAM_INIT;
    unpack_result result = UNPACK_DONE;
    lzma_ret status = LZMA_OK;
    if (lzma_stream_decoder(&z, UINT64_MAX, LZMA_CONCATENATED) != LZMA_OK) return UNPACK_TROUBLE;
    while (result == UNPACK_DONE && status != LZMA_STREAM_END) {
        const bool more = fill(u);
        z.next_in = (unsigned char *)u->in + u->used;
        z.avail_in = u->n - u->used;
        z.next_out = (unsigned char *)u->out;
        z.avail_out = sizeof u->out;
        status = lzma_code(&z, more ? LZMA_RUN : LZMA_FINISH);
        u->used = u->n - z.avail_in;
        if (u->trouble)
            result = UNPACK_TROUBLE;
        else if (status == LZMA_BUF_ERROR)
            result = UNPACK_SHORT;
        else if (status != LZMA_OK && status != LZMA_STREAM_END)
            result = UNPACK_DAMAGED;
        else if (!put(u, sizeof u->out - z.avail_out))
            result = UNPACK_TROUBLE;
    }
    lzma_end(&z);
    return result;
}
#else
#define run_xz NULL
#endif

#ifdef HAVE_BZIP2
static unpack_result bzip2_loop(unpacker *u, bz_stream *z) {
    bool between = false;
    for (;;) {
        if (!fill(u)) return ended(u, between);
        if (between && BZ2_bzDecompressInit(z, 0, 0) != BZ_OK) return UNPACK_TROUBLE;
        between = false;
        z->next_in = u->in + u->used;
        z->avail_in = (unsigned)(u->n - u->used);
        z->next_out = u->out;
        z->avail_out = sizeof u->out;
        const int status = BZ2_bzDecompress(z);
        u->used = u->n - z->avail_in;
        if (status != BZ_OK && status != BZ_STREAM_END) return UNPACK_DAMAGED;
        if (!put(u, sizeof u->out - z->avail_out)) return UNPACK_TROUBLE;
        if (status != BZ_STREAM_END) continue;
        BZ2_bzDecompressEnd(z);
        between = true;
    }
}

static unpack_result run_bzip2(unpacker *u) {
    bz_stream z = {0};
    if (BZ2_bzDecompressInit(&z, 0, 0) != BZ_OK) return UNPACK_TROUBLE;
    const unpack_result result = bzip2_loop(u, &z);
    BZ2_bzDecompressEnd(&z);
    return result;
}
#else
#define run_bzip2 NULL
#endif

#ifdef HAVE_LZ4
static unpack_result run_lz4(unpacker *u) {
    LZ4F_dctx *z;
    unpack_result result = UNPACK_DONE;
    size_t left = 1; /* 0: a frame has just ended */
    if (LZ4F_isError(LZ4F_createDecompressionContext(&z, LZ4F_VERSION))) return UNPACK_TROUBLE;
    for (bool full = false; result == UNPACK_DONE;) {
        if (!full && !fill(u)) {
            result = ended(u, left == 0);
            break;
        }
        size_t out = sizeof u->out, in = u->n - u->used;
        left = LZ4F_decompress(z, u->out, &out, u->in + u->used, &in, NULL);
        u->used += in;
        full = out == sizeof u->out && left != 0;
        if (LZ4F_isError(left))
            result = UNPACK_DAMAGED;
        else if (!put(u, out))
            result = UNPACK_TROUBLE;
    }
    LZ4F_freeDecompressionContext(z);
    return result;
}
#else
#define run_lz4 NULL
#endif

static const struct unpack_kind {
    const char *name, *magic;
    size_t length;
    unpack_result (*run)(unpacker *u);
} kinds[] = {{"gzip", "\x1f\x8b\x08", 3, run_gzip},
             {"zstd", "\x28\xb5\x2f\xfd", 4, run_zstd},
             {"xz",
              "\xfd"
              "7zXZ\0",
              6, run_xz},
             {"lz4", "\x04\x22\x4d\x18", 4, run_lz4},
             {"snapshot",
              "\x89"
              "EVB\r\n\x1a\n",
              8, NULL},
             {"bzip2", "BZh", 3, run_bzip2}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Text may begin with BZh: then a digit, and the mark of a block or of the end. */
static bool is_bzip2(const char *p, size_t n, bool *more) {
    static const char block[] = "1AY&SY", last[] = "\x17\x72\x45\x38\x50\x90";
    const size_t marked = n < UNPACK_MAGIC ? n - 4 : 6;
    if (n > 3 && (p[3] < '1' || p[3] > '9')) return false;
    if (n > 4 && memcmp(p + 4, block, marked) != 0 && memcmp(p + 4, last, marked) != 0)
        return false;
    *more = n < UNPACK_MAGIC;
    return !*more;
}

const char *unpack_format(const void *first, size_t n, bool *more) {
    *more = false;
    for (size_t i = 0; i < KINDS; i++) {
        const size_t length = n < kinds[i].length ? n : kinds[i].length;
        if (memcmp(first, kinds[i].magic, length) != 0) continue;
        *more = n < kinds[i].length;
        if (!*more && kinds[i].magic[0] == 'B' && !is_bzip2(first, n, more)) return NULL;
        return *more ? NULL : kinds[i].name;
    }
    return NULL;
}

const char *unpack_known(void) {
    static char text[80];
    text[0] = '\0';
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].run) strcat(strcat(text, text[0] ? " " : ""), kinds[i].name);
    return text;
}

static const struct unpack_kind *kind_named(const char *format) {
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, format) == 0) return &kinds[i];
    return NULL;
}

bool unpack_can(const char *format) {
    const struct unpack_kind *const kind = kind_named(format);
    return kind && kind->run;
}

/* ---- The thread. */

static void *work(void *ctx) {
    unpacker *const u = ctx;
    u->result = u->run(u);
    close(u->to);
    return NULL;
}

/* Signals are for the thread that waits for input. */
static void start_thread(unpacker *u) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int failed = pthread_create(&u->thread, NULL, work, u);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed) cli_fail("cannot start a thread to unpack: %s", strerror(failed));
}

unpacker *unpack_start(const char *format, int fd, const void *first, size_t n, int *out) {
    int ends[2];
    unpacker *const u = cli_alloc(sizeof *u);
    memset(u, 0, offsetof(unpacker, in));
    if (n > sizeof u->in) cli_fail("too many bytes to begin with");
    if (pipe2(ends, O_CLOEXEC) != 0) cli_fail("pipe: %s", strerror(errno));
    (void)fcntl(ends[1], F_SETPIPE_SZ, UNPACK_PIPE);
    u->format = format;
    u->run = kind_named(format)->run;
    u->fd = fd;
    u->to = ends[1];
    u->n = n;
    memcpy(u->in, first, n);
    start_thread(u);
    *out = ends[0];
    return u;
}

/* -z named a format, and the file begins otherwise. */
static bool is_another(const unpacker *u) {
    const struct unpack_kind *const kind = kind_named(u->format);
    const size_t n = u->n < kind->length ? u->n : kind->length;
    return u->before == 0 && memcmp(u->in, kind->magic, n) != 0;
}

bool unpack_end(unpacker *u, char *why, size_t cap) {
    pthread_join(u->thread, NULL);
    const unsigned long long at = u->before + u->used;
    const unpack_result result = u->result;
    if (result != UNPACK_DONE && result != UNPACK_TROUBLE && is_another(u))
        snprintf(why, cap, "this is not %s data: leave out -z", u->format);
    else if (result == UNPACK_DAMAGED)
        snprintf(why, cap, "the %s data is damaged at byte %llu", u->format, at);
    else if (result == UNPACK_SHORT)
        snprintf(why, cap, "the %s data ends too early, at byte %llu", u->format, at);
    else if (result == UNPACK_TROUBLE)
        snprintf(why, cap, "%s",
                 u->trouble ? strerror(u->trouble) : "out of memory while unpacking");
    free(u);
    return result == UNPACK_DONE;
}

void unpack_stop(unpacker *u) {
    pthread_detach(u->thread); /* it may wait for input that never comes, so nobody waits for it */
}
