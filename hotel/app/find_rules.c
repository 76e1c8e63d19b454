#include "hotel/app/find_rules.h"

#include "common/base/jsonw.h"
#include "hotel/app/rules.h"
#include "hotel/names.h"

#define FACET_VALUES 100
#define PREFIX_MIN   2   /* bytes of a word that may go on */
#define PART_MAX     150 /* bytes of a word that may be part of a name or an address */

/* A word is in an address when that holds it: the field is not indexed, its values are there. */
#define IN_ADDRESS "doc['" F_ADDRESS "'].size() > 0 && doc['" F_ADDRESS "'].value.contains(params.word)"

bool find_value_counts(const struct find_query *q, const struct lex_value *v)
{
    return v != NULL && q->chosen[v->kind].n == 0;
}

/* ---- groups of values ---- */

/* Has the group a condition? */
static bool group_set(const struct find_query *q, enum value_kind kind)
{
    if (q->chosen[kind].n > 0) {
        return true;
    }
    for (size_t i = 0; !q->some && i < q->key->n; i++) {
        const struct lex_value *v = q->key->v[i].value;
        if (v != NULL && v->kind == kind) {
            return true;
        }
    }
    return false;
}

static void write_values(struct jsonw *w, const struct str *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        jw_str(w, v[i]);
    }
}

static void write_terms_open(struct jsonw *w, enum value_kind kind)
{
    jw_obj(w);
    jw_kobj(w, "terms");
    jw_karr(w, value_kind_field(kind));
}

