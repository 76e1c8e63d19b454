/* self.h - the node's knowledge of itself: roles, addresses, pools, the load of the machine.
 *
 * Settings are read once; the rest is asked anew. self_sample() on one thread at a time, self_report() on any. */
#ifndef NODE_SELF_H
#define NODE_SELF_H

#include "common/base/settings.h"
#include "common/sys/http_server.h"
#include "coordinator/core/node_report.h"

struct self {
    struct str host, transport_address, http_address, data_dir;
    unsigned roles, cores;
    uint64_t http_body_bytes_max;
    struct cpu_sample last;
    _Atomic int cpu_percent, process_cpu_percent;
};

/* Reads roles (node.roles; node.master, node.data, node.ingest, node.remote_cluster_client) and the address to publish. Texts
 * go to the arena. ERR_ILLEGAL_ARGUMENT for a role that is none. */
enum err self_init(struct self *me, const struct settings *s, struct arena *arena, struct errmsg *em);
/* Where other nodes reach it: known once the transport listens. */
enum err self_reachable(struct self *me, const struct settings *s, unsigned port, struct arena *arena,
                        struct errmsg *em);
/* The port is known once the server listens. */
enum err self_listening(struct self *me, const struct settings *s, unsigned http_port, struct arena *arena,
                        struct errmsg *em);
/* "data, ingest, master" */
void self_roles_text(const struct self *me, struct buf *out);
/* Measures the processor since the sample before. */
void self_sample(struct self *me);
/* `http` may be NULL. Pools that are NULL are left out. */
void self_report(const struct self *me, const struct http_server *http, struct node_report *out);
void self_add_pool(struct node_report *r, const char *name, struct pool *p);

#endif
