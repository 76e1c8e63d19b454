/* Metadata requests as pure functions: each test applies requests to a state and looks at the next one. */
#include "master/metadata.h"

#include <check.h>
#include <stdlib.h>

static int64_t fixed_ns(void *self)
{
    (void)self;
    return 1600000000000000000;
}

static const struct clock clock_fixed = {.wall_ms = fixed_ns, .mono_ns = fixed_ns};

static enum err fake_merge(void *self, const struct settings *s, struct str old, struct str type,
                           const struct json *body, struct buf *out, struct errmsg *em)
{
    struct jsonw w;
    (void)type;
    (void)self;
    (void)s;
    (void)old;
    if (json_get(body, "bad") != NULL) {
        return err_set(em, ERR_MAPPER_PARSING, "bad mapping");
    }
    jsonw_init(&w, out, false);
    jw_value(&w, body);
    return ERR_OK;
}

static enum err fake_analysis(void *self, const struct settings *s, struct errmsg *em)
{
    (void)self;
    return settings_has_prefix(s, STR("index.analysis.broken")) ? err_set(em, ERR_ILLEGAL_ARGUMENT, "broken")
                                                                : ERR_OK;
}

static enum err fake_query(void *self, const struct json *q, struct str text, const struct index_meta *index,
                           struct errmsg *em)
{
    (void)self;
    (void)index;
    (void)text;
    return json_get(q, "nope") != NULL ? err_set(em, ERR_PARSING, "unknown query [nope]") : ERR_OK;
}

static struct rng rng;
static struct metadata_env env;
static struct cluster_state *state;
static struct arena errors;
static struct errmsg em = {.arena = &errors};

static void setup(void)
{
    struct state_builder b;
    rng_seed(&rng, 7);
    env = (struct metadata_env){.clock = &clock_fixed,
                                .rng = &rng,
                                .merge_mapping = fake_merge,
                                .check_analysis = fake_analysis,
                                .check_query = fake_query};
    ck_assert(state_builder_init(&b, NULL));
    ck_assert(state_set_names(&b, STR("c"), STR("u")));
    state = state_builder_seal(&b, STR("s"));
    ck_assert_ptr_nonnull(state);
}

static void teardown(void)
{
    cluster_state_unref(state);
}

/* Applies; the state moves on where it changed. */
static enum err apply(struct meta_request *rq)
{
    struct cluster_state *next;
    err_clear(&em);
    enum err e = metadata_apply(&env, state, rq, &next, &em);
    if (next != NULL) {
        ck_assert_int_eq(e, ERR_OK);
        ck_assert(rq->changed);
        cluster_state_unref(state);
        state = next;
    }
    return e;
}

static enum err run(enum meta_action action, const char *name, const char *body, enum template_kind kind)
{
    struct meta_request rq;
    struct str names[1] = {str_of(name)};
    meta_request_init(&rq, action, NULL, NULL);
    rq.names = names;
    rq.n_names = name != NULL;
    rq.template_kind = kind;
    rq.text = str_of(body);
    if (body != NULL) {
        ck_assert_int_eq(json_parse(&rq.body, rq.text, &rq.arena, &json_limits_default, NULL), ERR_OK);
    }
    enum err e = apply(&rq);
    meta_request_fini(&rq);
    return e;
}

static enum err create(const char *name, const char *body)
{
    return run(META_CREATE_INDEX, name, body, TEMPLATE_LEGACY);
}

static enum err update(const char *name, const char *body)
{
    return run(META_UPDATE_SETTINGS, name, body, TEMPLATE_LEGACY);
}

static const char *setting(const char *index, const char *key)
{
    const struct index_meta *m = cluster_index(state, str_of(index));
    ck_assert_ptr_nonnull(m);
    return settings_str(&m->settings, key, STR("(none)")).p;
}

static enum err alias(enum alias_kind kind, const char *index, const char *name, bool write, bool must_exist)
{
    struct meta_request rq;
    struct str names[1] = {str_of(name)};
    struct alias_action a = {
        .kind = kind, .index = str_of(index), .aliases = names, .n_aliases = 1, .must_exist = must_exist};
    a.alias.has_is_write = a.alias.is_write = write;
    meta_request_init(&rq, META_ALIASES, NULL, NULL);
    rq.alias_actions = &a;
    rq.n_alias_actions = 1;
    enum err e = apply(&rq);
    meta_request_fini(&rq);
    return e;
}

