/* segment_bench.c - how fast segments are built, merged and read: one comparable line each.
 *
 * The corpus is made from a seed: words of an English-like length distribution, frequencies by Zipf's law,
 * documents of 150 to 250 tokens in one text field, and a price, a tag, a place, an id and a source of about
 * 1 KiB. Times are the thread's CPU time. segment_bench [documents, default 50000] */
#include <stdlib.h>

#include "bench/micro/bench.h"
#include "common/base/bits.h"
#include "common/base/rand.h"
#include "engine/index/segment_writer.h"
#include "engine/mapping/field_class.h"

#define WORDS   200000
#define BATCHES 5

static struct field body = {.path = {"body", 4},
                            .class = &field_class_text,
                            .options = INDEX_POSITIONS,
                            .index = true,
                            .norms = true,
                            .similarity = {.discount_overlaps = true},
                            .position_increment_gap = 100};
static struct field tag = {
    .path = {"tag", 3}, .class = &field_class_keyword, .index = true, .doc_values = true};
static struct field price = {
    .path = {"price", 5}, .class = &field_class_long, .index = true, .doc_values = true};
static struct field place = {
    .path = {"loc", 3}, .class = &field_class_geo_point, .index = true, .doc_values = true};

struct corpus {
    struct str words[WORDS];
    double sums[WORDS];
    struct rng rng;
    struct arena arena;
};

struct batch {
    struct parsed_doc *docs;
    uint32_t n;
    size_t text_bytes;
    struct arena arena;
};

static uint64_t sink; /* keeps results alive */

static void make_words(struct corpus *c)
{
    double sum = 0;
    rng_seed(&c->rng, 42);
    arena_init(&c->arena, NULL, ARENA_UNLIMITED);
    for (uint32_t i = 0; i < WORDS; i++) {
        char text[24];
        size_t n = 2 + rng_below(&c->rng, 4);
        n += i > 100 ? rng_below(&c->rng, 5) : 0;
        n += i > 5000 ? rng_below(&c->rng, 4) : 0;
        for (size_t k = 0; k < n; k++) {
            text[k] = "etaoinshrdlucmfwypvbgkqjxz"[rng_below(&c->rng, 4 + rng_below(&c->rng, 23))];
        }
        c->words[i] = arena_str(&c->arena, str_mk(text, n));
        sum += 1.0 / (i + 2.0);
        c->sums[i] = sum;
    }
}

