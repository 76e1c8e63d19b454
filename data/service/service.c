/* The tables of indices and shards, and keeping them as the cluster state says. */
#include "data/shard/shard.h"

#include "common/base/jsonr.h"
#include "common/cluster/search_limits.h"
#include "data/recovery/recovery.h"
#include "data/replication/replication.h"
#include "data/shard/copy_data.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- indices ------------------------------------------------------------------------------------------- */

struct index_service *index_service_ref(struct index_service *ix)
{
    ix->refs++;
    return ix;
}

void index_service_unref(struct index_service *ix)
{
    if (ix == NULL || --ix->refs != 0) {
        return;
    }
    mapping_unref(ix->mapping);
    analysis_unref(ix->analysis);
    state_part_unref(ix->settings != NULL ? &ix->settings->part : NULL);
    pthread_mutex_destroy(&ix->lock);
    arena_fini(&ix->arena);
    free(ix);
}

struct mapping *index_mapping(struct index_service *ix, uint64_t *version)
{
    pthread_mutex_lock(&ix->lock);
    struct mapping *m = mapping_ref(ix->mapping);
    if (version != NULL) {
        *version = ix->mapping_version;
    }
    pthread_mutex_unlock(&ix->lock);
    return m;
}

struct settings_part *index_settings(struct index_service *ix)
{
    pthread_mutex_lock(&ix->lock);
    struct settings_part *p = (struct settings_part *)state_part_ref(&ix->settings->part);
    pthread_mutex_unlock(&ix->lock);
    return p;
}

