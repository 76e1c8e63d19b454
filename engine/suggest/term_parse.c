/* The term suggester as it is written, and the options that it shares with the phrase suggester's generators. */
#include "engine/suggest/suggest_int.h"

#include "common/base/arena_list.h"

#include <ctype.h>

void direct_options_init(struct direct_options *o)
{
    *o = (struct direct_options){.mode = MODE_MISSING,
                                 .accuracy = 0.5F,
                                 .max_edits = 2,
                                 .max_inspections = 5,
                                 .prefix_length = 1,
                                 .min_word_length = 4,
                                 .size = 5,
                                 .max_term_freq = 0.01F};
}

static bool one_of(struct str s, const char *const *names, size_t n, unsigned *out)
{
    for (size_t i = 0; i < n; i++) {
        if (str_eq_nocase(s, str_of(names[i]))) {
            *out = (unsigned)i;
            return true;
        }
    }
    return false;
}

bool term_mode_of(struct str s, enum term_mode *out)
{
    static const char *const names[] = {"missing", "popular", "always"};
    unsigned i = 0;
    bool known = one_of(s, names, ARRAY_LEN(names), &i);
    *out = known ? (enum term_mode)i : *out;
    return known;
}

bool term_sort_of(struct str s, bool *by_frequency)
{
    static const char *const names[] = {"score", "frequency"};
    unsigned i = 0;
    bool known = one_of(s, names, ARRAY_LEN(names), &i);
    *by_frequency = known ? i == 1 : *by_frequency;
    return known;
}

bool term_distance_of(struct str s, enum term_distance *out)
{
    static const char *const names[] = {"internal", "damerau_levenshtein", "levenshtein", "jaro_winkler",
                                        "ngram"};
    unsigned i = 0;
    bool known = one_of(s, names, ARRAY_LEN(names), &i);
    *out = known ? (enum term_distance)i : *out;
    return known;
}

/* The refusal of a Java enum: its constants are upper-case. */
static enum err no_constant(const char *of, struct str s, struct errmsg *em)
{
    char name[64];
    size_t n = MIN_OF(s.n, sizeof(name));
    for (size_t i = 0; i < n; i++) {
        name[i] = (char)toupper((unsigned char)s.p[i]);
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "No enum constant org.elasticsearch.search.suggest.%s.%.*s", of,
                   (int)n, name);
}

static enum err read_mode(struct json_pull *p, struct direct_options *o, struct errmsg *em)
{
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    return e != ERR_OK || term_mode_of(s, &o->mode)
               ? e
               : no_constant("term.TermSuggestionBuilder.SuggestMode", s, em);
}

static enum err read_sort(struct json_pull *p, struct direct_options *o, struct errmsg *em)
{
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    return e != ERR_OK || term_sort_of(s, &o->by_frequency) ? e : no_constant("SortBy", s, em);
}

static enum err read_distance(struct json_pull *p, struct direct_options *o, struct errmsg *em)
{
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    return e != ERR_OK || term_distance_of(s, &o->distance)
               ? e
               : err_set(em, ERR_ILLEGAL_ARGUMENT, "Illegal distance option %.*s", STR_ARG(s));
}

static enum err at_least(struct json_pull *p, int32_t *to, int32_t least, int32_t most, const char *what,
                         struct errmsg *em)
{
    enum err e = json_pull_i32(p, to, em);
    return e == ERR_OK && (*to < least || *to > most) ? err_set(em, ERR_ILLEGAL_ARGUMENT, "%s", what) : e;
}

/* A fraction, or a whole number. */
static enum err read_freq(struct json_pull *p, float *to, const char *name, struct errmsg *em)
{
    enum err e = json_pull_float(p, to, em);
    if (e == ERR_OK && *to < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s must be positive", name);
    }
    if (e == ERR_OK && *to > 1 && *to < 2147483648.0F && *to != (float)(int32_t)*to) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "if %s is greater than 1, it must not be a fraction", name);
    }
    return e;
}

