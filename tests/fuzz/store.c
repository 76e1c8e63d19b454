/* What lies on disk: segments, deletions, commits, logs of operations and of states. */
#include "tests/fuzz/fuzz.h"

#include "engine/index/live.h"
#include "engine/index/manifest.h"
#include "engine/index/translog_record.h"
#include "master/state_log.h"
#include "tests/seams/fs_mem.h"
#include "tests/unit/engine/index/random_docs.h"

#include <stdlib.h>

static struct str whole; /* a segment's bytes */

static void init_segment(void)
{
    struct doc_maker m;
    struct index_buffer *b;
    struct buf out;
    doc_id root;
    doc_maker_init(&m, 3);
    m.nested = true;
    m.words = 12;
    m.length = 6;
    buf_init(&out, NULL, FUZZ_ARENA_BYTES);
    FUZZ_HOLDS(index_buffer_new(&b, NULL, NULL) == ERR_OK);
    for (size_t i = 0; i < 150; i++) {
        struct made_doc *d = doc_maker_next(&m);
        FUZZ_HOLDS(index_buffer_add(b, &d->doc, &d->meta, &root, NULL) == ERR_OK);
    }
    FUZZ_HOLDS(index_buffer_write(b, &out, NULL) == ERR_OK);
    size_t n;
    whole.p = buf_take(&out, &n);
    whole.n = n;
    index_buffer_free(b);
    doc_maker_fini(&m);
}

static void open_segment(struct str bytes)
{
    struct segment *s;
    ERR_LOCAL(em);
    struct str copy = fuzz_copy(bytes);
    enum err e = segment_open_memory(&s, (char *)(uintptr_t)copy.p, copy.n, NULL, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        fuzz_error(segment_verify(s, &em), &em);
        read_everything(s);
        segment_unref(s);
    }
}

/* A whole segment in which four bytes of the input change one, as often as it has them; checksums are made to fit. */
static void one_segment(struct str in)
{
    struct str copy = fuzz_copy(whole);
    uint8_t *p = (uint8_t *)(uintptr_t)copy.p;
    for (; in.n >= 4; in = str_mk(in.p + 4, in.n - 4)) {
        uint32_t at =
            (uint32_t)(uint8_t)in.p[0] | (uint32_t)(uint8_t)in.p[1] << 8 | (uint32_t)(uint8_t)in.p[2] << 16;
        p[at % whole.n] ^= (uint8_t)in.p[3];
    }
    mend_segment((char *)p, copy.n);
    open_segment(copy);
    free(p);
}

static void one_raw_segment(struct str in)
{
    open_segment(in);
}

static void one_live(struct str in)
{
    struct live *l;
    ERR_LOCAL(em);
    static const uint64_t roots[2] = {UINT64_MAX, UINT64_MAX};
    enum err e = live_decode(&l, in, 1, 100, roots, NULL, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        live_unref(l);
    }
}

static void one_manifest(struct str in)
{
    struct arena a;
    struct manifest m;
    ERR_LOCAL(em);
    struct buf b;
    fuzz_arena(&a);
    enum err e = manifest_decode(&m, in, &a, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        buf_init(&b, NULL, FUZZ_ARENA_BYTES);
        manifest_encode(&m, &b);
        FUZZ_HOLDS(b.failed || (uint8_t)in.p[8] < (uint8_t)b.p[8]
                   || str_eq(buf_view(&b), in)); /* or an older version */
        buf_fini(&b);
    }
    arena_fini(&a);
}

static void one_translog(struct str in)
{
    struct tlog_header h;
    struct tlog_summary s;
    struct tlog_record r;
    ERR_LOCAL(em);
    bool torn;
    enum err e = tlog_header_decode(&h, in, &torn, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK && !torn) {
        fuzz_error(tlog_scan(&s, in, &h, &em), &em);
        fuzz_error(tlog_decode_end(&s, in, &h, &em), &em);
    }
    fuzz_error(tlog_decode(&r, in, 1, 0, &em), &em);
}

static void one_state_log(struct str in)
{
    struct fs_mem *m = fs_mem_new();
    const struct fs *fs = fs_mem_fs(m);
    struct state_log *l;
    struct cluster_state *s;
    ERR_LOCAL(em);
    uint64_t term;
    FUZZ_HOLDS(fs->make_dir(fs->self, "/d/_state", NULL) == ERR_OK);
    FUZZ_HOLDS(fs_replace_file(fs, "/d/_state/state-1.log", in, NULL) == ERR_OK);
    enum err e = state_log_open(&l, fs, "/d/_state", &term, &s, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        cluster_state_unref(s);
        state_log_close(l);
    }
    fs_mem_free(m);
}

const struct fuzz_target fuzz_store[] = {
    {"segment", one_segment, init_segment, FUZZ_BYTES},
    {"raw_segment", one_raw_segment, NULL, FUZZ_BYTES},
    {"live", one_live, NULL, FUZZ_BYTES},
    {"manifest", one_manifest, NULL, FUZZ_BYTES},
    {"translog", one_translog, NULL, FUZZ_BYTES},
    {"state_log", one_state_log, NULL, FUZZ_BYTES},
    {0},
};
