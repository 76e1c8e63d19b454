#include "tests/sim/run.h"

#include "common/base/hash.h"
#include "common/cluster/health.h"
#include "coordinator/rest/rest.h"
#include "coordinator/writes.h"
#include "engine/index/engine.h"
#include "tests/sim/history.h"
#include "tests/sim/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCS          12
#define CLIENTS       4
#define SHARDS        2
#define TERMS_MAX     4096
#define OP_TIMEOUT_MS 5000  /* as given to the coordinator */
#define GIVE_UP_MS    20000 /* the node that was asked may be gone */
#define GREEN_MS_MAX  180000
#define SECOND        (1000LL * 1000 * 1000)

struct client {
    struct run *run;
    unsigned number;
    struct writing *now; /* NULL: between two */
};

struct seen_primary { /* of a shard and term, in the newest state seen */
    uint64_t version;
    char id[32], target[32];
};

struct run {
    struct run_opts o;
    struct run_result *r;
    struct world w;
    struct rng rng;
    struct sim_lane *lane; /* of the clients and of what befalls */
    const struct timers *timers;
    struct client clients[CLIENTS];
    struct history h;
    struct {
        int64_t seq_no, term;
    } known[DOCS];
    uint64_t next_value;
    bool over; /* clients begin nothing new */
    bool created;
    /* what was applied anywhere */
    char masters[TERMS_MAX][32];
    uint64_t first_version[TERMS_MAX], last_version[TERMS_MAX], term_max;
    struct seen_primary primaries[SHARDS][TERMS_MAX];
    bool partitioned;
};

static void violated(struct run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void violated(struct run *run, const char *fmt, ...)
{
    va_list args;
    if (run->r->what[0] != '\0') {
        return;
    }
    va_start(args, fmt);
    vsnprintf(run->r->what, sizeof(run->r->what), fmt, args);
    va_end(args);
    world_say(&run->w, "VIOLATION: %s", run->r->what);
}

/* ---- what holds in every state ---- */

static void copy_id(char out[32], struct str s)
{
    snprintf(out, 32, "%.*s", STR_ARG(s));
}

static void check_primary(struct run *run, unsigned shard, uint64_t term, uint64_t version,
                          const struct shard_copy *c)
{
    struct seen_primary *p = &run->primaries[shard][term % TERMS_MAX];
    if (!copy_active(c)
        || version < p->version) { /* a node that was stopped applies what others did long ago */
        return;
    }
    p->version = version;
    if (p->id[0] != '\0' && !str_is(c->allocation_id, p->id) && !str_is(c->allocation_id, p->target)) {
        violated(run, "shard %u has two primaries in term %llu: %s and %.*s", shard, (unsigned long long)term,
                 p->id, STR_ARG(c->allocation_id));
    }
    copy_id(p->id, c->allocation_id);
    if (c->state == COPY_RELOCATING) {
        copy_id(p->target, c->target_id);
    }
}

static void applied(void *self, unsigned at, struct cluster_state *s)
{
    struct run *run = self;
    const struct node_meta *master = cluster_master(s);
    uint64_t t = s->term % TERMS_MAX;
    if (master == NULL) {
        return;
    }
    world_say(&run->w, "n%u: state %llu of term %llu, master %.*s", at, (unsigned long long)s->version,
              (unsigned long long)s->term, STR_ARG(master->name));
    if (run->masters[t][0] != '\0' && !str_is(master->id, run->masters[t])) {
        violated(run, "term %llu has two masters", (unsigned long long)s->term);
    }
    copy_id(run->masters[t], master->id);
    if (run->first_version[t] == 0 || s->version < run->first_version[t]) {
        run->first_version[t] = s->version;
    }
    run->last_version[t] = MAX_OF(run->last_version[t], s->version);
    run->term_max = MAX_OF(run->term_max, t);
    for (uint64_t k = 1; k <= run->term_max; k++) {
        if (k < t && run->last_version[k] >= s->version) {
            violated(run, "state %llu of term %llu was committed, and is not behind state %llu of term %llu",
                     (unsigned long long)run->last_version[k], (unsigned long long)k,
                     (unsigned long long)s->version, (unsigned long long)s->term);
        }
    }
    const struct index_meta *m = cluster_index(s, STR("i"));
    const struct index_routing *r = cluster_routing(s, STR("i"));
    for (uint32_t i = 0; m != NULL && r != NULL && i < r->n && i < SHARDS; i++) {
        check_primary(run, i, m->primary_terms[i], s->version, &r->shards[i].copies[0]);
    }
    run->r->digest = hash_bytes(&s->version, sizeof(s->version), run->r->digest + at);
}

/* ---- clients ---- */

struct writing {
    struct client *c;
    size_t place; /* in the history */
    struct arena arena;
    struct rest rest;
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
        w->error = *e;
    }
    enum err code = e != NULL ? err_code(e) : ERR_OK;
    op_over(w, code == ERR_OK ? FATE_ACKNOWLEDGED : code == ERR_CONFLICT ? FATE_REFUSED : FATE_UNKNOWN);
    writes_fini(&w->set);
    cluster_state_unref(w->rest.state);
    arena_fini(&w->arena);
    free(w);
}

