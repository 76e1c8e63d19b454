/* agg_int.h - an aggregation of a request: checked, and independent of any mapping.
 *
 * The tree of `struct agg` is made once by aggs_parse() and never changes; shards collect by it, coordinators
 * reduce by it. Internal to engine/aggs. */
#ifndef ENGINE_AGGS_AGG_INT_H
#define ENGINE_AGGS_AGG_INT_H

#include "common/base/geo.h"
#include "common/base/json_pull.h"
#include "common/base/rounding.h"
#include "engine/aggs/agg_list.h"
#include "engine/aggs/aggs.h"

struct agg;
struct agg_parse;

enum agg_class { CLASS_SINGLE, CLASS_MULTI, CLASS_METRIC, CLASS_SIBLING, CLASS_PARENT };

struct agg_bucket;
struct agg_key;
struct agg_result;
struct agg_run;
struct collector;
struct gathered;
struct reduce;
struct result_reading;

/* A type of aggregations, whole: its row stands in a file of its family. What may be NULL says so. */
struct agg_type {
    const char *name;
    enum agg_class class;
    size_t params_size,
        result_size; /* of its structs of parameters (AGG_PARAMS) and of results (AGG_RESULT) */
    /* Takes the definition apart: `body` is the object behind the type's name. */
    enum err (*parse)(struct agg_parse *p, struct agg *a, const struct json *body);
    /* Makes what gathers it on a shard. NULL: pipelines. */
    enum err (*collector)(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em);

    /* Elasticsearch's classes, as its errors name them: the builder (NULL where none is named), the factory of those with
     * buckets, results by form (texts, whole numbers, others, unmapped; the first where the rest is NULL; none: numbers). */
    const char *builder, *factory, *results[4];
    /* What typed_keys shows, by form as above; NULL: the name. */
    const char *typed[4];
    const char *(*typed_of)(const struct agg *a); /* ... where the parameters decide; NULL: they do not */

    /* Properties of definitions. NULL: no. */
    bool top_only; /* global: collects whatever the query finds */
    bool nests;    /* nested: goes down to documents within documents */
    bool (*every_document)(const struct agg *a);
    bool (*wants_scores)(const struct agg *a);
    /* Buckets in the order of numbers, which pipelines in sequence need: whether without gaps. NULL: none such. */
    bool (*gapless)(const struct agg *a);
    struct agg_key (*next_key)(const struct agg *a,
                               struct agg_key k); /* of such: where the next bucket begins */
    bool key_no_number;                           /* dates and cells */
    /* The name that an order by this metric may use (NULL: none), and whether that value is a number. */
    bool (*has_value)(const struct agg *a, struct str key);
    bool named_by_number;

    /* The bytes that its results have beside the form and the shape: of all the buckets, and of one after its document
     * count (NULL: nothing, and its key). Metrics: the first two. Pipelines: none. */
    void (*put)(struct buf *b, const struct agg_result *r);
    enum err (*get)(const struct result_reading *d, struct agg_result *r);
    void (*put_bucket)(struct buf *b, const struct agg *a, const struct agg_bucket *k);
    enum err (*get_bucket)(const struct result_reading *d, const struct agg *a, struct agg_bucket *k);
    bool any_keys; /* keys of buckets are not all of the result's form */

    /* One result out of those of n shards. NULL: pipelines. */
    enum err (*reduce)(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                       struct agg_result *out);
    bool java_queue; /* its sorted lists are merged by Java's queue: equal ones come in another order */

    /* Prints a result of one that has no buckets, or what stands before the list of them (then it may be NULL). */
    void (*print)(const struct agg_result *r, struct jsonw *w);
    /* Many buckets: one's members before and after its document count; after all of them. The last two may be NULL. */
    void (*print_bucket)(const struct agg_result *r, const struct agg_bucket *b, bool keyed, struct jsonw *w);
    void (*print_counts)(const struct agg_result *r, const struct agg_bucket *b, struct jsonw *w);
    void (*print_after)(const struct agg_result *r, struct jsonw *w);
    bool (*keyed)(const struct agg *a); /* NULL: never */
    bool plain_keys; /* keys are texts that are shown as they are, whatever the field's form */
    /* What pipelines call a bucket without a key, by its place; NULL: all have keys. */
    void (*place_text)(const struct agg *a, uint32_t place, struct buf *out);

