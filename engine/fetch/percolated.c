/* The documents of percolate queries in a hit: which of them its query matches, and what in them. */
#include "common/base/arena_list.h"
#include "common/base/bits.h"
#include "engine/fetch/fetch.h"
#include "engine/query/percolate.h"

#define SLOT_FIELD "_percolator_document_slot"

enum err percolated_prepare(struct fetch *f)
{
    return percolates_in(f->query, f->arena, &f->percolates, &f->n_percolates, f->em);
}

/* ---- slots ---- */

/* The documents that the hit's query matches: their numbers in the index in memory, and their slots. */
struct slots {
    const struct query *query; /* NULL: the hit has none */
    doc_id *docs;
    uint32_t *slots;
    uint32_t n;
};

static enum err find_slots(const struct percolate *p, const struct fetch_hit *h, struct errmsg *em,
                           struct slots *out)
{
    struct weight_context cx = percolate_context(p, h->arena);
    const struct weight *w;
    struct scorer *s = NULL;
    uint32_t slot = 0;
    *out = (struct slots){.docs = ARENA_ARRAY(h->arena, doc_id, p->n_docs),
                          .slots = ARENA_ARRAY(h->arena, uint32_t, p->n_docs)};
    if (out->docs == NULL || out->slots == NULL) {
        return err_no_memory(em);
    }
    enum err e = percolate_query(&out->query, p, h->leaf, h->doc, h->arena, em);
    if (e != ERR_OK || out->query == NULL) {
        return e;
    }
    e = weight_new(&w, &cx, out->query, NEED_NO_SCORES, em);
    e = e == ERR_OK ? weight_scorer(w, &p->leaf, h->arena, &s, em) : e;
    if (e != ERR_OK || s == NULL) {
        return e;
    }
    for (doc_id doc = 0, at = s->ops->next(s); at != DOC_END && out->n < p->n_docs; at = s->ops->next(s)) {
        for (; doc < at; doc++) { /* the slot of a document is how many roots there are before it */
            slot += p->leaf.roots == NULL || bits_test(p->leaf.roots, doc);
        }
        if (scorer_accepts(s)) {
            out->docs[out->n] = at;
            out->slots[out->n++] = slot;
        }
    }
    return weight_error(w, em);
}

/* Several percolate queries in one request are told apart by their names; of a name, the last one that matches stands for all. */
static enum err is_replaced(const struct fetch *f, const struct fetch_hit *h, uint32_t at, bool *replaced)
{
    enum err e = ERR_OK;
    *replaced = false;
    for (uint32_t i = at + 1; e == ERR_OK && !*replaced && i < f->n_percolates; i++) {
        struct slots s = {0};
        if (str_eq(percolate_of(f->percolates[i])->name, percolate_of(f->percolates[at])->name)) {
            e = find_slots(percolate_of(f->percolates[i]), h, f->em, &s);
            *replaced = s.n > 0;
        }
    }
    return e;
}

enum err percolated_slots(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < f->n_percolates; i++) {
        const struct percolate *p = percolate_of(f->percolates[i]);
        struct slots s = {0};
        bool replaced;
        e = is_replaced(f, h, i, &replaced);
        e = e == ERR_OK && !replaced ? find_slots(p, h, f->em, &s) : e;
        if (e != ERR_OK || s.n == 0) {
            continue;
        }
        struct str name = f->n_percolates == 1 ? STR(SLOT_FIELD)
                                               : arena_printf(h->arena, SLOT_FIELD "_%.*s", STR_ARG(p->name));
        if (name.p == NULL) {
            return err_no_memory(f->em);
        }
        jw_key(w, name);
        jw_arr(w);
        for (uint32_t k = 0; k < s.n; k++) {
            jw_i64(w, s.slots[k]);
        }
        jw_arr_end(w);
    }
    return e;
}

/* ---- highlights ---- */

struct marks { /* the members of "highlight" */
    struct json_member *v;
    size_t n, cap;
};

