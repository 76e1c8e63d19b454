/* One index of this node: made from its metadata, and kept as the newest metadata says. */
#include "data/shard/index.h"

#include "common/settings/setting_read.h"
#include "engine/query/query.h"

#include <stdlib.h>

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

struct analysis *index_analysis(struct index_service *ix)
{
    pthread_mutex_lock(&ix->lock);
    struct analysis *a = analysis_ref(ix->analysis);
    pthread_mutex_unlock(&ix->lock);
    return a;
}

/* ---- made ---------------------------------------------------------------------------------------------- */

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
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    bool ok =
        p != NULL && settings_merge(&p->settings, &m->settings) && put_aliases(&p->settings, m, &scratch);
    arena_fini(&scratch);
    if (!ok && p != NULL) {
        state_part_unref(&p->part);
    }
    return ok ? p : NULL;
}

/* Does an index of these settings have parts of analysis of its own that may make much of a short text? */
static bool analyzes_long(const struct settings *s)
{
    static const char *const kinds[] = {"pattern", "synonym",     "ngram",  "nGram",
                                        "shingle", "multiplexer", "mapping"};
    for (size_t i = 0; i < s->n; i++) {
        const struct setting *v = &s->v[i];
        if (!str_starts(v->key, STR("index.analysis.")) || v->is_list) {
            continue;
        }
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            if (str_find_str(v->value, str_of(kinds[k])) != SIZE_MAX) {
                return true;
            }
        }
    }
    return false;
}

static void read_settings(struct index_service *ix)
{
    const struct settings *s = &ix->settings->settings;
    slowlog_read(&ix->slow, s);
    ix->refresh_ms = setting_ms(s, SET_INDEX_REFRESH_INTERVAL);
    ix->idle_after_ms = setting_ms(s, SET_INDEX_SEARCH_IDLE_AFTER);
    ix->refresh_explicit = setting_find(s, SET_INDEX_REFRESH_INTERVAL) != NULL;
    ix->analyzes_long = analyzes_long(s);
    ix->async = str_eq_nocase(setting_str(s, SET_INDEX_TRANSLOG_DURABILITY), STR("async"));
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
        e = mapping_published(out, old, none ? NULL : &body, a, settings, m->type, em);
    }
    arena_fini(&scratch);
    return e;
}

enum err index_service_new(struct index_service **out, struct data_service *s, const struct index_meta *m,
                           struct errmsg *em)
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
    e = e == ERR_OK ? parse_mapping(&ix->mapping, m, ix->analysis, &ix->settings->settings, NULL, em) : e;
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

/* ---- changed ------------------------------------------------------------------------------------------- */

/* What is there now takes the place of what was. NULL analysis: that stays. Who sees the mapping sees its version. */
static void replace(struct index_service *ix, struct analysis *a, struct mapping *m, uint64_t version)
{
    pthread_mutex_lock(&ix->lock);
    struct analysis *old_analysis = a != NULL ? ix->analysis : NULL;
    struct mapping *old_mapping = ix->mapping;
    ix->analysis = a != NULL ? a : ix->analysis;
    ix->mapping = m;
    ix->mapping_version = version;
    pthread_mutex_unlock(&ix->lock);
    analysis_unref(old_analysis);
    mapping_unref(old_mapping);
}

static void replace_settings(struct index_service *ix, struct settings_part *p, const struct index_meta *m)
{
    pthread_mutex_lock(&ix->lock);
    struct settings_part *old = ix->settings;
    ix->settings = p;
    ix->settings_version = m->settings_version;
    ix->aliases_version = m->aliases_version;
    read_settings(ix);
    pthread_mutex_unlock(&ix->lock);
    state_part_unref(&old->part);
}

/* Settings of analysis and similarity change while an index is closed: what depends on them is made anew. */
static enum err reopen(struct index_service *ix, struct data_service *s, const struct index_meta *m,
                       struct errmsg *em)
{
    struct analysis *a = NULL;
    struct mapping *next = NULL;
    enum err e = analysis_new(&a, &ix->settings->settings, &s->o.env, em);
    e = e == ERR_OK ? parse_mapping(&next, m, a, &ix->settings->settings, NULL, em) : e;
    if (e != ERR_OK) {
        analysis_unref(a);
        return e;
    }
    replace(ix, a, next, m->mapping_version);
    return ERR_OK;
}

enum err index_update(struct index_service *ix, struct data_service *s, const struct index_meta *m,
                      struct index_change *c, struct errmsg *em)
{
    bool settings = ix->settings_version != m->settings_version,
         mapping = ix->mapping_version != m->mapping_version;
    struct settings_part *p = settings || ix->aliases_version != m->aliases_version ? own_settings(m) : NULL;
    struct mapping *next = NULL;
    enum err e = ERR_OK;
    *c = (struct index_change){.settings = p != NULL, .opens = ix->closed && !m->closed};
    if (p != NULL) {
        replace_settings(ix, p, m);
    }
    if (c->opens) {
        e = reopen(ix, s, m, em);
    } else if (mapping || settings) { /* it has the settings' limits of documents */
        e = parse_mapping(&next, m, ix->analysis, &ix->settings->settings, ix->mapping, em);
    }
    if (e == ERR_OK && next != NULL) {
        replace(ix, NULL, next, m->mapping_version);
    }
    c->mapping = e == ERR_OK && (c->opens || next != NULL);
    if (e == ERR_OK || !c->opens) { /* else the next state tries again */
        ix->closed = m->closed;
        ix->version = m->version;
    }
    return e;
}

static enum err same_mapping(struct mapping **out, const struct mapping *old, struct analysis *a,
                             const struct settings *settings, struct errmsg *em)
{
    struct arena scratch;
    struct json tree;
    struct buf b;
    struct jsonw w;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    mapping_write(old, &w);
    enum err e =
        b.failed ? err_no_memory(em) : json_parse(&tree, buf_view(&b), &scratch, &json_limits_default, em);
    e = e == ERR_OK ? mapping_published(out, NULL, mapping_is_absent(old) ? NULL : &tree, a, settings,
                                        mapping_type(old), em)
                    : e;
    buf_fini(&b);
    arena_fini(&scratch);
    return e;
}

enum err index_reload(struct index_service *ix, struct data_service *s, struct errmsg *em)
{
    struct analysis *a = NULL;
    struct mapping *m = NULL;
    enum err e = analysis_new(&a, &ix->settings->settings, &s->o.env, em);
    e = e == ERR_OK ? same_mapping(&m, ix->mapping, a, &ix->settings->settings, em) : e;
    if (e != ERR_OK) {
        analysis_unref(a);
        return e;
    }
    replace(ix, a, m, ix->mapping_version);
    return ERR_OK;
}
