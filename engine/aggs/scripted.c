/* scripted_metric: scripts that make a state of each bucket, change it by each document, make something of it on each shard, and one value of
 * what the shards gave. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/values.h"

#include "common/base/stop.h"
#include "engine/mapping/java.h"

struct scripted_params {
    const struct json *init, *map, *combine, *reduce; /* forms; NULL: none */
    const struct json *params;                        /* of all of them; NULL: none */
};
AGG_PARAMS(scripted_params)

struct scripted_result {
    struct str *states; /* script_states_combine() */
    uint32_t n;
    struct json value; /* once reduced */
};
AGG_RESULT(scripted_result)

/* ---- the definition -------------------------------------------------------------------------------------- */

static enum err scripted_init(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_script(p, v, &scripted_params(a)->init);
}

static enum err scripted_map(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_script(p, v, &scripted_params(a)->map);
}

static enum err scripted_combine(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_script(p, v, &scripted_params(a)->combine);
}

static enum err scripted_reduce(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_script(p, v, &scripted_params(a)->reduce);
}

static enum err scripted_given(UNUSED struct agg_parse *p, struct agg *a, const struct json *v)
{
    scripted_params(a)->params = v;
    return ERR_OK;
}

static const struct agg_param scripted_table[] = {
    {"init_script", TK_SCRIPT, scripted_init},       {"map_script", TK_SCRIPT, scripted_map},
    {"combine_script", TK_SCRIPT, scripted_combine}, {"reduce_script", TK_SCRIPT, scripted_reduce},
    {"params", TK_OBJECT, scripted_given},           {NULL, 0, NULL}};

static enum err parse_scripted(struct agg_parse *p, struct agg *a, const struct json *body)
{
    enum err e = agg_params(p, a, body, "scripted_metric", scripted_table, NULL);
    return e != ERR_OK || scripted_params(a)->map != NULL
               ? e
               : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [map_script]");
}

static bool scripted_scores(const struct agg *a)
{
    return scripted_params(a)->map != NULL && script_wants_score(scripted_params(a)->map);
}

/* The aggregation's parameters with the script's own; no name may be in both. */
static enum err stage_params(const struct agg *a, const struct json *form, struct arena *arena,
                             const struct json **out, struct errmsg *em)
{
    const struct json *all = scripted_params(a)->params;
    const struct json *own = json_is(form, JSON_OBJECT) ? json_get(form, "params") : NULL;
    if (!json_is(own, JSON_OBJECT) || own->n == 0 || all == NULL || all->n == 0) {
        *out = json_is(own, JSON_OBJECT) && own->n > 0 ? own : all;
        return ERR_OK;
    }
    struct json *both = ARENA_NEW(arena, struct json);
    if (both == NULL) {
        return err_no_memory(em);
    }
    *both = json_mk_object();
    *out = both;
    for (uint32_t i = 0; i < all->n; i++) {
        if (!json_put(both, arena, all->members[i].key, all->members[i].value)) {
            return err_no_memory(em);
        }
    }
    for (uint32_t i = 0; i < own->n; i++) {
        struct str name = own->members[i].key;
        if (json_get_str(all, name) != NULL) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Parameter name \"%.*s\" used in both aggregation and script parameters",
                           STR_ARG(name));
        }
        if (!json_put(both, arena, name, own->members[i].value)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

struct scripted {
    struct collector c;
    struct agg_script *docs;
    struct script_states *states;
};

static enum err scripted_leaf(struct collector *c, struct errmsg *em)
{
    return agg_script_leaf(((struct scripted *)c)->docs, em);
}

static void scripted_collect(struct collector *c, const struct doc_run *d)
{
    struct scripted *s = (struct scripted *)c;
    for (uint32_t i = 0; i < d->n && c->run->failed == ERR_OK; i++) {
        const struct script_env *env =
            agg_script_at(s->docs, d->docs[i], d->scores != NULL ? d->scores[i] : 0);
        enum err e = script_states_map(s->states, run_bucket(d, i), env, &c->run->em);
        if (e != ERR_OK) {
            run_fail(c->run, e);
        }
    }
}

/* A bucket that no document fell into has a state as well; what is no bucket has none. */
static enum err scripted_build(struct collector *c, uint32_t bucket, struct agg_result *out,
                               struct errmsg *em)
{
    struct scripted *s = (struct scripted *)c;
    struct scripted_result *own = scripted_result(out);
    struct buf b;
    buf_init(&b, NULL, script_limits_default.bytes_max); /* what is shared in a state is written each time */
    enum err e = ERR_OK;
    if (bucket == NO_BUCKET) {
        script_states_none(&b);
    } else {
        e = script_states_combine(s->states, bucket, &b, em);
    }
    out->form = RESULT_PLAIN;
    own->n = 1;
    own->states = ARENA_NEW(c->run->arena, struct str);
    if (e == ERR_OK && own->states != NULL) {
        *own->states = b.failed ? STR_NULL : arena_str(c->run->arena, buf_view(&b));
    }
    buf_fini(&b);
    return e != ERR_OK || (own->states != NULL && own->states->p != NULL) ? e : err_no_memory(em);
}

static const struct collector_ops scripted_ops = {
    .leaf = scripted_leaf, .collect = scripted_collect, .build = scripted_build};

/* Compiles the stages of a shard. The caller has a reference to each script (NULL: there is no such), whatever is returned. */
static enum err compile_stages(const struct agg *a, struct script_stages *out, struct errmsg *em)
{
    const struct scripted_params *given = scripted_params(a);
    enum err e =
        given->init != NULL ? script_compile_form(&out->init, given->init, SCRIPT_AGG_INIT, em) : ERR_OK;
    e = e == ERR_OK ? script_compile_form(&out->map, given->map, SCRIPT_AGG_MAP, em) : e;
    e = e == ERR_OK && given->combine != NULL
            ? script_compile_form(&out->combine, given->combine, SCRIPT_AGG_COMBINE, em)
            : e;
    if (e == ERR_OK && (given->combine == NULL || given->reduce == NULL)) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "[%sScript] must not be null: [%.*s]",
                    given->combine == NULL ? "combine" : "reduce", STR_ARG(a->name));
    }
    return e;
}

