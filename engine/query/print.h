/* print.h - queries as Lucene's toString() prints them: what the rows of several kinds share. Internal to engine/query. */
#ifndef ENGINE_QUERY_PRINT_H
#define ENGINE_QUERY_PRINT_H

#include "engine/query/query.h"

/* "name:". */
void query_print_field(const struct query *q, struct buf *out);
/* An address as Java's InetAddress prints it: no run of zeros is left out. */
void query_print_address(const uint8_t a[16], struct buf *out);
/* A term of the query's field: addresses as text, anything else as it is. */
void query_print_bytes(const struct query *q, struct str s, struct buf *out);
/* A script's form: a text, or an object with source, lang and params. */
void query_print_script(const struct json *form, struct buf *out);
/* Without what makes the score of rewritten clauses constant. */
void query_print_bare(const struct query *q, struct buf *out);
/* Does it stand in parentheses among others? */
bool query_in_parens(const struct query *q);
/* Is it one that rewriting made clauses of (term_sets.c)? */
bool terms_as_clauses(const struct query *q);

#endif
