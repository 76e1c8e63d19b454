#include "common/base/bytes.h"
#include "common/base/hash.h"
#include "common/base/rand.h"
#include "tests/unit/engine/index/translog_rig.h"

#include <malloc.h>

enum form { MARKED, NOT_MARKED, OLDER }; /* of a generation's header */

/* As it was before there were marks. */
static void make_older(struct buf *b, const struct tlog_header *h)
{
    buf_truncate(b, 128);
    store_u32(b->p + 8, 1);
    store_u64(b->p + 120, hash_bytes(b->p, 120, h->generation));
}

static struct str file_bytes(struct buf *b, bool ended, enum form form)
{
    struct tlog_header h = {.older = form == OLDER,
                            .generation = 3,
                            .id = 77,
                            .shard = 2,
                            .uuid = "uuid",
                            .trim_above = TLOG_NO_TRIM,
                            .max_seq_before = 4};
    struct tlog_summary s;
    tlog_header_encode(&h, b);
    if (form == OLDER) {
        make_older(b, &h);
    }
    tlog_summary_init(&s, &h);
    uint64_t durable = b->n;
    for (int64_t seq = 0; seq < 12; seq++) {
        char text[2][64];
        struct engine_op op = make_op(seq, text);
        struct tlog_record r = {.kind = (enum tlog_kind)op.kind};
        size_t at = b->n;
        tlog_encode_op(b, 3, s.end, durable, &op);
        r.op.seq_no = seq;
        r.size = b->n - at;
        tlog_summary_add(&s, &r);
        durable = seq % 4 == 3 ? s.end : durable;
    }
    if (ended) {
        tlog_encode_end(b, 3, s.end, durable, &s);
    }
    const struct tlog_synced m = {b->n, s.ops, s.max_seq};
    for (unsigned i = 0; i < 2 && form == MARKED; i++) {
        char slot[TLOG_MARK_BYTES];
        uint64_t at = tlog_mark_encode(&m, 3, i, slot);
        memcpy(b->p + at, slot, sizeof(slot));
    }
    return buf_view(b);
}

static enum err scan(struct str bytes, struct tlog_summary *s)
{
    struct tlog_header h;
    bool torn;
    enum err e = tlog_header_decode(&h, bytes, &torn, NULL);
    return e == ERR_OK ? tlog_scan(s, bytes, &h, NULL) : e;
}

/* A flipped bit anywhere is corruption, never a shorter log; in one of the marks it is the other that counts. */
START_TEST(every_flip_is_detected)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct str bytes = file_bytes(&b, _i % 2 == 1, _i < 2 ? MARKED : OLDER);
    struct tlog_summary s;
    ck_assert_int_eq(scan(bytes, &s), ERR_OK);
    ck_assert_uint_eq(s.end, bytes.n);
    ck_assert_uint_eq(s.ops, 12);
    ck_assert(s.ended == (_i % 2 == 1));
    for (size_t bit = 0; bit < b.n * 8; bit++) {
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << bit % 8);
        enum err e = scan(bytes, &s);
        if (_i < 2 && bit / 8 >= 128 && bit / 8 < TLOG_HEADER_BYTES) {
            ck_assert(e == ERR_OK && s.end == bytes.n && s.ops == 12);
        } else {
            ck_assert_msg(e == ERR_CORRUPT, "bit %zu", bit);
        }
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << bit % 8);
    }
    buf_fini(&b);
}
END_TEST

/* Any prefix, also with zeroes behind it, is a torn write: all whole records are kept, unless a later record
 * proves that more had been durable. */
START_TEST(every_torn_tail_is_cut)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct str bytes = file_bytes(&b, false, _i == 0 ? NOT_MARKED : OLDER);
    struct tlog_summary s, all;
    ck_assert_int_eq(scan(bytes, &all), ERR_OK);
    size_t header = _i == 0 ? TLOG_HEADER_BYTES : 128;
    for (size_t n = header; n < bytes.n; n++) {
        ck_assert_int_eq(scan(str_mk(bytes.p, n), &s), ERR_OK);
        ck_assert_uint_le(s.end, n);
        ck_assert_int_eq(s.max_seq, (int64_t)s.ops - 1);
        if (bytes.n - n < 16) {
            continue; /* too short a hole to tell from a flip */
        }
        char *copy = calloc(1, bytes.n);
        memcpy(copy, bytes.p, n);
        struct tlog_summary z;
        ck_assert_int_eq(scan(str_mk(copy, bytes.n), &z), ERR_OK);
        ck_assert_uint_eq(z.end, s.end);
        free(copy);
    }
    /* A lost sector in the middle, below what a later record knows to be durable. */
    char *copy = malloc(bytes.n);
    memcpy(copy, bytes.p, bytes.n);
    memset(copy + header, 0, 64);
    ck_assert_int_eq(scan(str_mk(copy, bytes.n), &s), ERR_CORRUPT);
    free(copy);
    buf_fini(&b);
}
END_TEST

