#include "common/cluster/state.h"

#include "common/base/hash.h"

/* Allocates a part of `size` bytes inside its own arena. */
static void *part_new(size_t size)
{
    struct arena arena;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    struct state_part *p = arena_zalloc(&arena, size);
    if (p == NULL) {
        return NULL;
    }
    p->arena = arena;
    p->refs = 1;
    return p;
}

struct state_part *state_part_ref(struct state_part *p)
{
    p->refs++;
    return p;
}

void state_part_unref(struct state_part *p)
{
    if (p != NULL && --p->refs == 0) {
        struct arena arena = p->arena; /* the part lives in it */
        arena_fini(&arena);
    }
}

struct cluster_state *cluster_state_ref(struct cluster_state *s)
{
    state_part_ref(&s->part);
    return s;
}

void cluster_state_unref(struct cluster_state *s)
{
    if (s == NULL || --s->part.refs != 0) {
        return;
    }
    for (uint32_t i = 0; i < s->n_indices; i++) {
        state_part_unref(&s->indices[i]->part);
    }
    for (uint32_t i = 0; i < s->n_templates; i++) {
        state_part_unref(&s->templates[i]->part);
    }
    state_part_unref(s->nodes != NULL ? &s->nodes->part : NULL);
    state_part_unref(s->persistent != NULL ? &s->persistent->part : NULL);
    state_part_unref(s->transient != NULL ? &s->transient->part : NULL);
    struct arena arena = s->part.arena;
    arena_fini(&arena);
}

