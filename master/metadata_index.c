/* Creating and deleting indices, and their mappings. */
#include "master/metadata_int.h"

#include "common/base/num.h"
#include "common/cluster/blocks.h"
#include "common/settings/setting_read.h"
#include "common/settings/setting_registry.h"

#include <stdio.h>

#define INDEX_NAME_BYTES_MAX 255
#define VERSION_CREATED      "7120199"

static enum err bad_name(struct str name, const char *why, struct errmsg *em)
{
    err_set(em, ERR_INVALID_INDEX_NAME, "Invalid index name [%.*s], %s", STR_ARG(name), why);
    err_about_index(em, name, STR("_na_"));
    return ERR_INVALID_INDEX_NAME;
}

static bool has_upper(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] >= 'A' && name.p[i] <= 'Z') {
            return true;
        }
    }
    return false;
}

enum err index_name_check(struct str name, struct errmsg *em)
{
    static const char forbidden[] = {' ', '"', '*', '\\', '<', '|', ',', '>', '/', '?'};
    if (name.n == 0) {
        return bad_name(name, "must not be empty", em);
    }
    for (size_t i = 0; i < ARRAY_LEN(forbidden); i++) {
        if (str_find(name, forbidden[i], 0) != SIZE_MAX) {
            return bad_name(name,
                            "must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]", em);
        }
    }
    if (str_find(name, '#', 0) != SIZE_MAX) {
        return bad_name(name, "must not contain '#'", em);
    }
    if (str_find(name, ':', 0) != SIZE_MAX) {
        return bad_name(name, "must not contain ':'", em);
    }
    if (name.p[0] == '_' || name.p[0] == '-' || name.p[0] == '+') {
        return bad_name(name, "must not start with '_', '-', or '+'", em);
    }
    if (name.n > INDEX_NAME_BYTES_MAX) {
        char why[64];
        snprintf(why, sizeof(why), "index name is too long, (%zu > %d)", name.n, INDEX_NAME_BYTES_MAX);
        return bad_name(name, why, em);
    }
    if (str_is(name, ".") || str_is(name, "..")) {
        return bad_name(name, "must not be '.' or '..'", em);
    }
    return has_upper(name) ? bad_name(name, "must be lowercase", em) : ERR_OK;
}

enum err no_such_index(struct str name, struct errmsg *em)
{
    err_set(em, ERR_INDEX_NOT_FOUND, "no such index [%.*s]", STR_ARG(name));
    err_about_index(em, name, STR("_na_"));
    err_about_resource(em, "index_or_alias", name);
    return ERR_INDEX_NOT_FOUND;
}

enum err index_name_free(const struct cluster_state *cur, struct str name, struct errmsg *em)
{
    const struct index_meta *there = cluster_index(cur, name);
    if (there != NULL) {
        err_set(em, ERR_INDEX_EXISTS, "index [%.*s/%.*s] already exists", STR_ARG(name),
                STR_ARG(there->uuid));
        err_about_index(em, name, there->uuid);
        return ERR_INDEX_EXISTS;
    }
    return cluster_has_alias(cur, name) ? bad_name(name, "already exists as alias", em) : ERR_OK;
}

static bool has_sort(const struct settings *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (str_starts(s->v[i].key, STR("index.sort.")) && !s->v[i].is_null) {
            return true;
        }
    }
    return false;
}

static bool is_null(const struct settings *s, enum setting_id id)
{
    const struct setting *t = settings_find(s, setting_name(id));
    return t != NULL && t->is_null;
}

enum err index_refuse_removed(const struct settings *given, struct errmsg *em)
{
    if (settings_find(given, setting_name(SET_INDEX_MAPPER_DYNAMIC)) != NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Setting index.mapper.dynamic was removed after version 6.0.0");
    }
    return settings_find(given, setting_name(SET_INDEX_OPTIMIZE_AUTO_GENERATED_ID)) == NULL
               ? ERR_OK
               : err_set(em, ERR_ILLEGAL_ARGUMENT,
                         "Setting [index.optimize_auto_generated_id] was removed in version 7.0.0");
}

