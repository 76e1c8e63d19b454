/* metadata.h - changes of the cluster's metadata: pure functions from one state to the next.
 *
 * A request names an action and carries its body as JSON; metadata_apply() checks it against the current state and makes
 * the next one, or refuses. No clock, no random but what the environment offers; mappings and analyzers are checked through
 * a table that the node fills in (the engine is not known here). The master runs these one after the other. */
#ifndef MASTER_METADATA_H
#define MASTER_METADATA_H

#include "common/base/clock.h"
#include "common/base/rand.h"
#include "common/cluster/state.h"

enum meta_action {
    META_CREATE_INDEX,
    META_DELETE_INDEX,
    META_PUT_MAPPING,
    META_UPDATE_SETTINGS,
    META_OPEN_INDEX,
    META_CLOSE_INDEX,
    META_ALIASES,
    META_PUT_TEMPLATE,
    META_DELETE_TEMPLATE,
    META_CLUSTER_SETTINGS
};

struct meta_request {
    enum meta_action action;
    struct arena arena; /* the answer's memory, and whatever the caller put there */
    const struct str *names; /* concrete indices, or template names */
    uint32_t n_names;
    struct json body;        /* as META_* says; JSON_NULL: none */
    struct str text;         /* its text, for places in errors */
    enum template_kind template_kind;
    bool auto_create;        /* META_CREATE_INDEX: because a document was sent */
    bool create_only;        /* META_PUT_TEMPLATE */
    bool preserve_existing;  /* META_UPDATE_SETTINGS */
    int64_t timeout_ms;
    /* the answer */
    struct errmsg error; /* n == 0: fine */
    bool changed;
    struct str response; /* JSON that the action has to say (cluster settings); n == 0: none */
    void (*done)(struct meta_request *rq);
    void *user;
    struct meta_request *next;
};
void meta_request_init(struct meta_request *rq, enum meta_action action, void (*done)(struct meta_request *), void *user);
void meta_request_fini(struct meta_request *rq);

struct metadata_env {
    const struct clock *clock;
    struct rng *rng;
    void *self;
    /* Checks a mapping body for an index with these settings (names without "index."), merging it into `old` (JSON text; n ==
     * 0: a new index), and appends the merged mapping as the API prints it. */
    enum err (*merge_mapping)(void *self, const struct settings *index_settings, struct str old, const struct json *body,
                              struct buf *out, struct errmsg *em);
    /* Checks the analysis part of an index's settings. */
    enum err (*check_analysis)(void *self, const struct settings *index_settings, struct errmsg *em);
    /* Checks an alias filter or the like: a query's JSON without mapping. */
    enum err (*check_query)(void *self, const struct json *query, struct str text, struct errmsg *em);
};

/* The next state in *next, or NULL when nothing changes. On failure *next is NULL. */
enum err metadata_apply(const struct metadata_env *env, const struct cluster_state *cur, struct meta_request *rq,
                        struct cluster_state **next, struct errmsg *em);

/* Is the name fit for a new index? ERR_INVALID_INDEX_NAME as Elasticsearch words it. */
enum err index_name_check(struct str name, struct errmsg *em);
/* 22 characters of base64url: 16 random bytes. `out` takes 23. */
void random_uuid(struct rng *rng, char out[23]);

#endif
