#include "engine/aggs/include.h"

#include "common/base/hash.h"
#include "common/base/sort_items.h"
#include "engine/aggs/hll.h"
#include "engine/query/automaton.h"

#include <stdlib.h>

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int by_raw(const void *a, const void *b)
{
    return str_cmp(json_text(*(const struct json *const *)a), json_text(*(const struct json *const *)b));
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static enum err bind_texts(struct include *x, const struct include_list *l, const struct str **out,
                           uint32_t *n, struct errmsg *em)
{
    struct arena *arena = x->v->run->arena;
    struct str *v = ARENA_ARRAY(arena, struct str, l->n);
    if (v == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < l->n; i++) {
        enum err e = values_term(x->v, l->v[i], &v[i], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    sort_items(v, l->n, sizeof(*v), by_text);
    *out = v;
    *n = l->n;
    return ERR_OK;
}

static enum err bind_numbers(struct include *x, const struct include_list *l, const int64_t **out,
                             uint32_t *n, struct errmsg *em)
{
    int64_t *v = ARENA_ARRAY(x->v->run->arena, int64_t, l->n);
    const struct json **sorted = ARENA_ARRAY(x->v->run->arena, const struct json *, l->n);
    if (v == NULL || sorted == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < l->n; i++) {
        sorted[i] = l->raw[i];
    }
    sort_items(sorted, l->n, sizeof(const struct json *), by_raw); /* which of several is refused shows */
    for (uint32_t i = 0; i < l->n; i++) {
        double d;
        int64_t whole;
        struct json text =
            json_mk_str(json_text(sorted[i])); /* numbers are read in the field's format, too */
        enum err e = values_parse(x->v, &text, &d, &whole, em);
        if (e != ERR_OK) {
            return e;
        }
        v[i] = x->v->floating ? num_from_double(d) : whole;
    }
    sort_items(v, l->n, sizeof(*v), by_number);
    *out = v;
    *n = l->n;
    return ERR_OK;
}

static enum err bind_regex(struct include *x, const struct agg *a, const struct include_list *l,
                           const struct dfa **out, struct errmsg *em)
{
    bool bytes = x->v->field != NULL && x->v->field->class->is_binary;
    if (x->numeric || x->v->kind == SOURCE_IP || bytes) {
        return err_set(em, a->type == &agg_terms ? ERR_AGG_EXECUTION : ERR_ILLEGAL_ARGUMENT,
                       "Aggregation [%.*s] cannot support regular expression style include/exclude settings "
                       "as they can only be applied "
                       "to string fields. Use an array of %svalues for include/exclude clauses%s",
                       STR_ARG(a->name), x->numeric ? "numeric " : "",
                       x->numeric ? " used to filter numeric fields" : "");
    }
    return dfa_regexp(out, l->regex, REGEXP_ALL, false, 0, x->v->run->arena, em);
}

static enum err bind_list(struct include *x, const struct agg *a, const struct include_list *l, bool in,
                          struct errmsg *em)
{
    if (!l->given) {
        return ERR_OK;
    }
    if (l->regex.p != NULL) {
        return bind_regex(x, a, l, in ? &x->in : &x->out, em);
    }
    if (x->numeric) {
        return bind_numbers(x, l, in ? &x->in_num : &x->out_num, in ? &x->n_in : &x->n_out, em);
    }
    return bind_texts(x, l, in ? &x->in_text : &x->out_text, in ? &x->n_in : &x->n_out, em);
}

enum err include_bind(struct include *x, const struct agg *a, struct values *v, struct errmsg *em)
{
    const struct terms_params *p = terms_params(a);
    *x = (struct include){.p = p, .v = v, .numeric = v->kind != SOURCE_TEXT && v->kind != SOURCE_IP};
    x->any = !p->include.given && !p->exclude.given && p->partitions == 0;
    enum err e = bind_list(x, a, &p->include, true, em);
    return e == ERR_OK ? bind_list(x, a, &p->exclude, false, em) : e;
}

static bool floor_mod_is(int64_t hash, int32_t of, int32_t at)
{
    int64_t m = hash % of;
    return (m < 0 ? m + of : m) == at;
}

static bool decide_text(const struct include *x, struct str s)
{
    if (x->p->partitions > 0) {
        return floor_mod_is((int32_t)hash_murmur3_32(s.p, s.n, 31), x->p->partitions, x->p->partition);
    }
    if (x->p->include.given) {
        bool in = x->in != NULL ? dfa_match(x->in, s)
                                : x->n_in > 0 && bsearch(&s, x->in_text, x->n_in, sizeof(s), by_text) != NULL;
        if (!in) {
            return false;
        }
    }
    if (!x->p->exclude.given) {
        return true;
    }
    return !(x->out != NULL ? dfa_match(x->out, s)
                            : x->n_out > 0 && bsearch(&s, x->out_text, x->n_out, sizeof(s), by_text) != NULL);
}

bool include_id(struct include *x, uint32_t id)
{
    if (x->any) {
        return true;
    }
    if (!run_reserve(x->v->run, &x->known, &x->cap_known, x->v->dict.n, sizeof(*x->known))) {
        return false;
    }
    if (x->known[id] == 0) {
        struct str s = dict_text(&x->v->dict, id);
        x->known[id] = s.p != NULL && decide_text(x, s) ? 1 : 2;
    }
    return x->known[id] == 1;
}

bool include_long(const struct include *x, int64_t v)
{
    if (x->any) {
        return true;
    }
    if (x->p->partitions > 0) {
        return floor_mod_is((int64_t)hll_hash_i64(v), x->p->partitions, x->p->partition);
    }
    /* of numbers, an empty list includes all */
    if (x->n_in > 0 && bsearch(&v, x->in_num, x->n_in, sizeof(v), by_number) == NULL) {
        return false;
    }
    return !(x->n_out > 0 && bsearch(&v, x->out_num, x->n_out, sizeof(v), by_number) != NULL);
}
