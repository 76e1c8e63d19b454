/* The trie's nodes are listed level by level, each with the range of sorted words below it. Then every node's
 * children get their place: nodes with many children first, while there is room, those with few in the gaps
 * that are left. Free cells form a ring in ascending order; a node tries one after the other for its first
 * child. Where that took many misses, the next ones begin there: what lies before is as good as full for
 * them, and the whole build stays near linear. */
#include "engine/analysis/dict/dat_build.h"
#include "common/base/sort_items.h"

#include <stdlib.h>

#define MISSES_MAX 128

struct trie_node {
    uint32_t first, last; /* the words [first, last) */
    uint32_t children;    /* number of the first child node; they are consecutive */
    uint16_t n, depth;    /* children; units from the root */
    uint16_t code;        /* of the unit that leads here */
    bool leaf;            /* stands for its parent's value */
    uint32_t base, state;
};

struct build {
    const struct dat_entry *v;
    uint16_t *codes;
    struct trie_node *tree;
    size_t tree_n, tree_cap;
    uint32_t *order; /* node numbers, most children first */
    struct dat_node *nodes;
    uint32_t *next, *prev; /* the ring of free cells; cell 0 is its head */
    uint32_t n, cap;       /* n: one behind the last cell in use */
    uint32_t from;         /* free cell where the search begins, or 0: at the first */
    bool no_memory, too_many;
};

static bool dat_grow(struct build *b, uint32_t need)
{
    if (need <= b->cap) {
        return true;
    }
    if (need > DAT_BASE) {
        b->too_many = true;
        return false;
    }
    uint32_t cap = b->cap > DAT_BASE / 2 ? DAT_BASE : MAX_OF(b->cap * 2, need + 1024);
    void *nodes = realloc(b->nodes, (size_t)cap * sizeof(*b->nodes));
    b->nodes = nodes != NULL ? nodes : b->nodes;
    void *next = realloc(b->next, (size_t)cap * sizeof(*b->next));
    b->next = next != NULL ? next : b->next;
    void *prev = realloc(b->prev, (size_t)cap * sizeof(*b->prev));
    b->prev = prev != NULL ? prev : b->prev;
    if (nodes == NULL || next == NULL || prev == NULL) {
        b->no_memory = true;
        return false;
    }
    memset(b->nodes + b->cap, 0, (size_t)(cap - b->cap) * sizeof(*b->nodes));
    uint32_t cell = b->cap;
    if (cell == 0) { /* the ring's head, and the root, are never free */
        b->next[0] = b->prev[0] = 0;
        cell = DAT_ROOT + 1;
    }
    for (; cell < cap; cell++) {
        b->next[b->prev[0]] = cell;
        b->prev[cell] = b->prev[0];
        b->next[cell] = 0;
        b->prev[0] = cell;
    }
    b->cap = cap;
    return true;
}

static bool is_free(const struct build *b, uint32_t cell)
{
    return cell > DAT_ROOT && (cell >= b->cap || b->nodes[cell].check == 0);
}

/* Marks a cell as used; who its parent is comes later. */
static bool dat_take(struct build *b, uint32_t cell)
{
    if (!dat_grow(b, cell + 1)) {
        return false;
    }
    if (b->from == cell) {
        b->from = b->next[cell];
    }
    b->next[b->prev[cell]] = b->next[cell];
    b->prev[b->next[cell]] = b->prev[cell];
    b->nodes[cell].check = DAT_ROOT;
    b->n = MAX_OF(b->n, cell + 1);
    return true;
}

static bool dat_fits(const struct build *b, uint32_t base, const struct trie_node *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (!is_free(b, base + b->tree[t->children + i].code)) {
            return false;
        }
    }
    return true;
}

/* Bases are at least 1, so that no child is cell 0. */
static bool place_children(struct build *b, struct trie_node *t)
{
    uint32_t least = UINT16_MAX, misses = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        least = MIN_OF(least, b->tree[t->children + i].code);
    }
    uint32_t cell = b->from != 0 ? b->from : b->next[0];
    for (;; cell = b->next[cell]) {
        if (cell == 0 || cell >= b->cap) { /* the ring is at its end: its next cell is a new one */
            cell = b->cap;
            if (!dat_grow(b, cell + 1)) {
                return false;
            }
        }
        if (cell > least && dat_fits(b, cell - least, t)) {
            break;
        }
        misses++;
    }
    if (misses > MISSES_MAX) {
        b->from = cell;
    }
    t->base = cell - least;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!dat_take(b, t->base + b->tree[t->children + i].code)) {
            return false;
        }
    }
    return true;
}

static bool add_node(struct build *b, struct trie_node t)
{
    if (b->tree_n == b->tree_cap) {
        size_t cap = b->tree_cap == 0 ? 4096 : b->tree_cap * 2;
        void *p = cap <= DAT_BASE ? realloc(b->tree, cap * sizeof(*b->tree)) : NULL;
        if (p == NULL) {
            b->no_memory = true;
            return false;
        }
        b->tree = p;
        b->tree_cap = cap;
    }
    b->tree[b->tree_n++] = t;
    return true;
}

