/* Requests that ask: bodies of searches run over a small index, and the languages inside them. */
#include "tests/fuzz/fuzz.h"

#include "common/base/utf8.h"
#include "engine/aggs/aggs.h"
#include "engine/query/automaton.h"
#include "engine/query/query.h"
#include "engine/script/script.h"
#include "engine/suggest/suggest.h"
#include "engine/template/template.h"
#include "tests/unit/engine/aggs/agg_rig.h"

#include <stdlib.h>

#define DOCS         40
#define SEGMENT_DOCS 15
#define STATES_MAX   2000
#define PAGE_MAX     100 /* hits that are fetched */

static struct agg_rig rig;
static uint64_t polls; /* of the search under way */

static void init(void)
{
    if (rig.n == 0) {
        ar_init(&rig, 7, 1, DOCS, SEGMENT_DOCS);
    }
}

/* Ends searches that the harness would otherwise report as hanging: how long they may take is a setting's business. */
static bool stop_late(void *self)
{
    (void)self;
    return ++polls > 20000;
}

static struct search_shard the_shard(void)
{
    polls = 0;
    return (struct search_shard){
        .index_name = STR("rig"),
        .index_uuid = STR("uuid"),
        .view = rig.views[0],
        .index_settings = &rig.settings,
        .scope = {.index_boost = 1, .now_ms = 1600000000000, .n_shards = 1, .asked_shards = 1},
        .max_buckets = 10000,
        .cancelled = stop_late};
}

/* `keyed`: names may be given twice, as Elasticsearch does where a request names a percent or a range twice. */
static void holds_json(struct str text, bool keyed, struct arena *a)
{
    struct json v;
    ERR_LOCAL(em);
    FUZZ_HOLDS(utf8_valid(text));
    enum err e = json_parse(&v, text, a, &json_limits_default, &em);
    bool twice = e == ERR_JSON && strncmp(err_innermost(&em)->reason, "Duplicate field", 15) == 0;
    FUZZ_HOLDS(e == ERR_OK || e == ERR_NO_MEMORY || (keyed && twice));
}

static void reduce(const struct search_source *s, const struct query_result *r, struct arena *a)
{
    ERR_LOCAL(em);
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, FUZZ_ARENA_BYTES);
    if (s->agg_spec != NULL && r->aggs.n > 0) {
        struct aggs_reduce_opts o = {.max_buckets = 10000};
        jsonw_init(&w, &b, false);
        enum err e = aggs_reduce(s->agg_spec, &r->aggs, 1, &o, a, &w, &em);
        fuzz_error(e, &em);
        if (e == ERR_OK && !b.failed) {
            holds_json(buf_view(&b), true, a);
        }
    }
    buf_reset(&b);
    if (s->suggest_spec != NULL && r->suggest.n > 0) {
        struct suggest_reduced *reduced;
        struct suggest_partial part = {r->suggest, 0};
        jsonw_init(&w, &b, false);
        enum err e = suggest_reduce(&reduced, s->suggest_spec, &part, 1, a, &em);
        fuzz_error(e, &em);
        if (e == ERR_OK) {
            suggest_write(reduced, NULL, false, &w);
            if (!b.failed) {
                holds_json(buf_view(&b), false, a);
            }
        }
    }
    buf_fini(&b);
}

/* What the query phase found, as bytes and back, then the hits. */
static void show(const struct search_shard *shard, const struct search_source *s, struct query_result *r,
                 struct arena *a)
{
    struct query_result again;
    ERR_LOCAL(em);
    struct buf b;
    struct str hits[PAGE_MAX];
    buf_init(&b, NULL, FUZZ_ARENA_BYTES);
    query_result_encode(r, &b);
    if (!b.failed) {
        enum err e = query_result_decode(&again, buf_view(&b), a, &em);
        FUZZ_HOLDS(e == ERR_NO_MEMORY || (e == ERR_OK && again.n == r->n && again.total == r->total));
    }
    buf_fini(&b);
    uint32_t n = MIN_OF(r->n, (uint32_t)PAGE_MAX);
    enum err e = search_fetch_phase(hits, shard, s, r->docs, n, a, &em);
    fuzz_error(e, &em);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        holds_json(hits[i], false, a);
    }
}

