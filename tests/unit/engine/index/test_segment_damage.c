/* Damaged segments: refused, or read to some end; never a crash, never a loop. With address sanitizer this
 * shows reads outside the bytes, too. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/hash.h"
#include "common/sys/fs_posix.h"
#include "engine/index/format.h"
#include "tests/seams/fs_mem.h"
#include "tests/unit/engine/index/random_docs.h"

struct bytes {
    char *p;
    size_t n;
};

static struct bytes small_segment(uint64_t seed, size_t n_docs, unsigned words)
{
    struct doc_maker m;
    struct index_buffer *b;
    struct buf out;
    struct bytes bytes;
    doc_id root;
    doc_maker_init(&m, seed);
    m.nested = true;
    m.words = words;
    m.length = 6;
    buf_init(&out, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(index_buffer_new(&b, NULL, NULL), ERR_OK);
    for (size_t i = 0; i < n_docs; i++) {
        struct made_doc *d = doc_maker_next(&m);
        ck_assert_int_eq(index_buffer_add(b, &d->doc, &d->meta, &root, NULL), ERR_OK);
    }
    ck_assert_int_eq(index_buffer_write(b, &out, NULL), ERR_OK);
    bytes.p = buf_take(&out, &bytes.n);
    index_buffer_free(b);
    doc_maker_fini(&m);
    return bytes;
}

static bool try_bytes(const char *p, size_t n)
{
    struct segment *s;
    char *copy = malloc(n > 0 ? n : 1);
    memcpy(copy, p, n);
    if (segment_open_memory(&s, copy, n, NULL, NULL) != ERR_OK) {
        return false;
    }
    segment_verify(s, NULL);
    read_everything(s);
    segment_unref(s);
    return true;
}

START_TEST(every_truncation_is_refused)
{
    struct bytes b = small_segment(1, 5, 20);
    for (size_t n = 0; n < b.n; n++) {
        ck_assert(!try_bytes(b.p, n));
    }
    ck_assert(try_bytes(b.p, b.n));
    free(b.p);
}
END_TEST

START_TEST(every_flipped_bit_is_noticed)
{
    struct bytes b = small_segment(2, 4, 20);
    for (size_t bit = 0; bit < 8 * b.n; bit++) {
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << (bit % 8));
        try_bytes(b.p, b.n);
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << (bit % 8));
    }
    free(b.p);
}
END_TEST

static void flip_and_mend(struct bytes b, size_t at, unsigned char with)
{
    char *copy = malloc(b.n);
    memcpy(copy, b.p, b.n);
    copy[at] = (char)(copy[at] ^ with);
    mend_segment(copy, b.n);
    try_bytes(copy, b.n);
    free(copy);
}

START_TEST(decoders_bear_any_byte)
{
    struct bytes b = small_segment(3, 6, 20);
    for (size_t at = 0; at + SEG_FOOTER_BYTES < b.n; at++) {
        flip_and_mend(b, at, 0xFF);
        flip_and_mend(b, at, (unsigned char)(1 << (at % 8)));
    }
    free(b.p);
    /* With blocks of 128, skip arrays, several leaves. */
    struct rng r;
    rng_seed(&r, 77);
    b = small_segment(4, 260, 12);
    for (int round = 0; round < 300; round++) {
        flip_and_mend(b, rng_below(&r, b.n - SEG_FOOTER_BYTES), (unsigned char)(1 + rng_below(&r, 255)));
    }
    free(b.p);
}
END_TEST

/* ---- what is read of a damaged file is what was written, or known to be damaged -------------------------- */

static void put_file(const struct fs *fs, const char *path, struct bytes b)
{
    struct fs_file *f;
    ck_assert_int_eq(fs->open(fs->self, path, true, &f, NULL), ERR_OK);
    ck_assert_int_eq(fs->write(fs->self, f, b.p, b.n, NULL), ERR_OK);
    fs->close(fs->self, f);
}

struct truth {
    uint32_t parts;
    uint64_t sums[400];
};

static struct truth read_truth(const struct fs *fs, const char *path)
{
    struct truth t;
    struct segment *s;
    ck_assert_int_eq(segment_open(&s, fs, path, NULL), ERR_OK);
    t.parts = read_parts(s);
    ck_assert_uint_le(t.parts, ARRAY_LEN(t.sums));
    for (uint32_t i = 0; i < t.parts; i++) {
        t.sums[i] = read_part(s, i);
        ck_assert_int_eq(segment_damage(s, NULL), ERR_OK);
    }
    ck_assert_int_eq(segment_verify(s, NULL), ERR_OK);
    segment_unref(s);
    return t;
}

