/* Definitions of terms, rare_terms and significant_terms. */

#include "common/base/jsonr.h"
#include "engine/aggs/terms.h"
#include "engine/query/automaton.h"

static enum err terms_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least_int(p, a, v, "size", 1, &terms_params(a)->size);
}

static enum err terms_shard_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least_int(p, a, v, "shardSize", 1, &terms_params(a)->shard_size);
}

static enum err terms_min(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least(p, a, v, "minDocCount", 0, &terms_params(a)->min_doc_count);
}

static enum err terms_shard_min(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least(p, a, v, "shardMinDocCount", 0, &terms_params(a)->shard_min_doc_count);
}

static enum err terms_order(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_orders_parse(p, v, &terms_params(a)->orders);
}

static enum err terms_show_error(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &terms_params(a)->show_error, p->em);
}

static enum err terms_hint(UNUSED struct agg_parse *p, struct agg *a, const struct json *v)
{
    terms_params(a)->execution_hint = json_text(v);
    return ERR_OK;
}

static enum err terms_collect_mode(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)a; /* both modes give the same answer; buckets here are cheap enough not to put them off */
    struct str s = json_text(v);
    if (str_is(s, "breadth_first") || str_is(s, "depth_first")) {
        return ERR_OK;
    }
    return err_set(p->em, ERR_PARSE, "no [collect_mode] found for value [%.*s]", STR_ARG(s));
}

static enum err include_list(struct agg_parse *p, const struct json *v, struct include_list *out)
{
    out->given = true;
    if (v->type == JSON_STRING) {
        out->regex = v->s;
        return regexp_check(v->s, REGEXP_ALL, 0, p->arena, p->em);
    }
    struct str *texts = ARENA_ARRAY(p->arena, struct str, v->n);
    const struct json **raw = ARENA_ARRAY(p->arena, const struct json *, v->n);
    if (texts == NULL || raw == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        p->at = v->items[i].off;
        if (v->items[i].type != JSON_STRING && v->items[i].type != JSON_NUMBER
            && v->items[i].type != JSON_BOOL) {
            return err_set(p->em, ERR_PARSE,
                           "Array elements in include/exclude clauses should be string values");
        }
        texts[i] = json_text(&v->items[i]);
        raw[i] = &v->items[i];
    }
    p->at = v->end - 1;
    out->v = texts;
    out->raw = raw;
    out->n = v->n;
    return ERR_OK;
}

static enum err partitions(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct terms_params *given = terms_params(a);
    int32_t at = 0, of = 0;
    bool has_at = false, has_of = false;
    for (uint32_t i = 0; i < v->n; i++) {
        struct str key = v->members[i].key;
        bool is_of = str_is(key, "num_partitions");
        p->at = v->members[i].value.off;
        if (!is_of && !str_is(key, "partition")) {
            return err_set(p->em, ERR_PARSE, "Unknown parameter in Include/Exclude clause: %.*s",
                           STR_ARG(key));
        }
        *(is_of ? &has_of : &has_at) = true;
        enum err e = jr_int(&v->members[i].value, is_of ? &of : &at, p->em);
        if (e != ERR_OK) {
            return e;
        }
    }
    p->at = v->end - 1;
    if (!has_at) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Missing [partition] parameter for partition-based include");
    }
    if (!has_of) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Missing [num_partitions] parameter for partition-based include");
    }
    if (at < 0 || at >= of) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Partition must be >=0 and < numPartition which is %d",
                       of);
    }
    given->partition = at;
    given->partitions = of;
    return ERR_OK;
}

static enum err no_partition_exclude(struct agg_parse *p, const struct agg *a)
{
    if (terms_params(a)->partitions > 0 && terms_params(a)->exclude.given) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot specify any excludes when using a partition-based include");
    }
    return ERR_OK;
}

static enum err terms_include(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = v->type == JSON_OBJECT ? partitions(p, a, v) : include_list(p, v, &terms_params(a)->include);
    return e == ERR_OK ? no_partition_exclude(p, a) : e;
}

