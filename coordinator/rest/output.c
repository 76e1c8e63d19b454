/* The shape of an answer: filter_path, pretty, YAML. An answer is written compactly first; only a request
 * that asks for more pays for a second pass. */
#include "coordinator/rest/rest.h"

#include "common/base/arena_list.h"
#include "common/base/bits.h"
#include "common/base/num.h"
#include "common/base/stop.h"

/* ---- filter_path --------------------------------------------------------------------------------------- */

/* A place in a pattern: what it asks of the next part of a path, or its end. */
struct place {
    struct str part;
    bool many; /* `**`: one part or more */
    bool end;  /* the pattern has been gone through: all below belongs to it */
    bool exclude;
};

/* All patterns behind each other. Where a path stands in them is a set of places: patterns with `**` have no other bound. */
struct filters {
    struct place *v;
    size_t n, cap;
    uint32_t n_includes, n_excludes;
    uint64_t *first; /* the places where the patterns begin */
};

static bool add_place(struct filters *f, struct place one, struct arena *arena)
{
    return ARENA_ADD(arena, f->v, f->n, f->cap, one);
}

static bool add_pattern(struct filters *f, struct str text, struct arena *arena)
{
    bool exclude = text.n > 0 && text.p[0] == '-';
    struct str rest = exclude ? str_slice(text, 1, text.n) : text;
    *(exclude ? &f->n_excludes : &f->n_includes) += 1;
    while (rest.p != NULL) {
        struct str part = str_cut(rest, '.', &rest);
        struct place one = {.part = part, .many = str_is(part, "**"), .exclude = exclude};
        if (!add_place(f, one, arena)) {
            return false;
        }
    }
    return add_place(f, (struct place){.end = true, .exclude = exclude}, arena);
}

/* How deep an answer is at most: the documents in it are as deep as a body may be, and lie deeper. */
#define ANSWER_DEPTH_MAX (2 * JSON_DEPTH_MAX)

/* How a path lies to some patterns. */
enum pattern_fit { FIT_NO, FIT_DEEPER, FIT_WHOLE };
struct pattern_fits {
    enum pattern_fit in, out; /* to those that include, and those that exclude */
};

struct filter_walk {
    const struct filters *f;
    uint64_t *at[ANSWER_DEPTH_MAX
                 + 2]; /* where the path stands, for each of its lengths; NULL: not needed so far */
    uint32_t depth;
    struct arena *arena;
    bool failed;
};

/* One part deeper. */
static struct pattern_fits output_step(struct filter_walk *k, struct str key)
{
    const struct filters *f = k->f;
    uint64_t *from = k->at[k->depth], *to = k->at[k->depth + 1];
    struct pattern_fits fits = {FIT_NO, FIT_NO};
    memset(to, 0, bits_words(f->n) * sizeof(*to));
    for (size_t s = bits_next(from, 0, f->n); s < f->n; s = bits_next(from, s + 1, f->n)) {
        const struct place *p = &f->v[s];
        if (!p->end && !p->many && !str_glob(p->part, key)) {
            continue;
        }
        size_t now = p->end ? s : s + 1;
        enum pattern_fit fit = f->v[now].end ? FIT_WHOLE : FIT_DEEPER,
                         *of = p->exclude ? &fits.out : &fits.in;
        bits_set(to, now);
        if (p->many) {
            bits_set(to, s);
        }
        *of = MAX_OF(*of, fit);
    }
    return fits;
}

static bool deeper(struct filter_walk *k)
{
    uint64_t **to = &k->at[k->depth + 1];
    if (*to == NULL) {
        *to = ARENA_ARRAY(k->arena, uint64_t, bits_words(k->f->n));
    }
    k->failed |= *to == NULL;
    return *to != NULL;
}

static bool output_keep(struct filter_walk *k, const struct json *v, bool included, bool cut,
                        struct json *out);

static void keep_members(struct filter_walk *k, const struct json *v, bool included, struct json *out)
{
    out->members = ARENA_ARRAY(k->arena, struct json_member, v->n);
    k->failed |= out->members == NULL;
    if (k->failed || !deeper(k)) {
        return;
    }
    for (uint32_t i = 0; !k->failed && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        k->failed |= stop_worked(m->key.n + k->f->n);
        struct pattern_fits fits = output_step(k, m->key);
        enum pattern_fit in = included ? FIT_WHOLE : fits.in;
        struct json one;
        k->depth++;
        if (fits.out != FIT_WHOLE && in != FIT_NO
            && output_keep(k, &m->value, in == FIT_WHOLE, fits.out == FIT_DEEPER, &one)) {
            out->members[out->n++] = (struct json_member){m->key, m->key_off, one};
        }
        k->depth--;
    }
}

/* A filtered copy; false: nothing of it is left. `cut`: some exclusion is about what may be in there, and then an object or
 * array that is empty goes as one that has become so. */
static bool output_keep(struct filter_walk *k, const struct json *v, bool included, bool cut,
                        struct json *out)
{
    *out = *v;
    if (v->type != JSON_OBJECT && v->type != JSON_ARRAY) {
        return included;
    }
    out->n = 0;
    if (v->type == JSON_OBJECT) {
        keep_members(k, v, included, out);
    } else { /* an array's elements stand at its own path */
        out->items = ARENA_ARRAY(k->arena, struct json, v->n);
        k->failed |= out->items == NULL;
        for (uint32_t i = 0; !k->failed && i < v->n; i++) {
            out->n += output_keep(k, &v->items[i], included, cut, &out->items[out->n]);
        }
    }
    return out->n > 0 || (included && v->n == 0 && !cut);
}

