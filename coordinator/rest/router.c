/* A trie of path parts. A path is walked in up to four modes, as Elasticsearch's PathTrie does, each freer
 * than the one before with where `{name}` may stand for a part; the first leaf that serves the method is
 * taken. */
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

enum mode { EXPLICIT_ONLY, WILDCARD_ROOT, WILDCARD_LEAF, WILDCARD_ANYWHERE, MODES };

static const struct node *explicit_child(const struct node *at, struct str part)
{
    const struct node *c = at->children;
    while (c != NULL && (c->part.p == NULL || !str_eq(c->part, part))) {
        c = c->sibling;
    }
    return c;
}

static const struct node *wildcard_child(const struct node *at)
{
    const struct node *c = at->children;
    while (c != NULL && c->part.p != NULL) {
        c = c->sibling;
    }
    return c;
}

static bool wildcard_allowed(enum mode mode, bool first, bool last)
{
    return mode == WILDCARD_ANYWHERE || (mode == WILDCARD_ROOT && first) || (mode == WILDCARD_LEAF && last);
}

/* The leaf below `at` for the parts from `depth` on; NULL: none in this mode. */
static const struct node *retrieve(const struct node *at, const struct str *parts, unsigned n, unsigned depth,
                                   enum mode mode)
{
    const struct node *any = wildcard_child(at), *node = explicit_child(at, parts[depth]);
    bool first = depth == 0, last = depth + 1 == n,
         explicit_or_root = mode == EXPLICIT_ONLY || mode == WILDCARD_ROOT;
    bool used_wildcard = false;
    if (node == NULL) {
        node = wildcard_allowed(mode, first, last) ? any : NULL;
        used_wildcard = true;
    } else if (node->routes == NULL && any != NULL
               && ((last && !explicit_or_root) || (first && explicit_or_root))) {
        node = any;
        used_wildcard = true;
    }
    if (node == NULL || last) {
        return node != NULL && node->routes != NULL ? node : NULL;
    }
    const struct node *leaf = retrieve(node, parts, n, depth + 1, mode);
    if (leaf == NULL && !used_wildcard && mode != EXPLICIT_ONLY && any != NULL) {
        leaf = retrieve(any, parts, n, depth + 1, mode);
    }
    return leaf;
}

/* Names the parts that the pattern has in braces, and decodes them: false is an error of rq. The pattern outlives the request: its bytes serve as names,
 * copied with a NUL into the arena. */
static bool router_bind(struct rest *rq, const struct route *route, const struct str *parts)
{
    struct str rest = str_of(route->pattern + 1);
    for (unsigned i = 0; rest.n > 0; i++) {
        struct str part = str_cut(rest, '/', &rest);
        if (part.p[0] != '{') {
            continue;
        }
        struct str name = arena_str(rq->arena, str_slice(part, 1, part.n - 1));
        struct path_param *p = &rq->path[rq->n_path];
        p->name = name.p;
        if (name.p == NULL) {
            err_no_memory(&rq->em);
            return false;
        }
        if (uri_decode(parts[i], false, rq->arena, &p->value, &rq->em) != ERR_OK) {
            return false;
        }
        rq->n_path++;
    }
    return true;
}

rest_handler router_find(const struct router *r, struct rest *rq, const struct str *parts, unsigned n_parts,
                         unsigned *allowed)
{
    const struct route *found = NULL;
    *allowed = 0;
    for (int mode = 0; found == NULL && mode < MODES; mode++) {
        const struct node *leaf =
            n_parts == 0 ? &r->root : retrieve(&r->root, parts, n_parts, 0, (enum mode)mode);
        for (const struct leaf_route *l = leaf != NULL ? leaf->routes : NULL; l != NULL; l = l->next) {
            *allowed |= l->route->methods;
            if (found == NULL && (l->route->methods & 1U << rq->method) != 0) {
                found = l->route;
            }
        }
    }
    return found != NULL && router_bind(rq, found, parts) ? found->handler : NULL;
}
