/* options.h - rows of option tables that several commands share. */
#ifndef EVERBLOOM_OPTIONS_H
#define EVERBLOOM_OPTIONS_H
#include "cli.h"

#define OPTION(letter, name, value, type, member, help)                                            \
    { letter, name, value, type, false, offsetof(settings, member), help, NULL }
#define CHOICE(name, value, choices, member, help)                                                 \
    { 0, name, value, OPT_CHOICE, false, offsetof(settings, member), help, choices }
/* The same for members of the structure OWN, which a command defines for options of its own. */
#define OWN_OPTION(letter, name, value, type, member, help)                                        \
    { letter, name, value, type, true, offsetof(OWN, member), help, NULL }
#define OWN_CHOICE(name, value, choices, member, help)                                             \
    { 0, name, value, OPT_CHOICE, true, offsetof(OWN, member), help, choices }
#define OWN_FLAG(letter, name, member, help) OWN_OPTION(letter, name, NULL, OPT_FLAG, member, help)
#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number
#define FLAG(letter, name, member, help) OPTION(letter, name, NULL, OPT_FLAG, member, help)
#define HEADING(text)                                                                              \
    { 0, NULL, NULL, OPT_FLAG, false, 0, text, NULL }
#define END                                                                                        \
    { 0, NULL, NULL, OPT_FLAG, false, 0, NULL, NULL }

#define ON_BAD_OPTION(choices, what)                                                               \
    CHOICE("on-bad", "WHAT", choices, on_bad,                                                      \
           "What to do with a line that lacks a field, or whose time, weight or JSON cannot be "   \
           "read: " what)
/* Of commands that print lines, and of the others. */
#define KEY_OPTIONS_PASS                                                                           \
    KEY_OPTIONS_ALL, HEADER_PASSED,                                                                \
        ON_BAD_OPTION("skip|pass|fail", "skip it, pass it on as it is, or fail (default: pass).")
#define KEY_OPTIONS_TEST                                                                           \
    KEY_OPTIONS_ALL, HEADER_PASSED,                                                                \
        ON_BAD_OPTION("skip|pass|fail", "skip it, pass it on as it is, or fail (default: skip).")
#define KEY_OPTIONS                                                                                \
    KEY_OPTIONS_ALL, HEADER_LEFT_OUT,                                                              \
        ON_BAD_OPTION("skip|fail", "skip it or fail (default: skip, and say how many).")
#define HEADER_LEFT_OUT                                                                            \
    FLAG(0, "header", header,                                                                      \
         "The first line of each FILE is a header with the names of the columns, not data.")
#define HEADER_PASSED                                                                              \
    FLAG(0, "header", header,                                                                      \
         "The first line of each FILE is a header with the names of the columns, not data. The "   \
         "header of the first FILE is printed, with 'seen' in front if there is --mark.")
#define KEY_OPTIONS_ALL                                                                            \
    HEADING("The key of a line"),                                                                  \
        OPTION('f', "field", "LIST", OPT_FIELDS, field,                                            \
               "The key is a field of the line: its number (3), its number from the end (-1), or " \
               "the name of its column (customer_id). Several fields make one key: 1,3 or 2-4 or " \
               "5- or user,page. (default: the whole line)"),                                      \
        OPTION('d', "delimiter", "BYTE", OPT_BYTE, delimiter,                                      \
               "Fields end at BYTE: a character, or \\t, \\\\, \\0; or 'blank' for runs of "       \
               "blanks. (default: a tab, a comma with --csv)"),                                    \
        FLAG(0, "csv", csv,                                                                        \
             "Fields are CSV (RFC 4180): they may be in quotes, with commas, quotes and line "     \
             "ends inside. The key is compared without quotes. If LIST has names, the first line " \
             "of each FILE holds the names of the columns."),                                      \
        FLAG(0, "tsv", tsv, "Fields end at tabs; names in LIST as with --csv."),                   \
        FLAG(0, "jsonl", jsonl,                                                                    \
             "Each line is a JSON object, and LIST names values in it: user.id,items[0].sku. "     \
             "Strings are compared by their text, numbers as they are written."),                  \
        OPTION(0, "regex", "PATTERN", OPT_TEXT, regex,                                             \
               "The fields are the groups of a Perl-like pattern, 'user=(\\w+)'; the key is all "  \
               "of them, or those in LIST, by number or name."),                                   \
        FLAG('i', "ignore-case", ignore_case, "A and a are the same letter (ASCII only)."),        \
        FLAG(0, "trim", trim, "Ignore blanks at both ends of a field."),                           \
        FLAG('0', "null", nul,                                                                     \
             "Lines end with NUL instead of a newline, in the input and the output."),             \
    {                                                                                              \
        'z', "compressed", "FORMAT", OPT_CHOICE, false, offsetof(settings, packed),                \
            "The FILEs are gzip, zstd, xz, bzip2 or lz4 data, or none: plain. (default: auto, by " \
            "their first bytes)",                                                                  \
            "auto|none|gzip|zstd|xz|bzip2|lz4"                                                     \
    }

