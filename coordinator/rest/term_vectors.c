/* _termvectors and _mtermvectors. */
#include "coordinator/ops/term_vectors.h"
#include "common/base/arena_list.h"
#include "common/base/java_hash.h"
#include "common/base/map.h"
#include "common/base/memory_account.h"
#include "coordinator/rest/search.h"
#include "engine/index/engine.h"

struct call {
    struct rest *r;
    struct term_vectors_item *items, template;
    size_t n, cap;
    bool multi;
    struct term_vectors_many many;
    struct buf answer;
    struct jsonw w;
};

/* ---- reading ------------------------------------------------------------------------------------------- */

static enum err read_url(struct call *c, struct term_vectors_item *it)
{
    struct rest *r = c->r;
    struct term_vectors_options *o = &it->options;
    const struct str *fields;
    uint32_t n;
    bool unused;
    struct str type, preference;
    enum err e = rest_list(r, "fields", &fields, &n);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        e = term_vectors_add_field(it, str_trim(fields[i]), r->arena, &r->em);
    }
    e = e == ERR_OK ? rest_bool(r, "offsets", o->offsets, &o->offsets) : e;
    e = e == ERR_OK ? rest_bool(r, "positions", o->positions, &o->positions) : e;
    e = e == ERR_OK ? rest_bool(r, "payloads", true, &unused) : e;
    it->routing = rest_param(r, "routing").n > 0 ? rest_param(r, "routing") : STR_NULL;
    e = e == ERR_OK ? rest_bool(r, "realtime", it->realtime, &it->realtime) : e;
    e = e == ERR_OK ? rest_long(r, "version", it->version, &it->version) : e;
    type = rest_param(r, "version_type");
    if (e == ERR_OK && type.p != NULL) {
        e = get_version_type(type, &it->version_type, &r->em);
    }
    preference = rest_param(r, "preference");
    c->many.preference = c->multi ? STR_NULL : preference; /* of many it is not looked at */
    e = e == ERR_OK ? rest_bool(r, "termStatistics", o->term_statistics, &o->term_statistics) : e;
    e = e == ERR_OK ? rest_bool(r, "term_statistics", o->term_statistics, &o->term_statistics) : e;
    e = e == ERR_OK ? rest_bool(r, "fieldStatistics", o->field_statistics, &o->field_statistics) : e;
    return e == ERR_OK ? rest_bool(r, "field_statistics", o->field_statistics, &o->field_statistics) : e;
}

static enum err add_item(struct call *c, const struct term_vectors_item *it)
{
    return ARENA_ADD(c->r->arena, c->items, c->n, c->cap, *it) ? ERR_OK : err_no_memory(&c->r->em);
}

static enum err read_docs(struct call *c, struct json_pull *p)
{
    struct rest *r = c->r;
    enum err e = ERR_OK;
    while (e == ERR_OK && json_pull_until(p, TOK_END_ARRAY)) {
        struct term_vectors_item it = c->template;
        if (p->token != TOK_START_OBJECT) {
            return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "docs array element should include an object");
        }
        e = term_vectors_item_read(&it, p, r->arena, &r->em);
        e = e == ERR_OK ? add_item(c, &it) : e;
    }
    return e;
}

static enum err read_ids(struct call *c, struct json_pull *p, struct str **ids, size_t *n, size_t *cap)
{
    struct rest *r = c->r;
    struct str id;
    enum err e = ERR_OK;
    while (e == ERR_OK && json_pull_until(p, TOK_END_ARRAY)) {
        if (!json_token_is_value(p->token)) {
            return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "ids array element should only contain ids");
        }
        e = json_pull_text(p, &id, &r->em);
        if (e == ERR_OK && !ARENA_ADD(r->arena, *ids, *n, *cap, id)) {
            e = err_no_memory(&r->em);
        }
    }
    return e;
}

static enum err read_many(struct call *c, struct json_pull *p, struct str **ids, size_t *n, size_t *cap)
{
    struct rest *r = c->r;
    struct str name = STR_NULL;
    enum err e = ERR_OK;
    while (e == ERR_OK && json_pull_member(p, &name)) {
        if (p->token == TOK_START_ARRAY) {
            e = str_is(name, "docs") ? read_docs(c, p)
                : str_is(name, "ids")
                    ? read_ids(c, p, ids, n, cap)
                    : err_set(&r->em, ERR_PARSE, "no parameter named [%.*s] and type ARRAY", STR_ARG(name));
        } else if (p->token == TOK_START_OBJECT) {
            e = str_is(name, "parameters")
                    ? term_vectors_item_read(&c->template, p, r->arena, &r->em)
                    : err_set(&r->em, ERR_PARSE, "no parameter named [%.*s] and type OBJECT", STR_ARG(name));
        } else {
            e = err_set(&r->em, ERR_PARSE, "_mtermvectors: Parameter [%.*s] not supported", STR_ARG(name));
        }
    }
    return e;
}

