/* The bytes of a cluster state. Every part begins with a version byte, so that a later release can read an
 * older one's. */
#include "common/cluster/state_int.h"

#define PART_VERSION 1

static void put_opt_str(struct buf *b, struct str s)
{
    put_bool(b, s.p != NULL);
    if (s.p != NULL) {
        put_str(b, s);
    }
}

static struct str keep_str(struct bytes_in *in, struct arena *a)
{
    struct str s = get_str(in);
    struct str copy = in->bad ? STR_NULL : arena_str(a, s);
    in->bad |= copy.p == NULL;
    return copy;
}

static struct str keep_opt_str(struct bytes_in *in, struct arena *a)
{
    return get_bool(in) ? keep_str(in, a) : STR_NULL;
}

static void put_set(struct buf *b, const struct str_set *s)
{
    put_varint(b, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        put_str(b, s->v[i]);
    }
}

static struct str_set keep_set(struct bytes_in *in, struct arena *a)
{
    size_t n = get_count(in, 1);
    struct str_set s = {ARENA_ARRAY(a, struct str, n), 0};
    in->bad |= s.v == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        s.v[i] = keep_str(in, a);
        in->bad |= i > 0 && !in->bad && str_cmp(s.v[i - 1], s.v[i]) >= 0;
        s.n++;
    }
    return s;
}

static void put_settings(struct buf *b, const struct settings *s)
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

static void get_settings(struct bytes_in *in, struct settings *s)
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

void index_meta_encode(const struct index_meta *m, struct buf *out)
{
    put_u8(out, PART_VERSION);
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
    put_settings(out, &m->settings);
    put_str(out, m->mapping);
    put_varint(out, m->n_aliases);
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        const struct alias_meta *a = &m->aliases[i];
        put_str(out, a->name);
        put_str(out, a->filter);
        put_opt_str(out, a->index_routing);
        put_opt_str(out, a->search_routing);
        put_u8(out,
               (uint8_t)(a->has_is_write | a->is_write << 1 | a->has_is_hidden << 2 | a->is_hidden << 3));
    }
    for (uint32_t i = 0; i < m->n_shards; i++) {
        put_varint(out, m->primary_terms[i]);
        put_set(out, &m->in_sync[i]);
    }
}

static void get_aliases(struct bytes_in *in, struct index_meta *m)
{
    struct arena *a = &m->part.arena;
    size_t n = get_count(in, 5);
    m->aliases = ARENA_ARRAY(a, struct alias_meta, n);
    in->bad |= m->aliases == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct alias_meta *t = &m->aliases[i];
        t->name = keep_str(in, a);
        t->filter = keep_str(in, a);
        t->index_routing = keep_opt_str(in, a);
        t->search_routing = keep_opt_str(in, a);
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
    in->bad |= get_u8(in) != PART_VERSION;
    m->name = keep_str(in, a);
    m->uuid = keep_str(in, a);
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
    get_settings(in, &m->settings);
    m->mapping = keep_str(in, a);
    get_aliases(in, m);
    in->bad |= !shards_are_sane(m);
    m->primary_terms = in->bad ? NULL : ARENA_ARRAY(a, uint64_t, m->n_shards);
    m->in_sync = in->bad ? NULL : ARENA_ARRAY(a, struct str_set, m->n_shards);
    in->bad |= m->primary_terms == NULL || m->in_sync == NULL;
    for (uint32_t i = 0; !in->bad && i < m->n_shards; i++) {
        m->primary_terms[i] = get_varint(in);
        m->in_sync[i] = keep_set(in, a);
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
    t->name = keep_str(in, a);
    t->body = keep_str(in, a);
    t->order = get_zigzag(in);
    size_t n = get_count(in, 1);
    t->patterns = ARENA_ARRAY(a, struct str, n);
    in->bad |= t->patterns == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        t->patterns[i] = keep_str(in, a);
        t->n_patterns++;
    }
    if (in->bad) {
        state_part_unref(&t->part);
        return NULL;
    }
    return t;
}

