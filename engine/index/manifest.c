#include "engine/index/manifest.h"

#include "common/base/bytes.h"
#include "common/base/hash.h"

#include <inttypes.h>
#include <stdio.h>

#define MAGIC             "SRAIMNFT"
#define VERSION           3
#define VERSION_NO_LOG_ID 2 /* still read */
#define VERSION_1         1 /* still read: without footers and names of operations either */
#define SEGMENT_BYTES_MIN 9

void manifest_encode(const struct manifest *m, struct buf *out)
{
    size_t at = out->n;
    buf_add(out, MAGIC, 8);
    put_u32(out, VERSION);
    put_u32(out, m->shard);
    put_u64(out, m->generation);
    put_str(out, str_of(m->uuid));
    put_varint(out, m->next_number);
    put_zigzag(out, m->max_seq_no);
    put_zigzag(out, m->local_checkpoint);
    put_zigzag(out, m->global_checkpoint);
    put_varint(out, m->translog_generation);
    put_varint(out, m->mapping_version);
    put_zigzag(out, m->max_auto_id_ms);
    put_str(out, m->user_data);
    put_varint(out, m->n_segments);
    for (size_t i = 0; i < m->n_segments; i++) {
        const struct manifest_segment *s = &m->segments[i];
        put_varint(out, s->number);
        put_varint(out, s->bytes);
        put_u64(out, s->checksum);
        put_u64(out, s->footer);
        put_varint(out, s->docs);
        put_varint(out, s->live_docs);
        put_varint(out, s->live_roots);
        put_varint(out, s->live_generation);
        if (s->live_generation != 0) {
            put_varint(out, s->live_bytes);
            put_u64(out, s->live_checksum);
        }
    }
    put_str(out, m->op_names);
    put_u64(out, m->translog_id);
    if (!out->failed) {
        put_u64(out, hash_bytes(out->p + at, out->n - at, 0));
    }
}

static uint32_t get_docs(struct bytes_in *in)
{
    uint64_t v = get_varint(in);
    in->bad |= v >= UINT32_MAX - 1;
    return (uint32_t)v;
}

static void get_segment(struct manifest_segment *s, struct bytes_in *in, uint32_t version)
{
    s->number = get_varint(in);
    s->bytes = get_varint(in);
    s->checksum = get_u64(in);
    s->footer = version > VERSION_1 ? get_u64(in) : 0;
    s->docs = get_docs(in);
    s->live_docs = get_docs(in);
    s->live_roots = get_docs(in);
    s->live_generation = get_varint(in);
    if (s->live_generation != 0) {
        s->live_bytes = get_varint(in);
        s->live_checksum = get_u64(in);
    }
    in->bad |= s->live_docs > s->docs || s->live_roots > s->live_docs
               || (s->live_generation == 0 && s->live_docs != s->docs);
}

static bool sane(const struct manifest *m)
{
    if (m->local_checkpoint < -1 || m->max_seq_no < m->local_checkpoint || m->global_checkpoint < -1
        || m->translog_generation == 0 || m->generation == 0) {
        return false;
    }
    for (size_t i = 0; i < m->n_segments; i++) {
        const struct manifest_segment *s = &m->segments[i];
        if (s->number >= m->next_number || s->live_generation >= m->next_number) {
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            if (m->segments[j].number == s->number) {
                return false;
            }
        }
    }
    return true;
}

static enum err bad(struct errmsg *em)
{
    return err_set(em, ERR_CORRUPT, "manifest: bad bytes");
}

enum err manifest_decode(struct manifest *m, struct str bytes, struct arena *arena, struct errmsg *em)
{
    *m = (struct manifest){0};
    uint32_t version = bytes.n < 32 ? 0 : load_u32(bytes.p + 8);
    if (version < VERSION_1 || version > VERSION || memcmp(bytes.p, MAGIC, 8) != 0
        || load_u64(bytes.p + bytes.n - 8) != hash_bytes(bytes.p, bytes.n - 8, 0)) {
        return bad(em);
    }
    struct bytes_in in = bytes_in(str_slice(bytes, 12, bytes.n - 8));
    m->shard = get_u32(&in);
    m->generation = get_u64(&in);
    struct str uuid = get_str(&in);
    if (uuid.n >= MANIFEST_UUID_BYTES) {
        return bad(em);
    }
    if (uuid.n > 0) {
        memcpy(m->uuid, uuid.p, uuid.n);
    }
    m->next_number = get_varint(&in);
    m->max_seq_no = get_zigzag(&in);
    m->local_checkpoint = get_zigzag(&in);
    m->global_checkpoint = get_zigzag(&in);
    m->translog_generation = get_varint(&in);
    m->mapping_version = get_varint(&in);
    m->max_auto_id_ms = get_zigzag(&in);
    m->user_data = arena_str(arena, get_str(&in));
    m->n_segments = get_count(&in, SEGMENT_BYTES_MIN);
    m->segments = ARENA_ARRAY(arena, struct manifest_segment, m->n_segments);
    if (m->user_data.p == NULL || m->segments == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < m->n_segments; i++) {
        get_segment(&m->segments[i], &in, version);
    }
    m->op_names = version > VERSION_1 ? get_str(&in) : STR("");
    m->translog_id = version > VERSION_NO_LOG_ID ? get_u64(&in) : 0;
    return in.bad || bytes_left(&in) != 0 || !sane(m) ? bad(em) : ERR_OK;
}

void segment_file_name(uint64_t number, char out[FILE_NAME_BYTES])
{
    snprintf(out, FILE_NAME_BYTES, SEGMENT_PREFIX "%" PRIu64, number);
}

void live_file_name(uint64_t number, uint64_t generation, char out[FILE_NAME_BYTES])
{
    snprintf(out, FILE_NAME_BYTES, LIVE_PREFIX "%" PRIu64 "_%" PRIu64, number, generation);
}

void manifest_file_name(uint64_t generation, char out[FILE_NAME_BYTES])
{
    snprintf(out, FILE_NAME_BYTES, MANIFEST_PREFIX "%" PRIu64, generation);
}

const char *store_path(struct arena *arena, const char *dir, const char *name)
{
    return arena_printf(arena, "%s/%s", dir, name).p;
}

enum err manifest_write(const struct fs *fs, const char *dir, uint64_t generation, struct str bytes,
                        struct errmsg *em)
{
    struct arena arena;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    char name[FILE_NAME_BYTES];
    manifest_file_name(generation, name);
    const char *tmp = store_path(&arena, dir, MANIFEST_TMP), *path = store_path(&arena, dir, name);
    struct fs_file *f = NULL;
    enum err e = tmp == NULL || path == NULL ? err_no_memory(em) : fs->remove(fs->self, tmp, em);
    e = e == ERR_OK ? fs->open(fs->self, tmp, true, &f, em) : e;
    e = e == ERR_OK ? fs->write(fs->self, f, bytes.p, bytes.n, em) : e;
    e = e == ERR_OK ? fs->sync(fs->self, f, em) : e;
    fs->close(fs->self, f);
    e = e == ERR_OK ? fs->rename(fs->self, tmp, path, em) : e;
    arena_fini(&arena);
    return e;
}