/* A new index takes the place of `old` behind the alias: it stays there for reading, or goes. */
static enum err roll_over(const char *name, const char *old, bool stays)
{
    struct meta_request rq;
    struct str names[1] = {str_of(name)}, aliases[1] = {STR("a")};
    struct alias_action moves[2] = {
        {.kind = ALIAS_ADD, .index = names[0], .aliases = aliases, .n_aliases = 1},
        {.kind = stays ? ALIAS_ADD : ALIAS_REMOVE,
         .index = str_of(old),
         .aliases = aliases,
         .n_aliases = 1,
         .must_exist = true}};
    moves[0].alias.has_is_write = moves[0].alias.is_write = moves[1].alias.has_is_write = stays;
    meta_request_init(&rq, META_CREATE_INDEX, NULL, NULL);
    rq.names = names;
    rq.n_names = 1;
    rq.provided = STR("<i-{now}>");
    rq.alias_actions = moves;
    rq.n_alias_actions = 2;
    enum err e = apply(&rq);
    meta_request_fini(&rq);
    return e;
}

static const struct alias_meta *alias_of(const char *index)
{
    return index_alias(cluster_index(state, str_of(index)), STR("a"));
}

START_TEST(rollovers)
{
    ck_assert_int_eq(create("i", "{\"aliases\": {\"a\": {}}}"), ERR_OK);
    ck_assert_int_eq(roll_over("i2", "i", false), ERR_OK);
    ck_assert(alias_of("i") == NULL && alias_of("i2") != NULL);
    ck_assert_str_eq(setting("i2", "index.provided_name"), "<i-{now}>");
    ck_assert_str_eq(setting("i", "index.provided_name"), "i");
    /* the alias has moved on meanwhile: nothing is made */
    ck_assert_int_eq(roll_over("i3", "i", false), ERR_RESOURCE_NOT_FOUND);
    ck_assert_int_eq(roll_over("i3", "i", true), ERR_RESOURCE_NOT_FOUND);
    ck_assert_int_eq(roll_over("i3", "none", true), ERR_INDEX_NOT_FOUND);
    ck_assert_ptr_null(cluster_index(state, STR("i3")));
    ck_assert_int_eq(alias(ALIAS_ADD, "i2", "a", true, false), ERR_OK);
    ck_assert_int_eq(roll_over("i3", "i2", true), ERR_OK);
    ck_assert(!alias_of("i2")->is_write && alias_of("i3")->is_write);
    /* two at once: the second one would make another index to write to */
    ck_assert_int_eq(roll_over("i4", "i2", true), ERR_ILLEGAL_STATE);
    ck_assert_ptr_null(cluster_index(state, STR("i4")));
    ck_assert_int_eq(run(META_PUT_TEMPLATE, "t",
                         "{\"index_patterns\": [\"j*\"], \"aliases\": {\"b\": {}, \"a\": {}}}",
                         TEMPLATE_LEGACY),
                     ERR_OK);
    ck_assert_int_eq(roll_over("j", "i3", true), ERR_ILLEGAL_ARGUMENT);
    ck_assert_ptr_null(cluster_index(state, STR("j")));
}
END_TEST

START_TEST(settings_change)
{
    ck_assert_int_eq(create("i", "{\"settings\":{\"number_of_shards\":2,\"index.refresh_interval\":\"3s\"}}"),
                     ERR_OK);
    ck_assert_str_eq(setting("i", "index.refresh_interval"), "3s");
    ck_assert_int_eq(update("i", "{\"index\":{\"number_of_replicas\":0}}"), ERR_OK);
    ck_assert_uint_eq(cluster_index(state, STR("i"))->n_replicas, 0);
    uint64_t version = cluster_index(state, STR("i"))->settings_version;
    ck_assert_int_eq(update("i", "{\"index\":{\"number_of_replicas\":\"0\"}}"), ERR_OK);
    ck_assert_uint_eq(cluster_index(state, STR("i"))->settings_version, version);
    ck_assert_int_eq(update("i", "{\"refresh_interval\":null}"), ERR_OK);
    ck_assert_str_eq(setting("i", "index.refresh_interval"), "(none)");
    ck_assert_int_eq(update("i", "{\"number_of_replicas\":null}"), ERR_OK);
    ck_assert_str_eq(setting("i", "index.number_of_replicas"), "1");
}
END_TEST

