/* Templates: what they render, what they refuse, and their bounds. */
#include "common/base/stop.h"
#include "engine/template/template.h"

#include <check.h>

static struct arena a;
static struct errmsg em;
static struct buf out;

static void setup(void)
{
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&out, NULL, BUF_UNLIMITED);
    em = err_in(&a);
}

static void teardown(void)
{
    buf_fini(&out);
    arena_fini(&a);
}

static enum err render(const char *text, const char *params, const char *type)
{
    struct json v;
    struct template *t;
    const struct template_source s = {{str_of(text), STR("mustache"), STR_NULL},
                                      type != NULL ? str_of(type) : STR_NULL};
    buf_reset(&out);
    err_clear(&em);
    ck_assert_int_eq(json_parse(&v, str_of(params), &a, &json_limits_default, NULL), ERR_OK);
    enum err e = template_compile(&t, &s, &a, &em);
    return e == ERR_OK ? template_render(t, &v, &out, &a, &em) : e;
}

static const struct {
    const char *text, *params, *type, *is;
} rendered[] = {
    {"", "{}", NULL, ""},
    {"{{x}}", "{\"x\":\"a\\\"\\n\"}", NULL, "a\\\"\\n"},
    {"{{x}} {{{x}}} {{&x}}", "{\"x\":\"\\\"\"}", "text/plain", "\" \" \""},
    {"{{x}}", "{\"x\":\"a b/\"}", "application/x-www-form-urlencoded", "a+b%2F"},
    {"{{x.y}}{{x.z}}{{q}}", "{\"x\":{\"y\":1.50,\"z\":null}}", NULL, "1.5"},
    {"{{l.0}}{{l.size}}{{l}}", "{\"l\":[7,[8]]}", NULL, "72{0=7, 1=[8]}"},
    {"{{#l}}<{{.}}>{{/l}}{{^l}}no{{/l}}", "{\"l\":[1,2]}", NULL, "<1><2>"},
    {"{{#e}}yes{{/e}}{{^e}}no{{/e}}", "{\"e\":\"\"}", NULL, "no"},
    {"{{#m}}{{a}}{{b}}{{/m}}", "{\"m\":{\"a\":1},\"b\":2}", NULL, "12"},
    {"{{#toJson}}m{{/toJson}}{{#join}}l{{/join}}{{#url}}{{s}} {{/url}}",
     "{\"m\":{\"a\":[null]},\"l\":[1,2],\"s\":\"&\"}", NULL, "{\"a\":[null]}1,2%26+"},
    {"{{=<% %>=}}<%x%>{{x}}", "{\"x\":1}", NULL, "1{{x}}"},
    {"a\n  {{#x}}\n b\n  {{/x}}\nc\n", "{\"x\":true}", NULL, "a\n b\nc\n"},
    {"{{! none }}{{$x}}q{{/x}}", "{}", NULL, "q"},
};

START_TEST(texts)
{
    for (size_t i = 0; i < ARRAY_LEN(rendered); i++) {
        ck_assert_msg(render(rendered[i].text, rendered[i].params, rendered[i].type) == ERR_OK, "%s: %s",
                      rendered[i].text, err_reason(&em));
        ck_assert_msg(str_is(buf_view(&out), rendered[i].is), "%s: %.*s", rendered[i].text,
                      STR_ARG(buf_view(&out)));
    }
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *text;
        enum err e;
        const char *why;
    } refused[] = {
        {"{{x", ERR_SCRIPT, "Improperly closed variable @[query-template:1]"},
        {"{{}}", ERR_SCRIPT, "Empty mustache @[query-template:1]"},
        {"\n{{#x}}", ERR_SCRIPT, "Failed to close 'x' tag @[query-template:2]"},
        {"{{> p}}", ERR_SCRIPT, "Template p not found"},
        {"{{=a=}}", ERR_SCRIPT, "Invalid delimiter string: a @[query-template:1]"},
        {"{{#toJson}}a{{b}}{{/toJson}}", ERR_SCRIPT,
         "Mustache function [toJson] must contain one and only one identifier"},
        {"{{=| |=}}|{x}|", ERR_GENERAL_SCRIPT, NULL},
        {"{{l.4}}", ERR_GENERAL_SCRIPT, NULL},
        {"{{l.-1}}", ERR_GENERAL_SCRIPT, NULL},
        {"{{#join}}l{{/join}}", ERR_GENERAL_SCRIPT, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        ck_assert_int_eq(render(refused[i].text, "{\"l\":[null]}", NULL), refused[i].e);
        ck_assert(refused[i].why == NULL || strcmp(err_reason(&em), refused[i].why) == 0);
    }
    ck_assert_int_eq(render("", "{}", "foo/bar"), ERR_GENERAL_SCRIPT);
}
END_TEST

static void put_many(struct buf *b, const char *text, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        buf_z(b, text);
    }
}

/* Not at once: compiling looks as well. */
static bool after_some(void *self)
{
    return ++*(unsigned *)self > 20;
}

START_TEST(bounds)
{
    struct buf b;
    unsigned polls = 0;
    struct stop st = {.asked = after_some, .self = &polls};
    buf_init(&b, NULL, BUF_UNLIMITED);
    put_many(&b, "{{#l}}", 200);
    put_many(&b, "{{/l}}", 200);
    ck_assert_int_eq(render(b.p, "{\"l\":[1]}", NULL), ERR_GENERAL_SCRIPT); /* too deep */
    buf_reset(&b);
    put_many(&b, "{{#l}}", 60);
    put_many(&b, "{{/l}}", 60);
    ck_assert_int_eq(render(b.p, "{\"l\":[1,2]}", NULL), ERR_GENERAL_SCRIPT); /* too long */
    buf_reset(&b);
    put_many(&b, "{{#l}}", 9);
    put_many(&b, "{{/l}}", 9); /* turns count, where there is nothing in them */
    ck_assert_int_eq(render(b.p, "{\"l\":[1,2,3,4,5,6,7,8,9]}", NULL), ERR_GENERAL_SCRIPT);
    buf_reset(&b);
    put_many(&b, "{{#l}}", 60);
    put_many(&b, "{{/l}}", 60);
    stop_enter(&st);
    ck_assert_int_eq(render(b.p, "{\"l\":[1,2]}", NULL), ERR_CANCELLED);
    stop_leave(&st);
    buf_reset(&b);
    put_many(&b, "{{#l}}", 12);
    put_many(&b, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1);
    put_many(&b, "{{/l}}", 12);
    out.bytes_max = 4096;
    ck_assert_int_eq(render(b.p, "{\"l\":[1,2]}", NULL), ERR_NO_MEMORY);
    buf_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("template");
    TCase *c = tcase_create("template");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, texts);
    tcase_add_test(c, refusals);
    tcase_add_test(c, bounds);
    suite_add_tcase(s, c);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
