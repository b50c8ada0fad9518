/* filterfile.h - filters made from the command line, and filters in files. */
#ifndef EVERBLOOM_FILTERFILE_H
#define EVERBLOOM_FILTERFILE_H
#include "cli.h"
#include "statefile.h"

/* The filter that the options ask for: from --state if that file exists, else a new one. */
eb_filter *filter_open(const cli_command *c, const settings *set);
/* The spec of a new filter that the options ask for, with a seed; 2 * EB_SPEC_MAX bytes. */
void filter_spec(const cli_command *c, const settings *set, char *spec);
/* The same, with the seed of a filter whose keys it must recognise. */
void filter_spec_like(const cli_command *c, const settings *set, const eb_filter *f, char *spec);
/* What dedup uses if --order was not given and the first lines look random. */
extern const char order_seen_shuffled[];
/* The same, of numbers: for range. */
eb_filter *filter_open_numbers(const cli_command *c, const settings *set);
/* Takes key=value out of a spec that has it. */
void spec_drop(char *spec, const char *key);
/* Filters whose keys are numbers are not for commands that hash text. */
void refuse_numbers(const cli_command *c, const eb_filter *f);
/* What -m says. */
double size_in_bytes(const cli_command *c, const char *option, const char *text);
/* The same in the form that specs accept, which is not 64MB. */
const char *size_for_spec(const cli_command *c, const char *option, const char *text,
                          char number[32]);
/* Is it of this kind? */
bool filter_is(const eb_filter *f, const char *kind);
/* eb_stat of a filter; ends the program if that fails. */
eb_stats filter_stats(const eb_filter *f);
/* The canonical form of a spec. */
eb_status spec_resolve(const char *spec, char canonical[EB_SPEC_MAX], eb_error *err);
/* The hashes of lines and fields of lines. */
void hash_keys(const eb_filter *f, const eb_key *keys, size_t n, eb_hash *out);
void filter_counts(const eb_filter *f, const eb_hash *h, size_t n, double *count);
double filter_count(const eb_filter *f, eb_hash h);
uint32_t filter_classes(const eb_filter *f); /* 0: it has none */
bool filter_is_frozen(const eb_filter *f);
uint64_t filter_saturated(const eb_filter *f); /* counters without room; a walk over the cells */
uint64_t filter_option(const eb_filter *f, const char *key);
/* Writes a snapshot to path, whole or not at all.  "-": standard output. */
void filter_save(const eb_filter *f, const char *path);
/* The same.  Behind it, in a file, stands how keys were made, unless the note is "": */
void filter_save_note(const eb_filter *f, const char *note, const char *path);
/* as the options say, unless keys are whole lines. */
void filter_save_keys(const eb_filter *f, const settings *set, const char *path);
/* Refuses to write a snapshot, or `what`, to a terminal without --force. */
void refuse_terminal(const cli_command *c, const settings *set, const char *what);

/* A snapshot in a file, mapped and verified.  A file that cannot be read ends the program; one
 * that can but holds no whole snapshot is left to the caller. */
typedef struct snapshot {
    void *bytes;
    size_t length;
    size_t end; /* of the snapshot; behind it are the sections of a state, if anything */
    bool mapped, whole;
    sections behind; /* of a state */
    eb_filter *view;
} snapshot;
/* The bytes alone, whatever they are. */
void snapshot_read(snapshot *s, const char *path);
eb_status snapshot_open(snapshot *s, const char *path, eb_error *err);
/* The same of bytes in memory, which stay the caller's: free the view only. */
eb_status snapshot_of_bytes(snapshot *s, void *bytes, size_t length, eb_error *err);
void snapshot_open_or_fail(snapshot *s, const char *path);
/* The same, to ask about keys that the options make: not if the filter's were folded or trimmed
 * and these are not. */
void snapshot_open_to_ask(snapshot *s, const settings *set, const char *path);
void snapshot_close(snapshot *s);
/* A copy that can be changed. */
eb_filter *snapshot_load(const char *path);
#endif
