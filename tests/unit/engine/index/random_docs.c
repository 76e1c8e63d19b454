#include "tests/unit/engine/index/random_docs.h"

#include <check.h>
#include <stdio.h>

#include "common/base/bits.h"
#include "engine/mapping/field_class.h"

#define FIELDS 15

static struct field fields[FIELDS] = {
    {.path = {"body", 4},
     .class = &field_class_text,
     .options = INDEX_POSITIONS,
     .index = true,
     .norms = true,
     .similarity = {.discount_overlaps = true},
     .position_increment_gap = 100},
    {.path = {"offs", 4},
     .class = &field_class_text,
     .options = INDEX_OFFSETS,
     .index = true,
     .norms = false,
     .position_increment_gap = 3},
    {.path = {"freq", 4}, .class = &field_class_text, .options = INDEX_FREQS, .index = true, .norms = true},
    {.path = {"tag", 3},
     .class = &field_class_keyword,
     .options = INDEX_DOCS,
     .index = true,
     .doc_values = true},
    {.path = {"dense", 5}, .class = &field_class_long, .index = true, .doc_values = true},
    {.path = {"multi", 5}, .class = &field_class_long, .index = true, .doc_values = true},
    {.path = {"rare", 4}, .class = &field_class_long, .index = false, .doc_values = true},
    {.path = {"few", 3}, .class = &field_class_double, .index = true, .doc_values = true},
    {.path = {"loc", 3}, .class = &field_class_geo_point, .index = true, .doc_values = true},
    {.path = {"bin", 3}, .class = &field_class_binary, .doc_values = true},
    {.path = {"span", 4}, .class = &field_class_long_range, .index = true, .doc_values = true},
    {.path = {"kept", 4}, .class = &field_class_keyword, .store = true},
    {.path = {"comp", 4}, .class = &field_class_completion, .index = true},
    {.path = {"feat", 4}, .class = &field_class_rank_features},
    {.path = {"ips", 3}, .class = &field_class_ip, .index = true, .doc_values = true},
};
static struct field child = {.path = {"child", 5}, .class = &field_class_nested};

enum { BODY, OFFS, FREQ, TAG, DENSE, MULTI, RARE, FEW, LOC, BIN, SPAN, KEPT, COMP, FEAT, IPS };

void doc_maker_init(struct doc_maker *m, uint64_t seed)
{
    *m = (struct doc_maker){.words = 300, .length = 12};
    rng_seed(&m->rng, seed);
    arena_init(&m->arena, NULL, ARENA_UNLIMITED);
}

void doc_maker_fini(struct doc_maker *m)
{
    arena_fini(&m->arena);
}

/* Small numbers are frequent. */
static uint32_t skewed(struct rng *r, uint32_t n)
{
    double u = rng_double(r);
    return (uint32_t)(u * u * u * n);
}

static struct str word(struct doc_maker *m)
{
    uint32_t w = skewed(&m->rng, m->words);
    if (w % 97 == 13) {
        return arena_printf(&m->arena, "a-rather-long-common-prefix-of-terms-%u", w);
    }
    return w == 7 ? STR("") : arena_printf(&m->arena, "%c%u", 'a' + (int)(w % 5), w * 7919 % 1000003);
}

static void fill_text(struct doc_maker *m, struct doc_value *v)
{
    uint32_t n = (uint32_t)rng_below(&m->rng, m->length + 1), at = 0;
    struct token *t = ARENA_ARRAY(&m->arena, struct token, n);
    for (uint32_t i = 0; i < n; i++) {
        at += (uint32_t)rng_below(&m->rng, 3);
        t[i].text = word(m);
        t[i].start = at;
        t[i].end = at + (uint32_t)t[i].text.n;
        t[i].pos_inc = i == 0 ? 1 + (int32_t)rng_below(&m->rng, 2) : (int32_t)rng_below(&m->rng, 3);
        at += (uint32_t)rng_below(&m->rng, 4);
    }
    v->kind = DOC_TEXT;
    v->to_index = true;
    v->text.v = t;
    v->text.n = n;
    v->text.end_pos_inc = (int32_t)rng_below(&m->rng, 2);
    v->text.end_offset = at + 40;
    v->text.raw = STR("raw text");
}

static struct doc_value *add(struct doc_value *v, size_t *n, int field)
{
    struct doc_value *to = &v[(*n)++];
    *to = (struct doc_value){.field = &fields[field],
                             .to_index = fields[field].index,
                             .to_column = fields[field].doc_values,
                             .to_store = fields[field].store};
    return to;
}

static void add_num(struct doc_value *v, size_t *n, int field, int64_t num)
{
    struct doc_value *to = add(v, n, field);
    to->kind = DOC_NUM;
    to->num = num;
}

static void add_bytes(struct doc_value *v, size_t *n, int field, enum doc_value_kind kind, struct str s)
{
    struct doc_value *to = add(v, n, field);
    to->kind = kind;
    to->bytes = s;
}

static void add_texts(struct doc_maker *m, struct doc_value *v, size_t *n)
{
    for (int f = BODY; f <= FREQ; f++) {
        for (uint64_t k = rng_below(&m->rng, f == BODY ? 4 : 2); k > 0; k--) {
            fill_text(m, add(v, n, f));
        }
    }
}

static void add_features(struct doc_maker *m, struct doc_value *v, size_t *n)
{
    struct rng r; /* of its own: the other values stay what they are without features */
    rng_seed(&r, m->made);
    for (uint64_t k = rng_below(&r, 4); k > 0; k--) {
        struct doc_value *to = add(v, n, FEAT);
        to->kind = DOC_FEATURE;
        to->to_index = true;
        to->feature.name = arena_printf(&m->arena, "feature%u", skewed(&r, 20));
        to->feature.freq = 1 + (uint32_t)rng_below(&r, rng_below(&r, 3) == 0 ? 3 : 65280);
    }
}