/* The cursor stands inside of the body, or *begun is false: there is none. */
static enum err begin_body(struct call *c, struct json_pull *p, bool *begun)
{
    struct rest *r = c->r;
    const struct json *body;
    enum err e = rest_body(r, &body);
    *begun = e == ERR_OK && body != NULL;
    if (*begun && body->type != JSON_OBJECT) {
        return err_set(&r->em, ERR_PARSE, "failed to parse term vectors request. the body must be an object");
    }
    if (*begun && !json_pull_init(p, body, r->body, r->arena)) {
        return err_no_memory(&r->em);
    }
    if (*begun) {
        (void)json_pull_more(p);
    }
    return e;
}

static enum err read_multi(struct call *c)
{
    struct rest *r = c->r;
    struct json_pull p;
    struct str *ids = NULL;
    const struct str *given;
    size_t n = 0, cap = 0;
    uint32_t n_given;
    bool begun = false;
    enum err e = read_url(c, &c->template);
    e = e == ERR_OK ? rest_list(r, "ids", &given, &n_given) : e;
    for (uint32_t i = 0; e == ERR_OK && i < n_given; i++) {
        e = ARENA_ADD(r->arena, ids, n, cap, str_trim(given[i])) ? ERR_OK : err_no_memory(&r->em);
    }
    e = e == ERR_OK ? begin_body(c, &p, &begun) : e;
    e = e == ERR_OK && begun ? read_many(c, &p, &ids, &n, &cap) : e;
    java_set_order(ids, n);
    struct map seen;
    map_init(&seen, r->arena);
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        struct term_vectors_item it = c->template;
        bool again = map_has(&seen, ids[i]);
        it.id = ids[i];
        e = again || map_put(&seen, ids[i], r) ? ERR_OK : err_no_memory(&r->em);
        e = e != ERR_OK || again ? e : add_item(c, &it);
    }
    return e;
}

static bool is_named(const struct term_vectors_item *it)
{
    return it->id.p != NULL || it->doc.p != NULL;
}

static enum err validate(struct call *c)
{
    struct buf b;
    unsigned n = 0;
    size_t bad = c->n;
    buf_init(&b, NULL, 1 * KIB);
    for (size_t i = 0; i < c->n; i++) {
        const struct term_vectors_item *it = &c->items[i];
        bad = it->index.p == NULL || !is_named(it) ? i : bad; /* the last one is told of */
    }
    if (c->n == 0) {
        buf_printf(&b, "%u: multi term vectors: no documents requested;", ++n);
    } else if (bad < c->n) {
        if (c->items[bad].index.p == NULL) {
            buf_printf(&b, "%u: index is missing;", ++n);
        }
        if (!is_named(&c->items[bad])) {
            buf_printf(&b, "%u: id or doc is missing;", ++n);
        }
        if (c->multi) {
            buf_printf(&b, "%u: at multi term vectors for doc %zu;", ++n, bad);
        }
    }
    enum err e =
        n > 0 ? err_set(&c->r->em, ERR_ACTION_VALIDATION, "Validation Failed: %.*s", STR_ARG(buf_view(&b)))
              : ERR_OK;
    buf_fini(&b);
    return e;
}

/* ---- answering ----------------------------------------------------------------------------------------- */

static void write_place(struct jsonw *w, const struct term_vectors_item *it,
                        const struct term_vectors_call *v, bool failed)
{
    jw_kstr(w, "_index", v->meta != NULL ? v->meta->name : it->index);
    jw_kstr(w, "_type", it->type.p != NULL ? it->type : STR("_doc"));
    if (it->id.p != NULL && (it->doc.p == NULL || failed)) {
        jw_kstr(w, "_id", it->id);
    }
}

static void write_vectors(struct call *c, const struct term_vectors_item *it,
                          const struct term_vectors_call *v)
{
    struct jsonw *w = &c->w;
    jw_obj(w);
    write_place(w, it, v, false);
    jw_ki64(w, "_version", v->rq.found ? v->rq.found_version : 0);
    jw_kbool(w, "found", v->rq.found);
    jw_ki64(w, "took", clock_mono_ms(c->r->co->o.clock) - c->r->start_ns / 1000000);
    if (v->rq.found && v->rq.vectors.n > 0) {
        jw_k(w, "term_vectors");
        jw_raw(w, v->rq.vectors);
    }
    jw_obj_end(w);
}

