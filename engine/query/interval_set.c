/* Sources of intervals of which no two are equal. */
#include "engine/query/intervals.h"

#include "common/base/hash.h"

#define SLOTS_MIN 16

bool interval_same(const struct interval_source *x, const struct interval_source *y)
{
    if (x == y) {
        return true;
    }
    bool same = x->kind == y->kind && x->n == y->n && x->before == y->before && x->after == y->after
                && str_eq(x->text, y->text) && str_eq(x->field, y->field)
                && (x->pattern == NULL
                    || (x->pattern->ops == y->pattern->ops
                        && x->pattern->multi.max_edits == y->pattern->multi.max_edits
                        && x->pattern->multi.prefix_length == y->pattern->multi.prefix_length
                        && x->pattern->multi.transpositions == y->pattern->multi.transpositions));
    for (uint32_t i = 0; i < x->n && same; i++) {
        same = interval_same(x->v[i], y->v[i]);
    }
    return same;
}

static uint64_t source_hash(const struct interval_source *s)
{
    uint64_t h = hash_two(s->text, s->field, (uint64_t)s->kind);
    h = hash_u64(h ^ ((uint64_t)(uint32_t)s->before << 32 | (uint32_t)s->after));
    for (uint32_t i = 0; i < s->n; i++) {
        h = hash_u64(h * 31 + source_hash(s->v[i]));
    }
    return h;
}

/* Where it is, or where it belongs. */
static struct interval_slot *slot_of(const struct interval_set *set, const struct interval_source *s,
                                     uint64_t hash)
{
    size_t at = hash & (set->n_slots - 1);
    while (set->slots[at].number != 0
           && (set->slots[at].hash != hash || !interval_same(set->list.v[set->slots[at].number - 1], s))) {
        at = (at + 1) & (set->n_slots - 1);
    }
    return &set->slots[at];
}

/* Room for one more; at most half of the slots are taken. */
static bool grow_slots(const struct interval_builder *b, struct interval_set *set)
{
    if (2 * (set->list.n + 1) <= set->n_slots) {
        return true;
    }
    size_t n = set->n_slots > 0 ? 2 * set->n_slots : SLOTS_MIN;
    struct interval_slot *slots = ARENA_ARRAY(b->arena, struct interval_slot, n);
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < set->n_slots; i++) {
        size_t at = set->slots[i].hash & (n - 1);
        while (set->slots[i].number != 0 && slots[at].number != 0) {
            at = (at + 1) & (n - 1);
        }
        if (set->slots[i].number != 0) {
            slots[at] = set->slots[i];
        }
    }
    set->slots = slots;
    set->n_slots = n;
    return true;
}

bool interval_set_add(const struct interval_builder *b, struct interval_set *set,
                      const struct interval_source *s, size_t *number)
{
    uint64_t hash = source_hash(s);
    if (!grow_slots(b, set)) {
        return false;
    }
    struct interval_slot *slot = slot_of(set, s, hash);
    if (slot->number == 0) {
        if (!interval_add(b, &set->list, s)) {
            return false;
        }
        *slot = (struct interval_slot){hash, set->list.n};
    }
    *number = slot->number - 1;
    return true;
}
