/* Dictionaries whose files change: analysis goes on with the new ones. */
#include "node/node_int.h"

static void reload_ended(struct node *n)
{
    pthread_mutex_lock(&n->lock);
    n->reloading = false;
    pthread_cond_broadcast(&n->cond);
    pthread_mutex_unlock(&n->lock);
}

static void reloaded(void *arg)
{
    struct node *n = arg;
    log_info(n->o.log, "analysis", "analysis works with the new dictionaries");
    reload_ended(n);
}

static void check_dictionaries(void *arg)
{
    struct node *n = arg;
    const char *conf = node_conf_dir(n);
    struct dictionaries next;
    ERR_LOCAL(em);
    bool changed;
    enum err e = dictionaries_changed(&n->dicts, n->fs, conf, &changed, &em);
    if (e == ERR_OK && changed) {
        e = dictionaries_load(&next, n->fs, conf, n->o.share_dir, n->o.log, &em);
    }
    if (e != ERR_OK && !n->complained) {
        log_error(n->o.log, "analysis", "the dictionaries that have changed cannot be used: %s",
                  err_reason(&em));
    }
    n->complained = e != ERR_OK;
    if (e != ERR_OK || !changed) {
        reload_ended(n);
        return;
    }
    pthread_mutex_lock(&n->lock);
    struct dictionaries old = n->dicts;
    n->dicts = next;
    pthread_mutex_unlock(&n->lock);
    dictionaries_fini(&old);
    struct analysis_env env = node_analysis_env(n);
    if (!data_reload_analysis(member_data(n->member), &env, reloaded, n)) {
        reload_ended(n); /* no memory: indices keep those that they have */
    }
    analysis_env_unref(&env);
}

void node_watch_dictionaries(void *arg)
{
    struct node *n = arg;
    self_sample(&n->me);
    pthread_mutex_lock(&n->lock);
    bool busy = n->reloading;
    n->reloading = true;
    pthread_mutex_unlock(&n->lock);
    if (!busy && !executor_submit(pool_executor(n->background_pool), check_dictionaries, n)) {
        reload_ended(n);
    }
}
