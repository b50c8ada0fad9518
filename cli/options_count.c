/* options_count.c - the options of the commands that count: see options.c. */
#include "options.h"

const cli_option count_options[] = {
    KEY_OPTIONS,
    WEIGHT_OPTION,
    HEADING("What is asked"),
    OPTION(0, "key", "KEY", OPT_TEXTS, keys, "Say how often KEY came. May be given several times."),
    OPTION(0, "queries", "FILE", OPT_TEXT, queries,
           "Say how often each line of FILE came as a key. - is standard input."),
    OPTION(0, "snapshot", "FILE", OPT_TEXT, snapshot,
           "Ask the filter in FILE as it is; no lines are read."),
    HEADING("What is printed"),
    FLAG(0, "json", json, "One JSON object on one line for each key."),
    FLAG(0, "header", header, "A first line with the names of the columns."),
    FILTER_OPTIONS(DEFAULT_COUNT),
    FLAG(0, "removable", removable,
         "Keys will be taken out again ('everbloom add --remove'): " DEFAULT_REMOVABLE
         " instead of " DEFAULT_COUNT ", which has smaller errors but cannot do that."),
    OPTION('o', "output", "FILE", OPT_TEXT, output, "Write the snapshot of a new filter to FILE."),
    STATE_OPTIONS,
    FLAG(0, "force", force, "Write a snapshot even to a terminal."),
    HEADING("Reports"),
    FLAG(0, "stats", stats,
         "At the end, print on standard error: lines, bytes, seconds, rate, fill of the filter. As "
         "one JSON object with --json."),
    QUIET,
    END};

const cli_example count_examples[] = {
    {"everbloom count -f 1 -d ' ' --key 10.0.0.1 access.log", "How many requests of one host?"},
    {"everbloom count -f 1 --weight-field 3 --queries hosts traffic.tsv",
     "Bytes for each host of a list."},
    {"tail -F app.log | everbloom count --state counts.eb", "Count for ever, in 64 MiB."},
    {"everbloom count --snapshot counts.eb --key error", "Ask what is kept."},
    {NULL, NULL}};

const char count_text[] =
    "Counts the keys of the lines of the FILEs, or of standard input if there is none or it is -, "
    "in one pass and in fixed memory, and then says of each key that is asked for how often it "
    "came: "
    "in the order of asking, --key first. The filter can be kept (-o, --state) and be asked later "
    "(--snapshot).\n\n"
    "An answer is a line with tabs between: the estimate, a lower bound, an upper bound, the "
    "probability that the lower bound holds, 'recurring' or 'single', and the key, which comes "
    "last since it may hold tabs. The upper bound is certain; it is the estimate, unless the "
    "filter is one that may count too low. An estimate that several counters agree on "
    "(recurring) is "
    "nearly always right; one that a single counter gave is wrong about a hundred times as often. "
    "What a kind of filter cannot say is -.";
