/* Metadata requests and their answers between a coordinating node and the master. */
#include "master/master_messages.h"
#include "proto/err_bytes.h"
#include "proto/json_bytes.h"

#define META_VERSION 3 /* 1: without `provided`; 2: without `type` */

enum {
    FLAG_AUTO_CREATE = 1,
    FLAG_CREATE_ONLY = 2,
    FLAG_PRESERVE = 4,
    FLAG_FLAT = 8,
    FLAG_ACKNOWLEDGED = 16,
    FLAG_CHANGED = 32
};

static void put_alias(struct buf *b, const struct alias_meta *a)
{
    put_opt(b, a->name);
    put_opt(b, a->filter);
    put_opt(b, a->index_routing);
    put_opt(b, a->search_routing);
    put_u8(b, (uint8_t)(a->has_is_write | a->is_write << 1 | a->has_is_hidden << 2 | a->is_hidden << 3));
}

static void get_alias(struct bytes_in *in, struct alias_meta *m)
{
    m->name = get_opt(in);
    m->filter = get_opt(in);
    m->index_routing = get_opt(in);
    m->search_routing = get_opt(in);
    uint8_t flags = get_u8(in);
    m->has_is_write = (flags & 1) != 0;
    m->is_write = (flags & 2) != 0;
    m->has_is_hidden = (flags & 4) != 0;
    m->is_hidden = (flags & 8) != 0;
}

static void put_names(struct buf *b, const struct str *v, uint32_t n)
{
    put_varint(b, n);
    for (uint32_t i = 0; i < n; i++) {
        put_str(b, v[i]);
    }
}

static const struct str *get_names(struct bytes_in *in, uint32_t *n, struct arena *a)
{
    size_t count = get_count(in, 1);
    struct str *v = ARENA_ARRAY(a, struct str, count);
    in->bad |= v == NULL;
    *n = 0;
    for (size_t i = 0; i < count && !in->bad; i++) {
        v[(*n)++] = get_str(in);
    }
    return v;
}

static void request_encode(const void *of, struct buf *out)
{
    const struct meta_request *rq = of;
    put_u8(out, META_VERSION);
    put_u8(out, (uint8_t)rq->action);
    put_u8(out, (uint8_t)((rq->auto_create ? FLAG_AUTO_CREATE : 0) | (rq->create_only ? FLAG_CREATE_ONLY : 0)
                          | (rq->preserve_existing ? FLAG_PRESERVE : 0) | (rq->flat ? FLAG_FLAT : 0)));
    put_varint(out, rq->options);
    put_names(out, rq->names, rq->n_names);
    put_str(out, rq->uuid);
    put_str(out, rq->provided);
    put_str(out, rq->type);
    json_value_encode(&rq->body, rq->text, out);
    put_u8(out, (uint8_t)rq->template_kind);
    put_zigzag(out, rq->timeout_ms);
    put_varint(out, rq->n_alias_actions);
    for (uint32_t i = 0; i < rq->n_alias_actions; i++) {
        const struct alias_action *a = &rq->alias_actions[i];
        put_u8(out, (uint8_t)a->kind);
        put_str(out, a->index);
        put_names(out, a->aliases, a->n_aliases);
        put_alias(out, &a->alias);
        put_bool(out, a->must_exist);
    }
}

static void request_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct meta_request *rq = of;
    in->bad |= get_u8(in) != META_VERSION;
    uint8_t action = get_u8(in), flags = get_u8(in);
    in->bad |= action >= META_ACTIONS;
    rq->action = (enum meta_action)action;
    rq->auto_create = (flags & FLAG_AUTO_CREATE) != 0;
    rq->create_only = (flags & FLAG_CREATE_ONLY) != 0;
    rq->preserve_existing = (flags & FLAG_PRESERVE) != 0;
    rq->flat = (flags & FLAG_FLAT) != 0;
    rq->options = (unsigned)get_varint(in);
    rq->names = get_names(in, &rq->n_names, a);
    rq->uuid = get_str(in);
    rq->provided = get_str(in);
    rq->type = get_str(in);
    json_value_decode(&rq->body, &rq->text, in, a);
    uint8_t kind = get_u8(in);
    in->bad |= kind > TEMPLATE_COMPONENT;
    rq->template_kind = (enum template_kind)kind;
    rq->timeout_ms = get_zigzag(in);
    size_t n = get_count(in, 8);
    struct alias_action *actions = ARENA_ARRAY(a, struct alias_action, n);
    in->bad |= actions == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct alias_action *x = &actions[rq->n_alias_actions++];
        uint8_t what = get_u8(in);
        in->bad |= what > ALIAS_REMOVE_INDEX;
        x->kind = (enum alias_kind)what;
        x->index = get_str(in);
        x->aliases = get_names(in, &x->n_aliases, a);
        get_alias(in, &x->alias);
        x->must_exist = get_bool(in);
    }
    rq->alias_actions = actions;
}

static void answer_encode(const void *of, struct buf *out)
{
    const struct meta_answer *m = of;
    put_u8(out, META_VERSION);
    put_u8(out, (uint8_t)((m->changed ? FLAG_CHANGED : 0) | (m->acknowledged ? FLAG_ACKNOWLEDGED : 0)));
    put_str(out, m->response);
    put_varint(out, m->version);
    errmsg_encode(&m->error, out);
}

static void answer_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct meta_answer *m = of;
    in->bad |= get_u8(in) != META_VERSION;
    uint8_t flags = get_u8(in);
    m->changed = (flags & FLAG_CHANGED) != 0;
    m->acknowledged = (flags & FLAG_ACKNOWLEDGED) != 0;
    m->response = get_str(in);
    m->version = get_varint(in);
    m->error = err_in(a);
    errmsg_decode(&m->error, in);
}

static const struct codec request_codec = {sizeof(struct meta_request), request_encode, request_decode},
                          answer_codec = {sizeof(struct meta_answer), answer_encode, answer_decode};
MESSAGE(META, meta, "cluster:admin/metadata", TRANSPORT_DATA, MESSAGE_ON_LOOP, MASTER_TIMEOUT_DEFAULT_MS,
        &request_codec, &answer_codec);