/* What lies behind the mark is left out however it looks; what is missing before it is damage. */
START_TEST(behind_and_before_the_mark)
{
    struct rng r;
    rng_seed(&r, 7);
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct str bytes = file_bytes(&b, _i == 1, MARKED);
    struct tlog_summary s;
    struct tlog_header h;
    bool torn;
    ck_assert_int_eq(tlog_header_decode(&h, bytes, &torn, NULL), ERR_OK);
    for (size_t n = 1; n < 300; n++) {
        char *copy = malloc(bytes.n + n);
        memcpy(copy, bytes.p, bytes.n);
        memcpy(copy + bytes.n, bytes.p + bytes.n - n, n); /* records, at a place that is not theirs */
        for (int kind = 0; kind < 3; kind++) {
            ck_assert_int_eq(scan(str_mk(copy, bytes.n + n), &s), ERR_OK);
            ck_assert(s.end == bytes.n && s.ops == 12);
            if (_i == 1) {
                ck_assert_int_eq(tlog_decode_end(&s, str_mk(copy, bytes.n + n), &h, NULL), ERR_OK);
                ck_assert(s.end == bytes.n && s.ops == 12);
            }
            for (size_t i = 0; i < n; i++) {
                copy[bytes.n + i] = kind == 0 ? (char)rng_u64(&r) : 0;
            }
        }
        free(copy);
    }
    for (size_t n = 0; n < bytes.n; n++) {
        ck_assert_int_eq(scan(str_mk(bytes.p, n), &s), ERR_CORRUPT);
    }
    buf_fini(&b);
}
END_TEST

/* The newest generation, emptied or gone, is missed also when the commit needs an older one only. */
START_TEST(newest_gone)
{
    clock_sim_init(&clk, 1000);
    struct fs_mem *disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    struct tlog_opts o = opts(fs);
    struct translog t;
    fs->make_dir(fs->self, "/s", NULL);
    ck_assert_int_eq(translog_create(&t, &o, 1, -1, -1, NULL), ERR_OK);
    for (int64_t s = 0; s < 20; s++) {
        append(&t, s);
        if (s == 9) {
            ck_assert_int_eq(translog_roll(&t, TLOG_NO_TRIM, NULL), ERR_OK);
        }
        ck_assert_int_eq(sync_all(&t, NULL), ERR_OK);
    }
    translog_fini(&t);
    for (uint64_t n = 10; n > 0; n--) {
        ck_assert_int_eq(fs->truncate(fs->self, "/s/translog_2", (n - 1) * 20, NULL), ERR_OK);
        ck_assert_int_eq(translog_open(&t, &o, 1, NULL), ERR_CORRUPT);
    }
    ck_assert_int_eq(fs->remove(fs->self, "/s/translog_2", NULL), ERR_OK);
    ck_assert_int_eq(translog_open(&t, &o, 1, NULL), ERR_CORRUPT);
    fs_mem_free(disk);
}
END_TEST

START_TEST(made_up_bytes)
{
    struct rng r;
    rng_seed(&r, 5);
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct str bytes = file_bytes(&b, true, MARKED);
    for (int i = 0; i < 20000; i++) {
        char *copy = malloc(bytes.n);
        memcpy(copy, bytes.p, bytes.n);
        size_t n = rng_below(&r, 3) == 0 ? rng_below(&r, bytes.n) : bytes.n;
        for (unsigned k = 0; k < 1 + rng_below(&r, 8); k++) {
            copy[rng_below(&r, bytes.n)] = (char)rng_u64(&r);
        }
        struct tlog_summary s;
        struct tlog_record rec;
        scan(str_mk(copy, n), &s);
        const struct tlog_header h = {.generation = 3};
        tlog_decode_end(&s, str_mk(copy, n), &h, NULL);
        size_t at = rng_below(&r, n + 1);
        tlog_decode(&rec, str_mk(copy + at, n - at), 3, at, NULL);
        free(copy);
    }
    buf_fini(&b);
}
END_TEST

