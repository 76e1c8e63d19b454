/* Readers: each asks one copy after the other, as it is in its segments. Whatever they hear was written, or is an error. */
#include "tests/sim/run_int.h"

#include "common/base/jsonr.h"
#include "engine/search/search.h"

#include <stdio.h>
#include <stdlib.h>

#define READERS        4
#define GIVE_UP_MS     5000
#define BEHIND_AT_MOST 16 /* operations under way at one time come in any order */

enum { READ_GET, READ_SEARCH, READ_ACT };

struct reading {
    union {
        struct shard_rq rq; /* first */
        struct shard_get get;
        struct shard_query query;
        struct shard_act act;
    } q;
    struct run *run;
    unsigned node, shard, doc;
    int kind; /* READ_* */
    char id[16];
    int64_t begun_ms;
    bool last, done; /* at the end; then it is waited for */
    uint32_t lives;
};

/* ---- what may be heard --------------------------------------------------------------------------------- */

struct heard {
    bool found;
    uint64_t value;
    int64_t seq_no, term;
};

static void check_value(struct reading *r, unsigned doc, const struct heard *h)
{
    const struct history *all = &r->run->h;
    for (size_t i = all->n; i-- > 0;) {
        const struct past_write *w = &all->v[i];
        if (w->is_delete || w->value != h->value) {
            continue;
        }
        if (w->doc != doc) {
            break;
        }
        /* a copy that was cut off may have the first try of what another one acknowledged, or refused */
        if (w->fate == FATE_ACKNOWLEDGED && w->term == h->term && h->seq_no != w->seq_no) {
            violated(r->run,
                     "doc %u read at n%u: value %llu at %lld of term %lld, acknowledged at %lld of %lld", doc,
                     r->node, (unsigned long long)h->value, (long long)h->seq_no, (long long)h->term,
                     (long long)w->seq_no, (long long)w->term);
        }
        return;
    }
    violated(r->run, "doc %u read at n%u: value %llu at %lld, which nobody wrote there", doc, r->node,
             (unsigned long long)h->value, (long long)h->seq_no);
}

/* Is it gone because somebody deleted it, or may have? */
static bool may_be_gone(const struct history *all, const struct past_write *w)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct past_write *d = &all->v[i];
        if (d->doc == w->doc && d->is_delete && (d->fate != FATE_ACKNOWLEDGED || d->seq_no > w->seq_no)) {
            return true;
        }
    }
    return false;
}

static int64_t newest_of(const struct heard *docs, int64_t term)
{
    int64_t newest = -1;
    for (unsigned d = 0; d < DOCS; d++) {
        newest = docs[d].found && docs[d].term == term ? MAX_OF(newest, docs[d].seq_no) : newest;
    }
    return newest;
}

/* A copy that has an operation of a term has what was acknowledged well before it in that term. */
static void check_missing(struct reading *r, const struct heard *docs, const struct index_meta *m)
{
    const struct history *all = &r->run->h;
    bool here[DOCS];
    int64_t newest = -1, of_term = -1;
    for (unsigned d = 0; d < DOCS; d++) {
        char id[16];
        snprintf(id, sizeof(id), "d%u", d);
        here[d] = shard_of(m, str_of(id), STR_NULL) == r->shard;
    }
    for (size_t i = 0; i < all->n; i++) {
        const struct past_write *w = &all->v[i];
        const struct heard *h = &docs[w->doc];
        if (!here[w->doc] || w->is_delete || w->fate != FATE_ACKNOWLEDGED || w->ended_ms >= r->begun_ms) {
            continue;
        }
        if (w->term != of_term) {
            of_term = w->term;
            newest = newest_of(docs, of_term);
        }
        if (w->seq_no + BEHIND_AT_MOST < newest
            && (h->found ? h->seq_no < w->seq_no : !may_be_gone(all, w))) {
            violated(r->run,
                     "doc %u searched at n%u: %s; %lld was acknowledged, and %lld of its term is there",
                     w->doc, r->node, h->found ? "it is older" : "it is missing", (long long)w->seq_no,
                     (long long)newest);
        }
    }
}

