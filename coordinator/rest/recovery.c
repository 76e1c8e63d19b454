/* Recoveries of copies, finished and in progress: _recovery, _cat/recovery. */
#include "coordinator/rest/broadcast.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/stats.h"
#include "coordinator/rest/table.h"

#include "common/base/date.h"

struct recovery_rq {
    bool detailed, active_only;
};

static const char *const sources[] = {[RECOVER_EMPTY_STORE] = "EMPTY_STORE",
                                      [RECOVER_EXISTING_STORE] = "EXISTING_STORE",
                                      [RECOVER_PEER] = "PEER"};
static const char *const stages[] = {[RECOVERY_INIT] = "INIT",
                                     [RECOVERY_INDEX] = "INDEX",
                                     [RECOVERY_VERIFY_INDEX] = "VERIFY_INDEX",
                                     [RECOVERY_TRANSLOG] = "TRANSLOG",
                                     [RECOVERY_FINALIZE] = "FINALIZE",
                                     [RECOVERY_DONE] = "DONE"};

static const struct table_column columns[] = {
    {"index", "i,idx", "index name", false, false},
    {"shard", "s,sh", "shard name", false, false},
    {"start_time", "start", "recovery start time", false, true},
    {"start_time_millis", "start_millis", "recovery start time in epoch milliseconds", false, true},
    {"stop_time", "stop", "recovery stop time", false, true},
    {"stop_time_millis", "stop_millis", "recovery stop time in epoch milliseconds", false, true},
    {"time", "t,ti", "recovery time", false, false},
    {"type", "ty", "recovery type", false, false},
    {"stage", "st", "recovery stage", false, false},
    {"source_host", "shost", "source host", false, false},
    {"source_node", "snode", "source node name", false, false},
    {"target_host", "thost", "target host", false, false},
    {"target_node", "tnode", "target node name", false, false},
    {"repository", "rep", "repository", false, false},
    {"snapshot", "snap", "snapshot", false, false},
    {"files", "f", "number of files to recover", false, false},
    {"files_recovered", "fr", "files recovered", false, false},
    {"files_percent", "fp", "percent of files recovered", false, false},
    {"files_total", "tf", "total number of files", false, false},
    {"bytes", "b", "number of bytes to recover", false, false},
    {"bytes_recovered", "br", "bytes recovered", false, false},
    {"bytes_percent", "bp", "percent of bytes recovered", false, false},
    {"bytes_total", "tb", "total number of bytes", false, false},
    {"translog_ops", "to", "number of translog ops to recover", false, false},
    {"translog_ops_recovered", "tor", "translog ops recovered", false, false},
    {"translog_ops_percent", "top", "percent of translog ops recovered", false, false},
};

/* ---- what both print ----------------------------------------------------------------------------------- */

/* Of `total`, what has to be copied, and has been: "0.0%" where nothing is known yet. */
static double percent(uint64_t total, uint64_t reused, uint64_t recovered)
{
    uint64_t wanted = total > reused ? total - reused : 0;
    if (total == 0) {
        return 0;
    }
    return wanted <= recovered ? 100 : 100.0 * (double)recovered / (double)wanted;
}

static double ops_percent(const struct shard_recovery *v)
{
    return v->ops_total == 0 ? 100 : 100.0 * (double)v->ops_recovered / (double)v->ops_total;
}

static int64_t took_ms(const struct rest *r, const struct shard_recovery *v)
{
    return v->stop_ms > 0 ? v->total_ms : MAX_OF(clock_wall_ms(r->co->o.clock) - v->start_ms, (int64_t)0);
}

static struct str time_text(struct rest *r, int64_t ms)
{
    const struct date_format *f;
    struct buf b;
    struct str out = STR_NULL;
    buf_init(&b, NULL, 64);
    if (date_format_new(&f, STR("strict_date_time"), r->arena, NULL) == ERR_OK
        && date_print_ms(f, ms, NULL, &b)) {
        out = arena_str(r->arena, buf_view(&b));
    }
    buf_fini(&b);
    return out;
}

/* What the copy's node said; of a primary that came up where its data lay, it may have nothing to tell: nothing
 * was copied, and it has ended when it serves. NULL: nothing is known. */
