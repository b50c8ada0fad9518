/* lru.h - what the files of lru share: where a key's bucket is, its fingerprint, and which expert
 * wins the duel. lru.c explains the layout, lru_duel.c the duel. */
#ifndef EBI_LRU_H
#define EBI_LRU_H
#include "filter/kind.h"

/* The fingerprint widths of bucket=line: of all even widths with the same number of slots in a
 * line, the widest.  Widths of whole bytes are stored one after the other, others in two halves. */
#define EBI_LRU_BYTE_WIDTHS(X) X(16) X(24) X(32)
#define EBI_LRU_HALVED_WIDTHS(X) X(10) X(12) X(14) X(18) X(20)
#define EBI_LRU_WIDTHS(X) EBI_LRU_BYTE_WIDTHS(X) EBI_LRU_HALVED_WIDTHS(X)

enum {
    EBI_LRU_BUCKET = EBI_O_OWN,
    EBI_LRU_W,
    EBI_LRU_B,
    EBI_LRU_KEEP,
    EBI_LRU_FPR,
    EBI_LRU_WINDOW,
    EBI_LRU_LOW,
    EBI_LRU_HIGH
};
enum { EBI_LRU_LINE, EBI_LRU_WORD };
enum { EBI_LRU_ADAPTIVE, EBI_LRU_RECENT, EBI_LRU_IMPORTANT };
/* In ebi_params.derived: the buckets of a shard; how many of them are leaders; and, with
 * keep=important, the factor that turns a value into a class. */
enum { EBI_LRU_BUCKETS, EBI_LRU_LEADERS, EBI_LRU_INVERSE };
enum { EBI_LRU_LINE_BYTES = 64, EBI_LRU_WORD_BYTES = 8 };

/* The fields of a 64-bit word: n of them, each of `bits` bits, the first lowest. */
typedef struct ebi_lru_fields {
    unsigned n, bits;
    uint64_t ones;  /* the lowest bit of each field */
    uint64_t highs; /* the highest bit of each */
    uint64_t used;  /* all bits of fields */
} ebi_lru_fields;

EBI_INLINE ebi_lru_fields ebi_lru_fields_of(unsigned n, unsigned bits) {
    assert(n >= 1 && bits >= 1 && n * bits <= 64);
    const uint64_t used = ebi_ones(n * bits), ones = used / ebi_ones(bits);
    return (ebi_lru_fields){n, bits, ones, ones << (bits - 1), used};
}

/* The top bit of fields that are 0: exact for the lowest such field, but fields above it may be
 * marked wrongly. */
#define EBI_LRU_ZERO(x, f) (((x) - (f).ones) & ~(x) & (f).highs)

/* A line of fingerprints of w bits: w/2 bits in each of two planes of four words. */
EBI_INLINE ebi_lru_fields ebi_lru_line_fields(unsigned w) {
    return ebi_lru_fields_of(128 / w, w / 2);
}

/* For lines whose fingerprints are whole bytes there is one bit for each byte. */
EBI_INLINE bool ebi_lru_is_bytes(unsigned w) {
    return w % 8 == 0;
}

EBI_INLINE ebi_lru_fields ebi_lru_byte_fields(unsigned w) {
    assert(ebi_lru_is_bytes(w));
    return ebi_lru_fields_of(64 / (w / 8), w / 8);
}

/* The fields of a line's last word that belong to its b slots; b > 3n. */
EBI_INLINE uint64_t ebi_lru_last_used(ebi_lru_fields f, unsigned b) {
    return ebi_ones((b - 3 * f.n) * f.bits);
}

/* A plane, in registers or in memory. */
typedef uint64_t ebi_lru_plane __attribute__((vector_size(32)));
typedef uint64_t ebi_lru_bytes __attribute__((vector_size(32), aligned(1), may_alias));

EBI_INLINE unsigned ebi_lru_b(const ebi_params *p) {
    return (unsigned)p->opt[EBI_LRU_B];
}

EBI_INLINE uint64_t ebi_lru_leaders(const ebi_params *p) {
    return p->derived[EBI_LRU_LEADERS];
}

/* The duel.  Each leader has a copy for each expert; the line itself is that of expert 0. */
enum { EBI_LRU_EXPERTS_MAX = 5, EBI_LRU_CLASSES = 16 };

typedef struct ebi_lru_duel { /* in the head's `own`; zero if there are no leaders */
    uint32_t winner;
    int32_t score[EBI_LRU_EXPERTS_MAX];
    uint32_t counted; /* keep=important: keys since ranks were last computed */
    uint32_t reserved;
} ebi_lru_duel;
static_assert(sizeof(ebi_lru_duel) == sizeof(((ebi_block_head *)0)->own), "all that a kind has");