static void run_body(const struct json *body, struct str text, struct arena *a)
{
    struct search_source s;
    struct search_shard shard = the_shard();
    struct query_result r;
    ERR_LOCAL(em);
    bool matches;
    search_source_init(&s);
    enum err e = search_source_parse(&s, body, text, a, &em);
    fuzz_error(e, &em);
    if (e != ERR_OK || s.from < 0 || s.size < 0 || s.from + s.size > 10000) {
        return; /* the service refuses those before a shard sees them */
    }
    fuzz_error(search_can_match(&matches, &shard, &s, a, &em), &em);
    e = search_query_phase(&r, &shard, &s, a, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        reduce(&s, &r, a);
        show(&shard, &s, &r, a);
    }
}

/* A whole body, as the service reads it: also one that breaks off. */
static void one_search(struct str in)
{
    struct arena a;
    struct json body;
    size_t extra;
    fuzz_arena(&a);
    enum err e = json_parse_until(&body, &extra, in, &a, &json_limits_default, NULL);
    if ((e == ERR_OK || e == ERR_JSON || e == ERR_JSON_EOF) && body.type == JSON_OBJECT) {
        run_body(&body, in, &a);
    }
    arena_fini(&a);
}

static void one_query(struct str in)
{
    struct arena a;
    struct json dsl;
    const struct query *q;
    ERR_LOCAL(em);
    struct buf b;
    size_t extra;
    fuzz_arena(&a);
    buf_init(&b, NULL, FUZZ_ARENA_BYTES);
    struct query_context cx = {.mapping = rig.mapping,
                               .arena = &a,
                               .text = in,
                               .index_name = STR("rig"),
                               .clauses_max = 1024,
                               .depth_max = 100,
                               .index_settings = &rig.settings,
                               .allow_expensive = true};
    enum err e = json_parse_until(&dsl, &extra, in, &a, &json_limits_default, NULL);
    if (e == ERR_OK || e == ERR_JSON || e == ERR_JSON_EOF) {
        err_clear(&em);
        e = query_build(&q, &cx, &dsl, &em);
        fuzz_error(e, &em);
        if (e == ERR_OK) {
            query_print(q, &b);
            FUZZ_HOLDS(b.failed || utf8_valid(buf_view(&b)));
        }
    }
    buf_fini(&b);
    arena_fini(&a);
}

/* A text inside a body: what goes before it, and behind. */
static void run_text(const char *before, struct str in, const char *after)
{
    struct arena a;
    struct json body;
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, FUZZ_ARENA_BYTES);
    fuzz_arena(&a);
    jsonw_init(&w, &b, false);
    buf_z(&b, before);
    jw_str(&w, in);
    buf_z(&b, after);
    if (utf8_valid(in) && !b.failed
        && json_parse(&body, buf_view(&b), &a, &json_limits_default, NULL) == ERR_OK) {
        run_body(&body, buf_view(&b), &a);
    }
    arena_fini(&a);
    buf_fini(&b);
}

static void one_query_string(struct str in)
{
    run_text("{\"query\":{\"query_string\":{\"fields\":[\"k\",\"x\",\"i\",\"t\",\"p.w\"],\"lenient\":true,"
             "\"query\":",
             in, "}}}");
    run_text("{\"query\":{\"query_string\":{\"query\":", in, "}}}");
}

static void one_simple_query_string(struct str in)
{
    run_text("{\"query\":{\"simple_query_string\":{\"fields\":[\"k\",\"x^2\",\"i\"],\"query\":", in, "}}}");
}

static void one_regexp(struct str in)
{
    struct arena a;
    const struct dfa *d;
    ERR_LOCAL(em);
    fuzz_arena(&a);
    struct str pattern = fuzz_line(&in);
    if (utf8_valid(pattern) && utf8_valid(in)) {
        enum err e = dfa_regexp(&d, pattern, REGEXP_ALL, false, STATES_MAX, &a, &em);
        fuzz_error(e, &em);
        if (e == ERR_OK) {
            FUZZ_HOLDS(d->n <= STATES_MAX);
            (void)dfa_match(d, in);
        }
        e = dfa_wildcard(&d, pattern, true, &a, &em);
        fuzz_error(e, &em);
        if (e == ERR_OK) {
            (void)dfa_match(d, in);
        }
    }
    arena_fini(&a);
}

static double script_score(void *self)
{
    (void)self;
    return 1.5;
}

static enum err no_values(void *self, struct str field, struct script_doc *out, struct errmsg *em)
{
    static const int64_t values[] = {1, 2, 3};
    (void)self;
    if (str_is(field, "i")) {
        *out = (struct script_doc){.type = SCRIPT_DOC_LONG, .n = 3, .i = values};
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "No field found for [%.*s] in mapping", STR_ARG(field));
}

