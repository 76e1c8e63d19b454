/* Slow logs: searches and writes that took longer than the index's thresholds, as lines of logs of their
 * own. */
#include "data/shard/shard.h"
#include "engine/search/search.h"

#include "common/base/num.h"
#include "common/settings/setting_read.h"

#include <stdio.h>

static const enum setting_id ids[SLOW_PARTS][SLOW_LEVELS] = {
    [SLOW_QUERY] = {SET_INDEX_SEARCH_SLOWLOG_THRESHOLD_QUERY_TRACE,
                    SET_INDEX_SEARCH_SLOWLOG_THRESHOLD_QUERY_DEBUG,
                    SET_INDEX_SEARCH_SLOWLOG_THRESHOLD_QUERY_INFO,
                    SET_INDEX_SEARCH_SLOWLOG_THRESHOLD_QUERY_WARN},
    [SLOW_FETCH] = {SET_INDEX_SEARCH_SLOWLOG_THRESHOLD_FETCH_TRACE,
                    SET_INDEX_SEARCH_SLOWLOG_THRESHOLD_FETCH_DEBUG,
                    SET_INDEX_SEARCH_SLOWLOG_THRESHOLD_FETCH_INFO,
                    SET_INDEX_SEARCH_SLOWLOG_THRESHOLD_FETCH_WARN},
    [SLOW_INDEX] = {SET_INDEX_INDEXING_SLOWLOG_THRESHOLD_INDEX_TRACE,
                    SET_INDEX_INDEXING_SLOWLOG_THRESHOLD_INDEX_DEBUG,
                    SET_INDEX_INDEXING_SLOWLOG_THRESHOLD_INDEX_INFO,
                    SET_INDEX_INDEXING_SLOWLOG_THRESHOLD_INDEX_WARN},
};

static int lowest_level(const struct settings *s, enum setting_id id)
{
    enum log_level level = LOG_TRACE;
    log_level_parse(setting_str(s, id), &level);
    return (int)level;
}

void slowlog_read(struct slowlog *l, const struct settings *s)
{
    bool any[SLOW_PARTS] = {false};
    int from[SLOW_PARTS];
    from[SLOW_QUERY] = from[SLOW_FETCH] = lowest_level(s, SET_INDEX_SEARCH_SLOWLOG_LEVEL);
    from[SLOW_INDEX] = lowest_level(s, SET_INDEX_INDEXING_SLOWLOG_LEVEL);
    for (int p = 0; p < SLOW_PARTS; p++) {
        for (int i = 0; i < SLOW_LEVELS; i++) {
            int64_t ms = setting_ms(s, ids[p][i]);
            l->from_ns[p][i] = ms < 0 || i < from[p] ? -1 : ms * 1000000;
            any[p] |= l->from_ns[p][i] >= 0;
        }
        l->on[p] = any[p];
    }
    struct str source = setting_str(s, SET_INDEX_INDEXING_SLOWLOG_SOURCE);
    int64_t chars;
    if (str_is(source, "true")) {
        chars = INT64_MAX;
    } else if (str_is(source, "false") || !num_parse_i64(source, &chars)) {
        chars = 0;
    }
    l->source_chars = chars;
}

static bool slowlog_wants(const struct slowlog *l, enum slow_part part, int64_t took_ns,
                          enum log_level *level)
{
    if (!l->on[part]) {
        return false;
    }
    for (int i = SLOW_LEVELS; i > 0; i--) {
        int64_t from = l->from_ns[part][i - 1];
        if (from >= 0 && took_ns > from) {
            *level = (enum log_level)(LOG_TRACE + i - 1);
            return true;
        }
    }
    return false;
}

/* A log like the node's but for its name. It passes all levels: the thresholds have decided. */
static struct log log_named(const struct data_service *s, const char *type)
{
    struct log l;
    log_init(&l, s->o.log->sink, s->o.log->clock, LOG_TRACE);
    l.type = type;
    l.cluster = s->o.log->cluster;
    l.node = s->o.log->node;
    return l;
}

#define FIELDS_MAX 10

struct line {
    struct log_field v[FIELDS_MAX];
    size_t n;
    char text[FIELDS_MAX][64];
};

static void put(struct line *l, const char *name, struct str value)
{
    l->v[l->n++] = (struct log_field){name, value};
}

static void put_took(struct line *l, int64_t ns)
{
    snprintf(l->text[0], sizeof(l->text[0]), "%.1f%s",
             ns < 1000000      ? (double)ns / 1e3
             : ns < 1000000000 ? (double)ns / 1e6
                               : (double)ns / 1e9,
             ns < 1000000      ? "micros"
             : ns < 1000000000 ? "ms"
                               : "s");
    snprintf(l->text[1], sizeof(l->text[1]), "%lld", (long long)(ns / 1000000));
    put(l, "took", str_of(l->text[0]));
    put(l, "took_millis", str_of(l->text[1]));
}

void slowlog_search(struct shard *sh, enum slow_part part, int64_t took_ns, const struct shard_query *rq,
                    struct str body, uint32_t n_shards)
{
    struct data_service *s = sh->service;
    enum log_level level;
    if (s->o.log == NULL || !slowlog_wants(&sh->index->slow, part, took_ns, &level)) {
        return;
    }
    struct log log = log_named(s, "index_search_slowlog");
    struct line l = {.n = 0};
    put_took(&l, took_ns);
    if (rq != NULL && rq->result != NULL) {
        snprintf(l.text[2], sizeof(l.text[2]), "%lld%s hits", (long long)rq->result->total,
                 rq->result->relation == TOTAL_GTE ? "+" : "");
        put(&l, "total_hits", str_of(l.text[2]));
    }
    put(&l, "types", STR("[]"));
    put(&l, "stats", STR("[]"));
    put(&l, "search_type",
        rq != NULL && rq->dfs != NULL ? STR("DFS_QUERY_THEN_FETCH") : STR("QUERY_THEN_FETCH"));
    snprintf(l.text[3], sizeof(l.text[3]), "%u", n_shards);
    put(&l, "total_shards", str_of(l.text[3]));
    put(&l, "source", body.n > 0 ? body : STR("{}"));
    log_with(&log, level, part == SLOW_QUERY ? "i.s.s.query" : "i.s.s.fetch", l.v, l.n, "[%.*s][%u]",
             STR_ARG(sh->index->name), sh->number);
}

void slowlog_index(struct shard *sh, int64_t took_ns, const struct write_item *it, struct str source)
{
    struct data_service *s = sh->service;
    enum log_level level;
    if (s->o.log == NULL || !slowlog_wants(&sh->index->slow, SLOW_INDEX, took_ns, &level)) {
        return;
    }
    struct log log = log_named(s, "index_indexing_slowlog");
    struct line l = {.n = 0};
    size_t n = MIN_OF(source.n, (size_t)MIN_OF((int64_t)sh->index->slow.source_chars, (int64_t)(64 * KIB)));
    while (n > 0 && n < source.n && ((unsigned char)source.p[n] & 0xC0) == 0x80) { /* no half characters */
        n--;
    }
    put_took(&l, took_ns);
    put(&l, "doc_type", write_item_type(it));
    put(&l, "id", it->id);
    if (it->routing.p != NULL) {
        put(&l, "routing", it->routing);
    }
    if (n > 0) {
        put(&l, "source", str_slice(source, 0, n));
    }
    log_with(&log, level, "i.i.s.index", l.v, l.n, "[%.*s/%.*s]", STR_ARG(sh->index->name),
             STR_ARG(sh->index->uuid));
}
