#include "engine/collect/top_docs.h"

#include "engine/mapping/field_class.h"

#include "common/base/hash.h"
#include "common/base/memory_account.h"
#include "engine/collect/score_heap.h"

#include <stdlib.h>

struct entry {
    uint32_t doc; /* in the view */
    float score;
    struct sort_cell *cells; /* one a key; NULL by score */
    struct sort_cell group;  /* collapse */
    uint64_t group_hash;
};

#define ENTRIES_FIRST 16

struct top_docs {
    struct top_docs_opts o;
    bool by_score; /* alone, without groups: `scores` holds everything, and the entries are not used */
    struct score_heap scores;
    uint32_t n_keys;
    struct entry *entries; /* `cap`, which grows up to k */
    uint32_t *heap;        /* entry numbers, the worst first; room for `cap` */
    uint32_t n, made, cap;
    struct entry candidate; /* trades its cells with the entries */
    struct sort_cell *after;
    const struct leaf *leaf;
    /* collapse */
    uint32_t *groups; /* hash table of entry numbers + 1 */
    uint32_t groups_n;
    struct num_column nums;
    struct ord_column ords;
    const struct seg_field *group_seg;
    bool group_is_text;
    struct errmsg error;
};

static struct sort_cell *cells_new(struct arena *a, size_t n)
{
    struct sort_cell *c = ARENA_ARRAY(a, struct sort_cell, n);
    for (size_t i = 0; c != NULL && i < n; i++) {
        buf_init(&c[i].text, memory_allocator(MEMORY_REQUEST), BUF_UNLIMITED);
    }
    return c;
}

static void cells_fini(struct sort_cell *c, uint32_t n)
{
    for (uint32_t i = 0; c != NULL && i < n; i++) {
        buf_fini(&c[i].text);
    }
}

static bool entry_init(const struct top_docs *t, struct entry *e)
{
    buf_init(&e->group.text, memory_allocator(MEMORY_REQUEST), BUF_UNLIMITED);
    e->cells = t->n_keys > 0 ? cells_new(t->o.arena, t->n_keys) : NULL;
    return t->n_keys == 0 || e->cells != NULL;
}

static void entry_fini(const struct top_docs *t, struct entry *e)
{
    cells_fini(e->cells, t->n_keys);
    buf_fini(&e->group.text);
}

/* Room for one entry more. */
static bool grow(struct top_docs *t)
{
    uint32_t cap = t->cap == 0 ? MIN_OF(t->o.k, ENTRIES_FIRST) : t->cap < t->o.k / 2 ? t->cap * 2 : t->o.k;
    struct entry *e = ARENA_ARRAY(t->o.arena, struct entry, cap);
    uint32_t *heap = ARENA_ARRAY(t->o.arena, uint32_t, cap);
    if (e == NULL || heap == NULL) {
        return false;
    }
    if (t->cap > 0) {
        memcpy(e, t->entries, t->cap * sizeof(*e));
        memcpy(heap, t->heap, t->cap * sizeof(*heap));
    }
    t->entries = e;
    t->heap = heap;
    t->cap = cap;
    return true;
}

