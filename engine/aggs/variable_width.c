/* variable_width_histogram: clusters of near values, as many as asked for at most.
 *
 * A shard remembers its first values as they come; then it makes clusters of neighbours out of them, and each value that
 * follows joins the nearest cluster, or begins one where it is far from all. Merging joins the two nearest clusters until
 * there are few enough. Documents go down to sub-aggregations when all clusters are known. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/values.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include <math.h>

struct variable_width_params {
    int32_t buckets, shard_size, initial_buffer; /* the last two -1: not given */
};
AGG_PARAMS(variable_width_params)

/* ---- the definition -------------------------------------------------------------------------------------- */

static enum err set_int(struct agg_parse *p, const struct agg *a, const struct json *v, const char *what,
                        int32_t above, int32_t *out)
{
    enum err e = jr_int(v, out, p->em);
    return e != ERR_OK || *out > above
               ? e
               : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "%s must be greater than [%d] for [%.*s]", what, above,
                         STR_ARG(a->name));
}

static enum err set_buckets(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return set_int(p, a, v, "buckets", 0, &variable_width_params(a)->buckets);
}

static enum err set_shard_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return set_int(p, a, v, "shard_size", 1, &variable_width_params(a)->shard_size);
}

static enum err set_initial_buffer(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return set_int(p, a, v, "initial_buffer", 0, &variable_width_params(a)->initial_buffer);
}

static const struct agg_param variable_width_table[] = {{"buckets", TK_INT, set_buckets},
                                                        {"shard_size", TK_INT, set_shard_size},
                                                        {"initial_buffer", TK_INT, set_initial_buffer},
                                                        {NULL, 0, NULL}};

