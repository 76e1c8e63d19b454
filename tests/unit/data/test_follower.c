/* A copy that follows its primary beside a model: primaries with histories of their own send what they have, in any order; what is
 * here is then part of the history of the last one that was answered, and everything is answered once. With random courses, and
 * with all orders of a short one. */
#include "data/replication/follower.h"

#include "common/base/rand.h"

#include <check.h>
#include <string.h>

#define SEQS     8
#define TERMS    4 /* 1 ... 3 */
#define MESSAGES (TERMS * (SEQS + 3))
#define DEPTH    64

struct sent {
    struct follower_message m; /* first */
    struct replication_msg msg;
    struct engine_op ops[SEQS];
    int after; /* it is sent when that one is answered well; -1: at any time */
    bool handed, replied, refused;
    bool pending; /* `next` comes, some time */
    enum follower_event_kind next;
};

/* The model. */
static struct {
    int64_t history[TERMS][SEQS]; /* of each primary: the term of each operation; 0: none */
    int n_history[TERMS];
    int resync_end[TERMS]; /* what it re-sends: up to there */
    int everywhere;        /* operations that all have: below that */
    int64_t here[SEQS];
    uint64_t applied_term; /* the newest of which something was applied */
    struct sent messages[MESSAGES];
    int n_messages, handed, ended;
    bool sync_out, gentle;
    int rejections; /* that may come */
} w;

static struct follower f;
static struct follower_view v;
static struct rng rng;
static int64_t own[SEQS];
static int64_t now_ms;

/* ---- choices: random, or all of them one after the other --------------------------------------------------- */

static struct choice {
    unsigned at, of;
} script[DEPTH];
static int depth, n_script;
static bool exhaustive;

static unsigned choose(unsigned n)
{
    if (!exhaustive) {
        return (unsigned)rng_below(&rng, n);
    }
    if (depth == n_script) {
        ck_assert_int_lt(n_script, DEPTH);
        script[n_script++] = (struct choice){0, n};
    }
    return script[depth++].at;
}

static bool next_script(void)
{
    depth = 0;
    while (n_script > 0 && ++script[n_script - 1].at == script[n_script - 1].of) {
        n_script--;
    }
    return n_script > 0;
}

/* ---- what must hold ------------------------------------------------------------------------------------------ */

static void check_history(uint64_t term)
{
    for (int i = 0; i < SEQS; i++) {
        ck_assert_msg(w.here[i] == 0 || w.here[i] == w.history[term][i],
                      "operation %d is of term %d, not %d as the primary of term %d has it", i,
                      (int)w.here[i], (int)w.history[term][i], (int)term);
    }
}

static void check_apply(const struct sent *m)
{
    ck_assert_uint_ge(m->msg.term, w.applied_term);
    w.applied_term = m->msg.term;
    for (int i = 0; !m->m.resync && m->msg.term > 1 && i < w.resync_end[m->msg.term]; i++) {
        ck_assert_int_eq(w.here[i], w.history[m->msg.term][i]);
    }
}

/* ---- the driver ---------------------------------------------------------------------------------------------- */

static int64_t max_here(void)
{
    int64_t max = SEQ_NONE;
    for (int i = 0; i < SEQS; i++) {
        max = w.here[i] != 0 ? i : max;
    }
    return max;
}

static void step(const struct follower_event *e)
{
    v.max_seq_no = max_here();
    follower_step(&f, e, &v);
    follower_invariant(&f);
}

static void comes(struct sent *m, enum follower_event_kind what)
{
    step(&(struct follower_event){.kind = what, .message = &m->m});
}

static void send_later(struct sent *m, enum follower_event_kind what)
{
    ck_assert(!m->pending);
    m->pending = true;
    m->next = what;
}

