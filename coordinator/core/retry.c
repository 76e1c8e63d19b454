#include "coordinator/core/retry.h"

/* What becomes of a read and of a write that met an error. Codes without a row are the request's own. */
static const struct answer_to {
    enum err code;
    bool unavailable; /* no copy is there for now */
    bool read;        /* another copy may answer */
    enum retry_write write;
} answers[] = {
    {ERR_NO_SHARD, true, true, RETRY_FRESH},
    {ERR_UNAVAILABLE_SHARDS, true, true, RETRY_NOT},
    {ERR_SHARD_NOT_FOUND, true, true, RETRY_NOT},
    {ERR_NOT_PRIMARY, true, true, RETRY_FRESH},
    {ERR_NODE_NOT_CONNECTED, false, true, RETRY_FRESH},
    {ERR_NO_SUCH_NODE, false, true, RETRY_FRESH},
    {ERR_NODE_DISCONNECTED, false, true, RETRY_UNKNOWN},
    {ERR_NODE_CLOSED, false, true, RETRY_UNKNOWN},
    {ERR_RECEIVE_TIMEOUT, false, true, RETRY_UNKNOWN},
    {ERR_STALE_TERM, false, true, RETRY_UNKNOWN},
    {ERR_TIMEOUT, false, false, RETRY_UNKNOWN},
    {ERR_IO, false, true, RETRY_ELSEWHERE},
    {ERR_REJECTED, false, true, RETRY_NOT},
    {ERR_NO_MEMORY, false, true, RETRY_NOT},
    {ERR_INTERNAL, false, true, RETRY_NOT},
    {ERR_NO_SUCH_FILE, false, true, RETRY_NOT},
    {ERR_CORRUPT, false, true, RETRY_NOT},
};

static struct answer_to answer_to(const struct errmsg *em)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        if (answers[i].code == err_code(em)) {
            return answers[i];
        }
    }
    return (struct answer_to){.write = RETRY_NOT};
}

bool retry_unavailable(const struct errmsg *em)
{
    return answer_to(em).unavailable;
}

bool retry_read(const struct errmsg *em)
{
    return answer_to(em).read;
}

enum retry_write retry_write(const struct errmsg *em)
{
    return answer_to(em).write;
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
    if (t->kept != NULL && t->kept != err_out_of_memory()) {
        err_copy(t->kept, em);
    } else {
        t->kept = err_keep(arena, em);
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
