/* ingest.h - ingest pipelines: documents are changed by processors before they are indexed.
 *
 * A definition is read once into a compiled pipeline, immutable and shared by threads. All pipelines of the cluster are a counted set, by
 * which pipelines find each other. Running one is pure work on a document: no shard, no request, no cluster state is known. Long work ends
 * when the thread's stop says so (common/base/stop.h). */
#ifndef ENGINE_INGEST_INGEST_H
#define ENGINE_INGEST_INGEST_H

#include <stdatomic.h>

#include "common/base/clock.h"
#include "common/base/jsonw.h"
#include "engine/ingest/document.h"

/* What happened to one pipeline or processor since the node started. */
struct ingest_counts {
    _Atomic int64_t count, failed, current, time_ns;
};

struct pipeline;

/* Reads a definition (an object), in `arena`, which holds what it needs from then on. ERR_PARSE, ERR_SCRIPT and others, as
 * Elasticsearch refuses it. */
enum err pipeline_read(struct pipeline **out, struct str id, const struct json *v, struct arena *arena,
                       struct errmsg *em) NODISCARD;
/* Runs it. ERR_CANCELLED when the thread's work was stopped; else what a processor failed with, and nobody caught. */
enum err pipeline_run(const struct pipeline *p, struct ingest_doc *d, struct errmsg *em) NODISCARD;
/* Has it no processor at all? */
bool pipeline_is_empty(const struct pipeline *p);

/* ---- a run step by step ---- */

enum ingest_step_kind { STEP_SUCCESS, STEP_ERROR, STEP_ERROR_IGNORED, STEP_SKIPPED, STEP_DROPPED };

struct ingest_step {
    enum ingest_step_kind kind;
    const char *type;
    struct str tag, description, condition;
    bool has_condition, condition_result;
    const struct errmsg *error; /* NULL: none */
    struct json source, ingest; /* JSON_NULL: none */
};

struct ingest_report {
    struct ingest_step *v;
    uint32_t n;
    size_t cap;
};

/* ---- all pipelines of the cluster, as this node has them ---- */

struct ingest_set;

struct ingest_source {
    struct str id, body; /* JSON text */
};

/* Those from now on, sorted by id. Compiled ones stay whose text stays. false: no memory, those before stay. */
bool ingest_set_replace(const struct ingest_source *v, uint32_t n) NODISCARD;
/* The set now; a reference. NULL: no pipeline was ever there. Any thread. */
struct ingest_set *ingest_set_now(void);
void ingest_set_unref(struct ingest_set *s); /* NULL ok */
/* NULL: there is none of that id; s may be NULL. One that cannot be read is there, and fails when it runs. */
const struct pipeline *ingest_set_find(const struct ingest_set *s, struct str id);

/* What was run by this node as a whole; and the statistics of every pipeline, as the API prints them. */
extern struct ingest_counts ingest_total;
void ingest_write_counts(struct jsonw *w, const struct ingest_counts *c);
void ingest_write_stats(struct jsonw *w, const struct ingest_set *s);

#endif
