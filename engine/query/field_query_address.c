/* Queries for addresses, which are points, and blocks of them. */
#include "engine/query/field_queries.h"

#include "common/base/inet.h"

enum err address_term(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                      struct errmsg *em)
{
    struct str text = json_text(v);
    uint8_t lo[INET_BYTES], hi[INET_BYTES];
    enum err e;
    if (inet_is_cidr(text)) {
        e = inet_cidr(text, lo, hi, em);
    } else {
        e = inet_parse(text, lo, em);
        memcpy(hi, lo, sizeof(hi));
    }
    if (e != ERR_OK) {
        return e;
    }
    struct str a = arena_str(b->arena, str_mk(lo, sizeof(lo))),
               z = arena_str(b->arena, str_mk(hi, sizeof(hi)));
    if (a.p == NULL || z.p == NULL) {
        return err_no_memory(em);
    }
    return qnode_term_range(b, f, a, z, true, true, out, em);
}

static bool has_cidr(const struct json *const *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (inet_is_cidr(json_text(v[i]))) {
            return true;
        }
    }
    return false;
}

/* Addresses as one set of points; one without an index has none. */
enum err address_terms(struct builder *b, const struct field *f, const struct json *const *v, uint32_t n,
                       struct query **out, struct errmsg *em)
{
    struct str *terms = ARENA_ARRAY(b->arena, struct str, n);
    uint8_t(*bytes)[INET_BYTES] = arena_alloc(b->arena, (size_t)n * sizeof(*bytes));
    if (has_cidr(v, n)) {
        return field_any_term(b, f, v, n, out, em);
    }
    if (terms == NULL || bytes == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum err e = inet_parse(json_text(v[i]), bytes[i], em);
        if (e != ERR_OK) {
            return e;
        }
        terms[i] = str_mk(bytes[i], INET_BYTES);
    }
    return f->index ? qnode_terms(b, f, terms, terms_sorted(terms, n), out, em)
                    : qnode_none(b, out, em, "%s", "");
}

enum err address_bounds(const struct range_bounds *r, uint8_t lo[INET_BYTES], uint8_t hi[INET_BYTES],
                        bool *none, struct errmsg *em)
{
    memset(lo, 0, INET_BYTES);
    memset(hi, 0xFF, INET_BYTES);
    if (r->from != NULL) {
        enum err e = inet_parse(json_text(r->from), lo, em);
        if (e != ERR_OK) {
            return e;
        }
        *none = *none || (!r->from_inclusive && !inet_next(lo));
    }
    if (r->to != NULL) {
        enum err e = inet_parse(json_text(r->to), hi, em);
        if (e != ERR_OK) {
            return e;
        }
        *none = *none || (!r->to_inclusive && !inet_prev(hi));
    }
    return ERR_OK;
}

enum err address_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                       struct query **out, struct errmsg *em)
{
    uint8_t lo[INET_BYTES], hi[INET_BYTES];
    bool none = false;
    enum err e = address_bounds(r, lo, hi, &none, em);
    if (e != ERR_OK) {
        return e;
    }
    if (none) {
        return qnode_none(b, out, em, "%s", "");
    }
    struct str a = arena_str(b->arena, str_mk(lo, sizeof(lo))),
               z = arena_str(b->arena, str_mk(hi, sizeof(hi)));
    if (a.p == NULL || z.p == NULL) {
        return err_no_memory(em);
    }
    return qnode_term_range(b, f, a, z, true, true, out, em);
}