static enum err variable_width_parse(struct agg_parse *p, struct agg *a, const struct json *body)
{
    *variable_width_params(a) =
        (struct variable_width_params){.buckets = 10, .shard_size = -1, .initial_buffer = -1};
    enum err e = agg_params(p, a, body, a->type->name, variable_width_table, agg_source_params_zone);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

struct cluster {
    double min, max, centroid, size;
    int64_t docs;    /* not `size`: see cluster_first() */
    uint32_t bucket; /* for the collectors below: it stays when clusters move */
};

struct variable_width {
    struct collector c;
    struct values v;
    int64_t shard_size, initial_buffer;
    /* documents by value, for the second pass; their buckets are unknown while `buffering` */
    struct put_off *noted;
    uint32_t n, cap;
    double *first; /* the values of the first */
    uint32_t cap_first;
    bool buffering;
    struct cluster *clusters; /* by centroid */
    uint32_t n_clusters, cap_clusters;
    double apart; /* twice the mean distance of clusters */
};

static enum err variable_width_leaf(struct collector *c, struct errmsg *em)
{
    return values_leaf(&((struct variable_width *)c)->v, em);
}

static void measure(struct variable_width *h)
{
    uint32_t n = h->n_clusters;
    h->apart = 2 * ((h->clusters[n - 1].centroid - h->clusters[0].centroid) / (double)(n - 1));
}

static bool cluster_new(struct variable_width *h, uint32_t at, double x)
{
    if (!run_reserve(h->c.run, &h->clusters, &h->cap_clusters, (uint64_t)h->n_clusters + 1,
                     sizeof(*h->clusters))) {
        return false;
    }
    memmove(h->clusters + at + 1, h->clusters + at, (h->n_clusters - at) * sizeof(*h->clusters));
    h->clusters[at] =
        (struct cluster){.min = x, .max = x, .centroid = x, .size = 1, .bucket = h->n_clusters++};
    return true;
}

static void cluster_add(struct cluster *k, double x)
{
    k->min = num_min(k->min, x);
    k->max = num_max(k->max, x);
    k->centroid = (k->centroid * k->size + x) / (k->size + 1);
    k->size++;
}

struct sorted {
    int64_t key;
    uint32_t at;
};

static int by_value(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

/* Clusters of equally many of the first values. Elasticsearch sends the i-th document to where the i-th value in order came
 * from, not the other way round: what is counted below a cluster is another's, unless documents came in order. */
static bool cluster_first(struct variable_width *h)
{
    uint32_t n = h->n;
    int64_t most = h->shard_size * 3 / 4;
    uint32_t each = (uint32_t)((n + most - 1) / most);
    struct sorted *order = ARENA_ARRAY(h->c.run->arena, struct sorted, n);
    if (order == NULL) {
        run_no_memory(h->c.run);
        return false;
    }
    h->buffering = false;
    for (uint32_t i = 0; i < n; i++) {
        order[i] = (struct sorted){num_from_double(h->first[i]), i};
    }
    sort_items(order, n, sizeof(*order), by_value);
    for (uint32_t i = 0; i < n; i++) {
        double x = h->first[order[i].at];
        if (i % each != 0) {
            cluster_add(&h->clusters[i / each], x);
        } else if (!cluster_new(h, i / each, x)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        h->noted[i].bucket = order[i].at / each;
        h->clusters[order[i].at / each].docs++;
    }
    if (n > 1) {
        measure(h);
    }
    return true;
}

/* The cluster with the nearest centroid; of two as near, the one that a search by halves does not stand at. */
static uint32_t nearest(const struct variable_width *h, double x)
{
    const struct cluster *k = h->clusters;
    uint32_t from = 0, to = h->n_clusters - 1;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (k[mid].centroid == x || (k[mid].centroid > x && mid == from)) {
            return mid;
        }
        bool up = k[mid].centroid < x;
        uint32_t next = up ? mid + 1 : mid - 1;
        if (up ? k[next].centroid > x : k[next].centroid < x) {
            return fabs(k[mid].centroid - x) < fabs(k[next].centroid - x) ? mid : next;
        }
        if (up) {
            from = next;
        } else {
            to = next;
        }
    }
    return from;
}

static bool clusters_join(struct variable_width *h, double x, uint32_t *bucket)
{
    uint32_t at = nearest(h, x);
    double distance = fabs(h->clusters[at].centroid - x);
    bool edge = at == 0 || at == h->n_clusters - 1;
    if (distance > h->apart && h->n_clusters < h->shard_size) {
        at += x > h->clusters[at].centroid;
        edge = true;
        if (!cluster_new(h, at, x)) {
            return false;
        }
    } else {
        cluster_add(&h->clusters[at], x);
    }
    h->clusters[at].docs++;
    *bucket = h->clusters[at].bucket;
    if (edge) {
        measure(h);
    }
    return true;
}

static bool clusters_take(struct variable_width *h, const struct doc_run *d, uint32_t at, double x)
{
    struct agg_run *r = h->c.run;
    struct put_off note = {.doc = r->leaf->base + d->docs[at],
                           .score = d->scores != NULL ? d->scores[at] : 0};
    if (!run_reserve(r, &h->noted, &h->cap, (uint64_t)h->n + 1, sizeof(*h->noted))) {
        return false;
    }
    if (!h->buffering && !clusters_join(h, x, &note.bucket)) {
        return false;
    }
    h->noted[h->n++] = note;
    if (!h->buffering) {
        return true;
    }
    if (!run_reserve(r, &h->first, &h->cap_first, h->n, sizeof(*h->first))) {
        return false;
    }
    h->first[h->n - 1] = x;
    return h->n < h->initial_buffer || cluster_first(h);
}

/* A document counts once for each of its values, equal ones too. */
static void variable_width_collect(struct collector *c, const struct doc_run *d)
{
    struct variable_width *h = (struct variable_width *)c;
    for (uint32_t pos = 0; pos < d->n && !stop_often();) {
        uint32_t n = values_doubles(&h->v, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            if (h->v.d[i] != -INFINITY && !clusters_take(h, d, h->v.at[i], h->v.d[i])) {
                return;
            }
        }
    }
}

static enum err variable_width_finish(struct collector *c, struct errmsg *em)
{
    struct variable_width *h = (struct variable_width *)c;
    if (h->buffering && h->n > 0 && !cluster_first(h)) {
        return err_no_memory(em);
    }
    return collector_replay(c, h->noted, h->n, em);
}

static int by_key(const void *a, const void *b)
{
    const struct agg_bucket *x = *(const struct agg_bucket *const *)a,
                            *y = *(const struct agg_bucket *const *)b;
    int order = agg_key_cmp(&x->key, &y->key);
    return order != 0 ? order : x < y ? -1 : x > y;
}

static enum err variable_width_build(struct collector *c, uint32_t owner, struct agg_result *out,
                                     struct errmsg *em)
{
    struct variable_width *h = (struct variable_width *)c;
    uint32_t n = owner == 0 ? h->n_clusters : 0;
    struct agg_bucket *v = ARENA_ARRAY(c->run->arena, struct agg_bucket, n);
    struct agg_bucket **order = ARENA_ARRAY(c->run->arena, struct agg_bucket *, n);
    out->form = h->v.none ? RESULT_UNMAPPED : RESULT_F64;
    out->shape = h->v.shape;
    out->buckets = ARENA_ARRAY(c->run->arena, struct agg_bucket, n);
    if (v == NULL || order == NULL || out->buckets == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct cluster *k = &h->clusters[i];
        v[i] = (struct agg_bucket){
            .key = {.kind = KEY_F64, .d = k->centroid}, .doc_count = k->docs, .from = k->min, .to = k->max};
        order[i] = &v[i];
        enum err e = collector_subs(c, k->bucket, &v[i].subs, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    sort_items(order, n, sizeof(struct agg_bucket *), by_key); /* centroids move past each other */
    for (; out->n < n; out->n++) {
        out->buckets[out->n] = *order[out->n];
    }
    return ERR_OK;
}

/* ---- binding --------------------------------------------------------------------------------------------- */

static enum err check_sizes(const struct variable_width *h, const struct agg *a, struct errmsg *em)
{
    int32_t buckets = variable_width_params(a)->buckets;
    int64_t most = h->shard_size * 3 / 4;
    if (buckets > AGG_BUCKETS_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "buckets must be less than %d", AGG_BUCKETS_MAX);
    }
    if (h->initial_buffer < buckets) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "initial_buffer must be at least buckets but was [%lld<%d] for [%.*s]",
                       (long long)h->initial_buffer, buckets, STR_ARG(a->name));
    }
    return most >= buckets
               ? ERR_OK
               : err_set(em, ERR_ILLEGAL_ARGUMENT,
                         "3/4 of shard_size must be at least buckets but was [%lld<%d] for [%.*s]",
                         (long long)most, buckets, STR_ARG(a->name));
}

static const struct agg *scored_below(const struct agg *a)
{
    for (uint32_t i = 0; i < a->n_subs; i++) {
        if (agg_wants_scores(a->subs[i])) {
            return a->subs[i];
        }
    }
    return NULL;
}

/* Scores of nested documents are forgotten when documents go down. */
static enum err check_scores(const struct agg *a, struct errmsg *em)
{
    const struct agg *scored = scored_below(a), *up = a->parent;
    while (up != NULL && !up->type->nests) {
        up = up->parent;
    }
    return scored == NULL || up == NULL
               ? ERR_OK
               : err_set(
                   em, ERR_ILLEGAL_STATE,
                   "VariableWidthHistogram agg [%.*s] is the child of the nested agg [%.*s], and also has a "
                   "scoring child agg [%.*s].  This combination is not supported because it requires "
                   "executing in [depth_first] mode, which the VariableWidthHistogram agg cannot do.",
                   STR_ARG(a->name), STR_ARG(up->name), STR_ARG(scored->name));
}

static enum err variable_width_check(struct collector *c, struct errmsg *em)
{
    struct variable_width *h = (struct variable_width *)c;
    if (!h->v.none && !collector_asked_once(c)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "[%s] cannot be nested inside an aggregation that collects more than a single bucket.",
                       c->agg->type->name);
    }
    return check_scores(c->agg, em);
}

