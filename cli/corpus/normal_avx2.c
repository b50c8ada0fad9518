/* normal_avx2.c - normalisation of ASCII, 64 bytes at a time, without a branch on what they are.
 *
 * What each byte is becomes a bit of a mask, and arithmetic with masks finds the blanks that stay
 * and where words begin: as a carry runs through ones, "there was a letter" runs through bytes that
 * are left out.  Then the bytes that stay are moved together, eight at a time. */
#include "normal.h"

#if defined __x86_64__
#include <immintrin.h>
#define NORMAL_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define NORMAL_STEP NORMAL_AVX2 static inline __attribute__((always_inline))

enum { NORMAL_BYTES = TEXT_PAD, NORMAL_HALF = NORMAL_BYTES / 2 };

bool normal_can_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

/* Of some bytes: a bit of a mask for each. */
typedef struct normal_masks {
    uint64_t wide, space, left_out, newline;
} normal_masks;

NORMAL_STEP uint64_t normal_bits(__m256i bytes) { /* their top bits */
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

/* Bytes that are in a table of bits: see normal.h.  Those that are not are ones, the others zeros.
 */
NORMAL_STEP __m256i normal_not_in(const uint8_t table[16], __m256i bytes, __m256i row) {
    const __m128i half = _mm_loadu_si128((const __m128i *)(const void *)table);
    const __m256i rows = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(half), bytes);
    return _mm256_cmpeq_epi8(_mm256_and_si256(rows, row), _mm256_setzero_si256());
}

