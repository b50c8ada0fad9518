/* keytable.c - the distinct keys of a sample: open addressing over an array, at most half full. */
#include "keytable.h"
#include <stdlib.h>
#include <string.h>

/* Where the key stands in slots, or the empty slot where it would. */
static size_t *find_slot(const keytable *t, eb_hash hash, eb_key key) {
    size_t i = (size_t)hash & (t->n_slots - 1);
    for (; t->slots[i]; i = (i + 1) & (t->n_slots - 1)) {
        const table_key *const k = &t->keys[t->slots[i] - 1];
        if (k->hash == hash && k->len == key.len &&
            (key.len == 0 || memcmp(t->bytes + k->at, key.p, key.len) == 0))
            break;
    }
    return &t->slots[i];
}

table_key *keytable_find(const keytable *t, eb_hash hash, eb_key key) {
    if (t->n_slots == 0) return NULL;
    const size_t at = *find_slot(t, hash, key);
    return at ? &t->keys[at - 1] : NULL;
}

static void grow_slots(keytable *t) {
    t->n_slots = t->n_slots ? 2 * t->n_slots : 1024;
    free(t->slots);
    t->slots = cli_alloc(t->n_slots * sizeof *t->slots);
    memset(t->slots, 0, t->n_slots * sizeof *t->slots);
    for (size_t i = 0; i < t->n; i++) {
        size_t slot = (size_t)t->keys[i].hash & (t->n_slots - 1);
        while (t->slots[slot]) slot = (slot + 1) & (t->n_slots - 1);
        t->slots[slot] = i + 1;
    }
}

table_key *keytable_get(keytable *t, eb_hash hash, eb_key key) {
    if (2 * (t->n + 1) > t->n_slots) grow_slots(t);
    size_t *const slot = find_slot(t, hash, key);
    if (*slot) return &t->keys[*slot - 1];
    t->keys = cli_grow(t->keys, &t->keys_cap, (t->n + 1) * sizeof *t->keys);
    t->bytes = cli_grow(t->bytes, &t->bytes_cap, t->used + key.len + 1);
    if (key.len > 0) memcpy(t->bytes + t->used, key.p, key.len);
    t->keys[t->n] = (table_key){.hash = hash, .at = t->used, .len = key.len};
    t->used += key.len;
    *slot = ++t->n;
    return &t->keys[t->n - 1];
}

void keytable_free(keytable *t) {
    free(t->keys);
    free(t->bytes);
    free(t->slots);
    *t = (keytable){0};
}