typedef struct ebi_lru_ranks {       /* the first segment with keep=important */
    uint16_t count[EBI_LRU_CLASSES]; /* keys that fell on leaders */
    uint8_t
        rank[EBI_LRU_CLASSES]; /* the share of all keys that are less important, in sixteenths */
    uint8_t reserved[16];
} ebi_lru_ranks;
static_assert(sizeof(ebi_lru_ranks) == 64, "one cache line");

EBI_INLINE bool ebi_lru_is_ranked(const ebi_params *p) {
    return p->opt[EBI_LRU_KEEP] == EBI_LRU_IMPORTANT;
}

EBI_INLINE unsigned ebi_lru_experts(const ebi_params *p) {
    return ebi_lru_is_ranked(p) ? 5 : 3;
}

EBI_INLINE uint64_t ebi_lru_ranks_bytes(const ebi_params *p) {
    return ebi_lru_is_ranked(p) ? sizeof(ebi_lru_ranks) : 0;
}

EBI_INLINE uint64_t ebi_lru_first(const ebi_params *p) { /* offset of bucket 0 in the block */
    return sizeof(ebi_block_head) + ebi_lru_ranks_bytes(p);
}

EBI_INLINE const ebi_lru_duel *ebi_lru_duel_of(const uint8_t *block) {
    return (const ebi_lru_duel *)(const void *)ebi_head_of(block)->own;
}

/* The line that is expert e's copy of leader i. */
EBI_INLINE uint64_t ebi_lru_copy(const ebi_params *p, uint64_t i, unsigned e) {
    assert(i < ebi_lru_leaders(p) && e < ebi_lru_experts(p));
    return e == 0 ? i : p->derived[EBI_LRU_BUCKETS] + i * (ebi_lru_experts(p) - 1) + e - 1;
}

/* Scores are in 1/1024 of a hit. */
enum { EBI_LRU_HIT = 1024 };
typedef struct ebi_lru_rules {
    int32_t limit; /* no score is below -limit */
    int32_t lead;  /* how far a new winner must lead */
    int32_t start; /* how far the front leads at first */
    int32_t drift; /* for each key, of all but the first winner */
} ebi_lru_rules;
ebi_lru_rules ebi_lru_rules_of(const ebi_params *p);

/* keep=adaptive: where expert e inserts new keys into full lines, but for a chance of the front. */
unsigned ebi_lru_expert_slot(const ebi_params *p, unsigned e);
double ebi_lru_expert_front(const ebi_params *p, unsigned e);

/* keep=important: one of 16 equal slices of low..high. */
EBI_INLINE unsigned ebi_lru_class(const ebi_params *p, uint64_t value) {
    assert(value >= p->value_min && value <= p->value_max);
    return (unsigned)eb_scale((value - p->opt[EBI_LRU_LOW]) * EBI_LRU_CLASSES,
                              p->derived[EBI_LRU_INVERSE]);
}

/* Where a line in planes takes an insertion at slot s: the fields of a plane that are s or above,
 * and the field that is s. */
typedef struct ebi_lru_place {
    uint64_t open[4], at[4];
} ebi_lru_place;

void ebi_lru_duel_init(const ebi_params *p, uint8_t *block);
eb_status ebi_lru_duel_check(const ebi_params *p, const uint8_t *block, eb_error *err);

/* How many low bits of the hash make a fingerprint of w bits.  Eight more than w make the
 * fingerprints 1..2^w-1 almost equally likely; 0 means an empty slot. */
EBI_INLINE unsigned ebi_lru_print_bits(unsigned w) {
    return w + 8 < 32 ? w + 8 : 32;
}

EBI_INLINE uint64_t ebi_lru_print(eb_hash h, unsigned w) {
    assert(w >= 1 && w <= 64);
    const unsigned bits = ebi_lru_print_bits(w);
    return 1 + ((h & ebi_ones(bits)) * ebi_ones(w) >> bits);
}

/* The number of buckets, and the hashes of a batch of keys. */
typedef struct ebi_lru_batch {
    uint64_t buckets;
    const eb_hash *hash;
    size_t n;
} ebi_lru_batch;

EBI_INLINE ebi_lru_batch ebi_lru_batch_of(const ebi_params *p, const ebi_batch *b) {
    assert(b->n <= EBI_LONG_BATCH);
    return (ebi_lru_batch){p->derived[EBI_LRU_BUCKETS], b->hash, b->n};
}

