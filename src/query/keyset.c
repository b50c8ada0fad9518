/* keyset.c - distinct keys in memory of a fixed size: see keyset.h. */
#include "keyset.h"

static uint64_t keyset_size(uint64_t len) {
    return sizeof(ebi_keyset_entry) + ebi_round_up(len, 8);
}

eb_status ebi_keyset_open(ebi_keyset *s, uint64_t bytes, const eb_allocator *mem, eb_error *err) {
    if (bytes < EBI_KEYSET_MIN || bytes > EBI_KEYSET_MAX)
        return ebi_fail(err, EB_EINVAL, "memory for keys must be 1K..32G, not %llu bytes",
                        (unsigned long long)bytes);
    *s = (ebi_keyset){.bytes = bytes / 64 * 64};
    EBI_TRY(ebi_allocator(&s->mem, mem, err));
    s->slots = ebi_alloc_zeroed(&s->mem, s->bytes);
    if (!s->slots)
        return ebi_fail(err, EB_ENOMEM, "no memory for %llu bytes of keys",
                        (unsigned long long)s->bytes);
    s->n_slots = s->bytes / 32;
    s->arena = (uint8_t *)(s->slots + s->n_slots);
    s->room = s->bytes - s->n_slots * sizeof *s->slots;
    return EB_OK;
}

void ebi_keyset_close(ebi_keyset *s) {
    ebi_release(&s->mem, s->slots, s->bytes);
    s->slots = NULL;
}

void ebi_keyset_clear(ebi_keyset *s) {
    memset(s->slots, 0, (size_t)s->n_slots * sizeof *s->slots);
    s->used = s->n = 0;
}

static ebi_keyset_entry *keyset_at(const ebi_keyset *s, uint64_t offset) {
    assert(offset < s->bytes);
    return (ebi_keyset_entry *)(void *)(s->arena + offset);
}

static bool keyset_is(const ebi_keyset_entry *e, eb_hash h, eb_key key) {
    return e->hash == h && e->len == key.len &&
           (key.len == 0 || memcmp(e + 1, key.p, key.len) == 0);
}

static uint64_t keyset_after(const ebi_keyset *s, uint64_t slot) {
    return slot + 1 == s->n_slots ? 0 : slot + 1;
}

ebi_keyset_entry *ebi_keyset_find(const ebi_keyset *s, eb_hash h, eb_key key) {
    for (uint64_t i = ebi_keyset_home(s, h); s->slots[i].place != 0; i = keyset_after(s, i)) {
        if (s->slots[i].tag != (uint32_t)h) continue;
        ebi_keyset_entry *const e = keyset_at(s, (s->slots[i].place - UINT64_C(1)) * 8);
        if (keyset_is(e, h, key)) return e;
    }
    return NULL;
}

static void keyset_index(ebi_keyset *s, const ebi_keyset_entry *e) {
    uint64_t i = ebi_keyset_home(s, e->hash);
    while (s->slots[i].place != 0) i = keyset_after(s, i);
    const uint64_t offset = (uint64_t)((const uint8_t *)e - s->arena);
    s->slots[i] = (ebi_keyset_slot){(uint32_t)e->hash, (uint32_t)(offset / 8 + 1)};
}

bool ebi_keyset_fits(const ebi_keyset *s, size_t len) {
    return len < s->room && keyset_size(len) <= s->room;
}

bool ebi_keyset_has_room(const ebi_keyset *s, const eb_key *keys, size_t n) {
    uint64_t left = s->room - s->used;
    for (size_t i = 0; i < n; i++) {
        if (!ebi_keyset_fits(s, keys[i].len) || keyset_size(keys[i].len) > left) return false;
        left -= keyset_size(keys[i].len);
    }
    return true;
}

ebi_keyset_entry *ebi_keyset_put(ebi_keyset *s, eb_hash h, eb_key key, uint64_t count) {
    if (!ebi_keyset_has_room(s, &key, 1)) return NULL;
    ebi_keyset_entry *const e = keyset_at(s, s->used);
    *e = (ebi_keyset_entry){h, count, key.len};
    if (key.len > 0) memcpy(e + 1, key.p, key.len);
    s->used += keyset_size(key.len);
    s->n++;
    keyset_index(s, e);
    return e;
}

ebi_keyset_entry *ebi_keyset_next(const ebi_keyset *s, uint64_t *at) {
    if (*at >= s->used) return NULL;
    ebi_keyset_entry *const e = keyset_at(s, *at);
    *at += keyset_size(e->len);
    return e;
}

/* What stays moves to the front, in its order. */
void ebi_keyset_drop(ebi_keyset *s, uint64_t most, ebi_keyset_rank *rank, const void *ctx) {
    const uint64_t end = s->used;
    uint64_t to = 0;
    memset(s->slots, 0, (size_t)s->n_slots * sizeof *s->slots);
    s->n = 0;
    for (uint64_t at = 0, size; at < end; at += size) {
        size = keyset_size(keyset_at(s, at)->len);
        if (ebi_keyset_rank_of(keyset_at(s, at), rank, ctx) <= most) continue;
        memmove(s->arena + to, s->arena + at, (size_t)size);
        keyset_index(s, keyset_at(s, to));
        to += size;
        s->n++;
    }
    s->used = to;
}
