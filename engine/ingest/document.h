/* document.h - a document while pipelines change it: its source, its metadata, and `_ingest`.
 *
 * Source and metadata are members of one object, as scripts and templates see them. A path names a value: "a.b.0.c", with a list's
 * places as numbers, "_ingest.timestamp", "_source.a". Values live in the document's arena and share nothing with definitions. One
 * thread at a time. */
#ifndef ENGINE_INGEST_DOCUMENT_H
#define ENGINE_INGEST_DOCUMENT_H

#include "common/base/date.h"
#include "common/base/err.h"
#include "common/base/json.h"

struct pipeline;
struct ingest_set;
struct ingest_report;

#define INGEST_PIPELINES_MAX 100 /* of pipelines in pipelines */

struct ingest_doc {
    struct arena *arena;
    struct json root;             /* source and metadata */
    struct json ingest;           /* what `_ingest` holds */
    const struct ingest_set *set; /* where other pipelines are; NULL: nowhere */
    struct ingest_report *report; /* of a simulation step by step; NULL: none */
    const struct pipeline *running[INGEST_PIPELINES_MAX];
    uint32_t n_running;
    uint32_t metadata; /* members that `root` got beside the source */
    uint32_t steps;    /* that were taken, of INGEST_STEPS_MAX */
    bool dropped;
    bool thrown; /* an error that no on_failure catches, and no ignore_failure */
    /* which processor failed, until somebody has dealt with that */
    bool failed;
    struct str failed_type, failed_tag, failed_pipeline; /* p == NULL: none */
};

/* What a document is before its first pipeline: strings are borrowed, p == NULL: none. */
struct ingest_meta {
    struct str index, type, id, routing, version_type;
    bool has_version;
    int64_t version;
};

/* An empty document with `source` (an object), which is copied, and this metadata, at a moment. ERR_NO_MEMORY. */
enum err ingest_doc_init(struct ingest_doc *d, const struct json *source, const struct ingest_meta *meta,
                         struct instant now, struct arena *arena, struct errmsg *em) NODISCARD;
/* Takes the metadata out of `root`, which is the source then, in the order in which Java gives it. ERR_ILLEGAL_ARGUMENT for values that
 * metadata cannot have. */
enum err ingest_doc_take(struct ingest_doc *d, struct ingest_meta *out, struct errmsg *em) NODISCARD;

/* ---- values ---- */

/* Java's class of a value, as errors name it. */
const char *ingest_class(const struct json *v);
/* Java's toString(), in `arena`. p == NULL: no memory. */
struct str ingest_text(const struct json *v, struct arena *arena) NODISCARD;
/* A deep copy, with numbers as Java prints them. false: no memory. */
bool ingest_copy(struct json *out, const struct json *v, struct arena *arena) NODISCARD;
struct json ingest_i64(int64_t v, struct arena *arena);
struct json ingest_double(double v, bool single, struct arena *arena);
static inline struct json ingest_null(void)
{
    return (struct json){.type = JSON_NULL};
}
/* Adds to an array. false: no memory. */
bool ingest_push(struct json *list, const struct json *v, struct arena *arena) NODISCARD;
/* Takes the i-th element out of an array, or member out of an object. */
void ingest_remove_at(struct json *v, uint32_t i);
struct json ingest_list(void);

/* ---- paths ---- */

/* The value at a path, borrowed; *out may be a JSON_NULL. ERR_ILLEGAL_ARGUMENT where there is none. */
enum err ingest_get(struct ingest_doc *d, struct str path, struct json **out, struct errmsg *em) NODISCARD;
/* The same, but *out is NULL where nothing is there and `ignore_missing`. */
enum err ingest_get_maybe(struct ingest_doc *d, struct str path, bool ignore_missing, struct json **out,
                          struct errmsg *em) NODISCARD;
/* As that, of a type; NULL for null as well. ERR_ILLEGAL_ARGUMENT for values of another type. */
enum err ingest_get_as(struct ingest_doc *d, struct str path, enum json_type type, bool ignore_missing,
                       struct json **out, struct errmsg *em) NODISCARD;
/* Is there a value (null is one)? `strict`: a place that a list does not have is ERR_ILLEGAL_ARGUMENT. */
enum err ingest_has(struct ingest_doc *d, struct str path, bool strict, bool *out,
                    struct errmsg *em) NODISCARD;
/* Sets a value, with objects around it that are missing; the value is the document's from then on. */
enum err ingest_put(struct ingest_doc *d, struct str path, const struct json *v, struct errmsg *em) NODISCARD;
/* Adds a value, or those of a list, to what is at a path, which becomes a list. */
enum err ingest_append(struct ingest_doc *d, struct str path, const struct json *v, bool duplicates,
                       struct errmsg *em) NODISCARD;
enum err ingest_remove(struct ingest_doc *d, struct str path, struct errmsg *em) NODISCARD;

/* Sets and removes a member of `_ingest`. false: no memory. */
bool ingest_note(struct ingest_doc *d, const char *name, struct json v) NODISCARD;
void ingest_forget(struct ingest_doc *d, const char *name);

#endif
