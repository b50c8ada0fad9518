/* options_plan.c - the options of the commands that choose a filter: plan, try, predict. */
#include "options.h"

const cli_option plan_options[] = {
    HEADING("The stream"),
    OPTION(0, "items", "COUNT", OPT_COUNT, items,
           "Lines in the stream, repeats included, such as 1e9 or 10M. (default: each key once)"),
    OPTION(0, "distinct", "COUNT", OPT_COUNT, distinct,
           "Distinct keys among them. (default: what fits is the answer)"),
    FLAG(0, "endless", endless, "The stream never ends: how far back it can remember is asked."),
    OPTION(0, "gap", "COUNT", OPT_COUNT, gap,
           "Repeats come at most COUNT distinct keys after the key itself."),
    OPTION(0, "window", "LENGTH", OPT_LENGTH, window,
           "Every repeat within LENGTH must be found: a number of lines such as 1e6, or a time "
           "such as 10m, with --rate."),
    OPTION(0, "rate", "COUNT", OPT_COUNT, rate, "Lines in a second."),
    OPTION(0, "zipf", "SKEW", OPT_REAL, zipf,
           "Skew of the keys' frequencies; 0: uniform. 'everbloom try' measures it."),
    CHOICE("order", "ORDER", "shuffled|recent", order,
           "Where repeats are: anywhere in the stream, or soon after the line itself. (default: "
           "not known, and the figures are for the worst of several orders)"),
    HEADING("What is wanted"),
    OPTION('m', "memory", "SIZE", OPT_WORD, memory,
           "At most so much memory, such as 500K, 64M or 2G. (default: the least that will do)"),
    OPTION(0, "max-fpr", "SHARE", OPT_SHARE, max_fpr,
           "At most this share of the new lines may be taken for repeats, such as 1e-6 or 0.1%. "
           "(default: as few as possible)"),
    CHOICE("fpr-is", "WHICH", "mean|end|worst", fpr_is,
           "What --max-fpr bounds: the mean over the stream, the rate at its end, or the mean over "
           "the stream whose order is worst. (default: mean if the order is told, else worst)"),
    OPTION(0, "max-fnr", "SHARE", OPT_SHARE, max_fnr,
           "At most this share of the repeats may be missed. (default: none with --distinct and "
           "no -m; 1% with --gap and no -m; else as few as possible)"),
    OPTION(0, "need", "WHAT", OPT_TEXTS, needs,
           "What the filter must be able to do: count, remove, merge, importance, time or growth. "
           "May be given several times."),
    FLAG(0, "all-kinds", all_kinds, "Ask the kinds that are kept as published, too."),
    HEADING("What is printed"),
    FLAG(0, "explain", explain, "Say why the others lost, and which kinds make no offer."),
    FLAG(0, "json", json, "One JSON object."),
    END};

const cli_example plan_examples[] = {
    {"everbloom plan --distinct 1e9 --max-fpr 0.1%",
     "How much memory for a billion keys at 0.1 %?"},
    {"everbloom plan -m 64M --items 1e9 --distinct 3e8 --max-fpr 1e-4",
     "Drop repeats in 64 MiB: what is lost, and what passes?"},
    {"everbloom plan -m 64M --max-fpr 1e-6 --endless", "How far back can 64 MiB remember?"},
    {"everbloom plan --window 10m --rate 5000 --max-fpr 1e-5",
     "Memory for the lines of the last ten minutes."},
    {NULL, NULL}};

const char plan_text[] =
    "Say what you know of the stream and what you want; what you leave out is the answer: the "
    "memory, the rates, the number of keys, or how far back repeats are found. Prints one sentence "
    "with the filter to use and what to expect, in lines; the command to run; and a table of every "
    "kind that can do it.\n\n"
    "Unless --order or --gap tell where repeats are, the figures are for the worst of several "
    "orders. If no filter can do it, the message says what is possible, and how much memory no "
    "structure could do without.";

const cli_option try_options[] = {
    KEY_OPTIONS,
    HEADING("The filters"),
    OPTION('m', "memory", "SIZE", OPT_WORD, memory,
           "Their memory, such as 500K, 64M or 2G. (default: " DEFAULT_MEMORY ")"),
    OPTION(0, "max-fpr", "SHARE", OPT_SHARE, max_fpr,
           "At most this share of the new lines may be taken for repeats. (default: " TEXT_OF(
               DEFAULT_MAX_DROP) ")"),
    OPTION(0, "max-fnr", "SHARE", OPT_SHARE, max_fnr,
           "At most this share of the repeats may be missed. (default: as few as possible)"),
    OPTION(0, "sample", "COUNT", OPT_COUNT, sample,
           "Look at the first COUNT lines, which takes up to 60 bytes for each. (default: 2e6)"),
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed, "Of the hashes. (default: 1)"),
    HEADING("Reports"),
    FLAG(0, "json", json, "One JSON object."),
    QUIET,
    END};

const cli_example try_examples[] = {
    {"everbloom try -m 1M --max-fpr 0.1% access.log",
     "Which filter of 1 MiB finds most repeats in this file?"},
    {"everbloom try --csv -f 3 -m 64K orders.csv", "The same for the values of column 3."},
    {NULL, NULL}};

const char try_text[] =
    "Reads the first lines of the FILEs, or of standard input, exactly, says what they look like "
    "(skew, and how near repeats are), and runs the best few filters over them: new lines lost and "
    "repeats that pass, measured beside predicted, and time a line.\n\n"
    "The numbers can be given to 'everbloom plan', for a stream that is longer than the sample.";

const cli_option predict_options[] = {
    OPTION(0, "items", "COUNT", OPT_COUNT, items,
           "Keys in the stream so far, repeats included, such as 1e9 or 10M; 0 or not given: an "
           "endless stream."),
    OPTION(0, "distinct", "COUNT", OPT_COUNT, distinct,
           "Distinct keys among them; all of them unless given."),
    OPTION(0, "gap", "COUNT", OPT_COUNT, gap,
           "Distinct keys between a key and its repeat; spread over the stream unless given."),
    OPTION(0, "zipf", "SKEW", OPT_REAL, zipf, "Skew of the keys' frequencies; 0: uniform."),
    HEADING("Curves"),
    FLAG(0, "plot", plot, "Draw the rates in the terminal; several SPECs in one plot."),
    OPTION(0, "svg", "FILE", OPT_TEXT, svg, "Draw them as a picture."),
    CHOICE("over", "WHAT", "stream|memory|gap", over,
           "What the curve runs over: the keys of the stream, the memory of the filter, or the gap "
           "between a key and its repeat. (default: stream)"),
    HEADING("Reports"),
    FLAG(0, "json", json, "One JSON object for each SPEC; with --over, the points of its curve."),
    END};

const cli_example predict_examples[] = {
    {"everbloom predict stable:memory=64M,fpr=0.001 --gap 1e6",
     "How often is a repeat missed that comes a million keys later?"},
    {"everbloom predict --plot --over memory --distinct 1e6 --items 1e7 bloom lru",
     "Both rates, by memory, of two filters."},
    {NULL, NULL}};
