/* Parameters: parts of the path and of the query, their types, and what nobody asked for. */
#include "common/base/arena_list.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "coordinator/core/active.h"
#include "coordinator/rest/rest.h"

static struct str param(struct rest *r, const char *name, bool asked)
{
    struct str found = STR_NULL;
    if (asked && r->asked != NULL && r->n_asked < ASKED_MAX) {
        r->asked[r->n_asked++] = name;
    }
    for (size_t i = 0; i < r->params.n; i++) {
        struct str given = r->params.v[i].name;
        if (given.n > 0 && given.p[0] == name[0] && str_is(given, name)) {
            r->used[i] = true;
            found = r->params.v[i].value.n > 0 ? r->params.v[i].value : STR(""); /* the last one counts */
        }
    }
    struct str part = rest_path(r, name);
    return part.p != NULL ? part : found;
}

/* A type is looked for, and asked for only where it is given: nobody who misspells a parameter meant it. */
struct str rest_query_param(struct rest *r, const char *name)
{
    bool asked =
        name[0] != 't' || strcmp(name, "type") != 0 || rest_given(r, name) || rest_path(r, name).p != NULL;
    return param(r, name, asked);
}

bool rest_given(const struct rest *r, const char *name)
{
    for (size_t i = 0; i < r->params.n; i++) {
        if (str_is(r->params.v[i].name, name)) {
            return true;
        }
    }
    return false;
}

bool rest_has(struct rest *r, const char *name)
{
    return rest_param(r, name).p != NULL;
}

void rest_accept(struct rest *r, const char *name)
{
    if (r->params.n > 0) {
        (void)param(r, name, true);
    }
}

enum err rest_bool(struct rest *r, const char *name, bool otherwise, bool *out)
{
    struct str v = rest_param(r, name);
    *out = otherwise;
    if (v.p == NULL) {
        return ERR_OK;
    }
    if (v.n == 0) { /* "?pretty" means true */
        *out = true;
        return ERR_OK;
    }
    if (!num_parse_bool(v, out)) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "Failed to parse value [%.*s] as only [true] or [false] are allowed.", STR_ARG(v));
    }
    return ERR_OK;
}

static enum err bad_int(struct rest *r, const char *name, const char *type, struct str v)
{
    err_set(&r->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(v));
    return err_wrap(&r->em, ERR_ILLEGAL_ARGUMENT, "Failed to parse %s parameter [%s] with value [%.*s]", type,
                    name, STR_ARG(v));
}

enum err rest_int(struct rest *r, const char *name, int32_t otherwise, int32_t *out)
{
    struct str v = rest_param(r, name);
    *out = otherwise;
    return v.p == NULL || num_parse_i32(v, out) ? ERR_OK : bad_int(r, name, "int", v);
}

enum err rest_long(struct rest *r, const char *name, int64_t otherwise, int64_t *out)
{
    struct str v = rest_param(r, name);
    *out = otherwise;
    return v.p == NULL || num_parse_i64(v, out) ? ERR_OK : bad_int(r, name, "long", v);
}

enum err rest_float(struct rest *r, const char *name, float otherwise, float *out)
{
    struct str v = rest_param(r, name);
    *out = otherwise;
    if (v.p == NULL || num_parse_float(v, out)) {
        return ERR_OK;
    }
    bad_int(r, name, "float", v);
    if (v.n == 0) { /* as Float.parseFloat says it */
        err_clear(&r->em);
        err_set(&r->em, ERR_NUMBER_FORMAT, "empty String");
        err_wrap(&r->em, ERR_ILLEGAL_ARGUMENT, "Failed to parse float parameter [%s] with value []", name);
    }
    return ERR_ILLEGAL_ARGUMENT;
}

enum err rest_time_as(struct rest *r, const char *name, const char *shown, int64_t otherwise_ms, int64_t *out)
{
    struct str v = rest_param(r, name);
    *out = otherwise_ms;
    return v.p == NULL ? ERR_OK : parse_time_ms(v, shown, out, &r->em);
}

