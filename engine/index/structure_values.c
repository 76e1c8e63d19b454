/* Values by document, and documents by value. */
#include "engine/index/structure_int.h"

#include "engine/index/completion.h"

/* ---- columns ---- */

struct seen { /* of a column, document by document */
    uint64_t docs, values;
    int64_t min, max;
};

static bool check_counts(struct structure *x, const char *kind, const struct seen *n, uint64_t docs,
                         uint64_t values)
{
    return (n->docs == docs && n->values == values)
           || structure_wrong(x,
                              "%s: [%llu] values in [%llu] documents, and the directory has [%llu] in [%llu]",
                              kind, (unsigned long long)n->values, (unsigned long long)n->docs,
                              (unsigned long long)values, (unsigned long long)docs);
}

/* The values of a document, which ascend. */
static bool check_numbers(struct structure *x, const struct num_column *c, doc_id doc, struct seen *n)
{
    uint64_t first = n->values;
    uint32_t count = num_column_seek(c, doc, &first);
    if (count > 0 && first != n->values) {
        return structure_wrong(
            x, "column: the values of document [%u] are not behind those of the one before", doc);
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t v = num_column_value(c, first + i);
        if (v < c->min || v > c->max || (i > 0 && v < num_column_value(c, first + i - 1))) {
            return structure_wrong(x, "column: document [%u] has a value out of its order or bounds", doc);
        }
        n->min = n->values + i == 0 ? v : MIN_OF(n->min, v);
        n->max = n->values + i == 0 ? v : MAX_OF(n->max, v);
    }
    n->docs += count > 0;
    n->values += count;
    return true;
}

static bool check_column(struct structure *x, const struct num_column *c, const char *kind)
{
    struct seen n = {0};
    for (doc_id d = 0; d < x->s->doc_count && structure_ok(x); d++) {
        if (!check_numbers(x, c, d, &n)) {
            return false;
        }
    }
    if (!structure_ok(x) || !check_counts(x, kind, &n, c->doc_count, c->n_values)) {
        return false;
    }
    return n.values == 0 || (n.min == c->min && n.max == c->max)
           || structure_wrong(x, "%s: the least or the greatest value is not there", kind);
}

/* Each ordinal names a term, no document has one twice, and as many have it as the term's postings say. */
static bool check_ordinals(struct structure *x, const struct seg_field *f, const struct num_column *c)
{
    for (doc_id d = 0; d < x->s->doc_count && structure_ok(x); d++) {
        uint64_t first = 0;
        uint32_t count = num_column_seek(c, d, &first);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t ord = (uint64_t)num_column_value(c, first + i);
            if (ord >= f->n_terms || (i > 0 && ord == (uint64_t)num_column_value(c, first + i - 1))
                || x->term_docs[ord] == 0) {
                return structure_wrong(x, "ordinals: document [%u] has a term that does not have it", d);
            }
            x->term_docs[ord]--;
        }
    }
    for (uint64_t i = 0; i < f->n_terms && structure_ok(x); i++) {
        if (x->term_docs[i] != 0) {
            return structure_wrong(x, "ordinals: term [%llu] has documents that do not have it",
                                   (unsigned long long)i);
        }
    }
    return structure_ok(x);
}

static bool check_bytes(struct structure *x, const struct bytes_meta *m, bool ranges)
{
    struct seen n = {0};
    const char *kind = ranges ? "ranges" : "binary column";
    uint64_t bytes = 0;
    for (doc_id d = 0; d < x->s->doc_count && structure_ok(x); d++) {
        struct str v;
        uint64_t first = n.values;
        uint32_t count = value_index_seek(&m->index, d, &first);
        for (uint32_t i = 0; i < count; i++) {
            if (first != n.values || !bytes_meta_value(x->s, m, d, i, &v)
                || (const uint8_t *)v.p != m->data + bytes || (ranges && v.n != 16 && v.n != 32)) {
                return structure_ok(x)
                       && structure_wrong(x, "%s: a value of document [%u] is not where it should be", kind,
                                          d);
            }
            bytes += v.n;
        }
        n.docs += count > 0;
        n.values += count;
    }
    return structure_ok(x) && check_counts(x, kind, &n, m->index.doc_count, m->index.n_values)
           && (bytes == m->data_n || structure_wrong(x, "%s: bytes that belong to no document", kind));
}

/* ---- points ---- */

static bool has_value(const struct num_column *c, doc_id doc, int64_t value)
{
    uint64_t first = 0;
    uint32_t n = num_column_seek(c, doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        if (num_column_value(c, first + i) == value) {
            return true;
        }
    }
    return false;
}

static bool check_point(struct structure *x, const struct points_meta *m, const struct num_column *c,
                        int64_t value, doc_id doc)
{
    if (value < m->min || value > m->max || (m->single && bits_test(x->docs, doc))) {
        return structure_wrong(x, "points: document [%u] has a value too many, or out of bounds", doc);
    }
    bits_set(x->docs, doc);
    return c->field == NULL || has_value(c, doc, value)
           || structure_wrong(x, "points: document [%u] has a value that its column has not", doc);
}