static int64_t number_in(const struct json *o, const char *key)
{
    const struct json *v = json_get(o, key);
    int64_t n;
    return v != NULL && jr_long(v, &n, NULL) == ERR_OK ? n : -1;
}

static bool read_hit(struct reading *r, struct str text, struct heard *docs)
{
    struct json o;
    struct arena *a = &r->q.rq.arena;
    const struct json *id, *source;
    if (json_parse(&o, text, a, &json_limits_default, NULL) != ERR_OK) {
        return false;
    }
    id = json_get(&o, "_id");
    source = json_get(&o, "_source");
    unsigned doc = id != NULL && id->s.n > 1 ? (unsigned)strtoul(id->s.p + 1, NULL, 10) : DOCS;
    if (doc >= DOCS || source == NULL || docs[doc].found) {
        return false;
    }
    const struct json *sort = json_get(&o, "sort");
    int64_t by = -1;
    if (sort == NULL || sort->n != 1 || jr_long(&sort->items[0], &by, NULL) != ERR_OK
        || by != number_in(source, "v")) {
        return false;
    }
    docs[doc] = (struct heard){true, (uint64_t)number_in(source, "v"), number_in(&o, "_seq_no"),
                               number_in(&o, "_primary_term")};
    check_value(r, doc, &docs[doc]);
    return true;
}

static void check_search(struct reading *r)
{
    const struct shard_query *q = &r->q.query;
    struct cluster_state *s = r->run->newest;
    const struct index_meta *m = cluster_index(s, STR("i"));
    struct heard docs[DOCS] = {{0}};
    for (uint32_t i = 0; i < q->n_hits; i++) {
        if (!read_hit(r, q->hits[i], docs)) {
            violated(r->run, "a search at n%u found what is no document: %.*s", r->node, STR_ARG(q->hits[i]));
        }
    }
    if (q->result->total != (int64_t)q->n_hits) {
        violated(r->run, "a search at n%u counts %lld, and has %u", r->node, (long long)q->result->total,
                 q->n_hits);
    }
    check_missing(r, docs, m);
}

static void check_get(struct reading *r)
{
    const struct shard_get *g = &r->q.get;
    char text[64];
    if (!g->found) {
        return;
    }
    snprintf(text, sizeof(text), "%.*s", STR_ARG(g->source));
    struct heard h = {true, strtoull(text + 5, NULL, 10), g->seq_no, g->primary_term};
    check_value(r, r->doc, &h);
}

static void check_answer(struct reading *r)
{
    struct run *run = r->run;
    run->damages.reads++;
    if (err_is(&r->q.rq.error)) {
        run->damages.failed_reads++;
        if (r->last && r->kind != READ_ACT && !damage_in_shard(run, r->node, r->shard)) {
            violated(run, "shard %u cannot be read at n%u: %s", r->shard, r->node,
                     err_reason(&r->q.rq.error));
        }
    } else if (r->kind == READ_SEARCH) {
        check_search(r);
    } else if (r->kind == READ_GET) {
        check_get(r);
    }
}

/* ---- asking -------------------------------------------------------------------------------------------- */

static void heard_in_lane(void *arg)
{
    struct reading *r = arg;
    check_answer(r);
    if (r->last) {
        r->done = true;
        return;
    }
    shard_rq_fini(&r->q.rq);
    free(r);
}

static void heard(struct shard_rq *rq)
{
    struct reading *r = (struct reading *)(void *)rq;
    executor_submit_force(sim_lane_executor(r->run->lane), heard_in_lane, r);
}

