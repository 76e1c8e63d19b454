/* The shape of an answer: filter_path, pretty, YAML. An answer is written compactly first; only a request
 * that asks for more pays for a second pass. */
#include "coordinator/rest/rest.h"

/* ---- filter_path --------------------------------------------------------------------------------------- */

struct pattern {
    struct str *parts;
    uint32_t n;
    bool exclude;
};

struct filters {
    struct pattern *v;
    uint32_t n, n_includes, n_excludes;
};

static bool parse_pattern(struct str text, struct arena *arena, struct pattern *out)
{
    size_t cap = 0, n = 0;
    struct str rest;
    out->exclude = text.n > 0 && text.p[0] == '-';
    rest = out->exclude ? str_slice(text, 1, text.n) : text;
    while (rest.p != NULL) {
        struct str part = str_cut(rest, '.', &rest);
        out->parts = arena_grow(arena, out->parts, n, &cap, sizeof(*out->parts));
        if (out->parts == NULL) {
            return false;
        }
        out->parts[n++] = part;
    }
    out->n = (uint32_t)n;
    return true;
}

enum fit { FIT_NO, FIT_DEEPER, FIT_WHOLE };

/* How a path (parts so far) lies to a pattern from its part `at` on: `**` stands for any number of parts. */
static enum fit fit(const struct pattern *p, uint32_t at, const struct str *path, uint32_t n)
{
    if (at == p->n) {
        return FIT_WHOLE; /* the pattern ended above: all below belongs to it */
    }
    if (n == 0) {
        return FIT_DEEPER;
    }
    if (str_is(p->parts[at], "**")) {
        enum fit skip = fit(p, at + 1, path, n), stay = fit(p, at, path + 1, n - 1);
        return MAX_OF(skip, stay);
    }
    return str_glob(p->parts[at], path[0]) ? fit(p, at + 1, path + 1, n - 1) : FIT_NO;
}

#define FILTER_DEPTH_MAX 200

struct filter_walk {
    const struct filters *f;
    struct str path[FILTER_DEPTH_MAX];
    uint32_t depth;
    struct arena *arena;
    bool failed;
};

static enum fit best_fit(const struct filter_walk *k, bool exclude)
{
    enum fit best = FIT_NO;
    for (uint32_t i = 0; i < k->f->n; i++) {
        if (k->f->v[i].exclude == exclude) {
            enum fit one = fit(&k->f->v[i], 0, k->path, k->depth);
            best = MAX_OF(best, one);
        }
    }
    return best;
}

/* A filtered copy; false: nothing of it is left. `cut`: some exclusion is about what may be in there, and then an object or
 * array that is empty goes as one that has become so. */
static bool keep(struct filter_walk *k, const struct json *v, bool included, bool cut, struct json *out)
{
    bool container = v->type == JSON_OBJECT || v->type == JSON_ARRAY;
    *out = *v;
    if (!container) {
        return included;
    }
    out->n = 0;
    if (v->type == JSON_ARRAY) { /* an array's elements stand at its own path */
        out->items = ARENA_ARRAY(k->arena, struct json, v->n);
        k->failed |= out->items == NULL;
        for (uint32_t i = 0; !k->failed && i < v->n; i++) {
            out->n += keep(k, &v->items[i], included, cut, &out->items[out->n]);
        }
        return out->n > 0 || (included && v->n == 0 && !cut);
    }
    out->members = ARENA_ARRAY(k->arena, struct json_member, v->n);
    k->failed |= out->members == NULL || k->depth >= FILTER_DEPTH_MAX;
    for (uint32_t i = 0; !k->failed && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        k->path[k->depth++] = m->key;
        enum fit ex = k->f->n_excludes > 0 ? best_fit(k, true) : FIT_NO;
        enum fit in = included ? FIT_WHOLE : best_fit(k, false);
        struct json one;
        if (ex != FIT_WHOLE && in != FIT_NO && keep(k, &m->value, in == FIT_WHOLE, ex == FIT_DEEPER, &one)) {
            out->members[out->n++] = (struct json_member){m->key, m->key_off, one};
        }
        k->depth--;
    }
    return out->n > 0 || (included && v->n == 0 && !cut);
}

