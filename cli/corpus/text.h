/* text.h - how text becomes keys: records, normalisation, units.
 *
 * A document's text is cut into units (the whole document, paragraphs, lines, runs of N words, or
 * the bands of a MinHash sketch).  A unit is compared by the hash of its normalised words, and
 * knows where it stands in the text. */
#ifndef EVERBLOOM_CORPUS_TEXT_H
#define EVERBLOOM_CORPUS_TEXT_H
#include "cli.h"
#include "input/json.h"

/* So many bytes behind a text can be read, whatever they are: it is looked at in blocks. */
enum { TEXT_PAD = 64 };

/* ---- record.c: JSON lines. */

#define RECORD_TEXT_MAX (UINT32_MAX / 2) /* bytes; places in a text have 32 bits */
typedef enum record_state { RECORD_TEXT, RECORD_BLANK, RECORD_BAD } record_state;
typedef struct record_text {
    char *bytes; /* where the text goes: with room for the record's bytes and TEXT_PAD more */
    size_t length;
    json_value raw;
    const char *why; /* what is wrong with a bad record */
} record_text;
/* The text of a record.  The whole record must be JSON as RFC 8259 has it: what is passed on shall
 * not break whoever reads it next.  At its end stands a newline or a zero, and TEXT_PAD bytes can
 * be read. */
record_state record_find(const char *p, const char *end, const json_path *path, record_text *text);
/* record_avx512.c: unescapes up to the end of a string, or to something that is not an escape of
 * two bytes, or to a control character; returns its place.  It may write TEXT_PAD bytes behind *to.
 * meant: what letters stand for, 0: none. */
bool record_can_avx512(void);
const char *record_blocks_avx512(const char *p, const char meant[128], char **to);
/* Where bytes of the unescaped text stand between the quotes: `at` holds n ascending offsets, which
 * become those in `raw`. */
void record_raw_offsets(const json_value *raw, uint32_t *at, size_t n);

/* ---- normal.c: what is left out of comparison. */

enum { NORMAL_NFKC = 1, NORMAL_CASE = 2, NORMAL_SPACE = 4, NORMAL_PUNCT = 8 };
/* nfkc,case,space,punct or none; false: a word is none of them. */
bool normal_read(const char *list, unsigned *what);
const char *normal_print(unsigned what, char text[32]);
bool normal_has_unicode(void); /* built with utf8proc */

/* From begin to end, in bytes of a text. */
typedef struct span {
    uint32_t begin, end;
} span;
/* The same byte of a text and of its normalised form. */
typedef struct text_place {
    uint32_t text, out;
} text_place;
/* Bytes as they are compared.  With words, each one's place in `bytes` and in the text. */
typedef struct normalised {
    char *bytes;
    size_t n, cap;
    bool want_words, want_newlines;
    span *word, *source;
    size_t words, word_cap, source_cap;
    size_t counted;      /* words, also if they are not wanted */
    text_place *newline; /* of the last text; out: where what becomes of it would stand */
    size_t newlines, newline_cap;
} normalised;
typedef struct normaliser normaliser;
const normaliser *normaliser_new(unsigned what); /* lives as long as the program */
bool normaliser_joins(const normaliser *z);      /* white space is one blank */
/* Appends a text, behind which TEXT_PAD bytes can be read. */
void normalise_text(const normaliser *z, const char *text, uint32_t length, normalised *to);
void normalised_free(normalised *n);

/* ---- units.c */

typedef enum unit_kind {
    UNIT_DOCUMENT,
    UNIT_PARAGRAPH,
    UNIT_LINE,
    UNIT_NGRAM,
    UNIT_NEAR
} unit_kind;
typedef struct unit_rule {
    unit_kind kind;
    uint32_t words;       /* of an n-gram, or of a shingle */
    uint32_t bands, rows; /* of a sketch */
    unsigned normal;
    char name[24]; /* as --unit has it */
} unit_rule;
/* "document", "ngram:13", "near"; false: it is none. */
bool unit_read(const char *text, double similarity, unsigned normal, unit_rule *rule);
bool unit_same(const unit_rule *a, const unit_rule *b);

/* A text, normalised; with want_newlines, with the lines that it has. */
typedef struct unit_text {
    const char *text;
    uint32_t length;
    normalised z; /* of all texts since it was emptied */
    size_t z_begin, word_begin;
    span *line, *source; /* of z's bytes, and of the text without the newline */
    size_t lines, line_cap, source_cap;
} unit_text;
/* TEXT_PAD bytes behind the text can be read. */
void unit_text_set(unit_text *t, const normaliser *z, const char *text, uint32_t length);
void unit_text_free(unit_text *t);

/* The units of many documents, one after the other. */
typedef struct unit_list {
    eb_hash *hash;
    span *at;        /* in the text */
    span *key;       /* in the normalised bytes, of documents, paragraphs and lines */
    uint8_t *repeat; /* it repeats an earlier unit of the same document */
    size_t n;
    size_t hash_cap, at_cap, key_cap, repeat_cap;
    uint64_t *scratch;
    size_t scratch_cap;
} unit_list;
/* Appends the units of a text.  The hasher says how keys are hashed. */
void units_append(const unit_rule *rule, const eb_filter *hasher, const unit_text *t,
                  bool find_repeats, unit_list *to);
/* What to take out of the text for a unit. */
span units_removal(unit_kind kind, span unit, const char *text, uint32_t length);
void units_free(unit_list *u);

/* near.c: the keys of a sketch's bands, from the hashes of shingles. */
void near_plan(double similarity, uint32_t *bands, uint32_t *rows);
double near_chance(double similarity, uint32_t bands, uint32_t rows);
void near_keys(const uint64_t *shingle, size_t n, uint32_t bands, uint32_t rows, eb_hash *out);

static inline uint64_t text_mix(uint64_t h) { /* every bit of h reaches every bit of the result */
    h ^= h >> 33;
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}
#endif
