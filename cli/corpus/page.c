/* page.c - the report of a run in a file: JSON, or a page that needs nothing else. */
#include "corpus.h"
#include <everbloom/query.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_TOP = 10, PAGE_WIDTH = 640, PAGE_HEIGHT = 180 };

corpus_counts corpus_total(const corpus_run *run) {
    corpus_counts all = {0};
    for (size_t i = 0; i < run->files.folders; i++) {
        const corpus_counts *const c = &run->found.counts[i];
        all.documents += c->documents, all.kept += c->kept, all.bad += c->bad;
        all.empty += c->empty, all.words += c->words, all.kept_words += c->kept_words;
        all.text_bytes += c->text_bytes, all.kept_bytes += c->kept_bytes;
        for (size_t m = 0; m < run->matchers; m++)
            all.units[m] += c->units[m], all.seen[m] += c->seen[m];
    }
    return all;
}

/* ---- What was found over the stream: a stretch is so many documents that all fit. */

void course_note(corpus_run *run, const uint64_t *units, const uint64_t *seen) {
    corpus_course *const c = &run->found.course;
    if (c->each == 0) c->each = 1;
    if (c->n == 0 || c->at[c->n - 1].documents == c->each) {
        if (c->n == COURSE_MAX) { /* twice as long stretches */
            for (size_t i = 0; i < COURSE_MAX; i += 2) {
                corpus_stretch s = c->at[i + 1];
                s.documents += c->at[i].documents;
                for (size_t m = 0; m < run->matchers; m++) {
                    s.units[m] += c->at[i].units[m];
                    s.seen[m] += c->at[i].seen[m];
                }
                c->at[i / 2] = s;
            }
            c->n = COURSE_MAX / 2;
            c->each *= 2;
        }
        memset(&c->at[c->n++], 0, sizeof c->at[0]);
    }
    corpus_stretch *const s = &c->at[c->n - 1];
    s->documents++;
    for (size_t m = 0; m < run->matchers; m++) {
        s->units[m] += units[m];
        s->seen[m] += seen[m];
        s->keys[m] = run->match[m].taken;
    }
}

/* ---- What went wrong, as far as it is known. */

/* Units that are expected to be taken for repeats, and repeats that are expected to be missed. */
static void page_expect(const corpus_run *run, const corpus_counts *all, size_t m, double *wrong,
                        double *missed) {
    const matcher *const x = &run->match[m];
    const double fresh = (double)(all->units[m] - all->seen[m]);
    const unit_rule *const rule = &run->rule[x->rule];
    const double keys = rule->kind == UNIT_NEAR ? rule->bands : 1; /* of a unit */
    eb_workload load = {.size = sizeof load};
    eb_prediction p = {.size = sizeof p};
    *wrong = *missed = NAN;
    load.items = fmax(1, (double)all->units[m] * keys);
    load.distinct = fmax(1, fresh * keys);
    if (eb_predict(eb_spec(x->filter), &load, NULL, 1, &p, NULL) != EB_OK) return;
    *wrong = p.mean_fpr * fresh * keys;
    *missed = rule->kind == UNIT_NEAR ? NAN : p.mean_fnr * (double)all->seen[m];
}

static size_t page_top(const corpus_run *run, eb_top_key *keys) {
    eb_top_list list = {.size = sizeof list, .keys = keys, .cap = PAGE_TOP};
    if (!run->top || eb_top(run->top, &list, NULL) != EB_OK) return 0;
    return list.n;
}

/* ---- JSON. */

static void page_number(FILE *to, const char *name, double value) {
    fprintf(to, "\"%s\":", name);
    json_number(to, value);
}

static void page_counts(FILE *to, const corpus_run *run, const corpus_counts *c) {
    fprintf(to,
            "\"documents\":%llu,\"kept\":%llu,\"bad\":%llu,\"empty\":%llu,\"words\":%llu,"
            "\"kept_words\":%llu,\"bytes\":%llu,\"kept_bytes\":%llu,\"units\":{",
            (unsigned long long)c->documents, (unsigned long long)c->kept,
            (unsigned long long)c->bad, (unsigned long long)c->empty, (unsigned long long)c->words,
            (unsigned long long)c->kept_words, (unsigned long long)c->text_bytes,
            (unsigned long long)c->kept_bytes);
    for (size_t m = 0; m < run->matchers; m++) {
        if (m > 0) fputc(',', to);
        json_string(to, run->match[m].name);
        fprintf(to, ":{\"all\":%llu,\"seen\":%llu}", (unsigned long long)c->units[m],
                (unsigned long long)c->seen[m]);
    }
    fputc('}', to);
}

