/* source.h - the body of a search request, checked and taken apart.
 *
 * Parsing needs no mapping: it refuses what Elasticsearch's coordinating node refuses (unknown keys, wrong tokens,
 * negative sizes) with line and column, and leaves field-dependent parts as JSON for the shards. The same text is parsed
 * by the coordinating node, once, and by every shard that it is sent to. */
#ifndef ENGINE_QUERY_SOURCE_H
#define ENGINE_QUERY_SOURCE_H

#include "common/base/err.h"
#include "common/base/json.h"

#define TRACK_TOTAL_DEFAULT  10000
#define TRACK_TOTAL_DISABLED (-1)
#define TRACK_TOTAL_ACCURATE INT32_MAX
#define SIZE_DEFAULT         10

struct agg_spec;       /* engine/aggs/aggs.h */
struct suggest_spec;   /* engine/suggest/suggest.h */
struct highlight_spec; /* engine/query/highlight_spec.h */

/* _source: false | true | patterns */
struct source_filter {
    bool given, enabled;
    const struct str *includes, *excludes;
    uint32_t n_includes, n_excludes;
};

struct field_and_format { /* docvalue_fields, fields */
    struct str field;
    struct str format; /* p == NULL: none */
    bool include_unmapped;
};

struct script_field {
    struct str name;
    const struct json *script;
    bool ignore_failure;
};

enum sort_kind {
    SORT_SCORE,
    SORT_DOC,
    SORT_SHARD_DOC /* of points in time */,
    SORT_FIELD,
    SORT_GEO,
    SORT_SCRIPT
};
enum sort_mode {
    SORT_MODE_DEFAULT,
    SORT_MODE_MIN,
    SORT_MODE_MAX,
    SORT_MODE_SUM,
    SORT_MODE_AVG,
    SORT_MODE_MEDIAN
};

struct nested_sort_spec {
    struct str path;           /* p == NULL: not said, and nothing is nested */
    const struct json *filter; /* NULL: none */
    int32_t max_children;      /* at most so many are examined */
    const struct nested_sort_spec *inside;
};

struct sort_spec {
    enum sort_kind kind;
    bool descending;
    enum sort_mode mode;
    struct str field;
    const struct json *missing; /* NULL: last */
    struct str unmapped_type;   /* p == NULL: none */
    struct str numeric_type;
    struct str format;
    struct nested_sort_spec *nested; /* NULL: the documents' own values */
    /* SORT_GEO */
    const double *lats, *lons;
    uint32_t n_points;
    double unit_metres; /* what one unit of the answer is */
    bool plane, ignore_unmapped, lenient_points;
    /* SORT_SCRIPT */
    const struct json *script;
    bool script_is_string;
};

struct rescore_spec {
    int64_t window;
    const struct json *query;
    double query_weight, rescore_weight;
    enum { RESCORE_TOTAL, RESCORE_MULTIPLY, RESCORE_AVG, RESCORE_MAX, RESCORE_MIN } mode;
};

struct inner_hits_spec {
    struct str name; /* p == NULL: not named */
    bool ignore_unmapped;
    const struct json *body;            /* the inner_hits object */
    const struct search_source *source; /* what it says of its hits, 3 of them by default */
    size_t at;                          /* where the value that was read last begins */
};

struct collapse_spec {
    struct str field; /* p == NULL: none */
    const struct inner_hits_spec *inner;
    uint32_t n_inner;
    int32_t max_concurrent; /* searches of groups at a time; 0: not said */
};

struct search_source {
    struct str text;         /* of the body, for places */
    const struct json *body; /* the whole; NULL: none was sent */
    int64_t from, size;      /* defaults applied: 0, 10 */
    bool size_given;
    const struct json *query, *post_filter; /* NULL: match_all, none */
    bool names, nested_hits;                /* somewhere in them queries may be named, may have inner hits */
    bool percolates;                        /* ... may be percolate queries, in `query` */
    const struct sort_spec *sort;
    uint32_t n_sort; /* 0: by score */
    struct source_filter source;
    const struct str *stored_fields;
    uint32_t n_stored_fields;
    bool stored_fields_given, stored_none;
    const struct field_and_format *docvalue_fields, *fields;
    uint32_t n_docvalue_fields, n_fields;
    const struct script_field *script_fields;
    uint32_t n_script_fields;
    const struct json *highlight, *aggs, *suggest;
    const struct agg_spec *agg_spec; /* parsed form of aggs; NULL: none */
    const struct suggest_spec *suggest_spec;
    const struct highlight_spec *highlight_spec;
    struct collapse_spec collapse;
    const struct rescore_spec *rescore;
    uint32_t n_rescore;
    const struct json *search_after; /* the array; NULL: none */
    int32_t track_total;             /* TRACK_TOTAL_*, or a threshold */
    bool track_total_given;
    bool track_scores, explain, version, seq_no_primary_term, profile;
    float min_score;
    bool has_min_score;
    int64_t terminate_after; /* 0: no; negative: at once */
    int64_t timeout_ms;      /* -1: none */
    const struct json *indices_boost;
    const struct json *slice;
    const struct str *stats;
    uint32_t n_stats;
    struct str pit_id; /* p == NULL: none */
    int64_t pit_keep_alive_ms;
};

/* Sorted by score alone, best first? */
static inline bool search_source_by_score(const struct search_source *s)
{
    return s->n_sort == 0 || (s->n_sort == 1 && s->sort[0].kind == SORT_SCORE && s->sort[0].descending);
}

/* The defaults of an empty body. */
void search_source_init(struct search_source *s);
/* One key of a body that shapes hits: from, size, sort, _source, stored, doc value, script and other fields, highlight, version,
 * seq_no_primary_term, explain, track_scores. Everything borrows from `v` and `text`, or lives in `arena`. */
enum err search_hits_key(struct search_source *s, struct str key, const struct json *v, struct str text,
                         struct arena *arena, struct errmsg *em);
/* The object under "inner_hits", of a nested query or a collapse (inner_hits_parse.c). */
enum err inner_hits_parse(struct inner_hits_spec *out, const struct json *v, struct str text,
                          struct arena *arena, struct errmsg *em);
/* The same at the cursor, which is left at its end, or at the value that is wrong. */
struct json_pull;
enum err inner_hits_pull(struct json_pull *p, struct inner_hits_spec **out, struct arena *arena,
                         struct errmsg *em);
/* Parts that requests in URLs share. "_source" may be a boolean, text, an array or an object. */
enum err source_filter_parse(struct source_filter *f, const struct json *v, struct str text,
                             struct arena *arena, struct errmsg *em);
enum err sort_parse(const struct sort_spec **out, uint32_t *n, const struct json *v, struct str text,
                    struct arena *arena, struct errmsg *em);

#endif
