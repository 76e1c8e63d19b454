/* Inside one part: what changed of it, so that a copy that moves does not send its index again. */
#include "common/cluster/state_int.h"

/* Was what was written to `out` since `at` there before? Then it is taken back. */
static bool keep_new(struct buf *out, size_t at, struct buf *was)
{
    out->failed |= was->failed;
    bool same =
        !out->failed && out->n - at == was->n && (was->n == 0 || memcmp(out->p + at, was->p, was->n) == 0);
    if (same) {
        buf_truncate(out, at);
    }
    buf_reset(was);
    return !same;
}

/* Numbers that grow, as steps; a step of 0 ends them. */
static void put_step(struct buf *out, uint32_t *last, uint32_t i)
{
    put_varint(out, i + 1 - *last);
    *last = i + 1;
}

/* false: that was all, or in->bad */
static bool get_step(struct bytes_in *in, uint32_t n, uint32_t *i, uint32_t *last)
{
    uint64_t step = get_varint(in);
    in->bad |= step > n - *last;
    if (in->bad || step == 0) {
        return false;
    }
    *last += (uint32_t)step;
    *i = *last - 1;
    return true;
}

/* ---- nodes ---- */

static int node_order(const struct nodes_part *a, uint32_t i, const struct nodes_part *b, uint32_t k)
{
    return i == a->n ? 1 : k == b->n ? -1 : str_cmp(a->v[i].id, b->v[k].id);
}

/* Writes ids that `from` has and `to` has not. */
static uint32_t put_gone(const struct nodes_part *from, const struct nodes_part *to, struct buf *out)
{
    uint32_t n = 0, i = 0, k = 0;
    while (i < from->n) {
        int order = node_order(from, i, to, k);
        if (order < 0) {
            put_str(out, from->v[i].id);
            n++;
        }
        i += order <= 0;
        k += order >= 0;
    }
    return n;
}

static uint32_t put_given(const struct nodes_part *from, const struct nodes_part *to, struct buf *out)
{
    struct buf was;
    uint32_t n = 0, i = 0, k = 0;
    buf_init(&was, NULL, BUF_UNLIMITED);
    while (k < to->n) {
        int order = node_order(from, i, to, k);
        size_t at = out->n;
        if (order == 0) {
            state_node_out(&from->v[i], &was);
        }
        if (order >= 0) {
            state_node_out(&to->v[k], out);
            n += keep_new(out, at, &was);
        }
        i += order <= 0;
        k += order >= 0;
    }
    buf_fini(&was);
    return n;
}

enum part_change state_nodes_changes(const struct nodes_part *from, const struct nodes_part *to,
                                     struct buf *out)
{
    struct buf gone, given;
    buf_init(&gone, NULL, BUF_UNLIMITED);
    buf_init(&given, NULL, BUF_UNLIMITED);
    uint32_t n_gone = put_gone(from, to, &gone), n_given = put_given(from, to, &given);
    state_opt_out(out, to->master);
    put_varint(out, n_gone);
    buf_str(out, buf_view(&gone));
    put_varint(out, n_given);
    buf_str(out, buf_view(&given));
    out->failed |= gone.failed || given.failed;
    buf_fini(&gone);
    buf_fini(&given);
    return PART_CHANGED;
}

struct nodes_part *state_nodes_change(struct bytes_in *in, const struct nodes_part *from)
{
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct str master = state_opt_in(in, &scratch);
    size_t n_gone = get_count(in, 1);
    struct str *gone = ARENA_ARRAY(&scratch, struct str, n_gone);
    in->bad |= gone == NULL;
    for (size_t i = 0; i < n_gone && !in->bad; i++) {
        gone[i] = get_str(in);
    }
    size_t n_given = get_count(in, 7);
    struct nodes_part *p = in->bad ? NULL : nodes_part_copy(from, (uint32_t)n_given);
    in->bad |= p == NULL;
    for (size_t i = 0; i < n_gone && !in->bad; i++) {
        in->bad |= !nodes_part_remove(p, gone[i]);
    }
    for (size_t i = 0; i < n_given && !in->bad; i++) {
        struct node_meta n = {0};
        state_node_in(in, &n, &scratch);
        in->bad |= in->bad || !nodes_part_put(p, &n);
    }
    bool ok = true;
    if (!in->bad) {
        p->master = state_keep(&p->part.arena, master, &ok);
        in->bad |= !ok;
    }
    arena_fini(&scratch);
    if (in->bad && p != NULL) {
        state_part_unref(&p->part);
        p = NULL;
    }
    return p;
}

/* ---- index metadata ---- */

enum { SETTINGS_CHANGED = 1, MAPPING_CHANGED = 2, ALIASES_CHANGED = 4, TYPE_CHANGED = 8 };

/* What is small, and changes. */
static void put_head(const struct index_meta *m, struct buf *out)
{
    put_varint(out, m->version);
    put_varint(out, m->mapping_version);
    put_varint(out, m->settings_version);
    put_varint(out, m->aliases_version);
    put_bool(out, m->closed);
    put_varint(out, m->n_replicas);
}

