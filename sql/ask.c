/* ask.c - one question about one key: see sql.h. */
#include "sql.h"

bool sql_is_text(const eb_filter *f) {
    return strstr(eb_spec(f), ",keys=text") != NULL;
}

/* Decimal text of x; it ends at end, its beginning is returned. */
static char *ask_decimal(int64_t x, char *end) {
    uint64_t rest = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    do *--end = (char)('0' + rest % 10);
    while (rest /= 10);
    if (x < 0) *--end = '-';
    return end;
}

eb_status sql_ask(const eb_filter *f, bool text, const eb_keys *key, const uint64_t *time,
                  bool *seen, double *count, eb_error *err) {
    if (text && !time && key->type == EB_TEXT && key->layout == EB_ARRAY) {
        const eb_key *const bytes = key->data;
        return eb_ask(f, bytes->p, bytes->len, seen, count, err);
    }
    if (text && !time && key->type == EB_I64 && key->width == sizeof(int64_t)) {
        char digits[24], *const end = digits + sizeof digits;
        int64_t number;
        memcpy(&number, key->data, sizeof number);
        const char *const first = ask_decimal(number, end);
        return eb_ask(f, first, (size_t)(end - first), seen, count, err);
    }
    uint8_t answer = 0;
    eb_batch b = eb_batch_keys(key, 1);
    b.time = time;
    if (seen) b.seen = &answer;
    b.count = count;
    const eb_status status = eb_ask_batch(f, &b, err);
    if (seen) *seen = answer != 0;
    return status;
}
