/* suggest_int.h - declarations shared by the parts of the suggest section: its requests, and one shard's results. */
#ifndef SUGGEST_SUGGEST_INT_H
#define SUGGEST_SUGGEST_INT_H

#include "common/base/json_pull.h"
#include "engine/query/dsl.h"
#include "engine/suggest/completion_search.h"
#include "engine/suggest/suggest.h"

enum suggest_kind { SUGGEST_COMPLETION, SUGGEST_TERM, SUGGEST_PHRASE };

/* The common members of all suggesters; the structs below begin with it. */
struct suggestion {
    struct str name;
    enum suggest_kind kind;
    struct str text, prefix, regex; /* p == NULL: not given */
    struct str field, analyzer;     /* p == NULL: not given */
    int32_t size, shard_size;       /* shard_size: INT32_MIN: not given */
};

struct completion_suggestion {
    struct suggestion common;
    bool skip_duplicates;
    bool has_fuzzy;
    struct {
        struct fuzziness fuzziness;
        int32_t edits, min_length, prefix_length, max_states;
        bool transpositions, unicode;
    } fuzzy;
    uint32_t regex_flags;
    int32_t regex_max_states;
    const struct json *contexts; /* NULL: none */
};

enum term_mode { MODE_MISSING, MODE_POPULAR, MODE_ALWAYS };
enum term_distance {
    DISTANCE_INTERNAL,
    DISTANCE_DAMERAU,
    DISTANCE_LEVENSHTEIN,
    DISTANCE_JARO_WINKLER,
    DISTANCE_NGRAM
};

/* How candidates for a word are found: the term suggester's, and a direct generator's of the phrase suggester. */
struct direct_options {
    struct str field;
    enum term_mode mode;
    enum term_distance distance;
    float accuracy;
    bool by_frequency; /* sort */
    int32_t max_edits, max_inspections, prefix_length, min_word_length, size;
    float max_term_freq, min_doc_freq;
    struct str pre_filter, post_filter; /* analyzers; p == NULL: none */
    struct str refused;                 /* why shards refuse a generator; p == NULL: they do not */
};

struct term_suggestion {
    struct suggestion common;
    struct direct_options direct;
};

enum smoothing { SMOOTH_STUPID_BACKOFF, SMOOTH_LAPLACE, SMOOTH_LINEAR };

struct phrase_suggestion {
    struct suggestion common;
    float real_word_error, confidence, max_errors;
    struct str separator;
    bool force_unigrams;
    int32_t gram_size, token_limit; /* gram_size 0: not given */
    struct str pre_tag, post_tag;   /* p == NULL: no highlighting */
    enum smoothing smoothing;
    double alpha;     /* or the discount */
    double lambda[3]; /* trigram, bigram, unigram */
    struct direct_options *generators;
    size_t n_generators, generators_cap;
    bool collate; /* asked for */
};

struct suggest_spec {
    struct str text; /* for those that have none; p == NULL: none */
    const struct suggestion **v;
    size_t n, cap;
};

enum err term_parse(struct json_pull *p, struct arena *arena, struct suggestion **out, struct errmsg *em);
enum err phrase_parse(struct json_pull *p, struct arena *arena, struct suggestion **out, struct errmsg *em);

void direct_options_init(struct direct_options *o);
/* The option that a word is; false: there is none, and nothing changes. */
bool term_mode_of(struct str s, enum term_mode *out);
bool term_sort_of(struct str s, bool *by_frequency);
bool term_distance_of(struct str s, enum term_distance *out);
/* A generator of the phrase suggester; the cursor stands on its START_OBJECT. */
enum err generator_parse(struct json_pull *p, struct arena *arena, struct direct_options *o,
                         struct errmsg *em);

/* ---- results ---- */

struct suggest_option {
    struct str text;
    float score;
    uint32_t doc, slot;         /* completion */
    const struct str *contexts; /* pairs of name and value, a name's values together */
    uint32_t n_contexts;        /* pairs */
    int64_t freq;               /* term */
    struct str highlighted;     /* phrase; p == NULL: none */
};

struct suggest_entry {
    struct str text;
    uint32_t offset, length; /* UTF-16 units */
    struct suggest_option *options;
    uint32_t n;
    double cutoff; /* phrase */
};

struct suggest_result {
    struct suggest_entry *entries;
    uint32_t n;
};

/* A word of the index that is like another. */
struct similar_word {
    struct str word;
    float score;
    int64_t freq; /* documents */
};
struct field_words { /* of all segments */
    int64_t sum_freq,
        n_terms; /* n_terms: of several segments nobody knows them, their documents stand for them */
    bool any;
};
struct suggest_run;
struct field_words words_of_field(const struct suggest_run *r, struct str field);
void word_freqs(const struct suggest_run *r, struct str field, struct str word, int64_t *docs,
                int64_t *total);
/* Lucene's DirectSpellChecker: at most n, best first. `threshold`: min_doc_freq, as a count or a fraction. */
enum err similar_words(const struct suggest_run *r, const struct direct_options *o, struct str field,
                       struct str word, uint32_t n, float threshold, struct similar_word **out,
                       uint32_t *n_out);
/* The field, the analyzer (NULL: none) and the tokens of a suggester of words; ERR_ILLEGAL_ARGUMENT as Elasticsearch words it. */
enum err words_request(const struct suggest_run *r, const struct suggestion *s, struct str text,
                       struct str *field, struct token_list *tokens, const struct analyzer **an);
/* How alike two words are, 0 to 1. */
float word_likeness(enum term_distance d, struct str a, struct str b, struct arena *arena);

/* What a suggester needs of the shard. */
struct suggest_run {
    const struct suggest_spec *spec;
    const struct search_context *cx;
    struct arena *arena;
    struct errmsg *em;
};
enum err completion_run(const struct suggest_run *r, const struct completion_suggestion *s, struct str text,
                        struct suggest_result *out);
enum err term_run(const struct suggest_run *r, const struct term_suggestion *s, struct str text,
                  struct suggest_result *out);
enum err phrase_run(const struct suggest_run *r, const struct phrase_suggestion *s, struct str text,
                    struct suggest_result *out);

/* The beginnings that a request of contexts asks for. */
struct context_query {
    struct str key; /* number and value */
    float boost;
    bool exact;
};
/* ERR_ILLEGAL_ARGUMENT when none is given. */
enum err completion_contexts(const struct field *f, const struct json *given, struct arena *arena,
                             struct context_query **out, size_t *n, struct errmsg *em);

/* The contexts under which a document was found (number and value), as its option shows them. */
enum err completion_named_contexts(const struct field *f, const struct str *keys, size_t n,
                                   struct arena *arena, struct suggest_option *out, struct errmsg *em);

/* Byte form (suggest_bytes.c). */
void suggest_result_encode(const struct suggest_result *r, struct buf *out);
bool suggest_result_decode(struct suggest_result *r, struct bytes_in *in, struct arena *arena);

/* As Java's String.compareTo: by UTF-16 units. */
int utf16_cmp(struct str a, struct str b);

#endif
