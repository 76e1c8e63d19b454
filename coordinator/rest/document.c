/* One document at a time: index, create, delete. */
#include "coordinator/rest/document.h"
#include "coordinator/ops/get.h"
#include "coordinator/rest/types.h"
#include "engine/index/engine.h"

/* ---- writing ------------------------------------------------------------------------------------------- */

struct write_set *document_write_new(struct rest *r)
{
    struct write_set *w = ARENA_NEW(r->arena, struct write_set);
    struct write_entry *e = w != NULL ? ARENA_NEW(r->arena, struct write_entry) : NULL;
    if (e == NULL) {
        err_no_memory(&r->em);
        return NULL;
    }
    *w = (struct write_set){.r = &r->env, .v = e, .n = 1};
    e->item = (struct write_item){.auto_id_ms = -1, .version = VERSION_ANY, .if_seq_no = SEQ_UNASSIGNED};
    return w;
}

enum err rest_write_params(struct rest *r, struct write_set *w)
{
    struct str refresh = rest_param(r, "refresh");
    enum err e = rest_active_shards(r, &w->active);
    e = e == ERR_OK ? rest_time(r, "timeout", 60000, &w->timeout_ms) : e;
    w->refresh = REFRESH_NONE;
    if (refresh.p != NULL && (refresh.n == 0 || str_is(refresh, "true"))) {
        w->refresh = REFRESH_NOW;
    } else if (str_is(refresh, "wait_for")) {
        w->refresh = REFRESH_WAIT;
    } else if (e == ERR_OK && refresh.p != NULL && !str_is(refresh, "false")) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Unknown value for refresh: [%.*s].", STR_ARG(refresh));
    }
    return e;
}

enum err document_write_params(struct rest *r, struct write_set *w)
{
    struct write_item *it = &w->v[0].item;
    enum err e = rest_write_params(r, w);
    w->v[0].target = rest_param(r, "index");
    it->type = rest_param(r, "type");

    it->id = rest_param(r, "id");
    it->routing = rest_param(r, "routing");
    if (it->routing.n == 0) {
        it->routing = STR_NULL;
    }
    e = e == ERR_OK ? rest_long(r, "version", VERSION_ANY, &it->version) : e;
    e = e == ERR_OK ? get_version_type(rest_param(r, "version_type"), &it->version_type, &r->em) : e;
    e = e == ERR_OK ? rest_long(r, "if_seq_no", SEQ_UNASSIGNED, &it->if_seq_no) : e;
    e = e == ERR_OK ? rest_long(r, "if_primary_term", 0, &it->if_primary_term) : e;
    if (e == ERR_OK && it->if_primary_term < 0) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "primary term must be non negative. got [%lld]",
                    (long long)it->if_primary_term);
    }
    if (e == ERR_OK && rest_has(r, "if_seq_no") && it->if_seq_no < 0) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "sequence numbers must be non negative. got [%lld].",
                    (long long)it->if_seq_no);
    }
    if (e == ERR_OK && r->method != HTTP_M_DELETE) {
        e = rest_bool(r, "require_alias", false, &w->v[0].require_alias);
    }
    return e;
}

static void answer(struct write_set *set)
{
    struct rest *r = rest_of(set->r);
    struct write_entry *e = &set->v[0];
    const struct errmsg *em = e->error != NULL ? e->error : e->item.error;
    if (em != NULL) {
        err_copy(&r->em, em);
        writes_fini(set);
        rest_fail(r, NULL);
        return;
    }
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    writes_result(&w, e, set->forced_refresh, false);
    jw_obj_end(&w);
    int status = writes_status(e);
    if (status == 201) {
        struct buf where;
        buf_init(&where, NULL, 4 * KIB);
        buf_char(&where, '/');
        uri_encode(&where, e->meta->name);
        buf_char(&where, '/');
        uri_encode(&where, write_item_type(&e->item));
        buf_char(&where, '/');
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

/* A path with a type of its own name is deprecated. */
static void warn_typed(struct rest *r, enum deprecated_use use)
{
    struct str type = rest_param(r, "type");
    if (type.p != NULL && !str_is(type, "_doc")) {
        rest_deprecated(r, use);
    }
}

void document_write_run(struct rest *r, struct write_set *w, enum err e)
{
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else if (!rest_ready(r)) {
        return;
    } else if (writes_validate(&w->v[0], &r->em) != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        w->done = answer;
        writes_run(w);
    }
}

static void index_document(struct rest *r, bool create, bool auto_id)
{
    struct write_set *w = document_write_new(r);
    struct write_item *it = w != NULL ? &w->v[0].item : NULL;
    enum err e = w != NULL ? document_write_params(r, w) : ERR_NO_MEMORY;
    struct str op = rest_param(r, "op_type");
    warn_typed(r, TYPED_INDEX);
    if (w != NULL) {
        w->v[0].pipeline = rest_param(r, "pipeline");
    }
    if (e == ERR_OK && create && op.p != NULL && !str_eq_nocase(op, STR("create"))) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "opType must be 'create', found: [%.*s]", STR_ARG(op));
    }
    if (e == ERR_OK && op.p != NULL && !str_eq_nocase(op, STR("index"))
        && !str_eq_nocase(op, STR("create"))) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "opType must be 'create' or 'index', found: [%.*s]",
                    STR_ARG(op));
    }
    r->body_read = true;
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
    w->v[0].auto_id = auto_id;
    if (auto_id && op.p == NULL) {
        it->create = true;
    }
    document_write_run(r, w, e);
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
    struct write_set *w = document_write_new(r);
    enum err e = w != NULL ? document_write_params(r, w) : ERR_NO_MEMORY;
    warn_typed(r, TYPED_DELETE);
    if (w != NULL) {
        w->v[0].item.kind = WRITE_DELETE;
        w->v[0].action = "delete";
    }
    document_write_run(r, w, e);
}

const struct route routes_document[] = {
    {M_PUT | M_POST, "/{index}/_doc/{id}", put_doc},
    {M_DELETE, "/{index}/_doc/{id}", delete_doc},
    {M_POST, "/{index}/_doc", post_doc},
    {M_PUT | M_POST, "/{index}/_create/{id}", put_create},
    {M_PUT | M_POST, "/{index}/{type}/{id}/_create", put_create},
    {M_PUT | M_POST, "/{index}/{type}/{id}", put_doc},
    {M_DELETE, "/{index}/{type}/{id}", delete_doc},
    {M_POST, "/{index}/{type}", post_doc},
};
const size_t routes_document_n = ARRAY_LEN(routes_document);
