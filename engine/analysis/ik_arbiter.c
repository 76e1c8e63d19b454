#include "engine/analysis/ik_int.h"

#include "common/base/arena_list.h"

/* Negative: a comes first. Lexemes of one span are equal, whatever their types. */
static int ik_path_compare(const struct ik_lexeme *a, const struct ik_lexeme *b)
{
    int begin = (int)a->begin - (int)b->begin;
    return begin != 0 ? begin : (int)b->length - (int)a->length;
}

bool ik_lexemes_add(struct ik_lexemes *l, struct ik_lexeme x, struct arena *arena)
{
    if (!ARENA_ROOM(arena, l->v, l->n, l->cap)) {
        return false;
    }
    /* Lexemes come in the order of their ends, so the place is near the tail. */
    size_t at = l->n;
    while (at > 0 && ik_path_compare(&x, &l->v[at - 1]) < 0) {
        at--;
    }
    if (at > 0 && ik_path_compare(&x, &l->v[at - 1]) == 0) {
        return true;
    }
    memmove(l->v + at + 1, l->v + at, (l->n - at) * sizeof(*l->v));
    l->v[at] = x;
    l->n++;
    return true;
}

/* The criteria by which IK compares two paths, most important first. */
struct ik_rank {
    uint32_t payload; /* units that are in some word: more is better */
    uint32_t count;   /* words: fewer */
    uint32_t span;    /* units from the first to the last: more */
    uint32_t end;     /* further */
    int32_t product;  /* of the lengths, as a 32-bit int that may overflow: more */
    int32_t weight;   /* sum of ordinal times length: more */
};

static bool is_better(const struct ik_rank *a, const struct ik_rank *b)
{
    if (a->payload != b->payload) {
        return a->payload > b->payload;
    }
    if (a->count != b->count) {
        return a->count < b->count;
    }
    if (a->span != b->span) {
        return a->span > b->span;
    }
    if (a->end != b->end) {
        return a->end > b->end;
    }
    if (a->product != b->product) {
        return a->product > b->product;
    }
    return a->weight > b->weight;
}

/* First lexeme behind i that begins at or after the end of i; n: none. */
static uint32_t next_of(const struct ik_lexeme *v, size_t n, size_t i)
{
    size_t low = i + 1, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (v[mid].begin >= lexeme_end(&v[i])) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return (uint32_t)low;
}

/* chain[i] sums up the greedy way that starts with lexeme i: i, the first that begins behind it, and so on.
 */
static void make_chains(const struct ik_lexeme *v, size_t n, struct ik_chain *chain)
{
    for (size_t i = n; i > 0; i--) {
        const struct ik_lexeme *l = &v[i - 1];
        uint32_t next = next_of(v, n, i - 1), len = l->length;
        struct ik_chain *c = &chain[i - 1];
        if (next == n) {
            *c = (struct ik_chain){next, 1, len, len, len, lexeme_end(l)};
            continue;
        }
        const struct ik_chain *rest = &chain[next];
        /* one word before it moves every word of the rest one ordinal up */
        *c = (struct ik_chain){next,
                               rest->count + 1,
                               rest->payload + len,
                               rest->product * len,
                               rest->weight + rest->payload + len,
                               rest->end};
    }
}

/* IK walks the lexemes greedily, then takes back, from the last to the first, each one that did not fit: cuts
 * the way off before it, and walks on greedily from there. What is left of the way before lexeme c is always
 * a part of the first greedy way: what a later lexeme put there overlaps or follows c. So a way is a prefix
 * of the first one and the greedy chain from c, and sums over both tell all that is compared: linear time,
 * where the plugin's is quadratic. */
size_t ik_judge(const struct ik_lexeme *v, size_t n, struct ik_lexeme *out, struct ik_chain *chain)
{
    make_chains(v, n, chain);
    struct ik_rank best = {chain[0].payload,          chain[0].count,
                           chain[0].end - v[0].begin, chain[0].end,
                           (int32_t)chain[0].product, (int32_t)chain[0].weight};
    size_t best_prefix = 0; /* words of the first way before the chain */
    size_t best_chain = 0;

    /* out[] holds the first way; the prefix in use shrinks from all of it, its sums with it */
    size_t prefix = 0;
    struct ik_chain sum = {.product = 1};
    uint32_t products[IK_WINDOW];
    for (size_t i = 0; i < n; i = chain[i].next) {
        products[prefix] = sum.product;
        out[prefix++] = v[i];
        sum.payload += v[i].length;
        sum.product *= v[i].length;
        sum.weight += (uint32_t)prefix * v[i].length;
    }
    size_t first = prefix;
    for (size_t i = n, on_way = prefix; i > 1; i--) {
        const struct ik_lexeme *c = &v[i - 1];
        if (on_way > 0 && ik_path_compare(c, &out[on_way - 1]) == 0) {
            on_way--; /* it is on the first way itself */
            continue;
        }
        while (prefix > 0 && lexeme_end(&out[prefix - 1]) > c->begin) {
            prefix--;
            sum.payload -= out[prefix].length;
            sum.product = products[prefix];
            sum.weight -= (uint32_t)(prefix + 1) * out[prefix].length;
        }
        const struct ik_chain *rest = &chain[i - 1];
        struct ik_rank w = {sum.payload + rest->payload,
                            (uint32_t)prefix + rest->count,
                            rest->end - (prefix > 0 ? v[0].begin : c->begin),
                            rest->end,
                            (int32_t)(sum.product * rest->product),
                            (int32_t)(sum.weight + rest->weight + (uint32_t)prefix * rest->payload)};
        if (is_better(&w, &best)) {
            best = w;
            best_prefix = prefix;
            best_chain = i - 1;
        }
    }
    if (best_chain == 0) {
        return first;
    }
    size_t count = best_prefix;
    for (size_t i = best_chain; i < n; i = chain[i].next) {
        out[count++] = v[i];
    }
    return count;
}
