/* options_top.c - the options of top: see options.c. */
#include "options.h"
#include "parts/top.h"
#define OWN top_own

static const cli_option top_options[] = {
    KEY_OPTIONS,
    WEIGHT_OPTION,
    HEADING("What is asked"),
    OWN_OPTION('n', "top", "N", OPT_INDEX, top,
               "The N keys that occur most often; of those with --at-least, if that is given. "
               "(default: " TEXT_OF(DEFAULT_TOP) ", all with --at-least)"),
    OWN_OPTION(0, "at-least", "COUNT", OPT_TEXTS, at_least,
               "All keys that occur COUNT times or more: 1000, 10K, or 1% of all lines (of all "
               "weights). May be given several times; the least is answered first."),
    OWN_OPTION(0, "alert", "COUNT", OPT_COUNT, alert,
               "Print each key once, the moment it occurs for the COUNT-th time or, now and then, "
               "earlier; none is missed."),
    HEADING("Lately"),
    DECAY_OPTIONS("", "poly: (1 + x) to the power of minus --power.", "poly", ""),
    TIME_FIELD_OPTION,
    HEADING("What is printed"),
    OWN_OPTION(
        0, "every", "TIME", OPT_TIME, refresh_seconds,
        "Print so often: by the clock, or by the time of the lines with --time-field. Units are "
        "ms, s, m, h and d. (default: " TEXT_OF(
            DEFAULT_REFRESH_SECONDS) "s on a terminal when "
                                     "the input is a pipe, else only at the end)"),
    OWN_FLAG(0, "bounds", bounds,
             "A column more, behind the count, which is never too low: how often the key occurs "
             "certainly."),
    AS_OPTIONS,
    HEADING("Reading again, for exact counts"),
    OWN_FLAG(0, "verify", verify, "Read the input a second time and count exactly."),
    OWN_OPTION(
        0, "rescan", "FILE", OPT_TEXTS, rescan,
        "The lines can be read again from FILE, when they come from standard input or a pipe. "
        "May be given several times, for the parts of the input in their order."),
    HEADING("Memory"),
    OPTION('m', "memory", "SIZE", OPT_WORD, memory,
           "Memory for the list, such as 16K, 4M or 2G. (default: " DEFAULT_MEMORY ")"),
    OPTION(0, "filter", "SPEC", OPT_TEXT, filter,
           "The filter to make, of the kind top: 'everbloom kinds top' shows its options. With "
           "--alert, of a kind that counts."),
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed,
           "Seed of the filter, or 'random'. Equal seed, equal input: equal answers."),
    STATE_OPTIONS,
    OPTION(
        0, "redis", "URL", OPT_TEXT, redis,
        "Keep the list on a server with our module, under redis://host:port/name, made if it is "
        "not there; in a cluster it is spread over all nodes (?shards=16). Several may write at "
        "once. With /dev/null as FILE, only print it. Without --verify, --state and --alert. See "
        "docs/REDIS.md."),
    HEADING("Reports"),
    FLAG(0, "stats", stats,
         "At the end, print on standard error: lines, seconds, keys that are kept, the watermark. "
         "As "
         "one JSON object with --json."),
    THREADS_OPTION,
    FLAG('q', "quiet", quiet, "No progress line, and no word when the input is read again."),
    END};

static const cli_example top_examples[] = {
    {"everbloom top -f 7 -d ' ' access.log", "The 20 pages that are read most."},
    {"tail -F access.log | everbloom top -f 1 -d ' ' --window 5m",
     "Watch the hosts with the most requests of the last five minutes."},
    {"everbloom top --csv -f customer --at-least 100 --verify orders.csv",
     "Exactly what 'group by ... having count(*) >= 100' gives."},
    {"everbloom top -f 1 -d ' ' --at-least 1% access.log", "Hosts with 1 % of all requests."},
    {"tail -F failures.tsv | everbloom top -f 4 --alert 20", "Who failed 20 times? At once."},
    {"everbloom top --half-life 10m -d ' ' --time-field 4 -f 7 --every 1h access.log",
     "Replay the log of a web server: the hottest pages at the end of each hour."},
    {"everbloom top --state hosts.eb -f 1 -d ' ' access.log.1",
     "Of all logs so far, with a log added each day."},
    {"everbloom top --redis redis://localhost/pages -f 7 -d ' ' access.log",
     "One list for all web servers, on a server with our module."},
    {"everbloom top -m 1M --verify --at-least 10K big.log",
     "Exactly, in a megabyte, whatever the number of keys."},
    {NULL, NULL}};

static const char top_text[] =
    "Reads the lines of the FILEs, or of standard input if there is none or it is -, once, in "
    "fixed "
    "memory, and prints the keys that occur most often: their count, a tab and the key, most "
    "frequent first. With several --at-least, each line begins with the one that it answers. On a "
    "terminal, with input from a pipe, the list is shown live: q ends, space stops and goes on, "
    "arrows move through it.\n\n"
    "Counts may be too high, never too low, so a key that occurs less often may take the place of "
    "another; --bounds prints a certain lower count beside, and --verify makes counts exact.\n\n"
    "With --half-life, --window or --decay counts fade: a line counts 1 when it is read, a half "
    "after a half-life, a quarter after two; or 1 until it is older than the window. A row is then "
    "the count, a rate and the key. The rate is in lines a second, over the time that counts, or "
    "since the first line if that is shorter.\n\n"
    "With --state, what is counted is all lines since FILE was made, so --verify needs --rescan "
    "with "
    "all of them. FILE is a filter like others: 'everbloom merge' puts lists together, and "
    "'everbloom count --snapshot' asks them.\n\n"
    "The list has room for the most frequent keys only. Its watermark ('complete above' on a "
    "screen) says how often a key may occur without being in it. If an answer reaches further "
    "down, "
    "the input is read again, and everything that may belong to the answer is counted exactly; if "
    "it cannot be read again, what is known is printed, a message says what may be missing, and "
    "the "
    "exit status is 1.";
const cli_command command_top = {.name = "top",
                                 .own = sizeof(OWN),
                                 .operands = "[FILE]...",
                                 .summary = "print the keys that occur most often",
                                 .text = top_text,
                                 .options = top_options,
                                 .examples = top_examples,
                                 .status = "if some answer may lack keys, or counters are full",
                                 .max_operands = CLI_MANY,
                                 .run = run_top,
                                 .filter = top_filter};
