/* main.c - picks the command and lets it run. */
#include "cli.h"
#include "input/pattern.h"
#include "input/unpack.h"
#include "io.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A program started with standard streams closed must not take a data file for one of them.
 * What takes the place of a closed stream fails in use, as the closed one would. */
static void occupy_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static int print_version(void) {
    unsigned v = eb_version();
    printf("everbloom %s", EB_VERSION);
    if (v != EB_VERSION_NUMBER) printf(" (library %u.%u.%u)", v / 10000, v / 100 % 100, v % 100);
    printf("\nreads compressed files: %s\nregular expressions: %s\n",
           unpack_known()[0] ? unpack_known() : "none", pattern_is_there() ? "yes" : "no");
    finish_stdout();
    return STATUS_YES;
}

/* For the build: --generate man PAGE, pages, bash, zsh, fish; for shells: spec WORD. */
static int generate(char **words) {
    const char *what = words[0] ? words[0] : "";
    if (strcmp(what, "man") == 0 && words[1])
        man_page(words[1]);
    else if (strcmp(what, "pages") == 0)
        man_list_pages();
    else if (strcmp(what, "bash") == 0)
        complete_bash();
    else if (strcmp(what, "zsh") == 0)
        complete_zsh();
    else if (strcmp(what, "fish") == 0)
        complete_fish();
    else if (strcmp(what, "spec") == 0 && words[1])
        complete_spec(words[1]);
    else
        cli_misuse(NULL, "--generate makes man PAGE, pages, bash, zsh, fish or spec WORD");
    finish_stdout();
    return STATUS_YES;
}

/* What people look for under another name. */
static const char *const synonyms[][2] = {{"uniq", "dedup"},
                                          {"unique", "dedup"},
                                          {"filter", "dedup"},
                                          {"heavy", "top"},
                                          {"heavy-hitters", "top"},
                                          {"iceberg", "top"},
                                          {"hot", "top"},
                                          {"topk", "top"},
                                          {"freq", "top"},
                                          {"frequent", "top"},
                                          {"trending", "top"},
                                          {"insert", "add"},
                                          {"build", "add"},
                                          {"contains", "test"},
                                          {"grep", "test"},
                                          {"lookup", "test"},
                                          {"exists", "test"},
                                          {"cardinality", "distinct"},
                                          {"hll", "distinct"},
                                          {"count-distinct", "distinct"},
                                          {"frequency", "count"},
                                          {"quantile", "range"},
                                          {"quantiles", "range"},
                                          {"percentile", "range"},
                                          {"union", "merge"},
                                          {"show", "info"},
                                          {"stat", "info"},
                                          {"stats", "info"},
                                          {"inspect", "info"},
                                          {"verify", "check"},
                                          {"fsck", "check"},
                                          {"list", "kinds"},
                                          {NULL, NULL}};

static const cli_command *find_command(const char *word) {
    const cli_command *c = cli_find(word);
    if (c) return c;
    for (const char *const(*s)[2] = synonyms; (*s)[0]; s++)
        if (strcmp((*s)[0], word) == 0)
            cli_misuse(NULL, "there is no command %s; that is what %s does", word, (*s)[1]);
    nearest near = {0};
    for (const cli_command *const *known = cli_commands; *known; known++)
        nearest_try(&near, word, (*known)->name);
    const char *what = word[0] == '-' ? "option" : "command";
    if (near.word) cli_misuse(NULL, "there is no %s %s; did you mean %s?", what, word, near.word);
    cli_misuse(NULL, "there is no %s %s%s", what, word,
               word[0] == '-' ? "; options of a command stand behind it" : "");
}

static int run_command(const cli_command *c, char **words) {
    void *const own = c->own ? cli_alloc(c->own) : NULL;
    settings set = {.delimiter = NO_DELIMITER, .every_seconds = DEFAULT_EVERY_SECONDS, .own = own};
    if (own) memset(own, 0, c->own);
    if (c->defaults) c->defaults(&set);
    size_t n = args_parse(c, words, &set);
    if (set.as && set.json && strcmp(set.as, "json") != 0)
        cli_misuse(c, "--json and --as %s: give one of them", set.as);
    if (set.as && strcmp(set.as, "json") == 0) set.json = true;
    const int status = c->run(c, &set, words, n);
    args_free(c, &set);
    return status;
}

static int dispatch(char **words) {
    const char *word = words[0];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) help_program();
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) return print_version();
    if (strcmp(word, "--generate") == 0) return generate(words + 1);
    if (strcmp(word, "help") == 0) {
        if (!words[1]) help_program();
        help_command(find_command(words[1]));
    }
    return run_command(find_command(word), words + 1);
}

int main(int argc, char **argv) {
    occupy_standard_streams();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe shows as EPIPE, so that files can be tidied up */
    signal(SIGXFSZ, SIG_IGN); /* a file at its size limit shows as EFBIG */
    signals_end_at_once();
    if (argc > 1) return dispatch(argv + 1);
    cli_misuse(NULL, "no command given");
}
