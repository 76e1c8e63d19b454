/* Life, failure and settings of an engine. */
#include "engine/index/engine_int.h"

#include "common/settings/setting_read.h"

/* When segments are merged, as index.merge.policy.* says it. */
static struct engine_merge_settings merge_settings(const struct settings *s)
{
    int64_t at_once = setting_i64(s, SET_INDEX_MERGE_POLICY_MAX_MERGE_AT_ONCE);
    int64_t merged = setting_bytes(s, SET_INDEX_MERGE_POLICY_MAX_MERGED_SEGMENT);
    int64_t floor = setting_bytes(s, SET_INDEX_MERGE_POLICY_FLOOR_SEGMENT);
    return (struct engine_merge_settings){
        .segments_per_tier = setting_double(s, SET_INDEX_MERGE_POLICY_SEGMENTS_PER_TIER),
        .max_merge_at_once = (uint32_t)MIN_OF(MAX_OF(at_once, 2), INT32_MAX),
        .max_merged_bytes = (uint64_t)MAX_OF(merged, 1),
        .floor_bytes = (uint64_t)MAX_OF(floor, 1),
        .deletes_pct_allowed = setting_double(s, SET_INDEX_MERGE_POLICY_DELETES_PCT_ALLOWED),
        .expunge_deletes_pct = setting_double(s, SET_INDEX_MERGE_POLICY_EXPUNGE_DELETES_ALLOWED)};
}

void engine_settings_init(struct engine_settings *out, const struct settings *s)
{
    bool async = str_eq_nocase(setting_str(s, SET_INDEX_TRANSLOG_DURABILITY), STR("async"));
    *out = (struct engine_settings){
        .buffer_bytes_max = 32 * MIB,
        .memory_segment_bytes_max = 1 * MIB,
        .gc_deletes_ms = setting_ms(s, SET_INDEX_GC_DELETES),
        .op_ids_ms = 60 * 1000,
        .op_ids_max = (size_t)1 << 20,
        .durability = async ? DURABLE_ASYNC : DURABLE_REQUEST,
        .sync_interval_ms = setting_ms(s, SET_INDEX_TRANSLOG_SYNC_INTERVAL),
        .translog_tail_bytes_max = 64 * MIB,
        .flush_threshold_bytes = (uint64_t)setting_bytes(s, SET_INDEX_TRANSLOG_FLUSH_THRESHOLD_SIZE),
        .generation_bytes = (uint64_t)setting_bytes(s, SET_INDEX_TRANSLOG_GENERATION_THRESHOLD_SIZE),
        .retention_bytes = 512 * MIB,
        .retention_ms = (int64_t)12 * 3600 * 1000,
        .soft_deletes = setting_bool(s, SET_INDEX_SOFT_DELETES_ENABLED),
        .retention_operations = setting_i64(s, SET_INDEX_SOFT_DELETES_RETENTION_OPERATIONS),
        .merge = merge_settings(s),
    };
}

/* ---- failure ---- */

enum err engine_check(const struct engine *e, struct errmsg *em)
{
    return e->failure == ERR_OK ? ERR_OK : engine_failure(e, em);
}

enum err engine_failure(const struct engine *e, struct errmsg *em)
{
    if (e->failure != ERR_OK) {
        err_copy(em, &e->failure_em);
    }
    return e->failure;
}

enum err engine_fail(struct engine *e, enum err code, const struct errmsg *why)
{
    if (e->failure == ERR_OK) {
        e->failure = code;
        e->failure_em = err_in(&e->failure_arena);
        err_copy(&e->failure_em, why);
    }
    return e->failure;
}

/* ---- settings ---- */

void engine_set_settings(struct engine *e, const struct engine_settings *s)
{
    e->settings = *s;
    e->settings.merge.segments_per_tier = MAX_OF(s->merge.segments_per_tier, 2.0);
    e->settings.merge.max_merge_at_once = MAX_OF(s->merge.max_merge_at_once, 2U);
    e->settings.merge.floor_bytes = MAX_OF(s->merge.floor_bytes, 1U);
    e->settings.merge.max_merged_bytes = MAX_OF(s->merge.max_merged_bytes, 1U);
}

