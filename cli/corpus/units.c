/* units.c - the units of a text: see text.h.
 *
 * Documents, paragraphs and lines are keys as everywhere in everbloom: the hash of their normalised
 * bytes.  N words have a hash that is rolled on from word to word, so that n-grams cost the same
 * whatever N is: each word is hashed once, the sum of the words' hashes times powers of an odd
 * number is kept modulo 2^64, and mixed. */
#include "text.h"
#include <stdlib.h>
#include <string.h>

#define UNITS_BASE UINT64_C(0x9e3779b97f4a7c15)
enum { UNITS_SHINGLE = 5, UNITS_WORDS_MAX = 1000, UNITS_BATCH = 256 };

/* ---- Rules. */

static const char *const units_names[] = {"document", "paragraph", "line", "ngram", "near"};

bool unit_read(const char *text, double similarity, unsigned normal, unit_rule *rule) {
    const size_t n = strcspn(text, ":");
    int kind = 0;
    while (kind <= UNIT_NEAR &&
           (strlen(units_names[kind]) != n || strncmp(text, units_names[kind], n)))
        kind++;
    if (kind > UNIT_NEAR || (text[n] && kind != UNIT_NGRAM)) return false;
    *rule = (unit_rule){.kind = (unit_kind)kind, .normal = normal};
    if (kind == UNIT_NGRAM) {
        char *end = NULL;
        const unsigned long words = text[n] ? strtoul(text + n + 1, &end, 10) : 13;
        if ((end && (*end || end == text + n + 1)) || words < 1 || words > UNITS_WORDS_MAX)
            return false;
        rule->words = (uint32_t)words;
        snprintf(rule->name, sizeof rule->name, "ngram:%lu", words);
        return true;
    }
    if (kind == UNIT_NEAR) {
        rule->words = UNITS_SHINGLE;
        near_plan(similarity, &rule->bands, &rule->rows);
    }
    snprintf(rule->name, sizeof rule->name, "%s", units_names[kind]);
    return true;
}

bool unit_same(const unit_rule *a, const unit_rule *b) {
    return a->kind == b->kind && a->words == b->words && a->bands == b->bands &&
           a->rows == b->rows && a->normal == b->normal;
}

/* ---- Lines. */

/* Where the lines of the text and of its normalised form are.  A blank that a newline became, or
 * that stands before one, belongs to no line. */
static void units_cut_lines(unit_text *t, bool joins) {
    const normalised *const z = &t->z;
    const uint32_t all = (uint32_t)z->n;
    t->lines = z->newlines + 1;
    t->line = cli_grow(t->line, &t->line_cap, t->lines * sizeof *t->line);
    t->source = cli_grow(t->source, &t->source_cap, t->lines * sizeof *t->source);
    text_place from = {0, (uint32_t)t->z_begin};
    for (size_t i = 0; i < t->lines; i++) {
        const text_place to =
            i < z->newlines ? z->newline[i] : (text_place){.text = t->length, .out = all};
        const uint32_t out = to.out < all ? to.out : all;
        const bool before = joins && out > from.out && z->bytes[out - 1] == ' ';
        const bool becomes = !joins || (out < all && z->bytes[out] == ' ');
        t->source[i] = (span){from.text, to.text};
        t->line[i] = (span){from.out, out - before};
        from = (text_place){to.text + 1, out + becomes};
    }
}

void unit_text_set(unit_text *t, const normaliser *how, const char *text, uint32_t length) {
    t->text = text;
    t->length = length;
    t->lines = 0;
    t->z_begin = t->z.n;
    t->word_begin = t->z.words;
    normalise_text(how, text, length, &t->z);
    if (t->z.want_newlines) units_cut_lines(t, normaliser_joins(how));
}

void unit_text_free(unit_text *t) {
    normalised_free(&t->z);
    free(t->line);
    free(t->source);
    *t = (unit_text){0};
}

/* ---- Lists. */

