/* Requests and answers as bytes: what goes in comes out, whatever is in it; damage is refused or reads as
 * something else, and never more. */
#include "engine/search/search.h"
#include "proto/shard_ops.h"
#include "tests/unit/proto/random_values.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define ROUNDS 300

static struct str *texts(uint32_t *n)
{
    *n = (uint32_t)below(4);
    struct str *v = ARENA_ARRAY(&arena, struct str, *n);
    for (uint32_t i = 0; i < *n; i++) {
        v[i] = opt_text();
    }
    return v;
}

static void make_rq(struct shard_rq *rq, const struct shard_op *op)
{
    shard_rq_init(rq, op, NULL, NULL);
    rq->shard = (struct shard_ref){text(), text(), (uint32_t)below(9)};
}

static void make_error(struct errmsg *em)
{
    err_clear(em);
    if (below(3) == 0) {
        err_set_at(em, (enum err)(1 + below(ERR_COUNT - 1)), (uint32_t)below(9), (uint32_t)below(9), "why %d",
                   (int)below(99));
        err_about_shard(em, (int)below(4));
    }
}

static const struct json *tree(struct str *from)
{
    static const char *const some[] = {"{\"term\":{\"a\":\"b\"}}", "[1,2.5e3,null,true,{\"x\":[]}]",
                                       "  \"\\u00e4\"", "{}", "{\"q\": {\"match_all\" : { }}}"};
    struct json *v = ARENA_NEW(&arena, struct json);
    *from = str_of(some[below(ARRAY_LEN(some))]);
    ck_assert_int_eq(json_parse(v, *from, &arena, &json_limits_default, NULL), ERR_OK);
    return v;
}

static struct sort_value sort_value(void)
{
    struct sort_value v = {.kind = (enum sort_value_kind)below(SV_BOOL + 1)};
    if (v.kind == SV_STR) {
        v.s = text();
    } else if (v.kind == SV_DOUBLE || v.kind == SV_FLOAT) {
        v.d = (double)number() / 7;
    } else if (v.kind != SV_NULL) {
        v.l = number();
    }
    return v;
}

static struct top_doc *docs(uint32_t *n, uint32_t *n_sort)
{
    *n = (uint32_t)below(5);
    *n_sort = (uint32_t)below(3);
    struct top_doc *v = ARENA_ARRAY(&arena, struct top_doc, *n);
    for (uint32_t i = 0; i < *n; i++) {
        struct sort_value *s = ARENA_ARRAY(&arena, struct sort_value, *n_sort);
        for (uint32_t k = 0; k < *n_sort; k++) {
            s[k] = sort_value();
        }
        v[i] = (struct top_doc){(uint32_t)rng_u64(&rng), (uint32_t)below(7), flip() ? NAN : 1.5F,
                                flip() ? s : NULL, sort_value()};
    }
    return v;
}

static void make_dfs(struct dfs_stats *d)
{
    d->n_terms = (uint32_t)below(3);
    d->n_fields = (uint32_t)below(3);
    d->terms = ARENA_ARRAY(&arena, struct dfs_term, d->n_terms);
    d->fields = ARENA_ARRAY(&arena, struct dfs_field, d->n_fields);
    for (uint32_t i = 0; i < d->n_terms; i++) {
        d->terms[i] = (struct dfs_term){text(), text(), number(), number()};
    }
    for (uint32_t i = 0; i < d->n_fields; i++) {
        d->fields[i] = (struct dfs_field){text(), number(), number(), number(), number()};
    }
}

/* ---- the structs --------------------------------------------------------------------------------------- */

union any {
    struct shard_rq rq;
    struct shard_write write;
    struct shard_get get;
    struct shard_can_match can_match;
    struct shard_dfs dfs;
    struct shard_query query;
    struct shard_fetch fetch;
    struct shard_act act;
    struct shard_explain explain;
    struct shard_term_vectors term_vectors;
    struct shard_free free;
};

static void make_write(union any *a)
{
    struct shard_write *w = &a->write;
    w->n = (uint32_t)below(4);
    w->items = ARENA_ARRAY(&arena, struct write_item, w->n);
    w->refresh = (enum refresh_policy)below(3);
    w->timeout_ms = number();
    w->op_session = rng_u64(&rng);
    w->settled_below = rng_u64(&rng);
    w->retry = flip();
    w->forced_refresh = flip();
    w->copies_ok = (uint32_t)below(4);
    w->copies_failed = (uint32_t)below(4);
    w->mapping_version = rng_u64(&rng);
    make_error(&w->inactive);
    for (uint32_t i = 0; i < w->n; i++) {
        struct str from;
        struct write_item *it = &w->items[i];
        *it = (struct write_item){.kind = (enum write_kind)below(3),
                                  .id = opt_text(),
                                  .routing = opt_text(),
                                  .type = text(),
                                  .source = text(),
                                  .create = flip(),
                                  .auto_id_ms = number(),
                                  .op_counter = rng_u64(&rng),
                                  .version = number(),
                                  .version_type = (int)below(3),
                                  .if_seq_no = number(),
                                  .if_primary_term = number(),
                                  .retry_on_conflict = (int32_t)below(9),
                                  .doc_as_upsert = flip(),
                                  .reroutes = flip(),
                                  .want_get = flip(),
                                  .get_filter = flip() ? tree(&from) : NULL,
                                  .outcome = (enum write_outcome)below(5),
                                  .seq_no = number(),
                                  .primary_term = number(),
                                  .result_version = number(),
                                  .get = opt_text()};
        if (flip()) {
            it->error = ARENA_NEW(&arena, struct errmsg);
            make_error(it->error);
        }
    }
}

