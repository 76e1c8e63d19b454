#include "coordinator/rest/stats.h"

#include "common/base/memory_account.h"
#include "common/base/time_text.h"

#define NS_PER_MS 1000000

/* ---- sections ---------------------------------------------------------------------------------------- */

void stats_put_as(const struct stats_out *o, const char *words, const char *key, uint64_t v)
{
    struct str name = str_of(key);
    bool ms = str_ends(name, STR("_in_millis")), bytes = str_ends(name, STR("_in_bytes"));
    if (o->human && (bytes || ms || words != NULL)) {
        struct buf b;
        buf_init(&b, NULL, KIB);
        if (ms) {
            time_put_ns(&b, (int64_t)(v * NS_PER_MS));
        } else {
            memory_print_bytes(&b, v);
        }
        jw_key(o->w, words != NULL ? str_of(words) : str_slice(name, 0, name.n - (bytes ? 9 : 10)));
        jw_str(o->w, buf_view(&b));
        buf_fini(&b);
    }
    jw_k(o->w, key);
    jw_u64(o->w, v);
}

void stats_put(const struct stats_out *o, const char *key, uint64_t v)
{
    stats_put_as(o, NULL, key, v);
}

static bool among(struct str list, struct str name)
{
    bool is = false;
    while (list.n > 0) {
        is |= str_glob(str_cut(list, ',', &list), name);
    }
    return is;
}

/* The one type among the patterns. */
static bool type_wanted(struct str list)
{
    bool wanted = false;
    while (list.n > 0) {
        struct str one = str_cut(list, ',', &list);
        wanted |= str_is(one, "_all") || str_glob(one, STR("_doc"));
    }
    return wanted;
}

struct stats_out stats_out_for(struct rest *r, struct jsonw *w)
{
    struct str v = rest_param(r, "human");
    return (struct stats_out){.w = w, .human = v.p != NULL && !str_is(v, "false")};
}

struct stats_out stats_out_detailed(struct rest *r, struct jsonw *w)
{
    struct stats_out o = stats_out_for(r, w);
    o.fielddata_fields = rest_given(r, "fields") || rest_given(r, "fielddata_fields");
    o.types = type_wanted(rest_param(r, "types"));
    o.groups = rest_param(r, "groups");
    o.completion_fields =
        rest_given(r, "completion_fields") ? rest_param(r, "completion_fields") : rest_param(r, "fields");
    return o;
}

static void write_docs(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "count", s->docs);
    stats_put(o, "deleted", s->docs_deleted);
}

static void write_store(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "size_in_bytes", s->store_bytes);
    stats_put(o, "reserved_in_bytes", 0);
}

static void write_operations(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "index_total", s->index_total);
    stats_put(o, "index_time_in_millis", s->index_ns / NS_PER_MS);
    stats_put(o, "index_current", 0);
    stats_put(o, "index_failed", s->index_failed);
    stats_put(o, "delete_total", s->delete_total);
    stats_put(o, "delete_time_in_millis", s->delete_ns / NS_PER_MS);
    stats_put(o, "delete_current", 0);
    stats_put(o, "noop_update_total", s->noop_updates);
    jw_kbool(o->w, "is_throttled", false);
    stats_put(o, "throttle_time_in_millis", 0);
}

static void write_indexing(const struct stats_out *o, const struct shard_stats *s)
{
    write_operations(o, s);
    if (o->types) {
        jw_kobj(o->w, "types");
        jw_kobj(o->w, "_doc");
        write_operations(o, s);
        jw_obj_end(o->w);
        jw_obj_end(o->w);
    }
}

static void write_get(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "total", s->get_total);
    stats_put_as(o, "getTime", "time_in_millis", s->get_ns / NS_PER_MS);
    stats_put(o, "exists_total", s->get_total - s->get_missing);
    stats_put(o, "exists_time_in_millis", s->get_ns / NS_PER_MS);
    stats_put(o, "missing_total", s->get_missing);
    stats_put(o, "missing_time_in_millis", 0);
    stats_put(o, "current", 0);
}

static void write_searches(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "query_total", s->query_total);
    stats_put(o, "query_time_in_millis", s->query_ns / NS_PER_MS);
    stats_put(o, "query_current", s->query_current);
    stats_put(o, "fetch_total", s->fetch_total);
    stats_put(o, "fetch_time_in_millis", s->fetch_ns / NS_PER_MS);
    stats_put(o, "fetch_current", 0);
    stats_put(o, "scroll_total", s->scroll_total);
    stats_put(o, "scroll_time_in_millis", 0);
    stats_put(o, "scroll_current", 0);
    stats_put(o, "suggest_total", s->suggest_total);
    stats_put(o, "suggest_time_in_millis", s->suggest_ns / NS_PER_MS);
    stats_put(o, "suggest_current", 0);
}

