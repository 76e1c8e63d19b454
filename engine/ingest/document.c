#include "engine/ingest/document.h"

#include "common/base/java_hash.h"
#include "common/base/num.h"
#include "common/base/stop.h"
#include "engine/mapping/java.h"

static uint32_t member_place(const struct json *v, struct str key)
{
    for (uint32_t i = 0; i < v->n; i++) {
        if (str_eq(v->members[i].key, key)) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static bool put_text(struct ingest_doc *d, const char *key, struct str s, bool always)
{
    if (s.p == NULL && !always) {
        return true;
    }
    d->metadata++;
    return json_put(&d->root, d->arena, str_of(key), s.p != NULL ? json_mk_str(s) : ingest_null());
}

static struct str time_text(struct instant now, struct arena *arena)
{
    int64_t year;
    int month, day;
    int64_t days = floor_div(now.seconds, 86400);
    int seconds = (int)(now.seconds - days * 86400);
    civil_of_days(days, &year, &month, &day);
    return arena_printf(arena, "%04d-%02d-%02dT%02d:%02d:%02d.%09dZ", (int)year, month, day, seconds / 3600,
                        seconds / 60 % 60, seconds % 60, (int)now.nanos);
}

enum err ingest_doc_init(struct ingest_doc *d, const struct json *source, const struct ingest_meta *meta,
                         struct instant now, struct arena *arena, struct errmsg *em)
{
    *d = (struct ingest_doc){.arena = arena, .ingest = json_mk_object()};
    struct str text = time_text(now, arena);
    bool ok = text.p != NULL && ingest_copy(&d->root, source, arena)
              && put_text(d, "_index", meta->index, true) && put_text(d, "_type", meta->type, true)
              && put_text(d, "_id", meta->id, true) && put_text(d, "_routing", meta->routing, false)
              && ingest_note(d, "timestamp", json_mk_str(text));
    if (ok && meta->has_version) {
        d->metadata++;
        ok = json_put(&d->root, arena, STR("_version"), ingest_i64(meta->version, arena));
    }
    ok = ok && put_text(d, "_version_type", meta->version_type, false);
    return ok ? ERR_OK : err_no_memory(em);
}

static struct str key_of_member(const void *item)
{
    return ((const struct json_member *)item)->key;
}

/* A text, or null: what metadata may be. */
static enum err take_text(struct ingest_doc *d, const char *key, struct str *out, struct errmsg *em)
{
    uint32_t at = member_place(&d->root, str_of(key));
    *out = STR_NULL;
    if (at == UINT32_MAX) {
        return ERR_OK;
    }
    struct json v = d->root.members[at].value;
    ingest_remove_at(&d->root, at);
    if (v.type == JSON_STRING || v.type == JSON_NULL) {
        *out = json_text(&v);
        return ERR_OK;
    }
    return err_set(em, ERR_CLASS_CAST,
                   "class %s cannot be cast to class java.lang.String (%s and java.lang.String are in module "
                   "java.base of loader 'bootstrap')",
                   ingest_class(&v), ingest_class(&v));
}

static enum err take_version(struct ingest_doc *d, struct ingest_meta *out, struct errmsg *em)
{
    uint32_t at = member_place(&d->root, STR("_version"));
    if (at == UINT32_MAX || d->root.members[at].value.type == JSON_NULL) {
        return err_set(em, ERR_NULL_POINTER, "%s", "");
    }
    struct json v = d->root.members[at].value;
    ingest_remove_at(&d->root, at);
    if (v.type != JSON_NUMBER) {
        return err_set(em, ERR_CLASS_CAST,
                       "class %s cannot be cast to class java.lang.Number (%s and java.lang.Number are in "
                       "module java.base of loader 'bootstrap')",
                       ingest_class(&v), ingest_class(&v));
    }
    out->has_version = true;
    if (!json_i64(&v, &out->version)) {
        out->version = (int64_t)MAX_OF(MIN_OF(json_double(&v), 9e18), -9e18);
    }
    return ERR_OK;
}

enum err ingest_doc_take(struct ingest_doc *d, struct ingest_meta *out, struct errmsg *em)
{
    static const char *const others[] = {"_if_seq_no", "_if_primary_term"};
    uint32_t most = d->root.n;
    bool versioned = out->has_version;
    *out = (struct ingest_meta){.index = STR_NULL};
    enum err e = take_text(d, "_index", &out->index, em);
    e = e == ERR_OK ? take_text(d, "_type", &out->type, em) : e;
    e = e == ERR_OK ? take_text(d, "_id", &out->id, em) : e;
    e = e == ERR_OK ? take_text(d, "_routing", &out->routing, em) : e;
    e = e == ERR_OK ? take_text(d, "_version_type", &out->version_type, em) : e;
    if (e == ERR_OK && (versioned || member_place(&d->root, STR("_version")) != UINT32_MAX)) {
        e = take_version(d, out, em);
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        uint32_t at = member_place(&d->root, str_of(others[i]));
        if (at != UINT32_MAX) {
            ingest_remove_at(&d->root, at);
        }
    }
    if (e == ERR_OK) {
        struct json ordered = java_ordered(&d->root, d->arena);
        java_map_sort(ordered.members, ordered.n, sizeof(*ordered.members), key_of_member,
                      java_map_buckets(most));
        d->root = ordered;
    }
    return e;
}

bool ingest_note(struct ingest_doc *d, const char *name, struct json v)
{
    return json_put(&d->ingest, d->arena, str_of(name), v);
}

void ingest_forget(struct ingest_doc *d, const char *name)
{
    uint32_t at = member_place(&d->ingest, str_of(name));
    if (at != UINT32_MAX) {
        ingest_remove_at(&d->ingest, at);
    }
}

/* ---- paths --------------------------------------------------------------------------------------------- */

struct doc_path {
    struct str whole; /* as errors show it */
    struct json *from;
    struct str *parts;
    uint32_t n;
};

/* Empty parts at the end are none, as Java splits. */
static enum err path_split(struct ingest_doc *d, struct str path, struct doc_path *out, struct errmsg *em)
{
    size_t cap = 0;
    *out = (struct doc_path){.whole = path, .from = &d->root};
    if (path.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "path cannot be null nor empty");
    }
    struct str rest = path;
    if (str_starts(path, STR("_ingest."))) {
        out->from = &d->ingest;
        rest = str_slice(path, 8, path.n);
    } else if (str_starts(path, STR("_source."))) {
        rest = str_slice(path, 8, path.n);
    }
    if (rest.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "path [%.*s] is not valid", STR_ARG(path));
    }
    while (rest.p != NULL) {
        struct str *grown = arena_grow(d->arena, out->parts, out->n, &cap, sizeof(*out->parts));
        if (grown == NULL) {
            return err_no_memory(em);
        }
        out->parts = grown;
        out->parts[out->n++] = str_cut(rest, '.', &rest);
    }
    while (out->n > 0 && out->parts[out->n - 1].n == 0) {
        out->n--;
    }
    return ERR_OK;
}

