/* States of scripted_metric: what outlives executions, what is left behind, and bytes of any kind. */
#include "common/base/arena.h"
#include "common/base/rand.h"
#include "engine/script/script.h"

#include <check.h>
#include <stdlib.h>

static struct script *compiled(const char *source, enum script_context context)
{
    struct script *s = NULL;
    ERR_LOCAL(em);
    const struct script_text text = {.source = str_of(source)};
    ck_assert_msg(source == NULL || script_compile(&s, &text, context, &em) == ERR_OK, "%s: %s", source,
                  err_reason(&em));
    return s;
}

static struct script_states *states_of(const char *init, const char *map, const char *combine)
{
    struct script_states *s;
    ERR_LOCAL(em);
    struct script_stages stages = {.init = init != NULL ? compiled(init, SCRIPT_AGG_INIT) : NULL,
                                   .map = compiled(map, SCRIPT_AGG_MAP),
                                   .combine = compiled(combine, SCRIPT_AGG_COMBINE)};
    ck_assert_int_eq(script_states_new(&s, &stages, NULL, &em), ERR_OK);
    script_unref(stages.init);
    script_unref(stages.map);
    script_unref(stages.combine);
    return s;
}

static enum err reduced(const char *reduce, const struct str *states, uint32_t n, struct arena *arena,
                        struct json *out)
{
    struct script *script = compiled(reduce, SCRIPT_AGG_REDUCE);
    struct script_run *run;
    struct buf bytes;
    ERR_LOCAL(em);
    buf_init(&bytes, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(script_run_new(&run, script, NULL, NULL, &em), ERR_OK);
    enum err e = script_states_reduce(run, states, n, arena, out, &bytes, &em);
    buf_fini(&bytes);
    script_run_free(run);
    script_unref(script);
    return e;
}

/* The state `number`, combined and reduced alone. */
static struct json outcome(struct script_states *s, uint32_t number, const char *reduce, struct arena *arena)
{
    struct buf b;
    struct json out = {0};
    ERR_LOCAL(em);
    buf_init(&b, NULL, BUF_UNLIMITED);
    enum err e = script_states_combine(s, number, &b, &em);
    ck_assert_msg(e == ERR_OK, "%s", err_reason(&em));
    struct str bytes = buf_view(&b);
    ck_assert_int_eq(reduced(reduce, &bytes, 1, arena, &out), ERR_OK);
    buf_fini(&b);
    return out;
}

static void map_times(struct script_states *s, uint32_t number, uint32_t times)
{
    ERR_LOCAL(em);
    const struct script_env env = {0};
    for (uint32_t i = 0; i < times; i++) {
        enum err e = script_states_map(s, number, &env, &em);
        ck_assert_msg(e == ERR_OK, "%u: %s", i, err_reason(&em));
    }
}

/* Several states; one is what its own executions made of it, and one that nobody touched is what begins. */
START_TEST(states_apart)
{
    struct arena arena;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    struct script_states *s =
        states_of("state.n = 10; state.l = []", "state.n++; state.l.add('x' + state.n)", "return state");
    map_times(s, 0, 3);
    map_times(s, 4, 1);
    map_times(s, 0, 1);
    struct json a = outcome(s, 0, "states[0].n + ' ' + states[0].l", &arena),
                b = outcome(s, 4, "states[0].n + ' ' + states[0].l", &arena),
                c = outcome(s, 9, "states[0].n + ' ' + states[0].l", &arena);
    ck_assert(str_is(a.s, "14 [x11, x12, x13, x14]"));
    ck_assert(str_is(b.s, "11 [x11]"));
    ck_assert(str_is(c.s, "10 []"));
    script_states_free(s);
    arena_fini(&arena);
}
END_TEST

/* A gigabyte of lists passes by, and two names for one list stay two names for one list. */
START_TEST(what_is_left_behind)
{
    struct arena arena;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    struct script_states *s =
        states_of("state.a = [:]; state.b = ['same': state.a]; state.me = state; state.t = 'text'",
                  "state.junk = new int[500]; state.a[state.a.size().toString()] = 'v' + state.a.size(); if "
                  "(state.a.size() > 300) { state.a.clear(); state.a.put('0', state.t) }",
                  "return [state.a.size(), state.b.same.size(), state.me.me.b.same.get('7'), state.t]");
    map_times(s, 0, 100000);
    struct json out =
        outcome(s, 0, "states[0][0] == states[0][1] ? states[0][2] + states[0][3] : 'no'", &arena);
    ck_assert_msg(str_is(out.s, "v7text"), "%.*s", STR_ARG(out.s));
    script_states_free(s);
    arena_fini(&arena);
}
END_TEST

/* What is held is limited; what cannot be copied keeps its memory until the limit. */
START_TEST(memory_ends)
{
    static const char *const maps[] = {"state.l.add(new int[500])",
                                       "state.f = state.keySet(); def l = new int[500]"};
    for (size_t k = 0; k < ARRAY_LEN(maps); k++) {
        struct script_states *s = states_of("state.l = []", maps[k], "1");
        const struct script_env env = {0};
        ERR_LOCAL(em);
        enum err e = ERR_OK;
        for (uint32_t i = 0; e == ERR_OK && i < 100000; i++) {
            e = script_states_map(s, 0, &env, &em);
        }
        ck_assert_int_eq(e, ERR_NO_MEMORY);
        script_states_free(s);
    }
}
END_TEST

static const char *const kept[] = {"null",
                                   "true",
                                   "(byte)-3",
                                   "(short)7",
                                   "-70000",
                                   "1L << 40",
                                   "1.5f",
                                   "0.1",
                                   "'text'",
                                   "[1, 'a', [null, 2.5]]",
                                   "new HashSet([3, 4])",
                                   "int[] x = new int[] {1, 2}; return x",
                                   "['a': ['b': 1, 'c': []], 'd': 'e']",
                                   "ZonedDateTime.parse('2020-01-02T03:04:05.006Z')"};

START_TEST(bytes_keep_values)
{
    struct arena arena;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    struct script_states *s = states_of(NULL, "state.x = 1", kept[_i]);
    struct script *plain = compiled(kept[_i], SCRIPT_AGG_REDUCE);
    struct json got = outcome(s, 0, "states[0]", &arena), want;
    ck_assert_int_eq(reduced(kept[_i], NULL, 0, &arena, &want), ERR_OK);
    ck_assert_int_eq(got.type, want.type);
    ck_assert(got.type == JSON_NULL || got.type == JSON_BOOL || got.type >= JSON_ARRAY
              || str_eq(json_text(&got), json_text(&want)));
    ck_assert(got.type < JSON_ARRAY || got.n == want.n);
    script_unref(plain);
    script_states_free(s);
    arena_fini(&arena);
}
END_TEST

/* Whatever the bytes: an error or a value. */
START_TEST(hostile_bytes)
{
    struct script_states *s = states_of(NULL, "state.x = 1", kept[_i]);
    struct rng rng;
    struct buf b;
    ERR_LOCAL(em);
    rng_seed(&rng, (uint64_t)_i + 1);
    buf_init(&b, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(script_states_combine(s, 0, &b, &em), ERR_OK);
    for (uint32_t round = 0; round < 200; round++) {
        struct arena arena;
        struct json out;
        arena_init(&arena, NULL, 16 * MIB);
        size_t n = round % 3 == 0 ? rng_below(&rng, b.n) : b.n;
        char *p = malloc(n + 1);
        memcpy(p, b.p, n);
        for (uint64_t flips = round % 3 == 0 ? 0 : 1 + rng_below(&rng, 4); flips > 0 && n > 0; flips--) {
            p[rng_below(&rng, n)] ^= (char)(1 << rng_below(&rng, 8));
        }
        struct str damaged = str_mk(p, n);
        enum err e = reduced("states", &damaged, 1, &arena, &out);
        ck_assert(round % 3 != 0 || e != ERR_OK); /* a beginning alone is noticed */
        arena_fini(&arena);
        free(p);
    }
    buf_fini(&b);
    script_states_free(s);
}
END_TEST

START_TEST(nests_without_end)
{
    struct script_states *s = states_of(NULL, "state.x = state", "state");
    struct buf b;
    ERR_LOCAL(em);
    buf_init(&b, NULL, BUF_UNLIMITED);
    map_times(s, 0, 1);
    ck_assert_int_eq(script_states_combine(s, 0, &b, &em), ERR_ILLEGAL_ARGUMENT);
    buf_fini(&b);
    script_states_free(s);
    char deep[4000];
    memset(deep, 9, sizeof(deep)); /* a list of nine lists of ... */
    struct str bytes = str_mk(deep, sizeof(deep));
    struct arena arena;
    struct json out;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(reduced("states", &bytes, 1, &arena, &out), ERR_CORRUPT);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("scripts: states");
    TCase *c = tcase_create("states");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, states_apart);
    tcase_add_test(c, what_is_left_behind);
    tcase_add_test(c, memory_ends);
    tcase_add_loop_test(c, bytes_keep_values, 0, (int)ARRAY_LEN(kept));
    tcase_add_loop_test(c, hostile_bytes, 0, (int)ARRAY_LEN(kept));
    tcase_add_test(c, nests_without_end);
    suite_add_tcase(s, c);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
