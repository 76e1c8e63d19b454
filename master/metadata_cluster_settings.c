/* The cluster's own settings: persistent ones survive restarts, transient ones override them until then. */
#include "master/metadata_int.h"

#include "common/base/time_text.h"
#include "common/cluster/blocks.h"
#include "common/cluster/script_settings.h"
#include "common/settings/setting_read.h"
#include "common/settings/setting_registry.h"

static enum err change(struct meta_request *rq, const struct settings_part *old, bool persistent,
                       struct settings *updates, struct state_builder *b, struct errmsg *em)
{
    const char *name = persistent ? "persistent" : "transient";
    const struct json *body = json_get(&rq->body, name);
    struct settings given;
    struct settings_part *next = settings_part_new(old != NULL ? &old->settings : NULL);
    if (next == NULL) {
        return err_no_memory(em);
    }
    settings_init(&given, &rq->arena);
    struct settings_change c = {.registry = &setting_registry_cluster, .what = name, .only_dynamic = true};
    enum err e = body != NULL ? settings_from_json(&given, body, STR(""), em) : ERR_OK;
    e = e == ERR_OK ? settings_apply(&c, &next->settings, &given, updates, em) : e;
    if (e != ERR_OK || !c.changed) {
        state_part_unref(&next->part);
        return e;
    }
    state_put_settings(b, next, persistent);
    rq->changed = true;
    return ERR_OK;
}

static enum err answer(struct meta_request *rq, const struct settings *persistent,
                       const struct settings *transient, struct errmsg *em)
{
    struct buf out;
    struct jsonw w;
    buf_init(&out, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &out, false);
    jw_obj(&w);
    jw_kbool(&w, "acknowledged", true);
    jw_k(&w, "persistent");
    settings_write(persistent, &w, rq->flat);
    jw_k(&w, "transient");
    settings_write(transient, &w, rq->flat);
    jw_obj_end(&w);
    rq->response = out.failed ? STR_NULL : arena_str(&rq->arena, buf_view(&out));
    buf_fini(&out);
    return rq->response.p != NULL ? ERR_OK : err_no_memory(em);
}

/* A block may always be lifted, by a request that does nothing else. */
static enum err lifts_block(struct meta_request *rq, bool *lifts, struct errmsg *em)
{
    static const char *const names[] = {"persistent", "transient"};
    struct settings given;
    enum err e = ERR_OK;
    settings_init(&given, &rq->arena);
    for (size_t i = 0; e == ERR_OK && i < ARRAY_LEN(names); i++) {
        const struct json *body = json_get(&rq->body, names[i]);
        e = body != NULL ? settings_from_json(&given, body, STR(""), em) : ERR_OK;
    }
    *lifts = given.n == 1
             && (settings_find(&given, setting_name(SET_CLUSTER_BLOCKS_READ_ONLY)) != NULL
                 || settings_find(&given, setting_name(SET_CLUSTER_BLOCKS_READ_ONLY_ALLOW_DELETE)) != NULL);
    return e;
}

/* "5m", as Elasticsearch words a time. */
static void put_ms(struct buf *b, int64_t ms)
{
    time_put_ns(b, MIN_OF(ms, INT64_MAX / 1000000) * 1000000);
}

enum err cluster_settings_fit(const struct settings *all, struct errmsg *em)
{
    const int64_t keep = setting_ms(all, SET_SEARCH_DEFAULT_KEEP_ALIVE),
                  most = setting_ms(all, SET_SEARCH_MAX_KEEP_ALIVE);
    struct buf was;
    enum err e = ERR_OK;
    buf_init(&was, NULL, BUF_UNLIMITED);
    if (keep > most) {
        put_ms(&was, keep);
        buf_printf(&was, " > ");
        put_ms(&was, most);
        e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "Default keep alive setting for request [search.default_keep_alive] should be smaller "
                    "than max keep alive [search.max_keep_alive], was (%.*s)",
                    STR_ARG(buf_view(&was)));
    }
    buf_fini(&was);
    e = e == ERR_OK ? script_settings_check(all, em) : e;
    return e == ERR_OK ? watermarks_check(all, em) : e;
}

enum err meta_cluster_settings(const struct cluster_state *cur, struct meta_request *rq,
                               struct state_builder *b, struct errmsg *em)
{
    struct settings persistent, transient, behind;
    settings_init(&persistent, &rq->arena);
    settings_init(&transient, &rq->arena);
    bool lifts = false;
    enum err e = lifts_block(rq, &lifts, em);
    e = e == ERR_OK && !lifts ? cluster_block_check(cur, BLOCK_METADATA_WRITE, em) : e;
    e = e == ERR_OK ? change(rq, cur->transient, false, &transient, b, em) : e;
    e = e == ERR_OK ? change(rq, cur->persistent, true, &persistent, b, em) : e;
    struct settings all = cluster_settings(b->next, &behind);
    e = e == ERR_OK ? cluster_settings_fit(&all, em) : e;
    return e == ERR_OK ? answer(rq, &persistent, &transient, em) : e;
}
