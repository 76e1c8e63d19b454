/* The processor dissect: texts between delimiters, by a pattern of keys. */
#include "engine/ingest/processor_list.h"

#include "common/base/num.h"

struct dissect_key {
    struct str name, after; /* the delimiter behind it; n == 0: the text's end */
    char kind;     /* 0: a value; '+': appended; '?': not kept; '*': a name; '&': the value of a name */
    int32_t place; /* "+x/2" */
    bool padded;   /* "->": delimiters may follow each other */
};

struct dissect_own {
    struct str field, pattern, separator, before;
    bool ignore_missing;
    struct dissect_key *keys;
    uint32_t n;
};

static enum err bad_pattern(struct config *c, struct str pattern, const char *why)
{
    return err_set(c->em, ERR_DISSECT_PARSE, "Unable to parse pattern: %.*s Reason: %s", STR_ARG(pattern),
                   why);
}

static enum err bad_key(struct config *c, struct str key, const char *why)
{
    return err_set(c->em, ERR_DISSECT_KEY, "Unable to parse key: %.*s Reason: %s", STR_ARG(key), why);
}

/* A modifier may stand anywhere: the name is what follows it. Only "+name/place" has two. */
static enum err read_key(struct config *c, struct str text, struct dissect_key *k)
{
    struct str s = text;
    size_t at[2] = {SIZE_MAX, SIZE_MAX}, n = 0;
    *k = (struct dissect_key){.place = 0};
    if (s.n >= 2 && str_ends(s, STR("->"))) {
        k->padded = true;
        s.n -= 2;
    }
    for (size_t i = 0; i < s.n; i++) {
        if (strchr("+?*&/", s.p[i]) != NULL) {
            at[n > 0] = n == 1 || at[0] == SIZE_MAX ? i : at[n > 0];
            n++;
        }
    }
    bool placed = n == 2 && s.p[at[0]] == '+' && s.p[at[1]] == '/';
    if (n > 1 && !placed) {
        return bad_key(c, text, "multiple modifiers are not allowed.");
    }
    k->kind = n > 0 ? s.p[at[0]] : '\0';
    k->name = n > 0 ? str_slice(s, at[0] + 1, placed ? at[1] : s.n) : s;
    struct str digits = placed ? str_slice(s, at[1] + 1, s.n) : STR("0");
    bool good = k->kind != '/' && digits.n > 0;
    for (size_t i = 0; i < digits.n; i++) {
        good = good && digits.p[i] >= '0' && digits.p[i] <= '9';
    }
    if (!good || (k->name.n == 0 && k->kind != '?' && k->kind != '\0')) {
        return bad_key(c, text, "The key name could be determined");
    }
    if (!num_parse_i32(digits, &k->place)) {
        return err_set(c->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(digits));
    }
    k->kind = k->name.n == 0 ? '?' : k->kind;
    return ERR_OK;
}

/* Each "*x" has its "&x", and the other way round. */
static bool names_match(const struct dissect_own *o, struct str *wrong, uint32_t *times)
{
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t n = 0;
        if (o->keys[i].kind != '*' && o->keys[i].kind != '&') {
            continue;
        }
        for (uint32_t k = 0; k < o->n; k++) {
            n += (o->keys[k].kind == '*' || o->keys[k].kind == '&')
                 && str_eq(o->keys[k].name, o->keys[i].name);
        }
        if (n != 2) {
            *wrong = o->keys[i].name;
            *times = n;
            return false;
        }
    }
    return true;
}

static enum err read_keys(struct config *c, struct dissect_own *o)
{
    struct str p = o->pattern, wrong;
    size_t cap = 0, at = str_find_str(p, STR("%{"));
    uint32_t times;
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
        kept = kept || o->keys[i].kind != '?';
    }
    if (!kept) {
        return bad_pattern(c, p, "Unable to find any keys or delimiters.");
    }
    if (!names_match(o, &wrong, &times)) {
        struct str names = wrong;
        for (uint32_t i = 1; names.p != NULL && i < times; i++) {
            names = arena_printf(c->arena, "%.*s,%.*s", STR_ARG(names), STR_ARG(wrong));
        }
        struct str why = names.p == NULL
                             ? STR_NULL
                             : arena_printf(c->arena,
                                            "Found invalid key/reference associations: '%.*s' Please ensure "
                                            "each '*<key>' is matched with a matching '&<key>",
                                            STR_ARG(names));
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

/* The value of each key. A delimiter that follows at once gives the next key an empty value, whatever would end that one; else a value but the
 * first has a byte at least. */
static bool dissect_values(const struct dissect_own *o, struct str text, struct str *values,
                           struct errmsg *em)
{
    if (!str_starts(text, o->before)) {
        return no_match(o, text, em);
    }
    size_t at = o->before.n;
    for (uint32_t i = 0; i < o->n; i++) {
        const struct dissect_key *k = &o->keys[i];
        if (k->after.n == 0) {
            if (i + 1 < o->n) { /* two keys without anything between them */
                return no_match(o, text, em);
            }
            values[i] = str_slice(text, at, text.n);
            return true;
        }
        size_t from = at + (i > 0);
        size_t end = from < text.n ? str_find_str(str_slice(text, from, text.n), k->after) : SIZE_MAX;
        if (end == SIZE_MAX) {
            return no_match(o, text, em);
        }
        values[i] = str_slice(text, at, from + end);
        at = from + end + k->after.n;
        bool padded = k->padded;
        while (str_starts(str_slice(text, at, text.n), k->after) && (padded || i + 1 < o->n)) {
            at += k->after.n;
            if (!padded) {
                values[++i] = STR("");
                padded = o->keys[i].padded;
            }
        }
    }
    return true;
}

/* Does value i end up under a name of its own? Names are those of keys, and the values of "*x". */
static struct str name_of(const struct dissect_own *o, const struct str *values, uint32_t i)
{
    return o->keys[i].kind == '*' ? values[i] : o->keys[i].name;
}

/* Do two names of "*x" and "*y", or of other keys, come to one? Then it is no match. */
static bool names_collide(const struct dissect_own *o, const struct str *values)
{
    for (uint32_t i = 0; i < o->n; i++) {
        for (uint32_t k = 0; o->keys[i].kind == '*' && k < o->n; k++) {
            if (o->keys[k].kind != '?' && o->keys[k].kind != '&' && !str_eq(o->keys[i].name, o->keys[k].name)
                && str_eq(values[i], name_of(o, values, k))) {
                return true;
            }
        }
    }
    return false;
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
            for (uint32_t j = i + 1; !last && j < o->n;
                 j++) { /* two names and no value: the last one has none */
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
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] is null, cannot process it.",
                       STR_ARG(o->field));
    }
    struct str *values = ARENA_ARRAY(d->arena, struct str, o->n);
    if (values == NULL) {
        return err_no_memory(em);
    }
    if (dissect_values(o, v->s, values, em) && names_collide(o, values)) {
        no_match(o, v->s, em);
        return err_code(em);
    }
    return !err_is(em) ? put_values(o, values, d, em) : err_code(em);
}

const struct processor_row processor_dissect = {"dissect", sizeof(struct dissect_own), read_dissect,
                                                run_dissect};
