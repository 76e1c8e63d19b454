/* The byte form of a query phase's result, as it travels between nodes. */
#include "common/base/bytes.h"
#include "engine/search/search.h"

#define RESULT_VERSION 2

static void put_sort_value(struct buf *b, const struct sort_value *v)
{
    put_u8(b, (uint8_t)v->kind);
    if (v->kind == SV_STR) {
        put_str(b, v->s);
    } else if (v->kind == SV_DOUBLE || v->kind == SV_FLOAT) {
        put_f64(b, v->d);
    } else if (v->kind != SV_NULL) {
        put_zigzag(b, v->l);
    }
}

static void get_sort_value(struct bytes_in *in, struct arena *arena, struct sort_value *v)
{
    uint8_t kind = get_u8(in);
    in->bad |= kind > SV_BOOL;
    v->kind = in->bad ? SV_NULL : (enum sort_value_kind)kind;
    if (v->kind == SV_STR) {
        v->s = arena_str(arena, get_str(in));
        in->bad |= v->s.p == NULL;
    } else if (v->kind == SV_DOUBLE || v->kind == SV_FLOAT) {
        v->d = get_f64(in);
    } else if (v->kind != SV_NULL) {
        v->l = get_zigzag(in);
    }
}

void query_result_encode(const struct query_result *r, struct buf *out)
{
    uint32_t n_sort = r->n > 0 && r->docs[0].sort != NULL ? r->n_sort : 0;
    put_u8(out, RESULT_VERSION);
    put_varint(out, r->slot);
    put_zigzag(out, r->total);
    put_u8(out, (uint8_t)r->relation);
    put_f32(out, r->max_score);
    put_bool(out, r->timed_out);
    put_bool(out, r->terminated_early);
    put_bool(out, r->limited);
    put_varint(out, n_sort);
    put_varint(out, r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct top_doc *d = &r->docs[i];
        put_varint(out, d->doc);
        put_f32(out, d->score);
        put_sort_value(out, &d->collapse);
        for (uint32_t k = 0; k < n_sort; k++) {
            put_sort_value(out, &d->sort[k]);
        }
    }
    put_str(out, r->aggs);
    put_str(out, r->suggest);
    put_str(out, r->profile);
}

static enum err get_docs(struct bytes_in *in, struct query_result *r, struct arena *arena, struct errmsg *em)
{
    r->n_sort = (uint32_t)get_count(in, 0);
    size_t n = get_count(in, 6);
    if (r->n_sort > 1024) {
        in->bad = true;
        return ERR_OK;
    }
    r->docs = ARENA_ARRAY(arena, struct top_doc, n);
    if (r->docs == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct top_doc *d = &r->docs[r->n++];
        *d = (struct top_doc){.doc = (uint32_t)get_varint(in), .slot = r->slot};
        d->score = get_f32(in);
        get_sort_value(in, arena, &d->collapse);
        if (r->n_sort > 0) {
            struct sort_value *v = ARENA_ARRAY(arena, struct sort_value, r->n_sort);
            if (v == NULL) {
                return err_no_memory(em);
            }
            for (uint32_t k = 0; k < r->n_sort; k++) {
                get_sort_value(in, arena, &v[k]);
            }
            d->sort = v;
        }
    }
    return ERR_OK;
}

static struct str keep(struct bytes_in *in, struct arena *arena)
{
    struct str s = arena_str(arena, get_str(in));
    in->bad |= s.p == NULL;
    return s;
}

enum err query_result_decode(struct query_result *r, struct str bytes, struct arena *arena, struct errmsg *em)
{
    struct bytes_in in = bytes_in(bytes);
    *r = (struct query_result){0};
    in.bad |= get_u8(&in) != RESULT_VERSION;
    r->slot = (uint32_t)get_varint(&in);
    r->total = get_zigzag(&in);
    uint8_t relation = get_u8(&in);
    in.bad |= relation > TOTAL_NONE;
    r->relation = in.bad ? TOTAL_EQ : (enum total_relation)relation;
    r->max_score = get_f32(&in);
    r->timed_out = get_bool(&in);
    r->terminated_early = get_bool(&in);
    r->limited = get_bool(&in);
    enum err e = get_docs(&in, r, arena, em);
    if (e != ERR_OK) {
        return e;
    }
    r->aggs = keep(&in, arena);
    r->suggest = keep(&in, arena);
    r->profile = keep(&in, arena);
    return in.bad || bytes_left(&in) != 0 ? err_set(em, ERR_CORRUPT, "a query result cannot be read")
                                          : ERR_OK;
}
