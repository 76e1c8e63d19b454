#include "hotel/services.h"

#include "common/base/num.h"
#include "common/base/uri.h"

/* Decoded, with a NUL behind it. */
static enum err part(struct str text, struct arena *arena, struct str *out, struct errmsg *em)
{
    struct str decoded;
    enum err e = uri_decode(text, false, arena, &decoded, em);
    if (e != ERR_OK) { /* the text may be a password */
        return e == ERR_NO_MEMORY ? e : err_set(em, e, "a part of it is not percent-encoded as it should be");
    }
    *out = arena_str(arena, decoded);
    return out->p != NULL ? ERR_OK : err_no_memory(em);
}

static enum err read_place(struct service_url *out, struct str place, unsigned port_default,
                           struct arena *arena, struct errmsg *em)
{
    struct str port, host = str_cut(place, ':', &port);
    int32_t number = (int32_t)port_default;
    if (host.n == 0 || (port.p != NULL && (!num_parse_i32(port, &number) || number < 1 || number > 65535))) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%.*s] is no host:port", STR_ARG(place));
    }
    out->port = (unsigned)number;
    return part(host, arena, &out->host, em);
}

enum err service_url_parse(struct service_url *out, struct str text, const char *scheme,
                           unsigned port_default, struct arena *arena, struct errmsg *em)
{
    struct str rest = text, path, who = STR_NULL;
    size_t n = strlen(scheme);
    *out = (struct service_url){0};
    if (!str_starts(rest, str_of(scheme)) || !str_starts(str_slice(rest, n, rest.n), STR("://"))) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "it must begin with %s://", scheme);
    }
    rest = str_slice(rest, n + 3, rest.n);
    struct str place = str_cut(rest, '/', &path);
    size_t at = SIZE_MAX; /* the last one: a password may hold others */
    for (size_t i = 0; i < place.n; i++) {
        at = place.p[i] == '@' ? i : at;
    }
    if (at != SIZE_MAX) {
        who = str_slice(place, 0, at);
        place = str_slice(place, at + 1, place.n);
    }
    struct str password, user = str_cut(who, ':', &password);
    enum err e = read_place(out, place, port_default, arena, em);
    e = e != ERR_OK ? e : part(user, arena, &out->user, em);
    e = e != ERR_OK ? e : part(password, arena, &out->password, em);
    return e != ERR_OK || path.p == NULL ? e : part(path, arena, &out->path, em);
}