void state_nodes_encode(const struct nodes_part *p, struct buf *out)
{
    put_u8(out, PART_VERSION);
    put_opt_str(out, p->master);
    put_varint(out, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        const struct node_meta *n = &p->v[i];
        put_str(out, n->id);
        put_str(out, n->name);
        put_str(out, n->ephemeral_id);
        put_str(out, n->host);
        put_str(out, n->transport_address);
        put_opt_str(out, n->http_address);
        put_varint(out, n->roles);
        put_varint(out, n->n_attrs);
        for (uint32_t k = 0; k < n->n_attrs; k++) {
            put_str(out, n->attrs[k].name);
            put_str(out, n->attrs[k].value);
        }
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
    p->master = keep_opt_str(in, a);
    size_t n = get_count(in, 7);
    p->v = ARENA_ARRAY(a, struct node_meta, n);
    in->bad |= p->v == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct node_meta *t = &p->v[i];
        t->id = keep_str(in, a);
        t->name = keep_str(in, a);
        t->ephemeral_id = keep_str(in, a);
        t->host = keep_str(in, a);
        t->transport_address = keep_str(in, a);
        t->http_address = keep_opt_str(in, a);
        t->roles = (uint32_t)get_varint(in);
        size_t attrs = get_count(in, 2);
        t->attrs = ARENA_ARRAY(a, struct node_attr, attrs);
        in->bad |= t->attrs == NULL;
        for (size_t k = 0; k < attrs && !in->bad; k++) {
            t->attrs[k].name = keep_str(in, a);
            t->attrs[k].value = keep_str(in, a);
            t->n_attrs++;
        }
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
    put_settings(out, &p->settings);
}

struct settings_part *state_settings_decode(struct bytes_in *in)
{
    struct settings_part *p = settings_part_new(NULL);
    in->bad |= get_u8(in) != PART_VERSION || p == NULL;
    if (p != NULL) {
        get_settings(in, &p->settings);
    }
    if (in->bad && p != NULL) {
        state_part_unref(&p->part);
        p = NULL;
    }
    return p;
}

static void put_copy(struct buf *b, const struct shard_copy *c)
{
    put_u8(b, (uint8_t)c->state);
    put_bool(b, c->primary);
    put_opt_str(b, c->node);
    put_opt_str(b, c->allocation_id);
    put_opt_str(b, c->target_node);
    put_opt_str(b, c->target_id);
    put_u8(b, (uint8_t)c->source);
    put_u8(b, (uint8_t)c->trouble.reason);
    put_zigzag(b, c->trouble.at_ms);
    put_varint(b, c->trouble.failed);
    put_u8(b, (uint8_t)((unsigned)c->trouble.attempt << 1 | c->trouble.delayed));
    put_opt_str(b, c->trouble.details);
    put_opt_str(b, c->trouble.last_node);
}

static void get_copy(struct bytes_in *in, struct shard_copy *c, struct arena *a)
{
    uint8_t state = get_u8(in);
    c->primary = get_bool(in);
    c->node = keep_opt_str(in, a);
    c->allocation_id = keep_opt_str(in, a);
    c->target_node = keep_opt_str(in, a);
    c->target_id = keep_opt_str(in, a);
    uint8_t source = get_u8(in), reason = get_u8(in);
    c->trouble.at_ms = get_zigzag(in);
    c->trouble.failed = (uint32_t)get_varint(in);
    uint8_t attempt = get_u8(in);
    c->trouble.details = keep_opt_str(in, a);
    c->trouble.last_node = keep_opt_str(in, a);
    in->bad |=
        state > COPY_RELOCATING || source > RECOVER_PEER || reason >= REASON_N || attempt >> 1 >= ATTEMPT_N;
    in->bad |= (state == COPY_UNASSIGNED) != (c->node.p == NULL)
               || (c->node.p == NULL) != (c->allocation_id.p == NULL)
               || (state == COPY_RELOCATING) != (c->target_node.p != NULL)
               || (c->target_node.p == NULL) != (c->target_id.p == NULL);
    if (!in->bad) {
        c->state = (enum copy_state)state;
        c->source = (enum recovery_source)source;
        c->trouble.reason = (enum copy_reason)reason;
        c->trouble.delayed = (attempt & 1) != 0;
        c->trouble.attempt = (enum copy_attempt)(attempt >> 1);
    }
}

void state_routing_encode(const struct index_routing *r, struct buf *out)
{
    put_u8(out, PART_VERSION);
    put_str(out, r->name);
    put_str(out, r->uuid);
    put_varint(out, r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        put_varint(out, r->shards[i].n);
        for (uint32_t k = 0; k < r->shards[i].n; k++) {
            put_copy(out, &r->shards[i].copies[k]);
        }
    }
}

struct index_routing *state_routing_decode(struct bytes_in *in)
{
    struct index_routing *r = state_part_new(sizeof(*r));
    if (r == NULL) {
        in->bad = true;
        return NULL;
    }
    struct arena *a = &r->part.arena;
    in->bad |= get_u8(in) != PART_VERSION;
    r->name = keep_str(in, a);
    r->uuid = keep_str(in, a);
    size_t n = get_count(in, 2);
    r->shards = ARENA_ARRAY(a, struct shard_routing, n);
    in->bad |= r->shards == NULL || n > SHARDS_MAX;
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct shard_routing *s = &r->shards[i];
        size_t copies = get_count(in, 13);
        s->copies = ARENA_ARRAY(a, struct shard_copy, copies);
        in->bad |= s->copies == NULL || copies == 0;
        for (size_t k = 0; k < copies && !in->bad; k++) {
            get_copy(in, &s->copies[k], a);
            in->bad |= s->copies[k].primary != (k == 0);
            s->n++;
        }
        r->n++;
    }
    if (in->bad) {
        state_part_unref(&r->part);
        return NULL;
    }
    return r;
}