static void written(struct write_set *s)
{
    struct writing *w = s->user;
    executor_submit_force(sim_lane_executor(w->c->run->lane), written_in_lane, w);
}

static struct sim_node *some_node(struct run *run)
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
        it->source = rng_below(&run->rng, 50) == 0
                         ? arena_printf(&w->arena, "{\"v\":%llu,\"f%u\":\"x\"}", (unsigned long long)p->value,
                                        (unsigned)rng_below(&run->rng, 5))
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
    w->c = c;
    w->place = run->h.n;
    history_begin(&run->h, &p);
    run->r->writes++;
    w->rest = (struct rest){.co = member_coordinator(n->member),
                            .arena = &w->arena,
                            .state = cluster_state(member_cluster(n->member))};
    w->entry = (struct write_entry){.target = STR("i"), .action = p.is_delete ? "delete" : "index"};
    fill_item(run, w, &p);
    w->set = (struct write_set){.r = &w->rest,
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

/* ---- the index ---- */

static void index_made(struct meta_request *rq)
{
    struct run *run = rq->user;
    run->created |= rq->error.n == 0 || err_code(&rq->error) == ERR_INDEX_EXISTS;
}

static void make_index(struct run *run)
{
    static const char body[] = "{\"settings\":{\"number_of_shards\":2,\"number_of_replicas\":1,"
                               "\"index.unassigned.node_left.delayed_timeout\":\"1s\"},"
                               "\"mappings\":{\"properties\":{\"v\":{\"type\":\"long\"}}}}";
    struct meta_request *rq = calloc(1, sizeof(*rq));
    struct sim_node *n = some_node(run);
    struct str *name;
    meta_request_init(rq, META_CREATE_INDEX, index_made, run);
    name = ARENA_NEW(&rq->arena, struct str);
    *name = STR("i");
    rq->names = name;
    rq->n_names = 1;
    rq->text = str_of(body);
    rq->timeout_ms = 30000;
    if (json_parse(&rq->body, rq->text, &rq->arena, &json_limits_default, NULL) != ERR_OK) {
        abort();
    }
    cluster_submit(member_cluster(n->member), rq);
}

static bool is_created(void *arg)
{
    return ((struct run *)arg)->created;
}

/* ---- what befalls ---- */

static void partition(struct run *run)
{
    struct world *w = &run->w;
    unsigned kind = (unsigned)rng_below(&run->rng, 4),
             side = (unsigned)rng_below(&run->rng, 1U << w->n_nodes);
    unsigned one = (unsigned)rng_below(&run->rng, w->n_nodes);
    for (unsigned a = 0; a < w->n_nodes; a++) {
        for (unsigned b = 0; b < w->n_nodes; b++) {
            bool cut = a != b;
            if (kind == 0) { /* halves */
                cut &= ((side >> a) & 1) != ((side >> b) & 1);
            } else if (kind == 1) { /* a single node */
                cut &= a == one || b == one;
            } else if (kind == 2) { /* it hears, and is not heard */
                cut &= a == one;
            } else { /* a bridge: one sees both halves */
                cut &= a != one && b != one && ((side >> a) & 1) != ((side >> b) & 1);
            }
            if (cut) {
                network_cut(w->net, a, b, true);
            }
        }
    }
    world_say(w, "partition of kind %u, side %x, node %u", kind, side, one);
    run->partitioned = true;
}

static void befall(void *arg)
{
    struct run *run = arg;
    struct world *w = &run->w;
    unsigned at = (unsigned)rng_below(&run->rng, w->n_nodes);
    if (run->over) {
        return;
    }
    switch (rng_below(&run->rng, 8)) {
    case 0:
        world_kill(w, at, false);
        break;
    case 1:
        world_kill(w, at, true);
        break;
    case 2:
        world_pause(w, at, !w->nodes[at].paused);
        break;
    case 3:
        if (!run->partitioned) {
            partition(run);
        }
        break;
    case 4:
        network_heal(w->net);
        run->partitioned = false;
        world_say(w, "healed");
        break;
    case 5:
        network_set_loss(w->net, (unsigned)rng_below(&run->rng, 20));
        break;
    default: /* what is down comes back */
        for (unsigned i = 0; i < w->n_nodes; i++) {
            if (!w->nodes[i].up) {
                world_start(w, i);
                break;
            }
            world_pause(w, i, false);
        }
        break;
    }
    run->timers->start(run->timers->self, 100 + (int64_t)rng_below(&run->rng, 2500), befall, run);
}

/* ---- the end ---- */

static bool quiet_and_green(void *arg)
{
    struct run *run = arg;
    for (unsigned i = 0; i < CLIENTS; i++) {
        if (run->clients[i].now != NULL) {
            return false;
        }
    }
    uint64_t version = 0;
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        struct cluster_state *s = cluster_state(member_cluster(run->w.nodes[i].member));
        bool ok = cluster_master(s) != NULL && s->nodes->n == run->w.n_nodes
                  && (i == 0 || s->version == version) && cluster_health(s).status == HEALTH_GREEN
                  && cluster_health(s).relocating == 0;
        version = s->version;
        cluster_state_unref(s);
        if (!ok) {
            return false;
        }
    }
    return true;
}

