/* The naive model: everything is looked for by walking all documents. */
#include <check.h>
#include <stdlib.h>

#include "common/base/bits.h"
#include "tests/unit/engine/index/check_segment_int.h"

static void add_hit(struct model *m, struct hit h)
{
    if (m->n_hits == m->cap) {
        m->cap = m->cap == 0 ? 1024 : m->cap * 2;
        m->hits = realloc(m->hits, m->cap * sizeof(*m->hits));
    }
    h.seq = (uint32_t)m->n_hits;
    m->hits[m->n_hits++] = h;
}

static int compare_hits(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    int order = str_cmp(x->term, y->term);
    return order != 0 ? order : x->seq < y->seq ? -1 : 1;
}

/* Occurrences of a field, its lengths, and who has it. */
static void gather(struct model *m, const char *field, uint32_t *lengths, bool *there)
{
    m->n_hits = 0;
    for (doc_id d = 0; d < m->n; d++) {
        int64_t pos = -1, offset = 0;
        for (size_t i = 0; i < m->docs[d].part->n; i++) {
            const struct doc_value *v = &m->docs[d].part->values[i];
            if (!str_is(v->field->path, field) || !(v->to_index || v->to_column)) {
                continue;
            }
            there[d] = true;
            if (v->kind == DOC_TERM) {
                add_hit(m, (struct hit){.term = v->bytes, .doc = d});
                lengths[d]++;
            }
            if (v->kind == DOC_FEATURE) {
                add_hit(m, (struct hit){.term = v->feature.name, .doc = d, .more = v->feature.freq - 1});
            }
            for (uint32_t k = 0; v->kind == DOC_TEXT && k < v->text.n; k++) {
                const struct token *t = &v->text.v[k];
                pos += t->pos_inc;
                lengths[d] += t->pos_inc != 0 || !v->field->similarity.discount_overlaps;
                add_hit(m, (struct hit){t->text, d, 0, (uint32_t)pos, (uint32_t)offset + t->start,
                                        (uint32_t)offset + t->end, 0});
            }
            if (v->kind == DOC_TEXT) {
                pos += v->text.end_pos_inc + v->field->position_increment_gap;
                offset += v->text.end_offset + 1;
            }
        }
    }
    if (m->n_hits > 0) {
        qsort(m->hits, m->n_hits, sizeof(*m->hits), compare_hits);
    }
}

struct posting {
    doc_id doc;
    uint32_t freq;
    const struct hit *hits;
};

/* Every document of [from, to] is beaten by some pair. */
static void check_impacts(const struct seg_field *f, const struct posting *p, size_t n,
                          const struct impact *v, unsigned n_v)
{
    const uint8_t *norms = seg_norms(f);
    ck_assert(n_v >= 1 && n_v <= IMPACTS_MAX);
    for (size_t i = 0; i < n; i++) {
        uint8_t norm = norms != NULL ? norms[p[i].doc] : 1;
        uint32_t freq = f->has & SEG_FREQS ? p[i].freq : 1;
        bool beaten = false;
        for (unsigned k = 0; k < n_v; k++) {
            beaten |= v[k].freq >= freq && v[k].norm <= norm;
        }
        ck_assert_msg(beaten, "%.*s: doc %u of %zu: freq %u norm %u, first of %u: %u, %u", STR_ARG(f->name),
                      p[i].doc, n, freq, norm, n_v, v[0].freq, v[0].norm);
    }
}

/* The current document's positions as a run; a reader that looks at a part of the documents and one that reads all of them come
 * through the same blocks. */
static void check_run(struct position_runs *r, const struct posting *v)
{
    const uint32_t *pos = NULL;
    uint32_t base = 0;
    ck_assert_uint_eq(position_runs_read(r, &pos, &base), v->freq);
    for (uint32_t i = 0; i < v->freq; i++) {
        ck_assert_uint_eq(pos[i] - base, v->hits[i].pos);
    }
}

