/* children and parent: from the documents of one relation to those of another that share the parent's id, wherever in the shard they
 * are. The ids are noted while documents come by; what belongs to them goes down to sub-aggregations afterwards. */
#include "engine/aggs/agg_row.h"
#include "engine/query/join.h"

#include "common/base/jsonr.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

struct children_params {
    struct str type; /* of the children, in both */
};
AGG_PARAMS(children_params)

static enum err parse_children(struct agg_parse *p, struct agg *a, const struct json *body)
{
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        if (m->value.type != JSON_STRING) {
            return jr_fail(p->text, m->value.off, p->em, "Unexpected token %s in [%.*s].",
                           json_token_name(&m->value), STR_ARG(a->name));
        }
        if (!str_is(m->key, "type")) {
            return agg_unknown_key(p, a, m);
        }
        children_params(a)->type = m->value.s;
    }
    return children_params(a)->type.p != NULL
               ? ERR_OK
               : jr_fail(p->text, body->end - 1, p->em,
                         "Missing [child_type] field for %s aggregation [%.*s]", a->type->name,
                         STR_ARG(a->name));
}

struct children {
    struct collector c;
    bool to_parent;
    const struct field *join; /* NULL: there is none, or it lacks the relation: nothing is collected */
    const struct join_relation *relation;
    struct join_ids ids;
    struct bucket_map pairs; /* of the parent's bucket and an id's number, each once */
    struct join_names names; /* of the segment: which documents ids are taken of */
    struct join_column column;
    bool column_open;
    struct put_off *noted;
    uint32_t n, cap;
    int64_t *counts;
    uint32_t cap_counts;
};

static void close_column(void *p)
{
    struct children *s = p;
    if (s->column_open) {
        join_column_fini(&s->column);
        s->column_open = false;
    }
}

/* The relation's name on the side that documents come from, or on the other. */
static const struct str *side(const struct children *s, bool parents)
{
    return parents ? &s->relation->parent : &children_params(s->c.agg)->type;
}

static enum err children_leaf(struct collector *c, struct errmsg *em)
{
    struct children *s = (struct children *)c;
    const struct leaf *leaf = c->run->leaf;
    if (s->join == NULL) {
        return ERR_OK;
    }
    close_column(s);
    enum err e = join_names_init(&s->names, leaf, s->join, side(s, !s->to_parent), 1, c->run->arena, em);
    if (e == ERR_OK) {
        e = join_column_init(&s->column, &s->ids, leaf, s->relation->ids, em);
        s->column_open = true;
    }
    return e;
}

static void children_collect(struct collector *c, const struct doc_run *d)
{
    struct children *s = (struct children *)c;
    for (uint32_t i = 0; s->join != NULL && c->run->failed == ERR_OK && i < d->n; i++) {
        struct join_id *id = NULL;
        if (!join_names_has(&s->names, d->docs[i])) {
            continue;
        }
        if (join_column_add(&s->column, d->docs[i], &id, &c->run->em) != ERR_OK) {
            run_no_memory(c->run);
        } else if (id != NULL && bucket_map_get(&s->pairs, run_bucket(d, i), id->number) == NO_BUCKET) {
            return;
        }
    }
}

/* ---- what belongs to the ids ---- */

struct pair {
    uint32_t id, bucket;
};

