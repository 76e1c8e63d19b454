/* One document at a time: index, create, delete, update. */
#include "coordinator/rest/get.h"
#include "coordinator/writes.h"
#include "engine/index/engine.h"

/* ---- writing ----------------------------------------------------------------------------------------------------------------- */

static struct write_set *new_write(struct rest *r)
{
    struct write_set *w = ARENA_NEW(r->arena, struct write_set);
    struct write_entry *e = w != NULL ? ARENA_NEW(r->arena, struct write_entry) : NULL;
    if (e == NULL) {
        err_no_memory(&r->em);
        return NULL;
    }
    *w = (struct write_set){.r = r, .v = e, .n = 1};
    e->item = (struct write_item){.auto_id_ms = -1, .version = VERSION_ANY, .if_seq_no = SEQ_UNASSIGNED};
    return w;
}

/* The parameters that every write has. */
static enum err common_params(struct rest *r, struct write_set *w)
{
    struct write_item *it = &w->v[0].item;
    enum err e = writes_params(r, w);
    w->v[0].target = rest_param(r, "index");
    it->id = rest_param(r, "id");
    it->routing = rest_param(r, "routing");
    if (it->routing.n == 0) {
        it->routing = STR_NULL;
    }
    e = e == ERR_OK ? rest_long(r, "version", VERSION_ANY, &it->version) : e;
    e = e == ERR_OK ? get_version_type(rest_param(r, "version_type"), &it->version_type, &r->em) : e;
    e = e == ERR_OK ? rest_long(r, "if_seq_no", SEQ_UNASSIGNED, &it->if_seq_no) : e;
    e = e == ERR_OK ? rest_long(r, "if_primary_term", 0, &it->if_primary_term) : e;
    if (e == ERR_OK && rest_has(r, "if_seq_no") && it->if_seq_no < 0) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "sequence numbers must be non negative. got [%lld].", (long long)it->if_seq_no);
    }
    return e == ERR_OK ? rest_bool(r, "require_alias", false, &w->v[0].require_alias) : e;
}

static void answer(struct write_set *set)
{
    struct rest *r = set->r;
    struct write_entry *e = &set->v[0];
    const struct errmsg *em = e->error != NULL ? e->error : e->item.error;
    if (em != NULL) {
        r->em = *em;
        writes_fini(set);
        rest_fail(r, NULL);
        return;
    }
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    writes_result(&w, e, set->forced_refresh, false);
    jw_obj_end(&w);
    int status = writes_status(e);
    if (status == 201) {
        struct buf where;
        buf_init(&where, NULL, 4 * KIB);
        buf_char(&where, '/');
        uri_encode(&where, e->meta->name);
        buf_z(&where, "/_doc/");
        uri_encode(&where, e->item.id);
        if (e->item.routing.p != NULL) {
            buf_z(&where, "?routing=");
            uri_encode(&where, e->item.routing);
        }
        rest_header(r, "Location", arena_str(r->arena, buf_view(&where)));
        buf_fini(&where);
    }
    writes_fini(set);
    rest_send(r, status, &b);
}

static void run(struct rest *r, struct write_set *w, enum err e)
{
    e = e == ERR_OK ? writes_validate(&w->v[0], &r->em) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else if (rest_ready(r)) {
        w->done = answer;
        writes_run(w);
    }
}

static void index_document(struct rest *r, bool create, bool auto_id)
{
    struct write_set *w = new_write(r);
    struct write_item *it = w != NULL ? &w->v[0].item : NULL;
    enum err e = w != NULL ? common_params(r, w) : ERR_NO_MEMORY;
    struct str op = rest_param(r, "op_type");
    rest_accept(r, "pipeline");
    if (e == ERR_OK && op.p != NULL && !str_eq_nocase(op, STR("index")) && !str_eq_nocase(op, STR("create"))) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "opType must be 'create' or 'index', found: [%.*s]", STR_ARG(op));
    }
    if (e == ERR_OK && r->body.n == 0) {
        e = err_set(&r->em, ERR_PARSE, "request body is required");
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    it->kind = WRITE_INDEX;
    it->create = create || str_eq_nocase(op, STR("create"));
    it->source = r->body;
    w->v[0].action = it->create ? "create" : "index";
    if (auto_id) {
        it->id = writes_auto_id(r);
        it->auto_id_ms = clock_wall_ms(r->co->o.clock);
        it->create = true;
        e = it->id.p != NULL ? ERR_OK : err_no_memory(&r->em);
    }
    run(r, w, e);
}

static void put_doc(struct rest *r)
{
    index_document(r, false, false);
}

static void put_create(struct rest *r)
{
    index_document(r, true, false);
}

static void post_doc(struct rest *r)
{
    index_document(r, false, true);
}

static void delete_doc(struct rest *r)
{
    struct write_set *w = new_write(r);
    enum err e = w != NULL ? common_params(r, w) : ERR_NO_MEMORY;
    if (w != NULL) {
        w->v[0].item.kind = WRITE_DELETE;
        w->v[0].action = "delete";
    }
    run(r, w, e);
}

/* ---- update -------------------------------------------------------------------------------------------------------------------- */

