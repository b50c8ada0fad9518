/* options_top.c - the options of top: see options.c. */
#include "options.h"
#include "parts/top.h"
#define OWN top_own

static const cli_option top_options[] = {
    KEY_OPTIONS,
    WEIGHT_OPTION,
    HEADING("What is asked"),
    OWN_OPTION(
        'n', "top", "N", OPT_INDEX, top,
        "Print the N most frequent keys; with --at-least, the first N of those. (default: " TEXT_OF(
            DEFAULT_TOP) ", all with --at-least)"),
    OWN_OPTION(0, "at-least", "COUNT", OPT_TEXTS, at_least,
               "Print all keys that occur at least COUNT times: 1000, 10K, or 1% of all lines (of "
               "the total weight). May be given several times; the smallest is answered first."),
    OWN_OPTION(0, "alert", "COUNT", OPT_COUNT, alert,
               "Print each key once, at the moment it occurs for the COUNT-th time. A few are "
               "printed earlier; none is missed."),
    HEADING("Counts that fade"),
    DECAY_OPTIONS("", "poly: (1 + x) to the power of minus --power.", "poly", ""),
    TIME_FIELD_OPTION,
    HEADING("What is printed"),
    OWN_OPTION(0, "every", "TIME", OPT_TIME, refresh_seconds,
               "Print the list every TIME: by the clock or, with --time-field, by the time of the "
               "lines. Units are "
               "ms, s, m, h and d. (default: " TEXT_OF(
                   DEFAULT_REFRESH_SECONDS) "s on a terminal when "
                                            "the input is a pipe, else only at the end)"),
    OWN_FLAG(0, "bounds", bounds,
             "Add a column after the count, which is never too low: a certain lower bound."),
    AS_OPTIONS,
    HEADING("Reading again, for exact counts"),
    OWN_FLAG(0, "verify", verify, "Read the input a second time and count exactly."),
    OWN_OPTION(0, "rescan", "FILE", OPT_TEXTS, rescan,
               "Read the lines again from FILE if they came from standard input or a pipe. May be "
               "given several times, for the parts of the input in order."),
    HEADING("Memory"),
    OPTION('m', "memory", "SIZE", OPT_WORD, memory,
           "Memory for the list, such as 16K, 4M or 2G. (default: " DEFAULT_MEMORY ")"),
    OPTION(0, "filter", "SPEC", OPT_TEXT, filter,
           "The filter to make, of the kind top: 'everbloom kinds top' shows its options. With "
           "--alert, of a kind that counts."),
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed,
           "Seed of the filter, or 'random'. The same seed and input give the same answers."),
    STATE_OPTIONS,
    OPTION(
        0, "redis", "URL", OPT_TEXT, redis,
        "Keep the list on a Redis or Valkey server that has the everbloom module, at "
        "redis://host:port/name. It is created if it does not exist. In a cluster it is spread "
        "over all nodes (?shards=16). Several processes may write at once. With /dev/null as FILE, "
        "the list is only printed. Not with --verify, --state or --alert. See docs/REDIS.md."),
    HEADING("Reports"),
    FLAG(0, "stats", stats,
         "At the end, print on standard error: lines, seconds, keys in the list, the watermark. "
         "With --json, as one JSON object."),
    THREADS_OPTION,
    FLAG('q', "quiet", quiet, "No progress line, and no message when the input is read again."),
    END};

static const cli_example top_examples[] = {
    {"everbloom top -f 7 -d ' ' access.log", "The 20 most requested pages."},
    {"tail -F access.log | everbloom top -f 1 -d ' ' --window 5m",
     "Watch the hosts with the most requests of the last five minutes."},
    {"everbloom top --csv -f customer --at-least 100 --verify orders.csv",
     "The exact answer of 'group by ... having count(*) >= 100'."},
    {"everbloom top -f 1 -d ' ' --at-least 1% access.log", "Hosts with 1 % of all requests."},
    {"tail -F failures.tsv | everbloom top -f 4 --alert 20", "Who failed 20 times? At once."},
    {"everbloom top --half-life 10m -d ' ' --time-field 4 -f 7 --every 1h access.log",
     "Replay the log of a web server: the hottest pages at the end of each hour."},
    {"everbloom top --state hosts.eb -f 1 -d ' ' access.log.1",
     "The top hosts of all logs so far; each day adds one log."},
    {"everbloom top --redis redis://localhost/pages -f 7 -d ' ' access.log",
     "One list for all web servers, kept on a Redis server."},
    {"everbloom top -m 1M --verify --at-least 10K big.log",
     "Exact counts in 1 MiB, however many keys there are."},
    {NULL, NULL}};

static const char top_text[] =
    "Reads the FILEs, or standard input if there is none or it is -, once and in fixed memory, and "
    "prints the keys that occur most often: the count, a tab and the key, most frequent first. "
    "With several --at-least, each line begins with the one that it answers. On a terminal, with "
    "input from a pipe, the list is shown live: q quits, space pauses and resumes, arrows "
    "scroll.\n\n"
    "Counts may be too high but are never too low, so a less frequent key can displace a more "
    "frequent one. --bounds also prints a certain lower bound, and --verify makes counts exact.\n\n"
    "With --half-life, --window or --decay counts fade: a line counts 1 when it is read, 1/2 after "
    "one half-life and 1/4 after two; or 1 until it is older than the window. A row is then the "
    "count, a rate and the key. The rate is in lines per second, over the time that counts or "
    "since the first line, whichever is shorter.\n\n"
    "With --state, the counts cover all lines since FILE was created, so --verify needs --rescan "
    "for all of them. FILE is an ordinary snapshot: 'everbloom merge' merges lists, and 'everbloom "
    "count --snapshot' queries them.\n\n"
    "The list has room for the most frequent keys only. A key that is not in it occurs at most as "
    "often as its watermark says ('complete above' on the screen). If an answer reaches below the "
    "watermark, the input is read again and all candidates are counted exactly. If it cannot be "
    "read again, the known keys are printed, a message says what may be missing, and the exit "
    "status is 1.";
const cli_command command_top = {.name = "top",
                                 .own = sizeof(OWN),
                                 .operands = "[FILE]...",
                                 .summary = "print the keys that occur most often",
                                 .text = top_text,
                                 .options = top_options,
                                 .examples = top_examples,
                                 .status =
                                     "if keys may be missing from an answer, or counters are full",
                                 .max_operands = CLI_MANY,
                                 .run = run_top,
                                 .filter = top_filter};
