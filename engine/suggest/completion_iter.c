#include "engine/suggest/completion_int.h"

void completion_iter_init(struct completion_iter *it, struct str section)
{
    *it = (struct completion_iter){.corrupt = false};
    buf_init(&it->path, NULL, BUF_UNLIMITED);
    if (section.n == 0) {
        return;
    }
    if (section.n < COMPLETION_FOOTER_BYTES) {
        it->corrupt = true;
        return;
    }
    size_t room = section.n - COMPLETION_FOOTER_BYTES;
    const char *footer = section.p + room;
    uint64_t n = load_u64(footer), n_weights = load_u64(footer + 8), bytes = load_u64(footer + 16);
    uint64_t n_blocks = load_u32(footer + 24), version = load_u32(footer + 28);
    it->corrupt = version != COMPLETION_VERSION || bytes > room || n_weights > room / 4
                  || bytes + 8 * n_blocks + 4 * n_weights != room;
    it->left = n;
    it->in = bytes_in(str_mk(section.p, it->corrupt ? 0 : (size_t)bytes));
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
