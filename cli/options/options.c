/* options.c - the commands and their options: the one table that parsing, --help, the man pages
 * and the shell completions are made from. */
#include "options.h"
#include <string.h>

static const cli_option dedup_options[] = {
    KEY_OPTIONS_PASS,
    HEADING("What is printed"),
    FLAG(0, "repeated", repeated,
         "Print the lines that were seen before, instead of the new ones."),
    FLAG(0, "mark", mark,
         "Print every line, with 0 (new) or 1 (seen before) and a delimiter in front."),
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write to FILE, which appears whole at the end or not at all. With --state, the state "
           "is then saved only when FILE is in place, so that no line is lost."),
    FILTER_OPTIONS(DEFAULT_DEDUP),
    ON_FULL_OPTION,
    OPTION(0, "max-drop", "SHARE", OPT_SHARE, max_drop,
           "Of the new lines, at most this share may be taken for repeats and be lost. " TEXT_OF(
               DEFAULT_MAX_DROP) " unless given."),
    OPTION(0, "items", "COUNT", OPT_COUNT, items,
           "The stream will have about COUNT lines, repeats included. With --distinct, the kind of "
           "filter that lets the "
           "fewest repeats pass is taken."),
    OPTION(0, "distinct", "COUNT", OPT_COUNT, distinct,
           "About COUNT of them will be different. With --items."),
    CHOICE("order", "ORDER", "shuffled|recent|any", order,
           "Where repeats are: anywhere in the stream (shuffled), or soon after the line itself "
           "(recent). With --items and --distinct. any: take a filter that keeps --max-drop in any "
           "order. (default: look at the first lines; if their repeats come as in a shuffled "
           "stream, take it to be one, else any)"),
    STATE_OPTIONS,
    REDIS_OPTION,
    HEADING("Windows"),
    OPTION(0, "window", "LENGTH", OPT_LENGTH, window,
           "Drop the repeats within LENGTH, all of them: a number of lines such as 1e6 or 10M, or "
           "a time such as 90s, 10m, 12h or 7d. A repeat that comes up to about a 14th of LENGTH "
           "later "
           "may be dropped as well, no other. A window of lines takes the memory that it needs; "
           "for a time, -m says how many lines there is room for."),
    TIME_FIELD_OPTION,
    FLAG(0, "summary", summary,
         "When the window of a line that was repeated has ended, print how often it was: 'KEY: "
         "repeated 412 times until 2026-01-31T12:03:10Z', or a JSON object with --jsonl. With a "
         "--window in time."),
    FLAG(0, "refresh", refresh,
         "Age counts from the last time a line came: one that keeps coming is never printed again. "
         "Unless given, age counts from when it was printed, so that it is printed once a window."),
    CHOICE("on-overload", "WHAT", "shorten|degrade", on_overload,
           "When more lines come within a window than there is room for: degrade (drop more new "
           "lines than --max-drop says) or shorten (the window). shorten if --max-drop is given, "
           "else degrade."),
    IMPORTANCE_OPTIONS,
    STATS_OPTIONS,
    QUIET,
    END};

static const cli_option add_options[] = {
    KEY_OPTIONS,
    FILTER_OPTIONS(DEFAULT_ADD),
    ON_FULL_OPTION,
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write the snapshot of a new filter to FILE; to standard output unless -o or --state "
           "is given."),
    STATE_OPTIONS,
    FLAG(0, "force", force, "Write a snapshot even to a terminal."),
    IMPORTANCE_OPTIONS,
    HEADING("Filters that count"),
    WEIGHT_OPTION,
    FLAG(0, "remove", remove,
         "Take the keys out of the filter in --state, once for each line. If a key is known not to "
         "be there so often, it is named and the file stays as it is."),
    HEADING("Classes of keys, for weighted filters"),
    OPTION(0, "classes", "FILE", OPT_TEXT, classes,
           "FILE has lines of a class, a tab and a key, as 'everbloom weigh' prints them. A new "
           "filter keeps them as its hot list; all other keys are of class 1, and test needs no "
           "options. hot= in --filter is the number of lines in FILE unless given."),
    CLASS_OPTIONS,
    STATS_OPTIONS,
    QUIET,
    END};