/* Settings of the request or of templates, checked; nulls stay, and are as good as absent. */
static enum err given_settings(struct index_meta *m, const struct settings *given, struct errmsg *em)
{
    enum err e = settings_check(&setting_registry_index, given, false, em);
    for (size_t i = 0; e == ERR_OK && i < given->n; i++) {
        const struct setting_def *d = setting_def_find(&setting_registry_index, given->v[i].key);
        if (d != NULL && (d->flags & SETTING_PRIVATE) != 0) {
            e = err_set(em, ERR_VALIDATION,
                        "Validation Failed: 1: private index setting [%s] can not be set explicitly;",
                        d->name);
        }
    }
    if (e == ERR_OK && setting_str(given, SET_INDEX_DATA_PATH).n > 0) {
        e = err_set(em, ERR_VALIDATION,
                    "Validation Failed: 1: path.shared_data must be set in order to use custom data paths;");
    }
    if (e == ERR_OK && is_null(given, SET_INDEX_NUMBER_OF_SHARDS)) {
        e = err_set(em, ERR_ILLEGAL_STATE,
                    "you must set the number of shards before setting/reading primary terms");
    }
    if (e == ERR_OK && is_null(given, SET_INDEX_NUMBER_OF_REPLICAS)) {
        e = err_set(em, ERR_NULL_POINTER, "index.number_of_replicas is null");
    }
    e = e == ERR_OK ? index_refuse_removed(given, em) : e;
    if (e == ERR_OK && has_sort(given)) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "index sorting is not offered: [index.sort.*] cannot be set");
    }
    if (e == ERR_OK && !settings_merge(&m->settings, given)) {
        e = err_no_memory(em);
    }
    return e;
}

static enum err shard_numbers(struct index_meta *m, struct errmsg *em)
{
    const struct settings *s = &m->settings;
    enum err e = ERR_OK;
    m->n_shards = (uint32_t)setting_i64(s, SET_INDEX_NUMBER_OF_SHARDS);
    m->n_replicas = (uint32_t)setting_i64(s, SET_INDEX_NUMBER_OF_REPLICAS);
    m->routing_partition = (uint32_t)setting_i64(s, SET_INDEX_ROUTING_PARTITION_SIZE);
    m->routing_shards = setting_find(s, SET_INDEX_NUMBER_OF_ROUTING_SHARDS) != NULL
                            ? (uint32_t)setting_i64(s, SET_INDEX_NUMBER_OF_ROUTING_SHARDS)
                            : routing_shards_default(m->n_shards);
    if (m->routing_shards < m->n_shards || m->routing_shards % m->n_shards != 0) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "the number of source shards [%u] must be a factor of [%u]",
                    m->n_shards, m->routing_shards);
    }
    if (e == ERR_OK && m->routing_partition > 1 && m->routing_partition >= m->routing_shards) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "partition size [%u] should be a positive number less than the number of routing shards "
                    "[%u] for [%.*s]",
                    m->routing_partition, m->routing_shards, STR_ARG(m->name));
    }
    return e;
}

static bool put_number(struct settings *s, struct str key, int64_t v)
{
    struct buf b;
    buf_init(&b, NULL, 64);
    buf_i64(&b, v);
    bool ok = settings_put(s, key, buf_view(&b));
    buf_fini(&b);
    return ok;
}

static enum err own_settings(struct index_meta *m, struct str provided, struct errmsg *em)
{
    struct settings *s = &m->settings;
    settings_remove(
        s, setting_name(SET_INDEX_NUMBER_OF_ROUTING_SHARDS)); /* the index has it, its settings do not */
    bool ok = put_number(s, setting_name(SET_INDEX_NUMBER_OF_SHARDS), m->n_shards)
              && put_number(s, setting_name(SET_INDEX_NUMBER_OF_REPLICAS), m->n_replicas)
              && put_number(s, STR("index.creation_date"), m->created_ms)
              && settings_put(s, STR("index.uuid"), m->uuid)
              && settings_put(s, setting_name(SET_INDEX_VERSION_CREATED), STR(VERSION_CREATED))
              && settings_put(s, STR("index.provided_name"), provided.n > 0 ? provided : m->name);
    return ok ? ERR_OK : err_no_memory(em);
}

