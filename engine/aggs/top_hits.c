/* top_hits: the best documents of each bucket, as finished hits. */
#include "common/settings/setting_read.h"
#include "engine/aggs/agg_row.h"

#include "common/base/jsonr.h"
#include "engine/collect/top_docs.h"
#include "engine/fetch/fetch.h"

#include <math.h>

struct top_hits_params {
    const struct search_source *source;
};
AGG_PARAMS(top_hits_params)

struct agg_hit {
    float score;
    const struct sort_value *sort; /* NULL: by score */
    struct str json;
    uint32_t shard; /* order of ties: set by reduce */
};

struct top_hits_result {
    int64_t count; /* of all that there are */
    struct agg_hit *hits;
    uint32_t n_hits, n_sort;
    float max_score;
};
AGG_RESULT(top_hits_result)

/* top_hits takes the part of a search's body that shapes hits. */
static enum err parse_top_hits(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const char *const taken[] = {"from",          "size",
                                        "version",       "seq_no_primary_term",
                                        "explain",       "track_scores",
                                        "_source",       "stored_fields",
                                        "sort",          "docvalue_fields",
                                        "script_fields", "fields",
                                        "highlight",     NULL};
    struct search_source *s = ARENA_NEW(p->arena, struct search_source);
    if (s == NULL) {
        return err_no_memory(p->em);
    }
    search_source_init(s);
    s->text = p->text;
    s->body = body;
    s->size = 3;
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        bool ok = false;
        for (size_t k = 0; taken[k] != NULL; k++) {
            ok |= str_is(m->key, taken[k]);
        }
        if (!ok) {
            return jr_fail(p->text, m->value.off, p->em, "Unknown key for a %s in [%.*s].",
                           json_token_name(&m->value), STR_ARG(m->key));
        }
        int32_t n;
        bool from = str_is(m->key, "from");
        if ((from || str_is(m->key, "size")) && m->value.type == JSON_NUMBER) {
            enum err e = jr_int(&m->value, &n, p->em);
            if (e == ERR_OK && n < 0) {
                e = err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                            "[%.*s] must be greater than or equal to 0. Found [%d] in [%.*s]",
                            STR_ARG(m->key), n, STR_ARG(a->name));
            }
            if (e != ERR_OK) {
                return e;
            }
        }
    }
    top_hits_params(a)->source = s;
    const struct json *scripts = json_get(body, "script_fields");
    for (uint32_t i = 0; json_is(scripts, JSON_OBJECT) && i < scripts->n; i++) {
        const struct json *v = &scripts->members[i].value;
        if (v->type != JSON_OBJECT) {
            return jr_fail(p->text, v->off, p->em,
                           "Expected [START_OBJECT] in [script_fields] but found [%s]", json_token_name(v));
        }
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < body->n; i++) {
        e = search_hits_key(s, body->members[i].key, &body->members[i].value, p->text, p->arena, p->em);
    }
    s->from = s->size == 0 ? MAX_OF(s->from, (int64_t)0) : s->from;
    return e;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

struct bucket_hits {
    struct top_docs *top;
    uint32_t leaf; /* bound to it: index + 1 */
    int64_t total;
    float best;
};

struct top_hits {
    struct collector c;
    const struct search_source *source;
    struct sort_plan *sort;
    struct bucket_hits *b;
    uint32_t cap;
    struct scorer scorer; /* for sort keys: gives the score that came with the document */
    float score;
    struct top_hits *next; /* all of the run, to be freed */
};

static float given_score(struct scorer *s)
{
    struct top_hits *t = (struct top_hits *)(void *)((char *)s - offsetof(struct top_hits, scorer));
    return t->score;
}

static const struct scorer_ops given_ops = {.score = given_score};

static bool bind_bucket(struct top_hits *t, struct bucket_hits *b)
{
    struct agg_run *r = t->c.run;
    enum err e = ERR_OK;
    if (t->source->from + t->source->size == 0) { /* refused where the first document comes, not before */
        run_fail(r, err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                            "numHits must be > 0; please use TotalHitCountCollector if you just need the "
                            "total hit count"));
        return false;
    }
    if (b->top == NULL) {
        struct top_docs_opts o = {.k = (uint32_t)(t->source->from + t->source->size),
                                  .sort = t->sort,
                                  .want_scores = t->source->track_scores,
                                  .arena = r->arena};
        b->best = -INFINITY;
        e = t->sort != NULL ? sort_plan_check_missing(t->sort, &r->em) : ERR_OK;
        e = e == ERR_OK ? top_docs_new(&b->top, &o, &r->em) : e;
    }
    if (e == ERR_OK && b->leaf != r->leaf->index + 1) {
        e = top_docs_leaf(b->top, r->leaf, &t->scorer, &r->em);
        b->leaf = r->leaf->index + 1;
    }
    if (e != ERR_OK) {
        run_fail(r, e);
    }
    return e == ERR_OK;
}

