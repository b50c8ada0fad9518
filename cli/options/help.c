/* help.c - --help, written from the tables. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 79, OPTION_COLUMN = 26, INDEX_COLUMN = 22, EXAMPLES_FIRST = 2 };

/* Prints text from the current column on, wrapped, following lines indented. */
static void print_wrapped(const char *text, int column, int indent) {
    while (*text) {
        int word = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + word > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", word, text);
        column += word;
        text += word;
        bool paragraph = *text == '\n';
        text += strspn(text, " \n");
        if (paragraph && *text) {
            printf("\n\n%*s", indent, "");
            column = indent;
        }
    }
    putchar('\n');
}

static void print_text(const char *text, size_t length) {
    char *const part = strndup(text, length);
    if (part) print_wrapped(part, 0, 0);
    free(part);
}

static void print_option_row(char letter, const char *name, const char *value, const char *help) {
    char left[64], dash[8] = "    ";
    if (letter) snprintf(dash, sizeof dash, "-%c, ", letter);
    int n = snprintf(left, sizeof left, "  %s--%s%s%s", dash, name, value ? " " : "",
                     value ? value : "");
    fputs(left, stdout);
    if (n >= OPTION_COLUMN)
        printf("\n%*s", OPTION_COLUMN, "");
    else
        printf("%*s", OPTION_COLUMN - n, "");
    print_wrapped(help, OPTION_COLUMN, OPTION_COLUMN);
}

static void print_options(const cli_option *o) {
    if (o->name) puts("\nOptions:");
    for (; o->name || o->help; o++) {
        if (o->name)
            print_option_row(o->letter, o->name, o->value_name, o->help);
        else
            printf("\n%s:\n", o->help);
    }
    print_option_row('h', "help", NULL, "This help.");
}

/* All options on the first screen, each heading with the names below it. */
static void print_index(const cli_option *o) {
    int column = 0;
    if (o->name) return; /* few options, without headings */
    putchar('\n');
    for (; o->name || o->help; o++) {
        const int width = o->name ? (int)strlen(o->name) + 3 : 0;
        if (!o->name || column == 0 || column + width > WIDTH) {
            if (column > 0) putchar('\n');
            column = printf("  %-*s", INDEX_COLUMN - 2, o->name ? "" : o->help);
            if (column > INDEX_COLUMN) column = WIDTH; /* names on the next line */
        }
        if (o->name) column += printf(" --%s", o->name);
    }
    putchar('\n');
}

/* At most so many; those that are left. */
static const cli_example *print_examples(const cli_example *e, size_t most) {
    for (; e->line && most > 0; e++, most--) printf("  %s\n      %s\n", e->line, e->meaning);
    return e;
}

void help_command(const cli_command *c) {
    printf("Usage: everbloom %s [OPTION]...%s%s\n\n", c->name, c->operands[0] ? " " : "",
           c->operands);
    const cli_example *const more = print_examples(c->examples, EXAMPLES_FIRST);
    putchar('\n');
    const char *const rest = strstr(c->text, "\n\n");
    print_text(c->text, rest ? (size_t)(rest - c->text) : strlen(c->text));
    print_index(c->options);
    if (rest) putchar('\n');
    if (rest) print_wrapped(rest + 2, 0, 0);
    print_options(c->options);
    if (more->line) puts("\nMore examples:");
    (void)print_examples(more, SIZE_MAX);
    char status[200];
    snprintf(status, sizeof status, "Exit status: 0 on success, %s%s%s2 on error.",
             c->status ? "1 " : "", c->status ? c->status : "", c->status ? ", " : "");
    putchar('\n');
    print_wrapped(status, 0, 0);
    finish_stdout();
    exit(STATUS_YES);
}

void help_program(void) {
    puts("Usage: everbloom COMMAND [OPTION]... [FILE]...\n\n"
         "  everbloom dedup access.log > unique.log\n"
         "      Drop repeated lines, in order, in 64 MiB.\n"
         "  everbloom top --csv -f customer orders.csv\n"
         "      The customers with the most orders.\n");
    print_wrapped(cli_text, 0, 0);
    puts("\nCommands:");
    for (const cli_command *const *c = cli_commands; *c; c++)
        printf("  %-10s %s\n", (*c)->name, (*c)->summary);
    puts("\nOptions:\n"
         "  -h, --help     this help; everbloom COMMAND --help describes a command\n"
         "  -V, --version  the version");
    finish_stdout();
    exit(STATUS_YES);
}
