/* recovery_int.h - declarations shared by the files of recovery. */
#ifndef DATA_RECOVERY_RECOVERY_INT_H
#define DATA_RECOVERY_RECOVERY_INT_H

#include "data/recovery/recovery.h"
#include "data/recovery/source.h"
#include "data/recovery/target.h"
#include "data/shard/copy_data.h"
#include "proto/recovery_bytes.h"
#include "proto/remote.h"

/* What a primary that moves away knew of the copies, for the one that takes its place. */
struct shard_handoff {
    struct arena arena;
    struct recovery_copy *v; /* NULL: nothing was handed over */
    size_t n;
};

/* One target, as its source sees it. Strand, but for what says otherwise. */
struct recovery_session {
    _Atomic uint32_t refs; /* the shard's, and each request's that is being served off the strand */
    uint64_t id;
    struct shard *sh;               /* a user of it */
    struct recovery_session *next;  /* of the shard */
    struct recovery_session *table; /* of the node, under its lock */
    struct arena arena;
    struct str allocation_id, node_id;  /* the target's */
    const struct engine_commit *commit; /* pinned; NULL: operations only, or released */
    int64_t from;                       /* operations from there on are held */
    _Atomic int64_t heard_ms;
    _Atomic bool over;
    /* Files: their list never changes; `lock` guards the maps, which any thread may make. */
    const struct fs *fs;
    pthread_mutex_t lock;
    struct engine_file *files;
    struct fs_map *maps;
    bool *mapped;
    size_t n_files;
    /* Operations. */
    struct engine_history *history; /* a job's while core.reading */
    struct buf bytes;               /* the last batch */
    struct source core;
    struct remote_rq *waiting;  /* FINALIZE: while core.waits */
    struct remote_rq *handover; /* HANDOFF: while core.handing_over */
};

/* A shard's part. Strand. */
struct recovery {
    struct recovery_session *sessions;   /* copies that recover from this one */
    struct parked_start *parked;         /* those that will (source_driver.c) */
    struct recovery_target *target;      /* NULL: this copy does not recover from another one */
    struct shard_handoff handoff;        /* of the primary whose place it takes */
    char handed_to[ALLOCATION_ID_BYTES]; /* the copy that was promised this one's place */
    struct shard_recovery figures;       /* how the copy came to be */
    char figures_source[ALLOCATION_ID_BYTES];
};

struct recovery_budget {
    int64_t left; /* bytes; below zero: nothing passes */
    int64_t at_ns;
};

struct recoveries {
    pthread_mutex_t lock;
    struct remote_service served;
    uint64_t next_id;
    struct recovery_session *sessions; /* of all shards */
    struct recovery_budget budgets[2];
    int64_t bytes_per_sec;   /* 0: no limit */
    struct chunk_call *held; /* answers that are over the limit, oldest first */
    struct chunk_call **held_end;
};

/* source_driver.c */
void recovery_serve_start(void *self, struct remote_rq *rq);
void recovery_step_sessions(struct shard *sh, bool tick);
void recovery_refuse_no_session(struct remote_rq *rq);
/* Any thread: a reference, or NULL. */
struct recovery_session *recovery_find_session(struct data_service *s, uint64_t id);
void recovery_session_free(struct recovery_session *r);
void recovery_commit_unref(struct recovery_session *r);
void recovery_hold_history(struct shard *sh); /* what sessions still have to send stays in the log */
void recovery_session_unref(struct recovery_session *r);
void recovery_abandon_sessions(struct shard *sh); /* the strand is dead: no job of them ends any more */

/* send.c */
void recovery_serve_chunk(void *self, struct remote_rq *rq);
void recovery_serve_session(void *self, struct remote_rq *rq); /* all that go to the strand */
void recovery_serve_held(struct data_service *s);
void recovery_answer_finalize(struct recovery_session *r, struct remote_rq *rq);
void recovery_refresh_waiting(
    struct shard *sh); /* requests that wait for a refresh hold a handing over back */

/* ---- the target: the driver of target.h's core ------------------------------------------------------------- */

/* What a recovery here needs for what its core decides. Strand, but for what a job that is out uses. */
struct recovery_target {
    struct shard *sh; /* a reference */
    struct target core;
    char allocation_id[ALLOCATION_ID_BYTES];
    struct arena arena; /* of one attempt */
    struct transport_peer peer;
    bool asking; /* the call is out */
    struct remote_call call;
    struct recovery_plan plan;
    enum target_event_kind job_event; /* that the job which is out ends with */
    void (*job)(struct recovery_target *t);
    struct errmsg job_em; /* in job_arena: of the last job, or turn of operations */
    enum err job_result;
    struct arena job_arena, why_arena; /* the latter of core.why */
    struct engine *engine;             /* open, not the shard's yet */
    struct buf history;                /* uuid of what is on disk */
    int64_t from;
    int64_t stage_ms;
    /* files */
    const struct engine_file *files;
    uint64_t *bytes; /* of each */
    bool *have;
    size_t n_files;
    struct chunk_rq {
        struct remote_call call;
        struct recovery_target *t;
        unsigned slot;
    } chunks[TARGET_CHUNKS_MAX]; /* as the core's */
    struct fs_file *writing;
    int64_t throttled_ms; /* since when; 0: it is not */
    /* operations */
    uint64_t mapping_version;
    struct bytes_in ops;
    uint64_t sync_to; /* all of that must be durable */
};

/* target_driver.c */
void recovery_step_target(struct shard *sh, bool tick);
void recovery_abandon_target(struct shard *sh); /* the strand is dead */
/* Something has happened; then everything that the core wants is done. t may be gone afterwards. */
void target_happened(struct recovery_target *t, const struct target_event *e);
/* Runs job(t) on a pool; its result is the event. */
void target_job(struct recovery_target *t, void (*job)(struct recovery_target *t),
                enum target_event_kind event);
/* Before it does what may fail. */
void target_clear_error(struct recovery_target *t);
const struct transport *target_transport(const struct recovery_target *t);
void target_ask(struct recovery_target *t, const struct message *m, const void *rq,
                void (*done)(struct remote_call *c));
/* First thing in done(): the answer; NULL: there is none, and the core has been told. */
const void *target_answer(struct recovery_target *t);
/* Last thing there: the event, or, without memory for what the answer said, TARGET_UNREADABLE. */
void target_heard(struct recovery_target *t, bool kept, const struct target_event *e);
void target_enter_stage(struct recovery_target *t, enum recovery_stage stage);

/* replay.c: operations, and the end */
void target_take(struct recovery_target *t);
void target_ask_ops(struct recovery_target *t, uint64_t batch);
void target_apply(struct recovery_target *t, struct target_event *e); /* what came of it */
void target_sync(struct recovery_target *t, bool first, struct target_event *e);
void target_ask_finalize(struct recovery_target *t);
void target_ask_handoff(struct recovery_target *t);
void target_complete(struct recovery_target *t);

/* files.c */
void target_look(struct recovery_target *t);    /* [job] files, bytes, have */
void target_write(struct recovery_target *t);   /* [job] the chunks that are being written */
void target_install(struct recovery_target *t); /* [job] engine */
void target_count_written(struct recovery_target *t);
/* false: over the limit of bytes a second. */
bool target_ask_chunk(struct recovery_target *t, unsigned slot, bool again);
void target_chunks_fini(struct recovery_target *t); /* nothing is out */

#endif
