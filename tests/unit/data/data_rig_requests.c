/* Requests to shards of the rig, and comparing copies. */
#include "tests/unit/data/data_rig.h"

#include "data/data.h"
#include "engine/index/engine.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

struct writing {
    struct shard_write rq;
    struct write_item item;
    char id[32], source[1200];
    struct dr_rig *rig;
    unsigned *left, *failed;
    bool done;
};

static void write_done(struct shard_rq *rq)
{
    struct writing *w = (struct writing *)(void *)rq;
    w->done = true;
    if (w->left != NULL) {
        *w->failed += err_is(&rq->error) || w->item.error != NULL;
        --*w->left;
        shard_rq_fini(rq);
        free(w);
    }
}

static void write_begin(struct dr_rig *r, struct writing *w, const char *id, const char *source)
{
    snprintf(w->id, sizeof(w->id), "%s", id);
    snprintf(w->source, sizeof(w->source), "%s", source != NULL ? source : "");
    w->rig = r;
    shard_rq_init(&w->rq.rq, &shard_op_write, write_done, NULL);
    w->rq.rq.shard = (struct shard_ref){STR("i"), STR(RIG_UUID), 0};
    w->rq.items = &w->item;
    w->rq.n = 1;
    w->rq.timeout_ms = 60000;
    w->rq.refresh = r->refresh;
    w->item = (struct write_item){.kind = source != NULL ? WRITE_INDEX : WRITE_DELETE,
                                  .id = str_of(w->id),
                                  .source = str_of(w->source),
                                  .auto_id_ms = -1,
                                  .version = VERSION_ANY,
                                  .if_seq_no = SEQ_UNASSIGNED};
    const struct shard_api *api = data_api(r->nodes[r->copies[0].node].s);
    api->serve(api->self, &w->rq.rq);
}

static enum err write_once(struct dr_rig *r, const char *id, const char *source)
{
    struct writing *w = calloc(1, sizeof(*w));
    write_begin(r, w, id, source);
    while (!w->done) {
        dr_step(r);
    }
    enum err e = err_is(&w->rq.rq.error) ? err_code(&w->rq.rq.error)
                 : w->item.error != NULL ? err_code(w->item.error)
                                         : ERR_OK;
    shard_rq_fini(&w->rq.rq);
    free(w);
    return e;
}

/* As a coordinating node: where no state has come yet, it waits for that. */
enum err dr_write(struct dr_rig *r, const char *id, const char *source)
{
    enum err e = write_once(r, id, source);
    for (unsigned i = 0; i < 100 && (e == ERR_NO_SHARD || e == ERR_NOT_PRIMARY); i++) {
        dr_run(r, 5);
        e = write_once(r, id, source);
    }
    return e;
}

void dr_write_later(struct dr_rig *r, const char *id, const char *source, unsigned *left, unsigned *failed)
{
    struct writing *w = calloc(1, sizeof(*w));
    w->left = left;
    w->failed = failed;
    ++*left;
    write_begin(r, w, id, source);
}

static void set_done(struct shard_rq *rq)
{
    *(bool *)rq->user = true;
}

static void act(struct dr_rig *r, int node, struct shard_act *a)
{
    bool done = false;
    shard_rq_init(&a->rq, &shard_op_act, set_done, &done);
    a->rq.shard = (struct shard_ref){STR("i"), STR(RIG_UUID), 0};
    const struct shard_api *api = data_api(r->nodes[node].s);
    api->serve(api->self, &a->rq);
    while (!done) {
        dr_step(r);
    }
}

enum err dr_act(struct dr_rig *r, int node, enum shard_action action)
{
    struct shard_act a = {.action = action, .max_segments = 1};
    act(r, node, &a);
    enum err e = err_code(&a.rq.error);
    shard_rq_fini(&a.rq);
    return e;
}

struct shard_recovery dr_figures(struct dr_rig *r, int node)
{
    struct shard_act a = {.action = SHARD_RECOVERY};
    act(r, node, &a);
    ck_assert_int_eq(err_code(&a.rq.error), ERR_OK);
    struct shard_recovery f = *a.recovery;
    f.source_node = f.target_node = STR_NULL;
    shard_rq_fini(&a.rq);
    return f;
}

static void get(struct dr_rig *r, int node, const char *id, struct shard_get *g)
{
    bool done = false;
    *g = (struct shard_get){.id = str_of(id), .realtime = true, .want_source = true};
    shard_rq_init(&g->rq, &shard_op_get, set_done, &done);
    g->rq.shard = (struct shard_ref){STR("i"), STR(RIG_UUID), 0};
    const struct shard_api *api = data_api(r->nodes[node].s);
    api->serve(api->self, &g->rq);
    while (!done) {
        dr_step(r);
    }
    ck_assert_msg(!err_is(&g->rq.error), "get at %d: %s", node, err_reason(&g->rq.error));
}

static void check_stats(struct dr_rig *r, int a, int b)
{
    struct shard_act x = {.action = SHARD_STATS}, y = {.action = SHARD_STATS};
    dr_act(r, a, SHARD_REFRESH);
    dr_act(r, b, SHARD_REFRESH);
    act(r, a, &x);
    act(r, b, &y);
    ck_assert_uint_eq(x.stats->docs, y.stats->docs);
    ck_assert_int_eq(x.stats->max_seq_no, y.stats->max_seq_no);
    ck_assert_int_eq(x.stats->local_checkpoint, y.stats->local_checkpoint);
    shard_rq_fini(&x.rq);
    shard_rq_fini(&y.rq);
}

unsigned dr_check_equal(struct dr_rig *r, unsigned ids)
{
    unsigned found = 0;
    for (unsigned i = 0; i < ids; i++) {
        char id[16];
        struct shard_get a, b;
        snprintf(id, sizeof(id), "%u", i);
        get(r, r->copies[0].node, id, &a);
        found += a.found;
        for (unsigned k = 1; k < r->n_copies; k++) {
            if (r->copies[k].state != COPY_STARTED) {
                continue;
            }
            get(r, r->copies[k].node, id, &b);
            ck_assert_msg(a.found == b.found, "id %u: %d here, %d there", i, a.found, b.found);
            ck_assert(!a.found
                      || (a.version == b.version && a.seq_no == b.seq_no && a.primary_term == b.primary_term
                          && str_eq(a.source, b.source)));
            shard_rq_fini(&b.rq);
        }
        shard_rq_fini(&a.rq);
    }
    for (unsigned k = 1; k < r->n_copies; k++) {
        if (r->copies[k].state == COPY_STARTED) {
            check_stats(r, r->copies[0].node, r->copies[k].node);
        }
    }
    return found;
}