/* `type`: as errors name it. */
static enum err make_mapping(const struct metadata_env *env, struct index_meta *m, struct str type,
                             const struct json *body, struct errmsg *em)
{
    struct buf out;
    struct json none = json_mk_object();
    enum err e = env->check_analysis(env->self, &m->settings, em);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&out, NULL, BUF_UNLIMITED);
    e = env->merge_mapping(env->self, &m->settings, m->mapping, type, body != NULL ? body : &none, &out, em);
    if (e == ERR_OK) {
        m->mapping = arena_str(&m->part.arena, buf_view(&out));
        e = m->mapping.p != NULL && !out.failed ? ERR_OK : err_no_memory(em);
    }
    buf_fini(&out);
    return e;
}

/* The type of the index whose mapping is made: another than the one that is there is refused. */
static enum err take_type(struct index_meta *m, struct str type, struct errmsg *em)
{
    if (type.n == 0 || (m->mapping.n > 0 && str_eq(type, index_type(m)))) {
        return ERR_OK;
    }
    enum err e = type_name_check(type, em);
    if (e == ERR_OK && m->mapping.n > 0) {
        return type_rejected(m, type, em);
    }
    if (e == ERR_OK && !str_is(type, "_doc")) {
        m->type = arena_str(&m->part.arena, type);
        e = m->type.p != NULL ? ERR_OK : err_no_memory(em);
    }
    return e;
}

/* Documents of an index with routing_partition_size have a routing each. */
static enum err check_partitioned(const struct index_meta *m, struct arena *scratch, struct errmsg *em)
{
    struct json mapping;
    if (m->routing_partition <= 1) {
        return ERR_OK;
    }
    enum err e = json_parse(&mapping, m->mapping, scratch, &json_limits_default, em);
    const struct json *required = e == ERR_OK ? json_get(json_get(&mapping, "_routing"), "required") : NULL;
    if (e == ERR_OK && (required == NULL || !str_is(json_text(required), "true"))) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "mapping type [%.*s] must have routing required for partitioned index [%.*s]",
                    STR_ARG(index_type(m)), STR_ARG(m->name));
    }
    return e;
}

static enum err put_aliases(const struct metadata_env *env, const struct cluster_state *cur,
                            struct index_meta *m, const struct index_recipe *recipe, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < recipe->n_aliases; i++) {
        e = alias_check(env, cur, m, &recipe->aliases[i], em);
    }
    uint32_t changed;
    return e == ERR_OK && recipe->n_aliases > 0
               ? index_put_aliases(m, recipe->aliases, recipe->n_aliases, &changed, em)
               : e;
}

static enum err name_index(const struct metadata_env *env, struct index_meta *m, struct str name,
                           struct errmsg *em)
{
    char uuid[23];
    random_uuid(env->rng, uuid);
    m->name = arena_str(&m->part.arena, name);
    m->uuid = arena_str(&m->part.arena, str_of(uuid));
    m->created_ms = clock_wall_ms(env->clock);
    m->version = m->mapping_version = m->settings_version = m->aliases_version = 1;
    return m->name.p != NULL && m->uuid.p != NULL ? ERR_OK : err_no_memory(em);
}

