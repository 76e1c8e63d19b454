/* postings_write.h - writing the terms of one field: postings, positions, dictionary.
 *
 * Terms come in byte order, the documents of a term in ascending order, the positions of a document likewise.
 * Both the index buffer and merging write through it. One thread. */
#ifndef INDEX_POSTINGS_WRITE_H
#define INDEX_POSTINGS_WRITE_H

#include "engine/index/bitpack.h"
#include "engine/index/seg_out.h"

/* The best frequency seen for each length: from it comes the frontier of pairs that no other pair beats. */
struct impact_best {
    uint32_t freq[256]; /* by norm; 0: not seen */
    unsigned lo, hi;    /* norms seen lie in here; lo > hi: none */
};

void impact_best_clear(struct impact_best *b);
void impact_best_add(struct impact_best *b, uint8_t norm, uint32_t freq);
/* Pairs by ascending norm and frequency, at most IMPACTS_MAX: too many are merged into pairs that beat both.
 */
unsigned impact_best_list(const struct impact_best *b, struct impact out[IMPACTS_MAX]);

struct terms_writer {
    struct seg_out *out;
    struct spool blocks;
    struct buf offsets; /* u32 a block */
    struct buf first, last;
    struct buf suffixes; /* of the block being gathered */
    struct term_info infos[TERMS_BLOCK];
    uint32_t n; /* of them */
    uint64_t n_terms, sum_df, sum_ttf;
};

struct postings_writer {
    struct seg_out *out;
    struct terms_writer terms;
    struct spool positions;
    uint32_t has;         /* SEG_FREQS, SEG_POSITIONS, SEG_OFFSETS */
    const uint8_t *norms; /* of the segment being written; NULL: none */
    uint64_t *seen;       /* documents with a term */
    uint32_t doc_count;   /* of the segment */
    /* the term at hand */
    uint32_t docs[POSTINGS_BLOCK], freqs[POSTINGS_BLOCK], n;
    uint32_t block_base; /* last document of the block before */
    uint32_t doc_freq;
    uint64_t total_freq;
    struct buf last_docs, offsets, impacts_at, positions_at, impacts, data;
    struct impact_best block_best, term_best;
    uint32_t pos[POSTINGS_BLOCK], start[POSTINGS_BLOCK], len[POSTINGS_BLOCK], n_pos;
    uint32_t last_pos, last_start; /* of the document at hand */
    uint64_t pos_begin;
    uint64_t block_pos; /* where the positions of the block at hand begin */
};

/* Begins the postings section in `out`; `has` are the field's SEG_* flags. */
enum err postings_writer_init(struct postings_writer *w, struct seg_out *out, uint32_t has,
                              const uint8_t *norms, uint32_t doc_count);
void postings_writer_fini(struct postings_writer *w);
/* Slow paths behind the inline ones below. */
void postings_writer_block(struct postings_writer *w);
void postings_writer_positions(struct postings_writer *w);

/* The next document of a term; in fields with positions freq is 0: it grows with each position. */
static inline void postings_writer_doc(struct postings_writer *w, doc_id doc, uint32_t freq)
{
    if (w->n == 0 || w->n == POSTINGS_BLOCK) {
        postings_writer_block(w);
    }
    w->docs[w->n] = doc;
    w->freqs[w->n++] = freq;
    w->doc_freq++;
    w->total_freq += freq;
    w->last_pos = w->last_start = 0;
    bits_set(w->seen, doc);
}

/* Each of the last document's positions; offsets are ignored without SEG_OFFSETS. */
static inline void postings_writer_pos(struct postings_writer *w, uint32_t pos, uint32_t start, uint32_t end)
{
    w->freqs[w->n - 1]++;
    w->total_freq++;
    w->pos[w->n_pos] = pos - w->last_pos;
    w->start[w->n_pos] = start - w->last_start;
    w->len[w->n_pos] = end - start;
    w->last_pos = pos;
    w->last_start = start;
    if (++w->n_pos == POSTINGS_BLOCK) {
        postings_writer_positions(w);
    }
}
/* Ends a term that had documents. */
void postings_writer_term(struct postings_writer *w, struct str term);
/* Ends the field: writes all its sections and puts what the directory keeps of them into `meta`. */
void postings_writer_finish(struct postings_writer *w, struct buf *meta, uint32_t *field_docs);

void terms_writer_init(struct terms_writer *w, struct seg_out *out);
void terms_writer_fini(struct terms_writer *w);
void terms_writer_add(struct terms_writer *w, struct str term, const struct term_info *info);
/* Writes the section; returns its number plus one. */
uint32_t terms_writer_finish(struct terms_writer *w);

#endif
