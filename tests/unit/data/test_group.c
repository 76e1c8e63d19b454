/* A primary's copies beside a model: what a request that ended well wrote is on every copy that the master has in sync, whatever
 * was lost on the way; and everything ends once. */
#include "data/replication/group.h"

#include "common/base/rand.h"
#include "engine/index/engine.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define COPIES   4 /* allocation ids a0 ... a3; a0 is the primary's own */
#define REQUESTS 400

struct message {
    struct group_message m; /* first */
    struct message *next;   /* on the network */
    int64_t seq_no;         /* that it carries; SEQ_NONE: none */
};

struct request {
    struct group_request r; /* first */
    int64_t seq_no;
    bool woken, freed;
};

/* One that may not begin yet. */
struct parked {
    struct group_parked p; /* first */
    bool waits, needs;
    int64_t deadline_ms;
    int number; /* in the order in which they came */
};

static struct model {
    struct group_copy *c;  /* the newest one of it; NULL: the primary's own */
    bool routed, promised; /* it has a node; the master has it in sync */
    bool has[REQUESTS];    /* on its disk */
    bool reported;         /* the master is asked to take it out */
    struct group_copy *about;
} copies[COPIES];

static struct rng rng;
static struct group g;
static struct index_meta *meta;
static struct shard_routing routing;
static struct message *network;
static struct request requests[REQUESTS];
static int n_requests, n_out, n_copies_out;
static struct parked parked[REQUESTS];
static int n_parked, parkings;
static bool draining;
static int64_t now_ms;
static bool deposed; /* by another primary: the master refuses */

static struct str id_of(int i)
{
    static const char *const ids[] = {"a0", "a1", "a2", "a3"};
    return str_of(ids[i]);
}

static int index_of(struct str id)
{
    return id.p[1] - '0';
}

static struct index_meta *new_meta(void)
{
    struct index_meta *m = index_meta_new();
    m->n_shards = 1;
    m->in_sync = ARENA_ARRAY(&m->part.arena, struct str_set, 1);
    m->primary_terms = ARENA_ARRAY(&m->part.arena, uint64_t, 1);
    m->primary_terms[0] = 1;
    return m;
}

/* What the master's state says, from the model. */
static void show(void)
{
    static struct shard_copy at[COPIES];
    static struct str set[COPIES];
    routing = (struct shard_routing){at, 0};
    meta->in_sync[0] = (struct str_set){set, 0};
    for (int i = 0; i < COPIES; i++) {
        if (copies[i].routed) {
            at[routing.n++] =
                (struct shard_copy){.state = copies[i].promised ? COPY_STARTED : COPY_INITIALIZING,
                                    .primary = i == 0,
                                    .node = STR("n"),
                                    .allocation_id = id_of(i)};
        }
        if (copies[i].promised) {
            set[meta->in_sync[0].n++] = id_of(i);
        }
    }
}

static int64_t checkpoint_of(int i)
{
    int64_t n = 0;
    while (n < n_requests && copies[i].has[n]) {
        n++;
    }
    return n - 1;
}

/* ---- the driver ----------------------------------------------------------------------------------------- */

static void request(bool needs, int64_t deadline_ms, struct parked *again);

/* The time of one that waited to begin is up, or it tries again; who came first does so first. */
static void unparked(struct parked *p, enum group_outcome outcome)
{
    ck_assert(p->waits);
    p->waits = false;
    if (outcome == GROUP_TIMED_OUT) {
        ck_assert(p->deadline_ms != 0 && p->deadline_ms <= now_ms);
        return;
    }
    for (int i = 0; i < n_parked; i++) {
        ck_assert(!parked[i].waits || parked[i].number > p->number);
    }
    request(p->needs, p->deadline_ms, p);
}

static void send_to(struct group_copy *c, enum group_message_kind kind, struct request *r)
{
    struct message *m = calloc(1, sizeof(*m));
    m->m.last = kind == GROUP_RESYNC && rng_below(&rng, 2) == 0;
    m->m.kind = kind;
    m->m.request = r != NULL ? &r->r : NULL;
    m->seq_no = r != NULL && kind == GROUP_WRITE ? r->seq_no : SEQ_NONE;
    n_out++;
    if (group_send(&g, c, &m->m)) {
        m->next = network;
        network = m;
    }
}

