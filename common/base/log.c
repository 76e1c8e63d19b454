#include "common/base/log.h"

#include "common/base/jsonw.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const level_names[] = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF"};

void log_init(struct log *l, const struct log_sink *sink, const struct clock *clock, enum log_level level)
{
    *l = (struct log){.sink = sink, .clock = clock};
    log_set_level(l, level);
}

/* Of a component, or of the one that says most when it is NULL. */
static int level_of(const struct log *l, const char *component)
{
    int level = atomic_load_explicit(&l->level, memory_order_relaxed);
    const struct log_levels *t = atomic_load_explicit(&l->levels, memory_order_acquire);
    size_t longest = 0;
    for (size_t i = 0; t != NULL && i < t->n; i++) {
        size_t n = strlen(t->v[i].component);
        if (component == NULL) {
            level = MIN_OF(level, (int)t->v[i].level);
        } else if (n > longest && strncmp(component, t->v[i].component, n) == 0
                   && (component[n] == '\0' || component[n] == '.')) {
            longest = n;
            level = (int)t->v[i].level;
        }
    }
    return level;
}

void log_set_levels(struct log *l, struct log_levels *next)
{
    struct log_levels *old = atomic_load_explicit(&l->levels, memory_order_relaxed);
    if (next == NULL) {
        next = calloc(1, sizeof(*next));
    }
    if (next != NULL) {
        next->older = old;
        atomic_store_explicit(&l->levels, next, memory_order_release);
    }
}

void log_fini(struct log *l)
{
    struct log_levels *t = atomic_load_explicit(&l->levels, memory_order_relaxed);
    while (t != NULL) {
        struct log_levels *older = t->older;
        free(t);
        t = older;
    }
    atomic_store_explicit(&l->levels, NULL, memory_order_relaxed);
}

void log_set_level(struct log *l, enum log_level level)
{
    atomic_store_explicit(&l->level, (int)level, memory_order_relaxed);
}

static const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

bool log_level_parse(struct str s, enum log_level *out)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
        if (str_eq_nocase(s, str_of(level_names[i]))) {
            *out = (enum log_level)i;
            return true;
        }
    }
    return false;
}

/* "2021-04-20T20:56:39,040" */
static void put_time(struct buf *b, int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    buf_printf(b, "%04d-%02d-%02dT%02d:%02d:%02d,%03d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
               tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(wall_ms % 1000));
}

/* One event. */
struct line {
    enum log_level level;
    const char *component, *message;
    const struct log_field *fields;
    size_t n;
};

static void put_plain(struct buf *b, const struct log *l, const struct line *e)
{
    buf_char(b, '[');
    put_time(b, clock_wall_ms(l->clock));
    buf_printf(b, "][%-5s][%-10s] ", log_level_name(e->level), e->component);
    if (l->node != NULL) {
        buf_printf(b, "[%s] ", l->node);
    }
    for (size_t i = 0; i < e->n; i++) {
        buf_printf(b, "%s[%.*s] ", e->fields[i].name, STR_ARG(e->fields[i].value));
    }
    for (const char *p = e->message; *p != '\0'; p++) { /* one line, and nothing that a terminal obeys */
        buf_char(b, (unsigned char)*p < ' ' || *p == 0x7f ? ' ' : *p);
    }
}

static void put_json(struct buf *b, const struct log *l, const struct line *e)
{
    struct buf time;
    struct jsonw w;
    buf_init(&time, NULL, BUF_UNLIMITED);
    put_time(&time, clock_wall_ms(l->clock));
    jsonw_init(&w, b, false);
    jw_obj(&w);
    jw_kz(&w, "type", l->type != NULL ? l->type : "server");
    jw_k(&w, "timestamp");
    jw_strf(&w, "%.*sZ", STR_ARG(buf_view(&time)));
    jw_kz(&w, "level", log_level_name(e->level));
    jw_kz(&w, "component", e->component);
    if (l->cluster != NULL) {
        jw_kz(&w, "cluster.name", l->cluster);
    }
    if (l->node != NULL) {
        jw_kz(&w, "node.name", l->node);
    }
    for (size_t i = 0; i < e->n; i++) {
        jw_kstr(&w, e->fields[i].name, e->fields[i].value);
    }
    jw_kz(&w, "message", e->message);
    jw_obj_end(&w);
    buf_fini(&time);
}

static void log_v(const struct log *l, enum log_level level, const char *component,
                  const struct log_field *fields, size_t n, const char *fmt, va_list args)
    __attribute__((format(printf, 6, 0)));

static void log_v(const struct log *l, enum log_level level, const char *component,
                  const struct log_field *fields, size_t n, const char *fmt, va_list args)
{
    if (l == NULL || level == LOG_OFF || (int)level < level_of(l, component)) {
        return;
    }
    char message[LOG_LINE_BYTES_MAX];
    vsnprintf(message, sizeof(message), fmt, args);
    const struct line event = {
        .level = level, .component = component, .message = message, .fields = fields, .n = n};
    struct buf line;
    buf_init(&line, NULL, BUF_UNLIMITED);
    buf_reserve(&line, 512);
    (l->plain ? put_plain : put_json)(&line, l, &event);
    buf_char(&line, '\n');
    if (!line.failed) {
        l->sink->write(l->sink->self, buf_view(&line));
    }
    buf_fini(&line);
}

void log_with(const struct log *l, enum log_level level, const char *component,
              const struct log_field *fields, size_t n, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_v(l, level, component, fields, n, fmt, args);
    va_end(args);
}

void log_debug(const struct log *l, const char *component, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_v(l, LOG_DEBUG, component, NULL, 0, fmt, args);
    va_end(args);
}

void log_info(const struct log *l, const char *component, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_v(l, LOG_INFO, component, NULL, 0, fmt, args);
    va_end(args);
}

void log_warn(const struct log *l, const char *component, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_v(l, LOG_WARN, component, NULL, 0, fmt, args);
    va_end(args);
}

void log_error(const struct log *l, const char *component, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_v(l, LOG_ERROR, component, NULL, 0, fmt, args);
    va_end(args);
}

bool log_rate_ok(struct log_rate *r, const struct log *l, int64_t every_ms, uint64_t *dropped)
{
    *dropped = 0;
    if (l == NULL) {
        return false;
    }
    int64_t now = clock_mono_ms(l->clock) + 1; /* 0 is a rate's zeroed beginning */
    int64_t next = atomic_load_explicit(&r->next_ms, memory_order_relaxed);
    if (now < next || !atomic_compare_exchange_strong(&r->next_ms, &next, now + every_ms)) {
        atomic_fetch_add_explicit(&r->dropped, 1, memory_order_relaxed);
        return false;
    }
    *dropped = atomic_exchange_explicit(&r->dropped, 0, memory_order_relaxed);
    return true;
}
