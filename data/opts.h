/* opts.h - the options of the data role, set by its maker. All folders of data may know it. */
#ifndef DATA_OPTS_H
#define DATA_OPTS_H

#include "common/base/clock.h"
#include "common/base/executor.h"
#include "common/base/fs.h"
#include "common/base/log.h"
#include "engine/analysis/component.h"
#include "proto/message.h"
#include "proto/shard_event.h"

/* Asks the master for new fields: `mapping` is a put-mapping body, `type` what the document says of its type (n == 0: nothing). done(arg, NULL) once the state that has
 * them is applied here; an error otherwise. Any thread; done() runs on any thread, never inside the call. false: no memory, and
 * nobody is asked. */
typedef bool (*data_mapping_fn)(void *self, struct str index, struct str uuid, struct str type,
                                struct str mapping, void (*done)(void *arg, const struct errmsg *error),
                                void *arg);

/* Tells the master of a copy here, again and again until a master has taken it; done() (may be NULL) as of
 * data_mapping_fn, once the state that shows it is applied here. The event's strings are copied. Any thread. */
typedef bool (*data_shard_event_fn)(void *self, const struct shard_event *event,
                                    void (*done)(void *arg, const struct errmsg *error), void *arg);

struct data_opts {
    const struct fs *fs; /* all borrowed: they outlive the service */
    const struct clock *clock;
    const struct log *log;
    const char *dir; /* shards live in <dir>/indices/<uuid>/<shard>/ */
    const struct executor *write_pool, *search_pool, *background_pool;
    struct analysis_env env;   /* dictionaries */
    struct str node_id;        /* copied */
    size_t filter_cache_bytes; /* for all shards together; 0: no filter is kept */
    /* The same for what is indexed but in no segment yet; 0: the default of indices.memory.index_buffer_size. Unless it is given,
     * one shard takes no more of it than its engine's default. */
    size_t index_buffer_bytes;
    bool index_buffer_given;
    data_mapping_fn update_mapping;
    data_shard_event_fn shard_event;
    void *node_self;                   /* of the two above */
    const struct transport *transport; /* to other nodes, not started yet; NULL: there are none */
};

#endif