static enum err read_number(struct json_pull *p, struct str key, struct direct_options *o, bool *known,
                            struct errmsg *em)
{
    if (str_is(key, "accuracy")) {
        enum err e = json_pull_float(p, &o->accuracy, em);
        bool bad = e == ERR_OK && !(o->accuracy >= 0 && o->accuracy <= 1);
        return bad ? err_set(em, ERR_ILLEGAL_ARGUMENT, "accuracy must be between 0 and 1") : e;
    }
    if (str_is(key, "max_edits")) {
        return at_least(p, &o->max_edits, 1, 2, "maxEdits must be between 1 and 2", em);
    }
    if (str_is(key, "max_inspections")) {
        return at_least(p, &o->max_inspections, 0, INT32_MAX, "maxInspections must be positive", em);
    }
    if (str_is(key, "max_term_freq")) {
        return read_freq(p, &o->max_term_freq, "maxTermFreq", em);
    }
    if (str_is(key, "prefix_length")) {
        return at_least(p, &o->prefix_length, 0, INT32_MAX, "prefixLength must be positive", em);
    }
    if (str_is(key, "min_word_length")) {
        return at_least(p, &o->min_word_length, 1, INT32_MAX, "minWordLength must be greater or equal to 1",
                        em);
    }
    if (str_is(key, "min_doc_freq")) {
        return read_freq(p, &o->min_doc_freq, "minDocFreq", em);
    }
    *known = false;
    return ERR_OK;
}

/* The value at the cursor, when `key` is an option of how candidates are found. */
static enum err direct_option_parse(struct json_pull *p, struct str key, struct direct_options *o,
                                    bool *known, struct errmsg *em)
{
    *known = true;
    if (str_is(key, "suggest_mode")) {
        return read_mode(p, o, em);
    }
    if (str_is(key, "sort")) {
        return read_sort(p, o, em);
    }
    if (str_is(key, "string_distance")) {
        return read_distance(p, o, em);
    }
    return read_number(p, key, o, known, em);
}

static enum err read_common(struct json_pull *p, struct suggestion *s, bool *known, struct errmsg *em)
{
    *known = true;
    if (str_is(p->name, "field")) {
        return json_pull_text(p, &s->field, em);
    }
    if (str_is(p->name, "analyzer")) {
        return json_pull_text(p, &s->analyzer, em);
    }
    if (str_is(p->name, "size")) {
        return at_least(p, &s->size, 1, INT32_MAX, "size must be positive", em);
    }
    if (str_is(p->name, "shard_size")) {
        return json_pull_i32(p, &s->shard_size, em);
    }
    *known = false;
    return ERR_OK;
}

static enum err check_field(const struct suggestion *s, struct errmsg *em)
{
    if (s->field.p == NULL) {
        return err_set(em, ERR_PARSE, "the required field option [field] is missing");
    }
    return s->field.n > 0 ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "suggestion field name is empty");
}

enum err term_parse(struct json_pull *p, struct arena *arena, struct suggestion **out, struct errmsg *em)
{
    struct term_suggestion *s = ARENA_NEW(arena, struct term_suggestion);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->common;
    s->common.kind = SUGGEST_TERM;
    s->common.size = 5;
    s->common.shard_size = INT32_MIN;
    direct_options_init(&s->direct);
    enum err e = ERR_OK;
    while (e == ERR_OK && json_pull_until(p, TOK_END_OBJECT)) {
        bool known;
        if (p->token == TOK_FIELD_NAME) {
            continue;
        }
        if (!json_token_is_value(p->token)) {
            return json_pull_err(p, em, ERR_PARSING, "suggester[term] parsing failed on [%.*s]",
                                 STR_ARG(p->name));
        }
        e = read_common(p, &s->common, &known, em);
        if (!known) {
            e = direct_option_parse(p, p->name, &s->direct, &known, em);
        }
        if (!known) {
            return json_pull_err(p, em, ERR_PARSING, "suggester[term] doesn't support field [%.*s]",
                                 STR_ARG(p->name));
        }
    }
    return e == ERR_OK ? check_field(&s->common, em) : e;
}

/* ---- the phrase suggester ---- */

static enum err bad_phrase(struct json_pull *p, struct str name, struct errmsg *em)
{
    bool opens = p->token == TOK_START_OBJECT || p->token == TOK_START_ARRAY;
    return json_pull_err(p, em, ERR_PARSING, "suggester[phrase] %s[%.*s]",
                         opens ? " doesn't support array field " : "doesn't support field ", STR_ARG(name));
}

