/* The cluster's settings. */
#include "coordinator/rest/meta.h"

#include "common/settings/setting_registry.h"

static const struct settings *settings_in(const struct settings_part *p)
{
    static const struct settings none = {0};
    return p != NULL ? &p->settings : &none;
}

/* ---- GET, PUT /_cluster/settings --------------------------------------------------------------------- */

/* The settings of the node's start are defaults here. */
static bool put_own(const struct settings *own, const struct settings *persistent,
                    const struct settings *transient, struct settings *d)
{
    bool ok = true;
    for (size_t i = 0; ok && i < own->n; i++) {
        const struct setting *s = &own->v[i];
        bool over = settings_find(persistent, s->key) != NULL || settings_find(transient, s->key) != NULL;
        ok = over || s->is_null
             || (s->is_list ? settings_put_list(d, s->key, s->items, s->n)
                            : settings_put(d, s->key, s->value));
    }
    return ok;
}

static enum err write_defaults(struct rest *r, bool flat, struct jsonw *w)
{
    struct settings d;
    const struct settings *persistent = settings_in(r->state->persistent),
                          *transient = settings_in(r->state->transient);
    settings_init(&d, r->arena);
    bool ok =
        settings_put_defaults(&setting_registry_cluster, persistent, transient, r->co->o.node_settings, &d);
    const struct settings *own = r->co->o.node_settings;
    ok = ok && (own->behind == NULL || put_own(own->behind, persistent, transient, &d))
         && put_own(own, persistent, transient, &d);
    if (!ok) {
        return err_no_memory(&r->em);
    }
    jw_k(w, "defaults");
    settings_write(&d, w, flat);
    return ERR_OK;
}

static void get_settings(struct rest *r)
{
    bool flat, defaults;
    struct buf b;
    struct jsonw w;
    enum err e = rest_check_bool(r, "local");
    e = e == ERR_OK ? rest_check_time(r, "master_timeout") : e;
    e = e == ERR_OK ? rest_bool(r, "flat_settings", false, &flat) : e;
    e = e == ERR_OK ? rest_bool(r, "include_defaults", false, &defaults) : e;
    if (!rest_reads_state(r, e)) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_k(&w, "persistent");
    settings_write(settings_in(r->state->persistent), &w, flat);
    jw_k(&w, "transient");
    settings_write(settings_in(r->state->transient), &w, flat);
    e = defaults ? write_defaults(r, flat, &w) : ERR_OK;
    jw_obj_end(&w);
    rest_send_or_fail(r, e, &b);
}

static void put_answer(struct rest *r, struct meta_request *rq)
{
    struct buf b;
    if (err_is(&rq->error)) {
        rest_fail(r, &rq->error);
        rest_meta_free(rq);
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_str(&b, rq->response);
    rest_meta_free(rq);
    rest_send(r, 200, &b);
}

static enum err check_body(struct rest *r, const struct json *body)
{
    const struct json *p = json_get(body, "persistent"), *t = json_get(body, "transient");
    if ((p != NULL && p->type != JSON_OBJECT) || (t != NULL && t->type != JSON_OBJECT)) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "settings must be an object");
    }
    if ((p == NULL || p->n == 0) && (t == NULL || t->n == 0)) {
        return err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: no settings to update;");
    }
    return ERR_OK;
}

static void put_settings(struct rest *r)
{
    const struct json *body;
    int64_t timeout_ms;
    bool flat;
    enum err e = rest_meta_timeouts(r, &timeout_ms);
    e = e == ERR_OK ? rest_bool(r, "flat_settings", false, &flat) : e;
    e = e == ERR_OK ? rest_body_required(r, &body) : e;
    e = e == ERR_OK ? check_body(r, body) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_ready(r) ? rest_meta(r, META_CLUSTER_SETTINGS, NULL, 0) : NULL;
    if (rq != NULL) {
        rq->body = *body;
        rq->flat = flat;
        rq->timeout_ms = timeout_ms;
        rest_meta_then(r, rq, put_answer);
    }
}

/* No setting names a remote cluster. */
static void remote_info(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    if (!rest_ready(r)) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

const struct route routes_cluster_settings[] = {
    {M_GET, "/_remote/info", remote_info},
    {M_GET, "/_cluster/settings", get_settings},
    {M_PUT, "/_cluster/settings", put_settings},
};
const size_t routes_cluster_settings_n = ARRAY_LEN(routes_cluster_settings);