enum part_change state_index_changes(const struct index_meta *from, const struct index_meta *to,
                                     struct buf *out)
{
    struct buf was;
    size_t start = out->n;
    uint8_t changes = 0;
    uint32_t last = 0;
    if (!str_eq(from->uuid, to->uuid) || from->n_shards != to->n_shards
        || from->routing_shards != to->routing_shards || from->routing_partition != to->routing_partition
        || from->created_ms != to->created_ms) {
        return PART_WHOLE;
    }
    buf_init(&was, NULL, BUF_UNLIMITED);
    put_head(to, out);
    put_head(from, &was);
    bool any = keep_new(out, start, &was);
    if (!any) { /* reported all the same */
        put_head(to, out);
    }
    size_t flags = out->n;
    put_u8(out, 0);
    size_t at = out->n;
    state_settings_out(&was, &from->settings);
    state_settings_out(out, &to->settings);
    changes |= keep_new(out, at, &was) ? SETTINGS_CHANGED : 0;
    if (!str_eq(from->mapping, to->mapping)) {
        put_str(out, to->mapping);
        changes |= MAPPING_CHANGED;
    }
    if (!str_eq(from->type, to->type)) {
        put_str(out, to->type);
        changes |= TYPE_CHANGED;
    }
    at = out->n;
    state_aliases_out(from, &was);
    state_aliases_out(to, out);
    changes |= keep_new(out, at, &was) ? ALIASES_CHANGED : 0;
    for (uint32_t i = 0; i < to->n_shards; i++) {
        if (from->primary_terms[i] != to->primary_terms[i]
            || !str_set_eq(&from->in_sync[i], &to->in_sync[i])) {
            put_step(out, &last, i);
            put_varint(out, to->primary_terms[i]);
            state_set_out(out, &to->in_sync[i]);
        }
    }
    put_varint(out, 0);
    buf_fini(&was);
    if (!out->failed) {
        out->p[flags] = (char)changes;
    }
    if (!any && changes == 0 && last == 0) {
        buf_truncate(out, start);
        return PART_SAME;
    }
    return PART_CHANGED;
}

static void change_index(struct bytes_in *in, struct index_meta *m)
{
    struct arena *a = &m->part.arena;
    uint32_t i, last = 0;
    m->version = get_varint(in);
    m->mapping_version = get_varint(in);
    m->settings_version = get_varint(in);
    m->aliases_version = get_varint(in);
    m->closed = get_bool(in);
    m->n_replicas = (uint32_t)get_varint(in);
    uint8_t changes = get_u8(in);
    in->bad |= changes > (SETTINGS_CHANGED | MAPPING_CHANGED | ALIASES_CHANGED | TYPE_CHANGED);
    if (!in->bad && (changes & SETTINGS_CHANGED) != 0) {
        settings_init(&m->settings, a);
        state_settings_in(in, &m->settings);
    }
    if (!in->bad && (changes & MAPPING_CHANGED) != 0) {
        m->mapping = state_str_in(in, a);
    }
    if (!in->bad && (changes & TYPE_CHANGED) != 0) {
        m->type = state_str_in(in, a);
    }
    if (!in->bad && (changes & ALIASES_CHANGED) != 0) {
        m->n_aliases = 0;
        state_aliases_in(in, m);
    }
    while (!in->bad && get_step(in, m->n_shards, &i, &last)) {
        m->primary_terms[i] = get_varint(in);
        m->in_sync[i] = state_set_in(in, a);
    }
}

struct index_meta *state_index_change(struct bytes_in *in, const struct index_meta *from)
{
    struct index_meta *m = index_meta_copy(from);
    if (m == NULL) {
        in->bad = true;
        return NULL;
    }
    change_index(in, m);
    if (in->bad) {
        state_part_unref(&m->part);
        return NULL;
    }
    return m;
}

/* ---- routing ---- */

enum part_change state_routing_changes(const struct index_routing *from, const struct index_routing *to,
                                       struct buf *out)
{
    size_t start = out->n;
    uint32_t last = 0;
    if (!str_eq(from->uuid, to->uuid) || from->n != to->n) {
        return PART_WHOLE;
    }
    for (uint32_t i = 0; i < to->n; i++) {
        if (!state_shard_eq(&from->shards[i], &to->shards[i])) {
            put_step(out, &last, i);
            state_shard_out(&to->shards[i], out);
        }
    }
    put_varint(out, 0);
    if (last == 0) {
        buf_truncate(out, start);
        return PART_SAME;
    }
    return PART_CHANGED;
}

struct index_routing *state_routing_change(struct bytes_in *in, const struct index_routing *from)
{
    uint32_t i, last = 0;
    struct index_routing *r = index_routing_copy(from, 0);
    if (r == NULL) {
        in->bad = true;
        return NULL;
    }
    while (!in->bad && get_step(in, r->n, &i, &last)) {
        state_shard_in(in, &r->shards[i], &r->part.arena);
    }
    if (in->bad) {
        state_part_unref(&r->part);
        return NULL;
    }
    return r;
}
