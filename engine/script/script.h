/* script.h - scripts: the part of painless that people write in queries, sorts, updates and aggregations, and
 * Lucene expressions.
 *
 * A script is compiled once to bytecode, immutable and shared by threads (reference-counted). A run belongs
 * to one thread at a time: it holds the parameters and the memory of one execution, and executes the script
 * any number of times. A script sees only what its environment hands it; it cannot reach files, clocks,
 * threads or memory of its own, and ends after a budget of steps. It knows nothing of segments or shards: the
 * caller answers for the current document. */
#ifndef ENGINE_SCRIPT_SCRIPT_H
#define ENGINE_SCRIPT_SCRIPT_H

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/geo.h"
#include "common/base/json.h"

/* The purpose of the script: the names that it sees and the type that it returns. */
enum script_context {
    SCRIPT_SCORE,           /* number; doc, _score, score functions */
    SCRIPT_FIELD,           /* anything; doc, params._source */
    SCRIPT_FILTER,          /* boolean; doc */
    SCRIPT_NUMBER_SORT,     /* number; doc, _score */
    SCRIPT_STRING_SORT,     /* text; doc, _score */
    SCRIPT_AGG,             /* anything; doc, _score, _value */
    SCRIPT_UPDATE,          /* nothing; ctx */
    SCRIPT_BUCKET,          /* number or null: bucket_script */
    SCRIPT_BUCKET_SELECTOR, /* boolean */
    SCRIPT_MOVING_FN,       /* number; values, MovingFunctions */
    SCRIPT_TERMS_SET,       /* number or null; doc: minimum_should_match_script */
    SCRIPT_INGEST,          /* nothing; ctx: a processor of a pipeline */
    SCRIPT_CONDITION,       /* boolean; ctx, which it cannot change: `if` of a processor */
    SCRIPT_AGG_INIT,        /* nothing; state: the stages of scripted_metric */
    SCRIPT_AGG_MAP,         /* nothing; state, doc, _score */
    SCRIPT_AGG_COMBINE,     /* anything; state */
    SCRIPT_AGG_REDUCE       /* anything; states */
};
#define SCRIPT_CONTEXTS (SCRIPT_AGG_REDUCE + 1)

/* ---- what a script sees of the current document ---- */

enum script_doc_type {
    SCRIPT_DOC_LONG,       /* i */
    SCRIPT_DOC_DOUBLE,     /* d */
    SCRIPT_DOC_BOOLEAN,    /* i: 0 or 1 */
    SCRIPT_DOC_DATE,       /* i: milliseconds */
    SCRIPT_DOC_DATE_NANOS, /* i: nanoseconds */
    SCRIPT_DOC_KEYWORD,    /* s: in order, each once */
    SCRIPT_DOC_IP,         /* s: as printed */
    SCRIPT_DOC_GEO,        /* geo */
    SCRIPT_DOC_VECTOR      /* vector: one value at most */
};

/* The values of one field; the arrays are the environment's and live until the run's next document. */
struct script_doc {
    enum script_doc_type type;
    uint32_t n;
    union {
        const int64_t *i;
        const double *d;
        const struct str *s;
        const struct geo_point *geo;
        struct {
            const float *v;
            uint32_t dims; /* without a value, too */
            float magnitude;
        } vector;
    };
};

/* Members may be NULL where the context has no use for them. */
struct script_env {
    void *self;
    /* ERR_ILLEGAL_ARGUMENT "No field found for [..] in mapping", or that the field has no doc values. */
    enum err (*doc_values)(void *self, struct str field, struct script_doc *out, struct errmsg *em);
    double (*score)(void *self);
    /* The document's source, borrowed until the next document; NULL: none. */
    const struct json *(*source)(void *self);
    /* Whether a field of this name can be asked for. */
    bool (*has_field)(void *self, struct str name);
    /* randomScore's number in [0, 1): from a value's text, or (p == NULL) from which document it is. */
    double (*random)(void *self, int32_t seed, struct str text);
    int64_t now_ms;

    bool has_value; /* `_value`, of a value script: a number or a text */
    bool value_whole;
    int64_t value_i;
    double value_d;
    struct str value_s; /* p != NULL: a text */

    const double *values; /* SCRIPT_MOVING_FN */
    uint32_t values_n;
};

/* A number that the caller adds to `params` (a pipeline aggregation's buckets_path). */
struct script_var {
    struct str name;
    double v;
    bool null;
};

/* ---- scripts ---- */

struct script;

/* How long a script may be from now on, on the whole node (script.max_size_in_bytes); as long as it likes until then. Any thread. */
void script_limit_source(size_t bytes);
/* May scripts hold regular expressions (script.painless.regex.enabled)? They may until somebody says otherwise. */
void script_allow_regexes(bool allowed);
bool script_regexes_allowed(void);

/* What a script says. */
struct script_text {
    struct str source, lang; /* lang.n == 0: painless */
    struct str id;           /* of a stored one; p == NULL: it came with the request */
};

/* lang "painless" or "expression". *out holds one reference. ERR_SCRIPT "compile error" around the cause, with the source in
 * em->about; ERR_ILLEGAL_ARGUMENT "script_lang not supported [..]"; ERR_GENERAL_SCRIPT where the language has no scripts of the context. */
enum err script_compile(struct script **out, const struct script_text *t, enum script_context context,
                        struct errmsg *em) NODISCARD;