static enum err update_member(struct rest *r, struct write_item *it, const struct json_member *m)
{
    static const char *const known[] = {"script", "scripted_upsert", "upsert", "doc", "doc_as_upsert", "detect_noop", "_source",
                                        "if_seq_no", "if_primary_term", NULL};
    const struct json *v = &m->value;
    bool object = str_is(m->key, "doc") || str_is(m->key, "upsert");
    bool flag = str_is(m->key, "doc_as_upsert") || str_is(m->key, "detect_noop") || str_is(m->key, "scripted_upsert");
    if (object && v->type != JSON_OBJECT) {
        return jr_fail_xc(r->body, v->off, &r->em, "[UpdateRequest] %.*s doesn't support values of type: %s", STR_ARG(m->key),
                          json_token_name(v));
    }
    if (flag) {
        bool ignored;
        enum err e = jr_bool(v, &ignored, &r->em);
        return e == ERR_OK ? e : jr_wrap_field(r->body, v->off, "UpdateRequest", m->key, &r->em);
    }
    if (str_is(m->key, "if_seq_no")) {
        return jr_long(v, &it->if_seq_no, &r->em);
    }
    if (str_is(m->key, "if_primary_term")) {
        return jr_long(v, &it->if_primary_term, &r->em);
    }
    if (str_is(m->key, "_source")) {
        it->want_get = !(v->type == JSON_BOOL && !v->b);
        it->get_filter = v;
        return ERR_OK;
    }
    return object || str_is(m->key, "script") ? ERR_OK : jr_unknown_field(r->body, m->key_off, "UpdateRequest", m->key, known, &r->em);
}

enum err update_body_check(struct rest *r, struct write_item *it, const struct json *body, struct errmsg *em);

enum err update_body_check(struct rest *r, struct write_item *it, const struct json *body, struct errmsg *em)
{
    if (body != NULL && body->type != JSON_OBJECT) {
        return jr_fail_xc(r->body, body->off, em, "[UpdateRequest] Expected START_OBJECT but was: %s", json_token_name(body));
    }
    for (uint32_t i = 0; body != NULL && i < body->n; i++) {
        enum err e = update_member(r, it, &body->members[i]);
        if (e != ERR_OK) {
            return e;
        }
    }
    const struct json *doc = json_get(body, "doc"), *script = json_get(body, "script"), *as_upsert = json_get(body, "doc_as_upsert");
    struct buf b;
    unsigned n = 0;
    buf_init(&b, NULL, KIB);
    if (doc == NULL && script == NULL) {
        buf_printf(&b, "%u: script or doc is missing;", ++n);
    }
    if (doc != NULL && script != NULL) {
        buf_printf(&b, "%u: can't provide both script and doc;", ++n);
    }
    if (doc == NULL && json_is(as_upsert, JSON_BOOL) && as_upsert->b) {
        buf_printf(&b, "%u: doc must be specified if doc_as_upsert is enabled;", ++n);
    }
    enum err e = n > 0 ? err_set(em, ERR_ACTION_VALIDATION, "Validation Failed: %.*s", STR_ARG(buf_view(&b))) : ERR_OK;
    buf_fini(&b);
    return e;
}

static void post_update(struct rest *r)
{
    struct write_set *w = new_write(r);
    const struct json *body = NULL;
    enum err e = w != NULL ? common_params(r, w) : ERR_NO_MEMORY;
    if (e == ERR_OK) {
        struct write_item *it = &w->v[0].item;
        it->kind = WRITE_UPDATE;
        w->v[0].action = "update";
        const struct json *filter = rest_source_filter(r);
        e = rest_int(r, "retry_on_conflict", 0, &it->retry_on_conflict);
        if (e == ERR_OK) {
            e = rest_body(r, &body);
            if (e == ERR_JSON || e == ERR_JSON_EOF) {
                uint32_t line, col;
                json_place(r->body, 0, &line, &col);
                e = err_wrap(&r->em, ERR_X_CONTENT, "[%u:%u] [UpdateRequest] failed to parse", line, col);
            }
        }
        e = e == ERR_OK ? update_body_check(r, it, body, &r->em) : e;
        it->source = r->body;
        if (filter != NULL) {
            it->get_filter = filter;
            it->want_get = !(filter->type == JSON_BOOL && !filter->b);
        }
    }
    run(r, w, e);
}

/* ---- paths with types, as 7.x still has them ------------------------------------------------------------------------------------- */

static bool type_is_fine(struct rest *r)
{
    struct str type = rest_param(r, "type");
    if (type.n > 0 && type.p[0] == '_' && !str_is(type, "_doc")) {
        err_set(&r->em, ERR_INVALID_TYPE_NAME, "mapping type name [%.*s] can't start with '_' unless it is called [_doc]", STR_ARG(type));
        rest_fail(r, NULL);
        return false;
    }
    return true;
}

static void typed_put(struct rest *r)
{
    if (type_is_fine(r)) {
        index_document(r, false, false);
    }
}

static void typed_post(struct rest *r)
{
    if (type_is_fine(r)) {
        index_document(r, false, true);
    }
}

static void typed_delete(struct rest *r)
{
    if (type_is_fine(r)) {
        delete_doc(r);
    }
}

const struct route routes_document[] = {
    {M_PUT | M_POST, "/{index}/_doc/{id}", put_doc},
    {M_DELETE, "/{index}/_doc/{id}", delete_doc},
    {M_POST, "/{index}/_doc", post_doc},
    {M_PUT | M_POST, "/{index}/_create/{id}", put_create},
    {M_POST, "/{index}/_update/{id}", post_update},
    {M_PUT | M_POST, "/{index}/{type}/{id}", typed_put},
    {M_DELETE, "/{index}/{type}/{id}", typed_delete},
    {M_POST, "/{index}/{type}", typed_post},
};
const size_t routes_document_n = ARRAY_LEN(routes_document);
