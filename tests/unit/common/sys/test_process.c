/* The process, its supervisor, and its log. */
#include "common/sys/process.h"
#include "common/sys/threads.h"

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/sys/log_fd.h"
#include "common/sys/notify.h"
#include "tests/seams/clock_sim.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

START_TEST(threads_of_the_process)
{
    struct arena a;
    struct thread_sample *v, *w;
    uint32_t n, m;
    volatile uint64_t busy = 0;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert(thread_samples(&a, &v, &n));
    ck_assert_uint_ge(n, 1);
    for (uint64_t i = 0; i < 20000000; i++) {
        busy += i;
    }
    ck_assert_uint_ne(busy, 0);
    ck_assert(thread_samples(&a, &w, &m));
    ck_assert_uint_ge(m, 1);
    ck_assert_int_eq(v[0].id, (int64_t)getpid());
    ck_assert(v[0].cpu_ns == 0 || w[0].cpu_ns > v[0].cpu_ns);
    ck_assert_uint_gt(strlen(v[0].name), 0);
    arena_fini(&a);
}
END_TEST

START_TEST(what_the_process_uses)
{
    struct process_stats p;
    process_stats(&p);
    ck_assert(p.rss_bytes > 100 * KIB && p.virtual_bytes >= p.rss_bytes);
    ck_assert(p.open_files >= 3 && p.open_files_max >= p.open_files && p.threads >= 1);
    ck_assert_int_gt(p.started_wall_ms, 1600000000000);
    int fd = dup(0);
    struct process_stats q;
    process_stats(&q);
    ck_assert_uint_eq(q.open_files, p.open_files + 1);
    close(fd);
    struct machine_stats m;
    machine_stats(&m);
    ck_assert(m.memory_bytes > MIB && m.memory_limit_bytes > MIB && m.memory_limit_bytes <= m.memory_bytes);
    ck_assert(m.cores >= 1 && m.cores_allowed >= 1 && m.cores_allowed <= m.cores);
    ck_assert_uint_ge(process_raise_open_files(), q.open_files_max);
    ck_assert_int_eq(process_id(), getpid());
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert(process_host_name(&a).n > 0);
    arena_fini(&a);
    uint64_t x = 0, y = 0;
    ck_assert_int_eq(process_random(&x, sizeof(x), NULL), ERR_OK);
    ck_assert_int_eq(process_random(&y, sizeof(y), NULL), ERR_OK);
    ck_assert(x != y);
}
END_TEST

START_TEST(systemd_hears)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char name[64];
    snprintf(name, sizeof(name), "@serai-notify-%d", (int)getpid());
    size_t n = strlen(name);
    memcpy(a.sun_path, name, n);
    a.sun_path[0] = '\0';
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)),
                     0);
    ck_assert(notify_send(name, "READY=1\nSTATUS=up"));
    char got[64] = {0};
    ck_assert_int_eq(recv(fd, got, sizeof(got) - 1, 0), 17);
    ck_assert_str_eq(got, "READY=1\nSTATUS=up");
    close(fd);
    ck_assert(!notify_send(name, "READY=1"));
    ck_assert(!notify_send("relative", "READY=1"));
    ck_assert(notify_send(NULL, "READY=1"));
    char pid[32];
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    ck_assert_int_eq(notify_watchdog_ms("30000000", pid), 15000);
    ck_assert_int_eq(notify_watchdog_ms("30000000", "1"), 0);
    ck_assert_int_eq(notify_watchdog_ms("30000000", NULL), 15000);
    ck_assert_int_eq(notify_watchdog_ms(NULL, NULL), 0);
    ck_assert_int_eq(notify_watchdog_ms("x", NULL), 0);
}
END_TEST

struct lines {
    struct log_sink sink;
    char last[2 * LOG_LINE_BYTES_MAX];
    int n;
};

static void keep(void *self, struct str line)
{
    struct lines *l = self;
    snprintf(l->last, sizeof(l->last), "%.*s", STR_ARG(line));
    l->n++;
}

