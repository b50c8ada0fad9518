/* cmocka.h - as much of cmocka as the tests use, for WebAssembly, which has no longjmp: the first
 * failure ends the program. */
#ifndef EB_TESTS_WASM_CMOCKA_H
#define EB_TESTS_WASM_CMOCKA_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
};

#define cmocka_unit_test(f)                                                                        \
    { #f, f }
#define fail_msg(...) (print_message(__VA_ARGS__), print_message("\n"), exit(1))
#define print_message(...) ((void)printf(__VA_ARGS__))
#define print_error print_message
#define fail() exit(1)
#define skip() /* in a test: the rest of it is not run */                                          \
    do {                                                                                           \
        print_message("[  SKIPPED ] %s\n", __func__);                                              \
        return;                                                                                    \
    } while (0)
#define assert_string_equal(a, b)                                                                  \
    do {                                                                                           \
        if (strcmp(a, b) != 0) fail_msg("%s:%d: \"%s\" is not \"%s\"", __FILE__, __LINE__, a, b);  \
    } while (0)
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    cmocka_run_tests(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

typedef int cmocka_fixture(void **state);

static inline int cmocka_run_tests(const struct CMUnitTest *tests, size_t n, cmocka_fixture *setup,
                                   cmocka_fixture *teardown) {
    void *state = NULL;
    if (setup && setup(&state) != 0) return 1;
    for (size_t i = 0; i < n; i++) {
        print_message("[ RUN      ] %s\n", tests[i].name);
        (void)fflush(stdout);
        tests[i].test(&state);
        print_message("[       OK ] %s\n", tests[i].name);
    }
    return teardown ? teardown(&state) : 0;
}
#endif
