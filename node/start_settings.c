#include "node/start_settings.h"

#include "common/settings/setting_registry.h"
#include "master/metadata.h"

/* Of Elasticsearch's extensions: none is offered. */
static bool is_extension(struct str key)
{
    return str_starts(key, STR("xpack."));
}

static bool is_security(struct str key)
{
    return str_starts(key, STR("xpack.security.")) || str_starts(key, STR("xpack.ssl."))
           || str_starts(key, STR("xpack.http.ssl."));
}

enum err start_settings_check(const struct settings *s, struct errmsg *em)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct setting *t = &s->v[i];
        const struct setting_def *def = setting_def_find(&setting_registry_cluster, t->key);
        if (is_security(t->key) && !t->is_null && !str_is(t->value, "false")) {
            return err_set(
                em, ERR_ILLEGAL_ARGUMENT,
                "[%.*s] is not offered: this program knows no users and no encryption, and whoever "
                "reaches its ports may read and change everything. Take the setting away, and "
                "keep the ports closed to others",
                STR_ARG(t->key));
        }
        enum err e = def != NULL ? setting_check(def, t, em) : ERR_OK;
        if (e != ERR_OK) {
            return e;
        }
    }
    return cluster_settings_fit(s, em);
}

void start_settings_warn(const struct settings *s, const struct log *log)
{
    struct buf names;
    buf_init(&names, NULL, BUF_UNLIMITED);
    if (settings_without_effect(&setting_registry_cluster, s, &names) > 0) {
        log_warn(log, "node", "settings without effect: %.*s", STR_ARG(buf_view(&names)));
    }
    buf_fini(&names);
    for (size_t i = 0; i < s->n; i++) {
        struct str key = s->v[i].key;
        if (str_starts(key, STR("cluster.blocks."))) {
            log_warn(log, "node",
                     "[%.*s] has no effect where a node is started: it is the cluster's, see PUT "
                     "/_cluster/settings",
                     STR_ARG(key));
        } else if (is_extension(key)) {
            log_warn(log, "node", "[%.*s] has no effect: there are no extensions", STR_ARG(key));
        }
    }
}
