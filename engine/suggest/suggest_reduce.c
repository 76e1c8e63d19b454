/* Many shards' suggestions into one, and its printing. */
#include "common/base/map.h"
#include "common/base/sort_items.h"
#include "engine/suggest/suggest_int.h"

struct suggest_reduced {
    const struct suggest_spec *spec;
    struct suggest_result *results; /* one a suggestion of the spec; n == 0: not shown */
    struct top_doc *docs;
    uint32_t n_docs;
    struct arena *arena;
};

/* ---- completions: the best of all shards ---- */

static int best_completion(const void *a, const void *b)
{
    const struct suggest_option *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    int order = str_cmp(x->text, y->text);
    if (order != 0) {
        return order;
    }
    if (x->slot != y->slot) {
        return x->slot < y->slot ? -1 : 1;
    }
    return (x->doc > y->doc) - (x->doc < y->doc);
}

static enum err reduce_completion(const struct completion_suggestion *s, const struct suggest_result *in,
                                  uint32_t n, struct arena *arena, struct suggest_result *out,
                                  struct errmsg *em)
{
    size_t total = 0;
    struct map seen;
    map_init(&seen, arena);
    *out = in[0];
    for (uint32_t i = 0; i < n; i++) {
        total += in[i].n > 0 ? in[i].entries[0].n : 0;
    }
    if (n == 1 || out->n == 0) {
        return ERR_OK;
    }
    struct suggest_option *all = ARENA_ARRAY(arena, struct suggest_option, total);
    if (all == NULL) {
        return err_no_memory(em);
    }
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; in[i].n > 0 && k < in[i].entries[0].n; k++) {
            all[at++] = in[i].entries[0].options[k];
        }
    }
    sort_items(all, total, sizeof(*all), best_completion);
    struct suggest_entry *e = &out->entries[0];
    e->n = 0;
    e->options = all;
    for (size_t i = 0; i < total && e->n < (uint32_t)s->common.size; i++) {
        if (s->skip_duplicates && map_has(&seen, all[i].text)) {
            continue;
        }
        if (s->skip_duplicates && !map_put(&seen, all[i].text, e)) {
            return err_no_memory(em);
        }
        all[e->n++] = all[i];
    }
    return ERR_OK;
}

/* ---- words and phrases: options of one text are one ---- */

static int best_by_frequency(const void *a, const void *b)
{
    const struct suggest_option *x = a, *y = b;
    if (x->freq != y->freq) {
        return x->freq > y->freq ? -1 : 1;
    }
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return str_cmp(x->text, y->text);
}

static int best_by_score(const void *a, const void *b)
{
    const struct suggest_option *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    if (x->freq != y->freq) {
        return x->freq > y->freq ? -1 : 1;
    }
    return str_cmp(x->text, y->text);
}

static void merge_option(struct suggest_entry *to, const struct suggest_option *o, bool by_frequency)
{
    for (uint32_t i = 0; i < to->n; i++) {
        if (str_eq(to->options[i].text, o->text)) {
            to->options[i].freq += o->freq;
            bool better = !by_frequency && o->score > to->options[i].score;
            to->options[i].score = better ? o->score : to->options[i].score;
            return;
        }
    }
    to->options[to->n++] = *o;
}

static enum err reduce_entry(const struct suggestion *s, const struct suggest_result *in, uint32_t n,
                             uint32_t at, struct arena *arena, struct suggest_entry *out, struct errmsg *em)
{
    bool term = s->kind == SUGGEST_TERM;
    size_t most = 0;
    double cutoff = out->cutoff;
    for (uint32_t i = 0; i < n; i++) {
        most += in[i].n > at ? in[i].entries[at].n : 0;
        if (in[i].n > at && in[i].entries[at].cutoff > cutoff) {
            cutoff = in[i].entries[at].cutoff;
        }
    }
    out->n = 0;
    out->options = ARENA_ARRAY(arena, struct suggest_option, most);
    if (out->options == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; in[i].n > at && k < in[i].entries[at].n; k++) {
            const struct suggest_option *o = &in[i].entries[at].options[k];
            if (term || n == 1 || (double)o->score > cutoff) {
                merge_option(out, o, term);
            }
        }
    }
    bool by_frequency = term && ((const struct term_suggestion *)s)->direct.by_frequency;
    sort_items(out->options, out->n, sizeof(*out->options), by_frequency ? best_by_frequency : best_by_score);
    out->n = MIN_OF(out->n, (uint32_t)s->size);
    return ERR_OK;
}

