/* copy.c - copy: a snapshot from a file to a server, or back, in chunks; the same bytes on both
 * sides. */
#include "nodes.h"
#include "options/options.h"
#include "parts/filterfile.h"
#include <string.h>

enum { COPY_CHUNK = 4 << 20 };

static void copy_command(nodes *n, const char *key, size_t count, const char *const *arg,
                         const size_t *len, reply *out) {
    nodes_do(n, key, count, arg, len, out);
    if (out->type == '-') cli_fail("%s: %s", key, out->text);
}

static void copy_up(const char *path, const char *url, bool force) {
    const nodes_url u = nodes_parse(url);
    nodes n;
    snapshot snap;
    if (u.shards > 1) cli_fail("%s: a snapshot is one filter: no shards", url);
    snapshot_open_or_fail(&snap, path);
    nodes_open(&n, &u);
    for (size_t at = 0; at < snap.end; at += COPY_CHUNK) {
        char offset[32];
        reply p;
        snprintf(offset, sizeof offset, "%zu", at);
        const char *const arg[] = {"EB.LOAD", u.name, offset, (const char *)snap.bytes + at,
                                   "REPLACE"};
        const size_t len[] = {7, strlen(u.name), strlen(offset),
                              snap.end - at < COPY_CHUNK ? snap.end - at : COPY_CHUNK, 7};
        nodes_do(&n, u.name, force && at == 0 ? 5 : 4, arg, len, &p);
        if (reply_is_error(&p, "BUSYKEY"))
            cli_fail("%s: there is a filter of that name; --force replaces it", url);
        if (p.type == '-') cli_fail("%s: %s", url, p.text);
        reply_free(&p);
    }
    nodes_close(&n);
    snapshot_close(&snap);
}

static void copy_down(const char *url, const char *path, bool force) {
    const nodes_url u = nodes_parse(url);
    nodes n;
    eb_loader *loader;
    eb_filter *f;
    eb_error err;
    FILE *const there = force || strcmp(path, "-") == 0 ? NULL : fopen(path, "r");
    if (there) cli_fail("%s: this file exists; --force replaces it", path);
    nodes_open(&n, &u);
    if (eb_loader_new(&loader, NULL, NULL, &err) != EB_OK) cli_fail("%s", err.text);
    for (long long at = 0;;) {
        char offset[32];
        reply p;
        snprintf(offset, sizeof offset, "%lld", at);
        const char *const arg[] = {"EB.SAVE", u.name, offset};
        copy_command(&n, u.name, 3, arg, NULL, &p);
        if (p.n != 2 || p.item[0].type != ':' || !p.item[1].text)
            cli_fail("%s: unexpected answer: not a chunk", url);
        at = p.item[0].number;
        if (at > 0 &&
            eb_loader_feed(loader, p.item[1].text, p.item[1].len, NULL, NULL, &err) != EB_OK)
            cli_fail("%s: %s", url, err.text);
        reply_free(&p);
        if (at == 0) break;
    }
    if (eb_loader_finish(loader, &f, &err) != EB_OK)
        cli_fail("%s: %s (if keys were added meanwhile: try again)", url, err.text);
    eb_loader_free(loader);
    filter_save(f, path);
    eb_free(f);
    nodes_close(&n);
}

static int run_copy(const cli_command *c, const settings *set, char **operands, size_t n) {
    (void)n;
    const bool up = nodes_is_url(operands[1]), down = nodes_is_url(operands[0]);
    if (up == down)
        cli_misuse(c, "one of the two must be a file, the other redis://host:port/name");
    if (up)
        copy_up(operands[0], operands[1], set->force);
    else
        copy_down(operands[0], operands[1], set->force);
    return STATUS_YES;
}

/* ---- Options and help. */

static const cli_option copy_options[] = {
    FLAG(0, "force", force, "Replace an existing file or filter."), END};

static const cli_example copy_examples[] = {
    {"everbloom copy seen.eb redis://localhost/seen", "Copy a filter to a server."},
    {"everbloom copy redis://localhost:6379/seen seen.eb", "Copy it back, byte for byte."},
    {0}};

const cli_command command_copy = {
    .name = "copy",
    .operands = "FROM TO",
    .summary = "copy a filter between a file and a Redis or Valkey server",
    .text = "One of FROM and TO is a snapshot's file, the other redis://host:port/name, on a "
            "server that has loaded the everbloom module. The snapshot has the same bytes in both "
            "places.",
    .options = copy_options,
    .examples = copy_examples,
    .min_operands = 2,
    .max_operands = 2,
    .run = run_copy};
