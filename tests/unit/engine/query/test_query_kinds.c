/* The rows of kinds of queries, and visits to what is below a query. */
#include <check.h>

#include "engine/query/dsl.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/score_functions.h"

#define ROW(name) &q_##name,
static const struct query_ops *const query_kinds[] = {QUERY_KINDS(ROW) NULL};

/* Each row of the list has what the others ask of it. */
START_TEST(rows_are_whole)
{
    for (size_t i = 0; query_kinds[i] != NULL; i++) {
        const struct query_ops *o = query_kinds[i];
        for (size_t k = 0; k < i; k++) {
            ck_assert_str_ne(o->name, query_kinds[k]->name); /* keys of the filter cache begin with it */
        }
        ck_assert_msg(o->print != NULL, "%s does not print itself", o->name);
        ck_assert_msg(o->weight != NULL || o->plain_weight != NULL || o->rewrite != NULL,
                      "%s neither runs nor becomes another", o->name);
        ck_assert_int_eq(o->weight == NULL && o->plain_weight == NULL, o == &q_boost || o == &q_blended);
        ck_assert_msg(o->print_bare == NULL || o->rewrite != NULL, "%s never has clauses", o->name);
        ck_assert_msg(o->matcher == NULL || o->words != NULL, "%s hides its words", o->name);
        ck_assert_msg(o->expensive != NULL || o->expensive_advice == NULL, "%s gives advice alone", o->name);
        ck_assert_msg(o->scored_terms == NULL || (o->weight != NULL && o->words != NULL),
                      "%s scores by terms that it does not look for", o->name);
    }
}
END_TEST

#define TYPE(name) {#name, &dsl_##name},
static const struct {
    const char *name;
    const struct dsl_type *type;
} types[] = {DSL_TYPES(TYPE)};

/* Each parser stands under its own name, and none is refused beside. */
START_TEST(parsers_are_whole)
{
    static const char *const refused[] = {DSL_NOT_OFFERED};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        ck_assert_str_eq(types[i].type->name, types[i].name);
        ck_assert_msg(types[i].type->parse != NULL && types[i].type->build != NULL, "%s", types[i].name);
        ck_assert(dsl_type_find(str_of(types[i].name)) == types[i].type);
        for (size_t k = 0; k < ARRAY_LEN(refused); k++) {
            ck_assert_str_ne(types[i].name, refused[k]);
        }
    }
    ck_assert(dsl_type_find(STR("termss")) == NULL && dsl_type_find(STR("")) == NULL);
}
END_TEST

