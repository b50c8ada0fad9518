/* rows.c - keys in DuckDB's vectors, as the library wants them. */
#include "duck.h"

void duck_set_null(duck_any vector, size_t row) {
    duck.vector_ensure_validity_writable(vector);
    duck.vector_get_validity(vector)[row / 64] &= ~(UINT64_C(1) << row % 64);
}

duck_keys duck_keys_of(duck_any vector, int type) {
    return (duck_keys){type, duck.vector_get_data(vector), duck.vector_get_validity(vector)};
}

eb_keys duck_take(const duck_keys *k, size_t row, size_t *n, eb_key room[DUCK_FEW]) {
    const size_t most = *n < DUCK_FEW ? *n : DUCK_FEW;
    size_t i = 0;
    if (k->type == DUCK_BIGINT) {
        const int64_t *const numbers = k->data;
        while (i < most && !duck_is_null(k->validity, row + i)) i++;
        *n = i;
        return eb_keys_column(EB_I64, numbers + row, sizeof *numbers);
    }
    const duck_string *const strings = k->data;
    for (; i < most && !duck_is_null(k->validity, row + i); i++)
        room[i] = duck_bytes(&strings[row + i]);
    *n = i;
    return eb_keys_array(k->type == DUCK_BLOB ? EB_BYTES : EB_TEXT, room);
}
