/* Calls of messages and their service, over a transport that hands all from the one to the other. */
#include "proto/node_messages.h"
#include "proto/remote.h"

#include <check.h>
#include <stdlib.h>

static struct {
    struct transport_rq *rq; /* that was sent last */
    struct transport_call call;
    void (*handle)(void *arg, struct transport_call *call);
    void *arg;
    uint16_t kind;
    const struct executor *where;
    unsigned served, replied, refused;
    struct errmsg error;
    struct arena errors; /* of the last refusal */
    struct buf answer;
} net;

static void send(void *self, const struct transport_peer *to, struct transport_rq *rq)
{
    (void)self, (void)to;
    transport_rq_take(rq);
    net.rq = rq;
}

static void serve(void *self, uint16_t kind, const struct executor *where,
                  void (*handle)(void *arg, struct transport_call *call), void *arg)
{
    (void)self;
    net.served++;
    net.kind = kind;
    net.where = where;
    net.handle = handle;
    net.arg = arg;
}

static void reply(void *self, struct transport_call *call, struct buf *payload)
{
    (void)self, (void)call;
    net.replied++;
    net.answer = *payload;
}

static void refuse(void *self, struct transport_call *call, const struct errmsg *error)
{
    (void)self, (void)call;
    net.refused++;
    arena_fini(&net.errors);
    net.error = err_in(&net.errors);
    err_copy(&net.error, error);
}

static const struct transport transport = {.send = send, .serve = serve, .reply = reply, .refuse = refuse};
static const struct executor pool = {.self = NULL};

/* What was sent arrives, and is answered with those bytes. */
static void arrive(struct str payload)
{
    net.call = (struct transport_call){.kind = net.rq->kind, .payload = payload};
    net.handle(net.arg, &net.call);
}

static void come_back(struct str answer, const struct errmsg *error)
{
    struct transport_rq *rq = net.rq;
    buf_fini(&rq->payload);
    buf_init(&rq->answer_memory, NULL, MIB);
    buf_str(&rq->answer_memory, answer);
    rq->answer = buf_view(&rq->answer_memory);
    if (error != NULL) {
        err_copy(&rq->error, error);
    }
    rq->done(rq);
}

/* ---- the two sides --------------------------------------------------------------------------------------- */

static struct remote_call call;
static unsigned ended;

static void done(struct remote_call *c)
{
    ck_assert(c == &call);
    ended++;
}

static void ask(const struct message *m, const void *rq)
{
    ended = 0;
    call.on = &pool;
    call.done = done;
    remote_ask(&transport, &(struct transport_peer){STR("there"), STR("")}, m, rq, &call);
    ck_assert(net.rq == &call.t && net.rq->kind == m->kind && net.rq->on == &pool && ended == 0);
}

static void serve_info(void *self, struct remote_rq *rq)
{
    const struct node_info_question *q = remote_body(rq);
    struct str text = STR("fine");
    ck_assert(self == &net && q->metrics == 300 && q->flat && !q->human);
    remote_reply(rq, &text);
}

static void serve_tasks(void *self, struct remote_rq *rq)
{
    ERR_LOCAL(em);
    (void)self;
    err_set(&em, ERR_REJECTED, "not now");
    remote_refuse(rq, &em);
}

static const struct remote_row rows[] = {{&message_node_info, serve_info}, {&message_tasks, serve_tasks}};
static struct remote_service service = {
    .transport = &transport, .self = &net, .rows = rows, .n = 2, .pools = {[MESSAGE_ON_READS] = &pool}};

static void setup(void)
{
    memset(&net, 0, sizeof(net));
    memset(&call, 0, sizeof(call));
    remote_serve(&service);
    ck_assert(net.served == 2 && net.where == &pool && net.kind == MESSAGE_TASKS);
}

