/* The bytes of a completion section, entry by entry. */
#include "engine/index/completion_int.h"

void completion_out_init(struct completion_out *o, const struct allocator *alloc)
{
    *o = (struct completion_out){.most = 0};
    struct buf *all[] = {&o->to, &o->offsets, &o->weights, &o->before, &o->path, &o->input, &o->gaps};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        buf_init(all[i], alloc, BUF_UNLIMITED);
    }
}

void completion_out_fini(struct completion_out *o)
{
    struct buf *all[] = {&o->to, &o->offsets, &o->weights, &o->before, &o->path, &o->input, &o->gaps};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        buf_fini(all[i]);
    }
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
    order = str_cmp(a->input, b->input);
    return order != 0 ? order : (a->doc > b->doc) - (a->doc < b->doc);
}

static void begin_block(struct completion_out *o)
{
    if (o->n > 0) {
        put_u32(&o->weights, o->most);
    }
    put_u64(&o->offsets, o->taken + o->to.n);
    o->most = 0;
    buf_truncate(&o->before, 0);
}

static void close_group(struct completion_out *o)
{
    size_t shared = 0;
    if (!o->open) {
        return;
    }
    if (o->n % COMPLETION_BLOCK == 0) {
        begin_block(o);
    }
    size_t most = MIN_OF(o->before.n, o->path.n);
    while (shared < most && o->before.p[shared] == o->path.p[shared]) {
        shared++;
    }
    struct str rest = str_slice(buf_view(&o->path), shared, o->path.n);
    put_varint(&o->to, shared);
    put_str(&o->to, rest);
    put_varint(&o->to, o->weight);
    put_str(&o->to, buf_view(&o->input));
    put_varint(&o->to, o->first);
    put_str(&o->to, buf_view(&o->gaps));
    buf_truncate(&o->before, shared);
    buf_str(&o->before, rest);
    o->most = MAX_OF(o->most, o->weight);
    o->n++;
    o->open = false;
}

void completion_out_add(struct completion_out *o, const struct completion_entry *e)
{
    if (o->open && o->weight == e->weight && str_eq(buf_view(&o->path), e->path)
        && str_eq(buf_view(&o->input), e->input)) {
        put_varint(&o->gaps, e->doc - o->last);
        o->last = e->doc;
        return;
    }
    close_group(o);
    buf_truncate(&o->path, 0);
    buf_truncate(&o->input, 0);
    buf_truncate(&o->gaps, 0);
    buf_str(&o->path, e->path);
    buf_str(&o->input, e->input);
    o->weight = e->weight;
    o->first = o->last = e->doc;
    o->open = true;
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
    close_group(o);
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
    bool failed = o->to.failed || o->offsets.failed || o->weights.failed || o->path.failed || o->before.failed
                  || o->input.failed || o->gaps.failed;
    return failed ? err_no_memory(em) : ERR_OK;
}
