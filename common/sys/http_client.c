/* The client of http_client.h: libcurl's multi interface on the loop's sockets and timers. */
#include "common/sys/http_client.h"

#include "common/base/buf.h"

#include <curl/curl.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CALL_MS_MAX 60000

struct call {
    struct call *next, *prev; /* ring of the client's */
    CURL *easy;
    struct curl_slist *headers;
    struct buf body;
    size_t body_max;
    enum err fail; /* why on_body() took no more */
    void (*done)(void *arg, const struct http_reply *reply);
    void *arg;
    char why[CURL_ERROR_SIZE];
};

struct http_client {
    struct http_client_opts opts;
    CURLM *multi;
    const struct timers *timers;
    struct timer *timer;
    struct call calls;
};

static void init_once(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_once);
}

/* ---- one call ------------------------------------------------------------------------------------------ */

static size_t on_body(char *bytes, size_t one, size_t n, void *arg)
{
    struct call *c = arg;
    (void)one; /* libcurl: always 1 */
    if (n > c->body_max - c->body.n) {
        c->fail = ERR_TOO_LONG_FRAME;
        return 0;
    }
    buf_add(&c->body, bytes, n);
    c->fail = c->body.failed ? ERR_NO_MEMORY : ERR_OK;
    return c->body.failed ? 0 : n;
}

static void call_free(struct call *c)
{
    curl_easy_cleanup(c->easy);
    curl_slist_free_all(c->headers);
    buf_fini(&c->body);
    free(c);
}

static bool add_header(struct call *c, const char *line)
{
    struct curl_slist *more = curl_slist_append(c->headers, line);
    c->headers = more != NULL ? more : c->headers;
    return more != NULL;
}

/* Ours, and none of those that libcurl adds to a body by itself. */
static bool add_headers(struct call *c, const char *content_type)
{
    struct buf line;
    buf_init(&line, NULL, 4 * KIB);
    buf_printf(&line, "Content-Type:%s%s", content_type != NULL ? " " : "",
               content_type != NULL ? content_type : "");
    buf_char(&line, '\0');
    bool ok = !line.failed && add_header(c, line.p) && add_header(c, "Expect:");
    buf_fini(&line);
    return ok;
}

static bool set_body(CURL *e, const struct http_client_request *req)
{
    bool expects = strcmp(req->method, "POST") == 0 || strcmp(req->method, "PUT") == 0;
    if (strcmp(req->method, "HEAD") == 0) {
        return curl_easy_setopt(e, CURLOPT_NOBODY, 1L) == CURLE_OK;
    }
    if (req->body.p != NULL || expects) {
        return curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)req->body.n) == CURLE_OK
               && curl_easy_setopt(e, CURLOPT_COPYPOSTFIELDS, req->body.n > 0 ? req->body.p : "") == CURLE_OK;
    }
    return true;
}

static enum err set_url(CURL *e, struct str url, struct errmsg *em)
{
    CURLU *u = curl_url();
    char *text = strndup(url.n > 0 ? url.p : "", url.n), *scheme = NULL;
    enum err r = u == NULL || text == NULL ? err_no_memory(em) : ERR_OK;
    if (r == ERR_OK
        && (strlen(text) != url.n || curl_url_set(u, CURLUPART_URL, text, 0) != CURLUE_OK
            || curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK
            || strncmp(scheme, "http", 4) != 0)) {
        r = err_set(em, ERR_ILLEGAL_ARGUMENT, "bad url [%.*s]", STR_ARG(url));
    }
    if (r == ERR_OK && curl_easy_setopt(e, CURLOPT_URL, text) != CURLE_OK) {
        r = err_no_memory(em);
    }
    curl_free(scheme);
    curl_url_cleanup(u);
    free(text);
    return r;
}

static enum err call_new(struct call **out, const struct http_client_request *req,
                         const struct http_client_opts *o, struct errmsg *em)
{
    struct call *c = calloc(1, sizeof(*c));
    CURL *e = c != NULL ? curl_easy_init() : NULL;
    *out = NULL;
    if (e == NULL) {
        free(c);
        return err_no_memory(em);
    }
    c->easy = e;
    c->body_max = o->response_bytes_max;
    buf_init(&c->body, NULL, BUF_UNLIMITED);
    enum err r = set_url(e, req->url, em);
    if (r == ERR_OK
        && !(add_headers(c, req->content_type) && set_body(e, req)
             && curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, req->method) == CURLE_OK
             && curl_easy_setopt(e, CURLOPT_HTTPHEADER, c->headers) == CURLE_OK
             && curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK
             && curl_easy_setopt(e, CURLOPT_PROXY, "") == CURLE_OK /* whatever the environment says */)) {
        r = err_no_memory(em);
    }
    if (r != ERR_OK) {
        call_free(c);
        return r;
    }
    curl_easy_setopt(e, CURLOPT_PRIVATE, c);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, c->why);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)(req->ms_max > 0 ? req->ms_max : CALL_MS_MAX));
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_ms_max);
    curl_easy_setopt(e, CURLOPT_MAXAGE_CONN, (long)((o->idle_ms_max + 999) / 1000));
    *out = c;
    return ERR_OK;
}

static struct http_reply reply_of(struct call *c, CURLcode code)
{
    long status = 0;
    if (code != CURLE_OK) {
        enum err e = c->fail != ERR_OK                    ? c->fail
                     : code == CURLE_OPERATION_TIMEDOUT   ? ERR_TIMEOUT
                     : code == CURLE_WEIRD_SERVER_REPLY   ? ERR_PARSE
                     : code == CURLE_UNSUPPORTED_PROTOCOL ? ERR_PARSE /* no status line */
                     : code == CURLE_OUT_OF_MEMORY        ? ERR_NO_MEMORY
                                                          : ERR_IO;
        return (struct http_reply){.err = e, .reason = c->why[0] != '\0' ? c->why : curl_easy_strerror(code)};
    }
    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    return (struct http_reply){.status = (int)status, .body = buf_view(&c->body)};
}