static void write_search(const struct stats_out *o, const struct shard_stats *s)
{
    bool open = false;
    stats_put(o, "open_contexts", s->contexts);
    write_searches(o, s);
    for (uint32_t i = 0; o->groups.p != NULL && i < s->n_groups; i++) {
        const struct shard_search_group *g = &s->groups[i];
        if (!str_is(o->groups, "_all") && !among(o->groups, g->name)) {
            continue;
        }
        if (!open) {
            jw_kobj(o->w, "groups");
            open = true;
        }
        jw_key(o->w, g->name);
        jw_obj(o->w);
        write_searches(o, &(struct shard_stats){.query_total = g->query_total,
                                                .query_ns = g->query_ns,
                                                .fetch_total = g->fetch_total,
                                                .fetch_ns = g->fetch_ns,
                                                .suggest_total = g->suggest_total,
                                                .suggest_ns = g->suggest_ns});
        jw_obj_end(o->w);
    }
    if (open) {
        jw_obj_end(o->w);
    }
}

static void write_merge(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "current", 0);
    stats_put(o, "current_docs", 0);
    stats_put(o, "current_size_in_bytes", 0);
    stats_put(o, "total", s->merge_total);
    stats_put(o, "total_time_in_millis", s->merge_ns / NS_PER_MS);
    stats_put(o, "total_docs", s->merge_docs);
    stats_put(o, "total_size_in_bytes", s->merge_bytes);
    stats_put(o, "total_stopped_time_in_millis", 0);
    stats_put(o, "total_throttled_time_in_millis", 0);
    stats_put(o, "total_auto_throttle_in_bytes", 0);
}

static void write_refresh(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "total", s->refresh_total);
    stats_put(o, "total_time_in_millis", s->refresh_ns / NS_PER_MS);
    stats_put(o, "external_total", s->refresh_total);
    stats_put(o, "external_total_time_in_millis", s->refresh_ns / NS_PER_MS);
    stats_put(o, "listeners", 0);
}

static void write_flush(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "total", s->flush_total);
    stats_put(o, "periodic", 0);
    stats_put(o, "total_time_in_millis", s->flush_ns / NS_PER_MS);
}

static void write_warmer(const struct stats_out *o, UNUSED const struct shard_stats *s)
{
    stats_put(o, "current", 0);
    stats_put(o, "total", 0);
    stats_put(o, "total_time_in_millis", 0);
}

static void write_query_cache(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "memory_size_in_bytes", s->filter_bytes);
    stats_put(o, "total_count", s->filter_hits + s->filter_misses);
    stats_put(o, "hit_count", s->filter_hits);
    stats_put(o, "miss_count", s->filter_misses);
    stats_put(o, "cache_size", s->filter_count);
    stats_put(o, "cache_count", s->filter_count + s->filter_evictions);
    stats_put(o, "evictions", s->filter_evictions);
}

static void write_fielddata(const struct stats_out *o, UNUSED const struct shard_stats *s)
{
    stats_put(o, "memory_size_in_bytes", 0);
    stats_put(o, "evictions", 0);
    if (o->fielddata_fields) { /* none: nothing is kept in memory by field */
        jw_kobj(o->w, "fields");
        jw_obj_end(o->w);
    }
}

static void write_completion(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "size_in_bytes", s->completion_bytes);
    if (o->completion_fields.p == NULL) {
        return;
    }
    jw_kobj(o->w, "fields");
    for (uint32_t i = 0; i < s->n_completions; i++) {
        if (among(o->completion_fields, s->completions[i].name)) {
            jw_key(o->w, s->completions[i].name);
            jw_obj(o->w);
            stats_put(o, "size_in_bytes", s->completions[i].bytes);
            jw_obj_end(o->w);
        }
    }
    jw_obj_end(o->w);
}