static enum err parse_after(struct top_docs *t, struct errmsg *em)
{
    t->after = cells_new(t->o.arena, t->n_keys);
    if (t->after == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < t->n_keys; i++) {
        if (t->o.after_doc != NULL) {
            if (!sort_cell_of_value(t->o.sort, i, &t->o.after_doc->sort[i], &t->after[i])) {
                return err_no_memory(em);
            }
            continue;
        }
        enum err e = sort_cell_parse(t->o.sort, i, &t->o.after->items[i], &t->after[i], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err top_docs_new(struct top_docs **out, const struct top_docs_opts *opts, struct errmsg *em)
{
    *out = NULL;
    struct top_docs *t = calloc(1, sizeof(*t));
    if (t == NULL) {
        return err_no_memory(em);
    }
    t->o = *opts;
    t->error = err_in(opts->arena);
    t->by_score = opts->sort == NULL && opts->group == NULL;
    if (t->by_score) {
        if (!score_heap_init(&t->scores, opts->k)) {
            free(t);
            return err_no_memory(em);
        }
        *out = t;
        return ERR_OK;
    }
    t->n_keys = opts->sort != NULL ? opts->sort->n : 0;
    bool ok = entry_init(t, &t->candidate);
    if (ok && opts->group != NULL) {
        t->groups_n = 16;
        while (t->groups_n / 4 < opts->k && t->groups_n <= UINT32_MAX / 2) {
            t->groups_n *= 2;
        }
        t->groups = ARENA_ARRAY(t->o.arena, uint32_t, t->groups_n);
        ok = t->groups != NULL;
    }
    if (!ok) {
        top_docs_free(t);
        return err_no_memory(em);
    }
    if ((opts->after != NULL || (opts->after_doc != NULL && opts->after_doc->sort != NULL))
        && t->n_keys > 0) {
        enum err e = parse_after(t, em);
        if (e != ERR_OK) {
            top_docs_free(t);
            return e;
        }
    }
    *out = t;
    return ERR_OK;
}

void top_docs_free(struct top_docs *t)
{
    if (t == NULL) {
        return;
    }
    for (uint32_t i = 0; i < t->made; i++) {
        entry_fini(t, &t->entries[i]);
    }
    if (!t->by_score) {
        entry_fini(t, &t->candidate);
    }
    cells_fini(t->after, t->n_keys);
    score_heap_fini(&t->scores);
    free(t);
}

enum err top_docs_leaf(struct top_docs *t, const struct leaf *leaf, struct scorer *scorer, struct errmsg *em)
{
    t->leaf = leaf;
    if (t->o.group != NULL) {
        t->group_seg = segment_field(leaf->segment, t->o.group->path);
        t->group_is_text = t->o.group->class->kind == VALUE_TEXT;
        num_column_init(&t->nums, t->group_is_text ? NULL : t->group_seg);
        ord_column_init(&t->ords, t->group_is_text ? t->group_seg : NULL);
    }
    return t->o.sort != NULL ? sort_plan_leaf(t->o.sort, leaf, scorer, em) : ERR_OK;
}

/* ---- order --------------------------------------------------------------------------------------------- */

/* Negative: a is better. */
static int entry_cmp(struct top_docs *t, struct entry *a, struct entry *b)
{
    if (t->o.sort == NULL) {
        if (a->score != b->score) {
            return a->score > b->score ? -1 : 1;
        }
    } else {
        for (uint32_t i = 0; i < t->n_keys; i++) {
            int c = sort_cell_cmp(t->o.sort, i, &a->cells[i], &b->cells[i]);
            if (c != 0) {
                return c;
            }
        }
    }
    return a->doc < b->doc ? -1 : a->doc > b->doc;
}

static bool worse(struct top_docs *t, uint32_t a, uint32_t b)
{
    return entry_cmp(t, &t->entries[a], &t->entries[b]) > 0;
}

static void sift_up(struct top_docs *t, uint32_t at)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (!worse(t, t->heap[at], t->heap[parent])) {
            return;
        }
        uint32_t swap = t->heap[at];
        t->heap[at] = t->heap[parent];
        t->heap[parent] = swap;
        at = parent;
    }
}

static void sift_down(struct top_docs *t, uint32_t at)
{
    for (;;) {
        uint32_t worst = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < t->n; child++) {
            if (worse(t, t->heap[child], t->heap[worst])) {
                worst = child;
            }
        }
        if (worst == at) {
            return;
        }
        uint32_t swap = t->heap[at];
        t->heap[at] = t->heap[worst];
        t->heap[worst] = swap;
        at = worst;
    }
}

/* ---- groups -------------------------------------------------------------------------------------------- */

static bool load_group(struct top_docs *t, doc_id doc, struct entry *e)
{
    uint64_t first;
    struct sort_cell *g = &e->group;
    buf_reset(&g->text);
    bool text = t->group_is_text;
    uint32_t n = text ? ord_column_seek(&t->ords, doc, &first) : num_column_seek(&t->nums, doc, &first);
    g->null = n == 0;
    if (n > 1) {
        err_set(&t->error, ERR_ILLEGAL_STATE,
                "failed to collapse %u, the collapse field must be single valued", doc);
        return false;
    }
    if (n == 1 && text) {
        seg_term_by_ord(t->group_seg, ord_column_value(&t->ords, first), &g->text);
    } else if (n == 1) {
        g->num = num_column_value(&t->nums, first);
        buf_add(&g->text, &g->num, sizeof(g->num));
    }
    e->group_hash = g->null ? 1 : hash_str(buf_view(&g->text)) | 2;
    return true;
}

static bool same_group(const struct entry *a, const struct entry *b)
{
    return a->group_hash == b->group_hash && a->group.null == b->group.null
           && str_eq(buf_view(&a->group.text), buf_view(&b->group.text));
}

