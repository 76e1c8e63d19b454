/* nodes.h - the tree of a template. Private to engine/template. */
#ifndef ENGINE_TEMPLATE_NODES_H
#define ENGINE_TEMPLATE_NODES_H

#include "engine/template/template.h"

#define TEMPLATE_NAME "query-template" /* what Elasticsearch calls each of them in errors */

enum tnode_kind {
    T_TEXT,
    T_VALUE,    /* flag: escaped */
    T_SECTION,  /* {{#name}} */
    T_INVERTED, /* {{^name}} */
    T_BLOCK,    /* {{$name}}: its kids */
    T_TO_JSON,  /* name: of the parameter; p == NULL: one that there cannot be */
    T_JOIN,     /* the same; text: what stands between */
    T_URL,
    T_NOTE /* a comment: it counts as a part of a function */
};

struct tnode {
    enum tnode_kind kind;
    bool flag;
    uint32_t line;
    struct str text; /* T_TEXT, T_JOIN */
    struct str name;
    struct tnode *kids;
    size_t n, cap;
};

enum escape { ESCAPE_JSON, ESCAPE_NONE, ESCAPE_URL };

struct template
{
    struct tnode root; /* T_BLOCK */
    enum escape escape;
};

/* Fills root.kids. ERR_MUSTACHE, ERR_MUSTACHE_NOT_FOUND, ERR_STRING_BOUNDS; ERR_ILLEGAL_ARGUMENT: too deep. */
enum err template_parse(struct tnode *root, struct str source, struct arena *arena, struct errmsg *em);

/* ---- what names mean (lookup.c) ---- */

#define SCOPES_MAX 128 /* nested sections */

struct scopes {
    const struct json *v[SCOPES_MAX];
    uint32_t n; /* the innermost last */
};

/* The value of a name, dots and indices included, from the innermost scope outwards; *out NULL: there is none, or it is null.
 * `arena` holds values that are made. ERR_INDEX_BOUNDS, ERR_ILLEGAL_ARGUMENT: an index that the array does not have. */
enum err template_find(const struct scopes *s, struct str name, struct arena *arena, const struct json **out,
                       struct errmsg *em);

#endif
