/* From one cluster state to another: the parts that differ, whole. Parts are compared by identity, since a
 * state made from another shares what stayed the same. */
#include "common/cluster/state_int.h"

#define DIFF_VERSION 1

enum { SAME, GONE, GIVEN };

static uint8_t changed(const void *from, const void *to)
{
    return from == to ? SAME : to == NULL ? GONE : GIVEN;
}

static void put_removed(struct buf *b, const struct str *names, uint32_t n)
{
    put_varint(b, n);
    for (uint32_t i = 0; i < n; i++) {
        put_str(b, names[i]);
    }
}

static void diff_indices(const struct cluster_state *from, const struct cluster_state *to, struct str *names,
                         struct buf *out)
{
    uint32_t gone = 0, given = 0;
    for (uint32_t i = 0; i < from->n_indices; i++) {
        if (cluster_index(to, from->indices[i]->name) == NULL) {
            names[gone++] = from->indices[i]->name;
        }
    }
    put_removed(out, names, gone);
    for (uint32_t i = 0; i < to->n_indices; i++) {
        given += cluster_index(from, to->indices[i]->name) != to->indices[i];
    }
    put_varint(out, given);
    for (uint32_t i = 0; i < to->n_indices; i++) {
        if (cluster_index(from, to->indices[i]->name) != to->indices[i]) {
            index_meta_encode(to->indices[i], out);
        }
    }
}

static void diff_routing(const struct cluster_state *from, const struct cluster_state *to, struct str *names,
                         struct buf *out)
{
    uint32_t gone = 0, given = 0;
    for (uint32_t i = 0; i < from->n_routing; i++) {
        if (cluster_routing(to, from->routing[i]->name) == NULL) {
            names[gone++] = from->routing[i]->name;
        }
    }
    put_removed(out, names, gone);
    for (uint32_t i = 0; i < to->n_routing; i++) {
        given += cluster_routing(from, to->routing[i]->name) != to->routing[i];
    }
    put_varint(out, given);
    for (uint32_t i = 0; i < to->n_routing; i++) {
        if (cluster_routing(from, to->routing[i]->name) != to->routing[i]) {
            state_routing_encode(to->routing[i], out);
        }
    }
}

static bool template_differs(const struct cluster_state *other, const struct template_meta *t)
{
    return cluster_template(other, t->kind, t->name) != t;
}

static void diff_templates(const struct cluster_state *from, const struct cluster_state *to, struct buf *out)
{
    uint32_t gone = 0, given = 0;
    for (uint32_t i = 0; i < from->n_templates; i++) {
        gone += cluster_template(to, from->templates[i]->kind, from->templates[i]->name) == NULL;
    }
    put_varint(out, gone);
    for (uint32_t i = 0; i < from->n_templates; i++) {
        const struct template_meta *t = from->templates[i];
        if (cluster_template(to, t->kind, t->name) == NULL) {
            put_u8(out, (uint8_t)t->kind);
            put_str(out, t->name);
        }
    }
    for (uint32_t i = 0; i < to->n_templates; i++) {
        given += template_differs(from, to->templates[i]);
    }
    put_varint(out, given);
    for (uint32_t i = 0; i < to->n_templates; i++) {
        if (template_differs(from, to->templates[i])) {
            state_template_encode(to->templates[i], out);
        }
    }
}

void cluster_state_diff(const struct cluster_state *from, const struct cluster_state *to, struct buf *out)
{
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct str *names = ARENA_ARRAY(&scratch, struct str, MAX_OF(from->n_indices, from->n_routing));
    if (names == NULL) {
        out->failed = true;
        arena_fini(&scratch);
        return;
    }
    put_u8(out, DIFF_VERSION);
    put_str(out, from->state_uuid);
    put_str(out, to->state_uuid);
    put_str(out, to->cluster_name);
    put_str(out, to->cluster_uuid);
    put_varint(out, to->term);
    put_varint(out, to->version);
    put_u8(out, changed(from->nodes, to->nodes));
    if (changed(from->nodes, to->nodes) == GIVEN) {
        state_nodes_encode(to->nodes, out);
    }
    /* Always whole: whoever missed the commit of `from` still has its configuration as it was before. */
    put_u8(out, to->coordination != NULL ? GIVEN : changed(from->coordination, NULL));
    if (to->coordination != NULL) {
        state_coordination_encode(to->coordination, out);
    }
    const struct settings_part *settings[2][2] = {{from->persistent, to->persistent},
                                                  {from->transient, to->transient}};
    for (int i = 0; i < 2; i++) {
        uint8_t c = changed(settings[i][0], settings[i][1]);
        put_u8(out, c);
        if (c == GIVEN) {
            state_settings_encode(settings[i][1], out);
        }
    }
    diff_indices(from, to, names, out);
    diff_routing(from, to, names, out);
    diff_templates(from, to, out);
    arena_fini(&scratch);
}