static void top_hits_collect(struct collector *c, const struct doc_run *d)
{
    struct top_hits *t = (struct top_hits *)c;
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t bucket = run_bucket(d, i);
        if (!run_reserve(c->run, &t->b, &t->cap, bucket + 1, sizeof(*t->b))) {
            return;
        }
        struct bucket_hits *b = &t->b[bucket];
        if ((b->top == NULL || b->leaf != c->run->leaf->index + 1) && !bind_bucket(t, b)) {
            return;
        }
        float score = d->scores != NULL ? d->scores[i] : 0;
        t->score = score;
        b->total++;
        b->best = score > b->best ? score : b->best;
        top_docs_add(b->top, d->docs[i], score);
    }
}

static enum err top_hits_fill(struct top_hits *t, struct bucket_hits *b, struct agg_result *out,
                              struct errmsg *em)
{
    struct top_hits_result *own = top_hits_result(out);
    struct agg_run *r = t->c.run;
    struct top_doc *docs;
    uint32_t n = 0;
    enum err e = top_docs_take(b->top, r->cx->shard->scope.slot, r->arena, &docs, &n, em);
    struct str *json = ARENA_ARRAY(r->arena, struct str, n);
    own->hits = ARENA_ARRAY(r->arena, struct agg_hit, n);
    if (e != ERR_OK || json == NULL || own->hits == NULL) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    e = search_fetch_phase(json, r->cx->shard, t->source, docs, n, r->arena, em);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        own->hits[i] = (struct agg_hit){.score = docs[i].score, .sort = docs[i].sort, .json = json[i]};
    }
    own->n_hits = n;
    own->n_sort = t->sort != NULL ? t->source->n_sort : 0;
    own->count = b->total;
    bool scored = t->sort == NULL || t->source->track_scores;
    own->max_score = scored && b->total > 0 ? b->best : NAN;
    return e;
}

static enum err top_hits_build(struct collector *c, uint32_t bucket, struct agg_result *out,
                               struct errmsg *em)
{
    struct top_hits *t = (struct top_hits *)c;
    out->form = RESULT_PLAIN;
    top_hits_result(out)->max_score = NAN;
    return bucket < t->cap && t->b[bucket].top != NULL ? top_hits_fill(t, &t->b[bucket], out, em) : ERR_OK;
}

static const struct collector_ops top_hits_ops = {.collect = top_hits_collect, .build = top_hits_build};

static enum err top_hits_new(struct collector **out, struct agg_run *r, const struct agg *a,
                             struct errmsg *em)
{
    struct top_hits *t = ARENA_NEW(r->arena, struct top_hits);
    if (t == NULL) {
        return err_no_memory(em);
    }
    *out = &t->c;
    struct search_source *s = ARENA_NEW(r->arena, struct search_source);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *s = *top_hits_params(a)->source;
    s->query = r->cx->source != NULL ? r->cx->source->query : NULL; /* what highlighting and explain go by */
    if (r->cx->source != NULL) {
        s->names = r->cx->source->names;
        s->nested_hits = r->cx->source->nested_hits;
        s->post_filter = r->cx->source->post_filter;
    }
    t->source = s;
    t->scorer.ops = &given_ops;
    const int64_t window = s->from + s->size,
                  most = setting_i64(r->cx->shard->index_settings, SET_INDEX_MAX_INNER_RESULT_WINDOW);
    if (window > most) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Top hits result window is too large, the top hits aggregator [%.*s]'s from + size "
                       "must be less than or equal to: "
                       "[%lld] but was [%lld]. This limit can be set by changing the "
                       "[index.max_inner_result_window] index level setting.",
                       STR_ARG(a->name), (long long)most, (long long)window);
    }
    enum err e = docvalue_fields_limit(r->cx, s, em);
    if (e != ERR_OK) {
        return e;
    }
    t->next = r->top_hits;
    r->top_hits = t;
    e = collector_init(&t->c, &top_hits_ops, r, a, em);
    if (e == ERR_OK && !search_source_by_score(s)) {
        e = sort_plan_new(&t->sort, r->cx, s->sort, s->n_sort, em);
    }
    return e;
}

void top_hits_free(struct agg_run *r)
{
    for (struct top_hits *t = r->top_hits; t != NULL; t = t->next) {
        for (uint32_t i = 0; i < t->cap; i++) {
            top_docs_free(t->b[i].top);
        }
        sort_plan_fini(t->sort);
    }
    r->top_hits = NULL;
}

/* ---- merging, bytes, printing, row ----------------------------------------------------------------------- */

struct hit_order {
    const struct search_source *source;
    uint32_t n_sort;
};

static int hit_cmp(const struct hit_order *o, const struct agg_hit *a, const struct agg_hit *b)
{
    int c = o->n_sort > 0 ? sort_values_cmp(o->source->sort, o->n_sort, a->sort, b->sort)
                          : (a->score < b->score) - (a->score > b->score);
    return c != 0 ? c : a->shard < b->shard ? -1 : a->shard > b->shard;
}