#define FILTER_OPTIONS(which)                                                                      \
    HEADING("The filter"),                                                                         \
        OPTION('m', "memory", "SIZE", OPT_WORD, memory,                                            \
               "Memory of a new filter, such as 500K, 64M or 2G. (default: " DEFAULT_MEMORY        \
               ", or what --filter says)"),                                                        \
        OPTION(0, "filter", "SPEC", OPT_TEXT, filter,                                              \
               "The filter to make: kind:key=value,... as listed by 'everbloom kinds'. "           \
               "(default: " which ")"),                                                            \
        OPTION(0, "family", "NAME", OPT_TEXT, family,                                              \
               "Filters of one family with the same options can be merged. (default: one family "  \
               "for all filters of kinds that can be merged)"),                                    \
        OPTION(0, "seed", "NUMBER", OPT_WORD, seed,                                                \
               "Seed of a new filter, or 'random': then nobody can choose keys that collide. The " \
               "same seed and input give the same answers. (default: the family's; random for "    \
               "kinds that cannot be merged)")

/* What --order means, in dedup and plan. */
#define REPEATS_OCCUR                                                                              \
    "Where repeats occur: anywhere in the stream (shuffled), soon after the line itself (recent)," \
    " or only after all other keys (passes: the same list over and over). "

#define ON_FULL_OPTION                                                                             \
    CHOICE(                                                                                        \
        "on-full", "WHAT", "warn|grow|fail", on_full,                                              \
        "What to do when a bloom filter holds more keys than it was made for: warn, grow (take "   \
        "more memory and keep the false-positive rate) or fail (save the filter, exit status 2). " \
        "(default: warn)")

#define EVERY_OPTION                                                                               \
    OPTION(0, "save-every", "TIME", OPT_TIME, every_seconds,                                       \
           "Save the state every TIME, if there was input. Units are ms, s, m, h and d. "          \
           "(default: " TEXT_OF(DEFAULT_EVERY_SECONDS) "s)")
#define STATE_OPTIONS                                                                              \
    OPTION(0, "state", "FILE", OPT_TEXT, state,                                                    \
           "Continue with the filter in FILE, if FILE exists, and save it there regularly and at " \
           "the end. FILE is complete at every moment. It is an error if -m, --filter or --seed "  \
           "describe a filter other than the one in FILE, or if another run is using it "          \
           "(FILE.lock)."),                                                                        \
        EVERY_OPTION,                                                                              \
        FLAG(0, "new-keys", new_keys,                                                              \
             "Use the state even though its keys were made with different options (-f, --csv, -i " \
             "...). Without --new-keys that is an error.")

#define REDIS_OPTION                                                                               \
    OPTION(0, "redis", "URL", OPT_TEXT, redis,                                                     \
           "Keep the filter on a Redis or Valkey server that has the everbloom module, at "        \
           "redis://host:port/name. It is created if it does not exist. In a cluster it is "       \
           "spread over all nodes (?shards=16). Several processes may write at once; if a node "   \
           "fails, the command waits for it. See docs/REDIS.md.")

