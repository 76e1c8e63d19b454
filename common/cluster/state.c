#include "common/cluster/state_int.h"

#include "common/base/hash.h"
#include "common/settings/setting_read.h"

/* Allocates a part of `size` bytes inside its own arena. */
void *state_part_new(size_t size)
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
    for (uint32_t i = 0; i < s->n_routing; i++) {
        state_part_unref(&s->routing[i]->part);
    }
    state_part_unref(s->coordination != NULL ? &s->coordination->part : NULL);
    state_part_unref(s->nodes != NULL ? &s->nodes->part : NULL);
    state_part_unref(s->scripts != NULL ? &s->scripts->part : NULL);
    state_part_unref(s->pipelines != NULL ? &s->pipelines->part : NULL);
    state_part_unref(s->persistent != NULL ? &s->persistent->part : NULL);
    state_part_unref(s->transient != NULL ? &s->transient->part : NULL);
    struct arena arena = s->part.arena;
    arena_fini(&arena);
}

/* Index metadata and routing are sorted by name, and begin alike. */
struct named_part {
    struct state_part part;
    struct str name;
};

/* Where `name` is, or belongs. */
static uint32_t named_slot(struct named_part *const *v, uint32_t n, struct str name)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (str_cmp(v[mid]->name, name) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static uint32_t index_slot(const struct cluster_state *s, struct str name)
{
    return named_slot((struct named_part *const *)(void *)s->indices, s->n_indices, name);
}

static uint32_t routing_slot(const struct cluster_state *s, struct str name)
{
    return named_slot((struct named_part *const *)(void *)s->routing, s->n_routing, name);
}

const struct index_meta *cluster_index(const struct cluster_state *s, struct str name)
{
    uint32_t at = index_slot(s, name);
    return at < s->n_indices && str_eq(s->indices[at]->name, name) ? s->indices[at] : NULL;
}

const struct index_routing *cluster_routing(const struct cluster_state *s, struct str index_name)
{
    uint32_t at = routing_slot(s, index_name);
    return at < s->n_routing && str_eq(s->routing[at]->name, index_name) ? s->routing[at] : NULL;
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
    uint32_t lo = 0, hi = m->n_aliases;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = str_cmp(m->aliases[mid].name, alias);
        if (c == 0) {
            return &m->aliases[mid];
        }
        lo = c < 0 ? mid + 1 : lo;
        hi = c < 0 ? hi : mid;
    }
    return NULL;
}

