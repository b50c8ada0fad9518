/* number.h - reading and writing the numbers of specs, independently of the process's locale. */
#ifndef EBI_NUMBER_H
#define EBI_NUMBER_H
#include "base/base.h"

/* Reads text as a numeric option type (size, count, int, number, fixed, real). *value gets the
 * integer (fixed: millionths; fixed and number: two's complement; real: 0), *real the number
 * itself. false: it is not a number of that type, or too large for it. */
bool ebi_number_read(const char *text, size_t len, const char *type, uint64_t *value, double *real);

/* Lists: up to 8 numbers low..high (at most 255), separated by colons, one byte each, the first in
 * the lowest byte.  A zero byte ends the list. */
bool ebi_list_read(const char *text, size_t len, uint64_t low, uint64_t high, uint64_t *value);
void ebi_list_write(uint64_t list, char *buf, size_t cap);

/* Writes millionths as a decimal number without trailing zeros. */
void ebi_fixed_write(uint64_t millionths, char *buf, size_t cap);
#endif