static void check_skipping(struct model *m, const struct seg_field *f, const struct term_info *t,
                           const struct posting *v, size_t n, struct rng *r)
{
    struct postings p;
    struct positions ps;
    struct position_runs runs;
    postings_init(&p, f, t, true);
    positions_init(&ps, &p, true);
    position_runs_init(&runs, &p);
    size_t at = 0;
    doc_id target = (doc_id)rng_below(r, m->n + 1);
    while (p.doc != DOC_END) {
        while (at < n && v[at].doc < target) {
            at++;
        }
        if (rng_below(r, 2) == 0) {
            doc_id last = postings_shallow(&p, target);
            struct impact impacts[IMPACTS_MAX];
            unsigned n_impacts = postings_block_impacts(&p, impacts);
            ck_assert_int_eq(at == n, last == DOC_END);
            if (at < n) {
                size_t end = at;
                ck_assert_uint_ge(last, v[at].doc);
                while (end < n && v[end].doc <= last) {
                    end++;
                }
                check_impacts(f, v + at, end - at, impacts, n_impacts);
            }
        }
        doc_id doc = postings_seek(&p, target);
        ck_assert_uint_eq(doc, at < n ? v[at].doc : DOC_END);
        if (doc == DOC_END) {
            break;
        }
        ck_assert_uint_eq(postings_freq(&p), f->has & SEG_FREQS ? v[at].freq : 1);
        if ((f->has & SEG_POSITIONS) && rng_below(r, 2) == 0) {
            ck_assert_uint_eq(positions_read(&ps), v[at].freq);
            for (uint32_t i = 0; i < v[at].freq; i++) {
                ck_assert_uint_eq(ps.pos[i], v[at].hits[i].pos);
            }
        }
        for (uint32_t k = (f->has & SEG_POSITIONS) ? (uint32_t)rng_below(r, 3) : 0; k > 0; k--) {
            check_run(&runs, &v[at]);
        }
        if (rng_below(r, 3) == 0) {
            at++;
            doc = postings_next(&p);
            ck_assert_uint_eq(doc, at < n ? v[at].doc : DOC_END);
        }
        target = doc == DOC_END ? doc : doc + 1 + (doc_id)rng_below(r, rng_below(r, 4) == 0 ? m->n : 20);
        target = target < m->n + 5 ? target : m->n + 5;
    }
    ck_assert_uint_eq(postings_next(&p), DOC_END);
    ck_assert(!p.corrupt && !ps.failed && !runs.failed);
    position_runs_fini(&runs);
    positions_fini(&ps);
}

static uint64_t occurrences(const struct hit *hits, size_t n)
{
    uint64_t sum = n;
    for (size_t i = 0; i < n; i++) {
        sum += hits[i].more;
    }
    return sum;
}

static void check_term(struct model *m, const struct seg_field *f, const struct term_info *t,
                       const struct hit *hits, size_t n_hits, struct rng *r)
{
    struct posting *v = calloc(n_hits, sizeof(*v));
    size_t n = 0;
    for (size_t i = 0; i < n_hits; i++) {
        if (n == 0 || v[n - 1].doc != hits[i].doc) {
            v[n++] = (struct posting){hits[i].doc, 0, &hits[i]};
        }
        v[n - 1].freq += 1 + hits[i].more;
    }
    ck_assert_uint_eq(t->doc_freq, n);
    ck_assert_uint_eq(t->total_freq, f->has & SEG_FREQS ? occurrences(hits, n_hits) : n);
    struct postings p;
    struct positions ps;
    struct position_runs runs;
    struct impact impacts[IMPACTS_MAX];
    postings_init(&p, f, t, true);
    positions_init(&ps, &p, true);
    position_runs_init(&runs, &p);
    check_impacts(f, v, n, impacts, postings_all_impacts(&p, impacts));
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(postings_next(&p), v[i].doc);
        ck_assert_uint_eq(postings_freq(&p), f->has & SEG_FREQS ? v[i].freq : 1);
        if (f->has & SEG_POSITIONS) {
            check_run(&runs, &v[i]);
            ck_assert_uint_eq(positions_read(&ps), v[i].freq);
            for (uint32_t k = 0; k < v[i].freq; k++) {
                ck_assert_uint_eq(ps.pos[k], v[i].hits[k].pos);
                if (f->has & SEG_OFFSETS) {
                    ck_assert_uint_eq(ps.start[k], v[i].hits[k].start);
                    ck_assert_uint_eq(ps.end[k], v[i].hits[k].end);
                }
            }
        }
    }
    ck_assert_uint_eq(postings_next(&p), DOC_END);
    ck_assert(!p.corrupt && !ps.failed && !runs.failed);
    position_runs_fini(&runs);
    positions_fini(&ps);
    check_skipping(m, f, t, v, n, r);
    free(v);
}

