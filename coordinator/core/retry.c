#include "coordinator/core/retry.h"
#include "common/base/memory_account.h"

bool retry_unavailable(const struct errmsg *em)
{
    switch (err_code(em)) {
    case ERR_NO_SHARD:
    case ERR_UNAVAILABLE_SHARDS:
    case ERR_SHARD_NOT_FOUND:
    case ERR_NOT_PRIMARY:
        return true;
    default:
        return false;
    }
}

bool retry_read(const struct errmsg *em)
{
    switch (err_code(em)) {
    case ERR_NODE_NOT_CONNECTED:
    case ERR_NODE_DISCONNECTED:
    case ERR_NODE_CLOSED:
    case ERR_NO_SUCH_NODE:
    case ERR_RECEIVE_TIMEOUT:
    case ERR_REJECTED:
    case ERR_NO_MEMORY:
    case ERR_INTERNAL:
    case ERR_IO:
    case ERR_NO_SUCH_FILE:
    case ERR_CORRUPT:
    case ERR_STALE_TERM:
        return true;
    default:
        return retry_unavailable(em);
    }
}

enum retry_write retry_write(const struct errmsg *em)
{
    switch (err_code(em)) {
    case ERR_NO_SHARD:
    case ERR_NOT_PRIMARY:
    case ERR_NODE_NOT_CONNECTED:
    case ERR_NO_SUCH_NODE:
        return RETRY_FRESH;
    case ERR_NODE_DISCONNECTED:
    case ERR_NODE_CLOSED:
    case ERR_RECEIVE_TIMEOUT:
    case ERR_TIMEOUT:
    case ERR_STALE_TERM:
        return RETRY_UNKNOWN;
    case ERR_IO:
        return RETRY_ELSEWHERE;
    default:
        return RETRY_NOT;
    }
}

int64_t retry_pause_ms(uint32_t n)
{
    return n < 4 ? 25 << n : 200; /* 50, 100, 200, 200 ... */
}

struct str retry_next(struct retry_reads *t)
{
    return t->at < t->copies.n ? t->copies.nodes[t->at++] : STR_NULL;
}

void retry_failed(struct retry_reads *t, struct str node, const struct errmsg *em, struct arena *arena)
{
    if (t->kept != NULL && retry_unavailable(em) && !retry_unavailable(t->kept)) {
        return;
    }
    if (t->kept != NULL && t->kept != memory_error()) {
        *t->kept = *em;
    } else {
        t->kept = memory_keep_error(arena, em);
    }
    t->kept_node = node;
}

static bool asked(const struct retry_reads *t, struct str node)
{
    for (uint32_t i = 0; i < t->at; i++) {
        if (str_eq(t->copies.nodes[i], node)) {
            return true;
        }
    }
    return false;
}

void retry_renew(struct retry_reads *t, const struct copies *now)
{
    struct copies left = *now;
    left.n = 0;
    for (uint32_t i = 0; i < now->n; i++) {
        if (!asked(t, now->nodes[i])) {
            left.nodes[left.n++] = now->nodes[i];
        }
    }
    t->copies = left;
    t->at = 0;
}
