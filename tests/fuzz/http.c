/* Bytes on a connection of the HTTP server. */
#include "tests/fuzz/fuzz.h"

#include "common/base/utf8.h"
#include "common/sys/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MS_MAX 50000 /* a busy machine is no finding: below what one input may take (run) */

static struct loop *loop;
static struct http_server *server;
static unsigned port;

static void echo(void *self, struct http_request *rq)
{
    struct buf b;
    (void)self;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_printf(&b, "%.*s %.*s %zu\n", STR_ARG(rq->method_name), STR_ARG(rq->path), rq->body.n);
    http_respond(rq, 200, "text/plain", NULL, 0, &b);
}

static void init(void)
{
    ERR_LOCAL(em);
    FUZZ_HOLDS(loop_new(&loop, "fuzz", &em) == ERR_OK && loop_start(loop, &em) == ERR_OK);
    struct http_server_opts o = {
        .loops = &loop, .loops_n = 1, .ports = "0", .compression = true, .handle = echo};
    o.limits.body_bytes_max = MIB;
    o.limits.inflated_bytes_max = MIB;
    FUZZ_HOLDS(http_server_new(&server, &o, &em) == ERR_OK);
    port = http_server_port(server);
}

/* All of it is sent; whatever it was, the server closes when it has answered what it could. */
static void one_http(struct str in)
{
    char answer[4096];
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FUZZ_HOLDS(fd >= 0);
    const struct linger reset = {1, 0}; /* no port is left waiting */
    FUZZ_HOLDS(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) == 0);
    FUZZ_HOLDS(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    (void)!send(fd, in.p, in.n, MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    struct pollfd p = {fd, POLLIN, 0};
    ssize_t n = 1;
    while (n > 0) {
        FUZZ_HOLDS(poll(&p, 1, ANSWER_MS_MAX) == 1);
        n = recv(fd, answer, sizeof(answer), 0);
    }
    close(fd);
}

const struct fuzz_target fuzz_http[] = {
    {"http", one_http, init, FUZZ_BYTES},
    {0},
};
