#include "hotel/config.h"

#include "common/base/num.h"
#include "common/sys/conf.h"
#include "common/sys/fs_posix.h"
#include "common/sys/process.h"
#include "hotel/index_form.h"
#include "hotel/names.h"

#include <stdio.h>

#define THREADS_MAX     64U
#define THREADS_DEFAULT 4U /* more only if asked for: the search service does the work */

static const struct conf_default defaults[] = {
    {"search.url", "http://127.0.0.1:9200"},
    {"search.timeout", "10s"},
    {"search.connect_timeout", "2s"},
    {"search.connections", "32"},
    {"index", HOTEL_INDEX},
    {"mysql.url", ""},
    {"mysql.timeout", "10s"},
    {"mysql.connections", "8"},
    {"rabbitmq.url", ""},
    {"rabbitmq.timeout", "10s"},
    {"sync.prefetch", "500"},
    {"host", "127.0.0.1"},
    {"port", CONFIG_SEARCH_PORT},
    {"allowed.hosts", ""},
    {"allowed.origins", ""},
    {"threads", "0"},
    {"log.level", "info"},
};

/* Options that stand for a setting. */
static const struct {
    const char *option, *setting;
} options[] = {
    {"--search-url", "search.url"},
    {"--index", "index"},
    {"--host", "host"},
    {"--port", "port"},
    {"--threads", "threads"},
    {"--mysql-url", "mysql.url"},
    {"--rabbitmq-url", "rabbitmq.url"},
};

struct split {   /* the command line, taken apart */
    char **conf; /* "-Ename=value" */
    int conf_n;
    const char *file;
    struct config_args *args;
};

/* "--name value" or "--name=value": is this argument `name`? *i moves over a value of its own. */
static enum err take_value(int argc, char *const *argv, int *i, const char *name, struct str *value,
                           struct errmsg *em)
{
    struct str arg = str_of(argv[*i]), option = str_cut(arg, '=', value);
    if (!str_is(option, name)) {
        *value = STR_NULL;
        return ERR_OK;
    }
    if (value->p == NULL && *i + 1 < argc) {
        *value = str_of(argv[++*i]);
    }
    return value->n > 0 ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "%s needs a value", name);
}

static enum err take_option(struct split *s, int argc, char *const *argv, int *i, bool *taken,
                            struct arena *arena, struct errmsg *em)
{
    struct str value;
    enum err e = take_value(argc, argv, i, "--config", &value, em);
    *taken = e == ERR_OK && value.p != NULL;
    if (*taken) {
        s->file = value.p;
    }
    for (size_t k = 0; k < ARRAY_LEN(options) && e == ERR_OK && !*taken; k++) {
        e = take_value(argc, argv, i, options[k].option, &value, em);
        if (e == ERR_OK && value.p != NULL) {
            size_t n = strlen("-E=") + strlen(options[k].setting) + value.n + 1;
            char *text = arena_alloc(arena, n);
            if (text == NULL) {
                return err_no_memory(em);
            }
            snprintf(text, n, "-E%s=%.*s", options[k].setting, STR_ARG(value));
            s->conf[s->conf_n++] = text;
            *taken = true;
        }
    }
    return e;
}

static enum err split_args(struct split *s, int argc, char *const *argv, struct arena *arena,
                           struct errmsg *em)
{
    s->conf = ARENA_ARRAY(arena, char *, (size_t)argc + 1);
    s->args->v = ARENA_ARRAY(arena, struct str, (size_t)argc + 1);
    if (s->conf == NULL || s->args->v == NULL) {
        return err_no_memory(em);
    }
    for (int i = 0; i < argc; i++) {
        struct str arg = str_of(argv[i]);
        bool taken = true;
        enum err e = ERR_OK;
        if (str_is(arg, "--help") || str_is(arg, "-h")) {
            s->args->help = true;
        } else if (str_is(arg, "--version")) {
            s->args->version = true;
        } else if (str_starts(arg, STR("-E"))) {
            s->conf[s->conf_n++] = argv[i];
            if (arg.n == 2 && i + 1 < argc) {
                s->conf[s->conf_n++] = argv[++i];
            }
        } else {
            e = take_option(s, argc, argv, &i, &taken, arena, em);
        }
        if (e != ERR_OK) {
            return e;
        }
        if (!taken) {
            s->args->v[s->args->n++] = arg;
        }
    }
    return ERR_OK;
}

