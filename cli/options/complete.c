/* complete.c - completions for bash, zsh and fish, written from the tables. */
#include "cli.h"
#include <string.h>

static void put_commands(void) {
    for (const cli_command *const *c = cli_commands; *c; c++)
        printf("%s%s", c == cli_commands ? "" : " ", (*c)->name);
}

static void put_kinds(void) {
    size_t n;
    const eb_kind_info *const *kinds = eb_kinds(&n);
    for (size_t i = 0; i < n; i++) printf("%s%s", i ? " " : "", kinds[i]->name);
}

static bool ends_sentence(const char *p) {
    return p[0] == '.' && (p[1] == '\0' || (p[1] == ' ' && p[-1] != '.'));
}

/* The first sentence of a help text, safe inside single quotes; escape gets a backslash. */
static void put_brief(const char *help, const char *escape) {
    for (; *help && !ends_sentence(help); help++) {
        if (*help == '\'')
            fputs("\xe2\x80\x99", stdout);
        else {
            if (strchr(escape, *help)) putchar('\\');
            putchar(*help);
        }
    }
}

static bool takes(const cli_option *o, const char *value) {
    return o->value_name && strcmp(o->value_name, value) == 0;
}

static bool operands_are_kinds(const cli_command *c) {
    return strstr(c->operands, "KIND") || strstr(c->operands, "SPEC");
}

/* ---- bash */

static void bash_options(const cli_command *c) {
    for (const cli_option *o = c->options; o->name || o->help; o++) {
        if (o->name && o->letter) printf("-%c ", o->letter);
        if (o->name) printf("--%s ", o->name);
    }
    fputs("-h --help", stdout);
}

static void put_choices(const char *choices) {
    for (; *choices; choices++) putchar(*choices == '|' ? ' ' : *choices);
}

static void bash_choices(const cli_command *c) {
    for (const cli_option *o = c->options; o->name || o->help; o++) {
        if (!o->choices) continue;
        printf("        --%s) COMPREPLY=($(compgen -W '", o->name);
        put_choices(o->choices);
        puts("' -- \"$cur\")); return ;;");
    }
}

/* The patterns of options whose values are files, kinds, or nothing that we know. */
static void bash_values(const cli_command *c, const char *value, const char *action) {
    bool any = false;
    for (const cli_option *o = c->options; o->name || o->help; o++) {
        bool known = takes(o, "FILE") || takes(o, "SPEC") || o->choices;
        if (!o->value_name || (value ? !takes(o, value) : known)) continue;
        printf("%s", any ? "|" : "        ");
        if (o->letter) printf("-%c|", o->letter);
        printf("--%s", o->name);
        any = true;
    }
    if (any) printf(") %s; return ;;\n", action);
}

static void bash_command(const cli_command *c) {
    printf("    %s)\n        case $prev in\n", c->name);
    bash_values(c, "FILE", "COMPREPLY=($(compgen -f -- \"$cur\"))");
    bash_values(c, "SPEC", "COMPREPLY=($(compgen -W \"$kinds\" -- \"$cur\"))");
    bash_choices(c);
    bash_values(c, NULL, "COMPREPLY=()");
    fputs("        esac\n        options='", stdout);
    bash_options(c);
    puts("'");
    if (operands_are_kinds(c))
        puts("        operands=$(compgen -W \"$kinds\" -- \"$cur\")");
    else
        puts("        operands=$(compgen -f -- \"$cur\")");
    puts("        ;;");
}

