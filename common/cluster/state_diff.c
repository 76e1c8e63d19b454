/* From one cluster state to another: the parts that differ. Parts are compared by identity first, since a state made from
 * another shares what stayed the same; of nodes, index metadata and routing only what changed inside them is told. */
#include "common/cluster/state_int.h"

#define DIFF_VERSION      2
#define DIFF_VERSION_OLD  1 /* parts that differ are whole; counts of them in front */
#define AS_MANY_AS_FOLLOW SIZE_MAX

static uint8_t changed(const void *from, const void *to)
{
    return from == to ? PART_SAME : to == NULL ? PART_GONE : PART_WHOLE;
}

static void put_removed(struct buf *b, const struct str *names, uint32_t n)
{
    put_varint(b, n);
    for (uint32_t i = 0; i < n; i++) {
        put_str(b, names[i]);
    }
}

/* Of a list: how it goes on. PART_CHANGED is followed by the name, and what changed; PART_SAME ends the list. */
static size_t put_kind(struct buf *out, struct str name)
{
    size_t at = out->n;
    put_u8(out, PART_CHANGED);
    put_str(out, name);
    return at;
}

/* true: the whole part follows */
static bool set_kind(struct buf *out, size_t at, enum part_change c)
{
    if (c != PART_CHANGED) {
        buf_truncate(out, at);
    }
    if (c == PART_WHOLE) {
        put_u8(out, PART_WHOLE);
    }
    return c == PART_WHOLE;
}

static void diff_indices(const struct cluster_state *from, const struct cluster_state *to, struct str *names,
                         struct buf *out)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < from->n_indices; i++) {
        if (cluster_index(to, from->indices[i]->name) == NULL) {
            names[gone++] = from->indices[i]->name;
        }
    }
    put_removed(out, names, gone);
    for (uint32_t i = 0; i < to->n_indices; i++) {
        const struct index_meta *m = to->indices[i], *was = cluster_index(from, m->name);
        if (was == m) {
            continue;
        }
        size_t at = put_kind(out, was != NULL ? m->name : STR(""));
        enum part_change c = was != NULL ? state_index_changes(was, m, out) : PART_WHOLE;
        if (set_kind(out, at, c)) {
            index_meta_encode(m, out);
        }
    }
    put_u8(out, PART_SAME);
}

static void diff_routing(const struct cluster_state *from, const struct cluster_state *to, struct str *names,
                         struct buf *out)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < from->n_routing; i++) {
        if (cluster_routing(to, from->routing[i]->name) == NULL) {
            names[gone++] = from->routing[i]->name;
        }
    }
    put_removed(out, names, gone);
    for (uint32_t i = 0; i < to->n_routing; i++) {
        const struct index_routing *r = to->routing[i], *was = cluster_routing(from, r->name);
        if (was == r) {
            continue;
        }
        size_t at = put_kind(out, was != NULL ? r->name : STR(""));
        enum part_change c = was != NULL ? state_routing_changes(was, r, out) : PART_WHOLE;
        if (set_kind(out, at, c)) {
            state_routing_encode(r, out);
        }
    }
    put_u8(out, PART_SAME);
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

