#include "coordinator/ops/term_vectors.h"

#include "common/base/arena_list.h"
#include "common/base/jsonr.h"
#include "engine/index/engine.h"
#include "engine/mapping/java.h"

#define WINDOW 32 /* documents that are taken apart at a time */

void term_vectors_item_init(struct term_vectors_item *it)
{
    *it = (struct term_vectors_item){
        .realtime = true,
        .version = VERSION_ANY,
        .version_type = VERSION_INTERNAL,
        .options = {
            .positions = true, .offsets = true, .field_statistics = true, .filter = TERM_FILTER_INIT}};
}

/* ---- reading ------------------------------------------------------------------------------------------- */

#define FAILED "failed to parse term vectors request. "

enum err term_vectors_add_field(struct term_vectors_item *it, struct str name, struct arena *arena,
                                struct errmsg *em)
{
    struct term_vectors_options *o = &it->options;
    struct str *grown = ARENA_ARRAY(arena, struct str, (size_t)o->n_fields + 1);
    if (grown == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < o->n_fields; i++) {
        grown[i] = o->fields[i];
    }
    grown[o->n_fields++] = name;
    o->fields = grown;
    return ERR_OK;
}

static enum err read_fields(struct term_vectors_item *it, struct json_pull *p, struct arena *arena,
                            struct errmsg *em)
{
    struct str *v = NULL, text;
    size_t n = 0, cap = 0;
    if (p->token != TOK_START_ARRAY) {
        return err_set(em, ERR_PARSE, FAILED "field [fields] must be an array");
    }
    while (json_pull_until(p, TOK_END_ARRAY)) {
        enum err e = json_pull_text(p, &text, em);
        if (e == ERR_OK && !ARENA_ADD(arena, v, n, cap, text)) {
            e = err_no_memory(em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (n > 0) {
        it->options.fields = v;
        it->options.n_fields = (uint32_t)n;
    }
    return ERR_OK;
}

static enum err read_analyzers(struct term_vectors_item *it, struct json_pull *p, struct arena *arena,
                               struct errmsg *em)
{
    const struct json *v = p->value;
    if (p->token != TOK_START_OBJECT) {
        return err_set(em, ERR_PARSE, FAILED "field [per_field_analyzer] must be an object");
    }
    struct str *pairs = ARENA_ARRAY(arena, struct str, 2 * (size_t)v->n);
    if (pairs == NULL && v->n > 0) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        if (m->value.type != JSON_STRING) {
            return err_set(em, ERR_PARSE,
                           "expecting the analyzer at [%.*s] to be a String, but found [class %s] instead",
                           STR_ARG(m->key), java_class(&m->value));
        }
        pairs[2 * i] = m->key;
        pairs[2 * i + 1] = m->value.s;
    }
    json_pull_skip(p);
    it->options.analyzers = pairs;
    it->options.n_analyzers = 2 * v->n;
    return ERR_OK;
}

static enum err read_filter(struct term_vectors_item *it, struct json_pull *p, struct errmsg *em)
{
    struct term_filter f = TERM_FILTER_INIT;
    const struct {
        const char *name;
        int32_t *to;
    } members[] = {{"max_num_terms", &f.max_num_terms},    {"min_term_freq", &f.min_term_freq},
                   {"max_term_freq", &f.max_term_freq},    {"min_doc_freq", &f.min_doc_freq},
                   {"max_doc_freq", &f.max_doc_freq},      {"min_word_length", &f.min_word_length},
                   {"max_word_length", &f.max_word_length}};
    struct str name = STR_NULL;
    enum err e = ERR_OK;
    if (p->token != TOK_START_OBJECT) {
        return err_set(em, ERR_PARSE, FAILED "field [filter] must be an object");
    }
    while (e == ERR_OK && json_pull_member(p, &name)) {
        size_t i = 0;
        while (i < ARRAY_LEN(members) && !str_is(name, members[i].name)) {
            i++;
        }
        e = i < ARRAY_LEN(members)
                ? json_pull_i32(p, members[i].to, em)
                : err_set(em, ERR_PARSE,
                          FAILED "the field [%.*s] is not valid for filter parameter for term vector request",
                          STR_ARG(name));
    }
    it->options.filter = f;
    it->options.filtered = true;
    return e;
}

static enum err read_doc(struct term_vectors_item *it, struct json_pull *p, struct arena *arena,
                         struct errmsg *em)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_value(&w, p->value);
    it->doc = b.failed ? STR_NULL : arena_str(arena, buf_view(&b));
    buf_fini(&b);
    json_pull_skip(p);
    return it->doc.p != NULL ? ERR_OK : err_no_memory(em);
}

static enum err read_member(struct term_vectors_item *it, struct json_pull *p, struct str name,
                            struct arena *arena, struct errmsg *em)
{
    struct term_vectors_options *o = &it->options;
    bool unused;
    struct str text;
    const struct {
        const char *name, *other;
        bool *to;
    } flags[] = {{"offsets", NULL, &o->offsets},
                 {"positions", NULL, &o->positions},
                 {"payloads", NULL, &unused}, /* no document has any */
                 {"term_statistics", "termStatistics", &o->term_statistics},
                 {"field_statistics", "fieldStatistics", &o->field_statistics}};
    const struct {
        const char *name;
        struct str *to;
    } texts[] = {{"_index", &it->index}, {"_type", &it->type}, {"_id", &it->id}, {"routing", &it->routing}};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        if (str_is(name, flags[i].name) || (flags[i].other != NULL && str_is(name, flags[i].other))) {
            return json_pull_bool(p, flags[i].to, em);
        }
    }
    if ((str_is(name, "_id") && it->doc.p != NULL)
        || (str_is(name, "doc") && (it->id.p != NULL || it->doc.p != NULL))) {
        return err_set(em, ERR_PARSE, FAILED "either [id] or [doc] can be specified, but not both!");
    }
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (str_is(name, texts[i].name)) {
            return json_pull_text(p, texts[i].to, em);
        }
    }
    if (str_is(name, "fields")) {
        return read_fields(it, p, arena, em);
    }
    if (str_is(name, "dfs")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "distributed frequencies is not supported anymore for term vectors");
    }
    if (str_is(name, "per_field_analyzer") || str_is(name, "perFieldAnalyzer")) {
        return read_analyzers(it, p, arena, em);
    }
    if (str_is(name, "filter")) {
        return read_filter(it, p, em);
    }
    if (str_is(name, "doc")) {
        return read_doc(it, p, arena, em);
    }
    if (str_is(name, "version")) {
        return jr_long(p->value, &it->version, em);
    }
    if (str_is(name, "version_type")) {
        enum err e = json_pull_text(p, &text, em);
        return e == ERR_OK ? get_version_type(text, &it->version_type, em) : e;
    }
    return err_set(em, ERR_PARSE, FAILED "unknown field [%.*s]", STR_ARG(name));
}