void complete_bash(void) {
    puts("# bash completion for everbloom\n_everbloom() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local options='' operands='' kinds commands IFS=$' \\t\\n'");
    fputs("    kinds='", stdout);
    put_kinds();
    fputs("'\n    commands='", stdout);
    put_commands();
    puts("'\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "        COMPREPLY=($(compgen -W \"$commands help --help --version\" -- \"$cur\"))\n"
         "        return\n    fi\n"
         "    case ${COMP_WORDS[1]} in\n"
         "    help) COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\")); return ;;");
    for (const cli_command *const *c = cli_commands; *c; c++) bash_command(*c);
    puts("    esac\n"
         "    if [[ $cur == -* ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n    else\n"
         "        IFS=$'\\n' COMPREPLY=($operands)\n    fi\n}\n"
         "complete -o filenames -F _everbloom everbloom");
}

/* ---- zsh */

static void zsh_action(bool kinds, bool files) {
    if (files) fputs("_files", stdout);
    if (!kinds) return;
    putchar('(');
    put_kinds();
    putchar(')');
}

static void zsh_option(const cli_option *o) {
    fputs("            ", stdout);
    if (o->letter)
        printf("'(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter, o->name);
    else
        printf("'--%s[", o->name);
    put_brief(o->help, "[]:\\");
    putchar(']');
    if (o->value_name) printf(":%s:", o->value_name);
    zsh_action(takes(o, "SPEC"), takes(o, "FILE"));
    if (o->choices) {
        putchar('(');
        put_choices(o->choices);
        putchar(')');
    }
    puts("' \\");
}

static void zsh_command(const cli_command *c) {
    printf("        %s) _arguments -s -S \\\n", c->name);
    for (const cli_option *o = c->options; o->name || o->help; o++)
        if (o->name) zsh_option(o);
    puts("            '(-h --help)'{-h,--help}'[This help]' \\");
    fputs("            '*:operand:", stdout);
    zsh_action(operands_are_kinds(c), !operands_are_kinds(c));
    puts("' ;;");
}

void complete_zsh(void) {
    puts("#compdef everbloom\n_everbloom() {\n    local -a commands\n    commands=(");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("        '%s:", (*c)->name);
        put_brief((*c)->summary, ":\\");
        puts("'");
    }
    puts("    )\n    if (( CURRENT == 2 )); then\n"
         "        _describe command commands\n"
         "        _arguments '(-h --help)'{-h,--help}'[Help]' '(-V --version)'{-V,--version}'[The "
         "version]'\n        return\n    fi\n"
         "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
         "    case $command in");
    for (const cli_command *const *c = cli_commands; *c; c++) zsh_command(*c);
    puts("    esac\n}\n_everbloom \"$@\"");
}

/* ---- fish */

static void fish_option(const cli_command *c, const cli_option *o) {
    printf("complete -c everbloom -n '__fish_seen_subcommand_from %s'", c->name);
    if (o->letter) printf(" -s %c", o->letter);
    printf(" -l %s", o->name);
    if (takes(o, "FILE"))
        fputs(" -r -F", stdout);
    else if (takes(o, "SPEC"))
        fputs(" -x -a \"$__everbloom_kinds\"", stdout);
    else if (o->choices) {
        fputs(" -x -a '", stdout);
        put_choices(o->choices);
        putchar('\'');
    } else if (o->value_name)
        fputs(" -x", stdout);
    fputs(" -d '", stdout);
    put_brief(o->help, "\\");
    puts("'");
}

static void fish_command(const cli_command *c) {
    printf("complete -c everbloom -n __fish_use_subcommand -f -a %s -d '", c->name);
    put_brief(c->summary, "\\");
    puts("'");
    for (const cli_option *o = c->options; o->name || o->help; o++)
        if (o->name) fish_option(c, o);
    if (operands_are_kinds(c))
        printf("complete -c everbloom -n '__fish_seen_subcommand_from %s' -f -a "
               "\"$__everbloom_kinds\"\n",
               c->name);
}

void complete_fish(void) {
    fputs("set -g __everbloom_kinds ", stdout);
    put_kinds();
    puts("\ncomplete -c everbloom -s h -l help -d 'Help'\n"
         "complete -c everbloom -n __fish_use_subcommand -s V -l version -d 'The version'");
    for (const cli_command *const *c = cli_commands; *c; c++) fish_command(*c);
}
