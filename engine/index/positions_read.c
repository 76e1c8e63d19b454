/* Positions of the document that a postings cursor stands on. They are one stream a term, in blocks of 128; a
 * row a block of documents says where its first position is. */
#include "engine/index/seg_int.h"

void positions_init(struct positions *ps, struct postings *p, bool want_offsets)
{
    memset(ps, 0, offsetof(struct positions, block));
    positions_reopen(ps, p, want_offsets);
}

void positions_reopen(struct positions *ps, struct postings *p, bool want_offsets)
{
    ps->failed = false;
    ps->postings = p;
    ps->want_offsets = want_offsets && (p->field->has & SEG_OFFSETS) != 0;
    ps->read_doc = DOC_END;
    ps->doc_block = UINT32_MAX;
    ps->n = ps->in_block = ps->block_n = 0;
}

void positions_fini(struct positions *ps)
{
    alloc_put(alloc_default(), ps->pos);
    ps->pos = NULL;
}

static void unpack(const uint8_t *at, uint32_t n, unsigned width, uint32_t *out)
{
    if (n == POSTINGS_BLOCK) {
        bitpack_unpack(at, width, out);
    } else {
        bits_unpack32(at, n, width, out);
    }
}

/* How many the block at the cursor holds: the last one of a term may be short. */
static uint32_t block_length(const struct positions *ps, const struct section *section)
{
    const struct postings *p = ps->postings;
    uint32_t tail = (uint32_t)(p->info.total_freq % POSTINGS_BLOCK);
    bool last = p->positions_at != NULL
                    ? (uint64_t)(ps->cursor - section->p) == p->info.positions_at + p->pos_tail
                    : ps->block_no == p->info.total_freq / POSTINGS_BLOCK;
    return last ? tail : POSTINGS_BLOCK;
}

/* Moves past the block at the cursor; decodes it when `decode`. */
static bool step_block(struct positions *ps, bool decode)
{
    const struct section *section = &impl_of(ps->postings->field)->positions;
    bool offsets = (ps->postings->field->has & SEG_OFFSETS) != 0;
    unsigned parts = offsets ? 3 : 1;
    uint32_t n = block_length(ps, section);
    size_t left = (size_t)(section->p + section->n - ps->cursor);
    if (n == 0 || left < parts) {
        return false;
    }
    const struct segment *s = ps->postings->field->segment;
    const uint8_t *widths = ps->cursor, *at = widths + parts, *values = at;
    left -= parts;
    if (!seg_check(s, widths, parts)) {
        return false;
    }
    for (unsigned k = 0; k < parts; k++) {
        size_t bytes = n == POSTINGS_BLOCK ? bitpack_bytes(widths[k]) : bits_bytes(n, widths[k]);
        if (widths[k] > 32 || bytes > left) {
            return false;
        }
        at += bytes;
        left -= bytes;
    }
    if (decode && !seg_check(s, values, (size_t)(at - values))) {
        return false;
    }
    for (unsigned k = 0; decode && k < (ps->want_offsets ? parts : 1); k++) {
        unpack(values, n, widths[k], ps->block[k]);
        values += n == POSTINGS_BLOCK ? bitpack_bytes(widths[k]) : bits_bytes(n, widths[k]);
    }
    ps->cursor = at;
    ps->block_no++;
    ps->block_n = n;
    return true;
}

/* Drops the next n positions. */
static bool skip(struct positions *ps, uint32_t n)
{
    uint32_t here = ps->block_n - ps->in_block;
    if (n < here) {
        ps->in_block += n;
        return true;
    }
    n -= here;
    ps->in_block = ps->block_n = 0;
    while (n >= POSTINGS_BLOCK) {
        if (!step_block(ps, false)) {
            return false;
        }
        n -= MIN_OF(n, ps->block_n);
        ps->block_n = 0;
    }
    if (n > 0) {
        if (!step_block(ps, true) || n > ps->block_n) {
            return false;
        }
        ps->in_block = n;
    }
    return true;
}