static void run_script(struct str source, const char *lang, enum script_context context)
{
    struct arena a;
    struct script *s;
    struct script_run *run;
    ERR_LOCAL(em);
    struct json params, out;
    const struct script_env env = {.doc_values = no_values, .score = script_score, .now_ms = 1600000000000};
    const struct script_limits limits = {.steps_max = 20000, .bytes_max = MIB};
    enum err e = script_compile(&s, &(struct script_text){source, str_of(lang), STR_NULL}, context, &em);
    fuzz_error(e, &em);
    if (e != ERR_OK) {
        return;
    }
    fuzz_arena(&a);
    static const char params_text[] =
        "{\"a\":1,\"b\":2.5,\"s\":\"xyz\",\"l\":[3,1,2],\"m\":{\"x\":1},\"n\":null}";
    FUZZ_HOLDS(json_parse(&params, str_of(params_text), &a, &json_limits_default, NULL) == ERR_OK);
    e = script_run_new(&run, s, &params, &limits, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        if (context == SCRIPT_UPDATE) {
            struct json ctx = params;
            e = script_update(run, &env, &ctx, &a, &out, NULL, &em);
        } else {
            e = script_value(run, &env, &a, &out, &em);
        }
        fuzz_error(e, &em);
        if (e == ERR_OK) {
            struct buf b;
            struct jsonw w;
            buf_init(&b, NULL, FUZZ_ARENA_BYTES);
            jsonw_init(&w, &b, false);
            jw_value(&w, &out);
            if (!b.failed) {
                holds_json(buf_view(&b), false, &a);
            }
            buf_fini(&b);
        }
        script_run_free(run);
    }
    script_unref(s);
    arena_fini(&a);
}

static void one_script(struct str in)
{
    if (utf8_valid(in)) {
        run_script(in, "painless", SCRIPT_FIELD);
        run_script(in, "painless", SCRIPT_UPDATE);
    }
}

static void one_expression(struct str in)
{
    struct script *s;
    ERR_LOCAL(em);
    if (utf8_valid(in)) {
        enum err e =
            script_compile(&s, &(struct script_text){in, STR("expression"), STR_NULL}, SCRIPT_SCORE, &em);
        fuzz_error(e, &em);
        if (e == ERR_OK) {
            script_unref(s);
        }
    }
}

/* A text by every way of escaping. */
static void one_mustache(struct str in)
{
    static const char *const types[] = {"application/json", "text/plain",
                                        "application/x-www-form-urlencoded"};
    static const char params_text[] =
        "{\"a\":1,\"b\":2.50,\"s\":\"x\\\"\u00e9\",\"l\":[3,{\"a\":[true]},null],\"m\":"
        "{\"x\":1,\"yy\":[]},\"n\":null,\"t\":true,\"f\":false,\"e\":\"\"}";
    struct stop st = {.asked = stop_late};
    polls = 0;
    stop_enter(&st);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct arena a;
        struct buf b;
        struct json params;
        struct template *t;
        ERR_LOCAL(em);
        const struct template_source source = {.text = {in, STR("mustache"), STR_NULL},
                                               .content_type = str_of(types[i])};
        fuzz_arena(&a);
        buf_init(&b, NULL, FUZZ_ARENA_BYTES);
        FUZZ_HOLDS(json_parse(&params, str_of(params_text), &a, &json_limits_default, NULL) == ERR_OK);
        enum err e = template_compile(&t, &source, &a, &em);
        e = e == ERR_OK ? template_render(t, &params, &b, &a, &em) : e;
        fuzz_error(e, &em);
        buf_fini(&b);
        arena_fini(&a);
    }
    stop_leave(&st);
}

const struct fuzz_target fuzz_query[] = {
    {"search", one_search, init, FUZZ_BYTES},
    {"query", one_query, init, FUZZ_BYTES},
    {"query_string", one_query_string, init, FUZZ_TEXT},
    {"simple_query_string", one_simple_query_string, init, FUZZ_TEXT},
    {"regexp", one_regexp, NULL, FUZZ_TEXT},
    {"script", one_script, NULL, FUZZ_TEXT},
    {"expression", one_expression, NULL, FUZZ_TEXT},
    {"mustache", one_mustache, NULL, FUZZ_TEXT},
    {0},
};