static int by_id(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int order = (x->id > y->id) - (x->id < y->id);
    return order != 0 ? order : (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

static int by_doc(const void *a, const void *b)
{
    const struct put_off *x = a, *y = b;
    int order = (x->doc > y->doc) - (x->doc < y->doc);
    return order != 0 ? order : (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

struct spread {
    struct children *s;
    const struct leaf *leaf;
    const struct pair *v; /* the pairs of one id */
    uint32_t n;
};

static void take_found(void *self, doc_id doc, UNUSED const struct join_id *id)
{
    const struct spread *x = self;
    struct children *s = x->s;
    struct agg_run *r = s->c.run;
    if (s->c.n_subs > 0 && !run_reserve(r, &s->noted, &s->cap, (uint64_t)s->n + x->n, sizeof(*s->noted))) {
        return;
    }
    for (uint32_t i = 0; i < x->n; i++) {
        s->counts[x->v[i].bucket]++;
        if (s->c.n_subs > 0) {
            s->noted[s->n++] =
                (struct put_off){.doc = x->leaf->base + doc, .bucket = x->v[i].bucket, .score = 1};
        }
    }
}

static enum err find_in_leaf(struct children *s, const struct leaf *leaf, const struct pair *v, uint32_t n,
                             struct errmsg *em)
{
    struct join_names names;
    struct join_search search = {leaf, &names, s->relation->ids, s->to_parent};
    enum err e = join_names_init(&names, leaf, s->join, side(s, s->to_parent), 1, s->c.run->arena, em);
    for (uint32_t i = 0; e == ERR_OK && names.any && i < n && s->c.run->failed == ERR_OK && !stop_often();) {
        struct spread x = {s, leaf, v + i, 0};
        while (i < n && v[i].id == x.v->id) {
            x.n++;
            i++;
        }
        join_search_id(&search, join_ids_at(&s->ids, x.v->id), take_found, &x);
    }
    return e;
}

static enum err children_finish(struct collector *c, struct errmsg *em)
{
    struct children *s = (struct children *)c;
    const struct view *view = c->run->cx->shard->view;
    uint32_t n = s->pairs.n, buckets = 0;
    struct pair *v = ARENA_ARRAY(c->run->arena, struct pair, n);
    enum err e = ERR_OK;
    if (s->join == NULL || n == 0) {
        return ERR_OK;
    }
    for (uint32_t i = 0; v != NULL && i < n; i++) {
        v[i] = (struct pair){(uint32_t)s->pairs.keys[i], s->pairs.owners[i]};
        buckets = MAX_OF(buckets, v[i].bucket + 1);
    }
    if (v == NULL || !run_reserve(c->run, &s->counts, &s->cap_counts, buckets, sizeof(*s->counts))) {
        return err_no_memory(em);
    }
    sort_items(v, n, sizeof(*v), by_id);
    for (uint32_t i = 0; e == ERR_OK && i < view->n_leaves; i++) {
        e = find_in_leaf(s, &view->leaves[i], v, n, em);
    }
    if (e != ERR_OK || c->run->failed != ERR_OK) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    sort_items(s->noted, s->n, sizeof(*s->noted), by_doc);
    return collector_replay(c, s->noted, s->n, em);
}

static int64_t count_of(const struct children *s, uint32_t bucket)
{
    return bucket < s->cap_counts ? s->counts[bucket] : 0;
}

static enum err children_build(struct collector *c, uint32_t bucket, struct agg_result *out,
                               struct errmsg *em)
{
    return collector_single(c, bucket, count_of((struct children *)c, bucket), out, em);
}

static double children_value(struct collector *c, uint32_t bucket, UNUSED struct str key)
{
    return (double)count_of((struct children *)c, bucket);
}

static const struct collector_ops children_ops = {.leaf = children_leaf,
                                                  .collect = children_collect,
                                                  .finish = children_finish,
                                                  .build = children_build,
                                                  .value = children_value};

static enum err children_new(struct collector **out, struct agg_run *r, const struct agg *a,
                             struct errmsg *em)
{
    struct children *s = ARENA_NEW(r->arena, struct children);
    if (s == NULL || !arena_defer(r->arena, close_column, s)) {
        return err_no_memory(em);
    }
    *out = &s->c;
    s->to_parent = a->type == &agg_parent;
    enum err e = collector_init(&s->c, &children_ops, r, a, em);
    const struct field *join = mapping_join(r->cx->query.mapping);
    s->relation = join != NULL ? join_child(join, children_params(a)->type) : NULL;
    s->join = s->relation != NULL ? join : NULL;
    s->c.single = s->join != NULL;
    s->c.unmapped = s->join == NULL;
    join_ids_init(&s->ids, r->arena);
    bucket_map_init(&s->pairs, r);
    return e;
}

const struct agg_type agg_children = {
    .name = "children",
    .class = CLASS_SINGLE,
    .params_size = sizeof(struct children_params),
    .parse = parse_children,
    .collector = children_new,
    .builder = "join.aggregations.ChildrenAggregationBuilder",
    .factory = "ChildrenAggregatorFactory",
    .results = {"InternalChildren"},
    .reduce = reduce_by_place,
};

const struct agg_type agg_parent = {
    .name = "parent",
    .class = CLASS_SINGLE,
    .params_size = sizeof(struct children_params),
    .parse = parse_children,
    .collector = children_new,
    .builder = "join.aggregations.ParentAggregationBuilder",
    .factory = "ParentAggregatorFactory",
    .results = {"InternalParent"},
    .reduce = reduce_by_place,
};