static void read_own(struct sent *m, const struct follower_effect *e)
{
    size_t n = (size_t)(e->to - e->from) + 1;
    ck_assert(e->from >= w.everywhere && e->to == max_here());
    memcpy(own, &w.here[e->from], n * sizeof(*own));
    bool failed = !w.gentle && choose(20) == 0;
    step(&(struct follower_event){
        .kind = FOLLOWER_OWN, .message = &m->m, .own = own, .n = n, .error = failed ? ERR_IO : ERR_OK});
}

static void apply(struct sent *m)
{
    size_t n = m->msg.n - m->m.at;
    enum err e = ERR_OK;
    if (w.rejections > 0 && choose(2) == 1) {
        w.rejections--;
        n = n > 0 ? choose((unsigned)n) : 0;
        e = w.gentle || choose(4) > 0 ? ERR_REJECTED : ERR_IO;
    }
    check_apply(m);
    for (size_t i = m->m.at; i < m->m.at + n; i++) {
        const struct engine_op *op = &m->ops[i];
        ck_assert(w.here[op->seq_no] == 0 || w.here[op->seq_no] == op->primary_term);
        w.here[op->seq_no] = op->primary_term;
    }
    bool all = m->m.at + n == m->msg.n && e == ERR_OK;
    if (all && (!m->m.resync || m->msg.last) && !v.initializing) { /* the copy follows that primary */
        check_history(m->msg.term);
    }
    step(&(struct follower_event){.kind = FOLLOWER_APPLIED, .message = &m->m, .n = n, .error = e});
}

static void ends(struct sent *m, bool replied)
{
    ck_assert(!m->replied && !m->refused && !m->pending);
    m->replied = replied;
    m->refused = !replied;
    w.ended++;
    ck_assert(!replied || m->m.at == m->msg.n);
}

static void perform(const struct follower_effect *e)
{
    struct sent *m = (struct sent *)e->message;
    switch (e->kind) {
    case FOLLOWER_PARSE:
    case FOLLOWER_RETURN:
        send_later(m, FOLLOWER_PARSED);
        break;
    case FOLLOWER_READ:
        read_own(m, e);
        break;
    case FOLLOWER_APPLY:
        apply(m);
        break;
    case FOLLOWER_KEEP:
        send_later(m, FOLLOWER_KEPT);
        break;
    case FOLLOWER_SHOW:
        comes(m, FOLLOWER_SHOWN);
        break;
    case FOLLOWER_REPLY:
    case FOLLOWER_REFUSE:
        ends(m, e->kind == FOLLOWER_REPLY);
        break;
    case FOLLOWER_SYNC:
        w.sync_out = true;
        break;
    case FOLLOWER_NOTHING:
        ck_abort();
    }
}

static void perform_all(void)
{
    struct follower_effect e;
    while (follower_effect(&f, &e)) {
        perform(&e);
    }
    ck_assert(!f.diverged || f.resync_term > 0);
}

/* ---- primaries ----------------------------------------------------------------------------------------------- */

static int add_message(int term, bool resync, bool last, int from, int to, int after)
{
    struct sent *m = &w.messages[w.n_messages];
    m->after = after;
    m->msg = (struct replication_msg){.allocation_id = STR("a1"),
                                      .term = (uint64_t)term,
                                      .global_checkpoint = w.everywhere - 1,
                                      .max_seq_no = (resync ? w.resync_end[term] : w.n_history[term]) - 1,
                                      .mapping_version = (uint64_t)(!w.gentle && choose(4) == 0 ? 2 : 1),
                                      .last = last,
                                      .ops = m->ops};
    m->m = (struct follower_message){.msg = &m->msg, .resync = resync, .deadline_ms = 1000000};
    for (int i = from; i < to; i++) {
        m->ops[m->msg.n++] = (struct engine_op){.seq_no = i, .primary_term = w.history[term][i]};
    }
    return w.n_messages++;
}

