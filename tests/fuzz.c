/* fuzz.c - libFuzzer entry: the first byte chooses what the rest is.
 *
 *   s   a spec: resolves to a fixpoint or is refused with a text
 *   l   a snapshot, as it is: refused, or a filter that can be used
 *   f   the same with its checksums made right, so that later checks are reached
 *   o   a spec up to its NUL, made with little memory, then operations on two
 *       such filters: one takes batches, one takes single keys; they must stay equal
 *   d   a delta for a small filter of the kind that the first byte names, its head made right
 *
 * A broken rule aborts.  Before it starts it writes seeds for every kind and each
 * of its options to the corpus folder, the last word of the command line. */
#include "../lab/calls.h"
#include "api/filter.h"
#include "query/query.h"
#include <stdio.h>
#include <stdlib.h>

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { BLOCK_MAX = 1 << 16, BATCH_MAX = 100 };

/* Nothing large: the fuzzer is not here to try the machine's memory. */
static void *fuzz_alloc(void *context, size_t size) {
    (void)context;
    return size > BLOCK_MAX ? NULL : malloc(size);
}

static void fuzz_free(void *context, void *p, size_t size) {
    (void)context, (void)size;
    free(p);
}

static const eb_allocator fuzz_memory = {sizeof fuzz_memory, NULL, fuzz_alloc, NULL, fuzz_free};

/* Specs */

static bool fuzz_resolve(const char *spec, char canonical[EB_SPEC_MAX]) {
    char again[EB_SPEC_MAX];
    eb_error err = {.text = ""};
    const eb_status status = calls_resolve(spec, canonical, &err);
    if (status != EB_OK) {
        MUST(status == EB_ESPEC && err.status == status && err.text[0]);
        return false;
    }
    MUST(calls_resolve(canonical, again, &err) == EB_OK);
    MUST(strcmp(canonical, again) == 0);
    return true;
}

static void fuzz_spec(const uint8_t *data, size_t len) {
    char spec[1000], canonical[EB_SPEC_MAX];
    const size_t n = ebi_min(len, sizeof spec - 1);
    memcpy(spec, data, n);
    spec[n] = '\0';
    (void)fuzz_resolve(spec, canonical);
}

/* Using whatever was loaded or made */

static void fuzz_ask_ranges(const eb_filter *f) {
    uint64_t low, high;
    eb_range part = {.size = sizeof part}, all = part;
    eb_quantile q = {.size = sizeof q};
    if (!f->kind->domain) return;
    f->kind->domain(&f->p, &low, &high);
    const uint64_t sign = f->p.opt[EBI_O_KEYS] == EBI_KEYS_I64 ? UINT64_C(1) << 63 : 0;
    const uint64_t middle = low + (high - low) / 3;
    MUST(eb_range_count(f, low ^ sign, high ^ sign, &all, NULL) == EB_OK);
    MUST(all.lower == all.upper);
    MUST(eb_range_count(f, low ^ sign, middle ^ sign, &part, NULL) == EB_OK);
    MUST(part.lower >= 0 && part.upper <= all.upper);
    if (eb_range_quantile(f, 0.5, &q, NULL) != EB_OK) return;
    const uint64_t least = q.lower ^ sign, most = q.upper ^ sign, value = q.value ^ sign;
    MUST(least <= value && value <= most && least >= low && most <= high);
}

/* Where keys are numbers, one of the filter's. */
static eb_hash fuzz_key(const eb_filter *f, eb_hash h) {
    uint64_t low, high;
    if (!f->kind->domain) return h;
    f->kind->domain(&f->p, &low, &high);
    return high - low == UINT64_MAX ? h : low + (h - low) % (high - low + 1);
}

static void fuzz_ask(const eb_filter *f) {
    eb_hash h[20];
    uint8_t seen[20];
    double count[20];
    for (uint64_t i = 0; i < 20; i++) h[i] = fuzz_key(f, ebi_mix(i));
    calls_test(f, h, 20, seen);
    calls_count(f, h, 20, count);
    for (size_t i = 0; i < 20; i++) MUST(seen[i] <= 1 && count[i] >= 0);
    fuzz_ask_ranges(f);
    eb_stats s = {.size = sizeof s};
    calls_stat(f, &s);
    MUST(s.cells_used <= s.cells && s.fpr >= 0 && s.fpr <= 1);
}

