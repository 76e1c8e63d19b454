/* metadata.h - changes of the cluster's metadata: pure functions from one state to the next.
 *
 * A request names an action and carries its body as JSON; metadata_apply() checks it against the current
 * state and makes the next one, or refuses. No clock, no random but what the environment offers; mappings and
 * analyzers are checked through a table that the node fills in (the engine is not known here). The master
 * runs these one after the other. */
#ifndef MASTER_METADATA_H
#define MASTER_METADATA_H

#include "common/base/clock.h"
#include "common/base/jsonw.h"
#include "common/base/later.h"
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
    META_CLUSTER_SETTINGS,
    META_REROUTE,        /* body: commands; response: see meta_reroute_response() */
    META_EXPLAIN,        /* changes nothing; body: which copy; response: the answer */
    META_EXCLUDE_VOTERS, /* names: nodes */
    META_CLEAR_EXCLUSIONS,
    META_PUT_SCRIPT, /* name: its id; body: lang, source, content_type (where it has one) */
    META_DELETE_SCRIPT,
    META_PUT_PIPELINE,    /* name: its id; body: the definition */
    META_DELETE_PIPELINE, /* name: a pattern of ids */
    META_ACTIONS          /* how many there are */
};

/* Bits of meta_request.options. */
enum {
    META_DRY_RUN = 1,       /* META_REROUTE, META_PUT_TEMPLATE: */
    META_SAY_WHY = 2,       /* what was decided is in the response */
    META_RETRY_FAILED = 4,  /* failures counted are forgotten */
    META_WANT_STATE = 8,    /* a dry run's state is in the response */
    META_INCLUDE_YES = 16,  /* META_EXPLAIN: deciders that have nothing against it, too */
    META_INCLUDE_DISK = 32, /* and what is known of disks */
    META_BY_ID = 64,        /* META_EXCLUDE_VOTERS: names are ids */
    META_BY_NAME = 128      /* exact names; neither: anything that names nodes */
};

/* One change of META_ALIASES, on one index. */
struct alias_action {
    enum alias_kind { ALIAS_ADD, ALIAS_REMOVE, ALIAS_REMOVE_INDEX } kind;
    struct str index;          /* concrete */
    const struct str *aliases; /* ALIAS_REMOVE: may be patterns */
    uint32_t n_aliases;
    struct alias_meta alias; /* ALIAS_ADD: everything but the name */
    bool must_exist;         /* the index has the alias already */
};

struct alloc_env;

struct meta_request {
    enum meta_action action;
    struct arena arena;      /* the answer's memory, and whatever the caller put there */
    const struct str *names; /* concrete indices, or template names */
    uint32_t n_names;
    struct str
        uuid; /* META_PUT_MAPPING: the index that is meant, should another have got its name; n == 0: any */
    struct str
        type; /* META_PUT_MAPPING, META_CREATE_INDEX, META_PUT_TEMPLATE: the name of the mapping's one type; n == 0: whatever it is, or `_doc` */
    struct json body; /* as META_* says; JSON_NULL: none */
    struct str text;  /* its text, for places in errors */
    enum template_kind template_kind;
    struct str
        provided; /* META_CREATE_INDEX: the name as it was given, with its date math; n == 0: the index's */
    bool auto_create;       /* META_CREATE_INDEX: because a document was sent */
    bool create_only;       /* META_PUT_TEMPLATE */
    bool preserve_existing; /* META_UPDATE_SETTINGS */
    bool flat;              /* META_CLUSTER_SETTINGS: the answer's settings */
    unsigned options;       /* META_DRY_RUN and the like */
    /* META_ALIASES; META_CREATE_INDEX: what an alias becomes in the same state (a rollover), the new index's action first. The caller
     * keeps them alive. */
    const struct alias_action *alias_actions;
    uint32_t n_alias_actions;
    int64_t timeout_ms;
    /* the answer */
    struct errmsg error; /* empty: fine; in the arena */
    bool changed;
    bool acknowledged;   /* every node has applied it, not just a majority */
    struct str response; /* JSON that the action has to say (cluster settings); n == 0: none */
    void (*done)(struct meta_request *rq);
    void *user;
    struct meta_request *next;
    struct later end; /* when there was no memory to submit it */
};
void meta_request_init(struct meta_request *rq, enum meta_action action, void (*done)(struct meta_request *),
                       void *user);
void meta_request_fini(struct meta_request *rq);

