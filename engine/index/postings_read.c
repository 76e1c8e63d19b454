/* Cursors over postings. A block's documents are proven to ascend and to end where its skip row says, which
 * lies within the segment: whatever the bytes are, a cursor yields ascending documents below the segment's
 * count. */
#include "engine/index/seg_int.h"

#define SAFE_WIDTH 24 /* 128 gaps of so many bits behind a document below 2^31 cannot wrap around */

static doc_id postings_finish(struct postings *p)
{
    p->block = p->n_blocks;
    p->n = p->at = 0;
    p->docs[0] = DOC_END;
    return p->doc = DOC_END;
}

static doc_id postings_fail(struct postings *p)
{
    p->corrupt = true;
    seg_broken(p->field->segment, p->data != NULL ? p->data : impl_of(p->field)->postings.p);
    return postings_finish(p);
}

static bool skip_impacts(struct bytes_in *in)
{
    unsigned n = get_u8(in);
    for (unsigned i = 0; i < n && !in->bad; i++) {
        get_u8(in);
        get_varint(in);
    }
    return !in->bad;
}

/* The rows of skipping are found right here, blocks when they are loaded. */
static bool open_long(struct postings *p, struct bytes_in *in, uint32_t has)
{
    const struct segment *s = p->field->segment;
    const uint8_t *begin = in->at;
    uint64_t n = p->n_blocks;
    bool freqs = (has & SEG_FREQS) != 0, both = freqs && (has & SEG_POSITIONS) != 0;
    size_t rows = (size_t)n * (8U + (freqs ? 4U : 0) + (both ? 8U : 0)) + (has & SEG_POSITIONS ? 8U : 0)
                  + (freqs ? 8U : 0);
    if (rows > bytes_left(in) || !seg_check(s, begin, rows)) {
        return false;
    }
    uint32_t best_n = 0, impacts_n = 0;
    if (has & SEG_POSITIONS) {
        p->pos_tail = get_u64(in);
    }
    if (has & SEG_FREQS) {
        best_n = get_u32(in);
        impacts_n = get_u32(in);
    }
    p->last_docs = (const uint8_t *)get_raw(in, 4 * n).p;
    p->offsets = (const uint8_t *)get_raw(in, 4 * n).p;
    if (has & SEG_FREQS) {
        p->impacts_at = (const uint8_t *)get_raw(in, 4 * n).p;
        p->positions_at = has & SEG_POSITIONS ? (const uint8_t *)get_raw(in, 8 * n).p : NULL;
        p->best = (const uint8_t *)get_raw(in, best_n).p;
        p->impacts = (const uint8_t *)get_raw(in, impacts_n).p;
    }
    p->data = in->at;
    return !in->bad && seg_check(s, begin, (size_t)(in->at - begin));
}

void postings_init(struct postings *p, const struct seg_field *f, const struct term_info *t, bool want_freqs)
{
    const struct field_impl *impl = impl_of(f);
    p->doc = POSTINGS_UNPOSITIONED;
    p->at = p->n = 0;
    p->doc_freq = t->doc_freq;
    p->want_freqs = want_freqs;
    p->freqs_ready = p->corrupt = false;
    p->field = f;
    p->info = *t;
    p->last_docs = p->offsets = p->impacts_at = p->positions_at = NULL;
    p->best = p->impacts = p->data = p->freq_data = NULL;
    p->end = impl->postings.p + impl->postings.n;
    p->pos_tail = 0;
    p->shallow = 0;
    p->block = UINT32_MAX;
    p->segment_docs = f->segment->doc_count;
    p->n_blocks = t->doc_freq / POSTINGS_BLOCK + (t->doc_freq % POSTINGS_BLOCK != 0);
    p->docs[0] = DOC_END;
    if (t->doc_freq <= 1) {
        return;
    }
    struct bytes_in in = {impl->postings.p, p->end, false};
    bool ok = t->postings_at <= impl->postings.n;
    in.at += ok ? t->postings_at : 0;
    if (ok && t->doc_freq > POSTINGS_BLOCK) {
        ok = open_long(p, &in, f->has);
    } else if (ok) {
        p->best = in.at;
        ok = !(f->has & SEG_FREQS) || skip_impacts(&in);
        p->data = in.at;
        ok = ok && seg_check(f->segment, p->best, (size_t)(p->data - p->best));
    }
    if (!ok) {
        p->n_blocks = 0;
        p->corrupt = true;
        seg_broken(f->segment, in.at);
    }
}

/* Gaps wide enough to wrap around are summed with care. */
static bool sum_carefully(uint32_t *docs, uint32_t n, uint32_t base)
{
    uint64_t doc = base == UINT32_MAX ? 0 : (uint64_t)base + 1;
    for (uint32_t i = 0; i < n; i++) {
        doc += docs[i];
        if (doc > INT32_MAX) {
            return false;
        }
        docs[i] = (uint32_t)doc++;
    }
    return true;
}