/* Slot of the candidate's group: an entry number + 1 is there, or 0. */
static uint32_t group_slot(const struct top_docs *t, const struct entry *e)
{
    uint32_t mask = t->groups_n - 1, at = (uint32_t)e->group_hash & mask;
    while (t->groups[at] != 0 && !same_group(&t->entries[t->groups[at] - 1], e)) {
        at = (at + 1) & mask;
    }
    return at;
}

/* The table is small and evictions are rare beside documents: rebuilding keeps probing simple. */
static void rebuild_groups(struct top_docs *t)
{
    memset(t->groups, 0, t->groups_n * sizeof(*t->groups));
    for (uint32_t i = 0; i < t->n; i++) {
        t->groups[group_slot(t, &t->entries[t->heap[i]])] = t->heap[i] + 1;
    }
}

/* ---- collecting ---------------------------------------------------------------------------------------- */

static void load_all(struct top_docs *t, struct entry *c)
{
    for (uint32_t i = 0; i < t->n_keys; i++) {
        sort_cell_load(t->o.sort, i, c->doc - t->leaf->base, &c->cells[i]);
    }
}

/* Moves the candidate's contents into entry `to`. */
static void settle(struct top_docs *t, uint32_t to)
{
    struct entry *c = &t->candidate;
    for (uint32_t i = 0; i < t->n_keys; i++) {
        sort_cell_settle(t->o.sort, i, &c->cells[i]);
    }
    struct entry swap = t->entries[to];
    t->entries[to] = *c;
    *c = swap;
}

/* The candidate as one entry more. false: no memory, and top_docs_take() will say so. */
static bool add_entry(struct top_docs *t)
{
    if (err_is(&t->error)) {
        return false;
    }
    if (t->n == t->made && ((t->made == t->cap && !grow(t)) || !entry_init(t, &t->entries[t->made++]))) {
        err_no_memory(&t->error);
        return false;
    }
    load_all(t, &t->candidate);
    settle(t, t->n);
    t->heap[t->n] = t->n;
    t->n++;
    sift_up(t, t->n - 1);
    return true;
}

static bool beats(struct top_docs *t, struct entry *c, struct entry *other)
{
    for (uint32_t i = 0; i < t->n_keys; i++) {
        sort_cell_load(t->o.sort, i, c->doc - t->leaf->base, &c->cells[i]);
        int d = sort_cell_cmp(t->o.sort, i, &c->cells[i], &other->cells[i]);
        if (d != 0) {
            for (uint32_t k = i + 1; d < 0 && k < t->n_keys; k++) {
                sort_cell_load(t->o.sort, k, c->doc - t->leaf->base, &c->cells[k]);
            }
            return d < 0;
        }
    }
    return t->n_keys == 0 ? c->score > other->score : false; /* a tie goes to the earlier document */
}

/* A scroll's later pages: documents that the pages before have shown. */
static bool shown(const struct top_docs *t, doc_id doc, float score)
{
    const struct top_doc *last = t->o.after_doc;
    return last != NULL && (score > last->score || (score == last->score && doc <= last->doc));
}

static bool passes_after(struct top_docs *t, struct entry *c)
{
    const struct top_doc *last = t->o.after_doc;
    if (t->o.sort == NULL) {
        return !shown(t, c->doc, c->score);
    }
    for (uint32_t i = 0; t->after != NULL && i < t->n_keys; i++) {
        sort_cell_load(t->o.sort, i, c->doc - t->leaf->base, &c->cells[i]);
        int d = sort_cell_cmp(t->o.sort, i, &c->cells[i], &t->after[i]);
        if (d != 0) {
            return d > 0;
        }
    }
    return t->after == NULL || (last != NULL && c->doc > last->doc);
}

static void add_grouped(struct top_docs *t, doc_id doc)
{
    struct entry *c = &t->candidate;
    bool full = t->n > 0 && t->n == t->o.k;
    /* what is no better than the worst group changes none, and nobody looks at its value */
    if ((full && !beats(t, c, &t->entries[t->heap[0]])) || !load_group(t, doc, c)) {
        return;
    }
    uint32_t slot = group_slot(t, c);
    if (t->groups[slot] != 0) { /* the group is in: its best document may change */
        uint32_t e = t->groups[slot] - 1;
        if (beats(t, c, &t->entries[e])) {
            settle(t, e);
            for (uint32_t i = 0; i < t->n; i++) {
                if (t->heap[i] == e) {
                    sift_down(t, i);
                    sift_up(t, i);
                    break;
                }
            }
        }
        return;
    }
    if (t->n < t->o.k) {
        t->groups[slot] = add_entry(t) ? t->n : 0;
        return;
    }
    if (beats(t, c, &t->entries[t->heap[0]])) {
        settle(t, t->heap[0]);
        sift_down(t, 0);
        rebuild_groups(t);
    }
}

