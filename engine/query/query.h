/* query.h - a query as the engine runs it: the tree that a request's JSON is rewritten to with the mapping.
 *
 * The request's JSON (DSL) is checked and turned, field by field, into these nodes; that is where mappings and analyzers
 * are asked. What runs, explains, highlights and counts works on the nodes alone. Nodes are immutable once built, live in
 * the request's arena, and may be shared by the threads that search one shard's segments. */
#ifndef ENGINE_QUERY_QUERY_H
#define ENGINE_QUERY_QUERY_H

#include "common/base/geo.h"
#include "common/base/json_pull.h"
#include "engine/mapping/field_class.h"

struct script;
struct inner_hits_spec; /* engine/query/source.h */

/* A kind of queries is a row (query_ops.h). This is the only list of them. */
#define QUERY_KINDS(X)  \
    X(match_all)        \
    X(match_none)       \
    X(term)             \
    X(terms)            \
    X(terms_set)        \
    X(synonym)          \
    X(phrase)           \
    X(spans)            \
    X(intervals)        \
    X(prefix)           \
    X(wildcard)         \
    X(regexp)           \
    X(term_range)       \
    X(fuzzy)            \
    X(num_range)        \
    X(num_set)          \
    X(range_field)      \
    X(geo_box)          \
    X(geo_distance)     \
    X(geo_polygon)      \
    X(exists)           \
    X(ids)              \
    X(bool)             \
    X(dis_max)          \
    X(constant)         \
    X(boost)            \
    X(boosting)         \
    X(function_score)   \
    X(script_score)     \
    X(script)           \
    X(nested)           \
    X(join)             \
    X(distance_feature) \
    X(rank_feature)     \
    X(slice)            \
    X(blended)          \
    X(percolate)
struct query_ops;
#define QUERY_KIND_ROW(name) extern const struct query_ops q_##name;
QUERY_KINDS(QUERY_KIND_ROW)
#undef QUERY_KIND_ROW

enum bool_occur { OCCUR_MUST, OCCUR_FILTER, OCCUR_SHOULD, OCCUR_MUST_NOT };
enum query_rewrite {
    REWRITE_CONSTANT,
    REWRITE_SCORING_BOOLEAN,
    REWRITE_TOP_TERMS,
    REWRITE_TOP_TERMS_BLENDED,
    REWRITE_TOP_TERMS_BOOST /* each term's score is its boost */
};

struct query;

struct bool_clause {
    enum bool_occur occur;
    const struct query *query;
};

struct phrase_term {
    int32_t position;        /* relative to the phrase */
    const struct str *terms; /* any of them */
    uint32_t n;
};

enum span_kind {
    SPAN_TERM,
    SPAN_PREFIX, /* a beginning of terms, until it is rewritten */
    SPAN_MULTI,  /* a pattern of terms, until it is rewritten */
    SPAN_OR,
    SPAN_NEAR,       /* not further apart than `slop`: one behind the other, or in any order */
    SPAN_NOT,        /* those of the first that those of the second do not overlap */
    SPAN_FIRST,      /* those that end by `end` */
    SPAN_CONTAINING, /* those of the first around one of the second */
    SPAN_WITHIN,     /* those of the second inside of one of the first */
    SPAN_MASK,       /* another field's, as if they were this one's */
    SPAN_GAP,        /* in SPAN_NEAR: any `end` positions */
    SPAN_NONE        /* there are none */
};
struct span_part {
    enum span_kind kind;
    struct str term;           /* SPAN_TERM, SPAN_PREFIX; SPAN_NONE: why */
    const struct span_part *v; /* of the others */
    uint32_t n;
    struct str field;           /* whose places they are; p == NULL: the field of the part around it */
    const struct field *mapped; /* the same in the mapping; NULL: it is unmapped, or `field` is not set */
    int32_t slop;
    bool unordered;
    int32_t before, after;     /* SPAN_NOT: so many positions around count as overlapping */
    int32_t end;               /* SPAN_FIRST, SPAN_GAP */
    const struct query *multi; /* SPAN_MULTI: what has a matcher of terms */
    const struct query *named; /* the part as a query of its own that has a name; NULL: it has none */
};

