/* test_locale.c - in a process whose locale has a decimal comma the library does what it does in
 * any other: specs, plans, predictions, conversions and messages are the same. */
#include "suite.h"
#include <locale.h>
#include <math.h>
#include <unistd.h>

/* A locale with a comma: one that is installed, or else one that is made here, of the sources in
 * Debian's package locales. */

static char comma_locale[64];

static bool comma_is_set(const char *name) {
    if (!setlocale(LC_ALL, name) || strcmp(localeconv()->decimal_point, ",") != 0) return false;
    (void)snprintf(comma_locale, sizeof comma_locale, "%s", name);
    return true;
}

static bool comma_is_made(void) {
    char folder[] = "/tmp/everbloom-locale-XXXXXX", command[200];
    if (!mkdtemp(folder)) return false;
    (void)snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8", folder);
    const bool made = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0;
    const bool set = made && comma_is_set("de_DE.UTF-8"); /* it is read into memory now */
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 && set;
}

static int find_a_comma(void **state) {
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "it_IT.UTF-8", "pt_BR.UTF-8"};
    char half[8];
    (void)state;
    for (size_t i = 0; i < SUITE_COUNT(names) && !*comma_locale; i++) (void)comma_is_set(names[i]);
    if (!*comma_locale && !comma_is_made()) {
        print_error("no locale with a decimal comma, and localedef cannot make one of "
                    "/usr/share/i18n/locales/de_DE: please install the package locales\n");
        return -1;
    }
    (void)snprintf(half, sizeof half, "%.1f", 0.5);
    if (strcmp(half, "0,5") != 0) return -1;
    return setlocale(LC_ALL, "C") ? 0 : -1;
}

/* What the library said, as text.  Doubles are written as their bits: the notes need no locale. */

enum { NOTES_MAX = 1 << 20 };
typedef struct notes {
    char *text;
    size_t len;
} notes;

static void note(notes *n, const char *text) {
    const size_t len = strlen(text);
    HOLDS(n->len + len + 2 < NOTES_MAX);
    memcpy(n->text + n->len, text, len);
    n->len += len;
    n->text[n->len++] = '\n';
}

static void note_bytes(notes *n, const void *bytes, size_t len) {
    char text[40];
    (void)snprintf(text, sizeof text, "%016llx", (unsigned long long)ebi_checksum(bytes, len, 0));
    note(n, text);
}

static void note_error(notes *n, eb_status status, const eb_error *err) {
    note(n, status == EB_OK ? "ok" : err->text);
}

/* Each line must be the same in both locales, and numbers have no comma in either. */
static void same_in_both(void (*say)(notes *)) {
    notes n[2];
    for (size_t i = 0; i < 2; i++) {
        n[i] = (notes){calloc(NOTES_MAX, 1), 0};
        HOLDS(n[i].text && setlocale(LC_ALL, i == 0 ? "C" : comma_locale));
        say(&n[i]);
    }
    HOLDS(setlocale(LC_ALL, "C"));
    for (char *a = n[0].text, *b = n[1].text; *a || *b; a += strcspn(a, "\n") + 1) {
        const int len = (int)strcspn(a, "\n");
        suite_at("\"%.*s\" is \"%.*s\" in %s", len, a, (int)strcspn(b, "\n"), b, comma_locale);
        HOLDS(strncmp(a, b, (size_t)len + 1) == 0);
        b += len + 1;
    }
    HOLDS(n[0].len > 0);
    free(n[0].text);
    free(n[1].text);
}

/* Specs */

static notes *said;

