/* The bytes of a cluster state. Every part begins with a version byte, so that a later release can read an
 * older one's. */
#include "common/cluster/state_int.h"

void state_opt_out(struct buf *b, struct str s)
{
    put_bool(b, s.p != NULL);
    if (s.p != NULL) {
        put_str(b, s);
    }
}

struct str state_str_in(struct bytes_in *in, struct arena *a)
{
    struct str s = get_str(in);
    struct str copy = in->bad ? STR_NULL : arena_str(a, s);
    in->bad |= copy.p == NULL;
    return copy;
}

struct str state_opt_in(struct bytes_in *in, struct arena *a)
{
    return get_bool(in) ? state_str_in(in, a) : STR_NULL;
}

void state_set_out(struct buf *b, const struct str_set *s)
{
    put_varint(b, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        put_str(b, s->v[i]);
    }
}

struct str_set state_set_in(struct bytes_in *in, struct arena *a)
{
    size_t n = get_count(in, 1);
    struct str_set s = {ARENA_ARRAY(a, struct str, n), 0};
    in->bad |= s.v == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        s.v[i] = state_str_in(in, a);
        in->bad |= i > 0 && !in->bad && str_cmp(s.v[i - 1], s.v[i]) >= 0;
        s.n++;
    }
    return s;
}

void state_settings_out(struct buf *b, const struct settings *s)
{
    put_varint(b, s->n);
    for (size_t i = 0; i < s->n; i++) {
        const struct setting *t = &s->v[i];
        put_str(b, t->key);
        put_u8(b, t->is_null ? 0 : t->is_list ? 2 : 1);
        if (t->is_list) {
            put_varint(b, t->n);
            for (uint32_t k = 0; k < t->n; k++) {
                put_str(b, t->items[k]);
            }
        } else if (!t->is_null) {
            put_str(b, t->value);
        }
    }
}

void state_settings_in(struct bytes_in *in, struct settings *s)
{
    size_t n = get_count(in, 2);
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct str key = get_str(in);
        uint8_t kind = get_u8(in);
        bool ok = kind <= 2;
        if (kind == 0) {
            ok = settings_put_null(s, key);
        } else if (kind == 1) {
            ok = settings_put(s, key, get_str(in));
        } else if (kind == 2) {
            size_t items = get_count(in, 1);
            struct str *v = ARENA_ARRAY(s->arena, struct str, items);
            for (size_t k = 0; v != NULL && k < items; k++) {
                v[k] = get_str(in);
            }
            ok = v != NULL && settings_put_list(s, key, v, (uint32_t)items);
        }
        in->bad |= !ok;
    }
}

void state_aliases_out(const struct index_meta *m, struct buf *out)
{
    put_varint(out, m->n_aliases);
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        const struct alias_meta *a = &m->aliases[i];
        put_str(out, a->name);
        put_str(out, a->filter);
        state_opt_out(out, a->index_routing);
        state_opt_out(out, a->search_routing);
        put_u8(out,
               (uint8_t)(a->has_is_write | a->is_write << 1 | a->has_is_hidden << 2 | a->is_hidden << 3));
    }
}

void index_meta_encode(const struct index_meta *m, struct buf *out)
{
    bool typed = m->type.n > 0;
    put_u8(out, typed ? INDEX_VERSION_TYPED : PART_VERSION);
    put_str(out, m->name);
    put_str(out, m->uuid);
    put_varint(out, m->version);
    put_varint(out, m->mapping_version);
    put_varint(out, m->settings_version);
    put_varint(out, m->aliases_version);
    put_bool(out, m->closed);
    put_varint(out, m->n_shards);
    put_varint(out, m->n_replicas);
    put_varint(out, m->routing_shards);
    put_varint(out, m->routing_partition);
    put_zigzag(out, m->created_ms);
    state_settings_out(out, &m->settings);
    put_str(out, m->mapping);
    if (typed) {
        put_str(out, m->type);
    }
    state_aliases_out(m, out);
    for (uint32_t i = 0; i < m->n_shards; i++) {
        put_varint(out, m->primary_terms[i]);
        state_set_out(out, &m->in_sync[i]);
    }
}

void state_aliases_in(struct bytes_in *in, struct index_meta *m)
{
    struct arena *a = &m->part.arena;
    size_t n = get_count(in, 5);
    m->aliases = ARENA_ARRAY(a, struct alias_meta, n);
    in->bad |= m->aliases == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct alias_meta *t = &m->aliases[i];
        t->name = state_str_in(in, a);
        t->filter = state_str_in(in, a);
        t->index_routing = state_opt_in(in, a);
        t->search_routing = state_opt_in(in, a);
        uint8_t flags = get_u8(in);
        t->has_is_write = (flags & 1) != 0;
        t->is_write = (flags & 2) != 0;
        t->has_is_hidden = (flags & 4) != 0;
        t->is_hidden = (flags & 8) != 0;
        m->n_aliases++;
    }
}

