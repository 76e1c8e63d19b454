/* Postings and positions in blocks of 128. */
#include "engine/index/postings_write.h"

enum err postings_writer_init(struct postings_writer *w, struct seg_out *out, uint32_t has, const uint8_t *norms,
                              uint32_t doc_count)
{
    memset(w, 0, sizeof(*w));
    w->out = out;
    w->has = has;
    w->norms = norms;
    w->doc_count = doc_count;
    w->block_base = UINT32_MAX;
    terms_writer_init(&w->terms, out);
    spool_init(&w->positions, out);
    struct buf *const bufs[] = {&w->last_docs, &w->offsets, &w->impacts_at, &w->positions_at, &w->impacts, &w->data};
    for (size_t i = 0; i < ARRAY_LEN(bufs); i++) {
        buf_init(bufs[i], NULL, BUF_UNLIMITED);
    }
    impact_best_clear(&w->block_best);
    w->block_best.lo = w->term_best.lo = 256;
    w->block_best.hi = w->term_best.hi = 0;
    const struct allocator *heap = alloc_default();
    size_t bytes = bits_words(doc_count) * sizeof(uint64_t);
    w->seen = alloc_get(heap, MAX_OF(bytes, (size_t)8));
    if (w->seen == NULL) {
        return seg_out_fail(out, err_no_memory(out->em));
    }
    memset(w->seen, 0, bytes);
    seg_out_begin(out, SECTION_POSTINGS);
    return ERR_OK;
}

void postings_writer_fini(struct postings_writer *w)
{
    terms_writer_fini(&w->terms);
    spool_fini(&w->positions);
    struct buf *const bufs[] = {&w->last_docs, &w->offsets, &w->impacts_at, &w->positions_at, &w->impacts, &w->data};
    for (size_t i = 0; i < ARRAY_LEN(bufs); i++) {
        buf_fini(bufs[i]);
    }
    alloc_put(alloc_default(), w->seen);
    w->seen = NULL;
}

/* n numbers of width b: vertical when they fill a block. */
static void put_packed(struct buf *to, const uint32_t *v, uint32_t n, unsigned b)
{
    if (n == BITPACK_BLOCK) {
        uint8_t *p = (uint8_t *)buf_reserve(to, bitpack_bytes(b));
        if (p != NULL) {
            bitpack_pack(v, b, p);
            to->n += bitpack_bytes(b);
        }
        return;
    }
    struct bits_out bits = bits_out(to);
    for (uint32_t i = 0; i < n; i++) {
        bits_put(&bits, v[i], b);
    }
    bits_end(&bits);
}

static void put_impacts(struct buf *to, const struct impact_best *best)
{
    struct impact v[IMPACTS_MAX];
    unsigned n = impact_best_list(best, v);
    uint32_t freq = 0;
    put_u8(to, (uint8_t)n);
    for (unsigned i = 0; i < n; i++) {
        put_u8(to, v[i].norm);
        put_varint(to, v[i].freq - freq);
        freq = v[i].freq;
    }
}

/* The gathered documents as one block at the end of `data`; their impacts go into both frontiers. */
static void encode_block(struct postings_writer *w)
{
    uint32_t gaps[POSTINGS_BLOCK], less[POSTINGS_BLOCK], before = w->block_base;
    for (uint32_t i = 0; i < w->n; i++) {
        gaps[i] = w->docs[i] - before - 1;
        before = w->docs[i];
        less[i] = w->freqs[i] - 1;
    }
    w->block_base = before;
    unsigned doc_width = bitpack_width(gaps, w->n), freq_width = bitpack_width(less, w->n);
    put_u8(&w->data, (uint8_t)doc_width);
    if (w->has & SEG_FREQS) {
        put_u8(&w->data, (uint8_t)freq_width);
    }
    put_packed(&w->data, gaps, w->n, doc_width);
    if (w->has & SEG_FREQS) {
        put_packed(&w->data, less, w->n, freq_width);
        for (uint32_t i = 0; i < w->n; i++) {
            uint8_t norm = w->norms != NULL ? w->norms[w->docs[i]] : 1;
            impact_best_add(&w->block_best, norm, w->freqs[i]);
        }
    }
}

static void merge_best(struct impact_best *to, const struct impact_best *from)
{
    for (unsigned norm = from->lo; norm <= from->hi; norm++) {
        if (from->freq[norm] > 0) {
            impact_best_add(to, (uint8_t)norm, from->freq[norm]);
        }
    }
}

/* A block of a term that has more than one: it gets a row in the skip arrays. */
static void flush_block(struct postings_writer *w)
{
    if (w->data.n > UINT32_MAX || w->impacts.n > UINT32_MAX) {
        seg_out_fail(w->out, err_set(w->out->em, ERR_ILLEGAL_ARGUMENT, "the postings of a term grew over 4 GiB"));
        w->n = 0;
        return;
    }
    put_u32(&w->last_docs, w->docs[w->n - 1]);
    put_u32(&w->offsets, (uint32_t)w->data.n);
    encode_block(w);
    if (w->has & SEG_FREQS) {
        put_u32(&w->impacts_at, (uint32_t)w->impacts.n);
        put_impacts(&w->impacts, &w->block_best);
        merge_best(&w->term_best, &w->block_best);
        impact_best_clear(&w->block_best);
    }
    w->n = 0;
}

