/* http_fetch.c - one request and its answer, for command-line tools. */
#include "common/sys/http_client.h"

struct fetch {
    struct loop *loop;
    struct arena *arena;
    struct http_reply *out;
    enum err err;
    struct errmsg *em;
};

static bool copy_reply(struct fetch *f, const struct http_reply *r)
{
    struct http_header *v = ARENA_ARRAY(f->arena, struct http_header, r->headers_n);
    if (v == NULL) {
        return false;
    }
    for (size_t i = 0; i < r->headers_n; i++) {
        v[i].name = arena_str(f->arena, r->headers[i].name);
        v[i].value = arena_str(f->arena, r->headers[i].value);
        if (v[i].name.p == NULL || v[i].value.p == NULL) {
            return false;
        }
    }
    *f->out = *r;
    f->out->headers = v;
    f->out->body = arena_str(f->arena, r->body);
    return f->out->body.p != NULL;
}

static void on_done(void *arg, const struct http_reply *r)
{
    struct fetch *f = arg;
    if (r->err != ERR_OK) {
        f->err = err_set(f->em, r->err, "%s", r->reason);
    } else if (!copy_reply(f, r)) {
        f->err = err_no_memory(f->em);
    }
    loop_stop(f->loop);
}

enum err http_fetch(const struct http_client_request *req, const struct tls *tls, struct arena *arena,
                    struct http_reply *out, struct errmsg *em)
{
    struct fetch f = {.arena = arena, .out = out, .em = em};
    struct http_client *client = NULL;
    *out = (struct http_reply){0};
    enum err e = loop_new(&f.loop, "fetch", em);
    if (e == ERR_OK) {
        e = http_client_new(&client, &(struct http_client_opts){.loop = f.loop, .tls = tls}, em);
    }
    if (e == ERR_OK) {
        e = http_client_send(client, req, on_done, &f, NULL, em);
    }
    if (e == ERR_OK) {
        loop_run(f.loop);
        e = f.err;
    }
    http_client_free(client);
    loop_free(f.loop);
    return e;
}
