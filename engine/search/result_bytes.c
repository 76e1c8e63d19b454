/* The byte form of a query phase's result, as it travels between nodes. */
#include "common/base/bytes.h"
#include "engine/search/search.h"

#define RESULT_VERSION 4

void query_result_encode(const struct query_result *r, struct buf *out)
{
    put_u8(out, RESULT_VERSION);
    put_varint(out, r->slot);
    put_zigzag(out, r->total);
    put_u8(out, (uint8_t)r->relation);
    put_f32(out, r->max_score);
    put_bool(out, r->timed_out);
    put_bool(out, r->terminated_early);
    put_bool(out, r->limited);
    put_bool(out, r->first_key_refused);
    top_docs_encode(r->docs, r->n, r->n_sort, out);
    put_str(out, r->aggs);
    put_str(out, r->suggest);
    put_str(out, r->profile);
}

static struct str result_keep(struct bytes_in *in, struct arena *arena)
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
    r->first_key_refused = get_bool(&in);
    top_docs_decode(&r->docs, &r->n, &r->n_sort, &in, arena);
    r->aggs = result_keep(&in, arena);
    r->suggest = result_keep(&in, arena);
    r->profile = result_keep(&in, arena);
    return in.bad || bytes_left(&in) != 0 ? err_set(em, ERR_CORRUPT, "a query result cannot be read")
                                          : ERR_OK;
}
