/* _mget: many documents by id, each read from its shard, answered in the order asked for. */
#include "coordinator/ask.h"
#include "coordinator/rest/get.h"
#include "engine/index/engine.h"

#include <stdatomic.h>

struct mget_item {
    struct get_call g; /* first: done() gets it */
    struct str index, routing;
    bool has_id, failed;
    struct errmsg error;
};

struct mget {
    struct rest *r;
    struct mget_item *items;
    uint32_t n;
    struct source_filter filter; /* of the URL */
    bool filter_given, realtime, refresh;
    const struct str *stored_fields;
    uint32_t n_stored_fields;
    struct str preference;
    _Atomic uint32_t pending;
};

/* ---- reading ------------------------------------------------------------------------------------------- */

static void item_init(struct mget *m, struct mget_item *it)
{
    *it = (struct mget_item){.index = rest_param(m->r, "index"), .routing = rest_param(m->r, "routing")};
    struct get_call *g = &it->g;
    g->r = m->r;
    g->type = STR("_doc");
    g->filter = m->filter;
    g->version = VERSION_ANY;
    g->version_type = VERSION_INTERNAL;
    g->rq.realtime = m->realtime;
    g->rq.refresh = m->refresh;
    g->rq.stored_fields = m->stored_fields;
    g->rq.n_stored_fields = m->n_stored_fields;
    g->rq.want_source = m->filter.enabled && (m->n_stored_fields == 0 || m->filter_given);
    err_clear(&it->error);
}

static enum err item_source(struct mget *m, struct mget_item *it, const struct json *v)
{
    struct rest *r = m->r;
    if (v->type == JSON_NUMBER || v->type == JSON_NULL) {
        return err_set(&r->em, ERR_PARSE, "illegal type for _source: [%s]", json_token_name(v));
    }
    it->g.filter = (struct source_filter){.enabled = true};
    enum err e = source_filter_parse(&it->g.filter, v, r->body, r->arena, &r->em);
    it->g.rq.want_source = it->g.filter.enabled;
    return e;
}

static enum err item_member(struct mget *m, struct mget_item *it, const struct json_member *f)
{
    struct rest *r = m->r;
    struct str text = json_text(&f->value);
    bool scalar = text.p != NULL;
    if (str_is(f->key, "_source")) {
        return item_source(m, it, &f->value);
    }
    if (str_is(f->key, "stored_fields") && (scalar || f->value.type == JSON_ARRAY)) {
        it->g.rq.want_source = m->filter_given && m->filter.enabled;
        return jr_strings(&f->value, r->arena, &it->g.rq.stored_fields, &it->g.rq.n_stored_fields)
                   ? ERR_OK
                   : err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "stored_fields must be names");
    }
    if (str_is(f->key, "fields")) {
        return jr_fail(r->body, f->value.off, &r->em,
                       "Unsupported field [fields] used, expected [stored_fields] instead");
    }
    if (str_is(f->key, "_index") && scalar) {
        it->index = text;
    } else if (str_is(f->key, "_id") && scalar) {
        it->g.rq.id = text;
        it->has_id = true;
    } else if (str_is(f->key, "routing") && scalar) {
        it->routing = text;
    } else if (str_is(f->key, "version") && scalar) {
        return jr_long(&f->value, &it->g.version, &r->em);
    } else if (str_is(f->key, "version_type") && scalar) {
        return get_version_type(text, &it->g.version_type, &r->em);
    } else if (!(str_is(f->key, "_type") && scalar)) {
        return err_set(&r->em, ERR_PARSE, "failed to parse multi get request. unknown field [%.*s]",
                       STR_ARG(f->key));
    }
    return ERR_OK;
}

static enum err read_item(struct mget *m, struct mget_item *it, const struct json *v, bool is_doc)
{
    item_init(m, it);
    if (!is_doc) {
        it->g.rq.id = json_text(v);
        it->has_id = it->g.rq.id.p != NULL;
        return it->has_id
                   ? ERR_OK
                   : err_set(&m->r->em, ERR_ILLEGAL_ARGUMENT, "ids array element should only contain ids");
    }
    if (v->type != JSON_OBJECT) {
        return err_set(&m->r->em, ERR_ILLEGAL_ARGUMENT, "docs array element should include an object");
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = item_member(m, it, &v->members[i]);
    }
    return e;
}

/* "docs" and "ids" may both be there, and add up. */
static enum err read_body(struct mget *m, const struct json *body)
{
    struct rest *r = m->r;
    uint32_t most = 0;
    if (body->type != JSON_OBJECT) {
        return jr_fail(r->body, body->off, &r->em, "unexpected token [%s], expected [START_OBJECT]",
                       json_token_name(body));
    }
    for (uint32_t i = 0; i < body->n; i++) {
        most += body->members[i].value.type == JSON_ARRAY ? body->members[i].value.n : 0;
    }
    m->items = ARENA_ARRAY(r->arena, struct mget_item, most);
    if (m->items == NULL && most > 0) {
        return err_no_memory(&r->em);
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < body->n; i++) {
        const struct json_member *f = &body->members[i];
        bool docs = str_is(f->key, "docs");
        if (f->value.type != JSON_ARRAY) {
            return jr_fail(r->body, f->value.off, &r->em,
                           "unexpected token [%s], expected [FIELD_NAME] or [START_ARRAY]",
                           json_token_name(&f->value));
        }
        if (!docs && !str_is(f->key, "ids")) {
            return jr_fail(r->body, f->value.off, &r->em,
                           "unknown key [%.*s] for a START_ARRAY, expected [docs] or [ids]", STR_ARG(f->key));
        }
        for (uint32_t k = 0; e == ERR_OK && k < f->value.n; k++) {
            e = read_item(m, &m->items[m->n++], &f->value.items[k], docs);
        }
    }
    return e;
}

