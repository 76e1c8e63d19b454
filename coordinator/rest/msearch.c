/* _msearch: several searches in one body of lines, run side by side, answered in order. So many run at a time as the search
 * threads of all data nodes take on: more would only stand in the way of other requests. */
#include "coordinator/rest/msearch_int.h"

#include "common/base/arena_list.h"
#include "common/base/memory_account.h"
#include "common/base/stop.h"
#include "common/cluster/health.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/search_template.h"
#include "coordinator/rest/types.h"

#include <stdio.h>

#define THREADS_COUNTED 10 /* of a node, at most */

/* Documents of other types than those that the search names are not found. */
static enum err respect_types(struct multi *m, struct search_opts *o)
{
    struct rest *r = m->r;
    struct json own;
    bool changed;
    enum err e = rest_types_limit(r->state, m->types, o->tree, r->arena, &own, &changed, &r->em);
    return e == ERR_OK && changed ? rest_search_body(r, &own, o) : e;
}

/* Syntax errors in any body refuse the whole request, before anything runs. */
static enum err read_search(struct multi *m, struct search_call *c, struct str body)
{
    struct json *tree = ARENA_NEW(&c->arena, struct json);
    struct search_source probe;
    if (tree == NULL) {
        return err_no_memory(&m->r->em);
    }
    if (str_trim(body).n == 0) {
        return err_set_at(&m->r->em, ERR_PARSING, 1, 0, "Expected [START_OBJECT] but found [null]");
    }
    enum err e = json_parse_first(tree, body, &c->arena, &json_limits_default, &m->r->em);
    body.n = e == ERR_OK ? tree->end : body.n;
    if (e == ERR_OK) {
        search_source_init(&probe);
        e = search_source_parse(&probe, tree, body, &c->arena, &m->r->em);
        e = e == ERR_OK && m->total_as_int ? search_total_as_int(&probe, &m->r->em) : e;
    }
    c->o.body = body;
    c->o.tree = tree;
    return e == ERR_OK ? respect_types(m, &c->o) : e;
}

/* A body that is a template. What is wrong with the request refuses all; what is wrong with the search that comes of it
 * (*refused) is its own answer. */
static enum err read_template(struct multi *m, struct search_call *c, struct str body, bool *refused)
{
    struct json tree;
    struct template_request q;
    struct errmsg *em = &m->r->em;
    enum err e = json_parse_first(&tree, body, &c->arena, &json_limits_default, em);
    e = e == ERR_OK ? template_request_read(&q, &tree, body, &c->arena, em) : e;
    if (e == ERR_OK && q.script.p == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Malformed search template");
    }
    if (e != ERR_OK || q.script.n == 0) {
        m->n_empty += e == ERR_OK;
        return e;
    }
    e = template_request_search(&q, m->r->state, &c->arena, &c->o, em);
    struct search_source probe;
    search_source_init(&probe);
    if (e == ERR_OK && m->total_as_int) {
        e = search_source_parse(&probe, c->o.tree, c->o.body, &c->arena, em);
        e = e == ERR_OK ? search_total_as_int(&probe, em) : e;
    }
    *refused = e != ERR_OK && e != ERR_NO_MEMORY && e != ERR_CANCELLED;
    return e == ERR_OK ? respect_types(m, &c->o) : e;
}

static bool next_line(struct str *rest, struct str *line)
{
    if (rest->n == 0) {
        return false;
    }
    *line = str_cut(*rest, '\n', rest);
    return true;
}

/* Makes a part's search of its two lines; *out is NULL where that fails. */
static enum err read_part(struct multi *m, struct part *p, struct search_call **out)
{
    struct search_call *c = *out = search_new(&m->r->env);
    if (c == NULL) {
        return err_no_memory(&m->r->em);
    }
    c->o.index = m->index;
    c->o.routing = m->routing;
    c->o.dfs = m->dfs;
    c->o.indices = m->indices;
    c->o.typed_keys = m->typed_keys;
    c->o.total_as_int = m->total_as_int;
    m->types = m->type;
    enum err e = msearch_header(m, c, p->header);
    if (e == ERR_OK) {
        e = m->templates ? read_template(m, c, p->body, &p->refused) : read_search(m, c, p->body);
    }
    if (e != ERR_OK) {
        search_free(c);
        *out = NULL;
    }
    return e;
}

