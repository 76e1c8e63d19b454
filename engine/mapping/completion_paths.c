#include "engine/mapping/completion_paths.h"

/* Lucene's TokenStreamToAutomaton over positions: a token leads from "leaving p" to "arriving p + length";
 * arriving p leads over a separator to leaving p; a hole leads from leaving p - 1 to arriving p. */
struct position {
    bool leaving, arriving, hole; /* hole: from the position before to this one */
    uint32_t first;               /* first token that starts here, + 1 */
};

struct graph {
    const struct completion_options *o;
    struct token_list tokens;
    uint32_t *next; /* per token: the next one at the same position, + 1 */
    uint32_t *start;
    struct position *positions;
    uint32_t n_positions, cap;
    uint32_t last; /* where the last token starts */
    uint32_t end_holes;

    struct arena *arena;
    char *path;
    size_t path_cap;
    struct str *out;
    size_t n, out_cap;
    bool failed;
};

#define POSITIONS_MAX (1U << 20)

static struct position *position_at(struct graph *g, uint32_t p)
{
    if (p >= POSITIONS_MAX) {
        g->failed = true;
    }
    while (!g->failed && p >= g->n_positions) {
        size_t cap = g->cap;
        struct position *v = arena_grow(g->arena, g->positions, g->n_positions, &cap, sizeof(*v));
        if (v == NULL) {
            g->failed = true;
            break;
        }
        g->cap = (uint32_t)cap;
        g->positions = v;
        v[g->n_positions++] = (struct position){0};
    }
    return g->failed ? NULL : &g->positions[p];
}

static void add_holes(struct graph *g, uint32_t p)
{
    for (; p > 0; p--) {
        struct position *at = &g->positions[p], *before = &g->positions[p - 1];
        if (at->arriving && before->leaving) {
            break;
        }
        at->arriving = true;
        before->leaving = true;
        at->hole = true;
    }
}

static bool add_token(struct graph *g, uint32_t i, int64_t *pos)
{
    const struct token *t = &g->tokens.v[i];
    int64_t inc = t->pos_inc > 1 && !g->o->preserve_position_increments ? 1 : t->pos_inc;
    inc = *pos < 0 && inc < 1 ? 1 : MAX_OF(inc, 0);
    *pos += inc;
    if (*pos + t->pos_len >= POSITIONS_MAX) {
        return false;
    }
    uint32_t p = (uint32_t)*pos, end = p + MAX_OF((uint32_t)t->pos_len, 1U);
    if (position_at(g, end) == NULL) {
        return false;
    }
    struct position *at = &g->positions[p];
    if (inc > 0) {
        bool arrived = at->arriving;
        at->leaving = true;
        if (p > 0 && (!arrived || inc > 1)) {
            add_holes(g, p);
        }
    }
    g->start[i] = p;
    g->next[i] = 0;
    uint32_t *link = &at->first;
    while (*link != 0) {
        link = &g->next[*link - 1];
    }
    *link = t->text.n > 0 ? i + 1 : 0; /* an empty token leads nowhere */
    g->positions[end].arriving = true;
    g->last = p;
    return true;
}

static bool paths_build(struct graph *g)
{
    int64_t pos = -1;
    g->next = ARENA_ARRAY(g->arena, uint32_t, g->tokens.n);
    g->start = ARENA_ARRAY(g->arena, uint32_t, g->tokens.n);
    if (g->next == NULL || g->start == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < g->tokens.n; i++) {
        if (!add_token(g, i, &pos)) {
            return false;
        }
    }
    /* Text behind the last token is no hole: only removed tokens are. */
    g->end_holes = g->o->preserve_position_increments ? (uint32_t)MAX_OF(g->tokens.end_pos_inc, 0) : 0;
    return true;
}