static const struct shard_recovery *recovery_of_copy(const struct broadcast *bc, uint32_t i)
{
    struct rest *r = rest_of(bc->r);
    const struct shard_recovery *said = bc->acts[i].recovery;
    const struct shard_copy *c = &bc->asked[i];
    const struct index_meta *m = cluster_index(r->state, bc->acts[i].rq.shard.index);
    if (said != NULL && said->start_ms > 0) {
        return said;
    }
    struct shard_recovery *v = m != NULL && c->primary ? ARENA_NEW(r->arena, struct shard_recovery) : NULL;
    if (v == NULL) {
        return NULL;
    }
    bool created_here = m->created_ms >= r->co->o.started_ms;
    int64_t when = created_here ? m->created_ms : r->co->o.started_ms;
    *v = (struct shard_recovery){.stage = copy_active(c) ? RECOVERY_DONE : RECOVERY_INIT,
                                 .source = created_here ? RECOVER_EMPTY_STORE : RECOVER_EXISTING_STORE,
                                 .primary = true,
                                 .target_node = c->node,
                                 .start_ms = when,
                                 .stop_ms = copy_active(c) ? when : 0};
    return v;
}

/* NULL: not to be shown. */
static const struct shard_recovery *recovery_shown(const struct broadcast *bc, uint32_t i)
{
    const struct recovery_rq *q = bc->user;
    const struct shard_recovery *v = recovery_of_copy(bc, i);
    return v != NULL && !(q->active_only && v->stage == RECOVERY_DONE) ? v : NULL;
}

/* ---- _recovery ----------------------------------------------------------------------------------------- */

static void write_node(struct jsonw *w, const struct rest *r, const char *key, struct str id)
{
    const struct node_meta *n = id.p != NULL ? cluster_node(r->state, id) : NULL;
    jw_kobj(w, key);
    if (n != NULL) {
        jw_kstr(w, "id", n->id);
        jw_kstr(w, "host", n->host);
        jw_kstr(w, "transport_address", n->transport_address);
        jw_kstr(w, "ip", n->host);
        jw_kstr(w, "name", n->name);
    }
    jw_obj_end(w);
}

static void write_percent(struct jsonw *w, double v)
{
    jw_k(w, "percent");
    jw_strf(w, "%.1f%%", v);
}

static void write_index(const struct stats_out *o, const struct shard_recovery *v, bool detailed)
{
    struct jsonw *w = o->w;
    jw_kobj(w, "index");
    jw_kobj(w, "size");
    stats_put(o, "total_in_bytes", v->bytes_total);
    stats_put(o, "reused_in_bytes", v->bytes_reused);
    stats_put(o, "recovered_in_bytes", v->bytes_recovered);
    write_percent(w, percent(v->bytes_total, v->bytes_reused, v->bytes_recovered));
    jw_obj_end(w);
    jw_kobj(w, "files");
    jw_ki64(w, "total", v->files_total);
    jw_ki64(w, "reused", v->files_reused);
    jw_ki64(w, "recovered", v->files_recovered);
    write_percent(w, percent(v->files_total, v->files_reused, v->files_recovered));
    if (detailed) {
        jw_karr(w, "details");
        jw_arr_end(w);
    }
    jw_obj_end(w);
    stats_put(o, "total_time_in_millis", (uint64_t)v->index_ms);
    stats_put(o, "source_throttle_time_in_millis", (uint64_t)v->source_throttle_ms);
    stats_put(o, "target_throttle_time_in_millis", (uint64_t)v->target_throttle_ms);
    jw_obj_end(w);
}

