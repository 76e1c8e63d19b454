/* The index's form: what is created is recognised; the earlier form and others are told apart. */
#include "hotel/index_form.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static enum index_form form_of(const char *definition, enum err want)
{
    struct arena a;
    struct json v;
    enum index_form form = INDEX_FORM_OTHER;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(json_parse(&v, str_of(definition), &a, &json_limits_default, NULL), ERR_OK);
    ck_assert_int_eq(index_form_of(&v, &form, NULL, NULL), want);
    arena_fini(&a);
    return form;
}

/* As `GET /{index}` tells it: settings below "index", copy_to as lists, defaults of completion, isAD added.
 */
#define ANALYSIS                                                                                      \
    "\"settings\":{\"index\":{\"number_of_shards\":\"1\",\"analysis\":{\"filter\":{\"py\":{\"type\":" \
    "\"pinyin\"}},"                                                                                   \
    "\"analyzer\":{\"completion_analyzer\":{\"filter\":\"py\",\"tokenizer\":\"keyword\"},"            \
    "\"text_anlyzer\":{\"filter\":[\"py\"],\"tokenizer\":\"ik_max_word\"}}}}}"
#define FIELDS(business, suggestion)                                                                       \
    "\"mappings\":{\"properties\":{\"address\":{\"type\":\"keyword\",\"index\":false},"                    \
    "\"all\":{\"type\":\"text\",\"analyzer\":\"text_anlyzer\",\"search_analyzer\":\"ik_smart\"},"          \
    "\"brand\":{\"type\":\"keyword\",\"copy_to\":[\"all\"]}," business "\"city\":{\"type\":\"keyword\"},"  \
    "\"id\":{\"type\":\"keyword\"},\"isAD\":{\"type\":\"boolean\"},\"location\":{\"type\":\"geo_point\"}," \
    "\"name\":{\"type\":\"text\",\"copy_to\":[\"all\"],\"analyzer\":\"text_anlyzer\","                     \
    "\"search_analyzer\":\"ik_smart\"},\"pic\":{\"type\":\"keyword\",\"index\":false},"                    \
    "\"price\":{\"type\":\"integer\"},\"score\":{\"type\":\"integer\"},\"starName\":{\"type\":"            \
    "\"keyword\"}" suggestion "}}"
#define BUSINESS "\"business\":{\"type\":\"keyword\",\"copy_to\":[\"all\"]},"
#define SUGGESTION \
    ",\"suggestion\":{\"type\":\"completion\",\"analyzer\":\"completion_analyzer\",\"max_input_length\":50}"

START_TEST(forms)
{
    ck_assert_int_eq(form_of("{\"h\":{" ANALYSIS "," FIELDS(BUSINESS, SUGGESTION) "}}", ERR_OK),
                     INDEX_FORM_FINAL);
    ck_assert_int_eq(form_of("{\"h\":{" ANALYSIS "," FIELDS("", SUGGESTION) "}}", ERR_OK), INDEX_FORM_OTHER);
    ck_assert_int_eq(form_of("{\"h\":{" ANALYSIS
                             "," FIELDS("\"business\":{\"type\":\"keyword\"},", SUGGESTION) "}}",
                             ERR_OK),
                     INDEX_FORM_OTHER);
    ck_assert_int_eq(form_of("{\"h\":{" ANALYSIS "," FIELDS(BUSINESS, "") "}}", ERR_OK), INDEX_FORM_OTHER);
    ck_assert_int_eq(form_of("{\"h\":{\"settings\":{\"index\":{}}," FIELDS(BUSINESS, "") "}}", ERR_OK),
                     INDEX_FORM_EARLIER);
    ck_assert_int_eq(form_of("{\"h\":{\"mappings\":{}}}", ERR_OK), INDEX_FORM_EARLIER);
    ck_assert_int_eq(form_of("{\"h\":{\"settings\":{}," FIELDS(BUSINESS, SUGGESTION) "}}", ERR_OK),
                     INDEX_FORM_OTHER);
    form_of("{}", ERR_PARSE);
    form_of("[]", ERR_PARSE);
    form_of("{\"a\":{},\"b\":{}}", ERR_PARSE);
}
END_TEST

START_TEST(creation_body)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    index_form_write(&b);
    ck_assert_str_eq(
        b.p,
        "{\"settings\":{\"analysis\":{\"analyzer\":{\"text_anlyzer\":{\"tokenizer\":\"ik_max_word\","
        "\"filter\":\"py\"},"
        "\"completion_analyzer\":{\"tokenizer\":\"keyword\",\"filter\":\"py\"}},\"filter\":{\"py\":{\"type\":"
        "\"pinyin\","
        "\"keep_full_pinyin\":false,\"keep_joined_full_pinyin\":true,\"keep_original\":true,"
        "\"limit_first_letter_length\":16,\"remove_duplicated_term\":true,\"none_chinese_pinyin_tokenize\":"
        "false}}}},"
        "\"mappings\":{\"properties\":{\"id\":{\"type\":\"keyword\"},\"name\":{\"type\":\"text\","
        "\"analyzer\":"
        "\"text_anlyzer\",\"search_analyzer\":\"ik_smart\",\"copy_to\":\"all\"},\"address\":{\"type\":"
        "\"keyword\","
        "\"index\":false},\"price\":{\"type\":\"integer\"},\"score\":{\"type\":\"integer\"},\"brand\":{"
        "\"type\":"
        "\"keyword\",\"copy_to\":\"all\"},\"city\":{\"type\":\"keyword\"},\"starName\":{\"type\":\"keyword\"}"
        ","
        "\"business\":{\"type\":\"keyword\",\"copy_to\":\"all\"},\"location\":{\"type\":\"geo_point\"},"
        "\"pic\":{\"type\":"
        "\"keyword\",\"index\":false},\"all\":{\"type\":\"text\",\"analyzer\":\"text_anlyzer\",\"search_"
        "analyzer\":"
        "\"ik_smart\"},\"suggestion\":{\"type\":\"completion\",\"analyzer\":\"completion_analyzer\"}}}}");
    buf_fini(&b);
}
END_TEST

START_TEST(names)
{
    static const char *const good[] = {"hotel", "hotel-2", "a_b.c", "酒店"};
    static const char *const bad[] = {"", "*", "a,b", "a/b", "_all", "-x", ".x", "Hotel", "a b", "h*"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        ck_assert(index_name_ok(str_of(good[i])));
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ck_assert(!index_name_ok(str_of(bad[i])));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("index_form");
    TCase *t = tcase_create("index_form");
    tcase_add_test(t, forms);
    tcase_add_test(t, creation_body);
    tcase_add_test(t, names);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
