#include "common/sys/http_site.h"
#include "common/settings/setting_read.h"

#include <unistd.h>

/* "host", "host:80", "[::1]:80": without the port, and the brackets. */
static struct str host_of(struct str authority)
{
    if (authority.n > 0 && authority.p[0] == '[') {
        size_t end = str_find(authority, ']', 0);
        return end != SIZE_MAX ? str_slice(authority, 1, end) : STR("");
    }
    return str_slice(authority, 0, str_find(authority, ':', 0));
}

/* What is behind "https://". p == NULL: it is no origin ("null"). */
static struct str authority_of(struct str origin)
{
    size_t at = str_find_str(origin, STR("://"));
    return at != SIZE_MAX ? str_slice(origin, at + 3, origin.n) : STR_NULL;
}

/* Without a port that says nothing. */
static struct str without_default_port(struct str authority)
{
    struct str ports[] = {STR(":80"), STR(":443")};
    for (size_t i = 0; i < ARRAY_LEN(ports); i++) {
        if (str_ends(authority, ports[i])) {
            return str_slice(authority, 0, authority.n - ports[i].n);
        }
    }
    return authority;
}

static bool is_address(struct str host)
{
    bool digits = host.n > 0;
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];
        if (c == ':') {
            return true; /* no name has one */
        }
        digits = digits && ((c >= '0' && c <= '9') || c == '.');
    }
    return digits;
}

static bool is_machine(struct str host)
{
    char name[256] = "";
    if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') {
        return false;
    }
    struct str whole = str_of(name);
    return str_eq_nocase(host, whole) || str_eq_nocase(host, str_slice(whole, 0, str_find(whole, '.', 0)));
}

static bool names_server(const struct http_site *site, struct str host)
{
    if (is_address(host) || str_eq_nocase(host, STR("localhost"))) {
        return true;
    }
    struct str local = STR(".localhost");
    if (host.n > local.n && str_eq_nocase(str_slice(host, host.n - local.n, host.n), local)) {
        return true;
    }
    for (size_t i = 0; i < site->hosts_n; i++) {
        if (str_eq_nocase(site->hosts[i], host)) {
            return true;
        }
    }
    return is_machine(host);
}

static bool shared(const struct http_site *site, struct str origin)
{
    for (size_t i = 0; i < site->origins_n; i++) {
        if (site->origins[i].n == 0) {
            continue;
        }
        if (str_is(site->origins[i], "*") || str_eq_nocase(site->origins[i], origin)) {
            return true;
        }
    }
    return false;
}

static bool header_is(const struct http_header *headers, size_t n, const char *name, const char *value)
{
    const struct str *v = http_header_find(headers, n, name);
    return v != NULL && str_eq_nocase(*v, str_of(value));
}

enum http_site_says http_site_check(const struct http_site *site, enum http_verb method, struct str path,
                                    const struct http_header *headers, size_t n)
{
    const struct str *origin = http_header_find(headers, n, "origin");
    const struct str *fetch = http_header_find(headers, n, "sec-fetch-site"),
                     *host = http_header_find(headers, n, "host");
    bool browser = origin != NULL || fetch != NULL || http_header_find(headers, n, "sec-fetch-mode") != NULL
                   || http_header_find(headers, n, "sec-fetch-dest") != NULL;
    if (!browser) {
        return SITE_OWN;
    }
    if (origin != NULL && shared(site, *origin)) {
        return SITE_SHARED;
    }
    if (host == NULL || !names_server(site, host_of(*host))) {
        return SITE_FOREIGN;
    }
    if (origin != NULL) {
        struct str from = authority_of(*origin);
        return from.p != NULL && str_eq_nocase(without_default_port(from), without_default_port(*host))
                   ? SITE_OWN
                   : SITE_FOREIGN;
    }
    if (fetch == NULL || str_is(*fetch, "same-origin") || str_is(*fetch, "none")) {
        return SITE_OWN;
    }
    bool page = site->pages == NULL || str_starts(path, str_of(site->pages));
    bool link = page && method == HTTP_M_GET && header_is(headers, n, "sec-fetch-mode", "navigate");
    return link ? SITE_OWN : SITE_FOREIGN;
}

static bool site_add(struct str **v, size_t *n, size_t *cap, struct str s, struct arena *arena)
{
    struct str copy = arena_str(arena, s), *grown = arena_grow(arena, *v, *n, cap, sizeof(**v));
    if (copy.p == NULL || grown == NULL) {
        return false;
    }
    *v = grown;
    grown[(*n)++] = copy;
    return true;
}

enum err http_site_from(struct http_site *out, const struct settings *s, struct arena *arena,
                        struct errmsg *em)
{
    static const enum setting_id published[] = {SET_HTTP_PUBLISH_HOST, SET_NETWORK_PUBLISH_HOST};
    *out = (struct http_site){.pages = "/_console"};
    struct str *hosts = NULL, *origins = NULL, *given;
    size_t hosts_cap = 0, origins_cap = 0;
    uint32_t n = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < ARRAY_LEN(published); i++) {
        ok = setting_list(s, published[i], arena, &given, &n);
        for (uint32_t k = 0; ok && k < n; k++) {
            ok = site_add(&hosts, &out->hosts_n, &hosts_cap, str_trim(given[k]), arena);
        }
    }
    n = 0;
    ok = ok
         && (!setting_bool(s, SET_HTTP_CORS_ENABLED)
             || setting_list(s, SET_HTTP_CORS_ALLOW_ORIGIN, arena, &given, &n));
    for (uint32_t k = 0; ok && k < n; k++) {
        struct str one = str_trim(given[k]), authority = authority_of(one);
        if (one.n > 0 && one.p[0] == '/') {
            return err_set(
                em, ERR_ILLEGAL_ARGUMENT,
                "[http.cors.allow-origin] takes a list of origins, or *, and no regular expression");
        }
        ok = site_add(&origins, &out->origins_n, &origins_cap, one, arena)
             && (authority.p == NULL
                 || site_add(&hosts, &out->hosts_n, &hosts_cap, host_of(authority), arena));
    }
    out->hosts = hosts;
    out->origins = origins;
    out->methods = arena_str(arena, setting_str(s, SET_HTTP_CORS_ALLOW_METHODS));
    out->headers = arena_str(arena, setting_str(s, SET_HTTP_CORS_ALLOW_HEADERS));
    out->max_age = arena_str(arena, setting_str(s, SET_HTTP_CORS_MAX_AGE));
    out->credentials = setting_bool(s, SET_HTTP_CORS_ALLOW_CREDENTIALS);
    ok = ok && out->methods.p != NULL && out->headers.p != NULL && out->max_age.p != NULL;
    return ok ? ERR_OK : err_no_memory(em);
}
