/* options_corpus.c - the options of corpus. */
#include "corpus/corpus.h"
#include "options.h"
#define OWN corpus_own

static const char corpus_text[] =
    "Reads collections of text (JSON lines or plain text, plain or compressed with gzip or zstd), "
    "finds what occurred before, and writes the rest as a tree of files with the same names under "
    "the folder of -o. A file appears when it is complete.\n\n"
    "A document is compared before its own units are added, so it never matches itself. The units "
    "of dropped documents are not added. The size of the filter is planned from a sample, as if "
    "all "
    "units were new, and the filter grows if there are more.";

static const cli_option corpus_options[] = {
    HEADING("Input"),
    OWN_OPTION(0, "files-from", "FILE", OPT_TEXT, files_from,
               "Read the names of more files from FILE, one a line."),
    OWN_OPTION(0, "text", "FIELD", OPT_TEXT, text,
               "The member of a JSON record that holds the text. (default: text)"),
    OWN_OPTION(0, "shard", "I/N", OPT_TEXT, shard,
               "Only the I-th of N parts of the input, whole files, of about the same size; for "
               "several machines. Give all of the input: the parts follow from it."),
    CHOICE("on-bad", "WHAT", "skip|pass|fail", on_bad,
           "What to do with a record that is not valid JSON or has no text: skip it, pass it on as "
           "it is, or fail. (default: pass, and say how many)"),
    HEADING("What is compared, and what happens"),
    OWN_OPTION(
        0, "unit", "UNIT", OPT_TEXTS, units,
        "document, paragraph (up to an empty line), line, ngram:N (N words, 13 if left out), or "
        "near (documents that share most runs of five words). Several may be given; each has "
        "its own filter. (default: document)"),
    OWN_OPTION(
        0, "normalise", "LIST", OPT_TEXT, normalise,
        "What does not count in comparisons: nfkc (forms of Unicode), case, space, punct; or "
        "none. (default: nfkc,case,space,punct)"),
    OWN_CHOICE(
        "action", "WHAT", "drop|remove|annotate|report", action,
        "drop documents whose share of seen units is at least --threshold; remove seen units "
        "from texts; annotate records with shares and spans; or only report. (default: drop)"),
    OWN_OPTION(
        0, "threshold", "SHARE", OPT_REAL, threshold,
        "Drop documents in which at least this share of the units was seen. (default: 0.8; 1 with "
        "--action remove)"),
    OWN_OPTION(0, "similarity", "SHARE", OPT_REAL, similarity,
               "For --unit near: how much two documents must share. (default: 0.8)"),
    OWN_OPTION(
        0, "against", "FILE", OPT_TEXTS, against,
        "Compare also with the units that --collect has saved in FILE, which does not change; "
        "several may be given. A document that has one of them is dropped, unless --action or "
        "--threshold says otherwise."),
    OWN_OPTION(0, "context", "N", OPT_INDEX, context,
               "With --against and --action remove: also remove N characters on both sides."),
    OWN_OPTION(0, "collect", "FILE", OPT_TEXT, collect,
               "Save the units of all documents in FILE, for --against; nothing else is written."),
    HEADING("Output and filter"),
    OPTION('o', "output", "FILE", OPT_TEXT, output, "Write the files under the folder FILE."),
    FLAG(0, "force", force,
         "Start again in a folder that is not empty, and replace files in it. Without --force, an "
         "interrupted run is continued."),
    OPTION(0, "save-every", "TIME", OPT_TIME, every_seconds,
           "How often to save the progress, from which a run that was killed can continue. At most "
           "a twentieth of the time is spent on it. (default: 30s)"),
    OWN_OPTION(0, "level", "N", OPT_INDEX, level,
               "Level of compression. (default: that of the format)"),
    OWN_OPTION(0, "threads", "N", OPT_THREADS, threads,
               "Use N threads, at most " TEXT_OF(
                   THREADS_MAX) ". The output is the same for every N. (default: 1)"),
    OPTION('m', "memory", "SIZE", OPT_WORD, memory,
           "The most memory for each filter, also when it grows. If not all units fit, the filter "
           "forgets the oldest ones, with a message. (default: what all units need)"),
    CHOICE(
        "on-full", "WHAT", "grow|forget|stop", on_full,
        "What to do, after a message, when there are more units than planned: grow the filter as "
        "far as memory allows; forget the oldest units, with a filter that can do so from the "
        "start; or stop (exit status 2). (default: grow)"),
    OPTION(0, "max-drop", "SHARE", OPT_SHARE, max_drop,
           "At most this share of the new units is taken for repeats. (default: 1e-6)"),
    OPTION(0, "seed", "NUMBER", OPT_WORD, seed, "Seed of the filters. (default: 0)"),
    OWN_OPTION(
        0, "report", "FILE", OPT_TEXT, report,
        "Write a report with folders, expected errors, the course of the run and the units that "
        "are repeated most: a page if FILE ends in .html, else JSON."),
    FLAG(0, "json", json, "The report as one JSON object, on standard error."),
    FLAG('q', "quiet", quiet, "No plan, report or progress line."),
    END};

static const cli_example corpus_examples[] = {
    {"everbloom corpus crawl/ -o unique/", "Each document once."},
    {"everbloom corpus crawl/ -o clean/ --unit line --action remove",
     "Remove lines that occurred before."},
    {"everbloom corpus crawl/ --unit ngram:13 --action report --threads 4",
     "How much of it is repeated?"},
    {"everbloom corpus --collect bench.eb --unit ngram:13 evals/*.jsonl",
     "Save the n-grams of test questions."},
    {"everbloom corpus in/ -o out/ --against bench.eb --action remove --context 200",
     "Remove the test questions, with 200 characters on both sides."},
    {NULL, NULL}};

const cli_command command_corpus = {.name = "corpus",
                                    .own = sizeof(OWN),
                                    .operands = "[FILE|FOLDER]...",
                                    .summary = "drop or take out repeats in collections of text",
                                    .text = corpus_text,
                                    .options = corpus_options,
                                    .examples = corpus_examples,
                                    .max_operands = CLI_MANY,
                                    .run = run_corpus};
