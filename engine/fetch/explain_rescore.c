/* Explanations of hits that were rescored: as Lucene's QueryRescorer words them. */
#include "engine/collect/rescore.h"
#include "engine/fetch/fetch.h"
#include "engine/query/build.h"

enum err explain_rescores_prepare(struct fetch *f)
{
    const struct search_source *s = f->source;
    if (s->n_rescore == 0) {
        return ERR_OK;
    }
    f->rescorers = ARENA_ARRAY(f->arena, const struct weight *, s->n_rescore);
    if (f->rescorers == NULL) {
        return err_no_memory(f->em);
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < s->n_rescore; i++) {
        const struct query *q;
        struct query_context cx = f->cx.query;
        cx.raw_errors = true;
        e = query_build(&q, &cx, s->rescore[i].query, f->em);
        e = e == ERR_OK ? weight_new(&f->rescorers[i], &f->cx.weight, q, NEED_SCORES, f->em) : e;
    }
    return e;
}

/* An explanation as text, and its value. */
struct explained {
    struct str text;
    float value;
    bool matched;
};

static enum err explain(struct fetch *f, const struct fetch_hit *h, const struct weight *w,
                        struct explained *out)
{
    struct buf b;
    struct jsonw in;
    struct json tree;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&in, &b, false);
    enum err e = weight_explain(w, h->leaf, h->doc, h->arena, &in, &out->matched, f->em);
    out->text = arena_str(h->arena, buf_view(&b));
    if (e == ERR_OK && (b.failed || out->text.p == NULL)) {
        e = err_no_memory(f->em);
    }
    buf_fini(&b);
    e = e == ERR_OK ? json_parse(&tree, out->text, h->arena, &json_limits_default, f->em) : e;
    out->value = e == ERR_OK ? (float)json_double(json_get(&tree, "value")) : 0;
    return e;
}

static void explanation_begin(struct jsonw *w, float value, const char *description)
{
    jw_obj(w);
    jw_k(w, "value");
    jw_float(w, value);
    jw_kz(w, "description", description);
    jw_karr(w, "details");
}

static void explanation_end(struct jsonw *w)
{
    jw_arr_end(w);
    jw_obj_end(w);
}

static void product(struct jsonw *w, const struct explained *of, float weight, const char *name)
{
    explanation_begin(w, of->value * weight, "product of:");
    jw_raw(w, of->text);
    explanation_begin(w, weight, name);
    explanation_end(w);
    explanation_end(w);
}

/* Replaces `first` by the explanation of one rescoring of it. */
static enum err explain_one_rescore(struct fetch *f, const struct fetch_hit *h, uint32_t i,
                                    struct explained *first)
{
    static const char *const modes[] = {"sum of:", "product of:", "avg of:", "max of:", "min of:"};
    const struct rescore_spec *s = &f->source->rescore[i];
    struct explained second;
    enum err e = explain(f, h, f->rescorers[i], &second);
    if (e != ERR_OK) {
        return e;
    }
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    float a = first->value * (float)s->query_weight, value = a;
    if (second.matched) {
        value = rescore_combine(s, a, second.value * (float)s->rescore_weight);
        explanation_begin(&w, value, modes[s->mode]);
    }
    product(&w, first, (float)s->query_weight, "primaryWeight");
    if (second.matched) {
        product(&w, &second, (float)s->rescore_weight, "secondaryWeight");
        explanation_end(&w);
    }
    first->text = arena_str(h->arena, buf_view(&b));
    first->value = value;
    e = b.failed || first->text.p == NULL ? err_no_memory(f->em) : ERR_OK;
    buf_fini(&b);
    return e;
}

enum err explain_rescores(struct fetch *f, const struct fetch_hit *h, struct jsonw *w)
{
    struct explained all;
    enum err e = explain(f, h, f->weight, &all);
    for (uint32_t i = 0; e == ERR_OK && i < f->source->n_rescore; i++) {
        e = explain_one_rescore(f, h, i, &all);
    }
    if (e == ERR_OK) {
        jw_raw(w, all.text);
    }
    return e;
}
