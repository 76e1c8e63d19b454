#include "coordinator/rest/setting_warnings.h"

#include "common/settings/setting_registry.h"

/* Where the body of such a request has its settings; NULL: it has none. */
static const struct json *settings_of(const struct meta_request *rq, unsigned part)
{
    const struct json *body = &rq->body;
    if (rq->action == META_CLUSTER_SETTINGS) {
        return json_get(body, part == 0 ? "persistent" : "transient");
    }
    if (part != 0) {
        return NULL;
    }
    if (rq->action == META_PUT_TEMPLATE) {
        body = rq->template_kind == TEMPLATE_LEGACY ? body : json_get(body, "template");
        return body != NULL ? json_get(body, "settings") : NULL;
    }
    return rq->action == META_UPDATE_SETTINGS ? body
           : rq->action == META_CREATE_INDEX  ? json_get(body, "settings")
                                              : NULL;
}

/* Below "index." each, however they were given. */
static bool put_whole(struct settings *to, const struct setting *s)
{
    struct str key =
        str_starts(s->key, STR("index.")) ? s->key : arena_printf(to->arena, "index.%.*s", STR_ARG(s->key));
    return key.p != NULL
           && (s->is_null   ? settings_put_null(to, key)
               : s->is_list ? settings_put_list(to, key, s->items, s->n)
                            : settings_put(to, key, s->value));
}

static bool read_settings(struct settings *out, const struct json *given, bool of_cluster)
{
    struct settings raw;
    settings_init(&raw, out->arena);
    bool ok = settings_from_json(of_cluster ? out : &raw, given, STR(""), NULL) == ERR_OK;
    for (size_t i = 0; ok && i < raw.n; i++) {
        ok = put_whole(out, &raw.v[i]);
    }
    return ok; /* else the request is refused anyway */
}

void setting_warnings(struct rest *r, const struct meta_request *rq)
{
    bool of_cluster = rq->action == META_CLUSTER_SETTINGS;
    struct settings given;
    struct buf names;
    settings_init(&given, r->arena);
    for (unsigned part = 0; r->http != NULL && part < 2; part++) {
        const struct json *s = settings_of(rq, part);
        if (json_is(s, JSON_OBJECT) && !read_settings(&given, s, of_cluster)) {
            return;
        }
    }
    buf_init(&names, NULL, BUF_UNLIMITED);
    size_t n = settings_without_effect(of_cluster ? &setting_registry_cluster : &setting_registry_index,
                                       &given, &names);
    if (n > 0 && !names.failed) {
        rest_warn_idle(r, buf_view(&names), n);
    }
    buf_fini(&names);
}
