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
    uint64_t again;       /* keys that were sent once more after a failure */
    uint64_t unconfirmed; /* keys of which no replica said in time that it has them */
    struct remote_shard *shard;
} remote;

/* Opens the filter of a URL.  spec: makes it if it is not there, with its memory shared among the
 * shards; NULL: it must be there.  Ends the program if that fails. */
void remote_open(remote *r, const char *url, const char *spec);
void remote_close(remote *r);
void remote_hash(const remote *r, const eb_key *key, size_t n, eb_hash *out);
/* Adds, asks or counts n keys, in order.  Adds go on until the node that has the filter and, in a
 * cluster, one of its replicas have them: what was answered survives the death of a node. */
typedef enum remote_verb { REMOTE_ADD, REMOTE_ASK, REMOTE_COUNT, REMOTE_LIST } remote_verb;
typedef struct remote_batch {
    remote_verb verb;
    size_t n;
    const eb_hash *hash;
    const eb_key *key;     /* REMOTE_LIST: adds keys themselves, to a filter that keeps some */
    const uint64_t *value; /* of REMOTE_LIST, or NULL */
    uint8_t *seen;         /* out: of REMOTE_ADD and REMOTE_ASK */
    double *count;         /* out: of REMOTE_COUNT */
    /* out, or NULL: 1 if no answer came to the first sending, because a node failed: then the
     * answer may be of our own making. */
    uint8_t *again;
} remote_batch;
void remote_do(remote *r, const remote_batch *b);
/* EB.TOP of a shard: the watermark, then item, count and lower count of each; free it. */
void remote_top(remote *r, size_t shard, uint64_t most, double at_least, reply *out);
#endif
