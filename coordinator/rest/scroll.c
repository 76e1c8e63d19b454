/* Scrolls: the next page, and freeing. */
#include "coordinator/core/ask.h"
#include "coordinator/core/freeing.h"
#include "coordinator/rest/search.h"

static enum err wrong_value(struct rest *r, const struct json_member *m)
{
    return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                   "Unknown parameter [%.*s] in request body or parameter is of the wrong type[%s] ",
                   STR_ARG(m->key), json_token_name(&m->value));
}

static void scroll_answer(struct search_call *c)
{
    struct rest *r = rest_of(c->r);
    struct buf b;
    struct jsonw w;
    int status;
    jsonw_start(&w, &b);
    if (c->o.scroll_ms <= 0) { /* nobody can ask for more */
        for (uint32_t i = 0; i < c->n_shards; i++) {
            ask_forget(r->co, c->queries[i].rq.node, c->queries[i].rq.context);
        }
    }
    search_write(c, &w, &status);
    search_free(c);
    rest_send(r, status, &b);
}

/* The body, which is an object or nothing; whatever else it is, it "cannot be parsed". */
static enum err read_body(struct rest *r, const struct json **body)
{
    enum err e = rest_body(r, body);
    if (e == ERR_JSON || e == ERR_JSON_EOF) {
        return err_wrap(&r->em, ERR_ILLEGAL_ARGUMENT, "Failed to parse request body");
    }
    if (e == ERR_OK && *body != NULL && (*body)->type != JSON_OBJECT) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Malformed content, must start with an object");
    }
    return e;
}

static enum err read_next(struct rest *r, struct str *id, struct str *keep)
{
    const struct json *body;
    *id = rest_param(r, "scroll_id");
    *keep = rest_param(r, "scroll");
    enum err e = read_body(r, &body);
    for (uint32_t i = 0; e == ERR_OK && body != NULL && i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        if (str_is(m->key, "scroll_id") && m->value.type == JSON_STRING) {
            *id = m->value.s;
        } else if (str_is(m->key, "scroll") && m->value.type == JSON_STRING) {
            *keep = m->value.s;
        } else {
            e = wrong_value(r, m);
        }
    }
    if (e == ERR_OK && id->p != NULL && id->n == 0) { /* there is nothing in it to read */
        err_set(&r->em, ERR_ARRAY_BOUNDS, "Index 0 out of bounds for length 0");
        return err_wrap(&r->em, ERR_ILLEGAL_ARGUMENT, "Cannot parse scroll id");
    }
    if (e == ERR_OK && id->n == 0) {
        e = err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: scrollId is missing;");
    }
    return e;
}

static void next_page(struct rest *r)
{
    struct str id, keep;
    struct search_call *c = search_new(&r->env);
    enum err e = c != NULL ? read_next(r, &id, &keep) : err_no_memory(&r->em);
    if (e == ERR_OK && keep.p != NULL) {
        e = parse_time_ms(keep, "scroll", &c->o.scroll_ms, &r->em);
    }
    e = e == ERR_OK ? rest_bool(r, "rest_total_hits_as_int", false, &c->o.total_as_int) : e;
    if (e != ERR_OK) {
        if (c != NULL) {
            search_free(c);
        }
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        search_free(c);
        return;
    }
    c->done = scroll_answer;
    search_run_scroll(c, id);
}

static enum err free_list(struct freeing *f, const struct json *v)
{
    enum err e = ERR_OK;
    uint32_t count = v->type == JSON_ARRAY ? v->n : 1;
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        struct str id = json_text(v->type == JSON_ARRAY ? &v->items[i] : v);
        if (str_is(id, "_all")) {
            freeing_add_scrolls(f);
        } else {
            e = scroll_free(f, id, &f->r->em);
        }
    }
    return e;
}

static void cleared(struct freeing *f)
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

static void clear(struct rest *r)
{
    const struct json *body;
    uint32_t named = 0;
    struct str id = rest_param(r, "scroll_id");
    struct freeing *f = ARENA_NEW(r->arena, struct freeing);
    enum err e = f != NULL ? read_body(r, &body) : err_no_memory(&r->em);
    if (e == ERR_OK && !rest_ready(r)) {
        return;
    }
    if (f != NULL) {
        *f = (struct freeing){.r = &r->env, .done = cleared};
    }
    if (e == ERR_OK && id.p != NULL) {
        struct str rest = id;
        while (e == ERR_OK && rest.p != NULL) {
            struct json one = json_mk_str(str_cut(rest, ',', &rest));
            e = free_list(f, &one);
            named++;
        }
    }
    for (uint32_t i = 0; e == ERR_OK && body != NULL && i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        if (!str_is(m->key, "scroll_id") || (m->value.type != JSON_STRING && m->value.type != JSON_ARRAY)) {
            e = wrong_value(r, m);
        } else {
            named++;
            e = free_list(f, &m->value);
        }
    }
    if (e == ERR_OK && named == 0) {
        e = err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: no scroll ids specified;");
    }
    if (e != ERR_OK || freeing_run(f, &r->em) != ERR_OK) {
        rest_fail(r, NULL);
    }
}

const struct route routes_scroll[] = {
    {M_GET | M_POST, "/_search/scroll", next_page},
    {M_GET | M_POST, "/_search/scroll/{scroll_id}", next_page},
    {M_DELETE, "/_search/scroll", clear},
    {M_DELETE, "/_search/scroll/{scroll_id}", clear},
};
const size_t routes_scroll_n = ARRAY_LEN(routes_scroll);
