/* Changes of indices' settings. */
#include "master/metadata_int.h"

#include "common/base/java_hash.h"
#include "common/base/num.h"
#include "common/cluster/blocks.h"
#include "common/settings/setting_read.h"
#include "common/settings/setting_registry.h"

#include <stdio.h>

enum err index_settings_given(struct settings *out, const struct json *given, struct errmsg *em)
{
    struct settings raw;
    settings_init(&raw, out->arena);
    enum err e =
        given != NULL && given->type == JSON_OBJECT ? settings_from_json(&raw, given, STR(""), em) : ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < raw.n; i++) {
        struct setting t = raw.v[i];
        bool whole = str_starts(t.key, STR("index.")) || str_ends(t.key, STR("*"));
        struct str key = whole ? t.key : arena_printf(out->arena, "index.%.*s", STR_ARG(t.key));
        bool ok = key.p != NULL
                  && (t.is_null   ? settings_put_null(out, key)
                      : t.is_list ? settings_put_list(out, key, t.items, t.n)
                                  : settings_put(out, key, t.value));
        e = ok ? ERR_OK : err_no_memory(em);
    }
    return e;
}

uint32_t data_nodes(const struct cluster_state *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; s->nodes != NULL && i < s->nodes->n; i++) {
        n += (s->nodes->v[i].roles & ROLE_DATA) != 0;
    }
    return n;
}

/* What index.auto_expand_replicas asks for with so many data nodes; false: it is off, or asks for more than
 * there can be. */
static bool expanded(struct str rule, uint32_t nodes, uint32_t *out)
{
    int32_t min, max;
    size_t dash = str_find(rule, '-', 0);
    if (dash == SIZE_MAX || nodes == 0 || !num_parse_i32(str_slice(rule, 0, dash), &min)) {
        return false;
    }
    struct str upper = str_slice(rule, dash + 1, rule.n);
    if (!num_parse_i32(upper, &max)) {
        max = (int32_t)nodes - 1;
    }
    int32_t want = MIN_OF(max, (int32_t)nodes - 1);
    if (want < min) {
        return false;
    }
    *out = (uint32_t)want;
    return true;
}

enum err index_replicas_follow(struct index_meta *m, const struct cluster_state *cur, struct errmsg *em)
{
    char text[16];
    m->n_replicas = (uint32_t)setting_i64(&m->settings, SET_INDEX_NUMBER_OF_REPLICAS);
    (void)expanded(setting_str(&m->settings, SET_INDEX_AUTO_EXPAND_REPLICAS), data_nodes(cur),
                   &m->n_replicas);
    snprintf(text, sizeof(text), "%u", m->n_replicas);
    return settings_put(&m->settings, setting_name(SET_INDEX_NUMBER_OF_REPLICAS), str_of(text))
               ? ERR_OK
               : err_no_memory(em);
}

/* A block may always be lifted, or nobody could: by its whole name, as Elasticsearch looks before it completes
 * names. */
static bool only_lifts_blocks(const struct settings *s)
{
    return (s->n == 1 && settings_find(s, setting_name(SET_INDEX_BLOCKS_METADATA)) != NULL)
           || settings_find(s, setting_name(SET_INDEX_BLOCKS_READ_ONLY)) != NULL
           || settings_find(s, setting_name(SET_INDEX_BLOCKS_READ_ONLY_ALLOW_DELETE)) != NULL;
}

static enum err check_blocks(const struct cluster_state *cur, struct meta_request *rq, struct errmsg *em)
{
    const struct index_meta **v = ARENA_ARRAY(&rq->arena, const struct index_meta *, rq->n_names);
    if (v == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < rq->n_names; i++) {
        v[i] = cluster_index(cur, rq->names[i]);
        if (v[i] == NULL) {
            return no_such_index(rq->names[i], em);
        }
    }
    return indices_block_check(cur, v, rq->n_names, BLOCK_METADATA_WRITE, em);
}

enum err metadata_write_allowed(const struct cluster_state *cur, struct meta_request *rq, struct errmsg *em)
{
    return check_blocks(cur, rq, em);
}

