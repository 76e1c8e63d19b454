/* The synonym filters. The plain one stacks what a match becomes on the positions of the matched words and
 * those behind them; the graph one gives every alternative a path of its own (pos_len). */
#include "common/base/arena_list.h"
#include "common/base/memory_account.h"
#include "engine/analysis/parts.h"
#include "engine/analysis/synonyms.h"

#define SYNONYM_TYPE "SYNONYM"

struct synonym_filter {
    struct token_filter base;
    struct synonyms synonyms;
};

/* A word that waits to be put at a position. */
struct pending {
    struct str text;
    bool whole;   /* the only word of its alternative: it ends where the match does */
    uint32_t end; /* then */
    uint16_t pos_len;
    uint32_t next; /* index + 1 in the list of all; 0: last at its position */
};

struct stacking {
    const struct synonym_filter *f;
    const struct token_list *in;
    struct token_list out;
    struct pending *v;
    size_t n, cap;
    uint32_t *first, *last; /* by position: index + 1 */
    size_t positions;       /* of the input and as many behind as outputs can reach */
};

static bool put_pending(struct stacking *k, size_t at, struct pending p)
{
    if (!ARENA_ADD(k->out.arena, k->v, k->n, k->cap, p)) {
        return false;
    }
    if (k->first[at] == 0) {
        k->first[at] = (uint32_t)k->n;
    } else {
        k->v[k->last[at] - 1].next = (uint32_t)k->n;
    }
    k->last[at] = (uint32_t)k->n;
    return true;
}

static bool stack_outputs(struct stacking *k, size_t at, size_t length, const struct synonym *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct str rest = s->outputs[i];
        bool whole = str_find(rest, '\0', 0) == SIZE_MAX;
        for (size_t here = at; rest.p != NULL; here++) {
            struct pending p = {.text = str_cut(rest, '\0', &rest), .whole = whole, .pos_len = 1};
            if (whole) {
                p.end = k->in->v[at + length - 1].end;
                p.pos_len = (uint16_t)(s->keep_original ? MIN_OF(length, (size_t)UINT16_MAX) : 1);
            }
            if (!put_pending(k, here, p)) {
                return false;
            }
        }
    }
    return true;
}

/* Emits what waits at a position; `inc` is the increment of the first. */
static bool emit_pending(struct stacking *k, size_t at, uint32_t start, uint32_t end, int32_t inc)
{
    for (uint32_t i = k->first[at]; i != 0; i = k->v[i - 1].next) {
        const struct pending *p = &k->v[i - 1];
        struct token t = {.text = p->text,
                          .start = start,
                          .end = p->whole ? p->end : end,
                          .pos_inc = inc,
                          .pos_len = p->pos_len,
                          .type = SYNONYM_TYPE};
        inc = 0;
        if (!token_add(&k->out, t)) {
            return false;
        }
    }
    return true;
}

static size_t longest_output(const struct synonyms *s)
{
    size_t most = 0;
    for (size_t i = 0; i < s->rules.n; i++) {
        const struct synonym *rule = s->rules.entries[i].value;
        for (size_t k = 0; k < rule->n; k++) {
            size_t words = 1;
            for (size_t at = str_find(rule->outputs[k], '\0', 0); at != SIZE_MAX;
                 at = str_find(rule->outputs[k], '\0', at + 1)) {
                words++;
            }
            most = MAX_OF(most, words);
        }
    }
    return most;
}

static bool stack_all(struct stacking *k, struct buf *scratch)
{
    const struct token_list *in = k->in;
    for (size_t at = 0; token_next(in, at);) {
        size_t length = 1;
        const struct synonym *s = synonyms_match(&k->f->synonyms, in->v, at, in->n, scratch, &length);
        if (s != NULL && !stack_outputs(k, at, length, s)) {
            return false;
        }
        for (size_t i = 0; i < length; i++, at++) {
            const struct token *t = &in->v[at];
            bool kept = s == NULL || s->keep_original;
            if ((kept && !token_add(&k->out, *t)) || !emit_pending(k, at, t->start, t->end, kept ? 0 : 1)) {
                return false;
            }
        }
    }
    const struct token *last = &in->v[in->n - 1];
    for (size_t at = in->n; at < k->positions; at++) {
        for (uint32_t i = k->first[at]; i != 0; i = k->v[i - 1].next) {
            k->v[i - 1].whole = false; /* offsets of the last word of all */
        }
        if (!emit_pending(k, at, last->start, last->end, 1)) {
            return false;
        }
    }
    return true;
}

