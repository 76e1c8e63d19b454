/* The dictionary of a field: blocks of prefix-compressed terms, and keys to search the blocks by. */
#include "engine/index/postings_write.h"

void terms_writer_init(struct terms_writer *w, struct seg_out *out)
{
    w->out = out;
    w->n = 0;
    w->n_terms = w->sum_df = w->sum_ttf = 0;
    spool_init(&w->blocks, out);
    buf_init(&w->offsets, NULL, BUF_UNLIMITED);
    buf_init(&w->first, NULL, BUF_UNLIMITED);
    buf_init(&w->last, NULL, BUF_UNLIMITED);
    buf_init(&w->suffixes, NULL, BUF_UNLIMITED);
}

void terms_writer_fini(struct terms_writer *w)
{
    spool_fini(&w->blocks);
    buf_fini(&w->offsets);
    buf_fini(&w->first);
    buf_fini(&w->last);
    buf_fini(&w->suffixes);
}

/* Where a term's postings are, as its block keeps it: a document alone is kept itself. */
static uint64_t where(const struct term_info *t, uint64_t base)
{
    return t->doc_freq == 1 ? t->postings_at : t->postings_at - base;
}

static void flush_terms(struct terms_writer *w)
{
    uint64_t base = 0, base_pos = w->infos[0].positions_at, all[4] = {0};
    for (uint32_t i = w->n; i-- > 0;) {
        base = w->infos[i].doc_freq > 1 ? w->infos[i].postings_at : base;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        const struct term_info *t = &w->infos[i];
        all[0] |= t->doc_freq - 1;
        all[1] |= t->total_freq - t->doc_freq;
        all[2] |= where(t, base);
        all[3] |= t->positions_at - base_pos;
    }
    if (spool_at(&w->blocks) > UINT32_MAX || bits_width(all[1] | all[2] | all[3]) > 57) {
        seg_out_fail(w->out,
                     err_set(w->out->em, ERR_ILLEGAL_ARGUMENT, "a field's dictionary grew over 4 GiB"));
        return;
    }
    put_u32(&w->offsets, (uint32_t)spool_at(&w->blocks));
    struct buf *to = &w->blocks.bytes;
    unsigned width[4];
    for (unsigned k = 0; k < 4; k++) {
        width[k] = bits_width(all[k]);
        put_u8(to, (uint8_t)width[k]);
    }
    put_varint(to, base);
    put_varint(to, base_pos);
    struct bits_out bits = bits_out(to);
    for (uint32_t i = 0; i < w->n; i++) {
        const struct term_info *t = &w->infos[i];
        bits_put(&bits, t->doc_freq - 1, width[0]);
        bits_put(&bits, t->total_freq - t->doc_freq, width[1]);
        bits_put(&bits, where(t, base), width[2]);
        bits_put(&bits, t->positions_at - base_pos, width[3]);
    }
    bits_end(&bits);
    buf_add(to, w->suffixes.p, w->suffixes.n);
    spool_flush(&w->blocks);
    buf_reset(&w->suffixes);
    w->n = 0;
}

static size_t common_prefix(struct str a, struct str b)
{
    size_t n = MIN_OF(a.n, b.n), i = 0;
    while (i < n && a.p[i] == b.p[i]) {
        i++;
    }
    return i;
}

/* What of the term the one before does not tell. */
static void add_suffix(struct terms_writer *w, struct str term, size_t shared)
{
    char *to = buf_reserve(&w->suffixes, term.n + 20);
    if (to == NULL) {
        return;
    }
    size_t n = 0, sizes[2] = {shared, term.n - shared};
    for (size_t k = w->n > 0 ? 0 : 1; k < 2; k++) {
        for (; sizes[k] >= 0x80; sizes[k] >>= 7) {
            to[n++] = (char)(sizes[k] | 0x80);
        }
        to[n++] = (char)sizes[k];
    }
    memcpy(to + n, term.p + shared, term.n - shared);
    w->suffixes.n += n + term.n - shared;
}

void terms_writer_add(struct terms_writer *w, struct str term, const struct term_info *info)
{
    if (w->n == TERMS_BLOCK) {
        flush_terms(w);
    }
    if (w->n_terms == 0) {
        buf_str(&w->first, term);
    }
    size_t shared = w->n > 0 ? common_prefix(buf_view(&w->last), term) : 0;
    add_suffix(w, term, shared);
    buf_truncate(&w->last, MIN_OF(shared, w->last.n));
    buf_str(&w->last, str_slice(term, shared, term.n));
    w->infos[w->n++] = *info;
    w->n_terms++;
    w->sum_df += info->doc_freq;
    w->sum_ttf += info->total_freq;
}

/* The first term of the block that begins at `at`: behind the widths, two bases and the packed infos. */
static struct str first_term(struct str blocks, uint32_t at, uint32_t n)
{
    struct bytes_in in = bytes_in(str_slice(blocks, at, blocks.n));
    unsigned width = 0;
    for (unsigned k = 0; k < 4; k++) {
        width += get_u8(&in);
    }
    get_varint(&in);
    get_varint(&in);
    get_raw(&in, bits_bytes(n, width));
    return get_str(&in);
}

static uint64_t key_of(struct str term, size_t prefix)
{
    uint8_t bytes[8] = {0};
    if (term.n > prefix) {
        memcpy(bytes, term.p + prefix, MIN_OF(term.n - prefix, sizeof(bytes)));
    }
    return __builtin_bswap64(load_u64(bytes));
}

uint32_t terms_writer_finish(struct terms_writer *w)
{
    if (w->n > 0) {
        flush_terms(w);
    }
    struct seg_out *o = w->out;
    struct str blocks = spool_view(&w->blocks);
    if (!seg_out_check(o, &w->offsets) || !seg_out_check(o, &w->first) || !seg_out_check(o, &w->last)
        || !seg_out_check(o, &w->suffixes)) {
        return 0;
    }
    size_t prefix = common_prefix(buf_view(&w->first), buf_view(&w->last));
    buf_truncate(&w->first, prefix);
    size_t n_blocks = w->offsets.n / 4;
    seg_out_begin(o, SECTION_TERMS);
    for (size_t i = 0; i < n_blocks; i++) {
        uint32_t n = (uint32_t)MIN_OF((uint64_t)TERMS_BLOCK, w->n_terms - i * TERMS_BLOCK);
        seg_out_u64(o, key_of(first_term(blocks, load_u32(w->offsets.p + 4 * i), n), prefix));
    }
    seg_out_bytes(o, w->offsets.p, w->offsets.n);
    seg_out_bytes(o, blocks.p, blocks.n);
    return seg_out_end(o);
}
