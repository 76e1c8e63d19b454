/* The bytes of a completion section, entry by entry. */
#include "engine/suggest/completion_int.h"

void completion_out_init(struct completion_out *o, const struct allocator *alloc)
{
    *o = (struct completion_out){.most = 0};
    buf_init(&o->to, alloc, BUF_UNLIMITED);
    buf_init(&o->offsets, alloc, BUF_UNLIMITED);
    buf_init(&o->weights, alloc, BUF_UNLIMITED);
    buf_init(&o->path, alloc, BUF_UNLIMITED);
}

void completion_out_fini(struct completion_out *o)
{
    buf_fini(&o->to);
    buf_fini(&o->offsets);
    buf_fini(&o->weights);
    buf_fini(&o->path);
}

int completion_compare(const struct completion_entry *a, const struct completion_entry *b)
{
    int order = str_cmp(a->path, b->path);
    if (order != 0) {
        return order;
    }
    if (a->weight != b->weight) {
        return a->weight > b->weight ? -1 : 1;
    }
    return (a->doc > b->doc) - (a->doc < b->doc);
}

void completion_out_add(struct completion_out *o, const struct completion_entry *e)
{
    size_t shared = 0, most = MIN_OF(o->path.n, e->path.n);
    if (o->n % COMPLETION_BLOCK == 0) {
        if (o->n > 0) {
            put_u32(&o->weights, o->most);
        }
        put_u64(&o->offsets, o->taken + o->to.n);
        o->most = 0;
        most = 0;
    }
    while (shared < most && o->path.p[shared] == e->path.p[shared]) {
        shared++;
    }
    struct str rest = str_slice(e->path, shared, e->path.n);
    put_varint(&o->to, shared);
    put_str(&o->to, rest);
    put_varint(&o->to, e->weight);
    put_varint(&o->to, e->doc);
    put_str(&o->to, e->input);
    put_str(&o->to, e->contexts);
    buf_truncate(&o->path, shared);
    buf_str(&o->path, rest);
    o->most = MAX_OF(o->most, e->weight);
    o->n++;
}

/* The greatest weights of groups of the level below, level by level, until one is left. */
static void put_weight_levels(struct buf *weights)
{
    size_t begin = 0, n = weights->n / 4;
    while (n > 1 && !weights->failed) {
        size_t above = (n + COMPLETION_FAN - 1) / COMPLETION_FAN;
        for (size_t i = 0; i < above; i++) {
            uint32_t most = 0;
            for (size_t k = i * COMPLETION_FAN; k < MIN_OF((i + 1) * COMPLETION_FAN, n); k++) {
                uint32_t weight = load_u32(weights->p + 4 * (begin + k));
                most = MAX_OF(most, weight);
            }
            put_u32(weights, most);
        }
        begin += n;
        n = above;
    }
}

enum err completion_out_end(struct completion_out *o, struct errmsg *em)
{
    uint64_t bytes = o->taken + o->to.n;
    if (o->n > 0) {
        put_u32(&o->weights, o->most);
    }
    put_weight_levels(&o->weights);
    buf_add(&o->to, o->offsets.p, o->offsets.n);
    buf_add(&o->to, o->weights.p, o->weights.n);
    put_u64(&o->to, o->n);
    put_u64(&o->to, o->weights.n / 4);
    put_u64(&o->to, bytes);
    put_u32(&o->to, (uint32_t)(o->offsets.n / 8));
    put_u32(&o->to, COMPLETION_VERSION);
    bool failed = o->to.failed || o->offsets.failed || o->weights.failed || o->path.failed;
    return failed ? err_no_memory(em) : ERR_OK;
}