static void say_case(const suite_case *c) {
    char spec[EB_SPEC_MAX];
    eb_error err;
    eb_filter *f, *again;
    note_error(said, eb_new(&f, c->text, NULL, &err), &err);
    (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
    note(said, spec);
    size_t len;
    uint8_t *const bytes = suite_bytes(f, &len);
    note_bytes(said, bytes, len);
    OK(eb_load(&again, bytes, len, NULL, NULL, NULL));
    free(bytes);
    eb_free(again);
    eb_free(f);
}

static void say_specs(notes *n) {
    static const char *const fractions[] = {"bloom:fpr=0.0123,distinct=1e4", "lru:fpr=0,01",
                                            "stable:fpr=0.015,memory=64K",   "choosy:share=0.3",
                                            "decay:halflife=2.5,memory=64K", "bloom:fpr=1.5e-3"};
    said = n;
    suite_each_near(say_case);
    for (size_t i = 0; i < SUITE_COUNT(fractions); i++) {
        eb_filter *f = NULL;
        eb_error err;
        char spec[EB_SPEC_MAX] = "";
        note_error(n, eb_new(&f, fractions[i], NULL, &err), &err);
        if (f) (void)snprintf(spec, sizeof spec, "%s", eb_spec(f));
        note(n, spec);
        eb_free(f);
    }
}

static void specs_are_the_same(void **state) {
    (void)state;
    size_t n;
    (void)suite_cases(&n); /* they are made once, and the tests print numbers */
    same_in_both(say_specs);
}

/* Plans and predictions */

static void say_prediction(const suite_case *c) {
    const eb_workload w = {.size = sizeof w, .items = 12345.5, .distinct = 6543.25, .zipf = 0.75};
    eb_prediction p;
    eb_error err;
    EB_INIT(p);
    note_error(said, eb_predict(c->text, &w, NULL, 1, &p, &err), &err);
    note_bytes(said, &p, sizeof p);
}

static void say_predictions(notes *n) {
    said = n;
    suite_each_base(say_prediction);
}

static void predictions_are_the_same(void **state) {
    (void)state;
    same_in_both(say_predictions);
}

static void say_plans(notes *n) {
    static const struct {
        double items, distinct, fpr, fnr, bytes;
    } goals[] = {
        {1e5, 3e4, 0.01, 0, 2e4},   {1e5, 9.99e4, 0.001, 0, 3e4}, {1e5, 33333, 0.125, 0, 12345},
        {1e5, 5e4, 1e-12, 0, 1024}, {1e5, 5e4, 1.5, 0, 1e6},
    };
    for (size_t i = 0; i < SUITE_COUNT(goals); i++) {
        const eb_workload w = {.size = sizeof w,
                               .items = goals[i].items,
                               .distinct = goals[i].distinct,
                               .order = i % 2 == 0 ? EB_ORDER_SHUFFLED : EB_ORDER_UNKNOWN};
        const eb_goal g = {.size = sizeof g,
                           .load = &w,
                           .max_fpr = goals[i].fpr,
                           .max_fnr = goals[i].fnr,
                           .max_bytes = goals[i].bytes,
                           .prefer = EB_FEWEST_MISSES};
        enum { OFFERS = 3 };
        eb_offer o[OFFERS] = {{.size = sizeof *o}};
        size_t found = 0;
        eb_error err;
        note_error(n, eb_plan(&g, o, OFFERS, &found, &err), &err);
        for (size_t j = 0; j < found; j++) note(n, o[j].spec);
        note_bytes(n, o, sizeof *o * found);
    }
}

static void plans_are_the_same(void **state) {
    (void)state;
    same_in_both(say_plans);
}

/* Conversions */

static void say_conversions(notes *n) {
    static const char *const changes[] = {"frozen=no", "frozen=no,store=line,counter_bits=12.75",
                                          "frozen=no,store=sai,counter_bits=19.5",
                                          "frozen=no,store=line,counter_bits=12,75"};
    eb_filter *const f = suite_filled("spectral:cells=6400,store=u32", 2000, 1), *frozen;
    OK(eb_convert(&frozen, f, "frozen=line", NULL, NULL));
    for (size_t i = 0; i < SUITE_COUNT(changes); i++) {
        eb_filter *g = NULL;
        eb_error err;
        char spec[EB_SPEC_MAX];
        note_error(n, eb_convert(&g, frozen, changes[i], NULL, &err), &err);
        HOLDS((g != NULL) == (strstr(changes[i], ",75") == NULL));
        if (!g) continue;
        (void)snprintf(spec, sizeof spec, "%s", eb_spec(g));
        note(n, spec);
        size_t len;
        uint8_t *const bytes = suite_bytes(g, &len);
        note_bytes(n, bytes, len);
        free(bytes);
        eb_free(g);
    }
    eb_free(frozen);
    eb_free(f);
}

static void conversions_are_the_same(void **state) {
    (void)state;
    same_in_both(say_conversions);
}

/* Messages with numbers */

static void say_messages(notes *n) {
    static const char *const bad[] = {"bloom:distinct=1e9,fpr=0.0015,memory=64K",
                                      "bloom:distinct=1e14,fpr=0.0015",
                                      "lru:print_bits=10,fpr=0.00015",
                                      "decay:mode=basic,factor=0.0055",
                                      "spectral:store=line,counter_bits=1.25",
                                      "spectral:store=u32,counter_bits=1.25"};
    eb_prediction p;
    eb_error err;
    eb_workload w = {.size = sizeof w, .items = -1.5};
    for (size_t i = 0; i < SUITE_COUNT(bad); i++) {
        eb_filter *f = NULL;
        GIVES(EB_ESPEC, eb_new(&f, bad[i], NULL, &err));
        note(n, err.text);
    }
    EB_INIT(p);
    GIVES(EB_EINVAL, eb_predict("bloom", &w, NULL, 1, &p, &err));
    note(n, err.text);
    HOLDS(strstr(err.text, "-1.5"));
}

static void messages_are_the_same(void **state) {
    (void)state;
    same_in_both(say_messages);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specs_are_the_same),    cmocka_unit_test(predictions_are_the_same),
        cmocka_unit_test(plans_are_the_same),    cmocka_unit_test(conversions_are_the_same),
        cmocka_unit_test(messages_are_the_same),
    };
    if (suite_quick()) return 0; /* making a locale takes a second */
    return cmocka_run_group_tests(tests, find_a_comma, NULL);
}
