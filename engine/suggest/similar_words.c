/* Words of the index that are like a given one: Lucene's DirectSpellChecker. */
#include "common/base/map.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/query/levenshtein.h"
#include "engine/suggest/suggest_int.h"

#include <math.h>

struct candidate {
    struct str word;
    float likeness; /* by edits; the score when that is the distance */
    int64_t freq;
};

struct candidates {
    struct candidate **v;
    size_t n, cap;
    struct map by_word;
    struct arena *arena;
};

struct field_words words_of_field(const struct suggest_run *r, struct str field)
{
    const struct view *v = r->cx->shard->view;
    struct field_words w = {.any = false};
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, field);
        if (f != NULL && (f->has & SEG_TERMS) != 0) {
            w.any = true;
            w.sum_freq += (int64_t)f->sum_ttf;
            w.n_terms += (int64_t)f->n_terms;
        }
    }
    w.n_terms = v->n_leaves > 1 ? (int64_t)v->doc_count : w.n_terms;
    return w;
}

void word_freqs(const struct suggest_run *r, struct str field, struct str word, int64_t *docs, int64_t *total)
{
    const struct view *v = r->cx->shard->view;
    *docs = *total = 0;
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, field);
        struct term_info t;
        if (f != NULL && seg_term(f, word, &t)) {
            *docs += t.doc_freq;
            *total += (int64_t)t.total_freq;
        }
    }
}

static bool add_candidate(struct candidates *c, struct str word, float likeness, uint32_t freq)
{
    struct candidate *known = map_get(&c->by_word, word);
    if (known != NULL) {
        known->freq += freq;
        return true;
    }
    known = ARENA_NEW(c->arena, struct candidate);
    struct candidate **v = arena_grow(c->arena, c->v, c->n, &c->cap, sizeof(*v));
    word = arena_str(c->arena, word);
    if (known == NULL || v == NULL || word.p == NULL) {
        return false;
    }
    *known = (struct candidate){word, likeness, freq};
    c->v = v;
    v[c->n++] = known;
    return map_put(&c->by_word, word, known);
}

/* All words of one segment within l's edits. */
static bool similar_collect(struct candidates *c, const struct seg_field *f, const struct levenshtein *l)
{
    struct term_iter it;
    struct lev_walk walk;
    struct str prefix = str_slice(l->text, 0, l->prefix_bytes);
    term_iter_init(&it, f);
    lev_walk_init(&walk, l);
    bool ok = true;
    for (bool there = term_iter_seek(&it, prefix);
         ok && there && !stop_often() && str_starts(it.term, prefix); there = term_iter_next(&it)) {
        unsigned edits = lev_walk_next(&walk, it.term);
        if (edits <= l->max && edits > 0) {
            float shorter = (float)MIN_OF(utf8_length(it.term), (size_t)l->n);
            ok = add_candidate(c, it.term, 1.0F - (float)edits / shorter, it.info.doc_freq);
        }
    }
    ok &= !walk.failed;
    lev_walk_fini(&walk);
    term_iter_fini(&it);
    return ok;
}

static int likest_first(const void *a, const void *b)
{
    const struct candidate *x = *(struct candidate *const *)a, *y = *(struct candidate *const *)b;
    if (x->likeness != y->likeness) {
        return x->likeness > y->likeness ? -1 : 1;
    }
    return str_cmp(x->word, y->word);
}

static int best_score(const void *a, const void *b)
{
    const struct similar_word *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    if (x->freq != y->freq) {
        return x->freq > y->freq ? -1 : 1;
    }
    return str_cmp(x->word, y->word);
}

static int best_freq(const void *a, const void *b)
{
    const struct similar_word *x = a, *y = b;
    if (x->freq != y->freq) {
        return x->freq > y->freq ? -1 : 1;
    }
    return best_score(a, b);
}

struct spelling {
    const struct suggest_run *r;
    const struct direct_options *o;
    struct str field, word;
    int64_t least; /* documents: candidates have more */
    size_t inspections;
    struct similar_word *out;
    size_t n, cap;
};

/* One round: the `inspections` likest words within some edits. */
static enum err similar_look(struct spelling *s, uint32_t edits)
{
    const struct view *v = s->r->cx->shard->view;
    struct candidates c = {.arena = s->r->arena};
    struct levenshtein l;
    map_init(&c.by_word, s->r->arena);
    uint32_t prefix = MAX_OF((uint32_t)s->o->prefix_length, edits - 1);
    bool ok = levenshtein_init(&l, s->word, edits, prefix, true, s->r->arena);
    for (uint32_t i = 0; ok && i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, s->field);
        ok = f == NULL || (f->has & SEG_TERMS) == 0 || similar_collect(&c, f, &l);
    }
    if (!ok) {
        return err_no_memory(s->r->em);
    }
    struct candidate **all = c.v;
    sort_items(all, c.n, sizeof(*all), likest_first);
    size_t taken = 0;
    for (size_t i = 0; i < c.n && taken < s->inspections; i++) {
        float score = s->o->distance == DISTANCE_INTERNAL
                          ? all[i]->likeness
                          : word_likeness(s->o->distance, s->word, all[i]->word, s->r->arena);
        if (all[i]->freq <= s->least || score < s->o->accuracy) {
            continue;
        }
        taken++;
        bool known = false;
        for (size_t k = 0; k < s->n; k++) {
            known |= str_eq(s->out[k].word, all[i]->word);
        }
        struct similar_word *out =
            known ? s->out : arena_grow(s->r->arena, s->out, s->n, &s->cap, sizeof(*out));
        if (out == NULL) {
            return err_no_memory(s->r->em);
        }
        s->out = out;
        if (!known) {
            out[s->n++] = (struct similar_word){all[i]->word, score, all[i]->freq};
        }
    }
    return ERR_OK;
}

enum err similar_words(const struct suggest_run *r, const struct direct_options *o, struct str field,
                       struct str word, uint32_t n, float threshold, struct similar_word **out,
                       uint32_t *n_out)
{
    int64_t docs, total;
    float all = (float)r->cx->shard->view->doc_count;
    *out = NULL;
    *n_out = 0;
    word_freqs(r, field, word, &docs, &total);
    double most = o->max_term_freq >= 1 ? (double)o->max_term_freq : ceil((double)(o->max_term_freq * all));
    if (utf8_length(word) < (size_t)o->min_word_length || (o->mode == MODE_MISSING && docs > 0)
        || (double)docs > most) {
        return ERR_OK;
    }
    int64_t least = o->mode == MODE_POPULAR ? docs : 0;
    if (threshold >= 1) {
        least = MAX_OF(least, (int64_t)threshold);
    } else if (threshold > 0) {
        least = MAX_OF(least, (int64_t)(threshold * all) - 1);
    }
    struct spelling s = {r, o, field, word, least, (size_t)n * (size_t)o->max_inspections, NULL, 0, 0};
    enum err e = similar_look(&s, 1);
    if (e == ERR_OK && o->max_edits > 1 && s.n < s.inspections) {
        e = similar_look(&s, (uint32_t)o->max_edits);
    }
    sort_items(s.out, s.n, sizeof(*s.out), o->by_frequency ? best_freq : best_score);
    *out = s.out;
    *n_out = (uint32_t)MIN_OF(s.n, (size_t)n);
    return e;
}
