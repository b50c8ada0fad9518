/* lru.h - what the loops of lru.c and of lru_avx2.c share: where a key's bucket
 * is, and its fingerprint.  lru.c explains the layout. */
#ifndef EB_LRU_H
#define EB_LRU_H
#include "kind.h"

/* The fingerprint widths of bucket=line: of all even widths with the same
 * number of slots in a line, the widest. */
#define EBI_LRU_WIDTHS(X) X(10) X(12) X(14) X(16) X(18) X(20) X(24) X(32)

enum { EBI_LRU_BUCKET = EB_O_OWN, EBI_LRU_W, EBI_LRU_B, EBI_LRU_FPR, EBI_LRU_WINDOW };
enum { EBI_LRU_LINE, EBI_LRU_WORD };
enum { EBI_LRU_LINE_BYTES = 64, EBI_LRU_WORD_BYTES = 8 };

/* The fields of a 64-bit word: n of them, each of `bits` bits, the first lowest. */
typedef struct ebi_lru_fields {
    unsigned n, bits;
    uint64_t ones;  /* the lowest bit of each field */
    uint64_t highs; /* the highest */
    uint64_t used;  /* all of them */
} ebi_lru_fields;

EB_INLINE ebi_lru_fields ebi_lru_fields_of(unsigned n, unsigned bits) {
    const uint64_t used = ebi_ones(n * bits), ones = used / ebi_ones(bits);
    return (ebi_lru_fields){n, bits, ones, ones << (bits - 1), used};
}

/* A line of w-bit fingerprints: w/2 bits in each of two planes of four words. */
EB_INLINE ebi_lru_fields ebi_lru_line_fields(unsigned w) {
    return ebi_lru_fields_of(128 / w, w / 2);
}

/* Which fields of a line's last word belong to its b slots; b > 3n. */
EB_INLINE uint64_t ebi_lru_last_used(ebi_lru_fields f, unsigned b) {
    return ebi_ones((b - 3 * f.n) * f.bits);
}

EB_INLINE unsigned ebi_lru_b(const eb_params *p) {
    return (unsigned)p->opt[EBI_LRU_B];
}

EB_INLINE uint64_t ebi_lru_lines(const eb_params *p) {
    return (p->span - sizeof(eb_head)) / EBI_LRU_LINE_BYTES;
}

/* How many low bits of the hash make a fingerprint of w bits.  Eight more than
 * w make the fingerprints 1..2^w-1 equally likely; 0 means an empty slot. */
EB_INLINE unsigned ebi_lru_print_bits(unsigned w) {
    return w + 8 < 32 ? w + 8 : 32;
}

EB_INLINE uint64_t ebi_lru_print(eb_hash h, unsigned w) {
    const unsigned bits = ebi_lru_print_bits(w);
    return 1 + ((h & ebi_ones(bits)) * ebi_ones(w) >> bits);
}

/* The buckets, and the hashes of a batch of keys. */
typedef struct ebi_lru_batch {
    const uint8_t *block;
    uint64_t buckets;
    const eb_hash *hash;
    size_t n;
} ebi_lru_batch;

/* Where key i goes: its bucket's offset in the block, from the top bits of the hash. */
EB_INLINE uint64_t ebi_lru_at(const ebi_lru_batch *b, size_t i, unsigned bytes) {
    return sizeof(eb_head) + eb_scale(b->hash[i], b->buckets) * bytes;
}

/* Buckets are asked for this many keys before they are used, so that memory and the work on lists
 * overlap. */
enum { EBI_LRU_AHEAD = 64 };

EB_INLINE void ebi_lru_fetch(const ebi_lru_batch *b, size_t i, unsigned bytes, bool write) {
    if (i >= b->n) return;
    if (write)
        ebi_prefetch_write(b->block + ebi_lru_at(b, i, bytes));
    else
        ebi_prefetch_read(b->block + ebi_lru_at(b, i, bytes));
}

EB_INLINE void ebi_lru_fetch_first(const ebi_lru_batch *b, unsigned bytes, bool write) {
    for (size_t i = 0; i < EBI_LRU_AHEAD; i++) ebi_lru_fetch(b, i, bytes, write);
}

/* The loops for p: portable, or NULL if this machine has no AVX2 or p needs none. */
const eb_ops *ebi_lru_portable(const eb_params *p);
const eb_ops *ebi_lru_avx2(const eb_params *p);
#endif