static enum err read_phrase_value(struct json_pull *p, struct phrase_suggestion *s, struct errmsg *em)
{
    bool known;
    enum err e = read_common(p, &s->common, &known, em);
    if (known) {
        return e;
    }
    if (str_is(p->name, "real_word_error_likelihood")) {
        e = json_pull_float(p, &s->real_word_error, em);
        bool bad = e == ERR_OK && !(s->real_word_error > 0);
        return bad ? err_set(em, ERR_ILLEGAL_ARGUMENT, "real_word_error_likelihood must be > 0.0") : e;
    }
    if (str_is(p->name, "confidence")) {
        e = json_pull_float(p, &s->confidence, em);
        return e == ERR_OK && s->confidence < 0
                   ? err_set(em, ERR_ILLEGAL_ARGUMENT, "confidence must be >= 0.0")
                   : e;
    }
    if (str_is(p->name, "separator")) {
        return json_pull_text(p, &s->separator, em);
    }
    if (str_is(p->name, "max_errors")) {
        e = json_pull_float(p, &s->max_errors, em);
        return e == ERR_OK && !(s->max_errors > 0)
                   ? err_set(em, ERR_ILLEGAL_ARGUMENT, "max_error must be > 0.0")
                   : e;
    }
    if (str_is(p->name, "gram_size")) {
        return at_least(p, &s->gram_size, 1, INT32_MAX, "gramSize must be >= 1", em);
    }
    if (str_is(p->name, "force_unigrams")) {
        return json_pull_bool(p, &s->force_unigrams, em);
    }
    if (str_is(p->name, "token_limit")) {
        return at_least(p, &s->token_limit, 1, INT32_MAX, "token_limit must be >= 1", em);
    }
    return bad_phrase(p, p->name, em);
}

static enum err read_highlight(struct json_pull *p, struct phrase_suggestion *s, struct errmsg *em)
{
    enum err e = ERR_OK;
    while (e == ERR_OK && json_pull_until(p, TOK_END_OBJECT)) {
        if (json_token_is_value(p->token)) {
            struct str *to = str_is(p->name, "pre_tag")    ? &s->pre_tag
                             : str_is(p->name, "post_tag") ? &s->post_tag
                                                           : NULL;
            if (to == NULL) {
                return json_pull_err(p, em, ERR_PARSING,
                                     "suggester[phrase][highlight] doesn't support field [%.*s]",
                                     STR_ARG(p->name));
            }
            e = json_pull_text(p, to, em);
        } else if (p->token == TOK_START_OBJECT) {
            return json_pull_err(p, em, ERR_PARSING,
                                 "suggester[phrase][highlight] doesn't support objects [%.*s]",
                                 STR_ARG(p->name));
        }
    }
    if (e == ERR_OK && (s->pre_tag.p == NULL) != (s->post_tag.p == NULL)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Pre and post tag must both be null or both not be null.");
    }
    return e;
}

/* {"laplace": {"alpha": 0.7}} and its like. */
static enum err read_smoothing(struct json_pull *p, struct phrase_suggestion *s, struct errmsg *em)
{
    static const struct {
        const char *model, *option;
        enum smoothing kind;
        int lambda;
    } options[] = {{"stupid_backoff", "discount", SMOOTH_STUPID_BACKOFF, -1},
                   {"laplace", "alpha", SMOOTH_LAPLACE, -1},
                   {"linear", "trigram_lambda", SMOOTH_LINEAR, 0},
                   {"linear", "bigram_lambda", SMOOTH_LINEAR, 1},
                   {"linear", "unigram_lambda", SMOOTH_LINEAR, 2}};
    struct str model = STR_NULL;
    enum err e = ERR_OK;
    unsigned depth = 0;
    while (e == ERR_OK && json_pull_more(p) && (p->token != TOK_END_OBJECT || depth > 0)) {
        if (p->token == TOK_END_OBJECT) {
            depth--;
        } else if (p->token == TOK_START_OBJECT && depth == 0) {
            bool known = false;
            model = p->name;
            depth++;
            for (size_t i = 0; i < ARRAY_LEN(options); i++) {
                known |= str_is(model, options[i].model);
                s->smoothing = str_is(model, options[i].model) ? options[i].kind : s->smoothing;
            }
            s->alpha = s->smoothing == SMOOTH_LAPLACE ? 0.5 : 0.4;
            if (!known) {
                return err_set(em, ERR_ILLEGAL_ARGUMENT,
                               "suggester[phrase] doesn't support object field [%.*s]", STR_ARG(model));
            }
        } else if (depth == 0 && p->token != TOK_FIELD_NAME) {
            return json_pull_err(p, em, ERR_PARSING, "[smoothing] unknown token [%s] after [%.*s]",
                                 json_token_text(p->token), STR_ARG(p->name));
        } else if (json_token_is_value(p->token)) {
            size_t i = 0;
            while (i < ARRAY_LEN(options)
                   && !(str_is(model, options[i].model) && str_is(p->name, options[i].option))) {
                i++;
            }
            if (i == ARRAY_LEN(options) && s->smoothing != SMOOTH_LINEAR) {
                continue;
            }
            if (i == ARRAY_LEN(options)) {
                return err_set(em, ERR_ILLEGAL_ARGUMENT,
                               "suggester[phrase][smoothing][linear] doesn't support field [%.*s]",
                               STR_ARG(p->name));
            }
            e = json_pull_double(p, options[i].lambda < 0 ? &s->alpha : &s->lambda[options[i].lambda], em);
        } else if (depth > 0 && p->token != TOK_FIELD_NAME && str_is(model, "linear")) {
            return json_pull_err(p, em, ERR_PARSING, "[linear] unknown token [%s] after [%.*s]",
                                 json_token_text(p->token), STR_ARG(p->name));
        }
    }
    double sum = s->lambda[0] + s->lambda[1] + s->lambda[2];
    if (e == ERR_OK && s->smoothing == SMOOTH_LINEAR && (sum < 0.999 || sum > 1.001)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "linear smoothing lambdas must sum to 1");
    }
    return e;
}

