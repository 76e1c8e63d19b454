/* sort.h - sort keys bound to a view, and the cells in which documents' keys are compared.
 *
 * Every key of a document is a cell: a number (all numeric types, dates, distances and scores made sortable), or a text with
 * the ordinal that it has in one segment. Numbers compare as int64; texts by ordinal while both are of one segment, else by
 * bytes. One thread at a time. */
#ifndef ENGINE_COLLECT_SORT_H
#define ENGINE_COLLECT_SORT_H

#include "engine/collect/search_context.h"
#include "engine/collect/top_doc.h"
#include "engine/mapping/field_class.h"

struct sort_cell {
    int64_t num;
    uint64_t ord;  /* texts: in segment `leaf` */
    uint32_t leaf; /* UINT32_MAX: only `text` counts */
    bool null;     /* texts: no value */
    bool settled;  /* texts: `text` has been read */
    struct buf text;
};

struct sort_key {
    const struct sort_spec *spec;
    const struct field *field;
    bool is_text, is_id;
    bool is_address, is_nanos; /* of the field, where there is one */
    struct str constant;       /* the text that all documents have; p == NULL: none */
    bool floating;             /* the column holds sortable fractions */
    bool is_float;             /* ... that were floats */
    bool is_geo, is_script;
    enum sort_mode mode;
    int64_t missing_num;
    struct str missing_text;             /* p == NULL: none */
    bool missing_first, missing_refused; /* `missing` is no value of the field */
    struct script *script;
    struct script_docs *script_docs; /* of the current segment */
    struct sort_nested *nested;      /* NULL: the document's own values */
    /* of the current segment */
    struct num_column nums;
    struct ord_column ords;
    const struct seg_field *seg;
};

struct sort_plan {
    const struct search_context *cx;
    struct sort_key *keys;
    uint32_t n;
    bool needs_scores;
    bool shows_scores; /* a key is the score itself, not only a script that reads it */
    const struct leaf *leaf;
    struct scorer *scorer;
    float score; /* of the document at hand, when scores are needed */
    struct stored_reader stored;
    bool stored_open;
    struct errmsg error; /* of a script */
};

enum err sort_plan_new(struct sort_plan **out, const struct search_context *cx, const struct sort_spec *specs,
                       uint32_t n, struct errmsg *em);
bool sort_plan_needs_scores(const struct sort_plan *p);
bool sort_plan_shows_scores(const struct sort_plan *p);
/* (sort_bind.c) A key bound to what it sorts by, once its spec is set. */
enum err sort_key_bind(const struct search_context *cx, struct sort_key *k, struct sort_plan *p,
                       struct errmsg *em);
void sort_plan_fini(struct sort_plan *p);
/* Refuses values of `missing` that do not fit and that sort_plan_new() has let through. */
enum err sort_plan_check_missing(const struct sort_plan *p, struct errmsg *em);
/* A new segment begins. */
enum err sort_plan_leaf(struct sort_plan *p, const struct leaf *leaf, struct scorer *scorer,
                        struct errmsg *em);
/* The cell of key k for a document of the current segment. A text is left unread: `ord` and `leaf` tell it. */
void sort_cell_load(struct sort_plan *p, uint32_t k, doc_id doc, struct sort_cell *out);
/* Reads the text of a cell that may outlive its segment's turn. false: no memory, or corrupt. */
bool sort_cell_settle(struct sort_plan *p, uint32_t k, struct sort_cell *c);
/* Order of two cells of key k under its direction. `b` is settled. */
int sort_cell_cmp(struct sort_plan *p, uint32_t k, struct sort_cell *a, struct sort_cell *b);
/* The document of the current segment comes after `bound` by the first key for sure, which took less than computing the key.
 * false says nothing. */
bool sort_surely_after(const struct sort_plan *p, doc_id doc, const struct sort_cell *bound);
/* The value that the response shows; its text is copied into `arena`. */
bool sort_cell_value(const struct sort_plan *p, uint32_t k, const struct sort_cell *c, struct arena *arena,
                     struct sort_value *out);
/* A cell from a value that this plan once gave (of a scroll's last document). false: no memory. */
bool sort_cell_of_value(const struct sort_plan *p, uint32_t k, const struct sort_value *v,
                        struct sort_cell *out);
/* A cell from a value of search_after. ERR_ILLEGAL_ARGUMENT when it does not fit the field. */
enum err sort_cell_parse(const struct sort_plan *p, uint32_t k, const struct json *v, struct sort_cell *out,
                         struct errmsg *em);

/* ---- nested documents' values (sort_nested.c) ---- */
enum err sort_nested_bind(const struct search_context *cx, struct sort_key *k, struct errmsg *em);
void sort_nested_fini(struct sort_key *k);
enum err sort_nested_leaf(struct sort_key *k, const struct leaf *leaf, struct errmsg *em);
/* Walks the nested documents of one document: begin with all zero; `at` is the document. Whoever takes a value from one
 * counts it in `used`, which max_children bounds. */
struct sort_children {
    doc_id at;
    bool begun;
    int32_t used;
};
bool sort_nested_next(const struct sort_key *k, doc_id parent, struct sort_children *c);
void sort_nested_number(struct sort_plan *p, const struct sort_key *k, doc_id parent, struct sort_cell *out);
bool sort_nested_ord(const struct sort_key *k, doc_id parent, uint64_t *ord);
double sort_fraction(const struct sort_key *k, int64_t v);
/* A whole number under the key's numeric_type (sort.c). */
int64_t sort_cast(const struct sort_key *k, int64_t v);
/* Sets the plan's error where numeric_type asks for nanoseconds of a date that has none. */
void sort_check_nanos(struct sort_plan *p, const struct sort_key *k, int64_t v);

/* ---- scripts (sort_script.c) ---- */
enum err sort_script_bind(const struct search_context *cx, struct sort_key *k, struct sort_plan *p,
                          struct errmsg *em);
enum err sort_script_leaf(struct sort_plan *p, struct sort_key *k, const struct leaf *leaf,
                          struct errmsg *em);
void sort_script_load(struct sort_plan *p, struct sort_key *k, doc_id doc, struct sort_cell *out);

#endif