static bool check_points(struct structure *x, const struct seg_field *f)
{
    const struct points_meta *m = &impl_of(f)->points;
    struct points_iter it = {.field = f};
    struct num_column c;
    int64_t value, before = 0;
    uint64_t n = 0;
    doc_id doc;
    num_column_init(&c, f->has & SEG_NUMS ? f : NULL);
    structure_clear(x);
    while (points_iter_next(&it, &value, &doc)) {
        if (n++ > 0 && value < before) {
            return structure_wrong(x, "points: values do not ascend");
        }
        before = value;
        if (!check_point(x, m, &c, value, doc)) {
            return false;
        }
    }
    if (!structure_ok(x)) {
        return false;
    }
    return (!it.corrupt && n == m->n && (c.field == NULL || n == c.n_values))
           || structure_wrong(x, "points: [%llu], and [%llu] were said to be there", (unsigned long long)n,
                              (unsigned long long)m->n);
}

/* ---- places ---- */

static int32_t edge(const struct geo_meta *m, uint64_t box, unsigned i)
{
    return (int32_t)load_u32(m->boxes + 16 * box + 4 * i);
}

static bool box_within(const struct geo_meta *m, uint64_t inner, uint64_t outer)
{
    return edge(m, inner, 0) >= edge(m, outer, 0) && edge(m, inner, 1) <= edge(m, outer, 1)
           && edge(m, inner, 2) >= edge(m, outer, 2) && edge(m, inner, 3) <= edge(m, outer, 3);
}

/* Each box lies in that of the next level. */
static bool check_boxes(struct structure *x, const struct geo_meta *m)
{
    for (uint64_t begin = 0, n = m->n_leaves; n > 1;) {
        for (uint64_t i = 0; i < n; i++) {
            if (!box_within(m, begin + i, begin + n + i / GEO_FAN)) {
                return structure_wrong(x, "places: a box is not in the one above it");
            }
        }
        begin += n;
        n = (n + GEO_FAN - 1) / GEO_FAN;
    }
    return true;
}

static bool check_geo(struct structure *x, const struct seg_field *f)
{
    const struct geo_meta *m = &impl_of(f)->geo;
    struct geo_iter it = {.field = f};
    struct num_column c;
    int32_t lat, lon;
    uint64_t n = 0;
    doc_id doc;
    num_column_init(&c, f->has & SEG_NUMS ? f : NULL);
    while (geo_iter_next(&it, &lat, &lon, &doc)) {
        uint64_t leaf = n++ / POINTS_BLOCK;
        int64_t packed = (int64_t)((uint64_t)(uint32_t)lat << 32 | (uint32_t)lon);
        if (doc >= x->s->doc_count || (c.field != NULL && !has_value(&c, doc, packed))) {
            return structure_wrong(x, "places: document [%u] has one that its column has not", doc);
        }
        if (lat < edge(m, leaf, 0) || lat > edge(m, leaf, 1) || lon < edge(m, leaf, 2)
            || lon > edge(m, leaf, 3)) {
            return structure_wrong(x, "places: document [%u] lies outside of its box", doc);
        }
    }
    if (!structure_ok(x)) {
        return false;
    }
    if (it.corrupt || n != m->n || (c.field != NULL && n != c.n_values)) {
        return structure_wrong(x, "places: [%llu], and [%llu] were said to be there", (unsigned long long)n,
                               (unsigned long long)m->n);
    }
    return check_boxes(x, m);
}

/* ---- completions ---- */

static bool check_completion(struct structure *x, const struct seg_field *f)
{
    struct completion_iter it;
    bool ok = true;
    completion_iter_init(&it, seg_completion_bytes(f));
    while (ok && completion_iter_next(&it)) {
        ok = it.entry.doc < x->s->doc_count
             || structure_wrong(x, "completions: document [%u], which there is not", it.entry.doc);
    }
    ok = ok && structure_ok(x) && (!it.corrupt || structure_wrong(x, "completions: bytes that mean nothing"));
    completion_iter_fini(&it);
    return ok;
}

/* ---- all of a field ---- */

bool structure_values(struct structure *x, const struct seg_field *f)
{
    struct num_column c;
    struct ord_column o;
    bool ok = structure_ok(x);
    if (ok && (f->has & SEG_NUMS) != 0) {
        num_column_init(&c, f);
        ok = structure_ok(x) && check_column(x, &c, "column");
    }
    if (ok && (f->has & SEG_ORDS) != 0) {
        ord_column_init(&o, f);
        ok = structure_ok(x) && check_column(x, &o.nums, "ordinals") && check_ordinals(x, f, &o.nums);
    }
    ok = ok && (!(f->has & SEG_BYTES) || check_bytes(x, &impl_of(f)->bytes, false));
    ok = ok && (!(f->has & SEG_RANGES) || check_bytes(x, &impl_of(f)->ranges, true));
    ok = ok && (!(f->has & SEG_POINTS) || check_points(x, f));
    ok = ok && (!(f->has & SEG_GEO) || check_geo(x, f));
    return ok && (!(f->has & SEG_COMPLETION) || check_completion(x, f));
}
