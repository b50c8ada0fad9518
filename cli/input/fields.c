/* fields.c - which fields of a record are wanted: reading the LIST of -f. */
#include "fields.h"
#include <string.h>

uint64_t fields_read_index(const char **p) {
    uint64_t n = 0;
    for (int digits = 0; **p >= '0' && **p <= '9' && digits < 9; digits++)
        n = n * 10 + (uint64_t)(*(*p)++ - '0');
    return n;
}

/* The end of the item at p: the next comma that is not in quotes. */
static const char *item_end(const char *p) {
    bool quoted = false;
    for (; *p && (quoted || *p != ','); p++)
        if (*p == '"') quoted = !quoted;
    return p;
}

/* N, N-M, N- or -N. */
static bool read_numbers(const char *p, field_item *item) {
    if (*p == '-') {
        p++;
        item->from_end = fields_read_index(&p);
        return item->from_end > 0 && p == item->text + item->len;
    }
    item->first = item->last = fields_read_index(&p);
    if (*p == '-') {
        p++;
        item->last = p == item->text + item->len ? FIELDS_TO_END : fields_read_index(&p);
    }
    return item->first > 0 && item->last >= item->first && p == item->text + item->len;
}

static bool read_item(const char *text, size_t len, field_item *item) {
    *item = (field_item){.text = text, .len = len};
    if (len == 0) return false;
    if (strspn(text, "0123456789-") >= len) return read_numbers(text, item);
    item->is_name = true;
    size_t quotes = 0;
    for (size_t i = 0; i < len; i++) quotes += text[i] == '"';
    return quotes % 2 == 0;
}

static bool clashes(const field_item *a, const field_item *b) {
    if (a->is_name || b->is_name)
        return a->is_name && b->is_name && a->len == b->len &&
               memcmp(a->text, b->text, a->len) == 0;
    if (a->from_end || b->from_end) return a->from_end == b->from_end;
    return a->first <= b->last && b->first <= a->last;
}

/* Neighbours become one range. */
static bool append(field_list *list, const field_item *item) {
    for (size_t i = 0; i < list->n; i++)
        if (clashes(&list->item[i], item)) return false;
    field_item *const last = list->n > 0 ? &list->item[list->n - 1] : NULL;
    if (last && last->first && item->first && last->last + 1 == item->first) {
        last->last = item->last;
        last->len = (size_t)(item->text + item->len - last->text);
        return true;
    }
    if (list->n == FIELD_ITEMS) return false;
    list->item[list->n++] = *item;
    return true;
}

bool fields_read(const char *text, field_list *list) {
    *list = (field_list){0};
    for (const char *p = text;; p++) {
        field_item item;
        const char *const end = item_end(p);
        if (!read_item(p, (size_t)(end - p), &item) || !append(list, &item)) return false;
        p = end;
        if (*p == '\0') break;
    }
    if (!fields_are_several(list)) list->only = list->item[0].first;
    return true;
}

bool fields_read_one(const char *text, field_list *list) {
    return fields_read(text, list) && !fields_are_several(list);
}

bool fields_have_names(const field_list *list) {
    for (size_t i = 0; i < list->n; i++)
        if (list->item[i].is_name) return true;
    return false;
}

bool fields_are_several(const field_list *list) {
    return list->n > 1 || (list->n == 1 && list->item[0].first != list->item[0].last);
}

size_t fields_name(const field_item *item, char *out) {
    size_t n = 0;
    if (item->text[0] != '"') {
        memcpy(out, item->text, item->len);
        return item->len;
    }
    for (size_t i = 1; i + 1 < item->len; i++) {
        out[n++] = item->text[i];
        i += item->text[i] == '"'; /* doubled */
    }
    return n;
}
