/* print_terms.h - sets of terms as Lucene's TermInSetQuery prints them, and as it prints them once it has
 * been rewritten: sixteen terms or fewer are clauses of a disjunction then. Internal to engine/query. */
#ifndef ENGINE_QUERY_PRINT_TERMS_H
#define ENGINE_QUERY_PRINT_TERMS_H

#include "engine/query/query.h"

/* An address as Java's InetAddress prints it: no run of zeros is left out. */
void query_print_address(const uint8_t a[16], struct buf *out);
/* A term of the query's field: addresses as text, anything else as it is. */
void query_print_bytes(const struct query *q, struct str s, struct buf *out);
/* q_terms, q_ids. `bare`: the clauses of a rewritten one, without what makes their score constant. */
void query_print_terms(const struct query *q, bool bare, struct buf *out);
/* A part of q_spans on a field. */
void span_print(const struct span_part *p, struct str field, struct buf *out);
/* A script's form: a text, or an object with source, lang and params. */
void query_print_script(const struct json *form, struct buf *out);
/* Is it one that rewriting made clauses of? */
bool terms_as_clauses(const struct query *q);
/* Rewrites a q_terms or q_ids: the same terms, those of a small set sorted as the index sorts them, each once.
 * NULL: no memory. */
const struct query *terms_rewrite(const struct query *q, struct arena *arena);

#endif
