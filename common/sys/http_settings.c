/* http_settings.c - Elasticsearch's http.* settings into the server's options. */
#include "common/sys/http_server.h"

/* The first of these that is set says where to listen. */
static const char *const host_keys[] = {"http.bind_host", "http.host", "network.bind_host", "network.host"};

static enum err read_hosts(struct http_server_opts *opts, const struct settings *s, struct arena *arena,
                           struct errmsg *em)
{
    struct str *v = NULL;
    uint32_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(host_keys) && n == 0; i++) {
        if (!settings_list(s, host_keys[i], arena, &v, &n)) {
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

static enum err read_bytes(const struct settings *s, const char *key, size_t *out, struct errmsg *em)
{
    int64_t v;
    enum err e = settings_bytes(s, key, (int64_t)*out, &v, em);
    if (e == ERR_OK && (v < 0 || (v == 0 && *out != 0))) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "failed to parse value [%lld] for setting [%s], must be > [0b]",
                    (long long)v, key);
    }
    if (e == ERR_OK) {
        *out = (size_t)v;
    }
    return e;
}

enum err http_server_opts_from(struct http_server_opts *opts, const struct settings *s, struct arena *arena,
                               struct errmsg *em)
{
    struct http_limits *l = &opts->limits;
    int64_t level = 3, pipelined = 10000;
    struct str ports = arena_str(arena, settings_str(s, "http.port", STR("9200-9300")));
    if (ports.p == NULL) {
        return err_no_memory(em);
    }
    opts->ports = ports.p;
    enum err e = read_hosts(opts, s, arena, em);
    e = e != ERR_OK ? e : settings_bool(s, "http.compression", true, &opts->compression, em);
    e = e != ERR_OK ? e : settings_i64(s, "http.compression_level", level, &level, em);
    e = e != ERR_OK ? e : settings_i64(s, "http.pipelining.max_events", pipelined, &pipelined, em);
    e = e != ERR_OK ? e : read_bytes(s, "http.max_content_length", &l->body_bytes_max, em);
    e = e != ERR_OK ? e : read_bytes(s, "http.max_header_size", &l->header_bytes_max, em);
    e = e != ERR_OK ? e : read_bytes(s, "http.max_initial_line_length", &l->line_bytes_max, em);
    if (e != ERR_OK) {
        return e;
    }
    struct http_site *site = ARENA_NEW(arena, struct http_site);
    if (site == NULL) {
        return err_no_memory(em);
    }
    e = http_site_from(site, s, arena, em);
    if (e != ERR_OK) {
        return e;
    }
    opts->site = site;
    if (level < 1 || level > 9) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[http.compression_level] must be between 1 and 9");
    }
    if (pipelined < 1 || pipelined > 1000000) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "[http.pipelining.max_events] must be between 1 and 1000000");
    }
    opts->compression_level = (int)level;
    l->pipelined_max = (unsigned)pipelined;
    if (l->body_bytes_max > 0) {
        l->inflated_bytes_max = l->body_bytes_max;
    }
    return ERR_OK;
}