#define IMPORTANCE_OPTIONS                                                                         \
    HEADING("Importance"),                                                                         \
        OPTION(                                                                                    \
            0, "importance-field", "FIELD", OPT_FIELD, importance_field,                           \
            "This field of a line says how important its key is: important keys are remembered "   \
            "longer. It changes the default of --filter to " DEFAULT_IMPORTANCE                    \
            ",fpr=" TEXT_OF(DEFAULT_IMPORTANCE_DROP) "."),                                         \
        OPTION(0, "importance-range", "A:B", OPT_TEXT, importance_range,                           \
               "Importances are whole numbers from A to B. (default: 1:100)")

#define CLASS_OPTIONS                                                                              \
    OPTION(0, "class-field", "FIELD", OPT_FIELD, class_field,                                      \
           "This field of a line is the class of its key, 1 or more. A key must have the same "    \
           "class every time it occurs, in add and in test."),                                     \
        OPTION(0, "class-rules", "FILE", OPT_TEXT, class_rules,                                    \
               "FILE has lines of a class, a tab and a shell pattern, such as '2<TAB>*.jpg'. The " \
               "class of a key is that of the first pattern that matches it, or 1 if none does. "  \
               "Give add and test the same rules.")

#define WEIGHT_OPTION                                                                              \
    OPTION(0, "weight-field", "FIELD", OPT_FIELD, weight_field,                                    \
           "Each line counts as many times as this field says, a whole number. (default: once)")

/* While it runs. */
#define WATCH_OPTIONS                                                                              \
    OPTION(0, "stats-every", "TIME", OPT_TIME, stats_every,                                        \
           "Print statistics every TIME while it runs, as --stats does at the end. SIGUSR1 "       \
           "prints them once."),                                                                   \
        OPTION(0, "metrics", "FILE", OPT_TEXT, metrics,                                            \
               "Write counters and gauges to FILE in the text format of Prometheus, every 10 s "   \
               "(or --stats-every) and at the end. FILE is replaced in one step.")

#define STATS_OPTIONS                                                                              \
    HEADING("Reports"),                                                                            \
        FLAG(0, "stats", stats,                                                                    \
             "At the end, print statistics on standard error: lines, unique, duplicates, bytes, "  \
             "seconds, rate, the fill of the filter, and its current false-positive and "          \
             "false-negative rates."),                                                             \
        FLAG(0, "json", json, "Print the statistics as one JSON object, also on standard error."), \
        WATCH_OPTIONS

#define AS_OPTIONS                                                                                 \
    CHOICE("as", "FORMAT", "tsv|csv|json|table", as,                                               \
           "Format of the answers: tsv (a key that contains a newline is quoted), csv, json (one " \
           "object per line) or table (aligned columns). (default: table on a "                    \
           "terminal, else tsv)"),                                                                 \
        FLAG(0, "json", json, "The same as --as json."),                                           \
        FLAG(0, "names", names,                                                                    \
             "Print a line with the names of the columns first, also with tsv.")

#define THREADS_OPTION                                                                             \
    OPTION(0, "threads", "N", OPT_THREADS, threads,                                                \
           "Find and hash keys with N threads, at most " TEXT_OF(                                  \
               THREADS_MAX) ". The output is the same for every N. (default: 1)")
#define QUIET THREADS_OPTION, FLAG('q', "quiet", quiet, "No progress line.")

/* Of commands that answer questions when a stream has ended. */
#define SNAPSHOT_OPTION                                                                            \
    OPTION(0, "snapshot", "FILE", OPT_TEXT, snapshot,                                              \
           "Answer from the filter in FILE, without reading any lines.")
#define KEEP_OPTIONS                                                                               \
    HEADING("Kept for later"),                                                                     \
        OPTION(0, "save", "FILE", OPT_TEXT, save, "Write the snapshot of a new filter to FILE."),  \
        STATE_OPTIONS, FLAG(0, "force", force, "Write a snapshot even to a terminal.")
