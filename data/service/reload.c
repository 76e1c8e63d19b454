/* New dictionaries: every index gets its analysis, and the mapping that points into it, made anew. */
#include "data/service/service_int.h"

#include <stdlib.h>

struct reload {
    struct data_service *s;
    struct analysis_env env;
    void (*done)(void *arg);
    void *arg;
};

static void reload_index(struct data_service *s, struct index_service *ix)
{
    ERR_LOCAL(em);
    if (index_reload(ix, s, &em) == ERR_OK) {
        shards_follow(s, ix, &(struct index_change){.mapping = true}, service_index_changed);
    } else {
        log_error(s->o.log, "analysis", "index [%.*s] keeps the dictionaries it has: %s", STR_ARG(ix->name),
                  err_reason(&em));
    }
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
    ERR_LOCAL(em);
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    settings_init(&none, &scratch);
    s->o.env = r->env;
    if (analysis_new(&own, &none, &s->o.env, &em) == ERR_OK) {
        pthread_mutex_lock(&s->lock);
        struct analysis *was = s->applier->analysis;
        s->applier->analysis = own;
        pthread_mutex_unlock(&s->lock);
        analysis_unref(was);
    } else {
        log_error(s->o.log, "analysis", "analysis without an index keeps the dictionaries it has: %s",
                  err_reason(&em));
    }
    for (size_t i = 0; i < s->n_indices; i++) {
        reload_index(s, s->indices[i]);
    }
    analysis_env_unref(&old);
    arena_fini(&scratch);
    r->done(r->arg);
    free(r);
}

bool data_reload_analysis(struct data_service *s, const struct analysis_env *env, void (*done)(void *arg),
                          void *arg)
{
    struct reload *r = malloc(sizeof(*r));
    if (r == NULL) {
        return false;
    }
    *r = (struct reload){s, analysis_env_ref(env), done, arg};
    bool ok = executor_submit(strand_executor(s->applier->strand), reload, r);
    if (!ok) {
        analysis_env_unref(&r->env);
        free(r);
    }
    return ok;
}
