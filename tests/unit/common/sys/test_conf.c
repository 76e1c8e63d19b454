#include "common/sys/conf.h"
#include "tests/seams/fs_mem.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const known[] = {"cluster.name", "http.port",   "discovery.seed_hosts",
                                    "path.data",    "node.attr.*", "node.roles"};

struct env {
    struct fs_mem *mem;
    struct arena arena;
    struct settings out;
    struct conf_opts opts;
    struct errmsg em;
};

static void env_open(struct env *t, const char *yaml)
{
    memset(t, 0, sizeof(*t));
    t->mem = fs_mem_new();
    arena_init(&t->arena, NULL, ARENA_UNLIMITED);
    t->em = err_in(&t->arena);
    settings_init(&t->out, &t->arena);
    t->opts = (struct conf_opts){.fs = fs_mem_fs(t->mem),
                                 .file = "serai.yml",
                                 .file_optional = true,
                                 .known = known,
                                 .known_n = ARRAY_LEN(known)};
    if (yaml != NULL) {
        ck_assert_int_eq(fs_replace_file(t->opts.fs, "serai.yml", str_of(yaml), NULL), ERR_OK);
    }
}

static void env_close(struct env *t)
{
    arena_fini(&t->arena);
    fs_mem_free(t->mem);
}

static enum err load(struct env *t)
{
    return conf_load(&t->out, &t->opts, NULL, NULL, &t->em);
}

#define IS(t, key, want) ck_assert(str_is(settings_str(&(t).out, key, STR("(absent)")), want))

START_TEST(later_sources_win)
{
    struct env t;
    env_open(&t, "cluster.name: from-file\nhttp:\n  port: 1\npath.data: /file\n");
    static const struct conf_default defaults[] = {{"cluster.name", "default"}, {"node.attr.a", "default"}};
    static const char *const environ_[] = {"HOME=/root",     "http.port=2",
                                           "path.data=/env", "EMPTY=",
                                           "node.attr.x=",   "SERAI_SETTING_NODE_ATTR_RACK__ID=r1",
                                           "X.y=ignored",    NULL};
    static char *argv[] = {"-E", "path.data=/flag", "-Ehttp.port=9300", "--version", "-E", "node.attr.e=a=b",
                           "-E", "node.roles=[]"};
    t.opts.defaults = defaults;
    t.opts.defaults_n = 2;
    t.opts.environ_ = environ_;
    t.opts.argc = ARRAY_LEN(argv);
    t.opts.argv = argv;
    struct str *rest;
    size_t n;
    ck_assert_msg(conf_load(&t.out, &t.opts, &rest, &n, &t.em) == ERR_OK, "%s", err_reason(&t.em));
    IS(t, "cluster.name", "from-file");
    IS(t, "node.attr.a", "default");
    IS(t, "path.data", "/flag");
    IS(t, "http.port", "9300");
    IS(t, "node.attr.rack_id", "r1");
    IS(t, "node.attr.e", "a=b");
    const struct setting *roles = settings_find(&t.out, STR("node.roles"));
    ck_assert(roles != NULL && roles->is_list && roles->n == 0);
    ck_assert(n == 1 && str_is(rest[0], "--version"));
    env_close(&t);
}
END_TEST

START_TEST(yaml_in_every_shape)
{
    struct env t;
    env_open(&t, "# a comment\n"
                 "cluster: { name: \"quoted: name\" }\n"
                 "discovery.seed_hosts:\n  - one:9300\n  - ${TWO}:9300\n"
                 "node:\n  attr:\n    zone: '${ZONE:west}'\n    deep.er: ${TWO}${TWO}\n"
                 "  roles: []\n"
                 "path:\n  data: [/a, /b]\n");
    static const char *const environ_[] = {"TWO=2", NULL};
    t.opts.environ_ = environ_;
    ck_assert_msg(load(&t) == ERR_OK, "%s", err_reason(&t.em));
    IS(t, "cluster.name", "quoted: name");
    IS(t, "node.attr.zone", "west");
    IS(t, "node.attr.deep.er", "22");
    struct str *v;
    uint32_t n;
    ck_assert(settings_list(&t.out, "discovery.seed_hosts", &t.arena, &v, &n));
    ck_assert(n == 2 && str_is(v[0], "one:9300") && str_is(v[1], "2:9300"));
    const struct setting *roles = settings_find(&t.out, STR("node.roles"));
    ck_assert(roles != NULL && roles->is_list && roles->n == 0);
    env_close(&t);
    env_open(&t, "");
    ck_assert_int_eq(load(&t), ERR_OK);
    env_close(&t);
    env_open(&t, "# nothing but this\n");
    ck_assert_int_eq(load(&t), ERR_OK);
    env_close(&t);
    env_open(&t, NULL);
    ck_assert_int_eq(load(&t), ERR_OK);
    t.opts.file_optional = false;
    ck_assert_int_eq(load(&t), ERR_IO);
    env_close(&t);
}
END_TEST