/* Appends the children of node `at` to the tree. */
static bool add_children(struct build *b, size_t at)
{
    struct trie_node t = b->tree[at];
    uint32_t i = t.first;
    uint16_t depth = (uint16_t)(t.depth + 1);
    t.children = (uint32_t)b->tree_n;
    if (b->v[i].n == t.depth) { /* sorted: the word itself comes first */
        if (b->v[i].value != 0 && !add_node(b, (struct trie_node){.first = i, .last = i, .leaf = true})) {
            return false;
        }
        i++;
    }
    while (i < t.last) {
        uint32_t start = i;
        uint16_t unit = b->v[i].units[t.depth];
        while (i < t.last && b->v[i].units[t.depth] == unit) {
            i++;
        }
        if (!add_node(
                b, (struct trie_node){.first = start, .last = i, .depth = depth, .code = b->codes[unit]})) {
            return false;
        }
    }
    t.n = (uint16_t)(b->tree_n - t.children);
    b->tree[at] = t;
    return true;
}

static bool list_nodes(struct build *b, size_t n)
{
    if (!add_node(b, (struct trie_node){.last = (uint32_t)n, .state = DAT_ROOT})) {
        return false;
    }
    for (size_t i = 0; i < b->tree_n; i++) {
        if (b->tree[i].first < b->tree[i].last && !add_children(b, i)) {
            return false;
        }
    }
    return true;
}

/* A counting sort by number of children; the order of the list within one number. */
static bool order_nodes(struct build *b)
{
    size_t *starts = calloc(UINT16_MAX + 2, sizeof(*starts));
    b->order = calloc(MAX_OF(b->tree_n, 1U), sizeof(*b->order));
    if (starts == NULL || b->order == NULL) {
        free(starts);
        b->no_memory = true;
        return false;
    }
    for (size_t i = 0; i < b->tree_n; i++) {
        starts[UINT16_MAX - b->tree[i].n + 1]++;
    }
    for (size_t k = 1; k <= UINT16_MAX; k++) {
        starts[k] += starts[k - 1];
    }
    for (size_t i = 0; i < b->tree_n; i++) {
        b->order[starts[UINT16_MAX - b->tree[i].n]++] = (uint32_t)i;
    }
    free(starts);
    return true;
}

static bool place_nodes(struct build *b)
{
    uint32_t n = UINT16_MAX;
    for (size_t i = 0; i < b->tree_n; i++) {
        struct trie_node *t = &b->tree[b->order[i]];
        if (t->n < n - n / 4) { /* gaps too narrow for those before may do for these */
            b->from = 0;
            n = t->n;
        }
        if (t->n > 0 && !place_children(b, t)) {
            return false;
        }
    }
    return true;
}

/* Parents stand before their children in the list, so that each node's state is known when its turn comes. */
static void write_nodes(struct build *b)
{
    for (size_t i = 0; i < b->tree_n; i++) {
        const struct trie_node *t = &b->tree[i];
        struct dat_node *node = &b->nodes[t->state];
        if (t->leaf) {
            node->base = b->v[t->first].value;
            continue;
        }
        node->base = t->base;
        if (t->first < t->last && b->v[t->first].n == t->depth) {
            node->base |= DAT_WORD;
        }
        for (uint32_t k = 0; k < t->n; k++) {
            struct trie_node *child = &b->tree[t->children + k];
            child->state = t->base + child->code;
            b->nodes[child->state].check = t->state;
            node->base |= child->leaf ? 0 : DAT_MORE;
        }
    }
}

struct unit_count {
    uint32_t unit, n;
};

static int by_count(const void *x, const void *y)
{
    const struct unit_count *a = x, *b = y;
    if (a->n != b->n) {
        return a->n > b->n ? -1 : 1;
    }
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

/* Numbers the units by descending frequency: children of one node then lie close together. */
static bool number_units(struct build *b, size_t n)
{
    struct unit_count *counts = calloc(DAT_CODES, sizeof(*counts));
    if (counts == NULL) {
        b->no_memory = true;
        return false;
    }
    for (uint32_t u = 0; u < DAT_CODES; u++) {
        counts[u].unit = u;
    }
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < b->v[i].n; k++) {
            counts[b->v[i].units[k]].n++;
        }
    }
    sort_items(counts, DAT_CODES, sizeof(*counts), by_count);
    /* There is no code for a 65,536th unit; all of them cannot occur, because words of text have no lone
     * surrogates. */
    for (uint32_t i = 0; i < DAT_CODES - 1 && counts[i].n > 0; i++) {
        b->codes[counts[i].unit] = (uint16_t)(i + 1);
    }
    free(counts);
    return true;
}

enum err dat_build(const struct dat_entry *v, size_t n, struct buf *codes, struct buf *nodes,
                   struct errmsg *em)
{
    struct build b = {.v = v, .n = DAT_ROOT + 1};
    enum err e = ERR_OK;
    if (n > DAT_BASE) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "a dictionary has more than %u words", DAT_BASE);
    }
    b.codes = calloc(DAT_CODES, sizeof(*b.codes));
    b.no_memory = b.codes == NULL;
    bool ok = !b.no_memory && dat_grow(&b, DAT_ROOT + 1) && number_units(&b, n) && list_nodes(&b, n)
              && order_nodes(&b) && place_nodes(&b);
    if (ok) {
        write_nodes(&b);
        buf_add(codes, b.codes, DAT_CODES * sizeof(*b.codes));
        buf_add(nodes, b.nodes, (size_t)b.n * sizeof(*b.nodes));
    }
    if (b.too_many) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "a dictionary has more than %u nodes", DAT_BASE);
    } else if (!ok || codes->failed || nodes->failed) {
        e = err_no_memory(em);
    }
    free(b.codes);
    free(b.tree);
    free(b.order);
    free(b.nodes);
    free(b.next);
    free(b.prev);
    return e;
}
