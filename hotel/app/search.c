#include "hotel/app/search.h"

#include "common/base/uri.h"

#include <stdlib.h>

#define IDLE_MS_MAX     20000 /* below the 60 s after which servers commonly close */
#define REPLY_BYTES_MAX (64 * MIB)
#define URL_BYTES_MAX   (8 * KIB)

struct search {
    const struct hotel_config *config;
    struct http_client *client;
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

enum err search_call(struct search *s, const char *action, struct str body,
                     void (*done)(void *arg, const struct http_reply *reply), void *arg, struct errmsg *em)
{
    struct buf url;
    buf_init(&url, NULL, URL_BYTES_MAX);
    buf_str(&url, s->config->search_url);
    buf_char(&url, '/');
    uri_encode(&url, s->config->index);
    buf_char(&url, '/');
    buf_z(&url, action);
    enum err e =
        url.failed ? err_set(em, ERR_ILLEGAL_ARGUMENT, "the search service's URL is too long") : ERR_OK;
    if (e == ERR_OK) {
        struct http_client_request r = {.method = body.n > 0 ? "POST" : "GET",
                                        .url = buf_view(&url),
                                        .body = body,
                                        .content_type = body.n > 0 ? "application/json" : NULL,
                                        .ms_max = s->config->search_ms_max};
        e = http_client_send(s->client, &r, done, arg, em);
    }
    buf_fini(&url);
    return e;
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