enum err engine_set_user_data(struct engine *e, struct str data, struct errmsg *em)
{
    struct buf b;
    buf_init(&b, e->alloc, BUF_UNLIMITED);
    buf_str(&b, data);
    if (b.failed) {
        buf_fini(&b);
        return err_no_memory(em);
    }
    buf_fini(&e->user_data);
    e->user_data = b;
    e->uncommitted = true;
    return ERR_OK;
}

struct str engine_user_data(const struct engine *e)
{
    return buf_view(&e->user_data);
}

/* ---- open and close ---- */

static char *copy(const struct allocator *alloc, const char *z)
{
    size_t n = strlen(z) + 1;
    char *p = alloc_get(alloc, n);
    return p != NULL ? memcpy(p, z, n) : NULL;
}

/* Frees it without a last sync; also what was half made. */
static void engine_free(struct engine *e)
{
    view_unref(e->view);
    engine_slots_free(e);
    alloc_put(e->alloc, e->slots);
    translog_fini(&e->log);
    while (e->commits != NULL) {
        struct commit *c = e->commits;
        e->commits = c->next;
        commit_free(c);
    }
    index_buffer_free(e->buffer);
    alloc_put(e->alloc, e->buffer_dead);
    version_map_fini(&e->versions);
    seq_tracker_fini(&e->processed);
    seq_tracker_fini(&e->persisted);
    op_ids_fini(&e->op_ids);
    arena_fini(&e->parse_arena);
    arena_fini(&e->failure_arena);
    buf_fini(&e->user_data);
    mapping_unref(e->mapping);
    alloc_put(e->alloc, e->dir);
    alloc_put(e->alloc, e->uuid);
    pthread_mutex_destroy(&e->view_lock);
    alloc_put(e->alloc, e);
}

static enum err init(struct engine *e, const struct engine_opts *o, const struct allocator *alloc,
                     struct errmsg *em)
{
    *e = (struct engine){.fs = o->fs,
                         .clock = o->clock,
                         .alloc = alloc,
                         .shard = o->shard,
                         .verify = o->verify,
                         .parse = o->parse,
                         .parse_self = o->parse_self,
                         .mapping_version = o->mapping_version,
                         .global_checkpoint = SEQ_NONE,
                         .global_persisted = SEQ_NONE,
                         .append_barrier = SEQ_NONE,
                         .max_auto_id_ms = -1,
                         .retention_from = INT64_MAX,
                         .held_from = INT64_MAX,
                         .last_sync_ms = clock_mono_ms(o->clock),
                         .last_prune_ms = clock_mono_ms(o->clock)};
    pthread_mutex_init(&e->view_lock, NULL);
    engine_set_settings(e, &o->settings);
    version_map_init(&e->versions, alloc);
    op_ids_init(&e->op_ids, alloc);
    seq_tracker_init(&e->processed, alloc, SEQ_NONE);
    seq_tracker_init(&e->persisted, alloc, SEQ_NONE);
    arena_init(&e->parse_arena, alloc, ARENA_UNLIMITED);
    buf_init(&e->user_data, alloc, BUF_UNLIMITED);
    e->mapping = o->mapping != NULL ? mapping_ref(o->mapping) : NULL;
    buf_str(&e->user_data, o->user_data);
    e->dir = copy(alloc, o->dir);
    e->uuid = copy(alloc, o->index_uuid);
    if (e->dir == NULL || e->uuid == NULL || e->user_data.failed) {
        return err_no_memory(em);
    }
    return index_buffer_new(&e->buffer, alloc, em);
}

enum err engine_open(struct engine **out, const struct engine_opts *opts, struct errmsg *em)
{
    *out = NULL;
    const struct allocator *alloc = opts->alloc != NULL ? opts->alloc : alloc_default();
    if (strlen(opts->index_uuid) >= MANIFEST_UUID_BYTES) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "index uuid too long");
    }
    struct engine *e = alloc_get(alloc, sizeof(*e));
    if (e == NULL) {
        return err_no_memory(em);
    }
    enum err r = init(e, opts, alloc, em);
    r = r == ERR_OK ? engine_start(e, opts->mode, em) : r;
    if (r != ERR_OK) {
        engine_free(e);
        return r;
    }
    *out = e;
    return ERR_OK;
}

void engine_close(struct engine *e)
{
    if (e == NULL) {
        return;
    }
    assert(e->log.out == NULL && e->flush == NULL && e->merges == NULL);
    if (e->failure == ERR_OK) {
        engine_sync(e, NULL);
    }
    engine_free(e);
}
