#include "node/cluster_conf.h"

#include "common/settings/setting_read.h"
#include "master/metadata.h"

#include <stdio.h>
#include <stdlib.h>

#define PORT_FIRST 9300
#define SEED_PORTS 6 /* of this machine, that a node without seeds looks at */

/* ---- addresses ----------------------------------------------------------------------------------------- */

/* "9300" or "9300-9400". */
/* "9300", "9300-9400"; "0": any free one. */
static bool read_ports(struct str text, unsigned *first, unsigned *last)
{
    struct str high, low = str_cut(text, '-', &high);
    char *end;
    unsigned long a = strtoul(low.p, &end, 10), b = a;
    bool ok = low.n > 0 && end == low.p + low.n;
    if (ok && high.n > 0) {
        b = strtoul(high.p, &end, 10);
        ok = end == high.p + high.n;
    }
    *first = (unsigned)a;
    *last = (unsigned)b;
    return ok && (a > 0 || b == 0) && a <= b && b <= 65535;
}

static enum err read_bind(struct cluster_conf *out, const struct settings *s, struct arena *arena,
                          struct errmsg *em)
{
    static const enum setting_id ids[] = {SET_TRANSPORT_BIND_HOST, SET_TRANSPORT_HOST, SET_NETWORK_BIND_HOST,
                                          SET_NETWORK_HOST};
    struct str *v = NULL;
    uint32_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(ids) && n == 0; i++) {
        if (!setting_list(s, ids[i], arena, &v, &n)) {
            return err_no_memory(em);
        }
    }
    struct str host = n == 0 ? STR("127.0.0.1") : v[0];
    if (str_is(host, "_local_") || str_is(host, "localhost")) {
        host = STR("127.0.0.1");
    } else if (str_is(host, "_site_") || str_is(host, "_global_")) {
        host = STR("0.0.0.0");
    }
    struct str ports = arena_str(arena, setting_str(s, SET_TRANSPORT_PORT));
    out->bind_host = arena_str(arena, host);
    if (ports.p == NULL || out->bind_host.p == NULL) {
        return err_no_memory(em);
    }
    return read_ports(ports, &out->port_first, &out->port_last)
               ? ERR_OK
               : err_set(em, ERR_ILLEGAL_ARGUMENT,
                         "[transport.port] is no port and no range of ports: [%.*s]", STR_ARG(ports));
}

/* "host", "host:port", "[v6]", "[v6]:port" -> with a port. */
static struct str with_port(struct str seed, struct arena *arena)
{
    size_t colon = str_find(seed, ':', 0);
    bool v6 = seed.n > 0 && seed.p[0] == '[';
    bool has = v6 ? str_find(seed, ']', 0) + 1 < seed.n : colon != SIZE_MAX;
    return has ? arena_str(arena, seed) : arena_printf(arena, "%.*s:%d", STR_ARG(seed), PORT_FIRST);
}

static enum err read_seeds(struct cluster_conf *out, const struct settings *s, bool alone,
                           struct arena *arena, struct errmsg *em)
{
    struct str *v = NULL;
    uint32_t n = 0;
    bool given = setting_find(s, SET_DISCOVERY_SEED_HOSTS) != NULL;
    if (!setting_list(s, given ? SET_DISCOVERY_SEED_HOSTS : SET_DISCOVERY_ZEN_PING_UNICAST_HOSTS, arena, &v,
                      &n)) {
        return err_no_memory(em);
    }
    bool nearby = !given && n == 0 && !alone; /* other nodes of this machine */
    out->seeds = ARENA_ARRAY(arena, struct str, (size_t)n + SEED_PORTS);
    bool ok = out->seeds != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        struct str seed = str_trim(v[i]);
        if (seed.n > 0) {
            out->seeds[out->n_seeds] = with_port(seed, arena);
            ok = out->seeds[out->n_seeds++].p != NULL;
        }
    }
    for (int i = 0; ok && nearby && i < SEED_PORTS; i++) {
        out->seeds[out->n_seeds] = arena_printf(arena, "127.0.0.1:%d", PORT_FIRST + i);
        ok = out->seeds[out->n_seeds++].p != NULL;
    }
    return ok ? ERR_OK : err_no_memory(em);
}