bool alias_is_named(const struct str *names, uint32_t n, struct str alias)
{
    bool in = n == 0;
    for (uint32_t i = 0; i < n; i++) {
        if (names[i].n > 0 && names[i].p[0] == '-') {
            in = in && !str_glob(str_slice(names[i], 1, names[i].n), alias);
        } else {
            in = in || str_is(names[i], "_all") || str_glob(names[i], alias);
        }
    }
    return in;
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

const struct template_meta *cluster_template(const struct cluster_state *s, enum template_kind kind,
                                             struct str name)
{
    uint32_t at = template_slot(s, kind, name);
    return at < s->n_templates && template_cmp(s->templates[at], kind, name) == 0 ? s->templates[at] : NULL;
}

static struct settings settings_of(const struct settings_part *p)
{
    return p != NULL ? p->settings : (struct settings){0};
}

struct settings cluster_settings(const struct cluster_state *s, struct settings *persistent)
{
    struct settings all = settings_of(s != NULL ? s->transient : NULL);
    *persistent = settings_of(s != NULL ? s->persistent : NULL);
    persistent->behind = s != NULL ? s->own : NULL;
    all.behind = persistent;
    return all;
}

struct str cluster_setting(const struct cluster_state *s, enum setting_id id)
{
    struct settings persistent, all = cluster_settings(s, &persistent);
    return setting_str(&all, id);
}

bool cluster_setting_bool(const struct cluster_state *s, enum setting_id id)
{
    struct settings persistent, all = cluster_settings(s, &persistent);
    return setting_bool(&all, id);
}

int64_t cluster_setting_i64(const struct cluster_state *s, enum setting_id id)
{
    struct settings persistent, all = cluster_settings(s, &persistent);
    return setting_i64(&all, id);
}

double cluster_setting_double(const struct cluster_state *s, enum setting_id id)
{
    struct settings persistent, all = cluster_settings(s, &persistent);
    return setting_double(&all, id);
}

int64_t cluster_setting_ms(const struct cluster_state *s, enum setting_id id)
{
    struct settings persistent, all = cluster_settings(s, &persistent);
    return setting_ms(&all, id);
}

const struct setting *cluster_setting_named(const struct cluster_state *s, struct str name)
{
    struct settings persistent, all = cluster_settings(s, &persistent);
    const struct setting *t = NULL;
    for (const struct settings *at = &all; at != NULL && (t == NULL || t->is_null); at = at->behind) {
        t = settings_find(at, name);
    }
    return t != NULL && !t->is_null ? t : NULL;
}

/* ---- builder ------------------------------------------------------------------------------------------- */

static bool copy_refs(struct cluster_state *to, const struct cluster_state *from)
{
    to->indices = ARENA_ARRAY(&to->part.arena, struct index_meta *, from->n_indices);
    to->routing = ARENA_ARRAY(&to->part.arena, struct index_routing *, from->n_routing);
    to->templates = ARENA_ARRAY(&to->part.arena, struct template_meta *, from->n_templates);
    to->cluster_name = arena_str(&to->part.arena, from->cluster_name);
    to->cluster_uuid = arena_str(&to->part.arena, from->cluster_uuid);
    if (to->indices == NULL || to->routing == NULL || to->templates == NULL || to->cluster_name.p == NULL
        || to->cluster_uuid.p == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < from->n_indices; i++) {
        to->indices[to->n_indices++] = (struct index_meta *)state_part_ref(&from->indices[i]->part);
    }
    for (uint32_t i = 0; i < from->n_routing; i++) {
        to->routing[to->n_routing++] = (struct index_routing *)state_part_ref(&from->routing[i]->part);
    }
    for (uint32_t i = 0; i < from->n_templates; i++) {
        to->templates[to->n_templates++] = (struct template_meta *)state_part_ref(&from->templates[i]->part);
    }
    to->coordination = from->coordination;
    if (to->coordination != NULL) {
        state_part_ref(&to->coordination->part);
    }
    to->nodes = from->nodes;
    to->pipelines = from->pipelines;
    if (to->pipelines != NULL) {
        state_part_ref(&to->pipelines->part);
    }
    to->scripts = from->scripts;
    if (to->scripts != NULL) {
        state_part_ref(&to->scripts->part);
    }
    to->persistent = from->persistent;
    to->transient = from->transient;
    to->own = from->own;
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
    *b = (struct state_builder){.next = state_part_new(sizeof(struct cluster_state))};
    if (b->next != NULL && from != NULL && !copy_refs(b->next, from)) {
        state_builder_fini(b);
    }
    return b->next != NULL;
}

void state_builder_fini(struct state_builder *b)
{
    cluster_state_unref(b->next);
    b->next = NULL;
}

struct cluster_state *state_builder_seal(struct state_builder *b, struct str state_uuid)
{
    struct cluster_state *s = b->next;
    s->state_uuid = arena_str(&s->part.arena, state_uuid);
    if (s->state_uuid.p == NULL) {
        state_builder_fini(b);
        return NULL;
    }
    s->version++;
    b->next = NULL;
    return s;
}

/* Adds, or replaces the one of the same name, in a list that the state's arena holds. Takes the part. */
static bool named_put(struct arena *a, struct named_part ***list, uint32_t *n, struct named_part *p)
{
    uint32_t at = named_slot(*list, *n, p->name);
    if (at < *n && str_eq((*list)[at]->name, p->name)) {
        state_part_unref(&(*list)[at]->part);
        (*list)[at] = p;
        return true;
    }
    struct named_part **v = ARENA_ARRAY(a, struct named_part *, (size_t)*n + 1);
    if (v == NULL) {
        state_part_unref(&p->part);
        return false;
    }
    if (*n > 0) {
        memcpy(v, *list, at * sizeof(struct named_part *));
        memcpy(&v[at + 1], &(*list)[at], (*n - at) * sizeof(struct named_part *));
    }
    v[at] = p;
    *list = v;
    ++*n;
    return true;
}

static bool named_remove(struct named_part **list, uint32_t *n, struct str name)
{
    uint32_t at = named_slot(list, *n, name);
    if (at == *n || !str_eq(list[at]->name, name)) {
        return false;
    }
    state_part_unref(&list[at]->part);
    memmove(&list[at], &list[at + 1], (*n - at - 1) * sizeof(struct named_part *));
    --*n;
    return true;
}

bool state_put_index(struct state_builder *b, struct index_meta *m)
{
    struct cluster_state *s = b->next;
    return named_put(&s->part.arena, (struct named_part ***)(void *)&s->indices, &s->n_indices,
                     (struct named_part *)(void *)m);
}

bool state_remove_index(struct state_builder *b, struct str name)
{
    return named_remove((struct named_part **)(void *)b->next->indices, &b->next->n_indices, name);
}

bool state_put_routing(struct state_builder *b, struct index_routing *r)
{
    struct cluster_state *s = b->next;
    return named_put(&s->part.arena, (struct named_part ***)(void *)&s->routing, &s->n_routing,
                     (struct named_part *)(void *)r);
}

bool state_remove_routing(struct state_builder *b, struct str index_name)
{
    return named_remove((struct named_part **)(void *)b->next->routing, &b->next->n_routing, index_name);
}

void state_put_coordination(struct state_builder *b, struct coordination_part *p)
{
    state_part_unref(b->next->coordination != NULL ? &b->next->coordination->part : NULL);
    b->next->coordination = p;
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
    struct template_meta **v =
        ARENA_ARRAY(&s->part.arena, struct template_meta *, (size_t)s->n_templates + 1);
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
    memmove(&s->templates[at], &s->templates[at + 1],
            (s->n_templates - at - 1) * sizeof(struct template_meta *));
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
    struct index_meta *m = state_part_new(sizeof(*m));
    if (m != NULL) {
        settings_init(&m->settings, &m->part.arena);
    }
    return m;
}

struct str index_mapping_text(const struct index_meta *m)
{
    return m->mapping.n > 0 ? m->mapping : STR("{}");
}

struct str index_type(const struct index_meta *m)
{
    return m->type.n > 0 ? m->type : STR("_doc");
}

bool index_has_type(const struct index_meta *m, struct str type)
{
    return type.n == 0 || str_is(type, "_doc") || m->mapping.n == 0 || str_eq(type, index_type(m));
}

struct index_meta *index_meta_copy(const struct index_meta *m)
{
    struct index_meta *c = index_meta_new();
    if (c == NULL) {
        return NULL;
    }
    struct settings settings = c->settings;
    /* All but the part: others count references of m meanwhile. */
    memcpy((char *)c + sizeof(c->part), (const char *)m + sizeof(m->part), sizeof(*c) - sizeof(c->part));
    c->settings = settings;
    struct arena *a = &c->part.arena;
    bool ok = true;
    c->name = state_keep(a, m->name, &ok);
    c->uuid = state_keep(a, m->uuid, &ok);
    c->mapping = state_keep(a, m->mapping, &ok);
    c->type = state_keep(a, m->type, &ok);
    ok = ok && settings_merge(&c->settings, &m->settings);
    c->aliases = ARENA_ARRAY(a, struct alias_meta, m->n_aliases);
    c->primary_terms = ARENA_ARRAY(a, uint64_t, m->n_shards);
    c->in_sync = ARENA_ARRAY(a, struct str_set, m->n_shards);
    if (!ok || c->in_sync == NULL || c->aliases == NULL || c->primary_terms == NULL) {
        state_part_unref(&c->part);
        return NULL;
    }
    memcpy(c->primary_terms, m->primary_terms, m->n_shards * sizeof(uint64_t));
    for (uint32_t i = 0; i < m->n_shards; i++) {
        c->in_sync[i] = str_set_copy(&m->in_sync[i], a);
        ok &= c->in_sync[i].n == 0 || c->in_sync[i].v != NULL;
    }
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        c->aliases[i] = m->aliases[i];
        c->aliases[i].name = state_keep(a, m->aliases[i].name, &ok);
        c->aliases[i].filter = state_keep(a, m->aliases[i].filter, &ok);
        c->aliases[i].index_routing = state_keep(a, m->aliases[i].index_routing, &ok);
        c->aliases[i].search_routing = state_keep(a, m->aliases[i].search_routing, &ok);
    }
    if (!ok) {
        state_part_unref(&c->part);
        return NULL;
    }
    return c;
}

struct template_meta *template_meta_new(void)
{
    return state_part_new(sizeof(struct template_meta));
}

struct settings_part *settings_part_new(const struct settings *from)
{
    struct settings_part *p = state_part_new(sizeof(*p));
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
