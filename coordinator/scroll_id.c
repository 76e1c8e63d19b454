/* Scrolls: their ids (the contexts behind them, as URL-safe text) and their later pages. */
#include "coordinator/search_int.h"

#include "common/base/bytes.h"

#define SCROLL_MAGIC 0x5C

static const char base64url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void search_scroll_id(struct search_call *c)
{
    struct buf b, text;
    if (c->o.scroll_ms <= 0) {
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_init(&text, NULL, BUF_UNLIMITED);
    put_u8(&b, SCROLL_MAGIC);
    put_varint(&b, c->n_shards);
    for (uint32_t i = 0; i < c->n_shards; i++) {
        const struct shard_query *q = &c->queries[i];
        put_str(&b, q->rq.shard.index);
        put_str(&b, q->rq.shard.uuid);
        put_varint(&b, q->rq.shard.shard);
        put_varint(&b, q->context);
    }
    for (size_t i = 0; i < b.n; i += 3) {
        uint32_t bits = 0;
        size_t n = MIN_OF(b.n - i, (size_t)3);
        for (size_t k = 0; k < 3; k++) {
            bits = bits << 8 | (k < n ? (unsigned char)b.p[i + k] : 0U);
        }
        for (size_t k = 0; k <= n; k++) {
            buf_char(&text, base64url[(bits >> (18 - 6 * k)) & 63]);
        }
    }
    c->scroll_id = arena_str(&c->arena, buf_view(&text));
    buf_fini(&b);
    buf_fini(&text);
}

static bool decode_base64url(struct str text, struct buf *out)
{
    uint32_t bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < text.n; i++) {
        const char *at = text.p[i] != '\0' ? strchr(base64url, text.p[i]) : NULL;
        if (at == NULL) {
            return text.p[i] == '='; /* padding that a client added */
        }
        bits = bits << 6 | (uint32_t)(at - base64url);
        have += 6;
        if (have >= 8) {
            have -= 8;
            buf_char(out, (char)(bits >> have));
        }
    }
    return !out->failed;
}

#define SCROLL_SHARDS_MAX (64 * KIB)

/* Calls each() with every shard and context of a scroll id, strings copied into `arena`. */
static enum err scroll_id_read(struct str id, struct arena *arena, struct shard_ref **refs,
                               uint64_t **contexts, uint32_t *n, struct errmsg *em)
{
    struct buf b;
    buf_init(&b, NULL, 16 * MIB);
    bool ok = decode_base64url(id, &b);
    struct str bytes = arena_str(arena, buf_view(&b));
    buf_fini(&b);
    struct bytes_in in = bytes_in(bytes);
    in.bad |= !ok || bytes.p == NULL || get_u8(&in) != SCROLL_MAGIC;
    size_t count = get_count(&in, 4);
    in.bad |= count == 0 || count > SCROLL_SHARDS_MAX;
    *refs = in.bad ? NULL : ARENA_ARRAY(arena, struct shard_ref, count);
    *contexts = in.bad ? NULL : ARENA_ARRAY(arena, uint64_t, count);
    in.bad |= *refs == NULL || *contexts == NULL;
    for (size_t i = 0; i < count && !in.bad; i++) {
        (*refs)[i].index = get_str(&in);
        (*refs)[i].uuid = get_str(&in);
        (*refs)[i].shard = (uint32_t)get_varint(&in);
        (*contexts)[i] = get_varint(&in);
    }
    *n = (uint32_t)count;
    if (in.bad || bytes_left(&in) != 0) {
        err_set(em, ERR_ARRAY_BOUNDS, "arraycopy: last source index out of bounds");
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "Cannot parse scroll id");
    }
    return ERR_OK;
}

enum err scroll_free(struct rest *r, struct str id, uint32_t *n, struct errmsg *em)
{
    struct shard_ref *refs;
    uint64_t *contexts;
    uint32_t count;
    const struct shard_api *api = r->co->o.shards;
    enum err e = scroll_id_read(id, r->arena, &refs, &contexts, &count, em);
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        *n += api->free_context(api->self, contexts[i]);
    }
    return e;
}

void scroll_free_all(struct rest *r, uint32_t *n)
{
    const struct shard_api *api = r->co->o.shards;
    *n += api->free_all_contexts(api->self);
}

void search_run_scroll(struct search_call *c, struct str id)
{
    struct shard_ref *refs;
    uint64_t *contexts;
    search_source_init(&c->source);
    c->next_page = true;
    search_begin(c);
    if (scroll_id_read(id, &c->arena, &refs, &contexts, &c->n_shards, &c->error) != ERR_OK) {
        c->n_shards = 0;
        search_fail(c);
        return;
    }
    c->queries = ARENA_ARRAY(&c->arena, struct shard_query, c->n_shards);
    if (c->queries == NULL) {
        c->n_shards = 0;
        search_fail(c);
        return;
    }
    uint32_t n = c->n_shards;
    for (uint32_t i = 0; i < n; i++) {
        struct shard_query *q = &c->queries[i];
        shard_rq_init(&q->rq, search_queried, c);
        q->rq.shard = refs[i];
        q->slot = i;
        q->cancelled = search_cancelled;
        q->cancel_self = c;
        q->n_shards = n;
        q->context = contexts[i];
        q->next_page = q->keep = q->scroll = true;
        q->keep_alive_ms = c->o.scroll_ms;
        q->fetch = n == 1;
    }
    c->pending = n;
    const struct shard_api *api = c->r->co->o.shards;
    struct shard_query *q = c->queries;
    for (uint32_t i = 0; i < n; i++) {
        api->query(api->self, &q[i]);
    }
}
