/* The phrase suggester: Elasticsearch's NoisyChannelSpellChecker. Every word of the text has candidates; a phrase's score is
 * the product of each word's likelihood in the language (a model of words and of their pairs) and of its being meant. */
#include "common/base/arena_list.h"
#include "common/base/memory_account.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/suggest/suggest_int.h"

#include <math.h>

struct word {
    struct str text;
    int64_t total;  /* occurrences in the index */
    double channel; /* how likely it was meant: 1 for the text's own */
    double score;
    bool own;
};

struct word_set {
    struct word own;
    struct word *v; /* candidates */
    size_t n, cap;
};

struct correction {
    double score;
    const struct word **words;
};

struct checker {
    const struct suggest_run *r;
    const struct phrase_suggestion *s;
    struct str field;
    struct field_words stats;
    uint32_t gram_size, most; /* corrections */
    struct word_set *sets;
    uint32_t n;
    const struct word **path;
    struct correction *best; /* best first */
    uint32_t n_best;
    double cutoff;
    bool failed; /* no memory */
};

/* ---- the language model ---- */

static int64_t frequency(const struct checker *c, struct str a, struct str b, struct str d)
{
    struct str sep = c->s->separator;
    struct buf joined;
    int64_t docs, total;
    memory_request_buf(&joined);
    buf_str(&joined, a);
    if (b.p != NULL) {
        buf_str(&joined, sep);
        buf_str(&joined, b);
    }
    if (d.p != NULL) {
        buf_str(&joined, sep);
        buf_str(&joined, d);
    }
    word_freqs(c->r, c->field, buf_view(&joined), &docs, &total);
    buf_fini(&joined);
    return total;
}

static double unigram(const struct checker *c, const struct word *w)
{
    double more = c->s->smoothing == SMOOTH_LAPLACE ? c->s->alpha : 1;
    return (more + (double)frequency(c, w->text, STR_NULL, STR_NULL))
           / ((double)c->stats.sum_freq + more * (double)c->stats.n_terms);
}

static double bigram(const struct checker *c, const struct word *w, const struct word *w1)
{
    double count = (double)frequency(c, w1->text, w->text, STR_NULL), alpha = c->s->alpha;
    switch (c->s->smoothing) {
    case SMOOTH_LAPLACE:
        return (alpha + count) / ((double)w1->total + alpha * (double)c->stats.n_terms);
    case SMOOTH_LINEAR:
        return count < 1
                   ? c->s->lambda[2] * unigram(c, w)
                   : c->s->lambda[1] * (count / (0.5 + (double)w1->total)) + c->s->lambda[2] * unigram(c, w);
    case SMOOTH_STUPID_BACKOFF:
        break;
    }
    return count < 1 ? alpha * unigram(c, w) : count / ((double)w1->total + 0.00000000001);
}

static double trigram(const struct checker *c, const struct word *w, const struct word *w1,
                      const struct word *w2)
{
    double alpha = c->s->alpha, three = (double)frequency(c, w2->text, w1->text, w->text);
    if (c->s->smoothing == SMOOTH_LAPLACE) {
        double two = (double)frequency(c, w2->text, w1->text, STR_NULL);
        return (alpha + three) / (alpha * (double)c->stats.n_terms + two);
    }
    if (c->s->smoothing == SMOOTH_LINEAR) {
        double two = (double)frequency(c, w2->text, w1->text, STR_NULL);
        return three < 1 ? bigram(c, w, w1) : c->s->lambda[0] * (three / (1.0 + two)) + bigram(c, w, w1);
    }
    double two = (double)frequency(c, w1->text, w->text, STR_NULL);
    if (two < 1) {
        return alpha * unigram(c, w);
    }
    return three < 1 ? alpha * (two / ((double)w1->total + 0.00000000001)) : three / (two + 0.00000000001);
}

/* The logarithm of the word at `at`, given those before it. */
static double word_score(const struct checker *c, const struct word *const *path, uint32_t at)
{
    const struct word *w = path[at];
    double channel = w->channel == 1 ? (double)c->s->real_word_error : w->channel, model;
    if (at == 0 || c->gram_size == 1) {
        model = unigram(c, w);
    } else if (at == 1 || c->gram_size == 2) {
        model = bigram(c, w, path[at - 1]);
    } else {
        model = trigram(c, w, path[at - 1], path[at - 2]);
    }
    return log10(channel * model);
}