struct reading {
    struct shard_get get; /* first */
    bool done;
};

static void got(struct shard_rq *rq)
{
    ((struct reading *)(void *)rq)->done = true;
}

static bool was_got(void *arg)
{
    return ((struct reading *)arg)->done;
}

/* One document as one copy has it. */
static void read_doc(struct run *run, struct sim_node *n, const struct index_meta *m, unsigned doc,
                     struct last_doc *out)
{
    struct reading r = {0};
    char id[16];
    snprintf(id, sizeof(id), "d%u", doc);
    shard_rq_init(&r.get.rq, got, NULL);
    r.get.id = str_of(id);
    r.get.rq.shard = (struct shard_ref){m->name, m->uuid, shard_of(m, r.get.id, STR_NULL)};
    r.get.realtime = r.get.want_source = true;
    const struct shard_api *api = data_api(member_data(n->member));
    api->get(api->self, &r.get);
    *out = (struct last_doc){0};
    if (!sim_exec_run_until(run->w.x, was_got, &r, 10 * SECOND) || r.get.rq.error.n > 0) {
        violated(run, "doc %u cannot be read at %s: %s", doc, n->name,
                 r.get.rq.error.n > 0 ? r.get.rq.error.frame[0].reason : "no answer");
    } else if (r.get.found) {
        char text[64];
        snprintf(text, sizeof(text), "%.*s", STR_ARG(r.get.source));
        *out = (struct last_doc){true, strtoull(text + 5, NULL, 10), r.get.seq_no, r.get.primary_term};
    }
    shard_rq_fini(&r.get.rq);
}

static unsigned shard_of_doc(void *self, unsigned doc)
{
    char id[16];
    snprintf(id, sizeof(id), "d%u", doc);
    return shard_of(self, str_of(id), STR_NULL);
}