/* One part is all that a reader looks at. Returns whether the damage was found. */
static bool part_is_right_or_refused(const struct fs *fs, const struct truth *t, uint32_t part, size_t at)
{
    struct segment *s;
    ERR_LOCAL(em);
    if (segment_open(&s, fs, "s", &em) != ERR_OK) {
        return true;
    }
    uint64_t sum = read_part(s, part);
    bool found = segment_damage(s, &em) != ERR_OK;
    ck_assert_msg(found || sum == t->sums[part], "byte %zu: part %u is wrong and nobody says so", at, part);
    if (found) {
        ck_assert_int_eq(err_code(&em), ERR_CORRUPT);
        ck_assert_msg(strstr(err_reason(&em), "(resource=[s])") != NULL, "%s", err_reason(&em));
    }
    segment_unref(s);
    return found;
}

static void flips(uint64_t seed, size_t n_docs, size_t step)
{
    struct bytes b = small_segment(seed, n_docs, 12);
    struct fs_mem *disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    put_file(fs, "s", b);
    struct truth t = read_truth(fs, "s");
    for (size_t at = seed % step; at < b.n; at += step) {
        struct segment *s;
        bool found = false;
        ck_assert(fs_mem_flip(disk, "s", at, (unsigned)(at % 8)));
        for (uint32_t part = 0; part < t.parts; part++) {
            found |= part_is_right_or_refused(fs, &t, part, at);
        }
        if (segment_open(&s, fs, "s", NULL) == ERR_OK) { /* whoever looks at all of it finds it */
            ck_assert_msg(segment_verify(s, NULL) == ERR_CORRUPT, "byte %zu", at);
            ck_assert_int_eq(segment_damage(s, NULL), ERR_CORRUPT);
            segment_unref(s);
        }
        ck_assert(fs_mem_flip(disk, "s", at, (unsigned)(at % 8)));
    }
    fs_mem_free(disk);
    free(b.p);
}

START_TEST(a_damaged_file_is_right_or_refused)
{
    bool all = getenv("LONG") != NULL;
    flips(5, 40, all ? 64 : 211);
    flips(6, 700, all ? 64 : 1009 * 7);
}
END_TEST

/* A file that is cut off while it is open: an error, not the end of the process; also of what was found right before. */
START_TEST(a_file_cut_off_while_open)
{
    struct bytes b = small_segment(8, 700, 12);
    char path[] = "/tmp/serai-test-segment-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, b.p, b.n), (ssize_t)b.n);
    for (int read_before = 0; read_before < 2; read_before++) {
        struct segment *s;
        ERR_LOCAL(em);
        ck_assert_int_eq(segment_open(&s, fs_posix(), path, &em), ERR_OK);
        uint64_t sum = read_before ? read_everything(s) : 0;
        ck_assert_int_eq(segment_damage(s, &em), ERR_OK);
        ck_assert_int_eq(ftruncate(fd, 4096), 0);
        uint64_t again = read_everything(s);
        ck_assert(!read_before || sum != again);
        ck_assert_int_eq(segment_damage(s, &em), ERR_CORRUPT);
        ck_assert_msg(strstr(err_reason(&em), path) != NULL, "%s", err_reason(&em));
        segment_unref(s);
        ck_assert_int_eq(segment_open(&s, fs_posix(), path, &em), ERR_CORRUPT);
        ck_assert_int_eq(pwrite(fd, b.p, b.n, 0), (ssize_t)b.n);
    }
    close(fd);
    unlink(path);
    free(b.p);
}
END_TEST

