#include "common/cluster/blocks.h"

#include "common/settings/setting_read.h"

#include <stdio.h>

struct block {
    enum setting_id setting;
    const char *description, *kind;
    int id;
    unsigned levels;
    bool lets_delete; /* indices may go: that frees space */
    bool disk;        /* a full disk is why */
};

#define WRITES (1U << BLOCK_WRITE | 1U << BLOCK_METADATA_WRITE)

static const struct block cluster_blocks[] = {
    {SET_CLUSTER_BLOCKS_READ_ONLY, "cluster read-only (api)", "FORBIDDEN", 6, WRITES, false, false},
    {SET_CLUSTER_BLOCKS_READ_ONLY_ALLOW_DELETE, "cluster read-only / allow delete (api)", "FORBIDDEN", 13,
     WRITES, true, false},
};

static const struct block index_blocks[] = {
    {SET_INDEX_BLOCKS_READ_ONLY, "index read-only (api)", "FORBIDDEN", 5, WRITES, false, false},
    {SET_INDEX_BLOCKS_READ, "index read (api)", "FORBIDDEN", 7, 1U << BLOCK_READ, false, false},
    {SET_INDEX_BLOCKS_WRITE, "index write (api)", "FORBIDDEN", 8, 1U << BLOCK_WRITE, false, false},
    {SET_INDEX_BLOCKS_METADATA, "index metadata (api)", "FORBIDDEN", 9,
     1U << BLOCK_METADATA_READ | 1U << BLOCK_METADATA_WRITE, false, false},
    {SET_INDEX_BLOCKS_READ_ONLY_ALLOW_DELETE,
     "disk usage exceeded flood-stage watermark, index has read-only-allow-delete block", "TOO_MANY_REQUESTS",
     12, WRITES, true, true},
};

static const struct block closed = {.description = "index closed",
                                    .kind = "FORBIDDEN",
                                    .id = 4,
                                    .levels = 1U << BLOCK_READ | 1U << BLOCK_WRITE};

/* Nobody leads. What this forbids of writes waits for a master, at whoever sends them, and is not refused here:
 * only reads are, when they are to be. */
static bool leaderless(const struct cluster_state *s)
{
    return s->nodes != NULL && s->nodes->master.p == NULL;
}

static struct block no_master(const struct cluster_state *s)
{
    struct str mode = cluster_setting(s, SET_CLUSTER_NO_MASTER_BLOCK);
    unsigned levels = str_eq_nocase(mode, STR("all"))              ? 0xFU
                      : str_eq_nocase(mode, STR("metadata_write")) ? 1U << BLOCK_METADATA_WRITE
                                                                   : WRITES;
    return (struct block){
        .description = "no master", .kind = "SERVICE_UNAVAILABLE", .id = 2, .levels = levels};
}

/* The blocks that are found. */
struct obstacles {
    struct buf why;
    bool first;     /* of its index */
    bool disk_only; /* only full disks so far */
    bool leaderless;
    bool deleting;
};

static void blocks_add(struct obstacles *o, const struct block *b, const struct index_meta *m)
{
    if (o->first && m != NULL) {
        buf_printf(&o->why, "index [%.*s] ", STR_ARG(m->name));
    }
    buf_printf(&o->why, "%s[%s/%d/%s]", o->first ? "blocked by: " : ", ", b->kind, b->id, b->description);
    o->disk_only &= b->disk;
    o->first = false;
}

/* A cluster is closed by its own settings, and not by those of the node that is asked. */
static bool cluster_has_block(const struct cluster_state *s, const struct block *b)
{
    struct settings persistent, all = cluster_settings(s, &persistent);
    persistent.behind = NULL;
    return setting_bool(&all, b->setting);
}