/* Where `name` is, or belongs. */
static uint32_t index_slot(const struct cluster_state *s, struct str name)
{
    uint32_t lo = 0, hi = s->n_indices;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (str_cmp(s->indices[mid]->name, name) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

const struct index_meta *cluster_index(const struct cluster_state *s, struct str name)
{
    uint32_t at = index_slot(s, name);
    return at < s->n_indices && str_eq(s->indices[at]->name, name) ? s->indices[at] : NULL;
}

const struct index_meta *cluster_index_by_uuid(const struct cluster_state *s, struct str uuid)
{
    for (uint32_t i = 0; i < s->n_indices; i++) {
        if (str_eq(s->indices[i]->uuid, uuid)) {
            return s->indices[i];
        }
    }
    return NULL;
}

const struct alias_meta *index_alias(const struct index_meta *m, struct str alias)
{
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        if (str_eq(m->aliases[i].name, alias)) {
            return &m->aliases[i];
        }
    }
    return NULL;
}

bool cluster_has_alias(const struct cluster_state *s, struct str alias)
{
    for (uint32_t i = 0; i < s->n_indices; i++) {
        if (index_alias(s->indices[i], alias) != NULL) {
            return true;
        }
    }
    return false;
}

static int template_cmp(const struct template_meta *t, enum template_kind kind, struct str name)
{
    return t->kind != kind ? (t->kind < kind ? -1 : 1) : str_cmp(t->name, name);
}

static uint32_t template_slot(const struct cluster_state *s, enum template_kind kind, struct str name)
{
    uint32_t at = 0;
    while (at < s->n_templates && template_cmp(s->templates[at], kind, name) < 0) {
        at++;
    }
    return at;
}

const struct template_meta *cluster_template(const struct cluster_state *s, enum template_kind kind, struct str name)
{
    uint32_t at = template_slot(s, kind, name);
    return at < s->n_templates && template_cmp(s->templates[at], kind, name) == 0 ? s->templates[at] : NULL;
}

struct str cluster_setting(const struct cluster_state *s, const char *key, struct str otherwise)
{
    struct str persistent = s->persistent != NULL ? settings_str(&s->persistent->settings, key, otherwise) : otherwise;
    return s->transient != NULL ? settings_str(&s->transient->settings, key, persistent) : persistent;
}

/* ---- builder ---------------------------------------------------------------------------------------------------- */

static bool copy_refs(struct cluster_state *to, const struct cluster_state *from)
{
    to->indices = ARENA_ARRAY(&to->part.arena, struct index_meta *, from->n_indices);
    to->templates = ARENA_ARRAY(&to->part.arena, struct template_meta *, from->n_templates);
    to->cluster_name = arena_str(&to->part.arena, from->cluster_name);
    to->cluster_uuid = arena_str(&to->part.arena, from->cluster_uuid);
    if (to->indices == NULL || to->templates == NULL || to->cluster_name.p == NULL || to->cluster_uuid.p == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < from->n_indices; i++) {
        to->indices[to->n_indices++] = (struct index_meta *)state_part_ref(&from->indices[i]->part);
    }
    for (uint32_t i = 0; i < from->n_templates; i++) {
        to->templates[to->n_templates++] = (struct template_meta *)state_part_ref(&from->templates[i]->part);
    }
    to->nodes = from->nodes;
    to->persistent = from->persistent;
    to->transient = from->transient;
    if (to->nodes != NULL) {
        state_part_ref(&to->nodes->part);
    }
    if (to->persistent != NULL) {
        state_part_ref(&to->persistent->part);
    }
    if (to->transient != NULL) {
        state_part_ref(&to->transient->part);
    }
    to->term = from->term;
    to->version = from->version;
    return true;
}

bool state_builder_init(struct state_builder *b, const struct cluster_state *from)
{
    *b = (struct state_builder){.next = part_new(sizeof(struct cluster_state))};
    if (b->next != NULL && from != NULL && !copy_refs(b->next, from)) {
        state_builder_drop(b);
    }
    return b->next != NULL;
}

void state_builder_drop(struct state_builder *b)
{
    cluster_state_unref(b->next);
    b->next = NULL;
}

struct cluster_state *state_builder_seal(struct state_builder *b, struct str state_uuid)
{
    struct cluster_state *s = b->next;
    s->state_uuid = arena_str(&s->part.arena, state_uuid);
    if (s->state_uuid.p == NULL) {
        state_builder_drop(b);
        return NULL;
    }
    s->version++;
    b->next = NULL;
    return s;
}

bool state_put_index(struct state_builder *b, struct index_meta *m)
{
    struct cluster_state *s = b->next;
    uint32_t at = index_slot(s, m->name);
    if (at < s->n_indices && str_eq(s->indices[at]->name, m->name)) {
        state_part_unref(&s->indices[at]->part);
        s->indices[at] = m;
        return true;
    }
    struct index_meta **v = ARENA_ARRAY(&s->part.arena, struct index_meta *, (size_t)s->n_indices + 1);
    if (v == NULL) {
        state_part_unref(&m->part);
        return false;
    }
    if (s->n_indices > 0) {
        memcpy(v, s->indices, at * sizeof(struct index_meta *));
        memcpy(&v[at + 1], &s->indices[at], (s->n_indices - at) * sizeof(struct index_meta *));
    }
    v[at] = m;
    s->indices = v;
    s->n_indices++;
    return true;
}

bool state_remove_index(struct state_builder *b, struct str name)
{
    struct cluster_state *s = b->next;
    uint32_t at = index_slot(s, name);
    if (at == s->n_indices || !str_eq(s->indices[at]->name, name)) {
        return false;
    }
    state_part_unref(&s->indices[at]->part);
    memmove(&s->indices[at], &s->indices[at + 1], (s->n_indices - at - 1) * sizeof(struct index_meta *));
    s->n_indices--;
    return true;
}

bool state_put_template(struct state_builder *b, struct template_meta *t)
{
    struct cluster_state *s = b->next;
    uint32_t at = template_slot(s, t->kind, t->name);
    if (at < s->n_templates && template_cmp(s->templates[at], t->kind, t->name) == 0) {
        state_part_unref(&s->templates[at]->part);
        s->templates[at] = t;
        return true;
    }
    struct template_meta **v = ARENA_ARRAY(&s->part.arena, struct template_meta *, (size_t)s->n_templates + 1);
    if (v == NULL) {
        state_part_unref(&t->part);
        return false;
    }
    if (s->n_templates > 0) {
        memcpy(v, s->templates, at * sizeof(struct template_meta *));
        memcpy(&v[at + 1], &s->templates[at], (s->n_templates - at) * sizeof(struct template_meta *));
    }
    v[at] = t;
    s->templates = v;
    s->n_templates++;
    return true;
}

bool state_remove_template(struct state_builder *b, enum template_kind kind, struct str name)
{
    struct cluster_state *s = b->next;
    uint32_t at = template_slot(s, kind, name);
    if (at == s->n_templates || template_cmp(s->templates[at], kind, name) != 0) {
        return false;
    }
    state_part_unref(&s->templates[at]->part);
    memmove(&s->templates[at], &s->templates[at + 1], (s->n_templates - at - 1) * sizeof(struct template_meta *));
    s->n_templates--;
    return true;
}

void state_put_settings(struct state_builder *b, struct settings_part *p, bool persistent)
{
    struct settings_part **to = persistent ? &b->next->persistent : &b->next->transient;
    state_part_unref(*to != NULL ? &(*to)->part : NULL);
    *to = p;
}

void state_put_nodes(struct state_builder *b, struct nodes_part *p)
{
    state_part_unref(b->next->nodes != NULL ? &b->next->nodes->part : NULL);
    b->next->nodes = p;
}

bool state_set_names(struct state_builder *b, struct str cluster_name, struct str cluster_uuid)
{
    struct cluster_state *s = b->next;
    s->cluster_name = arena_str(&s->part.arena, cluster_name);
    s->cluster_uuid = arena_str(&s->part.arena, cluster_uuid);
    return s->cluster_name.p != NULL && s->cluster_uuid.p != NULL;
}

struct index_meta *index_meta_new(void)
{
    struct index_meta *m = part_new(sizeof(*m));
    if (m != NULL) {
        settings_init(&m->settings, &m->part.arena);
    }
    return m;
}

static struct str keep(struct arena *a, struct str s, bool *ok)
{
    if (s.p == NULL) {
        return s;
    }
    struct str copy = arena_str(a, s);
    *ok &= copy.p != NULL;
    return copy;
}

struct index_meta *index_meta_copy(const struct index_meta *m)
{
    struct index_meta *c = index_meta_new();
    if (c == NULL) {
        return NULL;
    }
    struct state_part part = c->part;
    struct settings settings = c->settings;
    *c = *m;
    c->part.arena = part.arena;
    c->part.refs = 1;
    settings.arena = &c->part.arena;
    c->settings = settings;
    struct arena *a = &c->part.arena;
    bool ok = true;
    c->name = keep(a, m->name, &ok);
    c->uuid = keep(a, m->uuid, &ok);
    c->mapping = keep(a, m->mapping, &ok);
    ok = ok && settings_merge(&c->settings, &m->settings);
    c->aliases = ARENA_ARRAY(a, struct alias_meta, m->n_aliases);
    c->primary_terms = ARENA_ARRAY(a, uint64_t, m->n_shards);
    if (!ok || c->aliases == NULL || c->primary_terms == NULL) {
        state_part_unref(&c->part);
        return NULL;
    }
    memcpy(c->primary_terms, m->primary_terms, m->n_shards * sizeof(uint64_t));
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        c->aliases[i] = m->aliases[i];
        c->aliases[i].name = keep(a, m->aliases[i].name, &ok);
        c->aliases[i].filter = keep(a, m->aliases[i].filter, &ok);
        c->aliases[i].index_routing = keep(a, m->aliases[i].index_routing, &ok);
        c->aliases[i].search_routing = keep(a, m->aliases[i].search_routing, &ok);
    }
    if (!ok) {
        state_part_unref(&c->part);
        return NULL;
    }
    return c;
}