static uint32_t pick(struct corpus *c)
{
    double at = rng_double(&c->rng) * c->sums[WORDS - 1];
    uint32_t lo = 0, hi = WORDS - 1;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (c->sums[mid] < at) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static void make_text(struct corpus *c, struct batch *b, struct doc_value *v, struct buf *source)
{
    uint32_t n = 150 + (uint32_t)rng_below(&c->rng, 100), at = 0;
    struct token *t = ARENA_ARRAY(&b->arena, struct token, n);
    char *text = arena_alloc(&b->arena, (size_t)n * 24);
    for (uint32_t i = 0; i < n; i++) {
        struct str word = c->words[pick(c)];
        memcpy(text + at, word.p, word.n);
        t[i].text = str_mk(text + at, word.n);
        t[i].pos_inc = 1;
        t[i].start = at;
        t[i].end = at + (uint32_t)word.n;
        at = t[i].end + 1;
        buf_str(source, word);
        buf_char(source, ' ');
    }
    b->text_bytes += at;
    *v = (struct doc_value){.field = &body, .kind = DOC_TEXT, .to_index = true};
    v->text.v = t;
    v->text.n = n;
    v->text.end_offset = at;
}

static void make_doc(struct corpus *c, struct batch *b, struct parsed_doc *d, uint32_t number)
{
    struct arena *a = &b->arena;
    struct doc_value *v = ARENA_ARRAY(a, struct doc_value, 4);
    struct buf source;
    buf_init(&source, NULL, BUF_UNLIMITED);
    buf_printf(&source, "{\"id\":%u,\"price\":%u,\"location\":\"31.2,121.5\",\"body\":\"", number,
               number % 997);
    make_text(c, b, v, &source);
    buf_z(&source, "\"}");
    v[1] = (struct doc_value){.field = &tag, .kind = DOC_TERM, .to_index = true, .to_column = true};
    v[1].bytes = arena_printf(a, "tag-%u", (unsigned)(rng_below(&c->rng, 40) * rng_below(&c->rng, 25)));
    v[2] = (struct doc_value){.field = &price, .kind = DOC_NUM, .to_index = true, .to_column = true};
    v[2].num = (int64_t)rng_below(&c->rng, 100000);
    v[3] = (struct doc_value){.field = &place, .kind = DOC_GEO, .to_index = true, .to_column = true};
    v[3].geo.lat = (int32_t)(rng_u64(&c->rng) >> 34);
    v[3].geo.lon = (int32_t)(rng_u64(&c->rng) >> 34);
    d->parts = ARENA_NEW(a, struct doc_part);
    d->parts->values = v;
    d->parts->n = 4;
    d->n_parts = 1;
    d->id = arena_printf(a, "%08x%08x", number * 2654435761U, number);
    d->source = arena_str(a, buf_view(&source));
    buf_fini(&source);
}

static void make_batch(struct corpus *c, struct batch *b, uint32_t n, uint32_t first)
{
    *b = (struct batch){.n = n};
    arena_init(&b->arena, NULL, ARENA_UNLIMITED);
    b->docs = ARENA_ARRAY(&b->arena, struct parsed_doc, n);
    for (uint32_t i = 0; i < n; i++) {
        make_doc(c, b, &b->docs[i], first + i);
    }
}

struct build {
    double add, write;
    size_t text, held, segment;
};

static struct segment *build(struct batch *b, struct build *sum)
{
    struct index_buffer *ib;
    struct segment *s = NULL;
    struct buf out;
    ERR_LOCAL(em);
    doc_id root;
    size_t n;
    buf_init(&out, NULL, BUF_UNLIMITED);
    if (index_buffer_new(&ib, NULL, &em) != ERR_OK) {
        return NULL;
    }
    double begin = now();
    for (uint32_t i = 0; i < b->n; i++) {
        struct doc_meta meta = {i, 1, 1};
        if (index_buffer_add(ib, &b->docs[i], &meta, &root, &em) != ERR_OK) {
            return NULL;
        }
    }
    double added = now();
    sum->held += index_buffer_bytes(ib);
    index_buffer_write(ib, &out, &em);
    sum->add += added - begin;
    sum->write += now() - added;
    sum->text += b->text_bytes;
    sum->segment += out.n;
    index_buffer_free(ib);
    char *p = buf_take(&out, &n);
    segment_open_memory(&s, p, n, NULL, &em);
    return s;
}

static struct segment *merge(struct segment **in, size_t n)
{
    struct merge_source sources[BATCHES];
    struct segment *s = NULL;
    struct buf out;
    struct arena arena;
    ERR_LOCAL(em);
    size_t bytes, sum = 0;
    buf_init(&out, NULL, BUF_UNLIMITED);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    for (size_t i = 0; i < n; i++) {
        sources[i] = (struct merge_source){in[i], NULL};
        sum += segment_bytes(in[i]);
    }
    double begin = now();
    segment_merge(sources, n, &(struct merge_io){.memory = &out}, &arena, NULL, &em);
    line("merge", (double)sum / (now() - begin) / 1e6, "MB/s of segments");
    char *p = buf_take(&out, &bytes);
    segment_open_memory(&s, p, bytes, NULL, &em);
    arena_fini(&arena);
    return s;
}

static void scan(const struct segment *s, struct corpus *c, bool freqs)
{
    const struct seg_field *f = segment_field(s, STR("body"));
    struct postings p;
    struct term_info info;
    uint64_t docs = 0, sum = 0;
    double begin = now();
    for (uint32_t i = 0; i < 20 * 200; i++) {
        if (seg_term(f, c->words[i % 200], &info)) {
            postings_init(&p, f, &info, freqs);
            while (postings_next(&p) != DOC_END) {
                sum += freqs ? postings_freq(&p) : p.doc;
                docs++;
            }
        }
    }
    sink += sum;
    line(freqs ? "scan docs and freqs" : "scan docs", (now() - begin) * 1e9 / (double)docs, "ns a posting");
}

static void intersect(const struct segment *s, struct corpus *c, uint32_t step)
{
    const struct seg_field *f = segment_field(s, STR("body"));
    struct postings a, b;
    struct term_info ia, ib;
    uint64_t least = 0, matches = 0;
    char what[40];
    double begin = now();
    for (uint32_t i = 0; i < 10 * 100; i++) {
        uint32_t w = i % 100;
        if (!seg_term(f, c->words[w + step], &ia) || !seg_term(f, c->words[w], &ib)) {
            continue;
        }
        postings_init(&a, f, &ia, false);
        postings_init(&b, f, &ib, false);
        least += ia.doc_freq;
        for (doc_id d = postings_next(&a); d != DOC_END;) {
            doc_id other = postings_seek(&b, d);
            matches += other == d;
            d = other == d ? postings_next(&a) : postings_seek(&a, other);
        }
    }
    sink += matches;
    snprintf(what, sizeof(what), "intersect, rarer by %u", step);
    line(what, (now() - begin) * 1e9 / (double)least, "ns a document of the rarer");
}

static void positions(const struct segment *s, struct corpus *c)
{
    const struct seg_field *f = segment_field(s, STR("body"));
    struct postings p;
    struct positions ps;
    struct term_info info;
    uint64_t n = 0;
    double begin = now();
    for (uint32_t w = 0; w < 200; w++) {
        if (seg_term(f, c->words[w], &info)) {
            postings_init(&p, f, &info, true);
            positions_init(&ps, &p, false);
            while (postings_next(&p) != DOC_END) {
                uint32_t k = positions_read(&ps);
                n += k;
                sink += ps.pos[k - 1];
            }
            positions_fini(&ps);
        }
    }
    line("read positions", (now() - begin) * 1e9 / (double)n, "ns a position");
}

#define SAMPLES 40000

/* Samples lie one after the other, so that reading them is not what is measured. */
static void sample(struct str *to, char *text, struct str s)
{
    memcpy(text, s.p, s.n);
    *to = str_mk(text, s.n);
}

static void lookups(const struct segment *s, struct corpus *c, struct batch *batches, uint32_t n)
{
    const struct seg_field *f = segment_field(s, STR("body")), *id = segment_field(s, STR("_id"));
    static struct str words[SAMPLES], ids[SAMPLES];
    static char text[2][SAMPLES][24];
    struct term_info info;
    doc_id doc;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        sample(&words[i], text[0][i], c->words[rng_below(&c->rng, WORDS)]);
        sample(&ids[i], text[1][i], batches[i % BATCHES].docs[rng_below(&c->rng, n)].id);
    }
    double begin = now();
    for (uint32_t i = 0; i < 10 * SAMPLES; i++) {
        sink += seg_term(f, words[i % SAMPLES], &info);
    }
    line("look up a word", (now() - begin) * 1e9 / (10 * SAMPLES), "ns");
    begin = now();
    for (uint32_t i = 0; i < 10 * SAMPLES; i++) {
        sink += seg_term(id, ids[i % SAMPLES], &info);
    }
    line("look up an _id's term", (now() - begin) * 1e9 / (10 * SAMPLES), "ns");
    begin = now();
    for (uint32_t i = 0; i < 10 * SAMPLES; i++) {
        sink += seg_find_id(s, ids[i % SAMPLES], NULL, &doc);
    }
    line("find a document by _id", (now() - begin) * 1e9 / (10 * SAMPLES), "ns");
    begin = now();
    for (uint32_t i = 0; i < 10 * SAMPLES; i++) {
        sink += seg_find_id(s, words[i % SAMPLES], NULL, &doc);
    }
    line("find an absent _id", (now() - begin) * 1e9 / (10 * SAMPLES), "ns");
    struct term_iter it;
    uint64_t terms = 0;
    term_iter_init(&it, f);
    begin = now();
    while (term_iter_next(&it)) {
        terms++;
    }
    line("walk terms", (now() - begin) * 1e9 / (double)terms, "ns a term");
    term_iter_fini(&it);
}

