#include "coordinator/rest/node_figures.h"

#include "coordinator/core/broadcast.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/nodes_stats.h"
#include "proto/shard_ops.h"

/* ---- bytes --------------------------------------------------------------------------------------------- */

static void put_process(struct buf *b, const struct process_stats *p)
{
    put_varint(b, p->rss_bytes);
    put_varint(b, p->virtual_bytes);
    put_varint(b, p->cpu_ms);
    put_varint(b, p->open_files);
    put_varint(b, p->open_files_max);
    put_varint(b, p->threads);
    put_zigzag(b, p->started_wall_ms);
}

static void get_process(struct bytes_in *in, struct process_stats *p)
{
    p->rss_bytes = get_varint(in);
    p->virtual_bytes = get_varint(in);
    p->cpu_ms = get_varint(in);
    p->open_files = get_varint(in);
    p->open_files_max = get_varint(in);
    p->threads = (unsigned)get_varint(in);
    p->started_wall_ms = get_zigzag(in);
}

static void put_machine(struct buf *b, const struct machine_stats *m)
{
    put_varint(b, m->memory_bytes);
    put_varint(b, m->memory_available_bytes);
    put_varint(b, m->memory_limit_bytes);
    put_varint(b, m->swap_bytes);
    put_varint(b, m->swap_free_bytes);
    put_varint(b, m->cores);
    put_varint(b, m->cores_allowed);
    put_f64(b, m->load_1m);
    put_f64(b, m->load_5m);
    put_f64(b, m->load_15m);
}

static void get_machine(struct bytes_in *in, struct machine_stats *m)
{
    m->memory_bytes = get_varint(in);
    m->memory_available_bytes = get_varint(in);
    m->memory_limit_bytes = get_varint(in);
    m->swap_bytes = get_varint(in);
    m->swap_free_bytes = get_varint(in);
    m->cores = (unsigned)get_varint(in);
    m->cores_allowed = (unsigned)get_varint(in);
    m->load_1m = get_f64(in);
    m->load_5m = get_f64(in);
    m->load_15m = get_f64(in);
}

static struct str keep(struct bytes_in *in, struct arena *a)
{
    struct str s = get_str(in), copy = in->bad ? STR_NULL : arena_str(a, s);
    in->bad |= copy.p == NULL;
    return copy;
}

static void put_pool(struct buf *b, const struct pool_report *p)
{
    put_str(b, str_of(p->name));
    put_varint(b, p->stats.threads);
    put_varint(b, p->stats.active);
    put_varint(b, p->stats.largest);
    put_varint(b, p->stats.queue);
    put_varint(b, p->stats.rejected);
    put_varint(b, p->stats.completed);
    put_varint(b, p->threads_max);
    put_zigzag(b, p->queue_max);
}

static void get_pool(struct bytes_in *in, struct pool_report *p, struct arena *a)
{
    p->name = keep(in, a).p;
    p->stats.threads = (unsigned)get_varint(in);
    p->stats.active = (unsigned)get_varint(in);
    p->stats.largest = (unsigned)get_varint(in);
    p->stats.queue = (size_t)get_varint(in);
    p->stats.rejected = get_varint(in);
    p->stats.completed = get_varint(in);
    p->threads_max = (unsigned)get_varint(in);
    p->queue_max = get_zigzag(in);
}

static void put_report(struct buf *b, const struct node_report *r)
{
    put_str(b, r->host);
    put_str(b, r->transport_address);
    put_str(b, r->http_address);
    put_str(b, r->data_dir);
    put_varint(b, r->roles);
    put_varint(b, r->cores);
    put_varint(b, r->http_open);
    put_varint(b, r->http_opened);
    put_varint(b, r->http_body_bytes_max);
    put_varint(b, r->disk.total_bytes);
    put_varint(b, r->disk.free_bytes);
    put_varint(b, r->disk.available_bytes);
    put_zigzag(b, r->cpu_percent);
    put_zigzag(b, r->process_cpu_percent);
    put_varint(b, r->n_pools);
    for (unsigned i = 0; i < r->n_pools; i++) {
        put_pool(b, &r->pools[i]);
    }
}

static void get_report(struct bytes_in *in, struct node_report *r, struct arena *a)
{
    r->host = keep(in, a);
    r->transport_address = keep(in, a);
    r->http_address = keep(in, a);
    r->data_dir = keep(in, a);
    r->roles = (unsigned)get_varint(in);
    r->cores = (unsigned)get_varint(in);
    r->http_open = get_varint(in);
    r->http_opened = get_varint(in);
    r->http_body_bytes_max = get_varint(in);
    r->disk.total_bytes = get_varint(in);
    r->disk.free_bytes = get_varint(in);
    r->disk.available_bytes = get_varint(in);
    r->cpu_percent = (int)get_zigzag(in);
    r->process_cpu_percent = (int)get_zigzag(in);
    uint64_t pools = get_varint(in);
    in->bad |= pools > NODE_POOLS_MAX;
    for (r->n_pools = 0; !in->bad && r->n_pools < pools; r->n_pools++) {
        get_pool(in, &r->pools[r->n_pools], a);
    }
}

