/* number.h - numbers as specs write them, without locale. */
#ifndef EBI_NUMBER_H
#define EBI_NUMBER_H
#include "base/base.h"

/* Read text of a numeric option type (size, count, int, number, fixed, real).  *value gets the
 * integer (fixed: millionths; fixed and number: two's complement; real: 0), *real the number
 * itself. false: not a number of that type, or too large for it. */
bool ebi_number_read(const char *text, size_t len, const char *type, uint64_t *value, double *real);

/* Lists: up to 8 numbers low..high (at most 255), separated by colons, a byte
 * each, the first the lowest; a zero byte ends the list. */
bool ebi_list_read(const char *text, size_t len, uint64_t low, uint64_t high, uint64_t *value);
void ebi_list_write(uint64_t list, char *buf, size_t cap);

/* Write millionths as a decimal number without trailing zeros. */
void ebi_fixed_write(uint64_t millionths, char *buf, size_t cap);
#endif