static void columns(const struct segment *s)
{
    struct num_column c;
    uint32_t n = segment_doc_count(s);
    const struct seg_field *f = segment_field(s, STR("price"));
    num_column_init(&c, f);
    uint64_t sum = 0;
    double begin = now();
    for (int round = 0; round < 50; round++) {
        for (doc_id d = 0; d < n; d++) {
            int64_t v;
            sum += num_column_first(&c, d, &v) ? (uint64_t)v : 0;
        }
    }
    sink += sum;
    line("read a number", (now() - begin) * 1e9 / 50 / n, "ns");
    uint64_t *bits = calloc(bits_words(n) + 1, 8);
    begin = now();
    for (int round = 0; round < 50; round++) {
        seg_points_range(f, 20000, 40000, bits);
    }
    line("range of a fifth", (now() - begin) * 1e6 / 50, "us");
    begin = now();
    for (int round = 0; round < 5000; round++) {
        seg_points_range(f, 20000 + round, 20100 + round, bits);
    }
    line("range of a thousandth", (now() - begin) * 1e6 / 5000, "us");
    free(bits);
}

static void stored(const struct segment *s, struct corpus *c)
{
    struct stored_reader r;
    struct arena arena;
    struct stored_doc doc;
    uint64_t bytes = 0;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    double begin = now();
    for (int round = 0; round < 2000; round++) {
        stored_reader_init(&r, s);
        for (int i = 0; i < 10; i++) {
            stored_read(&r, (doc_id)rng_below(&c->rng, segment_doc_count(s)), STORED_ID | STORED_SOURCE,
                        &arena, &doc, NULL);
            bytes += doc.source.n;
        }
        stored_reader_fini(&r);
        arena_reset(&arena);
    }
    line("fetch 10 scattered sources", (now() - begin) * 1e6 / 2000, "us");
    line("  bytes of them", (double)bytes / 2000, "");
    arena_fini(&arena);
}