static void woken(struct request *r, enum group_outcome outcome)
{
    ck_assert(!r->woken);
    r->woken = true;
    for (int i = 0; i < COPIES && outcome == GROUP_FINE; i++) {
        ck_assert_msg(!copies[i].promised || copies[i].has[r->seq_no], "copy %d lacks operation %d", i,
                      (int)r->seq_no);
    }
    if (outcome == GROUP_FINE) {
        ck_assert_int_ge(g.tracker.global_checkpoint, r->r.needs);
    }
    group_leave(&g);
    group_abandon(&g, &r->r);
}

/* But for what goes to copies that do not count any more, or is of no request. */
static bool network_is_empty(void)
{
    for (const struct message *m = network; m != NULL; m = m->next) {
        if (m->m.request != NULL && !m->m.copy->gone && !m->m.copy->ended) {
            return false;
        }
    }
    return true;
}

static void perform(const struct group_effect *e)
{
    switch (e->kind) {
    case GROUP_MESSAGE_OVER:
        free(e->message);
        n_out--;
        break;
    case GROUP_WAKE:
        woken((struct request *)e->request, e->outcome);
        break;
    case GROUP_REQUEST_OVER:
        ck_assert(((struct request *)e->request)->woken && !((struct request *)e->request)->freed);
        ((struct request *)e->request)->freed = true;
        break;
    case GROUP_REPORT:
        copies[index_of(e->copy->allocation_id)].reported = true;
        copies[index_of(e->copy->allocation_id)].about = e->copy;
        break;
    case GROUP_SEND_CHECKPOINT:
        send_to(e->copy, GROUP_CHECKPOINT, NULL);
        break;
    case GROUP_COPY_OVER:
        free(e->copy);
        n_copies_out--;
        break;
    case GROUP_SEND_RESYNC:
        ck_assert(g.leads);
        send_to(e->copy, GROUP_RESYNC, NULL);
        break;
    case GROUP_UNPARK:
        unparked((struct parked *)e->parked, e->outcome);
        break;
    case GROUP_QUIET:
        ck_assert(draining && group_still_quiet(&g) && network_is_empty());
        break;
    case GROUP_MOVED:
    case GROUP_CANCEL:
        break;
    }
}

static void perform_all(void)
{
    struct group_effect e;
    while (group_effect(&g, &e)) {
        perform(&e);
    }
    group_invariant(&g);
}

static void follow_tracker(void)
{
    group_forget_gone(&g, now_ms);
    for (uint32_t i = 0; i < g.tracker.n; i++) {
        const struct tracked *t = &g.tracker.v[i];
        int k = index_of(t->allocation_id);
        if (k == 0) {
            continue;
        }
        struct group_copy *c = group_find(&g, t->allocation_id);
        if (c == NULL) {
            c = calloc(1, sizeof(*c));
            c->allocation_id = id_of(k);
            group_add(&g, c);
            n_copies_out++;
        }
        group_place(c, t->node.p != NULL);
    }
}

static void begin(int in_sync, bool promoted)
{
    memset(copies, 0, sizeof(copies));
    memset(parked, 0, sizeof(parked));
    n_parked = 0;
    draining = false;
    memset(requests, 0, sizeof(requests));
    g = (struct group){0};
    n_requests = 0;
    deposed = false;
    now_ms = 1000;
    for (int i = 0; i < in_sync; i++) {
        copies[i].routed = copies[i].promised = true;
    }
    show();
    ck_assert_int_eq(tracker_init(&g.tracker, id_of(0), SEQ_NONE, SEQ_NONE, meta, 0, &routing, NULL), ERR_OK);
    group_begin(&g);
    follow_tracker();
    group_serve(&g, promoted);
    perform_all();
    ck_assert(g.active == (!promoted || in_sync == 1));
}

static void end(void)
{
    if (g.leads) {
        group_stop(&g);
        tracker_fini(&g.tracker);
    }
    while (network != NULL) {
        struct message *m = network;
        network = m->next;
        group_failed(&g, &m->m, "the end", false, now_ms);
    }
    perform_all();
    for (int i = 0; i < COPIES; i++) {
        if (copies[i].reported) {
            group_reported(&g, copies[i].about, false, false);
        }
    }
    perform_all();
    ck_assert_int_eq(n_out, 0);
    ck_assert_int_eq(n_copies_out, 0);
    for (int i = 0; i < n_requests; i++) {
        ck_assert(requests[i].woken && requests[i].freed);
    }
    for (int i = 0; i < n_parked; i++) {
        ck_assert(!parked[i].waits);
    }
}