/* The patterns of a `filter_path`; none: f->n is 0. */
static enum err read_filters(struct rest *r, struct str spec, struct filters *f)
{
    for (struct str rest = spec; rest.p != NULL;) {
        struct str one = str_trim(str_cut(rest, ',', &rest));
        if (str_is(one, "-")) {
            return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "filters cannot be null or empty");
        }
        if (one.n > 0 && !add_pattern(f, one, r->arena)) {
            return err_no_memory(&r->em);
        }
    }
    f->first = ARENA_ARRAY(r->arena, uint64_t, bits_words(f->n));
    for (size_t s = 0; f->first != NULL && s < f->n; s++) {
        if (s == 0 || f->v[s - 1].end) {
            bits_set(f->first, s);
        }
    }
    return f->first != NULL ? ERR_OK : err_no_memory(&r->em);
}

static enum err filter(struct rest *r, struct str spec, struct json *tree)
{
    struct filters f = {0};
    enum err e = read_filters(r, spec, &f);
    if (e != ERR_OK || f.n == 0) {
        return e;
    }
    struct filter_walk *k = ARENA_NEW(r->arena, struct filter_walk);
    struct json out;
    if (k == NULL) {
        return err_no_memory(&r->em);
    }
    *k = (struct filter_walk){.f = &f, .arena = r->arena};
    k->at[0] = f.first;
    if (!output_keep(k, tree, f.n_includes == 0, false, &out)) {
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

/* Work that the loop does itself: bytes of the answer times those of the filter, each with what reading and writing takes. */
#define SHAPE_QUICK MIB
#define SHAPE_BYTES 16

/* ---- choosing ------------------------------------------------------------------------------------------ */

enum format { FORMAT_JSON, FORMAT_YAML };

/* A media type that answers can have, parameters aside; false: it is none. */
static bool media_format(struct str media, enum format *out)
{
    struct str rest, type = str_trim(str_cut(media, ';', &rest));
    bool yaml = str_eq_nocase(type, STR("application/yaml"));
    *out = yaml ? FORMAT_YAML : FORMAT_JSON;
    return yaml || str_eq_nocase(type, STR("application/json"))
           || str_eq_nocase(type, STR("application/vnd.elasticsearch+json"))
           || str_eq_nocase(type, STR("application/x-ndjson"));
}

/* `format`, or what the client accepts, or the form it speaks itself. */
static enum format requested_format(struct rest *r)
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

struct shape {
    struct str spec; /* filter_path */
    enum format format;
    bool pretty;
};

static struct shape requested_shape(struct rest *r)
{
    struct shape s = {.spec = r->unfiltered ? STR("") : rest_param(r, "filter_path"),
                      .format = requested_format(r)};
    struct str pretty = rest_param(r, "pretty");
    if (pretty.p != NULL && pretty.n > 0 && !num_parse_bool(pretty, &s.pretty)) {
        s.pretty = false; /* a bad `pretty` was refused before, or does not matter now */
    } else if (pretty.p != NULL && pretty.n == 0) {
        s.pretty = true;
    }
    return s;
}

static bool is_plain(const struct shape *s)
{
    return s->spec.n == 0 && !s->pretty && s->format == FORMAT_JSON;
}

bool rest_shape_is_quick(struct rest *r, const struct buf *b)
{
    struct shape s = requested_shape(r);
    return is_plain(&s) || b->n <= SHAPE_QUICK / (s.spec.n + SHAPE_BYTES);
}

/* A client that names the version whose answers it understands gets its own words back. */
static const char *json_type(struct rest *r)
{
    const struct str *accept = http_header_find(r->http->headers, r->http->headers_n, "accept");
    struct str parameter, media = accept != NULL ? str_trim(str_cut(*accept, ';', &parameter)) : STR("");
    if (str_eq_nocase(media, STR("application/vnd.elasticsearch+json"))) {
        parameter = str_trim(parameter);
        if (str_eq_nocase(parameter, STR("compatible-with=7"))) {
            return "application/vnd.elasticsearch+json;compatible-with=7";
        }
        if (str_eq_nocase(parameter, STR("compatible-with=8"))) {
            return "application/vnd.elasticsearch+json;compatible-with=8";
        }
    }
    return "application/json; charset=UTF-8";
}

enum err rest_shape(struct rest *r, struct buf *b, const char **content_type)
{
    const struct shape want = requested_shape(r);
    struct str spec = want.spec;
    enum format format = want.format;
    bool pretty = want.pretty;
    *content_type = format == FORMAT_YAML ? "application/yaml" : json_type(r);
    if (is_plain(&want)) {
        return ERR_OK;
    }
    struct json tree;
    /* Of our own making: percents that are asked for twice come twice. */
    static const struct json_limits own = {.depth_max = ANSWER_DEPTH_MAX, .repeats = true};
    enum err e = json_parse(&tree, buf_view(b), r->arena, &own, &r->em);
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
