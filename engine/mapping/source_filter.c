#include "engine/mapping/source_filter.h"

#include "common/base/stop.h"

#define PATH_MAX_BYTES (8 * KIB)

struct match {
    bool exact;  /* a pattern matches the path, or an object above it */
    bool deeper; /* some path below may match */
};

/* Does the pattern match `path` wholly, or could it match something that begins with `path` and a dot? A pattern that has
 * matched an ancestor is dealt with before: this looks at one path. */
static struct match match_one(struct str pattern, struct str path)
{
    size_t star = MIN_OF(str_find(pattern, '*', 0), pattern.n);
    if (!str_starts(path, str_slice(pattern, 0, MIN_OF(star, path.n)))) {
        return (struct match){false, false};
    }
    /* What is before its first `*` is the beginning of the path, which the `*` reaches over; or the path is the beginning of it. */
    return (struct match){.exact = str_glob(pattern, path),
                          .deeper = path.n < star ? pattern.p[path.n] == '.' : star < pattern.n};
}

static struct match match_any(const struct str *patterns, uint32_t n, struct str path)
{
    struct match m = {false, false};
    if (n > 0 && stop_worked(n * (size_t)(path.n + 8))) {
        return m;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct match one = match_one(patterns[i], path);
        m.exact |= one.exact;
        m.deeper |= one.deeper;
    }
    return m;
}

struct source_filtering {
    const struct source_patterns *p;
    struct jsonw *w;
    struct buf path;
};

static bool member_included(struct source_filtering *k, const struct json_member *m, bool included,
                            bool *keep_scalar, bool *whole)
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

static size_t source_filter_push(struct source_filtering *k, struct str key)
{
    size_t was = k->path.n;
    if (was > 0) {
        buf_char(&k->path, '.');
    }
    buf_str(&k->path, key);
    return was;
}

static void pop(struct source_filtering *k, size_t was)
{
    k->path.failed = false;
    buf_truncate(&k->path, was);
}

/* Does it show anything? What shows nothing is taken back by the caller, unless a pattern names it: so each value is gone
 * through once, however deep it is. */
static bool write_value(struct source_filtering *k, const struct json *v, bool included);

/* A member that patterns may let stand; false: nothing of it stands. */
static bool write_member(struct source_filtering *k, const struct json_member *m, bool exact, bool whole)
{
    struct jsonw_mark before = jw_mark(k->w);
    bool any = exact;
    jw_key(k->w, m->key);
    if (whole) {
        jw_value(k->w, &m->value);
    } else {
        any |= write_value(k, &m->value, exact);
    }
    if (!any) {
        jw_rewind(k->w, &before);
    }
    return any;
}

static bool write_object(struct source_filtering *k, const struct json *v, bool included)
{
    bool any = false;
    jw_obj(k->w);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        size_t was = source_filter_push(k, m->key);
        bool exact, whole;
        if (member_included(k, m, included, &exact, &whole)) {
            any |= write_member(k, m, exact, whole);
        }
        pop(k, was);
    }
    jw_obj_end(k->w);
    return any;
}

static bool write_array(struct source_filtering *k, const struct json *v, bool included)
{
    bool any = false;
    jw_arr(k->w);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json *item = &v->items[i];
        bool container = item->type == JSON_OBJECT || item->type == JSON_ARRAY;
        if (container || included) {
            struct jsonw_mark before = jw_mark(k->w);
            bool shows = write_value(k, item, included);
            if (!shows) {
                jw_rewind(k->w, &before);
            }
            any |= shows;
        }
    }
    jw_arr_end(k->w);
    return any;
}

static bool write_value(struct source_filtering *k, const struct json *v, bool included)
{
    if (v->type == JSON_OBJECT) {
        return write_object(k, v, included);
    }
    if (v->type == JSON_ARRAY) {
        return write_array(k, v, included);
    }
    jw_value(k->w, v);
    return included;
}

void source_filter_write(const struct json *source, const struct source_patterns *p, struct jsonw *w)
{
    struct source_filtering k = {.p = p, .w = w};
    buf_init(&k.path, NULL, PATH_MAX_BYTES);
    write_value(&k, source, p->n_includes == 0);
    buf_fini(&k.path);
}