static uint8_t *fuzz_save(const eb_filter *f, size_t *len) {
    *len = eb_save_size(f);
    uint8_t *const bytes = malloc(*len);
    MUST(bytes && eb_save(f, bytes, *len, NULL) == EB_OK);
    return bytes;
}

static void fuzz_same(const eb_filter *a, const eb_filter *b) {
    size_t a_len, b_len;
    uint8_t *const x = fuzz_save(a, &a_len), *const y = fuzz_save(b, &b_len);
    MUST(a_len == b_len && memcmp(x, y, a_len) == 0);
    free(x);
    free(y);
}

/* Freezing */

static void fuzz_same_counts(const eb_filter *a, const eb_filter *b) {
    double left[20], right[20];
    eb_hash h[20];
    for (uint64_t i = 0; i < 20; i++) h[i] = fuzz_key(a, ebi_mix(i));
    calls_count(a, h, 20, left);
    calls_count(b, h, 20, right);
    MUST(memcmp(left, right, sizeof left) == 0);
}

static void fuzz_freeze(const eb_filter *f) {
    eb_filter *frozen = NULL, *loaded = NULL, *thawed = NULL;
    const eb_status status = ebi_freeze(&frozen, f, &fuzz_memory, NULL);
    MUST(status == EB_OK || status == EB_ENOMEM || !f->kind->counted);
    if (status != EB_OK) return;
    size_t len;
    uint8_t *const bytes = fuzz_save(frozen, &len);
    MUST(eb_load(&loaded, bytes, len, NULL, &fuzz_memory, NULL) == EB_OK);
    MUST(eb_add(loaded, "key", 3, NULL, NULL) == EB_EREADONLY);
    fuzz_same_counts(f, loaded);
    if (ebi_thaw(&thawed, loaded, NULL, NULL, &fuzz_memory, NULL) == EB_OK)
        fuzz_same_counts(f, thawed);
    free(bytes);
    eb_free(frozen);
    eb_free(loaded);
    eb_free(thawed);
}

/* Snapshots */

static void fuzz_fix_sums(uint8_t *bytes, size_t len) {
    uint32_t offset;
    if (len < 64) return;
    memcpy(&offset, bytes + 20, sizeof offset);
    if (offset < 64 || offset > len) return;
    uint64_t sum[2];
    ebi_checksum128(bytes + offset, len - offset, sum);
    memcpy(bytes + 32, sum, sizeof sum);
    ebi_store64(bytes + 56, ebi_checksum(bytes + 64, offset - 64, ebi_checksum(bytes, 56, 0)));
}

/* In chunks whose sizes follow from the bytes: the same outcome. */
static void fuzz_loader(const uint8_t *bytes, size_t len, const eb_filter *wanted) {
    eb_loader *loader = NULL;
    eb_filter *f = NULL;
    MUST(eb_loader_new(&loader, NULL, &fuzz_memory, NULL) == EB_OK);
    eb_status status = EB_OK;
    for (size_t at = 0, used = 0; at < len && status == EB_OK; at += used) {
        const size_t n = ebi_min(len - at, 1 + (at * 31 + bytes[at]) % 300);
        status = eb_loader_feed(loader, bytes + at, n, &used, NULL, NULL);
        if (status != EB_OK || used < n) break;
    }
    if (status == EB_OK) status = eb_loader_finish(loader, &f, NULL);
    MUST((status == EB_OK) == (wanted != NULL) || status == EB_ENOMEM);
    if (f) fuzz_same(f, wanted);
    eb_free(f);
    eb_loader_free(loader);
}