static const struct collector_ops variable_width_ops = {.check = variable_width_check,
                                                        .leaf = variable_width_leaf,
                                                        .collect = variable_width_collect,
                                                        .finish = variable_width_finish,
                                                        .build = variable_width_build};

static enum err variable_width_new(struct collector **out, struct agg_run *r, const struct agg *a,
                                   struct errmsg *em)
{
    const struct variable_width_params *given = variable_width_params(a);
    struct variable_width *h = ARENA_NEW(r->arena, struct variable_width);
    if (h == NULL) {
        return err_no_memory(em);
    }
    *out = &h->c;
    h->buffering = true;
    h->shard_size = given->shard_size < 0 ? (int64_t)given->buckets * 50 : given->shard_size;
    /* ten times as many, of the ints that Elasticsearch counts with */
    int32_t ten = (int32_t)(uint32_t)((uint64_t)h->shard_size * 10);
    h->initial_buffer = given->initial_buffer < 0 ? MIN_OF(ten, 50000) : given->initial_buffer;
    enum err e = collector_init(&h->c, &variable_width_ops, r, a, em);
    e = e == ERR_OK ? values_bind(&h->v, r, a, &a->vs, TAKES_ALL, SOURCE_NUMBER, em) : e;
    e = e == ERR_OK ? check_sizes(h, a, em) : e;
    return e == ERR_OK ? values_supported(&h->v, a, TAKES_NUMBER, em) : e;
}