static void page_json(FILE *to, const corpus_run *run, const corpus_counts *all) {
    eb_top_key top[PAGE_TOP];
    fputs("{\"total\":{", to);
    page_counts(to, run, all);
    fputs("},\"filters\":[", to);
    for (size_t m = 0; m < run->matchers; m++) {
        const matcher *const x = &run->match[m];
        double wrong, missed;
        page_expect(run, all, m, &wrong, &missed);
        fprintf(to, "%s{\"name\":", m ? "," : "");
        json_string(to, x->name);
        fputs(",\"spec\":", to);
        json_string(to, eb_spec(x->filter));
        fputc(',', to);
        page_number(to, "planned", x->own ? x->planned : NAN);
        fputc(',', to);
        page_number(to, "keys", x->own ? x->taken : NAN);
        fputc(',', to);
        page_number(to, "expected_wrong", wrong);
        fputc(',', to);
        page_number(to, "expected_wrong_error", sqrt(wrong));
        fputc(',', to);
        page_number(to, "expected_missed", missed);
        fputc('}', to);
    }
    fputs("],\"folders\":[", to);
    for (size_t i = 0; i < run->files.folders; i++) {
        fprintf(to, "%s{\"name\":", i ? "," : "");
        json_string(to, run->files.folder[i]);
        fputc(',', to);
        page_counts(to, run, &run->found.counts[i]);
        fputc('}', to);
    }
    fputs("],\"course\":[", to);
    for (size_t i = 0; i < run->found.course.n; i++) {
        const corpus_stretch *const s = &run->found.course.at[i];
        fprintf(to, "%s{\"documents\":%llu", i ? "," : "", (unsigned long long)s->documents);
        for (size_t m = 0; m < run->matchers; m++) {
            fputc(',', to);
            json_string(to, run->match[m].name);
            fprintf(to, ":{\"units\":%llu,\"seen\":%llu,", (unsigned long long)s->units[m],
                    (unsigned long long)s->seen[m]);
            page_number(to, "keys", s->keys[m]);
            fputc('}', to);
        }
        fputc('}', to);
    }
    fputs("],\"most_repeated\":[", to);
    const size_t n = page_top(run, top);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",{\"text\":" : "{\"text\":", to);
        json_bytes(to, top[i].key.p, top[i].key.len);
        fprintf(to, ",\"cut\":%s,", top[i].cut ? "true" : "false");
        page_number(to, "count", top[i].count + 1); /* the first one is no repeat */
        fputc('}', to);
    }
    fputs("]}\n", to);
}

/* ---- The page. */

static void page_text(FILE *to, const char *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char c = p[i];
        if (c == '&' || c == '<' || c == '>')
            fprintf(to, "&#%d;", c);
        else
            fputc((unsigned char)c < 0x20 ? ' ' : c, to);
    }
}

static double page_seen(const corpus_run *run, const corpus_stretch *s, size_t m) {
    (void)run;
    return s->units[m] ? (double)s->seen[m] / (double)s->units[m] : 0;
}

static double page_fill(const corpus_run *run, const corpus_stretch *s, size_t m) {
    return run->match[m].own ? s->keys[m] / run->match[m].planned : 0;
}

/* A curve for each filter; y from 0 to `most`, with lines at quarters. */
static void page_plot(FILE *to, const corpus_run *run, const char *title,
                      double (*y)(const corpus_run *, const corpus_stretch *, size_t)) {
    static const char *const colour[] = {"#3b82f6", "#e0566a", "#3aa655", "#e08e00"};
    const corpus_course *const c = &run->found.course;
    double most = 1;
    for (size_t i = 0; i < c->n; i++)
        for (size_t m = 0; m < run->matchers; m++) most = fmax(most, y(run, &c->at[i], m));
    fprintf(to, "<h2>%s</h2><svg viewBox='0 0 %d %d' role='img'>", title, PAGE_WIDTH + 70,
            PAGE_HEIGHT + 40);
    for (int q = 0; q <= 4; q++) {
        const int at = 10 + PAGE_HEIGHT - PAGE_HEIGHT * q / 4;
        fprintf(to,
                "<line x1='50' y1='%d' x2='%d' y2='%d' stroke='#8886'/><text x='44' y='%d' "
                "text-anchor='end'>%.3g %%</text>",
                at, 50 + PAGE_WIDTH, at, at + 4, 100 * most * q / 4);
    }
    for (size_t m = 0; m < run->matchers; m++) {
        fprintf(to, "<polyline fill='none' stroke-width='2' stroke='%s' points='", colour[m % 4]);
        for (size_t i = 0; i < c->n; i++)
            fprintf(to, "%.1f,%.1f ", 50 + PAGE_WIDTH * ((double)i + 0.5) / (double)c->n,
                    10 + PAGE_HEIGHT * (1 - y(run, &c->at[i], m) / most));
        fprintf(to, "'/><text x='%zu' y='%d' fill='%s'>", 60 + 120 * m, PAGE_HEIGHT + 32,
                colour[m % 4]);
        page_text(to, run->match[m].name, strlen(run->match[m].name));
        fputs("</text>", to);
    }
    fputs("</svg>", to);
}

