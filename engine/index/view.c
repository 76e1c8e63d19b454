#include "engine/index/view.h"

const struct leaf *view_leaf(const struct view *v, uint32_t doc)
{
    uint32_t lo = 0, hi = v->n_leaves;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (v->leaves[mid].base <= doc) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return &v->leaves[lo];
}

enum err view_damage(const struct view *v, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < v->n_leaves && e == ERR_OK; i++) {
        e = segment_damage(v->leaves[i].segment, em);
    }
    return e;
}
