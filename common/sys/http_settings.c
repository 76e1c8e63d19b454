/* http_settings.c - Elasticsearch's http.* settings into the server's options. */
#include "common/settings/setting_read.h"
#include "common/sys/http_server.h"

/* The first of these that is set says where to listen. */
static const enum setting_id host_ids[] = {SET_HTTP_BIND_HOST, SET_HTTP_HOST, SET_NETWORK_BIND_HOST,
                                           SET_NETWORK_HOST};

static enum err read_hosts(struct http_server_opts *opts, const struct settings *s, struct arena *arena,
                           struct errmsg *em)
{
    struct str *v = NULL;
    uint32_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(host_ids) && n == 0; i++) {
        if (!setting_list(s, host_ids[i], arena, &v, &n)) {
            return err_no_memory(em);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (str_is(v[i], "_local_")) {
            v[i] = STR("127.0.0.1");
        } else if (v[i].n > 1 && v[i].p[0] == '_' && v[i].p[v[i].n - 1] == '_') {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "no such network address [%.*s], give it in numbers",
                           STR_ARG(v[i]));
        }
    }
    opts->hosts = v;
    opts->hosts_n = n;
    return ERR_OK;
}

enum err http_server_opts_from(struct http_server_opts *opts, const struct settings *s, struct arena *arena,
                               struct errmsg *em)
{
    struct http_limits *l = &opts->limits;
    struct str ports = arena_str(arena, setting_str(s, SET_HTTP_PORT));
    struct http_site *site = ARENA_NEW(arena, struct http_site);
    if (ports.p == NULL || site == NULL) {
        return err_no_memory(em);
    }
    opts->ports = ports.p;
    opts->site = site;
    opts->compression = setting_bool(s, SET_HTTP_COMPRESSION);
    opts->compression_level = (int)setting_i64(s, SET_HTTP_COMPRESSION_LEVEL);
    l->pipelined_max = (unsigned)setting_i64(s, SET_HTTP_PIPELINING_MAX_EVENTS);
    l->body_bytes_max = l->inflated_bytes_max = (size_t)setting_bytes(s, SET_HTTP_MAX_CONTENT_LENGTH);
    l->header_bytes_max = (size_t)setting_bytes(s, SET_HTTP_MAX_HEADER_SIZE);
    l->line_bytes_max = (size_t)setting_bytes(s, SET_HTTP_MAX_INITIAL_LINE_LENGTH);
    enum err e = read_hosts(opts, s, arena, em);
    return e == ERR_OK ? http_site_from(site, s, arena, em) : e;
}
