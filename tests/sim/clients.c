/* Clients: each writes one document after the other, and remembers what it heard. */
#include "tests/sim/run_int.h"

#include "engine/index/engine.h"

#include <stdlib.h>

#define OP_TIMEOUT_MS 5000  /* as given to the coordinator */
#define GIVE_UP_MS    20000 /* the node that was asked may be gone */

struct writing {
    struct client *c;
    size_t place; /* in the history */
    struct arena arena;
    struct op_env env;
    struct write_entry entry;
    struct write_set set;
    struct timer *patience;
    struct errmsg error;
};

static void next_op(void *arg);

static void pause_then_next(struct client *c)
{
    c->now = NULL;
    c->run->timers->start(c->run->timers->self, 1 + (int64_t)rng_below(&c->run->rng, 40), next_op, c);
}

static void op_over(struct writing *w, enum write_fate fate)
{
    struct run *run = w->c->run;
    struct past_write *p = &run->h.v[w->place];
    p->fate = fate;
    p->ended_ms = fate == FATE_UNKNOWN ? INT64_MAX : world_ms(&run->w);
    if (fate == FATE_ACKNOWLEDGED) {
        p->seq_no = w->entry.item.seq_no;
        p->term = w->entry.item.primary_term;
        run->r->acknowledged++;
        if (p->seq_no > run->known[p->doc].seq_no && !p->is_delete) {
            run->known[p->doc].seq_no = p->seq_no;
            run->known[p->doc].term = p->term;
        }
    }
    world_say(&run->w, "client %u: doc %u value %llu: %s at %lld", w->c->number, p->doc,
              (unsigned long long)p->value,
              fate == FATE_ACKNOWLEDGED ? "acknowledged"
              : fate == FATE_REFUSED    ? "refused"
                                        : err_type(err_code(&w->error)),
              (long long)p->seq_no);
    pause_then_next(w->c);
}

static void impatient(void *arg)
{
    struct writing *w = arg;
    w->patience = NULL;
    if (w->c->now == w) {
        op_over(w, FATE_UNKNOWN);
    }
}

static void written_in_lane(void *arg)
{
    struct writing *w = arg;
    const struct errmsg *e = w->entry.error != NULL ? w->entry.error : w->entry.item.error;
    if (w->c->now != w) { /* the client has given up on it */
        return;
    }
    if (w->patience != NULL) {
        w->c->run->timers->cancel(w->c->run->timers->self, w->patience);
    }
    if (e != NULL) {
        err_copy(&w->error, e);
    }
    enum err code = e != NULL ? err_code(e) : ERR_OK;
    op_over(w, code == ERR_OK ? FATE_ACKNOWLEDGED : code == ERR_CONFLICT ? FATE_REFUSED : FATE_UNKNOWN);
    writes_fini(&w->set);
    cluster_state_unref(w->env.state);
    arena_fini(&w->arena);
    free(w);
}

static void written(struct write_set *s)
{
    struct writing *w = s->user;
    executor_submit_force(sim_lane_executor(w->c->run->lane), written_in_lane, w);
}

struct sim_node *some_node(struct run *run)
{
    unsigned from = (unsigned)rng_below(&run->rng, run->w.n_nodes);
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        struct sim_node *n = &run->w.nodes[(from + i) % run->w.n_nodes];
        if (n->up && !n->paused) {
            return n;
        }
    }
    return NULL;
}

static void fill_item(struct run *run, struct writing *w, struct past_write *p)
{
    struct write_item *it = &w->entry.item;
    *it = (struct write_item){.kind = p->is_delete ? WRITE_DELETE : WRITE_INDEX,
                              .id = arena_printf(&w->arena, "d%u", p->doc),
                              .create = p->created,
                              .auto_id_ms = -1,
                              .version = VERSION_ANY,
                              .if_seq_no = SEQ_UNASSIGNED};
    if (p->if_seq_no >= 0) {
        it->if_seq_no = p->if_seq_no;
        it->if_primary_term = run->known[p->doc].term;
    }
    if (!p->is_delete) {
        /* Some have a new field: a state that changes while all else goes on. */
        it->source = rng_below(&run->rng, 12) == 0
                         ? arena_printf(&w->arena, "{\"v\":%llu,\"f%u\":\"x\"}", (unsigned long long)p->value,
                                        (unsigned)rng_below(&run->rng, 60))
                         : arena_printf(&w->arena, "{\"v\":%llu}", (unsigned long long)p->value);
    }
}

