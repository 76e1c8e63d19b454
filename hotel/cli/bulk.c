#include "hotel/cli/bulk.h"

#include "common/base/jsonw.h"

void bulk_init(struct bulk *b, const struct remote *remote)
{
    memset(b, 0, sizeof(*b));
    b->remote = remote;
    arena_init(&b->arena, NULL, ARENA_UNLIMITED);
    buf_init(&b->text, NULL, 2 * BULK_BYTES_MAX);
}

void bulk_fini(struct bulk *b)
{
    arena_fini(&b->arena);
    buf_fini(&b->text);
}

static bool is_busy(int64_t status)
{
    return status == 429 || status == 503;
}

/* The result of item i: its status, and its error (NULL: none). */
static bool item_result(const struct json *items, size_t i, int64_t *status, const struct json **error)
{
    if (!json_is(items, JSON_ARRAY) || i >= items->n || !json_is(&items->items[i], JSON_OBJECT)
        || items->items[i].n != 1) {
        return false;
    }
    const struct json *result = &items->items[i].members[0].value;
    *error = json_get(result, "error");
    return json_i64(json_get(result, "status"), status);
}

/* Takes what is done out of the batch: what stays were busy shards' items, moved together in place. */
static enum err bulk_settle(struct bulk *b, const struct json *items, struct errmsg *em)
{
    size_t kept = 0, kept_bytes = 0;
    for (size_t i = 0; i < b->n; i++) {
        struct bulk_item it = b->items[i];
        const struct json *error;
        int64_t status;
        if (!item_result(items, i, &status, &error)) {
            return err_set(em, ERR_PARSE, "the search service's answer to a bulk lacks items");
        }
        if (is_busy(status)) {
            size_t n = it.to - it.from;
            memmove(b->text.p + kept_bytes, b->text.p + it.from, n);
            b->items[kept++] = (struct bulk_item){kept_bytes, kept_bytes + n, it.id, it.line};
            kept_bytes += n;
        } else if (error != NULL) {
            b->refused++;
            b->on_refused(b->arg, &it, json_text(json_get(error, "type")),
                          json_text(json_get(error, "reason")));
        } else {
            b->done++;
        }
    }
    b->n = kept;
    buf_truncate(&b->text, kept_bytes);
    return ERR_OK;
}

enum err bulk_send(struct bulk *b, struct errmsg *em)
{
    for (unsigned tries = 1; b->n > 0; tries++) {
        struct remote_answer a;
        arena_reset(&b->arena);
        enum err e = remote_call(b->remote, "POST", STR("_bulk"), buf_view(&b->text), "application/x-ndjson",
                                 &b->arena, &a, em);
        if (e == ERR_OK && a.status != 200) {
            e = remote_refused(&a, "bulk", em);
        }
        e = e != ERR_OK ? e : bulk_settle(b, json_get(&a.body, "items"), em);
        if (e != ERR_OK) {
            return e;
        }
        if (b->n > 0 && tries == REMOTE_TRIES) {
            return err_set(em, ERR_REJECTED, "the search service stays too busy for %zu of the hotels", b->n);
        }
        if (b->n > 0) {
            remote_wait(tries);
        }
    }
    buf_reset(&b->text);
    return ERR_OK;
}

enum err bulk_add(struct bulk *b, const struct hotel *h, uint64_t line, struct errmsg *em)
{
    if (b->n == BULK_ITEMS_MAX || b->text.n >= BULK_BYTES_MAX) {
        enum err e = bulk_send(b, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    struct bulk_item *it = &b->items[b->n];
    *it = (struct bulk_item){.from = b->text.n, .id = h->id, .line = line};
    struct jsonw w;
    jsonw_init(&w, &b->text, false);
    jw_obj(&w);
    jw_kobj(&w, "index");
    jw_kstr(&w, "_index", b->remote->config->index);
    jw_k(&w, "_id");
    jw_strf(&w, "%lld", (long long)h->id);
    jw_obj_end(&w);
    jw_obj_end(&w);
    buf_char(&b->text, '\n');
    hotel_write(&b->text, h);
    buf_char(&b->text, '\n');
    it->to = b->text.n;
    b->n++;
    return b->text.failed ? err_no_memory(em) : ERR_OK;
}
