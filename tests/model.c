/* model.c - twins by the shard, and what they have in common: see model.h. */
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model {
    const model_kind *kind;
    unsigned shards;
    void *twin[256];
};

static const model_kind *const model_kinds[] = {
#define MODEL_ADDRESS(name) &model_##name,
    MODEL_KINDS(MODEL_ADDRESS)};

const model_kind *const *model_list(size_t *n) {
    *n = sizeof model_kinds / sizeof model_kinds[0];
    return model_kinds;
}

void *model_zeros(size_t n, size_t size) {
    void *const p = calloc(n, size);
    if (!p) abort();
    return p;
}

/* Options */

static const char *model_find(const char *spec, const char *key) {
    const size_t len = strlen(key);
    for (const char *p = strchr(spec, ':'); p; p = strchr(p + 1, ','))
        if (strncmp(p + 1, key, len) == 0 && p[1 + len] == '=') return p + len + 2;
    return NULL;
}

static const char *model_value(const char *spec, const char *key) {
    const char *const value = model_find(spec, key);
    if (value) return value;
    (void)fprintf(stderr, "model: %s has no %s=\n", spec, key);
    abort();
}

uint64_t model_int_or_0(const char *spec, const char *key) {
    return model_find(spec, key) ? model_int(spec, key) : 0;
}

uint64_t model_int(const char *spec, const char *key) {
    return strtoull(model_value(spec, key), NULL, 10);
}

uint64_t model_millionths(const char *spec, const char *key) {
    char *end;
    const char *const text = model_value(spec, key);
    const bool negative = *text == '-';
    uint64_t value = strtoull(text + negative, &end, 10);
    for (int digit = 0, more = *end == '.'; digit < 6; digit++) {
        if (more) end++;
        more = more && *end >= '0' && *end <= '9';
        value = value * 10 + (more ? (uint64_t)(*end - '0') : 0);
    }
    return negative ? 0 - value : value;
}

uint64_t model_entry(const char *spec, const char *key, uint64_t i) {
    const char *p = model_value(spec, key);
    for (; i > 0; i--) {
        p += strcspn(p, ":,");
        if (*p != ':') return 0;
        p++;
    }
    return strtoull(p, NULL, 10);
}

bool model_is(const char *spec, const char *key, const char *choice) {
    const char *const value = model_value(spec, key);
    return strlen(choice) == strcspn(value, ",") && strncmp(value, choice, strlen(choice)) == 0;
}

/* Numbers: schoolbook multiplication, and the generator as documented. */

uint64_t model_scale(uint64_t x, uint64_t range) {
    const uint64_t a = x >> 32, b = x & UINT32_MAX, c = range >> 32, d = range & UINT32_MAX;
    const uint64_t middle = (b * d >> 32) + (a * d & UINT32_MAX) + (b * c & UINT32_MAX);
    return a * c + (a * d >> 32) + (b * c >> 32) + (middle >> 32);
}

uint64_t model_position(uint64_t hash, unsigned i, uint64_t range) {
    for (; i > 0; i--) hash = hash * UINT64_C(0xd1342543de82ef95) + 1;
    return model_scale(hash, range);
}

uint64_t model_counter(uint64_t cells, uint64_t window, unsigned k, uint64_t hash, unsigned i) {
    const bool everywhere = window == 0 || window > cells;
    const uint64_t part = (everywhere ? cells : window) / k;
    const uint64_t first = everywhere ? 0 : model_scale(hash, cells - window + 1);
    return first + i * part + model_position(model_mix(hash), i, part);
}

uint64_t model_mix(uint64_t x) {
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x;
}

uint64_t model_draw(uint64_t *rng) {
    *rng += UINT64_C(0x9e3779b97f4a7c15);
    return model_mix(*rng);
}

uint64_t model_below(uint64_t *rng, uint64_t range) {
    return model_scale(model_draw(rng), range);
}

/* Shards */

model *model_new(const char *spec) {
    for (size_t i = 0; i < sizeof model_kinds / sizeof model_kinds[0]; i++) {
        const model_kind *const kind = model_kinds[i];
        if (strlen(kind->name) != strcspn(spec, ":") ||
            strncmp(spec, kind->name, strlen(kind->name)) != 0)
            continue;
        model *const m = model_zeros(1, sizeof *m);
        m->kind = kind;
        m->shards = (unsigned)model_int(spec, "shards");
        for (unsigned s = 0; s < m->shards; s++)
            m->twin[s] = kind->make(spec, model_mix(model_int(spec, "seed") + model_mix(s + 1)));
        return m;
    }
    return NULL;
}

void model_free(model *m) {
    for (unsigned s = 0; s < m->shards; s++) m->kind->free(m->twin[s]);
    free(m);
}

static unsigned model_shard(const model *m, uint64_t hash) { /* the top bits choose */
    return (unsigned)model_scale(hash, m->shards);
}

static uint64_t model_inner_hash(const model *m, uint64_t hash) {
    return m->shards == 1 ? hash : hash * UINT64_C(0x9e3779b97f4a7c15);
}

bool model_add(model *m, uint64_t hash, uint32_t value, uint64_t time) {
    const model_key key = {model_inner_hash(m, hash), value, time};
    return m->kind->add(m->twin[model_shard(m, hash)], key);
}

bool model_test(const model *m, uint64_t hash) {
    return m->kind->test(m->twin[model_shard(m, hash)], model_inner_hash(m, hash));
}

bool model_counts(const model *m) {
    return m->kind->count != NULL;
}

uint64_t model_count(const model *m, uint64_t hash) {
    return m->kind->count(m->twin[model_shard(m, hash)], model_inner_hash(m, hash));
}

void model_remove(model *m, uint64_t hash, uint32_t value) {
    const model_key key = {model_inner_hash(m, hash), value, 0};
    m->kind->remove(m->twin[model_shard(m, hash)], key);
}

bool model_has_cells(const model *m) {
    return m->kind->cell != NULL;
}

uint64_t model_cell(const model *m, uint64_t i) {
    return m->kind->cell(m->twin[0], i);
}