/* ---- what happens --------------------------------------------------------------------------------------- */

/* again: it has waited until it may begin. */
static void request(bool needs, int64_t deadline_ms, struct parked *again)
{
    struct request *r = &requests[n_requests];
    struct parked *p = again != NULL ? again : &parked[n_parked];
    if (n_requests == REQUESTS || n_parked == REQUESTS) {
        return;
    }
    enum group_admission a = group_enter(&g, &p->p, deadline_ms);
    ck_assert(a != GROUP_PARKED || (g.leads && !g.deposed && (draining || !g.active)));
    if (a == GROUP_PARKED) {
        n_parked += again == NULL;
        *p = (struct parked){p->p, true, needs, deadline_ms, parkings++};
    }
    if (a != GROUP_ADMITTED) {
        return;
    }
    r->seq_no = n_requests++;
    r->r.needs = needs ? r->seq_no : SEQ_NONE;
    copies[0].has[r->seq_no] = true;
    for (uint32_t i = 0; i < g.tracker.n; i++) {
        const struct tracked *t = &g.tracker.v[i];
        struct group_copy *c = group_concerns(&g, t, GROUP_WRITE) ? group_find(&g, t->allocation_id) : NULL;
        if (c != NULL) {
            send_to(c, GROUP_WRITE, r);
        }
    }
    group_sent(&r->r);
    if (tracker_advance(&g.tracker, g.tracker.own, checkpoint_of(0))) {
        group_checkpoint_moved(&g);
    }
    if (group_settled(&g, &r->r)) {
        woken(r, r->r.outcome);
    } else {
        group_wait(&g, &r->r, deadline_ms);
    }
}

static struct message *take(unsigned k)
{
    for (struct message **at = &network; *at != NULL; at = &(*at)->next) {
        if (k-- == 0) {
            struct message *m = *at;
            *at = m->next;
            return m;
        }
    }
    return NULL;
}

static void arrive(struct message *m, bool here, bool back)
{
    int i = index_of(m->m.copy->allocation_id);
    if (here && m->seq_no != SEQ_NONE) {
        copies[i].has[m->seq_no] = true;
    }
    if (here && back) {
        group_answered(&g, &m->m, checkpoint_of(i), g.tracker.global_checkpoint, n_requests - 1);
    } else {
        group_failed(&g, &m->m, "lost", false, now_ms);
    }
}

/* It says that it has what its primary has not, or that it has nothing. */
static void lie(struct message *m)
{
    const struct group_copy *c = m->m.copy;
    const struct tracked *t = g.leads ? tracker_find(&g.tracker, c->allocation_id) : NULL;
    int64_t said = rng_below(&rng, 2) == 0 ? n_requests + (int64_t)rng_below(&rng, 3) : SEQ_NONE;
    bool ours = !c->gone && !c->ended && t != NULL;
    bool low = ours && t->in_sync && t->local_checkpoint < g.tracker.global_checkpoint;
    if (ours && said == SEQ_NONE && !low) {
        said = INT64_MAX - 1; /* the other may be an old answer */
    }
    group_answered(&g, &m->m, said, SEQ_NONE, n_requests - 1);
    ck_assert(!ours || c->broken);
}

/* The master takes it out, or cannot be asked. */
static void master(int i, bool out)
{
    if (!copies[i].reported) {
        return;
    }
    copies[i].reported = false;
    copies[i].promised &= !out || deposed;
    group_reported(&g, copies[i].about, out && !deposed, deposed);
}

static void state_comes(int i)
{
    copies[i].routed = !copies[i].routed && rng_below(&rng, 2) == 0 ? copies[i].promised : copies[i].routed;
    if (copies[i].routed && rng_below(&rng, 3) == 0) {
        copies[i].routed = false; /* its node went */
    }
    show();
    ck_assert_int_eq(tracker_update(&g.tracker, meta, 0, &routing, NULL), ERR_OK);
    follow_tracker();
    group_checkpoint_moved(&g);
    group_report_lost(&g);
    group_check_active(&g);
}