static bool unpack_docs(uint32_t *docs, const uint8_t *from, uint32_t n, unsigned width, uint32_t base)
{
    if (n == POSTINGS_BLOCK) {
        if (width <= SAFE_WIDTH) {
            bitpack_unpack_gaps(from, width, base, docs);
            return true;
        }
        bitpack_unpack(from, width, docs);
        return sum_carefully(docs, n, base);
    }
    uint64_t mask = bits_mask(width);
    if (width > SAFE_WIDTH) {
        bits_unpack32(from, n, width, docs);
        return sum_carefully(docs, n, base);
    }
    for (uint32_t i = 0; i < n; i++) {
        docs[i] = base += 1 + (uint32_t)bits_get(from, i, width, mask);
    }
    return true;
}

/* The only document of a term. */
static bool load_single(struct postings *p)
{
    if (p->info.postings_at >= p->segment_docs) {
        return false;
    }
    p->docs[0] = (uint32_t)p->info.postings_at;
    p->freqs[0] = (uint32_t)MIN_OF(p->info.total_freq, (uint64_t)INT32_MAX);
    p->freqs_ready = true;
    p->n = 1;
    return true;
}

static bool load_packed(struct postings *p, uint32_t block)
{
    const uint8_t *at = p->data;
    uint32_t base = UINT32_MAX, last = p->segment_docs - 1;
    if (p->last_docs != NULL) {
        uint32_t offset = load_u32(p->offsets + 4 * (size_t)block);
        last = load_u32(p->last_docs + 4 * (size_t)block);
        base = block > 0 ? load_u32(p->last_docs + 4 * (size_t)(block - 1)) : base;
        if (offset > (size_t)(p->end - at) || last >= p->segment_docs || (block > 0 && base >= last)) {
            return false;
        }
        at += offset;
    }
    bool freqs = (p->field->has & SEG_FREQS) != 0;
    uint32_t n = block + 1 < p->n_blocks ? POSTINGS_BLOCK : p->doc_freq - block * POSTINGS_BLOCK;
    const uint8_t *begin = at;
    if ((size_t)(p->end - at) < 1 + (size_t)freqs || !seg_check(p->field->segment, at, 1 + (size_t)freqs)) {
        return false;
    }
    unsigned width = *at++, freq_width = freqs ? *at++ : 0;
    size_t bytes = n == POSTINGS_BLOCK ? bitpack_bytes(width) : bits_bytes(n, width);
    size_t freq_bytes = n == POSTINGS_BLOCK ? bitpack_bytes(freq_width) : bits_bytes(n, freq_width);
    if (width > 32 || freq_width > 32 || (size_t)(p->end - at) < bytes + freq_bytes
        || !seg_check(p->field->segment, begin, (size_t)(at - begin) + bytes + freq_bytes)
        || !unpack_docs(p->docs, at, n, width, base)) {
        return false;
    }
    if (p->last_docs != NULL ? p->docs[n - 1] != last : p->docs[n - 1] > last) {
        return false;
    }
    p->freq_data = at + bytes;
    p->freq_width = (uint8_t)freq_width;
    p->freqs_ready = false;
    p->n = n;
    return true;
}

/* Decodes a block; the cursor stands before its first document. */
static bool load_block(struct postings *p, uint32_t block)
{
    if (p->segment_docs == 0 || !(p->doc_freq == 1 ? load_single(p) : load_packed(p, block))) {
        return false;
    }
    for (uint32_t i = 0; i < 8; i++) {
        p->docs[p->n + i] = DOC_END;
    }
    p->block = block;
    p->at = 0;
    return true;
}

void postings_load_freqs(struct postings *p)
{
    if (p->freq_data == NULL || p->freq_width == 0) {
        for (uint32_t i = 0; i < POSTINGS_BLOCK; i++) {
            p->freqs[i] = 1;
        }
    } else {
        if (p->n == POSTINGS_BLOCK) {
            bitpack_unpack(p->freq_data, p->freq_width, p->freqs);
        } else {
            bits_unpack32(p->freq_data, p->n, p->freq_width, p->freqs);
        }
        for (uint32_t i = 0; i < POSTINGS_BLOCK; i++) {
            p->freqs[i] = (p->freqs[i] & INT32_MAX) + 1;
        }
    }
    p->freqs_ready = true;
}

doc_id postings_next_block(struct postings *p)
{
    bool loaded = p->doc == POSTINGS_UNPOSITIONED && p->block == 0;
    uint32_t block = p->doc == POSTINGS_UNPOSITIONED ? 0 : p->block + 1;
    if (p->doc == DOC_END || block >= p->n_blocks) {
        return postings_finish(p);
    }
    if (!loaded && !load_block(p, block)) {
        return postings_fail(p);
    }
    p->at = 0;
    return p->doc = p->docs[0];
}