START_TEST(there_and_back)
{
    struct node_info_question q = {300, true, false};
    setup();
    ask(&message_node_info, &q);
    arrive(buf_view(&net.rq->payload));
    ck_assert(net.replied == 1 && net.refused == 0);
    come_back(buf_view(&net.answer), NULL);
    const struct str *answer = call.answer;
    ck_assert(ended == 1 && !err_is(&call.error) && str_is(*answer, "fine"));
    remote_call_fini(&call);
    buf_fini(&net.answer);
}
END_TEST

START_TEST(refused)
{
    struct tasks_question q = {.id = 7};
    setup();
    ask(&message_tasks, &q);
    arrive(buf_view(&net.rq->payload));
    ck_assert(net.replied == 0 && net.refused == 1 && err_code(&net.error) == ERR_REJECTED);
    come_back(STR(""), &net.error);
    ck_assert(ended == 1 && err_code(&call.error) == ERR_REJECTED && !call.unreadable);
    remote_call_fini(&call);
}
END_TEST

/* Nobody is given a struct of what does not read. */
START_TEST(unreadable)
{
    struct node_info_question q = {300, true, false};
    struct tasks_question t = {.id = 7};
    setup();
    ask(&message_node_info, &q);
    arrive(STR("\x01"));
    ck_assert(net.replied == 0 && net.refused == 1 && err_code(&net.error) == ERR_CORRUPT);
    arrive(STR("\x01\x01\x01\x01"));
    ck_assert(net.replied == 0 && net.refused == 2);
    come_back(STR(""), &net.error);
    remote_call_fini(&call);
    ask(&message_tasks, &t);
    come_back(STR("\x01"), NULL);
    ck_assert(ended == 1 && err_code(&call.error) == ERR_CORRUPT && call.unreadable);
    remote_call_fini(&call);
}
END_TEST

static int64_t timeout_of(int64_t own)
{
    struct node_info_question q = {.metrics = 1};
    call.timeout_ms = own;
    ask(&message_node_info, &q);
    int64_t ms = net.rq->timeout_ms;
    come_back(STR(""), NULL);
    remote_call_fini(&call);
    return ms;
}

START_TEST(timeouts)
{
    setup();
    ck_assert_int_eq(timeout_of(0), NODE_QUESTION_MS);
    ck_assert_int_eq(timeout_of(5), 5);
    ck_assert_int_eq(timeout_of(-1), 0);
}
END_TEST

static enum transport_class lane_of(size_t n)
{
    static const struct message small = {1, "small",      TRANSPORT_CONTROL, MESSAGE_ON_LOOP,
                                         9, &codec_bytes, &codec_nothing};
    char *p = calloc(1, n);
    struct str bytes = str_mk(p, n);
    ask(&small, &bytes);
    enum transport_class cls = net.rq->cls;
    come_back(STR(""), NULL);
    ck_assert(!err_is(&call.error));
    remote_call_fini(&call);
    free(p);
    return cls;
}

/* Heartbeats do not wait for what is large. */
START_TEST(lanes)
{
    setup();
    ck_assert(lane_of(TRANSPORT_CONTROL_BYTES_MAX / 2) == TRANSPORT_CONTROL);
    ck_assert(lane_of(TRANSPORT_CONTROL_BYTES_MAX / 2 + 1) == TRANSPORT_DATA);
}
END_TEST

START_TEST(nobody_waits)
{
    uint64_t id = 300;
    setup();
    remote_tell(&transport, &(struct transport_peer){STR("there"), STR("")}, &message_cancel_query, &id,
                &pool);
    ck_assert(net.rq->kind == MESSAGE_CANCEL_QUERY && net.rq->payload.n == 2);
    come_back(STR(""), NULL); /* frees it */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("remote");
    TCase *c = tcase_create("all");
    tcase_add_test(c, there_and_back);
    tcase_add_test(c, refused);
    tcase_add_test(c, unreadable);
    tcase_add_test(c, timeouts);
    tcase_add_test(c, lanes);
    tcase_add_test(c, nobody_waits);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