/* ERR_ILLEGAL_ARGUMENT of a script that came with the request and is longer than script_limit_source() allows. */
enum err script_check_size(const struct script_text *t, struct errmsg *em);
/* The same of a request's form: a text, or an object with source (a text) and lang, or with the id of a stored script (stored.h). */
enum err script_compile_form(struct script **out, const struct json *form, enum script_context context,
                             struct errmsg *em) NODISCARD;
/* A source that is an object is a template, which only other languages compile: ERR_GENERAL_SCRIPT. */
enum err script_template(const struct json *source, struct errmsg *em);
void script_unref(struct script *s); /* NULL ok */
bool script_needs_score(const struct script *s);

/* ---- runs ---- */

struct script_run;

struct script_limits {
    uint64_t steps_max; /* bytecode instructions an execution may take */
    size_t bytes_max;   /* memory an execution may hold */
};
extern const struct script_limits script_limits_default;

/* Whether an expression finds its variables in these parameters (NULL: none), which else is found when a run is made: ERR_SCRIPT "link error" */
enum err script_link(const struct script *s, const struct json *params, struct errmsg *em) NODISCARD;
/* Takes a reference to the script; params (NULL: none) are copied. limits NULL: the default. */
enum err script_run_new(struct script_run **out, struct script *s, const struct json *params,
                        const struct script_limits *limits, struct errmsg *em) NODISCARD;
void script_run_free(struct script_run *run); /* NULL ok */
/* Sets numbers beside the given parameters for the executions that follow; names and array are borrowed. */
void script_run_vars(struct script_run *run, const struct script_var *vars, uint32_t n);

/* Each executes the script once. Errors are ERR_SCRIPT "runtime error" around the cause. */

/* Contexts that return a number; *is_null (may be NULL) where null is allowed (SCRIPT_BUCKET,
 * SCRIPT_TERMS_SET). */
enum err script_number(struct script_run *run, const struct script_env *env, double *out, bool *is_null,
                       struct errmsg *em) NODISCARD;
enum err script_bool(struct script_run *run, const struct script_env *env, bool *out,
                     struct errmsg *em) NODISCARD;
/* The text lives until the next execution. */
enum err script_text(struct script_run *run, const struct script_env *env, struct str *out,
                     struct errmsg *em) NODISCARD;
/* Whatever it returned, in `arena`: an array where it is a list or a set, an array of arrays for a Java array. Dates, addresses
 * and points are as Elasticsearch prints them. */
enum err script_value(struct script_run *run, const struct script_env *env, struct arena *arena,
                      struct json *out, struct errmsg *em) NODISCARD;
/* What an aggregation takes its result for: null, a value or an array of values. Each is a text, as Java's toString() gives it; or, where
 * numbers are asked for, a number (milliseconds of a date), a boolean, and a text for what is neither. */
enum err script_values(struct script_run *run, const struct script_env *env, bool numbers,
                       struct arena *arena, struct json *out, struct errmsg *em) NODISCARD;
/* Does a script of it end without a result, having changed ctx? */
static inline bool script_changes_ctx(enum script_context c)
{
    return c == SCRIPT_UPDATE || c == SCRIPT_INGEST;
}
/* ... or without a result at all? */
static inline bool script_gives_nothing(enum script_context c)
{
    return script_changes_ctx(c) || c == SCRIPT_AGG_INIT || c == SCRIPT_AGG_MAP;
}
/* SCRIPT_CONDITION, of the object `ctx`. */
enum err script_condition(struct script_run *run, const struct script_env *env, const struct json *ctx,
                          bool *out, struct errmsg *em) NODISCARD;
/* SCRIPT_UPDATE and SCRIPT_INGEST: runs on a copy of the object `ctx` and gives what it became, in `arena`. *unwritable (NULL: nobody asks): it ran,
 * and what it left has no JSON form. */
enum err script_update(struct script_run *run, const struct script_env *env, const struct json *ctx,
                       struct arena *arena, struct json *out, bool *unwritable, struct errmsg *em) NODISCARD;

/* ---- states: what the scripts of a scripted_metric leave in each other's hands (states.c) ---- */

/* Many states of one aggregation on one shard, by number. Their memory is one arena, with the ceiling of one execution: what is in no state
 * any more is left behind now and then. One thread at a time. */
struct script_states;

struct script_stages {
    struct script *init; /* NULL: none */
    const struct json *init_params;
    struct script *map, *combine;
    const struct json *map_params, *combine_params;
};

/* Takes references to the scripts; parameters (NULL: none) are copied. */
enum err script_states_new(struct script_states **out, const struct script_stages *stages,
                           const struct allocator *alloc, struct errmsg *em) NODISCARD;
void script_states_free(struct script_states *s); /* NULL ok */
/* Where an environment's values of a document are to live. */
struct arena *script_states_arena(struct script_states *s);
/* Executes `map` on the state of that number, which `init` has made before, once. */
enum err script_states_map(struct script_states *s, uint32_t number, const struct script_env *env,
                           struct errmsg *em) NODISCARD;
/* Appends what `combine` gives for a state, as bytes. ERR_ILLEGAL_ARGUMENT for what cannot travel. */
enum err script_states_combine(struct script_states *s, uint32_t number, struct buf *out,
                               struct errmsg *em) NODISCARD;
/* The bytes of null: of a state that nobody made. */
void script_states_none(struct buf *out);
/* SCRIPT_AGG_REDUCE over n such states: its result as JSON in `arena`, and as bytes again. ERR_CORRUPT. */
enum err script_states_reduce(struct script_run *run, const struct str *states, uint32_t n,
                              struct arena *arena, struct json *out, struct buf *bytes,
                              struct errmsg *em) NODISCARD;

#endif