void node_figures_encode(const struct node_figures *f, struct buf *out)
{
    struct shard_act sums = {.stats = &f->shards};
    put_zigzag(out, f->pid);
    put_zigzag(out, f->started_ms);
    put_report(out, &f->report);
    put_process(out, &f->process);
    put_machine(out, &f->machine);
    shard_op_act.encode_answer(&sums.rq, out);
}

enum err node_figures_decode(struct node_figures *f, struct str bytes, struct arena *arena, struct errmsg *em)
{
    struct bytes_in in = bytes_in(bytes);
    struct shard_act sums = {.stats = NULL};
    *f = (struct node_figures){.pid = get_zigzag(&in)};
    f->started_ms = get_zigzag(&in);
    get_report(&in, &f->report, arena);
    get_process(&in, &f->process);
    get_machine(&in, &f->machine);
    shard_rq_init(&sums.rq, &shard_op_act, NULL, NULL);
    if (!in.bad) {
        shard_op_act.decode_answer(&sums.rq, &in);
    }
    if (!in.bad && sums.stats != NULL) {
        f->shards = *sums.stats;
        f->shards.commit_id = STR_NULL; /* a sum has none */
    }
    bool ok = !in.bad && sums.stats != NULL && bytes_left(&in) == 0;
    shard_rq_fini(&sums.rq);
    return ok ? ERR_OK : err_set(em, ERR_CORRUPT, "a node's figures cannot be read");
}

/* ---- at the node asked --------------------------------------------------------------------------------- */

struct serving {
    struct node_question *q;
    struct rest r;
};

static void send(struct serving *s, const struct shard_stats *sum)
{
    struct node_figures f = {.pid = process_id(), .started_ms = s->q->co->o.started_ms, .shards = *sum};
    struct buf b;
    nodes_report(&s->r, &f.report);
    process_stats(&f.process);
    machine_stats(&f.machine);
    buf_init(&b, NULL, BUF_UNLIMITED);
    node_figures_encode(&f, &b);
    cluster_state_unref(s->r.state);
    node_reply_bytes(s->q, &b);
}

static void summed(struct broadcast *bc)
{
    struct shard_stats sum = {0};
    for (uint32_t i = 0; i < bc->n; i++) {
        if (bc->acts[i].stats != NULL) {
            stats_add(&sum, bc->acts[i].stats);
        }
    }
    struct serving *s = bc->user;
    broadcast_fini(bc);
    send(s, &sum);
}

void node_figures_serve(struct node_question *q, bool with_shards)
{
    static const struct shard_stats none = {0};
    struct shard_act a = {.action = SHARD_STATS};
    struct expand_options o = {true, true, EXPAND_OPEN | EXPAND_HIDDEN, false, false, 0};
    const struct index_target *t;
    uint32_t n;
    struct serving *s = ARENA_NEW(&q->arena, struct serving);
    ERR_LOCAL(em);
    if (s == NULL) {
        err_no_memory(&em);
        node_refuse(q, &em);
        return;
    }
    s->q = q;
    s->r = (struct rest){.co = q->co, .arena = &q->arena, .state = q->co->o.state(q->co->o.self)};
    s->r.em = err_in(&q->arena);
    if (!with_shards) {
        send(s, &none);
        return;
    }
    enum err e =
        resolve_indices(s->r.state, STR_NULL, &o, clock_wall_ms(q->co->o.clock), &q->arena, &t, &n, &em);
    if (e == ERR_OK && !broadcast_start_on(&s->r.env, q->co->o.node_id, t, n, &a, summed, s)) {
        e = err_no_memory(&em);
    }
    if (e != ERR_OK) {
        cluster_state_unref(s->r.state);
        node_refuse(q, &em);
    }
}

/* ---- asking -------------------------------------------------------------------------------------------- */

void node_figures_ask(struct rest *r, struct str nodes, bool with_shards, int64_t timeout_ms,
                      void (*done)(struct node_calls *c), void *user)
{
    struct node_stats_question what = {.kind = with_shards ? NODE_STATS_FIGURES_SUMS : NODE_STATS_FIGURES};
    nodes_ask(r, &message_node_stats, nodes, &what, timeout_ms, done, user);
}

const struct node_figures *node_figures_of(const struct node_calls *c, uint32_t i)
{
    const struct str *bytes = c->v[i].answer;
    struct node_figures *f = !err_is(&c->v[i].error) ? ARENA_NEW(c->r->arena, struct node_figures) : NULL;
    return f != NULL && node_figures_decode(f, *bytes, c->r->arena, NULL) == ERR_OK ? f : NULL;
}
