/* processor.h - kinds of processors: one row each, which reads its properties and changes a document. Private to engine/ingest.
 *
 * A processor that was read is immutable and belongs to any number of threads; its counters are atomic. */
#ifndef ENGINE_INGEST_PROCESSOR_H
#define ENGINE_INGEST_PROCESSOR_H

#include "engine/ingest/config.h"
#include "engine/ingest/ingest.h"

#define INGEST_DEPTH_MAX 50     /* of processors in processors */
#define INGEST_STEPS_MAX 100000 /* processors that one document may pass */

struct processor;

struct processor_row {
    const char *name;
    size_t size; /* of its properties */
    /* Reads them into zeroed memory. The error is in c->em; what is not ERR_FAMILY_ES is wrapped by the caller. */
    enum err (*read)(struct config *c, void *own);
    /* Changes the document; d->dropped: it goes no further. */
    enum err (*run)(const void *own, struct ingest_doc *d, struct errmsg *em);
};

struct processor_list {
    struct processor **v;
    uint32_t n;
};

struct processor {
    const struct processor_row *row;
    void *own;
    struct str tag, description; /* p == NULL: none */
    struct script *condition;    /* NULL: none */
    struct json condition_params;
    struct script_text condition_text; /* as it was given */
    bool ignore_failure;
    bool guarded; /* ignore_failure, or there are on_failure processors */
    struct processor_list on_failure;
    struct ingest_counts *counts; /* never NULL */
};

struct pipeline {
    struct str id, description;
    bool has_version;
    int32_t version;
    struct processor_list all, on_failure;
    struct ingest_counts *counts;
};

/* A list of definitions. */
enum err processors_read(struct config *c, const struct json *list, struct processor_list *out);
/* One definition, of a type. */
enum err processor_read(const struct json *v, struct str type, unsigned depth, struct arena *arena,
                        struct processor **out, struct errmsg *em);
/* Runs one, with its condition, its on_failure processors and its counters. */
enum err processor_run(const struct processor *p, struct ingest_doc *d, struct errmsg *em);
/* Runs a pipeline inside of another. */
enum err pipeline_enter(const struct pipeline *p, struct ingest_doc *d, struct errmsg *em);

/* A script's form: source or id, lang, params. The script is released with c->arena. */
enum err config_script(struct config *c, const struct json *form, enum script_context context,
                       struct script **out, struct json *params);

#endif