    /* The single value; NULL: there are none or several. */
    double (*number)(const struct agg_result *r);
    /* Others by name (key.p may be NULL only for pipelines). NULL: there are none. */
    enum err (*value)(const struct agg_result *r, struct str key, double *out, struct errmsg *em);

    /* Pipelines: checks it against the aggregation around it. Then one of two: the result over the buckets of `of`; or
     * what becomes of the values of a sibling's buckets. */
    enum err (*validate)(struct agg_parse *p, const struct agg *level, const struct agg *a);
    enum err (*run)(struct reduce *r, const struct agg *p, struct agg_result *of);
    enum err (*finish)(struct reduce *r, const struct agg *p, const struct agg_result *of, struct gathered *g,
                       struct agg_result *out);
};

#define AGG_TYPE_ROW(name) extern const struct agg_type agg_##name;
AGG_TYPES(AGG_TYPE_ROW)
#undef AGG_TYPE_ROW
extern const struct agg_type agg_type_root;
extern const struct agg_type *const agg_types[]; /* NULL-terminated */

const struct agg_type *agg_type_find(struct str name);
/* Elasticsearch has it; agg_type_find() says whether Serai does. */
bool agg_type_known(struct str name);
/* Names of all types, NULL-terminated, for suggestions. */
extern const char *const agg_type_names[];

/* "price_of>stats.avg": names of aggregations, and of the value that the last has to give. */
struct agg_step {
    struct str name, key; /* key.p == NULL: none */
};
struct agg_path {
    struct str text;
    const struct agg_step *v;
    uint32_t n;
};

enum order_by { ORDER_COUNT, ORDER_KEY, ORDER_PATH };
struct agg_order {
    enum order_by by;
    bool asc;
    struct agg_path path;
};
struct agg_orders { /* the last one is always by key: orders are total */
    const struct agg_order *v;
    uint32_t n;
};

enum value_type { VT_NONE, VT_STRING, VT_LONG, VT_DOUBLE, VT_DATE, VT_IP, VT_BOOLEAN };

/* Where values come from. */
struct source_spec {
    struct str field; /* p == NULL: none */
    const struct json *missing, *script;
    struct str format;
    enum value_type value_type;
    const struct zone *zone; /* NULL: none given */
};

struct agg {
    const struct agg_type *type;
    struct str name;
    const struct json *meta, *body;
    const struct agg *parent;
    struct agg **subs; /* those that collect */
    uint32_t n_subs;
    struct agg **pipes; /* pipelines, in an order in which each finds what it reads */
    uint32_t n_pipes;
    uint32_t place; /* among the parent's results: subs first, then pipes */
    struct source_spec vs;
    void *params; /* type->params_size bytes that are zero at first: what the type alone knows */
};

/* The parameters of an aggregation of the type whose struct this is: name(a). */
#define AGG_PARAMS(name)                                 \
    static inline struct name *name(const struct agg *a) \
    {                                                    \
        return a->params;                                \
    }

struct agg_spec {
    struct agg root;
    struct str text;
    struct str failures; /* what is wrong with the pipelines: "1: ...;2: ...;" */
    uint32_t n_failures;
    struct str bad_path; /* p != NULL: why a path of a pipeline cannot be read; nothing else is then said */
    bool needs_scores;
};

static inline bool agg_has_buckets(const struct agg *a)
{
    return a->type->class <= CLASS_MULTI;
}

static inline uint32_t agg_places(const struct agg *a)
{
    return a->n_subs + a->n_pipes;
}

/* ---- parsing ------------------------------------------------------------------------------------------- */

struct agg_parse {
    struct agg_spec *spec;
    struct str text;
    size_t at; /* where the reader stands: the place in refusals of a parameter whose mistake has none */
    struct arena *arena;
    struct errmsg *em;
};

enum { TK_STRING = 1, TK_NUMBER = 2, TK_BOOL = 4, TK_NULL = 8, TK_OBJECT = 16, TK_ARRAY = 32 };
enum {
    TK_INT = TK_STRING | TK_NUMBER,
    TK_FLAG = TK_BOOL | TK_STRING,
    TK_VALUE = TK_STRING | TK_NUMBER | TK_BOOL | TK_NULL,
    TK_SCRIPT = TK_OBJECT | TK_STRING
};

unsigned agg_token(const struct json *v);

/* One parameter of a definition, as Elasticsearch's ObjectParser declares it. */
struct agg_param {
    const char *name;
    unsigned tokens;
    enum err (*set)(struct agg_parse *p, struct agg *a, const struct json *v);
};
/* Reads an object by tables (each ended by a NULL name; `more` may be NULL). `parser` is the name in
 * errors. */