/* Number of rows from `from` on whose last document lies below target, found by doubling steps. */
static uint32_t gallop(const uint8_t *last_docs, uint32_t from, uint32_t n, doc_id target)
{
    uint32_t lo = from, step = 1;
    while (lo < n && step < n - lo && load_u32(last_docs + 4 * (size_t)(lo + step - 1)) < target) {
        lo += step;
        step *= 2;
    }
    uint32_t hi = step < n - lo ? lo + step : n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (load_u32(last_docs + 4 * (size_t)mid) < target) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* The first index >= from with docs[index] >= target; docs[n] is DOC_END. */
static inline uint32_t search_docs(const struct postings *p, uint32_t from, doc_id target)
{
    const uint32_t *docs = p->docs;
    if (docs[from] >= target) {
        return from;
    }
    uint32_t left = p->n - from;
    while (left > 1) {
        uint32_t half = left / 2;
        from += docs[from + half - 1] < target ? half : 0;
        left -= half;
    }
    return from + (docs[from] < target);
}

static doc_id postings_seek_block(struct postings *p, doc_id target)
{
    uint32_t block = p->doc == POSTINGS_UNPOSITIONED ? 0 : p->block + 1;
    if (p->doc == DOC_END || block >= p->n_blocks) {
        return postings_finish(p);
    }
    if (p->last_docs != NULL) {
        if (p->shallow > block && load_u32(p->last_docs + 4 * (size_t)(p->shallow - 1)) < target) {
            block = p->shallow;
        }
        block = gallop(p->last_docs, block, p->n_blocks, target);
        if (block >= p->n_blocks) {
            return postings_finish(p);
        }
    }
    if (p->block != block && !load_block(p, block)) {
        return postings_fail(p);
    }
    p->at = search_docs(p, 0, target);
    return p->at < p->n ? (p->doc = p->docs[p->at]) : postings_finish(p);
}

doc_id postings_seek(struct postings *p, doc_id target)
{
    if (p->doc == POSTINGS_UNPOSITIONED) {
        return postings_seek_block(p, target);
    }
    if (p->doc >= target) {
        return p->doc;
    }
    if (p->n > 0 && p->docs[p->n - 1] >= target) {
        p->at = search_docs(p, p->at + 1, target);
        return p->doc = p->docs[p->at];
    }
    return postings_seek_block(p, target);
}

doc_id postings_shallow(struct postings *p, doc_id target)
{
    if (p->n_blocks == 0) {
        return DOC_END;
    }
    if (p->last_docs == NULL) {
        /* One block: decoding it costs no more than a look at its end would. */
        if (p->block == UINT32_MAX && !load_block(p, 0)) {
            postings_fail(p);
        }
        p->shallow = p->n > 0 && p->docs[p->n - 1] >= target ? 0 : 1;
        return p->shallow == 0 ? p->docs[p->n - 1] : DOC_END;
    }
    uint32_t from = p->shallow;
    if (from > 0 && load_u32(p->last_docs + 4 * (size_t)(from - 1)) >= target) {
        from = 0;
    }
    p->shallow = gallop(p->last_docs, from, p->n_blocks, target);
    if (p->shallow >= p->n_blocks) {
        return DOC_END;
    }
    /* A damaged row must neither lead out of the segment nor back behind the target. */
    doc_id last = MIN_OF(load_u32(p->last_docs + 4 * (size_t)p->shallow), p->segment_docs - 1);
    return MAX_OF(last, target);
}

static unsigned read_impacts(const uint8_t *at, const uint8_t *end, struct impact out[IMPACTS_MAX])
{
    struct bytes_in in = {at, end, false};
    unsigned n = get_u8(&in);
    uint64_t freq = 0;
    for (unsigned i = 0; i < n && n <= IMPACTS_MAX; i++) {
        uint8_t norm = get_u8(&in);
        freq += get_varint(&in);
        freq = MIN_OF(freq, (uint64_t)INT32_MAX);
        out[i] = (struct impact){(uint32_t)freq, norm};
    }
    if (in.bad || n > IMPACTS_MAX) {
        out[0] = (struct impact){INT32_MAX, 0}; /* nothing beats that: safe to skip by */
        return 1;
    }
    return n;
}

static unsigned single_impact(const struct postings *p, struct impact out[IMPACTS_MAX])
{
    const uint8_t *norms = impl_of(p->field)->norms;
    uint64_t doc = p->info.postings_at;
    out[0].norm = norms != NULL && doc < p->segment_docs ? norms[doc] : 1;
    out[0].freq = p->field->has & SEG_FREQS ? (uint32_t)MIN_OF(p->info.total_freq, (uint64_t)INT32_MAX) : 1;
    return 1;
}

unsigned postings_all_impacts(const struct postings *p, struct impact out[IMPACTS_MAX])
{
    if (p->n_blocks == 0) {
        return 0;
    }
    if (p->doc_freq == 1) {
        return single_impact(p, out);
    }
    if (!(p->field->has & SEG_FREQS)) {
        out[0] = (struct impact){1, 1};
        return 1;
    }
    return read_impacts(p->best, p->end, out);
}

unsigned postings_block_impacts(const struct postings *p, struct impact out[IMPACTS_MAX])
{
    if (p->shallow >= p->n_blocks) {
        return 0;
    }
    if (p->impacts_at == NULL) {
        return postings_all_impacts(p, out);
    }
    uint32_t at = load_u32(p->impacts_at + 4 * (size_t)p->shallow);
    return read_impacts((size_t)(p->data - p->impacts) > at ? p->impacts + at : p->end, p->end, out);
}