enum score_mode { SCORE_MULTIPLY, SCORE_SUM, SCORE_AVG, SCORE_FIRST, SCORE_MAX, SCORE_MIN };

struct term_override {
    int64_t doc_freq, total_freq;
};

struct common_terms {
    float cutoff;          /* a share of the documents, from 1 on a number of them */
    struct str min_should; /* of the rare ones; p == NULL: none */
    /* Of the query `common`: the common ones have a say of their own. */
    bool apart;
    enum bool_occur common_occur;
    struct str common_min_should; /* p == NULL: none */
};

struct query {
    const struct query_ops *ops;
    float boost;               /* of this node alone; q_term and the leaves apply it, q_bool passes it down */
    struct str name;           /* _name; p == NULL: none */
    const struct field *field; /* leaves; NULL for an unmapped field (which matches nothing) */
    struct str field_name;     /* the concrete field the leaf reads in segments */
    const void *
        own; /* parameters of a struct that the file of the kind has; a query that is rewritten gets a copy */
    union {  /* of kinds that several files make */
        struct {
            struct str reason;
        } none; /* q_match_none: why */
        struct {
            struct str term;
            struct term_override *override; /* statistics to score by instead of the term's own; NULL: none */
        } term;                             /* q_term */
        struct {
            const struct str *v;
            uint32_t n;
            const float *boosts; /* q_synonym; NULL: all 1 */
            bool clauses;        /* rewritten as clauses of a disjunction: shown so, and scored as before */
        } terms;                 /* q_terms, q_synonym, q_ids */
        struct {
            const struct phrase_term *v;
            uint32_t n;
            uint32_t slop;
            bool prefix_last; /* match_phrase_prefix: the last position's terms are prefixes */
            uint32_t max_expansions;
            /* The last position's terms are those of this field, beginnings of words, and stand where the words do: a
             * SpanNearQuery of Lucene's. NULL: they are the query's field's. */
            const struct field *last_field;
            bool boosted_span; /* the request boosts that query itself */
        } phrase;
        struct {
            const struct span_part *root;
            bool prefix;  /* some part is one, or a pattern */
            bool written; /* it is written so in the request, no phrase */
            uint32_t max_expansions;
            const struct query
                *paths; /* the same as phrases, which highlighters go by; NULL: the field has no positions */
        } spans;
        struct {
            struct str pattern; /* prefix, wildcard or regular expression; q_fuzzy: the term */
            bool case_insensitive;
            enum query_rewrite rewrite;
            uint32_t rewrite_n;
            uint32_t flags; /* regexp syntax flags */
            uint32_t max_states;
            uint32_t max_edits, prefix_length, max_expansions;
            bool transpositions;
            bool exact; /* q_wildcard: the pattern is one term, compared without case */
        } multi;
        struct {
            struct str lo, hi; /* p == NULL: open */
            bool lo_inclusive, hi_inclusive;
        } term_range;
        struct {
            int64_t lo, hi;   /* inclusive; lo > hi matches nothing */
            const int64_t *v; /* q_num_set: ascending */
            uint32_t n;
            bool point; /* one value: printed and run by points alone */
        } num;
        struct {
            int64_t lo, hi;
            uint8_t ip_lo[16], ip_hi[16];
            int relation; /* 0 intersects, 1 contains, 2 within */
        } range_field;
        struct {
            const struct bool_clause *v;
            uint32_t n;
            int32_t min_should; /* resolved number */
            struct common_terms
                *common; /* the clauses are terms, told apart by how common they are; NULL: they are not */
        } boolean;
        struct {
            const struct query *const *v;
            uint32_t n;
            float tie_breaker;
        } dis_max;
        struct {
            const struct query *child; /* q_constant, q_boost */
        } one;
        struct {
            const struct field *path;
            const struct query *child;
            const struct query
                *filtered; /* the child and a filter for the path; NULL: the child matches no others */
            enum score_mode score_mode;
            bool score_none;
            const struct field
                *outer; /* the nested query around it: its documents are the parents; NULL: the roots */
            const struct inner_hits_spec *inner_hits; /* NULL: none */
        } nested;
    };
};

