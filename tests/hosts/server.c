/* server.c - the shape of a type in a server such as Redis: memory that the server counts and
 * limits, many keys in a command with the time of the primary, saving and loading in chunks,
 * merging with a weight, copies. */
#include "host.h"

/* The server's memory: counted, and aligned to 16 bytes but never to more. */
typedef struct server {
    size_t used, limit, blocks;
} server;
typedef struct server_block {
    void *base;
    size_t bytes;
} server_block;
enum { LINE = 64, AT = 16 };
_Static_assert(sizeof(server_block) <= AT, "the note must fit before the block");

static void *server_alloc(void *ctx, size_t bytes) {
    server *const s = ctx;
    if (bytes > s->limit - s->used || bytes > SIZE_MAX - 2 * LINE) return NULL;
    char *const base = malloc(bytes + 2 * LINE);
    if (!base) return NULL;
    char *const p = base + (LINE - (uintptr_t)base % LINE) + AT;
    const server_block note = {base, bytes};
    memcpy(p - sizeof note, &note, sizeof note);
    memset(p, 0xa5, bytes); /* nobody may count on zeroes */
    s->used += bytes;
    s->blocks++;
    return p;
}

static void *server_alloc_zeroed(void *ctx, size_t bytes) {
    void *const p = server_alloc(ctx, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

static void server_free(void *ctx, void *p, size_t bytes) {
    server *const s = ctx;
    server_block note;
    memcpy(&note, (char *)p - sizeof note, sizeof note);
    CHECK(note.bytes == bytes, "free gets the size that was asked for");
    s->used -= bytes;
    s->blocks--;
    free(note.base);
}

/* EB.MADD: all keys at the time of the command.  A clock that steps back must not fail. */
static unsigned madd(eb_filter *f, const char *words, uint64_t now) {
    eb_key key[8];
    uint8_t seen[8];
    unsigned fresh = 0;
    const size_t n = strlen(words); /* each word has one letter */
    CHECK(n > 0 && n <= 8, "a command has one to eight words");
    for (size_t i = 0; i < n; i++) key[i] = (eb_key){words + i, 1};
    const eb_keys keys = eb_keys_array(EB_STRING, key); /* a server knows no text */
    eb_batch b = eb_batch_keys(&keys, n);
    b.time = &now;
    b.flags = EB_SAME_TIME | EB_CLAMP_TIMES;
    b.seen = seen;
    MUST(eb_add_batch(f, &b, &why));
    for (size_t i = 0; i < n; i++) fresh += !seen[i];
    return fresh;
}

static void test_times(const eb_allocator *mem) {
    eb_filter *f;
    MUST(eb_new(&f, "window:memory=64K,window=1000,unit=time,fpr=0.0001,seed=3", mem, &why));
    CHECK(madd(f, "abc", 5000) == 3, "three keys are new");
    CHECK(madd(f, "bcd", 4990) == 1, "one is new, though the clock stepped back");
    CHECK(madd(f, "bcd", 5900) == 0, "a window remembers all of its keys");
    CHECK(madd(f, "abcd", 9000) == 4, "all keys are forgotten when the window has passed");
    eb_free(f);
}

/* RDB: the primary writes chunks; the replica feeds them, within its limit. */
static eb_status replicate(eb_filter **out, const eb_parts *parts, uint64_t limit,
                           const eb_allocator *mem) {
    enum { CHUNK = 1000 };
    eb_limits limits;
    eb_loader *l;
    eb_status status = EB_OK;
    EB_INIT(limits);
    limits.bytes = limit;
    MUST(eb_loader_new(&l, &limits, mem, &why));
    for (uint32_t i = 0; i < parts->n; i++)
        for (size_t at = 0; at < parts->part[i].len && status == EB_OK; at += CHUNK) {
            const size_t left = parts->part[i].len - at;
            status = eb_loader_feed(l, (const char *)parts->part[i].p + at,
                                    left < CHUNK ? left : CHUNK, NULL, NULL, &why);
        }
    if (status == EB_OK) status = eb_loader_finish(l, out, &why);
    eb_loader_free(l);
    return status;
}

static void test_replica(server *s, const eb_allocator *mem) {
    eb_filter *f, *replica, *copy;
    eb_parts parts;
    EB_INIT(parts);
    MUST(eb_new(&f, "bloom:memory=64K,k=7,seed=3", mem, &why));
    for (unsigned long i = 0; i < 1000; i++) {
        const host_key k = host_key_of(i);
        MUST(eb_add(f, k.text, k.len, NULL, &why));
    }
    MUST(eb_save_parts(f, &parts, &why));
    const size_t blocks = s->blocks;
    REFUSED(replicate(&replica, &parts, 4096, mem), EB_ELIMIT);
    CHECK(s->blocks == blocks, "a replica that was refused leaves no memory behind");
    MUST(replicate(&replica, &parts, 128 << 10, mem));
    CHECK(host_same(f, replica), "the replica has the bytes of the primary");
    /* COPY: what happens to the copy does not happen to the original. */
    MUST(eb_clone(&copy, replica, mem, &why));
    MUST(eb_add(copy, "only here", 9, NULL, &why));
    CHECK(host_same(f, replica) && !host_same(f, copy), "a copy is independent");
    eb_free(f);
    eb_free(replica);
    for (unsigned long i = 0; i < 1000; i++) CHECK(host_has(copy, i), "the copy has all keys");
    eb_free(copy);
}

/* CMS.MERGE: counts of one, and three times those of the other. */
static void test_merge(const eb_allocator *mem) {
    static const char spec[] = "spectral:memory=64K,k=5,update=plain,seed=3";
    eb_filter *a, *b;
    double count;
    MUST(eb_new(&a, spec, mem, &why));
    MUST(eb_new(&b, spec, mem, &why));
    MUST(eb_add(a, "x", 1, NULL, &why));
    for (int i = 0; i < 2; i++) MUST(eb_add(b, "x", 1, NULL, &why));
    MUST(eb_merge(a, b, 3, &why));
    MUST(eb_ask(a, "x", 1, NULL, &count, &why));
    CHECK(count == 7, "1 and 3 times 2 are 7");
    MUST(eb_merge(a, b, -3, &why));
    MUST(eb_ask(a, "x", 1, NULL, &count, &why));
    CHECK(count == 1, "a stream that was added can be subtracted");
    REFUSED(eb_merge(a, b, -1, &why), EB_EVALUE);
    eb_free(a);
    eb_free(b);
}

int main(void) {
    server s = {.limit = 1 << 20};
    eb_allocator mem;
    eb_filter *f;
    EB_INIT(mem);
    mem.ctx = &s;
    mem.alloc = server_alloc;
    mem.free = server_free;
    for (int zeroed = 0; zeroed < 2; zeroed++) {
        mem.alloc_zeroed = zeroed ? server_alloc_zeroed : NULL;
        REFUSED(eb_new(&f, "bloom:memory=2M", &mem, &why), EB_ENOMEM);
        CHECK(s.blocks == 0, "a filter over the limit leaves no memory behind");
        test_times(&mem);
        test_replica(&s, &mem);
        test_merge(&mem);
        CHECK(s.used == 0 && s.blocks == 0, "all memory is given back");
    }
    puts("server: times, chunks, limits, copies and weights; all memory is given back");
    return 0;
}
