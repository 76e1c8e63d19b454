/* build_graph.h - the state of turning one analysed text into a query, and token graphs. Internal to
 * engine/query. */
#ifndef ENGINE_QUERY_BUILD_GRAPH_H
#define ENGINE_QUERY_BUILD_GRAPH_H

#include "engine/query/build.h"

struct text_token {
    struct str text;
    int32_t position;
    int32_t length; /* positions that it spans */
};

struct text_tokens {
    struct text_token *v;
    uint32_t n;
    int32_t positions; /* sum of the increments */
    bool graph;        /* some token spans several positions */
    bool of_graph;     /* one path of a graph */
    int32_t end_gap;   /* positions behind the last token */
    bool open_end;     /* the text ends with the last token: it may go on */
};

struct text_run {
    struct builder *b;
    const struct text_opts *o;
    const struct field *field;
    const struct field_boosts *group; /* cross_fields: all of them; NULL: `field` alone */
    float tie_breaker;
    int32_t slop;
    struct errmsg *em;
};

/* A whole text on the run's field, or its group of fields; *out NULL where no terms are left and zero_terms says nothing. */
enum err text_run_on(struct text_run *r, struct str text, struct query **out);
/* What a text without terms becomes. */
enum err text_zero_terms(struct text_run *r, struct query **out);
/* The analyzer of a field's text; NULL: the text stays as it is. */
const struct analyzer *text_search_analyzer(const struct text_run *r, const struct field *f);
/* A text's tokens with absolute positions, in the request's arena. `no_increments`: gaps between them do not count. */
enum err text_analyse(struct builder *b, const struct analyzer *an, struct str text, bool no_increments,
                      struct text_tokens *out, struct errmsg *em);
/* The query of a token list; *out NULL when it is empty. */
enum err text_query(struct text_run *r, const struct text_tokens *t, enum match_kind kind, bool and,
                    struct query **out);
/* Whether phrases can be asked of a field. */
bool text_has_positions(const struct field *f);
/* Terms at one position. */
enum err text_position(struct text_run *r, const struct str *terms, uint32_t n, bool prefix,
                       struct query **out);

/* (build_hidden.c) Is a phrase of words, the last of which is a beginning, one of a word before a beginning that is indexed? */
bool hidden_phrase_prefix_takes(const struct text_run *r, const struct field *f, const struct text_tokens *t);
/* Is a phrase one of indexed pairs of words? */
bool hidden_phrase_takes(const struct text_run *r, const struct field *f, const struct text_tokens *t);
/* The pairs. */
enum err hidden_phrase_tokens(struct text_run *r, const struct text_tokens *t, struct text_tokens *out);

/* Graphs (several words standing for one): every path between two points that all paths share is a query of
 * its own. */
int32_t text_token_end(const struct text_token *t);
/* Behind the last position that a token spans. */
int32_t text_graph_end(const struct text_tokens *t);
/* Does no token span position `at`? */
bool text_paths_meet(const struct text_tokens *t, int32_t at);
enum err text_graph_boolean(struct text_run *r, const struct text_tokens *t, enum match_kind kind, bool and,
                            struct query **out);
enum err text_graph_phrase(struct text_run *r, const struct text_tokens *t, enum match_kind kind,
                           struct query **out);

#endif