/* Non-dynamic settings wait for the index to be closed. */
static enum err refuse_static(const struct cluster_state *cur, struct meta_request *rq,
                              const struct settings *given, struct errmsg *em)
{
    struct str *fixed = ARENA_ARRAY(&rq->arena, struct str, given->n);
    struct buf names, indices;
    enum err e = ERR_OK;
    uint32_t n = 0;
    if (fixed == NULL) {
        return err_no_memory(em);
    }
    buf_init(&names, NULL, BUF_UNLIMITED);
    buf_init(&indices, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < given->n; i++) {
        struct str key = given->v[i].key;
        const struct setting_def *d = setting_def_find(&setting_registry_index, key);
        bool pattern = d == NULL && str_find(key, '*', 0) != SIZE_MAX;
        if (!pattern && (d == NULL || (d->flags & SETTING_DYNAMIC) == 0)) {
            fixed[n++] = key;
        }
    }
    java_set_order(fixed, n);
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(&names, "%s%.*s", i > 0 ? ", " : "", STR_ARG(fixed[i]));
    }
    for (uint32_t i = 0; i < rq->n_names; i++) {
        const struct index_meta *m = cluster_index(cur, rq->names[i]);
        if (!m->closed) {
            buf_printf(&indices, "%s[%.*s/%.*s]", indices.n > 0 ? ", " : "", STR_ARG(m->name),
                       STR_ARG(m->uuid));
        }
    }
    if (names.n > 0 && indices.n > 0) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "Can't update non dynamic settings [[%.*s]] for open indices [%.*s]",
                    STR_ARG(buf_view(&names)), STR_ARG(buf_view(&indices)));
    }
    buf_fini(&names);
    buf_fini(&indices);
    return e;
}

static enum err update_one(const struct metadata_env *env, const struct cluster_state *cur,
                           const struct index_meta *old, struct meta_request *rq,
                           const struct settings *given, struct state_builder *b, struct errmsg *em)
{
    char what[256]; /* a name is no longer */
    struct index_meta *m = index_meta_copy(old);
    if (m == NULL) {
        return err_no_memory(em);
    }
    snprintf(what, sizeof(what), "%.*s", STR_ARG(old->name));
    struct settings_change c = {
        .registry = &setting_registry_index, .what = what, .only_dynamic = !old->closed};
    enum err e = settings_apply(&c, &m->settings, given, NULL, em);
    if (e == ERR_OK && rq->preserve_existing && !settings_merge(&m->settings, &old->settings)) {
        e = err_no_memory(em);
    }
    e = e == ERR_OK ? index_replicas_follow(m, cur, em) : e;
    if (e == ERR_OK && old->closed) {
        e = env->check_analysis(env->self, &m->settings, em);
    }
    if (e != ERR_OK || !c.changed) {
        state_part_unref(&m->part);
        return e;
    }
    m->version++;
    m->settings_version++;
    rq->changed = true;
    return state_put_index(b, m) ? ERR_OK : err_no_memory(em);
}

/* The copies that the request asks for, in all of its indices together. */
static enum err check_replicas(const struct cluster_state *cur, const struct meta_request *rq,
                               const struct settings *given, struct errmsg *em)
{
    const enum setting_id id = SET_INDEX_NUMBER_OF_REPLICAS;
    return setting_find(given, id) != NULL ? shard_limit_replicas(cur, rq, setting_i64(given, id), em)
                                           : ERR_OK;
}

enum err meta_update_settings(const struct metadata_env *env, const struct cluster_state *cur,
                              struct meta_request *rq, struct state_builder *b, struct errmsg *em)
{
    struct settings given, raw;
    settings_init(&given, &rq->arena);
    settings_init(&raw, &rq->arena);
    enum err e = index_settings_given(&given, &rq->body, em);
    e = e == ERR_OK && rq->body.type == JSON_OBJECT ? settings_from_json(&raw, &rq->body, STR(""), em) : e;
    if (e == ERR_OK && !only_lifts_blocks(&raw)) {
        e = check_blocks(cur, rq, em);
    }
    e = e == ERR_OK ? settings_check(&setting_registry_index, &given, true, em) : e;
    for (uint32_t i = 0; e == ERR_OK && i < rq->n_names; i++) {
        e = cluster_index(cur, rq->names[i]) != NULL ? ERR_OK : no_such_index(rq->names[i], em);
    }
    e = e == ERR_OK ? refuse_static(cur, rq, &given, em) : e;
    e = e == ERR_OK ? check_replicas(cur, rq, &given, em) : e;
    for (uint32_t i = 0; e == ERR_OK && i < rq->n_names; i++) {
        e = update_one(env, cur, cluster_index(cur, rq->names[i]), rq, &given, b, em);
    }
    return e == ERR_OK ? index_refuse_removed(&given, em) : e;
}