struct metadata_env {
    const struct clock *clock;
    struct rng *rng;
    void *self;
    /* Checks a mapping body for an index with these settings (names without "index."), merging it into `old`
     * (JSON text; n == 0: a new index), and appends the merged mapping as the API prints it. `type` is the name that errors have for it. */
    enum err (*merge_mapping)(void *self, const struct settings *index_settings, struct str old,
                              struct str type, const struct json *body, struct buf *out, struct errmsg *em);
    /* Checks the analysis part of an index's settings. */
    enum err (*check_analysis)(void *self, const struct settings *index_settings, struct errmsg *em);
    /* Checks an alias filter: a query's JSON, by the index's settings and mapping (`index` NULL: without). */
    enum err (*check_query)(void *self, const struct json *query, struct str text,
                            const struct index_meta *index, struct errmsg *em);
    /* What is known of disks and of copies on them; NULL: nothing. */
    const struct alloc_env *alloc;
};

/* The next state in *next, or NULL when nothing changes. On failure *next is NULL. */
enum err metadata_apply(const struct metadata_env *env, const struct cluster_state *cur,
                        struct meta_request *rq, struct cluster_state **next, struct errmsg *em);

/* What is known of an alias from its JSON ({"filter":..., "routing":...}), in `arena`: filter as compact
 * JSON. Values of other types than theirs are nothing, or, where `lenient`, read as what they say (errors
 * then). */
enum err alias_from_json(struct alias_meta *out, const struct json *body, bool lenient, struct arena *arena,
                         struct errmsg *em);
/* As the API prints it: filter, index_routing, search_routing, is_write_index, is_hidden. */
void alias_write(const struct alias_meta *a, struct jsonw *w);
/* Could one index name match both templates? */
bool templates_overlap(const struct template_meta *a, const struct template_meta *b);
/* The index template that a new index of this name takes its shape from; NULL: none. */
const struct template_meta *template_for_index(const struct cluster_state *s, struct str name, bool hidden);

/* What makes a new index: layers of settings, mappings and aliases, merged in Elasticsearch's order. */
struct index_recipe {
    struct settings settings;
    struct json mapping; /* JSON_NULL: none */
    struct str type;     /* of its own name; n == 0: `_doc` */
    struct alias_meta *aliases;
    uint32_t n_aliases;
    size_t aliases_cap;
};
/* From the templates that match the name and, last, `body` (may be NULL), whose mapping is of this type. All in `arena`. */
enum err index_recipe_make(struct index_recipe *out, const struct cluster_state *s, struct str name,
                           const struct json *body, struct str type, struct arena *arena, struct errmsg *em);
/* ERR_ILLEGAL_ARGUMENT: a template that matches the name of a new index has the alias, which would then name two. Templates of all names
 * match no hidden ones. */
enum err index_recipe_lacks_alias(const struct cluster_state *s, struct str name, struct str alias,
                                  bool hidden, struct arena *arena, struct errmsg *em);
/* The same from one composable template (its body as JSON) and the components it names. */
enum err index_recipe_of_template(struct index_recipe *out, const struct cluster_state *s,
                                  const struct json *composable, struct arena *arena, struct errmsg *em);

/* What META_REROUTE answers: the explanations (JSON; n == 0: none) and, of a dry run, the state that would have
 * come of it (NULL: none; the caller's). false: not such a response. */
bool meta_reroute_response(struct str response, struct str *explanations,
                           struct cluster_state **state) NODISCARD;
/* Do some of the excluded nodes still vote? */
bool exclusions_pending(const struct cluster_state *s);

/* The state as it would be with this composable template (its name and body given), mappings unchecked; a
 * reference. */
enum err metadata_with_template(const struct cluster_state *cur, struct str name, const struct json *body,
                                struct str text, struct cluster_state **out, struct errmsg *em);

/* Do the cluster's settings go together, as `all` and what is behind it have them? ERR_ILLEGAL_ARGUMENT. */
enum err cluster_settings_fit(const struct settings *all, struct errmsg *em);
/* A template's or a request's mapping without the name of its type, which goes into *type (n == 0: `_doc`). `v` may be NULL. */
const struct json *mapping_untyped(const struct json *v, struct str *type);
/* Is the name fit for a type? ERR_INVALID_TYPE_NAME, ERR_ILLEGAL_ARGUMENT, ERR_MAPPER_PARSING as Elasticsearch words it. */
enum err type_name_check(struct str type, struct errmsg *em);
/* ERR_ILLEGAL_ARGUMENT: an index has no second type. */
enum err type_rejected(const struct index_meta *m, struct str type, struct errmsg *em);
/* Is the name fit for a new index? ERR_INVALID_INDEX_NAME as Elasticsearch words it. */
enum err index_name_check(struct str name, struct errmsg *em);
/* ... and free: ERR_INDEX_EXISTS, or ERR_INVALID_INDEX_NAME where an alias has it. */
enum err index_name_free(const struct cluster_state *cur, struct str name, struct errmsg *em);
/* 22 characters of base64url: 16 random bytes. `out` takes 23. */
void random_uuid(struct rng *rng, char out[23]);

#endif