static enum err read_count(const struct settings *s, const char *key, int64_t least, int64_t most,
                           unsigned *out, struct errmsg *em)
{
    int64_t v;
    enum err e = settings_i64(s, key, 0, &v, em);
    if (e == ERR_OK && (v < least || v > most)) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "setting [%s] must be from %lld to %lld, it was %lld", key,
                    (long long)least, (long long)most, (long long)v);
    }
    *out = e == ERR_OK ? (unsigned)v : 0;
    return e;
}

static enum err read_ms(const struct settings *s, const char *key, int64_t *out, struct errmsg *em)
{
    enum err e = settings_time_ms(s, key, 0, out, em);
    if (e == ERR_OK && *out <= 0) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "setting [%s] must be more than 0", key);
    }
    return e;
}

static enum err read_urls(struct hotel_config *c, const struct settings *s, struct arena *arena,
                          struct errmsg *em)
{
    if (!settings_list(s, "search.url", arena, &c->search_urls, &c->search_urls_n)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < c->search_urls_n; i++) {
        struct str *url = &c->search_urls[i];
        while (url->n > 0 && url->p[url->n - 1] == '/') {
            url->n--;
        }
        if (!str_starts(*url, STR("http://")) || str_find(*url, '?', 0) != SIZE_MAX) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "setting [search.url] must be the base URLs of the search service's nodes, "
                           "http://host:port, one was [%.*s]",
                           STR_ARG(*url));
        }
    }
    return c->search_urls_n > 0 ? ERR_OK
                                : err_set(em, ERR_ILLEGAL_ARGUMENT, "setting [search.url] names no node");
}

static enum err read_site(struct hotel_config *c, const struct settings *s, struct arena *arena,
                          struct errmsg *em)
{
    struct str *hosts, *origins;
    uint32_t hosts_n, origins_n;
    if (!settings_list(s, "allowed.hosts", arena, &hosts, &hosts_n)
        || !settings_list(s, "allowed.origins", arena, &origins, &origins_n)) {
        return err_no_memory(em);
    }
    c->site = (struct http_site){.hosts = hosts,
                                 .hosts_n = hosts_n,
                                 .origins = origins,
                                 .origins_n = origins_n,
                                 .methods = STR("OPTIONS,HEAD,GET,POST,PUT,DELETE"),
                                 .headers = STR("Content-Type"),
                                 .max_age = STR("600")};
    return ERR_OK;
}

static enum err check_names(struct hotel_config *c, const struct settings *s, struct errmsg *em)
{
    struct str level = settings_str(s, "log.level", STR("info")), port = settings_str(s, "port", STR_NULL);
    int32_t number;
    c->host = settings_str(s, "host", STR_NULL);
    c->index = settings_str(s, "index", STR_NULL);
    c->port = port.p; /* settings end in a NUL: they come from arena_str() */
    if (!index_name_ok(c->index)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "setting [index] must be the name of one index, it was [%.*s]", STR_ARG(c->index));
    }
    if (!num_parse_i32(port, &number) || number < 0 || number > 65535) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "setting [port] must be from 0 to 65535, it was [%.*s]",
                       STR_ARG(port));
    }
    if (!log_level_parse(level, &c->log_level)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "setting [log.level]: there is no level [%.*s]",
                       STR_ARG(level));
    }
    return ERR_OK;
}

