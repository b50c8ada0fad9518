/* fields.h - which fields of a record are wanted: the LIST of -f and of its relatives.
 *
 * An item is a number (3), a number from the end (-1), a range (2-4, 5-), or a name: of a column,
 * of a group of --regex, or the path of a JSON value.  Quotes make a name of anything: "2024". */
#ifndef EVERBLOOM_FIELDS_H
#define EVERBLOOM_FIELDS_H
#include "json.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIELDS_TO_END UINT64_MAX

typedef struct field_item {
    const char *text; /* as it was given; path: what it means in JSON */
    size_t len;
    json_path path;
    uint64_t first, last; /* columns, from 1; of a name those that it was found to be, or 0 */
    uint64_t from_end;    /* -1 is 1; 0: not counted from the end */
    bool is_name;
} field_item;

enum { FIELD_ITEMS = 32 };
typedef struct field_list {
    size_t n;      /* items; 0: the whole line */
    uint64_t only; /* the column, if it is a single one that is known by its number; else 0 */
    field_item item[FIELD_ITEMS];
} field_list;

/* A list as -f takes it; false: it makes no sense, or names a field twice. */
bool fields_read(const char *text, field_list *list);
bool fields_read_one(const char *text, field_list *list); /* a list of a single field */
uint64_t fields_read_index(const char **p);               /* up to nine digits; 0: none there */
bool fields_have_names(const field_list *list);
bool fields_are_several(const field_list *list); /* or may be */
/* The name without its quotes, to `out`, which has room for item->len bytes. */
size_t fields_name(const field_item *item, char *out);
#endif