/* A filter for all values of a list finds nothing most of the time: then the list stays as it is. */
static bool any_match(const struct synonyms *s, const struct token_list *l, struct buf *scratch)
{
    size_t length;
    for (size_t at = 0; token_next(l, at); at++) {
        if (synonyms_match(s, l->v, at, l->n, scratch, &length) != NULL) {
            return true;
        }
    }
    return false;
}

static enum err apply_plain(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    struct stacking k = {.f = (const struct synonym_filter *)self, .in = l};
    struct buf scratch;
    bool ok = true;
    memory_request_buf(&scratch);
    if (any_match(&k.f->synonyms, l, &scratch)) {
        token_list_init(&k.out, l->arena);
        k.positions = l->n + longest_output(&k.f->synonyms);
        k.first = ARENA_ARRAY(l->arena, uint32_t, k.positions);
        k.last = ARENA_ARRAY(l->arena, uint32_t, k.positions);
        ok = k.first != NULL && k.last != NULL && stack_all(&k, &scratch);
        if (ok) {
            token_list_take(l, &k.out);
        }
    }
    buf_fini(&scratch);
    return ok ? ERR_OK : err_no_memory(em);
}

/* The graph that comes out: nodes are numbered along the way, tokens are edges. */
struct graphing {
    const struct synonym_filter *f;
    const struct token_list *in;
    struct token_list out;
    int32_t last_node; /* where the last token that was put out starts */
    int32_t next_node; /* where the next one of the input starts */
};

static bool put_edge(struct graphing *g, struct token t, int32_t from, int32_t to)
{
    t.pos_inc = from - g->last_node;
    t.pos_len = (uint16_t)MIN_OF(to - from, UINT16_MAX);
    g->last_node = from;
    return token_add(&g->out, t);
}

static size_t count_words(struct str words)
{
    size_t n = 1;
    for (size_t at = str_find(words, '\0', 0); at != SIZE_MAX; at = str_find(words, '\0', at + 1)) {
        n++;
    }
    return n;
}

/* The i-th word of a sequence. */
static struct str nth_word(struct str words, size_t i)
{
    struct str word;
    do {
        word = str_cut(words, '\0', &words);
    } while (i-- > 0);
    return word;
}

/* One path through the match: an alternative, or the words themselves. */
struct synonym_path {
    struct str words; /* p == NULL: those of the input */
    size_t n;
    int32_t first_end; /* node where its first edge ends */
};

static struct token synonym_path_token(const struct graphing *g, const struct synonym_path *w, size_t at,
                                       size_t length, size_t i)
{
    const struct token *v = &g->in->v[at];
    if (w->words.p == NULL) {
        return v[i];
    }
    return (struct token){
        .text = nth_word(w->words, i), .start = v[0].start, .end = v[length - 1].end, .type = SYNONYM_TYPE};
}

static bool put_match(struct graphing *g, size_t at, size_t length, const struct synonym *s)
{
    size_t n = s->n + (s->keep_original ? 1 : 0);
    struct synonym_path *ways = ARENA_ARRAY(g->out.arena, struct synonym_path, n);
    int32_t start = g->next_node, inner = 0;
    if (ways == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        ways[i].words = i < s->n ? s->outputs[i] : STR_NULL;
        ways[i].n = i < s->n ? count_words(s->outputs[i]) : length;
        ways[i].first_end = start + inner + 1; /* one word: to the end, set below */
        inner += (int32_t)ways[i].n - 1;
    }
    int32_t end = start + inner + 1;
    for (size_t i = 0; i < n; i++) { /* all first edges, then way by way the rest */
        ways[i].first_end = ways[i].n == 1 ? end : ways[i].first_end;
        if (!put_edge(g, synonym_path_token(g, &ways[i], at, length, 0), start, ways[i].first_end)) {
            return false;
        }
    }
    g->next_node = end;
    for (size_t i = 0; i < n; i++) {
        int32_t node = ways[i].first_end;
        for (size_t k = 1; k < ways[i].n; k++, node++) {
            if (!put_edge(g, synonym_path_token(g, &ways[i], at, length, k), node,
                          k + 1 == ways[i].n ? end : node + 1)) {
                return false;
            }
        }
    }
    return true;
}

static enum err apply_graph(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    struct graphing g = {.f = (const struct synonym_filter *)self, .in = l, .last_node = -1};
    struct buf scratch;
    bool ok = true;
    memory_request_buf(&scratch);
    token_list_init(&g.out, l->arena);
    for (size_t at = 0; token_next(l, at) && ok;) {
        size_t length = 1;
        const struct synonym *s = synonyms_match(&g.f->synonyms, l->v, at, l->n, &scratch, &length);
        if (s != NULL) {
            ok = put_match(&g, at, length, s);
        } else {
            g.last_node += l->v[at].pos_inc;
            g.next_node = g.last_node + l->v[at].pos_len;
            ok = token_add(&g.out, l->v[at]);
        }
        at += length;
    }
    buf_fini(&scratch);
    if (!ok) {
        return err_no_memory(em);
    }
    token_list_take(l, &g.out);
    return ERR_OK;
}