static void write_item(struct term_vectors_many *m, uint32_t i, struct term_vectors_call *v)
{
    struct call *c = m->user;
    const struct term_vectors_item *it = &c->items[i];
    const struct errmsg *em = &v->rq.rq.error;
    term_vectors_hide_other_type(v, it);
    if (!c->multi) {
        if (err_is(em)) {
            err_copy(&c->r->em, em);
        } else {
            write_vectors(c, it, v);
        }
        return;
    }
    if (!err_is(em)) {
        write_vectors(c, it, v);
        return;
    }
    jw_obj(&c->w);
    write_place(&c->w, it, v, true);
    jw_kobj(&c->w, "error");
    error_write(&c->w, em);
    jw_obj_end(&c->w);
    jw_obj_end(&c->w);
}

static void written(struct term_vectors_many *m)
{
    struct call *c = m->user;
    struct rest *r = c->r;
    if (err_is(&m->error)) {
        err_copy(&r->em, &m->error);
    }
    if (err_is(&r->em)) {
        buf_fini(&c->answer);
        rest_fail(r, NULL);
        return;
    }
    if (c->multi) {
        jw_arr_end(&c->w);
        jw_obj_end(&c->w);
    }
    rest_send(r, 200, &c->answer);
}

static void run(struct call *c)
{
    struct rest *r = c->r;
    if (validate(c) != ERR_OK || rest_check_preference(r, c->many.preference) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    memory_request_buf(&c->answer);
    jsonw_init(&c->w, &c->answer, false);
    if (c->multi) {
        jw_obj(&c->w);
        jw_karr(&c->w, "docs");
    }
    c->many = (struct term_vectors_many){.r = &r->env,
                                         .arena = r->arena,
                                         .items = c->items,
                                         .n = (uint32_t)c->n,
                                         .preference = c->many.preference,
                                         .cancelled = op_client_gone,
                                         .cancel_self = r->http,
                                         .each = write_item,
                                         .done = written,
                                         .user = c};
    term_vectors_run(&c->many);
}

/* ---- handlers ------------------------------------------------------------------------------------------ */

static struct call *call_new(struct rest *r, bool multi)
{
    struct call *c = ARENA_NEW(r->arena, struct call);
    if (c == NULL) {
        rest_no_memory(r);
        return NULL;
    }
    *c = (struct call){.r = r, .multi = multi};
    term_vectors_item_init(&c->template);
    c->template.index = rest_param(r, "index");
    c->template.type = rest_param(r, "type");
    return c;
}

static void finish(struct call *c, enum err e)
{
    if (e != ERR_OK) {
        rest_fail(c->r, NULL);
    } else if (rest_ready(c->r)) {
        run(c);
    }
}

static void term_vectors(struct rest *r)
{
    struct call *c = call_new(r, false);
    struct json_pull p;
    bool begun;
    if (c == NULL) {
        return;
    }
    c->template.id = rest_param(r, "id");
    enum err e = begin_body(c, &p, &begun);
    e = e == ERR_OK && begun ? term_vectors_item_read(&c->template, &p, r->arena, &r->em) : e;
    e = e == ERR_OK ? read_url(c, &c->template) : e;
    finish(c, e == ERR_OK ? add_item(c, &c->template) : e);
}

static void multi_term_vectors(struct rest *r)
{
    struct call *c = call_new(r, true);
    if (c != NULL) {
        finish(c, read_multi(c));
    }
}

const struct route routes_term_vectors[] = {
    {M_GET | M_POST, "/{index}/_termvectors", term_vectors},
    {M_GET | M_POST, "/{index}/_termvectors/{id}", term_vectors},
    {M_GET | M_POST, "/{index}/{type}/_termvectors", term_vectors},
    {M_GET | M_POST, "/{index}/{type}/{id}/_termvectors", term_vectors},
    {M_GET | M_POST, "/_mtermvectors", multi_term_vectors},
    {M_GET | M_POST, "/{index}/_mtermvectors", multi_term_vectors},
    {M_GET | M_POST, "/{index}/{type}/_mtermvectors", multi_term_vectors},
};
const size_t routes_term_vectors_n = ARRAY_LEN(routes_term_vectors);
