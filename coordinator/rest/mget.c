/* _mget: many documents by id, each read from its shard, answered in the order asked for. */
#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/stop.h"
#include "coordinator/core/ask.h"
#include "coordinator/ops/get.h"
#include "coordinator/rest/search.h"
#include "coordinator/rest/source_param.h"
#include "coordinator/rest/types.h"
#include "engine/index/engine.h"

#include <stdatomic.h>

#define WINDOW \
    64 /* documents that are read at a time: a request with its errors and its answer takes some 20 KB */

struct mget_item { /* what is asked for */
    struct str index, id, routing;
    struct str type; /* p == NULL: `_doc` */
    bool has_id, want_source, filter_given;
    struct source_filter filter;
    const struct str *stored_fields;
    uint32_t n_stored_fields;
    int64_t version;
    int version_type;
};

struct mget_slot {     /* one that is being read */
    struct get_call g; /* first: done() gets it */
    bool failed;       /* to find its shard */
};

struct mget {
    struct rest *r;
    struct mget_item *items;
    uint32_t n, begun;
    struct mget_slot *slots; /* the items before `begun` */
    uint32_t n_slots;
    struct ask_where where;
    struct source_filter filter; /* of the URL */
    bool filter_given, realtime, refresh;
    const struct str *stored_fields;
    uint32_t n_stored_fields;
    struct str preference;
    struct buf answer;
    struct jsonw w;
    _Atomic uint32_t pending;
};

/* ---- reading ------------------------------------------------------------------------------------------- */

static void item_init(struct mget *m, struct mget_item *it)
{
    *it = (struct mget_item){.index = rest_param(m->r, "index"),
                             .type = rest_type(m->r, TYPED_MGET),
                             .routing = rest_param(m->r, "routing"),
                             .filter = m->filter,
                             .stored_fields = m->stored_fields,
                             .n_stored_fields = m->n_stored_fields,
                             .want_source = m->filter.enabled
                                            && (m->n_stored_fields == 0 || m->filter_given
                                                || get_names_source(m->stored_fields, m->n_stored_fields)),
                             .version = VERSION_ANY,
                             .version_type = VERSION_INTERNAL};
}

/* Patterns by their key: one value, or a list. Numbers and truth values are taken for texts. */
static enum err item_patterns(struct rest *r, const struct json *v, struct json *named)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json *given = &v->members[i].value;
        bool list = given->type == JSON_ARRAY;
        if (!list && json_text(given).p == NULL) {
            return err_set(&r->em, ERR_PARSE, "unexpected token while parsing source settings");
        }
        struct json texts = {.type = JSON_ARRAY, .n = list ? given->n : 1};
        texts.items = ARENA_ARRAY(r->arena, struct json, texts.n);
        for (uint32_t k = 0; texts.items != NULL && k < texts.n; k++) {
            const struct json *one = list ? &given->items[k] : given;
            texts.items[k] = json_text(one).p != NULL ? json_mk_str(json_text(one)) : *one;
        }
        if ((texts.items == NULL && texts.n > 0) || !json_put(named, r->arena, v->members[i].key, texts)) {
            return err_no_memory(&r->em);
        }
    }
    return ERR_OK;
}

static enum err item_source(struct mget *m, struct mget_item *it, const struct json *v)
{
    struct rest *r = m->r;
    bool whole;
    if (v->type == JSON_NUMBER) {
        return err_set(&r->em, ERR_PARSE, "illegal type for _source: [%s]", json_token_name(v));
    }
    it->filter = (struct source_filter){.enabled = true};
    it->filter_given = true;
    if (v->type == JSON_STRING && v->s.n > 0 && num_parse_bool(v->s, &whole)) {
        it->filter.enabled = it->want_source = whole;
        return ERR_OK;
    }
    struct json named = json_mk_object();
    enum err e = v->type == JSON_OBJECT ? item_patterns(r, v, &named) : ERR_OK;
    if (e == ERR_OK) {
        e = source_filter_parse(&it->filter, v->type == JSON_OBJECT ? &named : v, r->body, r->arena, &r->em);
    }
    it->want_source = it->filter.enabled;
    return e;
}

static enum err item_member(struct mget *m, struct mget_item *it, const struct json_member *f);

/* Brackets where none belong are read over: the values in them are the member's. With an object's end the item ends. */
static enum err item_inside(struct mget *m, struct mget_item *it, const struct json_member *f)
{
    const struct json *v = &f->value;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        struct json_member inside = *f;
        inside.value = v->type == JSON_ARRAY ? v->items[i] : v->members[i].value;
        e = item_member(m, it, v->type == JSON_ARRAY ? &inside : &v->members[i]);
    }
    return e != ERR_OK || v->type == JSON_ARRAY
               ? e
               : err_set(&m->r->em, ERR_ILLEGAL_ARGUMENT, "docs array element should include an object");
}

