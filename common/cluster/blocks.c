#include "common/cluster/blocks.h"

static const struct {
    const char *setting, *reason, *kind;
    int id;
    unsigned levels;
} blocks[] = {
    {"index.blocks.read_only", "index read-only (api)", "FORBIDDEN", 5,
     1U << BLOCK_WRITE | 1U << BLOCK_METADATA_WRITE},
    {"index.blocks.read", "index read (api)", "FORBIDDEN", 7, 1U << BLOCK_READ},
    {"index.blocks.write", "index write (api)", "FORBIDDEN", 8, 1U << BLOCK_WRITE},
    {"index.blocks.metadata", "index metadata (api)", "FORBIDDEN", 9,
     1U << BLOCK_METADATA_READ | 1U << BLOCK_METADATA_WRITE},
    {"index.blocks.read_only_allow_delete",
     "disk usage exceeded flood-stage watermark, index has read-only-allow-delete block", "TOO_MANY_REQUESTS",
     12, 1U << BLOCK_WRITE | 1U << BLOCK_METADATA_WRITE},
};

enum { BLOCK_DISK = 12 };

/* "index [a] blocked by: [...];" appended for each block; *disk_only stays true while only full disks are in
 * the way. */
static void name_blocks(const struct index_meta *m, enum block_level level, struct buf *why, bool *disk_only)
{
    bool first = true;
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
        if ((blocks[i].levels & 1U << level) == 0
            || !str_is(settings_str(&m->settings, blocks[i].setting, STR("false")), "true")) {
            continue;
        }
        if (first) {
            buf_printf(why, "index [%.*s] blocked by: ", STR_ARG(m->name));
        }
        buf_printf(why, "%s[%s/%d/%s]", first ? "" : ", ", blocks[i].kind, blocks[i].id, blocks[i].reason);
        *disk_only &= blocks[i].id == BLOCK_DISK;
        first = false;
    }
    if (!first) {
        buf_char(why, ';');
    }
}

enum err indices_block_check(const struct index_meta *const *v, uint32_t n, enum block_level level,
                             struct errmsg *em)
{
    struct buf why;
    bool disk_only = true;
    enum err e = ERR_OK;
    buf_init(&why, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < n; i++) {
        name_blocks(v[i], level, &why, &disk_only);
    }
    if (why.failed) {
        e = err_no_memory(em);
    } else if (why.n > 0) {
        e = err_set(em, ERR_CLUSTER_BLOCK, "%.*s", STR_ARG(buf_view(&why)));
        if (em != NULL && disk_only) {
            em->about.status_set = true;
            em->about.http_status = 429;
        }
    }
    buf_fini(&why);
    return e;
}

enum err index_block_check(const struct index_meta *m, enum block_level level, struct errmsg *em)
{
    return indices_block_check(&m, 1, level, em);
}
