/* The _cat endpoints about shards and their segments. */
#include "coordinator/rest/broadcast.h"
#include "coordinator/rest/cat_counters.h"
#include "coordinator/rest/master_view.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/stats.h"

#include "common/base/date.h"
#include "common/cluster/health.h"

enum { SHARDS_COUNTERS = 15 }; /* where they begin in the table below */
static const struct table_column shards_columns[] = {
    {"index", "i,idx", "index name", false, false},
    {"shard", "s,sh", "shard name", false, false},
    {"prirep", "p,pr,primaryOrReplica", "primary or replica", false, false},
    {"state", "st", "shard state", false, false},
    {"docs", "d,dc", "number of docs in shard", true, false},
    {"store", "sto", "store size of shard (how much disk it uses)", true, false},
    {"ip", NULL, "ip of node where it lives", false, false},
    {"id", NULL, "unique id of node where it lives", false, true},
    {"node", "n", "name of node where it lives", false, false},
    {"sync_id", "sync_id", "sync id", false, true},
    {"unassigned.reason", "ur", "reason shard is unassigned", false, true},
    {"unassigned.at", "ua", "time shard became unassigned (UTC)", false, true},
    {"unassigned.for", "uf", "time has been unassigned", false, true},
    {"unassigned.details", "ud", "additional details as to why the shard became unassigned", false, true},
    {"recoverysource.type", "rs", "recovery source type", false, true},
    CAT_CACHES(CAT_COLUMN),
    CAT_OPERATIONS(CAT_COLUMN),
    CAT_SEARCHES(CAT_COLUMN),
    {"seq_no.max", "sqm,maxSeqNo", "max sequence number", true, true},
    {"seq_no.local_checkpoint", "sql,localCheckpoint", "local checkpoint", true, true},
    {"seq_no.global_checkpoint", "sqg,globalCheckpoint", "global checkpoint", true, true},
    CAT_WARMER(CAT_COLUMN),
    {"path.data", "pd,dataPath", "shard data path", true, true},
    {"path.state", "ps,statsPath", "shard state path", true, true},
};

static const struct table_column segments_columns[] = {
    {"index", "i,idx", "index name", false, false},
    {"shard", "s,sh", "shard name", false, false},
    {"prirep", "p,pr,primaryOrReplica", "primary or replica", false, false},
    {"ip", NULL, "ip of node where it lives", false, false},
    {"id", NULL, "unique id of node where it lives", false, true},
    {"segment", "seg", "segment name", false, false},
    {"generation", "g,gen", "segment generation", false, false},
    {"docs.count", "dc,docsCount", "number of docs in segment", true, false},
    {"docs.deleted", "dd,docsDeleted", "number of deleted docs in segment", true, false},
    {"size", "si", "segment size in bytes", true, false},
    {"size.memory", "sm,sizeMemory", "segment memory in bytes", true, false},
    {"committed", "ic,isCommitted", "is segment committed", false, false},
    {"searchable", "is,isSearchable", "is segment searched", false, false},
    {"version", "v,ver", "version", false, false},
    {"compound", "ico,isCompound", "is segment compound", false, false},
};

/* ---- shards ------------------------------------------------------------------------------------------ */

static void put_time(struct table *t, int64_t at_ms)
{
    const struct date_format *f;
    struct buf at;
    buf_init(&at, NULL, 64);
    if (date_format_new(&f, STR("strict_date_time"), t->r->arena, NULL) == ERR_OK
        && date_print_ms(f, at_ms, NULL, &at)) {
        table_f(t, "%.*s", STR_ARG(buf_view(&at)));
    } else {
        table_null(t);
    }
    buf_fini(&at);
}

static void put_node(struct table *t, const struct shard_copy *c)
{
    const struct node_meta *n = c->node.p != NULL ? cluster_node(t->r->state, c->node) : NULL;
    if (n == NULL) {
        for (int i = 0; i < 3; i++) {
            table_null(t);
        }
        return;
    }
    table_str(t, n->host);
    table_str(t, n->id);
    const struct node_meta *to =
        c->state == COPY_RELOCATING ? cluster_node(t->r->state, c->target_node) : NULL;
    if (to != NULL) {
        table_f(t, "%.*s -> %.*s %.*s %.*s", STR_ARG(n->name), STR_ARG(to->host), STR_ARG(to->id),
                STR_ARG(to->name));
    } else {
        table_str(t, n->name);
    }
}