/* The primary of that term: what it has of the one before, and what it writes itself. */
static void add_primary(int term, int kept, int written)
{
    int before = w.n_history[term - 1], n = kept < before ? kept : before;
    memcpy(w.history[term], w.history[term - 1], sizeof(w.history[0]));
    memset(&w.history[term][n], 0, sizeof(int64_t) * (size_t)(SEQS - n));
    for (int i = w.everywhere; !w.gentle && i < n; i++) {
        w.history[term][i] = choose(8) == 0 ? term : w.history[term][i]; /* a gap that it has filled */
    }
    w.resync_end[term] = n;
    for (int i = 0; i < written && n < SEQS; i++) {
        w.history[term][n++] = term;
    }
    w.n_history[term] = n;
    int half = (w.everywhere + w.resync_end[term]) / 2, first = -1;
    if (term > 1) {
        first = add_message(term, true, false, w.everywhere, half, -1);
        first = add_message(term, true, true, half, w.resync_end[term], first);
    }
    for (int i = term > 1 ? w.resync_end[term] : w.everywhere; i < n; i++) {
        add_message(term, false, false, i, i + 1, first);
    }
}

static void begin(int everywhere)
{
    memset(&w, 0, sizeof(w));
    memset(&f, 0, sizeof(f));
    w.gentle = exhaustive;
    w.everywhere = everywhere;
    w.applied_term = 1;
    v = (struct follower_view){
        .copy = STR("a1"), .term = 1, .mapping_version = 1, .global_checkpoint = everywhere - 1};
    for (int i = 0; i < everywhere; i++) {
        w.history[0][i] = w.here[i] = 1;
    }
    w.n_history[0] = everywhere;
    step(&(struct follower_event){.kind = FOLLOWER_COPY, .id = STR("a1"), .term = 1});
    perform_all();
    ck_assert_uint_eq(f.term, 1);
}

/* ---- what happens -------------------------------------------------------------------------------------------- */

static bool may_be_sent(const struct sent *m)
{
    return !m->handed && (m->after < 0 || w.messages[m->after].replied);
}

static void go_on(struct sent *m)
{
    if (m->pending) {
        m->pending = false;
        bool lost = !w.gentle && choose(40) == 0;
        bool failed = m->next == FOLLOWER_KEPT && !w.gentle && choose(40) == 0;
        step(&(struct follower_event){
            .kind = lost ? FOLLOWER_LOST : m->next, .message = &m->m, .error = failed ? ERR_IO : ERR_OK});
    } else {
        m->handed = true;
        w.handed++;
        comes(m, m->msg.mapping_version > v.mapping_version ? FOLLOWER_UNPARSED : FOLLOWER_PARSED);
    }
    perform_all();
}

static void room(void)
{
    w.sync_out = false;
    step(&(struct follower_event){.kind = FOLLOWER_ROOM});
    perform_all();
}

static void new_state(void)
{
    v.term++;
    perform_all();
}

/* One of all that may happen now; false: there is nothing. */
static bool happens(void)
{
    unsigned n = 0;
    for (int i = 0; i < w.n_messages; i++) {
        n += w.messages[i].pending || may_be_sent(&w.messages[i]);
    }
    bool state = v.term < 2 && exhaustive;
    unsigned all = n + w.sync_out + state, k = all > 0 ? choose(all) : 0;
    if (all == 0 || (k == n && w.sync_out)) {
        room();
        return all > 0;
    }
    if (k >= n) {
        new_state();
        return true;
    }
    for (int i = 0; i < w.n_messages; i++) {
        struct sent *m = &w.messages[i];
        if ((m->pending || may_be_sent(m)) && k-- == 0) {
            go_on(m);
            return true;
        }
    }
    return true;
}

/* The engine goes: whatever is under way ends. */
static void finish(void)
{
    v.leaving = true;
    v.copy = STR_NULL;
    step(&(struct follower_event){.kind = FOLLOWER_STOP});
    perform_all();
    for (int i = 0; i < w.n_messages; i++) {
        if (w.messages[i].pending) {
            go_on(&w.messages[i]);
        }
    }
    ck_assert(f.waiting == NULL && f.due == NULL);
    ck_assert_int_eq(w.ended, w.handed);
}

