/* The processor dissect: texts between delimiters, by a pattern of keys. */
#include "engine/ingest/processor_list.h"

#include "common/base/num.h"

struct dissect_key {
    struct str name, after; /* the delimiter behind it; n == 0: the text's end */
    char kind;              /* 0: a value; '+': appended; '?': not kept; '*': a name; '&': the value of a name */
    int32_t place;          /* "+x/2" */
    bool padded;            /* "->": delimiters may follow each other */
};

struct dissect_own {
    struct str field, pattern, separator, before;
    bool ignore_missing;
    struct dissect_key *keys;
    uint32_t n;
};

static enum err bad_pattern(struct config *c, struct str pattern, const char *why)
{
    return err_set(c->em, ERR_DISSECT_PARSE, "Unable to parse pattern: %.*s Reason: %s", STR_ARG(pattern), why);
}

static enum err bad_key(struct config *c, struct str key, const char *why)
{
    return err_set(c->em, ERR_DISSECT_KEY, "Unable to parse key: %.*s Reason: %s", STR_ARG(key), why);
}

static enum err read_key(struct config *c, struct str text, struct dissect_key *k)
{
    struct str s = text;
    *k = (struct dissect_key){.place = 0};
    if (s.n >= 2 && str_ends(s, STR("->"))) {
        k->padded = true;
        s.n -= 2;
    }
    if (s.n > 0 && strchr("+?*&", s.p[0]) != NULL) {
        k->kind = s.p[0];
        s = str_slice(s, 1, s.n);
    }
    size_t slash = str_rfind(s, '/');
    if (slash != SIZE_MAX) {
        if (k->kind != '+' || !num_parse_i32(str_slice(s, slash + 1, s.n), &k->place)) {
            return bad_key(c, text, "The key name could be determined");
        }
        s = str_slice(s, 0, slash);
    }
    if (s.n == 0 && k->kind != '?' && k->kind != 0) {
        return bad_key(c, text, "The key name could be determined");
    }
    k->kind = s.n == 0 ? '?' : k->kind;
    k->name = s;
    return ERR_OK;
}

/* Each "*x" has its "&x", and the other way round. */
static bool names_match(const struct dissect_own *o, struct str *wrong)
{
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t n = 0;
        if (o->keys[i].kind != '*' && o->keys[i].kind != '&') {
            continue;
        }
        for (uint32_t k = 0; k < o->n; k++) {
            n += (o->keys[k].kind == '*' || o->keys[k].kind == '&') && str_eq(o->keys[k].name, o->keys[i].name);
        }
        if (n != 2) {
            *wrong = o->keys[i].name;
            return false;
        }
    }
    return true;
}

static enum err read_keys(struct config *c, struct dissect_own *o)
{
    struct str p = o->pattern, wrong;
    size_t cap = 0, at = str_find_str(p, STR("%{"));
    o->before = str_slice(p, 0, MIN_OF(at, p.n));
    while (at != SIZE_MAX && at < p.n) {
        size_t end = str_find(p, '}', at + 2);
        if (end == SIZE_MAX) {
            break;
        }
        struct dissect_key *grown = arena_grow(c->arena, o->keys, o->n, &cap, sizeof(*grown));
        if (grown == NULL) {
            return err_no_memory(c->em);
        }
        o->keys = grown;
        enum err e = read_key(c, str_slice(p, at + 2, end), &grown[o->n]);
        if (e != ERR_OK) {
            return e;
        }
        struct str rest = str_slice(p, end + 1, p.n);
        size_t next = str_find_str(rest, STR("%{"));
        grown[o->n++].after = str_slice(rest, 0, MIN_OF(next, rest.n));
        at = next == SIZE_MAX ? SIZE_MAX : end + 1 + next;
    }
    bool kept = false;
    for (uint32_t i = 0; i < o->n; i++) {
        kept = kept || o->keys[i].kind != '?' || o->n > 1;
    }
    if (!kept) {
        return bad_pattern(c, p, "Unable to find any keys or delimiters.");
    }
    if (!names_match(o, &wrong)) {
        struct str why = arena_printf(c->arena,
                                      "Found invalid key/reference associations: '%.*s' Please ensure each '*<key>' is "
                                      "matched with a matching '&<key>",
                                      STR_ARG(wrong));
        return why.p != NULL ? bad_pattern(c, p, why.p) : err_no_memory(c->em);
    }
    return ERR_OK;
}

static enum err read_dissect(struct config *c, void *own)
{
    struct dissect_own *o = own;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? config_str(c, "pattern", &o->pattern) : e;
    e = e == ERR_OK ? config_str_or(c, "append_separator", "", &o->separator) : e;
    e = e == ERR_OK ? config_bool(c, "ignore_missing", false, &o->ignore_missing) : e;
    return e == ERR_OK ? read_keys(c, o) : e;
}