#define RUN_REPORTS                                                                                \
    HEADING("Reports"),                                                                            \
        FLAG(0, "stats", stats,                                                                    \
             "At the end, print on standard error: lines, bytes, seconds, rate, fill of the "      \
             "filter. With --json, as one JSON object."),                                          \
        WATCH_OPTIONS, QUIET

#define HALF_LIFE_OPTION                                                                           \
    OPTION(0, "half-life", "TIME", OPT_TIME, half_life,                                            \
           "The time in which a count fades to half, such as 10m or 7d. (default: 10m)")

/* What a line counts by its age; more: further functions and what they are; powers: those that take
 * --power; lengths: what else a window may be. */
#define DECAY_OPTIONS(more, what, powers, lengths)                                                 \
    CHOICE("decay", "FUNCTION", "exponential|window|chordal|polygonal|poly" more, decay,           \
           "How much a line counts, by its age. exponential: 1/2 after one --half-life, 1/4 "      \
           "after two. With the others, lines older than --window count nothing; younger lines "   \
           "count, with window: 1; chordal: a straight line from 1 to 0; polygonal: straight "     \
           "lines through --heights; " what                                                        \
           " x is the age in epochs. (default: window with --window, else exponential)"),          \
        HALF_LIFE_OPTION,                                                                          \
        OPTION(0, "window", "LENGTH", OPT_LENGTH, window,                                          \
               "Lines are forgotten at this age: a time such as 90s, 10m, 12h or 7d" lengths "."), \
        OPTION(0, "epochs", "N", OPT_INDEX, epochs,                                                \
               "Divide the --window into N epochs. A counter takes 4 bytes for each epoch, and "   \
               "lines are forgotten up to one epoch late. At most 255, or 999999 with --decay "    \
               "poly, where old epochs share counters. "                                           \
               "(default: 27)"),                                                                   \
        OPTION(0, "power", "NUMBER", OPT_REAL, power,                                              \
               "The exponent of --decay " powers ", from 0.01 to 16. (default: 1)"),               \
        OPTION(0, "heights", "LIST", OPT_TEXT, heights,                                            \
               "For --decay polygonal: heights from 1 to 255 at equal steps of age. The first "    \
               "stands for 1; at the age --window the height is 0. (default: 100:50:20)")

/* late: what becomes of a line that is older than the line before; jumps: the default of
 * --max-jump. */
#define TIME_FIELD_OPTIONS(late, jumps)                                                            \
    OPTION(0, "time-field", "LIST", OPT_FIELDS, time_field,                                        \
           "This field of a line is its time: seconds, milliseconds, microseconds or "             \
           "nanoseconds since 1970; 2026-01-31T12:00:00Z, 2026-01-31 12:00:00,250 or 2026-01-31; " \
           "a web server's [31/Jan/2026:12:00:00 +0100]; or syslog's Jan 31 12:00:00, of the "     \
           "nearest year. UTC unless it names a zone. The time may span several fields, such as "  \
           "1-2 with -d ' '. A line that is older than the previous line " late                    \
           ". (default: the moment when the line is read)"),                                       \
        OPTION(0, "time-format", "FORMAT", OPT_TEXT, time_format,                                  \
               "The format of the times, as for strptime: '%d.%m.%Y %H:%M:%S %z'."),               \
        OPTION(0, "max-jump", "TIME", OPT_TIME, max_jump,                                          \
               "A line whose time is more than TIME ahead of the previous line is a bad line, "    \
               "unless three lines in a row agree. (default: a time is bad if it lies in the "     \
               "future by more than the window and by at least an hour" jumps ")")
#define TIME_FIELD_OPTION TIME_FIELD_OPTIONS("counts as of its own time", "")
#define TIME_FIELD_IN_PLACE                                                                        \
    TIME_FIELD_OPTIONS(                                                                            \
        "counts at its own place",                                                                 \
        "; so is a time that far ahead of the previous line, if the next line does not agree")

#define COUNT_FILTERS                                                                              \
    DEFAULT_COUNT ", or " DEFAULT_COUNT ":store=" DEFAULT_WEIGHTS " with --weight-field"
#endif