/* A header that nothing follows is read, and is no search. */
static enum err read_last_header(struct multi *m, struct str header)
{
    struct search_call *c = search_new(&m->r->env);
    enum err e = c != NULL ? msearch_header(m, c, header) : err_no_memory(&m->r->em);
    if (c != NULL) {
        search_free(c);
    }
    return e;
}

/* The error that a template came to becomes the part's answer. */
static void keep_refusal(struct multi *m, struct part *p)
{
    struct jsonw w;
    memory_request_buf(&p->answer);
    jsonw_init(&w, &p->answer, false);
    jw_obj(&w);
    jw_kobj(&w, "error");
    error_write(&w, &m->r->em);
    jw_obj_end(&w);
    jw_obj_end(&w);
    err_clear(&m->r->em);
    m->n_refused++;
}

static enum err add_part(struct multi *m, struct str header, struct str body)
{
    if (!ARENA_ROOM(m->r->arena, m->parts, m->n, m->cap)) {
        return err_no_memory(&m->r->em);
    }
    m->parts[m->n] = (struct part){.m = m, .header = header, .body = body};
    struct search_call *c;
    enum err e = read_part(m, &m->parts[m->n], &c);
    if (m->parts[m->n].refused) {
        keep_refusal(m, &m->parts[m->n++]);
        return ERR_OK;
    }
    if (e == ERR_OK && m->n < KEPT) {
        m->parts[m->n].call = c;
    } else if (e == ERR_OK) {
        search_free(c);
    }
    m->n += e == ERR_OK ? 1 : 0;
    return e;
}

static enum err read_lines(struct multi *m, struct str rest)
{
    struct str header, body;
    enum err e = ERR_OK;
    while (e == ERR_OK && next_line(&rest, &header)) {
        if (stop_now()) {
            e = err_set(&m->r->em, ERR_CANCELLED, "task cancelled");
        } else if (next_line(&rest, &body)) {
            e = add_part(m, header, body);
        } else {
            e = read_last_header(m, header);
        }
    }
    return e;
}

static enum err read_all(struct multi *m)
{
    struct rest *r = m->r;
    struct str rest = r->body, line;
    if (r->body.n == 0) {
        return err_set(&r->em, ERR_PARSE, "request body or source parameter is required");
    }
    if (r->body.p[r->body.n - 1] != '\n') {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "The msearch request must be terminated by a newline [\n]");
    }
    if (r->body.p[0] == '\n') { /* one empty line may stand before the first header */
        (void)next_line(&rest, &line);
    }
    m->index = rest_param(r, "index");
    m->type = rest_type(r, m->templates ? TYPED_MSEARCH_TEMPLATE : TYPED_MSEARCH);
    m->routing = rest_param(r, "routing");
    m->dfs = str_is(rest_param(r, "search_type"), "dfs_query_then_fetch");
    struct stop st = {.asked = op_client_gone, .self = r->http};
    stop_enter(&st);
    enum err e = read_lines(m, rest);
    stop_leave(&st);
    return e != ERR_OK || m->n > 0
               ? e
               : err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: no requests added;");
}

static void free_parts(struct multi *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->parts[i].call != NULL) {
            search_free(m->parts[i].call);
        }
        buf_fini(&m->parts[i].answer);
    }
    m->n = 0;
}

/* An error ends with the status, which the answers to templates have not. */
static void cut_status(struct jsonw *w, int status)
{
    char end[32];
    int n = snprintf(end, sizeof(end), ",\"status\":%d}", status);
    if (!w->out->failed && n > 0 && str_ends(buf_view(w->out), str_of(end))) {
        buf_truncate(w->out, w->out->n - (size_t)n);
        buf_char(w->out, '}');
    }
}

/* An answer gets its status as well, but for those to templates. */
static void write_call(const struct multi *m, struct search_call *c, struct jsonw *w)
{
    int status;
    size_t start = w->out->n;
    search_write(c, w, &status);
    if (m->templates) {
        cut_status(w, status);
        return;
    }
    if (!err_is(&c->error) && status == 200 && w->out->n > start) {
        buf_truncate(w->out, w->out->n - 1);
        buf_printf(w->out, ",\"status\":%d}", status);
    }
}

