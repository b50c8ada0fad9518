/* p003_replay.c - all filters on the lines of a text, at a few sizes.
 *
 * Sizes are in bits for each distinct line.  choosy knows how many there are;
 * choosy and lru are asked for the false positive rate that RLBSBF came out with. */
#include "paper_003.h"
#include <math.h>

typedef struct replay_text {
    double records, distinct;
} replay_text;

static replay_text replay_measure(const char *path) {
    lab_stream *s = lab_stream_text(path, false, UINT32_MAX, 0);
    const replay_text t = {(double)lab_stream_records(s), (double)lab_stream_ids(s)};
    lab_stream_free(s);
    return t;
}

static void replay_rows(const lab_options *o, lab_table *t, const replay_text *text,
                        double bits_per_line) {
    const double bits = bits_per_line * text->distinct;
    lab_subject s[P003_COLUMNS + 3];
    char spec[P003_SPEC];
    for (int k = 0; k < P003_COLUMNS; k++) {
        p003_spec(spec, k, 2, bits, o->seed);
        s[k] = lab_filter(p003_names[k], spec);
    }
    lab_run(lab_stream_text(o->file, false, UINT32_MAX, 0), s, P003_COLUMNS, NULL);
    const double fpr = fmin(0.4, fmax(1e-8, lab_rate_of(&s[P003_RLBSBF].rates, LAB_FPR)));
    p003_choosy_spec(spec, bits, text->distinct, text->distinct / text->records, fpr, o->seed);
    s[P003_COLUMNS] = lab_filter("choosy", spec);
    snprintf(spec, sizeof spec, "lru:memory=%.0f,fpr=%g", bits / 8, fpr);
    s[P003_COLUMNS + 1] = lab_filter("lru line", spec);
    snprintf(spec, sizeof spec, "lru:memory=%.0f,bucket=word,fpr=%g", bits / 8, fpr);
    s[P003_COLUMNS + 2] = lab_filter("lru word", spec);
    lab_run(lab_stream_text(o->file, false, UINT32_MAX, 0), s + P003_COLUMNS, 3, NULL);
    for (int k = 0; k < P003_COLUMNS + 3; k++)
        lab_table_row(
            t, "%.0f|%s|%.4f|%.4f|%.4f|%.4f", bits_per_line, s[k].name,
            100 * lab_rate_of(&s[k].rates, LAB_FPR), 100 * lab_error_of(&s[k].rates, LAB_FPR),
            100 * lab_rate_of(&s[k].rates, LAB_FNR), 100 * lab_error_of(&s[k].rates, LAB_FNR));
}

void p003_run_replay(lab_options *o) {
    static const double sizes[] = {2, 4, 8, 16};
    if (!o->file) lab_die("replay needs --file FILE");
    const replay_text text = replay_measure(o->file);
    if (text.records < 1) lab_die("%s has no lines", o->file);
    lab_say(o, "%.0f lines, %.0f of them distinct (%.1f %%).", text.records, text.distinct,
            100 * text.distinct / text.records);
    lab_table *t = lab_table_new("bits a distinct line|filter|FPR %|error|FNR %|error");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) replay_rows(o, t, &text, sizes[i]);
    lab_table_print(t, o);
}
