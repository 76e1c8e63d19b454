/* Everything is mended: the cluster must be green again, and have what it acknowledged. */
#include "tests/sim/run_int.h"

#include "common/cluster/health.h"
#include "engine/index/engine.h"

#include <stdio.h>
#include <stdlib.h>

#define GREEN_MS_MAX 90000

/* Green, or, where disks damage files, red for what they did. */
static bool shards_settled(const struct run *run, const struct cluster_state *s)
{
    const struct index_routing *r = cluster_routing(s, STR("i"));
    if (cluster_health(s).status == HEALTH_GREEN) {
        return cluster_health(s).relocating == 0;
    }
    for (uint32_t k = 0; r != NULL && k < r->n; k++) {
        const struct shard_routing *sr = &r->shards[k];
        bool red = sr->copies[0].state == COPY_UNASSIGNED && damage_excuses(run, s, k);
        for (uint32_t c = 0; c < sr->n && !red; c++) {
            if (sr->copies[c].state != COPY_STARTED) {
                return false;
            }
        }
    }
    return r != NULL && run->shape.damage;
}

/* Asked after every step, and answered once in a while. */
static bool quiet_and_green(void *arg)
{
    struct run *run = arg;
    const struct cluster_state *first = NULL;
    unsigned members = 0;
    if (world_ms(&run->w) < run->look_ms) {
        return false;
    }
    run->look_ms = world_ms(&run->w) + 20;
    bool ok = clients_quiet(run);
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        members += is_member(run, i);
    }
    for (unsigned i = 0; i < run->w.n_nodes && ok; i++) {
        if (!is_member(run, i)) {
            continue;
        }
        struct cluster_state *s = cluster_state(member_cluster(run->w.nodes[i].member));
        ok = cluster_master(s) != NULL && s->nodes->n == members
             && (first == NULL || s->version == first->version) && shards_settled(run, s)
             && members_settled(run, s);
        first = s; /* compared, and held by its node */
        cluster_state_unref(s);
    }
    return ok;
}

static struct sim_node *first_member(struct run *run)
{
    unsigned i = 0;
    while (!is_member(run, i)) {
        i++;
    }
    return &run->w.nodes[i];
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
    shard_rq_init(&r.get.rq, &shard_op_get, got, NULL);
    r.get.id = str_of(id);
    r.get.rq.shard = (struct shard_ref){m->name, m->uuid, shard_of(m, r.get.id, STR_NULL)};
    r.get.realtime = r.get.want_source = true;
    const struct shard_api *api = data_api(member_data(n->member));
    api->serve(api->self, &r.get.rq);
    *out = (struct last_doc){0};
    if (!sim_exec_run_until(run->w.x, was_got, &r, 10 * SECOND) || err_is(&r.get.rq.error)) {
        violated(run, "doc %u cannot be read at %s: %s", doc, n->name,
                 err_is(&r.get.rq.error) ? err_reason(&r.get.rq.error) : "no answer");
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
    struct cluster_state *s = cluster_state(member_cluster(first_member(run)->member));
    const struct index_meta *m = cluster_index(s, STR("i"));
    const struct index_routing *r = cluster_routing(s, STR("i"));
    struct last_doc last[DOCS];
    for (unsigned d = 0; d < DOCS; d++) {
        const struct shard_routing *sr = &r->shards[shard_of_doc((void *)(uintptr_t)m, d)];
        last[d] = (struct last_doc){.seq_no = DOC_UNKNOWN};
        if (!copy_active(&sr->copies[0])) { /* red, with its reason; or just tried once more */
            continue;
        }
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
        if (!is_member(run, i)) {
            continue;
        }
        struct cluster_state *s = cluster_state(member_cluster(run->w.nodes[i].member));
        struct shards_health h = cluster_health(s);
        world_say(
            &run->w,
            "n%u: version %llu term %llu, %u nodes, %u voters, master %s, %s, %u initializing, %u unassigned",
            i, (unsigned long long)s->version, (unsigned long long)s->term,
            s->nodes != NULL ? s->nodes->n : 0, s->coordination->committed.n,
            cluster_master(s) != NULL ? "known" : "none", health_name(h.status), h.initializing,
            h.unassigned);
        cluster_state_unref(s);
    }
}

/* false: it does not come to rest. */
static bool settle(struct run *run, int64_t since)
{
    struct world *w = &run->w;
    do { /* a state that says so may be about to be replaced: by one without a node that stood still too long, say */
        int64_t left_ms = since + GREEN_MS_MAX - world_ms(w);
        if (!sim_exec_run_until(w->x, quiet_and_green, run, MAX_OF(left_ms, 0) * 1000000LL)) {
            say_state(run);
            violated(run, "not green %d s after everything was mended", GREEN_MS_MAX / 1000);
            return false;
        }
        run->r->green_ms = MAX_OF(run->r->green_ms, world_ms(w) - since);
        sim_exec_run_for(w->x, 2 * SECOND);
    } while (!quiet_and_green(run));
    return true;
}

void mend_and_check(struct run *run)
{
    struct world *w = &run->w;
    run->over = true;
    world_say(w, "everything is mended");
    network_heal(w->net);
    members_settle(run);
    damage_ends(run);
    for (unsigned i = 0; i < w->n_nodes; i++) {
        world_stall(w, i, 0);
        world_pause(w, i, false);
        if (!w->nodes[i].up && is_member(run, i)) {
            world_start(w, i);
        }
    }
    if (run->r->what[0] != '\0') { /* a node may be down */
        return;
    }
    damage_retries(run);
    if (settle(run, world_ms(w)) && damage_is_met(run, settle)) {
        check_documents(run);
        damage_check_whole(run);
    }
}