static void check_lookups(const struct seg_field *f, const struct str *terms, size_t n, struct rng *r)
{
    struct term_iter it;
    struct term_info info;
    struct buf term;
    buf_init(&term, NULL, BUF_UNLIMITED);
    term_iter_init(&it, f);
    for (size_t i = 0; i < n; i++) {
        ck_assert(seg_term(f, terms[i], &info));
        ck_assert_uint_eq(info.ord, i);
        ck_assert(seg_term_by_ord(f, i, &term));
        ck_assert(str_eq(buf_view(&term), terms[i]));
    }
    ck_assert(!seg_term_by_ord(f, n, &term));
    for (int round = 0; round < 300; round++) {
        /* An existing term, changed at its end: mostly absent. */
        buf_reset(&term);
        buf_str(&term, terms[rng_below(r, n)]);
        if (term.n > 0 && rng_below(r, 2) == 0) {
            buf_truncate(&term, rng_below(r, term.n));
        }
        if (rng_below(r, 3) > 0) {
            buf_char(&term, (char)rng_below(r, 256));
        }
        struct str target = buf_view(&term);
        size_t at = 0;
        while (at < n && str_cmp(terms[at], target) < 0) {
            at++;
        }
        bool found = at < n && str_eq(terms[at], target);
        ck_assert_int_eq(seg_term(f, target, &info), found);
        ck_assert(!found || info.ord == at);
        ck_assert_int_eq(term_iter_seek(&it, target), at < n);
        for (int step = 0; step < 40 && at < n; step++, at++) {
            ck_assert(str_eq(it.term, terms[at]));
            ck_assert_uint_eq(it.info.ord, at);
            ck_assert_int_eq(term_iter_next(&it), at + 1 < n);
        }
    }
    term_iter_fini(&it);
    buf_fini(&term);
}