static void write_segments(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "count", s->segments);
    stats_put(o, "memory_in_bytes", s->segment_memory_bytes);
    stats_put(o, "terms_memory_in_bytes", 0);
    stats_put(o, "stored_fields_memory_in_bytes", 0);
    stats_put(o, "term_vectors_memory_in_bytes", 0);
    stats_put(o, "norms_memory_in_bytes", 0);
    stats_put(o, "points_memory_in_bytes", 0);
    stats_put(o, "doc_values_memory_in_bytes", 0);
    stats_put(o, "index_writer_memory_in_bytes", s->buffer_bytes);
    stats_put(o, "version_map_memory_in_bytes", s->version_map_bytes);
    stats_put_as(o, "fixed_bit_set", "fixed_bit_set_memory_in_bytes", 0);
    jw_ki64(o->w, "max_unsafe_auto_id_timestamp", -1);
    jw_kobj(o->w, "file_sizes");
    jw_obj_end(o->w);
}

static void write_translog(const struct stats_out *o, const struct shard_stats *s)
{
    stats_put(o, "operations", s->translog_ops);
    stats_put(o, "size_in_bytes", s->translog_bytes);
    stats_put(o, "uncommitted_operations", s->translog_uncommitted_ops);
    stats_put(o, "uncommitted_size_in_bytes", s->translog_uncommitted_bytes);
    stats_put(o, "earliest_last_modified_age", 0);
}

static void write_request_cache(const struct stats_out *o, UNUSED const struct shard_stats *s)
{
    stats_put(o, "memory_size_in_bytes", 0);
    stats_put(o, "evictions", 0);
    stats_put(o, "hit_count", 0);
    stats_put(o, "miss_count", 0);
}

static void write_recovery(const struct stats_out *o, UNUSED const struct shard_stats *s)
{
    stats_put(o, "current_as_source", 0);
    stats_put(o, "current_as_target", 0);
    stats_put(o, "throttle_time_in_millis", 0);
}

static const struct {
    const char *metric, *key;
    void (*write)(const struct stats_out *o, const struct shard_stats *s);
} sections[] = {
    {"docs", "docs", write_docs},
    {"store", "store", write_store},
    {"indexing", "indexing", write_indexing},
    {"get", "get", write_get},
    {"search", "search", write_search},
    {"merge", "merges", write_merge},
    {"refresh", "refresh", write_refresh},
    {"flush", "flush", write_flush},
    {"warmer", "warmer", write_warmer},
    {"query_cache", "query_cache", write_query_cache},
    {"fielddata", "fielddata", write_fielddata},
    {"completion", "completion", write_completion},
    {"segments", "segments", write_segments},
    {"translog", "translog", write_translog},
    {"request_cache", "request_cache", write_request_cache},
    {"recovery", "recovery", write_recovery},
};

enum err stats_metrics(struct rest *r, struct str list, const char *what, unsigned *out)
{
    struct str rest = list;
    bool all = list.n == 0, single = str_find(list, ',', 0) == SIZE_MAX;
    *out = 0;
    while (rest.p != NULL && rest.n > 0) {
        struct str name = str_cut(rest, ',', &rest);
        size_t i = 0;
        if (str_is(name, "_all")) {
            all = true;
            continue;
        }
        while (i < ARRAY_LEN(sections) && !str_is(name, sections[i].metric)) {
            i++;
        }
        if (i == ARRAY_LEN(sections)) {
            return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "request [%.*s] contains unrecognized %s: [%.*s]",
                           STR_ARG(rest_shown_path(r)), what, STR_ARG(name));
        }
        *out |= 1U << i;
    }
    if (all && list.n > 0 && !single) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "request [%.*s] contains _all and individual metrics [%.*s]",
                       STR_ARG(rest_shown_path(r)), STR_ARG(list));
    }
    *out = all ? STATS_ALL : *out;
    return ERR_OK;
}

unsigned stats_metric(const char *name)
{
    size_t i = 0;
    while (i < ARRAY_LEN(sections) && strcmp(sections[i].metric, name) != 0) {
        i++;
    }
    return 1U << i;
}

static void idle_if(struct rest *r, bool known, const char *name)
{
    if (known && rest_given(r, name)) {
        rest_accept(r, name);
        rest_idle(r, name);
    }
}