static void write_recovery(const struct stats_out *o, struct rest *r, uint32_t shard,
                           const struct shard_recovery *v, bool detailed)
{
    struct jsonw *w = o->w;
    jw_obj(w);
    jw_ki64(w, "id", shard);
    jw_kz(w, "type", sources[v->source]);
    jw_kz(w, "stage", stages[v->stage]);
    jw_kbool(w, "primary", v->primary);
    if (o->human) {
        jw_kstr(w, "start_time", time_text(r, v->start_ms));
    }
    jw_ki64(w, "start_time_in_millis", v->start_ms);
    if (v->stop_ms > 0) {
        if (o->human) {
            jw_kstr(w, "stop_time", time_text(r, v->stop_ms));
        }
        jw_ki64(w, "stop_time_in_millis", v->stop_ms);
    }
    stats_put(o, "total_time_in_millis", (uint64_t)took_ms(r, v));
    write_node(w, r, "source", v->source == RECOVER_PEER ? v->source_node : STR_NULL);
    write_node(w, r, "target", v->target_node);
    write_index(o, v, detailed);
    jw_kobj(w, "translog");
    jw_ki64(w, "recovered", (int64_t)v->ops_recovered);
    jw_ki64(w, "total", (int64_t)v->ops_total);
    write_percent(w, ops_percent(v));
    jw_ki64(w, "total_on_start", (int64_t)v->ops_total_on_start);
    stats_put(o, "total_time_in_millis", (uint64_t)v->translog_ms);
    jw_obj_end(w);
    jw_kobj(w, "verify_index");
    stats_put(o, "check_index_time_in_millis", (uint64_t)v->verify_ms);
    stats_put(o, "total_time_in_millis", (uint64_t)v->verify_ms);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void recovery_done(struct broadcast *bc)
{
    struct rest *r = rest_of(bc->r);
    const struct recovery_rq *q = bc->user;
    struct buf b;
    struct jsonw w;
    struct stats_out o = stats_out_for(r, &w);
    jsonw_start(&w, &b);
    jw_obj(&w);
    for (uint32_t i = 0; i < bc->n;) {
        uint32_t at = i;
        bool open = false;
        for (; i < bc->n && str_eq(bc->acts[i].rq.shard.index, bc->acts[at].rq.shard.index); i++) {
            const struct shard_recovery *v = recovery_shown(bc, i);
            if (v == NULL) {
                continue;
            }
            if (!open) {
                jw_key(&w, bc->acts[at].rq.shard.index);
                jw_obj(&w);
                jw_karr(&w, "shards");
                open = true;
            }
            write_recovery(&o, r, bc->acts[i].rq.shard.shard, v, q->detailed);
        }
        if (open) {
            jw_arr_end(&w);
            jw_obj_end(&w);
        }
    }
    jw_obj_end(&w);
    broadcast_fini(bc);
    rest_send(r, 200, &b);
}

static void ask(struct rest *r, void (*done)(struct broadcast *bc))
{
    struct expand_options o = EXPAND_OPTIONS_ADMIN;
    struct shard_act a = {.action = SHARD_RECOVERY};
    struct recovery_rq *q = ARENA_NEW(r->arena, struct recovery_rq);
    o.unblocked = 1U << BLOCK_METADATA_READ;
    enum err e = q != NULL ? rest_bool(r, "active_only", false, &q->active_only) : err_no_memory(&r->em);
    e = e == ERR_OK ? rest_bool(r, "detailed", false, &q->detailed) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    rest_broadcast_path(r, &o, &a, done, q);
}

static void recovery(struct rest *r)
{
    stats_out_for(r, NULL); /* "human" is known */
    ask(r, recovery_done);
}

/* ---- as a table ---------------------------------------------------------------------------------------- */

static void put_node(struct table *t, struct str id)
{
    const struct node_meta *n = id.p != NULL ? cluster_node(t->r->state, id) : NULL;
    table_str(t, n != NULL ? n->host : STR("n/a"));
    table_str(t, n != NULL ? n->name : STR("n/a"));
}

static void put_counts(struct table *t, uint64_t total, uint64_t reused, uint64_t recovered)
{
    table_number(t, (int64_t)(total - MIN_OF(reused, total)));
    table_number(t, (int64_t)recovered);
    table_f(t, "%.1f%%", percent(total, reused, recovered));
    table_number(t, (int64_t)total);
}

static void row(struct table *t, const struct shard_act *a, const struct shard_recovery *v)
{
    struct rest *r = t->r;
    table_row(t);
    table_str(t, a->rq.shard.index);
    table_number(t, a->rq.shard.shard);
    table_str(t, time_text(r, v->start_ms));
    table_number(t, v->start_ms);
    if (v->stop_ms > 0) {
        table_str(t, time_text(r, v->stop_ms));
        table_number(t, v->stop_ms);
    } else {
        table_null(t);
        table_null(t);
    }
    table_ms(t, took_ms(r, v));
    table_str(t, arena_lower(r->arena, str_of(sources[v->source])));
    table_str(t, arena_lower(r->arena, str_of(stages[v->stage])));
    put_node(t, v->source == RECOVER_PEER ? v->source_node : STR_NULL);
    put_node(t, v->target_node);
    table_z(t, "n/a");
    table_z(t, "n/a");
    put_counts(t, v->files_total, v->files_reused, v->files_recovered);
    put_counts(t, v->bytes_total, v->bytes_reused, v->bytes_recovered);
    table_number(t, (int64_t)v->ops_total);
    table_number(t, (int64_t)v->ops_recovered);
    table_f(t, "%.1f%%", ops_percent(v));
}

static void table_done(struct broadcast *bc)
{
    struct table t;
    table_init(&t, rest_of(bc->r), columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < bc->n; i++) {
        const struct shard_recovery *v = recovery_shown(bc, i);
        if (v != NULL) {
            row(&t, &bc->acts[i], v);
        }
    }
    broadcast_fini(bc);
    table_send(&t);
}

static void cat_recovery(struct rest *r)
{
    if (!table_help(r, columns, ARRAY_LEN(columns))) {
        ask(r, table_done);
    }
}

const struct route routes_recovery[] = {
    {M_GET, "/_recovery", recovery},
    {M_GET, "/{index}/_recovery", recovery},
    {M_GET, "/_cat/recovery", cat_recovery},
    {M_GET, "/_cat/recovery/{index}", cat_recovery},
};
const size_t routes_recovery_n = ARRAY_LEN(routes_recovery);
