/* bad.c - lines whose key cannot be read: one policy for all commands. */
#include "bad.h"
#include <math.h>

static const double told_every = 60;
enum { BAD_JUDGED = 1000 }; /* lines that are enough to see that all are bad */

void bad_open(bad_lines *b, const settings *set, bad_policy usual) {
    const char *const word = set->on_bad;
    *b = (bad_lines){.policy = usual};
    if (word) b->policy = word[0] == 's' ? BAD_SKIP : word[0] == 'p' ? BAD_PASS : BAD_FAIL;
}

void bad_note(bad_lines *b, const char *file, uint64_t line) {
    if (b->lines++ > 0) return;
    snprintf(b->first, sizeof b->first, "%.200s: line %llu: %.180s", file, (unsigned long long)line,
             b->why);
    b->due = now_seconds() + told_every;
}

void bad_fail(const bad_lines *b) {
    cli_fail("%s", b->first);
}

/* If all lines are bad, the wrong field was asked for: that is said early, and once. */
static bool tell_if_all(bad_lines *b, uint64_t lines) {
    if (b->lines != lines || lines < BAD_JUDGED) return false;
    if (b->told == 0) cli_warn("no line so far could be used; the first is %s", b->first);
    b->told = b->lines;
    return true;
}

double bad_due(const bad_lines *b) {
    return b->lines == b->told || b->policy == BAD_FAIL || b->silent ? INFINITY : b->due;
}

void bad_tell(bad_lines *b, uint64_t lines, bool at_end) {
    if (isinf(bad_due(b))) return;
    if (tell_if_all(b, lines) || (!at_end && now_seconds() < b->due)) return;
    b->told = b->lines;
    b->due = now_seconds() + told_every;
    cli_warn("%llu of %llu lines %s; the first is %s", (unsigned long long)b->lines,
             (unsigned long long)lines,
             b->policy == BAD_SKIP ? "skipped" : "passed through unchecked", b->first);
}
