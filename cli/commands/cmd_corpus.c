/* cmd_corpus.c - everbloom corpus: repeats in collections of text, by units of the text. */
#include "corpus/corpus.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned corpus_normal(const corpus_run *run) {
    const char *const list = corpus_of(run->set)->normalise;
    unsigned normal = NORMAL_NFKC | NORMAL_CASE | NORMAL_SPACE | NORMAL_PUNCT;
    if (list && !normal_read(list, &normal))
        cli_misuse(run->command,
                   "--normalise must be none, or some of nfkc,case,space,punct, not \"%s\"", list);
    if (normal & NORMAL_NFKC && !normal_has_unicode())
        cli_fail("this everbloom was built without utf8proc: give --normalise case,space,punct, "
                 "which then knows ASCII only");
    return normal;
}

static void corpus_unit(corpus_run *run, const char *text, unsigned normal) {
    const size_t i = run->rules;
    unit_rule rule;
    if (i == CORPUS_RULES) cli_misuse(run->command, "at most 8 units");
    if (!unit_read(text, run->similarity, normal, &rule))
        cli_misuse(run->command,
                   "--unit must be document, paragraph, line, ngram:N or near, not \"%s\"", text);
    for (size_t j = 0; j < i; j++)
        if (unit_same(&rule, &run->rule[j]))
            cli_misuse(run->command, "--unit %s is given twice", text);
    run->form[i] = corpus_form(run, normal);
    run->rule[i] = rule;
    run->hasher[i] = run->hash;
    run->match[i].rule = i;
    run->match[i].own = true;
    snprintf(run->match[i].name, sizeof run->match[i].name, "%s", rule.name);
    run->rules = run->matchers = i + 1;
}

