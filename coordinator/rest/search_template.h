/* search_template.h - searches whose body is a template: the request, and the body that comes of it. Pure; any thread. */
#ifndef COORDINATOR_REST_SEARCH_TEMPLATE_H
#define COORDINATOR_REST_SEARCH_TEMPLATE_H

#include "coordinator/ops/search.h"
#include "coordinator/rest/rest.h"

#define TEMPLATE_TWICE_MISSING "1: template is missing;2: template's script type is missing;"

/* What a request says of its template. */
struct template_request {
    struct str script; /* the text, or the id of a stored one; p == NULL: neither is given */
    bool stored;
    const struct json *params; /* NULL: none */
    bool explain, profile;
};

/* The body of a request; texts and trees are borrowed, but for a template that is an object, which `arena` holds. The error is that of the
 * request as a whole. */
enum err template_request_read(struct template_request *out, const struct json *body, struct str text,
                               struct arena *arena, struct errmsg *em) NODISCARD;
/* The template with its parameters, as a text in `arena`; a stored one is the state's. Ends when nobody asks any more (stop.h). */
enum err template_request_render(const struct template_request *q, const struct cluster_state *state,
                                 struct arena *arena, struct str *out, struct errmsg *em) NODISCARD;
/* The search that comes of it, as o's body, checked; all in `arena`. */
enum err template_request_search(const struct template_request *q, const struct cluster_state *state,
                                 struct arena *arena, struct search_opts *o, struct errmsg *em) NODISCARD;

/* A template that a request names itself. */
struct named_template {
    struct str id;
    const struct json *script; /* its form: source and lang, or the id of a stored one */
};

/* Do all of them compile? */
enum err named_templates_check(const struct named_template *v, uint32_t n, const struct cluster_state *state,
                               struct arena *arena, struct errmsg *em) NODISCARD;
/* The body of a search that the one of that id makes of the parameters: a tree, checked, in r's arena; it ends when r's client is gone.
 * ERR_ILLEGAL_ARGUMENT: there is none. The error is in r->em. */
enum err named_template_body(const struct named_template *v, uint32_t n, struct str id,
                             const struct json *params, struct rest *r, const struct json **out) NODISCARD;

#endif