static void fuzz_load(const uint8_t *data, size_t len, bool fix) {
    uint8_t *const bytes = malloc(len + !len);
    eb_filter *f = NULL, *view = NULL;
    eb_error err = {.text = ""};
    MUST(bytes);
    if (len > 0) memcpy(bytes, data, len);
    if (fix) fuzz_fix_sums(bytes, len);
    const eb_status status = eb_load(&f, bytes, len, NULL, &fuzz_memory, &err);
    if (status == EB_OK) {
        size_t again_len;
        uint8_t *const again = fuzz_save(f, &again_len);
        MUST(again_len <= len && memcmp(bytes, again, again_len) == 0);
        free(again);
        fuzz_loader(bytes, len, f);
        MUST(eb_view(&view, bytes, len, 0, NULL, NULL) == EB_OK);
        fuzz_ask(view);
        fuzz_ask(f);
        fuzz_freeze(f);
        MUST(eb_add(f, "key", 3, NULL, NULL) == EB_OK || (f->kind->info.caps & EB_USES_VALUE) ||
             (eb_caps(f) & EB_USES_TIME));
        fuzz_ask(f);
    } else {
        MUST(f == NULL && err.status == status && err.text[0]);
        fuzz_loader(bytes, len, NULL);
        eb_filter *trusted = NULL; /* whatever the block holds, asking is safe */
        if (eb_view(&trusted, bytes, len, EB_TRUST, &fuzz_memory, NULL) == EB_OK) fuzz_ask(trusted);
        eb_free(trusted);
    }
    eb_free(view);
    eb_free(f);
    free(bytes);
}

/* Operations */

typedef struct fuzz_input {
    const uint8_t *p;
    size_t left;
} fuzz_input;

static unsigned fuzz_byte(fuzz_input *in) {
    if (in->left == 0) return 0;
    in->left--;
    return *in->p++;
}

typedef struct fuzz_keys {
    eb_hash hash[BATCH_MAX];
    uint64_t value[BATCH_MAX];
    uint64_t time[BATCH_MAX];
    eb_batch batch;
} fuzz_keys;

static void fuzz_draw(fuzz_input *in, const eb_filter *f, fuzz_keys *k) {
    const unsigned how = fuzz_byte(in);
    uint64_t time = ebi_head_of(f->block)->clock;
    k->batch = A_BATCH(1 + fuzz_byte(in) % BATCH_MAX, k->hash, how & 1 ? k->value : NULL,
                       how & 2 ? k->time : NULL);
    for (size_t i = 0; i < k->batch.n; i++) {
        k->hash[i] = fuzz_key(f, ebi_mix(how & 4 ? fuzz_byte(in) : fuzz_byte(in) % 8 + i * 8));
        k->value[i] = how & 8 ? fuzz_byte(in) : f->p.value_min + fuzz_byte(in) % 2;
        time += how & 16 ? fuzz_byte(in) : 0;
        k->time[i] = time;
    }
}

/* Both ways: all at once, and one by one (if the batch was good).  A filter that is full has taken
 * the keys before the one that it names. */
static void fuzz_both(eb_filter *many, eb_filter *one, const fuzz_keys *k, bool removing) {
    uint8_t seen[BATCH_MAX] = {0}, single = 0;
    eb_batch all = k->batch;
    eb_error err;
    all.seen = removing ? NULL : seen;
    const eb_keys *const keys = CALLS_KEYS(k->hash);
    if (calls_keeps(many)) all.keys = keys;
    const eb_status status =
        removing ? eb_remove_batch(many, &all, &err) : eb_add_batch(many, &all, &err);
    MUST(status == EB_OK || status == EB_EVALUE || status == EB_ETIME ||
         (removing ? status == EB_ENOTSUP || status == EB_ENOMEM : status == EB_EFULL));
    MUST(status != EB_EFULL || err.at < all.n);
    const size_t good = status == EB_OK ? all.n : status == EB_EFULL ? (size_t)err.at : 0;
    for (size_t i = 0; i < good + (status == EB_EFULL); i++) {
        const eb_batch b = A_BATCH(1, k->hash + i, k->batch.value ? k->value + i : NULL,
                                   k->batch.time ? k->time + i : NULL);
        MUST((removing ? eb_remove_batch(one, &b, NULL) : calls_add(one, &b, &single)) ==
             (i < good ? EB_OK : EB_EFULL));
        MUST(removing || i >= good || single == seen[i]);
    }
}

static void fuzz_reload(eb_filter **f) {
    size_t len;
    uint8_t *const bytes = fuzz_save(*f, &len);
    eb_filter *loaded = NULL;
    eb_error err = {.text = ""};
    if (eb_load(&loaded, bytes, len, NULL, &fuzz_memory, &err) != EB_OK)
        (void)fprintf(stderr, "%s\n", err.text);
    MUST(loaded);
    fuzz_same(*f, loaded);
    eb_free(*f);
    *f = loaded;
    free(bytes);
}

