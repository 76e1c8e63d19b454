/* highlight_int.h - declarations shared by the highlighters. Internal to engine/highlight.
 *
 * A field's values are joined to one text of UTF-16 units, the unit of every size and offset of the API, with
 * U+0000 between them; tokens carry places in that text. Everything of one document lives in the hit's arena.
 */
#ifndef ENGINE_HIGHLIGHT_HIGHLIGHT_INT_H
#define ENGINE_HIGHLIGHT_HIGHLIGHT_INT_H

#include "engine/highlight/highlight.h"
#include "engine/mapping/document.h"
#include "engine/mapping/field_class.h"
#include "engine/query/highlight_spec.h"
#include "engine/query/multi_terms.h"
#include "engine/query/scorer.h"

/* ---- terms (terms.c)
 * ------------------------------------------------------------------------------------------------ */

/* `order` counts what the query looks for as it is read; `number` counts equal terms once: fvh's tags go by
 * it. */
struct hl_term {
    struct str field, text;
    float boost;
    uint32_t order, number;
    bool of_spans; /* it is a span_term, which fvh alone takes for a term */
    bool loose;    /* fvh does not take it */
};

struct hl_multi {
    struct str field, label; /* the label tells it from others in scores */
    struct term_matcher matcher;
    float boost;
    uint32_t order, number;
    bool loose; /* unified alone takes it */
};

struct hl_phrase {
    const struct query *query; /* q_phrase */
    float boost;
    uint32_t order, number;
};

struct hl_span_query {
    const struct query *query; /* q_spans */
    float boost;
    uint32_t order;
};

/* What a query looks for, whatever the field. */
struct hl_terms {
    struct arena *arena;
    const struct weight_context *index; /* what the query runs on */
    struct hl_term *terms;
    size_t n_terms, cap_terms;
    struct hl_multi *multis;
    size_t n_multis, cap_multis;
    struct hl_phrase *phrases;
    size_t n_phrases, cap_phrases;
    struct hl_span_query *spans;
    size_t n_spans, cap_spans;
    uint32_t next_order, next_number;
};

enum err hl_terms_collect(struct hl_terms *out, const struct query *q, const struct weight_context *index,
                          struct errmsg *em);
/* Does the pattern take this token? */
bool hl_multi_match(const struct hl_multi *m, struct str token);

/* ---- fields and texts (text.c)
 * --------------------------------------------------------------------------------------- */

struct hl_target {
    struct str key;            /* in the answer */
    const struct field *field; /* aliases resolved */
    const struct hl_options *o;
    struct hl_terms terms;   /* those that count for the field */
    struct map by_text;      /* of terms.terms, to struct hl_term */
    const struct str *paths; /* where the values stand in the source */
    uint32_t n_paths;
    struct hl_target **matched; /* fvh, with matched_fields: they are looked through instead of the field */
    uint32_t n_matched;
    struct hl_target *next; /* in the order of the answer */
};

struct hl_token {
    struct str text;
    uint32_t start, end; /* UTF-16 units of the whole text */
    int32_t position, inc;
};

struct hl_value {
    struct str text;
    uint32_t start, end;      /* UTF-16 units of the whole text */
    uint32_t token, n_tokens; /* its tokens */
};

struct hl_text {
    uint16_t *u;
    uint32_t n;
    struct hl_value *values;
    uint32_t n_values;
    struct hl_token *tokens;
    size_t n_tokens, cap_tokens;
};

/* The source paths of a field: itself, the field that it is a part of, what is copied to it. */
enum err hl_target_paths(struct hl_target *t, const struct mapping *m, struct arena *arena,
                         struct errmsg *em);
/* Reads the values; n_values 0: there are none. */
enum err hl_text_load(struct hl_text *x, const struct hl_target *t, const struct json *source,
                      struct arena *arena, struct errmsg *em);
/* Analyses them as the field's index does. */
enum err hl_text_analyse(struct hl_text *x, const struct hl_target *t, struct arena *arena,
                         struct errmsg *em);
/* Units [from, to) as UTF-8, encoded for HTML when asked. */
void hl_append(struct buf *b, const struct hl_text *x, uint32_t from, uint32_t to, bool html);

/* ---- where phrases match (spans.c)
 * ------------------------------------------------------------------------------------ */

/* A place where a phrase matches: tokens[] are those of its terms, positions [from, to). */
struct hl_span {
    int32_t from, to;
    const uint32_t *tokens;
    uint32_t n;
};
/* The places among tokens first..first+n_tokens. */
enum err hl_spans(struct hl_span **out, size_t *n, const struct query *phrase, const struct hl_token *tokens,
                  size_t n_tokens, struct arena *arena, struct errmsg *em);

