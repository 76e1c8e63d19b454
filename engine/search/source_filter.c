#include "engine/search/source_filter.h"

#define PATH_MAX_BYTES (8 * KIB)

struct match {
    bool exact;  /* a pattern matches the path, or an object above it */
    bool deeper; /* some path below may match */
};

/* Does the pattern match `path` wholly, or could it match something that begins with `path` and a dot? A pattern that has
 * matched an ancestor is dealt with before: this looks at one path. */
static struct match match_one(struct str pattern, struct str path)
{
    struct match m = {str_glob(pattern, path), false};
    /* Some prefix of the pattern must match path + "." for the rest to match below: try each cut. A `*` may reach over. */
    for (size_t cut = 0; cut <= pattern.n && !m.deeper; cut++) {
        struct str head = str_slice(pattern, 0, cut);
        bool star_end = cut > 0 && pattern.p[cut - 1] == '*';
        bool dot_end = cut > 0 && pattern.p[cut - 1] == '.';
        if (star_end) {
            m.deeper = str_glob(head, path);
        } else if (dot_end) {
            m.deeper = str_glob(str_slice(head, 0, cut - 1), path);
        }
    }
    return m;
}

static struct match match_any(const struct str *patterns, uint32_t n, struct str path)
{
    struct match m = {false, false};
    for (uint32_t i = 0; i < n; i++) {
        struct match one = match_one(patterns[i], path);
        m.exact |= one.exact;
        m.deeper |= one.deeper;
    }
    return m;
}

struct walk {
    const struct source_patterns *p;
    struct jsonw *w;
    struct buf path;
};

/* Would the value show anything? Objects and arrays that filtering leaves empty are dropped unless a pattern names them. */
static bool shows(struct walk *k, const struct json *v, bool included);

static bool member_included(struct walk *k, const struct json_member *m, bool included, bool *keep_scalar,
                            bool *whole)
{
    struct match ex = match_any(k->p->excludes, k->p->n_excludes, buf_view(&k->path));
    *whole = false;
    if (ex.exact || k->path.failed) {
        *keep_scalar = false;
        return false;
    }
    struct match in = {included, false};
    if (!included) {
        in = match_any(k->p->includes, k->p->n_includes, buf_view(&k->path));
    }
    *keep_scalar = in.exact;
    *whole = in.exact && !ex.deeper; /* nothing below can be excluded */
    bool container = m->value.type == JSON_OBJECT || m->value.type == JSON_ARRAY;
    return in.exact || (in.deeper && container);
}

static size_t push(struct walk *k, struct str key)
{
    size_t was = k->path.n;
    if (was > 0) {
        buf_char(&k->path, '.');
    }
    buf_str(&k->path, key);
    return was;
}

static void pop(struct walk *k, size_t was)
{
    k->path.failed = false;
    buf_truncate(&k->path, was);
}

static bool object_shows(struct walk *k, const struct json *v, bool included)
{
    bool any = false;
    for (uint32_t i = 0; i < v->n && !any; i++) {
        size_t was = push(k, v->members[i].key);
        bool exact, whole;
        if (member_included(k, &v->members[i], included, &exact, &whole)) {
            any = exact || shows(k, &v->members[i].value, exact);
        }
        pop(k, was);
    }
    return any;
}

static bool shows(struct walk *k, const struct json *v, bool included)
{
    if (v->type == JSON_OBJECT) {
        return object_shows(k, v, included);
    }
    if (v->type == JSON_ARRAY) {
        bool any = false;
        for (uint32_t i = 0; i < v->n && !any; i++) {
            any = shows(k, &v->items[i], included);
        }
        return any;
    }
    return included;
}

static void write_value(struct walk *k, const struct json *v, bool included);

static void write_object(struct walk *k, const struct json *v, bool included)
{
    jw_obj(k->w);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        size_t was = push(k, m->key);
        bool exact, whole;
        if (member_included(k, m, included, &exact, &whole) && (exact || shows(k, &m->value, exact))) {
            jw_key(k->w, m->key);
            if (whole) {
                jw_value(k->w, &m->value);
            } else {
                write_value(k, &m->value, exact);
            }
        }
        pop(k, was);
    }
    jw_obj_end(k->w);
}

static void write_value(struct walk *k, const struct json *v, bool included)
{
    if (v->type == JSON_OBJECT) {
        write_object(k, v, included);
    } else if (v->type == JSON_ARRAY) {
        jw_arr(k->w);
        for (uint32_t i = 0; i < v->n; i++) {
            const struct json *item = &v->items[i];
            bool container = item->type == JSON_OBJECT || item->type == JSON_ARRAY;
            if (container ? shows(k, item, included) : included) {
                write_value(k, item, included);
            }
        }
        jw_arr_end(k->w);
    } else {
        jw_value(k->w, v);
    }
}

void source_filter_write(const struct json *source, const struct source_patterns *p, struct jsonw *w)
{
    struct walk k = {.p = p, .w = w};
    buf_init(&k.path, NULL, PATH_MAX_BYTES);
    write_value(&k, source, p->n_includes == 0);
    buf_fini(&k.path);
}
