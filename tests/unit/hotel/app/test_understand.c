/* Keys of guests: words, the lexicon, what is understood, completed and searched for. */
#include "common/base/buf.h"
#include "hotel/app/complete.h"
#include "hotel/app/find_answer.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define TERM(key, count) "{\"key\":\"" key "\",\"doc_count\":" count "}"
#define DISTRICT(key, count, in) \
    "{\"key\":\"" key "\",\"doc_count\":" count ",\"city\":{\"buckets\":[" in "]}}"
#define REPLY(aggs)                                                                                      \
    "{\"timed_out\":false,\"_shards\":{\"total\":1,\"successful\":1,\"failed\":0},\"hits\":{\"total\":{" \
    "\"value\":9},\"hits\":[]},\"aggregations\":{" aggs "}}"

static const char statements[] = "# a comment\n"
                                 "ending city = 市\n"
                                 "ending district = 地区\n"
                                 "plain 酒店 hotel in\n"
                                 "road 路 东路\n"
                                 "tail 区\n"
                                 "same 7天酒店 = 七天 seven-days\n"
                                 "same 三星级 三钻 = 三星\n"
                                 "same 没有 = nowhere\n";
static const char values[] =
    REPLY("\"city\":{\"buckets\":[" TERM("上海", "50") "," TERM("北京", "40") "," TERM(
        "南京",
        "20") "]},"
              "\"district\":{\"buckets\":[" DISTRICT("外滩地区", "9", TERM("上海", "9")) "," DISTRICT(
                  "天安门/王府井地区", "8",
                  TERM("北京",
                       "8")) "," DISTRICT("三里屯", "7",
                                          TERM("北京",
                                               "7")) "]},"
                                                     "\"brand\":{\"buckets\":[" TERM("如家", "30") "," TERM(
                                                         "7天酒店", "20") "]},"
                                                                          "\"star\":{\"buckets\":[" TERM(
                                                                              "三钻", "12") "]}");

/* As the analyzer gives it for the forms above: each whole text with its pinyin and its initials. */
static const struct {
    const char *text, *pinyin, *initials;
} spoken[] = {{"上海", "shanghai", "sh"}, {"北京", "beijing", "bj"},     {"南京", "nanjing", "nj"},
              {"外滩", "waitan", "wt"},   {"如家", "rujia", "rj"},       {"三里屯", "sanlitun", "slt"},
              {"三钻", "sanzuan", "sz"},  {"天安门", "tiananmen", "tam"}};

static struct arena arena;
static struct words *words;
static struct lexicon *lexicon;

/* The reply of an analysis of what the request asks. */
static void analyse(struct buf *out, struct str request)
{
    struct json root;
    size_t at = 0;
    ck_assert_int_eq(json_parse(&root, request, &arena, &json_limits_default, NULL), ERR_OK);
    const struct json *texts = json_get(&root, "text");
    buf_z(out, "{\"tokens\":[");
    for (uint32_t i = 0; i < texts->n; i++) {
        struct str text = json_text(&texts->items[i]);
        buf_printf(out, "%s{\"token\":\"%.*s\",\"start_offset\":%zu}", i > 0 ? "," : "", STR_ARG(text), at);
        for (size_t k = 0; k < ARRAY_LEN(spoken); k++) {
            if (str_is(text, spoken[k].text)) {
                buf_printf(out,
                           ",{\"token\":\"%s\",\"start_offset\":%zu},{\"token\":\"%s\",\"start_offset\":%zu}",
                           spoken[k].pinyin, at, spoken[k].initials, at);
            }
        }
        at += text.n / 3 + 1;
    }
    buf_z(out, "]}");
}

static void setup(void)
{
    ERR_LOCAL(em);
    struct buf request, reply;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    buf_init(&request, NULL, BUF_UNLIMITED);
    buf_init(&reply, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(words_new(&words, str_of(statements), STR("漢汉灘滩\n"), &em), ERR_OK);
    ck_assert_int_eq(lexicon_new(&lexicon, words, str_of(values), &em), ERR_OK);
    ck_assert(lexicon_ask_pinyin(lexicon, &request));
    analyse(&reply, buf_view(&request));
    ck_assert_int_eq(lexicon_add_pinyin(lexicon, words, buf_view(&reply), &arena, &em), ERR_OK);
    buf_fini(&request);
    buf_fini(&reply);
}

static void teardown(void)
{
    lexicon_unref(lexicon);
    words_free(words);
    arena_fini(&arena);
}

static struct understanding key_of(const char *key)
{
    struct understanding u;
    ERR_LOCAL(em);
    ck_assert_int_eq(understand(&u, str_of(key), words, lexicon, &arena, &em), ERR_OK);
    return u;
}

/* "city:上海 word:x" */
static const char *understood(const char *key)
{
    static char out[500];
    struct understanding u = key_of(key);
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < u.n; i++) {
        const struct lex_value *v = u.v[i].value;
        struct str text = v != NULL ? v->text : u.v[i].folded;
        n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%s:%.*s", i > 0 ? " " : "",
                              v != NULL ? value_kind_name(v->kind) : "word", STR_ARG(text));
    }
    return out;
}

