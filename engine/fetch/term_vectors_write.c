/* Term vectors as answers have them: frequencies in the shard, the filter, and the output. */
#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/fetch/term_vectors_int.h"
#include "engine/query/term_queue.h"

/* ---- frequencies in the shard -------------------------------------------------------------------------- */

struct field_sums {
    int64_t doc_count, sum_df, sum_ttf;
    bool absent; /* no document has the field */
};

struct term_sums {
    int64_t doc_freq, total_freq;
};

static const struct seg_field *terms_at(const struct vectors_run *r, uint32_t leaf, struct str field)
{
    const struct seg_field *f = segment_field(r->src->view->leaves[leaf].segment, field);
    return f != NULL && (f->has & SEG_TERMS) != 0 && f->n_terms > 0 ? f : NULL;
}

static struct field_sums field_sums(const struct vectors_run *r, const struct vector *v)
{
    struct field_sums s = {.absent = true};
    for (uint32_t i = 0; i < r->src->view->n_leaves; i++) {
        const struct seg_field *f = terms_at(r, i, v->field);
        if (f != NULL) {
            s.doc_count += f->doc_count;
            s.sum_df += (int64_t)f->sum_df;
            s.sum_ttf += (int64_t)f->sum_ttf;
            s.absent = false;
        }
    }
    return s;
}

/* false: no document has the term. */
static bool term_sums(const struct vectors_run *r, const struct vector *v, const struct vector_term *t,
                      struct term_sums *out)
{
    *out = (struct term_sums){0};
    for (uint32_t i = 0; i < r->src->view->n_leaves; i++) {
        const struct seg_field *f = terms_at(r, i, v->field);
        struct term_info info;
        if (f != NULL && seg_term(f, t->text, &info)) {
            out->doc_freq += info.doc_freq;
            out->total_freq += (int64_t)info.total_freq;
        }
    }
    return out->doc_freq > 0;
}

/* ---- the filter ---------------------------------------------------------------------------------------- */

/* The segment that alone has the field; NULL: there are several, or none. */
static const struct seg_field *only_terms(const struct vectors_run *r, struct str field)
{
    return r->src->view->n_leaves == 1 ? terms_at(r, 0, field) : NULL;
}

/* The frequency of a term that the shard lacks: in a single segment Lucene gives that of the next term, of the last one it stood at
 * where the term is outside of the dictionary. */
static int64_t missing_freq(const struct seg_field *only, struct str term, int64_t last)
{
    struct term_iter it;
    if (only == NULL) {
        return 0;
    }
    term_iter_init(&it, only);
    bool inside = term_iter_next(&it) && str_cmp(it.term, term) < 0 && term_iter_seek(&it, term);
    int64_t freq = inside ? it.info.doc_freq : last;
    term_iter_fini(&it);
    return freq;
}

static bool is_noise(const struct term_filter *f, const struct vector_term *t)
{
    int64_t units = (int64_t)utf16_length(t->text);
    return (f->min_word_length > 0 && units < f->min_word_length)
           || (f->max_word_length > 0 && units > f->max_word_length)
           || (f->min_term_freq > 0 && (int64_t)t->freq < f->min_term_freq)
           || (int64_t)t->freq > f->max_term_freq;
}

enum err vector_filter(struct vectors_run *r, struct vector *v)
{
    const struct term_filter *f = &r->o->filter;
    const struct field_sums all = field_sums(r, v);
    const int64_t doc_count = all.absent ? 1 : all.doc_count; /* the document stands for all */
    const struct seg_field *only = only_terms(r, v->field);
    struct term_queue q;
    struct scored_term best;
    int64_t last = 0;
    if (f->max_num_terms < 0) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "maxSize must be >= 0 and < 2147483631; got: %d",
                       f->max_num_terms);
    }
    if (!term_queue_init(&q, MIN_OF((size_t)f->max_num_terms, v->n_terms), r->arena)) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0; i < v->n_terms && !stop_worked(4); i++) {
        struct vector_term *t = &v->terms[i];
        struct term_sums s;
        t->kept = false;
        int64_t freq = all.absent               ? 1
                       : term_sums(r, v, t, &s) ? s.doc_freq
                                                : missing_freq(only, t->text, last);
        last = freq;
        if (!is_noise(f, t) && freq > 0 && freq <= f->max_doc_freq
            && (f->min_doc_freq <= 0 || freq >= f->min_doc_freq)) {
            if (f->max_num_terms == 0) {
                return err_set(r->em, ERR_NULL_POINTER,
                               "Cannot read field \"score\" because \"scoreTermTop\" is null");
            }
            float score = (float)t->freq * term_classic_idf(freq, doc_count);
            term_queue_offer(&q, (struct scored_term){.score = score, .at = i});
        }
    }
    while (term_queue_take(&q, &best)) {
        v->terms[best.at].kept = true;
        v->terms[best.at].score = best.score;
    }
    return ERR_OK;
}

/* ---- output -------------------------------------------------------------------------------------------- */

static void write_tokens(const struct vectors_run *r, const struct vector *v, const struct vector_term *t,
                         struct jsonw *w)
{
    bool positions = v->positions && r->o->positions, offsets = v->offsets && r->o->offsets;
    if (!positions && !offsets) {
        return;
    }
    jw_karr(w, "tokens");
    for (uint32_t i = 0; i < t->freq && !stop_worked(1); i++) {
        const struct vector_token *k = &v->tokens[t->first + i];
        jw_obj(w);
        if (positions) {
            jw_ki64(w, "position", k->position);
        }
        if (offsets) {
            jw_ki64(w, "start_offset", k->start);
            jw_ki64(w, "end_offset", k->end);
        }
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

static void write_vector(const struct vectors_run *r, const struct vector *v, struct jsonw *w)
{
    const struct field_sums all = field_sums(r, v);
    jw_key(w, v->field);
    jw_obj(w);
    if (r->o->field_statistics) {
        jw_kobj(w, "field_statistics");
        jw_ki64(w, "sum_doc_freq", all.sum_df);
        jw_ki64(w, "doc_count", all.doc_count);
        jw_ki64(w, "sum_ttf", all.sum_ttf);
        jw_obj_end(w);
    }
    jw_kobj(w, "terms");
    for (size_t i = 0; i < v->n_terms && !stop_worked(4); i++) {
        const struct vector_term *t = &v->terms[i];
        struct term_sums s;
        if (!t->kept) {
            continue;
        }
        jw_key(w, t->text);
        jw_obj(w);
        if (r->o->term_statistics && term_sums(r, v, t, &s)) {
            jw_ki64(w, "doc_freq", s.doc_freq);
            jw_ki64(w, "ttf", s.total_freq);
        }
        jw_ki64(w, "term_freq", t->freq);
        write_tokens(r, v, t, w);
        if (r->o->filtered) {
            jw_k(w, "score");
            jw_float(w, t->score);
        }
        jw_obj_end(w);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

enum err vectors_write(struct vectors_run *r, struct str *out)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    for (size_t i = 0; i < r->n; i++) {
        write_vector(r, &r->v[i], &w);
    }
    jw_obj_end(&w);
    *out = b.failed ? STR_NULL : arena_str(r->arena, buf_view(&b));
    buf_fini(&b);
    return out->p != NULL ? ERR_OK : err_no_memory(r->em);
}