static enum err read_generator(struct json_pull *p, struct phrase_suggestion *s, struct arena *arena,
                               struct errmsg *em)
{
    if (!ARENA_ROOM(arena, s->generators, s->n_generators, s->generators_cap)) {
        return err_no_memory(em);
    }
    return generator_parse(p, arena, &s->generators[s->n_generators++], em);
}

/* Checked as it is read; shards refuse it then. */
static enum err read_collate(struct json_pull *p, struct phrase_suggestion *s, struct errmsg *em)
{
    bool prune;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        if (p->token == TOK_FIELD_NAME) {
            continue;
        }
        if (str_is(p->name, "query")) {
            s->collate = true;
        } else if (str_is(p->name, "prune")) {
            if (json_pull_bool(p, &prune, em) != ERR_OK) {
                return json_pull_err(p, em, ERR_PARSING,
                                     "suggester[phrase][collate] prune must be either 'true' or 'false'");
            }
        } else if (!str_is(p->name, "params")) {
            return json_pull_err(p, em, ERR_PARSING,
                                 "suggester[phrase][collate] doesn't support field [%.*s]", STR_ARG(p->name));
        }
        json_pull_skip(p);
    }
    return ERR_OK;
}

static enum err read_phrase_container(struct json_pull *p, struct phrase_suggestion *s, struct str name,
                                      struct arena *arena, struct errmsg *em)
{
    enum err e = ERR_OK;
    if (p->token == TOK_START_ARRAY && str_is(name, "direct_generator")) {
        while (e == ERR_OK && json_pull_until(p, TOK_END_ARRAY) && p->token == TOK_START_OBJECT) {
            e = read_generator(p, s, arena, em);
        }
        return e; /* anything else ends the list: what follows it stands for the option's value */
    }
    if (p->token == TOK_START_OBJECT && str_is(name, "highlight")) {
        return read_highlight(p, s, em);
    }
    if (p->token == TOK_START_OBJECT && str_is(name, "smoothing")) {
        return read_smoothing(p, s, em);
    }
    if (p->token == TOK_START_OBJECT && str_is(name, "collate")) {
        return read_collate(p, s, em);
    }
    return bad_phrase(p, name, em);
}

enum err phrase_parse(struct json_pull *p, struct arena *arena, struct suggestion **out, struct errmsg *em)
{
    struct phrase_suggestion *s = ARENA_NEW(arena, struct phrase_suggestion);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->common;
    s->common.kind = SUGGEST_PHRASE;
    s->common.size = 5;
    s->common.shard_size = INT32_MIN;
    s->real_word_error = 0.95F;
    s->confidence = 1;
    s->max_errors = 0.5F;
    s->separator = STR(" ");
    s->force_unigrams = true;
    s->token_limit = 10;
    s->alpha = 0.4;
    enum err e = ERR_OK;
    struct str name = STR_NULL;
    while (e == ERR_OK && json_pull_until(p, TOK_END_OBJECT)) {
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        e = json_token_is_value(p->token) ? read_phrase_value(p, s, em)
                                          : read_phrase_container(p, s, name, arena, em);
    }
    return e == ERR_OK ? check_field(&s->common, em) : e;
}