/* ---- merging --------------------------------------------------------------------------------------------- */

/* One bucket out of several, in the order given; the centroid is that of all. */
static enum err merge(struct reduce *r, const struct agg *a, struct agg_bucket *const *in, uint32_t n,
                      struct agg_bucket *out)
{
    double sum = 0, min = INFINITY, max = -INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        sum += (double)in[i]->doc_count * in[i]->key.d;
        min = num_min(min, in[i]->from);
        max = num_max(max, in[i]->to);
    }
    enum err e = reduce_buckets(r, a, in, n, out);
    out->key.d = sum / (double)out->doc_count;
    out->from = min;
    out->to = max;
    return e;
}

struct stretch { /* of neighbours: [from, to] */
    uint32_t from, to;
    double centroid;
    int64_t docs;
};

/* Each stretch becomes one bucket; Elasticsearch takes its buckets from behind. */
static enum err merge_stretches(struct reduce *r, const struct agg *a, const struct stretch *s, uint32_t n,
                                struct agg_result *out)
{
    struct agg_bucket **in = ARENA_ARRAY(r->arena, struct agg_bucket *, out->n);
    struct agg_bucket *merged = ARENA_ARRAY(r->arena, struct agg_bucket, n);
    enum err e = in == NULL || merged == NULL ? err_no_memory(r->em) : ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        uint32_t have = 0;
        for (uint32_t k = s[i].to + 1; k > s[i].from; k--) {
            in[have++] = &out->buckets[k - 1];
        }
        if (have > 1) {
            e = merge(r, a, in, have, &merged[i]);
        } else {
            merged[i] = *in[0];
        }
    }
    out->buckets = merged;
    out->n = n;
    return e;
}

/* Joins the two nearest, of several as near the first, until there are few enough. */
static enum err merge_nearest(struct reduce *r, const struct agg *a, struct agg_result *out)
{
    uint32_t n = out->n, most = (uint32_t)variable_width_params(a)->buckets;
    struct stretch *s = ARENA_ARRAY(r->arena, struct stretch, n);
    if (s == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        s[i] = (struct stretch){i, i, out->buckets[i].key.d, out->buckets[i].doc_count};
    }
    while (n > most && !stop_now()) {
        uint32_t at = 0;
        double least = INFINITY;
        for (uint32_t i = 0; i + 1 < n; i++) {
            double distance = s[i + 1].centroid - s[i].centroid;
            at = distance < least ? i : at;
            least = distance < least ? distance : least;
        }
        struct stretch *x = &s[at], *y = x + 1;
        x->to = y->to;
        if (x->docs + y->docs > 0) {
            x->centroid =
                (x->centroid * (double)x->docs + y->centroid * (double)y->docs) / (double)(x->docs + y->docs);
            x->docs += y->docs;
        }
        memmove(y, y + 1, (n - at - 2) * sizeof(*s));
        n--;
    }
    return merge_stretches(r, a, s, n, out);
}