static enum err terms_exclude(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = include_list(p, v, &terms_params(a)->exclude);
    return e == ERR_OK ? no_partition_exclude(p, a) : e;
}

static const struct agg_param terms_table[] = {{"size", TK_INT, terms_size},
                                               {"shard_size", TK_INT, terms_shard_size},
                                               {"min_doc_count", TK_INT, terms_min},
                                               {"shard_min_doc_count", TK_INT, terms_shard_min},
                                               {"order", TK_OBJECT | TK_ARRAY, terms_order},
                                               {"show_term_doc_count_error", TK_FLAG, terms_show_error},
                                               {"execution_hint", TK_STRING, terms_hint},
                                               {"collect_mode", TK_STRING, terms_collect_mode},
                                               {"include", TK_STRING | TK_ARRAY | TK_OBJECT, terms_include},
                                               {"exclude", TK_STRING | TK_ARRAY, terms_exclude},
                                               {NULL, 0, NULL}};

enum err parse_terms(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct terms_params *given = terms_params(a);
    given->size = 10;
    given->shard_size = -1;
    given->min_doc_count = 1;
    enum err e = agg_params(p, a, body, "terms", terms_table, agg_source_params);
    e = e == ERR_OK ? agg_need_source(p, &a->vs) : e;
    if (e == ERR_OK && given->orders.n == 0) {
        struct agg_order count = {.by = ORDER_COUNT, .asc = false};
        e = agg_orders_make(p, &count, 1, &given->orders);
    }
    return e;
}

static enum err rare_max(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct terms_params *given = terms_params(a);
    enum err e = jr_long(v, &given->size, p->em);
    if (e == ERR_OK && given->size <= 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[max_doc_count] must be greater than 0. Found [%lld] in [%.*s]",
                       (long long)given->size, STR_ARG(a->name));
    }
    if (e == ERR_OK && given->size > 100) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[max_doc_count] must be smallerthan 100in [%.*s]",
                       STR_ARG(a->name));
    }
    return e;
}

static enum err rare_precision(struct agg_parse *p, UNUSED struct agg *a, const struct json *v)
{
    double d = 0; /* of the filter that Elasticsearch remembers frequent terms by; counts here are exact */
    enum err e = jr_double(v, &d, p->em);
    if (e == ERR_OK && d < 0.00001) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[precision] must be greater than 0.00001");
    }
    return e;
}

static const struct agg_param rare_table[] = {{"max_doc_count", TK_INT, rare_max},
                                              {"precision", TK_INT, rare_precision},
                                              {"include", TK_STRING | TK_ARRAY | TK_OBJECT, terms_include},
                                              {"exclude", TK_STRING | TK_ARRAY, terms_exclude},
                                              {NULL, 0, NULL}};

enum err parse_rare_terms(struct agg_parse *p, struct agg *a, const struct json *body)
{
    terms_params(a)->size = 1; /* the most documents that a rare term may have */
    enum err e = agg_params(p, a, body, "rare_terms", rare_table, agg_source_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

static enum err sig_background(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct json_pull c;
    if (!json_pull_init(&c, v, p->text, p->arena)) {
        return err_no_memory(p->em);
    }
    json_pull_next(&c);
    return agg_query(p, &c, &terms_params(a)->background);
}

static enum err sig_negatives(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &terms_params(a)->heuristic.include_negatives, p->em);
}

static enum err sig_superset(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &terms_params(a)->heuristic.background_is_superset, p->em);
}

static const struct agg_param flags_none[] = {{NULL, 0, NULL}};
static const struct agg_param flags_superset[] = {{"background_is_superset", TK_FLAG, sig_superset},
                                                  {NULL, 0, NULL}};
static const struct agg_param flags_both[] = {{"include_negatives", TK_FLAG, sig_negatives},
                                              {"background_is_superset", TK_FLAG, sig_superset},
                                              {NULL, 0, NULL}};
static const struct {
    const char *name;
    const struct agg_param *flags;
} heuristics[] = {[HEURISTIC_JLH] = {"jlh", flags_none},
                  [HEURISTIC_MUTUAL] = {"mutual_information", flags_both},
                  [HEURISTIC_CHI] = {"chi_square", flags_both},
                  [HEURISTIC_GND] = {"gnd", flags_superset},
                  [HEURISTIC_PERCENTAGE] = {"percentage", flags_none}};