/* A generation that is not the last must be whole. */
START_TEST(damaged_generations)
{
    clock_sim_init(&clk, 1000);
    struct fs_mem *disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    struct tlog_opts o = opts(fs);
    struct translog t;
    fs->make_dir(fs->self, "/s", NULL);
    ck_assert_int_eq(translog_create(&t, &o, 1, -1, -1, NULL), ERR_OK);
    for (int64_t s = 0; s < 30; s++) {
        append(&t, s);
        if (s % 10 == 9) {
            ck_assert_int_eq(translog_roll(&t, TLOG_NO_TRIM, NULL), ERR_OK);
        }
    }
    ck_assert_int_eq(sync_all(&t, NULL), ERR_OK);
    translog_fini(&t);
    for (uint64_t need = 1; need <= 3; need++) {
        ck_assert(fs_mem_flip(disk, "/s/translog_2", 400, 3));
        enum err e = translog_open(&t, &o, need, NULL);
        static bool got[OPS];
        if (e == ERR_OK) {
            struct tlog_reader r;
            struct engine_op op;
            bool more = true;
            ck_assert_int_eq(tlog_reader_open(&r, &t, need, NULL), ERR_OK);
            while (e == ERR_OK && more) {
                e = tlog_reader_next(&r, &op, &more, NULL);
            }
            tlog_reader_close(&r);
            translog_fini(&t);
        }
        ck_assert_int_eq(e, need <= 2 ? ERR_CORRUPT : ERR_OK);
        ck_assert(fs_mem_flip(disk, "/s/translog_2", 400, 3));
        ck_assert_int_eq(translog_open(&t, &o, need, NULL), ERR_OK);
        ck_assert_uint_eq(read_all(&t, 0, got), 30);
        translog_fini(&t);
    }
    ck_assert_int_eq(fs->remove(fs->self, "/s/translog_2", NULL), ERR_OK);
    ck_assert_int_eq(translog_open(&t, &o, 1, NULL), ERR_CORRUPT);
    ck_assert_int_eq(translog_open(&t, &o, 3, NULL), ERR_OK);
    ck_assert_int_eq(translog_history_from(&t), 20);
    translog_fini(&t);
    o.uuid = "other";
    ck_assert_int_eq(translog_open(&t, &o, 3, NULL), ERR_CORRUPT);
    fs_mem_free(disk);
}
END_TEST

START_TEST(no_memory_changes_nothing)
{
    clock_sim_init(&clk, 1000);
    for (unsigned n = 1, fired = 1; fired; n++) {
        struct fs_mem *disk = fs_mem_new();
        const struct fs *fs = fs_mem_fs(disk);
        fs->make_dir(fs->self, "/s", NULL);
        struct alloc_failing f;
        alloc_failing_init(&f, n);
        struct tlog_opts o = opts(fs);
        o.alloc = &f.base;
        struct translog t;
        if (translog_create(&t, &o, 1, -1, -1, NULL) == ERR_OK) {
            int64_t done = 0;
            char buf[2][64];
            for (; done < 40; done++) {
                struct engine_op op = make_op(done, buf);
                uint64_t before = t.location;
                if (translog_append(&t, &op, NULL) != ERR_OK) {
                    ck_assert_uint_eq(t.location, before);
                    break;
                }
                if (done == 20 && translog_roll(&t, TLOG_NO_TRIM, NULL) != ERR_OK) {
                    done++;
                    break;
                }
            }
            f.countdown = UINT64_MAX;
            ck_assert_int_eq(sync_all(&t, NULL), ERR_OK);
            static bool got[OPS];
            ck_assert_uint_eq(read_all(&t, 0, got), (size_t)done);
            translog_fini(&t);
        }
        fired = f.fired;
        fs_mem_free(disk);
    }
}
END_TEST

/* Memory that moves whenever it grows; what was left behind is overwritten, and there until the end. */
struct moving {
    struct allocator base;
    void *left[4096];
    size_t n;
};

static void *move(void *self, void *p, size_t n)
{
    struct moving *m = self;
    void *to = malloc(n);
    if (p != NULL && to != NULL) {
        size_t before = malloc_usable_size(p);
        memcpy(to, p, before < n ? before : n);
        memset(p, 1, before); /* any flag there is set */
        ck_assert_uint_lt(m->n, ARRAY_LEN(m->left));
        m->left[m->n++] = p;
    }
    return to;
}

static void leave(void *self, void *p)
{
    (void)self;
    free(p);
}

START_TEST(generations_that_move)
{
    static struct moving m;
    m = (struct moving){.base = {&m, move, leave}};
    clock_sim_init(&clk, 1000);
    struct fs_mem *disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    fs->make_dir(fs->self, "/s", NULL);
    struct tlog_opts o = opts(fs);
    o.alloc = &m.base;
    struct translog t;
    ck_assert_int_eq(translog_create(&t, &o, 1, -1, -1, NULL), ERR_OK);
    for (int64_t seq = 0; seq < 40; seq++) {
        char buf[2][64];
        struct engine_op op = make_op(seq, buf);
        ck_assert_int_eq(translog_append(&t, &op, NULL), ERR_OK);
        ck_assert_int_eq(translog_roll(&t, TLOG_NO_TRIM, NULL), ERR_OK);
        ck_assert(t.last->create && t.last->follows);
        ck_assert_int_eq(sync_all(&t, NULL), ERR_OK);
    }
    translog_fini(&t);
    fs_mem_free(disk);
    while (m.n > 0) {
        free(m.left[--m.n]);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("translog");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, every_flip_is_detected, 0, 4);
    tcase_add_loop_test(c, every_torn_tail_is_cut, 0, 2);
    tcase_add_loop_test(c, behind_and_before_the_mark, 0, 2);
    tcase_add_test(c, newest_gone);
    tcase_add_test(c, made_up_bytes);
    tcase_add_test(c, damaged_generations);
    tcase_add_test(c, no_memory_changes_nothing);
    tcase_add_test(c, generations_that_move);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