static void make_get(union any *a)
{
    struct shard_get *g = &a->get;
    g->id = text();
    g->realtime = flip();
    g->refresh = flip();
    g->want_source = flip();
    g->stored_fields = texts(&g->n_stored_fields);
    g->found = flip();
    g->version = number();
    g->seq_no = number();
    g->primary_term = number();
    g->source = opt_text();
    g->routing = opt_text();
    g->fields = opt_text();
    g->ignored = texts(&g->n_ignored);
}

static void make_body(struct search_body *b)
{
    b->text = text();
    b->tree = flip() ? tree(&b->text) : NULL;
    b->adapted = flip();
    b->track_total = b->adapted ? (int32_t)below(9) - 1 : 0;
    b->timeout_ms = b->adapted ? number() : 0;
}

static void make_scope(struct search_scope *s)
{
    s->slot = (uint32_t)below(9);
    s->n_shards = (uint32_t)below(9);
    s->alias_filters = texts(&s->n_alias_filters);
    s->index_boost = 2.5F;
    s->asked_shards = (uint32_t)below(9);
    s->asked_shard = (uint32_t)below(9);
    s->now_ms = number();
    s->scroll = flip();
    s->refuse_expensive = flip();
}

static void make_can_match(union any *a)
{
    make_body(&a->can_match.body);
    make_scope(&a->can_match.scope);
    a->rq.context = rng_u64(&rng);
    a->can_match.matches = flip();
}

static void make_dfs_rq(union any *a)
{
    make_body(&a->dfs.body);
    make_scope(&a->dfs.scope);
    a->rq.context = rng_u64(&rng);
    make_dfs(&a->dfs.stats);
}

static void make_query(union any *a)
{
    struct shard_query *q = &a->query;
    make_body(&q->body);
    make_scope(&q->scope);
    q->rq.context = rng_u64(&rng);
    q->keep_alive_ms = number();
    q->fetch = flip();
    q->keep = flip();
    if (flip()) {
        struct dfs_stats *d = ARENA_NEW(&arena, struct dfs_stats);
        make_dfs(d);
        q->dfs = d;
    }
    if (flip()) {
        struct query_result *r = ARENA_NEW(&arena, struct query_result);
        *r = (struct query_result){.slot = q->scope.slot,
                                   .total = number(),
                                   .relation = (enum total_relation)below(3),
                                   .max_score = NAN,
                                   .timed_out = flip(),
                                   .terminated_early = flip(),
                                   .first_key_refused = flip(),
                                   .limited = flip(),
                                   .aggs = text(),
                                   .suggest = text(),
                                   .profile = text()};
        r->docs = docs(&r->n, &r->n_sort);
        q->result = r;
    }
    q->hits = flip() ? texts(&q->n_hits) : NULL;
}

static void make_fetch(union any *a)
{
    struct shard_fetch *f = &a->fetch;
    make_body(&f->body);
    make_scope(&f->scope);
    f->rq.context = rng_u64(&rng);
    f->keep = flip();
    f->docs = docs(&f->n, &f->n_sort);
    f->n_suggested = (uint32_t)below(f->n + 1);
    f->hits = ARENA_ARRAY(&arena, struct str, f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        f->hits[i] = opt_text();
    }
}

