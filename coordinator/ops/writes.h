/* writes.h - a set of document writes: routed to their shards, sent at once, gathered.
 *
 * Indices that are missing are created first (auto-create), one after the other. Each item ends with its
 * result or its error; only what no item can be blamed for fails the whole. */
#ifndef COORDINATOR_OPS_WRITES_H
#define COORDINATOR_OPS_WRITES_H

#include "common/base/map.h"
#include "coordinator/core/active.h"
#include "coordinator/core/delays.h"
#include "coordinator/core/op_env.h"
#include "coordinator/core/tasks.h"

/* The members of an update's body. */
struct update_parts {
    bool doc, script, upsert;
};

struct write_entry {
    struct write_item item;                    /* as for the shard; the answer is copied back into it */
    struct str target;                         /* the index or alias as named */
    const char *action;                        /* "index", "create", "update", "delete" */
    struct str pipeline;                       /* as asked for; "_none" and n == 0: none */
    struct str first_pipeline, final_pipeline; /* that it passes; p == NULL, "_none": none */
    bool ingests;                              /* it passes one at least */
    bool dropped;                              /* a pipeline ended its way: nothing is written */
    bool require_alias;
    bool auto_id;                      /* it gets one when its index is there; until then item.id.p == NULL */
    const struct update_parts *update; /* of an update */
    /* resolved */
    struct str index; /* concrete name */
    const struct index_meta *meta;
    uint32_t shard;
    struct errmsg *error;              /* refused before any shard saw it */
    uint32_t copies_ok, copies_failed; /* of its shard */
};

struct write_try {    /* of one shard's items */
    struct task task; /* of the whole time */
    const struct shard_write *rq;
    struct state_wait wait;
    uint64_t seen;  /* the states that there had been when they were sent */
    uint32_t n;     /* how often that was */
    uint32_t looks; /* for the mapping that their documents have */
};

struct write_set {
    struct op_env *r;
    struct write_entry *v;
    uint32_t n;
    enum refresh_policy refresh;
    int64_t timeout_ms, since_ms; /* since_ms: monotonic, when it began */
    int32_t active;               /* wait_for_active_shards, as active.h has it */
    bool forced_refresh;
    bool blocked; /* no entry was looked at: nothing may be written in this cluster; the first says why */
    void (*done)(struct write_set *w); /* on any thread */
    void *user;
    uint64_t parent_task; /* 0: none */
    /* own */
    struct map pipelines; /* of indices, by the names that entries have */
    bool ingests;         /* some entry passes a pipeline */
    int64_t ingest_ms;    /* how long they took */
    void (*after_ingest)(void *w);
    struct later end;
    struct task task;
    struct shard_write *shard_writes;
    struct write_try *tries;   /* one each */
    struct active_wait *waits; /* one each */
    const struct index_meta **meta_of;
    uint32_t n_shard_writes;
    _Atomic uint32_t pending;
    uint32_t creating; /* next entry whose index may have to be made */
    struct state_wait master_wait;
    struct op_span names; /* of the items, by their places */
    bool named;
};

/* Runs it; everything lives in r->arena. done() is never called inside the call. */
void writes_run(struct write_set *w);
/* Frees what the shards answered with: to be called once the answer is written. */
void writes_fini(struct write_set *w);
/* A new document id, 20 characters, in the arena. */
struct str writes_auto_id(struct op_env *r);
/* What is wrong with the entries of one request. */
struct write_complaints {
    struct buf text;
    unsigned n;
};
void write_complaints_init(struct write_complaints *c);
/* Adds what Elasticsearch says of an entry's combination of id, version and conditions. */
void writes_complain(struct write_complaints *c, const struct write_entry *e);
/* Frees it. ERR_ACTION_VALIDATION where there was anything. */
enum err writes_complained(struct write_complaints *c, struct errmsg *em);
/* The same for one entry. */
enum err writes_validate(const struct write_entry *e, struct errmsg *em);
/* The members of one result: _index ... _primary_term (an error is the caller's). */
void writes_result(struct jsonw *w, const struct write_entry *e, bool forced_refresh, bool in_bulk);
int writes_status(const struct write_entry *e);

#endif
