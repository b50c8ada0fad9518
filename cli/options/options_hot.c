/* options_hot.c - the options of hot: see options.c. */
#include "options.h"

const cli_option hot_options[] = {
    KEY_OPTIONS,
    WEIGHT_OPTION,
    HEADING("How counts fade"),
    DECAY_OPTIONS("", "poly: (1 + x) to the power of minus --power.", "poly", ""),
    TIME_FIELD_OPTION,
    HEADING("What is printed"),
    OPTION(0, "top", "N", OPT_INDEX, top,
           "The N hottest keys; " TEXT_OF(DEFAULT_TOP) " unless given."),
    OPTION(0, "every", "TIME", OPT_TIME, refresh_seconds,
           "Print so often, by the clock, or by the time of the lines with --time-field. On a "
           "terminal " TEXT_OF(DEFAULT_REFRESH_SECONDS) "s unless given; elsewhere only at the "
                                                        "end. Units are ms, s, m, h and d."),
    FLAG(0, "json", json, "One JSON object on one line each time."),
    FILTER_OPTIONS("decay or aging, with conservative update,"),
    RUN_REPORTS,
    END};

const cli_example hot_examples[] = {
    {"tail -F access.log | everbloom hot -f 7 -d ' ' --half-life 10m",
     "Watch the pages that are hottest now."},
    {"tail -F access.log | everbloom hot -f 1 -d ' ' --window 5m --top 10",
     "The ten hosts with the most requests of the last five minutes."},
    {"everbloom hot -d ' ' --time-field 4 -f 7 --every 1h access.log",
     "Replay the log of a web server: the hottest pages at the end of each hour."},
    {"everbloom hot --csv --header --time-field 1 -f 2 --every 1h visits.csv",
     "The same for a table with a header."},
    {NULL, NULL}};

const char hot_text[] =
    "Counts the keys of the lines of the FILEs, or of standard input if there is none or it is -, "
    "in fixed memory and with counts that fade: a line counts 1 when it comes, a half after a "
    "half-life, a quarter after two; or with --window it counts 1 until it is forgotten. Prints "
    "the keys whose counts are largest now, the hottest "
    "first: at the end, and on a terminal every few seconds.\n\n"
    "A row is the count, a rate and the key, with tabs between. The rate is the mean number of "
    "lines in a second, weighted by the same fading. Counts are never too low, but for a small "
    "epsilon; now and then one is too high, since keys share counters: more memory makes that "
    "rarer.\n\n"
    "The filter holds no keys, so those that may be among the hottest are kept beside it, ten "
    "times as many as are printed and at least a thousand. A key that was not kept has at most "
    "the count that is called the watermark ('complete above' on a terminal): the answer is "
    "complete down to there.";
