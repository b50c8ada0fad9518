/* json.h - one value of a JSON document by its path, without reading what is not needed. */
#ifndef EVERBLOOM_JSON_H
#define EVERBLOOM_JSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A step goes from an object to a member, or from an array to an element. */
typedef struct json_step {
    const char *name; /* NULL: an element */
    size_t len;
    uint64_t index; /* of the element, from 0 */
} json_step;
typedef struct json_path {
    json_step *step;
    size_t n;
} json_path;

/* user.id, items[0].sku, "a.b".c: of `len` bytes.  False: it makes no sense.  The steps are from
 * malloc, with their names behind them. */
bool json_path_read(const char *text, size_t len, json_path *path);
void json_path_free(json_path *path);

typedef enum json_found { JSON_FOUND, JSON_MISSING, JSON_BROKEN } json_found;
typedef struct json_value {
    const char *p; /* as it is written; of a string what stands between the quotes */
    size_t len;
    bool string, escaped; /* escaped: json_unescape has to look at it */
} json_value;

/* The value in the document from p to end; of two members with the same name the first.  Only what
 * stands before the value is looked at, and that not too closely. */
json_found json_find(const char *p, const char *end, const json_path *path, json_value *value);
/* The same, but only where the value begins.  *value: NULL if it is not there. */
json_found json_locate(const char *p, const char *end, const json_path *path, const char **value);
/* The text that an escaped string stands for, in UTF-8, to `out`, which has room for len bytes.
 * SIZE_MAX: there is an escape that does not exist. */
size_t json_unescape(const char *p, size_t len, char *out);
char *json_put_utf8(char *out, unsigned long code); /* returns where it ends */
#endif