static void check_terms(struct model *m, const char *name, struct rng *r)
{
    uint32_t *lengths = calloc(m->n, sizeof(*lengths));
    bool *there = calloc(m->n, sizeof(*there));
    gather(m, name, lengths, there);
    const struct seg_field *f = segment_field(m->s, str_of(name));
    struct str *terms = calloc(m->n_hits + 1, sizeof(*terms));
    size_t n_terms = 0;
    uint64_t sum_df = 0;
    uint32_t with = 0;
    ck_assert(f != NULL || m->n_hits == 0);
    if (f != NULL && (f->has & (SEG_TERMS | SEG_ORDS))) {
        struct term_iter it;
        bool *seen = calloc(m->n, sizeof(*seen));
        term_iter_init(&it, f);
        for (size_t i = 0; i < m->n_hits;) {
            size_t end = i;
            while (end < m->n_hits && str_eq(m->hits[end].term, m->hits[i].term)) {
                seen[m->hits[end++].doc] = true;
            }
            ck_assert(term_iter_next(&it));
            ck_assert(str_eq(it.term, m->hits[i].term));
            ck_assert_uint_eq(it.info.ord, n_terms);
            check_term(m, f, &it.info, m->hits + i, end - i, r);
            sum_df += it.info.doc_freq;
            terms[n_terms++] = m->hits[i].term;
            i = end;
        }
        ck_assert(!term_iter_next(&it));
        ck_assert(!term_iter_next(&it));
        term_iter_fini(&it);
        for (uint32_t d = 0; d < m->n; d++) {
            with += seen[d];
        }
        free(seen);
        ck_assert_uint_eq(f->n_terms, n_terms);
        ck_assert_uint_eq(f->doc_count, with);
        ck_assert_uint_eq(f->sum_df, sum_df);
        ck_assert_uint_eq(f->sum_ttf, f->has & SEG_FREQS ? occurrences(m->hits, m->n_hits) : sum_df);
        if (n_terms > 0) {
            check_lookups(f, terms, n_terms, r);
        }
    }
    if (f != NULL && (f->has & SEG_NORMS)) {
        const uint64_t *present = seg_norms_present(f);
        for (uint32_t d = 0; d < m->n; d++) {
            ck_assert_int_eq(present == NULL || bits_test(present, d), there[d]);
            ck_assert_uint_eq(seg_norms(f)[d], there[d] ? norm_encode(lengths[d]) : 0);
        }
    }
    free(lengths);
    free(there);
    free(terms);
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t number_of(const struct doc_value *v)
{
    return v->kind == DOC_GEO ? (int64_t)((uint64_t)(uint32_t)v->geo.lat << 32 | (uint32_t)v->geo.lon)
                              : v->num;
}

/* The sorted numbers of a document. */
static uint32_t numbers(const struct model *m, doc_id d, const char *name, int64_t out[40])
{
    uint32_t n = 0;
    for (size_t i = 0; i < m->docs[d].part->n; i++) {
        const struct doc_value *v = &m->docs[d].part->values[i];
        if (str_is(v->field->path, name)) {
            out[n++] = number_of(v);
        }
    }
    qsort(out, n, sizeof(*out), compare_i64);
    return n;
}

static void check_numbers(const struct model *m, const char *name)
{
    const struct seg_field *f = segment_field(m->s, str_of(name));
    struct num_column c;
    num_column_init(&c, f);
    uint32_t with = 0;
    for (doc_id d = 0; d < m->n; d++) {
        int64_t v[40], got;
        uint64_t first = 0;
        uint32_t n = numbers(m, d, name, v);
        with += n > 0;
        ck_assert_uint_eq(num_column_seek(&c, d, &first), n);
        ck_assert_int_eq(num_column_first(&c, d, &got), n > 0);
        const uint64_t *present = num_column_present(&c);
        ck_assert(c.doc_count == 0 || (present == NULL || bits_test(present, d)) == (n > 0));
        for (uint32_t i = 0; i < n; i++) {
            ck_assert_int_eq(num_column_value(&c, first + i), v[i]);
            ck_assert(v[i] >= c.min && v[i] <= c.max);
            ck_assert(i > 0 || got == v[0]);
        }
    }
    ck_assert_uint_eq(c.doc_count, with);
}

static void check_points(const struct model *m, const char *name, struct rng *r)
{
    const struct seg_field *f = segment_field(m->s, str_of(name));
    uint64_t *bits = calloc(bits_words(m->n) + 1, 8);
    for (int round = 0; f != NULL && m->n > 0 && round < 30; round++) {
        int64_t bound[2] = {INT64_MIN, INT64_MAX}, v[40];
        for (int k = 0; k < 2 && round > 0; k++) {
            uint32_t n = numbers(m, (doc_id)rng_below(r, m->n), name, v);
            bound[k] = n > 0 && v[0] != INT64_MAX ? v[0] + (int64_t)rng_below(r, 2) : bound[k];
        }
        uint64_t values = 0;
        memset(bits, 0, bits_words(m->n) * 8);
        seg_points_range(f, bound[0], bound[1], bits);
        for (doc_id d = 0; d < m->n; d++) {
            uint32_t n = numbers(m, d, name, v), in = 0;
            for (uint32_t i = 0; i < n; i++) {
                in += v[i] >= bound[0] && v[i] <= bound[1];
            }
            values += in;
            ck_assert_int_eq(bits_test(bits, d), in > 0);
        }
        ck_assert_uint_ge(seg_points_count(f, bound[0], bound[1]), values);
    }
    free(bits);
}

static void check_ordinals(const struct model *m, const char *name)
{
    const struct seg_field *f = segment_field(m->s, str_of(name));
    struct ord_column c;
    struct buf term;
    buf_init(&term, NULL, BUF_UNLIMITED);
    ord_column_init(&c, f);
    for (doc_id d = 0; d < m->n; d++) {
        uint64_t first = 0, before = 0;
        uint32_t n = ord_column_seek(&c, d, &first), matched = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t ord = ord_column_value(&c, first + i);
            bool found = false;
            ck_assert(i == 0 || ord > before);
            before = ord;
            ck_assert(seg_term_by_ord(f, ord, &term));
            for (size_t k = 0; k < m->docs[d].part->n; k++) {
                const struct doc_value *v = &m->docs[d].part->values[k];
                bool same = str_is(v->field->path, name) && str_eq(v->bytes, buf_view(&term));
                matched += same;
                found |= same;
            }
            ck_assert(found);
        }
        for (size_t k = 0; k < m->docs[d].part->n; k++) {
            matched -= str_is(m->docs[d].part->values[k].field->path, name);
        }
        ck_assert_uint_eq(matched, 0);
    }
    buf_fini(&term);
}