/* To the first position of the cursor's block of documents. */
static bool positions_enter(struct positions *ps)
{
    const struct postings *p = ps->postings;
    const struct section *section = &impl_of(p->field)->positions;
    uint64_t at = p->info.positions_at;
    uint32_t in_block = 0;
    if (p->positions_at != NULL) {
        uint64_t row = load_u64(p->positions_at + 8 * (size_t)p->block);
        at += row >> 7;
        in_block = row & 127;
    }
    if (at > section->n) {
        return false;
    }
    ps->cursor = section->p + at;
    ps->block_no = 0;
    ps->in_block = ps->block_n = 0;
    ps->doc_block = p->block;
    ps->taken = 0;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        ps->before[i] = sum;
        sum += p->freqs[i];
    }
    return in_block == 0 || skip(ps, in_block);
}

static bool make_room(struct positions *ps, uint32_t n)
{
    const struct section *section = &impl_of(ps->postings->field)->positions;
    if (n <= ps->cap) {
        return true;
    }
    /* A block takes at least a byte: more positions than that cannot be there. */
    if (n / POSTINGS_BLOCK > section->n) {
        return false;
    }
    uint32_t cap = MAX_OF(n + n / 2, 64U);
    const struct allocator *heap = alloc_default();
    uint32_t *p = heap->resize(heap->self, ps->pos, (size_t)cap * 3 * sizeof(*p));
    if (p == NULL) {
        return false;
    }
    ps->pos = p;
    ps->start = p + cap;
    ps->end = p + 2 * (size_t)cap;
    ps->cap = cap;
    return true;
}

static bool read_some(struct positions *ps, uint32_t n)
{
    uint32_t pos = 0, start = 0, wrapped = 0;
    for (uint32_t i = 0; i < n;) {
        if (ps->in_block == ps->block_n) {
            ps->in_block = 0;
            ps->block_n = 0;
            if (!step_block(ps, true)) {
                return false;
            }
        }
        uint32_t some = MIN_OF(n - i, ps->block_n - ps->in_block), from = ps->in_block;
        for (uint32_t k = 0; k < some; k++) {
            uint32_t next = pos + ps->block[0][from + k];
            wrapped |= next < pos;
            ps->pos[i + k] = pos = next;
        }
        for (uint32_t k = 0; k < some && ps->want_offsets; k++) {
            start += ps->block[1][from + k];
            ps->start[i + k] = start;
            ps->end[i + k] = start + ps->block[2][from + k];
        }
        ps->in_block += some;
        i += some;
    }
    return wrapped == 0;
}

static bool read_document(struct positions *ps)
{
    struct postings *p = ps->postings;
    if (!(p->field->has & SEG_POSITIONS) || p->n == 0) {
        return false;
    }
    uint32_t n = postings_freq(p);
    const struct segment *s = p->field->segment;
    const uint8_t *section = impl_of(p->field)->positions.p;
    if ((ps->doc_block != p->block || ps->taken > ps->before[p->at]) && !positions_enter(ps)) {
        return seg_broken(s, section);
    }
    uint32_t between = ps->before[p->at] - ps->taken;
    if (between > 0 && !skip(ps, between)) {
        return seg_broken(s, ps->cursor);
    }
    if (!make_room(ps, n)) {
        return false;
    }
    if (!read_some(ps, n)) {
        return seg_broken(s, ps->cursor);
    }
    ps->taken = ps->before[p->at] + n;
    ps->n = n;
    return true;
}

uint32_t positions_read(struct positions *ps)
{
    if (ps->failed) {
        return 0;
    }
    if (ps->read_doc != ps->postings->doc || ps->postings->doc == DOC_END) {
        ps->n = 0;
        if (ps->postings->doc >= POSTINGS_UNPOSITIONED) {
            return 0;
        }
        ps->read_doc = ps->postings->doc;
        ps->failed = !read_document(ps);
    }
    return ps->n;
}