static enum err filter(struct rest *r, struct str spec, struct json *tree)
{
    struct filters f = {0};
    struct str rest = spec;
    size_t cap = 0;
    while (rest.p != NULL) {
        struct str one = str_trim(str_cut(rest, ',', &rest));
        if (one.n == 0) {
            continue;
        }
        if (str_is(one, "-")) {
            return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "filters cannot be null or empty");
        }
        f.v = arena_grow(r->arena, f.v, f.n, &cap, sizeof(*f.v));
        if (f.v == NULL) {
            return err_no_memory(&r->em);
        }
        f.v[f.n] = (struct pattern){0};
        if (!parse_pattern(one, r->arena, &f.v[f.n])) {
            return err_no_memory(&r->em);
        }
        *(f.v[f.n].exclude ? &f.n_excludes : &f.n_includes) += 1;
        f.n++;
    }
    if (f.n == 0) {
        return ERR_OK;
    }
    struct filter_walk *k = ARENA_NEW(r->arena, struct filter_walk);
    struct json out;
    if (k == NULL) {
        return err_no_memory(&r->em);
    }
    *k = (struct filter_walk){.f = &f, .arena = r->arena};
    if (!keep(k, tree, f.n_includes == 0, false, &out)) {
        out = (struct json){.type = tree->type == JSON_ARRAY ? JSON_ARRAY : JSON_OBJECT};
    }
    *tree = out;
    return k->failed ? err_no_memory(&r->em) : ERR_OK;
}

/* ---- YAML ---------------------------------------------------------------------------------------------- */

static void yaml_scalar(struct buf *b, const struct json *v)
{
    if (v->type == JSON_STRING) {
        buf_char(b, '"');
        buf_json_escaped(b, v->s);
        buf_char(b, '"');
    } else {
        struct str t = v->type == JSON_NULL ? STR("null") : json_text(v);
        buf_str(b, t);
    }
}

static bool plain_key(struct str key)
{
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
                  || c == '-' || c == '.';
        if (!ok || (i == 0 && (c == '-' || c == '.'))) {
            return false;
        }
    }
    return key.n > 0;
}

static void yaml_value(struct buf *b, const struct json *v, unsigned depth, bool after_dash);

static void yaml_indent(struct buf *b, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++) {
        buf_z(b, "  ");
    }
}

static void yaml_object(struct buf *b, const struct json *v, unsigned depth, bool after_dash)
{
    for (uint32_t i = 0; i < v->n; i++) {
        if (!(after_dash && i == 0)) {
            yaml_indent(b, depth);
        }
        struct json key = json_mk_str(v->members[i].key);
        if (plain_key(key.s)) {
            buf_str(b, key.s);
        } else {
            yaml_scalar(b, &key);
        }
        buf_char(b, ':');
        const struct json *val = &v->members[i].value;
        bool block = (val->type == JSON_OBJECT || val->type == JSON_ARRAY) && val->n > 0;
        if (block) {
            buf_char(b, '\n');
            yaml_value(b, val, val->type == JSON_ARRAY ? depth : depth + 1, false);
        } else {
            buf_char(b, ' ');
            yaml_value(b, val, depth + 1, false);
        }
    }
}

static void yaml_value(struct buf *b, const struct json *v, unsigned depth, bool after_dash)
{
    if (v->type == JSON_OBJECT && v->n > 0) {
        yaml_object(b, v, depth, after_dash);
        return;
    }
    if (v->type == JSON_ARRAY && v->n > 0) {
        for (uint32_t i = 0; i < v->n; i++) {
            if (!(after_dash && i == 0)) {
                yaml_indent(b, depth);
            }
            buf_z(b, "- ");
            yaml_value(b, &v->items[i], depth + 1, true);
        }
        return;
    }
    if (v->type == JSON_OBJECT || v->type == JSON_ARRAY) {
        buf_z(b, v->type == JSON_OBJECT ? "{}" : "[]");
    } else {
        yaml_scalar(b, v);
    }
    buf_char(b, '\n');
}