/* Key i's bucket, from the top bits of the hash. */
EBI_INLINE uint64_t ebi_lru_bucket(const ebi_lru_batch *b, size_t i) {
    assert(i < b->n);
    return eb_scale(b->hash[i], b->buckets);
}

/* Buckets are prefetched this many keys ahead, so that memory and the work on lists overlap. */
enum { EBI_LRU_AHEAD = 64 };

EBI_INLINE void ebi_lru_fetch(const uint8_t *first, const ebi_lru_batch *b, size_t i,
                              unsigned bytes, bool write) {
    if (i >= b->n) return;
    if (write)
        ebi_prefetch_write(first + ebi_lru_bucket(b, i) * bytes);
    else
        ebi_prefetch_read(first + ebi_lru_bucket(b, i) * bytes);
}

EBI_INLINE void ebi_lru_fetch_first(const uint8_t *first, const ebi_lru_batch *b, unsigned bytes,
                                    bool write) {
    for (size_t i = 0; i < EBI_LRU_AHEAD && i < b->n; i++) ebi_lru_fetch(first, b, i, bytes, write);
}

/* Adding keys to lines: for the loops that lru_loops.h makes for each width. */
typedef struct ebi_lru_adding {
    ebi_lru_batch keys;
    uint8_t *lines, *seen;
    uint64_t leaders;
    unsigned slots;
    const ebi_lru_place *place; /* of lines in planes */
    const uint8_t *to; /* for each key that is new in a full line: the first byte of its slot, or in
                          planes an index in `place`; 0 is the front */
} ebi_lru_adding;

typedef struct ebi_lru_line_ops {
    /* Adds keys i to end-1, or up to the first that falls on a leader.  Returns the index of that
     * key. */
    size_t (*front)(const ebi_lru_adding *a, size_t i, size_t end); /* to[] is not read */
    size_t (*deep)(const ebi_lru_adding *a, size_t i, size_t end);
    bool (*put)(const ebi_lru_adding *a, uint8_t *line, uint64_t print, uint8_t to);
} ebi_lru_line_ops;

void ebi_lru_add(const ebi_params *p, uint8_t *block, const ebi_batch *b, uint8_t *seen,
                 const ebi_lru_line_ops *ops);

/* In a line of whole bytes whose slots end at byte `end`: whether the last slot is in use. */
EBI_INLINE bool ebi_lru_bytes_are_full(const uint8_t *line, unsigned end, unsigned w) {
    assert(end >= sizeof(uint32_t) && end <= EBI_LRU_LINE_BYTES && w <= 32);
    uint32_t last;
    memcpy(&last, line + end - sizeof last, sizeof last);
    return last >= UINT32_C(1) << (32 - w);
}

/* The line of a single key that goes to the front, as most do.  NULL: the duel decides. */
EBI_INLINE uint8_t *ebi_lru_plain_line(const ebi_params *p, uint8_t *block, eb_hash h) {
    const uint64_t at = eb_scale(h, p->derived[EBI_LRU_BUCKETS]), leaders = ebi_lru_leaders(p);
    if (leaders > 0 && (at < leaders || ebi_lru_duel_of(block)->winner != 0)) return NULL;
    return block + ebi_lru_first(p) + at * EBI_LRU_LINE_BYTES;
}

/* The line that answers for a key: if its line is a leader, the winner's copy. */
EBI_INLINE uint64_t ebi_lru_answering(const ebi_params *p, const uint8_t *block, uint64_t line) {
    if (line >= ebi_lru_leaders(p)) return line;
    return ebi_lru_copy(p, line, ebi_lru_duel_of(block)->winner);
}

/* The loops for p: portable ones; those with AVX2, for lines; those with AVX-512, for lines of
 * whole bytes.  NULL if this machine has none. */
const ebi_ops *ebi_lru_portable(const ebi_params *p);
const ebi_ops *ebi_lru_avx2(const ebi_params *p);
const ebi_ops *ebi_lru_avx512(const ebi_params *p);

void ebi_lru_predict(const ebi_params *p, const eb_workload *w, eb_prediction *out);
double ebi_lru_reach(double b, double missed);

/* keep=adaptive on draws by Zipf's law: its misses over those of plain lists. */
typedef struct ebi_lru_gain {
    double mean, at_end;
} ebi_lru_gain;
struct ebi_repeats;
ebi_lru_gain ebi_lru_skewed(const ebi_params *p, const struct ebi_repeats *r, bool rough);
#endif
