/* A trie of path parts. Explicit parts go before `{name}` ones, with backtracking; the first leaf that is a route decides, also
 * when it does not serve the method, as in Elasticsearch's PathTrie. */
#include "coordinator/rest/rest.h"

struct leaf_route {
    const struct route *route;
    struct leaf_route *next;
};

struct node {
    struct str part; /* p == NULL: matches anything */
    struct node *children, *sibling;
    struct leaf_route *routes;
};

struct router {
    struct node root;
};

enum err router_new(struct router **out, struct arena *arena, struct errmsg *em)
{
    *out = ARENA_NEW(arena, struct router);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

static struct node *child(struct node *at, struct str part, struct arena *arena)
{
    bool any = part.n > 1 && part.p[0] == '{';
    for (struct node *c = at->children; c != NULL; c = c->sibling) {
        if (any ? c->part.p == NULL : str_eq(c->part, part)) {
            return c;
        }
    }
    struct node *c = ARENA_NEW(arena, struct node);
    if (c == NULL) {
        return NULL;
    }
    c->part = any ? STR_NULL : part;
    struct node **where = &at->children;
    while (any && *where != NULL) { /* the wildcard stays last */
        where = &(*where)->sibling;
    }
    c->sibling = *where;
    *where = c;
    return c;
}

bool router_add(struct router *r, const struct route *routes, size_t n, struct arena *arena)
{
    for (size_t i = 0; i < n; i++) {
        struct node *at = &r->root;
        struct str rest = str_of(routes[i].pattern + 1);
        while (rest.n > 0) {
            struct str part = str_cut(rest, '/', &rest);
            at = child(at, part, arena);
            if (at == NULL) {
                return false;
            }
        }
        struct leaf_route *l = ARENA_NEW(arena, struct leaf_route);
        if (l == NULL) {
            return false;
        }
        *l = (struct leaf_route){&routes[i], at->routes};
        at->routes = l;
    }
    return true;
}

struct walk {
    const struct str *parts;
    unsigned n;
    unsigned method;
    unsigned allowed;
    const struct route *found;
};

static void search(struct walk *w, const struct node *at, unsigned depth)
{
    if (depth == w->n) {
        for (const struct leaf_route *l = at->routes; l != NULL; l = l->next) {
            w->allowed |= l->route->methods;
            if (w->found == NULL && (l->route->methods & w->method) != 0) {
                w->found = l->route;
            }
        }
        return;
    }
    for (const struct node *c = at->children; c != NULL && w->allowed == 0; c = c->sibling) {
        if (c->part.p == NULL || str_eq(c->part, w->parts[depth])) {
            search(w, c, depth + 1);
        }
    }
}

/* Names the parts that the pattern has in braces. The pattern outlives the request: its bytes serve as names, copied with a
 * NUL into the arena. */
static bool bind(struct rest *rq, const struct route *route, const struct str *parts)
{
    struct str rest = str_of(route->pattern + 1);
    for (unsigned i = 0; rest.n > 0; i++) {
        struct str part = str_cut(rest, '/', &rest);
        if (part.p[0] != '{') {
            continue;
        }
        struct str name = arena_str(rq->arena, str_slice(part, 1, part.n - 1));
        if (name.p == NULL) {
            return false;
        }
        rq->path[rq->n_path++] = (struct path_param){name.p, parts[i]};
    }
    return true;
}

rest_handler router_find(const struct router *r, struct rest *rq, const struct str *parts, unsigned n_parts, unsigned *allowed)
{
    struct walk w = {.parts = parts, .n = n_parts, .method = 1U << rq->method};
    search(&w, &r->root, 0);
    *allowed = w.allowed;
    return w.found != NULL && bind(rq, w.found, parts) ? w.found->handler : NULL;
}
