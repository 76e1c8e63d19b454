/* Metadata requests as bytes: what went in comes out, and damaged ones are refused. */
#include "common/base/rand.h"
#include "master/master_messages.h"

#include <check.h>
#include <stdlib.h>

static struct rng rng;

static void never(struct meta_request *rq)
{
    (void)rq;
}

static struct str text(struct arena *a)
{
    return arena_printf(a, "t%llu", (unsigned long long)rng_below(&rng, 1000000));
}

static bool coin(void)
{
    return rng_below(&rng, 2) == 0;
}

static struct alias_meta random_alias(struct arena *a)
{
    return (struct alias_meta){.name = text(a),
                               .filter = coin() ? text(a) : STR_NULL,
                               .index_routing = coin() ? text(a) : STR_NULL,
                               .search_routing = coin() ? STR("") : STR_NULL,
                               .has_is_write = coin(),
                               .is_write = coin(),
                               .has_is_hidden = coin(),
                               .is_hidden = coin()};
}

static void randomize(struct meta_request *rq)
{
    static const char *const bodies[] = {"{\"commands\": [ {\"move\": {\"shard\": 1.50}} ], \"x\": null}",
                                         "{\"a\": {\"b\": [1, 2, {\"c\": \"d\\u00e9\"}]}}", "[]", "3"};
    struct arena *a = &rq->arena;
    rq->n_names = (uint32_t)rng_below(&rng, 4);
    struct str *names = ARENA_ARRAY(a, struct str, rq->n_names);
    for (uint32_t i = 0; i < rq->n_names; i++) {
        names[i] = text(a);
    }
    rq->names = names;
    if (coin()) {
        rq->text = str_of(bodies[rng_below(&rng, ARRAY_LEN(bodies))]);
        ck_assert_int_eq(json_parse(&rq->body, rq->text, a, &json_limits_default, NULL), ERR_OK);
        if (json_get(&rq->body, "a") != NULL && coin()) { /* a part of it */
            rq->body = *json_get(&rq->body, "a");
        }
    }
    rq->template_kind = (enum template_kind)rng_below(&rng, 3);
    rq->provided = text(a);
    rq->type = text(a);
    rq->auto_create = coin();
    rq->create_only = coin();
    rq->preserve_existing = coin();
    rq->flat = coin();
    rq->options = (unsigned)rng_below(&rng, 256);
    rq->timeout_ms = (int64_t)rng_below(&rng, 100000) - 1;
    rq->n_alias_actions = (uint32_t)rng_below(&rng, 3);
    struct alias_action *v = ARENA_ARRAY(a, struct alias_action, rq->n_alias_actions);
    for (uint32_t i = 0; i < rq->n_alias_actions; i++) {
        v[i] = (struct alias_action){.kind = (enum alias_kind)rng_below(&rng, 3),
                                     .index = text(a),
                                     .aliases = rq->names,
                                     .n_aliases = rq->n_names,
                                     .alias = random_alias(a),
                                     .must_exist = coin()};
    }
    rq->alias_actions = v;
}

static void same_opt(struct str a, struct str b)
{
    ck_assert((a.p == NULL) == (b.p == NULL));
    ck_assert(a.p == NULL || str_eq(a, b));
}

static void same_names(const struct str *a, uint32_t n, const struct str *b, uint32_t m)
{
    ck_assert_uint_eq(n, m);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert(str_eq(a[i], b[i]));
    }
}

static void same(const struct meta_request *a, const struct meta_request *b)
{
    ck_assert_int_eq((int)a->action, (int)b->action);
    same_names(a->names, a->n_names, b->names, b->n_names);
    ck_assert(str_eq(a->text, b->text));
    ck_assert(json_equal(&a->body, &b->body));
    ck_assert_uint_eq(a->body.off, b->body.off); /* errors have the same places */
    ck_assert_int_eq((int)a->template_kind, (int)b->template_kind);
    ck_assert(str_eq(a->provided, b->provided));
    ck_assert(str_eq(a->type, b->type));
    ck_assert(a->auto_create == b->auto_create && a->create_only == b->create_only);
    ck_assert(a->preserve_existing == b->preserve_existing && a->flat == b->flat);
    ck_assert_uint_eq(a->options, b->options);
    ck_assert_int_eq(a->timeout_ms, b->timeout_ms);
    ck_assert_uint_eq(a->n_alias_actions, b->n_alias_actions);
    for (uint32_t i = 0; i < a->n_alias_actions; i++) {
        const struct alias_action *x = &a->alias_actions[i], *y = &b->alias_actions[i];
        ck_assert(x->kind == y->kind && str_eq(x->index, y->index) && x->must_exist == y->must_exist);
        same_names(x->aliases, x->n_aliases, y->aliases, y->n_aliases);
        same_opt(x->alias.name, y->alias.name);
        same_opt(x->alias.filter, y->alias.filter);
        same_opt(x->alias.index_routing, y->alias.index_routing);
        same_opt(x->alias.search_routing, y->alias.search_routing);
        ck_assert(x->alias.has_is_write == y->alias.has_is_write && x->alias.is_write == y->alias.is_write);
        ck_assert(x->alias.has_is_hidden == y->alias.has_is_hidden
                  && x->alias.is_hidden == y->alias.is_hidden);
    }
}

/* Whatever a damaged one is, it is read without harm, and every prefix is refused: the walk over all messages
 * (tests/unit/node/test_messages.c) knows no more than that it reads the same again. */
START_TEST(requests)
{
    const struct codec *c = message_meta.request;
    struct meta_request in, out;
    struct arena arena;
    struct buf b;
    rng_seed(&rng, (uint64_t)_i);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    meta_request_init(&in, (enum meta_action)rng_below(&rng, META_ACTIONS), never, NULL);
    randomize(&in);
    buf_init(&b, NULL, BUF_UNLIMITED);
    c->encode(&in, &b);
    ck_assert(!b.failed && codec_read(c, &out, buf_view(&b), &arena));
    same(&in, &out);
    for (size_t cut = 0; cut < b.n; cut++) {
        ck_assert(!codec_read(c, &out, str_slice(buf_view(&b), 0, cut), &arena));
    }
    buf_fini(&b);
    arena_fini(&arena);
    meta_request_fini(&in);
}
END_TEST

START_TEST(answers)
{
    const struct codec *c = message_meta.answer;
    struct meta_answer in = {.changed = true, .version = 77}, out;
    struct arena arena;
    struct buf b;
    rng_seed(&rng, (uint64_t)_i);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    in.acknowledged = coin();
    in.response = coin() ? text(&arena) : STR("");
    if (coin()) {
        err_set(&in.error, ERR_INDEX_NOT_FOUND, "no such index [x]");
        err_about_index(&in.error, STR("x"), STR("_na_"));
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    c->encode(&in, &b);
    ck_assert(codec_read(c, &out, buf_view(&b), &arena));
    ck_assert(out.version == 77 && out.changed && in.acknowledged == out.acknowledged);
    ck_assert(str_eq(in.response, out.response));
    ck_assert(err_is(&in.error) == err_is(&out.error));
    ck_assert_int_eq(err_code(&in.error), err_code(&out.error));
    for (size_t cut = 0; cut < b.n; cut++) {
        ck_assert(!codec_read(c, &out, str_slice(buf_view(&b), 0, cut), &arena));
    }
    buf_fini(&b);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("meta_bytes");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, requests, 0, 60);
    tcase_add_loop_test(c, answers, 0, 20);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
