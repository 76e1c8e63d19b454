/* transport_nng.h - the transport of real processes: NNG's streams over TCP.
 *
 * To each peer and class goes one connection that this side dials, on which requests are told apart by number; others' requests
 * come over the connections that they dial. NNG's threads do nothing but put frames together and hand them on; a thread of the
 * transport's own redials and keeps times. Why no sockets of NNG: docs/decisions/nng-streams.md. */
#ifndef PROTO_TRANSPORT_NNG_H
#define PROTO_TRANSPORT_NNG_H

#include "proto/transport.h"

struct transport_nng;

struct transport_nng_opts {
    struct str host;                /* what to listen on: an address or a name */
    unsigned port_first, port_last; /* the first free one of them */
    struct str ephemeral_id;        /* this process; copied */
};

/* Listens at once, but takes no request before transport_nng_start(): first say who serves what. ERR_IO: no
 * port is free. */
enum err transport_nng_new(struct transport_nng **out, const struct transport_nng_opts *opts,
                           struct errmsg *em);
void transport_nng_start(struct transport_nng *t);
unsigned transport_nng_port(const struct transport_nng *t);
/* Requests under way end, with ERR_NODE_DISCONNECTED if they may have been acted on; new ones with ERR_NODE_CLOSED. Calls that are
 * not answered yet must still be. Does not wait for the network. */
void transport_nng_stop(struct transport_nng *t);
/* After stop(), once every call was answered and every done() has run. NULL ok. */
void transport_nng_free(struct transport_nng *t);
const struct transport *transport_nng_api(struct transport_nng *t); /* borrowed */

struct transport_nng_stats {
    uint64_t sent, sent_bytes, received, refused_busy;
    uint32_t peers, connections;
};
void transport_nng_stats(struct transport_nng *t, struct transport_nng_stats *out);

#endif