static struct http_client_opts with_defaults(const struct http_client_opts *o)
{
    struct http_client_opts all = *o;
    all.per_host_max = o->per_host_max > 0 ? o->per_host_max : 32;
    all.connect_ms_max = o->connect_ms_max > 0 ? o->connect_ms_max : 5000;
    all.idle_ms_max = o->idle_ms_max > 0 ? o->idle_ms_max : 30000;
    all.response_bytes_max = o->response_bytes_max > 0 ? o->response_bytes_max : 100 * MIB;
    return all;
}

/* ---- many on a loop ------------------------------------------------------------------------------------ */

static void unlink_call(struct call *c)
{
    c->next->prev = c->prev;
    c->prev->next = c->next;
}

/* Calls that have ended. done() may send another. */
static void end_calls(struct http_client *client)
{
    CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(client->multi, &left)) != NULL) {
        CURLcode code = m->data.result; /* m goes with its handle */
        struct call *c = NULL;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &c);
        curl_multi_remove_handle(client->multi, c->easy);
        unlink_call(c);
        struct http_reply reply = reply_of(c, code);
        c->done(c->arg, &reply);
        call_free(c);
    }
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
    struct http_client *client = arg;
    int running, ready = ((what & EV_READ) != 0 ? CURL_CSELECT_IN : 0)
                         | ((what & EV_WRITE) != 0 ? CURL_CSELECT_OUT : 0);
    curl_multi_socket_action(client->multi, fd, ready, &running);
    end_calls(client);
}

static void on_timer(void *arg)
{
    struct http_client *client = arg;
    int running;
    client->timer = NULL;
    curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    end_calls(client);
}

static int set_timer(UNUSED CURLM *multi, long ms, void *arg)
{
    struct http_client *client = arg;
    timer_cancel(client->timers, client->timer);
    client->timer = ms >= 0 ? timer_start(client->timers, ms, on_timer, client) : NULL;
    return ms >= 0 && client->timer == NULL ? -1 : 0;
}

static int watch_socket(UNUSED CURL *easy, curl_socket_t fd, int what, void *arg, void *of_socket)
{
    struct http_client *client = arg;
    struct event *e = of_socket;
    if (e != NULL) {
        event_free(e);
        curl_multi_assign(client->multi, fd, NULL);
    }
    if (what == CURL_POLL_REMOVE) {
        return 0;
    }
    short wanted = (short)((what != CURL_POLL_OUT ? EV_READ : 0) | (what != CURL_POLL_IN ? EV_WRITE : 0));
    e = event_new(loop_base(client->opts.loop), fd, (short)(wanted | EV_PERSIST), on_socket, client);
    if (e == NULL || event_add(e, NULL) != 0) {
        return -1;
    }
    curl_multi_assign(client->multi, fd, e);
    return 0;
}

enum err http_client_new(struct http_client **out, const struct http_client_opts *opts, struct errmsg *em)
{
    init();
    struct http_client *c = calloc(1, sizeof(*c));
    *out = NULL;
    if (c == NULL || (c->multi = curl_multi_init()) == NULL) {
        free(c);
        return err_no_memory(em);
    }
    c->opts = with_defaults(opts);
    c->timers = loop_timers(opts->loop);
    c->calls.next = c->calls.prev = &c->calls;
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)c->opts.per_host_max);
    curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)c->opts.per_host_max);
    *out = c;
    return ERR_OK;
}

void http_client_free(struct http_client *client)
{
    if (client == NULL) {
        return;
    }
    while (client->calls.next != &client->calls) {
        struct call *c = client->calls.next;
        curl_multi_remove_handle(client->multi, c->easy);
        unlink_call(c);
        call_free(c);
    }
    curl_multi_cleanup(client->multi);
    timer_cancel(client->timers, client->timer);
    free(client);
}

enum err http_client_send(struct http_client *client, const struct http_client_request *req,
                          void (*done)(void *arg, const struct http_reply *reply), void *arg,
                          struct errmsg *em)
{
    struct call *c;
    enum err e = call_new(&c, req, &client->opts, em);
    if (e != ERR_OK) {
        return e;
    }
    c->done = done;
    c->arg = arg;
    if (curl_multi_add_handle(client->multi, c->easy) != CURLM_OK) {
        call_free(c);
        return err_no_memory(em);
    }
    c->next = client->calls.next;
    c->prev = &client->calls;
    c->next->prev = c;
    client->calls.next = c;
    return ERR_OK;
}

/* ---- one, and its answer ------------------------------------------------------------------------------- */

enum err http_fetch(const struct http_client_request *req, struct arena *arena, struct http_reply *out,
                    struct errmsg *em)
{
    struct call *c;
    *out = (struct http_reply){0};
    init();
    struct http_client_opts opts = with_defaults(&(struct http_client_opts){0});
    enum err e = call_new(&c, req, &opts, em);
    if (e != ERR_OK) {
        return e;
    }
    *out = reply_of(c, curl_easy_perform(c->easy));
    if (out->err != ERR_OK) {
        e = err_set(em, out->err, "%s", out->reason);
    } else {
        out->body = arena_str(arena, out->body);
        e = out->body.p != NULL ? ERR_OK : err_no_memory(em);
    }
    out->reason = NULL;
    call_free(c);
    return e;
}
