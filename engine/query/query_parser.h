/* query_parser.h - the parser of Lucene's classic query syntax (query_string). Internal to engine/query. */
#ifndef ENGINE_QUERY_QUERY_PARSER_H
#define ENGINE_QUERY_QUERY_PARSER_H

#include "engine/query/query_lexer.h"
#include "engine/query/query_string.h"

/* The tokens that may come next, for the error about any other token. */
enum expected {
    EXPECT_START,  /* a clause, before any other */
    EXPECT_CLAUSE, /* a clause behind a conjunction */
    EXPECT_TERM,   /* behind a modifier */
    EXPECT_VALUE,  /* behind a field's name */
    EXPECT_AFTER,  /* what may follow a clause */
    EXPECT_NUMBER,
    EXPECT_BOUND,
    EXPECT_TO,
    EXPECT_RANGE_END
};

struct parser {
    struct string_run r;
    struct lexer lex;
    struct lex_token t1, t2, t3; /* the next three tokens */
    uint32_t depth;
    enum expected expected;
    bool may_boost, may_fuzz; /* a boost, a slop may follow the clause */
};

/* The next token. */
enum err parser_advance(struct parser *p);
/* The error that the next token is not one of those that may come. */
enum err parser_refuse(struct parser *p);
enum err parser_unescape(struct parser *p, struct str s, struct str *out);
/* Analysed text of a field; *out is NULL when nothing is left of it. */
enum err parser_text(struct parser *p, struct str field, struct str text, struct query **out);
enum err parser_clause(struct parser *p, struct str field, struct query **out);
/* (dsl_query_string.c) All clauses up to the end, or to the closing bracket. */
enum err parser_query(struct parser *p, struct str field, struct query **out);

/* ---- clauses on one field (string_clauses.c): `arg` is a struct str, or what stands here ---- */

struct fuzzy_arg {
    struct str text;
    struct str edits; /* "1" */
    int32_t refused;  /* a number of edits below 0; 0: none */
};

struct range_arg {
    struct str from, to; /* p == NULL: open */
    bool from_inclusive, to_inclusive;
};

enum err string_make_prefix(struct string_run *r, const struct field *f, struct str name, const void *arg,
                            struct query **out);
enum err string_make_wildcard(struct string_run *r, const struct field *f, struct str name, const void *arg,
                              struct query **out);
enum err string_make_regexp(struct string_run *r, const struct field *f, struct str name, const void *arg,
                            struct query **out);
enum err string_make_fuzzy(struct string_run *r, const struct field *f, struct str name, const void *arg,
                           struct query **out);
enum err string_make_range(struct string_run *r, const struct field *f, struct str name, const void *arg,
                           struct query **out);

#endif