static bool shards_are_sane(const struct index_meta *m)
{
    return m->n_shards >= 1 && m->n_shards <= SHARDS_MAX && m->routing_shards >= m->n_shards
           && m->routing_shards % m->n_shards == 0 && m->routing_partition >= 1;
}

enum err index_meta_decode(struct index_meta **out, struct bytes_in *in, struct errmsg *em)
{
    *out = NULL;
    struct index_meta *m = index_meta_new();
    if (m == NULL) {
        return err_no_memory(em);
    }
    struct arena *a = &m->part.arena;
    uint8_t layout = get_u8(in);
    in->bad |= layout != PART_VERSION && layout != INDEX_VERSION_TYPED;
    m->name = state_str_in(in, a);
    m->uuid = state_str_in(in, a);
    m->version = get_varint(in);
    m->mapping_version = get_varint(in);
    m->settings_version = get_varint(in);
    m->aliases_version = get_varint(in);
    m->closed = get_bool(in);
    m->n_shards = (uint32_t)get_varint(in);
    m->n_replicas = (uint32_t)get_varint(in);
    m->routing_shards = (uint32_t)get_varint(in);
    m->routing_partition = (uint32_t)get_varint(in);
    m->created_ms = get_zigzag(in);
    state_settings_in(in, &m->settings);
    m->mapping = state_str_in(in, a);
    m->type = layout == INDEX_VERSION_TYPED ? state_str_in(in, a) : STR_NULL;
    in->bad |= layout == INDEX_VERSION_TYPED && m->type.n == 0;
    state_aliases_in(in, m);
    in->bad |= !shards_are_sane(m);
    m->primary_terms = in->bad ? NULL : ARENA_ARRAY(a, uint64_t, m->n_shards);
    m->in_sync = in->bad ? NULL : ARENA_ARRAY(a, struct str_set, m->n_shards);
    in->bad |= m->primary_terms == NULL || m->in_sync == NULL;
    for (uint32_t i = 0; !in->bad && i < m->n_shards; i++) {
        m->primary_terms[i] = get_varint(in);
        m->in_sync[i] = state_set_in(in, a);
    }
    if (in->bad) {
        state_part_unref(&m->part);
        return err_set(em, ERR_CORRUPT, "index metadata cannot be read");
    }
    *out = m;
    return ERR_OK;
}

void state_template_encode(const struct template_meta *t, struct buf *out)
{
    put_u8(out, PART_VERSION);
    put_u8(out, (uint8_t)t->kind);
    put_str(out, t->name);
    put_str(out, t->body);
    put_zigzag(out, t->order);
    put_varint(out, t->n_patterns);
    for (uint32_t i = 0; i < t->n_patterns; i++) {
        put_str(out, t->patterns[i]);
    }
}

struct template_meta *state_template_decode(struct bytes_in *in)
{
    struct template_meta *t = template_meta_new();
    if (t == NULL) {
        in->bad = true;
        return NULL;
    }
    struct arena *a = &t->part.arena;
    in->bad |= get_u8(in) != PART_VERSION;
    uint8_t kind = get_u8(in);
    in->bad |= kind > TEMPLATE_COMPONENT;
    t->kind = (enum template_kind)kind;
    t->name = state_str_in(in, a);
    t->body = state_str_in(in, a);
    t->order = get_zigzag(in);
    size_t n = get_count(in, 1);
    t->patterns = ARENA_ARRAY(a, struct str, n);
    in->bad |= t->patterns == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        t->patterns[i] = state_str_in(in, a);
        t->n_patterns++;
    }
    if (in->bad) {
        state_part_unref(&t->part);
        return NULL;
    }
    return t;
}

void state_node_out(const struct node_meta *n, struct buf *out)
{
    put_str(out, n->id);
    put_str(out, n->name);
    put_str(out, n->ephemeral_id);
    put_str(out, n->host);
    put_str(out, n->transport_address);
    state_opt_out(out, n->http_address);
    put_varint(out, n->roles);
    put_varint(out, n->n_attrs);
    for (uint32_t k = 0; k < n->n_attrs; k++) {
        put_str(out, n->attrs[k].name);
        put_str(out, n->attrs[k].value);
    }
}

void state_nodes_encode(const struct nodes_part *p, struct buf *out)
{
    put_u8(out, PART_VERSION);
    state_opt_out(out, p->master);
    put_varint(out, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        state_node_out(&p->v[i], out);
    }
}

void state_node_in(struct bytes_in *in, struct node_meta *t, struct arena *a)
{
    t->id = state_str_in(in, a);
    t->name = state_str_in(in, a);
    t->ephemeral_id = state_str_in(in, a);
    t->host = state_str_in(in, a);
    t->transport_address = state_str_in(in, a);
    t->http_address = state_opt_in(in, a);
    t->roles = (uint32_t)get_varint(in);
    size_t attrs = get_count(in, 2);
    t->attrs = ARENA_ARRAY(a, struct node_attr, attrs);
    in->bad |= t->attrs == NULL;
    for (size_t k = 0; k < attrs && !in->bad; k++) {
        t->attrs[k].name = state_str_in(in, a);
        t->attrs[k].value = state_str_in(in, a);
        t->n_attrs++;
    }
}