static enum err item_member(struct mget *m, struct mget_item *it, const struct json_member *f)
{
    struct rest *r = m->r;
    struct str text = json_text(&f->value);
    bool scalar = text.p != NULL, source = str_is(f->key, "_source"), list = f->value.type == JSON_ARRAY;
    if (f->value.type == JSON_NULL) {
        return ERR_OK; /* says nothing */
    }
    if ((list && !source && !str_is(f->key, "stored_fields") && !str_is(f->key, "fields"))
        || (f->value.type == JSON_OBJECT && !source)) {
        return item_inside(m, it, f);
    }
    if (source) {
        return item_source(m, it, &f->value);
    }
    if (str_is(f->key, "stored_fields") && (scalar || f->value.type == JSON_ARRAY)) {
        if (!jr_strings(&f->value, r->arena, &it->stored_fields, &it->n_stored_fields)) {
            return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "stored_fields must be names");
        }
        if (!it->filter_given) {
            it->want_source = m->filter_given ? m->filter.enabled
                                              : get_names_source(it->stored_fields, it->n_stored_fields);
        }
        return ERR_OK;
    }
    if (str_is(f->key, "fields")) {
        return jr_fail(r->body, f->value.off, &r->em,
                       "Unsupported field [fields] used, expected [stored_fields] instead");
    }
    if (str_is(f->key, "_index") && scalar) {
        it->index = text;
    } else if (str_is(f->key, "_id") && scalar) {
        it->id = text;
        it->has_id = true;
    } else if (str_is(f->key, "routing") && scalar) {
        it->routing = text;
    } else if (str_is(f->key, "version") && scalar) {
        return jr_long(&f->value, &it->version, &r->em);
    } else if (str_is(f->key, "version_type") && scalar) {
        return get_version_type(text, &it->version_type, &r->em);
    } else if (str_is(f->key, "_type")) {
        it->type = text;
        rest_deprecated(r, TYPED_MGET);
    } else {
        return err_set(&r->em, ERR_PARSE, "failed to parse multi get request. unknown field [%.*s]",
                       STR_ARG(f->key));
    }
    return ERR_OK;
}