/* ---- candidates ---- */

static double candidate_score(const struct field_words *of, int64_t total, double channel)
{
    return channel * (((double)total + 1) / ((double)of->sum_freq + 1));
}

static void own_word(const struct checker *c, struct str field, struct word *w, struct str text)
{
    struct field_words of = words_of_field(c->r, field);
    int64_t docs;
    *w = (struct word){.text = text, .channel = 1, .own = true};
    word_freqs(c->r, field, text, &docs, &w->total);
    w->score = candidate_score(&of, w->total, 1);
}

/* A word run through one of the analyzers; its first token, or itself. */
static struct str filtered(struct checker *c, struct str analyzer, struct str text)
{
    struct token_list tokens;
    const struct analyzer *an =
        analyzer.p != NULL ? analysis_analyzer(mapping_analysis(c->r->cx->query.mapping), analyzer) : NULL;
    if (an == NULL) {
        return text;
    }
    token_list_init(&tokens, c->r->arena);
    if (analyzer_run(an, text, &tokens, NULL) != ERR_OK || tokens.n == 0) {
        return text;
    }
    struct str first = arena_str(c->r->arena, tokens.v[0].text);
    c->failed |= first.p == NULL;
    return first;
}

/* A word of a later generator is taken instead of the same one of an earlier one: `from` are of this one. */
static void add_word(struct checker *c, struct word_set *set, size_t from, const struct word *w)
{
    for (size_t i = 0; i < set->n; i++) {
        if (str_eq(set->v[i].text, w->text)) {
            set->v[i] = i < from ? *w : set->v[i];
            return;
        }
    }
    if (!ARENA_ADD(c->r->arena, set->v, set->n, set->cap, *w)) {
        c->failed = true;
        return;
    }
}

static enum err draw(struct checker *c, const struct direct_options *g, struct word_set *set)
{
    struct field_words of = words_of_field(c->r, g->field);
    struct similar_word *words;
    uint32_t n;
    int64_t docs, total;
    size_t from = set->n;
    float threshold = g->min_doc_freq;
    if (!of.any) {
        return ERR_OK;
    }
    if (g->mode != MODE_ALWAYS) { /* rarer words are no corrections */
        word_freqs(c->r, g->field, set->own.text, &docs, &total);
        double least = docs > 0 ? (double)docs * (log((double)docs) / log(5) + 1) : 0;
        threshold = (float)floor(least + 0.5);
    }
    enum err e = similar_words(c->r, g, g->field, filtered(c, g->pre_filter, set->own.text),
                               (uint32_t)g->size, threshold, &words, &n);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        struct word w = {.text = filtered(c, g->post_filter, words[i].word),
                         .channel = (double)words[i].score};
        word_freqs(c->r, g->field, w.text, &docs, &w.total);
        w.score = candidate_score(&of, w.total, w.channel);
        if (g->post_filter.p == NULL || !str_eq(w.text, set->own.text)) {
            add_word(c, set, from, &w);
        }
    }
    return e;
}

