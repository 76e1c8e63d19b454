/* analyze_int.h - an _analyze request, read. Inside the endpoint only. */
#ifndef ENGINE_ANALYSIS_ANALYZE_INT_H
#define ENGINE_ANALYSIS_ANALYZE_INT_H

#include "engine/analysis/registry.h"

struct analyze_request {
    const struct analyze_context *cx;
    struct arena *arena;
    struct str *texts;
    size_t n_texts;
    struct str analyzer, normalizer, field;    /* p == NULL: absent */
    const struct json *tokenizer;              /* a name or a definition */
    const struct json *filters, *char_filters; /* arrays; NULL: absent */
    size_t n_filters, n_char_filters;
    bool explain;
    bool whole_field; /* `field` is a keyword without a normalizer */
    struct str *attributes;
    size_t n_attributes;
    struct analysis_env env; /* the registry's, with cleanups of the request's own */
    struct part_cleanup *cleanups;
};

/* Fills what the body says into r (cx and arena are set) and checks it. body NULL: there was none. */
enum err analyze_parse(struct analyze_request *r, const struct json *body, struct errmsg *em);

#endif