/* Another copy takes the place; it has what the primary has. */
static void recover(void)
{
    v.copy = str_is(v.copy, "a1") ? STR("a2") : STR("a1");
    for (int i = 0; i < w.n_messages; i++) {
        w.messages[i].msg.allocation_id = w.messages[i].handed ? w.messages[i].msg.allocation_id : v.copy;
    }
    v.term = MAX_OF(v.term, w.applied_term);
    memcpy(w.here, w.history[v.term], sizeof(w.here));
    w.applied_term = v.term;
    step(&(struct follower_event){.kind = FOLLOWER_COPY, .id = v.copy, .term = v.term});
    step(&(struct follower_event){.kind = FOLLOWER_HISTORY, .term = v.term});
    ck_assert(f.term == v.term && !f.diverged && f.resync_term == 0);
}

static void happens_at_random(void)
{
    switch (choose(24)) {
    case 0:
        v.mapping_version = 2;
        step(&(struct follower_event){.kind = FOLLOWER_MAPPING});
        break;
    case 1:
        now_ms += 100;
        step(&(struct follower_event){.kind = FOLLOWER_TICK, .now_ms = now_ms});
        break;
    case 2:
        if (v.term < TERMS - 1) {
            v.term++;
        }
        break;
    case 3:
        if (choose(4) == 0) {
            recover();
        }
        break;
    default:
        happens();
    }
    perform_all();
}

START_TEST(test_random)
{
    rng_seed(&rng, (uint64_t)_i + 1);
    int replied = 0, refused = 0, resynced = 0;
    for (int round = 0; round < 2000; round++) {
        begin((int)choose(3));
        w.rejections = (int)choose(4);
        now_ms = 0;
        add_primary(1, w.everywhere, (int)choose(4));
        for (int t = 2; t < TERMS; t++) {
            add_primary(t, w.everywhere + (int)choose(4), (int)choose(3));
        }
        for (int i = 0; i < 60; i++) {
            happens_at_random();
        }
        finish();
        for (int i = 0; i < w.n_messages; i++) {
            replied += w.messages[i].replied;
            refused += w.messages[i].refused;
            resynced += w.messages[i].replied && w.messages[i].msg.last;
        }
    }
    ck_assert(replied > 1000 && refused > 1000 && resynced > 100);
}
END_TEST

/* Two writes of an old primary, one that takes its place and re-sends in two parts, and a write of its own; no room, once. All orders,
 * whatever part of the old one's operations the new one has. */
START_TEST(test_all)
{
    uint64_t courses = 0, ends_well = 0;
    exhaustive = true;
    for (int kept = 1; kept <= 3; kept++) {
        n_script = 0;
        do {
            begin(1);
            w.rejections = 1;
            add_primary(1, 1, 2);
            add_primary(2, kept, 1);
            while (happens()) {
            }
            courses++;
            ends_well += w.messages[w.n_messages - 1].replied;
            finish();
        } while (next_script());
    }
    exhaustive = false;
    ck_assert(courses > 1000 && ends_well > 100 && ends_well < courses);
}
END_TEST

/* ---- single rules -------------------------------------------------------------------------------------------- */

static enum follower_refusal refusal_of(struct sent *m)
{
    go_on(m);
    ck_assert(m->refused);
    return m->m.why;
}

static struct sent *message(int term, bool resync)
{
    int64_t *h = w.history[term];
    h[w.everywhere] = h[w.everywhere] != 0 ? h[w.everywhere] : term;
    w.resync_end[term] = w.n_history[term] = w.everywhere + 1;
    return &w.messages[add_message(term, resync, resync, w.everywhere, w.everywhere + 1, -1)];
}