/* Those of one index, and the cluster's; m == NULL: the cluster's. */
static void look(struct obstacles *o, const struct cluster_state *s, const struct index_meta *m,
                 enum block_level level)
{
    bool reads = level == BLOCK_READ || level == BLOCK_METADATA_READ;
    struct block none = no_master(s);
    o->first = true;
    if (reads && leaderless(s) && (none.levels & 1U << level) != 0) {
        blocks_add(o, &none, m);
        o->leaderless = true;
    }
    for (size_t i = 0; i < ARRAY_LEN(cluster_blocks); i++) {
        const struct block *b = &cluster_blocks[i];
        if ((b->levels & 1U << level) != 0 && !(o->deleting && b->lets_delete) && cluster_has_block(s, b)) {
            blocks_add(o, b, m);
        }
    }
    if (m != NULL && m->closed && level == BLOCK_READ) { /* writes are refused as such to a closed index */
        blocks_add(o, &closed, m);
    }
    for (size_t i = 0; m != NULL && i < ARRAY_LEN(index_blocks); i++) {
        const struct block *b = &index_blocks[i];
        if ((b->levels & 1U << level) != 0 && !(o->deleting && b->lets_delete)
            && setting_bool(&m->settings, b->setting)) {
            blocks_add(o, b, m);
        }
    }
    if (!o->first) {
        buf_char(&o->why, ';');
    }
}

static void blocks_begin(struct obstacles *o)
{
    *o = (struct obstacles){.disk_only = true};
    buf_init(&o->why, NULL, BUF_UNLIMITED);
}

static enum err verdict(struct obstacles *o, struct errmsg *em)
{
    enum err e = ERR_OK;
    if (o->why.failed) {
        e = err_no_memory(em);
    } else if (o->why.n > 0) {
        e = err_set(em, ERR_CLUSTER_BLOCK, "%.*s", STR_ARG(buf_view(&o->why)));
        if (o->disk_only || o->leaderless) {
            err_about_status(em, o->leaderless ? 503 : 429);
        }
    }
    buf_fini(&o->why);
    return e;
}

enum err indices_block_check(const struct cluster_state *s, const struct index_meta *const *v, uint32_t n,
                             enum block_level level, struct errmsg *em)
{
    struct obstacles o;
    blocks_begin(&o);
    for (uint32_t i = 0; i < n; i++) {
        look(&o, s, v[i], level);
    }
    return verdict(&o, em);
}

enum err index_block_check(const struct cluster_state *s, const struct index_meta *m, enum block_level level,
                           struct errmsg *em)
{
    return indices_block_check(s, &m, 1, level, em);
}

enum err cluster_block_check(const struct cluster_state *s, enum block_level level, struct errmsg *em)
{
    struct obstacles o;
    blocks_begin(&o);
    look(&o, s, NULL, level);
    return verdict(&o, em);
}

enum err state_recovered_check(const struct cluster_state *s, struct errmsg *em)
{
    if (s->version > 0) {
        return ERR_OK;
    }
    err_set(em, ERR_CLUSTER_BLOCK, "blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized];");
    err_about_status(em, 503);
    return ERR_CLUSTER_BLOCK;
}

enum err index_delete_check(const struct cluster_state *s, const struct index_meta *m, struct errmsg *em)
{
    struct obstacles o;
    blocks_begin(&o);
    o.deleting = true;
    look(&o, s, m, BLOCK_METADATA_WRITE);
    return verdict(&o, em);
}

static void write_block(struct jsonw *w, const struct block *b, bool retryable)
{
    static const char *const levels[] = {"read", "write", "metadata_read", "metadata_write"};
    char id[12];
    snprintf(id, sizeof(id), "%d", b->id);
    jw_kobj(w, id);
    jw_kz(w, "description", b->description);
    jw_kbool(w, "retryable", retryable);
    jw_karr(w, "levels");
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        if ((b->levels & 1U << i) != 0) {
            jw_z(w, levels[i]);
        }
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

bool blocks_write(const struct cluster_state *s, const struct index_meta *m, struct jsonw *w)
{
    const struct block *all = m != NULL ? index_blocks : cluster_blocks;
    size_t n = m != NULL ? ARRAY_LEN(index_blocks) : ARRAY_LEN(cluster_blocks);
    bool any = m != NULL ? m->closed : leaderless(s);
    if (any) {
        struct block none = no_master(s);
        jw_obj(w);
        write_block(w, m != NULL ? &closed : &none, m == NULL);
    }
    for (size_t i = 0; i < n; i++) {
        if (m != NULL ? !setting_bool(&m->settings, all[i].setting) : !cluster_has_block(s, &all[i])) {
            continue;
        }
        if (!any) {
            jw_obj(w);
            any = true;
        }
        write_block(w, &all[i], false);
    }
    if (any) {
        jw_obj_end(w);
    }
    return any;
}
