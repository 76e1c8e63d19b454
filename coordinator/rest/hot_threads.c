/* GET _nodes/hot_threads: what the threads of nodes are busy with, by name: there are no stacks to show. */
#include "coordinator/core/delays.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/nodes_stats.h"

#include "common/base/date.h"
#include "common/base/sort_items.h"
#include "common/base/time_text.h"
#include "common/sys/threads.h"

struct serving {
    struct node_question *q;
    const struct node_stats_question *what;
    struct delay delay;
    struct thread_sample *before;
    uint32_t n_before;
    int64_t began_ns;
};

/* ---- at each node -------------------------------------------------------------------------------------- */

static int busiest_first(const void *a, const void *b)
{
    const struct thread_sample *x = a, *y = b;
    if (x->cpu_ns != y->cpu_ns) {
        return x->cpu_ns > y->cpu_ns ? -1 : 1;
    }
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Leaves in `now` what each thread has run since. */
static void subtract(struct thread_sample *now, uint32_t n, const struct thread_sample *before,
                     uint32_t n_before)
{
    for (uint32_t i = 0, k = 0; i < n; i++) {
        while (k < n_before && before[k].id < now[i].id) {
            k++;
        }
        if (k < n_before && before[k].id == now[i].id) {
            now[i].cpu_ns -= MIN_OF(before[k].cpu_ns, now[i].cpu_ns);
        }
    }
}

static void put_thread(struct buf *b, const struct thread_sample *t, int64_t took_ns)
{
    buf_printf(b, "\n   %.1f%% (", 100.0 * (double)t->cpu_ns / (double)MAX_OF(took_ns, (int64_t)1));
    time_put_ns(b, (int64_t)t->cpu_ns);
    buf_z(b, " out of ");
    time_put_ns(b, took_ns);
    buf_printf(b, ") cpu usage by thread '%s'\n", t->name);
}

static void report(void *arg)
{
    struct serving *s = arg;
    struct node_question *q = s->q;
    const struct clock *clock = q->co->o.clock;
    struct thread_sample *now;
    const struct date_format *f;
    uint32_t n;
    struct buf b;
    ERR_LOCAL(em);
    if (!thread_samples(&q->arena, &now, &n)) {
        err_no_memory(&em);
        node_refuse(q, &em);
        return;
    }
    subtract(now, n, s->before, s->n_before);
    sort_items(now, n, sizeof(now[0]), busiest_first);
    buf_init(&b, NULL, MIB);
    buf_z(&b, "   Hot threads at ");
    if (date_format_new(&f, STR("strict_date_time"), &q->arena, NULL) == ERR_OK) {
        (void)date_print_ms(f, clock_wall_ms(clock), NULL, &b);
    }
    buf_z(&b, ", interval=");
    time_put_ns(&b, s->what->interval_ms * 1000000);
    buf_printf(&b, ", busiestThreads=%d, ignoreIdleThreads=%s:\n", (int)s->what->threads,
               s->what->ignore_idle ? "true" : "false");
    int64_t took_ns = clock->mono_ns(clock->self) - s->began_ns;
    for (uint32_t i = 0; i < n && i < (uint32_t)s->what->threads; i++) {
        if (now[i].cpu_ns > 0 || !s->what->ignore_idle) {
            put_thread(&b, &now[i], took_ns);
        }
    }
    buf_z(&b, "\n");
    node_reply_bytes(q, &b);
}

void hot_threads_serve(struct node_question *q)
{
    struct serving *s = ARENA_NEW(&q->arena, struct serving);
    ERR_LOCAL(em);
    if (s == NULL || !thread_samples(&q->arena, &s->before, &s->n_before)) {
        err_no_memory(&em);
        node_refuse(q, &em);
        return;
    }
    s->q = q;
    s->what = q->body;
    s->began_ns = q->co->o.clock->mono_ns(q->co->o.clock->self);
    delays_add(q->co->delays, &s->delay, s->what->interval_ms, report, s);
}

/* ---- the request --------------------------------------------------------------------------------------- */

static void hot_threads_done(struct node_calls *c)
{
    struct rest *r = rest_of(c->r);
    struct buf b;
    char text[NODE_TEXT_BYTES];
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < c->n; i++) {
        if (!err_is(&c->v[i].error)) {
            buf_printf(&b, "::: %s\n", node_text(c->v[i].node, text));
            buf_str(&b, *(const struct str *)c->v[i].answer);
        }
    }
    rest_send_text(r, 200, "text/plain; charset=UTF-8", &b);
}

static void hot_threads(struct rest *r)
{
    struct node_stats_question what = {.kind = NODE_STATS_HOT_THREADS};
    int64_t timeout_ms;
    struct str node = rest_param(r, "node"), type = rest_param(r, "type");
    enum err e = rest_time(r, "interval", 500, &what.interval_ms);
    e = e == ERR_OK ? rest_check_int(r, "snapshots") : e;
    e = e == ERR_OK ? rest_int(r, "threads", 3, &what.threads) : e;
    e = e == ERR_OK ? rest_bool(r, "ignore_idle_threads", true, &what.ignore_idle) : e;
    e = e == ERR_OK ? rest_time_as(r, "timeout", "NodesHotThreadsRequest.timeout", 0, &timeout_ms) : e;
    if (e == ERR_OK && type.n > 0 && !str_is(type, "cpu") && !str_is(type, "wait")
        && !str_is(type, "block")) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "type not supported [%.*s]", STR_ARG(type));
    }
    if (e == ERR_OK && (what.interval_ms > HOT_THREADS_INTERVAL_MS_MAX || what.threads < 0)) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "at most [%d] ms, and no fewer than no threads",
                    HOT_THREADS_INTERVAL_MS_MAX);
    }
    if (!rest_goes_on(r, e)) {
        return;
    }
    timeout_ms = (timeout_ms > 0 ? timeout_ms : NODE_QUESTION_MS) + what.interval_ms;
    nodes_ask(r, &message_node_stats, node, &what, timeout_ms, hot_threads_done, NULL);
}

const struct route routes_hot_threads[] = {
    {M_GET, "/_nodes/hot_threads", hot_threads},
    {M_GET, "/_nodes/{node}/hot_threads", hot_threads},
    {M_GET, "/_nodes/hotthreads", hot_threads},
    {M_GET, "/_nodes/{node}/hotthreads", hot_threads},
    {M_GET, "/_cluster/nodes/hot_threads", hot_threads},
    {M_GET, "/_cluster/nodes/{node}/hot_threads", hot_threads},
    {M_GET, "/_cluster/nodes/hotthreads", hot_threads},
    {M_GET, "/_cluster/nodes/{node}/hotthreads", hot_threads},
};
const size_t routes_hot_threads_n = ARRAY_LEN(routes_hot_threads);
