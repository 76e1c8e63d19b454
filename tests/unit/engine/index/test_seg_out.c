/* Segments on a file system: spools that spill, and every call that may fail. */
#include <check.h>
#include <stdlib.h>

#include "common/base/bits.h"
#include "engine/index/seg_out.h"
#include "tests/seams/fs_mem.h"
#include "tests/unit/engine/index/random_docs.h"

START_TEST(a_spool_goes_through_a_file)
{
    struct fs_mem *disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    struct seg_out o;
    struct spool s;
    ERR_LOCAL(em);
    struct fs_map map;
    uint8_t piece[1000];
    size_t pieces = 9000;
    seg_out_init(&o, fs, "seg", NULL, &em);
    spool_init(&s, &o);
    for (size_t i = 0; i < pieces; i++) {
        memset(piece, (int)(i * 7 % 251), sizeof(piece));
        spool_bytes(&s, piece, sizeof(piece));
    }
    ck_assert_uint_eq(spool_at(&s), pieces * sizeof(piece));
    ck_assert(s.spilled > 0);
    seg_out_begin(&o, SECTION_POSITIONS);
    spool_copy(&s);
    ck_assert_uint_eq(seg_out_end(&o), 1);
    spool_fini(&s);
    ck_assert_int_eq(seg_out_finish(&o, 0), ERR_OK);
    seg_out_fini(&o);
    ck_assert_int_eq(fs->map(fs->self, "seg", &map, &em), ERR_OK);
    for (size_t i = 0; i < pieces; i++) {
        ck_assert_uint_eq(map.p[16 + i * sizeof(piece)], i * 7 % 251);
        ck_assert_uint_eq(map.p[16 + i * sizeof(piece) + 999], i * 7 % 251);
    }
    fs->unmap(fs->self, &map);
    bool exists;
    uint64_t n;
    ck_assert_int_eq(fs->size(fs->self, "seg.0.spool", &exists, &n, &em), ERR_OK);
    ck_assert(!exists);
    fs_mem_free(disk);
}
END_TEST

static void check_file(const struct fs *fs, struct made_doc *const *docs, size_t n)
{
    struct segment *s;
    ERR_LOCAL(em);
    ck_assert_int_eq(segment_open(&s, fs, "merged", &em), ERR_OK);
    ck_assert_int_eq(segment_verify(s, &em), ERR_OK);
    ck_assert(!segment_in_memory(s));
    check_segment(s, docs, n);
    fs->remove(fs->self, "merged", NULL);
    segment_ref(s);
    segment_unref(s);
    read_everything(s);
    segment_unref(s);
}

START_TEST(merging_to_a_file_survives_every_failure)
{
    struct doc_maker m;
    struct made_doc *docs[60];
    struct merge_source sources[3];
    doc_maker_init(&m, 31);
    for (int i = 0; i < 60; i++) {
        docs[i] = doc_maker_next(&m);
    }
    for (int i = 0; i < 3; i++) {
        sources[i] = (struct merge_source){build_segment(docs + 20 * i, 20), NULL};
    }
    for (uint64_t nth = 1, fired = 1; fired; nth++) {
        struct fs_mem *disk = fs_mem_new();
        const struct fs *fs = fs_mem_fs(disk);
        struct merge_io io = {.fs = fs, .path = "merged"};
        struct arena arena;
        ERR_LOCAL(em);
        bool exists;
        uint64_t n;
        arena_init(&arena, NULL, ARENA_UNLIMITED);
        fs_mem_fail_at(disk, nth, FS_MEM_FAIL);
        enum err e = segment_merge(sources, 3, &io, &arena, NULL, &em);
        fired = fs_mem_fired(disk);
        fs_mem_fail_at(disk, 0, FS_MEM_FAIL);
        ck_assert_int_eq(e, fired ? ERR_IO : ERR_OK);
        if (e == ERR_OK) {
            check_file(fs, docs, 60);
        } else {
            ck_assert_int_eq(fs->size(fs->self, "merged", &exists, &n, &em), ERR_OK);
            ck_assert(!exists);
        }
        arena_fini(&arena);
        fs_mem_free(disk);
    }
    for (int i = 0; i < 3; i++) {
        segment_unref(sources[i].segment);
    }
    doc_maker_fini(&m);
}
END_TEST

START_TEST(damage_is_found_on_the_way)
{
    struct fs_mem *disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    struct doc_maker m;
    struct made_doc *docs[400];
    ERR_LOCAL(em);
    struct arena arena;
    struct segment *s;
    doc_maker_init(&m, 32);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    for (int i = 0; i < 400; i++) {
        docs[i] = doc_maker_next(&m);
    }
    struct merge_source source = {build_segment(docs, 400), NULL};
    struct merge_io io = {.fs = fs, .path = "a"};
    ck_assert_int_eq(segment_merge(&source, 1, &io, &arena, NULL, &em), ERR_OK);
    segment_unref(source.segment);
    ck_assert(fs_mem_flip(disk, "a", 100, 3));
    ck_assert_int_eq(segment_open(&s, fs, "a", &em), ERR_OK);
    ck_assert_int_eq(segment_verify(s, &em), ERR_CORRUPT);
    source.segment = s;
    io.path = "b";
    ck_assert_int_eq(segment_merge(&source, 1, &io, &arena, NULL, &em), ERR_CORRUPT);
    segment_unref(s);
    ck_assert_int_eq(segment_open(&s, fs, "nowhere", &em), ERR_IO);
    arena_fini(&arena);
    doc_maker_fini(&m);
    fs_mem_free(disk);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("seg_out");
    TCase *t = tcase_create("core");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_spool_goes_through_a_file);
    tcase_add_test(t, merging_to_a_file_survives_every_failure);
    tcase_add_test(t, damage_is_found_on_the_way);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