static void write_part(struct part *p, struct jsonw *w)
{
    if (p->call != NULL) {
        write_call(p->m, p->call, w);
        return;
    }
    w->out->failed |= p->answer.failed;
    jw_raw(w, buf_view(&p->answer));
    buf_fini(&p->answer);
}

/* A search that is not kept has ended. */
static void keep_text(struct part *p)
{
    struct jsonw w;
    if (!op_client_gone(p->m->r->http)) {
        memory_request_buf(&p->answer);
        jsonw_init(&w, &p->answer, false);
        write_call(p->m, p->call, &w);
    }
    search_free(p->call);
    p->call = NULL;
}

static void answer(struct multi *m)
{
    struct rest *r = m->r;
    struct buf b;
    struct jsonw w;
    if (m->left) {
        free_parts(m);
        err_set(&r->em, ERR_CANCELLED, "task cancelled");
        rest_fail(r, NULL);
        return;
    }
    memory_request_buf(&b);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    jw_ki64(&w, "took", (r->co->o.clock->mono_ns(r->co->o.clock->self) - r->start_ns) / 1000000);
    jw_karr(&w, "responses");
    for (uint32_t i = 0; i < m->n && !b.failed && !op_client_gone(r->http); i++) {
        write_part(&m->parts[i], &w);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
    free_parts(m);
    rest_send(r, 200, &b);
}

static void start_next(struct multi *m);

/* For each search that ended another begins; after the last one m is gone. */
static void msearch_continue(void *arg)
{
    struct multi *m = arg;
    do {
        m->ended++;
        if (m->started < m->n && op_client_gone(m->r->http)) {
            m->left = true;
            m->ended += m->n - m->started;
            m->started = m->n;
        }
        if (m->ended == m->n) {
            answer(m);
            return;
        }
        start_next(m);
    } while (atomic_fetch_sub(&m->turns, 1) > 1);
}

/* Searches end on any thread: one at a time goes on, the others leave a turn. What begins is read again, and the loop that
 * answers has other work. */
static void one_done(struct search_call *c)
{
    struct part *p = c->user;
    struct multi *m = p->m;
    if (p - m->parts >= KEPT) {
        keep_text(p);
    }
    if (atomic_fetch_add(&m->turns, 1) > 0) {
        return;
    }
    const struct executor *workers = m->r->co->o.workers;
    if (m->started == m->n || workers == NULL || !executor_submit_force(workers, msearch_continue, m)) {
        msearch_continue(m);
    }
}

static void start_next(struct multi *m)
{
    if (m->started >= m->n) {
        return;
    }
    struct part *p = &m->parts[m->started++];
    if (p->refused) {
        m->turns++;
        return;
    }
    if (p->call == NULL
        && read_part(m, p, &p->call) != ERR_OK) { /* it was read before: only memory can be wanting */
        p->answer.failed = true;
        m->turns++;
        return;
    }
    p->call->done = one_done;
    p->call->user = p;
    search_run(p->call);
}

/* As many as Elasticsearch runs at a time when the request does not say, but for one: its default is all threads of the nodes, and
 * then 200 slow searches in one request leave none for others. */
static uint32_t default_at_a_time(const struct rest *r)
{
    struct node_report own;
    nodes_report(r, &own);
    uint32_t threads = MIN_OF(own.cores * 3 / 2 + 1, THREADS_COUNTED);
    return MAX_OF((threads - 1) * health_nodes(r->state, ROLE_DATA), 1U);
}

static void start(struct multi *m)
{
    if (m->at_a_time == 0 && m->n > 1) {
        m->at_a_time = default_at_a_time(m->r);
    }
    m->turns = 1;
    for (uint32_t i = 0; i < MAX_OF(m->at_a_time, 1U) && m->started < m->n; i++) {
        start_next(m);
    }
    if (atomic_fetch_sub(&m->turns, 1) > 1) {
        msearch_continue(m);
    }
}

/* Parameters that are checked; only the first count changes anything here. */
static enum err check_params(struct rest *r, bool templates, uint32_t *at_a_time)
{
    static const struct {
        const char *name, *complaint;
    } counts[] = {{"max_concurrent_searches", "maxConcurrentSearchRequests must be positive"},
                  {"max_concurrent_shard_requests", "maxConcurrentShardRequests must be >= 1"},
                  {"pre_filter_shard_size", "preFilterShardSize must be >= 1"}};
    struct str type = rest_param(r, "search_type");
    enum err e = rest_check_bool(r, "ccs_minimize_roundtrips"); /* there are no other clusters */
    rest_accept(r, "index");
    rest_accept(r, "routing");
    rest_accept(r, "type");
    for (size_t i = 0; e == ERR_OK && i < (templates ? 1 : ARRAY_LEN(counts)); i++) {
        int32_t n = 1;
        if (!rest_given(r, counts[i].name)) {
            continue;
        }
        e = rest_int(r, counts[i].name, 1, &n);
        if (e == ERR_OK && n < 1) {
            e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "%s", counts[i].complaint);
        }
        if (e == ERR_OK && i == 0) {
            *at_a_time = (uint32_t)n;
        }
        if (e == ERR_OK && i > 0) {
            rest_idle(r, counts[i].name);
        }
    }
    if (e == ERR_OK && type.p != NULL && !str_is(type, "query_then_fetch")
        && !str_is(type, "dfs_query_then_fetch")) {
        e = rest_no_search_type(type, &r->em);
    }
    return e;
}

