/* pack.c - the output of a chunk, packed as its file is named.
 *
 * Each chunk is a gzip member or a zstd frame of its own: chunks are packed in parallel, and a file
 * is their concatenation, which every reader of these formats takes. */
#include "corpus.h"
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#ifdef HAVE_ZLIB
static void pack_gzip(int level, const char *bytes, size_t n, char **to, size_t *length,
                      size_t *cap) {
    enum { GZIP_ONLY = 16, PIECE = 1 << 30 };
    z_stream z = {0};
    if (deflateInit2(&z, level, Z_DEFLATED, 15 + GZIP_ONLY, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        cli_fail("out of memory for compression");
    *to = cli_grow(*to, cap, deflateBound(&z, n) + 64);
    z.next_out = (unsigned char *)*to;
    size_t room = *cap;
    for (int status = Z_OK; status != Z_STREAM_END;) { /* zlib counts in 32 bits */
        if (z.avail_in == 0) {
            z.next_in = (unsigned char *)(uintptr_t)bytes;
            z.avail_in = (unsigned)(n < PIECE ? n : PIECE);
            bytes += z.avail_in;
            n -= z.avail_in;
        }
        if (z.avail_out == 0) {
            z.avail_out = (unsigned)(room < PIECE ? room : PIECE);
            room -= z.avail_out;
        }
        status = deflate(&z, n == 0 ? Z_FINISH : Z_NO_FLUSH);
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            cli_fail("compression failed");
    }
    *length = (size_t)((char *)z.next_out - *to);
    deflateEnd(&z);
}
#endif

#ifdef HAVE_ZSTD
static void pack_zstd(int level, const char *bytes, size_t n, char **to, size_t *length,
                      size_t *cap) {
    *to = cli_grow(*to, cap, ZSTD_compressBound(n));
    *length = ZSTD_compress(*to, *cap, bytes, n, level < 0 ? 3 : level);
    if (ZSTD_isError(*length)) cli_fail("compression failed: %s", ZSTD_getErrorName(*length));
}
#endif

void pack_bytes(packing how, int level, const char *bytes, size_t n, char **to, size_t *length,
                size_t *cap) {
#ifdef HAVE_ZLIB
    if (how == PACK_GZIP) {
        pack_gzip(level, bytes, n, to, length, cap);
        return;
    }
#endif
#ifdef HAVE_ZSTD
    if (how == PACK_ZSTD) {
        pack_zstd(level, bytes, n, to, length, cap);
        return;
    }
#endif
    (void)level;
    if (how != PACK_NONE)
        cli_fail("this everbloom was built without %s", how == PACK_GZIP ? "gzip" : "zstd");
    *to = cli_grow(*to, cap, n + 1);
    memcpy(*to, bytes, n);
    *length = n;
}