/* ---- choosing ------------------------------------------------------------------------------------------ */

enum format { FORMAT_JSON, FORMAT_YAML };

/* A media type that answers can have, parameters aside; false: it is none. */
static bool media_format(struct str media, enum format *out)
{
    struct str rest, type = str_trim(str_cut(media, ';', &rest));
    bool yaml = str_eq_nocase(type, STR("application/yaml"));
    *out = yaml ? FORMAT_YAML : FORMAT_JSON;
    return yaml || str_eq_nocase(type, STR("application/json"))
           || str_eq_nocase(type, STR("application/x-ndjson"));
}

/* `format`, or what the client accepts, or the form it speaks itself. */
static enum format wanted_format(struct rest *r)
{
    enum format wanted = FORMAT_JSON;
    const char *const headers[] = {"accept", "content-type"};
    struct str f = rest_param(r, "format");
    if (str_eq_nocase(f, STR("yaml")) || str_eq_nocase(f, STR("json"))) {
        return str_eq_nocase(f, STR("yaml")) ? FORMAT_YAML : FORMAT_JSON;
    }
    if (f.p != NULL && media_format(f, &wanted)) {
        return wanted;
    }
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        const struct str *h = http_header_find(r->http->headers, r->http->headers_n, headers[i]);
        if (h != NULL && media_format(*h, &wanted)) {
            return wanted;
        }
    }
    return FORMAT_JSON;
}

bool rest_format_offered(struct rest *r, struct str *wanted)
{
    static const char *const binary[] = {"cbor", "smile", "application/cbor", "application/smile"};
    const struct str *accept = http_header_find(r->http->headers, r->http->headers_n, "accept");
    struct str rest, format = rest_param(r, "format");
    format = format.p != NULL ? format : accept != NULL ? *accept : STR("");
    *wanted = str_trim(str_cut(format, ';', &rest));
    for (size_t i = 0; i < ARRAY_LEN(binary); i++) {
        if (str_eq_nocase(*wanted, str_of(binary[i]))) {
            return false;
        }
    }
    return true;
}

enum err rest_shape(struct rest *r, struct buf *b, const char **content_type)
{
    struct str spec = r->unfiltered ? STR("") : rest_param(r, "filter_path");
    enum format format = wanted_format(r);
    bool pretty = false;
    struct errmsg saved = r->em;
    if (rest_bool(r, "pretty", false, &pretty) != ERR_OK) {
        r->em = saved; /* a bad `pretty` was refused before, or does not matter now */
        pretty = false;
    }
    *content_type = format == FORMAT_YAML ? "application/yaml" : "application/json; charset=UTF-8";
    if (spec.n == 0 && !pretty && format == FORMAT_JSON) {
        return ERR_OK;
    }
    struct json tree;
    enum err e = json_parse(&tree, buf_view(b), r->arena, &json_limits_default, &r->em);
    struct json kept;
    if (e == ERR_OK
        && !json_copy(&kept, &tree, r->arena)) { /* the tree borrows from b, which is written anew */
        e = err_no_memory(&r->em);
    }
    if (e == ERR_OK && spec.n > 0) {
        e = filter(r, spec, &kept);
    }
    if (e != ERR_OK) {
        return e;
    }
    buf_reset(b);
    if (format == FORMAT_YAML) {
        bool is_empty = (kept.type == JSON_ARRAY || kept.type == JSON_OBJECT) && kept.n == 0;
        buf_z(b, is_empty ? "--- " : "---\n");
        yaml_value(b, &kept, 0, false);
        return ERR_OK;
    }
    struct jsonw w;
    jsonw_init(&w, b, pretty);
    jw_value(&w, &kept);
    if (pretty) {
        buf_char(b, '\n');
    }
    return ERR_OK;
}