struct nodes_part *state_nodes_decode(struct bytes_in *in)
{
    struct nodes_part *p = nodes_part_new();
    if (p == NULL) {
        in->bad = true;
        return NULL;
    }
    struct arena *a = &p->part.arena;
    in->bad |= get_u8(in) != PART_VERSION;
    p->master = state_opt_in(in, a);
    size_t n = get_count(in, 7);
    p->v = ARENA_ARRAY(a, struct node_meta, n);
    in->bad |= p->v == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        state_node_in(in, &p->v[i], a);
        p->n++;
    }
    if (in->bad) {
        state_part_unref(&p->part);
        return NULL;
    }
    return p;
}

void state_settings_encode(const struct settings_part *p, struct buf *out)
{
    put_u8(out, PART_VERSION);
    state_settings_out(out, &p->settings);
}

struct settings_part *state_settings_decode(struct bytes_in *in)
{
    struct settings_part *p = settings_part_new(NULL);
    in->bad |= get_u8(in) != PART_VERSION || p == NULL;
    if (p != NULL) {
        state_settings_in(in, &p->settings);
    }
    if (in->bad && p != NULL) {
        state_part_unref(&p->part);
        p = NULL;
    }
    return p;
}

void cluster_state_encode(const struct cluster_state *s, struct buf *out)
{
    put_u8(out, PART_VERSION);
    put_str(out, s->cluster_name);
    put_str(out, s->cluster_uuid);
    put_str(out, s->state_uuid);
    put_varint(out, s->term);
    put_varint(out, s->version);
    put_bool(out, s->nodes != NULL);
    if (s->nodes != NULL) {
        state_nodes_encode(s->nodes, out);
    }
    put_bool(out, s->coordination != NULL);
    if (s->coordination != NULL) {
        state_coordination_encode(s->coordination, out);
    }
    const struct settings_part *both[2] = {s->persistent, s->transient};
    for (int i = 0; i < 2; i++) {
        put_bool(out, both[i] != NULL);
        if (both[i] != NULL) {
            state_settings_encode(both[i], out);
        }
    }
    put_varint(out, s->n_indices);
    for (uint32_t i = 0; i < s->n_indices; i++) {
        index_meta_encode(s->indices[i], out);
    }
    put_varint(out, s->n_routing);
    for (uint32_t i = 0; i < s->n_routing; i++) {
        state_routing_encode(s->routing[i], out);
    }
    put_varint(out, s->n_templates);
    for (uint32_t i = 0; i < s->n_templates; i++) {
        state_template_encode(s->templates[i], out);
    }
    if (s->scripts != NULL) { /* states that were written before there were any end here */
        state_scripts_encode(s->scripts, out);
    }
    if (s->pipelines != NULL) {
        state_pipelines_encode(s->pipelines, out);
    }
}

static void decode_parts(struct bytes_in *in, struct state_builder *b, struct errmsg *em)
{
    if (get_bool(in)) {
        b->next->nodes = state_nodes_decode(in);
    }
    if (get_bool(in)) {
        b->next->coordination = state_coordination_decode(in);
    }
    for (int i = 0; i < 2; i++) {
        if (get_bool(in)) {
            state_put_settings(b, state_settings_decode(in), i == 0);
        }
    }
    size_t n = get_count(in, 16);
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct index_meta *m;
        in->bad |= index_meta_decode(&m, in, em) != ERR_OK || !state_put_index(b, m);
    }
    n = get_count(in, 4);
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct index_routing *r = state_routing_decode(in);
        in->bad |= r == NULL || !state_put_routing(b, r);
    }
    n = get_count(in, 5);
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct template_meta *t = state_template_decode(in);
        in->bad |= t == NULL || !state_put_template(b, t);
    }
    state_stored_decode(in, b);
}

enum err cluster_state_decode(struct cluster_state **out, struct str bytes, struct errmsg *em)
{
    *out = NULL;
    struct bytes_in in = bytes_in(bytes);
    struct state_builder b;
    if (!state_builder_init(&b, NULL)) {
        return err_no_memory(em);
    }
    struct cluster_state *s = b.next;
    struct arena *a = &s->part.arena;
    in.bad |= get_u8(&in) != PART_VERSION;
    s->cluster_name = state_str_in(&in, a);
    s->cluster_uuid = state_str_in(&in, a);
    s->state_uuid = state_str_in(&in, a);
    s->term = get_varint(&in);
    s->version = get_varint(&in);
    decode_parts(&in, &b, em);
    if (in.bad || bytes_left(&in) != 0) {
        state_builder_fini(&b);
        return err_set(em, ERR_CORRUPT, "a cluster state cannot be read");
    }
    *out = b.next;
    return ERR_OK;
}
