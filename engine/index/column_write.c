#include "engine/index/column_write.h"

enum err index_gather_init(struct index_gather *g, struct seg_out *o, uint32_t doc_count)
{
    *g = (struct index_gather){.out = o, .doc_count = doc_count};
    size_t bytes = MAX_OF(bits_words(doc_count), (size_t)1) * sizeof(uint64_t);
    g->present = alloc_get(alloc_default(), bytes);
    if (g->present == NULL) {
        return seg_out_fail(o, err_no_memory(o->em));
    }
    memset(g->present, 0, bytes);
    return ERR_OK;
}

void index_gather_fini(struct index_gather *g)
{
    alloc_put(alloc_default(), g->present);
    g->present = NULL;
}

void index_gather_write(struct index_gather *g, struct buf *meta)
{
    bool dense = g->docs == g->doc_count;
    put_varint(meta, g->docs);
    put_varint(meta, g->n_values);
    put_u8(meta, (uint8_t)((g->multi ? 1 : 0) | (dense ? 2 : 0)));
    if (dense) {
        return;
    }
    size_t words = bits_words(g->doc_count);
    seg_out_bytes(g->out, g->present, words * sizeof(uint64_t));
    uint32_t rank = 0;
    for (size_t i = 0; i < words; i++) {
        seg_out_u32(g->out, rank);
        rank += (uint32_t)__builtin_popcountll(g->present[i]);
    }
    seg_out_align(g->out, 8);
}

/* What is known of all values after the first pass. */
struct num_stats {
    bool any;
    int64_t min, max, first;
    uint64_t gcd;
    int64_t distinct[NUM_TABLE_MAX]; /* sorted */
    int32_t last;                    /* index of the last value found there */
    uint32_t n_distinct;             /* NUM_TABLE_MAX + 1: too many */
};

static uint64_t gcd_of(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void see_distinct(struct num_stats *s, int64_t v)
{
    if (s->n_distinct > NUM_TABLE_MAX || (s->last >= 0 && s->distinct[s->last] == v)) {
        return;
    }
    uint32_t lo = 0, hi = s->n_distinct;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (s->distinct[mid] < v) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    if (lo == s->n_distinct || s->distinct[lo] != v) {
        if (s->n_distinct == NUM_TABLE_MAX) {
            s->n_distinct++;
            return;
        }
        memmove(s->distinct + lo + 1, s->distinct + lo, (s->n_distinct - lo) * sizeof(v));
        s->distinct[lo] = v;
        s->n_distinct++;
    }
    s->last = (int32_t)lo;
}

static void column_note_value(struct num_stats *s, int64_t v)
{
    if (!s->any) {
        *s = (struct num_stats){.any = true, .min = v, .max = v, .first = v, .last = -1};
    }
    s->min = MIN_OF(s->min, v);
    s->max = MAX_OF(s->max, v);
    if (s->gcd != 1) {
        uint64_t diff = v >= s->first ? (uint64_t)v - (uint64_t)s->first : (uint64_t)s->first - (uint64_t)v;
        if (s->gcd == 0 || diff % s->gcd != 0) {
            s->gcd = gcd_of(diff, s->gcd);
        }
    }
    see_distinct(s, v);
}

static void write_starts(struct seg_out *o, const struct num_source *src, const struct index_gather *g)
{
    struct seg_bits bits = seg_bits(o);
    unsigned width = index_gather_width(g);
    uint64_t start = 0;
    doc_id doc;
    const int64_t *v;
    uint32_t n;
    src->rewind(src->self);
    while (src->next(src->self, &doc, &v, &n)) {
        seg_bits_put(&bits, start, width);
        start += n;
    }
    seg_bits_put(&bits, start, width);
    seg_bits_end(&bits);
}

static uint64_t table_index(const struct num_stats *s, int64_t v)
{
    uint32_t lo = 0, n = s->n_distinct;
    while (n > 1) {
        uint32_t half = n / 2;
        lo += s->distinct[lo + half] <= v ? half : 0;
        n -= half;
    }
    return lo;
}

static void write_values(struct seg_out *o, const struct num_source *src, const struct num_stats *s,
                         bool table, uint64_t gcd, unsigned width)
{
    struct seg_bits bits = seg_bits(o);
    doc_id doc;
    const int64_t *v;
    uint32_t n;
    src->rewind(src->self);
    while (src->next(src->self, &doc, &v, &n)) {
        for (uint32_t i = 0; i < n; i++) {
            uint64_t above = (uint64_t)v[i] - (uint64_t)s->min;
            seg_bits_put(&bits, table ? table_index(s, v[i]) : gcd == 1 ? above : above / gcd, width);
        }
    }
    seg_bits_end(&bits);
}

/* The table has an entry for every number of that width, so that no index misses it. */
static void write_table(struct seg_out *o, const struct num_stats *s, unsigned width)
{
    for (uint32_t i = 0; i < (uint32_t)1 << width; i++) {
        seg_out_u64(o, (uint64_t)s->distinct[MIN_OF(i, s->n_distinct - 1)]);
    }
}

void num_column_write(struct seg_out *o, const struct num_source *src, enum section_kind kind,
                      uint32_t doc_count, struct buf *meta)
{
    struct index_gather g;
    struct num_stats *s = alloc_get(alloc_default(), sizeof(*s));
    if (s == NULL || index_gather_init(&g, o, doc_count) != ERR_OK) {
        seg_out_fail(o, err_no_memory(o->em));
        alloc_put(alloc_default(), s);
        return;
    }
    memset(s, 0, sizeof(*s));
    doc_id doc;
    const int64_t *v;
    uint32_t n;
    src->rewind(src->self);
    while (src->next(src->self, &doc, &v, &n)) {
        index_gather_add(&g, doc, n);
        for (uint32_t i = 0; i < n; i++) {
            column_note_value(s, v[i]);
        }
    }
    uint64_t gcd = MAX_OF(s->gcd, (uint64_t)1);
    unsigned scaled = bits_field_width(bits_width(((uint64_t)s->max - (uint64_t)s->min) / gcd));
    unsigned tabled = s->n_distinct > NUM_TABLE_MAX || !s->any ? 64 : bits_width(s->n_distinct - 1);
    /* A table costs its own bytes and a look-up: it must save a quarter at least. */
    bool table = tabled + 2 < scaled && tabled * 4 <= scaled * 3
                 && g.n_values * (scaled - tabled) / 8 > (uint64_t)8 << tabled;
    unsigned width = table ? tabled : scaled;
    seg_out_begin(o, kind);
    struct buf index_meta;
    buf_init(&index_meta, NULL, BUF_UNLIMITED);
    index_gather_write(&g, &index_meta);
    if (g.multi) {
        write_starts(o, src, &g);
    }
    if (table) {
        write_table(o, s, width);
    }
    write_values(o, src, s, table, gcd, width);
    put_varint(meta, seg_out_end(o));
    buf_add(meta, index_meta.p, index_meta.n);
    put_zigzag(meta, s->min);
    put_zigzag(meta, s->max);
    put_u8(meta, table ? NUM_TABLE : NUM_SCALED);
    put_u8(meta, (uint8_t)width);
    put_varint(meta, gcd);
    seg_out_check(o, &index_meta);
    buf_fini(&index_meta);
    index_gather_fini(&g);
    alloc_put(alloc_default(), s);
}