enum err rest_time(struct rest *r, const char *name, int64_t otherwise_ms, int64_t *out)
{
    return rest_time_as(r, name, name, otherwise_ms, out);
}

/* ---- parameters that do nothing ------------------------------------------------------------------------------------------ */

enum err rest_check_bool(struct rest *r, const char *name)
{
    bool any;
    return rest_bool(r, name, false, &any);
}

enum err rest_check_int(struct rest *r, const char *name)
{
    int32_t any;
    return rest_int(r, name, 0, &any);
}

enum err rest_check_time(struct rest *r, const char *name)
{
    int64_t any;
    return rest_time(r, name, 0, &any);
}

enum err rest_check_bools(struct rest *r, const char *const *names, size_t n)
{
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        e = rest_check_bool(r, names[i]);
    }
    return e;
}

void rest_idle(struct rest *r, const char *name)
{
    for (unsigned i = 0; i < r->n_idle; i++) {
        if (strcmp(r->idle[i], name) == 0) {
            return;
        }
    }
    if (r->n_idle < ARRAY_LEN(r->idle)) {
        r->idle[r->n_idle++] = name;
    }
}

enum err rest_list(struct rest *r, const char *name, const struct str **out, uint32_t *n)
{
    struct str v = rest_param(r, name), rest = v;
    size_t cap = 0, used = 0;
    struct str *list = NULL;
    *out = NULL;
    *n = 0;
    while (v.n > 0 && rest.p != NULL) {
        struct str part = str_cut(rest, ',', &rest);
        if (!ARENA_ADD(r->arena, list, used, cap, part)) {
            return err_no_memory(&r->em);
        }
    }
    *out = list;
    *n = (uint32_t)used;
    return ERR_OK;
}

/* Parameters that every request may have. */
static enum err accept_common(struct rest *r)
{
    bool trace;
    rest_accept(r, "filter_path");
    rest_accept(r, "format");
    enum err e = rest_check_bool(r, "pretty");
    e = e == ERR_OK ? rest_check_bool(r, "human") : e;
    e = e == ERR_OK ? rest_bool(r, "error_trace", false, &trace) : e;
    if (e == ERR_OK && trace) {
        rest_idle(r, "error_trace");
    }
    return e;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names that were asked for, each once, with a NULL behind them. */
static const char *const *known_names(struct rest *r)
{
    unsigned n = 0;
    sort_items(r->asked, r->n_asked, sizeof(*r->asked), by_name);
    for (unsigned i = 0; i < r->n_asked; i++) {
        if (n == 0 || strcmp(r->asked[n - 1], r->asked[i]) != 0) {
            r->asked[n++] = r->asked[i];
        }
    }
    r->n_asked = n;
    r->asked[n] = NULL;
    return r->asked;
}

struct str rest_shown_path(const struct rest *r)
{
    struct str shown;
    ERR_LOCAL(em);
    return uri_decode(r->http->path, false, r->arena, &shown, &em) == ERR_OK ? shown : r->http->path;
}

/* Parameters that nobody asked for, by name, each with the names that it is like. */
static void unrecognized(struct rest *r, struct str *names, unsigned n)
{
    char hint[JR_HINT_MAX];
    struct buf text;
    unsigned kept = 0;
    const char *const *known = known_names(r);
    sort_items(names, n, sizeof(*names), by_text);
    for (unsigned i = 0; i < n; i++) {
        if (kept == 0 || !str_eq(names[kept - 1], names[i])) {
            names[kept++] = names[i];
        }
    }
    buf_init(&text, NULL, 16 * KIB);
    for (unsigned i = 0; i < kept; i++) {
        jr_did_you_mean(names[i], known, hint, sizeof(hint));
        buf_printf(&text, "%s[%.*s]%s%s", i > 0 ? ", " : "", STR_ARG(names[i]), hint[0] != '\0' ? " ->" : "",
                   hint);
    }
    err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "request [%.*s] contains unrecognized parameter%s: %.*s",
            STR_ARG(rest_shown_path(r)), kept > 1 ? "s" : "", STR_ARG(buf_view(&text)));
    buf_fini(&text);
}

