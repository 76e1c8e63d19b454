/* Postings and positions in blocks of 128. */
#include "engine/index/postings_write.h"

enum err postings_writer_init(struct postings_writer *w, struct seg_out *out, uint32_t has,
                              const uint8_t *norms, uint32_t doc_count)
{
    memset(w, 0, sizeof(*w));
    w->out = out;
    w->has = has;
    w->norms = norms;
    w->doc_count = doc_count;
    w->block_base = UINT32_MAX;
    terms_writer_init(&w->terms, out);
    spool_init(&w->positions, out);
    struct buf *const bufs[] = {&w->last_docs,    &w->offsets, &w->impacts_at,
                                &w->positions_at, &w->impacts, &w->data};
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
    struct buf *const bufs[] = {&w->last_docs,    &w->offsets, &w->impacts_at,
                                &w->positions_at, &w->impacts, &w->data};
    for (size_t i = 0; i < ARRAY_LEN(bufs); i++) {
        buf_fini(bufs[i]);
    }
    alloc_put(alloc_default(), w->seen);
    w->seen = NULL;
}

/* The most that n numbers take, packed. */
#define PACKED_BYTES_MAX (POSTINGS_BLOCK * 4 + 8)

/* n numbers of width b: vertical when they fill a block. Returns the bytes written. */
static size_t pack(uint8_t *to, const uint32_t *v, uint32_t n, unsigned b)
{
    if (n == BITPACK_BLOCK) {
        bitpack_pack(v, b, to);
        return bitpack_bytes(b);
    }
    return bits_pack32(to, v, n, b);
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

/* The gathered documents as one block at the end of `data`; their impacts go into the block's frontier. */
static void encode_block(struct postings_writer *w)
{
    uint32_t gaps[POSTINGS_BLOCK], less[POSTINGS_BLOCK], before = w->block_base;
    uint8_t bytes[2 + 2 * PACKED_BYTES_MAX];
    bool freqs = (w->has & SEG_FREQS) != 0;
    for (uint32_t i = 0; i < w->n; i++) {
        gaps[i] = w->docs[i] - before - 1;
        before = w->docs[i];
        less[i] = w->freqs[i] - 1;
    }
    w->block_base = before;
    unsigned doc_width = bitpack_width(gaps, w->n), freq_width = freqs ? bitpack_width(less, w->n) : 0;
    size_t n = 1 + (size_t)freqs;
    bytes[0] = (uint8_t)doc_width;
    bytes[1] = (uint8_t)freq_width;
    n += pack(bytes + n, gaps, w->n, doc_width);
    if (freqs) {
        n += pack(bytes + n, less, w->n, freq_width);
        for (uint32_t i = 0; i < w->n; i++) {
            impact_best_add(&w->block_best, w->norms != NULL ? w->norms[w->docs[i]] : 1, w->freqs[i]);
        }
    }
    buf_add(&w->data, bytes, n);
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
        seg_out_fail(w->out,
                     err_set(w->out->em, ERR_ILLEGAL_ARGUMENT, "the postings of a term grew over 4 GiB"));
        w->n = 0;
        return;
    }
    put_u32(&w->last_docs, w->docs[w->n - 1]);
    put_u32(&w->offsets, (uint32_t)w->data.n);
    if (w->has & SEG_POSITIONS) {
        put_u64(&w->positions_at, w->block_pos);
    }
    encode_block(w);
    if (w->has & SEG_FREQS) {
        put_u32(&w->impacts_at, (uint32_t)w->impacts.n);
        put_impacts(&w->impacts, &w->block_best);
        merge_best(&w->term_best, &w->block_best);
        impact_best_clear(&w->block_best);
    }
    w->n = 0;
}

void postings_writer_positions(struct postings_writer *w)
{
    uint8_t bytes[3 + 3 * PACKED_BYTES_MAX];
    unsigned width = bitpack_width(w->pos, w->n_pos);
    size_t n = 1;
    bytes[0] = (uint8_t)width;
    if (w->has & SEG_OFFSETS) {
        unsigned start_width = bitpack_width(w->start, w->n_pos), len_width = bitpack_width(w->len, w->n_pos);
        bytes[1] = (uint8_t)start_width;
        bytes[2] = (uint8_t)len_width;
        n = 3;
        n += pack(bytes + n, w->pos, w->n_pos, width);
        n += pack(bytes + n, w->start, w->n_pos, start_width);
        n += pack(bytes + n, w->len, w->n_pos, len_width);
    } else {
        n += pack(bytes + n, w->pos, w->n_pos, width);
    }
    spool_bytes(&w->positions, bytes, n);
    w->n_pos = 0;
}

/* Before the first document of a block. */
void postings_writer_block(struct postings_writer *w)
{
    if (w->doc_freq == 0) {
        w->pos_begin = spool_at(&w->positions);
    }
    if (w->n == POSTINGS_BLOCK) {
        flush_block(w);
    }
    w->block_pos = (spool_at(&w->positions) - w->pos_begin) << 7 | w->n_pos;
}

/* A term of several blocks: skip arrays and impacts come first, so that searching them touches nothing else.
 */
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

static void reset_term(struct postings_writer *w)
{
    struct buf *const bufs[] = {&w->last_docs,    &w->offsets, &w->impacts_at,
                                &w->positions_at, &w->impacts, &w->data};
    for (size_t i = 0; i < ARRAY_LEN(bufs); i++) {
        if (bufs[i]->failed) {
            seg_out_check(w->out, bufs[i]);
        }
        bufs[i]->n = 0;
    }
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
        postings_writer_positions(w);
    }
    if (w->doc_freq > POSTINGS_BLOCK) {
        flush_block(w);
        write_long_term(w, pos_tail);
        impact_best_clear(&w->term_best);
        reset_term(w);
    } else if (w->doc_freq > 1) {
        write_short_term(w);
        reset_term(w);
    }
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
