/* Reading a completion section from its beginning to its end; what it is made of. */
#include "engine/index/completion_int.h"

bool completion_section_open(struct completion_section *s, struct str bytes)
{
    *s = (struct completion_section){.n_groups = 0};
    if (bytes.n == 0) {
        return true;
    }
    if (bytes.n < COMPLETION_FOOTER_BYTES) {
        return false;
    }
    size_t room = bytes.n - COMPLETION_FOOTER_BYTES;
    const char *footer = bytes.p + room;
    uint64_t n = load_u64(footer), n_weights = load_u64(footer + 8), n_bytes = load_u64(footer + 16);
    uint64_t n_blocks = load_u32(footer + 24), expected = 0;
    if (load_u32(footer + 28) != COMPLETION_VERSION || n_bytes > room || n_weights > room / 4 || n > n_bytes
        || n_bytes + 8 * n_blocks + 4 * n_weights != room
        || n_blocks != (n + COMPLETION_BLOCK - 1) / COMPLETION_BLOCK) {
        return false;
    }
    for (uint64_t level = n_blocks; level > 0;
         level = level > 1 ? (level + COMPLETION_FAN - 1) / COMPLETION_FAN : 0) {
        s->level_at[s->n_levels++] = (uint32_t)expected;
        expected += level;
    }
    s->blocks = str_mk(bytes.p, (size_t)n_bytes);
    s->offsets = bytes.p + n_bytes;
    s->weights = s->offsets + 8 * n_blocks;
    s->n_groups = n;
    s->n_blocks = (uint32_t)n_blocks;
    return expected == n_weights;
}

bool completion_group_read(struct bytes_in *in, bool first, struct buf *path, struct completion_group *g)
{
    uint64_t shared = get_varint(in);
    struct str rest = get_str(in);
    if (in->bad || shared > (first ? 0 : path->n)) {
        return false;
    }
    g->same_path = !first && rest.n == 0 && shared == path->n;
    buf_truncate(path, (size_t)shared);
    buf_str(path, rest);
    uint64_t weight = get_varint(in);
    g->input = get_str(in);
    uint64_t doc = get_varint(in);
    g->gaps = bytes_in(get_str(in));
    g->weight = (uint32_t)weight;
    g->doc = (doc_id)doc;
    return !in->bad && !path->failed && weight <= UINT32_MAX && doc < DOC_END;
}

bool completion_group_doc(struct bytes_in *gaps, doc_id *doc, bool *corrupt)
{
    if (bytes_left(gaps) == 0) {
        return false;
    }
    uint64_t gap = get_varint(gaps);
    if (gaps->bad || gap >= DOC_END - *doc) {
        *corrupt = true;
        return false;
    }
    *doc += (doc_id)gap;
    return true;
}

void completion_iter_init(struct completion_iter *it, struct str section)
{
    struct completion_section s;
    *it = (struct completion_iter){.corrupt = false};
    buf_init(&it->path, NULL, BUF_UNLIMITED);
    it->corrupt = !completion_section_open(&s, section);
    it->left = s.n_groups;
    it->in = bytes_in(it->corrupt ? STR_NULL : s.blocks);
    it->docs = bytes_in(STR_NULL);
}

void completion_iter_fini(struct completion_iter *it)
{
    buf_fini(&it->path);
}

bool completion_iter_next(struct completion_iter *it)
{
    struct completion_group g;
    if (!it->corrupt && completion_group_doc(&it->docs, &it->doc, &it->corrupt)) {
        it->entry.doc = it->doc;
        return true;
    }
    if (it->corrupt || it->left == 0) {
        return false;
    }
    it->corrupt = !completion_group_read(&it->in, it->in_block == 0, &it->path, &g);
    if (it->corrupt) {
        return false;
    }
    it->entry = (struct completion_entry){buf_view(&it->path), g.input, g.weight, g.doc};
    it->docs = g.gaps;
    it->doc = g.doc;
    it->in_block = it->in_block + 1 < COMPLETION_BLOCK ? it->in_block + 1 : 0;
    it->left--;
    return true;
}