struct template_meta *template_meta_new(void)
{
    return part_new(sizeof(struct template_meta));
}

struct settings_part *settings_part_new(const struct settings *from)
{
    struct settings_part *p = part_new(sizeof(*p));
    if (p == NULL) {
        return NULL;
    }
    settings_init(&p->settings, &p->part.arena);
    if (from != NULL && !settings_merge(&p->settings, from)) {
        state_part_unref(&p->part);
        return NULL;
    }
    return p;
}

struct nodes_part *nodes_part_new(void)
{
    return part_new(sizeof(struct nodes_part));
}

uint32_t routing_shards_default(uint32_t n_shards)
{
    uint32_t n = n_shards;
    while (n * 2 <= ROUTING_SHARDS_MAX) {
        n *= 2;
    }
    return n;
}

uint32_t shard_of(const struct index_meta *m, struct str id, struct str routing)
{
    int64_t hash, offset = 0;
    if (routing.p == NULL) {
        hash = hash_routing(id);
    } else {
        hash = hash_routing(routing);
        if (m->routing_partition > 1) { /* spreads one routing value over several shards by the id */
            int64_t part = (int64_t)hash_routing(id) % (int64_t)m->routing_partition;
            offset = part < 0 ? part + (int64_t)m->routing_partition : part;
        }
    }
    int64_t mod = (int64_t)(int32_t)(uint32_t)(hash + offset) % (int64_t)m->routing_shards;
    mod = mod < 0 ? mod + (int64_t)m->routing_shards : mod;
    return (uint32_t)(mod / (int64_t)(m->routing_shards / m->n_shards));
}
