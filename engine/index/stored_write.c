#include "engine/index/stored_write.h"

#include <lz4.h>

#include "common/base/hash.h"

/* Small blocks make scattered reads cheap; a dictionary of samples, shared by the segment's blocks, gives
 * back the ratio that small blocks lose. */
#define BLOCK_BYTES      ((size_t)8 << 10)
#define DICTIONARY_BYTES ((size_t)16 << 10)
#define SAMPLE_BYTES     ((size_t)256 << 10) /* what samples are taken from */
#define PIECE_BYTES      ((size_t)512)

void stored_record_source(struct buf *to, struct str source)
{
    put_varint(to, source.p != NULL ? (uint64_t)source.n + 1 : 0);
    buf_str(to, source);
}

void stored_record_begin_values(struct buf *to, size_t n)
{
    put_varint(to, n);
}

void stored_record_num(struct buf *to, struct str field, int64_t v)
{
    put_str(to, field);
    put_u8(to, 1);
    put_zigzag(to, v);
}

void stored_record_bytes(struct buf *to, struct str field, struct str v)
{
    put_str(to, field);
    put_u8(to, 0);
    put_str(to, v);
}

void stored_writer_init(struct stored_writer *w, struct seg_out *out)
{
    *w = (struct stored_writer){.out = out};
    struct buf *const bufs[] = {&w->raw, &w->held, &w->first_docs, &w->offsets, &w->packed, &w->dictionary};
    for (size_t i = 0; i < ARRAY_LEN(bufs); i++) {
        buf_init(bufs[i], NULL, BUF_UNLIMITED);
    }
    w->primed = alloc_get(alloc_default(), sizeof(LZ4_stream_t));
    w->state = alloc_get(alloc_default(), sizeof(LZ4_stream_t));
    if (w->primed == NULL || w->state == NULL) {
        seg_out_fail(out, err_no_memory(out->em));
    } else {
        LZ4_initStream(w->primed, sizeof(LZ4_stream_t));
    }
    seg_out_begin(out, SECTION_STORED);
}

void stored_writer_fini(struct stored_writer *w)
{
    struct buf *const bufs[] = {&w->raw, &w->held, &w->first_docs, &w->offsets, &w->packed, &w->dictionary};
    for (size_t i = 0; i < ARRAY_LEN(bufs); i++) {
        buf_fini(bufs[i]);
    }
    alloc_put(alloc_default(), w->primed);
    alloc_put(alloc_default(), w->state);
    w->primed = w->state = NULL;
}

/* Length of the raw block, its bytes packed, or as they are when packing gains nothing. */
static void emit_block(struct stored_writer *w, struct str raw)
{
    put_u64(&w->offsets, seg_out_at(w->out));
    int most = raw.n <= LZ4_MAX_INPUT_SIZE ? LZ4_compressBound((int)raw.n) : 0;
    char *to = w->out->err == ERR_OK && most > 0 ? buf_reserve(&w->packed, (size_t)most) : NULL;
    int n = 0;
    if (to != NULL) {
        memcpy(w->state, w->primed, sizeof(LZ4_stream_t));
        n = LZ4_compress_fast_continue(w->state, raw.p, to, (int)raw.n, most, 1);
    }
    if (raw.n > UINT32_MAX) {
        seg_out_fail(w->out, err_set(w->out->em, ERR_ILLEGAL_ARGUMENT, "a document is over 4 GiB"));
    }
    seg_out_u32(w->out, (uint32_t)raw.n);
    if (n > 0 && (size_t)n < raw.n) {
        seg_out_bytes(w->out, to, (size_t)n);
    } else {
        seg_out_bytes(w->out, raw.p, raw.n);
    }
}

