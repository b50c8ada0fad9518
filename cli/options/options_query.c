/* options_query.c - the options of range, sum and join: see options.c. */
#include "options.h"

const cli_option range_options[] = {
    KEY_OPTIONS,
    WEIGHT_OPTION,
    HEADING("What values there are"),
    CHOICE("values", "WHAT", "signed|unsigned|time|real", values,
           "signed or unsigned: whole numbers; time: seconds since 1970, or times such as "
           "2026-01-31T12:00:00+01:00, of which parts of a second are left out; real: any number, "
           "such as -0.25 or 1e9, of which six digits count. (default: signed)"),
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
    SNAPSHOT_OPTION,
    HEADING("What is printed"),
    AS_OPTIONS,
    FILTER_OPTIONS("dyadic"),
    KEEP_OPTIONS,
    RUN_REPORTS,
    END};

const cli_example range_examples[] = {
    {"everbloom range --csv -f 3 --min -50 --max 60 --from 0 --to 9 weather.csv",
     "How many readings are from 0 to 9?"},
    {"everbloom range --values time -f 1 --save times.eb events.tsv", "Keep the times of events."},
    {"everbloom range --snapshot times.eb --from 2026-01-01T00:00:00Z", "How many came this year?"},
    {"everbloom range --values real --quantile 0.5 --quantile 0.99 seconds.txt",
     "Median and tail."},
    {NULL, NULL}};

const char range_text[] =
    "Counts the numbers or times in the lines of the FILEs, or of standard input if there is none "
    "or it "
    "is -, in one pass and in fixed memory, and then says how many of them lie in a range, or "
    "which value is a quantile. The filter can be kept (--save, --state), merged, and asked later "
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

const cli_option sum_options[] = {
    KEY_OPTIONS,
    OPTION(0, "weight-field", "FIELD", OPT_FIELD, weight_field,
           "This field of a line is its value, such as 3, -1.5 or 19.99. Sums and averages of "
           "values are printed then, beside counts of lines. A line of value 0 counts as a line."),
    HEADING("What is asked"),
    OPTION(0, "key", "KEY", OPT_TEXTS, keys, "KEY is in the list. May be given several times."),
    OPTION(0, "queries", "FILE", OPT_TEXT, queries,
           "Each line of FILE is in the list; twice is once. - is standard input."),
    SNAPSHOT_OPTION,
    OPTION(0, "per", "FILE", OPT_TEXT, per,
           "With --snapshot, which holds sums of values: the filter in FILE holds counts of lines, "
           "and averages are printed too. Equal seeds."),
    HEADING("What is printed"),
    FLAG(0, "json", json, "One JSON object."),
    FILTER_OPTIONS("spectral:update=plain,span=0"),
    HEADING("Reports"),
    QUIET,
    END};

const cli_example sum_examples[] = {
    {"everbloom sum --csv -f 2 --queries vip.txt orders.csv", "Orders of a list of customers."},
    {"everbloom sum --csv -f 2 --weight-field 4 --queries vip.txt orders.csv",
     "What they spent, and on average."},
    {"everbloom sum --snapshot euros.eb --per orders.eb --queries vip.txt", "The same, later."},
    {NULL, NULL}};

const char sum_text[] =
    "Reads the lines of the FILEs, or of standard input if there is none or it is -, once, and "
    "prints how often the keys of a list occur together, what their values add up to "
    "(--weight-field), and the mean value. Only the list is held in memory, and all numbers are "
    "exact.\n\n"
    "With -m, --filter or --snapshot the answers come from a filter that counts all keys: whole "
    "numbers only, for a list that may be made later. Counts and sums are then right on average, "
    "with the standard error that is printed; what is printed as 'at most' is certain. With many "
    "small counts the first is nearer to the truth, with few large ones the second; the first may "
    "then even be above it, or below 0. The average lies between the two numbers that are printed, "
    "unless count or sum is off by more than two standard errors. Filters to be asked with "
    "--snapshot should have update=plain and span=0; others can only say 'at most'.";