static void write_terms_end(struct jsonw *w)
{
    jw_arr_end(w);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_group(struct jsonw *w, const struct find_query *q, enum value_kind kind)
{
    const struct choice *chosen = &q->chosen[kind];
    write_terms_open(w, kind);
    write_values(w, chosen->v, chosen->n);
    for (size_t i = 0; chosen->n == 0 && i < q->key->n; i++) {
        const struct lex_value *v = q->key->v[i].value;
        if (v != NULL && v->kind == kind) {
            write_values(w, v->terms, v->terms_n);
        }
    }
    write_terms_end(w);
}

/* {"bool":{"filter":[..]}} of all groups but one. */
static void write_groups(struct jsonw *w, const struct find_query *q, enum value_kind but)
{
    jw_kobj(w, "bool");
    jw_karr(w, "filter");
    for (enum value_kind k = 0; k < VALUE_KINDS_N; k++) {
        if (k != but && group_set(q, k)) {
            write_group(w, q, k);
        }
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static void write_facets(struct jsonw *w, const struct find_query *q)
{
    jw_kobj(w, "aggs");
    for (enum value_kind k = 0; k < VALUE_KINDS_N; k++) {
        jw_kobj(w, value_kind_name(k));
        jw_kobj(w, "filter");
        write_groups(w, q, k);
        jw_obj_end(w);
        jw_kobj(w, "aggs");
        jw_kobj(w, "values");
        jw_kobj(w, "terms");
        jw_kz(w, "field", value_kind_field(k));
        jw_ki64(w, "size", FACET_VALUES);
        jw_obj_end(w);
        jw_obj_end(w);
        jw_obj_end(w);
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

/* ---- words ---- */

static void write_match(struct jsonw *w, const char *field, struct str word, double boost, bool nearly)
{
    jw_obj(w);
    jw_kobj(w, "match");
    jw_kobj(w, field);
    jw_kstr(w, "query", word);
    if (nearly) {
        jw_kz(w, "fuzziness", "AUTO");
        jw_ki64(w, "prefix_length", 1);
    } else {
        jw_kz(w, "operator", "and");
    }
    jw_kdouble(w, "boost", boost);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_obj_end(w);
}

/* {"prefix":{"all":{"value":..}}} and {"wildcard":{"business":{"value":"*..*"}}} */
static void write_part(struct jsonw *w, const char *query, const char *field, struct str word,
                       const char *around, double boost)
{
    jw_obj(w);
    jw_kobj(w, query);
    jw_kobj(w, field);
    jw_k(w, "value");
    jw_strf(w, "%s%.*s%s", around, STR_ARG(word), around);
    jw_kdouble(w, "boost", boost);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_in_address(struct jsonw *w, struct str word, double boost)
{
    jw_obj(w);
    jw_kobj(w, "script");
    jw_kobj(w, "script");
    jw_kz(w, "source", IN_ADDRESS);
    jw_kobj(w, "params");
    jw_kstr(w, "word", word);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_kdouble(w, "boost", boost);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_ways(struct jsonw *w, struct str word, double weight, bool nearly)
{
    write_match(w, F_NAME, word, 2 * weight, false);
    write_match(w, F_ALL, word, nearly ? weight / 2 : weight, nearly);
    if (word.n > PART_MAX) {
        return;
    }
    if (word.n >= PREFIX_MIN) {
        write_part(w, "prefix", F_ALL, word, "", weight);
    }
    write_part(w, "wildcard", F_BUSINESS, word, "*", 8 * weight);
    write_in_address(w, word, 8 * weight);
}

/* One word: in the name, in name, brand and district together, as a beginning, within a district's name or an address. The best
 * of these counts. */
static void write_word(struct jsonw *w, const struct understood *u, bool nearly)
{
    jw_obj(w);
    jw_kobj(w, "dis_max");
    jw_kdouble(w, "tie_breaker", 0.2);
    jw_karr(w, "queries");
    write_ways(w, u->folded, 1, nearly);
    if (u->shorter.n > 0) {
        write_ways(w, u->shorter, 0.5, false);
    }
    jw_arr_end(w);
    jw_obj_end(w);
    jw_obj_end(w);
}

/* What is wanted of the key, where some of it is enough: each value weighs as much as a good word. */
static void write_value(struct jsonw *w, const struct lex_value *v)
{
    jw_obj(w);
    jw_kobj(w, "constant_score");
    jw_kobj(w, "filter");
    jw_kobj(w, "terms");
    jw_karr(w, value_kind_field(v->kind));
    write_values(w, v->terms, v->terms_n);
    jw_arr_end(w);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_kdouble(w, "boost", 10);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_bool(struct jsonw *w, const struct find_query *q)
{
    jw_kobj(w, "bool");
    jw_karr(w, q->some ? "should" : "must");
    for (size_t i = 0; i < q->key->n; i++) {
        const struct understood *u = &q->key->v[i];
        if (u->value == NULL) {
            write_word(w, u, q->some);
        } else if (q->some && find_value_counts(q, u->value)) {
            write_value(w, u->value);
        }
    }
    jw_arr_end(w);
    if (q->some) {
        jw_ki64(w, "minimum_should_match", 1);
    }
    jw_karr(w, "filter");
    rules_price(w, q->params);
    jw_arr_end(w);
    jw_obj_end(w);
}

/* ---- order ---- */

int find_rules_distance_at(const struct find_query *q)
{
    return rules_distance_at(q->params);
}

/* Among equally good hotels the better rated one is first. */
static void write_order(struct jsonw *w, const struct hotel_params *p)
{
    static const char *const fields[][2] = {{"_score", "desc"}, {F_SCORE, "desc"}, {F_ID, "asc"}};
    if (p->sort_by != SORT_RELEVANCE || p->has_location) {
        rules_sort(w, p);
        return;
    }
    jw_karr(w, "sort");
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        jw_obj(w);
        jw_kz(w, fields[i][0], fields[i][1]);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

void find_rules_search(struct buf *out, const struct find_query *q)
{
    const struct hotel_params *p = q->params;
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_kobj(&w, "query");
    jw_kobj(&w, "function_score");
    jw_kobj(&w, "query");
    write_bool(&w, q);
    jw_obj_end(&w);
    rules_promotion(&w);
    jw_obj_end(&w);
    jw_obj_end(&w);
    jw_kobj(&w, "post_filter");
    write_groups(&w, q, VALUE_KINDS_N);
    jw_obj_end(&w);
    if (q->facets) {
        write_facets(&w, q);
    }
    jw_ki64(&w, "from", ((int64_t)p->page - 1) * p->size);
    jw_ki64(&w, "size", p->size);
    jw_kbool(&w, "track_total_hits", true);
    write_order(&w, p);
    if (q->highlight.n > 0) {
        rules_highlight(&w, q->highlight);
    }
    jw_obj_end(&w);
}

void find_rules_words(struct buf *out, const struct understanding *key)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_ki64(&w, "size", 0);
    jw_kobj(&w, "aggs");
    jw_kobj(&w, "words");
    jw_kobj(&w, "filters");
    jw_karr(&w, "filters");
    for (size_t i = 0; i < key->n; i++) {
        if (key->v[i].value == NULL) {
            write_word(&w, &key->v[i], false);
        }
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
    jw_obj_end(&w);
    jw_obj_end(&w);
    jw_obj_end(&w);
}