static enum err fill_index(const struct metadata_env *env, const struct cluster_state *cur,
                           struct index_meta *m, struct meta_request *rq, struct errmsg *em)
{
    struct index_recipe recipe;
    enum err e = name_index(env, m, rq->names[0], em);
    e = e == ERR_OK ? index_recipe_make(&recipe, cur, m->name, &rq->body, rq->type, &rq->arena, em) : e;
    e = e == ERR_OK ? given_settings(m, &recipe.settings, em) : e;
    e = e == ERR_OK ? shard_numbers(m, em) : e;
    e = e == ERR_OK ? shard_limit_create(cur, m, em) : e;
    e = e == ERR_OK ? index_replicas_follow(m, cur, em) : e;
    e = e == ERR_OK ? own_settings(m, rq->provided, em) : e;
    e = e == ERR_OK && recipe.mapping.type != JSON_NULL ? take_type(m, recipe.type, em) : e;
    e = e == ERR_OK
            ? make_mapping(env, m, m->type, recipe.mapping.type != JSON_NULL ? &recipe.mapping : NULL, em)
            : e;
    if (e == ERR_OK && recipe.mapping.type == JSON_NULL) {
        m->mapping = STR_NULL; /* an empty one was checked: settings can be wrong for any */
    }
    e = e == ERR_OK && recipe.mapping.type != JSON_NULL ? check_partitioned(m, &rq->arena, em) : e;
    e = e == ERR_OK ? put_aliases(env, cur, m, &recipe, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    m->primary_terms = ARENA_ARRAY(&m->part.arena, uint64_t, m->n_shards);
    m->in_sync = ARENA_ARRAY(&m->part.arena, struct str_set, m->n_shards);
    if (m->primary_terms == NULL || m->in_sync == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < m->n_shards; i++) {
        m->primary_terms[i] = 1;
        m->in_sync[i] = (struct str_set){0};
    }
    return ERR_OK;
}

/* The request's own settings are refused before anything else is looked at. */
static enum err check_given(struct meta_request *rq, struct errmsg *em)
{
    struct settings given;
    settings_init(&given, &rq->arena);
    enum err e = index_settings_given(&given, json_get(&rq->body, "settings"), em);
    return e == ERR_OK ? settings_check(&setting_registry_index, &given, false, em) : e;
}

enum err meta_create_index(const struct metadata_env *env, const struct cluster_state *cur,
                           struct meta_request *rq, struct state_builder *b, struct errmsg *em)
{
    struct str name = rq->names[0];
    if (rq->auto_create && cluster_index(cur, name) != NULL) {
        return ERR_OK; /* somebody was quicker */
    }
    enum err e = cluster_index(cur, name) != NULL ? metadata_write_allowed(cur, rq, em) : ERR_OK;
    e = e == ERR_OK ? check_given(rq, em) : e;
    e = e == ERR_OK ? index_name_check(name, em) : e;
    e = e == ERR_OK ? index_name_free(cur, name, em) : e;
    if (e == ERR_OK && rq->n_alias_actions > 0) {
        e = index_recipe_lacks_alias(cur, name, rq->alias_actions[0].aliases[0],
                                     rq->alias_actions[0].alias.is_hidden, &rq->arena, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    struct index_meta *m = index_meta_new();
    if (m == NULL) {
        return err_no_memory(em);
    }
    e = fill_index(env, cur, m, rq, em);
    if (e != ERR_OK) {
        state_part_unref(&m->part);
        return e;
    }
    rq->changed = true;
    e = state_put_index(b, m) ? ERR_OK : err_no_memory(em);
    e = e == ERR_OK ? aliases_agree(b->next, em) : e;
    return e == ERR_OK && rq->n_alias_actions > 0 ? meta_aliases(env, b->next, rq, b, em) : e;
}

static enum err check_delete(const struct cluster_state *cur, struct meta_request *rq, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < rq->n_names; i++) {
        const struct index_meta *m = cluster_index(cur, rq->names[i]);
        e = m != NULL ? index_delete_check(cur, m, em) : ERR_OK;
    }
    return e;
}

enum err meta_delete_index(const struct cluster_state *cur, struct meta_request *rq, struct state_builder *b,
                           struct errmsg *em)
{
    enum err e = check_delete(cur, rq, em);
    if (e != ERR_OK) {
        return e;
    }
    for (uint32_t i = 0; i < rq->n_names; i++) {
        if (cluster_index(cur, rq->names[i]) == NULL) {
            return no_such_index(rq->names[i], em);
        }
        state_remove_index(b, rq->names[i]);
        rq->changed = true;
    }
    return ERR_OK;
}

enum err meta_put_mapping(const struct metadata_env *env, const struct cluster_state *cur,
                          struct meta_request *rq, struct state_builder *b, struct errmsg *em)
{
    enum err blocked = metadata_write_allowed(cur, rq, em);
    if (blocked != ERR_OK) {
        return blocked;
    }
    for (uint32_t i = 0; i < rq->n_names; i++) {
        const struct index_meta *old = cluster_index(cur, rq->names[i]);
        if (old == NULL || (rq->uuid.n > 0 && !str_eq(rq->uuid, old->uuid))) {
            return no_such_index(rq->names[i], em);
        }
        struct index_meta *m = index_meta_copy(old);
        if (m == NULL) {
            return err_no_memory(em);
        }
        enum err e = take_type(m, rq->type, em);
        e = e == ERR_OK ? make_mapping(env, m, rq->type, &rq->body, em) : e;
        if (e != ERR_OK || str_eq(m->mapping, old->mapping)) {
            state_part_unref(&m->part);
            if (e != ERR_OK) {
                return e;
            }
            continue;
        }
        m->version++;
        m->mapping_version++;
        rq->changed = true;
        if (!state_put_index(b, m)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}