enum err stats_details(struct rest *r, unsigned metrics, bool of_nodes)
{
    bool files = false, completion = (metrics & stats_metric("completion")) != 0,
         fielddata = (metrics & stats_metric("fielddata")) != 0;
    const struct {
        const char *name;
        bool known;
    } fields[] = {{"types", !of_nodes || (metrics & stats_metric("indexing")) != 0},
                  {"fields", completion || fielddata},
                  {"fielddata_fields", fielddata},
                  {"groups", !of_nodes},
                  {"completion_fields", !of_nodes && completion}};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (fields[i].known && rest_given(r, fields[i].name)) {
            rest_accept(r, fields[i].name);
        }
    }
    idle_if(r, of_nodes && (metrics & stats_metric("search")) != 0, "groups");
    idle_if(r, of_nodes && completion, "completion_fields");
    enum err e = (metrics & stats_metric("segments")) != 0
                     ? rest_bool(r, "include_segment_file_sizes", false, &files)
                     : ERR_OK;
    if (e == ERR_OK && files) {
        rest_idle(r, "include_segment_file_sizes");
    }
    return e;
}

void stats_write(const struct stats_out *o, const struct shard_stats *s, unsigned metrics)
{
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        if ((metrics >> i & 1) != 0) {
            jw_kobj(o->w, sections[i].key);
            sections[i].write(o, s);
            jw_obj_end(o->w);
        }
    }
}

void stats_write_routing(struct jsonw *w, const struct shard_copy *c, bool relocation)
{
    jw_kobj(w, "routing");
    jw_kz(w, "state", copy_state_name(c->state));
    jw_kbool(w, "primary", c->primary);
    jw_kstr(w, "node", c->node);
    if (c->target_node.p != NULL) {
        jw_kstr(w, "relocating_node", c->target_node);
    } else if (relocation) {
        jw_k(w, "relocating_node");
        jw_null(w);
    }
    jw_obj_end(w);
}

void stats_write_shard(const struct stats_out *o, const struct shard_copy *c, const struct shard_stats *s,
                       unsigned metrics)
{
    struct jsonw *w = o->w;
    stats_write_routing(w, c, true);
    stats_write(o, s, metrics);
    jw_kobj(w, "commit");
    jw_kstr(w, "id", s->commit_id);
    jw_ki64(w, "num_docs", (int64_t)s->docs);
    jw_obj_end(w);
    jw_kobj(w, "seq_no");
    jw_ki64(w, "max_seq_no", s->max_seq_no);
    jw_ki64(w, "local_checkpoint", s->local_checkpoint);
    jw_ki64(w, "global_checkpoint", s->global_checkpoint);
    jw_obj_end(w);
}

static bool add_groups(struct shard_stats *sum, const struct shard_stats *s, struct arena *arena)
{
    struct shard_search_group *v = ARENA_ARRAY(arena, struct shard_search_group, sum->n_groups + s->n_groups);
    if (v == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < sum->n_groups; i++) {
        v[i] = sum->groups[i];
    }
    for (uint32_t i = 0; i < s->n_groups; i++) {
        uint32_t at = 0;
        while (at < sum->n_groups && !str_eq(v[at].name, s->groups[i].name)) {
            at++;
        }
        if (at == sum->n_groups) {
            v[sum->n_groups++] = s->groups[i];
        } else {
            shard_search_group_add(&v[at], &s->groups[i]);
        }
    }
    sum->groups = v;
    return true;
}

static bool add_completions(struct shard_stats *sum, const struct shard_stats *s, struct arena *arena)
{
    struct shard_field_bytes *v =
        ARENA_ARRAY(arena, struct shard_field_bytes, sum->n_completions + s->n_completions);
    if (v == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < sum->n_completions; i++) {
        v[i] = sum->completions[i];
    }
    for (uint32_t i = 0; i < s->n_completions; i++) {
        uint32_t at = 0;
        while (at < sum->n_completions && !str_eq(v[at].name, s->completions[i].name)) {
            at++;
        }
        if (at == sum->n_completions) {
            v[sum->n_completions++] = s->completions[i];
        } else {
            v[at].bytes += s->completions[i].bytes;
        }
    }
    sum->completions = v;
    return true;
}

bool stats_add_named(struct shard_stats *sum, const struct shard_stats *s, struct arena *arena)
{
    return (s->n_groups == 0 || add_groups(sum, s, arena))
           && (s->n_completions == 0 || add_completions(sum, s, arena));
}

void stats_add(struct shard_stats *sum, const struct shard_stats *s)
{
    /* the counters, which stand in front of what is no sum */
    for (size_t at = 0; at < offsetof(struct shard_stats, max_seq_no); at += sizeof(uint64_t)) {
        uint64_t v = load_u64((const char *)sum + at) + load_u64((const char *)s + at);
        memcpy((char *)sum + at, &v, sizeof(v));
    }
}