static uint8_t get_change(struct bytes_in *in)
{
    uint8_t c = get_u8(in);
    in->bad |= c > GIVEN;
    return in->bad ? SAME : c;
}

static void patch_singles(struct bytes_in *in, struct state_builder *b)
{
    uint8_t c = get_change(in);
    if (c != SAME) {
        state_put_nodes(b, c == GIVEN ? state_nodes_decode(in) : NULL);
    }
    c = get_change(in);
    if (c != SAME) {
        state_put_coordination(b, c == GIVEN ? state_coordination_decode(in) : NULL);
    }
    for (int i = 0; i < 2; i++) {
        c = get_change(in);
        if (c != SAME) {
            state_put_settings(b, c == GIVEN ? state_settings_decode(in) : NULL, i == 0);
        }
    }
}

static void patch_lists(struct bytes_in *in, struct state_builder *b, struct errmsg *em)
{
    for (size_t n = get_count(in, 1); n > 0 && !in->bad; n--) {
        in->bad |= !state_remove_index(b, get_str(in));
    }
    for (size_t n = get_count(in, 16); n > 0 && !in->bad; n--) {
        struct index_meta *m;
        in->bad |= index_meta_decode(&m, in, em) != ERR_OK || !state_put_index(b, m);
    }
    for (size_t n = get_count(in, 1); n > 0 && !in->bad; n--) {
        in->bad |= !state_remove_routing(b, get_str(in));
    }
    for (size_t n = get_count(in, 4); n > 0 && !in->bad; n--) {
        struct index_routing *r = state_routing_decode(in);
        in->bad |= r == NULL || !state_put_routing(b, r);
    }
    for (size_t n = get_count(in, 2); n > 0 && !in->bad; n--) {
        uint8_t kind = get_u8(in);
        in->bad |=
            kind > TEMPLATE_COMPONENT || !state_remove_template(b, (enum template_kind)kind, get_str(in));
    }
    for (size_t n = get_count(in, 5); n > 0 && !in->bad; n--) {
        struct template_meta *t = state_template_decode(in);
        in->bad |= t == NULL || !state_put_template(b, t);
    }
}

enum err cluster_state_patch(struct cluster_state **out, const struct cluster_state *from, struct str diff,
                             struct errmsg *em)
{
    struct bytes_in in = bytes_in(diff);
    struct state_builder b;
    *out = NULL;
    bool known = get_u8(&in) == DIFF_VERSION;
    struct str of = get_str(&in), uuid = get_str(&in), name = get_str(&in), cluster = get_str(&in);
    uint64_t term = get_varint(&in), version = get_varint(&in);
    if (!known || in.bad) {
        return err_set(em, ERR_CORRUPT, "a difference of cluster states cannot be read");
    }
    if (!str_eq(of, from->state_uuid)) {
        return err_set(em, ERR_ILLEGAL_STATE, "the difference is from state [%.*s], here is [%.*s]",
                       STR_ARG(of), STR_ARG(from->state_uuid));
    }
    if (!state_builder_init(&b, from)) {
        return err_no_memory(em);
    }
    in.bad |= !state_set_names(&b, name, cluster);
    patch_singles(&in, &b);
    patch_lists(&in, &b, em);
    if (in.bad || bytes_left(&in) != 0) {
        state_builder_drop(&b);
        return err_set(em, ERR_CORRUPT, "a difference of cluster states cannot be read");
    }
    b.next->term = term;
    b.next->version = version - 1; /* sealing adds one */
    *out = state_builder_seal(&b, uuid);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}
