/* fade.c - counts that fade: from --decay and the options around it to the spec of a filter.
 *
 * Exponential decay is the kind decay, all other functions of age are the kind aging, and a list of
 * keys is the kind top with either of them inside.  Functions of age cut
 * time into epochs: with epochs of p ticks, what came L - 1 ticks ago has seen at most
 * ceil((L - 1) / p) of them begin, so that a window of one epoch more counts all of the last L
 * ticks, and at most p - 1 ticks before them.  Ticks are milliseconds, or lines. */
#include "fade.h"
#include "filterfile.h"
#include "window.h"
#include <everbloom/query.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BY_AGE "window|chordal|polygonal|poly|polyexp"
enum { EPOCHS_USUAL = 27, EPOCHS_MAX = 255, EPOCHS_MAX_POLY = 999999, MILLI = 1000 };
enum { HALFLIVES = 20 }; /* after which a line counts a millionth */
/* What the filter allows a count to be multiplied with in an epoch. */
static const double factor_min = 0.01, factor_max = 0.999;

typedef struct use { /* of an option */
    const char *option;
    bool given;
    const char *functions; /* that take it */
} use;
enum { USES = 5 };

static void list_uses(const settings *set, use uses[USES]) {
    uses[0] = (use){"--half-life", set->half_life > 0, "exponential|polyexp"};
    uses[1] = (use){"--window", stretch_is_given(set->window), BY_AGE};
    uses[2] = (use){"--epochs", set->epochs > 0, BY_AGE};
    uses[3] = (use){"--power", set->power > 0, "poly|polyexp"};
    uses[4] = (use){"--heights", set->heights != NULL, "polygonal"};
}

/* The first option that asks for counts that fade, or NULL. */
static const char *first_given(const settings *set) {
    use uses[USES];
    if (set->decay) return "--decay";
    list_uses(set, uses);
    for (size_t i = 0; i < USES; i++)
        if (uses[i].given) return uses[i].option;
    return NULL;
}

bool fade_is_asked(const settings *set) {
    return first_given(set) != NULL;
}

static const char *function_of(const settings *set) {
    if (set->decay) return set->decay;
    return stretch_is_given(set->window) ? "window" : "exponential";
}

void fade_check(const cli_command *c, const settings *set) {
    use uses[USES];
    char text[CHOICES_TEXT];
    const char *const function = function_of(set);
    if (!fade_is_asked(set)) return;
    if (set->filter || set->removable)
        cli_misuse(c, "%s chooses a filter: not with %s", first_given(set),
                   set->filter ? "--filter" : "--removable");
    if (!set->decay && set->half_life > 0 && stretch_is_given(set->window))
        cli_misuse(c, "--half-life and --window: give one of them, or both with --decay polyexp");
    list_uses(set, uses);
    for (size_t i = 0; i < USES; i++)
        if (uses[i].given && !choice_is_among(uses[i].functions, function))
            cli_misuse(c, "%s is for --decay %s, not %s", uses[i].option,
                       choices_listed(uses[i].functions, text), function);
    if (choice_is_among(BY_AGE, function) && !uses[1].given)
        cli_misuse(c, "--decay %s needs --window", function);
    if (set->half_life > 0 && set->window.lines > 0)
        cli_misuse(c, "--half-life is a time: give --window as a time as well");
    if (set->heights && set->heights[strspn(set->heights, "0123456789:")])
        cli_misuse(c, "--heights must be heights from 1 to 255, such as 100:50:20, not \"%s\"",
                   set->heights);
}

static double epochs_of(const cli_command *c, const settings *set, const char *function) {
    const bool joins = strcmp(function, "poly") == 0;
    const uint64_t most = joins ? EPOCHS_MAX_POLY : EPOCHS_MAX;
    if (set->epochs > most)
        cli_misuse(c, "--epochs must be 1..%llu for --decay %s, not %llu", (unsigned long long)most,
                   function, (unsigned long long)set->epochs);
    return set->epochs ? (double)set->epochs : EPOCHS_USUAL;
}

/* Of --decay polyexp: what is left of a count after an epoch of so many milliseconds. */
static double factor_of(const cli_command *c, const settings *set, double period) {
    const double factor = exp2(-period / (set->half_life * MILLI));
    const double first = -period / MILLI / log2(factor_min),
                 last = -period / MILLI / log2(factor_max);
    if (factor < factor_min || factor > factor_max)
        cli_misuse(c, "--half-life must be from %.6gs to %.6gs with epochs of %.6gs, not %.6gs",
                   first, last, period / MILLI, set->half_life);
    return factor;
}