static enum err read_item(struct mget *m, struct mget_item *it, const struct json *v, bool is_doc)
{
    item_init(m, it);
    if (!is_doc) {
        it->id = json_text(v);
        it->has_id = it->id.p != NULL;
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

static void write_slot(struct jsonw *w, struct mget_slot *s, const struct mget_item *it)
{
    ERR_LOCAL(clash);
    const struct errmsg *em = err_is(&s->g.rq.rq.error) ? &s->g.rq.rq.error : NULL;
    get_hide_other_type(&s->g);
    if (em == NULL && get_version_clashes(&s->g, &clash)) {
        em = &clash;
    }
    if (em == NULL) {
        get_write(&s->g, w);
        return;
    }
    jw_obj(w);
    jw_kstr(w, "_index", s->g.meta != NULL ? s->g.meta->name : it->index);
    jw_k(w, "_type");
    if (it->type.p != NULL) {
        jw_str(w, it->type);
    } else {
        jw_null(w);
    }
    jw_kstr(w, "_id", it->id);
    jw_kobj(w, "error");
    error_write(w, em);
    jw_obj_end(w);
    jw_obj_end(w);
}

/* What was read, in the order asked for. */
static void write_slots(struct mget *m)
{
    struct stop st = {.asked = op_client_gone, .self = m->r->http};
    stop_enter(&st);
    for (uint32_t i = 0; i < m->n_slots; i++) {
        struct mget_slot *s = &m->slots[i];
        if (!stop_now()) {
            write_slot(&m->w, s, &m->items[m->begun - m->n_slots + i]);
        }
        if (!s->failed) {
            shard_rq_fini(&s->g.rq.rq);
        }
    }
    stop_leave(&st);
}

static void slot_done(struct shard_rq *rq);

static void locate(struct mget *m, struct mget_slot *s, const struct mget_item *it)
{
    struct errmsg em = err_in(m->r->arena);
    *s = (struct mget_slot){.g = {.r = &m->r->env,
                                  .type = it->type,
                                  .filter = it->filter,
                                  .version = it->version,
                                  .version_type = it->version_type,
                                  .rq = {.id = it->id,
                                         .realtime = m->realtime,
                                         .refresh = m->refresh,
                                         .stored_fields = it->stored_fields,
                                         .n_stored_fields = it->n_stored_fields,
                                         .want_source = it->want_source}}};
    s->failed = get_locate(&m->r->env, &s->g, it->index, it->routing, m->r->arena, &em) != ERR_OK;
    if (!s->failed && it->id.n == 0) {
        s->failed = err_set(&em, ERR_ILLEGAL_ARGUMENT, "Ids can't be empty") != ERR_OK;
    } else if (!s->failed && rest_check_preference(m->r, m->preference) != ERR_OK) {
        s->failed = true;
        em = m->r->em;
    }
    if (s->failed) {
        s->g.rq.rq.error = em;
        return;
    }
    struct shard_ref shard = s->g.rq.rq.shard;
    shard_rq_init(&s->g.rq.rq, &shard_op_get, slot_done, m);
    s->g.rq.rq.shard = shard;
    s->g.rq.rq.cancelled = op_client_gone;
    s->g.rq.rq.cancel_self = m->r->http;
}

/* The next ones. false: answers are still to come, and m may be gone. */
static bool read_slots(struct mget *m)
{
    uint32_t n = MIN_OF(m->n - m->begun, (uint32_t)WINDOW), failed = 0;
    for (uint32_t i = 0; i < n; i++) {
        locate(m, &m->slots[i], &m->items[m->begun + i]);
        failed += m->slots[i].failed;
    }
    m->begun += n;
    m->n_slots = n;
    struct coordinator *co = m->r->co;
    struct mget_slot *slots = m->slots;
    const struct ask_where where = m->where;
    uint32_t left = n - failed;
    m->pending = left;
    for (uint32_t i = 0; left > 0; i++) {
        if (!slots[i].failed) {
            left--;
            ask_get(co, &where, &slots[i].g.rq);
        }
    }
    return failed == n;
}

/* Goes on for as long as there is nothing to ask for. */
static void mget_continue(struct mget *m)
{
    while (m->begun < m->n && !m->answer.failed && !op_client_gone(m->r->http)) {
        if (!read_slots(m)) {
            return;
        }
        write_slots(m);
    }
    jw_arr_end(&m->w);
    jw_obj_end(&m->w);
    rest_send(m->r, 200, &m->answer);
}

static void slot_done(struct shard_rq *rq)
{
    struct mget *m = rq->user;
    if (atomic_fetch_sub(&m->pending, 1) == 1) {
        write_slots(m);
        mget_continue(m);
    }
}

static void run(struct mget *m)
{
    struct rest *r = m->r;
    m->slots = ARENA_ARRAY(r->arena, struct mget_slot, MIN_OF(m->n, (uint32_t)WINDOW));
    if (m->slots == NULL) {
        rest_no_memory(r);
        return;
    }
    m->where = ask_anywhere(r->co, r->state, m->preference);
    memory_request_buf(&m->answer);
    jsonw_init(&m->w, &m->answer, false);
    jw_obj(&m->w);
    jw_karr(&m->w, "docs");
    mget_continue(m);
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
    rest_accept(r, "routing"); /* of each document that has none */
    if (e == ERR_OK && rest_has(r, "fields")) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                    "The parameter [fields] is no longer supported, please use [stored_fields] to retrieve "
                    "stored fields or _source filtering if the field is not stored");
    }
    if (e == ERR_OK && filter != NULL) {
        e = source_filter_parse(&m->filter, filter, STR(""), r->arena, &r->em);
    }
    e = e == ERR_OK ? rest_bool(r, "realtime", true, &m->realtime) : e;
    e = e == ERR_OK ? rest_bool(r, "refresh", false, &m->refresh) : e;
    e = e == ERR_OK ? rest_list(r, "stored_fields", &m->stored_fields, &m->n_stored_fields) : e;
    e = e == ERR_OK ? rest_body(r, &body) : e;
    if (e == ERR_OK && body == NULL) {
        e = err_set(&r->em, ERR_PARSE, "request body or source parameter is required");
    }
    e = e == ERR_OK ? read_body(m, body) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else if (!rest_ready(r)) {
        return;
    } else if (validate(m) != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        run(m);
    }
}

const struct route routes_mget[] = {
    {M_GET | M_POST, "/_mget", mget},
    {M_GET | M_POST, "/{index}/_mget", mget},
    {M_GET | M_POST, "/{index}/{type}/_mget", mget},
};
const size_t routes_mget_n = ARRAY_LEN(routes_mget);