START_TEST(lines_are_json)
{
    static struct lines l;
    l.sink = (struct log_sink){.self = &l, .write = keep};
    struct clock_sim clock;
    clock_sim_init(&clock, 1618951256039);
    struct log log;
    log_init(&log, &l.sink, &clock.base, LOG_INFO);
    log.node = "n1";
    log_debug(&log, "x", "not shown");
    log_info(NULL, "x", "nowhere");
    ck_assert_int_eq(l.n, 0);
    log_warn(&log, "m.election", "term %d \"won\"\n", 3);
    ck_assert_str_eq(l.last,
                     "{\"type\":\"server\",\"timestamp\":\"2021-04-20T20:40:56,039Z\",\"level\":\"WARN\","
                     "\"component\":\"m.election\",\"node.name\":\"n1\","
                     "\"message\":\"term 3 \\\"won\\\"\\n\"}\n");
    log.type = "index_search_slowlog";
    log.cluster = "c";
    struct log_field f[] = {{"took", STR("1ms")}, {"source", STR("{\"a\":\"\xff\"}")}};
    log_with(&log, LOG_ERROR, "s", f, 2, "%s", "m");
    ck_assert_ptr_nonnull(strstr(l.last, "\"cluster.name\":\"c\",\"node.name\":\"n1\",\"took\":\"1ms\""));
    static char big[3 * LOG_LINE_BYTES_MAX];
    memset(big, 'x', sizeof(big) - 1);
    log_error(&log, "s", "%s", big);
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct json v;
    ck_assert_int_eq(json_parse(&v, str_trim(str_of(l.last)), &a, &json_limits_default, NULL), ERR_OK);
    arena_fini(&a);
    log_set_level(&log, LOG_OFF);
    int n = l.n;
    log_error(&log, "s", "silence");
    ck_assert_int_eq(l.n, n);
    enum log_level level;
    ck_assert(log_level_parse(STR("warn"), &level) && level == LOG_WARN);
    ck_assert(!log_level_parse(STR("loud"), &level));
}
END_TEST

START_TEST(floods_are_held_back)
{
    static struct lines l;
    l.sink = (struct log_sink){.self = &l, .write = keep};
    struct clock_sim clock;
    clock_sim_init(&clock, 0);
    struct log log;
    log_init(&log, &l.sink, &clock.base, LOG_INFO);
    struct log_rate rate = {0};
    uint64_t dropped;
    ck_assert(log_rate_ok(&rate, &log, 1000, &dropped) && dropped == 0);
    for (int i = 0; i < 5; i++) {
        ck_assert(!log_rate_ok(&rate, &log, 1000, &dropped));
    }
    clock_sim_advance(&clock, 1000000000);
    ck_assert(log_rate_ok(&rate, &log, 1000, &dropped) && dropped == 5);
    ck_assert(!log_rate_ok(&rate, &log, 1000, &dropped));
    ck_assert(!log_rate_ok(&rate, NULL, 1000, &dropped));
}
END_TEST

START_TEST(lines_reach_a_file)
{
    char path[] = "/tmp/serai-log-XXXXXX";
    close(mkstemp(path));
    struct log_fd f;
    ck_assert_int_eq(log_fd_open(&f, path, NULL), ERR_OK);
    struct clock_sim clock;
    clock_sim_init(&clock, 0);
    struct log log;
    log_init(&log, &f.base, &clock.base, LOG_INFO);
    log_info(&log, "a", "one");
    log_info(&log, "a", "two");
    log_fd_close(&f);
    FILE *in = fopen(path, "r");
    char text[1000] = {0};
    ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, in), 100);
    fclose(in);
    ck_assert_ptr_nonnull(strstr(text, "\"message\":\"two\"}\n"));
    unlink(path);
    ck_assert_int_eq(log_fd_open(&f, "/no/such/folder/log", NULL), ERR_IO);
    log_fd_close(&f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("process");
    TCase *t = tcase_create("process");
    tcase_add_test(t, what_the_process_uses);
    tcase_add_test(t, threads_of_the_process);
    tcase_add_test(t, systemd_hears);
    tcase_add_test(t, lines_are_json);
    tcase_add_test(t, floods_are_held_back);
    tcase_add_test(t, lines_reach_a_file);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