/* ---- times --------------------------------------------------------------------------------------------- */

/* Both sides check each other in the same way: what is set for one must not be something else for the other. */
static enum err check_both_sides(const struct settings *s, struct errmsg *em)
{
    static const enum setting_id leader[] = {SET_CLUSTER_FAULT_DETECTION_LEADER_CHECK_INTERVAL,
                                             SET_CLUSTER_FAULT_DETECTION_LEADER_CHECK_TIMEOUT,
                                             SET_CLUSTER_FAULT_DETECTION_LEADER_CHECK_RETRY_COUNT},
                                 follower[] = {SET_CLUSTER_FAULT_DETECTION_FOLLOWER_CHECK_INTERVAL,
                                               SET_CLUSTER_FAULT_DETECTION_FOLLOWER_CHECK_TIMEOUT,
                                               SET_CLUSTER_FAULT_DETECTION_FOLLOWER_CHECK_RETRY_COUNT};
    for (size_t i = 0; i < ARRAY_LEN(leader); i++) {
        const struct setting *a = setting_find(s, leader[i]), *b = setting_find(s, follower[i]);
        if (a != NULL && b != NULL && !str_eq(a->value, b->value)) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] and [%s] must be the same",
                           setting_rows[leader[i]].name, setting_rows[follower[i]].name);
        }
    }
    return ERR_OK;
}

/* Seeds come from the settings alone. */
static enum err check_providers(const struct settings *s, struct arena *arena, struct errmsg *em)
{
    struct str *v;
    uint32_t n;
    if (!setting_list(s, SET_DISCOVERY_SEED_PROVIDERS, arena, &v, &n)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!str_is(str_trim(v[i]), "settings")) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown seed providers [%.*s]", STR_ARG(v[i]));
        }
    }
    return ERR_OK;
}

enum err cluster_conf_read(struct cluster_conf *out, const struct settings *s, struct str node_name,
                           bool master_eligible, struct arena *arena, struct errmsg *em)
{
    static const enum setting_id speak_of_others[] = {SET_DISCOVERY_SEED_HOSTS, SET_DISCOVERY_SEED_PROVIDERS,
                                                      SET_CLUSTER_INITIAL_MASTER_NODES,
                                                      SET_DISCOVERY_ZEN_PING_UNICAST_HOSTS};
    struct str type = setting_str(s, SET_DISCOVERY_TYPE);
    bool single = str_is(type, "single-node"), alone = true;
    *out =
        (struct cluster_conf){.cluster_name = setting_str(s, SET_CLUSTER_NAME),
                              .initial_state_timeout_ms = setting_ms(s, SET_DISCOVERY_INITIAL_STATE_TIMEOUT)};
    quorum_settings_init(&out->quorum, s);
    for (size_t i = 0; i < ARRAY_LEN(speak_of_others); i++) {
        alone &= setting_find(s, speak_of_others[i]) == NULL;
    }
    if (!single && !str_is(type, "zen")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown discovery type [%.*s]", STR_ARG(type));
    }
    if (single && setting_find(s, SET_CLUSTER_INITIAL_MASTER_NODES) != NULL) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "setting [cluster.initial_master_nodes] is not allowed when [discovery.type] is set to "
            "[single-node]");
    }
    if (!setting_list(s, SET_CLUSTER_INITIAL_MASTER_NODES, arena, &out->initial_masters,
                      &out->n_initial_masters)) {
        return err_no_memory(em);
    }
    if ((single || alone) && master_eligible) {
        out->initial_masters = ARENA_ARRAY(arena, struct str, 1);
        if (out->initial_masters == NULL) {
            return err_no_memory(em);
        }
        out->initial_masters[0] = node_name;
        out->n_initial_masters = 1;
    }
    enum err e = check_providers(s, arena, em);
    e = e == ERR_OK ? check_both_sides(s, em) : e;
    e = e == ERR_OK ? read_bind(out, s, arena, em) : e;
    return e == ERR_OK ? read_seeds(out, s, single || alone, arena, em) : e;
}