void top_docs_add(struct top_docs *t, doc_id doc, float score)
{
    if (t->by_score) {
        if (!shown(t, t->leaf->base + doc, score)) {
            score_heap_add(&t->scores, score, t->leaf->base + doc);
        }
        return;
    }
    struct entry *c = &t->candidate;
    c->doc = t->leaf->base + doc;
    c->score = score;
    if (t->o.sort != NULL) {
        t->o.sort->score = score;
    }
    bool full = t->n == t->o.k && t->o.group == NULL;
    if (full && t->o.sort != NULL && sort_surely_after(t->o.sort, doc, &t->entries[t->heap[0]].cells[0])) {
        return;
    }
    if (!passes_after(t, c)) {
        return;
    }
    if (t->o.group != NULL) {
        add_grouped(t, doc);
        return;
    }
    if (t->n < t->o.k) {
        (void)add_entry(t);
    } else if (beats(t, c, &t->entries[t->heap[0]])) {
        settle(t, t->heap[0]);
        sift_down(t, 0);
    }
}

float top_docs_min(const struct top_docs *t)
{
    if (t->by_score) {
        return score_heap_min(&t->scores);
    }
    return t->n < t->o.k || t->o.sort != NULL ? -INFINITY : t->entries[t->heap[0]].score;
}

/* ---- the result ---------------------------------------------------------------------------------------- */

static bool write_doc(struct top_docs *t, const struct entry *e, uint32_t slot, struct arena *arena,
                      struct top_doc *d)
{
    *d = (struct top_doc){
        .doc = e->doc, .slot = slot, .score = t->o.sort == NULL || t->o.want_scores ? e->score : NAN};
    if (t->o.sort != NULL) {
        struct sort_value *v = ARENA_ARRAY(arena, struct sort_value, t->n_keys);
        for (uint32_t k = 0; v != NULL && k < t->n_keys; k++) {
            if (!sort_cell_value(t->o.sort, k, &e->cells[k], arena, &v[k])) {
                return false;
            }
        }
        d->sort = v;
        if (v == NULL) {
            return false;
        }
    }
    if (t->o.group != NULL && !e->group.null) {
        d->collapse = t->group_is_text ? (struct sort_value){.kind = SV_STR,
                                                             .s = arena_str(arena, buf_view(&e->group.text))}
                                       : (struct sort_value){.kind = SV_LONG, .l = e->group.num};
    }
    return true;
}

static enum err take_scores(struct top_docs *t, uint32_t slot, struct arena *arena, struct top_doc **out,
                            uint32_t *n, struct errmsg *em)
{
    struct top_doc *docs = ARENA_ARRAY(arena, struct top_doc, t->scores.n);
    if (docs == NULL) {
        return err_no_memory(em);
    }
    score_heap_sort(&t->scores);
    for (uint32_t i = 0; i < t->scores.n; i++) {
        uint64_t key = t->scores.v[i];
        docs[i] = (struct top_doc){.doc = score_key_doc(key), .slot = slot, .score = score_key_score(key)};
    }
    *out = docs;
    *n = t->scores.n;
    return ERR_OK;
}

enum err top_docs_take(struct top_docs *t, uint32_t slot, struct arena *arena, struct top_doc **out,
                       uint32_t *n, struct errmsg *em)
{
    if (err_is(&t->error) || (t->o.sort != NULL && err_is(&t->o.sort->error))) {
        err_copy(em, err_is(&t->error) ? &t->error : &t->o.sort->error);
        return err_code(em);
    }
    if (t->by_score) {
        return take_scores(t, slot, arena, out, n, em);
    }
    struct top_doc *docs = ARENA_ARRAY(arena, struct top_doc, t->n);
    if (docs == NULL) {
        return err_no_memory(em);
    }
    *out = docs;
    *n = t->n;
    while (t->n > 0) { /* the worst comes off first */
        uint32_t worst = t->heap[0];
        t->n--;
        if (!write_doc(t, &t->entries[worst], slot, arena, &docs[t->n])) {
            return err_no_memory(em);
        }
        t->heap[0] = t->heap[t->n];
        sift_down(t, 0);
    }
    return ERR_OK;
}