static int likeliest(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

/* ---- the best phrases ---- */

/* Above zero: a is better. Equal scores go by the words. */
static int phrase_compare(double a_score, const struct word *const *a, double b_score,
                          const struct word *const *b, uint32_t n)
{
    if (a_score != b_score) {
        return a_score > b_score ? 1 : -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        int order = str_cmp(a[i]->text, b[i]->text);
        if (order != 0) {
            return -order;
        }
    }
    return 0;
}

static void offer(struct checker *c, double log_score)
{
    double score = exp(log_score);
    if (!(score > c->cutoff)) {
        return;
    }
    uint32_t at = c->n_best;
    while (at > 0 && phrase_compare(score, c->path, c->best[at - 1].score, c->best[at - 1].words, c->n) > 0) {
        at--;
    }
    if (at == c->most) {
        return;
    }
    const struct word **words = c->n_best == c->most ? c->best[c->most - 1].words
                                                     : (void *)ARENA_ARRAY(c->r->arena, struct word *, c->n);
    if (words == NULL) {
        c->failed = true;
        return;
    }
    c->n_best += c->n_best < c->most;
    memmove(&c->best[at + 1], &c->best[at], (c->n_best - at - 1) * sizeof(*c->best));
    memcpy(words, c->path, c->n * sizeof(*words));
    c->best[at] = (struct correction){score, words};
}

/* Recursion is as deep as the text has words: fewer than token_limit. */
static void search(struct checker *c, uint32_t at, unsigned errors_left, double so_far)
{
    const struct word_set *set = &c->sets[at];
    size_t n = errors_left > 0 ? set->n : 0;
    for (size_t i = 0; i <= n && !c->failed && !stop_often(); i++) {
        c->path[at] = i == 0 ? &set->own : &set->v[i - 1];
        double score = so_far + word_score(c, c->path, at);
        if (at + 1 == c->n) {
            offer(c, score);
        } else {
            search(c, at + 1, i == 0 ? errors_left : errors_left - 1, score);
        }
    }
}

static enum err correct(struct checker *c)
{
    float errors = c->s->max_errors;
    double allowed = errors >= 1 ? (double)errors : floor((double)(errors * (float)c->n) + 0.5);
    c->path = (void *)ARENA_ARRAY(c->r->arena, struct word *, c->n);
    c->best = ARENA_ARRAY(c->r->arena, struct correction, c->most);
    c->cutoff = 4.9e-324; /* Double.MIN_VALUE */
    if (c->path == NULL || c->best == NULL) {
        return err_no_memory(c->r->em);
    }
    if (c->s->confidence > 0) {
        double score = 0;
        for (uint32_t i = 0; i < c->n; i++) {
            c->path[i] = &c->sets[i].own;
            score += word_score(c, c->path, i);
        }
        c->cutoff = exp(score) * (double)c->s->confidence;
    }
    search(c, 0, (unsigned)MIN_OF(MAX_OF(allowed, 1), 1e6), 0);
    return c->failed ? err_no_memory(c->r->em) : ERR_OK;
}

static struct str phrase_join(struct checker *c, const struct correction *k, bool marked)
{
    struct buf b;
    memory_request_buf(&b);
    for (uint32_t i = 0; i < c->n; i++) {
        bool own = k->words[i]->own || !marked;
        buf_str(&b, i > 0 ? STR(" ") : STR_NULL);
        buf_str(&b, !own && (i == 0 || k->words[i - 1]->own) ? c->s->pre_tag : STR_NULL);
        buf_str(&b, k->words[i]->text);
        buf_str(&b, !own && (i + 1 == c->n || k->words[i + 1]->own) ? c->s->post_tag : STR_NULL);
    }
    struct str s = arena_str(c->r->arena, buf_view(&b));
    c->failed |= b.failed || s.p == NULL;
    buf_fini(&b);
    return s;
}

static enum err phrase_show(struct checker *c, struct suggest_entry *entry)
{
    entry->cutoff = c->cutoff;
    entry->options = ARENA_ARRAY(c->r->arena, struct suggest_option, c->n_best);
    if (entry->options == NULL) {
        return err_no_memory(c->r->em);
    }
    for (uint32_t i = 0; i < c->n_best; i++) {
        const struct correction *k = &c->best[i];
        struct suggest_option *o = &entry->options[entry->n++];
        *o = (struct suggest_option){.text = phrase_join(c, k, false), .score = (float)k->score};
        o->highlighted = c->s->pre_tag.p != NULL ? phrase_join(c, k, true) : STR_NULL;
    }
    return c->failed ? err_no_memory(c->r->em) : ERR_OK;
}

/* ---- the request ---- */

/* The words of the text; shingles are passed by. */
static enum err take_words(struct checker *c, const struct token_list *tokens, struct str first_field)
{
    c->sets = ARENA_ARRAY(c->r->arena, struct word_set, tokens->n);
    if (c->sets == NULL) {
        return err_no_memory(c->r->em);
    }
    for (uint32_t i = 0; i < tokens->n; i++) {
        const char *type = tokens->v[i].type;
        bool shingle = type != NULL && strcmp(type, "shingle") == 0;
        struct str text = arena_str(c->r->arena, tokens->v[i].text);
        if (text.p == NULL) {
            return err_no_memory(c->r->em);
        }
        if (!shingle || !c->s->force_unigrams) {
            own_word(c, first_field, &c->sets[c->n++].own, text);
        }
    }
    if (c->n == 0 && tokens->n > 0) {
        return err_set(c->r->em, ERR_ILLEGAL_STATE,
                       "At least one unigram is required but all tokens were ngrams");
    }
    return ERR_OK;
}

static enum err phrase_check(struct checker *c, const struct direct_options *generators, size_t n)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < c->n; i++) {
        struct word_set *set = &c->sets[i];
        for (size_t k = 0; e == ERR_OK && k < n; k++) {
            e = draw(c, &generators[k], set);
        }
        if (set->n > c->most) {
            sort_items(set->v, set->n, sizeof(*set->v), likeliest);
            set->n = c->most;
        }
    }
    return e == ERR_OK ? correct(c) : e;
}