static const cli_option test_options[] = {
    KEY_OPTIONS_TEST,
    HEADING("What is asked"),
    OPTION(0, "key", "KEY", OPT_TEXTS, keys,
           "Ask about KEY, as if it were a line; no lines are read. May be given several times."),
    HEADING("What is printed"),
    FLAG(0, "absent", absent, "Print the lines whose keys the snapshot does not know."),
    FLAG(0, "mark", mark,
         "Print every line, with 0 (absent) or 1 (known) and a delimiter in front."),
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write to FILE, which appears whole at the end or not at all."),
    HEADING("Classes of keys, for weighted filters"),
    CLASS_OPTIONS,
    HEADING("Reports"),
    QUIET,
    END};

static const cli_option weigh_options[] = {
    KEY_OPTIONS,
    HEADING("The filter to be"),
    OPTION('m', "memory", "SIZE", OPT_WORD, memory,
           "Its memory, hot list included, such as 500K, 64M or 2G. " DEFAULT_MEMORY
           " unless given."),
    OPTION(0, "members", "FILE", OPT_TEXT, members, "The keys that shall be in it, one a line."),
    OPTION(0, "distinct", "COUNT", OPT_COUNT, distinct,
           "Without --members, how many there will be; one for 10 bits of memory unless given."),
    OPTION(0, "hot", "COUNT", OPT_COUNT, hot,
           "At most so many keys in the hot list; as many as pay for their memory unless given."),
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed,
           "Its seed; drawn at random unless given. Equal seed, equal input: equal answers."),
    OPTION(0, "save", "FILE", OPT_TEXT, save,
           "Build the filter of the members and write it to FILE; nothing is printed then."),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."),
    HEADING("Reports"),
    FLAG(0, "json", json, "The report as one JSON object, on standard error as well."),
    FLAG('q', "quiet", quiet, "No report."),
    END};

static const cli_option info_options[] = {
    FLAG(0, "json", json, "One JSON object on one line for each snapshot."), END};

static const cli_option check_options[] = {FLAG('q', "quiet", quiet, "Say nothing of whole files."),
                                           END};

static const cli_option merge_options[] = {
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write the merged snapshot to FILE, which may be one of the inputs; to standard output "
           "unless given."),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."), END};

static const cli_option freeze_options[] = {
    CHOICE(
        "code", "CODE", "line|elias|steps", code,
        "How counters are written: line (fast to ask), elias (shorter for large counts) or steps "
        "(shorter where most counters are 0 or 1). line unless given."),
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write the frozen snapshot to FILE, which may be the input; to standard output unless "
           "given."),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."), END};

static const cli_option thaw_options[] = {
    OPTION(0, "store", "STORE", OPT_WORD, store,
           "How counters are laid out: one of the store= of the filter's kind; as before the "
           "freezing unless given."),
    OPTION(0, "counter-bits", "NUMBER", OPT_REAL, counter_bits,
           "Memory for each counter, in bits; as before, or what is usual for --store, unless "
           "given."),
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write the snapshot to FILE, which may be the input; to standard output unless given."),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."), END};

static const cli_option diff_options[] = {
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write the delta to FILE; to standard output unless given."),
    FLAG(0, "force", force, "Write a delta even to a terminal."), END};