/* The first index whose uuid is not below this one. */
static size_t index_place(const struct data_service *s, struct str uuid)
{
    size_t lo = 0, hi = s->n_indices;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (str_cmp(s->indices[mid]->uuid, uuid) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static struct index_service *find_index(struct data_service *s, struct str uuid)
{
    size_t at = index_place(s, uuid);
    return at < s->n_indices && str_eq(s->indices[at]->uuid, uuid) ? s->indices[at] : NULL;
}

static struct shard *find_shard(struct data_service *s, struct str uuid, uint32_t number)
{
    for (size_t i = 0; i < s->n_shards; i++) {
        if (s->shards[i]->number == number && str_eq(s->shards[i]->index->uuid, uuid)) {
            return s->shards[i];
        }
    }
    return NULL;
}

/* The names that searches for `_index` know the index by, besides its own. */
static bool put_aliases(struct settings *to, const struct index_meta *m, struct arena *scratch)
{
    struct str *names = ARENA_ARRAY(scratch, struct str, m->n_aliases);
    for (uint32_t i = 0; names != NULL && i < m->n_aliases; i++) {
        names[i] = m->aliases[i].name;
    }
    return m->n_aliases == 0
           || (names != NULL && settings_put_list(to, STR(INDEX_ALIASES), names, m->n_aliases));
}

static struct settings_part *own_settings(const struct index_meta *m)
{
    struct settings_part *p = settings_part_new(NULL);
    struct settings view;
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    bool ok = p != NULL && settings_sub(&view, &m->settings, STR("index"), &scratch)
              && settings_merge(&p->settings, &view) && put_aliases(&p->settings, m, &scratch);
    arena_fini(&scratch);
    if (!ok && p != NULL) {
        state_part_unref(&p->part);
    }
    return ok ? p : NULL;
}

static void read_settings(struct index_service *ix)
{
    int64_t refresh_ms = 1000, idle_after_ms = 30000;
    settings_time_ms(&ix->settings->settings, "refresh_interval", refresh_ms, &refresh_ms, NULL);
    settings_time_ms(&ix->settings->settings, "search.idle.after", idle_after_ms, &idle_after_ms, NULL);
    slowlog_read(&ix->slow, &ix->settings->settings);
    ix->refresh_ms = refresh_ms;
    ix->idle_after_ms = idle_after_ms;
    ix->refresh_explicit = settings_str(&ix->settings->settings, "refresh_interval", STR_NULL).p != NULL;
    ix->analyzes_long = search_analyzes_long(&ix->settings->settings);
    ix->async = str_eq_nocase(settings_str(&ix->settings->settings, "translog.durability", STR("request")),
                              STR("async"));
}

static enum err parse_mapping(struct mapping **out, const struct index_meta *m, struct analysis *a,
                              const struct settings *settings, const struct mapping *old, struct errmsg *em)
{
    struct arena scratch;
    struct json body;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    bool none = m->mapping.n == 0;
    enum err e = none ? ERR_OK : json_parse(&body, m->mapping, &scratch, &json_limits_default, em);
    if (e == ERR_OK) {
        e = mapping_published(out, old, none ? NULL : &body, a, settings, em);
    }
    arena_fini(&scratch);
    return e;
}

static enum err index_service_new(struct index_service **out, struct data_service *s,
                                  const struct index_meta *m, struct errmsg *em)
{
    struct index_service *ix = calloc(1, sizeof(*ix));
    *out = NULL;
    if (ix == NULL) {
        return err_no_memory(em);
    }
    ix->refs = 1;
    pthread_mutex_init(&ix->lock, NULL);
    arena_init(&ix->arena, NULL, ARENA_UNLIMITED);
    ix->name = arena_str(&ix->arena, m->name);
    ix->uuid = arena_str(&ix->arena, m->uuid);
    ix->settings = own_settings(m);
    enum err e =
        ix->name.p != NULL && ix->uuid.p != NULL && ix->settings != NULL ? ERR_OK : err_no_memory(em);
    if (e == ERR_OK) {
        read_settings(ix);
        e = analysis_new(&ix->analysis, &ix->settings->settings, &s->o.env, em);
    }
    if (e == ERR_OK) {
        e = parse_mapping(&ix->mapping, m, ix->analysis, &ix->settings->settings, NULL, em);
    }
    if (e != ERR_OK) {
        index_service_unref(ix);
        return e;
    }
    ix->mapping_version = m->mapping_version;
    ix->settings_version = m->settings_version;
    ix->aliases_version = m->aliases_version;
    ix->closed = m->closed;
    ix->version = m->version;
    *out = ix;
    return ERR_OK;
}

/* ---- shards -------------------------------------------------------------------------------------------- */

struct shard *shard_acquire(struct data_service *s, struct shard_rq *rq)
{
    pthread_mutex_lock(&s->lock);
    struct shard *sh = s->stopping ? NULL : find_shard(s, rq->shard.uuid, rq->shard.shard);
    if (sh != NULL) {
        sh->users++;
    }
    pthread_mutex_unlock(&s->lock);
    if (sh == NULL) {
        err_set(&rq->error, ERR_NO_SHARD, "no such shard here");
        err_about_index(&rq->error, rq->shard.index, rq->shard.uuid);
        err_about_shard(&rq->error, (int)rq->shard.shard);
    }
    return sh;
}

/* ---- applying states ----------------------------------------------------------------------------------- */

struct apply {
    struct data_service *s;
    struct cluster_state *state;
    void (*done)(void *arg);
    void *arg;
};

static bool grow(void **v, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) {
        return true;
    }
    size_t more = *cap == 0 ? 16 : *cap * 2;
    void *p = realloc(*v, more * size);
    if (p == NULL) {
        return false;
    }
    *v = p;
    *cap = more;
    return true;
}

static void drop_shards(struct data_service *s, struct str uuid, bool remove)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_shards;) {
        struct shard *sh = s->shards[i];
        if (!str_eq(sh->index->uuid, uuid)) {
            i++;
            continue;
        }
        sh->remove_files = remove;
        shard_cancel_merge(sh);
        replication_close(sh);
        recovery_cancel(sh);
        s->shards[i] = s->shards[--s->n_shards];
        pthread_mutex_unlock(&s->lock);
        shard_release(sh);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

static void drop_gone(struct data_service *s, const struct cluster_state *state)
{
    for (size_t i = 0; i < s->n_indices;) {
        struct index_service *ix = s->indices[i];
        const struct index_meta *m = cluster_index(state, ix->name); /* which never changes */
        if (m != NULL && str_eq(m->uuid, ix->uuid)) {
            i++;
            continue;
        }
        drop_shards(s, ix->uuid, true);
        pthread_mutex_lock(&s->lock);
        s->n_indices--;
        memmove(&s->indices[i], &s->indices[i + 1], (s->n_indices - i) * sizeof(struct index_service *));
        pthread_mutex_unlock(&s->lock);
        index_service_unref(ix);
    }
}

struct new_mapping {
    struct shard *sh;
    struct mapping *m;
    uint64_t version;
    struct settings_part *settings;
    bool reopened; /* an index that is opened shows all that it holds */
};

static void apply_to_engine(void *arg)
{
    struct new_mapping *n = arg;
    struct errmsg em;
    if (n->sh->engine == NULL || n->sh->failing) { /* it is opened with the newest of both */
        n->settings = (state_part_unref(n->settings != NULL ? &n->settings->part : NULL), NULL);
        n->m = (mapping_unref(n->m), NULL);
    }
    if (n->m != NULL && engine_set_mapping(n->sh->engine, n->m, n->version, &em) != ERR_OK) {
        log_error(n->sh->service->o.log, "data", "new mapping: %s", em.frame[0].reason);
    }
    replication_mapping_changed(n->sh);
    if (n->settings != NULL) {
        struct engine_settings es;
        shard_engine_settings(n->sh->service, &n->settings->settings, &es);
        engine_set_settings(n->sh->engine, &es);
    }
    if (n->reopened && n->sh->engine != NULL && !n->sh->failing
        && engine_refresh(n->sh->engine, NULL, &em) != ERR_OK) {
        log_error(n->sh->service->o.log, "data", "refresh: %s", em.frame[0].reason);
        shard_check(n->sh);
    }
    mapping_unref(n->m);
    state_part_unref(n->settings != NULL ? &n->settings->part : NULL);
    recovery_step(n->sh, false);
    shard_release(n->sh);
    free(n);
}

/* Tells every shard of the index, on its strand. */
void shards_follow(struct data_service *s, struct index_service *ix, bool mapping, bool settings,
                   bool reopened)
{
    for (size_t i = 0; i < s->n_shards; i++) {
        struct shard *sh = s->shards[i];
        struct new_mapping *n = sh->index == ix ? calloc(1, sizeof(*n)) : NULL;
        if (n == NULL) {
            continue;
        }
        n->sh = sh;
        n->reopened = reopened;
        n->m = mapping ? index_mapping(ix, &n->version) : NULL;
        n->settings = settings ? index_settings(ix) : NULL;
        shard_use(sh);
        if (!shard_post(sh, apply_to_engine, n)) {
            mapping_unref(n->m);
            state_part_unref(n->settings != NULL ? &n->settings->part : NULL);
            shard_release(sh);
            free(n);
        }
    }
}

/* Settings of analysis and similarity change while an index is closed: what depends on them is made anew. */
static enum err reopened(struct data_service *s, struct index_service *ix, const struct index_meta *m,
                         struct mapping **mapping, struct errmsg *em)
{
    struct analysis *a = NULL;
    enum err e = analysis_new(&a, &ix->settings->settings, &s->o.env, em);
    e = e == ERR_OK ? parse_mapping(mapping, m, a, &ix->settings->settings, NULL, em) : e;
    if (e != ERR_OK) {
        analysis_unref(a);
        return e;
    }
    pthread_mutex_lock(&s->lock);
    struct analysis *old = ix->analysis;
    ix->analysis = a;
    pthread_mutex_unlock(&s->lock);
    analysis_unref(old);
    return ERR_OK;
}

static void update_index(struct data_service *s, struct index_service *ix, const struct index_meta *m,
                         const struct cluster_state *state)
{
    struct errmsg em;
    bool settings = ix->settings_version != m->settings_version,
         mapping = ix->mapping_version != m->mapping_version;
    struct settings_part *p = settings || ix->aliases_version != m->aliases_version ? own_settings(m) : NULL;
    if (p != NULL) {
        pthread_mutex_lock(&ix->lock);
        struct settings_part *old = ix->settings;
        ix->settings = p;
        ix->settings_version = m->settings_version;
        ix->aliases_version = m->aliases_version;
        read_settings(ix);
        pthread_mutex_unlock(&ix->lock);
        state_part_unref(&old->part);
    }
    struct mapping *next = NULL;
    enum err e = ERR_OK;
    if (ix->closed && !m->closed) {
        e = reopened(s, ix, m, &next, &em);
    } else if (mapping || settings) { /* it has the settings' limits of documents */
        e = parse_mapping(&next, m, ix->analysis, &ix->settings->settings, ix->mapping, &em);
    }
    if (e != ERR_OK) {
        log_error(s->o.log, "data", "mapping of [%.*s] cannot be applied: %s", STR_ARG(ix->name),
                  em.frame[0].reason);
        if (ix->closed && !m->closed) { /* the next state tries again */
            data_refuse_copies(s, state, m, 0, m->n_shards, &em);
            return;
        }
    }
    if (next != NULL) {
        pthread_mutex_lock(&ix->lock);
        struct mapping *old = ix->mapping;
        ix->mapping = next;
        ix->mapping_version = m->mapping_version;
        pthread_mutex_unlock(&ix->lock);
        mapping_unref(old);
    }
    bool opens = ix->closed && !m->closed;
    ix->closed = m->closed;
    ix->version = m->version;
    shards_follow(s, ix, next != NULL, p != NULL, opens);
}

/* ---- places ---- */

static struct shard *add_shard(struct data_service *s, struct index_service *ix, uint32_t number)
{
    struct shard *sh;
    struct errmsg em;
    if (shard_new(&sh, s, ix, number, &em) != ERR_OK) {
        log_error(s->o.log, "data", "no place for a shard: %s", em.frame[0].reason);
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    bool ok = grow((void **)&s->shards, s->n_shards, &s->shards_cap, sizeof(*s->shards));
    if (ok) {
        s->shards[s->n_shards++] = sh;
        s->open_shards++;
    }
    pthread_mutex_unlock(&s->lock);
    if (!ok) {
        shard_release(sh);
        return NULL;
    }
    return sh;
}

struct role_run {
    struct shard *sh;
    struct cluster_state *state;
};

static void take_role(void *arg)
{
    struct role_run *r = arg;
    shard_take_role(r->sh, r->state);
    recovery_step(r->sh, false);
    cluster_state_unref(r->state);
    shard_release(r->sh);
    free(r);
}

static bool is_here(const struct data_service *s, const struct shard_routing *r)
{
    for (uint32_t k = 0; k < r->n; k++) {
        const struct shard_copy *c = &r->copies[k];
        if ((c->node.p != NULL && str_eq(c->node, s->node_id))
            || (c->state == COPY_RELOCATING && str_eq(c->target_node, s->node_id))) {
            return true;
        }
    }
    return false;
}

/* Every place of the index hears of the state when its routing or metadata have changed, or the index is new here. */
static void follow_routing(struct data_service *s, struct index_service *ix, const struct index_meta *m,
                           struct cluster_state *state, bool new)
{
    const struct index_routing *r = cluster_routing(state, m->name);
    const struct index_routing *before = s->state != NULL ? cluster_routing(s->state, m->name) : NULL;
    const struct index_meta *meta_before = s->state != NULL ? cluster_index(s->state, m->name) : NULL;
    if (r == before && m == meta_before && !new) {
        return;
    }
    for (uint32_t i = 0; i < m->n_shards; i++) {
        struct shard *sh = find_shard(s, ix->uuid, i);
        bool here = r != NULL && i < r->n && is_here(s, &r->shards[i]);
        if (sh == NULL && here) {
            sh = add_shard(s, ix, i);
        }
        struct role_run *run = sh != NULL ? malloc(sizeof(*run)) : NULL;
        if (run != NULL) {
            *run = (struct role_run){sh, cluster_state_ref(state)};
            shard_use(sh);
            shard_post_back(sh, take_role, run);
        } else if (here) {
            struct errmsg em;
            err_no_memory(&em);
            data_refuse_copies(s, state, m, i, i + 1, &em);
        }
    }
}

static struct index_service *add_index(struct data_service *s, const struct index_meta *m, struct errmsg *em)
{
    struct index_service *ix;
    if (index_service_new(&ix, s, m, em) != ERR_OK) {
        log_error(s->o.log, "data", "index [%.*s] cannot be opened: %s", STR_ARG(m->name),
                  em->frame[0].reason);
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    bool ok = grow((void **)&s->indices, s->n_indices, &s->indices_cap, sizeof(*s->indices));
    if (ok) {
        size_t at = index_place(s, ix->uuid);
        memmove(&s->indices[at + 1], &s->indices[at], (s->n_indices - at) * sizeof(struct index_service *));
        s->indices[at] = ix;
        s->n_indices++;
    }
    pthread_mutex_unlock(&s->lock);
    if (!ok) {
        err_no_memory(em);
        index_service_unref(ix);
    }
    return ok ? ix : NULL;
}

struct cluster_state *data_state(struct data_service *s)
{
    pthread_mutex_lock(&s->lock);
    struct cluster_state *state = s->newest != NULL ? cluster_state_ref(s->newest) : NULL;
    pthread_mutex_unlock(&s->lock);
    return state;
}

static void set_newest(struct data_service *s, struct cluster_state *state)
{
    pthread_mutex_lock(&s->lock);
    struct cluster_state *old = s->newest;
    s->newest = state != NULL ? cluster_state_ref(state) : NULL;
    pthread_mutex_unlock(&s->lock);
    cluster_state_unref(old);
}

static void done_with_state(struct apply *a)
{
    a->done(a->arg);
    free(a);
}

static bool is_stopping(struct data_service *s)
{
    pthread_mutex_lock(&s->lock);
    bool is = s->stopping;
    pthread_mutex_unlock(&s->lock);
    return is;
}

static void apply_state(void *arg)
{
    struct apply *a = arg;
    struct data_service *s = a->s;
    if (is_stopping(s)) { /* thousands may wait; the next process takes the last one */
        cluster_state_unref(a->state);
        done_with_state(a);
        return;
    }
    struct search_limits limits = search_limits_of(a->state);
    s->max_buckets = limits.max_buckets;
    s->scrolls_max = limits.scrolls;
    s->context_keep_ms = limits.keep_ms;
    s->request_bytes_max = limits.request_bytes;
    recovery_take_settings(s, a->state);
    set_newest(s, a->state);
    drop_gone(s, a->state);
    for (uint32_t i = 0; i < a->state->n_indices; i++) {
        const struct index_meta *m = a->state->indices[i];
        struct index_service *ix = find_index(s, m->uuid);
        bool new = ix == NULL;
        struct errmsg em;
        if (new) {
            ix = add_index(s, m, &em);
        } else if (ix->version != m->version || ix->mapping_version != m->mapping_version
                   || ix->settings_version != m->settings_version || ix->closed != m->closed) {
            update_index(s, ix, m, a->state);
        }
        if (ix != NULL) {
            follow_routing(s, ix, m, a->state, new);
        } else {
            data_refuse_copies(s, a->state, m, 0, m->n_shards, &em);
        }
    }
    cluster_state_unref(s->state);
    s->state = a->state;
    done_with_state(a);
}

void data_apply(struct data_service *s, struct cluster_state *state, void (*done)(void *arg), void *arg)
{
    struct apply *a = malloc(sizeof(*a));
    if (a == NULL
        || !(*a = (struct apply){s, cluster_state_ref(state), done, arg},
             executor_submit(strand_executor(s->applier), apply_state, a))) {
        log_error(s->o.log, "data", "a cluster state cannot be applied: out of memory");
        if (a != NULL) {
            cluster_state_unref(state);
            free(a);
        }
        done(arg);
    }
}

/* ---- life ---------------------------------------------------------------------------------------------- */

enum err data_service_new(struct data_service **out, const struct data_opts *opts, struct errmsg *em)
{
    *out = NULL;
    struct data_service *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return err_no_memory(em);
    }
    s->o = *opts;
    data_own_env(s);
    arena_init(&s->arena, NULL, ARENA_UNLIMITED);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->all_closed, NULL);
    s->node_id = arena_str(&s->arena, opts->node_id);
    s->api = (struct shard_api){.self = s, .serve = data_serve};
    /* An id of an earlier process is of none that is open here. */
    s->next_context = ((uint64_t)clock_wall_ms(opts->clock) << 20) + 1;
    struct search_limits limits = search_limits_of(NULL);
    s->max_buckets = limits.max_buckets;
    s->scrolls_max = limits.scrolls;
    s->context_keep_ms = limits.keep_ms;
    s->request_bytes_max = limits.request_bytes;
    struct settings none;
    settings_init(&none, &s->arena);
    struct strand_opts so = {.over = opts->background_pool, .queue_max = SHARD_QUEUE_MAX};
    enum err e = strand_new(&s->applier, &so, em);
    e = e == ERR_OK ? data_memory_init(s, em) : e;
    e = e == ERR_OK ? recovery_init(s, em) : e;
    e = e == ERR_OK ? analysis_new(&s->analysis, &none, &opts->env, em) : e;
    if (e != ERR_OK) {
        data_service_free(s);
        return e;
    }
    replication_serve(s);
    *out = s;
    return ERR_OK;
}

static void applier_closed(void *arg)
{
    struct data_service *s = arg;
    pthread_mutex_lock(&s->lock);
    s->applier_closed = true;
    pthread_cond_broadcast(&s->all_closed);
    pthread_mutex_unlock(&s->lock);
}

void data_service_close(struct data_service *s)
{
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_mutex_unlock(&s->lock);
    if (s->applier != NULL
        && strand_close(s->applier, applier_closed, s)) { /* states that wait are applied first */
        pthread_mutex_lock(&s->lock);
        while (!s->applier_closed) {
            pthread_cond_wait(&s->all_closed, &s->lock);
        }
        pthread_mutex_unlock(&s->lock);
    }
    contexts_expire(s, true);
    while (s->n_indices > 0) {
        struct index_service *ix = s->indices[--s->n_indices];
        drop_shards(s, ix->uuid, false);
        index_service_unref(ix);
    }
    pthread_mutex_lock(&s->lock);
    while (s->open_shards > 0) {
        pthread_cond_wait(&s->all_closed, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    s->closed = true;
}

void data_service_free(struct data_service *s)
{
    if (s == NULL) {
        return;
    }
    if (!s->closed) {
        data_service_close(s);
    }
    cluster_state_unref(s->state);
    set_newest(s, NULL);
    recovery_fini(s);
    analysis_unref(s->analysis);
    filter_store_free(s->filters);
    data_drop_env(s);
    pthread_cond_destroy(&s->all_closed);
    pthread_mutex_destroy(&s->lock);
    free(s->shards);
    free(s->indices);
    arena_fini(&s->arena);
    free(s);
}

const struct shard_api *data_api(struct data_service *s)
{
    return &s->api;
}

struct analysis *data_analysis(struct data_service *s, struct str uuid)
{
    struct analysis *a = NULL;
    pthread_mutex_lock(&s->lock);
    struct index_service *ix = uuid.n > 0 ? find_index(s, uuid) : NULL;
    if (uuid.n == 0) {
        a = analysis_ref(s->analysis);
    } else if (ix != NULL) {
        pthread_mutex_lock(&ix->lock);
        a = analysis_ref(ix->analysis);
        pthread_mutex_unlock(&ix->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return a;
}

struct mapping *data_mapping(struct data_service *s, struct str uuid)
{
    pthread_mutex_lock(&s->lock);
    struct index_service *ix = find_index(s, uuid);
    struct mapping *m = ix != NULL ? index_mapping(ix, NULL) : NULL;
    pthread_mutex_unlock(&s->lock);
    return m;
}

enum err data_find_copy(struct data_service *s, struct str uuid, uint32_t shard, struct arena *arena,
                        struct str *allocation_id, bool *damaged, struct errmsg *em)
{
    struct copy_data d;
    struct fs_names names = {0};
    bool found = false;
    struct str dir = arena_printf(arena, "%s/indices/%.*s/%u", s->o.dir, STR_ARG(uuid), shard);
    enum err e = dir.p != NULL ? copy_data_read(s->o.fs, dir.p, arena, &d, &found, em) : err_no_memory(em);
    if (e == ERR_OK && !found) {
        e = s->o.fs->list(s->o.fs->self, dir.p, arena, &names, em);
    }
    *allocation_id = found ? d.allocation_id : STR_NULL;
    *damaged = names.n > 0 || (found && damage_marked(s->o.fs, dir.p));
    return e;
}