/* Makes the dictionary of pieces taken evenly from what is held, then writes that out. */
static void decide(struct stored_writer *w)
{
    w->decided = true;
    if (!seg_out_check(w->out, &w->held)) {
        return;
    }
    if (w->held.n >= 4 * DICTIONARY_BYTES) {
        size_t pieces = DICTIONARY_BYTES / PIECE_BYTES, step = w->held.n / pieces;
        for (size_t i = 0; i < pieces; i++) {
            buf_add(&w->dictionary, w->held.p + i * step, PIECE_BYTES);
        }
        if (seg_out_check(w->out, &w->dictionary)) {
            LZ4_loadDict(w->primed, w->dictionary.p, (int)w->dictionary.n);
        }
    }
    seg_out_bytes(w->out, w->dictionary.p, w->dictionary.n);
    struct bytes_in in = bytes_in(buf_view(&w->held));
    while (bytes_left(&in) > 0 && w->out->err == ERR_OK) {
        uint64_t n = get_u64(&in);
        emit_block(w, get_raw(&in, (size_t)n));
    }
    buf_fini(&w->held);
}

static void end_block(struct stored_writer *w)
{
    put_u32(&w->first_docs, w->first_doc);
    w->n_blocks++;
    if (!seg_out_check(w->out, &w->raw)) {
        return;
    }
    if (w->decided) {
        emit_block(w, buf_view(&w->raw));
    } else {
        put_u64(&w->held, w->raw.n);
        buf_add(&w->held, w->raw.p, w->raw.n);
        if (w->held.n >= SAMPLE_BYTES) {
            decide(w);
        }
    }
    buf_reset(&w->raw);
}

void stored_writer_doc(struct stored_writer *w, doc_id doc, struct str record)
{
    if (w->raw.n > 0 && w->raw.n + record.n > BLOCK_BYTES + BLOCK_BYTES / 2) {
        end_block(w);
    }
    if (w->raw.n == 0) {
        w->first_doc = doc;
    }
    put_str(&w->raw, record);
    if (w->raw.n >= BLOCK_BYTES) {
        end_block(w);
    }
}

void stored_writer_finish(struct stored_writer *w, struct buf *meta)
{
    if (w->raw.n > 0) {
        end_block(w);
    }
    if (!w->decided) {
        decide(w);
    }
    seg_out_check(w->out, &w->raw);
    seg_out_check(w->out, &w->first_docs);
    uint64_t data_n = seg_out_at(w->out);
    put_u64(&w->offsets, data_n);
    seg_out_check(w->out, &w->offsets);
    seg_out_align(w->out, 8);
    seg_out_bytes(w->out, w->offsets.p, w->offsets.n);
    seg_out_bytes(w->out, w->first_docs.p, w->first_docs.n);
    put_varint(meta, seg_out_end(w->out));
    put_varint(meta, w->n_blocks);
    put_varint(meta, w->dictionary.n);
    put_varint(meta, data_n);
}

void ids_write(struct seg_out *o, const struct bytes_source *src, uint32_t docs, struct buf *meta)
{
    /* At most seven slots in ten are taken. */
    uint64_t n_slots = docs > 0 ? (uint64_t)docs * 10 / 7 + 1 : 0;
    uint8_t *tags = n_slots > 0 ? alloc_get(alloc_default(), (size_t)n_slots * 5) : NULL;
    if (tags == NULL) {
        if (n_slots > 0) {
            seg_out_fail(o, err_no_memory(o->em));
        }
        put_varint(meta, 0);
        put_varint(meta, 0);
        return;
    }
    memset(tags, 0, (size_t)n_slots * 5);
    uint8_t *slots = tags + n_slots;
    doc_id doc;
    struct str id;
    uint32_t taken = 0;
    src->rewind(src->self);
    while (src->next(src->self, &doc, &id) && taken < docs) {
        uint64_t hash = hash_str(id), slot = (hash & UINT32_MAX) * n_slots >> 32;
        while (tags[slot] != 0) {
            slot = slot + 1 < n_slots ? slot + 1 : 0;
        }
        tags[slot] = (uint8_t)MAX_OF(hash >> 56, (uint64_t)1);
        store_u32(slots + 4 * slot, doc);
        taken++;
    }
    seg_out_begin(o, SECTION_IDS);
    seg_out_bytes(o, tags, (size_t)n_slots * 5);
    put_varint(meta, seg_out_end(o));
    put_varint(meta, n_slots);
    alloc_put(alloc_default(), tags);
}
