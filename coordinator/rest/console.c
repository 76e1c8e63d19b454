/* /_console/: the live console's page, which is compiled in, and what happens to the cluster, for it to show. */
#include "coordinator/rest/rest.h"

#include "common/base/web_files.h"
#include "coordinator/core/delays.h"
#include "coordinator/core/events.h"

extern const struct web_files console_files; /* coordinator/rest/console */

#define WAIT_MS_MAX   10000
#define LOOK_AGAIN_MS 1000 /* disconnected clients and stopping nodes, which no state shows */

/* ---- the page ------------------------------------------------------------------------------------------ */

/* Nothing but what this node serves; no other page may put it into a frame. */
#define POLICY                                                                                      \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static void put_headers(struct rest *r, const struct web_file *f)
{
    rest_header(r, "etag", str_of(f->etag));
    rest_header(r, "cache-control", STR("no-cache"));
    rest_header(r, "content-security-policy", STR(POLICY));
    rest_header(r, "x-content-type-options", STR("nosniff"));
}

static void send_file(struct rest *r, struct str name)
{
    const struct web_file *f = web_file(&console_files, name);
    struct buf b;
    if (!rest_ready(r)) {
        return;
    }
    if (f == NULL) {
        rest_fail_text(r, 404, "there is no [%.*s] in the console", STR_ARG(name));
        return;
    }
    const struct str *known = http_header_find(r->http->headers, r->http->headers_n, "if-none-match");
    bool same = known != NULL && str_find_str(*known, str_of(f->etag)) != SIZE_MAX;
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (!same) {
        buf_add(&b, f->bytes, f->bytes_n);
    }
    put_headers(r, f);
    rest_send_text(r, same ? 304 : 200, same ? NULL : f->type, &b);
}

/* The page asks for its files by names beside it: its path must end in a slash. */
static void page(struct rest *r)
{
    if (str_ends(r->http->path, STR("/"))) {
        send_file(r, STR("index.html"));
    } else if (rest_ready(r)) {
        struct buf none;
        buf_init(&none, NULL, KIB);
        rest_header(r, "location", STR("/_console/"));
        rest_send_text(r, 301, NULL, &none);
    }
}

/* What browsers ask for by themselves. */
static void icon(struct rest *r)
{
    send_file(r, STR("icon.svg"));
}

static void file(struct rest *r)
{
    send_file(r, rest_param(r, "file"));
}

/* ---- events -------------------------------------------------------------------------------------------- */

struct events_rq {
    struct rest *r;
    uint64_t since;
    int64_t deadline_ms; /* monotonic */
    struct state_wait wait;
};

static void console_answer(struct events_rq *q)
{
    struct rest *r = q->r;
    struct coordinator *co = r->co;
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kstr(&w, "cluster_name", co->o.cluster_name);
    jw_kstr(&w, "node", co->o.node_name);
    jw_kstr(&w, "node_id", co->o.node_id);
    jw_ki64(&w, "started_at", co->o.started_ms);
    jw_ki64(&w, "now", clock_wall_ms(co->o.clock));
    event_log_write(co->events, q->since, &w);
    jw_obj_end(&w);
    rest_header(r, "cache-control", STR("no-store"));
    rest_send(r, 200, &b);
}

static void console_look(void *arg)
{
    struct events_rq *q = arg;
    struct coordinator *co = q->r->co;
    uint64_t seen = state_waits_seen(&co->state_waits);
    int64_t left = q->deadline_ms - clock_mono_ms(co->o.clock);
    if (event_log_last(co->events) != q->since || left <= 0 || http_aborted(q->r->http)
        || delays_stopped(co->delays)) {
        console_answer(q);
    } else {
        state_waits_add(&co->state_waits, &q->wait, seen, MIN_OF(left, LOOK_AGAIN_MS), console_look, q);
    }
}

/* Those above `since`; when there are none, the answer waits for one, as long as `timeout` says. */
static void events(struct rest *r)
{
    struct events_rq *q = ARENA_NEW(r->arena, struct events_rq);
    int64_t since = 0, timeout = 0;
    if (q == NULL) {
        rest_no_memory(r);
        return;
    }
    enum err e = rest_long(r, "since", 0, &since);
    e = e == ERR_OK ? rest_time(r, "timeout", WAIT_MS_MAX, &timeout) : e;
    if (e == ERR_OK && since < 0) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[since] must not be negative");
    }
    if (rest_goes_on(r, e)) {
        q->r = r;
        q->since = (uint64_t)since;
        q->deadline_ms = clock_mono_ms(r->co->o.clock) + MIN_OF(timeout, WAIT_MS_MAX);
        console_look(q);
    }
}

const struct route routes_console[] = {
    {M_GET | M_HEAD, "/_console", page},
    {M_GET | M_HEAD, "/_console/{file}", file},
    {M_GET, "/_console/events", events},
    {M_GET, "/favicon.ico", icon},
};
const size_t routes_console_n = ARRAY_LEN(routes_console);