static void ask(struct reading *r)
{
    static const char body[] = "{\"size\":100,\"seq_no_primary_term\":true,\"track_total_hits\":true,"
                               "\"query\":{\"range\":{\"v\":{\"gte\":0}}},\"sort\":[{\"v\":\"asc\"}]}";
    struct run *run = r->run;
    const struct index_meta *m = cluster_index(run->newest, STR("i"));
    const struct shard_api *api = data_api(member_data(run->w.nodes[r->node].member));
    r->begun_ms = world_ms(&run->w);
    const struct shard_op *op = r->kind == READ_GET      ? &shard_op_get
                                : r->kind == READ_SEARCH ? &shard_op_query
                                                         : &shard_op_act;
    shard_rq_init(&r->q.rq, op, heard, NULL);
    r->q.rq.shard =
        (struct shard_ref){arena_str(&r->q.rq.arena, m->name), arena_str(&r->q.rq.arena, m->uuid), r->shard};
    if (r->kind == READ_GET) {
        snprintf(r->id, sizeof(r->id), "d%u", r->doc);
        r->q.get.id = str_of(r->id);
        r->q.get.want_source = true;
    } else if (r->kind == READ_SEARCH) {
        r->q.query.body.text = str_of(body);
        r->q.query.scope.n_shards = r->q.query.scope.asked_shards = 1;
        r->q.query.scope.index_boost = 1;
        r->q.query.fetch = true;
    } else {
        r->q.act.action = r->doc % 3 == 0 ? SHARD_FORCE_MERGE : SHARD_FLUSH;
        r->q.act.max_segments = 1;
    }
    api->serve(api->self, &r->q.rq);
}

static struct reading *reading_new(struct run *run, unsigned node, unsigned shard, unsigned doc)
{
    struct reading *r = calloc(1, sizeof(*r));
    r->run = run;
    r->node = node;
    r->shard = shard;
    r->doc = doc;
    return r;
}

static void read_next(void *arg)
{
    struct run *run = arg;
    if (run->over) {
        return;
    }
    struct sim_node *n = some_node(run);
    const struct index_meta *m = run->newest != NULL ? cluster_index(run->newest, STR("i")) : NULL;
    if (n != NULL && m != NULL) {
        unsigned kind = (unsigned)rng_below(&run->rng, 20), doc = (unsigned)rng_below(&run->rng, DOCS);
        char id[16];
        snprintf(id, sizeof(id), "d%u", doc);
        struct reading *r = reading_new(run, n->at, shard_of(m, str_of(id), STR_NULL), doc);
        r->kind = kind == 0 ? READ_ACT : kind < 10 ? READ_GET : READ_SEARCH;
        ask(r);
    }
    run->timers->start(run->timers->self, 5 + (int64_t)rng_below(&run->rng, 80), read_next, run);
}

void readers_start(struct run *run)
{
    for (unsigned i = 0; i < READERS && run->shape.damage; i++) {
        read_next(run);
    }
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static bool is_done(void *arg)
{
    return ((struct reading *)arg)->done;
}

static void read_one(struct run *run, unsigned node, unsigned shard, unsigned doc, int kind)
{
    struct reading *r = reading_new(run, node, shard, doc);
    r->last = true;
    r->kind = kind;
    ask(r);
    if (!sim_exec_run_until(run->w.x, is_done, r, 10 * SECOND)) {
        violated(run, "shard %u at n%u does not answer", shard, node);
        return; /* its answer may come yet */
    }
    shard_rq_fini(&r->q.rq);
    free(r);
}

void readers_read_all(struct run *run)
{
    struct cluster_state *s = cluster_state_ref(run->newest);
    const struct index_meta *m = cluster_index(s, STR("i"));
    const struct index_routing *ir = cluster_routing(s, STR("i"));
    for (uint32_t k = 0; k < ir->n; k++) {
        for (uint32_t c = 0; c < ir->shards[k].n; c++) {
            const struct shard_copy *copy = &ir->shards[k].copies[c];
            unsigned at = copy_active(copy) ? place_of(run, copy->node) : SIM_NODES_MAX;
            if (at == SIM_NODES_MAX || !run->w.nodes[at].up) {
                continue;
            }
            read_one(run, at, k, 1, READ_ACT); /* a flush: what is in memory gets into segments */
            read_one(run, at, k, 0, READ_SEARCH);
            for (unsigned d = 0; d < DOCS; d++) {
                char id[16];
                snprintf(id, sizeof(id), "d%u", d);
                if (shard_of(m, str_of(id), STR_NULL) == k) {
                    read_one(run, at, k, d, READ_GET);
                }
            }
        }
    }
    cluster_state_unref(s);
}
