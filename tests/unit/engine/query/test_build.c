/* What requests become with a mapping, by the text form of the query, and how they are refused. */
#include "engine/query/print.h"
#include "engine/query/script_use.h"

#include <check.h>

static const char mapping_text[] =
    "{\"properties\":{"
    "\"t\":{\"type\":\"text\"},"
    "\"sh\":{\"type\":\"text\",\"analyzer\":\"shingles\"},"
    "\"docs\":{\"type\":\"text\",\"index_options\":\"docs\"},"
    "\"k\":{\"type\":\"keyword\"},\"k2\":{\"type\":\"keyword\"},"
    "\"n\":{\"type\":\"integer\"},\"l\":{\"type\":\"long\"},\"b\":{\"type\":\"boolean\"},"
    "\"bin\":{\"type\":\"binary\",\"doc_values\":true},"
    "\"g\":{\"type\":\"geo_point\"},\"d\":{\"type\":\"date\"},\"f\":{\"type\":\"float\"},"
    "\"hf\":{\"type\":\"half_float\"},\"dd\":{\"type\":\"double\"},"
    "\"o\":{\"properties\":{\"x\":{\"type\":\"keyword\"},\"y\":{\"type\":\"text\"}}}}}";

static struct arena arena;
static struct settings settings;
static struct analysis *analysis;
static struct mapping *mapping;

static void setup(void)
{
    struct analysis_env env = {0};
    struct json body;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    settings_init(&settings, &arena);
    ck_assert(settings_put(&settings, STR("index.analysis.analyzer.shingles.tokenizer"), STR("standard"))
              && settings_put(&settings, STR("index.analysis.analyzer.shingles.filter"), STR("shingle")));
    ck_assert_int_eq(analysis_new(&analysis, &settings, &env, NULL), ERR_OK);
    ck_assert_int_eq(json_parse(&body, str_of(mapping_text), &arena, &json_limits_default, NULL), ERR_OK);
    ck_assert_int_eq(mapping_new(&mapping, &body, analysis, &settings, NULL), ERR_OK);
}

static void teardown(void)
{
    mapping_unref(mapping);
    analysis_unref(analysis);
    arena_fini(&arena);
}

static enum err build(const char *text, const struct query **q, struct errmsg *em)
{
    struct json *dsl = ARENA_NEW(&arena, struct json);
    struct query_context cx = {.mapping = mapping,
                               .arena = &arena,
                               .text = str_of(text),
                               .index_name = STR("i"),
                               .clauses_max = 1024,
                               .depth_max = 100,
                               .index_settings = &settings,
                               .allow_expensive = true};
    ck_assert_ptr_nonnull(dsl);
    ck_assert_int_eq(json_parse(dsl, str_of(text), &arena, &json_limits_default, NULL), ERR_OK);
    err_clear(em);
    return query_build(q, &cx, dsl, em);
}