/* What was right once is trusted until it is doubted; a file that is shorter, or gone, is noticed though nobody reads. */
START_TEST(what_was_right_is_doubted)
{
    struct bytes b = small_segment(8, 700, 12);
    struct fs_mem *disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    struct segment *s;
    ERR_LOCAL(em);
    put_file(fs, "s", b);
    ck_assert_int_eq(segment_open(&s, fs, "s", NULL), ERR_OK);
    uint64_t sum = read_everything(s);
    segment_doubt(s);
    segment_look(s);
    ck_assert(read_everything(s) == sum && segment_damage(s, NULL) == ERR_OK);
    ck_assert(fs_mem_flip(disk, "s", 40, 3)); /* as it is read the next time */
    read_everything(s);
    ck_assert_int_eq(segment_damage(s, NULL), ERR_OK);
    segment_doubt(s);
    read_everything(s);
    ck_assert_int_eq(segment_damage(s, &em), ERR_CORRUPT);
    ck_assert_msg(strstr(err_reason(&em), "checksum failed") != NULL, "%s", err_reason(&em));
    segment_unref(s);
    ck_assert(fs_mem_flip(disk, "s", 40, 3));
    for (int gone = 0; gone < 2; gone++) {
        ck_assert_int_eq(segment_open(&s, fs, "s", NULL), ERR_OK);
        if (gone) {
            ck_assert_int_eq(fs->remove(fs->self, "s", NULL), ERR_OK);
        } else {
            put_file(fs, "s", (struct bytes){b.p, b.n - 1});
        }
        ck_assert_int_eq(segment_damage(s, NULL), ERR_OK);
        segment_look(s);
        ck_assert_int_eq(segment_damage(s, &em), ERR_CORRUPT);
        ck_assert_msg(strstr(err_reason(&em), "cut off") != NULL, "%s", err_reason(&em));
        segment_unref(s);
        put_file(fs, "s", b);
    }
    fs_mem_free(disk);
    free(b.p);
}
END_TEST

/* What version 1 has: the same sections, a chained checksum for each, no blocks. */
static struct bytes as_version_1(struct bytes b)
{
    char *footer = b.p + b.n - SEG_FOOTER_BYTES;
    size_t table = (size_t)load_u64(footer), sums = (size_t)load_u64(footer + 32),
           entries = b.n - SEG_FOOTER_BYTES - table;
    struct bytes old = {malloc(b.n), sums + entries + SEG_FOOTER_BYTES};
    memcpy(old.p, b.p, sums);
    memcpy(old.p + sums, b.p + table, entries + SEG_FOOTER_BYTES);
    store_u32(old.p + 8, SEG_VERSION_1);
    for (size_t at = sums; at < sums + entries; at += SEG_ENTRY_BYTES) {
        uint64_t hash = 0, from = load_u64(old.p + at + 8), n = load_u64(old.p + at + 16);
        for (uint64_t k = 0; k < n; k += SEG_HASH_BYTES) {
            hash = hash_bytes(old.p + from + k, MIN_OF(SEG_HASH_BYTES, n - k), hash);
        }
        store_u64(old.p + at + 24, hash);
    }
    footer = old.p + sums + entries;
    store_u64(footer, sums);
    store_u64(footer + 16, hash_bytes(old.p + sums, entries, 0));
    store_u64(footer + 24, old.n);
    store_u64(footer + 32, 0);
    store_u64(footer + 40, 0);
    store_u64(footer + 48, hash_bytes(footer, 48, 0));
    return old;
}

START_TEST(version_1_is_read)
{
    struct bytes b = small_segment(7, 300, 12), old = as_version_1(b);
    struct fs_mem *disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    put_file(fs, "new", b);
    put_file(fs, "s", old);
    struct truth want = read_truth(fs, "new"), t = read_truth(fs, "s");
    ck_assert_uint_eq(want.parts, t.parts);
    ck_assert_mem_eq(want.sums, t.sums, t.parts * sizeof(t.sums[0]));
    for (size_t at = 100; at < old.n; at += 997) { /* checked as a whole when it is opened */
        struct segment *s;
        ck_assert(fs_mem_flip(disk, "s", at, 5));
        if (segment_open(&s, fs, "s", NULL) == ERR_OK) { /* between sections */
            segment_unref(s);
            for (uint32_t part = 0; part < t.parts; part++) {
                part_is_right_or_refused(fs, &t, part, at);
            }
        }
        ck_assert(fs_mem_flip(disk, "s", at, 5));
    }
    store_u32(old.p + 8, 3);
    put_file(fs, "s", old);
    struct segment *s;
    ERR_LOCAL(em);
    ck_assert_int_eq(segment_open(&s, fs, "s", &em), ERR_CORRUPT);
    ck_assert_msg(strstr(err_reason(&em), "of version [3]") != NULL, "%s", err_reason(&em));
    fs_mem_free(disk);
    free(old.p);
    free(b.p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("segment_damage");
    TCase *t = tcase_create("core");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, every_truncation_is_refused);
    tcase_add_test(t, every_flipped_bit_is_noticed);
    tcase_add_test(t, decoders_bear_any_byte);
    tcase_add_test(t, a_damaged_file_is_right_or_refused);
    tcase_add_test(t, a_file_cut_off_while_open);
    tcase_add_test(t, what_was_right_is_doubted);
    tcase_add_test(t, version_1_is_read);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