static double page_share(uint64_t part, uint64_t all) {
    return all ? 100 * (double)part / (double)all : 0;
}

static void page_row(FILE *to, const char *name, const corpus_counts *c) {
    const double kept = page_share(c->kept_bytes, c->text_bytes);
    fputs("<tr><th>", to);
    page_text(to, name, strlen(name));
    fprintf(to,
            "</th><td>%llu</td><td>%llu</td><td>%llu</td><td>%llu</td><td>%llu</td><td>%llu</td>"
            "<td>%.1f %%</td><td class='bar'><i style='width:%.1f%%'></i></td></tr>",
            (unsigned long long)c->documents, (unsigned long long)c->kept,
            (unsigned long long)c->words, (unsigned long long)c->kept_words,
            (unsigned long long)c->text_bytes, (unsigned long long)c->kept_bytes, kept, kept);
}

static void page_filters(FILE *to, const corpus_run *run, const corpus_counts *all) {
    fputs("<h2>Units</h2><table><tr><th>unit</th><th>all</th><th>seen before</th><th>share</th>"
          "<th>wrongly among them, expected</th><th>repeats missed, expected</th></tr>",
          to);
    for (size_t m = 0; m < run->matchers; m++) {
        double wrong, missed;
        page_expect(run, all, m, &wrong, &missed);
        fputs("<tr><th>", to);
        page_text(to, run->match[m].name, strlen(run->match[m].name));
        fprintf(to,
                "</th><td>%llu</td><td>%llu</td><td>%.1f %%</td><td>%.3g ± %.2g</td>"
                "<td>%.3g</td></tr>",
                (unsigned long long)all->units[m], (unsigned long long)all->seen[m],
                page_share(all->seen[m], all->units[m]), wrong, sqrt(wrong), missed);
    }
    fputs("</table>", to);
}

static void page_html(FILE *to, const corpus_run *run, const corpus_counts *all) {
    eb_top_key top[PAGE_TOP];
    fputs("<!doctype html><html lang='en'><meta charset='utf-8'><title>everbloom corpus</title>"
          "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:"
          "0 1em;color:#222}table{border-collapse:collapse;width:100%}th,td{padding:.2em .6em;"
          "text-align:right;border-bottom:1px solid #8886;font-variant-numeric:tabular-nums}"
          "th:first-child,td.text{text-align:left}td.text{overflow-wrap:anywhere}.bar{width:8em}"
          ".bar i{display:block;height:.8em;background:#3b82f6}"
          "svg{width:100%;font-size:11px;fill:currentColor}:root{color-scheme:light dark}"
          "@media(prefers-color-scheme:dark){body{color:#ddd;background:#16181c}}"
          "</style><h1>everbloom corpus</h1>",
          to);
    fputs("<table><tr><th>folder</th><th>documents</th><th>documents kept</th><th>words</th>"
          "<th>words kept</th><th>bytes</th><th>bytes kept</th><th>share kept</th><th></th></tr>",
          to);
    for (size_t i = 0; i < run->files.folders; i++)
        page_row(to, run->files.folder[i], &run->found.counts[i]);
    page_row(to, "all", all);
    fprintf(to, "</table><p>%llu bad records; %llu documents without any unit.</p>",
            (unsigned long long)all->bad, (unsigned long long)all->empty);
    page_filters(to, run, all);
    page_plot(to, run, "Units seen before, over the stream", page_seen);
    page_plot(to, run, "Keys in the filter, as a share of the plan", page_fill);
    const size_t n = page_top(run, top);
    if (n > 0) fputs("<h2>Most repeated</h2><table><tr><th>unit</th><th>times</th></tr>", to);
    for (size_t i = 0; i < n; i++) {
        fputs("<tr><td class='text'>", to);
        page_text(to, top[i].key.p, top[i].key.len);
        fprintf(to, "%s</td><td>%.0f</td></tr>", top[i].cut ? " …" : "", top[i].count + 1);
    }
    fputs(n > 0 ? "</table></html>\n" : "</html>\n", to);
}

void page_write(const corpus_run *run) {
    const char *const path = corpus_of(run->set)->report;
    const corpus_counts all = corpus_total(run);
    const size_t length = strlen(path);
    char *bytes = NULL;
    size_t n = 0;
    FILE *const to = open_memstream(&bytes, &n);
    if (!to) cli_fail("out of memory for the report");
    if (length > 5 && strcmp(path + length - 5, ".html") == 0)
        page_html(to, run, &all);
    else
        page_json(to, run, &all);
    if (fclose(to) != 0) cli_fail("out of memory for the report");
    atomic_file file;
    atomic_open(&file, path);
    atomic_write(&file, bytes, n);
    atomic_commit(&file);
    free(bytes);
}
