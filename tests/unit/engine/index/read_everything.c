/* Everything that a segment offers, read once; with damaged bytes it must neither crash nor loop. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/bits.h"
#include "common/base/hash.h"
#include "engine/index/completion.h"
#include "engine/index/format.h"
#include "tests/unit/engine/index/random_docs.h"

static uint64_t read_postings(const struct seg_field *f, const struct term_info *info)
{
    struct postings p;
    struct positions ps;
    struct position_runs runs;
    struct impact impacts[IMPACTS_MAX];
    uint64_t sum = 0, steps = 0;
    doc_id last = 0, count = segment_doc_count(f->segment);
    postings_init(&p, f, info, true);
    positions_init(&ps, &p, true);
    position_runs_init(&runs, &p);
    sum += postings_all_impacts(&p, impacts);
    for (doc_id d = 0; d < count && (d = postings_shallow(&p, d)) != DOC_END; d++) {
        ck_assert_uint_lt(d, count);
        sum += postings_block_impacts(&p, impacts) + impacts[0].freq;
        if (++steps > count) {
            break;
        }
    }
    while (postings_next(&p) != DOC_END) {
        ck_assert(p.doc < count && (steps == 0 || p.doc >= last));
        last = p.doc;
        sum += postings_freq(&p);
        uint32_t n = positions_read(&ps);
        for (uint32_t i = 0; i < n; i++) {
            sum += ps.pos[i];
        }
        if ((f->has & SEG_POSITIONS) && p.doc % 3 != 1) {
            const uint32_t *v;
            uint32_t base;
            n = position_runs_read(&runs, &v, &base);
            for (uint32_t i = 0; i < (n > 0 ? n + POSITION_RUNS_SLACK : 0); i++) {
                sum += v[i] - base;
            }
        }
    }
    postings_init(&p, f, info, false);
    for (doc_id d = postings_seek(&p, 3); d != DOC_END; d = postings_seek(&p, d + 7)) {
        ck_assert(d < count);
        sum += d;
    }
    position_runs_fini(&runs);
    positions_fini(&ps);
    return sum;
}

static uint64_t read_terms(const struct seg_field *f)
{
    struct term_iter it;
    struct term_info info;
    struct buf term;
    uint64_t sum = 0;
    buf_init(&term, NULL, BUF_UNLIMITED);
    term_iter_init(&it, f);
    while (term_iter_next(&it)) {
        sum += read_postings(f, &it.info);
        sum += seg_term(f, it.term, &info);
        sum += seg_term_by_ord(f, it.info.ord, &term);
    }
    static const char *const targets[] = {"", "a", "a1", "a-rather-long-common", "b7", "zz", "doc-000100"};
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        sum += term_iter_seek(&it, str_of(targets[i])) + seg_term(f, str_of(targets[i]), &info);
        for (int k = 0; k < 3; k++) {
            sum += term_iter_next(&it);
        }
    }
    term_iter_fini(&it);
    buf_fini(&term);
    return sum;
}

static uint64_t read_columns(const struct seg_field *f)
{
    struct num_column c;
    struct ord_column o;
    struct str a, b;
    uint64_t sum = 0, first = 0;
    num_column_init(&c, f->has & SEG_NUMS ? f : NULL);
    ord_column_init(&o, f->has & SEG_ORDS ? f : NULL);
    for (doc_id d = 0; d < segment_doc_count(f->segment); d++) {
        uint32_t n = num_column_seek(&c, d, &first);
        for (uint32_t i = 0; i < n; i++) {
            sum += (uint64_t)num_column_value(&c, first + i);
        }
        n = ord_column_seek(&o, d, &first);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t ord = ord_column_value(&o, first + i);
            ck_assert(ord < o.n_ords || o.n_ords == 0);
            sum += ord;
        }
        for (uint32_t i = 0; seg_bytes_value(f, d, i, &a); i++) {
            sum += a.n > 0 ? (uint8_t)a.p[a.n - 1] : 0;
        }
        for (uint32_t i = 0; seg_range_value(f, d, i, &a, &b); i++) {
            sum += (uint8_t)b.p[b.n - 1];
        }
        if (seg_norms(f) != NULL) {
            sum += seg_norms(f)[d];
            sum += seg_norms_present(f) != NULL && bits_test(seg_norms_present(f), d);
        }
    }
    return sum;
}

static enum cell_relation some_cells(const void *self, int32_t lat_lo, int32_t lat_hi, int32_t lon_lo,
                                     int32_t lon_hi)
{
    (void)self;
    (void)lon_hi;
    return lat_lo > lat_hi || lon_lo > 1 << 30 ? CELL_INSIDE : CELL_CROSSES;
}

static bool some_points(const void *self, int32_t lat, int32_t lon)
{
    (void)self;
    return lat > lon;
}

static uint64_t read_spaces(const struct seg_field *f)
{
    uint32_t n = segment_doc_count(f->segment);
    uint64_t *bits = calloc(bits_words(n) + 1, 8), sum = 0;
    int64_t min, max;
    struct geo_visitor v = {NULL, some_cells, some_points};
    sum += seg_points_bounds(f, &min, &max);
    seg_points_range(f, -1000, 20000, bits);
    seg_points_range(f, INT64_MIN, INT64_MAX, bits);
    sum += seg_points_count(f, 0, 1000);
    seg_geo_visit(f, &v, bits);
    sum += bits_count(bits, n);
    free(bits);
    struct completion_iter it;
    completion_iter_init(&it, seg_completion_bytes(f));
    while (completion_iter_next(&it)) {
        sum += it.entry.weight + it.entry.path.n;
    }
    completion_iter_fini(&it);
    return sum;
}

static uint64_t read_documents(const struct segment *s)
{
    uint64_t sum = 0;
    uint32_t n = segment_doc_count(s);
    struct stored_reader r;
    struct arena arena;
    stored_reader_init(&r, s);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    for (doc_id d = 0; d < n; d++) {
        struct stored_doc doc;
        sum += stored_read(&r, d, STORED_ID | STORED_SOURCE | STORED_VALUES, &arena, &doc, NULL) == ERR_OK;
        sum += doc.source.n + (segment_roots(s) != NULL && bits_test(segment_roots(s), d));
    }
    stored_reader_fini(&r);
    arena_fini(&arena);
    return sum;
}

static uint64_t read_ids(const struct segment *s)
{
    uint64_t sum = 0;
    doc_id doc = 0;
    for (unsigned i = 0; i < 300; i++) {
        char id[16];
        int n = snprintf(id, sizeof(id), "doc-%06u", i * 7907 % 999983);
        sum = 31 * sum + (seg_find_id(s, str_mk(id, (size_t)n), NULL, &doc) ? doc + 1 : 0);
    }
    return sum + seg_find_id(s, STR("x"), NULL, &doc);
}

uint32_t read_parts(const struct segment *s)
{
    return 2 + 3 * segment_field_count(s);
}

uint64_t read_part(const struct segment *s, uint32_t part)
{
    if (part < 2) {
        return part == 0 ? read_documents(s) : read_ids(s);
    }
    const struct seg_field *f = segment_field_at(s, (part - 2) / 3);
    return part % 3 == 2 ? read_terms(f) : part % 3 == 0 ? read_columns(f) : read_spaces(f);
}

uint64_t read_everything(const struct segment *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < read_parts(s); i++) {
        sum += read_part(s, i);
    }
    return sum;
}

void mend_segment(char *p, size_t n)
{
    char *footer = p + n - SEG_FOOTER_BYTES;
    uint64_t table = load_u64(footer), sections = load_u32(footer + 8);
    if (table > n - SEG_FOOTER_BYTES || n - SEG_FOOTER_BYTES - table != sections * SEG_ENTRY_BYTES) {
        return;
    }
    uint64_t sums = load_u64(footer + 32), blocks = (sums + SEG_BLOCK_BYTES - 1) / SEG_BLOCK_BYTES;
    if (sums > table || table - sums < 8 * blocks) {
        return;
    }
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t from = i * SEG_BLOCK_BYTES;
        store_u64(p + sums + 8 * i, hash_bytes(p + from, MIN_OF(SEG_BLOCK_BYTES, sums - from), i));
    }
    store_u64(footer + 40, hash_bytes(p + sums, 8 * blocks, 0));
    store_u64(footer + 16, hash_bytes(p + table, n - SEG_FOOTER_BYTES - table, 0));
    store_u64(footer + 48, hash_bytes(footer, 48, 0));
}