enum err term_vectors_item_read(struct term_vectors_item *it, struct json_pull *p, struct arena *arena,
                                struct errmsg *em)
{
    struct str name = STR_NULL;
    enum err e = ERR_OK;
    while (e == ERR_OK && json_pull_member(p, &name)) {
        e = read_member(it, p, name, arena, em);
    }
    return e;
}

/* ---- finding ------------------------------------------------------------------------------------------- */

static void call_done(struct shard_rq *rq);

bool term_vectors_locate(struct op_env *r, struct term_vectors_call *c, const struct term_vectors_item *it,
                         struct arena *arena)
{
    struct get_call g = {.rq.id = it->id.p != NULL ? it->id : STR("0")};
    struct errmsg em = err_in(arena);
    *c = (struct term_vectors_call){.failed = true};
    enum err e = get_locate(r, &g, it->index, it->routing, arena, &em);
    c->meta = g.meta;
    if (e == ERR_OK && it->id.p != NULL && it->id.n == 0) {
        e = err_set(&em, ERR_ILLEGAL_ARGUMENT, "Ids can't be empty");
    }
    if (e != ERR_OK) {
        c->rq.rq.error = em;
        return false;
    }
    shard_rq_init(&c->rq.rq, &shard_op_term_vectors, call_done, NULL);
    c->failed = false;
    c->rq.rq.shard = g.rq.rq.shard;
    c->rq.id = it->doc.p == NULL ? it->id : STR_NULL;
    c->rq.doc = it->doc;
    c->rq.routing = it->routing;
    c->rq.realtime = it->realtime;
    c->rq.version = it->version;
    c->rq.options = it->options;
    return true;
}

void term_vectors_hide_other_type(struct term_vectors_call *c, const struct term_vectors_item *it)
{
    if (it->type.p != NULL && !str_is(it->type, "_doc")) {
        c->rq.found = false;
        c->rq.found_version = 0;
    }
}

/* ---- many ---------------------------------------------------------------------------------------------- */

/* The next ones. false: answers are still to come, and m may be gone. */
static bool run_window(struct term_vectors_many *m)
{
    uint32_t n = MIN_OF(m->n - m->begun, (uint32_t)WINDOW), left = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct term_vectors_call *c = &m->calls[i];
        if (term_vectors_locate(m->r, c, &m->items[m->begun + i], m->arena)) {
            c->rq.rq.user = m;
            c->rq.rq.cancelled = m->cancelled;
            c->rq.rq.cancel_self = m->cancel_self;
            left++;
        }
    }
    m->begun += n;
    m->n_calls = n;
    m->pending = left;
    if (left == 0) {
        return true;
    }
    struct coordinator *co = m->r->co;
    struct term_vectors_call *calls = m->calls;
    const struct ask_where where = m->where;
    for (uint32_t i = 0; left > 0; i++) {
        if (!calls[i].failed) {
            left--;
            ask_term_vectors(co, &where, &calls[i].rq);
        }
    }
    return false;
}

static void report(struct term_vectors_many *m)
{
    for (uint32_t i = 0; i < m->n_calls; i++) {
        struct term_vectors_call *c = &m->calls[i];
        m->each(m, m->begun - m->n_calls + i, c);
        if (!c->failed) {
            shard_rq_fini(&c->rq.rq);
        }
    }
}

static void many_continue(struct term_vectors_many *m)
{
    while (m->begun < m->n && (m->cancelled == NULL || !m->cancelled(m->cancel_self))) {
        if (!run_window(m)) {
            return;
        }
        report(m);
    }
    m->done(m);
}

static void call_done(struct shard_rq *rq)
{
    struct term_vectors_many *m = rq->user;
    if (atomic_fetch_sub(&m->pending, 1) == 1) {
        report(m);
        many_continue(m);
    }
}

void term_vectors_run(struct term_vectors_many *m)
{
    m->begun = m->n_calls = 0;
    m->error = err_in(m->arena);
    m->calls = ARENA_ARRAY(m->arena, struct term_vectors_call, MIN_OF(m->n, (uint32_t)WINDOW));
    if (m->calls == NULL && m->n > 0) {
        err_no_memory(&m->error);
        m->done(m);
        return;
    }
    m->where = ask_anywhere(m->r->co, m->r->state, m->preference);
    many_continue(m);
}
