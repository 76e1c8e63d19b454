#include "node/announce.h"

#include "common/base/version.h"
#include "common/settings/setting_read.h"
#include "master/cluster.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- start --------------------------------------------------------------------------------------------- */

static bool is_loopback(struct str address)
{
    return str_starts(address, STR("127.")) || str_starts(address, STR("[::1]"));
}

/* Of a range, the first port that is free is taken: whoever counts on the first one may be talking to another node. */
static void say_port(const struct log *log, const char *what, struct str range, struct str address)
{
    unsigned long wanted = range.n > 0 ? strtoul(range.p, NULL, 10) : 0; /* settings end in a NUL */
    size_t colon = str_rfind(address, ':');
    unsigned long got = colon != SIZE_MAX ? strtoul(address.p + colon + 1, NULL, 10) : wanted;
    if (wanted != 0 && got != wanted) {
        log_warn(log, "node", "port %lu is taken: %s listens on port %lu", wanted, what, got);
    }
}

void announce_start(const struct log *log, const struct settings *s, const struct self *me, const char *conf)
{
    struct buf roles;
    buf_init(&roles, NULL, BUF_UNLIMITED);
    self_roles_text(me, &roles);
    log_info(log, "node",
             "Serai %s started: pid %ld, HTTP %.*s, transport %.*s, roles [%.*s], data [%.*s], settings [%s]",
             SERAI_VERSION, (long)getpid(), STR_ARG(me->http_address), STR_ARG(me->transport_address),
             STR_ARG(buf_view(&roles)), STR_ARG(me->data_dir), conf != NULL ? conf : "");
    buf_fini(&roles);
    say_port(log, "HTTP", setting_str(s, SET_HTTP_PORT), me->http_address);
    say_port(log, "transport", setting_str(s, SET_TRANSPORT_PORT), me->transport_address);
    if (!is_loopback(me->http_address) || !is_loopback(me->transport_address)) {
        log_warn(
            log, "node",
            "other machines may reach this node, and there are no users and no encryption: keep both ports "
            "inside your network");
    }
}

/* ---- no master ------------------------------------------------------------------------------------------- */

void announce_forming(struct announcer *a, const struct log *log, const struct cluster *c,
                      const struct settings *s, int64_t now_ms)
{
    int64_t every = setting_ms(s, SET_DISCOVERY_CLUSTER_FORMATION_WARNING_TIMEOUT);
    struct buf why;
    buf_init(&why, NULL, BUF_UNLIMITED);
    if (!cluster_is_forming(c, &why)) {
        a->forming_ms = 0;
    } else if (a->forming_ms == 0) {
        a->forming_ms = a->told_ms = now_ms;
    } else if (now_ms - a->told_ms >= every) {
        a->told_ms = now_ms;
        log_warn(log, "master", "no master for %llds: %.*s", (long long)((now_ms - a->forming_ms) / 1000),
                 STR_ARG(buf_view(&why)));
    }
    buf_fini(&why);
}

/* ---- changes --------------------------------------------------------------------------------------------- */

/* One setting; NULL: it is not there. */
static void say_setting(const struct log *log, const char *of, struct str name, const struct setting *before,
                        const struct setting *now)
{
    struct buf texts[2];
    for (size_t i = 0; i < 2; i++) {
        const struct setting *t = i == 0 ? before : now;
        buf_init(&texts[i], NULL, BUF_UNLIMITED);
        if (t != NULL) {
            settings_put_text(t, &texts[i]);
        }
    }
    struct str key = (now != NULL ? now : before)->key, from = buf_view(&texts[0]), to = buf_view(&texts[1]);
    if (before == NULL || now == NULL || !str_eq(from, to)) {
        log_info(log, "settings", "%s%.*s: [%.*s] from [%.*s] to [%.*s]", of, STR_ARG(name), STR_ARG(key),
                 STR_ARG(from), STR_ARG(to));
    }
    buf_fini(&texts[0]);
    buf_fini(&texts[1]);
}

/* Those in which the two differ; NULL: there are none. */
static void say_settings(const struct log *log, const char *of, struct str name,
                         const struct settings *before, const struct settings *now)
{
    for (size_t i = 0; now != NULL && i < now->n; i++) {
        say_setting(log, of, name, before != NULL ? settings_find(before, now->v[i].key) : NULL, &now->v[i]);
    }
    for (size_t i = 0; before != NULL && i < before->n; i++) {
        if (now == NULL || settings_find(now, before->v[i].key) == NULL) {
            say_setting(log, of, name, &before->v[i], NULL);
        }
    }
}

static void say_index(const struct log *log, const struct index_meta *before, const struct index_meta *now)
{
    const struct index_meta *m = now != NULL ? now : before;
    if (before == NULL) {
        log_info(log, "indices", "[%.*s] created: %u shards, %u replicas", STR_ARG(m->name), m->n_shards,
                 m->n_replicas);
    } else if (now == NULL) {
        log_info(log, "indices", "[%.*s] deleted", STR_ARG(m->name));
    } else {
        if (before->closed != now->closed) {
            log_info(log, "indices", "[%.*s] %s", STR_ARG(m->name), now->closed ? "closed" : "opened");
        }
        if (before->settings_version != now->settings_version) {
            say_settings(log, "index ", m->name, &before->settings, &now->settings);
        }
    }
}

/* Both lists are sorted by name. An index of the same name and another uuid is another one. */
static void say_indices(const struct log *log, const struct cluster_state *before,
                        const struct cluster_state *now)
{
    uint32_t i = 0, k = 0;
    while (i < before->n_indices || k < now->n_indices) {
        const struct index_meta *a = i < before->n_indices ? before->indices[i] : NULL;
        const struct index_meta *b = k < now->n_indices ? now->indices[k] : NULL;
        int order = a == NULL ? 1 : b == NULL ? -1 : str_cmp(a->name, b->name);
        i += order <= 0;
        k += order >= 0;
        if (order == 0 && a == b) {
            continue;
        }
        if (order == 0 && str_eq(a->uuid, b->uuid)) {
            say_index(log, a, b);
            continue;
        }
        if (order <= 0) {
            say_index(log, a, NULL);
        }
        if (order >= 0) {
            say_index(log, NULL, b);
        }
    }
}

static const struct settings *of_part(const struct settings_part *p)
{
    return p != NULL ? &p->settings : NULL;
}

void announce_changes(struct announcer *a, const struct log *log, struct cluster_state *now, bool is_master)
{
    const struct cluster_state *before = a->seen;
    if (before != NULL) {
        if (before->persistent != now->persistent) {
            say_settings(log, "persistent", STR_NULL, of_part(before->persistent), of_part(now->persistent));
        }
        if (before->transient != now->transient) {
            say_settings(log, "transient", STR_NULL, of_part(before->transient), of_part(now->transient));
        }
        if (is_master) {
            say_indices(log, before, now);
        }
    }
    cluster_state_unref(a->seen);
    a->seen = cluster_state_ref(now);
}

void announcer_fini(struct announcer *a)
{
    cluster_state_unref(a->seen);
    a->seen = NULL;
}
