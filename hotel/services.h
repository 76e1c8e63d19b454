/* services.h - addresses of the database and of the message broker, as settings give them. Pure.
 *
 * "mysql://user:password@host:3306/hotel", "amqp://guest:guest@127.0.0.1:5672/vhost": parts are
 * percent-encoded where they need to be; what is left out has a default. */
#ifndef HOTEL_SERVICES_H
#define HOTEL_SERVICES_H

#include "common/base/arena.h"
#include "common/base/err.h"

struct service_url { /* texts end in a NUL and are in the arena */
    struct str user, password, host;
    unsigned port;
    struct str path; /* without the first '/'; p == NULL: there is none */
};

/* scheme: "mysql". ERR_ILLEGAL_ARGUMENT; the reason does not repeat the password. */
enum err service_url_parse(struct service_url *out, struct str text, const char *scheme,
                           unsigned port_default, struct arena *arena, struct errmsg *em);

#endif
