/* Points in time: opening and closing. */
#include "common/base/jsonr.h"
#include "coordinator/core/freeing.h"
#include "coordinator/rest/search.h"

/* ---- opening ------------------------------------------------------------------------------------------- */

static void opened(struct search_call *c)
{
    struct rest *r = rest_of(c->r);
    struct buf b;
    struct jsonw w;
    int status = 200;
    jsonw_start(&w, &b);
    if (!err_is(&c->error) && !search_all_failed(c)) {
        jw_obj(&w);
        jw_kstr(&w, "id", c->pit_id);
        jw_obj_end(&w);
    } else {
        search_write(c, &w, &status);
    }
    search_free(c);
    rest_send(r, status, &b);
}

static enum err open_options(struct rest *r, struct search_opts *o)
{
    o->index = rest_param(r, "index");
    o->routing = rest_param(r, "routing");
    o->preference = rest_param(r, "preference");
    o->allow_partial = false;
    o->body = STR("{\"size\":0,\"query\":{\"match_none\":{}}}");
    enum err e = rest_index_options(r, &o->indices);
    e = e == ERR_OK ? rest_check_preference(r, o->preference) : e;
    e = e == ERR_OK ? rest_time(r, "keep_alive", 0, &o->open_ms) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct json *tree = ARENA_NEW(r->arena, struct json);
    if (tree == NULL) {
        return err_no_memory(&r->em);
    }
    o->tree = tree;
    return json_parse(tree, o->body, r->arena, &json_limits_default, &r->em);
}

/* The check of missing parameters, after all parameters are read. */
static enum err validate(struct rest *r, const struct search_opts *o)
{
    bool lacks_index = o->index.n == 0, lacks_time = rest_param(r, "keep_alive").n == 0;
    if (lacks_index || lacks_time) {
        return err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: %s%s",
                       lacks_index ? "1: [index] is not specified;" : "",
                       !lacks_time   ? ""
                       : lacks_index ? "2: [keep_alive] is not specified;"
                                     : "1: [keep_alive] is not specified;");
    }
    return o->open_ms > 0 ? ERR_OK : err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[keep_alive] must be positive");
}

static void open_pit(struct rest *r)
{
    struct search_call *c = search_new(&r->env);
    enum err e = c != NULL ? open_options(r, &c->o) : err_no_memory(&r->em);
    bool ready = e == ERR_OK && rest_ready(r); /* else it is answered */
    e = ready ? validate(r, &c->o) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    }
    if (!ready || e != ERR_OK) {
        if (c != NULL) {
            search_free(c);
        }
        return;
    }
    c->done = opened;
    search_run(c);
}

/* ---- closing ------------------------------------------------------------------------------------------- */

static enum err read_id(struct rest *r, struct str *id)
{
    static const char *const known[] = {"id", NULL};
    const struct json *body;
    enum err e = rest_body(r, &body);
    if (e != ERR_OK) {
        return e;
    }
    if (body == NULL) {
        return err_set(&r->em, ERR_PARSE, "request body or source parameter is required");
    }
    if (body->type != JSON_OBJECT) {
        return jr_fail_xc(r->body, body->off, &r->em,
                          "[close_point_in_time] Expected START_OBJECT but was: %s", json_token_name(body));
    }
    *id = STR_NULL;
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        if (!str_is(m->key, "id")) {
            return jr_unknown_field(r->body, m->key_off, "close_point_in_time", m->key, known, &r->em);
        }
        if (m->value.type != JSON_STRING) {
            return jr_fail_xc(r->body, m->value.off, &r->em,
                              "[close_point_in_time] id doesn't support values of type: %s",
                              json_token_name(&m->value));
        }
        *id = m->value.s;
    }
    return id->p != NULL ? ERR_OK : err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Required [id]");
}

static void closed(struct freeing *f)
{
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kbool(&w, "succeeded", true);
    jw_ki64(&w, "num_freed", f->freed);
    jw_obj_end(&w);
    rest_send(rest_of(f->r), f->freed > 0 ? 200 : 404, &b);
}

static void close_pit(struct rest *r)
{
    struct str id;
    struct freeing *f = ARENA_NEW(r->arena, struct freeing);
    enum err e = f != NULL ? read_id(r, &id) : err_no_memory(&r->em);
    if (!rest_goes_on(r, e)) {
        return;
    }
    *f = (struct freeing){.r = &r->env, .done = closed};
    if (pit_free(f, id, &r->em) != ERR_OK || freeing_run(f, &r->em) != ERR_OK) {
        rest_fail(r, NULL);
    }
}

const struct route routes_pit[] = {
    {M_POST, "/{index}/_pit", open_pit},
    {M_POST, "/_pit", open_pit},
    {M_DELETE, "/_pit", close_pit},
};
const size_t routes_pit_n = ARRAY_LEN(routes_pit);