static void units_room(unit_list *u, size_t more) {
    u->hash = cli_grow(u->hash, &u->hash_cap, (u->n + more) * sizeof *u->hash);
    u->at = cli_grow(u->at, &u->at_cap, (u->n + more) * sizeof *u->at);
    u->key = cli_grow(u->key, &u->key_cap, (u->n + more) * sizeof *u->key);
    u->repeat = cli_grow(u->repeat, &u->repeat_cap, u->n + more);
}

void units_free(unit_list *u) {
    free(u->hash);
    free(u->at);
    free(u->key);
    free(u->repeat);
    free(u->scratch);
    *u = (unit_list){0};
}

static void units_put(unit_list *u, span at, span key) {
    if (key.begin == key.end) return;
    units_room(u, 1);
    u->at[u->n] = at;
    u->key[u->n++] = key;
}

static void units_hash(const eb_filter *hasher, const char *bytes, const span *key, size_t n,
                       eb_hash *out) {
    eb_key part[UNITS_BATCH];
    eb_error err;
    for (size_t done = 0; done < n; done += UNITS_BATCH) {
        const size_t m = n - done < UNITS_BATCH ? n - done : UNITS_BATCH;
        for (size_t i = 0; i < m; i++)
            part[i] =
                (eb_key){bytes + key[done + i].begin, key[done + i].end - key[done + i].begin};
        const eb_keys keys = eb_keys_array(EB_STRING, part);
        if (eb_hash_keys(hasher, &keys, m, out + done, &err) != EB_OK) cli_fail("%s", err.text);
    }
}

/* ---- Pieces of the normalised text. */

static bool units_blank(const char *text, span s) {
    for (uint32_t i = s.begin; i < s.end; i++)
        if (text[i] != ' ' && !(text[i] >= '\t' && text[i] <= '\r')) return false;
    return true;
}

static void units_paragraphs(const unit_text *t, unit_list *to) {
    for (size_t i = 0; i < t->lines;) {
        span key = {0, 0};
        size_t j = i;
        for (; j < t->lines && !units_blank(t->text, t->source[j]); j++) {
            const span line = t->line[j];
            if (line.begin == line.end) continue;
            if (key.begin == key.end) key.begin = line.begin;
            key.end = line.end;
        }
        if (j > i) units_put(to, (span){t->source[i].begin, t->source[j - 1].end}, key);
        i = j + (j == i);
    }
}

static void units_pieces(const unit_rule *rule, const eb_filter *hasher, const unit_text *t,
                         unit_list *to) {
    const size_t from = to->n;
    if (rule->kind == UNIT_DOCUMENT) {
        if (!units_blank(t->text, (span){0, t->length}))
            units_put(to, (span){0, t->length}, (span){(uint32_t)t->z_begin, (uint32_t)t->z.n});
    } else if (rule->kind == UNIT_PARAGRAPH)
        units_paragraphs(t, to);
    else
        for (size_t i = 0; i < t->lines; i++)
            if (!units_blank(t->text, t->source[i])) units_put(to, t->source[i], t->line[i]);
    units_hash(hasher, t->z.bytes, to->key + from, to->n - from, to->hash + from);
}

/* ---- Runs of words. */

/* The hashes of all runs of n words, or of all words if there are fewer; how many. */
static size_t units_runs(const unit_rule *rule, const eb_filter *hasher, const unit_text *t,
                         unit_list *to) {
    const size_t words = t->z.words - t->word_begin;
    if (words == 0) return 0;
    const size_t n = rule->words < words ? rule->words : words, runs = words - n + 1;
    to->scratch = cli_grow(to->scratch, &to->scratch_cap, 2 * words * sizeof *to->scratch);
    uint64_t *const word = to->scratch, *const run = word + words;
    units_hash(hasher, t->z.bytes, t->z.word + t->word_begin, words, word);
    uint64_t sum = 0, power = 1; /* of the word that falls out */
    for (size_t i = 0; i < n; i++) {
        sum = sum * UNITS_BASE + word[i];
        power *= UNITS_BASE;
    }
    run[0] = text_mix(sum);
    for (size_t i = n; i < words; i++) {
        sum = sum * UNITS_BASE + word[i] - word[i - n] * power;
        run[i - n + 1] = text_mix(sum);
    }
    return runs;
}