static enum err validate(struct mget *m)
{
    struct buf b;
    unsigned n = 0;
    buf_init(&b, NULL, 16 * KIB);
    if (m->n == 0) {
        buf_printf(&b, "%u: no documents to get;", ++n);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->items[i].index.n == 0) {
            buf_printf(&b, "%u: index is missing for doc %u;", ++n, i);
        }
        if (!m->items[i].has_id) {
            buf_printf(&b, "%u: id is missing for doc %u;", ++n, i);
        }
    }
    enum err e =
        n > 0 ? err_set(&m->r->em, ERR_ACTION_VALIDATION, "Validation Failed: %.*s", STR_ARG(buf_view(&b)))
              : ERR_OK;
    buf_fini(&b);
    return e;
}

/* ---- answering ----------------------------------------------------------------------------------------- */

static void write_item(struct jsonw *w, struct mget_item *it)
{
    struct errmsg clash;
    const struct errmsg *em = it->failed ? &it->error : it->g.rq.rq.error.n > 0 ? &it->g.rq.rq.error : NULL;
    if (em == NULL && get_version_clashes(&it->g, &clash)) {
        em = &clash;
    }
    if (em == NULL) {
        get_write(&it->g, w);
        return;
    }
    jw_obj(w);
    jw_kstr(w, "_index", it->g.meta != NULL ? it->g.meta->name : it->index);
    jw_k(w, "_type");
    jw_null(w);
    jw_kstr(w, "_id", it->g.rq.id);
    jw_k(w, "error");
    jw_obj(w);
    error_write(w, em);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void answer(struct mget *m)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    jw_k(&w, "docs");
    jw_arr(&w);
    for (uint32_t i = 0; i < m->n; i++) {
        write_item(&w, &m->items[i]);
        if (!m->items[i].failed) {
            shard_rq_fini(&m->items[i].g.rq.rq);
        }
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
    rest_send(m->r, 200, &b);
}

static void one_done(struct mget *m)
{
    if (atomic_fetch_sub(&m->pending, 1) == 1) {
        answer(m);
    }
}

static void item_done(struct shard_rq *rq)
{
    one_done(rq->user);
}

/* The count begins one too high, so that no answer is written while requests are still being sent. */
static void run(struct mget *m)
{
    struct ask_where where = ask_anywhere(m->r->co, m->r->state, m->preference);
    for (uint32_t i = 0; i < m->n; i++) {
        struct mget_item *it = &m->items[i];
        it->failed = get_locate(m->r, &it->g, it->index, it->routing, m->r->arena, &it->error) != ERR_OK;
        if (!it->failed) {
            struct shard_ref shard = it->g.rq.rq.shard;
            shard_rq_init(&it->g.rq.rq, item_done, m);
            it->g.rq.rq.shard = shard;
        }
    }
    m->pending = m->n + 1;
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->items[i].failed) {
            one_done(m);
        } else {
            ask_get(m->r->co, &where, &m->items[i].g.rq);
        }
    }
    one_done(m);
}

static void mget(struct rest *r)
{
    const struct json *body, *filter = rest_source_filter(r);
    struct mget *m = ARENA_NEW(r->arena, struct mget);
    struct str preference = rest_param(r, "preference");
    enum err e = m != NULL ? ERR_OK : err_no_memory(&r->em);
    if (m != NULL) {
        *m = (struct mget){
            .r = r, .preference = preference, .filter.enabled = true, .filter_given = filter != NULL};
    }
    rest_accept(r, "type");
    if (e == ERR_OK && filter != NULL) {
        e = source_filter_parse(&m->filter, filter, STR(""), r->arena, &r->em);
    }
    e = e == ERR_OK ? rest_bool(r, "realtime", true, &m->realtime) : e;
    e = e == ERR_OK ? rest_bool(r, "refresh", false, &m->refresh) : e;
    e = e == ERR_OK ? rest_list(r, "stored_fields", &m->stored_fields, &m->n_stored_fields) : e;
    e = e == ERR_OK ? rest_body_required(r, &body) : e;
    e = e == ERR_OK ? read_body(m, body) : e;
    e = e == ERR_OK ? validate(m) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else if (rest_ready(r)) {
        run(m);
    }
}

const struct route routes_mget[] = {
    {M_GET | M_POST, "/_mget", mget},
    {M_GET | M_POST, "/{index}/_mget", mget},
    {M_GET | M_POST, "/{index}/{type}/_mget", mget},
};
const size_t routes_mget_n = ARRAY_LEN(routes_mget);
