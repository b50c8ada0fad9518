/* man.c - the man pages, in roff, written from the tables: everbloom(1), everbloom-dedup(1), ... */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

/* Text as roff shows it: no escapes, no requests, dashes that can be copied. */
static void put_roff(const char *text) {
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        line_start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\'')
            fputs("\\(aq", stdout);
        else if (*text == '"')
            fputs("\\(dq", stdout);
        else if (*text == '~')
            fputs("\\(ti", stdout);
        else if (*text == '^')
            fputs("\\(ha", stdout);
        else if (*text == '`')
            fputs("\\(ga", stdout);
        else
            putchar(*text);
    }
}

static void put_paragraphs(const char *text) {
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t n = end ? (size_t)(end - text) : strlen(text);
        char *part = cli_alloc(n + 1);
        memcpy(part, text, n);
        part[n] = '\0';
        puts(".PP");
        put_roff(part);
        putchar('\n');
        free(part);
        text += end ? n + 2 : n;
    }
}

static void put_title(const char *page, const char *summary) {
    printf(".TH \"%s\" 1 \"\" \"everbloom %s\" \"User commands\"\n.SH NAME\n", page, EB_VERSION);
    put_roff(page);
    fputs(" \\- ", stdout);
    put_roff(summary);
    fputs("\n.SH SYNOPSIS\n", stdout);
}

static void put_option(char letter, const char *name, const char *value, const char *help) {
    puts(".TP");
    if (letter) printf("\\fB\\-%c\\fR, ", letter);
    fputs("\\fB\\-\\-", stdout);
    put_roff(name);
    fputs("\\fR", stdout);
    if (value) printf(" \\fI%s\\fR", value);
    putchar('\n');
    put_roff(help);
    putchar('\n');
}

static void put_options(const cli_option *o) {
    puts(".SH OPTIONS");
    for (; o->name || o->help; o++) {
        if (o->name)
            put_option(o->letter, o->name, o->value_name, o->help);
        else
            printf(".SS \"%s\"\n", o->help);
    }
    put_option('h', "help", NULL, "Print a summary of this page.");
}

static void put_status(const char *one) {
    puts(".SH \"EXIT STATUS\"\n.TP\n0\nSuccess.");
    if (one) printf(".TP\n1\nNo answer, or not the whole one: %s.\n", one);
    puts(".TP\n2\nError: wrong usage, a file that cannot be read or written, a refused spec.");
}

static void put_examples(const cli_example *e) {
    puts(".SH EXAMPLES");
    for (; e->line; e++) {
        puts(".TP");
        fputs("\\fB", stdout);
        put_roff(e->line);
        puts("\\fR");
        put_roff(e->meaning);
        putchar('\n');
    }
}

static void command_page(const cli_command *c) {
    char page[64];
    snprintf(page, sizeof page, "everbloom-%s", c->name);
    put_title(page, c->summary);
    printf("\\fBeverbloom %s\\fR [\\fIOPTION\\fR]... %s\n.SH DESCRIPTION\n", c->name, c->operands);
    put_paragraphs(c->text);
    put_options(c->options);
    put_status(c->status);
    put_examples(c->examples);
    puts(".SH \"SEE ALSO\"\n\\fBeverbloom\\fR(1)");
}

static void put_command_list(void) {
    puts(".SH COMMANDS");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf(".TP\n\\fBeverbloom\\-%s\\fR(1)\n", (*c)->name);
        put_roff((*c)->summary);
        putchar('\n');
    }
}

static void put_kinds(void) {
    size_t n;
    const eb_kind_info *const *kinds = eb_kinds(&n);
    puts(".SH KINDS");
    for (size_t i = 0; i < n; i++) {
        printf(".TP\n\\fB%s\\fR\n", kinds[i]->name);
        put_roff(kinds[i]->summary);
        putchar('\n');
    }
}

static void program_page(void) {
    put_title("everbloom", cli_summary);
    puts(
        "\\fBeverbloom\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n.SH DESCRIPTION");
    put_paragraphs(cli_text);
    put_command_list();
    put_kinds();
    put_status(
        "if no line is selected, a snapshot is damaged, a window was not kept, an answer may lack "
        "keys");
    puts(".SH \"SEE ALSO\"\n\\fBeverbloom\\-dedup\\fR(1), \\fBsort\\fR(1), \\fBuniq\\fR(1)");
}

void man_page(const char *page) {
    static const char prefix[] = "everbloom-";
    bool of_command = strncmp(page, prefix, sizeof prefix - 1) == 0;
    const cli_command *c = of_command ? cli_find(page + sizeof prefix - 1) : NULL;
    if (c)
        command_page(c);
    else if (strcmp(page, "everbloom") == 0)
        program_page();
    else
        cli_misuse(NULL, "there is no man page %s; --generate pages lists them", page);
}

void man_list_pages(void) {
    puts("everbloom");
    for (const cli_command *const *c = cli_commands; *c; c++) printf("everbloom-%s\n", (*c)->name);
}