static void aging_spec(const cli_command *c, const settings *set, const char *function, bool list,
                       char *spec, size_t cap) {
    const double length = stretch_ticks(set->window);
    const double period = ceil(length / epochs_of(c, set, function));
    size_t used = (size_t)snprintf(
        spec, cap, "%s:by=%s,epochs=%.0f,period=%.0f%s", list ? "top" : "aging", function,
        ceil((length - 1) / period) + 1, period, list ? "" : ",update=conservative");
    if (set->power > 0)
        used += (size_t)snprintf(spec + used, cap - used, ",power=%.9g", set->power);
    if (set->half_life > 0)
        used +=
            (size_t)snprintf(spec + used, cap - used, ",factor=%.6f", factor_of(c, set, period));
    if (set->heights) (void)snprintf(spec + used, cap - used, ",heights=%.80s", set->heights);
}

bool count_filter(const cli_command *c, const settings *set, char *spec, size_t cap) {
    fade_check(c, set);
    if (fade_is_asked(set))
        fade_spec(c, set, false, spec, cap);
    else /* sums of weights are large numbers, for which a store of bytes has little room */
        snprintf(spec, cap, "%s%s", set->removable ? DEFAULT_REMOVABLE : DEFAULT_COUNT,
                 set->weight_field.n ? ":store=" DEFAULT_WEIGHTS : "");
    return false;
}

void fade_spec(const cli_command *c, const settings *set, bool list, char *spec, size_t cap) {
    const char *const function = function_of(set);
    const double seconds = set->half_life > 0 ? set->half_life : DEFAULT_HALF_LIFE_SECONDS;
    if (choice_is_among(BY_AGE, function))
        aging_spec(c, set, function, list, spec, cap);
    else
        snprintf(spec, cap, "%s:halflife=%.6f%s", list ? "top" : "decay", MILLI * seconds,
                 list ? "" : ",update=conservative");
}

/* ---- Rates. */

/* What a line of this age counts. */
static double weight_at(const fading *d, double age) {
    const char *const function = function_of(d->set);
    const double x = age / d->life;
    if (age < 0) return 1;
    if (d->halflife > 0) return exp2(-age / d->halflife);
    if (x >= 1) return 0;
    if (strcmp(function, "chordal") == 0) return 1 - x;
    if (strcmp(function, "poly") == 0) { /* which falls by epochs */
        const double epochs = d->set->epochs ? (double)d->set->epochs : EPOCHS_USUAL;
        return pow(1 + floor(x * epochs), d->set->power > 0 ? -d->set->power : -1);
    }
    if (strcmp(function, "polygonal") != 0) return 1;
    double height[EPOCHS_MAX + 2] = {100, 50, 20};
    size_t n = d->set->heights ? 0 : 3;
    for (const char *p = d->set->heights; p && n <= EPOCHS_MAX;
         p = strchr(p, ':'), p = p ? p + 1 : p)
        height[n++] = strtod(p, NULL);
    height[n] = 0;
    const double at = x * (double)n;
    const size_t i = (size_t)at;
    return (height[i] + (at - (double)i) * (height[i + 1] - height[i])) / height[0];
}

void fading_open(fading *d, const settings *set, const eb_filter *f) {
    const eb_stats stats = filter_stats(f);
    *d = (fading){.set = set, .unit = MILLI, .halflife = stats.halflife};
    d->lasting = 1 / eb_faded(f, MILLI);
    d->life = d->halflife > 0           ? HALFLIVES * d->halflife
              : set->window.seconds > 0 ? set->window.seconds * MILLI
                                        : d->lasting * MILLI;
}

void fading_note(fading *d, const eb_batch *b) {
    for (size_t i = 0; i < b->n && d->unit > 1; i++)
        if (b->time[i] % d->unit != 0) d->unit = 1;
}

/* What lines that came evenly since the first one would count, in all: the weights of their ages,
 * summed up.  Times in whole seconds say that a second has passed with each of them. */
double fading_seconds(const fading *d, uint64_t first, uint64_t now) {
    enum { STEPS = 2000 };
    if (first == EB_UNKNOWN) return 0;
    const double until = fmin((double)(now - first + d->unit), d->life);
    double sum = 0;
    for (int i = 0; i < STEPS; i++) sum += weight_at(d, (i + 0.5) * until / STEPS);
    return fmin(sum * until / STEPS / MILLI, d->lasting);
}
