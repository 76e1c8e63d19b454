#include "node/self.h"

#include "common/settings/setting_read.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>

/* ---- roles ------------------------------------------------------------------------------------------- */

static const char *const role_names[NODE_ROLES_N] = {
    "data",   "data_cold", "data_content", "data_frozen",           "data_hot",  "data_warm",
    "ingest", "master",    "ml",           "remote_cluster_client", "transform", "voting_only"};

static enum err read_roles(struct self *me, const struct settings *s, struct arena *arena, struct errmsg *em)
{
    struct str *v;
    uint32_t n;
    if (!setting_list(s, SET_NODE_ROLES, arena, &v, &n)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct str name = str_trim(v[i]);
        unsigned role = 0;
        while (role < NODE_ROLES_N && !str_is(name, role_names[role])) {
            role++;
        }
        if (role == NODE_ROLES_N && name.n > 0 && !str_is(name, "coordinating")) { /* every node does that */
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "unknown role [%.*s]", STR_ARG(name));
        }
        me->roles |= role < NODE_ROLES_N ? 1U << role : 0U;
    }
    return ERR_OK;
}

void self_roles_text(const struct self *me, struct buf *out)
{
    const char *between = "";
    for (unsigned i = 0; i < NODE_ROLES_N; i++) {
        if ((me->roles & 1U << i) != 0) {
            buf_printf(out, "%s%s", between, role_names[i]);
            between = ", ";
        }
    }
}

/* ---- addresses --------------------------------------------------------------------------------------- */

/* The first address of this machine that others may reach; the loopback when there is none. */
static struct str site_address(struct arena *arena)
{
    struct ifaddrs *all;
    char text[64] = "127.0.0.1";
    if (getifaddrs(&all) != 0) {
        return arena_str(arena, str_of(text));
    }
    for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
        char one[64];
        if (i->ifa_addr != NULL && i->ifa_addr->sa_family == AF_INET
            && getnameinfo(i->ifa_addr, sizeof(struct sockaddr_in), one, sizeof(one), NULL, 0, NI_NUMERICHOST)
                   == 0
            && strncmp(one, "127.", 4) != 0) {
            memcpy(text, one, sizeof(text));
            break;
        }
    }
    freeifaddrs(all);
    return arena_str(arena, str_of(text));
}

/* The first of the settings that is there says which address others are told. */
static struct str publish_host(const struct settings *s, const enum setting_id *ids, size_t n,
                               struct arena *arena)
{
    struct str *v = NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < n && count == 0; i++) {
        if (!setting_list(s, ids[i], arena, &v, &count)) {
            return STR_NULL;
        }
    }
    if (count == 0 || str_is(v[0], "localhost") || str_is(v[0], "_local_")) {
        return arena_str(arena, STR("127.0.0.1"));
    }
    if (str_is(v[0], "0.0.0.0") || str_is(v[0], "::") || str_is(v[0], "_site_") || str_is(v[0], "_global_")) {
        return site_address(arena);
    }
    return arena_str(arena, v[0]);
}

/* "9300-9400": the first port. */
static struct str address_of(struct str host, struct str ports, struct arena *arena)
{
    bool v6 = str_find(host, ':', 0) != SIZE_MAX;
    struct str rest, port = str_cut(ports, '-', &rest);
    return arena_printf(arena, v6 ? "[%.*s]:%.*s" : "%.*s:%.*s", STR_ARG(host), STR_ARG(port));
}

enum err self_init(struct self *me, const struct settings *s, struct arena *arena, struct errmsg *em)
{
    static const enum setting_id ids[] = {SET_TRANSPORT_PUBLISH_HOST, SET_TRANSPORT_HOST,
                                          SET_TRANSPORT_BIND_HOST,    SET_NETWORK_PUBLISH_HOST,
                                          SET_NETWORK_BIND_HOST,      SET_NETWORK_HOST};
    *me = (struct self){
        .cores = (unsigned)setting_i64(s, SET_PROCESSORS), .cpu_percent = -1, .process_cpu_percent = -1};
    me->host = publish_host(s, ids, ARRAY_LEN(ids), arena);
    if (me->host.p == NULL) {
        return err_no_memory(em);
    }
    cpu_sample(&me->last);
    return read_roles(me, s, arena, em);
}

enum err self_reachable(struct self *me, const struct settings *s, unsigned port, struct arena *arena,
                        struct errmsg *em)
{
    int64_t publish = setting_i64(s, SET_TRANSPORT_PUBLISH_PORT);
    struct str text = arena_printf(arena, "%lld", (long long)(publish > 0 ? publish : port));
    me->transport_address = address_of(me->host, text, arena);
    return me->transport_address.p != NULL ? ERR_OK : err_no_memory(em);
}

enum err self_listening(struct self *me, const struct settings *s, unsigned http_port, struct arena *arena,
                        struct errmsg *em)
{
    static const enum setting_id ids[] = {SET_HTTP_PUBLISH_HOST,    SET_HTTP_HOST,         SET_HTTP_BIND_HOST,
                                          SET_NETWORK_PUBLISH_HOST, SET_NETWORK_BIND_HOST, SET_NETWORK_HOST};
    struct str host = publish_host(s, ids, ARRAY_LEN(ids), arena);
    int64_t publish = setting_i64(s, SET_HTTP_PUBLISH_PORT);
    struct str port = arena_printf(arena, "%lld", (long long)(publish > 0 ? publish : http_port));
    me->http_body_bytes_max = (uint64_t)setting_bytes(s, SET_HTTP_MAX_CONTENT_LENGTH);
    me->http_address = address_of(host, port, arena);
    return me->http_address.p != NULL ? ERR_OK : err_no_memory(em);
}

/* ---- measures ---------------------------------------------------------------------------------------- */

static int percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (int)(MIN_OF(part, whole) * 100 / whole) : 0;
}

void self_sample(struct self *me)
{
    struct cpu_sample now;
    cpu_sample(&now);
    uint64_t all = now.total_ticks - me->last.total_ticks;
    if (all == 0) {
        return;
    }
    me->cpu_percent = percent(now.busy_ticks - me->last.busy_ticks, all);
    me->process_cpu_percent = percent(now.process_ticks - me->last.process_ticks, all);
    me->last = now;
}

void self_report(const struct self *me, const struct http_server *http, struct node_report *out)
{
    *out = (struct node_report){.host = me->host,
                                .transport_address = me->transport_address,
                                .http_address = me->http_address,
                                .data_dir = me->data_dir,
                                .roles = me->roles,
                                .cores = me->cores,
                                .http_body_bytes_max = me->http_body_bytes_max,
                                .cpu_percent = me->cpu_percent,
                                .process_cpu_percent = me->process_cpu_percent};
    struct http_server_stats h = {0};
    if (http != NULL) {
        http_server_stats(http, &h);
    }
    out->http_open = h.current_open;
    out->http_opened = h.total_opened;
    disk_stats(me->data_dir.p, &out->disk);
}

void self_add_pool(struct node_report *r, const char *name, struct pool *p)
{
    if (p == NULL || r->n_pools == NODE_POOLS_MAX) {
        return;
    }
    struct pool_report *one = &r->pools[r->n_pools++];
    size_t queue = pool_queue_max(p);
    *one = (struct pool_report){.name = name,
                                .threads_max = pool_threads_max(p),
                                .queue_max = queue >= SIZE_MAX / 2 ? -1 : (int64_t)queue};
    pool_stats(p, &one->stats);
}
