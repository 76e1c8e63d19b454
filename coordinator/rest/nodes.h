/* nodes.h - declarations shared by the handlers about nodes. Any thread. */
#ifndef COORDINATOR_REST_NODES_H
#define COORDINATOR_REST_NODES_H

#include "coordinator/rest/rest.h"

struct message;
struct node_calls;

/* How this node is. */
void nodes_report(const struct rest *r, struct node_report *out);
/* "data", ... as an array. */
void nodes_write_roles(struct jsonw *w, unsigned roles);
struct str nodes_port(struct str address); /* "127.0.0.1:9300": "9300" */
/* Asks the nodes that the list names, as node_calls_start(); answers r itself without memory. */
void nodes_ask(struct rest *r, const struct message *message, struct str nodes, const void *question,
               int64_t timeout_ms, void (*done)(struct node_calls *c), void *user);
/* The same; answers r with each one's object. */
void nodes_ask_json(struct rest *r, const struct message *message, struct str nodes, const void *question,
                    int64_t timeout_ms);
/* The member "attributes" (node.attr.*), when there are any. */
void nodes_write_attributes(struct jsonw *w, const struct rest *r);
/* Numbers the metrics of a list by `names`: 1 << i. "_all": all of them. Unknown ones are refused, if
 * `strict`. */
enum err nodes_metrics(struct rest *r, struct str list, const char *const *names, size_t n, bool strict,
                       unsigned *out);

/* A thread pool as Elasticsearch would size it on this machine; our own pools give their true numbers. */
struct pool_row {
    const char *name, *type; /* "scaling", ... */
    unsigned core, max;      /* scaling: both; else max is the size */
    int64_t queue_max;       /* -1: unbounded */
    const char *keep_alive;  /* NULL: none */
    struct pool_stats stats;
};
#define POOL_ROWS 17
void nodes_pools(const struct node_report *n, struct pool_row out[POOL_ROWS]);

/* The plugins whose work this node does by itself. */
struct plugin_row {
    const char *name, *description, *class_name;
};
#define PLUGIN_ROWS 2
extern const struct plugin_row nodes_plugins[PLUGIN_ROWS];
void nodes_write_plugins(struct jsonw *w);

#endif
