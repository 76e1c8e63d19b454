/* The part of a state that holds stored scripts. */
#include "common/cluster/state_int.h"

static bool keep_script(struct script_meta *to, const struct script_meta *from, struct arena *a)
{
    bool ok = true;
    to->id = state_keep(a, from->id, &ok);
    to->lang = state_keep(a, from->lang, &ok);
    to->source = state_keep(a, from->source, &ok);
    to->content_type = state_keep(a, from->content_type, &ok);
    return ok;
}

/* A part with room for `n` scripts. */
static struct scripts_part *scripts_part_new(size_t n)
{
    struct scripts_part *p = state_part_new(sizeof(*p));
    if (p != NULL) {
        p->v = ARENA_ARRAY(&p->part.arena, struct script_meta, n);
    }
    if (p != NULL && p->v == NULL) {
        state_part_unref(&p->part);
        p = NULL;
    }
    return p;
}

static bool add_script(struct scripts_part *p, const struct script_meta *m)
{
    return keep_script(&p->v[p->n++], m, &p->part.arena);
}

struct scripts_part *scripts_part_with(const struct scripts_part *from, const struct script_meta *m)
{
    uint32_t n = from != NULL ? from->n : 0, i = 0;
    struct scripts_part *p = scripts_part_new((size_t)n + 1);
    bool ok = p != NULL;
    for (; ok && i < n && str_cmp(from->v[i].id, m->id) < 0; i++) {
        ok = add_script(p, &from->v[i]);
    }
    ok = ok && add_script(p, m);
    i += i < n && str_eq(from->v[i].id, m->id);
    for (; ok && i < n; i++) {
        ok = add_script(p, &from->v[i]);
    }
    if (!ok && p != NULL) {
        state_part_unref(&p->part);
    }
    return ok ? p : NULL;
}

struct scripts_part *scripts_part_without(const struct scripts_part *from, struct str id)
{
    uint32_t n = from != NULL ? from->n : 0;
    struct scripts_part *p = scripts_part_new(n);
    bool ok = p != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        ok = str_eq(from->v[i].id, id) || add_script(p, &from->v[i]);
    }
    if (!ok && p != NULL) {
        state_part_unref(&p->part);
    }
    return ok ? p : NULL;
}

const struct script_meta *cluster_script(const struct cluster_state *s, struct str id)
{
    uint32_t lo = 0, hi = s->scripts != NULL ? s->scripts->n : 0;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = str_cmp(s->scripts->v[mid].id, id);
        if (order == 0) {
            return &s->scripts->v[mid];
        }
        lo = order < 0 ? mid + 1 : lo;
        hi = order < 0 ? hi : mid;
    }
    return NULL;
}

void state_put_scripts(struct state_builder *b, struct scripts_part *p)
{
    state_part_unref(b->next->scripts != NULL ? &b->next->scripts->part : NULL);
    b->next->scripts = p;
}

void state_scripts_encode(const struct scripts_part *p, struct buf *out)
{
    put_u8(out, PART_VERSION);
    put_varint(out, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        put_str(out, p->v[i].id);
        put_str(out, p->v[i].lang);
        put_str(out, p->v[i].source);
        state_opt_out(out, p->v[i].content_type);
    }
}

struct scripts_part *state_scripts_decode(struct bytes_in *in)
{
    in->bad |= get_u8(in) != PART_VERSION;
    size_t n = get_count(in, 4);
    struct scripts_part *p = in->bad ? NULL : scripts_part_new(n);
    in->bad |= p == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct script_meta *m = &p->v[p->n++];
        m->id = state_str_in(in, &p->part.arena);
        m->lang = state_str_in(in, &p->part.arena);
        m->source = state_str_in(in, &p->part.arena);
        m->content_type = state_opt_in(in, &p->part.arena);
        in->bad |= !in->bad && i > 0 && str_cmp(p->v[i - 1].id, m->id) >= 0;
    }
    if (in->bad && p != NULL) {
        state_part_unref(&p->part);
        p = NULL;
    }
    return p;
}