static enum err read_service(const struct settings *s, const char *key, const char *scheme,
                             unsigned port_default, struct service_url *out, bool *given, struct arena *arena,
                             struct errmsg *em)
{
    struct str text = settings_str(s, key, STR_NULL);
    *given = text.n > 0;
    enum err e = *given ? service_url_parse(out, text, scheme, port_default, arena, em) : ERR_OK;
    return e == ERR_OK ? e : err_prefix(em, e, "setting [%s]", key);
}

static enum err read_services(struct hotel_config *c, const struct settings *s, struct arena *arena,
                              struct errmsg *em)
{
    enum err e = read_service(s, "mysql.url", "mysql", 3306, &c->mysql, &c->has_mysql, arena, em);
    e = e != ERR_OK
            ? e
            : read_service(s, "rabbitmq.url", "amqp", 5672, &c->rabbitmq, &c->has_rabbitmq, arena, em);
    if (e == ERR_OK && c->has_mysql && c->mysql.path.n == 0) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "setting [mysql.url] must name the database: mysql://user:password@host:3306/database");
    }
    e = e != ERR_OK ? e : read_ms(s, "mysql.timeout", &c->mysql_ms_max, em);
    e = e != ERR_OK ? e : read_ms(s, "rabbitmq.timeout", &c->rabbitmq_ms_max, em);
    e = e != ERR_OK ? e : read_count(s, "mysql.connections", 2, 256, &c->mysql_connections_max, em);
    return e != ERR_OK ? e : read_count(s, "sync.prefetch", 1, 10000, &c->prefetch, em);
}

static enum err from_settings(struct hotel_config *c, const struct settings *s, struct arena *arena,
                              struct errmsg *em)
{
    enum err e = read_urls(c, s, arena, em);
    e = e != ERR_OK ? e : check_names(c, s, em);
    e = e != ERR_OK ? e : read_site(c, s, arena, em);
    e = e != ERR_OK ? e : read_ms(s, "search.timeout", &c->search_ms_max, em);
    e = e != ERR_OK ? e : read_ms(s, "search.connect_timeout", &c->connect_ms_max, em);
    e = e != ERR_OK ? e : read_count(s, "search.connections", 1, 1024, &c->connections_max, em);
    e = e != ERR_OK ? e : read_count(s, "threads", 0, THREADS_MAX, &c->threads, em);
    e = e != ERR_OK ? e : read_services(c, s, arena, em);
    if (e == ERR_OK && c->threads == 0) {
        struct machine_stats m;
        machine_stats(&m);
        c->threads = MIN_OF(m.cores_allowed, THREADS_DEFAULT);
    }
    return e;
}

enum err config_read(struct hotel_config *out, struct config_args *args, const char *port_default, int argc,
                     char *const *argv, const char *const *environ_, struct arena *arena, struct errmsg *em)
{
    struct conf_default own[ARRAY_LEN(defaults)];
    const char *known[ARRAY_LEN(defaults)];
    struct split split = {.args = args};
    struct settings s;
    *out = (struct hotel_config){0};
    *args = (struct config_args){0};
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        known[i] = defaults[i].name;
        own[i] = defaults[i];
        own[i].value = strcmp(own[i].name, "port") == 0 ? port_default : own[i].value;
    }
    settings_init(&s, arena);
    enum err e = split_args(&split, argc, argv, arena, em);
    if (e != ERR_OK) {
        return e;
    }
    struct conf_opts o = {.defaults = own,
                          .defaults_n = ARRAY_LEN(defaults),
                          .fs = fs_posix(),
                          .file = split.file,
                          .environ_ = environ_,
                          .env_prefix = "SERAI_HOTEL_",
                          .argc = split.conf_n,
                          .argv = split.conf,
                          .known = known,
                          .known_n = ARRAY_LEN(known)};
    e = conf_load(&s, &o, NULL, NULL, em);
    return e != ERR_OK ? e : from_settings(out, &s, arena, em);
}