/* A synonym filter as it is declared: its rules wait for the analyzer that it is put into. */
struct synonym_part {
    struct token_filter base;
    struct str *lines;
    size_t n;
    bool has_rules;
    bool graph;
    bool from_file;
    struct synonym_options options;
};

static enum err part_before(const struct part_chain *before, struct arena *arena, struct analyzer *an,
                            struct errmsg *em)
{
    *an = (struct analyzer){.char_filters = before->char_filters,
                            .n_char_filters = before->n_char_filters,
                            .tokenizer = before->tokenizer};
    const struct token_filter **filters = ARENA_ARRAY(arena, const struct token_filter *, before->n_filters);
    if (filters == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < before->n_filters; i++) {
        const struct token_filter *f = before->filters[i];
        if (f->synonym_use == SYNONYM_USE_REFUSED) {
            struct str name = before->filter_names != NULL ? before->filter_names[i] : STR("multiplexer");
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Token filter [%.*s] cannot be used to parse synonyms",
                           STR_ARG(name));
        }
        if (f->synonym_use != SYNONYM_USE_NOTHING) {
            filters[an->n_filters++] = f->synonym_use == SYNONYM_USE_OTHER ? f->synonym_other : f;
        }
    }
    an->filters = filters;
    return ERR_OK;
}

static enum err synonym_bind(const struct token_filter *self, const struct part_chain *before,
                             struct arena *arena, const struct token_filter **out, struct errmsg *em)
{
    const struct synonym_part *p = (const struct synonym_part *)self;
    struct synonym_filter *f = ARENA_NEW(arena, struct synonym_filter);
    struct analyzer an;
    if (f == NULL) {
        return err_no_memory(em);
    }
    if (!p->has_rules) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "synonym requires either `synonyms` or `synonyms_path` to be configured");
    }
    enum err e = part_before(before, arena, &an, em);
    if (e == ERR_OK) {
        e = synonyms_parse(&f->synonyms, p->lines, p->n, &p->options, &an, arena, em);
        e = p->from_file ? config_line_error(e, "synonyms_path", em) : e;
    }
    f->base.apply = p->graph ? apply_graph : apply_plain;
    f->base.synonym_use = SYNONYM_USE_NOTHING;
    f->base.search_only = p->base.search_only;
    *out = &f->base;
    return e;
}

static enum err copy_lines(struct synonym_part *p, struct str *lines, uint32_t n, struct arena *arena,
                           struct errmsg *em)
{
    p->lines = ARENA_ARRAY(arena, struct str, n);
    if (p->lines == NULL) {
        return err_no_memory(em);
    }
    for (; p->n < n; p->n++) {
        p->lines[p->n] = arena_str(arena, lines[p->n]);
        if (p->lines[p->n].p == NULL) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

static enum err part_new_synonym(const void **out, bool graph, const struct settings *s,
                                 const struct analysis_env *env, struct arena *arena, struct errmsg *em)
{
    struct synonym_part *p = ARENA_NEW(arena, struct synonym_part);
    struct str *lines, path = settings_str(s, "synonyms_path", STR_NULL);
    uint32_t n;
    if (p == NULL || !settings_list(s, "synonyms", arena, &lines, &n)) {
        return err_no_memory(em);
    }
    p->base.bind = synonym_bind;
    p->graph = graph;
    p->options.wordnet = str_is(settings_str(s, "format", STR("")), "wordnet");
    *out = &p->base;
    enum err e = settings_bool(s, "expand", true, &p->options.expand, em);
    e = e == ERR_OK ? settings_bool(s, "lenient", false, &p->options.lenient, em) : e;
    e = e == ERR_OK ? settings_bool(s, "updateable", false, &p->base.search_only, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    p->has_rules = path.p != NULL || settings_find(s, STR("synonyms")) != NULL || n > 0;
    if (settings_find(s, STR("synonyms")) != NULL || n > 0) {
        return copy_lines(p, lines, n, arena, em);
    }
    p->from_file = path.p != NULL;
    return path.p != NULL ? config_lines("synonyms_path_path", path, env, arena, &p->lines, &p->n, em)
                          : ERR_OK;
}

PART_FACTORY(synonym_filter_new)
{
    return part_new_synonym(out, false, s, env, arena, em);
}

PART_FACTORY(synonym_graph_filter_new)
{
    return part_new_synonym(out, true, s, env, arena, em);
}