START_TEST(printed)
{
    static const char *const cases[][2] = {
        /* percentages below zero round towards it */
        {"{\"match\":{\"t\":{\"query\":\"a b\",\"minimum_should_match\":\"-25%\"}}}", "(t:a t:b)~2"},
        {"{\"match\":{\"t\":{\"query\":\"a b c d\",\"minimum_should_match\":\"-25%\"}}}",
         "(t:a t:b t:c t:d)~3"},
        {"{\"match\":{\"t\":{\"query\":\"a b c d\",\"minimum_should_match\":\"60%\"}}}",
         "(t:a t:b t:c t:d)~2"},
        /* the last word is a beginning only where the text ends with it */
        {"{\"match_bool_prefix\":{\"t\":\"quick fo\"}}", "t:quick t:fo*"},
        {"{\"match_bool_prefix\":{\"t\":\"quick fox!\"}}", "t:quick t:fox"},
        /* shingles are no graph */
        {"{\"match\":{\"sh\":\"a b\"}}", "Synonym(sh:a sh:a b) sh:b"},
        {"{\"match_phrase\":{\"sh\":\"a b\"}}", "sh:\"(a a b) b\""},
        /* a prefix alone needs no positions */
        {"{\"match_phrase_prefix\":{\"docs\":\"qu\"}}", "docs:\"qu*\""},
        /* what is forgiven, by its own field; what does not blend breaks ties as asked */
        {"{\"multi_match\":{\"query\":\"x\",\"fields\":[\"n\",\"k\",\"k2\"],\"type\":\"cross_fields\",\"tie_"
         "breaker\":0.3,"
         "\"lenient\":true}}",
         "(MatchNoDocsQuery(\"failed [n] query, caused by number_format_exception:[For input string: "
         "\"x\"]\") | "
         "blended(terms:[k2:x, k:x]))~0.3"},
        /* negations ask for no clause */
        {"{\"bool\":{\"must_not\":[{\"term\":{\"k\":\"x\"}}],\"minimum_should_match\":2}}", "-k:x #*:*"},
        /* fields in the order of a Java map */
        {"{\"exists\":{\"field\":\"o.*\"}}", "ConstantScore(ConstantScore(DocValuesFieldExistsQuery "
                                             "[field=o.x]) ConstantScore(NormsFieldExistsQuery "
                                             "[field=o.y]))"},
        {"{\"exists\":{\"field\":\"o\"}}",
         "ConstantScore(DocValuesFieldExistsQuery [field=o.x] NormsFieldExistsQuery [field=o.y])"},
        /* nothing is boosted where nothing matches */
        {"{\"match\":{\"nope\":{\"query\":\"x\",\"boost\":2}}}",
         "MatchNoDocsQuery(\"unmapped fields [nope]\")"},
        /* a name without a boost changes the one before it in multi_match alone */
        {"{\"multi_match\":{\"query\":\"x\",\"fields\":[\"t^2\",\"t\"]}}", "t:x"},
        {"{\"simple_query_string\":{\"query\":\"x\",\"fields\":[\"t^2\",\"t\"]}}", "(t:x)^2.0"},
        /* the first operator holds where nothing is left of a word */
        {"{\"simple_query_string\":{\"query\":\"foo + the | bar\",\"fields\":[\"t\"],\"analyzer\":\"stop\"}}",
         "+t:foo +t:bar"},
        /* regular expressions are not analysed */
        {"{\"query_string\":{\"query\":\"/AB/\",\"default_field\":\"t\"}}", "t:/AB/"},
        {"{\"query_string\":{\"query\":\"AB*\",\"default_field\":\"t\"}}", "t:ab*"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct query *q;
        ERR_LOCAL(em);
        struct buf b;
        buf_init(&b, NULL, BUF_UNLIMITED);
        ck_assert_msg(build(cases[i][0], &q, &em) == ERR_OK, "%s: %s", cases[i][0], err_reason(&em));
        ck_assert(!err_is(&em)); /* nothing is left of what was forgiven */
        query_print(q, &b);
        ck_assert_msg(str_is(buf_view(&b), cases[i][1]), "%s gives %.*s", cases[i][0], (int)b.n, b.p);
        buf_fini(&b);
    }
}
END_TEST

START_TEST(refused)
{
    static const struct {
        const char *text;
        enum err outer, inner;
    } cases[] = {
        {"{\"query_string\":{\"query\":\"a:(\"}}", ERR_QUERY_SHARD, ERR_QUERY_SYNTAX},
        {"{\"query_string\":{\"query\":\"\\\"a\"}}", ERR_QUERY_SHARD, ERR_TOKEN_MGR},
        {"{\"term\":{\"l\":\"x\"}}", ERR_QUERY_SHARD, ERR_NUMBER_FORMAT},
        {"{\"term\":{\"l\":\"1e30\"}}", ERR_QUERY_SHARD, ERR_ILLEGAL_ARGUMENT},
        {"{\"term\":{\"_id\":\"\"}}", ERR_QUERY_SHARD, ERR_ILLEGAL_ARGUMENT},
        {"{\"match_phrase\":{\"docs\":\"a b\"}}", ERR_QUERY_SHARD, ERR_ILLEGAL_STATE},
        {"{\"exists\":{\"field\":\"*\"}}", ERR_QUERY_SHARD, ERR_QUERY_SHARD},
        {"{\"exists\":{\"field\":\"_source\"}}", ERR_QUERY_SHARD, ERR_QUERY_SHARD},
        {"{\"prefix\":{\"k\":{\"value\":\"a\",\"rewrite\":\"nope\"}}}", ERR_QUERY_SHARD,
         ERR_ILLEGAL_ARGUMENT},
        {"{\"wildcard\":{\"n\":{\"value\":\"a\",\"rewrite\":\"top_terms_x\"}}}", ERR_QUERY_SHARD,
         ERR_ILLEGAL_ARGUMENT},
        {"{\"regexp\":{\"k\":\".{1,99}z.{1,99}\"}}", ERR_QUERY_SHARD, ERR_TOO_COMPLEX},
        {"{\"multi_match\":{\"query\":\"x\",\"type\":\"bool_prefix\",\"slop\":1}}", ERR_PARSING, ERR_PARSING},
        {"{\"terms\":{\"k\":[[],\"x\"]}}", ERR_PARSING, ERR_PARSING},
        {"{\"match\":{\"t\":{\"query\":\"a\",\"boost\":-1}}}", ERR_ILLEGAL_ARGUMENT, ERR_ILLEGAL_ARGUMENT},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct query *q;
        ERR_LOCAL(em);
        enum err e = build(cases[i].text, &q, &em);
        ck_assert_msg(e == cases[i].outer && err_is(&em) && err_innermost(&em)->code == cases[i].inner,
                      "%s: %s", cases[i].text, err_is(&em) ? err_type(err_innermost(&em)->code) : "built");
    }
}
END_TEST

/* A text that breaks off is read as far as it goes: mistakes before that place come first, fields around it
 * stay. */
START_TEST(broken)
{
    static const struct {
        const char *text;
        enum err codes[3];
        size_t at;
    } cases[] = {
        {"{\"query\":{\"query\":", {ERR_PARSING, ERR_NAMED_OBJECT}, 9},
        {"{\"match\":", {ERR_JSON_EOF}, 1},
        {"{\"match\":{\"t\":\"x\"", {ERR_JSON_EOF}, 14},
        {"{\"match\":{\"t\":  x", {ERR_JSON}, 10},
        {"{\"match\":{\"t\":\"x", {ERR_JSON_EOF}, 14},
        {"{\"bool\":{\"must\":{\"term\":{\"k\":", {ERR_X_CONTENT, ERR_JSON_EOF}, 25},
        {"{\"bool\":{\"nope\":{},", {ERR_X_CONTENT}, 16},
        {"{\"more_like_this\":{\"a\":[", {ERR_JSON_EOF}, 23},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json dsl;
        ERR_LOCAL(why);
        ERR_LOCAL(em);
        size_t extra, at;
        struct str text = str_of(cases[i].text);
        ck_assert_int_ne(json_parse_until(&dsl, &extra, text, &arena, &json_limits_default, &why), ERR_OK);
        enum err e = query_check_until(&dsl, text, &why, &at, &arena, &em);
        ck_assert_msg(e == cases[i].codes[0], "%s: %s", cases[i].text, err_type(e));
        const struct err_frame *f = em.frame;
        for (unsigned k = 0; k < ARRAY_LEN(cases[i].codes) && cases[i].codes[k] != ERR_OK; k++) {
            ck_assert_ptr_nonnull(f);
            ck_assert_msg(f->code == cases[i].codes[k], "%s: %s", cases[i].text, err_type(f->code));
            f = f->cause;
        }
        ck_assert_msg(at == cases[i].at, "%s: at %zu", cases[i].text, at);
    }
}
END_TEST

/* How queries explain themselves that look at a column where they may. */
START_TEST(columns)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"{\"range\":{\"f\":{\"gte\":1,\"lt\":2}}}", "f:[1065353216 TO 1073741823]"},
        {"{\"range\":{\"f\":{\"lt\":0}}}", "f:[-2139095041 TO -1]"},
        {"{\"range\":{\"hf\":{\"gte\":1}}}", "hf:[15360 TO 31744]"},
        {"{\"range\":{\"hf\":{\"gte\":-1,\"lt\":0.5}}}", "hf:[-15361 TO 14335]"},
        {"{\"range\":{\"dd\":{\"gte\":1.5}}}", "dd:[4609434218613702656 TO 9218868437227405312]"},
        {"{\"range\":{\"l\":{\"gte\":1,\"lte\":7}}}", "l:[1 TO 7]"},
        {"{\"term\":{\"f\":1.5}}", "f:[1.5 TO 1.5]"},
        {"{\"geo_distance\":{\"distance\":\"10km\",\"g\":\"31.2,121.4\"}}",
         "g:INTERSECTS:geometries([CIRCLE([31.2,121.4] radius = 10000.0 meters)])"},
        {"{\"match\":{\"t\":\"a\"}}", "t:a"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct query *q;
        ERR_LOCAL(em);
        struct buf b;
        ck_assert_int_eq(build(cases[i].text, &q, &em), ERR_OK);
        buf_init(&b, NULL, MIB);
        query_print_column(q, &b);
        ck_assert_msg(str_is(buf_view(&b), cases[i].want), "%s: %.*s", cases[i].text, (int)b.n, b.p);
        buf_fini(&b);
    }
}
END_TEST