static void flush_positions(struct postings_writer *w)
{
    struct buf *to = &w->positions.bytes;
    unsigned pw = bitpack_width(w->pos, w->n_pos);
    put_u8(to, (uint8_t)pw);
    if (w->has & SEG_OFFSETS) {
        unsigned sw = bitpack_width(w->start, w->n_pos), lw = bitpack_width(w->len, w->n_pos);
        put_u8(to, (uint8_t)sw);
        put_u8(to, (uint8_t)lw);
        put_packed(to, w->pos, w->n_pos, pw);
        put_packed(to, w->start, w->n_pos, sw);
        put_packed(to, w->len, w->n_pos, lw);
    } else {
        put_packed(to, w->pos, w->n_pos, pw);
    }
    spool_flush(&w->positions);
    w->n_pos = 0;
}

void postings_writer_doc(struct postings_writer *w, doc_id doc, uint32_t freq)
{
    if (w->doc_freq == 0) {
        w->pos_begin = spool_at(&w->positions);
    }
    if (w->n == POSTINGS_BLOCK) {
        flush_block(w);
    }
    if (w->n == 0 && (w->has & SEG_POSITIONS)) {
        put_u64(&w->positions_at, (spool_at(&w->positions) - w->pos_begin) << 7 | w->n_pos);
    }
    w->docs[w->n] = doc;
    w->freqs[w->n++] = freq;
    w->doc_freq++;
    w->total_freq += freq;
    w->last_pos = w->last_start = 0;
    bits_set(w->seen, doc);
}

void postings_writer_pos(struct postings_writer *w, uint32_t pos, uint32_t start, uint32_t end)
{
    w->pos[w->n_pos] = pos - w->last_pos;
    w->start[w->n_pos] = start - w->last_start;
    w->len[w->n_pos] = end - start;
    w->last_pos = pos;
    w->last_start = start;
    if (++w->n_pos == POSTINGS_BLOCK) {
        flush_positions(w);
    }
}

/* A term of several blocks: skip arrays and impacts come first, so that searching them touches nothing else. */
static void write_long_term(struct postings_writer *w, uint64_t pos_tail)
{
    struct seg_out *o = w->out;
    if (w->has & SEG_POSITIONS) {
        seg_out_u64(o, pos_tail);
    }
    if (w->has & SEG_FREQS) {
        uint8_t bytes[2 + IMPACTS_MAX * 6];
        struct buf best = {.p = (char *)bytes, .cap = sizeof(bytes), .bytes_max = sizeof(bytes) - 1};
        put_impacts(&best, &w->term_best);
        seg_out_u32(o, (uint32_t)best.n);
        seg_out_u32(o, (uint32_t)w->impacts.n);
        seg_out_bytes(o, w->last_docs.p, w->last_docs.n);
        seg_out_bytes(o, w->offsets.p, w->offsets.n);
        seg_out_bytes(o, w->impacts_at.p, w->impacts_at.n);
        seg_out_bytes(o, w->positions_at.p, w->positions_at.n);
        seg_out_bytes(o, best.p, best.n);
        seg_out_bytes(o, w->impacts.p, w->impacts.n);
    } else {
        seg_out_bytes(o, w->last_docs.p, w->last_docs.n);
        seg_out_bytes(o, w->offsets.p, w->offsets.n);
    }
    seg_out_bytes(o, w->data.p, w->data.n);
}

static void write_short_term(struct postings_writer *w)
{
    encode_block(w);
    if (w->has & SEG_FREQS) {
        put_impacts(&w->impacts, &w->block_best);
        seg_out_bytes(w->out, w->impacts.p, w->impacts.n);
        impact_best_clear(&w->block_best);
    }
    seg_out_bytes(w->out, w->data.p, w->data.n);
}

void postings_writer_term(struct postings_writer *w, struct str term)
{
    struct term_info info = {
        .doc_freq = w->doc_freq,
        .total_freq = w->total_freq,
        .postings_at = w->doc_freq == 1 ? w->docs[0] : seg_out_at(w->out),
        .positions_at = w->pos_begin,
    };
    uint64_t pos_tail = spool_at(&w->positions) - w->pos_begin;
    if (w->n_pos > 0) {
        flush_positions(w);
    }
    if (w->doc_freq > POSTINGS_BLOCK) {
        flush_block(w);
        write_long_term(w, pos_tail);
    } else if (w->doc_freq > 1) {
        write_short_term(w);
    }
    struct buf *const bufs[] = {&w->last_docs, &w->offsets, &w->impacts_at, &w->positions_at, &w->impacts, &w->data};
    for (size_t i = 0; i < ARRAY_LEN(bufs); i++) {
        if (seg_out_check(w->out, bufs[i])) {
            buf_reset(bufs[i]);
        }
    }
    impact_best_clear(&w->term_best);
    w->n = 0;
    w->block_base = UINT32_MAX;
    w->doc_freq = 0;
    w->total_freq = 0;
    terms_writer_add(&w->terms, term, &info);
}

void postings_writer_finish(struct postings_writer *w, struct buf *meta, uint32_t *field_docs)
{
    uint32_t postings = seg_out_end(w->out), positions = 0;
    if (spool_at(&w->positions) > 0) {
        seg_out_begin(w->out, SECTION_POSITIONS);
        spool_copy(&w->positions);
        positions = seg_out_end(w->out);
    }
    uint32_t terms = terms_writer_finish(&w->terms);
    put_varint(meta, terms);
    put_varint(meta, postings);
    put_varint(meta, positions);
    put_str(meta, buf_view(&w->terms.first));
    *field_docs = (uint32_t)bits_count(w->seen, w->doc_count);
}