int main(int argc, char **argv)
{
    static struct corpus c;
    static struct batch batches[BATCHES];
    struct segment *segments[BATCHES];
    struct build sum = {0};
    uint32_t n = (argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 50000) / BATCHES;
    make_words(&c);
    for (uint32_t i = 0; i < BATCHES; i++) {
        make_batch(&c, &batches[i], n, i * n);
    }
    for (uint32_t i = 0; i < BATCHES; i++) {
        segments[i] = build(&batches[i], &sum);
    }
    line("buffer", (double)sum.text / sum.add / 1e6, "MB/s of text");
    line("  memory", (double)sum.held / (double)sum.text, "bytes a byte of text");
    line("write", (double)sum.text / sum.write / 1e6, "MB/s of text");
    line("both", (double)sum.text / (sum.add + sum.write) / 1e6, "MB/s of text");
    line("  segment", (double)sum.segment / (double)sum.text, "bytes a byte of text");
    struct segment *s = merge(segments, BATCHES);
    line("  merged", (double)segment_bytes(s) / (double)sum.text, "bytes a byte of text");
    scan(s, &c, false);
    scan(s, &c, true);
    positions(s, &c);
    intersect(s, &c, 50);
    intersect(s, &c, 2000);
    lookups(s, &c, batches, n);
    columns(s);
    stored(s, &c);
    double begin = now();
    segment_verify(s, NULL);
    line("verify", (double)segment_bytes(s) / (now() - begin) / 1e6, "MB/s");
    for (uint32_t i = 0; i < BATCHES; i++) {
        segment_unref(segments[i]);
        arena_fini(&batches[i].arena);
    }
    segment_unref(s);
    arena_fini(&c.arena);
    return sink == 1;
}