/* The definition of a heuristic: an object. A list of them is taken, too, and refused for what stands behind it,
 * as each object and the end of the list is taken for the beginning of one. */
static enum err sig_heuristic(struct agg_parse *p, struct agg *a, const struct json *v, size_t kind)
{
    const struct json *object;
    terms_params(a)->heuristic.kind = (unsigned)kind;
    enum err e = jr_object(p->text, heuristics[kind].name, v, &object, p->em);
    if (e != ERR_OK || object == NULL) {
        return e;
    }
    e = agg_params(p, a, object, heuristics[kind].name, heuristics[kind].flags, NULL);
    if (e != ERR_OK || v->type == JSON_OBJECT) {
        return e;
    }
    size_t at = v->end;
    const char *token = jr_next_token(p->text, &at);
    return jr_fail_xc(p->text, at, p->em, "[%s] Expected START_OBJECT but was: %s", heuristics[kind].name,
                      token);
}

static enum err sig_shard_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct terms_params *given = terms_params(a);
    enum err e = agg_at_least_int(p, a, v, "shardSize", INT32_MIN, &given->shard_size);
    return e != ERR_OK || given->shard_size > 0
               ? e
               : err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                         "[shardSize] must be greater than  0. Found [%lld] in [%.*s]",
                         (long long)given->shard_size, STR_ARG(a->name));
}

static const struct agg_param sig_table[] = {{"size", TK_INT, terms_size},
                                             {"shard_size", TK_INT, sig_shard_size},
                                             {"min_doc_count", TK_INT, terms_min},
                                             {"shard_min_doc_count", TK_INT, terms_shard_min},
                                             {"execution_hint", TK_STRING, terms_hint},
                                             {"include", TK_STRING | TK_ARRAY | TK_OBJECT, terms_include},
                                             {"exclude", TK_STRING | TK_ARRAY, terms_exclude},
                                             {"background_filter", TK_OBJECT, sig_background},
                                             {NULL, 0, NULL}};

/* A key that is no parameter is taken for the name of a heuristic. */
static enum err sig_unknown(struct agg_parse *p, const struct json_member *m)
{
    const char *known[AGG_NAMES_MAX];
    char hint[JR_HINT_MAX];
    uint32_t line, col;
    agg_param_names(sig_table, agg_source_params, known);
    jr_did_you_mean(m->key, known, hint, sizeof(hint));
    json_place(p->text, m->value.off, &line, &col);
    err_set(p->em, ERR_NAMED_OBJECT, "[%u:%u] unknown field [%.*s]", line, col, STR_ARG(m->key));
    json_place(p->text, m->key_off, &line, &col);
    return err_wrap(p->em, ERR_X_CONTENT, "[%u:%u] [significant_terms] unknown field [%.*s]%s", line, col,
                    STR_ARG(m->key), hint);
}

static enum err sig_member(struct agg_parse *p, struct agg *a, const struct json_member *m)
{
    for (size_t k = 0; k < ARRAY_LEN(heuristics); k++) {
        if (str_is(m->key, heuristics[k].name)) {
            return sig_heuristic(p, a, &m->value, k);
        }
    }
    if (str_is(m->key, "script_heuristic")) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[significant_terms] [script_heuristic] is not supported");
    }
    if (!agg_param_known(sig_table, m->key) && !agg_param_known(agg_source_params, m->key)) {
        return sig_unknown(p, m);
    }
    return agg_params_one(p, a, m, "significant_terms", sig_table, agg_source_params);
}

enum err parse_significant(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct terms_params *given = terms_params(a);
    given->size = 10;
    given->shard_size = -1;
    given->min_doc_count = 3;
    given->heuristic.background_is_superset = true;
    for (uint32_t i = 0; i < body->n; i++) {
        enum err e = sig_member(p, a, &body->members[i]);
        if (e != ERR_OK) {
            return e;
        }
    }
    return agg_need_source(p, &a->vs);
}