START_TEST(test_copy_that_leads)
{
    /* The next primary's operations are for a copy of which the state says that it follows. */
    w.gentle = exhaustive = false;
    begin(1);
    w.gentle = true;
    v.primary = v.leads = true;
    ck_assert_int_eq(refusal_of(message(1, false)), FOLLOWER_STALE_TERM);
    ck_assert_int_eq(refusal_of(message(1, true)), FOLLOWER_STALE_TERM);
    ck_assert_int_eq(refusal_of(message(2, true)), FOLLOWER_NO_HISTORY);
    ck_assert_uint_eq(f.resync_term, 0);
    ck_assert_int_eq(refusal_of(message(2, false)), FOLLOWER_NO_HISTORY);
    finish();
}
END_TEST

START_TEST(test_wrong_copy)
{
    begin(1);
    w.gentle = true;
    struct sent *m = message(1, false);
    m->msg.allocation_id = STR("a9");
    ck_assert_int_eq(refusal_of(m), FOLLOWER_NOT_HERE);
    v.copy = STR_NULL;
    m = message(1, false);
    m->msg.allocation_id = STR("");
    ck_assert_int_eq(refusal_of(m), FOLLOWER_NOT_HERE);
    finish();
}
END_TEST

START_TEST(test_initializing)
{
    /* A copy that recovers takes the writes of a new primary at once: its recovery begins again, with that one. */
    begin(1);
    w.gentle = true;
    ck_assert_int_eq(refusal_of(message(2, false)), FOLLOWER_NO_HISTORY);
    v.initializing = true;
    struct sent *m = message(2, false);
    w.resync_end[2] = 0;
    go_on(m);
    go_on(m);
    ck_assert(m->replied && f.term == 2);
    ck_assert_int_eq(refusal_of(message(1, false)), FOLLOWER_STALE_TERM);
    finish();
}
END_TEST

START_TEST(test_too_much)
{
    struct follower_effect e;
    begin(1);
    w.gentle = true;
    struct sent *m = message(2, true);
    v.max_seq_no = FOLLOWER_OWN_MAX + 1;
    follower_step(&f, &(struct follower_event){.kind = FOLLOWER_PARSED, .message = &m->m}, &v);
    ck_assert(follower_effect(&f, &e) && e.kind == FOLLOWER_REFUSE && m->m.diverges);
    ck_assert_int_eq(m->m.why, FOLLOWER_HAS_TOO_MANY);
    ck_assert_int_eq(refusal_of(message(2, true)), FOLLOWER_DIVERGED);
    v.term = 3;
    ck_assert_int_eq(refusal_of(message(2, true)), FOLLOWER_STALE_TERM);
}
END_TEST

START_TEST(test_waits)
{
    begin(1);
    w.gentle = true;
    struct sent *late = message(1, false), *soon = message(1, false), *never = message(1, false);
    late->msg.mapping_version = soon->msg.mapping_version = 3;
    never->msg.mapping_version = 4;
    late->m.deadline_ms = 10;
    go_on(late);
    go_on(soon);
    go_on(never);
    step(&(struct follower_event){.kind = FOLLOWER_TICK, .now_ms = 9});
    perform_all();
    ck_assert(!late->refused);
    step(&(struct follower_event){.kind = FOLLOWER_TICK, .now_ms = 10});
    perform_all();
    ck_assert(late->refused && late->m.why == FOLLOWER_NO_MAPPING && !soon->pending);
    v.mapping_version = 3;
    step(&(struct follower_event){.kind = FOLLOWER_MAPPING});
    perform_all();
    ck_assert(soon->pending && !never->pending);
    step(&(struct follower_event){.kind = FOLLOWER_STOP});
    perform_all();
    ck_assert(never->refused && never->m.why == FOLLOWER_STOPPED);
    v.leaving = true;
    struct sent *m = message(1, false);
    m->msg.mapping_version = 5;
    ck_assert_int_eq(refusal_of(m), FOLLOWER_CLOSING);
    finish();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("follower");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, test_random, 0, 10);
    tcase_add_test(c, test_all);
    tcase_add_test(c, test_copy_that_leads);
    tcase_add_test(c, test_wrong_copy);
    tcase_add_test(c, test_initializing);
    tcase_add_test(c, test_too_much);
    tcase_add_test(c, test_waits);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