static void make_act(union any *a)
{
    struct shard_act *x = &a->act;
    x->action = (enum shard_action)below(SHARD_RECOVERY + 1);
    x->force = flip();
    x->wait_if_ongoing = flip();
    x->only_expunge_deletes = flip();
    x->flush_after = flip();
    x->max_segments = (int32_t)below(99) - 1;
    x->segments = opt_text();
    if (flip()) {
        struct shard_stats *s = ARENA_NEW(&arena, struct shard_stats);
        for (size_t i = 0; i < offsetof(struct shard_stats, commit_id); i += 8) {
            store_u64((char *)s + i, rng_u64(&rng));
        }
        s->commit_id = opt_text();
        s->n_groups = (uint32_t)below(3);
        struct shard_search_group *g = ARENA_ARRAY(&arena, struct shard_search_group, s->n_groups);
        for (uint32_t i = 0; i < s->n_groups; i++) {
            g[i] = (struct shard_search_group){STR("group"),      rng_u64(&rng), below(9), below(9),
                                               (uint64_t)1 << 40, below(9),      i};
        }
        s->groups = g;
        s->n_completions = (uint32_t)below(3);
        struct shard_field_bytes *f = ARENA_ARRAY(&arena, struct shard_field_bytes, s->n_completions);
        for (uint32_t i = 0; i < s->n_completions; i++) {
            f[i] = (struct shard_field_bytes){STR("field"), rng_u64(&rng)};
        }
        s->completions = f;
        x->stats = s;
    }
    if (below(2) == 0) {
        struct shard_recovery *r = ARENA_NEW(&arena, struct shard_recovery);
        *r = (struct shard_recovery){.stage = (enum recovery_stage)below(RECOVERY_DONE + 1),
                                     .source = (uint8_t)below(3),
                                     .primary = below(2) == 0,
                                     .relocation = below(2) == 0,
                                     .source_node = below(2) == 0 ? STR("from") : STR_NULL,
                                     .target_node = STR("to"),
                                     .start_ms = 1600000000000 + (int64_t)below(1000),
                                     .index_ms = (int64_t)below(1000),
                                     .files_total = (uint32_t)below(1000),
                                     .bytes_total = (uint64_t)below(1000) << 33,
                                     .bytes_recovered = (uint64_t)below(1000) << 33,
                                     .ops_recovered = below(1000)};
        x->recovery = r;
    }
}

static void make_explain(union any *a)
{
    struct shard_explain *x = &a->explain;
    x->query = flip() ? tree(&x->text) : NULL;
    x->id = opt_text();
    x->alias_filters = texts(&x->n_alias_filters);
    x->want_source = flip();
    x->rewritten = flip();
    x->now_ms = number();
    x->found = flip();
    x->matched = flip();
    x->explanation = opt_text();
    x->printed = opt_text();
    x->seq_no = number();
    x->primary_term = number();
    x->source = opt_text();
}

static void make_term_vectors(union any *a)
{
    struct shard_term_vectors *x = &a->term_vectors;
    struct term_vectors_options *o = &x->options;
    x->id = opt_text();
    x->doc = opt_text();
    x->routing = opt_text();
    x->realtime = flip();
    x->version = number();
    o->positions = flip();
    o->offsets = flip();
    o->field_statistics = flip();
    o->term_statistics = flip();
    o->fields = texts(&o->n_fields);
    o->analyzers = texts(&o->n_analyzers);
    o->filtered = flip();
    o->filter = (struct term_filter){.max_num_terms = (int32_t)below(99),
                                     .min_term_freq = -(int32_t)below(99),
                                     .max_term_freq = (int32_t)below(99),
                                     .min_doc_freq = INT32_MIN,
                                     .max_doc_freq = INT32_MAX,
                                     .min_word_length = (int32_t)below(99),
                                     .max_word_length = (int32_t)below(99)};
    x->found = flip();
    x->found_version = number();
    x->vectors = opt_text();
}

static void make_free(union any *a)
{
    struct shard_free *f = &a->free;
    uint64_t *v = ARENA_ARRAY(&arena, uint64_t, 4);
    f->n = (uint32_t)below(4);
    for (uint32_t i = 0; i < f->n; i++) {
        v[i] = rng_u64(&rng);
    }
    f->contexts = v;
    f->all_scrolls = flip();
    f->freed = (uint32_t)below(99);
}

/* ---- round and round ----------------------------------------------------------------------------------- */

static const struct codec {
    void (*make)(union any *a);
    const struct shard_op *op;
} codecs[] = {{make_can_match, &shard_op_can_match},
              {make_dfs_rq, &shard_op_dfs},
              {make_query, &shard_op_scroll},
              {make_write, &shard_op_write},
              {make_get, &shard_op_get},
              {make_query, &shard_op_query},
              {make_fetch, &shard_op_fetch},
              {make_act, &shard_op_act},
              {make_explain, &shard_op_explain},
              {make_term_vectors, &shard_op_term_vectors},
              {make_free, &shard_op_free}};
_Static_assert(ARRAY_LEN(codecs) == SHARD_OP_COUNT, "an operation's bytes are not tested");