static void fuzz_step(fuzz_input *in, eb_filter **many, eb_filter **one) {
    fuzz_keys k;
    switch (fuzz_byte(in) % 8) {
    case 0:
    case 1:
    case 2:
        fuzz_draw(in, *many, &k);
        fuzz_both(*many, *one, &k, false);
        break;
    case 3:
        fuzz_draw(in, *many, &k);
        fuzz_both(*many, *one, &k, true);
        break;
    case 4: {
        const uint64_t time = ebi_head_of((*many)->block)->clock + fuzz_byte(in);
        MUST(eb_advance(*many, time, NULL) == eb_advance(*one, time, NULL));
        break;
    }
    case 5:
        fuzz_reload(many);
        break;
    case 6: {
        eb_filter *other = NULL;
        MUST(eb_clone(&other, *many, &fuzz_memory, NULL) == EB_OK);
        MUST(eb_merge(*many, other, 1, NULL) == eb_merge(*one, other, 1, NULL));
        eb_free(other);
        break;
    }
    default:
        fuzz_ask(*many);
        fuzz_freeze(*many);
    }
    fuzz_same(*many, *one);
}

static void fuzz_operate(const uint8_t *data, size_t len) {
    char spec[300], small[400], canonical[EB_SPEC_MAX];
    const size_t n = ebi_min(strnlen((const char *)data, len), sizeof spec - 1);
    memcpy(spec, data, n);
    spec[n] = '\0';
    const bool sized = strstr(spec, "memory=") || strstr(spec, "cells=");
    (void)snprintf(small, sizeof small, "%s%s", spec,
                   sized               ? ""
                   : strchr(spec, ':') ? ",memory=4K"
                                       : ":memory=4K");
    eb_filter *many = NULL, *one = NULL;
    if (!fuzz_resolve(small, canonical)) return;
    if (eb_new(&many, small, &fuzz_memory, NULL) != EB_OK) return;
    MUST(eb_new(&one, canonical, &fuzz_memory, NULL) == EB_OK);
    fuzz_same(many, one);
    fuzz_input in = {data + n, len - n};
    for (int steps = 0; in.left > 0 && steps < 40; steps++) fuzz_step(&in, &many, &one);
    (void)eb_clear(many, NULL);
    (void)eb_clear(one, NULL);
    fuzz_same(many, one);
    eb_free(many);
    eb_free(one);
}

/* Deltas */

static eb_filter *fuzz_base(unsigned kind) {
    char spec[100];
    eb_filter *f = NULL;
    (void)snprintf(spec, sizeof spec, "%s:memory=2K,seed=3",
                   ebi_registry[kind % ebi_registry_size].kind->info.name);
    if (eb_new(&f, spec, &fuzz_memory, NULL) != EB_OK) return NULL;
    const eb_hash h = ebi_mix(1);
    (void)calls_add(f, &A_BATCH(1, &h, NULL, NULL), NULL);
    return f;
}

static void fuzz_delta(const uint8_t *data, size_t len) {
    eb_filter *const base = len > 0 ? fuzz_base(data[0]) : NULL, *made = NULL;
    eb_error err;
    if (!base) return;
    size_t base_len;
    uint8_t *const bytes = fuzz_save(base, &base_len), *const delta = malloc(len);
    MUST(delta);
    memcpy(delta, data + 1, len - 1);
    if (len > 81) memcpy(delta + 8, bytes, 64);
    const eb_status status = eb_patch(&made, base, delta, len - 1, &fuzz_memory, &err);
    MUST(status == EB_OK ? made != NULL : made == NULL && err.text[0]);
    if (made) fuzz_ask(made);
    eb_free(made);
    eb_free(base);
    free(bytes);
    free(delta);
}

/* Seeds: for each kind a spec, a snapshot and some operations. */

static void fuzz_write(const char *folder, const char *name, char how, const uint8_t *data,
                       size_t len) {
    char path[1000];
    (void)snprintf(path, sizeof path, "%s/seed-%s-%c", folder, name, how);
    FILE *const out = fopen(path, "wb");
    if (!out) return;
    (void)fputc(how, out);
    (void)fwrite(data, 1, len, out);
    (void)fclose(out);
}

static void fuzz_seed_options(const char *folder, const ebi_kind *kind) {
    for (const eb_option *o = kind->info.options; o->key; o++) {
        char spec[200], name[200];
        const char *const value = o->dflt ? o->dflt : o->min ? o->min : o->type;
        (void)snprintf(spec, sizeof spec, "%s:%s=%s", kind->info.name, o->key, value);
        (void)snprintf(name, sizeof name, "%s-%s", kind->info.name, o->key);
        fuzz_write(folder, name, 's', (const uint8_t *)spec, strlen(spec));
    }
}