enum err agg_params(struct agg_parse *p, struct agg *a, const struct json *body, const char *parser,
                    const struct agg_param *table, const struct agg_param *more);

/* The same of one of its members. */
enum err agg_params_one(struct agg_parse *p, struct agg *a, const struct json_member *m, const char *parser,
                        const struct agg_param *table, const struct agg_param *more);

bool agg_param_known(const struct agg_param *table, struct str key);
#define AGG_NAMES_MAX 64
/* The names in the tables (`more` may be NULL), NULL-terminated, for suggestions. */
void agg_param_names(const struct agg_param *table, const struct agg_param *more,
                     const char *known[AGG_NAMES_MAX]);
/* Takes element `i` of a list of values or objects (`v` itself, when that is no array) and moves the reader there.
 * Lists within lists are refused. */
enum err agg_item(struct agg_parse *p, const struct json *v, uint32_t i, const struct json **out);
/* How many elements such a list has. */
static inline uint32_t agg_items(const struct json *v)
{
    return v->type == JSON_ARRAY ? v->n : 1;
}
/* A whole number that is at least 0 or 1 (`min`); the same of those that are ints. */
enum err agg_at_least(struct agg_parse *p, const struct agg *a, const struct json *v, const char *what,
                      int64_t min, int64_t *out);
enum err agg_at_least_int(struct agg_parse *p, const struct agg *a, const struct json *v, const char *what,
                          int64_t min, int64_t *out);
/* parser.text(): ERR_ILLEGAL_STATE for what has none. */
enum err agg_text(struct agg_parse *p, const struct json *v, struct str *out);
/* Reads the query at the cursor (or behind it, where none begins there) and leaves the cursor, and the reader, at
 * its end or at the mistake. */
enum err agg_query(struct agg_parse *p, struct json_pull *c, const struct json **out);

/* What most aggregations share: field, missing, script, value_type, format, time_zone. */
extern const struct agg_param agg_source_params[], agg_source_params_zone[];
/* The same of those whose values are not shown, without a format; and of those that take fields alone. */
extern const struct agg_param agg_plain_params[], agg_field_params[];
/* Each of them alone, for other tables. */
enum err agg_set_field(struct agg_parse *p, struct agg *a, const struct json *v);
enum err agg_set_missing(struct agg_parse *p, struct agg *a, const struct json *v);
enum err agg_set_type(struct agg_parse *p, struct agg *a, const struct json *v);
enum err agg_set_format(struct agg_parse *p, struct agg *a, const struct json *v);
enum err agg_set_script(struct agg_parse *p, struct agg *a, const struct json *v);
enum err agg_set_zone(struct agg_parse *p, struct agg *a, const struct json *v);
/* A script as a parameter: checks its form. */
enum err agg_script(struct agg_parse *p, const struct json *v, const struct json **out);
/* ERR_ILLEGAL_ARGUMENT unless a field or a script is given. */
enum err agg_need_source(struct agg_parse *p, const struct source_spec *s);
/* A whole definition of nothing else: rows' parse. */
enum err agg_parse_source(struct agg_parse *p, struct agg *a, const struct json *body);
/* ERR_ILLEGAL_ARGUMENT unless a field is given. */
enum err agg_need_field(struct agg_parse *p, const struct source_spec *s);

/* ERR_AGG_EXECUTION, or ERR_ILLEGAL_ARGUMENT where nothing is named. */
enum err agg_path_parse(struct agg_path *out, struct str text, struct arena *arena, struct errmsg *em);
enum err agg_orders_parse(struct agg_parse *p, const struct json *v, struct agg_orders *out);
/* The given order with a final one by key, ascending. NULL, 0 for v, n: only that. */
enum err agg_orders_make(struct agg_parse *p, const struct agg_order *v, uint32_t n, struct agg_orders *out);

enum err agg_zone_parse(struct agg_parse *p, const struct json *v, const struct zone **out);
/* Refuses a member of a definition that is read without a table. */
enum err agg_unknown_key(struct agg_parse *p, const struct agg *a, const struct json_member *m);

/* The script names the score. */
bool script_wants_score(const struct json *script);
/* It, or one below it, needs scores. */
bool agg_wants_scores(const struct agg *a);
/* Checks pipelines against the aggregations around them and puts them in order. ERR_ACTION_VALIDATION. */
enum err agg_validate(struct agg_parse *p, struct agg *root);

#endif
