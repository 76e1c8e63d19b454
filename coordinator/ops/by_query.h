/* by_query.h - _update_by_query, _delete_by_query and _reindex: documents read by scroll, written back by
 * bulk.
 *
 * An operation has one worker, or one for each slice of the search. A worker goes round: a page of the
 * scroll, its hits made into writes (by a script, if there is one), the bulk, the next page; between two
 * bulks it waits as long as its rate asks. Its memory is that of one page. A conflict (the document changed
 * since the search's snapshot) is counted, and ends the operation unless it shall proceed; any other failed
 * write ends it. What is under way when a client goes is finished all the same; a cancelled operation ends
 * before its next page.
 *
 * The operation is made by the handler that reads the request, in the operation's own memory, and belongs to
 * itself once it runs: it answers who made it, or, when nobody waits, stores its result for _tasks. */
#ifndef COORDINATOR_OPS_BY_QUERY_H
#define COORDINATOR_OPS_BY_QUERY_H

#include "coordinator/core/tasks.h"
#include "coordinator/ops/search.h"
#include "coordinator/ops/writes.h"

enum by_query_kind { BY_QUERY_UPDATE, BY_QUERY_DELETE, BY_QUERY_REINDEX };
enum by_query_routing { ROUTING_KEEP, ROUTING_DISCARD, ROUTING_SET };

#define BY_QUERY_PAGE_DEFAULT 1000   /* documents a page */
#define BY_QUERY_SCROLL_MS    300000 /* how long a page may take */
#define BY_QUERY_SLICES_MAX   1024
#define BY_QUERY_AUTO_MAX     20 /* slices that "auto" makes at most */
#define MAX_DOCS_ALL          (-1)

struct by_query_spec {
    enum by_query_kind kind;
    /* body and tree: what the client asks for, without slice, defaults not applied */
    struct search_opts search;
    int32_t max_docs; /* MAX_DOCS_ALL, or the most to process */
    int32_t slices;   /* 0: as many as the index has shards */
    float per_second; /* INFINITY: no throttling */
    bool proceed;     /* conflicts are no reason to end */
    bool refresh;     /* of what was written, at the end */
    int64_t timeout_ms;
    int32_t active; /* wait_for_active_shards, as active.h has it */
    bool has_script;
    struct str script, lang;
    struct str script_id;      /* of a stored one, whose source and language these are; p == NULL: none */
    const struct json *params; /* NULL: none */
    const struct json *script_template; /* a source that is an object: refused once the operation runs */
    /* where reindexed documents go */
    struct str dest, dest_type, dest_routing, pipeline; /* dest_type.n == 0: `_doc` */
    bool dest_create, require_alias;
    bool is_remote; /* the documents are another cluster's: refused */
    int dest_version_type;
    enum by_query_routing routing;
    bool human; /* times as words, too */
    /* Once, if somebody waits, on any thread, never inside by_query_run(); takes `body`. failed: it is an error's. */
    void (*answer)(void *arg, int status, struct buf *body, bool failed);
    void *arg;
};

struct by_query;

/* An operation for whom `env` is of, empty but for defaults: fill *spec with what lives in *arena. NULL: no memory. */
struct by_query *by_query_new(struct op_env *env, struct by_query_spec **spec, struct arena **arena);
/* One that does not run. */
void by_query_free(struct by_query *op);
/* What the parts of the request forbid each other: ERR_ACTION_VALIDATION. `source` is the search as
 * parsed. */
enum err by_query_validate(const struct by_query_spec *s, const struct search_source *source,
                           struct errmsg *em);
/* Runs it. task == NULL: spec.answer() comes at the end; else nobody waits, and *task is the number of its task. ERR_NO_MEMORY: it is
 * gone, without an answer. */
enum err by_query_run(struct by_query *op, uint64_t *task, struct errmsg *why);

#endif