static enum err scripted_new(struct collector **out, struct agg_run *r, const struct agg *a,
                             struct errmsg *em)
{
    const struct scripted_params *given = scripted_params(a);
    struct scripted *s = ARENA_NEW(r->arena, struct scripted);
    struct script_stages stages = {0};
    const struct json *ignored = NULL;
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->c;
    enum err e = collector_init(&s->c, &scripted_ops, r, a, em);
    e = e == ERR_OK ? compile_stages(a, &stages, em) : e;
    e = e == ERR_OK ? stage_params(a, given->init, r->arena, &stages.init_params, em) : e;
    e = e == ERR_OK ? stage_params(a, given->map, r->arena, &stages.map_params, em) : e;
    e = e == ERR_OK ? stage_params(a, given->combine, r->arena, &stages.combine_params, em) : e;
    e = e == ERR_OK ? stage_params(a, given->reduce, r->arena, &ignored, em) : e;
    e = e == ERR_OK ? agg_script_env(&s->docs, r, em) : e;
    e = e == ERR_OK ? script_states_new(&s->states, &stages, r->arena->alloc, em) : e;
    if (e == ERR_OK) {
        agg_script_states(s->docs, s->states);
    }
    script_unref(stages.init);
    script_unref(stages.map);
    script_unref(stages.combine);
    return e;
}

/* ---- merging --------------------------------------------------------------------------------------------- */

static enum err run_reduce(struct reduce *r, const struct agg *a, struct scripted_result *own)
{
    const struct json *form = scripted_params(a)->reduce, *params = NULL;
    struct script *script = NULL;
    struct script_run *run = NULL;
    struct buf bytes;
    buf_init(&bytes, NULL, script_limits_default.bytes_max);
    enum err e = stage_params(a, form, r->arena, &params, r->em);
    e = e == ERR_OK ? script_compile_form(&script, form, SCRIPT_AGG_REDUCE, r->em) : e;
    e = e == ERR_OK ? script_run_new(&run, script, params, NULL, r->em) : e;
    e = e == ERR_OK ? script_states_reduce(run, own->states, own->n, r->arena, &own->value, &bytes, r->em)
                    : e;
    script_run_free(run);
    script_unref(script);
    /* buckets that are merged again hand this on */
    own->n = 1;
    own->states[0] = e == ERR_OK && !bytes.failed ? arena_str(r->arena, buf_view(&bytes)) : STR_NULL;
    buf_fini(&bytes);
    return e != ERR_OK || own->states[0].p != NULL ? e : err_no_memory(r->em);
}

static enum err reduce_scripted(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                uint32_t n, struct agg_result *out)
{
    struct scripted_result *own = scripted_result(out);
    size_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += scripted_result(in[i])->n;
    }
    own->states = ARENA_ARRAY(r->arena, struct str, total + 1);
    if (own->states == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct scripted_result *part = scripted_result(in[i]);
        for (uint32_t k = 0; k < part->n; k++) {
            own->states[own->n++] = part->states[k];
        }
    }
    return stop_now() ? err_set(r->em, ERR_CANCELLED, "task cancelled") : run_reduce(r, a, own);
}

/* ---- bytes, printing, row -------------------------------------------------------------------------------- */

static void scripted_put(struct buf *b, const struct agg_result *r)
{
    const struct scripted_result *own = scripted_result(r);
    put_varint(b, own->n);
    for (uint32_t i = 0; i < own->n; i++) {
        put_str(b, own->states[i]);
    }
}

static enum err scripted_get(const struct result_reading *d, struct agg_result *r)
{
    struct scripted_result *own = scripted_result(r);
    size_t n = get_count(d->in, 1);
    own->states = n < UINT32_MAX ? ARENA_ARRAY(d->arena, struct str, n) : NULL;
    if (own->states == NULL) {
        return err_no_memory(d->em);
    }
    for (; own->n < n; own->n++) {
        own->states[own->n] = get_str(d->in);
    }
    return ERR_OK;
}

static void scripted_print(const struct agg_result *r, struct jsonw *w)
{
    jw_k(w, "value");
    jw_value(w, &scripted_result(r)->value);
}

static enum err scripted_value(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    const struct json *v = &scripted_result(r)->value;
    if (!str_is(key, "value")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "path not supported for [%.*s]: [%.*s]",
                       STR_ARG(r->agg->name), STR_ARG(key));
    }
    if (v->type != JSON_NUMBER) {
        return err_set(em, ERR_AGG_EXECUTION,
                       "buckets_path must reference either a number value or a single value numeric metric "
                       "aggregation, got: [%s] at aggregation [%.*s]",
                       java_class_name(v), STR_ARG(r->agg->name));
    }
    *out = json_double(v);
    return ERR_OK;
}

const struct agg_type agg_scripted_metric = {
    .name = "scripted_metric",
    .class = CLASS_METRIC,
    .params_size = sizeof(struct scripted_params),
    .result_size = sizeof(struct scripted_result),
    .parse = parse_scripted,
    .collector = scripted_new,
    .builder = "metrics.ScriptedMetricAggregationBuilder",
    .results = {"InternalScriptedMetric"},
    .wants_scores = scripted_scores,
    .put = scripted_put,
    .get = scripted_get,
    .reduce = reduce_scripted,
    .print = scripted_print,
    .value = scripted_value,
};
