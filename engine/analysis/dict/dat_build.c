/* The trie is built depth first from ranges of the sorted words. A node's children need free cells at the distances of
 * their codes; free cells form a ring in ascending order. Nodes with one child, nearly all of them, take the first free
 * cell. Others search on from where a node of their size class was last placed: that leaves a few gaps behind and keeps
 * the whole build linear in practice. */
#include "engine/analysis/dict/dat_build.h"

#include <stdlib.h>

#define SIZE_CLASSES 8

struct build {
    const struct dat_entry *v;
    uint16_t *codes;
    struct dat_node *nodes;
    uint32_t *next, *prev; /* the ring of free cells; cell 0 is its head */
    uint32_t n, cap;       /* cells known; n: one behind the last used */
    uint32_t from[SIZE_CLASSES];
    struct child {
        uint32_t code;
        size_t first, last; /* entries [first, last) */
    } *stack;               /* children of the nodes on the way down */
    size_t stack_n, stack_cap;
    bool no_memory, too_many;
};

static void ring_add(struct build *b, uint32_t cell)
{
    uint32_t tail = b->prev[0];
    b->next[tail] = cell;
    b->prev[cell] = tail;
    b->next[cell] = 0;
    b->prev[0] = cell;
}

static bool grow(struct build *b, uint32_t need)
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
    b->cap = cap;
    for (; cell < cap; cell++) {
        ring_add(b, cell);
    }
    return true;
}

static bool is_free(const struct build *b, uint32_t cell)
{
    return cell > DAT_ROOT && (cell >= b->cap || b->nodes[cell].check == 0);
}

static bool take(struct build *b, uint32_t cell, uint32_t parent)
{
    if (!grow(b, cell + 1)) {
        return false;
    }
    b->next[b->prev[cell]] = b->next[cell];
    b->prev[b->next[cell]] = b->prev[cell];
    b->nodes[cell].check = parent;
    b->n = MAX_OF(b->n, cell + 1);
    return true;
}

static bool fits(const struct build *b, uint32_t base, const struct child *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_free(b, base + c[i].code)) {
            return false;
        }
    }
    return true;
}

/* The base for children with these codes; 0: failed. Bases are at least 1, so that no child is cell 0. */
static uint32_t find_base(struct build *b, const struct child *c, size_t n)
{
    uint32_t least = c[0].code;
    for (size_t i = 1; i < n; i++) {
        least = MIN_OF(least, c[i].code);
    }
    size_t class = MIN_OF(n, SIZE_CLASSES) - 1;
    uint32_t cell = b->from[class];
    while (cell < b->cap && (cell <= least || !is_free(b, cell))) {
        cell++;
    }
    for (;;) {
        if (cell >= b->cap && !grow(b, cell + 1)) {
            return 0;
        }
        if (fits(b, cell - least, c, n)) {
            b->from[class] = cell;
            return cell - least;
        }
        uint32_t next = b->next[cell];
        cell = next != 0 ? next : b->cap;
    }
}

static bool push_child(struct build *b, struct child c)
{
    if (b->stack_n == b->stack_cap) {
        size_t cap = b->stack_cap == 0 ? 1024 : b->stack_cap * 2;
        void *p = realloc(b->stack, cap * sizeof(*b->stack));
        if (p == NULL) {
            b->no_memory = true;
            return false;
        }
        b->stack = p;
        b->stack_cap = cap;
    }
    b->stack[b->stack_n++] = c;
    return true;
}

/* Pushes the children of the node that is `depth` units deep and holds the entries [first, last). */
static bool push_children(struct build *b, size_t first, size_t last, uint32_t depth, uint32_t *flags)
{
    size_t i = first;
    if (b->v[i].n == depth) { /* sorted: the word itself comes first */
        *flags |= DAT_WORD;
        if (b->v[i].value != 0 && !push_child(b, (struct child){0, i, i + 1})) {
            return false;
        }
        i++;
    }
    while (i < last) {
        size_t start = i;
        uint16_t unit = b->v[i].units[depth];
        while (i < last && b->v[i].units[depth] == unit) {
            i++;
        }
        *flags |= DAT_MORE;
        if (!push_child(b, (struct child){b->codes[unit], start, i})) {
            return false;
        }
    }
    return true;
}

/* Recursion is as deep as the longest word, DAT_WORD_UNITS_MAX. */
static bool build_node(struct build *b, uint32_t state, size_t first, size_t last, uint32_t depth)
{
    size_t mark = b->stack_n;
    uint32_t flags = 0;
    if (!push_children(b, first, last, depth, &flags)) {
        return false;
    }
    size_t n = b->stack_n - mark;
    if (n == 0) {
        b->nodes[state].base = flags;
        return true;
    }
    uint32_t base = find_base(b, b->stack + mark, n);
    if (base == 0) {
        return false;
    }
    b->nodes[state].base = flags | base;
    for (size_t i = mark; i < mark + n; i++) {
        if (!take(b, base + b->stack[i].code, state)) {
            return false;
        }
    }
    for (size_t i = mark; i < mark + n; i++) {
        struct child c = b->stack[i];
        if (c.code == 0) {
            b->nodes[base].base = b->v[c.first].value;
        } else if (!build_node(b, base + c.code, c.first, c.last, depth + 1)) {
            return false;
        }
    }
    b->stack_n = mark;
    return true;
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
    qsort(counts, DAT_CODES, sizeof(*counts), by_count);
    /* The rarest unit goes without a code in the one case that all 65536 occur; lone surrogates make that impossible. */
    for (uint32_t i = 0; i < DAT_CODES - 1 && counts[i].n > 0; i++) {
        b->codes[counts[i].unit] = (uint16_t)(i + 1);
    }
    free(counts);
    return true;
}

enum err dat_build(const struct dat_entry *v, size_t n, struct buf *codes, struct buf *nodes, struct errmsg *em)
{
    struct build b = {.v = v, .n = DAT_ROOT + 1};
    enum err e = ERR_OK;
    for (size_t i = 0; i < SIZE_CLASSES; i++) {
        b.from[i] = DAT_ROOT + 1;
    }
    b.codes = calloc(DAT_CODES, sizeof(*b.codes));
    b.no_memory = b.codes == NULL;
    bool ok = !b.no_memory && grow(&b, DAT_ROOT + 1) && number_units(&b, n)
              && (n == 0 || build_node(&b, DAT_ROOT, 0, n, 0));
    if (ok) {
        buf_add(codes, b.codes, DAT_CODES * sizeof(*b.codes));
        buf_add(nodes, b.nodes, (size_t)b.n * sizeof(*b.nodes));
    }
    if (b.too_many) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "a dictionary has more than %u nodes", DAT_BASE);
    } else if (!ok || codes->failed || nodes->failed) {
        e = err_no_memory(em);
    }
    free(b.codes);
    free(b.nodes);
    free(b.next);
    free(b.prev);
    free(b.stack);
    return e;
}