/* Sixteen terms or fewer become clauses, sorted as they are indexed, each once. */
START_TEST(few_terms)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"{\"terms\":{\"k\":[\"b\",\"a\",\"b\"]}}", "ConstantScore(k:a k:b)"},
        {"{\"ids\":{\"values\":[\"2\",\"1\",\"10\",\"2\"]}}",
         "ConstantScore(_id:[fe 10] _id:[fe 1f] _id:[fe 2f])"},
        {"{\"ids\":{\"values\":[\"x y\",\"abcd\"]}}", "ConstantScore(_id:[69 b7 1d] _id:[ff 78 20 79])"},
        {"{\"terms\":{\"k\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\",\"j\",\"k\",\"l\",\"m\","
         "\"n\",\"o\","
         "\"p\",\"q\"]}}",
         "k:(a b c d e f g h i j k l m n o p q)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct query *q;
        ERR_LOCAL(em);
        struct buf b;
        ck_assert_int_eq(build(cases[i].text, &q, &em), ERR_OK);
        buf_init(&b, NULL, MIB);
        ck_assert_int_eq(query_simplify(&q, &(struct weight_context){.arena = &arena}, q, &em), ERR_OK);
        query_print(q, &b);
        ck_assert_msg(str_is(buf_view(&b), cases[i].want), "%s: %.*s", cases[i].text, (int)b.n, b.p);
        buf_fini(&b);
    }
}
END_TEST

/* What scripts have of a field: a name or values, or the words that it has none. */
START_TEST(script_fields)
{
    const struct field *f;
    ERR_LOCAL(em);
    err_clear(&em);
    ck_assert_int_eq(script_field(mapping, STR("_id"), &arena, &f, &em), ERR_OK);
    ck_assert(script_field_is_name(f));
    ck_assert_int_eq(script_field(mapping, STR("k"), &arena, &f, &em), ERR_OK);
    ck_assert(!script_field_is_name(f));
    ck_assert_int_eq(script_field(mapping, STR("bin"), &arena, &f, &em), ERR_ILLEGAL_ARGUMENT);
    err_clear(&em);
    ck_assert_int_eq(script_field(mapping, STR("_version"), &arena, &f, &em), ERR_ILLEGAL_ARGUMENT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("build");
    TCase *tc = tcase_create("queries");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, printed);
    tcase_add_test(tc, refused);
    tcase_add_test(tc, columns);
    tcase_add_test(tc, few_terms);
    tcase_add_test(tc, broken);
    tcase_add_test(tc, script_fields);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