/* Why the copy has no place, or since when it recovers. */
static void put_trouble(struct table *t, const struct shard_copy *c)
{
    static const char *const sources[] = {"EMPTY_STORE", "EXISTING_STORE", "PEER"};
    table_null(t); /* sync_id */
    if (c->state == COPY_UNASSIGNED) {
        table_z(t, copy_reason_name(c->trouble.reason));
        put_time(t, c->trouble.at_ms);
        table_ms(t, clock_wall_ms(t->r->co->o.clock) - c->trouble.at_ms);
        if (c->trouble.details.p != NULL) {
            table_str(t, c->trouble.details);
        } else {
            table_null(t);
        }
    } else {
        for (int i = 0; i < 4; i++) {
            table_null(t);
        }
    }
    if (copy_active(c)) {
        table_null(t);
    } else {
        table_z(t, sources[c->source]);
    }
}

/* `s`: what the copy answered; NULL: it is not open, or did not. */
static void shard_row(struct table *t, const struct shard_ref *ref, const struct shard_copy *c,
                      const struct shard_stats *s)
{
    table_row(t);
    table_str(t, ref->index);
    table_number(t, ref->shard);
    table_z(t, c->primary ? "p" : "r");
    table_z(t, copy_state_name(c->state));
    if (s != NULL) {
        table_number(t, (int64_t)s->docs);
        table_bytes(t, s->store_bytes);
    } else {
        table_null(t);
        table_null(t);
    }
    put_node(t, c);
    put_trouble(t, c);
    for (size_t i = SHARDS_COUNTERS; s != NULL && i < ARRAY_LEN(shards_columns); i++) {
        cat_put_counter(t, shards_columns[i].name, s);
    }
}

/* The answer of this copy; NULL: it was not asked, or did not answer. `at`: acts come in the order of the copies. */
static const struct shard_stats *stats_of(const struct broadcast *bc, const struct shard_ref *ref,
                                          const struct shard_copy *c, uint32_t *at)
{
    if (*at >= bc->n || !copy_active(c)) {
        return NULL;
    }
    const struct shard_act *a = &bc->acts[*at];
    if (a->rq.shard.shard != ref->shard || !str_eq(a->rq.shard.uuid, ref->uuid)
        || !str_eq(bc->asked[*at].allocation_id, c->allocation_id)) {
        return NULL;
    }
    ++*at;
    return !err_is(&a->rq.error) ? a->stats : NULL;
}

/* How many of the broadcast's answers are of shards of an index before this one. */
static uint32_t acts_before(const struct broadcast *bc, const struct index_meta *m, uint32_t shard)
{
    uint32_t at = 0;
    while (at < bc->n
           && !(str_eq(bc->acts[at].rq.shard.uuid, m->uuid) && bc->acts[at].rq.shard.shard >= shard)) {
        at++;
    }
    return at;
}

static void shard_rows(struct table *t, struct broadcast *bc, const struct index_meta *m, uint32_t shard)
{
    const struct cluster_state *s = bc->r->state;
    struct shard_ref ref = {.index = m->name, .uuid = m->uuid, .shard = shard};
    uint32_t at = acts_before(bc, m, shard);
    for (uint32_t k = 0; k < health_copies(s, m, shard); k++) {
        struct shard_copy c = health_copy(s, m, shard, k);
        shard_row(t, &ref, &c, stats_of(bc, &ref, &c, &at));
    }
}

/* Shards of an index come as Elasticsearch's map has them; with eight and more its order is another each time. */
static void shards_done(struct broadcast *bc)
{
    static const uint32_t mapped[] = {6, 3, 2, 4, 1, 5, 0};
    struct rest *r = rest_of(bc->r);
    struct table t;
    table_init(&t, r, shards_columns, ARRAY_LEN(shards_columns));
    for (uint32_t i = 0; i < bc->n_targets; i++) {
        const struct index_meta *m = bc->targets[i].meta;
        bool in_map = m->n_shards <= ARRAY_LEN(mapped);
        for (uint32_t k = 0; k < (in_map ? (uint32_t)ARRAY_LEN(mapped) : m->n_shards); k++) {
            uint32_t shard = in_map ? mapped[k] : k;
            if (shard < m->n_shards) {
                shard_rows(&t, bc, m, shard);
            }
        }
    }
    broadcast_fini(bc);
    table_send(&t);
}

