/* recovery_int.h - what the files of recovery share. */
#ifndef DATA_RECOVERY_RECOVERY_INT_H
#define DATA_RECOVERY_RECOVERY_INT_H

#include "data/recovery/recovery.h"
#include "data/shard/copy_data.h"

/* What a primary that moves away knew of the copies, for the one that takes its place. */
struct shard_handoff {
    struct arena arena;
    struct recovery_copy *v; /* NULL: nothing was handed over */
    size_t n;
    int64_t global_checkpoint;
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
    const struct engine_commit *commit; /* pinned; NULL: operations only, or let go */
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
    struct engine_history *history; /* a job's while `reading` */
    uint64_t batch;                 /* the number of the last one, plus one */
    struct buf bytes;               /* of the last one */
    bool reading, more, replay_failed;
    struct transport_call *waiting;  /* FINALIZE: answered when the target has caught up */
    struct transport_call *handover; /* HANDOFF: answered when no write is under way */
    bool in_sync;
};

/* A shard's part. Strand. */
struct recovery {
    struct recovery_session *sessions;   /* copies that recover from this one */
    struct parked_start *parked;         /* those that will (source.c) */
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
    uint64_t next_id;
    struct recovery_session *sessions; /* of all shards */
    struct recovery_budget budgets[2];
    int64_t bytes_per_sec;   /* 0: no limit */
    struct chunk_call *held; /* answers that are over the limit, oldest first */
    struct chunk_call **held_end;
};

/* source.c */
void recovery_serve_start(void *arg, struct transport_call *call);
void recovery_step_sessions(struct shard *sh, bool tick);
void recovery_reply(struct data_service *s, struct transport_call *call, struct buf *b /* taken */);
void recovery_refuse(struct data_service *s, struct transport_call *call, const struct errmsg *em);
void recovery_refuse_no_session(struct data_service *s, struct transport_call *call);
/* Any thread: a reference, or NULL. */
struct recovery_session *recovery_find_session(struct data_service *s, uint64_t id);
void recovery_drop_session(struct recovery_session *r);
void recovery_release_commit(struct recovery_session *r);
void recovery_hold_history(struct shard *sh); /* what sessions still have to send stays in the log */
void recovery_session_unref(struct recovery_session *r);
void recovery_abandon_sessions(struct shard *sh); /* the strand is dead: no job of them ends any more */

/* send.c */
void recovery_serve_chunk(void *arg, struct transport_call *call);
void recovery_serve_session(void *arg, struct transport_call *call); /* all that go to the strand */
void recovery_serve_held(struct data_service *s);
void recovery_answer_finalize(struct recovery_session *r, struct transport_call *call);
void recovery_refresh_waiting(
    struct shard *sh); /* requests that wait for a refresh hold a handing over back */

/* ---- the target --------------------------------------------------------------------------------------- */

enum target_step {
    TARGET_OPEN,     /* what is on disk already is opened, to see how far it goes */
    TARGET_ASK,      /* START */
    TARGET_LOOK,     /* which of the source's files are here? */
    TARGET_COPY,     /* the others */
    TARGET_INSTALL,  /* the files become the copy */
    TARGET_ROLLBACK, /* or: what is here goes back to what all copies have */
    TARGET_TAKE,     /* the engine is the shard's */
    TARGET_OPS,
    TARGET_APPLY,
    TARGET_SYNC,
    TARGET_FINALIZE,
    TARGET_HANDOFF,
    TARGET_DONE,
    TARGET_CLOSE /* the engine is not what is needed any more: from the beginning */
};
enum target_end { TARGET_GOES_ON, TARGET_AGAIN, TARGET_FAILS, TARGET_CANCELLED };

enum chunk_state { CHUNK_ASKED, CHUNK_HERE, CHUNK_LOST };
struct target_chunk {
    struct transport_rq rq;
    struct recovery_target *t;
    enum chunk_state state;
    uint32_t file;
    uint64_t offset;
    uint32_t length;
};

/* What a recovery here is at. Strand, but for what a job that is out uses. */
struct recovery_target {
    struct shard *sh; /* a user of it */
    enum target_step step;
    enum target_end end; /* comes true once nothing is out */
    struct errmsg why;
    unsigned out;      /* requests and jobs */
    bool asking;       /* rq is one of them */
    bool waits;        /* for the tick */
    bool abandoned;    /* what is out was told to end */
    unsigned failures; /* of the source's side, in a row */
    char allocation_id[ALLOCATION_ID_BYTES];
    struct arena arena; /* of one attempt */
    struct transport_peer peer;
    struct transport_rq rq;
    struct recovery_plan plan;
    struct errmsg job_em;
    enum err job_result;
    struct engine *engine; /* open, not the shard's yet */
    bool taken;            /* it is the shard's now */
    struct buf history;    /* uuid of what is on disk */
    int64_t from;
    bool no_history; /* files are wanted whatever is here */
    int64_t stage_ms;
    /* files */
    const struct engine_file *files;
    bool *have;
    size_t n_files;
    uint32_t file; /* the next to ask for */
    uint64_t offset;
    struct target_chunk chunks[RECOVERY_CHUNKS_MAX]; /* a ring, in the order of the bytes */
    unsigned first, n_chunks, n_writing;
    struct fs_file *writing;
    int64_t throttled_ms; /* since when; 0: it is not */
    /* operations */
    uint64_t batch, left;
    bool more, applying;
    uint64_t mapping_version;
    struct bytes_in ops;
    uint64_t sync_to; /* all of that must be durable */
};

/* target.c */
void recovery_step_target(struct shard *sh, bool tick);
void recovery_abandon_target(struct shard *sh); /* the strand is dead */
/* Runs run(t) on a pool, then done(t) on the strand. */
void target_job(struct recovery_target *t, void (*run)(void *t), void (*done)(void *t));
void target_turn(struct recovery_target *t); /* something has ended: what next? */
void target_fail(struct recovery_target *t, const struct errmsg *em);
/* The source could not answer: again, or this recovery has failed. true: only the answer was lost. */
bool target_answer_lost(struct recovery_target *t, const struct errmsg *em);

const struct transport *target_transport(const struct recovery_target *t);
void target_ask(struct recovery_target *t, enum message_kind kind, struct buf *payload /* taken */,
                void (*done)(struct transport_rq *rq));
/* First thing in done(): false: there is no answer to read, and what follows is decided. */
bool target_answered(struct recovery_target *t);
void target_unreadable(struct recovery_target *t); /* the answer makes no sense */
void target_enter_stage(struct recovery_target *t, enum recovery_stage stage);
void target_leave(struct recovery_target *t); /* frees t; the shard goes on without it */

/* replay.c: the steps TAKE to DONE */
void target_take(struct recovery_target *t);
void target_ask_ops(struct recovery_target *t);
void target_apply(struct recovery_target *t);
void target_sync(struct recovery_target *t);
void target_ask_finalize(struct recovery_target *t);
void target_ask_handoff(struct recovery_target *t);
void target_done(struct recovery_target *t);

/* files.c */
void target_copy(struct recovery_target *t);        /* asks for what is next, writes what is here */
void target_copy_again(struct recovery_target *t);  /* the tick: what was lost is asked for again */
void target_drop_chunks(struct recovery_target *t); /* nothing is out */
void target_look(void *arg);                        /* [job] files, have, n_files */
void target_install(void *arg);                     /* [job] engine */

#endif
