/* cmd_top.c - top: the keys that occur most often, since the beginning or lately. */
#include "parts/fade.h"
#include "parts/filterfile.h"
#include "parts/health.h"
#include "parts/top.h"
#include "remote/commands.h"
#include <string.h>

/* Counts fade if an option says so, or the filter is of a kind whose counts do. */
static bool fades(const settings *set) {
    return fade_is_asked(set) || (set->filter && (strncmp(set->filter, "decay", 5) == 0 ||
                                                  strncmp(set->filter, "aging", 5) == 0));
}

static void check_fading(const cli_command *c, const settings *set) {
    const char *const wrong = set->verify             ? "--verify"
                              : set->rescan.n         ? "--rescan"
                              : set->multiscan        ? "--multiscan"
                              : set->scans > 0        ? "--scans"
                              : set->alert > 0        ? "--alert"
                              : set->state            ? "--state"
                              : set->candidate_memory ? "--candidate-memory"
                                                      : NULL;
    if (wrong)
        cli_misuse(c, "%s is for counts since the beginning, not for those that fade", wrong);
    if (set->at_least.n > 1) cli_misuse(c, "counts that fade take one --at-least");
    if (set->window.lines > 0) cli_misuse(c, "top needs a --window in time, such as 10m");
}

static void check_counts(const cli_command *c, const settings *set) {
    const bool multiscan = set->multiscan || set->scans > 0;
    const int asks = (set->at_least.n > 0) + (set->alert > 0) + (set->top > 0);
    if (asks > 1) cli_misuse(c, "--at-least, -n and --alert: give one of them");
    if (set->time_field.n)
        cli_misuse(c, "--time-field needs --half-life or --window, so that time matters");
    if (set->alert > 0 && (multiscan || set->verify || set->rescan.n))
        cli_misuse(c, "--alert reads once: no --verify, --rescan, --multiscan or --scans");
    if (set->state && (set->alert > 0 || multiscan))
        cli_misuse(c, "--state is for --at-least and -n, in one reading");
    if (set->alert > 0 && set->stats) cli_misuse(c, "--stats is for --at-least and -n");
    if (set->alert > 0 && !(set->alert >= 1 && set->alert <= COUNT_MOST))
        cli_misuse(c, "--alert must be a count from 1 to 2.8e14, not %g", set->alert);
    if (multiscan && set->top) cli_misuse(c, "--multiscan answers one --at-least");
}

bool top_filter(const cli_command *c, const settings *set, char *spec, size_t cap) {
    if (set->redis) { /* a server keeps the keys in the filter, not beside it */
        snprintf(spec, cap, "top");
        return false;
    }
    return count_filter(c, set, spec, cap);
}

int run_top(const cli_command *c, const settings *set, char **operands, size_t n) {
    enum { TOP_MAX = 1000000 };
    settings with = *set;
    (void)n;
    if (set->names && set->json) cli_misuse(c, "--names and --json: give one of them");
    if (set->top > TOP_MAX)
        cli_misuse(c, "-n must be 1..%d, not %llu", TOP_MAX, (unsigned long long)set->top);
    if (!set->top && set->at_least.n == 0 && !(set->alert > 0)) with.top = DEFAULT_TOP;
    if (set->redis) return remote_list(c, &with, operands);
    const bool lately = fades(set);
    (lately ? check_fading : check_counts)(c, set);
    if (lately) return top_of_fading(c, &with, operands);
    if (set->multiscan || set->scans > 0) return run_multiscan(c, &with, operands);
    return top_of_counts(c, &with, operands);
}