static enum err not_index(const struct doc_path *p, struct str part, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "[%.*s] is not an integer, cannot be used as an index as part of path [%.*s]",
                   STR_ARG(part), STR_ARG(p->whole));
}

static enum err list_place(const struct doc_path *p, const struct json *list, struct str part, uint32_t *out,
                           struct errmsg *em)
{
    int32_t i;
    if (!num_parse_i32(part, &i)) {
        enum err e = err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(part));
        return err_wrap(em, e == ERR_OK ? ERR_OK : ERR_ILLEGAL_ARGUMENT,
                        "[%.*s] is not an integer, cannot be used as an index as part of path [%.*s]",
                        STR_ARG(part), STR_ARG(p->whole));
    }
    if (i < 0 || (uint32_t)i >= list->n) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "[%d] is out of bounds for array with length [%u] as part of path [%.*s]", (int)i,
                       list->n, STR_ARG(p->whole));
    }
    *out = (uint32_t)i;
    return ERR_OK;
}

/* As list_place(), for who gives no cause. */
static enum err list_index(const struct doc_path *p, const struct json *list, struct str part, uint32_t *out,
                           struct errmsg *em)
{
    int32_t i;
    return num_parse_i32(part, &i) ? list_place(p, list, part, out, em) : not_index(p, part, em);
}

static enum err no_way(const struct doc_path *p, const char *what, struct str part, const char *of,
                       const struct json *v, struct errmsg *em)
{
    return v->type == JSON_NULL
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "cannot %s [%.*s] from null as part of path [%.*s]", what,
                         STR_ARG(part), STR_ARG(p->whole))
               : err_set(em, ERR_ILLEGAL_ARGUMENT,
                         "cannot %s [%.*s] %s object of type [%s] as part of path [%.*s]", what,
                         STR_ARG(part), of, ingest_class(v), STR_ARG(p->whole));
}

/* One step down: *at moves. */
static enum err path_step(const struct doc_path *p, struct str part, struct json **at, struct errmsg *em)
{
    struct json *v = *at;
    uint32_t i;
    if (v->type == JSON_OBJECT) {
        i = member_place(v, part);
        if (i == UINT32_MAX) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] not present as part of path [%.*s]",
                           STR_ARG(part), STR_ARG(p->whole));
        }
        *at = &v->members[i].value;
        return ERR_OK;
    }
    if (v->type != JSON_ARRAY) {
        return no_way(p, "resolve", part, "from", v, em);
    }
    enum err e = list_index(p, v, part, &i, em);
    *at = e == ERR_OK ? &v->items[i] : v;
    return e;
}

