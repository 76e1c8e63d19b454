/* by_query_int.h - the inside of by-query operations, for by_query*.c alone. */
#ifndef COORDINATOR_OPS_BY_QUERY_INT_H
#define COORDINATOR_OPS_BY_QUERY_INT_H

#include "coordinator/core/delays.h"
#include "coordinator/ops/by_query.h"
#include "engine/script/script.h"

/* The work of a worker so far; other threads read it while it runs. */
struct by_query_counts {
    _Atomic int64_t total, updated, created, deleted, batches, conflicts, noops, bulk_retries, search_retries;
    _Atomic int64_t throttled_ns;
    _Atomic int64_t until_ns; /* monotonic: when the current wait ends; 0: none was */
    _Atomic float per_second; /* INFINITY: no limit */
    _Atomic bool done;
};

struct by_query_worker {
    struct by_query *op;
    struct task task;                  /* of a slice; the only worker has the operation's */
    int32_t slice, n_slices, max_docs; /* slice -1: the whole */
    struct by_query_counts n;
    struct op_env env;      /* what searches and writes run in: clock, state, memory of one page */
    struct arena own, page; /* until the end; for one page */
    struct search_call *search;
    struct buf scroll; /* id */
    struct write_set set;
    struct delay delay;
    _Atomic float delay_rate; /* the rate that the current wait was made for */
    _Atomic int64_t delay_ns;
    int64_t batch_start_ns; /* of the last one */
    uint32_t batch_n;       /* writes in it */
    uint32_t bulk_tries;
    struct script_run *run;
    struct str *touched; /* indices written to */
    size_t n_touched, touched_cap;
    bool timed_out, refreshed;
    /* how it ended */
    struct buf failures; /* JSON values, a comma between */
    int failure_status;  /* the worst of theirs; 0: none */
    struct buf error;    /* members of an error object without root_cause; n > 0: it failed as a whole */
    struct buf answer;   /* {"error":...,"status":n} */
    int error_status;
};

struct by_query {
    struct coordinator *co;
    struct arena arena;
    struct by_query_spec spec;
    struct task task;
    bool stores; /* no client waits: the result is stored */
    struct by_query_worker *workers;
    uint32_t n_workers;
    _Atomic uint32_t pending;
    _Atomic float per_second; /* of all workers together */
    struct script *script;
    struct errmsg *script_error; /* it does not compile; NULL: it does, or there is none */
    int64_t took_ms;
    struct later end;
};

/* ---- by_query_tasks.c ---- */

extern const struct task_ops by_query_ops, by_query_worker_ops;
bool by_query_cancelled(const struct by_query_worker *w);
int64_t by_query_now_ns(const struct by_query_worker *w); /* monotonic */

/* ---- by_query_batch.c: hits to writes ---- */

/* Makes a page's hits (at most `most`) into w->set. ERR_*: the whole operation fails. Hits that a script
 * skips are counted. */
enum err batch_build(struct by_query_worker *w, uint32_t most, struct errmsg *em);
/* Counts what became of the writes; failures are noted. */
void batch_count(struct by_query_worker *w);
/* Some shards failed: what they say, as failures of the search. */
void batch_note_search(struct by_query_worker *w);

/* ---- by_query_script.c ---- */

struct by_query_doc {                            /* a hit, and the write it becomes */
    struct str index, type, id, routing, source; /* p == NULL: none */
    const struct json *tree;                     /* of the source */
    int64_t version, seq_no, primary_term;
};
enum script_outcome { SCRIPT_WRITES, SCRIPT_SKIPS };
/* Runs the script over a document whose write is *e; it may change it, make it a delete, or skip it. */
enum err by_query_script(struct by_query_worker *w, const struct by_query_doc *d, struct write_entry *e,
                         enum script_outcome *out, struct errmsg *em);

/* ---- by_query_print.c ---- */

enum { PRINT_ALL = 1, PRINT_HUMAN = 2 }; /* counts that the kind of operation never has; times as words */
/* The members of a status. */
void status_members(const struct by_query *op, const struct by_query_worker *w, unsigned flags,
                    struct jsonw *j);
/* The members of the response; `*status` its HTTP status. */
void response_members(const struct by_query *op, unsigned flags, struct jsonw *j, int *status);
void describe_by_query(const struct by_query *op, struct buf *out);

/* ---- by_query_check.c ---- */

/* Where reindexing goes: refused when that is where it comes from. */
enum err by_query_check_target(struct by_query *op, struct errmsg *em);

/* ---- by_query_end.c ---- */

/* All workers have ended: the operation is answered, or its result stored, later (common/base/later.h). */
void by_query_ended(struct by_query *op);

#endif