/* What is wrong with the templates of a request that is whole otherwise. */
static enum err check_templates(struct multi *m)
{
    struct buf b;
    if (m->n_empty == 0) {
        return m->n == 0 || m->n > m->n_refused
                   ? ERR_OK
                   : err_set(&m->r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: no requests added;");
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (uint32_t i = 1; i <= m->n_empty; i++) {
        buf_printf(&b, "%u: template is missing;", i);
    }
    enum err e = b.failed ? err_no_memory(&m->r->em)
                          : err_set(&m->r->em, ERR_ACTION_VALIDATION, "Validation Failed: %.*s",
                                    STR_ARG(buf_view(&b)));
    buf_fini(&b);
    return e;
}

static void run_msearch(struct rest *r, bool templates)
{
    struct multi *m = ARENA_NEW(r->arena, struct multi);
    if (!rest_takes_lines(r)) {
        return;
    }
    if (m == NULL) {
        rest_no_memory(r);
        return;
    }
    *m = (struct multi){.r = r, .indices = EXPAND_OPTIONS_SEARCH, .templates = templates};
    enum err e = templates ? ERR_OK : rest_index_options(r, &m->indices);
    e = e == ERR_OK ? check_params(r, templates, &m->at_a_time) : e;
    e = e == ERR_OK ? rest_bool(r, "typed_keys", false, &m->typed_keys) : e;
    e = e == ERR_OK ? rest_bool(r, "rest_total_hits_as_int", false, &m->total_as_int) : e;
    e = e == ERR_OK ? read_all(m) : e;
    if (e != ERR_OK) {
        free_parts(m);
        rest_fail(r, NULL);
    } else if (!rest_ready(r)) {
        free_parts(m);
    } else if (check_templates(m) != ERR_OK) {
        free_parts(m);
        rest_fail(r, NULL);
    } else {
        start(m);
    }
}

static void msearch(struct rest *r)
{
    run_msearch(r, false);
}

static void msearch_template(struct rest *r)
{
    run_msearch(r, true);
}

const struct route routes_msearch[] = {
    {M_GET | M_POST, "/_msearch", msearch},
    {M_GET | M_POST, "/{index}/_msearch", msearch},
    {M_GET | M_POST, "/{index}/{type}/_msearch", msearch},
    {M_GET | M_POST, "/_msearch/template", msearch_template},
    {M_GET | M_POST, "/{index}/_msearch/template", msearch_template},
    {M_GET | M_POST, "/{index}/{type}/_msearch/template", msearch_template},
};
const size_t routes_msearch_n = ARRAY_LEN(routes_msearch);