/* What 32 bytes are, and what becomes of them. */
NORMAL_STEP normal_masks normal_look(const normaliser *z, const char *text, char *low) {
    const __m256i bits = _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0, 1,
                                          2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)text);
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    const __m256i row = _mm256_shuffle_epi8(bits, high);
    const __m256i no_space = normal_not_in(z->spaces, bytes, row);
    const __m256i stays = normal_not_in(z->left_out, bytes, row);
    const __m256i capital = _mm256_and_si256(_mm256_cmpgt_epi8(bytes, _mm256_set1_epi8('A' - 1)),
                                             _mm256_cmpgt_epi8(_mm256_set1_epi8('Z' + 1), bytes));
    const __m256i add = _mm256_and_si256(capital, _mm256_set1_epi8(z->what & NORMAL_CASE ? 32 : 0));
    __m256i out = _mm256_add_epi8(bytes, add);
    if (z->what & NORMAL_SPACE) out = _mm256_blendv_epi8(_mm256_set1_epi8(' '), out, no_space);
    _mm256_storeu_si256((__m256i *)(void *)low, out);
    return (normal_masks){normal_bits(bytes), normal_bits(no_space) ^ UINT32_MAX,
                          normal_bits(stays) ^ UINT32_MAX,
                          normal_bits(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\n')))};
}

NORMAL_STEP uint64_t normal_below(unsigned bit) {
    return (UINT64_C(1) << bit) - 1;
}

/* Of a block of text: masks, and what was under way before it. */
typedef struct normal_part {
    uint64_t letter, keep; /* keep: letters, and white space that stays */
    uint64_t begins, ends; /* words: the first letter, and the white space behind the last */
    bool was_in_word, in_word;
} normal_part;

/* Letters after which no white space came, up to each byte: what is left out changes nothing. */
NORMAL_STEP normal_part normal_mark(uint64_t letter, uint64_t space, bool in_word) {
    const uint64_t gap = ~(letter | space), after = letter << 1 | in_word;
    unsigned long long sum;
    const bool over = __builtin_add_overflow(gap, after & gap, &sum);
    const uint64_t reached = (after | sum) & ~gap;
    return (normal_part){.letter = letter,
                         .begins = letter & ~reached,
                         .ends = space & reached,
                         .was_in_word = in_word,
                         .in_word = over || letter >> (NORMAL_BYTES - 1)};
}

/* Of a bit: how many bytes stay before it. */
NORMAL_STEP uint32_t normal_put_before(const normal_part *part, unsigned bit) {
    return (uint32_t)__builtin_popcountll(part->keep & normal_below(bit));
}

/* Where the words are that have a part in the block. */
NORMAL_STEP void normal_words(const normal_run *r, const normal_part *part) {
    normalised *const to = r->to;
    const size_t most = to->words + NORMAL_HALF + 1;
    const uint32_t n = (uint32_t)to->n;
    to->word = cli_grow(to->word, &to->word_cap, most * sizeof *to->word);
    to->source = cli_grow(to->source, &to->source_cap, most * sizeof *to->source);
    size_t ended = to->words - part->was_in_word;
    for (uint64_t begins = part->begins; begins; begins &= begins - 1) {
        const unsigned at = (unsigned)__builtin_ctzll(begins);
        to->word[to->words].begin = n + normal_put_before(part, at);
        to->source[to->words++].begin = r->at + at;
    }
    for (uint64_t ends = part->ends;; ends &= ends - 1) {
        if (!ends && !part->in_word) break;
        const uint64_t before = ends ? (ends & -ends) - 1 : UINT64_MAX;
        to->word[ended].end = n + (uint32_t)__builtin_popcountll(part->keep & before);
        const uint64_t letters = part->letter & before;
        if (letters)
            to->source[ended].end = r->at + NORMAL_BYTES - (uint32_t)__builtin_clzll(letters);
        ended++;
        if (!ends) break;
    }
}

NORMAL_STEP void normal_newlines(const normal_run *r, const normal_part *part, uint64_t newline) {
    normalised *const to = r->to;
    const size_t most = to->newlines + NORMAL_BYTES;
    to->newline = cli_grow(to->newline, &to->newline_cap, most * sizeof *to->newline);
    for (; newline; newline &= newline - 1) {
        const unsigned at = (unsigned)__builtin_ctzll(newline);
        to->newline[to->newlines++] =
            (text_place){r->at + at, (uint32_t)to->n + normal_put_before(part, at)};
    }
}

/* Appends the bytes that stay; behind them 8 more may be written. */
NORMAL_STEP void normal_gather(const normaliser *z, const char *bytes, uint64_t keep,
                               normalised *to) {
    char *out = to->bytes + to->n;
    for (int i = 0; i < NORMAL_BYTES / 8; i++, keep >>= 8) {
        const __m128i eight = _mm_loadl_epi64((const __m128i *)(const void *)(bytes + 8 * i));
        const __m128i places =
            _mm_loadl_epi64((const __m128i *)(const void *)&z->places[keep & 255]);
        _mm_storel_epi64((__m128i *)(void *)out, _mm_shuffle_epi8(eight, places));
        out += __builtin_popcountll(keep & 255);
    }
    to->n = (size_t)(out - to->bytes);
}

NORMAL_AVX2 bool normal_blocks_avx2(normal_run *r) {
    const normaliser *const z = r->z;
    normalised *const to = r->to;
    char low[NORMAL_BYTES];
    uint64_t spaces = 0, ours;
    do {
        normal_room(to, NORMAL_BYTES + 8);
        const uint32_t left = r->end - r->at;
        const normal_masks a = normal_look(z, r->text + r->at, low);
        const normal_masks b = normal_look(z, r->text + r->at + NORMAL_HALF, low + NORMAL_HALF);
        const uint64_t wide = a.wide | b.wide << NORMAL_HALF;
        ours = left < NORMAL_BYTES ? normal_below(left) : UINT64_MAX;
        if (wide) ours &= (wide & -wide) - 1;
        const uint64_t space = (a.space | b.space << NORMAL_HALF) & ours;
        const uint64_t letter = ~(space | a.left_out | b.left_out << NORMAL_HALF) & ours;
        normal_part part = normal_mark(letter, space, r->in_word);
        part.keep = letter | (z->what & NORMAL_SPACE ? part.ends : space);
        if (to->want_words) normal_words(r, &part);
        if (to->want_newlines)
            normal_newlines(r, &part, (a.newline | b.newline << NORMAL_HALF) & ours);
        normal_gather(z, low, part.keep, to);
        to->counted += (size_t)__builtin_popcountll(part.begins);
        r->at += (uint32_t)__builtin_popcountll(ours);
        r->in_word = part.in_word;
        spaces |= space;
    } while (ours == UINT64_MAX && r->at < r->end);
    return spaces != 0;
}
#else
bool normal_can_avx2(void) {
    return false;
}

bool normal_blocks_avx2(normal_run *r) {
    (void)r;
    return false;
}
#endif