/* Neighbours that begin with the same value become one; of those that overlap the bounds meet in the middle. */
static enum err part_bounds(struct reduce *r, const struct agg *a, struct agg_result *out)
{
    struct stretch *s = ARENA_ARRAY(r->arena, struct stretch, out->n);
    uint32_t n = 0;
    if (s == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < out->n; i++) {
        if (n > 0 && out->buckets[s[n - 1].from].from == out->buckets[i].from) {
            s[n - 1].to = i;
        } else {
            s[n++] = (struct stretch){.from = i, .to = i};
        }
    }
    enum err e = merge_stretches(r, a, s, n, out);
    for (uint32_t i = 1; e == ERR_OK && i < n; i++) {
        struct agg_bucket *b = &out->buckets[i];
        if (b->from < b[-1].to) {
            b[-1].to = b->from = (b[-1].to + b->from) / 2;
        }
    }
    return e;
}

static enum err reduce_variable_width(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                      uint32_t n, struct agg_result *out)
{
    struct agg_bucket **all;
    size_t total;
    enum err e = reduce_queue(r, a, bucket_key_cmp, in, n, &all, &total);
    out->buckets = e == ERR_OK ? ARENA_ARRAY(r->arena, struct agg_bucket, total) : NULL;
    if (out->buckets == NULL) {
        return e != ERR_OK ? e : err_no_memory(r->em);
    }
    for (size_t i = 0, end; e == ERR_OK && i < total; i = end) {
        end = i + reduce_run(a, bucket_key_cmp, all + i, total - i);
        e = merge(r, a, all + i, (uint32_t)(end - i), &out->buckets[out->n++]);
    }
    e = e == ERR_OK ? reduce_count(r, out->n) : e;
    r->buckets -= out->n; /* fewer may be left */
    e = e == ERR_OK ? merge_nearest(r, a, out) : e;
    return e == ERR_OK ? part_bounds(r, a, out) : e;
}

/* ---- bytes, printing, row -------------------------------------------------------------------------------- */

static void variable_width_put(struct buf *b, UNUSED const struct agg *a, const struct agg_bucket *k)
{
    put_key(b, &k->key);
    put_f64(b, k->from);
    put_f64(b, k->to);
}

static enum err variable_width_get(const struct result_reading *d, UNUSED const struct agg *a,
                                   struct agg_bucket *k)
{
    get_key(d, &k->key);
    k->from = get_f64(d->in);
    k->to = get_f64(d->in);
    return ERR_OK;
}

static void print_one(const struct agg_result *r, const char *name, double v, struct jsonw *w)
{
    jw_kdouble(w, name, v);
    if (result_shaped(r->shape)) {
        print_as_string(w, r->shape, name, v);
    }
}

static void variable_width_print(const struct agg_result *r, const struct agg_bucket *b, UNUSED bool keyed,
                                 struct jsonw *w)
{
    print_one(r, "min", b->from, w);
    print_one(r, "key", b->key.d, w);
    print_one(r, "max", b->to, w);
}

const struct agg_type agg_variable_width_histogram = {
    .name = "variable_width_histogram",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct variable_width_params),
    .parse = variable_width_parse,
    .collector = variable_width_new,
    .factory = "VariableWidthHistogramAggregatorFactory",
    .results = {"InternalVariableWidthHistogram"},
    .put_bucket = variable_width_put,
    .get_bucket = variable_width_get,
    .reduce = reduce_variable_width,
    .print_bucket = variable_width_print,
};