static void diff_nodes(const struct nodes_part *from, const struct nodes_part *to, struct buf *out)
{
    if (from != to && from != NULL && to != NULL) {
        put_u8(out, PART_CHANGED);
        state_nodes_changes(from, to, out);
        return;
    }
    put_u8(out, changed(from, to));
    if (changed(from, to) == PART_WHOLE) {
        state_nodes_encode(to, out);
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
    diff_nodes(from->nodes, to->nodes, out);
    /* Always whole: whoever missed the commit of `from` still has its configuration as it was before. */
    put_u8(out, to->coordination != NULL ? PART_WHOLE : changed(from->coordination, NULL));
    if (to->coordination != NULL) {
        state_coordination_encode(to->coordination, out);
    }
    const struct settings_part *settings[2][2] = {{from->persistent, to->persistent},
                                                  {from->transient, to->transient}};
    for (int i = 0; i < 2; i++) {
        uint8_t c = changed(settings[i][0], settings[i][1]);
        put_u8(out, c);
        if (c == PART_WHOLE) {
            state_settings_encode(settings[i][1], out);
        }
    }
    diff_indices(from, to, names, out);
    diff_routing(from, to, names, out);
    diff_templates(from, to, out);
    if (changed(from->scripts, to->scripts) == PART_WHOLE) { /* else it ends here; they never go as a whole */
        state_scripts_encode(to->scripts, out);
    }
    if (changed(from->pipelines, to->pipelines) == PART_WHOLE) {
        state_pipelines_encode(to->pipelines, out);
    }
    arena_fini(&scratch);
}

static uint8_t get_change(struct bytes_in *in, enum part_change max)
{
    uint8_t c = get_u8(in);
    in->bad |= c > max;
    return in->bad ? PART_SAME : c;
}

static void patch_singles(struct bytes_in *in, struct state_builder *b)
{
    uint8_t c = get_change(in, PART_CHANGED);
    const struct nodes_part *nodes = b->next->nodes;
    in->bad |= c == PART_CHANGED && nodes == NULL;
    if (c != PART_SAME && !in->bad) {
        state_put_nodes(b, c == PART_CHANGED ? state_nodes_change(in, nodes)
                           : c == PART_WHOLE ? state_nodes_decode(in)
                                             : NULL);
    }
    c = get_change(in, PART_WHOLE);
    if (c != PART_SAME) {
        state_put_coordination(b, c == PART_WHOLE ? state_coordination_decode(in) : NULL);
    }
    for (int i = 0; i < 2; i++) {
        c = get_change(in, PART_WHOLE);
        if (c != PART_SAME) {
            state_put_settings(b, c == PART_WHOLE ? state_settings_decode(in) : NULL, i == 0);
        }
    }
}

/* PART_SAME: the list ends. left: of how many; AS_MANY_AS_FOLLOW: as each says itself. */
static uint8_t next_kind(struct bytes_in *in, size_t *left)
{
    if (*left == AS_MANY_AS_FOLLOW) {
        uint8_t c = get_change(in, PART_CHANGED);
        in->bad |= c == PART_GONE;
        return in->bad ? PART_SAME : c;
    }
    if (*left == 0 || in->bad) {
        return PART_SAME;
    }
    --*left;
    return PART_WHOLE;
}

static void patch_indices(struct bytes_in *in, struct state_builder *b, bool old, struct errmsg *em)
{
    uint8_t c;
    for (size_t n = get_count(in, 1); n > 0 && !in->bad; n--) {
        in->bad |= !state_remove_index(b, get_str(in));
    }
    size_t left = old ? get_count(in, 16) : AS_MANY_AS_FOLLOW;
    while ((c = next_kind(in, &left)) != PART_SAME) {
        struct index_meta *m = NULL;
        if (c == PART_CHANGED) {
            const struct index_meta *was = cluster_index(b->next, get_str(in));
            m = was != NULL ? state_index_change(in, was) : NULL;
        } else if (index_meta_decode(&m, in, em) != ERR_OK) {
            m = NULL;
        }
        in->bad |= m == NULL || !state_put_index(b, m);
    }
}

static void patch_routing(struct bytes_in *in, struct state_builder *b, bool old)
{
    uint8_t c;
    for (size_t n = get_count(in, 1); n > 0 && !in->bad; n--) {
        in->bad |= !state_remove_routing(b, get_str(in));
    }
    size_t left = old ? get_count(in, 4) : AS_MANY_AS_FOLLOW;
    while ((c = next_kind(in, &left)) != PART_SAME) {
        struct index_routing *r = NULL;
        if (c == PART_CHANGED) {
            const struct index_routing *was = cluster_routing(b->next, get_str(in));
            r = was != NULL ? state_routing_change(in, was) : NULL;
        } else {
            r = state_routing_decode(in);
        }
        in->bad |= r == NULL || !state_put_routing(b, r);
    }
}

static void patch_templates(struct bytes_in *in, struct state_builder *b)
{
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
    uint8_t format = get_u8(&in);
    bool known = format == DIFF_VERSION || format == DIFF_VERSION_OLD;
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
    patch_indices(&in, &b, format == DIFF_VERSION_OLD, em);
    patch_routing(&in, &b, format == DIFF_VERSION_OLD);
    patch_templates(&in, &b);
    state_stored_decode(&in, &b);
    if (in.bad || bytes_left(&in) != 0) {
        state_builder_fini(&b);
        return err_set(em, ERR_CORRUPT, "a difference of cluster states cannot be read");
    }
    b.next->term = term;
    b.next->version = version - 1; /* sealing adds one */
    *out = state_builder_seal(&b, uuid);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}
