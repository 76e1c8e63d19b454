/* A new mapping and new settings of an index reach the engines of its shards, each on its strand. */
#include "data/shard/shard.h"

#include <stdlib.h>

struct follow_run {
    struct shard *sh;
    struct mapping *mapping; /* NULL: the same as before */
    uint64_t version;
    struct settings_part *settings; /* the same */
    bool opens;                     /* an index that is opened shows all that it holds */
    void (*then)(struct shard *sh);
};

static void end(struct follow_run *r)
{
    mapping_unref(r->mapping);
    state_part_unref(r->settings != NULL ? &r->settings->part : NULL);
    shard_unref(r->sh);
    free(r);
}

static void apply(const struct follow_run *r)
{
    struct shard *sh = r->sh;
    const struct log *log = sh->service->o.log;
    ERR_LOCAL(em);
    if (r->mapping != NULL && engine_set_mapping(sh->engine, r->mapping, r->version, &em) != ERR_OK) {
        log_error(log, "data", "new mapping: %s", err_reason(&em));
    }
    if (r->settings != NULL) {
        struct engine_settings es;
        shard_engine_settings(sh->service, &r->settings->settings, &es);
        engine_set_settings(sh->engine, &es);
    }
    if (r->opens && engine_refresh(sh->engine, NULL, &em) != ERR_OK) {
        log_error(log, "data", "refresh: %s", err_reason(&em));
        shard_check(sh);
    }
}

static void follow(void *arg)
{
    struct follow_run *r = arg;
    if (shard_is_open(r->sh)) { /* else it is opened with the newest of both */
        apply(r);
    }
    r->then(r->sh);
    end(r);
}

void shards_follow(struct data_service *s, struct index_service *ix, const struct index_change *c,
                   void (*then)(struct shard *sh))
{
    for (size_t i = 0; i < s->n_shards; i++) {
        struct shard *sh = s->shards[i];
        struct follow_run *r = sh->index == ix ? calloc(1, sizeof(*r)) : NULL;
        if (r == NULL) {
            continue;
        }
        r->sh = shard_ref(sh);
        r->then = then;
        r->opens = c->opens;
        r->mapping = c->mapping ? index_mapping(ix, &r->version) : NULL;
        r->settings = c->settings ? index_settings(ix) : NULL;
        if (!shard_post_back(sh, follow, r)) { /* whatever waits there: nobody brings it again */
            end(r);
        }
    }
}