/* The bytes may be anything: reading them must end well, whatever it says. */
static void read_damaged(const struct codec *c, struct str bytes, bool answer, const union any *asked)
{
    union any *a = calloc(1, sizeof(*a));
    char *copy = malloc(bytes.n > 0 ? bytes.n : 1); /* so that a read past the end is seen */
    memcpy(copy, bytes.p, bytes.n);
    struct bytes_in in = bytes_in(str_mk(copy, bytes.n));
    shard_rq_init(&a->rq, c->op, NULL, NULL);
    if (answer) { /* into the request that was made */
        struct shard_rq rq = a->rq;
        *a = *asked;
        a->rq = rq;
        if (c->make == make_write) {
            a->write.items = ARENA_ARRAY(&a->rq.arena, struct write_item, a->write.n);
        }
        c->op->decode_answer(&a->rq, &in);
    } else {
        c->op->decode(&a->rq, &in);
    }
    shard_rq_fini(&a->rq);
    free(copy);
    free(a);
}

static void damage(const struct codec *c, struct buf *b, bool answer, const union any *asked)
{
    for (int i = 0; i < 20 && b->n > 0; i++) {
        size_t at = below(b->n);
        char was = b->p[at];
        b->p[at] = (char)rng_u64(&rng);
        read_damaged(c, buf_view(b), answer, asked);
        b->p[at] = was;
        read_damaged(c, str_mk(b->p, at), answer, asked);
    }
}

START_TEST(requests)
{
    const struct codec *c = &codecs[_i];
    rng_seed(&rng, 7 + (uint64_t)_i);
    for (int round = 0; round < ROUNDS; round++) {
        union any *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
        struct buf first, second;
        arena_init(&arena, NULL, ARENA_UNLIMITED);
        buf_init(&first, NULL, BUF_UNLIMITED);
        buf_init(&second, NULL, BUF_UNLIMITED);
        make_rq(&a->rq, c->op);
        c->make(a);
        c->op->encode(&a->rq, &first);
        struct bytes_in in = bytes_in(buf_view(&first));
        shard_rq_init(&b->rq, c->op, NULL, NULL);
        c->op->decode(&b->rq, &in);
        ck_assert(!in.bad && bytes_left(&in) == 0);
        c->op->encode(&b->rq, &second);
        ck_assert(str_eq(buf_view(&first), buf_view(&second)));
        ck_assert(c->make == make_free || str_eq(a->rq.shard.uuid, b->rq.shard.uuid));
        damage(c, &first, false, NULL);
        shard_rq_fini(&a->rq);
        shard_rq_fini(&b->rq);
        buf_fini(&first);
        buf_fini(&second);
        arena_fini(&arena);
        free(a);
        free(b);
    }
}
END_TEST

START_TEST(answers)
{
    const struct codec *c = &codecs[_i];
    rng_seed(&rng, 70 + (uint64_t)_i);
    for (int round = 0; round < ROUNDS; round++) {
        union any *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
        struct buf first, second;
        arena_init(&arena, NULL, ARENA_UNLIMITED);
        buf_init(&first, NULL, BUF_UNLIMITED);
        buf_init(&second, NULL, BUF_UNLIMITED);
        make_rq(&a->rq, c->op);
        c->make(a);
        make_error(&a->rq.error);
        c->op->encode_answer(&a->rq, &first);
        struct bytes_in in = bytes_in(buf_view(&first));
        *b = *a; /* the answer comes to who asked */
        shard_rq_init(&b->rq, c->op, NULL, NULL);
        if (c->make == make_write) {
            b->write.items = ARENA_ARRAY(&b->rq.arena, struct write_item, b->write.n);
        } else if (c->make == make_query) {
            b->query.result = NULL;
            b->query.hits = NULL;
        }
        c->op->decode_answer(&b->rq, &in);
        ck_assert(!in.bad && bytes_left(&in) == 0);
        ck_assert(err_is(&a->rq.error) == err_is(&b->rq.error));
        c->op->encode_answer(&b->rq, &second);
        ck_assert(str_eq(buf_view(&first), buf_view(&second)));
        damage(c, &first, true, a);
        shard_rq_fini(&a->rq);
        shard_rq_fini(&b->rq);
        buf_fini(&first);
        buf_fini(&second);
        arena_fini(&arena);
        free(a);
        free(b);
    }
}
END_TEST

/* An answer for another number of items is none. */
START_TEST(other_items)
{
    struct shard_write w = {.n = 1}, two = {.n = 2};
    struct write_item items[2] = {{.seq_no = 3}, {.seq_no = 4}};
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    shard_rq_init(&w.rq, &shard_op_write, NULL, NULL);
    shard_rq_init(&two.rq, &shard_op_write, NULL, NULL);
    w.items = two.items = items;
    shard_op_write.encode_answer(&two.rq, &b);
    struct bytes_in in = bytes_in(buf_view(&b));
    shard_op_write.decode_answer(&w.rq, &in);
    ck_assert(in.bad);
    buf_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("shard_bytes");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, requests, 0, ARRAY_LEN(codecs));
    tcase_add_loop_test(c, answers, 0, ARRAY_LEN(codecs));
    tcase_add_test(c, other_items);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
