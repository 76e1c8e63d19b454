#include "hotel/app/search.h"

#include "common/base/uri.h"

#include <stdlib.h>

#define IDLE_MS_MAX     20000 /* below the 60 s after which servers commonly close */
#define REPLY_BYTES_MAX (64 * MIB)
#define URL_BYTES_MAX   (8 * KIB)

struct search {
    const struct hotel_config *config;
    struct http_client *client;
    uint32_t at; /* which node answered last */
};

enum err search_service_new(struct search **out, struct loop *loop, const struct hotel_config *config,
                            struct errmsg *em)
{
    struct search *s = calloc(1, sizeof(*s));
    *out = NULL;
    if (s == NULL) {
        return err_no_memory(em);
    }
    s->config = config;
    enum err e = http_client_new(&s->client,
                                 &(struct http_client_opts){.loop = loop,
                                                            .per_host_max = config->connections_max,
                                                            .connect_ms_max = config->connect_ms_max,
                                                            .idle_ms_max = IDLE_MS_MAX,
                                                            .response_bytes_max = REPLY_BYTES_MAX},
                                 em);
    if (e != ERR_OK) {
        free(s);
        return e;
    }
    *out = s;
    return ERR_OK;
}

void search_service_free(struct search *s)
{
    if (s != NULL) {
        http_client_free(s->client);
        free(s);
    }
}

/* ---- one call: the nodes are tried in turn, from the last one that answered ---- */

struct call {
    struct search *search;
    struct str path, body; /* in the arena */
    uint32_t at, tried;    /* of the config's search_urls */
    void (*done)(void *arg, const struct http_reply *reply);
    void *arg;
};

static void on_reply(void *arg, const struct http_reply *reply);

static enum err send_call(struct call *c, struct errmsg *em)
{
    const struct hotel_config *config = c->search->config;
    struct buf url;
    buf_init(&url, NULL, URL_BYTES_MAX);
    buf_str(&url, config->search_urls[c->at]);
    buf_str(&url, c->path);
    enum err e =
        url.failed ? err_set(em, ERR_ILLEGAL_ARGUMENT, "the search service's URL is too long") : ERR_OK;
    if (e == ERR_OK) {
        struct http_client_request r = {.method = c->body.n > 0 ? "POST" : "GET",
                                        .url = buf_view(&url),
                                        .body = c->body,
                                        .content_type = c->body.n > 0 ? "application/json" : NULL,
                                        .ms_max = MAX_OF(config->search_ms_max / config->search_urls_n, 1)};
        c->tried++;
        e = http_client_send(c->search->client, &r, on_reply, c, em);
    }
    buf_fini(&url);
    return e;
}

/* Might another node answer? One that is overloaded says so for all of them. */
static bool is_away(const struct http_reply *reply)
{
    return reply->err == ERR_IO || reply->err == ERR_TIMEOUT
           || (reply->err == ERR_OK && reply->status >= 502 && reply->status <= 504);
}

static void on_reply(void *arg, const struct http_reply *reply)
{
    struct call *c = arg;
    if (!is_away(reply)) {
        c->search->at = c->at;
    } else if (c->tried < c->search->config->search_urls_n) {
        ERR_LOCAL(em);
        c->at = (c->at + 1) % c->search->config->search_urls_n;
        if (send_call(c, &em) == ERR_OK) {
            return;
        }
    }
    c->done(c->arg, reply);
}

enum err search_call(struct search *s, const char *action, struct str preference, struct str body,
                     struct arena *arena, void (*done)(void *arg, const struct http_reply *reply), void *arg,
                     struct errmsg *em)
{
    struct call *c = ARENA_NEW(arena, struct call);
    struct buf path;
    buf_init(&path, NULL, URL_BYTES_MAX);
    buf_char(&path, '/');
    uri_encode(&path, s->config->index);
    buf_char(&path, '/');
    buf_z(&path, action);
    if (preference.n > 0) {
        buf_z(&path, "?preference=");
        uri_encode(&path, preference);
    }
    struct str kept = arena_str(arena, buf_view(&path)), text = arena_str(arena, body);
    bool ok = c != NULL && !path.failed && kept.p != NULL && text.p != NULL;
    buf_fini(&path);
    if (!ok) {
        return err_no_memory(em);
    }
    *c = (struct call){.search = s, .path = kept, .body = text, .at = s->at, .done = done, .arg = arg};
    return send_call(c, em);
}

enum err search_failure(const struct http_reply *reply, struct errmsg *em)
{
    if (reply->err == ERR_TIMEOUT) {
        return err_set(em, ERR_TIMEOUT, "the search service did not answer in time");
    }
    if (reply->err != ERR_OK) {
        return err_set(em, ERR_IO, "the search service cannot be reached");
    }
    if (reply->status == 200) {
        return ERR_OK;
    }
    if (reply->status == 404) {
        return err_set(em, ERR_INDEX_NOT_FOUND, "the search service has no index of hotels yet");
    }
    if (reply->status == 429) {
        return err_set(em, ERR_REJECTED, "the search service is overloaded");
    }
    return err_set(em, ERR_IO, "the search service answered with status %d", reply->status);
}