static void next_op(void *arg)
{
    struct client *c = arg;
    struct run *run = c->run;
    struct sim_node *n = run->over ? NULL : some_node(run);
    if (n == NULL) {
        if (!run->over) {
            pause_then_next(c);
        }
        return;
    }
    struct past_write p = {.doc = (unsigned)rng_below(&run->rng, DOCS),
                           .value = ++run->next_value,
                           .if_seq_no = -1,
                           .seq_no = -1,
                           .begun_ms = world_ms(&run->w),
                           .ended_ms = INT64_MAX};
    unsigned kind = (unsigned)rng_below(&run->rng, 10);
    p.is_delete = kind == 0;
    p.created = kind == 1;
    if (kind >= 2 && kind <= 4 && run->known[p.doc].seq_no >= 0) {
        p.if_seq_no = run->known[p.doc].seq_no;
    }
    struct writing *w = calloc(1, sizeof(*w));
    arena_init(&w->arena, NULL, ARENA_UNLIMITED);
    w->error = err_in(&w->arena);
    w->c = c;
    w->place = run->h.n;
    history_begin(&run->h, &p);
    run->r->writes++;
    w->env = (struct op_env){.co = member_coordinator(n->member),
                             .arena = &w->arena,
                             .em = err_in(&w->arena),
                             .state = cluster_state(member_cluster(n->member))};
    w->entry = (struct write_entry){.target = STR("i"), .action = p.is_delete ? "delete" : "index"};
    fill_item(run, w, &p);
    w->set = (struct write_set){.r = &w->env,
                                .v = &w->entry,
                                .n = 1,
                                .timeout_ms = OP_TIMEOUT_MS,
                                .active = 0,
                                .refresh = REFRESH_NONE,
                                .done = written,
                                .user = w};
    c->now = w;
    w->patience = run->timers->start(run->timers->self, GIVE_UP_MS, impatient, w);
    writes_run(&w->set);
}

void clients_start(struct run *run)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        run->clients[i] = (struct client){run, i, NULL};
        next_op(&run->clients[i]);
    }
}

bool clients_quiet(const struct run *run)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        if (run->clients[i].now != NULL) {
            return false;
        }
    }
    return true;
}

/* ---- the index ---- */

static void index_made(struct meta_request *rq)
{
    struct run *run = rq->user;
    run->created |= !err_is(&rq->error) || err_code(&rq->error) == ERR_INDEX_EXISTS;
}

void make_index(struct run *run)
{
    /* Where all nodes come back, no copy has to wait for the end of its delay. */
    bool all_return = !run->shape.members && !run->shape.damage && run->o.seed % 6 == 4;
    /* What disks damage lies in many segments, and in several generations of the log. */
    const char *small = "\"index.translog.flush_threshold_size\":\"3kb\","
                        "\"index.translog.generation_threshold_size\":\"1kb\",";
    struct meta_request *rq = calloc(1, sizeof(*rq));
    struct sim_node *n = some_node(run);
    struct str *name;
    meta_request_init(rq, META_CREATE_INDEX, index_made, run);
    name = ARENA_NEW(&rq->arena, struct str);
    *name = STR("i");
    rq->names = name;
    rq->n_names = 1;
    rq->text = arena_printf(&rq->arena,
                            "{\"settings\":{\"number_of_shards\":2,\"number_of_replicas\":1,%s"
                            "\"index.unassigned.node_left.delayed_timeout\":\"%s\"},"
                            "\"mappings\":{\"properties\":{\"v\":{\"type\":\"long\"}}}}",
                            run->shape.damage ? small : "", all_return ? "1h" : "1s");
    rq->timeout_ms = 30000;
    if (json_parse(&rq->body, rq->text, &rq->arena, &json_limits_default, NULL) != ERR_OK) {
        abort();
    }
    cluster_submit(member_cluster(n->member), rq);
}
