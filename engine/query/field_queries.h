/* field_queries.h - the queries for each kind of values (enum field_queries). Inside field_query*.c only.
 *
 * A field's row names its kind; field_query.c has the table, one line a kind, and checks what holds for all of them. */
#ifndef ENGINE_QUERY_FIELD_QUERIES_H
#define ENGINE_QUERY_FIELD_QUERIES_H

#include "common/base/inet.h"
#include "engine/query/build.h"

typedef enum err (*term_query_fn)(struct builder *b, const struct field *f, const struct json *v,
                                  struct query **out, struct errmsg *em);
typedef enum err (*terms_query_fn)(struct builder *b, const struct field *f, const struct json *const *v,
                                   uint32_t n, struct query **out, struct errmsg *em);
typedef enum err (*range_query_fn)(struct builder *b, const struct field *f, const struct range_bounds *r,
                                   struct query **out, struct errmsg *em);

struct value_queries {
    term_query_fn term;
    terms_query_fn terms;                  /* NULL: any of the queries for single values */
    range_query_fn range;                  /* NULL: ranges are refused */
    bool terms_unindexed, range_unindexed; /* these are asked although the field has no index */
};

/* ---- shared nodes (field_query.c) ---- */

enum err qnode_num_range(struct builder *b, const struct field *f, int64_t lo, int64_t hi, bool point,
                         struct query **out, struct errmsg *em);
/* lo.p or hi.p NULL: open. */
enum err qnode_term_range(struct builder *b, const struct field *f, struct str lo, struct str hi, bool lo_in,
                          bool hi_in, struct query **out, struct errmsg *em);
enum err qnode_terms(struct builder *b, const struct field *f, const struct str *v, uint32_t n,
                     struct query **out, struct errmsg *em);
/* Sorts them, each once; how many there are. */
uint32_t terms_sorted(struct str *v, uint32_t n);
/* Any of the queries for single values. */
enum err field_any_term(struct builder *b, const struct field *f, const struct json *const *v, uint32_t n,
                        struct query **out, struct errmsg *em);

/* ---- numbers (field_query_number.c) ---- */

enum err number_term(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                     struct errmsg *em);
enum err number_terms(struct builder *b, const struct field *f, const struct json *const *v, uint32_t n,
                      struct query **out, struct errmsg *em);
enum err number_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                      struct query **out, struct errmsg *em);
/* Bounds in the form of the column; *none: nothing can lie between. */
enum err number_bounds(const struct field *f, const struct range_bounds *r, int64_t *lo, int64_t *hi,
                       bool *none, struct errmsg *em);
/* A bound of a range of whole numbers: one with a decimal part is refused. */
enum err whole_number(const struct field *f, const struct json *v, int64_t *out, struct errmsg *em);

/* ---- dates (field_query_date.c) ---- */

enum err date_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                    struct query **out, struct errmsg *em);
/* The instants that are given, rounded as exclusive ones are where they are exclusive. */
enum err date_ends(struct builder *b, const struct field *f, const struct range_bounds *r, int64_t *lo,
                   int64_t *hi, struct errmsg *em);

/* ---- addresses (field_query_address.c) ---- */

enum err address_term(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                      struct errmsg *em);
/* As one set of points; a field without an index has none. */
enum err address_terms(struct builder *b, const struct field *f, const struct json *const *v, uint32_t n,
                       struct query **out, struct errmsg *em);
enum err address_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                       struct query **out, struct errmsg *em);
enum err address_bounds(const struct range_bounds *r, uint8_t lo[INET_BYTES], uint8_t hi[INET_BYTES],
                        bool *none, struct errmsg *em);

/* ---- ranges (field_query_range.c) ---- */

enum err range_of_ranges(struct builder *b, const struct field *f, const struct range_bounds *r,
                         struct query **out, struct errmsg *em);

#endif
