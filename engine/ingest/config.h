/* config.h - the reading of definitions, property by property, as Elasticsearch's ConfigurationUtils does it.
 *
 * A property that was read is used up; what is left over at the end is refused. Errors name the processor, its tag and the property.
 * Texts are copied into the arena. */
#ifndef ENGINE_INGEST_CONFIG_H
#define ENGINE_INGEST_CONFIG_H

#include "common/base/err.h"
#include "common/base/json.h"
#include "engine/ingest/document.h"
#include "engine/template/template.h"

struct config {
    const struct json *v; /* an object */
    bool *used;           /* of its members */
    struct str type, tag; /* of the processor; n == 0: none */
    struct arena *arena;  /* of what is made */
    struct errmsg *em;
    unsigned depth; /* of processors in processors */
};

/* ERR_NO_MEMORY. */
enum err config_init(struct config *c, const struct json *v, struct arena *arena, unsigned depth,
                     struct errmsg *em) NODISCARD;
/* The property, which is used up; NULL: there is none, or it is null. */
const struct json *config_take(struct config *c, const char *name);
/* "[name] ..." as ERR_PARSE of the processor; returns that. name NULL: of no property. */
enum err config_fail(struct config *c, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* What c->em holds as the refusal of a property (or NULL) of the processor. Returns its code. */
enum err config_wrap(struct config *c, const char *name);
/* Refuses what was not used; `what` is "processor [set]". */
enum err config_end(struct config *c, struct str what);

/* A text: required; optional (p == NULL where it is missing); and with a default. */
enum err config_str(struct config *c, const char *name, struct str *out);
enum err config_str_maybe(struct config *c, const char *name, struct str *out);
enum err config_str_or(struct config *c, const char *name, const char *otherwise, struct str *out);
enum err config_bool(struct config *c, const char *name, bool otherwise, bool *out);
enum err config_i32(struct config *c, const char *name, int32_t otherwise, int32_t *out);
/* Any value that is not null; required. */
enum err config_any(struct config *c, const char *name, const struct json **out);
/* A list or object; *out is NULL where it is optional and missing. */
enum err config_list(struct config *c, const char *name, bool required, const struct json **out);
enum err config_map(struct config *c, const char *name, bool required, const struct json **out);
/* A list of texts. */
enum err config_strs(struct config *c, const char *name, bool required, struct str **out, uint32_t *n);

/* ---- texts and values with parts from the document ---- */

struct snippet {
    struct str text;
    const struct template *t; /* NULL: the text as it is */
};

/* Compiles it where it holds "{{"; media_type: how values are escaped, p == NULL: as in JSON. */
enum err snippet_read(struct config *c, const char *name, struct str text, struct str media_type,
                      struct snippet *out);
/* A required property that is one. */
enum err config_snippet(struct config *c, const char *name, struct snippet *out);
/* The text for the document, in its arena. */
enum err snippet_text(const struct snippet *s, struct ingest_doc *d, struct str *out, struct errmsg *em);

struct value_source {
    enum json_type type;
    struct json plain;   /* numbers, booleans, null */
    struct snippet text; /* JSON_STRING */
    uint32_t n;
    struct value_source *kids; /* JSON_ARRAY, JSON_OBJECT */
    struct snippet *keys;      /* JSON_OBJECT */
};
enum err value_source_read(struct config *c, const char *name, const struct json *v, struct str media_type,
                           struct value_source *out);
/* A value of the document's own. */
enum err value_source_make(const struct value_source *s, struct ingest_doc *d, struct json *out,
                           struct errmsg *em);

/* "java.lang.IllegalArgumentException": a code's class in Java. */
const char *config_java_class(enum err e);

#endif