static bool no_match(const struct dissect_own *o, struct str text, struct errmsg *em)
{
    err_set(em, ERR_DISSECT, "Unable to find match for dissect pattern: %.*s against source: %.*s",
            STR_ARG(o->pattern), STR_ARG(text));
    return false;
}

/* The value of each key. */
static bool dissect_values(const struct dissect_own *o, struct str text, struct str *values, struct errmsg *em)
{
    if (!str_starts(text, o->before)) {
        return no_match(o, text, em);
    }
    size_t at = o->before.n;
    for (uint32_t i = 0; i < o->n; i++) {
        const struct dissect_key *k = &o->keys[i];
        struct str rest = str_slice(text, at, text.n);
        if (k->after.n == 0) {
            if (i + 1 < o->n) { /* two keys without anything between them */
                return no_match(o, text, em);
            }
            values[i] = rest;
            at = text.n;
            continue;
        }
        size_t end = str_find_str(rest, k->after);
        if (end == SIZE_MAX) {
            return no_match(o, text, em);
        }
        values[i] = str_slice(rest, 0, end);
        at += end + k->after.n;
        while (k->padded && str_starts(str_slice(text, at, text.n), k->after)) {
            at += k->after.n;
        }
    }
    return true;
}

/* Appended values of one name, in the order of their places. */
static enum err put_appended(const struct dissect_own *o, const struct str *values, uint32_t first,
                             struct ingest_doc *d, struct errmsg *em)
{
    struct buf b;
    buf_init(&b, d->arena->alloc, (size_t)64 << 20);
    bool any = false;
    int64_t least = INT64_MIN;
    for (uint32_t round = 0; round < o->n; round++) {
        int64_t next = INT64_MAX;
        for (uint32_t i = 0; i < o->n; i++) {
            int64_t place = (int64_t)o->keys[i].place;
            if (str_eq(o->keys[i].name, o->keys[first].name) && place > least && place < next) {
                next = place;
            }
        }
        for (uint32_t i = 0; next != INT64_MAX && i < o->n; i++) {
            if (str_eq(o->keys[i].name, o->keys[first].name) && (int64_t)o->keys[i].place == next) {
                buf_str(&b, any ? o->separator : STR(""));
                buf_str(&b, values[i]);
                any = true;
            }
        }
        least = next;
        if (next == INT64_MAX) {
            break;
        }
    }
    const struct json v = json_mk_str(b.failed ? STR_NULL : arena_str(d->arena, buf_view(&b)));
    buf_fini(&b);
    return v.s.p != NULL ? ingest_put(d, o->keys[first].name, &v, em) : err_no_memory(em);
}

static bool is_appended(const struct dissect_own *o, uint32_t i, uint32_t *first)
{
    bool any = false;
    *first = UINT32_MAX;
    for (uint32_t k = 0; k < o->n; k++) {
        if (o->keys[k].kind != '?' && o->keys[k].kind != '*' && o->keys[k].kind != '&'
            && str_eq(o->keys[k].name, o->keys[i].name)) {
            any = any || o->keys[k].kind == '+';
            *first = MIN_OF(*first, k);
        }
    }
    return any;
}

static enum err put_values(const struct dissect_own *o, const struct str *values, struct ingest_doc *d,
                           struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < o->n; i++) {
        const struct dissect_key *k = &o->keys[i];
        struct json v = json_mk_str(values[i]);
        uint32_t first;
        if (k->kind == '*') {
            v = ingest_null();
            for (uint32_t j = 0; j < o->n; j++) {
                if (o->keys[j].kind == '&' && str_eq(o->keys[j].name, k->name)) {
                    v = json_mk_str(values[j]);
                }
            }
            bool last = v.type != JSON_NULL;
            for (uint32_t j = i + 1; !last && j < o->n; j++) { /* two names and no value: the last one has none */
                last = o->keys[j].kind == '*' && str_eq(o->keys[j].name, k->name);
            }
            e = v.type != JSON_NULL || !last ? ingest_put(d, values[i], &v, em) : ERR_OK;
        } else if (k->kind == '+' || k->kind == 0) {
            e = !is_appended(o, i, &first) ? ingest_put(d, k->name, &v, em)
                : first == i               ? put_appended(o, values, i, d, em)
                                           : ERR_OK;
        }
    }
    return e;
}

static enum err run_dissect(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct dissect_own *o = own;
    struct json *v;
    enum err e = ingest_get_as(d, o->field, JSON_STRING, o->ignore_missing, &v, em);
    if (e != ERR_OK || (v == NULL && o->ignore_missing)) {
        return e;
    }
    if (v == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] is null, cannot process it.", STR_ARG(o->field));
    }
    struct str *values = ARENA_ARRAY(d->arena, struct str, o->n);
    if (values == NULL) {
        return err_no_memory(em);
    }
    return dissect_values(o, v->s, values, em) ? put_values(o, values, d, em) : err_code(em);
}

const struct processor_row processor_dissect = {"dissect", sizeof(struct dissect_own), read_dissect, run_dissect};