enum err ingest_get(struct ingest_doc *d, struct str path, struct json **out, struct errmsg *em)
{
    struct doc_path p;
    enum err e = path_split(d, path, &p, em);
    *out = p.from;
    for (uint32_t i = 0; e == ERR_OK && i < p.n; i++) {
        e = path_step(&p, p.parts[i], out, em);
    }
    return e;
}

enum err ingest_has(struct ingest_doc *d, struct str path, bool strict, bool *out, struct errmsg *em)
{
    struct doc_path p;
    enum err e = path_split(d, path, &p, em);
    struct json *at = p.from;
    *out = false;
    for (uint32_t i = 0; e == ERR_OK && i < p.n; i++) {
        int32_t place;
        if (at->type == JSON_ARRAY && num_parse_i32(p.parts[i], &place)
            && (place < 0 || (uint32_t)place >= at->n) && strict) {
            uint32_t ignored;
            return list_place(&p, at, p.parts[i], &ignored, em);
        }
        ERR_LOCAL(unsaid);
        if (path_step(&p, p.parts[i], &at, &unsaid) != ERR_OK) {
            return ERR_OK;
        }
    }
    *out = e == ERR_OK;
    return e == ERR_OK && p.n == 0 ? err_set(em, ERR_ARRAY_BOUNDS, "Index -1 out of bounds for length 0") : e;
}

enum err ingest_get_maybe(struct ingest_doc *d, struct str path, bool ignore_missing, struct json **out,
                          struct errmsg *em)
{
    bool there = true;
    enum err e = ingest_get(d, path, out, em);
    if (e == ERR_ILLEGAL_ARGUMENT && ignore_missing) {
        ERR_LOCAL(why);
        enum err again = ingest_has(d, path, false, &there, &why);
        if (again != ERR_OK) {
            err_copy(em, &why);
            return again;
        }
    }
    if (!there) {
        err_clear(em);
        *out = NULL;
        return ERR_OK;
    }
    return e;
}

static const char *class_of_type(enum json_type t)
{
    return t == JSON_STRING ? "java.lang.String" : t == JSON_ARRAY ? "java.util.List" : "java.util.Map";
}

enum err ingest_get_as(struct ingest_doc *d, struct str path, enum json_type type, bool ignore_missing,
                       struct json **out, struct errmsg *em)
{
    enum err e = ingest_get_maybe(d, path, ignore_missing, out, em);
    if (e != ERR_OK || *out == NULL || (*out)->type == type) {
        return e;
    }
    if ((*out)->type == JSON_NULL) {
        *out = NULL;
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] of type [%s] cannot be cast to [%s]",
                   STR_ARG(path), ingest_class(*out), class_of_type(type));
}

/* Down to the value that holds the last part, with objects where members are missing. */
static enum err path_open(struct ingest_doc *d, const struct doc_path *p, struct json **out,
                          struct errmsg *em)
{
    struct json *at = p->from;
    enum err e = ERR_OK;
    if (p->n == 0) {
        return err_set(em, ERR_ARRAY_BOUNDS, "Index -1 out of bounds for length 0");
    }
    for (uint32_t i = 0; e == ERR_OK && i + 1 < p->n; i++) {
        struct str part = p->parts[i];
        uint32_t place = 0;
        if (at->type == JSON_OBJECT) {
            place = member_place(at, part);
            if (place == UINT32_MAX) {
                const struct json fresh = json_mk_object();
                struct str key = arena_str(d->arena, part);
                if (key.p == NULL || !json_put_new(at, d->arena, key, &fresh)) {
                    return err_no_memory(em);
                }
                place = at->n - 1;
            }
            at = &at->members[place].value;
        } else if (at->type == JSON_ARRAY) {
            e = list_place(p, at, part, &place, em);
            at = e == ERR_OK ? &at->items[place] : at;
        } else {
            e = no_way(p, "resolve", part, "from", at, em);
        }
    }
    *out = at;
    return e;
}

/* Do values nest in it more than `most` deep? */
static bool is_deeper(const struct json *v, uint32_t most)
{
    bool deeper = false;
    if (v->type != JSON_ARRAY && v->type != JSON_OBJECT) {
        return false;
    }
    for (uint32_t i = 0; most > 0 && !deeper && i < v->n; i++) {
        deeper = is_deeper(v->type == JSON_ARRAY ? &v->items[i] : &v->members[i].value, most - 1);
    }
    return deeper || most == 0;
}

/* A document stays one that can be read again: whoever walks through it may recurse. */
static enum err check_depth(uint32_t above, const struct json *v, struct errmsg *em)
{
    return above > JSON_DEPTH_MAX || is_deeper(v, JSON_DEPTH_MAX - above) ? err_set(
               em, ERR_ILLEGAL_ARGUMENT, "values nest more than [%d] deep in a document", JSON_DEPTH_MAX)
                                                                          : ERR_OK;
}

