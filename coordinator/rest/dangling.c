/* Questions that have one answer on every node here: dangling indices (a copy without metadata is removed, never offered), features with
 * state of their own, secure settings. */
#include "coordinator/core/node_calls.h"
#include "coordinator/rest/nodes.h"

#include "common/base/jsonr_object.h"

/* ---- dangling indices ---------------------------------------------------------------------------------- */

static void dangling_done(struct node_calls *c)
{
    struct rest *r = rest_of(c->r);
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    node_calls_write_head(c, &w);
    jw_kstr(&w, "cluster_name", r->co->o.cluster_name);
    jw_karr(&w, "dangling_indices");
    jw_arr_end(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

static void list_dangling(struct rest *r)
{
    struct node_info_question q = {0};
    if (rest_ready(r)) {
        nodes_ask(r, &message_node_info, STR(""), &q, 0, dangling_done, NULL);
    }
}

/* Import and deletion: there is none of that UUID. */
static void change_dangling(struct rest *r)
{
    static const char *const flags[] = {"accept_data_loss"};
    struct str uuid = rest_param(r, "uuid");
    enum err e = rest_check_bools(r, flags, ARRAY_LEN(flags));
    e = e == ERR_OK ? rest_check_time(r, "timeout") : e;
    e = e == ERR_OK ? rest_check_time(r, "master_timeout") : e;
    if (!rest_goes_on(r, e)) {
        return;
    }
    err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "No dangling index found for UUID [%.*s]", STR_ARG(uuid));
    rest_fail(r, NULL);
}

/* ---- features ------------------------------------------------------------------------------------------ */

static void list_features(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    if (!rest_goes_on(r, rest_check_time(r, "master_timeout"))) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_karr(&w, "features");
    jw_obj(&w);
    jw_kz(&w, "name", "tasks");
    jw_kz(&w, "description", "Manages task results");
    jw_obj_end(&w);
    jw_arr_end(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

/* ---- secure settings: there is no keystore ------------------------------------------------------------- */

static void reload_done(struct node_calls *c)
{
    struct rest *r = rest_of(c->r);
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    node_calls_write_head(c, &w);
    jw_kstr(&w, "cluster_name", r->co->o.cluster_name);
    jw_kobj(&w, "nodes");
    for (uint32_t i = 0; i < c->n; i++) {
        if (!err_is(&c->v[i].error)) {
            jw_key(&w, c->v[i].node->id);
            jw_obj(&w);
            jw_kstr(&w, "name", c->v[i].node->name);
            jw_kobj(&w, "reload_exception");
            jw_kz(&w, "type", err_type(ERR_ILLEGAL_STATE));
            jw_kz(&w, "reason", "Keystore is missing");
            jw_obj_end(&w);
            jw_obj_end(&w);
        }
    }
    jw_obj_end(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

static enum err password(struct jr_reader *rd, void *to, const char *field, const struct json *v)
{
    (void)rd, (void)to, (void)field, (void)v; /* it opens nothing */
    return ERR_OK;
}

static enum err read_password(struct rest *r, const struct json *body)
{
    static const struct jr_field fields[] = {
        {"secure_settings_password", JR_BY_READER(JR_STRING), JR_SETTER}};
    static const struct jr_object object = {"reload_secure_settings", fields, ARRAY_LEN(fields), password,
                                            NULL};
    struct jr_reader rd = {.text = r->body, .arena = r->arena, .em = &r->em};
    return body != NULL ? jr_object_at(&rd, &object, r, body) : ERR_OK;
}

static void reload_secure(struct rest *r)
{
    struct node_info_question q = {0};
    const struct json *body = NULL;
    int64_t timeout_ms;
    struct str node = rest_param(r, "node");
    enum err e = rest_time_as(r, "timeout", "NodesReloadSecureSettingsRequest.timeout", 0, &timeout_ms);
    e = e == ERR_OK ? rest_body(r, &body) : e;
    e = e == ERR_OK ? read_password(r, body) : e;
    if (rest_goes_on(r, e)) {
        nodes_ask(r, &message_node_info, node, &q, timeout_ms, reload_done, NULL);
    }
}

const struct route routes_dangling[] = {
    {M_GET, "/_dangling", list_dangling},
    {M_POST | M_DELETE, "/_dangling/{uuid}", change_dangling},
    {M_GET, "/_features", list_features},
    {M_POST, "/_nodes/reload_secure_settings", reload_secure},
    {M_POST, "/_nodes/{node}/reload_secure_settings", reload_secure},
};
const size_t routes_dangling_n = ARRAY_LEN(routes_dangling);
