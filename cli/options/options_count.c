/* options_count.c - the options of the commands that count: see options.c. */
#include "options.h"

const cli_option count_options[] = {
    KEY_OPTIONS,
    WEIGHT_OPTION,
    HEADING("Counts that fade"),
    DECAY_OPTIONS("|polyexp",
                  "poly: (1 + x) to the power of minus --power; polyexp: (1 + x) to the power of "
                  "--power, halved with each --half-life, relative to its largest value.",
                  "poly and polyexp", ", or a number of lines such as 1e6 or 10M"),
    TIME_FIELD_OPTION,
    HEADING("What is asked"),
    OPTION(0, "key", "KEY", OPT_TEXTS, keys, "Say how often KEY came. May be given several times."),
    OPTION(0, "queries", "FILE", OPT_TEXT, queries,
           "Say how often each line of FILE came as a key. - is standard input."),
    SNAPSHOT_OPTION,
    HEADING("What is printed"),
    AS_OPTIONS,
    FILTER_OPTIONS(COUNT_FILTERS),
    FLAG(0, "removable", removable,
         "Keys will be taken out again ('everbloom add --remove'): " DEFAULT_REMOVABLE
         " instead of " DEFAULT_COUNT ", which has smaller errors but cannot do that."),
    KEEP_OPTIONS,
    RUN_REPORTS,
    REDIS_OPTION,
    END};

const cli_example count_examples[] = {
    {"everbloom count -f 1 -d ' ' --key 10.0.0.1 access.log", "How many requests of one host?"},
    {"everbloom count -f 1 --weight-field 3 --queries hosts traffic.tsv",
     "Bytes for each host of a list."},
    {"tail -F app.log | everbloom count --state counts.eb", "Count for ever, in 64 MiB."},
    {"everbloom count --snapshot counts.eb --key error", "Ask what is kept."},
    {"everbloom count --half-life 1h --time-field 1 -f 2 --key 10.0.0.1 requests.tsv",
     "How often lately?"},
    {"everbloom count --window 1h --time-field 1 -f 2 --queries hosts requests.tsv",
     "How often in the last hour?"},
    {NULL, NULL}};

const char count_text[] =
    "Counts the keys of the lines of the FILEs, or of standard input if there is none or it is -, "
    "in one pass and in fixed memory, and then says of each key that is asked for how often it "
    "came: "
    "in the order of asking, --key first. The filter can be kept (--save, --state) and be asked "
    "later "
    "(--snapshot).\n\n"
    "An answer is a line with tabs between: the estimate, a lower bound, an upper bound, the "
    "probability that the lower bound holds, 'recurring' or 'single', and the key, which comes "
    "last since it may hold tabs. The upper bound is certain; it is the estimate, unless the "
    "filter is one that may count too low. An estimate that several counters agree on "
    "(recurring) is "
    "nearly always right; one that a single counter gave is wrong about a hundred times as often. "
    "What a kind of filter cannot say is -.\n\n"
    "With --decay, --half-life or --window counts fade, and are as of the time of the last line; "
    "they are never too low, but for a small epsilon with --decay exponential ('everbloom info' "
    "says it). Unless the window is in lines, a further column, the rate, stands before the key: "
    "the mean number of arrivals in a second, weighted by the same fading.";

const cli_option distinct_options[] = {
    KEY_OPTIONS,
    HEADING("What is asked"),
    OPTION(0, "by", "FIELD", OPT_FIELD, by,
           "Count for each value of this field, a group; the largest number is printed first."),
    HEADING("What is printed"),
    AS_OPTIONS,
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed,
           "Seed of the hashes. Equal seed, equal input: equal answers. (default: 1)"),
    HEADING("Reports"),
    QUIET,
    END};

const cli_example distinct_examples[] = {
    {"everbloom distinct -d ' ' -f 1 access.log", "How many different hosts?"},
    {"everbloom distinct --csv -f customer --by country orders.csv",
     "How many customers in each country?"},
    {"everbloom distinct --jsonl -f user.id events.jsonl.gz", "How many users?"},
    {NULL, NULL}};

const char distinct_text[] =
    "Prints about how many different keys the lines have, a tab, and the standard error of that "
    "number; with --by also the group, most different keys first. Up to 128 keys are counted "
    "exactly. From then on the standard error is 0.4 %, or 1.6 % for each group, and the memory "
    "64 KiB, or 4 KiB for each group, however many keys there are.";