/* The place for `v` at the last part; *fresh: a member that was not there, and is null now. *depth: how many values it is in. */
static enum err path_leaf(struct ingest_doc *d, struct str path, const struct json *v, struct json **out,
                          bool *fresh, uint32_t *depth, struct errmsg *em)
{
    struct doc_path p;
    struct json *at = NULL;
    enum err e = path_split(d, path, &p, em);
    e = e == ERR_OK ? check_depth(p.n, v, em) : e;
    e = e == ERR_OK ? path_open(d, &p, &at, em) : e;
    *depth = p.n;
    if (e != ERR_OK) {
        return e;
    }
    struct str leaf = p.parts[p.n - 1];
    uint32_t place;
    *fresh = false;
    if (at->type == JSON_ARRAY) {
        e = list_place(&p, at, leaf, &place, em);
        *out = e == ERR_OK ? &at->items[place] : NULL;
        return e;
    }
    if (at->type == JSON_NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "cannot set [%.*s] with null parent as part of path [%.*s]",
                       STR_ARG(leaf), STR_ARG(path));
    }
    if (at->type != JSON_OBJECT) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "cannot set [%.*s] with parent object of type [%s] as part of path [%.*s]",
                       STR_ARG(leaf), ingest_class(at), STR_ARG(path));
    }
    place = member_place(at, leaf);
    if (place == UINT32_MAX) {
        const struct json nothing = ingest_null();
        struct str key = arena_str(d->arena, leaf);
        if (key.p == NULL || !json_put_new(at, d->arena, key, &nothing)) {
            return err_no_memory(em);
        }
        *fresh = true;
        place = at->n - 1;
    }
    *out = &at->members[place].value;
    return ERR_OK;
}

enum err ingest_put(struct ingest_doc *d, struct str path, const struct json *v, struct errmsg *em)
{
    struct json *to;
    bool fresh;
    uint32_t depth;
    const struct json value = *v; /* which may be the document's, and move */
    enum err e = path_leaf(d, path, v, &to, &fresh, &depth, em);
    if (e == ERR_OK) {
        *to = value;
    }
    return e;
}

static bool list_has(const struct json *list, const struct json *v)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (json_equal(&list->items[i], v)) {
            return true;
        }
    }
    return false;
}

enum err ingest_append(struct ingest_doc *d, struct str path, const struct json *v, bool duplicates,
                       struct errmsg *em)
{
    struct json *to, list;
    bool fresh;
    uint32_t depth;
    enum err e = path_leaf(d, path, v, &to, &fresh, &depth, em);
    if (e == ERR_OK && to->type != JSON_ARRAY) { /* the list is one value more around them */
        e = check_depth(depth + 1, to, em);
    }
    e = e == ERR_OK && v->type != JSON_ARRAY ? check_depth(depth + 1, v, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    list = to->type == JSON_ARRAY ? *to : ingest_list();
    bool ok = to->type == JSON_ARRAY || fresh || ingest_push(&list, to, d->arena);
    const struct json *add = v->type == JSON_ARRAY ? v->items : v;
    uint32_t n = v->type == JSON_ARRAY ? v->n : 1, added = 0;
    for (uint32_t i = 0; ok && i < n; i++) {
        if (duplicates || fresh || !list_has(&list, &add[i])) {
            ok = ingest_push(&list, &add[i], d->arena);
            added++;
        }
        if (stop_worked(list.n)) {
            return err_set(em, ERR_CANCELLED, "the pipeline was cancelled");
        }
    }
    if (ok && (duplicates || fresh || added > 0)) {
        *to = list;
    }
    return ok ? ERR_OK : err_no_memory(em);
}

enum err ingest_remove(struct ingest_doc *d, struct str path, struct errmsg *em)
{
    struct doc_path p;
    enum err e = path_split(d, path, &p, em);
    struct json *at = p.from;
    uint32_t place;
    if (e == ERR_OK && p.n == 0) {
        return err_set(em, ERR_ARRAY_BOUNDS, "Index -1 out of bounds for length 0");
    }
    for (uint32_t i = 0; e == ERR_OK && i + 1 < p.n; i++) {
        e = path_step(&p, p.parts[i], &at, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    struct str leaf = p.parts[p.n - 1];
    if (at->type == JSON_OBJECT) {
        place = member_place(at, leaf);
        if (place == UINT32_MAX) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] not present as part of path [%.*s]",
                           STR_ARG(leaf), STR_ARG(path));
        }
    } else if (at->type == JSON_ARRAY) {
        e = list_place(&p, at, leaf, &place, em);
        if (e != ERR_OK) {
            return e;
        }
    } else {
        return no_way(&p, "remove", leaf, "from", at, em);
    }
    ingest_remove_at(at, place);
    return ERR_OK;
}
