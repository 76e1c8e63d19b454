/* engine_rig.h - an engine on a disk in memory, and the naive model that it is compared with.
 *
 * The model is the list of operations by sequence number: the state at s is what applying 0..s gives. A
 * document's source is {"n":<number>,"k":<nested documents>}. */
#ifndef TEST_ENGINE_RIG_H
#define TEST_ENGINE_RIG_H

#include "common/base/rand.h"
#include "engine/index/engine.h"
#include "tests/seams/clock_sim.h"
#include "tests/seams/fs_mem.h"

#define RIG_IDS 24
#define RIG_OPS 20000

struct rig_op {
    enum engine_op_kind kind;
    unsigned id;
    int64_t n;
    int64_t version, term;
};

struct rig_doc { /* an id's state */
    bool there;
    int64_t seq_no, version, term, n;
};

struct rig {
    struct fs_mem *disk;
    struct clock_sim clock;
    struct engine_opts opts;
    struct engine *e;
    struct rng rng;
    struct rig_op ops[RIG_OPS]; /* by sequence number */
    int64_t next;               /* operations there are */
    int64_t acked;              /* durable up to here */
    int64_t term;
    int64_t numbers; /* for n */
};

void rig_init(struct rig *r, uint64_t seed);
void rig_fini(struct rig *r);
/* Opens; asserts success. */
void rig_open(struct rig *r, enum engine_open_mode mode);

/* Fills op for one of the ids; text needs 64 bytes, docs and arena must outlive the call that uses it. */
void rig_make_op(struct engine_op *op, enum engine_op_kind kind, unsigned id, int64_t n, char id_text[16],
                 char text[64]);
enum err rig_parse(void *self, const struct engine_op *op, struct arena *arena, struct parsed_doc *out,
                   struct errmsg *em);

/* Applies as the primary and adds it to the model when it succeeds. */
enum err rig_primary(struct rig *r, struct engine_op *op, struct engine_result *res, struct errmsg *em);
/* The simplest forms. */
enum err rig_index(struct rig *r, unsigned id, struct errmsg *em);
enum err rig_delete(struct rig *r, unsigned id, struct errmsg *em);

/* State of all ids after operations 0..upto. */
void rig_state(const struct rig *r, int64_t upto, struct rig_doc out[RIG_IDS]);
/* The engine's newest state is the model's at r->next - 1; its view too, when `refreshed`. */
void rig_check(struct rig *r, bool refreshed);
void rig_check_view(const struct view *v, const struct rig_doc want[RIG_IDS]);
/* The process or the machine went down: 0 kill, 1 unsynced lost, 2 random. Forgets the engine (its memory is
 * freed). */
void rig_crash(struct rig *r, unsigned how);
/* Opens after a crash: everything acknowledged is there, what else is there is a prefix; the model is cut to
 * it. */
void rig_recover(struct rig *r);

#endif