/* What may take longer to build than to read: words that are expanded, fields by patterns, depth, what nobody knows. */
START_TEST(plain_queries)
{
    static const struct {
        const char *text;
        bool plain;
    } cases[] = {
        {"{\"term\":{\"k\":\"a\"}}", true},
        {"{\"match\":{\"t\":\"a b\"}}", true},
        {"{\"match\":{\"t\":{\"query\":\"a\",\"fuzziness\":1}}}", false},
        {"{\"match\":{\"t\":{\"query\":\"a\",\"analyzer\":\"x\"}}}", false},
        {"{\"multi_match\":{\"query\":\"a\",\"fields\":[\"t\",\"u\"]}}", true},
        {"{\"multi_match\":{\"query\":\"a\",\"fields\":[\"t*\"]}}", false},
        {"{\"multi_match\":{\"query\":\"a\"}}", false},
        {"{\"multi_match\":{\"query\":\"a\",\"fields\":[\"t\"],\"type\":\"phrase_prefix\"}}", false},
        {"{\"bool\":{\"must\":{\"term\":{\"k\":1}},\"filter\":[{\"range\":{\"n\":{\"gt\":1}}}]}}", true},
        {"{\"bool\":{\"must_not\":[{\"prefix\":{\"k\":\"a\"}}]}}", false},
        {"{\"constant_score\":{\"filter\":{\"wildcard\":{\"k\":\"a*\"}}}}", false},
        {"{\"boosting\":{\"positive\":{\"match_all\":{}},\"negative\":{\"fuzzy\":{\"k\":\"a\"}}}}", false},
        {"{\"dis_max\":{\"queries\":[{\"ids\":{\"values\":[]}},{\"exists\":{\"field\":\"k\"}}]}}", true},
        {"{\"function_score\":{\"query\":{\"match_all\":{}},\"functions\":[{\"filter\":{\"regexp\":{\"k\":"
         "\"a\"}}}]}}",
         false},
        {"{\"terms_set\":{\"k\":{\"terms\":[]}}}", false},
        {"{\"nobody\":{}}", false},
        {"{\"term\":1}", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        struct json dsl;
        arena_init(&a, NULL, MIB);
        ck_assert_int_eq(json_parse(&dsl, str_of(cases[i].text), &a, &json_limits_default, NULL), ERR_OK);
        ck_assert_msg(query_is_plain(&dsl) == cases[i].plain, "%s", cases[i].text);
        arena_fini(&a);
    }
}
END_TEST

struct seen {
    const struct query *v[8];
    enum child_role roles[8];
    int n, most;
};

static enum err see(void *arg, const struct query *child, enum child_role role)
{
    struct seen *s = arg;
    s->v[s->n] = child;
    s->roles[s->n++] = role;
    return s->n < s->most ? ERR_OK : ERR_CANCELLED;
}

static const struct query leaf = {.ops = &q_match_all, .boost = 1},
                          other = {.ops = &q_match_none, .boost = 1};

START_TEST(children_have_roles)
{
    const struct bool_clause v[] = {
        {OCCUR_MUST, &leaf}, {OCCUR_FILTER, &leaf}, {OCCUR_SHOULD, &other}, {OCCUR_MUST_NOT, &other}};
    const struct score_function f[] = {{.filter = NULL}, {.filter = &other}};
    struct query q = {.ops = &q_bool, .boolean = {.v = v, .n = 4}};
    struct seen s = {.most = 8};
    ck_assert_int_eq(query_each_child(&q, see, &s), ERR_OK);
    ck_assert_int_eq(s.n, 4);
    ck_assert(s.roles[0] == CHILD_SCORES && s.roles[1] == CHILD_FILTERS && s.roles[2] == CHILD_SCORES
              && s.roles[3] == CHILD_EXCLUDES && s.v[0] == &leaf && s.v[3] == &other);
    s = (struct seen){.most = 2};
    ck_assert_int_eq(query_each_child(&q, see, &s), ERR_CANCELLED);
    ck_assert_int_eq(s.n, 2);
    q = (struct query){.ops = &q_function_score,
                       .own = &(struct function_score){.child = &leaf, .v = f, .n = 2}};
    s = (struct seen){.most = 8};
    ck_assert_int_eq(query_each_child(&q, see, &s), ERR_OK);
    ck_assert(s.n == 2 && s.roles[0] == CHILD_WEIGHS && s.roles[1] == CHILD_SCORES);
    s = (struct seen){.most = 8};
    ck_assert_int_eq(query_each_child(&leaf, see, &s), ERR_OK);
    ck_assert_int_eq(s.n, 0);
}
END_TEST

START_TEST(names_below)
{
    const struct query named = {.ops = &q_match_all, .boost = 1, .name = {"n", 1}};
    const struct bool_clause v[] = {{OCCUR_MUST, &leaf}, {OCCUR_MUST_NOT, &named}};
    struct query q = {.ops = &q_bool, .boolean = {.v = v, .n = 1}};
    ck_assert(!query_has_names(&q));
    q.boolean.n = 2;
    ck_assert(query_has_names(&q));
}
END_TEST

static struct query of_term(const char *field, const char *term)
{
    return (struct query){
        .ops = &q_term, .boost = 1, .field_name = str_of(field), .term = {.term = str_of(term)}};
}

START_TEST(sameness)
{
    struct query a = of_term("f", "x"), b = of_term("f", "x"), c = of_term("g", "x"), d = of_term("f", "y");
    b.boost = 2;
    ck_assert(query_same(&a, &b) && !query_equal(&a, &b));
    ck_assert(!query_same(&a, &c) && !query_same(&a, &d) && !query_same(&a, &leaf));
    struct query why = {.ops = &q_match_none, .boost = 1, .none = {{"why", 3}}};
    ck_assert(query_equal(&why, &other));
    struct query fuzzy = {.ops = &q_fuzzy, .boost = 1}, again = fuzzy;
    ck_assert(query_same(&fuzzy, &fuzzy) && !query_same(&fuzzy, &again));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kinds of queries");
    TCase *tc = tcase_create("rows");
    tcase_add_test(tc, rows_are_whole);
    tcase_add_test(tc, parsers_are_whole);
    tcase_add_test(tc, plain_queries);
    tcase_add_test(tc, children_have_roles);
    tcase_add_test(tc, names_below);
    tcase_add_test(tc, sameness);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
