/* host.h - what these small hosts share.  Each is a program of the kind that everbloom lives in: it
 * uses only the public header, checks its own answers, and exits 1 with a sentence at the first
 * that is wrong.  make hosts. */
#ifndef HOST_H
#define HOST_H
#include <everbloom/everbloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __cplusplus
#define HOST_OF_THREAD thread_local
#else
#define HOST_OF_THREAD _Thread_local
#endif

/* Where calls inside MUST put their sentence. */
static HOST_OF_THREAD eb_error why;

#define CHECK(condition, sentence)                                                                 \
    ((condition) ? (void)0 : host_fail(__FILE__, __LINE__, "it should be so: " sentence))
/* The call succeeds, or the library's sentence says why it did not. */
#define MUST(call) ((call) == EB_OK ? (void)0 : host_fail(__FILE__, __LINE__, why.text))
/* The call is refused with this status and a sentence. */
#define REFUSED(call, wanted)                                                                      \
    (why.text[0] = 0,                                                                              \
     (call) == (wanted) && why.text[0]                                                             \
         ? (void)0                                                                                 \
         : host_fail(__FILE__, __LINE__, #call " should be refused with " #wanted))

__attribute__((noreturn)) static inline void host_fail(const char *file, int line,
                                                       const char *sentence) {
    (void)fprintf(stderr, "%s:%d: %s\n", file, line, sentence);
    exit(1);
}

/* Key number i as text. */
typedef struct host_key {
    char text[32];
    size_t len;
} host_key;

static inline host_key host_key_of(unsigned long i) {
    host_key k;
    k.len = (size_t)snprintf(k.text, sizeof k.text, "key %lu", i);
    return k;
}

static inline bool host_has(const eb_filter *f, unsigned long i) {
    const host_key k = host_key_of(i);
    bool seen;
    MUST(eb_ask(f, k.text, k.len, &seen, NULL, &why));
    return seen;
}

static inline bool host_same(const eb_filter *a, const eb_filter *b) {
    const size_t len = eb_save_size(a);
    char *const x = (char *)malloc(len), *const y = (char *)malloc(len);
    CHECK(x && y, "there is memory for two snapshots");
    bool same = len == eb_save_size(b);
    MUST(eb_save(a, x, len, &why));
    if (same) MUST(eb_save(b, y, len, &why));
    same = same && memcmp(x, y, len) == 0;
    free(x);
    free(y);
    return same;
}
#endif