/* A stable merge sort by insertion: at most a hundred hits a shard. */
static enum err reduce_hits_of(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                               uint32_t n, struct agg_result *out)
{
    struct top_hits_result *own = top_hits_result(out);
    const struct search_source *s = top_hits_params(a)->source;
    uint32_t total = 0;
    struct hit_order order = {.source = s};
    own->max_score = NAN;
    for (uint32_t i = 0; i < n; i++) {
        const struct top_hits_result *part = top_hits_result(in[i]);
        total += part->n_hits;
        own->count += part->count;
        order.n_sort = MAX_OF(order.n_sort, part->n_sort);
        if (!isnan(part->max_score) && !(own->max_score >= part->max_score)) {
            own->max_score = part->max_score;
        }
    }
    uint64_t want = (uint64_t)(s->from + s->size);
    struct agg_hit *best = ARENA_ARRAY(r->arena, struct agg_hit, MIN_OF(want, (uint64_t)total) + 1);
    uint32_t have = 0;
    if (best == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct top_hits_result *part = top_hits_result(in[i]);
        for (uint32_t k = 0; k < part->n_hits && (order.n_sort == 0 || part->n_sort == order.n_sort); k++) {
            struct agg_hit x = part->hits[k];
            x.shard = i;
            uint32_t at = have;
            while (at > 0 && hit_cmp(&order, &x, &best[at - 1]) < 0) {
                best[at] = best[at - 1];
                at--;
            }
            best[at] = x;
            have = (uint32_t)MIN_OF((uint64_t)have + 1, want);
        }
    }
    uint32_t skip = (uint32_t)MIN_OF((uint64_t)s->from, (uint64_t)have);
    own->hits = best + skip;
    own->n_hits = have - skip;
    own->n_sort = order.n_sort;
    return ERR_OK;
}

static void put_hits(struct buf *b, const struct agg_result *r)
{
    const struct top_hits_result *own = top_hits_result(r);
    put_varint(b, (uint64_t)own->count);
    put_f32(b, own->max_score);
    put_varint(b, own->n_sort);
    put_varint(b, own->n_hits);
    for (uint32_t i = 0; i < own->n_hits; i++) {
        put_f32(b, own->hits[i].score);
        for (uint32_t k = 0; k < own->n_sort; k++) {
            sort_value_encode(&own->hits[i].sort[k], b);
        }
        put_str(b, own->hits[i].json);
    }
}

static enum err get_hits(const struct result_reading *d, struct agg_result *r)
{
    struct top_hits_result *own = top_hits_result(r);
    own->count = get_size(d);
    own->max_score = get_f32(d->in);
    size_t n_sort = get_count(d->in, 0), want = top_hits_params(r->agg)->source->n_sort;
    if (n_sort != 0 && n_sort != want) {
        return result_corrupt(d);
    }
    own->n_sort = (uint32_t)n_sort;
    own->n_hits = (uint32_t)get_count(d->in, 5);
    own->hits = ARENA_ARRAY(d->arena, struct agg_hit, own->n_hits);
    if (own->hits == NULL) {
        return err_no_memory(d->em);
    }
    for (uint32_t i = 0; i < own->n_hits && !d->in->bad; i++) {
        struct agg_hit *h = &own->hits[i];
        h->score = get_f32(d->in);
        struct sort_value *v = n_sort > 0 ? ARENA_ARRAY(d->arena, struct sort_value, n_sort) : NULL;
        if (n_sort > 0 && v == NULL) {
            return err_no_memory(d->em);
        }
        for (size_t k = 0; k < n_sort; k++) {
            sort_value_decode(&v[k], d->in, d->arena);
        }
        h->sort = v;
        h->json = get_str(d->in);
    }
    return ERR_OK;
}

static void print_hits(const struct agg_result *r, struct jsonw *w)
{
    const struct top_hits_result *own = top_hits_result(r);
    jw_kobj(w, "hits");
    jw_kobj(w, "total");
    jw_ki64(w, "value", own->count);
    jw_kz(w, "relation", "eq");
    jw_obj_end(w);
    jw_k(w, "max_score");
    if (isnan(own->max_score)) {
        jw_null(w);
    } else {
        jw_float(w, own->max_score);
    }
    jw_karr(w, "hits");
    for (uint32_t i = 0; i < own->n_hits; i++) {
        jw_raw(w, own->hits[i].json);
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static bool hits_want_scores(const struct search_source *s)
{
    if (s == NULL || s->n_sort == 0 || s->track_scores) {
        return true;
    }
    for (uint32_t i = 0; i < s->n_sort; i++) {
        if (s->sort[i].kind == SORT_SCORE
            || (s->sort[i].kind == SORT_SCRIPT && script_wants_score(s->sort[i].script))) {
            return true;
        }
    }
    return false;
}

static bool top_hits_want_scores(const struct agg *a)
{
    return hits_want_scores(top_hits_params(a)->source);
}

const struct agg_type agg_top_hits = {
    .name = "top_hits",
    .class = CLASS_METRIC,
    .params_size = sizeof(struct top_hits_params),
    .result_size = sizeof(struct top_hits_result),
    .parse = parse_top_hits,
    .collector = top_hits_new,
    .builder = "metrics.TopHitsAggregationBuilder",
    .results = {"InternalTopHits"},
    .wants_scores = top_hits_want_scores,
    .put = put_hits,
    .get = get_hits,
    .reduce = reduce_hits_of,
    .print = print_hits,
};
