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

/* ---- Inside a spec, which the shells ask for while it is typed. */

static bool begins(const char *word, const char *typed, size_t length) {
    return strncmp(word, typed, length) == 0;
}

/* The words of a list a|b|c that begin as typed; a type without choices has none. */
static void spec_values(const char *choices, const char *spec, size_t before, const char *typed) {
    if (!strchr(choices, '|')) return;
    for (size_t n; *choices; choices += n + (choices[n] == '|')) {
        n = strcspn(choices, "|");
        if (begins(choices, typed, strlen(typed)))
            printf("%.*s%.*s\n", (int)before, spec, (int)n, choices);
    }
}

static bool spec_gives(const char *options, const char *key) {
    const size_t length = strlen(key);
    for (; options; options = strchr(options, ',')) {
        options += *options == ',';
        if (begins(options, key, length) && options[length] == '=') return true;
    }
    return false;
}

static void spec_options(const eb_kind_info *kind, const char *spec, const char *options) {
    const char *const comma = strrchr(options, ','), *const last = comma ? comma + 1 : options;
    const char *const equals = strchr(last, '=');
    for (const eb_option *o = kind->options; o->key; o++)
        if (equals && strlen(o->key) == (size_t)(equals - last) &&
            begins(o->key, last, (size_t)(equals - last)))
            spec_values(o->type, spec, (size_t)(equals + 1 - spec), equals + 1);
        else if (!equals && begins(o->key, last, strlen(last)) && !spec_gives(options, o->key))
            printf("%.*s%s=\n", (int)(last - spec), spec, o->key);
}

void complete_spec(const char *spec) {
    const char *const colon = strchr(spec, ':');
    const size_t length = colon ? (size_t)(colon - spec) : strlen(spec);
    size_t n;
    const eb_kind_info *const *const kinds = eb_kinds(&n);
    for (size_t i = 0; i < n; i++)
        if (colon && strlen(kinds[i]->name) == length && begins(kinds[i]->name, spec, length))
            spec_options(kinds[i], spec, colon + 1);
        else if (!colon && begins(kinds[i]->name, spec, length))
            puts(kinds[i]->name);
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
    puts("'\n    local spec=${COMP_LINE:0:COMP_POINT}\n"
         "    spec=${spec##*[[:space:]]} spec=${spec#--filter=}\n"
         "    if [[ $spec == *:* && \" $kinds \" == *\" ${spec%%:*} \"* ]]; then\n"
         "        # bash replaces only what stands behind the last : or =\n"
         "        COMPREPLY=($(\"${COMP_WORDS[0]}\" --generate spec \"$spec\"))\n"
         "        COMPREPLY=(\"${COMPREPLY[@]#\"${spec%\"${spec##*[:=]}\"}\"}\")\n"
         "        compopt -o nospace 2>/dev/null\n"
         "        return\n    fi\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
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
    if (kinds) fputs("_everbloom_spec", stdout);
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
    puts("#compdef everbloom\n_everbloom_spec() {\n"
         "    local -a all\n"
         "    all=(${(f)\"$(_call_program spec everbloom --generate spec ${(q)PREFIX})\"})\n"
         "    compadd -S '' -- $all\n}");
    puts("_everbloom() {\n    local -a commands\n    commands=(");
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

#define FISH_SPEC "'(everbloom --generate spec (commandline -ct))'"

static void fish_option(const cli_command *c, const cli_option *o) {
    printf("complete -c everbloom -n '__fish_seen_subcommand_from %s'", c->name);
    if (o->letter) printf(" -s %c", o->letter);
    printf(" -l %s", o->name);
    if (takes(o, "FILE"))
        fputs(" -r -F", stdout);
    else if (takes(o, "SPEC"))
        fputs(" -x -a " FISH_SPEC, stdout);
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
        printf("complete -c everbloom -n '__fish_seen_subcommand_from %s' -f -a " FISH_SPEC "\n",
               c->name);
}

void complete_fish(void) {
    puts("complete -c everbloom -s h -l help -d 'Help'\n"
         "complete -c everbloom -n __fish_use_subcommand -s V -l version -d 'The version'");
    for (const cli_command *const *c = cli_commands; *c; c++) fish_command(*c);
}
