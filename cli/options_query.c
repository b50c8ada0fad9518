/* options_query.c - the options of range: see options.c. */
#include "options.h"

const cli_option range_options[] = {
    KEY_OPTIONS_IF_MISSING("is an error"),
    SKIP_FIRST,
    WEIGHT_OPTION,
    HEADING("What values there are"),
    OPTION(
        0, "values", "WHAT", OPT_TEXT, values,
        "signed or unsigned: whole numbers; time: seconds since 1970, or times such as "
        "2026-01-31T12:00:00+01:00, of which parts of a second are left out. signed unless given."),
    OPTION(0, "min", "A", OPT_TEXT, min, "The least value that can come. With --max."),
    OPTION(0, "max", "B", OPT_TEXT, max,
           "The largest. The domain is rounded up to a power of two; the smaller it is, the faster "
           "and the better the answers."),
    OPTION(0, "bits", "N", OPT_INDEX, bits,
           "Instead: values of N bits, 1 to 64; times from 1970 on. 32 unless given."),
    HEADING("What is asked"),
    OPTION(0, "from", "A", OPT_TEXTS, from,
           "Say how many values lie in the range from A to the --to that belongs to it, both "
           "included. May be given several times; alone it goes to the end."),
    OPTION(0, "to", "B", OPT_TEXTS, to, "The end of a range."),
    OPTION(0, "ranges", "FILE", OPT_TEXT, ranges,
           "The same for each line of FILE: two values with a tab between."),
    OPTION(0, "quantile", "Q", OPT_TEXTS, quantiles,
           "The least value such that a share Q of all values, 0 to 1, is no larger. May be given "
           "several times."),
    OPTION(0, "snapshot", "FILE", OPT_TEXT, snapshot,
           "Ask the filter in FILE as it is; no lines are read."),
    HEADING("What is printed"),
    FLAG(0, "json", json, "One JSON object on one line for each answer."),
    FLAG(0, "header", header, "A first line with the names of the columns."),
    FILTER_OPTIONS("dyadic"),
    OPTION('o', "output", "FILE", OPT_TEXT, output, "Write the snapshot of a new filter to FILE."),
    STATE_OPTIONS,
    FLAG(0, "force", force, "Write a snapshot even to a terminal."),
    HEADING("Reports"),
    FLAG(0, "stats", stats,
         "At the end, print on standard error: lines, bytes, seconds, rate, fill of the filter. As "
         "one JSON object with --json."),
    QUIET,
    END};

const cli_example range_examples[] = {
    {"everbloom range --csv -f 3 --min -50 --max 60 --from 0 --to 9 weather.csv",
     "How many readings are from 0 to 9?"},
    {"everbloom range --values time -f 1 -o times.eb events.tsv", "Keep the times of events."},
    {"everbloom range --snapshot times.eb --from 2026-01-01T00:00:00Z", "How many came this year?"},
    {"everbloom range --quantile 0.5 --quantile 0.99 milliseconds.txt", "Median and tail."},
    {NULL, NULL}};

const char range_text[] =
    "Counts the numbers or times in the lines of the FILEs, or of standard input if there is none "
    "or it "
    "is -, in one pass and in fixed memory, and then says how many of them lie in a range, or "
    "which value is a quantile. The filter can be kept (-o, --state), merged, and asked later "
    "(--snapshot).\n\n"
    "An answer is a line with tabs between: for a range the estimate, a lower and an upper bound, "
    "and its two ends; for a quantile the estimate, the least and the largest value that it can "
    "be, and the "
    "share. Both bounds are certain. The estimate of a range is its upper bound, which is nearly "
    "always "
    "right in a filter that is large enough.\n\n"
    "A line whose value is no number, or outside of the domain, ends the command without an "
    "answer. Adding "
    "a value takes time in proportion to the bits of the domain.";
