#include "data/service/figures.h"

#include "data/recovery/recovery.h"
#include "data/search/search.h"

void shard_tell_segments(struct shard *sh, struct shard_act *a)
{
    struct engine_segment_info *v;
    size_t n;
    struct buf b;
    struct jsonw w;
    if (engine_segments(sh->engine, &a->rq.arena, &v, &n, &a->rq.error) != ERR_OK) {
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    for (size_t i = 0; i < n; i++) {
        jw_kobj(&w, v[i].name);
        jw_ki64(&w, "generation", (int64_t)v[i].number);
        jw_ki64(&w, "num_docs", (int64_t)v[i].docs);
        jw_ki64(&w, "deleted_docs", (int64_t)v[i].docs_deleted);
        jw_ki64(&w, "size_in_bytes", (int64_t)v[i].bytes);
        jw_ki64(&w, "memory_in_bytes", (int64_t)v[i].memory_bytes);
        jw_kbool(&w, "committed", v[i].committed);
        jw_kbool(&w, "search", v[i].search);
        jw_kz(&w, "version", "8.8.0");
        jw_kbool(&w, "compound", true);
        jw_kobj(&w, "attributes");
        jw_obj_end(&w);
        jw_obj_end(&w);
    }
    jw_obj_end(&w);
    a->segments = arena_str(&a->rq.arena, buf_view(&b));
    if (b.failed || a->segments.p == NULL) {
        err_no_memory(&a->rq.error);
    }
    buf_fini(&b);
}

struct completion_list {
    struct shard_field_bytes *v;
    uint32_t n;
    size_t cap;
    struct arena *arena;
};

/* false: no memory. */
static bool add_completion(struct completion_list *l, const struct seg_field *f)
{
    uint32_t at = 0;
    while (at < l->n && !str_eq(l->v[at].name, f->name)) {
        at++;
    }
    if (at == l->n) {
        l->v = arena_grow(l->arena, l->v, l->n, &l->cap, sizeof(*l->v));
        struct str name = l->v != NULL ? arena_str(l->arena, f->name) : STR_NULL;
        if (name.p == NULL) {
            return false;
        }
        l->v[l->n++] = (struct shard_field_bytes){name, 0};
    }
    l->v[at].bytes += seg_completion_bytes(f).n;
    return true;
}

/* The completion fields of the segments that searches see. */
static bool completion_bytes(struct shard *sh, struct shard_stats *t, struct arena *arena)
{
    struct view *v = engine_view_ref(sh->engine);
    struct completion_list list = {.arena = arena};
    bool ok = true;
    for (uint32_t i = 0; ok && i < v->n_leaves; i++) {
        const struct segment *s = v->leaves[i].segment;
        for (uint32_t k = 0; ok && k < segment_field_count(s); k++) {
            const struct seg_field *f = segment_field_at(s, k);
            ok = (f->has & SEG_COMPLETION) == 0 || add_completion(&list, f);
        }
    }
    t->completions = list.v;
    t->n_completions = ok ? list.n : 0;
    for (uint32_t i = 0; i < t->n_completions; i++) {
        t->completion_bytes += t->completions[i].bytes;
    }
    view_unref(v);
    return ok;
}

void shard_tell_stats(struct shard *sh, struct shard_act *a)
{
    struct shard_stats *t = ARENA_NEW(&a->rq.arena, struct shard_stats);
    struct engine_stats e;
    if (t == NULL) {
        err_no_memory(&a->rq.error);
        return;
    }
    engine_stats(sh->engine, &e);
    *t = (struct shard_stats){.docs = e.docs,
                              .docs_deleted = e.docs_deleted,
                              .store_bytes = e.store_bytes,
                              .index_total = e.index_total,
                              .index_ns = e.index_ns,
                              .index_failed = e.index_failed,
                              .delete_total = e.delete_total,
                              .delete_ns = e.delete_ns,
                              .noop_updates = sh->noop_updates,
                              .get_total = e.get_total,
                              .get_ns = e.get_ns,
                              .get_missing = e.get_missing,
                              .refresh_total = e.refresh_total,
                              .refresh_ns = e.refresh_ns,
                              .flush_total = e.flush_total,
                              .flush_ns = e.flush_ns,
                              .merge_total = e.merge_total,
                              .merge_docs = e.merge_docs,
                              .merge_bytes = e.merge_bytes,
                              .merge_ns = e.merge_ns,
                              .translog_ops = e.translog_ops,
                              .translog_bytes = e.translog_bytes,
                              .translog_uncommitted_ops = e.translog_uncommitted_ops,
                              .translog_uncommitted_bytes = e.translog_uncommitted_bytes,
                              .segments = e.segments,
                              .segment_memory_bytes = e.memory_segment_bytes + e.live_bytes,
                              .buffer_bytes = e.buffer_bytes,
                              .version_map_bytes = e.version_map_bytes,
                              .max_seq_no = engine_max_seq_no(sh->engine),
                              .local_checkpoint = engine_processed_checkpoint(sh->engine),
                              .global_checkpoint = engine_global_checkpoint(sh->engine)};
    if (sh->filters != NULL) {
        struct filter_cache_stats f = filter_cache_stats(sh->filters);
        t->filter_bytes = f.bytes;
        t->filter_hits = f.hits;
        t->filter_misses = f.misses;
        t->filter_evictions = f.evictions;
        t->filter_count = f.entries;
    }
    if (!shard_searches_tell(sh, t, &a->rq.arena) || !completion_bytes(sh, t, &a->rq.arena)) {
        err_no_memory(&a->rq.error);
        return;
    }
    a->stats = t;
}

void shard_tell_recovery(struct shard *sh, struct shard_act *a)
{
    struct shard_recovery *r = ARENA_NEW(&a->rq.arena, struct shard_recovery);
    if (r == NULL) {
        err_no_memory(&a->rq.error);
        return;
    }
    *r = *recovery_figures(sh);
    r->source_node = r->source_node.p != NULL ? arena_str(&a->rq.arena, r->source_node) : STR_NULL;
    r->target_node = r->target_node.p != NULL ? arena_str(&a->rq.arena, r->target_node) : STR_NULL;
    a->recovery = r;
}