static void ask_shards(struct rest *r)
{
    struct shard_act a = {.action = SHARD_STATS};
    struct expand_options all = EXPAND_OPTIONS_STATS;
    if (!rest_has(r, "index")) { /* closed ones too */
        all.expand |= EXPAND_CLOSED | EXPAND_HIDDEN;
        all.forbid_closed = false;
    }
    rest_broadcast_named(r, &all, &a, shards_done, NULL);
}

static void cat_shards(struct rest *r)
{
    if (!table_help(r, shards_columns, ARRAY_LEN(shards_columns))) {
        rest_with_master_state(r, ask_shards);
    }
}

/* ---- segments ---------------------------------------------------------------------------------------- */

static int64_t number_of(const struct json *s, const char *key)
{
    int64_t v;
    const struct json *j = json_get(s, key);
    return j != NULL && json_i64(j, &v) ? v : 0;
}

static bool truth_of(const struct json *s, const char *key)
{
    const struct json *j = json_get(s, key);
    return j != NULL && j->b;
}

static void segment_row(struct table *t, const struct shard_act *a, const struct shard_copy *c,
                        struct str name, const struct json *s)
{
    const struct node_meta *n = cluster_node(t->r->state, c->node);
    table_row(t);
    table_str(t, a->rq.shard.index);
    table_number(t, a->rq.shard.shard);
    table_z(t, c->primary ? "p" : "r");
    table_str(t, n != NULL ? n->host : STR(""));
    table_str(t, c->node);
    table_str(t, name);
    table_number(t, number_of(s, "generation"));
    table_number(t, number_of(s, "num_docs"));
    table_number(t, number_of(s, "deleted_docs"));
    table_bytes(t, (uint64_t)number_of(s, "size_in_bytes"));
    table_number(t, number_of(s, "memory_in_bytes"));
    table_z(t, truth_of(s, "committed") ? "true" : "false");
    table_z(t, truth_of(s, "search") ? "true" : "false");
    table_str(t, json_text(json_get(s, "version")));
    table_z(t, truth_of(s, "compound") ? "true" : "false");
}

static void segments_done(struct broadcast *bc)
{
    struct table t;
    table_init(&t, rest_of(bc->r), segments_columns, ARRAY_LEN(segments_columns));
    for (uint32_t i = 0; i < bc->n; i++) {
        struct json *tree = ARENA_NEW(bc->r->arena, struct json);
        struct str text = arena_str(bc->r->arena, bc->acts[i].segments);
        if (tree == NULL || text.n == 0
            || json_parse(tree, text, bc->r->arena, &json_limits_default, NULL) != ERR_OK) {
            continue;
        }
        for (size_t k = 0; json_is(tree, JSON_OBJECT) && k < tree->n; k++) {
            segment_row(&t, &bc->acts[i], &bc->asked[i], tree->members[k].key, &tree->members[k].value);
        }
    }
    broadcast_fini(bc);
    table_send(&t);
}

static void ask_segments(struct rest *r)
{
    struct shard_act a = {.action = SHARD_SEGMENTS};
    rest_broadcast_named(r, &EXPAND_OPTIONS_STATS, &a, segments_done, NULL);
}

static void cat_segments(struct rest *r)
{
    if (!table_help(r, segments_columns, ARRAY_LEN(segments_columns))) {
        rest_with_master_state(r, ask_segments);
    }
}

const struct route routes_cat_shards[] = {
    {M_GET, "/_cat/shards", cat_shards},
    {M_GET, "/_cat/shards/{index}", cat_shards},
    {M_GET, "/_cat/segments", cat_segments},
    {M_GET, "/_cat/segments/{index}", cat_segments},
};
const size_t routes_cat_shards_n = ARRAY_LEN(routes_cat_shards);