static const cli_option patch_options[] = {
    OPTION(
        'o', "output", "FILE", OPT_TEXT, output,
        "Write the snapshot to FILE, which may be the old one; to standard output unless given."),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."), END};

static const cli_option kinds_options[] = {
    FLAG(0, "json", json, "One JSON array, with the options of each kind."), END};

static const cli_option copy_options[] = {
    FLAG(0, "force", force, "Replace the file or the filter that is there."), END};
static const cli_example copy_examples[] = {
    {"everbloom copy seen.eb redis://localhost/seen",
     "Give a server what the command has learned."},
    {"everbloom copy redis://localhost:6379/seen seen.eb", "And back, byte by byte."},
    {0}};

static const cli_example dedup_examples[] = {
    {"everbloom dedup access.log > unique.log", "Drop repeated lines, in order, in 64 MiB."},
    {"everbloom dedup -m 1G --csv -f 3 --stats orders.csv", "One line for each value of column 3."},
    {"tail -F app.log | everbloom dedup --state seen.eb", "Go on tomorrow where today ended."},
    {"everbloom dedup --window 10m --time-field 1 -f 2 alerts.tsv",
     "Each alert at most once in ten minutes."},
    {"everbloom dedup --redis redis://localhost/seen access.log",
     "Share what was seen with other machines."},
    {"find . -print0 | everbloom dedup -0 --mark", "Mark repeats, with names of any bytes."},
    {NULL, NULL}};

static const cli_example add_examples[] = {
    {"everbloom add --filter bloom:distinct=1e6,fpr=1e-4 -o bad.eb bad-hosts.txt",
     "A filter of a list of keys."},
    {"everbloom add --state seen.eb today.txt", "Add today's keys to a filter."},
    {"everbloom add --remove --state window.eb yesterday.txt", "Take yesterday's keys out again."},
    {"everbloom add --filter weighted:class_bits=5:9 --class-rules rules -o p.eb in",
     "More bits for the keys that a pattern in rules gives class 2."},
    {NULL, NULL}};

static const cli_example test_examples[] = {
    {"everbloom test bad.eb hosts.txt", "Print the hosts that are (probably) on the list."},
    {"everbloom test bad.eb --key \"$host\" > /dev/null && echo known",
     "Ask about one key in a script."},
    {NULL, NULL}};

static const cli_example weigh_examples[] = {
    {"everbloom weigh -m 1M --members members.txt --save filter.eb queries.log",
     "Build a weighted filter and measure it against a plain one."},
    {"everbloom weigh -m 1M --distinct 1e6 queries.log > classes",
     "A hot list for 'everbloom add --classes', and what --filter to give it."},
    {NULL, NULL}};

static const cli_example info_examples[] = {{"everbloom info --json seen.eb", "For a script."},
                                            {NULL, NULL}};
static const cli_example check_examples[] = {
    {"everbloom check -q backup/*.eb", "Are the copies whole?"}, {NULL, NULL}};
static const cli_example merge_examples[] = {
    {"everbloom merge -o week.eb mon.eb tue.eb wed.eb", "One filter of three streams."},
    {NULL, NULL}};
static const cli_example freeze_examples[] = {
    {"everbloom freeze counts.eb | ssh peer 'cat > counts.eb'", "Send counts in the fewest bytes."},
    {NULL, NULL}};
static const cli_example thaw_examples[] = {
    {"everbloom thaw -o counts.eb counts.eb", "Go on adding to a filter that was frozen."},
    {NULL, NULL}};
static const cli_example diff_examples[] = {
    {"everbloom diff sent.eb now.eb | ssh peer everbloom patch -o cache.eb cache.eb",
     "Bring the copy on another machine up to date."},
    {NULL, NULL}};
static const cli_example patch_examples[] = {
    {"everbloom patch -o cache.eb cache.eb delta", "Bring a copy up to date, in one step."},
    {NULL, NULL}};
static const cli_example kinds_examples[] = {{"everbloom kinds stable", "The options of a kind."},
                                             {NULL, NULL}};

enum { MANY = 1 << 30 };

const cli_command cli_commands[] = {
    {"dedup", "[FILE]...", "print each line that was not seen before",
     "Reads lines from the FILEs, or from standard input if there is none or it is -, and prints "
     "each line that was not seen before, in input order, in one pass and in fixed memory.\n\n"
     "The price of fixed memory is a small error. A new line may be taken for a repeat and left "
     "out (false positive, 1.2 in a million by default), and a repeat that comes very late may be "
     "printed again (false negative), since old keys make room for new ones. --stats says how "
     "likely both are now; 'everbloom predict' says it beforehand.\n\n"
     "A line is held in memory as a whole, however long it is. A last line without an end gets "
     "one. On SIGINT or SIGTERM the lines read so far are "
     "finished and the state is saved; the status is then 130 or 143.",
     dedup_options, dedup_examples, "if the window of --window was not kept for all lines", 0, MANY,
     run_dedup, dedup_filter},
    {"add", "[FILE]...", "make or update a snapshot of the keys in lines",
     "Adds the key of each line to a filter and saves the filter as a snapshot: a new one with -o, "
     "or with --state one that goes on from what it held.\n\n"
     "A weighted filter gives each class of keys its own number of bits. Classes come from a hot "
     "list in the filter (--classes), from the line (--class-field) or from rules about keys "
     "(--class-rules).\n\n"
     "--remove takes keys out again, of filters of the kinds that can do that ('everbloom kinds'). "
     "Taking out what was never added is not always noticed, and makes the counts of other keys "
     "too low.",
     add_options, add_examples, NULL, 0, MANY, run_add, add_filter},
    {"test", "SNAPSHOT [FILE]...", "print the lines whose keys a snapshot knows",
     "Prints each line of the FILEs, or of standard input, whose key is (probably) in the "
     "SNAPSHOT, which is not changed; or, with --key, each KEY that is.\n\n"
     "A weighted filter whose classes came with the lines is asked with the fewest bits of all "
     "classes unless --class-field or --class-rules say what class a key has.",
     test_options, test_examples, "if no line is selected", 1, MANY, run_test, NULL},
    {"count", "[FILE]...", "say how often keys came", count_text, count_options, count_examples,
     "if counters are full", 0, MANY, run_count, count_filter},
    {"distinct", "[FILE]...", "estimate how many different keys there are", distinct_text,
     distinct_options, distinct_examples, NULL, 0, MANY, run_distinct, NULL},
    {"top", "[FILE]...", "print the keys that occur most often", top_text, top_options,
     top_examples, "if some answer may lack keys, or counters are full", 0, MANY, run_top,
     top_filter},
    {"range", "[FILE]...", "say how many numbers or times lie in a range", range_text,
     range_options, range_examples, "if counters are full", 0, MANY, run_range, range_filter},
    {"sum", "[FILE]...", "add up the counts or values of a list of keys", sum_text, sum_options,
     sum_examples, "if counters are full", 0, MANY, run_sum, sum_filter},
    {"join", "R [S]", "say which keys two files share, and in how many pairs", join_text,
     join_options, join_examples, "if counters are full", 1, 2, run_join, NULL},
    {"corpus", "[FILE|FOLDER]...", "drop or take out repeats in collections of text", corpus_text,
     corpus_options, corpus_examples, NULL, 0, MANY, run_corpus, NULL},
    {"weigh", "[SAMPLE]...", "learn from a query log which keys deserve more bits",
     "Reads a sample of a query log, one key a line, counts the queries for each key, and prints a "
     "hot list: a class, a tab and a key on each line, hottest first. Classes are powers of two of "
     "the frequency, at most 8; class 1 is all keys that are not listed. A listed key takes 43 "
     "bits of "
     "the filter's memory; as many are listed as make the expected false positive rate least. A "
     "report on standard error says what filter to make and what rates to expect.\n\n"
     "With --members, the keys that are asked for and are no members are listed, the weighted "
     "filter is built, and its rate is measured and compared with that of a plain filter of the "
     "same size: the last quarter of the sample is kept for this, and nothing is learnt from it. "
     "--save writes the filter; 'everbloom test' then needs no classes. Members are never missed, "
     "whatever the queries are.",
     weigh_options, weigh_examples, NULL, 0, MANY, run_weigh, NULL},
    {"info", "SNAPSHOT...", "say what a snapshot holds",
     "Prints the filter's spec, the keys it was given, its size, fill and false positive rate; of "
     "filters that count also the memory for each counter, and how many counters hold numbers of "
     "so many bits.",
     info_options, info_examples, NULL, 1, MANY, run_info, NULL},
    {"check", "SNAPSHOT...", "verify that snapshots are whole",
     "Reads every byte of each SNAPSHOT, compares its checksums and looks for states that the "
     "filter cannot be in.",
     check_options, check_examples, "if some snapshot is damaged, or is none", 1, MANY, run_check,
     NULL},
    {"merge", "SNAPSHOT...", "make one filter of several",
     "Writes a filter that knows the keys of all SNAPSHOTs. They must have been made with the "
     "same options, and be of a kind that can be merged ('everbloom kinds' says which). Frozen "
     "ones count as what they were.",
     merge_options, merge_examples, NULL, 1, MANY, run_merge, NULL},
    {"copy", "FROM TO", "copy a filter between a file and a Redis or Valkey server",
     "One of FROM and TO is a snapshot's file, the other redis://host:port/name, on a server that "
     "has loaded our module. The snapshot has the same bytes on both sides.",
     copy_options, copy_examples, NULL, 2, 2, run_copy, NULL},
    {"freeze", "SNAPSHOT", "make a tight, read-only snapshot of a filter that counts",
     "Writes the same filter (spectral or spectral_rm) in the fewest bytes. It answers as before, "
     "but takes no more keys; 'everbloom thaw' makes a filter of it that does.",
     freeze_options, freeze_examples, NULL, 1, 1, run_freeze, NULL},
    {"thaw", "SNAPSHOT", "make a filter that takes keys of a frozen one",
     "Writes the filter that the frozen SNAPSHOT was made of. It gives the same answers.",
     thaw_options, thaw_examples, NULL, 1, 1, run_thaw, NULL},
    {"diff", "OLD NEW", "write what has changed between two snapshots",
     "Writes a delta: the bytes of the snapshot NEW that are not in the snapshot OLD. Whoever has "
     "OLD makes NEW of it with 'everbloom patch'. A key that was added changes a few bytes, and "
     "each "
     "of them takes about four in the delta.",
     diff_options, diff_examples, NULL, 2, 2, run_diff, NULL},
    {"patch", "OLD [DELTA]", "make the newer snapshot from the older one and a delta",
     "Writes the snapshot that 'everbloom diff' was given as NEW, byte by byte. The DELTA, or "
     "standard input, must have been made for this OLD; checksums of both snapshots are compared, "
     "and "
     "nothing is written if anything is amiss.",
     patch_options, patch_examples, NULL, 1, 2, run_patch, NULL},
    {"plan", "", "say which filter to use, and what to expect of it", plan_text, plan_options,
     plan_examples, NULL, 0, 0, run_plan, NULL},
    {"try", "[FILE]...", "run the best few filters over your own lines", try_text, try_options,
     try_examples, NULL, 0, MANY, run_try, NULL},
    {"predict", "SPEC...", "say what error rates a filter will have",
     "Prints what mathematics says of a filter after a stream: the memory that it takes, the rates "
     "of false positives and false negatives for the next key, their mean over the stream, and "
     "when they settle; or, with --plot and --svg, draws them.",
     predict_options, predict_examples, NULL, 1, PREDICT_SPECS, run_predict, NULL},
    {"kinds", "[KIND]", "list the kinds of filters and their options",
     "Without KIND, a table of the kinds there are; with KIND, what it is and the options of its "
     "spec.",
     kinds_options, kinds_examples, NULL, 0, 1, run_kinds, NULL},
    {0}};

const char cli_summary[] = "small summaries of endless streams";
const char cli_text[] =
    "everbloom keeps filters of the Bloom family: small summaries that answer whether a key was "
    "seen before, or how often. Some of them forget old keys, so that they can run for ever in "
    "fixed memory.\n\n"
    "A filter is named by a spec: kind:key=value,... such as stable:memory=64M,fpr=0.001. Sizes "
    "take K, M and G (powers of 1024), counts take 1e9 or 10M (powers of ten). A snapshot is a "
    "filter in a file.\n\n"
    "Results go to standard output, everything else to standard error.";

const cli_command *cli_find(const char *name) {
    for (const cli_command *c = cli_commands; c->name; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

bool cli_has_option(const cli_command *c, const char *name) {
    for (const cli_option *o = c->options; o->name || o->help; o++)
        if (o->name && strcmp(o->name, name) == 0) return true;
    return false;
}