/* (span_places.c) The same of a query of spans: each place with the tokens that it stands on; position `base` counts as 0. `only`: words of other
 * fields are not looked for; p == NULL: they are. */
enum err hl_span_places(struct hl_span **out, size_t *n, const struct query *q, const struct hl_token *tokens,
                        size_t n_tokens, int32_t base, struct str only, struct arena *arena,
                        struct errmsg *em);
/* Calls fn for each term that it looks for, and each token that a pattern of it takes. */
typedef enum err (*hl_word_fn)(void *self, struct str field, struct str text, struct errmsg *em);
enum err hl_span_words(const struct query *q, const struct hl_token *tokens, size_t n_tokens, hl_word_fn fn,
                       void *self, struct arena *arena, struct errmsg *em);
/* Do its terms stand in that field alone? */
bool hl_spans_within(const struct query *q, struct str field);

/* Does a phrase have this word at one of its places? */
bool hl_slot_takes(const struct query *phrase, uint32_t slot, struct str token);

/* ---- boundaries (breaks.c)
 * --------------------------------------------------------------------------------------------- */

struct hl_breaks {
    const uint16_t *u; /* of one value */
    uint32_t n;
    uint32_t *v; /* boundaries in order, 0 and n among them */
    size_t n_v;
};
bool hl_breaks_sentences(struct hl_breaks *b, const uint16_t *u, uint32_t n, struct arena *arena) NODISCARD;
bool hl_breaks_words(struct hl_breaks *b, const uint16_t *u, uint32_t n, struct arena *arena) NODISCARD;
/* The same over sentences, with what Java's iterator does when it goes backwards: it looks for a place that must be safe to start
 * from, unless it knows a boundary (`known`, -1: none) before `at`; a full stop that a symbol follows is taken for one, and comes
 * out as a boundary when none lies between. */
int64_t hl_sentence_before(const struct hl_breaks *b, int64_t *known, int64_t at);
int64_t hl_sentence_after(const struct hl_breaks *b, int64_t *known, int64_t at);
/* The last boundary before `at`, the first behind it; -1: none. */
int64_t hl_break_before(const struct hl_breaks *b, int64_t at);
int64_t hl_break_after(const struct hl_breaks *b, int64_t at);

/* The beginnings of a text, each longer than the one before: what is known of one is used for the next. `u`, `words`; else zeros. */
struct hl_cuts {
    const uint16_t *u;
    bool words; /* else sentences */
    uint32_t boundary,
        next; /* the last one that more text does not change; from where the next one is searched */
    uint32_t seen, safe; /* as far as it was looked for a safe place, and the last one there */
};
/* The boundary that Java's iterator finds from the end of the first `at` units, backwards; `at` is not less than the last time. */
uint32_t hl_cut_before(struct hl_cuts *c, uint32_t at);
/* The first boundary behind a text's beginning; 0 of an empty one. */
uint32_t hl_first_break(const uint16_t *u, uint32_t n, bool words);

/* ---- passages (passages.c)
 * ----------------------------------------------------------------------------------------------- */

struct hl_match {
    uint32_t start, end;
    struct str term;
    uint32_t freq; /* of the term in the field */
};

struct hl_passage {
    uint32_t start, end;
    const struct hl_match *matches;
    uint32_t n;
    float score;
};

/* Cuts the text around its matches (in order) and keeps the best. */
enum err hl_passages(struct hl_passage **out, size_t *n, const struct hl_text *x, const struct hl_options *o,
                     bool whole_values, const struct hl_match *matches, size_t n_matches, struct arena *arena,
                     struct errmsg *em);

/* ---- the highlighters
 * ------------------------------------------------------------------------------------------------------ */

struct hl_fragments {
    struct arena *arena;
    struct str *v;
    size_t n, cap;
};
bool hl_fragment_add(struct hl_fragments *f, struct buf *b) NODISCARD;

enum err hl_unified(struct hl_fragments *out, const struct hl_target *t, struct hl_text *x,
                    struct arena *arena, struct errmsg *em);
enum err hl_plain(struct hl_fragments *out, const struct hl_target *t, struct hl_text *x, struct arena *arena,
                  struct errmsg *em);
enum err hl_fvh(struct hl_fragments *out, const struct hl_target *t, struct hl_text *x, struct arena *arena,
                struct errmsg *em);
/* Term vectors with positions and offsets; hl_fvh_check: ERR_ILLEGAL_ARGUMENT when fvh is asked for without
 * them. */
bool hl_fvh_can(const struct field *f);
enum err hl_fvh_check(const struct hl_target *t, struct errmsg *em);
/* The index has offsets: text need not be analysed again. */
bool hl_has_offsets(const struct field *f);

#endif
