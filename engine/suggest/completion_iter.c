#include "engine/suggest/completion_int.h"

void completion_iter_init(struct completion_iter *it, struct str section)
{
    *it = (struct completion_iter){.in = bytes_in(section)};
    buf_init(&it->path, NULL, BUF_UNLIMITED);
    if (section.n == 0) {
        return;
    }
    uint32_t version = get_u32(&it->in);
    uint64_t n_blocks = get_u32(&it->in), n = get_u64(&it->in), n_weights = get_u64(&it->in), bytes = get_u64(&it->in);
    if (n_weights > section.n / 4) {
        it->in.bad = true;
    } else {
        get_raw(&it->in, (size_t)(8 * n_blocks + 4 * n_weights));
    }
    it->left = n;
    it->corrupt = version != COMPLETION_VERSION || it->in.bad || bytes != bytes_left(&it->in);
}

void completion_iter_fini(struct completion_iter *it)
{
    buf_fini(&it->path);
}

bool completion_iter_next(struct completion_iter *it)
{
    if (it->left == 0 || it->corrupt) {
        return false;
    }
    uint64_t shared = get_varint(&it->in);
    struct str rest = get_str(&it->in);
    it->corrupt = it->in.bad || shared > (it->in_block == 0 ? 0 : it->path.n);
    if (it->corrupt) {
        return false;
    }
    buf_truncate(&it->path, (size_t)shared);
    buf_str(&it->path, rest);
    uint64_t weight = get_varint(&it->in), doc = get_varint(&it->in);
    it->entry.input = get_str(&it->in);
    it->entry.contexts = get_str(&it->in);
    it->entry.path = buf_view(&it->path);
    it->entry.weight = (uint32_t)weight;
    it->entry.doc = (doc_id)doc;
    it->corrupt = it->in.bad || it->path.failed || weight > UINT32_MAX || doc >= DOC_END;
    it->in_block = it->in_block + 1 < COMPLETION_BLOCK ? it->in_block + 1 : 0;
    it->left--;
    return !it->corrupt;
}
