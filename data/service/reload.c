/* New dictionaries: every index gets its analysis, and the mapping that points into it, made anew. */
#include "data/shard/shard.h"

#include "engine/analysis/ik.h"
#include "engine/analysis/pinyin.h"

#include <stdlib.h>

struct reload {
    struct data_service *s;
    struct analysis_env env;
    void (*done)(void *arg);
    void *arg;
};

static void drop_env(const struct analysis_env *env)
{
    ik_dictionary_unref((struct ik_dictionary *)(uintptr_t)env->ik);
    pinyin_dictionary_unref((struct pinyin_dictionary *)(uintptr_t)env->pinyin);
}

static struct analysis_env keep_env(const struct analysis_env *env)
{
    struct analysis_env kept = *env;
    kept.ik = env->ik != NULL ? ik_dictionary_ref(env->ik) : NULL;
    kept.pinyin = env->pinyin != NULL ? pinyin_dictionary_ref(env->pinyin) : NULL;
    return kept;
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
    e = e == ERR_OK ? mapping_published(out, NULL, mapping_is_absent(old) ? NULL : &tree, a, settings, em)
                    : e;
    buf_fini(&b);
    arena_fini(&scratch);
    return e;
}

static void reload_index(struct data_service *s, struct index_service *ix)
{
    struct analysis *a = NULL;
    struct mapping *m = NULL;
    struct errmsg em;
    enum err e = analysis_new(&a, &ix->settings->settings, &s->o.env, &em);
    e = e == ERR_OK ? same_mapping(&m, ix->mapping, a, &ix->settings->settings, &em) : e;
    if (e != ERR_OK) {
        log_error(s->o.log, "analysis", "index [%.*s] keeps the dictionaries it has: %s", STR_ARG(ix->name),
                  em.frame[0].reason);
        analysis_unref(a);
        return;
    }
    pthread_mutex_lock(&ix->lock);
    struct analysis *old_analysis = ix->analysis;
    struct mapping *old_mapping = ix->mapping;
    ix->analysis = a;
    ix->mapping = m;
    pthread_mutex_unlock(&ix->lock);
    analysis_unref(old_analysis);
    mapping_unref(old_mapping);
    shards_follow(s, ix, true, false, false);
}

/* On the applier: no state is applied meanwhile. */
static void reload(void *arg)
{
    struct reload *r = arg;
    struct data_service *s = r->s;
    struct analysis_env old = s->o.env;
    struct settings none;
    struct arena scratch;
    struct analysis *own = NULL;
    struct errmsg em;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    settings_init(&none, &scratch);
    s->o.env = r->env;
    if (analysis_new(&own, &none, &s->o.env, &em) == ERR_OK) {
        pthread_mutex_lock(&s->lock);
        struct analysis *was = s->analysis;
        s->analysis = own;
        pthread_mutex_unlock(&s->lock);
        analysis_unref(was);
    } else {
        log_error(s->o.log, "analysis", "analysis without an index keeps the dictionaries it has: %s",
                  em.frame[0].reason);
    }
    for (size_t i = 0; i < s->n_indices; i++) {
        reload_index(s, s->indices[i]);
    }
    drop_env(&old);
    arena_fini(&scratch);
    r->done(r->arg);
    free(r);
}

void data_reload_analysis(struct data_service *s, const struct analysis_env *env, void (*done)(void *arg),
                          void *arg)
{
    struct reload *r = malloc(sizeof(*r));
    if (r == NULL) {
        done(arg);
        return;
    }
    *r = (struct reload){s, keep_env(env), done, arg};
    if (!executor_submit(strand_executor(s->applier), reload, r)) {
        drop_env(&r->env);
        free(r);
        done(arg);
    }
}

void data_own_env(struct data_service *s)
{
    s->o.env = keep_env(&s->o.env);
}

void data_drop_env(struct data_service *s)
{
    drop_env(&s->o.env);
}
