/* The part of a state that holds ingest pipelines. */
#include "common/cluster/state_int.h"

static bool keep_pipeline(struct pipeline_meta *to, const struct pipeline_meta *from, struct arena *a)
{
    bool ok = true;
    to->id = state_keep(a, from->id, &ok);
    to->body = state_keep(a, from->body, &ok);
    return ok;
}

/* A part with room for `n` pipelines. */
static struct pipelines_part *pipelines_part_new(size_t n)
{
    struct pipelines_part *p = state_part_new(sizeof(*p));
    if (p != NULL) {
        p->v = ARENA_ARRAY(&p->part.arena, struct pipeline_meta, n);
    }
    if (p != NULL && p->v == NULL) {
        state_part_unref(&p->part);
        p = NULL;
    }
    return p;
}

static bool add_pipeline(struct pipelines_part *p, const struct pipeline_meta *m)
{
    return keep_pipeline(&p->v[p->n++], m, &p->part.arena);
}

struct pipelines_part *pipelines_part_with(const struct pipelines_part *from, const struct pipeline_meta *m)
{
    uint32_t n = from != NULL ? from->n : 0, i = 0;
    struct pipelines_part *p = pipelines_part_new((size_t)n + 1);
    bool ok = p != NULL;
    for (; ok && i < n && str_cmp(from->v[i].id, m->id) < 0; i++) {
        ok = add_pipeline(p, &from->v[i]);
    }
    ok = ok && add_pipeline(p, m);
    i += i < n && str_eq(from->v[i].id, m->id);
    for (; ok && i < n; i++) {
        ok = add_pipeline(p, &from->v[i]);
    }
    if (!ok && p != NULL) {
        state_part_unref(&p->part);
    }
    return ok ? p : NULL;
}

struct pipelines_part *pipelines_part_without(const struct pipelines_part *from, struct str id)
{
    uint32_t n = from != NULL ? from->n : 0;
    struct pipelines_part *p = pipelines_part_new(n);
    bool ok = p != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        ok = str_eq(from->v[i].id, id) || add_pipeline(p, &from->v[i]);
    }
    if (!ok && p != NULL) {
        state_part_unref(&p->part);
    }
    return ok ? p : NULL;
}

const struct pipeline_meta *cluster_pipeline(const struct cluster_state *s, struct str id)
{
    uint32_t lo = 0, hi = s->pipelines != NULL ? s->pipelines->n : 0;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = str_cmp(s->pipelines->v[mid].id, id);
        if (order == 0) {
            return &s->pipelines->v[mid];
        }
        lo = order < 0 ? mid + 1 : lo;
        hi = order < 0 ? hi : mid;
    }
    return NULL;
}

void state_put_pipelines(struct state_builder *b, struct pipelines_part *p)
{
    state_part_unref(b->next->pipelines != NULL ? &b->next->pipelines->part : NULL);
    b->next->pipelines = p;
}

void state_pipelines_encode(const struct pipelines_part *p, struct buf *out)
{
    put_u8(out, PIPELINES_TAG);
    put_varint(out, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        put_str(out, p->v[i].id);
        put_str(out, p->v[i].body);
    }
}

struct pipelines_part *state_pipelines_decode(struct bytes_in *in)
{
    in->bad |= get_u8(in) != PIPELINES_TAG;
    size_t n = get_count(in, 2);
    struct pipelines_part *p = in->bad ? NULL : pipelines_part_new(n);
    in->bad |= p == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct pipeline_meta *m = &p->v[p->n++];
        m->id = state_str_in(in, &p->part.arena);
        m->body = state_str_in(in, &p->part.arena);
        in->bad |= !in->bad && i > 0 && str_cmp(p->v[i - 1].id, m->id) >= 0;
    }
    if (in->bad && p != NULL) {
        state_part_unref(&p->part);
        p = NULL;
    }
    return p;
}

void state_stored_decode(struct bytes_in *in, struct state_builder *b)
{
    if (!in->bad && bytes_left(in) > 0 && *in->at == PART_VERSION) {
        state_put_scripts(b, state_scripts_decode(in));
    }
    if (!in->bad && bytes_left(in) > 0) {
        state_put_pipelines(b, state_pipelines_decode(in));
    }
}
