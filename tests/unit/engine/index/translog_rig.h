/* translog_rig.h - translogs in memory, of operations that tell their sequence number. */
#ifndef TESTS_ENGINE_TRANSLOG_RIG_H
#define TESTS_ENGINE_TRANSLOG_RIG_H

#include "engine/index/translog.h"
#include "tests/seams/clock_sim.h"
#include "tests/seams/fs_mem.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define OPS 4000

static struct clock_sim clk;

static struct tlog_opts opts(const struct fs *fs)
{
    return (struct tlog_opts){.fs = fs,
                              .clock = &clk.base,
                              .alloc = alloc_default(),
                              .dir = "/s",
                              .uuid = "uuid",
                              .shard = 2,
                              .id = 77};
}

/* An operation that tells its sequence number in every field. */
static struct engine_op make_op(int64_t seq, char buf[2][64])
{
    struct engine_op op = ENGINE_OP_INIT;
    op.kind = seq % 11 == 0 ? OP_NOOP : seq % 5 == 0 ? OP_DELETE : OP_INDEX;
    op.seq_no = seq;
    op.primary_term = 1 + seq / 100;
    op.version = seq * 3;
    op.mapping_version = (uint64_t)seq;
    snprintf(buf[0], 64, "id-%lld", (long long)seq);
    snprintf(buf[1], 64, "{\"n\":%lld}", (long long)seq);
    op.id = op.kind == OP_NOOP ? STR_NULL : str_of(buf[0]);
    op.reason = op.kind == OP_NOOP ? STR("why") : STR_NULL;
    if (op.kind == OP_INDEX) {
        op.source = str_of(buf[1]);
        op.auto_id_ms = seq % 2 == 0 ? seq : -1;
        op.retry = seq % 7 == 0;
    }
    if (seq % 3 == 0) {
        op.op_id = (struct op_id){5, (uint64_t)seq};
        op.outcome = OUTCOME_UPDATED;
    }
    op.routing = seq % 4 == 0 ? STR("r") : STR_NULL;
    return op;
}

static void check_op(const struct engine_op *op, int64_t seq)
{
    char buf[2][64];
    struct engine_op want = make_op(seq, buf);
    ck_assert(op->kind == want.kind && op->seq_no == seq && op->primary_term == want.primary_term);
    ck_assert(op->version == want.version && op->mapping_version == want.mapping_version);
    ck_assert(str_eq(op->id, want.id) && str_eq(op->source, want.source)
              && str_eq(op->routing, want.routing));
    ck_assert((op->routing.p != NULL) == (want.routing.p != NULL) && op->retry == want.retry);
    ck_assert(op->auto_id_ms == want.auto_id_ms && op->op_id.counter == want.op_id.counter);
    ck_assert(op->outcome == want.outcome && str_eq(op->reason, want.reason));
}

static void nobody(void *self, int64_t seq)
{
    bool *durable = self;
    if (durable != NULL) {
        durable[seq] = true;
    }
}

static enum err sync_all(struct translog *t, bool *durable)
{
    struct tlog_job *j;
    enum err e = translog_seal(t, &j, NULL);
    if (e != ERR_OK || j == NULL) {
        return e;
    }
    translog_job_run(j);
    return translog_job_finish(t, j, nobody, durable, NULL);
}

/* Reads all from a generation on; returns how many, got[seq] says which. */
static size_t read_all(const struct translog *t, uint64_t from, bool *got)
{
    struct tlog_reader r;
    ck_assert_int_eq(tlog_reader_open(&r, t, from, NULL), ERR_OK);
    memset(got, 0, OPS);
    size_t n = 0;
    for (bool more = true; more;) {
        struct engine_op op;
        ck_assert_int_eq(tlog_reader_next(&r, &op, &more, NULL), ERR_OK);
        if (more) {
            check_op(&op, op.seq_no);
            got[op.seq_no] = true;
            n++;
        }
    }
    tlog_reader_close(&r);
    return n;
}

static void append(struct translog *t, int64_t seq)
{
    char buf[2][64];
    struct engine_op op = make_op(seq, buf);
    ck_assert_int_eq(translog_append(t, &op, NULL), ERR_OK);
}

#endif
