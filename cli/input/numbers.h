/* numbers.h - keys that are numbers: whole numbers, signed or not, times, and real numbers.
 *
 * A real number is the upper half of a double, with which it sorts: 32 bits, and six digits. */
#ifndef EVERBLOOM_NUMBERS_H
#define EVERBLOOM_NUMBERS_H
#include "cli.h"

typedef enum number_kind { NUMBER_UNSIGNED, NUMBER_SIGNED, NUMBER_TIME, NUMBER_REAL } number_kind;
enum { NUMBER_TEXT = 40 };

bool number_kind_named(const char *name, number_kind *kind);
/* As a 64-bit number that sorts as it should; false: none, or none that fits.  A time is seconds
 * since 1970, or a date and time of RFC 3339, whose parts of a second are left out. */
bool number_read(number_kind kind, eb_key text, uint64_t *value);
const char *number_wanted(number_kind kind); /* "a whole number", ... */
void number_write(number_kind kind, uint64_t value, char text[NUMBER_TEXT]);
uint64_t number_origin(number_kind kind); /* 0, as such a number */
bool number_is_signed(number_kind kind);  /* keys=i64, else u64 */
/* Signed numbers and those that sort like them; the filter's own numbers (keys=i64 or u64), which
 * eb_range_count takes, and back again. */
uint64_t number_from_signed(int64_t value);
int64_t number_to_signed(uint64_t value);
uint64_t number_as_key(number_kind kind, uint64_t value);
uint64_t number_from_key(number_kind kind, uint64_t key);
#endif