static enum err reduce_words(const struct suggestion *s, const struct suggest_result *in, uint32_t n,
                             struct arena *arena, struct suggest_result *out, struct errmsg *em)
{
    *out = (struct suggest_result){ARENA_ARRAY(arena, struct suggest_entry, in[0].n), in[0].n};
    if (out->entries == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < out->n; i++) {
        out->entries[i] = in[0].entries[i];
        enum err e = reduce_entry(s, in, n, i, arena, &out->entries[i], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- all ---- */

static enum err list_docs(struct suggest_reduced *r, struct errmsg *em)
{
    size_t most = 0;
    for (size_t i = 0; i < r->spec->n; i++) {
        most +=
            r->spec->v[i]->kind == SUGGEST_COMPLETION && r->results[i].n > 0 ? r->results[i].entries[0].n : 0;
    }
    r->docs = ARENA_ARRAY(r->arena, struct top_doc, most);
    if (r->docs == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < r->spec->n; i++) {
        const struct suggest_result *s = &r->results[i];
        for (uint32_t k = 0; r->spec->v[i]->kind == SUGGEST_COMPLETION && s->n > 0 && k < s->entries[0].n;
             k++) {
            const struct suggest_option *o = &s->entries[0].options[k];
            r->docs[r->n_docs++] = (struct top_doc){.doc = o->doc, .slot = o->slot, .score = o->score};
        }
    }
    return ERR_OK;
}

static enum err decode_all(const struct suggest_spec *spec, const struct suggest_partial *partials,
                           uint32_t n, struct arena *arena, struct suggest_result **out, struct errmsg *em)
{
    struct suggest_result *all = ARENA_ARRAY(arena, struct suggest_result, spec->n * n);
    *out = all;
    if (all == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct bytes_in in = bytes_in(partials[i].bytes);
        for (size_t s = 0; s < spec->n && !in.bad; s++) {
            struct suggest_result *r = &all[s * n + i];
            suggest_result_decode(r, &in, arena);
            in.bad |= spec->v[s]->kind == SUGGEST_COMPLETION && r->n > 1;
            for (uint32_t k = 0; spec->v[s]->kind == SUGGEST_COMPLETION && r->n == 1 && k < r->entries[0].n;
                 k++) {
                r->entries[0].options[k].slot = partials[i].slot;
            }
        }
        if (in.bad || bytes_left(&in) != 0) {
            return err_set(em, ERR_CORRUPT, "suggestions cannot be read");
        }
    }
    return ERR_OK;
}

enum err suggest_reduce(struct suggest_reduced **out, const struct suggest_spec *spec,
                        const struct suggest_partial *partials, uint32_t n, struct arena *arena,
                        struct errmsg *em)
{
    struct suggest_reduced *r = ARENA_NEW(arena, struct suggest_reduced);
    struct suggest_result *all;
    *out = r;
    if (r == NULL || (r->results = ARENA_ARRAY(arena, struct suggest_result, spec->n)) == NULL) {
        return err_no_memory(em);
    }
    r->spec = spec;
    r->arena = arena;
    enum err e = decode_all(spec, partials, n, arena, &all, em);
    for (size_t i = 0; e == ERR_OK && n > 0 && i < spec->n; i++) {
        const struct suggestion *s = spec->v[i];
        if (s->kind == SUGGEST_COMPLETION) {
            e = reduce_completion((const struct completion_suggestion *)s, &all[i * n], n, arena,
                                  &r->results[i], em);
        } else {
            e = reduce_words(s, &all[i * n], n, arena, &r->results[i], em);
        }
    }
    return e == ERR_OK ? list_docs(r, em) : e;
}

bool suggest_is_empty(const struct suggest_spec *spec)
{
    return spec->n == 0;
}

uint32_t suggest_docs(const struct suggest_reduced *r, const struct top_doc **out)
{
    *out = r->docs;
    return r->n_docs;
}

static void write_contexts(const struct suggest_option *o, struct jsonw *w)
{
    jw_kobj(w, "contexts");
    for (uint32_t i = 0; i < o->n_contexts; i++) {
        if (i == 0 || !str_eq(o->contexts[2 * i], o->contexts[2 * (i - 1)])) {
            jw_key(w, o->contexts[2 * i]);
            jw_arr(w);
        }
        jw_str(w, o->contexts[2 * i + 1]);
        if (i + 1 == o->n_contexts || !str_eq(o->contexts[2 * i], o->contexts[2 * (i + 1)])) {
            jw_arr_end(w);
        }
    }
    jw_obj_end(w);
}

static void write_option(const struct suggestion *s, const struct suggest_option *o, struct str hit,
                         struct jsonw *w)
{
    jw_obj(w);
    jw_kstr(w, "text", o->text);
    if (s->kind == SUGGEST_COMPLETION) {
        if (hit.n > 2) {
            jw_members(w, hit);
        } else {
            jw_k(w, "_score");
            jw_float(w, o->score);
        }
        if (o->n_contexts > 0) {
            write_contexts(o, w);
        }
    } else {
        if (o->highlighted.p != NULL) {
            jw_kstr(w, "highlighted", o->highlighted);
        }
        jw_k(w, "score");
        jw_float(w, o->score);
        if (s->kind == SUGGEST_TERM) {
            jw_ki64(w, "freq", o->freq);
        }
    }
    jw_obj_end(w);
}

static void write_entry(const struct suggestion *s, const struct suggest_entry *e, const struct str **hits,
                        struct jsonw *w)
{
    jw_obj(w);
    jw_kstr(w, "text", e->text);
    jw_ki64(w, "offset", e->offset);
    jw_ki64(w, "length", e->length);
    jw_karr(w, "options");
    for (uint32_t i = 0; i < e->n; i++) {
        bool completion = s->kind == SUGGEST_COMPLETION;
        write_option(s, &e->options[i], completion && *hits != NULL ? *(*hits)++ : STR_NULL, w);
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

void suggest_write(const struct suggest_reduced *r, const struct str *hits, bool typed_keys, struct jsonw *w)
{
    static const char *const types[] = {"completion", "term", "phrase"};
    jw_obj(w);
    for (size_t i = 0; i < r->spec->n; i++) {
        const struct suggestion *s = r->spec->v[i];
        struct str key =
            typed_keys ? arena_printf(r->arena, "%s#%.*s", types[s->kind], STR_ARG(s->name)) : s->name;
        if (r->results[i].entries == NULL) {
            continue;
        }
        jw_key(w, key.p != NULL ? key : s->name);
        jw_arr(w);
        for (uint32_t k = 0; k < r->results[i].n; k++) {
            write_entry(s, &r->results[i].entries[k], &hits, w);
        }
        jw_arr_end(w);
    }
    jw_obj_end(w);
}