static bool was_asked(const struct rest *r, const char *name)
{
    unsigned i = 0;
    while (i < r->n_asked && strcmp(r->asked[i], name) != 0) {
        i++;
    }
    return i < r->n_asked;
}

/* As rest_ready(); the first `n_path` parts of the path are parameters, too. */
static bool all_known(struct rest *r, unsigned n_path)
{
    unsigned n = 0;
    size_t most = r->params.n + n_path;
    bool ok = accept_common(r) == ERR_OK;
    struct str *names = ok && most > 0 ? ARENA_ARRAY(r->arena, struct str, most) : NULL;
    if (ok && most > 0 && names == NULL) {
        err_no_memory(&r->em);
        ok = false;
    }
    for (unsigned i = 0; ok && i < n_path; i++) {
        if (!was_asked(r, r->path[i].name)) {
            names[n++] = str_of(r->path[i].name);
        }
    }
    for (size_t i = 0; ok && i < r->params.n; i++) {
        if (!r->used[i]) {
            names[n++] = r->params.v[i].name;
        }
    }
    if (n > 0) {
        unrecognized(r, names, n);
        ok = false;
    }
    if (ok && r->body.n > 0 && !r->body_read) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "request [%.*s %.*s] does not support having a body",
                STR_ARG(r->http->method_name), STR_ARG(rest_shown_path(r)));
        ok = false;
    }
    if (!ok) {
        rest_fail(r, NULL);
    }
    return ok;
}

bool rest_ready(struct rest *r)
{
    return all_known(r, 0);
}

bool rest_ready_pathless(struct rest *r)
{
    return all_known(r, r->n_path);
}

bool rest_goes_on(struct rest *r, enum err e)
{
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    }
    return e == ERR_OK && rest_ready(r);
}

bool rest_reads_state(struct rest *r, enum err e)
{
    bool ok = rest_goes_on(r, e);
    if (ok && state_recovered_check(r->state, &r->em) != ERR_OK) {
        rest_fail(r, NULL);
        ok = false;
    }
    return ok;
}

bool rest_targets(struct rest *r, enum err e, const struct expand_options *o, const struct index_target **out,
                  uint32_t *n)
{
    struct str expression = rest_param(r, "index");
    if (e == ERR_OK && !rest_ready(r)) {
        return false;
    }
    e = e == ERR_OK ? resolve_indices(r->state, expression, o, clock_wall_ms(r->co->o.clock), r->arena, out,
                                      n, &r->em)
                    : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    }
    return e == ERR_OK;
}

/* ---- indices ---- */

static enum err flag(struct rest *r, const char *name, bool *to)
{
    enum err e = rest_bool(r, name, *to, to);
    return e == ERR_OK ? e
                       : err_wrap(&r->em, ERR_ILLEGAL_ARGUMENT, "Could not convert [%s] to boolean", name);
}

enum err rest_index_options(struct rest *r, struct expand_options *o)
{
    bool none_is = true;
    enum err e = ERR_OK;
    struct str text = rest_param(r, "expand_wildcards");
    if (text.p != NULL) {
        o->expand = 0;
        e = text.n > 0 ? expand_parse(text, &o->expand, &r->em) : ERR_OK;
    }
    e = e == ERR_OK ? flag(r, "ignore_unavailable", &o->ignore_unavailable) : e;
    e = e == ERR_OK ? flag(r, "allow_no_indices", &o->allow_no_indices) : e;
    return e == ERR_OK ? flag(r, "ignore_throttled", &none_is) : e; /* no index is */
}

enum err rest_active_shards(struct rest *r, int32_t *out)
{
    return active_parse(rest_param(r, "wait_for_active_shards"), out, &r->em);
}