START_TEST(keys)
{
    static const struct {
        const char *key, *want;
    } cases[] = {
        {"", ""},
        {" ,。- ", ""},
        {"上海", "city:上海"},
        {"上海市", "city:上海"},
        {"如家 上海", "brand:如家 city:上海"},
        {"上海外滩如家酒店", "city:上海 district:外滩地区 brand:如家"},
        {"外灘", "district:外滩地区"},
        {"ＲＵＪＩＡ", "brand:如家"},
        {"ru jia", "brand:如家"},
        {"Rujia hotel in Shanghai", "brand:如家 city:上海"},
        {"shanghaiwaitan", "city:上海 district:外滩地区"},
        {"shanghaix", "word:shanghaix"},
        {"xshanghai", "word:xshanghai"},
        {"rj", "brand:如家"},
        {"rjsh", "word:rjsh"}, /* initials are whole words */
        {"上海rj", "city:上海 brand:如家"},
        {"七天", "brand:7天酒店"},
        {"Seven  Days", "brand:7天酒店"},
        {"三星 7天酒店", "star:三钻 brand:7天酒店"},
        {"nowhere", "word:nowhere"},
        {"南京路", "word:南京路"},
        {"北京南京东路", "city:北京 word:南京东路"},
        {"三里屯12号", "word:三里屯12号"},
        {"三里屯12", "district:三里屯 word:12"},
        {"上海 三里屯", "city:上海 word:三里屯"}, /* which is in another city */
        {"北京 三里屯", "city:北京 district:三里屯"},
        {"天安门/王府井", "district:天安门 district:王府井地区"},
        {"地铁站", "word:地铁站"},
        {"酒店", ""},
        {"上海 a 上海市 a b shanghai", "city:上海 word:a word:b"},
        {"a b c d e f g h i j k l m n o p q r s 上海",
         "word:a word:b word:c word:d word:e word:f word:g word:h word:i word:j word:k word:l word:m word:n "
         "word:o word:p city:上海"},
    };
    const char *got = understood(cases[_i].key);
    ck_assert_msg(strcmp(got, cases[_i].want) == 0, "%s: %s", cases[_i].key, got);
}
END_TEST
#define KEYS_N 31

START_TEST(tails)
{
    struct understanding u = key_of("北京朝阳区");
    ck_assert_uint_eq(u.n, 2);
    ck_assert(str_is(u.v[1].folded, "朝阳区") && str_is(u.v[1].shorter, "朝阳"));
    u = key_of("区");
    ck_assert(u.n == 1 && u.v[0].shorter.n == 0);
    ck_assert_uint_eq(understanding_words(&u), 1);
}
END_TEST

/* Damaged texts neither fail nor are read past their end. */
START_TEST(damaged)
{
    static const char whole[] = "上海 外灘\xEF\xBC\xB2 rujia 7天\xF0\x9F\x98\x80";
    for (size_t from = 0; from < sizeof(whole); from++) {
        for (size_t to = from; to < sizeof(whole); to++) {
            struct understanding u;
            ERR_LOCAL(em);
            char *text = malloc(to - from + 1);
            memcpy(text, whole + from, to - from);
            ck_assert_int_eq(understand(&u, str_mk(text, to - from), words, lexicon, &arena, &em), ERR_OK);
            for (size_t i = 0; i < u.n; i++) {
                ck_assert(u.v[i].text.p >= text && u.v[i].text.p + u.v[i].text.n <= text + (to - from));
            }
            free(text);
        }
    }
}
END_TEST

START_TEST(statements_refused)
{
    static const char *const bad[] = {"what 1", "same 如家 汉庭", "ending town = 镇", "ending city 市"};
    struct words *w;
    ERR_LOCAL(em);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ck_assert_int_eq(words_new(&w, str_of(bad[i]), STR_NULL, &em), ERR_ILLEGAL_ARGUMENT);
        ck_assert(w == NULL && str_starts(str_of(err_reason(&em)), STR("line 1")));
    }
    ck_assert_int_eq(words_new(&w, STR_NULL, STR("漢汉灘"), &em), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(words_new(&w, STR_NULL, STR("漢汉灘滩"), &em), ERR_OK);
    words_free(w);
    ck_assert_int_eq(words_new(&w, STR_NULL, STR("灘滩漢汉"), &em), ERR_ILLEGAL_ARGUMENT);
}
END_TEST

