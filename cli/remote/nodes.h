/* nodes.h - the servers behind a URL: one of them, or a cluster whose slots move. */
#ifndef EVERBLOOM_NODES_H
#define EVERBLOOM_NODES_H
#include "resp.h"
#include <stdint.h>

enum { NODES_SLOTS = 16384, NODES_MAX = 1000 };
typedef struct nodes {
    resp *node[NODES_MAX];
    size_t n;
    bool cluster;
    uint16_t owner[NODES_SLOTS]; /* index of a node; NODES_MAX: nobody */
    bool has_replica[NODES_MAX];
    double alone_until[NODES_MAX]; /* its replicas are late: no waiting for them until then */
    bool waits[NODES_MAX];         /* a WAIT was sent and is not answered */
    char user[128], password[256];
} nodes;

/* A URL: redis://[user:password@]host[:port]/name[?shards=N].  Ends the program if it is wrong. */
typedef struct nodes_url {
    char host[RESP_HOST], user[128], password[256], name[256];
    int port;
    uint64_t shards; /* 0: not given */
} nodes_url;
bool nodes_is_url(const char *text);
nodes_url nodes_parse(const char *text);

void nodes_open(nodes *c, const nodes_url *url); /* ends the program if nobody answers */
void nodes_close(nodes *c);
unsigned nodes_slot(const char *key);
/* A node that is connected and greeted; false: it does not answer, and its `why` says so. */
bool nodes_ready(nodes *c, size_t node);
size_t nodes_find(nodes *c, const char *host, int port); /* a new one if need be */
size_t nodes_owner(const nodes *c, const char *key);
bool nodes_refresh(nodes *c); /* asks whoever answers who owns the slots */
/* What a refusal says: MOVED and ASK give the node to go to. */
typedef enum nodes_verdict {
    NODES_FINE,
    NODES_MOVED,
    NODES_ASK,
    NODES_LATER,
    NODES_REFUSED
} nodes_verdict;
nodes_verdict nodes_judge(nodes *c, const reply *p, size_t *to);
/* One command about a key, until it is answered.  Ends the program if it never is, not if it is
 * refused. */
void nodes_do(nodes *c, const char *key, size_t n, const char *const *arg, const size_t *len,
              reply *out);

/* Is what was just added on a replica, too?  The command goes behind those that add; its answer
 * comes behind theirs.  A cluster answers before it copies: without this, what a node had answered
 * could die with it. */
typedef enum nodes_confirmed {
    NODES_SAFE,  /* it is, or there is no replica */
    NODES_ALONE, /* no replica said so in time */
    NODES_LOST   /* the node failed before it said anything */
} nodes_confirmed;
void nodes_wait_command(nodes *c, size_t node);
nodes_confirmed nodes_wait_answer(nodes *c, size_t node);

/* Waiting: how long it lasts, and what the user hears of it. */
typedef struct nodes_patience {
    double since; /* 0: nothing is wrong */
    char who[RESP_HOST + 260];
    double longest;
    uint64_t failures;
} nodes_patience;
void nodes_wait(nodes_patience *p, const resp *who, const char *why);
void nodes_resume(nodes_patience *p);
extern nodes_patience nodes_trouble;
#endif