/* What a node's settings say of all queries on it: set once, before the first of them; without it nothing is limited. */
struct query_node_settings {
    uint32_t clauses_max;  /* indices.query.bool.max_clause_count */
    bool leading_wildcard; /* indices.query.query_string.allowLeadingWildcard */
    bool analyze_wildcard; /* indices.query.query_string.analyze_wildcard */
};
void query_node_settings_set(const struct query_node_settings *s);
const struct query_node_settings *query_node_settings(void);

#define QUERY_DEPTH_MAX 100       /* queries within queries */
#define INDEX_ALIASES   "aliases" /* among the settings of an index: no setting has this name */

/* What turning JSON into nodes may ask. */
struct view;
struct query_context {
    const struct mapping *mapping;
    const struct view *view; /* whose dates ranges are compared with; NULL: none */
    struct arena *arena;
    struct str text; /* the body, for places in errors */
    struct str index_name;
    struct str index_uuid;
    int32_t shard;
    int64_t now_ms;             /* one moment for the whole request */
    const struct field *nested; /* the query is about documents of this nested object; NULL: roots */
    bool raw_errors;            /* what a query refuses is not wrapped in a query_shard_exception */
    uint32_t clauses_max;       /* indices.query.bool.max_clause_count, 1024 */
    uint32_t depth_max;
    const struct settings *index_settings; /* and a list of its aliases, INDEX_ALIASES */
    bool allow_expensive;
    bool held;      /* a document holds the query: its fields must be mapped, or are texts (held_query.h) */
    bool only_read; /* nobody runs the query: percolate does not index its documents */
    bool one_phase; /* rewriting is part of building: all errors are ERR_QUERY_SHARD (_explain, _validate) */
};

/* Syntax only: refuses what can be refused without a mapping (unknown queries, unknown parameters, wrong tokens), with
 * line and column, as the coordinating node does. *at (NULL: not asked for): the offset of the last token that was read. */
enum err query_check(const struct json *dsl, struct str text, size_t *at, struct arena *arena,
                     struct errmsg *em);
/* The same of the query at a cursor, or behind it where no object begins there; the cursor is left at the query's end, or
 * at the mistake. */
enum err query_check_at(struct json_pull *c, const struct json **query, struct arena *arena,
                        struct errmsg *em);
/* The same for a script's form: a text, or an object with source or id. */
enum err script_check(const struct json *form, struct str text, struct arena *arena, struct errmsg *em);
/* As query_check, for a tree of json_parse_until.
 * `broken` is the error that the text breaks off with, n == 0: it does not. *em has it where reading came that far. */
enum err query_check_until(const struct json *dsl, struct str text, const struct errmsg *broken, size_t *at,
                           struct arena *arena, struct errmsg *em);
/* Builds the tree for one shard. Field-dependent errors are ERR_QUERY_SHARD (index named) around their cause. */
enum err query_build(const struct query **out, const struct query_context *cx, const struct json *dsl,
                     struct errmsg *em);
/* Does the rewrite phase make match_none of it, by what mapping and view say, before anything is built? In doubt not.
 * The error is one of rewriting, as query_build() would find it. */
enum err query_rewrites_to_none(bool *none, const struct query_context *cx, const struct json *dsl,
                                struct errmsg *em);
/* Is it plain to see that building it takes no longer than its text is long? What is not known may take long. */
bool query_is_plain(const struct json *dsl);
/* A script as Elasticsearch's Script prints itself. */
struct str script_form_text(const struct json *form, struct arena *a);
/* The text form that validate?explain=true and profile print (Lucene's toString). */
void query_print(const struct query *q, struct buf *out);
/* The same, boost left out, of one that looks at a column rather than at an index where it may: so it explains itself. */
void query_print_column(const struct query *q, struct buf *out);

#endif
