/* log.h - one line an event: JSON in the shape of Elasticsearch's server log, or its plain text.
 *
 *   {"type":"server","timestamp":"2021-04-20T20:56:39,040Z","level":"INFO","component":"c.m.election",
 *    "cluster.name":"serai","node.name":"n1","message":"..."}
 *
 * Whoever logs is handed a `const struct log *`; there is no global one. Nobody logs *and* returns an error.
 * Any thread may log: a line reaches the sink in one call. A NULL log is silent, so tests need none. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "common/base/clock.h"
#include "common/base/str.h"

#include <stdatomic.h>

enum log_level { LOG_TRACE, LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF };

#define LOG_LINE_BYTES_MAX 4096 /* a longer message is cut */

struct log_sink {
    void *self;
    /* One line with its '\n'. Called from any thread; must not log. */
    void (*write)(void *self, struct str line);
};

/* Levels of single components: "data" is also that of "data.recovery", unless that has one. */
struct log_levels {
    struct log_levels *older; /* replaced by this one; freed at the end, a line may still be reading it */
    size_t n;
    struct {
        char component[64];
        enum log_level level;
    } v[];
};

struct log {
    const struct log_sink *sink;         /* borrowed */
    const struct clock *clock;           /* borrowed */
    _Atomic(int) level;                  /* enum log_level: less severe is dropped; may change at any time */
    _Atomic(struct log_levels *) levels; /* NULL: none differs */
    const char *type;                    /* "server", "index_search_slowlog" ...; NULL: "server" */
    const char *cluster, *node;          /* borrowed; NULL leaves the member out */
    bool plain;                          /* lines for people: [time][level][component] [node] message */
};

struct log_field { /* one more member of a line */
    const char *name;
    struct str value;
};

/* Fills in all but cluster and node, which may be set after. */
void log_init(struct log *l, const struct log_sink *sink, const struct clock *clock, enum log_level level);
void log_set_level(struct log *l, enum log_level level);
/* Replaces the levels of single components; `next` (malloc, `older` unset; NULL: none) is taken. One thread
 * at a time. */
void log_set_levels(struct log *l, struct log_levels *next);
void log_fini(struct log *l); /* nobody logs any more */

/* With further members before the message. */
void log_with(const struct log *l, enum log_level level, const char *component,
              const struct log_field *fields, size_t n, const char *fmt, ...) PRINTF_LIKE(6, 7);

void log_debug(const struct log *l, const char *component, const char *fmt, ...) PRINTF_LIKE(3, 4);
void log_info(const struct log *l, const char *component, const char *fmt, ...) PRINTF_LIKE(3, 4);
void log_warn(const struct log *l, const char *component, const char *fmt, ...) PRINTF_LIKE(3, 4);
void log_error(const struct log *l, const char *component, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* "info", "WARN" ...; false: no such level. */
bool log_level_parse(struct str s, enum log_level *out);

/* Keeps one message from flooding the log. Zeroed at first; any thread. */
struct log_rate {
    _Atomic(int64_t) next_ms; /* monotonic */
    _Atomic(uint64_t) dropped;
};

/* May this be logged now, at most once in `every_ms`? *dropped: how many were kept back since the last. */
bool log_rate_ok(struct log_rate *r, const struct log *l, int64_t every_ms, uint64_t *dropped);

#endif
