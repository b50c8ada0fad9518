/* options_count.c - the options of the commands that count: see options.c. */
#include "options.h"

#define COUNT_FILTERS                                                                              \
    DEFAULT_COUNT ", or " DEFAULT_COUNT ":store=" DEFAULT_WEIGHTS " with --weight-field,"

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
    FLAG(0, "json", json, "One JSON object on one line for each key."),
    FLAG(0, "names", names, "Print the names of the columns first."),
    FILTER_OPTIONS(COUNT_FILTERS),
    FLAG(0, "removable", removable,
         "Keys will be taken out again ('everbloom add --remove'): " DEFAULT_REMOVABLE
         " instead of " DEFAULT_COUNT ", which has smaller errors but cannot do that."),
    KEEP_OPTIONS,
    RUN_REPORTS,
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

const cli_option iceberg_options[] = {
    KEY_OPTIONS,
    WEIGHT_OPTION,
    HEADING("What is asked"),
    OPTION(0, "at-least", "COUNT", OPT_TEXTS, at_least,
           "Print the keys that came COUNT times or more: 1000, 10K, or 1% of all lines (of all "
           "weights). May be given several times; the least is answered first."),
    OPTION(0, "top", "N", OPT_INDEX, top,
           "Print the N keys that came most often. Without --verify, a key whose count is too high "
           "may take the place of another."),
    OPTION(0, "alert", "COUNT", OPT_COUNT, alert,
           "Print each key once, the moment it comes for the COUNT-th time or, now and then, "
           "earlier; none is missed."),
    HEADING("Reading again"),
    FLAG(0, "verify", verify, "Read the input a second time and count exactly."),
    OPTION(0, "rescan", "FILE", OPT_TEXTS, rescan,
           "The lines can be read again from FILE, when they come from standard input or a pipe. "
           "May be given several times, for the parts of the input in their order."),
    FLAG(0, "multiscan", multiscan,
         "For memory far below the number of keys: read the input as often as needed (2 or 3 "
         "times, as a rule), each time sorting out more keys that are not frequent. Counts are "
         "exact."),
    OPTION(0, "scans", "N", OPT_INDEX, scans, "The same, but at most N times."),
    HEADING("What is printed"),
    FLAG(0, "json", json, "One JSON object on one line for each key."),
    FLAG(0, "names", names, "Print the names of the columns first."),
    HEADING("Memory"),
    OPTION('m', "memory", "SIZE", OPT_WORD, memory,
           "Memory in all, such as 500K, 64M or 2G: a quarter for candidates, which are keys, the "
           "rest for the filter. " DEFAULT_MEMORY " unless given."),
    OPTION(0, "candidate-memory", "SIZE", OPT_WORD, candidate_memory,
           "Of it, so much for candidates."),
    OPTION(0, "filter", "SPEC", OPT_TEXT, filter,
           "The filter to make: kind:key=value,... as listed by 'everbloom kinds'. " COUNT_FILTERS
           " unless given."),
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed,
           "Seed of the filter; drawn at random unless given. Equal seed, equal input: equal "
           "answers."),
    OPTION(
        0, "state", "FILE", OPT_TEXT, state,
        "Go on from the filter and the candidates in FILE if FILE exists, and save them there at "
        "the end and on the way. FILE is replaced in one step, so it is always whole; 'everbloom "
        "count --snapshot' can ask it, too. Refused while another run uses it, which FILE.lock "
        "shows. What is counted is all lines since FILE was made, so "
        "--verify needs --rescan with all of them."),
    EVERY_OPTION,
    HEADING("Reports"),
    FLAG(0, "stats", stats,
         "At the end, print on standard error: lines, seconds, the candidates, the watermark. As "
         "one JSON object with --json."),
    FLAG('q', "quiet", quiet, "No progress line, and no word when the input is read again."),
    END};

const cli_example iceberg_examples[] = {
    {"everbloom iceberg -f 1 -d ' ' --at-least 1% access.log", "Hosts with 1 % of all requests."},
    {"everbloom iceberg -f 7 -d ' ' --top 20 access.log", "The 20 pages that were read most."},
    {"everbloom iceberg --csv -f 2 --at-least 100 --verify orders.csv",
     "Exactly what 'group by ... having count(*) >= 100' gives."},
    {"tail -F failures.tsv | everbloom iceberg -f 4 --alert 20", "Who failed 20 times? At once."},
    {"everbloom iceberg --state hosts.eb -f 1 -d ' ' --at-least 1% access.log.1",
     "Of all logs so far, with a log added each day."},
    {"everbloom iceberg -m 1M --multiscan --at-least 10K big.log",
     "In a megabyte, whatever the number of keys."},
    {NULL, NULL}};

const char iceberg_text[] =
    "Reads the lines of the FILEs, or of standard input if there is none or it is -, once, in "
    "fixed "
    "memory, and prints the keys that came often: their count, a tab and the key, most frequent "
    "first. With several --at-least, each line opens with the one that it answers.\n\n"
    "No key is missed. A key that came less often may be among them, since counts may be too high, "
    "never too low; --verify makes them exact.\n\n"
    "A filter holds no keys, so the most frequent ones are kept beside it, as candidates. The "
    "watermark says how often a key may have come without being among them; the answer is "
    "complete down to there. Below it, the input is read again, if it is files; if it "
    "cannot be, what is known is printed, a message says what may be missing, and the status is "
    "1.";

const cli_option distinct_options[] = {
    KEY_OPTIONS,
    HEADING("What is asked"),
    OPTION(0, "by", "FIELD", OPT_FIELD, by,
           "Count for each value of this field, a group; the largest number is printed first."),
    HEADING("What is printed"),
    FLAG(0, "json", json, "One JSON object on one line for each answer."),
    FLAG(0, "names", names, "Print the names of the columns first."),
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