static void happens(void)
{
    int i = 1 + (int)rng_below(&rng, COPIES - 1);
    struct message *m;
    switch (rng_below(&rng, 12)) {
    case 0:
    case 1:
    case 2:
        request(rng_below(&rng, 3) == 0, rng_below(&rng, 8) == 0 ? now_ms + 5 : 0, NULL);
        break;
    case 3:
        m = take((unsigned)rng_below(&rng, 8));
        if (m != NULL && rng_below(&rng, 30) == 0) {
            lie(m);
        } else if (m != NULL && rng_below(&rng, 4) == 0) {
            arrive(m, rng_below(&rng, 2) == 0, false);
        } else if (m != NULL) {
            arrive(m, true, true);
        }
        break;
    case 4:
        master(i, rng_below(&rng, 4) > 0);
        break;
    case 5:
        if (rng_below(&rng, 6) == 0 && g.leads) {
            state_comes(i);
        }
        break;
    case 6:
        now_ms += (int64_t)rng_below(&rng, 2000);
        group_expire(&g, now_ms);
        for (const struct group_request *r = g.waiting; r != NULL; r = r->next) {
            ck_assert(r->deadline_ms == 0 || r->deadline_ms > now_ms);
        }
        group_tick(&g, now_ms, n_requests - 1);
        break;
    case 7:
        if (rng_below(&rng, 200) == 0 && g.leads) {
            group_stop(&g);
            tracker_fini(&g.tracker);
        } else if (rng_below(&rng, 100) == 0) {
            deposed = true;
        } else if (rng_below(&rng, 8) == 0 && g.leads) {
            draining = !draining;
            (draining ? group_drain : group_undrain)(&g);
        }
        break;
    default:
        m = take((unsigned)rng_below(&rng, 4));
        if (m != NULL) {
            arrive(m, true, true);
        }
    }
    perform_all();
}

/* Everything arrives, and the master says what it is asked: nobody waits any more. */
static void calm_down(void)
{
    for (int i = 0; i < 20 && g.leads && !deposed; i++) {
        for (struct message *m; (m = take(0)) != NULL;) {
            arrive(m, true, true);
            perform_all();
        }
        group_report_lost(&g);
        perform_all();
        for (int k = 1; k < COPIES; k++) {
            master(k, true);
            perform_all();
        }
    }
    ck_assert(!g.leads || deposed || g.waiting == NULL);
    ck_assert(!g.leads || deposed || draining || (g.active && g.parked == NULL));
}

START_TEST(test_random)
{
    rng_seed(&rng, (uint64_t)_i + 1);
    meta = new_meta();
    for (int round = 0; round < 30; round++) {
        begin(1 + (int)rng_below(&rng, COPIES), rng_below(&rng, 2) == 0);
        for (int i = 0; i < 600; i++) {
            happens();
        }
        calm_down();
        end();
    }
    state_part_unref(&meta->part);
}
END_TEST

/* One request and two other copies: all ends of what is under way, in every order. */
enum fate { TAKEN, LOST_OUT, LOST_UNKNOWN, FATES };

static void one_course(enum fate a, enum fate b, bool b_first)
{
    const enum fate fates[] = {TAKEN, a, b};
    int ok = 0, failed = 0;
    bool unknown = a == LOST_UNKNOWN || b == LOST_UNKNOWN;
    begin(3, false);
    request(false, 0, NULL);
    perform_all();
    struct message *first = take(b_first ? 0 : 1), *second = take(0);
    struct message *both[] = {first, second};
    for (int i = 0; i < 2; i++) {
        int k = index_of(both[i]->m.copy->allocation_id);
        ck_assert(!requests[0].woken);
        arrive(both[i], fates[k] == TAKEN, fates[k] == TAKEN);
        perform_all();
        ok += fates[k] == TAKEN;
        failed += fates[k] != TAKEN;
        ck_assert(!requests[0].woken || (i == 1 && fates[1] == TAKEN && fates[2] == TAKEN));
    }
    for (int k = 1; k <= 2; k++) {
        ck_assert(copies[k].reported == (fates[k] != TAKEN));
        master(k, fates[k] == LOST_OUT);
        perform_all();
    }
    ck_assert(requests[0].woken && requests[0].freed);
    ck_assert_int_eq(requests[0].r.ok, ok);
    ck_assert_int_eq(requests[0].r.failed, failed);
    ck_assert_int_eq(requests[0].r.outcome, unknown ? GROUP_UNKNOWN : GROUP_FINE);
    end();
}

START_TEST(test_all)
{
    meta = new_meta();
    for (int i = 0; i < FATES * FATES * 2; i++) {
        one_course((enum fate)(i % FATES), (enum fate)(i / FATES % FATES), i / FATES / FATES == 1);
    }
    state_part_unref(&meta->part);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("group");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, test_random, 0, 20);
    tcase_add_test(c, test_all);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