static void units_ngrams(const unit_rule *rule, const eb_filter *hasher, const unit_text *t,
                         unit_list *to) {
    const size_t runs = units_runs(rule, hasher, t, to);
    if (runs == 0) return;
    const size_t words = t->z.words - t->word_begin;
    const span *const source = t->z.source + t->word_begin;
    units_room(to, runs);
    memcpy(to->hash + to->n, to->scratch + words, runs * sizeof *to->hash);
    for (size_t i = 0; i < runs; i++) {
        const size_t last = i + words - runs; /* runs are words - n + 1 */
        to->at[to->n + i] = (span){source[i].begin, source[last].end};
        to->key[to->n + i] = (span){0, 0};
    }
    to->n += runs;
}

static void units_near(const unit_rule *rule, const eb_filter *hasher, const unit_text *t,
                       unit_list *to) {
    const size_t runs = units_runs(rule, hasher, t, to);
    if (runs == 0) return;
    const size_t words = t->z.words - t->word_begin;
    units_room(to, rule->bands);
    near_keys(to->scratch + words, runs, rule->bands, rule->rows, to->hash + to->n);
    for (uint32_t i = 0; i < rule->bands; i++) {
        to->at[to->n + i] = (span){0, t->length};
        to->key[to->n + i] = (span){(uint32_t)t->z_begin, (uint32_t)t->z.n};
    }
    to->n += rule->bands;
}

/* ---- Repeats inside a document. */

/* An n-gram repeats only what ended before it begins: "la la la" holds no repeat of "la la". */
static void units_find_repeats(const unit_rule *rule, unit_list *to, size_t from) {
    const size_t n = to->n - from, apart = rule->kind == UNIT_NGRAM ? rule->words : 1;
    size_t slots = 16;
    while (slots < 2 * n) slots *= 2;
    to->scratch = cli_grow(to->scratch, &to->scratch_cap, slots * sizeof *to->scratch);
    memset(to->scratch, 0, slots * sizeof *to->scratch);
    for (size_t i = 0; i < n; i++) { /* a slot holds 1 + the first unit with its hash */
        const eb_hash h = to->hash[from + i];
        size_t at = (size_t)h & (slots - 1);
        while (to->scratch[at] && to->hash[from + to->scratch[at] - 1] != h)
            at = (at + 1) & (slots - 1);
        to->repeat[from + i] = to->scratch[at] && i - (to->scratch[at] - 1) >= apart;
        if (!to->scratch[at]) to->scratch[at] = 1 + i;
    }
}

void units_append(const unit_rule *rule, const eb_filter *hasher, const unit_text *t,
                  bool find_repeats, unit_list *to) {
    const size_t from = to->n;
    if (rule->kind == UNIT_NGRAM)
        units_ngrams(rule, hasher, t, to);
    else if (rule->kind == UNIT_NEAR)
        units_near(rule, hasher, t, to);
    else
        units_pieces(rule, hasher, t, to);
    if (to->n == from) return;
    if (find_repeats && rule->kind != UNIT_NEAR)
        units_find_repeats(rule, to, from);
    else
        memset(to->repeat + from, 0, to->n - from);
}

/* With the white space behind it, or before it if it is the last. */
span units_removal(unit_kind kind, span unit, const char *text, uint32_t length) {
    uint32_t end = unit.end, begin = unit.begin;
    if (kind == UNIT_LINE) {
        end += end < length; /* its newline */
    } else
        while (end < length && units_blank(text, (span){end, end + 1})) end++;
    if (end == length)
        while (begin > 0 && units_blank(text, (span){begin - 1, begin})) begin--;
    return (span){begin, end};
}
