/* allocation_int.h - declarations shared by the parts of an allocation. */
#ifndef MASTER_ALLOCATION_INT_H
#define MASTER_ALLOCATION_INT_H

#include "master/allocation.h"

struct alloc_node {
    const struct node_meta *node;
    uint32_t shards;               /* copies here, arriving ones too, leaving ones not */
    uint32_t incoming, outgoing;   /* recoveries from other nodes, to other nodes */
    uint32_t initial_primaries;    /* recovering from their own disk, or empty */
    uint32_t of_index;             /* scratch: copies of the index at hand */
    double weight;                 /* scratch: balance_weight() */
    const struct disk_usage *disk; /* NULL: unknown */
};

struct alloc {
    const struct alloc_env *env;
    struct state_builder *b;
    struct arena arena;
    struct alloc_node *nodes; /* those that hold data */
    uint32_t n_nodes;
    /* routing that this allocation has copied and may change, by place in the state */
    struct index_routing **own;
    uint32_t n_own;
    uint32_t relocating;                   /* in the whole cluster */
    uint32_t shards;                       /* of all nodes together */
    uint32_t inactive, inactive_primaries; /* copies that do not serve, when they were counted */
    double by_index, by_shard, threshold;  /* of weights, from settings */
    bool manual; /* a command of an operator's: switched-off allocation does not hold it back */
    bool changed;
    struct errmsg *em;
    enum err err; /* sticks: no memory */
};

enum decision { DECIDE_YES, DECIDE_THROTTLE, DECIDE_NO };
struct verdict { /* of one decider; texts are static or in the arena */
    const char *decider;
    enum decision decision;
    struct str explanation;
};
#define DECIDERS_MAX 16
struct verdicts {
    struct verdict v[DECIDERS_MAX];
    uint32_t n;
};

void alloc_no_memory(struct alloc *a); /* a->err */
void alloc_begin(struct alloc *a, const struct alloc_env *env, struct state_builder *b, struct errmsg *em);
void alloc_end(struct alloc *a);
/* Counts what is where. */
void alloc_count(struct alloc *a);
struct alloc_node *alloc_node_of(struct alloc *a, struct str node_id); /* NULL: gone, or holds no data */
/* Routing and metadata of an index, to change. NULL: no memory (a->err). */
struct index_routing *alloc_routing(struct alloc *a, struct str index);
struct index_meta *alloc_meta(struct alloc *a, struct str index);
/* A copy loses its node. A primary's place goes to an in-sync replica, when there is one. */
void alloc_unassign(struct alloc *a, struct str index, uint32_t shard, uint32_t copy, enum copy_reason reason,
                    struct str details, bool count_failure);
/* The primary goes to this node, and on with what is there. If that is what a replica left, then what the primary left is where the
 * replica's node is waited for. Of routing that is ours to change. */
void alloc_swap_last(struct shard_routing *s, struct str node);
/* Of a copy in routing that is ours to change. */
void alloc_initialize(struct alloc *a, struct index_routing *r, struct shard_copy *c, struct alloc_node *n,
                      struct str allocation_id);
void alloc_relocate(struct alloc *a, struct index_routing *r, struct shard_copy *c, struct alloc_node *to);
/* The copy stays where it is. */
void alloc_cancel_move(struct alloc *a, struct str index, uint32_t shard, uint32_t copy);
struct str alloc_new_id(struct alloc *a, struct arena *in);
int64_t alloc_node_left_delay(const struct index_meta *m);
/* ---- reroute_parse.c ---- */
#define REROUTE_KINDS 5
struct command_form {
    const char *name, *decider;
    const char *flag; /* NULL: none */
    bool moves;       /* from_node and to_node; else node */
};
extern const struct command_form reroute_forms[REROUTE_KINDS]; /* by enum reroute_kind */

/* ---- explain_answer.c ---- */
/* A copy that is explained, and what it was found by. */
struct explained {
    struct alloc a;
    const struct explain_question *q;
    const struct index_meta *m;
    const struct index_routing *r;
    const struct shard_routing *s;
    const struct shard_copy *c;
    uint32_t shard;
    struct jsonw *w;
    struct errmsg *em;
};
enum err explain_write(struct explained *x);

/* ---- deciders.c, decide_place.c: `all` collects what each says; else the first NO ends it ---- */
/* Is the disk fuller than a watermark says: "85%" of it used, or less than "500mb" free? */
bool disk_beyond(struct str watermark, const struct disk_usage *d);
/* Keeps a decider's word; true: go on asking. */
bool decider_said(struct alloc *a, struct verdicts *all, enum decision *worst, const char *decider,
                  enum decision d, const char *why, ...) __attribute__((format(printf, 6, 7)));
/* Single rules; as decider_said(). */
bool decide_by_filter(struct alloc *a, const struct index_meta *m, const struct alloc_node *n,
                      struct verdicts *all, enum decision *worst);
bool decide_by_shards_limit(struct alloc *a, const struct index_meta *m, const struct alloc_node *n,
                            bool stays, struct verdicts *all, enum decision *worst);
bool decide_by_disk(struct alloc *a, const struct shard_copy *c, const struct alloc_node *n, bool stays,
                    struct verdicts *all, enum decision *worst);
bool decide_by_awareness(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                         const struct shard_copy *c, const struct alloc_node *n, struct verdicts *all,
                         enum decision *worst);
enum decision decide_allocate(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                              const struct shard_copy *c, const struct alloc_node *n, struct verdicts *all);
enum decision decide_remain(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                            const struct shard_copy *c, const struct alloc_node *n, struct verdicts *all);
/* May copies move for balance at all, now? And this one? */
enum decision decide_rebalance(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                               const struct shard_copy *c, struct verdicts *all);
/* The part of it that is about no copy. */
enum decision decide_rebalance_at_all(struct alloc *a);

const char *decision_name(enum decision d); /* "YES" */
/* As an array of objects: all, or (without `all`) only what is not YES. */
void verdicts_write(const struct verdicts *v, bool all, struct jsonw *w);

/* ---- assign.c ---- */
void assign_copies(struct alloc *a, bool primaries, struct alloc_wants *wants);

/* ---- balance.c ---- */
void balance_read_factors(struct alloc *a);
/* The lighter, the better a place for another copy of the index (whose of_index counts are set).
 * Elasticsearch's weight function. */
double balance_weight(const struct alloc *a, const struct index_meta *m, const struct alloc_node *n);
void balance_count_index(struct alloc *a, const struct index_routing *r);
struct alloc_node *balance_best(struct alloc *a, const struct index_meta *m, const struct index_routing *r,
                                const struct shard_routing *s, const struct shard_copy *c, bool *throttled);
void balance_moves(struct alloc *a);
void balance_rebalance(struct alloc *a);

#endif