START_TEST(replies_refused)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "{}",
                                      "[]",
                                      REPLY("\"city\":{}"),
                                      REPLY("\"city\":{\"buckets\":[]}"),
                                      "{\"timed_out\":false,\"_shards\":{\"failed\":1},\"aggregations\":{}}"};
    struct lexicon *l;
    ERR_LOCAL(em);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ck_assert_int_ne(lexicon_new(&l, words, str_of(bad[i]), &em), ERR_OK);
        ck_assert_ptr_null(l);
        if (i < 4) {
            ck_assert_int_ne(lexicon_add_pinyin(lexicon, words, str_of(bad[i]), &arena, &em), ERR_OK);
        }
    }
    /* Every cut of a good one is refused or read; nothing past its end is. */
    for (size_t n = 0; n < sizeof(values) - 1; n++) {
        char *text = malloc(n + 1);
        memcpy(text, values, n);
        if (lexicon_new(&l, words, str_mk(text, n), &em) == ERR_OK) {
            lexicon_unref(l);
        }
        free(text);
    }
}
END_TEST

static const char *nearest(const char *text, const char *pinyin)
{
    struct folded t, p;
    ck_assert(words_form(words, str_of(text), &arena, &t) && words_form(words, str_of(pinyin), &arena, &p));
    const struct lex_form *f = lexicon_nearest(lexicon, &t, &p);
    const struct lex_value *v = f != NULL ? &lexicon->values[f->value] : NULL;
    static char out[40];
    snprintf(out, sizeof(out), "%.*s", v != NULL ? (int)v->text.n : 1, v != NULL ? v->text.p : "-");
    return out;
}

START_TEST(slips)
{
    ck_assert_str_eq(nearest("如佳", "rujia"), "如家");
    ck_assert_str_eq(nearest("rujai", ""), "如家");
    ck_assert_str_eq(nearest("shnaghai", ""), "上海");
    ck_assert_str_eq(nearest("三里墩", "sanlidun"), "三里屯");
    ck_assert_str_eq(nearest("火锅", "huoguo"), "-");
    ck_assert_str_eq(nearest("abc", ""), "-");
    ck_assert_str_eq(nearest("", ""), "-");
}
END_TEST

/* "上海=50 ..." */
static const char *completed(const char *key)
{
    static char out[500];
    struct completion v[COMPLETIONS_MAX];
    struct understanding u = key_of(key);
    size_t n = complete(v, COMPLETIONS_MAX, str_of(key), &u, words, lexicon, &arena), at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%.*s=%d", i > 0 ? "|" : "", STR_ARG(v[i].text),
                               (int)v[i].hotels);
    }
    return out;
}

START_TEST(completions)
{
    ck_assert_str_eq(completed(""), "");
    ck_assert_str_eq(completed("上"), "上海=50");
    ck_assert_str_eq(completed("外"), "外滩地区=9");
    ck_assert_str_eq(completed("三"), "三里屯=7");
    ck_assert_str_eq(completed("三钻"), "三钻=12");
    ck_assert_str_eq(completed("s"), "上海=50|三里屯=7|7天酒店=20");
    ck_assert_str_eq(completed("nj"), "南京=20");
    ck_assert_str_eq(completed("上海 外"), "上海 外滩地区=9");
    ck_assert_str_eq(completed("上海 三里"), "");
    ck_assert_str_eq(completed("上海如"), "上海 如家=-1");
    ck_assert_str_eq(completed("xyz"), "");
}
END_TEST

