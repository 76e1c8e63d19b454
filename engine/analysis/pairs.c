/* Pairs of tokens. */
#include "common/base/arena.h"
#include "engine/analysis/grams.h"

#define GAP STR("_")

static bool pairs_put(struct token_list *out, const struct token *first, struct str second, uint32_t end,
                      int32_t inc)
{
    struct token t = *first;
    t.text = arena_printf(out->arena, "%.*s %.*s", STR_ARG(first->text), STR_ARG(second));
    t.end = end;
    t.pos_inc = inc;
    t.pos_len = 1;
    t.type = "shingle";
    return t.text.p != NULL && token_add(out, t);
}

/* The first token behind token i, as far as that spans; in->n: there is none. */
static size_t next_in_graph(const struct token_list *in, size_t i)
{
    int32_t remaining = MAX_OF(in->v[i].pos_len, 1);
    for (i++; i < in->n; i++) {
        remaining -= in->v[i].pos_inc;
        if (remaining <= 0) {
            break;
        }
    }
    return i;
}

bool pairs_of_tokens(const struct token_list *in, struct token_list *out)
{
    bool ok = true;
    for (size_t i = 0; ok && token_next(in, i); i++) {
        const struct token *first = &in->v[i];
        size_t k = next_in_graph(in, i);
        if (k == in->n) {
            ok = in->end_pos_inc == 0 || pairs_put(out, first, GAP, first->end, first->pos_inc);
            continue;
        }
        int32_t inc = first->pos_inc;
        do {
            const struct token *second = &in->v[k];
            bool gap = second->pos_inc > 1;
            ok = pairs_put(out, first, gap ? GAP : second->text, gap ? first->end : second->end, inc);
            inc = 0;
        } while (ok && ++k < in->n && in->v[k].pos_inc == 0);
    }
    out->end_pos_inc = in->end_pos_inc;
    out->end_offset = in->end_offset;
    return ok && !stop_now();
}
