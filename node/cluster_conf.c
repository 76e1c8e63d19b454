#include "node/cluster_conf.h"

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
    static const char *const keys[] = {"transport.bind_host", "transport.host", "network.bind_host",
                                       "network.host"};
    struct str *v = NULL;
    uint32_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(keys) && n == 0; i++) {
        if (!settings_list(s, keys[i], arena, &v, &n)) {
            return err_no_memory(em);
        }
    }
    struct str host = n == 0 ? STR("127.0.0.1") : v[0];
    if (str_is(host, "_local_") || str_is(host, "localhost")) {
        host = STR("127.0.0.1");
    } else if (str_is(host, "_site_") || str_is(host, "_global_")) {
        host = STR("0.0.0.0");
    }
    struct str ports = arena_str(arena, settings_str(s, "transport.port", STR("9300-9400")));
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
    bool given = settings_find(s, STR("discovery.seed_hosts")) != NULL;
    const char *key = given ? "discovery.seed_hosts" : "discovery.zen.ping.unicast.hosts";
    if (!settings_list(s, key, arena, &v, &n)) {
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
    static const char *const parts[] = {"interval", "timeout", "retry_count"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        char leader[64], follower[64];
        snprintf(leader, sizeof(leader), "cluster.fault_detection.leader_check.%s", parts[i]);
        snprintf(follower, sizeof(follower), "cluster.fault_detection.follower_check.%s", parts[i]);
        struct str a = settings_str(s, leader, STR_NULL), b = settings_str(s, follower, STR_NULL);
        if (a.p != NULL && b.p != NULL && !str_eq(a, b)) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] and [%s] must be the same", leader, follower);
        }
    }
    return ERR_OK;
}

/* Seeds come from the settings alone. */
static enum err check_providers(const struct settings *s, struct arena *arena, struct errmsg *em)
{
    struct str *v;
    uint32_t n;
    if (!settings_list(s, "discovery.seed_providers", arena, &v, &n)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!str_is(str_trim(v[i]), "settings")) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown seed providers [%.*s]", STR_ARG(v[i]));
        }
    }
    return ERR_OK;
}

static enum err read_times(struct cluster_conf *out, const struct settings *s, struct errmsg *em)
{
    struct quorum_settings *q = &out->quorum;
    const struct {
        const char *key;
        int64_t *ms;
    } times[] = {{"cluster.election.initial_timeout", &q->election_initial_ms},
                 {"cluster.election.back_off_time", &q->election_backoff_ms},
                 {"cluster.election.max_timeout", &q->election_max_ms},
                 {"cluster.election.duration", &q->election_duration_ms},
                 {"cluster.fault_detection.leader_check.interval", &q->check_interval_ms},
                 {"cluster.fault_detection.follower_check.interval", &q->check_interval_ms},
                 {"cluster.fault_detection.leader_check.timeout", &q->check_timeout_ms},
                 {"cluster.fault_detection.follower_check.timeout", &q->check_timeout_ms},
                 {"cluster.publish.timeout", &q->publish_timeout_ms},
                 {"cluster.follower_lag.timeout", &q->lag_timeout_ms},
                 {"discovery.find_peers_interval", &q->find_interval_ms},
                 {"discovery.request_peers_timeout", &q->request_timeout_ms},
                 {"cluster.join.timeout", &q->join_timeout_ms},
                 {"discovery.initial_state_timeout", &out->initial_state_timeout_ms}};
    int64_t retries = q->check_retries;
    enum err e = ERR_OK;
    for (size_t i = 0; i < ARRAY_LEN(times) && e == ERR_OK; i++) {
        e = settings_time_ms(s, times[i].key, *times[i].ms, times[i].ms, em);
        if (e == ERR_OK && *times[i].ms < 0) {
            e = err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] must not be negative", times[i].key);
        }
    }
    e = e == ERR_OK
            ? settings_i64(s, "cluster.fault_detection.follower_check.retry_count", retries, &retries, em)
            : e;
    e = e == ERR_OK
            ? settings_i64(s, "cluster.fault_detection.leader_check.retry_count", retries, &retries, em)
            : e;
    if (e == ERR_OK && (retries < 1 || retries > 1000)) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "[cluster.fault_detection.*.retry_count] must be between 1 and 1000");
    }
    q->check_retries = (uint32_t)retries;
    return e == ERR_OK
               ? settings_bool(s, "cluster.auto_shrink_voting_configuration", true, &q->auto_shrink, em)
               : e;
}

enum err cluster_conf_read(struct cluster_conf *out, const struct settings *s, struct str node_name,
                           bool master_eligible, struct arena *arena, struct errmsg *em)
{
    static const char *const speak_of_others[] = {"discovery.seed_hosts", "discovery.seed_providers",
                                                  "cluster.initial_master_nodes",
                                                  "discovery.zen.ping.unicast.hosts"};
    struct str type = settings_str(s, "discovery.type", STR("zen"));
    bool single = str_is(type, "single-node"), alone = true;
    *out = (struct cluster_conf){.cluster_name = settings_str(s, "cluster.name", STR(CLUSTER_NAME_DEFAULT)),
                                 .initial_state_timeout_ms = 30000};
    quorum_settings_init(&out->quorum);
    for (size_t i = 0; i < ARRAY_LEN(speak_of_others); i++) {
        alone &= settings_find(s, str_of(speak_of_others[i])) == NULL;
    }
    if (!single && !str_is(type, "zen")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown discovery type [%.*s]", STR_ARG(type));
    }
    if (single && settings_find(s, STR("cluster.initial_master_nodes")) != NULL) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "setting [cluster.initial_master_nodes] is not allowed when [discovery.type] is set to "
            "[single-node]");
    }
    if (!settings_list(s, "cluster.initial_master_nodes", arena, &out->initial_masters,
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
    e = e == ERR_OK ? read_seeds(out, s, single || alone, arena, em) : e;
    return e == ERR_OK ? read_times(out, s, em) : e;
}