const cli_option join_options[] = {
    KEY_OPTIONS,
    OPTION(0, "s-field", "LIST", OPT_FIELDS, s_field,
           "The key of a line of S, if it stands elsewhere than in R."),
    HEADING("What is asked"),
    OPTION(0, "having", "CONDITION", OPT_TEXT, having,
           "Only keys whose number of pairs is as said: >, >=, =, < or <= and a whole number, such "
           "as '>=100'. All keys that R and S share unless given."),
    FLAG(
        0, "estimate", estimate,
        "Read S once: a few answers may be too high, or should not be there. (default: exact, if S "
        "can be read again)"),
    FLAG(0, "verify", verify, "Fail if the answer cannot be exact, since S cannot be read again."),
    FLAG(0, "size", size,
         "Say only how many pairs there are in all, with a standard error and, where filters can "
         "give one, an "
         "upper bound."),
    CHOICE(
        "method", "WHAT", "product|sample", method,
        "With --size: product, from the counters of two filters, or sample, from samples of both "
        "files and the filters' counts. The one with the smaller expected error unless given."),
    FLAG(
        0, "snapshots", snapshots,
        "With --size: R and S are snapshots of spectral filters with equal specs, update=plain and "
        "span=0, not files of lines."),
    HEADING("Two sites"),
    FLAG(0, "ship", ship, "At S: write a filter of the keys of FILE, to be sent to R."),
    OPTION(0, "with", "SNAPSHOT", OPT_TEXT, with,
           "At R: answer from FILE and the filter that came from S."),
    FLAG(0, "candidates", candidates,
         "With --with: print the keys that may be answers, to be sent to S, not their counts."),
    OPTION(0, "exact", "KEYS", OPT_TEXT, exact,
           "At S: print how often each line of KEYS came in FILE, to be sent to R."),
    OPTION(0, "counts", "COUNTS", OPT_TEXT, counts,
           "At R: answer exactly, from FILE and the counts that came from S. Give the same "
           "--having as before."),
    HEADING("Memory"),
    OPTION(
        'm', "memory", "SIZE", OPT_WORD, memory,
        "Memory to count keys of R exactly; what does not fit goes to temporary files, in TMPDIR "
        "or /tmp. " DEFAULT_JOIN_MEMORY " unless given."),
    OPTION(0, "filter", "SPEC", OPT_TEXT, filter,
           "The filter of S: a kind that never counts too low. A spectral filter with 6 counters "
           "for each different key of S unless given."),
    OPTION(0, "distinct", "COUNT", OPT_COUNT, distinct,
           "S has about COUNT different keys. Found out by reading it once more unless given."),
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed,
           "Seed of the filter; drawn at random unless given. Equal seed, equal input: equal "
           "answers."),
    HEADING("Output"),
    OPTION('o', "output", "FILE", OPT_TEXT, output,
           "Write to FILE, which appears whole at the end or not at all."),
    FLAG(0, "force", force, "Write a snapshot even to a terminal."),
    FLAG(0, "stats", stats,
         "At the end, print on standard error: candidates, answers, and how many bytes were sent "
         "from site to site, or would have been, against a classic Bloomjoin and against sending "
         "the column of S."),
    AS_OPTIONS,
    QUIET,
    END};

const cli_example join_examples[] = {
    {"everbloom join --csv -f id --s-field customer people.csv orders.csv",
     "How many orders has each of them?"},
    {"everbloom join --csv -f 1 --s-field 2 --having '>=100' people.csv orders.csv",
     "Those with a hundred or more."},
    {"everbloom join --ship -f 2 orders | ssh r everbloom join --with - people",
     "The same at two sites, with one filter sent."},
    {"everbloom join --size -f 1 a.tsv b.tsv", "How large would the join be?"},
    {NULL, NULL}};

const char join_text[] =
    "Answers 'select a, count(*) from R, S where R.a = S.a group by a having count(*) ...': which "
    "keys do lines of R and of S share, and in how many pairs of lines? S is read into a small "
    "filter, which is all that R needs of it.\n\n"
    "An answer is a line with the number of pairs, a tab and the key; answers come in no order. "
    "They are exact if S can be read a second time. If not, or with --estimate, keys of R are "
    "counted exactly, and S's counts are never too low, but about 1 in 18 is too high, that of a "
    "key which is not in S as well, unless --filter names a larger filter. So every key that "
    "should "
    "be there is there, with a number that is no smaller than the truth, and some may be there "
    "that "
    "should not. With '=', '<' and '<=' all keys are then printed that may be answers, with the "
    "most pairs that they can have.\n\n"
    "At two sites: 'join --ship' at S writes the filter, 'join --with' at R answers. To be exact, "
    "'join --with --candidates' at R prints keys, 'join --exact' at S counts them, and 'join "
    "--counts' at R answers.";