static size_t paths_put(struct graph *g, size_t at, const char *p, size_t n)
{
    if (at + n > g->path_cap) {
        size_t cap = MAX_OF(g->path_cap * 2, at + n + 64);
        char *grown = arena_alloc(g->arena, cap);
        if (grown == NULL) {
            g->failed = true;
            return at;
        }
        if (at > 0) {
            memcpy(grown, g->path, at);
        }
        g->path = grown;
        g->path_cap = cap;
    }
    if (n > 0) {
        memcpy(g->path + at, p, n);
    }
    return at + n;
}

static size_t put_separator(struct graph *g, size_t at)
{
    static const char separator = COMPLETION_SEPARATOR;
    return g->o->preserve_separators ? paths_put(g, at, &separator, 1) : at;
}

static void accept(struct graph *g, size_t n)
{
    for (uint32_t i = 0; i < g->end_holes; i++) {
        n = put_separator(g, n);
    }
    struct str path = str_mk(g->path, n);
    for (size_t i = g->n > 64 ? g->n - 64 : 0; i < g->n; i++) {
        if (str_eq(g->out[i], path)) {
            return;
        }
    }
    struct str *out = arena_grow(g->arena, g->out, g->n, &g->out_cap, sizeof(*out));
    path = arena_str(g->arena, path);
    if (out == NULL || path.p == NULL) {
        g->failed = true;
        return;
    }
    g->out = out;
    g->out[g->n++] = path;
}

/* What is still to do: at position p, arriving or leaving, with n bytes of path. An explicit stack, because a
 * text may have any number of positions. */
struct step {
    uint32_t p;
    uint32_t token; /* leaving: token + 1 to take next; 0: the hole */
    size_t n;
};

static bool paths_push(struct graph *g, struct step **stack, size_t *depth, size_t *cap, struct step s)
{
    struct step *v = arena_grow(g->arena, *stack, *depth, cap, sizeof(*v));
    if (v == NULL) {
        g->failed = true;
        return false;
    }
    *stack = v;
    v[(*depth)++] = s;
    return true;
}

static void paths_walk(struct graph *g)
{
    struct step *stack = NULL;
    size_t depth = 0, cap = 0;
    paths_push(g, &stack, &depth, &cap, (struct step){.p = 0, .token = g->positions[0].first});
    while (depth > 0 && !g->failed && g->n < COMPLETION_PATHS_MAX) {
        struct step *s = &stack[depth - 1];
        uint32_t to, p = s->p;
        size_t n = s->n;
        if (s->token != 0) {
            const struct token *t = &g->tokens.v[s->token - 1];
            to = p + MAX_OF((uint32_t)t->pos_len, 1U);
            s->token = g->next[s->token - 1];
            if (s->token == 0 && !(p + 1 < g->n_positions && g->positions[p + 1].hole)) {
                depth--;
            }
            n = paths_put(g, n, t->text.p, t->text.n);
        } else {
            depth--;
            to = p + 1;
            if (to >= g->n_positions || !g->positions[to].hole) {
                continue;
            }
        }
        if (to > g->last) {
            accept(g, n);
        } else if (g->positions[to].leaving) {
            n = put_separator(g, n);
            paths_push(g, &stack, &depth, &cap,
                       (struct step){.p = to, .token = g->positions[to].first, .n = n});
        }
    }
}

enum err completion_paths(const struct completion_options *o, struct str text, struct arena *arena,
                          const struct str **out, uint32_t *n, struct errmsg *em)
{
    struct graph g = {.o = o, .arena = arena};
    *out = NULL;
    *n = 0;
    token_list_init(&g.tokens, arena);
    enum err e = analyzer_run(o->analyzer, text, &g.tokens, em);
    if (e != ERR_OK || g.tokens.n == 0) {
        return e;
    }
    if (!paths_build(&g)) {
        return err_no_memory(em);
    }
    paths_walk(&g);
    if (g.failed) {
        return err_no_memory(em);
    }
    *out = g.out;
    *n = (uint32_t)g.n;
    return ERR_OK;
}