/* Without --unit: documents; with --against alone, nothing but what that asks. */
static void corpus_units(corpus_run *run) {
    const settings *const set = run->set;
    const unsigned normal = corpus_normal(run);
    run->similarity = corpus_of(set)->similarity > 0 ? corpus_of(set)->similarity : 0.8;
    if (run->similarity >= 1) cli_misuse(run->command, "--similarity must be below 1");
    char spec[64];
    eb_error err;
    snprintf(spec, sizeof spec, "bloom:cells=64,k=1,seed=%s", set->seed ? set->seed : "0");
    if (eb_new(&run->hash, spec, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    for (size_t i = 0; i < corpus_of(set)->units.n; i++)
        corpus_unit(run, corpus_of(set)->units.text[i], normal);
    if (run->rules == 0 && corpus_of(set)->against.n == 0) corpus_unit(run, "document", normal);
    if (corpus_of(set)->collect && run->rules != 1)
        cli_misuse(run->command, "--collect takes one --unit");
    against_open(run);
    for (size_t i = run->matchers; corpus_of(set)->report && i-- > 0;)
        if (run->match[i].own && run->rule[run->match[i].rule].kind <= UNIT_LINE)
            run->top_match = i;
    const matcher *const m = &run->match[run->top_match];
    if (corpus_of(set)->report && m->own && run->rule[m->rule].kind <= UNIT_LINE &&
        eb_new(&run->top, "top:memory=4M,keys=bytes", NULL, &err) != EB_OK)
        cli_fail("%s", err.text);
}

static void corpus_action_of(corpus_run *run) {
    const settings *const set = run->set;
    const bool collect = corpus_of(set)->collect != NULL;
    const char *const word = corpus_of(set)->action ? corpus_of(set)->action
                             : collect              ? "report"
                                                    : "drop";
    if (collect && (set->output || corpus_of(set)->against.n > 0 || strcmp(word, "report") != 0))
        cli_misuse(run->command, "--collect goes with neither -o, --action nor --against");
    if (corpus_of(set)->context && (corpus_of(set)->against.n == 0 || strcmp(word, "remove") != 0))
        cli_misuse(run->command, "--context is for --against and --action remove");
    run->action = word[0] == 'd'   ? ACTION_DROP
                  : word[0] == 'a' ? ACTION_ANNOTATE
                  : word[2] == 'm' ? ACTION_REMOVE
                                   : ACTION_REPORT;
    run->partly = run->action == ACTION_REMOVE;
    run->threshold = corpus_of(set)->threshold > 0 ? corpus_of(set)->threshold
                     : run->partly                 ? 1
                                                   : 0.8;
    if (run->threshold > 1) cli_misuse(run->command, "--threshold must be at most 1");
    run->out = run->action == ACTION_REPORT ? NULL : set->output;
    if (run->action != ACTION_REPORT && !set->output)
        cli_misuse(run->command, "give the folder for the output (-o), or --action report");
    const char *const full = set->on_full ? set->on_full : "grow";
    run->on_full = strcmp(full, "grow") == 0     ? FULL_GROW
                   : strcmp(full, "forget") == 0 ? FULL_FORGET
                                                 : FULL_STOP;
    run->level = corpus_of(set)->level ? (int)corpus_of(set)->level : -1;
    if (run->level > 9) cli_misuse(run->command, "--level must be from 1 to 9");
}

/* Files belong to the part in which the bytes before them end: whole files, one after the other. */
static void corpus_shard(corpus_run *run) {
    const char *const text = corpus_of(run->set)->shard;
    unsigned part = 1, parts = 1;
    int used = 0;
    if (text && (sscanf(text, "%5u/%5u%n", &part, &parts, &used) != 2 || text[used] || part < 1 ||
                 part > parts))
        cli_misuse(run->command, "--shard must be I/N with I from 1 to N, not \"%s\"", text);
    const corpus_files *const f = &run->files;
    run->first = run->end = 0;
    double before = 0;
    for (size_t i = 0; i < f->n; i++) {
        const double middle = before + (double)f->file[i].bytes / 2;
        const unsigned at = f->bytes ? 1 + (unsigned)(middle / (double)f->bytes * parts) : 1;
        run->first += at < part;
        run->end += at <= part;
        before += (double)f->file[i].bytes;
    }
    run->bytes = 0;
    for (size_t i = run->first; i < run->end; i++) run->bytes += f->file[i].bytes;
}

static void corpus_tell(const corpus_run *run, double seconds) {
    const corpus_counts all = corpus_total(run);
    if (all.bad)
        cli_warn("%s %llu bad records; the first is %s",
                 run->on_bad == BAD_SKIP ? "skipped" : "passed on", (unsigned long long)all.bad,
                 run->found.first_bad);
    if (run->set->quiet && !run->set->json) return;
    report r;
    report_begin(&r, stderr, run->set->json);
    report_count(&r, "documents", "documents", all.documents);
    report_count(&r, "kept", "kept", all.kept);
    report_count(&r, "bad", "bad records", all.bad);
    report_count(&r, "empty", "without any unit", all.empty);
    report_count(&r, "words", "words", all.words);
    report_count(&r, "kept_words", "words kept", all.kept_words);
    report_count(&r, "text_bytes", "bytes of text", all.text_bytes);
    report_count(&r, "kept_bytes", "bytes kept", all.kept_bytes);
    for (size_t m = 0; m < run->matchers; m++) {
        char key[80], label[100];
        snprintf(key, sizeof key, "%s_units", run->match[m].name);
        snprintf(label, sizeof label, "%s: units", run->match[m].name);
        report_count(&r, key, label, all.units[m]);
        snprintf(key, sizeof key, "%s_seen", run->match[m].name);
        snprintf(label, sizeof label, "%s: seen before", run->match[m].name);
        report_count(&r, key, label, all.seen[m]);
    }
    report_real(&r, "seconds", "seconds", seconds);
    report_end(&r);
}

static void corpus_work(corpus_run *run) {
    const settings *const set = run->set;
    const size_t threads = corpus_of(set)->threads ? (size_t)corpus_of(set)->threads : 1;
    corpus_place from;
    const bool loaded = resume_load(run, &from);
    if (!loaded) {
        filters_plan(run, threads);
        resume_planned(run);
    } else if (!set->quiet)
        cli_warn("going on with file %zu of %zu", from.file - run->first + 1,
                 run->end - run->first);
    filters_ready(run, loaded);
    const double start = now_seconds();
    progress_start(&run->progress, set->quiet);
    pipeline_run(run, threads, &from);
    resume_end(run);
    if (corpus_of(set)->collect) collect_save(run);
    if (corpus_of(set)->report) page_write(run);
    corpus_tell(run, now_seconds() - start);
}

int run_corpus(const cli_command *c, const settings *set, char **operands, size_t n) {
    corpus_run *const run = cli_alloc(sizeof *run);
    bad_lines bad;
    memset(run, 0, sizeof *run);
    run->command = c;
    run->set = set;
    bad_open(&bad, set, BAD_PASS);
    run->on_bad = bad.policy;
    if (n == 0 && !corpus_of(set)->files_from) cli_misuse(c, "corpus needs files or folders");
    corpus_action_of(run);
    corpus_units(run);
    const char *const field = corpus_of(set)->text ? corpus_of(set)->text : "text";
    if (!json_path_read(field, strlen(field), &run->text))
        cli_misuse(c, "--text must be a member such as text or doc.body, not \"%s\"", field);
    files_find(&run->files, operands, n, corpus_of(set)->files_from, run->out);
    if (run->files.skipped)
        cli_warn(
            "%zu files in folders are neither .jsonl, .ndjson, .json nor .txt (.gz, .zst), and "
            "are left out; name them to read them as text",
            run->files.skipped);
    if (run->files.n == 0) cli_fail("there is no file to read");
    corpus_shard(run);
    for (size_t i = run->first; run->action == ACTION_ANNOTATE && i < run->end; i++)
        if (!run->files.file[i].json)
            cli_fail("%s: plain text has no place for annotations: use JSON lines, or --action "
                     "report",
                     run->files.file[i].path);
    if (resume_begin(run)) corpus_work(run);
    for (size_t m = 0; m < run->matchers; m++)
        if (run->match[m].own) {
            eb_free(run->match[m].filter);
            free(run->match[m].known);
        } else
            against_close(&run->match[m]);
    eb_free(run->hash);
    eb_free(run->top);
    json_path_free(&run->text);
    files_free(&run->files);
    free(run);
    return STATUS_YES;
}