START_TEST(errors_name_their_place)
{
    static const struct {
        const char *yaml, *want;
    } cases[] = {
        {"cluster.name: a\nhtp.port: 1\n",
         "serai.yml:2: unknown setting [htp.port], did you mean [http.port]?"},
        {"quite.other: 1", "serai.yml:1: unknown setting [quite.other]"},
        {"http:\n  port: 1\nhttp.port: 2\n", "serai.yml:3: duplicate setting [http.port]"},
        {"cluster.name: ${NOT_SET}", "serai.yml:1: Could not resolve placeholder 'NOT_SET'"},
        {"cluster.name: ${OPEN", "serai.yml:1: a placeholder is not closed"},
        {"\n\ncluster.name:\n", "serai.yml:3: null-valued setting found for key [cluster.name]"},
        {"- a\n- b\n", "serai.yml:1:"},
        {"just text", "serai.yml:1:"},
        {"path.data: [[a]]", "serai.yml:1: a list may hold single values only"},
        {"path.data: [{a: 1}]", "serai.yml:1: a list may hold single values only"},
        {"cluster.name: a\n---\ncluster.name: b\n", "serai.yml:2: there may be one document only"},
        {"a: *x", "serai.yml:1:"},
        {"cluster.name: [a\n", "serai.yml:"},
        {"cluster.name: a\n\tx: b", "serai.yml:2:"},
        {"? [a]\n: b", "serai.yml:1: a setting's name is expected"},
        {"cluster.name: \"\xff\"", "serai.yml:1:"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct env t;
        env_open(&t, cases[i].yaml);
        ck_assert_msg(load(&t) == ERR_ILLEGAL_ARGUMENT, "%s", cases[i].yaml);
        ck_assert_msg(strncmp(err_reason(&t.em), cases[i].want, strlen(cases[i].want)) == 0, "[%s] gave [%s]",
                      cases[i].yaml, err_reason(&t.em));
        env_close(&t);
    }
    struct buf deep;
    buf_init(&deep, NULL, BUF_UNLIMITED);
    for (int i = 0; i < 5000; i++) {
        buf_z(&deep, "{a: ");
    }
    struct env t;
    env_open(&t, deep.p);
    ck_assert_int_eq(load(&t), ERR_ILLEGAL_ARGUMENT);
    env_close(&t);
    buf_fini(&deep);
}
END_TEST

START_TEST(arguments_and_environment_are_checked)
{
    static char *bad[][2] = {
        {"-E", "nope=1"}, {"-E", "http.port"}, {"-E", "=1"}, {"-Ehttp.port=", "x"}, {"x", "y"}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct env t;
        env_open(&t, NULL);
        t.opts.argc = 2;
        t.opts.argv = bad[i];
        ck_assert_int_eq(load(&t), ERR_ILLEGAL_ARGUMENT);
        env_close(&t);
    }
    struct env t;
    env_open(&t, NULL);
    static const char *const environ_[] = {"clustr.name=x", NULL};
    t.opts.environ_ = environ_;
    ck_assert_int_eq(load(&t), ERR_ILLEGAL_ARGUMENT);
    ck_assert_str_eq(err_reason(&t.em),
                     "environment variable [clustr.name]: unknown setting [clustr.name], did "
                     "you mean [cluster.name]?");
    env_close(&t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("conf");
    TCase *t = tcase_create("conf");
    tcase_add_test(t, later_sources_win);
    tcase_add_test(t, yaml_in_every_shape);
    tcase_add_test(t, errors_name_their_place);
    tcase_add_test(t, arguments_and_environment_are_checked);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