static const char *search_of(const char *key, bool some, const struct choice *cities)
{
    static char out[8000];
    struct buf b;
    struct understanding u = key_of(key);
    struct hotel_params p = {.page = 2, .size = 5};
    struct find_query q = {.params = &p, .key = &u, .some = some, .facets = true};
    if (cities != NULL) {
        q.chosen[VALUE_CITY] = *cities;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    find_rules_search(&b, &q);
    ck_assert(!b.failed);
    snprintf(out, sizeof(out), "%s", b.p);
    buf_fini(&b);
    return out;
}

/* Every cut of a reply is refused or read; nothing past its end is. */
START_TEST(cut_replies)
{
    static const char whole[] = "{\"timed_out\":false,\"_shards\":{\"failed\":0},\"hits\":{\"total\":{"
                                "\"value\":1},\"hits\":[{\"_source\":{"
                                "\"name\":\"x\"}}]},\"aggregations\":{\"words\":{\"buckets\":[{\"doc_count\":"
                                "7}]},\"city\":{\"values\":{"
                                "\"buckets\":[{\"key\":\"上海\",\"doc_count\":1}]}},\"district\":{\"values\":"
                                "{\"buckets\":[]}},\"brand\":{"
                                "\"values\":{\"buckets\":[]}},\"star\":{\"values\":{\"buckets\":[{}]}}}}";
    struct hotel_params p = {.page = 1, .size = 5};
    struct understanding u = key_of("上海 x");
    struct find_query q = {.params = &p, .key = &u, .facets = true};
    for (size_t n = 0; n < sizeof(whole); n++) {
        bool all = n == sizeof(whole) - 1;
        char *text = malloc(n + 1);
        struct str reply = str_mk(text, n);
        struct found f = {.query = &q, .reply = reply};
        struct buf out;
        int64_t total = 0, hotels = 0;
        ERR_LOCAL(em);
        memcpy(text, whole, n);
        buf_init(&out, NULL, BUF_UNLIMITED);
        ck_assert_int_eq(find_answer(&out, &f, &arena, &em) == ERR_OK, all);
        if (all) {
            ck_assert_str_eq(strstr(out.p, "\"match\""),
                             "\"match\":\"all\",\"didYouMean\":null,\"understood\":[{\"kind\":\"city\","
                             "\"value\":\"上海\",\"text\":"
                             "\"上海\",\"terms\":[\"上海\"]}],\"words\":[\"x\"],\"facets\":{\"city\":[{"
                             "\"value\":\"上海\",\"count\":1}],"
                             "\"district\":[],\"brand\":[],\"star\":[{\"value\":\"\",\"count\":null}]}}");
        }
        buf_reset(&out);
        ck_assert_int_eq(find_answer_completions(&out, NULL, 0, 3, reply, &arena, &em) == ERR_OK, all);
        ck_assert_int_eq(find_answer_total(reply, &arena, &total, &em) == ERR_OK, all);
        ck_assert_int_eq(find_answer_words(reply, &arena, &hotels, 1, &em) == ERR_OK, all);
        ck_assert_int_ne(find_answer_words(reply, &arena, &hotels, 2, &em), ERR_OK);
        ck_assert_int_eq(hotels, all ? 7 : 0);
        buf_fini(&out);
        free(text);
    }
}
END_TEST

#define ADS "\"functions\":[{\"filter\":{\"term\":{\"isAD\":true}},\"weight\":10}]"

START_TEST(searches)
{
    const char *s = search_of("上海 王府井", false, NULL);
    ck_assert_ptr_nonnull(
        strstr(s, "\"post_filter\":{\"bool\":{\"filter\":[{\"terms\":{\"city\":[\"上海\"]}}]}}"));
    s = search_of("如家 上海", false, NULL);
    ck_assert(str_starts(
        str_of(s),
        STR("{\"query\":{\"function_score\":{\"query\":{\"bool\":{\"must\":[],\"filter\":[]}}," ADS
            "}},\"post_filter\":{\"bool\":{\"filter\":[{\"terms\":{\"city\":[\"上海\"]}},{\"terms\":{"
            "\"brand\":[\"如家\"]}}]}},\"aggs\":{\"city\":{\"filter\":{\"bool\":{\"filter\":[{\"terms\":{"
            "\"brand\":[\"如家\"]}}]}}")));
    ck_assert_ptr_nonnull(
        strstr(s, "\"from\":5,\"size\":5,\"track_total_hits\":true,\"sort\":[{\"_score\":\"desc\"},{"
                  "\"score\":\"desc\"},{\"id\":\"asc\"}]}"));
    struct str chosen[] = {STR("北京"), STR("南京")};
    s = search_of("上海 如家", false,
                  &(struct choice){chosen, 2}); /* what is chosen counts, not what is said */
    ck_assert_ptr_nonnull(strstr(s, "{\"terms\":{\"city\":[\"北京\",\"南京\"]}}"));
    ck_assert_ptr_null(strstr(s, "上海"));
    s = search_of("上海 如家", true, NULL);
    ck_assert_ptr_nonnull(strstr(s, "\"post_filter\":{\"bool\":{\"filter\":[]}}"));
    ck_assert_ptr_nonnull(strstr(
        s, "\"should\":[{\"constant_score\":{\"filter\":{\"terms\":{\"city\":[\"上海\"]}},\"boost\":10.0}}"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("understand");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, keys, 0, KEYS_N);
    tcase_add_test(t, tails);
    tcase_add_test(t, damaged);
    tcase_add_test(t, statements_refused);
    tcase_add_test(t, replies_refused);
    tcase_add_test(t, slips);
    tcase_add_test(t, completions);
    tcase_add_test(t, searches);
    tcase_add_test(t, cut_replies);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
