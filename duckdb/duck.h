/* duck.h - what this extension uses of DuckDB's C interface, declared by hand.
 *
 * DuckDB's header is in no Debian package.  Its functions are documented by name and signature, and
 * DuckDB's libraries export them, so they are looked up by name when the extension is loaded: no
 * layout of a table of functions is relied on. */
#ifndef DUCK_H
#define DUCK_H
#include <assert.h>
#include <everbloom/query.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t duck_size; /* idx_t */
typedef void *duck_any;     /* every handle of DuckDB is a pointer to something hidden */
typedef void duck_delete(void *);

/* A string or blob in a vector: up to 12 bytes stand in it. */
typedef union duck_string {
    struct {
        uint32_t len;
        char prefix[4];
        const char *p;
    } far;
    struct {
        uint32_t len;
        char p[12];
    } near;
} duck_string;
static_assert(sizeof(duck_string) == 16, "as in DuckDB's vectors");

typedef struct duck_list { /* a list in a vector: where its elements stand in the child */
    uint64_t offset, length;
} duck_list;

enum { /* DuckDB's types */
       DUCK_BOOLEAN = 1,
       DUCK_BIGINT = 5,
       DUCK_DOUBLE = 11,
       DUCK_VARCHAR = 17,
       DUCK_BLOB = 18
};

/* What the entry point of an extension gets. */
typedef struct duck_access {
    void (*set_error)(duck_any info, const char *error);
    duck_any *(*get_database)(duck_any info);
    const void *(*get_api)(duck_any info, const char *version);
} duck_access;

typedef duck_size duck_state_size(duck_any info);
typedef void duck_state_init(duck_any info, duck_any state);
typedef void duck_state_delete(duck_any *states, duck_size n);
typedef void duck_update(duck_any info, duck_any chunk, duck_any *states);
typedef void duck_combine(duck_any info, duck_any *from, duck_any *into, duck_size n);
typedef void duck_finalize(duck_any info, duck_any *states, duck_any out, duck_size n,
                           duck_size offset);
typedef void duck_call(duck_any info, duck_any chunk, duck_any out);

/* Result, name without duckdb_, arguments. */
#define DUCK_FUNCTIONS(F)                                                                          \
    F(const char *, library_version, (void))                                                       \
    F(int, connect, (duck_any database, duck_any * out))                                           \
    F(void, disconnect, (duck_any * connection))                                                   \
    F(duck_any, create_logical_type, (int type))                                                   \
    F(duck_any, create_list_type, (duck_any child))                                                \
    F(duck_any, create_struct_type, (duck_any * members, const char **names, duck_size n))         \
    F(void, destroy_logical_type, (duck_any * type))                                               \
    F(duck_size, data_chunk_get_size, (duck_any chunk))                                            \
    F(duck_any, data_chunk_get_vector, (duck_any chunk, duck_size column))                         \
    F(void *, vector_get_data, (duck_any vector))                                                  \
    F(uint64_t *, vector_get_validity, (duck_any vector))                                          \
    F(void, vector_ensure_validity_writable, (duck_any vector))                                    \
    F(void, vector_assign_string_element_len,                                                      \
      (duck_any vector, duck_size row, const char *p, duck_size len))                              \
    F(duck_any, list_vector_get_child, (duck_any vector))                                          \
    F(int, list_vector_reserve, (duck_any vector, duck_size n))                                    \
    F(int, list_vector_set_size, (duck_any vector, duck_size n))                                   \
    F(duck_any, struct_vector_get_child, (duck_any vector, duck_size member))                      \
    F(duck_any, create_scalar_function_set, (const char *name))                                    \
    F(int, add_scalar_function_to_set, (duck_any set, duck_any function))                          \
    F(int, register_scalar_function_set, (duck_any connection, duck_any set))                      \
    F(void, destroy_scalar_function_set, (duck_any * set))                                         \
    F(duck_any, create_scalar_function, (void))                                                    \
    F(void, destroy_scalar_function, (duck_any * function))                                        \
    F(void, scalar_function_set_name, (duck_any function, const char *name))                       \
    F(void, scalar_function_add_parameter, (duck_any function, duck_any type))                     \
    F(void, scalar_function_set_return_type, (duck_any function, duck_any type))                   \
    F(void, scalar_function_set_special_handling, (duck_any function))                             \
    F(void, scalar_function_set_extra_info, (duck_any function, void *extra, duck_delete *))       \
    F(void *, scalar_function_get_extra_info, (duck_any info))                                     \
    F(void, scalar_function_set_function, (duck_any function, duck_call *))                        \
    F(void, scalar_function_set_error, (duck_any info, const char *error))                         \
    F(duck_any, create_aggregate_function_set, (const char *name))                                 \
    F(int, add_aggregate_function_to_set, (duck_any set, duck_any function))                       \
    F(int, register_aggregate_function_set, (duck_any connection, duck_any set))                   \
    F(void, destroy_aggregate_function_set, (duck_any * set))                                      \
    F(duck_any, create_aggregate_function, (void))                                                 \
    F(void, destroy_aggregate_function, (duck_any * function))                                     \
    F(void, aggregate_function_set_name, (duck_any function, const char *name))                    \
    F(void, aggregate_function_add_parameter, (duck_any function, duck_any type))                  \
    F(void, aggregate_function_set_return_type, (duck_any function, duck_any type))                \
    F(void, aggregate_function_set_functions,                                                      \
      (duck_any function, duck_state_size *, duck_state_init *, duck_update *, duck_combine *,     \
       duck_finalize *))                                                                           \
    F(void, aggregate_function_set_destructor, (duck_any function, duck_state_delete *))           \
    F(void, aggregate_function_set_special_handling, (duck_any function))                          \
    F(void, aggregate_function_set_extra_info, (duck_any function, void *extra, duck_delete *))    \
    F(void *, aggregate_function_get_extra_info, (duck_any info))                                  \
    F(void, aggregate_function_set_error, (duck_any info, const char *error))

#define DUCK_MEMBER(result, name, arguments) result(*name) arguments;
typedef struct duck_functions {
    DUCK_FUNCTIONS(DUCK_MEMBER)
} duck_functions;
#undef DUCK_MEMBER
extern duck_functions duck; /* filled when the extension is loaded */

/* rows.c: reading vectors. */
static inline bool duck_is_null(const uint64_t *validity, size_t row) {
    return validity && !(validity[row / 64] >> row % 64 & 1);
}
static inline eb_key duck_bytes(const duck_string *s) {
    return s->near.len <= sizeof s->near.p ? (eb_key){s->near.p, s->near.len}
                                           : (eb_key){s->far.p, s->far.len};
}
void duck_set_null(duck_any vector, size_t row);

/* A column of keys.  type: one of those above. */
typedef struct duck_keys {
    int type;
    const void *data;
    const uint64_t *validity;
} duck_keys;
duck_keys duck_keys_of(duck_any vector, int type);
/* At most so many keys from `row` on that follow each other without a NULL; text is put into room.
 * Their number is *n on return. */
enum { DUCK_FEW = 256 };
eb_keys duck_take(const duck_keys *k, size_t row, size_t *n, eb_key room[DUCK_FEW]);

/* aggregates.c, functions.c: register everything; false: DuckDB refused. */
bool duck_register_aggregates(duck_any connection);
bool duck_register_functions(duck_any connection);
#endif