void state_coordination_encode(const struct coordination_part *p, struct buf *out)
{
    put_u8(out, PART_VERSION);
    put_varint(out, p->term);
    put_set(out, &p->committed);
    put_set(out, &p->accepted);
    put_bool(out, p->uuid_committed);
    put_varint(out, p->n_exclusions);
    for (uint32_t i = 0; i < p->n_exclusions; i++) {
        put_str(out, p->exclusions[i].node_id);
        put_str(out, p->exclusions[i].node_name);
    }
}

struct coordination_part *state_coordination_decode(struct bytes_in *in)
{
    struct coordination_part *p = coordination_part_new();
    if (p == NULL) {
        in->bad = true;
        return NULL;
    }
    struct arena *a = &p->part.arena;
    in->bad |= get_u8(in) != PART_VERSION;
    p->term = get_varint(in);
    p->committed = keep_set(in, a);
    p->accepted = keep_set(in, a);
    p->uuid_committed = get_bool(in);
    size_t n = get_count(in, 2);
    p->exclusions = ARENA_ARRAY(a, struct voting_exclusion, n);
    in->bad |= p->exclusions == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        p->exclusions[i].node_id = keep_str(in, a);
        p->exclusions[i].node_name = keep_str(in, a);
        p->n_exclusions++;
    }
    if (in->bad) {
        state_part_unref(&p->part);
        return NULL;
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
    s->cluster_name = keep_str(&in, a);
    s->cluster_uuid = keep_str(&in, a);
    s->state_uuid = keep_str(&in, a);
    s->term = get_varint(&in);
    s->version = get_varint(&in);
    decode_parts(&in, &b, em);
    if (in.bad || bytes_left(&in) != 0) {
        state_builder_drop(&b);
        return err_set(em, ERR_CORRUPT, "a cluster state cannot be read");
    }
    *out = b.next;
    return ERR_OK;
}