START_TEST(settings_refused)
{
    ck_assert_int_eq(create("i", NULL), ERR_OK);
    static const char *const bad[] = {"{\"number_of_shards\":3}",
                                      "{\"codec\":\"best_compression\"}",
                                      "{\"nope\":1}",
                                      "{\"number_of_replicas\":\"x\"}",
                                      "{\"refresh_interval\":\"soon\"}",
                                      "{\"uuid\":\"x\"}",
                                      "{\"version.created\":1}",
                                      "{\"max_result_window\":0}",
                                      "{\"index.nope*\":1}",
                                      "{\"number_of_replicas\":1,\"number_of_shards\":9}"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ck_assert_int_eq(update("i", bad[i]), ERR_ILLEGAL_ARGUMENT);
    }
    ck_assert_int_eq(update("i", "{\"a\":1,\"b\":2}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_uint_eq(em.suppressed->n, 1);
    ck_assert_int_eq(update("zz", "{\"number_of_replicas\":1}"), ERR_INDEX_NOT_FOUND);
    ck_assert_int_eq(update("i", "{\"index.nope*\":null}"), ERR_OK);
    ck_assert_int_eq(create("j", "{\"settings\":{\"number_of_shards\":1025}}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_ptr_null(cluster_index(state, STR("j")));
}
END_TEST

/* A document's new fields may come when its index is gone, and another one has got the name. */
START_TEST(mappings_go_to_the_index_that_is_meant)
{
    struct meta_request rq;
    struct arena a;
    struct str name = STR("i"), text = STR("{\"properties\":{\"a\":{\"type\":\"long\"}}}");
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(create("i", NULL), ERR_OK);
    struct str gone = arena_str(&a, cluster_index(state, name)->uuid);
    ck_assert_int_eq(run(META_DELETE_INDEX, "i", NULL, TEMPLATE_LEGACY), ERR_OK);
    ck_assert_int_eq(create("i", NULL), ERR_OK);
    for (int i = 0; i < 2; i++) {
        meta_request_init(&rq, META_PUT_MAPPING, NULL, NULL);
        rq.names = &name;
        rq.n_names = 1;
        rq.uuid = i == 0 ? gone : cluster_index(state, name)->uuid;
        ck_assert_int_eq(json_parse(&rq.body, text, &rq.arena, &json_limits_default, NULL), ERR_OK);
        ck_assert_int_eq(apply(&rq), i == 0 ? ERR_INDEX_NOT_FOUND : ERR_OK);
        ck_assert_int_eq(rq.changed, i == 1);
        meta_request_fini(&rq);
    }
    arena_fini(&a);
}
END_TEST

static enum err put_typed(enum meta_action action, const char *name, const char *type, const char *body)
{
    struct meta_request rq;
    struct str names[1] = {str_of(name)};
    meta_request_init(&rq, action, NULL, NULL);
    rq.names = names;
    rq.n_names = 1;
    rq.type = str_of(type);
    rq.text = str_of(body);
    ck_assert_int_eq(json_parse(&rq.body, rq.text, &rq.arena, &json_limits_default, NULL), ERR_OK);
    enum err e = apply(&rq);
    meta_request_fini(&rq);
    return e;
}

static struct str type_of(const char *index)
{
    return index_type(cluster_index(state, str_of(index)));
}

/* The first mapping names the type; it has one, and `_doc` of a request that names none is whatever it is. */
START_TEST(types_by_their_names)
{
    static const char body[] = "{\"properties\":{\"a\":{\"type\":\"long\"}}}";
    ck_assert_int_eq(create("i", NULL), ERR_OK);
    ck_assert(str_is(type_of("i"), "_doc"));
    ck_assert_int_eq(put_typed(META_PUT_MAPPING, "i", "hotel", body), ERR_OK);
    ck_assert(str_is(type_of("i"), "hotel"));
    ck_assert_int_eq(put_typed(META_PUT_MAPPING, "i", "motel", body), ERR_ILLEGAL_ARGUMENT);
    ck_assert_str_eq(err_reason(&em), "Rejecting mapping update to [i] as the final mapping would have more "
                                      "than 1 type: [hotel, motel]");
    ck_assert_int_eq(put_typed(META_PUT_MAPPING, "i", "_doc", body), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(put_typed(META_PUT_MAPPING, "i", "", body), ERR_OK);
    ck_assert_int_eq(create("j", "{\"mappings\":{\"properties\":{}}}"), ERR_OK);
    ck_assert_int_eq(put_typed(META_PUT_MAPPING, "j", "hotel", body), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(put_typed(META_CREATE_INDEX, "k", "_x", "{\"mappings\":{}}"), ERR_INVALID_TYPE_NAME);
    ck_assert_int_eq(put_typed(META_CREATE_INDEX, "k", ".x", "{\"mappings\":{}}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(put_typed(META_CREATE_INDEX, "k", "x", "{\"mappings\":{}}"), ERR_OK);
    ck_assert(str_is(type_of("k"), "x"));
}
END_TEST

/* A template's type is the index's, unless the request has a mapping of its own. */
START_TEST(types_of_templates)
{
    static const char body[] =
        "{\"index_patterns\":[\"t*\"],\"mappings\":{\"properties\":{\"a\":{\"type\":\"long\"}}}}";
    ck_assert_int_eq(put_typed(META_PUT_TEMPLATE, "tt", "hotel", body), ERR_OK);
    ck_assert_int_eq(create("t1", NULL), ERR_OK);
    ck_assert(str_is(type_of("t1"), "hotel"));
    ck_assert_int_eq(create("t2", "{\"mappings\":{\"properties\":{}}}"), ERR_OK);
    ck_assert(str_is(type_of("t2"), "_doc"));
    ck_assert_int_eq(put_typed(META_CREATE_INDEX, "t3", "motel", "{\"mappings\":{}}"), ERR_OK);
    ck_assert(str_is(type_of("t3"), "motel"));
}
END_TEST

START_TEST(blocks_hold)
{
    ck_assert_int_eq(create("i", NULL), ERR_OK);
    ck_assert_int_eq(update("i", "{\"blocks.read_only\":true}"), ERR_OK);
    ck_assert_int_eq(update("i", "{\"refresh_interval\":\"1s\"}"), ERR_CLUSTER_BLOCK);
    ck_assert_int_eq(run(META_PUT_MAPPING, "i", "{}", TEMPLATE_LEGACY), ERR_CLUSTER_BLOCK);
    ck_assert_int_eq(run(META_DELETE_INDEX, "i", NULL, TEMPLATE_LEGACY), ERR_CLUSTER_BLOCK);
    ck_assert_int_eq(alias(ALIAS_ADD, "i", "a", false, false), ERR_CLUSTER_BLOCK);
    ck_assert_int_eq(update("i", "{\"blocks.read_only\":false}"), ERR_CLUSTER_BLOCK);
    ck_assert_int_eq(update("i", "{\"index.blocks.read_only\":false}"), ERR_OK);
    ck_assert_int_eq(run(META_DELETE_INDEX, "i", NULL, TEMPLATE_LEGACY), ERR_OK);
}
END_TEST

START_TEST(closed_takes_static)
{
    ck_assert_int_eq(create("i", NULL), ERR_OK);
    ck_assert_int_eq(run(META_CLOSE_INDEX, "i", NULL, TEMPLATE_LEGACY), ERR_OK);
    ck_assert(cluster_index(state, STR("i"))->closed);
    ck_assert_str_eq(setting("i", "index.verified_before_close"), "true");
    ck_assert_int_eq(update("i", "{\"codec\":\"best_compression\"}"), ERR_OK);
    ck_assert_int_eq(update("i", "{\"number_of_shards\":3}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(update("i", "{\"analysis.broken.x\":3}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(run(META_OPEN_INDEX, "i", NULL, TEMPLATE_LEGACY), ERR_OK);
    ck_assert_str_eq(setting("i", "index.verified_before_close"), "(none)");
    ck_assert_str_eq(setting("i", "index.codec"), "best_compression");
}
END_TEST

START_TEST(aliases_come_and_go)
{
    ck_assert_int_eq(create("i", "{\"aliases\":{\"a\":{\"routing\":\"1\",\"is_write_index\":\"x\",\"filter\":"
                                 "{\"term\":{\"x\":1}}}}}"),
                     ERR_OK);
    ck_assert_int_eq(create("j", NULL), ERR_OK);
    const struct alias_meta *a = index_alias(cluster_index(state, STR("i")), STR("a"));
    ck_assert(str_is(a->filter, "{\"term\":{\"x\":1}}"));
    ck_assert(str_is(a->search_routing, "1"));
    ck_assert(!a->has_is_write);
    ck_assert_int_eq(alias(ALIAS_ADD, "i", "w", true, false), ERR_OK);
    ck_assert_int_eq(alias(ALIAS_ADD, "j", "w", true, false), ERR_ILLEGAL_STATE);
    ck_assert_ptr_null(index_alias(cluster_index(state, STR("j")), STR("w")));
    ck_assert_int_eq(alias(ALIAS_ADD, "j", "i", false, false), ERR_INVALID_ALIAS_NAME);
    ck_assert_int_eq(alias(ALIAS_ADD, "j", "_x", false, false), ERR_INVALID_ALIAS_NAME);
    ck_assert_int_eq(create("a", NULL), ERR_INVALID_INDEX_NAME);
    ck_assert_int_eq(create("k", "{\"aliases\":{\"b\":{\"filter\":{\"nope\":{}}}}}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(alias(ALIAS_REMOVE, "i", "zz", false, false), ERR_ALIASES_NOT_FOUND);
    ck_assert_int_eq(alias(ALIAS_REMOVE, "i", "zz", false, true), ERR_RESOURCE_NOT_FOUND);
    ck_assert_int_eq(alias(ALIAS_REMOVE, "i", "*", false, false), ERR_OK);
    ck_assert_uint_eq(cluster_index(state, STR("i"))->n_aliases, 0);
    ck_assert_int_eq(alias(ALIAS_REMOVE_INDEX, "i", "", false, false), ERR_OK);
    ck_assert_ptr_null(cluster_index(state, STR("i")));
}
END_TEST

START_TEST(pipelines_stored)
{
    ck_assert_int_eq(run(META_PUT_PIPELINE, "pa", "{\"processors\":[]}", TEMPLATE_LEGACY), ERR_OK);
    ck_assert_int_eq(run(META_PUT_PIPELINE, "pb", "{\"version\":1,\"processors\":[]}", TEMPLATE_LEGACY),
                     ERR_OK);
    ck_assert(str_is(cluster_pipeline(state, STR("pb"))->body, "{\"version\":1,\"processors\":[]}"));
    ck_assert_int_eq(run(META_DELETE_PIPELINE, "q*", NULL, TEMPLATE_LEGACY), ERR_RESOURCE_NOT_FOUND);
    ck_assert_int_eq(run(META_DELETE_PIPELINE, "p*", NULL, TEMPLATE_LEGACY), ERR_OK);
    ck_assert_ptr_null(cluster_pipeline(state, STR("pa")));
    ck_assert_int_eq(run(META_DELETE_PIPELINE, "*", NULL, TEMPLATE_LEGACY), ERR_OK);
}
END_TEST

START_TEST(scripts_stored)
{
    const char *one = "{\"lang\":\"painless\",\"source\":\"1\"}";
    ck_assert_int_eq(run(META_PUT_SCRIPT, "s", one, TEMPLATE_LEGACY), ERR_OK);
    ck_assert(str_is(cluster_script(state, STR("s"))->source, "1"));
    uint64_t version = state->version;
    ck_assert_int_eq(run(META_PUT_SCRIPT, "s", one, TEMPLATE_LEGACY),
                     ERR_OK); /* the same again is no change */
    ck_assert_uint_eq(state->version, version);
    ck_assert_int_eq(run(META_PUT_SCRIPT, "s", "{\"lang\":\"painless\"}", TEMPLATE_LEGACY),
                     ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(run(META_DELETE_SCRIPT, "t", NULL, TEMPLATE_LEGACY), ERR_RESOURCE_NOT_FOUND);
    ck_assert_int_eq(run(META_DELETE_SCRIPT, "s", NULL, TEMPLATE_LEGACY), ERR_OK);
    ck_assert_ptr_null(cluster_script(state, STR("s")));
}
END_TEST

START_TEST(templates_layer)
{
    ck_assert_int_eq(run(META_PUT_TEMPLATE, "l1",
                         "{\"index_patterns\":[\"*\"],\"order\":1,\"settings\":{\"number_of_shards\":2}}",
                         TEMPLATE_LEGACY),
                     ERR_OK);
    ck_assert_int_eq(
        run(META_PUT_TEMPLATE, "c",
            "{\"template\":{\"settings\":{\"refresh_interval\":\"9s\",\"number_of_replicas\":0},"
            "\"mappings\":{\"properties\":{\"a\":{\"type\":\"text\"},\"b\":{\"type\":\"long\"}}}}}",
            TEMPLATE_COMPONENT),
        ERR_OK);
    ck_assert_int_eq(run(META_PUT_TEMPLATE, "t",
                         "{\"index_patterns\":\"x*\",\"composed_of\":[\"c\"],\"priority\":5,"
                         "\"template\":{\"settings\":{\"refresh_interval\":\"8s\"},\"aliases\":{\"al\":{}}}}",
                         TEMPLATE_COMPOSABLE),
                     ERR_OK);
    ck_assert_int_eq(create("x1", "{\"mappings\":{\"properties\":{\"a\":{\"type\":\"keyword\"}}}}"), ERR_OK);
    const struct index_meta *m = cluster_index(state, STR("x1"));
    ck_assert_uint_eq(m->n_shards, 1);
    ck_assert_uint_eq(m->n_replicas, 0);
    ck_assert_str_eq(setting("x1", "index.refresh_interval"), "8s");
    ck_assert_ptr_nonnull(index_alias(m, STR("al")));
    ck_assert(
        str_is(m->mapping, "{\"properties\":{\"a\":{\"type\":\"keyword\"},\"b\":{\"type\":\"long\"}}}"));
    ck_assert_int_eq(create("y1", NULL), ERR_OK);
    ck_assert_uint_eq(cluster_index(state, STR("y1"))->n_shards, 2);
    ck_assert_int_eq(run(META_DELETE_TEMPLATE, "c", NULL, TEMPLATE_COMPONENT), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(
        run(META_PUT_TEMPLATE, "t2", "{\"index_patterns\":[\"x1*\"],\"priority\":5}", TEMPLATE_COMPOSABLE),
        ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(run(META_PUT_TEMPLATE, "t2", "{\"index_patterns\":[\"y*\"],\"composed_of\":[\"z\"]}",
                         TEMPLATE_COMPOSABLE),
                     ERR_INVALID_TEMPLATE);
    ck_assert_int_eq(run(META_PUT_TEMPLATE, "t2",
                         "{\"index_patterns\":[\"y*\"],\"template\":{\"mappings\":{\"bad\":1}}}",
                         TEMPLATE_COMPOSABLE),
                     ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(run(META_DELETE_TEMPLATE, "t", NULL, TEMPLATE_COMPOSABLE), ERR_OK);
    ck_assert_int_eq(run(META_DELETE_TEMPLATE, "t", NULL, TEMPLATE_COMPOSABLE), ERR_TEMPLATE_MISSING);
    ck_assert_int_eq(run(META_DELETE_TEMPLATE, "c", NULL, TEMPLATE_COMPONENT), ERR_OK);
}
END_TEST

static enum err cluster(const char *body)
{
    return run(META_CLUSTER_SETTINGS, NULL, body, TEMPLATE_LEGACY);
}

START_TEST(settings_of_the_cluster)
{
    ck_assert_int_eq(cluster("{\"transient\":{\"search.max_buckets\":5},\"persistent\":{\"indices\":{"
                             "\"recovery.max_bytes_per_sec\":\"1mb\"}}}"),
                     ERR_OK);
    ck_assert(str_is(cluster_setting(state, SET_SEARCH_MAX_BUCKETS), "5"));
    ck_assert(str_is(cluster_setting(state, SET_INDICES_RECOVERY_MAX_BYTES_PER_SEC), "1mb"));
    ck_assert_int_eq(cluster("{\"transient\":{\"foo.bar\":1}}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(cluster("{\"persistent\":{\"cluster.name\":\"x\"}}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(cluster("{\"transient\":{\"action.auto_create_index\":\"a,,b\"}}"),
                     ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(cluster("{\"transient\":{\"search.max_buckets\":6},\"persistent\":{\"foo\":1}}"),
                     ERR_ILLEGAL_ARGUMENT);
    ck_assert(str_is(cluster_setting(state, SET_SEARCH_MAX_BUCKETS), "5"));
    ck_assert_int_eq(cluster("{\"transient\":{\"*\":null},\"persistent\":{\"indices.recovery.*\":null}}"),
                     ERR_OK);
    ck_assert(str_is(cluster_setting(state, SET_SEARCH_MAX_BUCKETS), "65535"));
    ck_assert(str_is(cluster_setting(state, SET_INDICES_RECOVERY_MAX_BYTES_PER_SEC), "40mb"));
}
END_TEST

/* A state with everything in it survives its bytes; damaged bytes are refused or read, never more. */
static void one_data_node(void)
{
    struct state_builder b;
    struct nodes_part *none = nodes_part_new(), *nodes = nodes_part_copy(none, 1);
    ck_assert_ptr_nonnull(nodes);
    state_part_unref(&none->part);
    ck_assert(nodes_part_put(nodes, &(struct node_meta){.id = STR("n"),
                                                        .name = STR("n"),
                                                        .ephemeral_id = STR("e"),
                                                        .host = STR("h"),
                                                        .transport_address = STR("h:1"),
                                                        .roles = ROLE_DATA | ROLE_MASTER}));
    ck_assert(state_builder_init(&b, state));
    state_put_nodes(&b, nodes);
    struct cluster_state *next = state_builder_seal(&b, STR("t"));
    ck_assert_ptr_nonnull(next);
    cluster_state_unref(state);
    state = next;
}

/* The number of copies is checked before any of them is made. */
START_TEST(shards_have_a_limit)
{
    one_data_node();
    ck_assert_int_eq(create("a", "{\"settings\":{\"number_of_replicas\":65536}}"), ERR_VALIDATION);
    ck_assert_str_eq(err_reason(&em),
                     "Validation Failed: 1: this action would add [65537] total shards, but this cluster "
                     "currently has [0]/[1000] maximum shards open;");
    ck_assert_int_eq(
        create("a", "{\"settings\":{\"number_of_shards\":1024,\"number_of_replicas\":2147483647}}"),
        ERR_VALIDATION);
    ck_assert_int_eq(create("a", "{\"settings\":{\"number_of_shards\":499}}"), ERR_OK);
    ck_assert_int_eq(create("b", "{}"), ERR_OK);
    ck_assert_int_eq(create("c", "{}"), ERR_VALIDATION);
    ck_assert_int_eq(update("b", "{\"number_of_replicas\":2}"), ERR_VALIDATION);
    ck_assert_int_eq(update("b", "{\"number_of_replicas\":2147483647}"), ERR_VALIDATION);
    ck_assert_int_eq(run(META_CLOSE_INDEX, "b", NULL, TEMPLATE_LEGACY), ERR_OK);
    ck_assert_int_eq(create("c", "{}"), ERR_OK);
    ck_assert_int_eq(run(META_OPEN_INDEX, "b", NULL, TEMPLATE_LEGACY), ERR_VALIDATION);
    ck_assert_int_eq(run(META_CLUSTER_SETTINGS, NULL,
                         "{\"persistent\":{\"cluster.max_shards_per_node\":2000000000}}", TEMPLATE_LEGACY),
                     ERR_OK);
    ck_assert_int_eq(run(META_OPEN_INDEX, "b", NULL, TEMPLATE_LEGACY), ERR_OK);
    ck_assert_int_eq(update("b", "{\"number_of_replicas\":1024}"), ERR_OK);
    ck_assert_int_eq(update("b", "{\"number_of_replicas\":1025}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(create("d", "{\"settings\":{\"number_of_replicas\":1025}}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(create("d", "{\"settings\":{\"auto_expand_replicas\":\"5000-9000\"}}"), ERR_OK);
    ck_assert_str_eq(setting("d", "index.number_of_replicas"), "1");
}
END_TEST

START_TEST(keep_alives_agree)
{
    ck_assert_int_eq(run(META_CLUSTER_SETTINGS, NULL, "{\"transient\":{\"search.max_keep_alive\":\"1m\"}}",
                         TEMPLATE_LEGACY),
                     ERR_ILLEGAL_ARGUMENT);
    ck_assert_str_eq(err_reason(&em),
                     "Default keep alive setting for request [search.default_keep_alive] should be smaller "
                     "than max keep alive [search.max_keep_alive], was (5m > 1m)");
    ck_assert_int_eq(
        run(META_CLUSTER_SETTINGS, NULL,
            "{\"transient\":{\"search.max_keep_alive\":\"1m\",\"search.default_keep_alive\":\"1m\"}}",
            TEMPLATE_LEGACY),
        ERR_OK);
}
END_TEST

START_TEST(bytes_round_trip)
{
    struct buf b, again;
    struct cluster_state *copy;
    ck_assert_int_eq(cluster("{\"transient\":{\"search.max_buckets\":5}}"), ERR_OK);
    ck_assert_int_eq(
        run(META_PUT_TEMPLATE, "l1", "{\"index_patterns\":[\"q*\"],\"order\":-1}", TEMPLATE_LEGACY), ERR_OK);
    ck_assert_int_eq(create("i", "{\"settings\":{\"index.query.default_field\":[\"a\",\"b\"]},\"aliases\":{"
                                 "\"a\":{\"routing\":1,\"is_hidden\":true}}}"),
                     ERR_OK);
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_init(&again, NULL, BUF_UNLIMITED);
    cluster_state_encode(state, &b);
    ck_assert_int_eq(cluster_state_decode(&copy, buf_view(&b), &em), ERR_OK);
    cluster_state_encode(copy, &again);
    ck_assert(str_eq(buf_view(&b), buf_view(&again)));
    cluster_state_unref(copy);
    for (size_t n = 0; n < b.n; n++) {
        ck_assert_int_ne(cluster_state_decode(&copy, str_mk(b.p, n), &em), ERR_OK);
    }
    for (size_t i = 0; i < b.n * 8; i++) {
        b.p[i / 8] = (char)(b.p[i / 8] ^ 1 << i % 8);
        if (cluster_state_decode(&copy, buf_view(&b), &em) == ERR_OK) {
            cluster_state_unref(copy);
        }
        b.p[i / 8] = (char)(b.p[i / 8] ^ 1 << i % 8);
    }
    buf_fini(&b);
    buf_fini(&again);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("metadata");
    TCase *t = tcase_create("requests");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, rollovers);
    tcase_add_test(t, settings_change);
    tcase_add_test(t, settings_refused);
    tcase_add_test(t, mappings_go_to_the_index_that_is_meant);
    tcase_add_test(t, types_by_their_names);
    tcase_add_test(t, types_of_templates);
    tcase_add_test(t, blocks_hold);
    tcase_add_test(t, closed_takes_static);
    tcase_add_test(t, aliases_come_and_go);
    tcase_add_test(t, scripts_stored);
    tcase_add_test(t, pipelines_stored);
    tcase_add_test(t, templates_layer);
    tcase_add_test(t, settings_of_the_cluster);
    tcase_add_test(t, shards_have_a_limit);
    tcase_add_test(t, keep_alives_agree);
    tcase_add_test(t, bytes_round_trip);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