static void check_documents(struct run *run)
{
    struct cluster_state *s = cluster_state(member_cluster(run->w.nodes[0].member));
    const struct index_meta *m = cluster_index(s, STR("i"));
    const struct index_routing *r = cluster_routing(s, STR("i"));
    struct last_doc last[DOCS];
    for (unsigned d = 0; d < DOCS; d++) {
        const struct shard_routing *sr = &r->shards[shard_of_doc((void *)(uintptr_t)m, d)];
        for (uint32_t k = 0; k < sr->n; k++) {
            struct sim_node *n = NULL;
            for (unsigned i = 0; i < run->w.n_nodes; i++) {
                n = str_is(sr->copies[k].node, run->w.nodes[i].id) ? &run->w.nodes[i] : n;
            }
            struct last_doc here;
            read_doc(run, n, m, d, &here);
            if (k == 0) {
                last[d] = here;
            } else if (here.found != last[d].found
                       || (here.found
                           && (here.value != last[d].value || here.seq_no != last[d].seq_no
                               || here.term != last[d].term))) {
                violated(run, "doc %u differs: value %llu at %lld on its primary, %llu at %lld on %s", d,
                         (unsigned long long)last[d].value, (long long)last[d].seq_no,
                         (unsigned long long)here.value, (long long)here.seq_no, n->name);
            }
        }
    }
    const char *wrong = history_check(&run->h, last, DOCS, shard_of_doc, (void *)(uintptr_t)m);
    if (wrong != NULL) {
        violated(run, "%s", wrong);
    }
    cluster_state_unref(s);
}

static void say_state(struct run *run)
{
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        struct cluster_state *s = cluster_state(member_cluster(run->w.nodes[i].member));
        struct shards_health h = cluster_health(s);
        world_say(&run->w,
                  "n%u: version %llu term %llu, %u nodes, master %s, %s, %u initializing, %u unassigned", i,
                  (unsigned long long)s->version, (unsigned long long)s->term,
                  s->nodes != NULL ? s->nodes->n : 0, cluster_master(s) != NULL ? "known" : "none",
                  health_name(h.status), h.initializing, h.unassigned);
        cluster_state_unref(s);
    }
}

static void mend_and_check(struct run *run)
{
    struct world *w = &run->w;
    run->over = true;
    world_say(w, "everything is mended");
    network_heal(w->net);
    for (unsigned i = 0; i < w->n_nodes; i++) {
        world_pause(w, i, false);
        if (!w->nodes[i].up) {
            world_start(w, i);
        }
    }
    int64_t since = world_ms(w);
    if (!sim_exec_run_until(w->x, quiet_and_green, run, GREEN_MS_MAX * 1000000LL)) {
        say_state(run);
        violated(run, "not green %d s after everything was mended", GREEN_MS_MAX / 1000);
        return;
    }
    run->r->green_ms = world_ms(w) - since;
    sim_exec_run_for(w->x, 2 * SECOND);
    check_documents(run);
}

void run_once(const struct run_opts *o, struct run_result *r)
{
    struct run *run = calloc(1, sizeof(*run));
    *r = (struct run_result){0};
    run->o = *o;
    run->r = r;
    rng_seed(&run->rng, o->seed ^ 0x5e7a1ULL);
    world_init(&run->w, o->seed, o->nodes, o->trace);
    run->w.applied = applied;
    run->w.self = run;
    run->lane = sim_lane_new(run->w.x, SIM_LOOP, 0);
    run->timers = sim_lane_timers(run->lane);
    for (unsigned d = 0; d < DOCS; d++) {
        run->known[d].seq_no = -1;
    }
    for (unsigned i = 0; i < o->nodes; i++) {
        world_start(&run->w, i);
    }
    make_index(run);
    if (!sim_exec_run_until(run->w.x, is_created, run, 60 * SECOND)) {
        violated(run, "the index could not be made");
    } else {
        for (unsigned i = 0; i < CLIENTS; i++) {
            run->clients[i] = (struct client){run, i, NULL};
            next_op(&run->clients[i]);
        }
        run->timers->start(run->timers->self, 1000, befall, run);
        sim_exec_run_for(run->w.x, o->fault_ms * 1000000LL);
        mend_and_check(run);
    }
    r->steps = sim_exec_steps(run->w.x);
    r->messages = network_messages(run->w.net);
    r->digest = hash_bytes(&r->steps, sizeof(r->steps), r->digest);
    r->ok = r->what[0] == '\0';
}
