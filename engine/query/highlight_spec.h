/* highlight_spec.h - the "highlight" section of a search, checked and taken apart. */
#ifndef ENGINE_QUERY_HIGHLIGHT_SPEC_H
#define ENGINE_QUERY_HIGHLIGHT_SPEC_H

#include "common/base/err.h"
#include "common/base/json.h"

enum hl_scanner { SCANNER_CHARS, SCANNER_SENTENCE, SCANNER_WORD };

struct hl_strings {
    const struct str *v;
    uint32_t n;
};

/* Bits of hl_options.set are the rows of the option table. */
#define HL_SET_SCANNER (1ULL << 7) /* boundary_scanner was given: fvh's default is another one */
struct hl_options {
    uint64_t set;
    struct hl_strings pre_tags, post_tags;
    int32_t fragment_size, number_of_fragments, fragment_offset, no_match_size, boundary_max_scan,
        phrase_limit;
    int32_t max_analyzed_offset; /* 0: not given */
    bool require_field_match, score_ordered, html, force_source;
    enum hl_scanner scanner;
    struct str boundary_chars, type, fragmenter;
    const struct json *query; /* highlight_query; NULL: the search's */
    struct hl_strings matched_fields;
};

struct hl_field {
    struct str name;     /* may be a pattern */
    struct hl_options o; /* the field's, then the request's, then the defaults */
};

struct highlight_spec {
    const struct hl_field *fields;
    uint32_t n;
    const struct json *query; /* the request's own highlight_query; NULL: none */
};

/* The spec lives in `arena` and borrows from `highlight`, which stands in `text`. Fields' options are complete: what a field does
 * not say is the request's, then the default. */
enum err highlight_parse(const struct highlight_spec **out, const struct json *highlight, struct str text,
                         struct arena *arena, struct errmsg *em);

#endif