/* Groups of as many words as the analyzer's filter makes, where it has a definition of its own. */
static uint32_t gram_size(const struct phrase_suggestion *s, const struct analyzer *an)
{
    for (size_t i = 0; s->gram_size == 0 && an != NULL && i < an->n_filters; i++) {
        if (an->filters[i]->shingle_words > 0) {
            return an->filters[i]->shingle_words;
        }
    }
    return s->gram_size > 0 ? (uint32_t)s->gram_size : 1;
}

static enum err check_filter(const struct suggest_run *r, struct str analyzer)
{
    if (analyzer.p == NULL || analysis_analyzer(mapping_analysis(r->cx->query.mapping), analyzer) != NULL) {
        return ERR_OK;
    }
    return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Analyzer [%.*s] doesn't exists", STR_ARG(analyzer));
}

static bool gives_no_unigrams(const struct analyzer *an)
{
    for (size_t i = 0; an != NULL && i < an->n_filters; i++) {
        if (an->filters[i]->no_unigrams) {
            return true;
        }
    }
    return false;
}

enum err phrase_run(const struct suggest_run *r, const struct phrase_suggestion *s, struct str text,
                    struct suggest_result *out)
{
    struct token_list tokens;
    const struct analyzer *an = NULL;
    struct checker c = {.r = r, .s = s};
    enum err e = words_request(r, &s->common, text, &c.field, &tokens, &an);
    struct suggest_entry *entry = e == ERR_OK ? ARENA_NEW(r->arena, struct suggest_entry) : NULL;
    if (e != ERR_OK || entry == NULL) {
        return e != ERR_OK ? e : err_no_memory(r->em);
    }
    if (s->collate) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "[collate] of a phrase suggester is not supported");
    }
    if (s->n_generators == 0 && s->force_unigrams && gives_no_unigrams(an)) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                       "The default candidate generator for phrase suggest can't operate on field: [%.*s] "
                       "since it doesn't emit unigrams. If this is intentional try to set the candidate "
                       "generator field explicitly",
                       STR_ARG(s->common.field));
    }
    struct direct_options own;
    direct_options_init(&own);
    own.field = c.field;
    const struct direct_options *generators = s->n_generators > 0 ? s->generators : &own;
    size_t n = s->n_generators > 0 ? s->n_generators : 1;
    bool any = false; /* some generator's field has words */
    for (size_t i = 0; i < n; i++) {
        any |= words_of_field(r, generators[i].field).any;
        if (generators[i].refused.p != NULL) {
            return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "%.*s", STR_ARG(generators[i].refused));
        }
        e = check_filter(r, generators[i].pre_filter);
        e = e == ERR_OK ? check_filter(r, generators[i].post_filter) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    *entry = (struct suggest_entry){.text = text, .length = (uint32_t)utf16_length(text), .cutoff = 4.9e-324};
    *out = (struct suggest_result){entry, 1};
    c.stats = words_of_field(r, c.field);
    c.most = (uint32_t)MIN_OF(
        s->common.shard_size != INT32_MIN ? s->common.shard_size : MAX_OF(s->common.size, 5), 10000);
    c.gram_size = gram_size(s, an);
    if (!c.stats.any || !any || r->cx->shard->view->live_count == 0) {
        return ERR_OK;
    }
    e = take_words(&c, &tokens, generators[0].field);
    if (e != ERR_OK || c.n == 0 || c.n >= (uint32_t)s->token_limit) {
        return e;
    }
    e = phrase_check(&c, generators, n);
    return e == ERR_OK ? phrase_show(&c, entry) : e;
}