static void add_columns(struct doc_maker *m, struct doc_value *v, size_t *n)
{
    struct rng *r = &m->rng;
    add_num(v, n, DENSE, (int64_t)(m->made * 1000) - 5000);
    for (uint64_t k = rng_below(r, 4); k > 0; k--) {
        add_num(v, n, MULTI, (int64_t)rng_below(r, 50) * 1000000007 - 123);
    }
    if (rng_below(r, 20) == 0) {
        add_num(v, n, RARE, (int64_t)rng_u64(r));
    }
    if (rng_below(r, 3) > 0) {
        static const int64_t values[] = {INT64_MIN, -1, 0, 4607182418800017408, INT64_MAX};
        add_num(v, n, FEW, values[rng_below(r, 5)]);
    }
    for (uint64_t k = rng_below(r, 3); k > 0; k--) {
        struct doc_value *to = add(v, n, LOC);
        to->kind = DOC_GEO;
        to->geo.lat = (int32_t)rng_u64(r) >> rng_below(r, 20);
        to->geo.lon = (int32_t)rng_u64(r) >> rng_below(r, 20);
    }
    for (uint64_t k = rng_below(r, 4); k > 0; k--) {
        add_bytes(v, n, TAG, DOC_TERM, word(m));
    }
    if (rng_below(r, 4) == 0) {
        char *p = arena_alloc(&m->arena, 16);
        memset(p, (int)rng_below(r, 7), 16);
        add_bytes(v, n, IPS, DOC_TERM, str_mk(p, 16));
    }
    for (uint64_t k = rng_below(r, 3); k > 0; k--) {
        add_bytes(v, n, BIN, DOC_BYTES, word(m));
    }
    if (rng_below(r, 3) == 0) {
        struct doc_value *to = add(v, n, SPAN);
        to->kind = DOC_RANGE;
        to->range.from = (int64_t)rng_below(r, 100) - 50;
        to->range.to = to->range.from + 10;
    }
    for (uint64_t k = rng_below(r, 3); k > 0; k--) {
        struct doc_value *to = add(v, n, COMP);
        struct str *paths = ARENA_ARRAY(&m->arena, struct str, 2);
        paths[0] = word(m);
        paths[1] = word(m);
        to->kind = DOC_COMPLETION;
        to->completion.input = word(m);
        to->completion.paths = paths;
        to->completion.n_paths = 1 + (uint32_t)rng_below(r, 2);
        to->completion.weight = (uint32_t)rng_below(r, 9);
        to->completion.contexts = paths;
        to->completion.n_contexts = (uint32_t)rng_below(r, 2);
    }
    add_features(m, v, n);
    if (rng_below(r, 3) == 0) {
        add_bytes(v, n, KEPT, DOC_TERM, word(m));
    }
}

static void fill_part(struct doc_maker *m, struct doc_part *part)
{
    struct doc_value *v = ARENA_ARRAY(&m->arena, struct doc_value, 40);
    size_t n = 0;
    add_texts(m, v, &n);
    add_columns(m, v, &n);
    ck_assert(n <= 40);
    part->values = v;
    part->n = n;
}

struct made_doc *doc_maker_next(struct doc_maker *m)
{
    struct made_doc *d = ARENA_NEW(&m->arena, struct made_doc);
    struct rng *r = &m->rng;
    size_t parts = 1 + (m->nested ? rng_below(r, 3) : 0);
    d->doc.parts = ARENA_ARRAY(&m->arena, struct doc_part, parts);
    d->doc.n_parts = parts;
    for (size_t i = 0; i < parts; i++) {
        fill_part(m, &d->doc.parts[i]);
        d->doc.parts[i].nested = i + 1 < parts ? &child : NULL;
    }
    d->doc.id = arena_printf(&m->arena, "doc-%06u", m->made * 7907 % 999983);
    d->doc.routing =
        rng_below(r, 10) == 0 ? arena_printf(&m->arena, "r%u", (unsigned)rng_below(r, 5)) : STR_NULL;
    d->doc.source = rng_below(r, 30) == 0
                        ? STR_NULL
                        : arena_printf(&m->arena, "{\"name\":\"hotel number %u\",\"price\":%u}", m->made,
                                       (unsigned)rng_below(r, 1000));
    d->meta = (struct doc_meta){m->made + 10, 1 + m->made / 100, 1 + (int64_t)rng_below(r, 3)};
    m->made++;
    return d;
}

struct segment *build_segment(struct made_doc *const *docs, size_t n)
{
    struct index_buffer *b;
    ERR_LOCAL(em);
    struct segment *s;
    struct buf out;
    size_t bytes;
    doc_id root, expected = 0;
    buf_init(&out, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(index_buffer_new(&b, NULL, &em), ERR_OK);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(index_buffer_add(b, &docs[i]->doc, &docs[i]->meta, &root, &em), ERR_OK);
        expected += (doc_id)docs[i]->doc.n_parts;
        ck_assert_uint_eq(root + 1, expected);
    }
    ck_assert_int_eq(index_buffer_write(b, &out, &em), ERR_OK);
    index_buffer_free(b);
    char *p = buf_take(&out, &bytes);
    enum err e = segment_open_memory(&s, p, bytes, NULL, &em);
    ck_assert_msg(e == ERR_OK, "%s", err_reason(&em));
    ck_assert_int_eq(segment_verify(s, &em), ERR_OK);
    e = segment_check_structure(s, &em);
    ck_assert_msg(e == ERR_OK, "%s", err_reason(&em));
    return s;
}