static bool put_mark(struct marks *m, struct str key, const struct json *v, struct arena *arena)
{
    size_t i = 0;
    while (i < m->n && !str_eq(m->v[i].key, key)) {
        i++;
    }
    if (i < m->n) {
        m->v[i].value = *v;
        return true;
    }
    return ARENA_ADD(arena, m->v, m->n, m->cap, ((struct json_member){.key = key, .value = *v}));
}

/* Highlights one document; its members get `prefix` before their names. */
static enum err add_marks(struct fetch *f, struct fetch_hit *h, struct highlighter *hl,
                          const struct leaf *leaf, doc_id doc, const struct json *source, struct str prefix,
                          struct marks *to)
{
    struct buf b;
    struct jsonw inner;
    bool any = false;
    struct json *tree = ARENA_NEW(h->arena, struct json);
    if (tree == NULL) {
        return err_no_memory(f->em);
    }
    jsonw_start(&inner, &b);
    enum err e = highlight_doc(hl, leaf, doc, source, h->arena, &inner, &any, f->em);
    struct str text = e == ERR_OK && any && !b.failed ? arena_str(h->arena, buf_view(&b)) : STR_NULL;
    e = e == ERR_OK && any && text.p == NULL ? err_no_memory(f->em) : e;
    buf_fini(&b);
    if (e != ERR_OK || !any) {
        return e;
    }
    e = json_parse(tree, text, h->arena, &json_limits_default, f->em);
    for (uint32_t i = 0; e == ERR_OK && i < tree->n; i++) {
        struct str key = arena_printf(h->arena, "%.*s%.*s", STR_ARG(prefix), STR_ARG(tree->members[i].key));
        e = key.p != NULL && put_mark(to, key, &tree->members[i].value, h->arena) ? ERR_OK
                                                                                  : err_no_memory(f->em);
    }
    return e;
}

static enum err mark_slots(struct fetch *f, struct fetch_hit *h, const struct percolate *p,
                           const struct slots *s, struct marks *to)
{
    struct view view = p->view;
    struct search_shard shard = *f->shard;
    struct search_context cx = f->cx;
    struct highlighter *hl;
    shard.view = &view;
    shard.filters = NULL;
    shard.stats = NULL;
    cx.shard = &shard;
    cx.arena = h->arena;
    cx.query.arena = h->arena;
    cx.query.view = &view;
    cx.weight = percolate_context(p, h->arena);
    enum err e = highlighter_new(&hl, f->source->highlight_spec, &cx, s->query, f->em);
    for (uint32_t i = 0; e == ERR_OK && i < s->n; i++) {
        struct json *source = ARENA_NEW(h->arena, struct json);
        struct str prefix = f->n_percolates > 1 ? arena_printf(h->arena, "%.*s_", STR_ARG(p->name)) : STR("");
        if (p->n_docs > 1 && prefix.p != NULL) {
            prefix = arena_printf(h->arena, "%.*s%u_", STR_ARG(prefix), s->slots[i]);
        }
        if (source == NULL || prefix.p == NULL) {
            return err_no_memory(f->em);
        }
        e = json_parse(source, p->docs[s->slots[i]], h->arena, &json_limits_default, f->em);
        e = e == ERR_OK ? add_marks(f, h, hl, &p->leaf, s->docs[i], source, prefix, to) : e;
    }
    return e;
}

enum err percolated_highlight(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    struct marks m = {0};
    const struct json *source;
    enum err e = fetch_highlight_source(f, h, &source);
    e = e == ERR_OK ? add_marks(f, h, f->highlighter, h->leaf, h->doc, source, STR(""), &m) : e;
    for (uint32_t i = 0; e == ERR_OK && i < f->n_percolates; i++) {
        const struct percolate *p = percolate_of(f->percolates[i]);
        struct slots s = {0};
        e = find_slots(p, h, f->em, &s);
        e = e == ERR_OK && s.n > 0 ? mark_slots(f, h, p, &s, &m) : e;
    }
    if (e == ERR_OK && m.n > 0) {
        struct json all = {.type = JSON_OBJECT, .members = m.v, .n = (uint32_t)m.n};
        jw_k(w, "highlight");
        jw_value(w, &all);
    }
    return e;
}
