/* pipe.c - a filter in a pipe that lets each line through once and keeps its state in a file: a
 * stream in two runs passes the lines that one run passes.  States that are cut or too long are
 * refused. */
#include "host.h"

enum { LINES = 20000, FIRST_RUN = 12345, SLICE = 256, CHUNK = 777 };
static const char spec[] = "lru:memory=64K,fpr=0.001,seed=7";

/* The stream: squares modulo a prime, so 2001 distinct lines. */
static host_key line_of(unsigned long i) {
    return host_key_of(i * i % 4001);
}

/* Lines from..to-1, some at a time; passed[i] says whether line i goes on to the output. */
static void run(eb_filter *f, unsigned long from, unsigned long to, uint8_t *passed) {
    host_key line[SLICE];
    eb_key key[SLICE];
    uint8_t seen[SLICE];
    const eb_keys keys = eb_keys_array(EB_TEXT, key);
    while (from < to) {
        const size_t n = to - from < SLICE ? to - from : SLICE;
        eb_batch b = eb_batch_keys(&keys, n);
        for (size_t i = 0; i < n; i++) {
            line[i] = line_of(from + i);
            key[i].p = line[i].text;
            key[i].len = line[i].len;
        }
        b.seen = seen;
        MUST(eb_add_batch(f, &b, &why));
        for (size_t i = 0; i < n; i++) passed[from + i] = !seen[i];
        from += n;
    }
}

/* The state is written in parts: a copy of the filter is never made. */
static FILE *save(const eb_filter *f) {
    FILE *const state = tmpfile();
    eb_parts parts;
    EB_INIT(parts);
    CHECK(state, "a file for the state can be made");
    MUST(eb_save_parts(f, &parts, &why));
    for (uint32_t i = 0; i < parts.n; i++)
        CHECK(fwrite(parts.part[i].p, 1, parts.part[i].len, state) == parts.part[i].len,
              "the state can be written");
    CHECK((uint64_t)ftell(state) == parts.bytes && parts.bytes == eb_save_size(f),
          "the parts are as long as the snapshot");
    rewind(state);
    return state;
}

/* Read the first n bytes of the state in chunks.  Bytes behind the snapshot are an error, even if
 * it ends where a chunk ends. */
static eb_status load(eb_filter **out, FILE *state, size_t n) {
    eb_loader *l;
    char chunk[CHUNK];
    eb_status status = EB_OK;
    bool longer = false;
    MUST(eb_loader_new(&l, NULL, NULL, &why));
    rewind(state);
    while (status == EB_OK && n > 0 && !longer) {
        const size_t m = n < sizeof chunk ? n : sizeof chunk;
        size_t used = 0;
        CHECK(fread(chunk, 1, m, state) == m, "the state can be read");
        status = eb_loader_feed(l, chunk, m, &used, NULL, &why);
        longer = status == EB_OK && used < m;
        n -= m;
    }
    if (status == EB_OK && longer) status = EB_EFORMAT;
    if (status == EB_OK) status = eb_loader_finish(l, out, &why);
    eb_loader_free(l);
    return status;
}

static void test_bad_states(const eb_filter *f) {
    const size_t len = eb_save_size(f);
    FILE *const state = save(f);
    eb_filter *bad;
    static const size_t cuts[] = {0, 1, 63, 64, 511, 512, 777, 1554, 60000};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        REFUSED(load(&bad, state, cuts[i]), EB_EFORMAT);
    REFUSED(load(&bad, state, len - 1), EB_EFORMAT);
    /* Overlong by one byte and by one that begins a new chunk. */
    CHECK(fseek(state, 0, SEEK_END) == 0, "the state has an end");
    for (size_t i = 0; i < CHUNK; i++) CHECK(fputc('x', state) == 'x', "the state can be longer");
    CHECK(load(&bad, state, len + 1) == EB_EFORMAT, "a state that is too long is refused");
    const size_t whole_chunks = (len + CHUNK - 1) / CHUNK * CHUNK;
    CHECK(load(&bad, state, whole_chunks) == EB_EFORMAT, "garbage up to a chunk's end is refused");
    /* A byte in the middle that changed. */
    CHECK(fseek(state, (long)len / 2, SEEK_SET) == 0, "the state has a middle");
    const int byte = fgetc(state);
    CHECK(fseek(state, -1, SEEK_CUR) == 0 && fputc(byte ^ 1, state) != EOF, "it can be damaged");
    REFUSED(load(&bad, state, len), EB_EFORMAT);
    (void)fclose(state);
}

int main(void) {
    static uint8_t one[LINES], two[LINES];
    eb_filter *whole, *f;
    unsigned passed = 0;
    MUST(eb_new(&whole, spec, NULL, &why));
    run(whole, 0, LINES, one);
    for (int i = 0; i < LINES; i++) passed += one[i];
    CHECK(passed > 1950 && passed <= 2001, "nearly all of the 2001 lines pass, and none twice");
    MUST(eb_new(&f, spec, NULL, &why));
    run(f, 0, FIRST_RUN, two);
    FILE *const state = save(f);
    const size_t len = eb_save_size(f);
    eb_free(f);
    MUST(load(&f, state, len));
    (void)fclose(state);
    run(f, FIRST_RUN, LINES, two);
    CHECK(memcmp(one, two, sizeof one) == 0, "a stream in two runs passes the lines of one");
    CHECK(host_same(whole, f), "two runs leave the state of one");
    test_bad_states(f);
    eb_free(f);
    eb_free(whole);
    puts("pipe: a stream in two runs passes the lines of one; bad states are refused");
    return 0;
}
