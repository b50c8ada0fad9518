/* remote.h - one filter on a server, or spread over a cluster.
 *
 * On one server a filter has the key `name`.  In a cluster it is S filters {name:0} ... {name:S-1},
 * which lie in slots of their own; a key's hash chooses one of them.  What all writers must agree
 * on, S and the spec with its seed, is the text under {name:0}:everbloom, which the first of them
 * writes. */
#ifndef EVERBLOOM_REMOTE_H
#define EVERBLOOM_REMOTE_H
#include "cli.h"
#include "nodes.h"

typedef struct remote {
    nodes nodes;
    nodes_url url;
    size_t shards;
    char spec[EB_SPEC_MAX];
    eb_filter *hasher;    /* a small filter that hashes as they do */
    uint64_t keys, again; /* sent; sent once more after a failure */
    struct remote_shard *shard;
} remote;

/* Opens the filter of a URL.  spec: makes it if it is not there, with its memory shared among the
 * shards; NULL: it must be there.  Ends the program if that fails. */
void remote_open(remote *r, const char *url, const char *spec);
void remote_close(remote *r);
void remote_hash(const remote *r, const eb_key *key, size_t n, eb_hash *out);
/* Adds, asks or counts n hashes, in order.  again[i], or NULL: 1 if the key was sent twice, because
 * a node failed before it answered: then its answer may be of our own making. */
typedef enum remote_verb { REMOTE_ADD, REMOTE_ASK, REMOTE_COUNT } remote_verb;
void remote_do(remote *r, remote_verb verb, const eb_hash *hash, size_t n, uint8_t *seen,
               double *count, uint8_t *again);
#endif