static void fuzz_seed_frozen(const char *folder, eb_filter *f) {
    for (uint64_t i = 0; i < 30; i++) {
        const eb_hash h = ebi_mix(i);
        const uint64_t value = (uint32_t)(h >> i);
        (void)calls_add(f, &A_BATCH(1, &h, &value, NULL), NULL);
    }
    eb_filter *frozen = NULL;
    char name[100];
    size_t len;
    if (ebi_freeze(&frozen, f, &fuzz_memory, NULL) == EB_OK) {
        uint8_t *const bytes = fuzz_save(frozen, &len);
        (void)snprintf(name, sizeof name, "%s-frozen", f->kind->info.name);
        fuzz_write(folder, name, 'f', bytes, len);
        free(bytes);
        eb_free(frozen);
    }
}

typedef struct fuzz_text {
    uint8_t bytes[BLOCK_MAX];
    size_t n;
} fuzz_text;

static eb_status fuzz_collect(void *ctx, const void *bytes, size_t n) {
    fuzz_text *const t = ctx;
    if (n > sizeof t->bytes - t->n) return EB_ENOMEM;
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    return EB_OK;
}

static void fuzz_seed_delta(const char *folder, const ebi_kind *kind) {
    static fuzz_text t;
    unsigned number = 0;
    eb_filter *now = NULL;
    while (ebi_registry[number].kind != kind) number++;
    eb_filter *const base = fuzz_base(number);
    if (!base) return;
    t.n = 1;
    t.bytes[0] = (uint8_t)number;
    MUST(eb_clone(&now, base, &fuzz_memory, NULL) == EB_OK);
    for (uint64_t i = 0; i < 30; i++) {
        const eb_hash h = ebi_mix(i);
        (void)calls_add(now, &A_BATCH(1, &h, NULL, NULL), NULL);
    }
    if (eb_diff(base, now, fuzz_collect, &t, NULL) == EB_OK)
        fuzz_write(folder, kind->info.name, 'd', t.bytes, t.n);
    eb_free(now);
    eb_free(base);
}

static void fuzz_seed(const char *folder, const ebi_kind *kind) {
    char spec[EB_SPEC_MAX + 80];
    (void)snprintf(spec, sizeof spec, "%s:memory=1K", kind->info.name);
    eb_filter *f = NULL;
    if (eb_new(&f, spec, &fuzz_memory, NULL) != EB_OK) return;
    const eb_hash h = ebi_mix(1);
    (void)calls_add(f, &A_BATCH(1, &h, NULL, NULL), NULL);
    size_t len;
    uint8_t *const bytes = fuzz_save(f, &len);
    fuzz_write(folder, kind->info.name, 'l', bytes, len);
    fuzz_write(folder, kind->info.name, 'f', bytes, len);
    (void)snprintf(spec, EB_SPEC_MAX, "%s", eb_spec(f));
    const size_t n = strlen(spec);
    fuzz_write(folder, kind->info.name, 's', (const uint8_t *)spec, n);
    for (size_t i = 1; i < 80; i++) spec[n + i] = (char)(i * 37);
    fuzz_write(folder, kind->info.name, 'o', (const uint8_t *)spec, n + 80);
    fuzz_seed_frozen(folder, f);
    fuzz_seed_delta(folder, kind);
    free(bytes);
    eb_free(f);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    const char *const folder = (*argv)[*argc - 1];
    for (size_t i = 0; *argc > 1 && folder[0] != '-' && i < ebi_registry_size; i++) {
        fuzz_seed(folder, ebi_registry[i].kind);
        fuzz_seed_options(folder, ebi_registry[i].kind);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    if (len == 0) return 0;
    switch (data[0]) {
    case 's':
        fuzz_spec(data + 1, len - 1);
        break;
    case 'l':
        fuzz_load(data + 1, len - 1, false);
        break;
    case 'f':
        fuzz_load(data + 1, len - 1, true);
        break;
    case 'd':
        fuzz_delta(data + 1, len - 1);
        break;
    default:
        fuzz_operate(data + 1, len - 1);
    }
    return 0;
}