struct circle {
    int32_t lat, lon;
    int64_t r;
};

static enum cell_relation circle_cell(const void *self, int32_t lat_lo, int32_t lat_hi, int32_t lon_lo,
                                      int32_t lon_hi)
{
    const struct circle *c = self;
    if (lat_lo > c->lat + c->r || lat_hi < c->lat - c->r || lon_lo > c->lon + c->r
        || lon_hi < c->lon - c->r) {
        return CELL_OUTSIDE;
    }
    bool inside = lat_lo >= c->lat - c->r && lat_hi <= c->lat + c->r && lon_lo >= c->lon - c->r
                  && lon_hi <= c->lon + c->r;
    return inside ? CELL_INSIDE : CELL_CROSSES;
}

static bool circle_point(const void *self, int32_t lat, int32_t lon)
{
    return circle_cell(self, lat, lat, lon, lon) == CELL_INSIDE;
}

static void check_geo(const struct model *m, struct rng *r)
{
    const struct seg_field *f = segment_field(m->s, STR("loc"));
    uint64_t *bits = calloc(bits_words(m->n) + 1, 8);
    for (int round = 0; f != NULL && round < 20; round++) {
        struct circle c = {(int32_t)rng_u64(r) >> rng_below(r, 20), (int32_t)rng_u64(r) >> rng_below(r, 20),
                           (int64_t)(rng_u64(r) >> (31 + rng_below(r, 30)))};
        struct geo_visitor visitor = {&c, circle_cell, circle_point};
        memset(bits, 0, bits_words(m->n) * 8);
        seg_geo_visit(f, &visitor, bits);
        for (doc_id d = 0; d < m->n; d++) {
            int64_t v[40];
            uint32_t n = numbers(m, d, "loc", v);
            bool in = false;
            for (uint32_t i = 0; i < n; i++) {
                in |= circle_point(&c, (int32_t)(v[i] >> 32), (int32_t)(uint32_t)v[i]);
            }
            ck_assert_int_eq(bits_test(bits, d), in);
        }
    }
    free(bits);
}

void check_segment(const struct segment *s, struct made_doc *const *docs, size_t n)
{
    struct model m = {.s = s};
    struct rng r;
    rng_seed(&r, n);
    for (size_t i = 0; i < n; i++) {
        m.n += (uint32_t)docs[i]->doc.n_parts;
    }
    m.docs = calloc(m.n + 1, sizeof(*m.docs));
    doc_id d = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < docs[i]->doc.n_parts; k++) {
            m.docs[d++] = (struct flat){&docs[i]->doc.parts[k], docs[i], k + 1 == docs[i]->doc.n_parts};
        }
    }
    ck_assert_uint_eq(segment_doc_count(s), m.n);
    check_documents(&m);
    static const char *const terms[] = {"body", "offs", "freq", "tag", "ips", "feat"};
    static const char *const nums[] = {"dense", "multi", "rare", "few", "loc"};
    for (size_t i = 0; i < 5; i++) {
        check_terms(&m, terms[i], &r);
        check_numbers(&m, nums[i]);
    }
    check_points(&m, "dense", &r);
    check_points(&m, "multi", &r);
    check_points(&m, "few", &r);
    check_ordinals(&m, "tag");
    check_ordinals(&m, "ips");
    check_geo(&m, &r);
    check_bytes(&m);
    check_completions(&m);
    free(m.docs);
    free(m.hits);
}
