/* What a commit says of its files and of operations, and what is held against it when the copy is opened. */
#include "common/base/hash.h"
#include "engine/index/copy_check.h"
#include "engine/index/manifest.h"
#include "tests/unit/engine/index/engine_rig.h"
#include "tests/unit/engine/index/random_docs.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct rig rig;

static enum err named(uint64_t counter, uint64_t settled_below, int64_t version, struct engine_result *res)
{
    struct engine_op op;
    char id_text[16], text[64];
    rig_make_op(&op, OP_INDEX, 3, 9, id_text, text);
    op.op_id = (struct op_id){77, counter};
    op.settled_below = settled_below;
    op.version = version;
    return rig_primary(&rig, &op, res, NULL);
}

static void reopen(void)
{
    engine_close(rig.e);
    rig.e = NULL;
    rig_open(&rig, ENGINE_EXISTING);
}

/* The log that had the names is not read any more: a retry gets the first result all the same, and what was answered is late. */
START_TEST(names_are_in_a_commit)
{
    struct engine_result a, b, c;
    struct engine_stats st;
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    ck_assert_int_eq(named(1, 0, VERSION_MUST_BE_NEW, &a), ERR_OK);
    ck_assert_int_eq(named(2, 2, VERSION_ANY, &b), ERR_OK);
    ck_assert_int_eq(named(3, 2, VERSION_ANY, &c), ERR_OK);
    engine_set_global_checkpoint(rig.e, 2);
    for (int i = 0; i < 3; i++) { /* once, and as it goes from commit to commit */
        ck_assert_int_eq(engine_flush(rig.e, true, NULL), ERR_OK);
        reopen();
        engine_stats(rig.e, &st);
        ck_assert_uint_eq(st.recovered_ops, 0);
        ck_assert_int_eq(named(2, 0, VERSION_MUST_BE_NEW, &b), ERR_OK);
        ck_assert(b.repeated && b.seq_no == 1 && b.version == 2 && b.outcome == OUTCOME_UPDATED);
        ck_assert_int_eq(named(3, 0, VERSION_ANY, &b), ERR_OK);
        ck_assert(b.repeated && b.seq_no == 2);
        ck_assert_int_eq(named(1, 0, VERSION_ANY, &b), ERR_UNAVAILABLE_SHARDS);
    }
    clock_sim_advance(&rig.clock, (int64_t)61 * 1000000000);
    ck_assert_int_eq(named(2, 0, VERSION_ANY, &b), ERR_UNAVAILABLE_SHARDS);
    ck_assert_int_eq(named(4, 0, VERSION_ANY, &b), ERR_OK);
    ck_assert(!b.repeated);
    rig_fini(&rig);
}
END_TEST

/* ---- files of another time ---- */

struct kept { /* of the folder */
    char name[32];
    char bytes[16384];
    size_t n;
};

static bool keep(struct kept *k, const char *name)
{
    char path[64];
    struct fs_map map;
    snprintf(k->name, sizeof(k->name), "%s", name);
    snprintf(path, sizeof(path), "/shard/%s", name);
    if (rig.opts.fs->map(rig.opts.fs->self, path, &map, NULL) != ERR_OK) {
        return false;
    }
    k->n = map.n;
    ck_assert_uint_le(k->n, sizeof(k->bytes));
    memcpy(k->bytes, map.p, map.n);
    rig.opts.fs->unmap(rig.opts.fs->self, &map);
    return true;
}

static void put_as(const struct kept *k, const char *name)
{
    const struct fs *fs = rig.opts.fs;
    struct fs_file *f;
    char path[64];
    snprintf(path, sizeof(path), "/shard/%s", name);
    ck_assert_int_eq(fs->remove(fs->self, path, NULL), ERR_OK);
    ck_assert_int_eq(fs->open(fs->self, path, true, &f, NULL), ERR_OK);
    ck_assert_int_eq(fs->write(fs->self, f, k->bytes, k->n, NULL), ERR_OK);
    fs->close(fs->self, f);
}

/* The name of the newest file that begins so. */
static void newest(const char *prefix, char out[32])
{
    struct arena a;
    struct fs_names names;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(rig.opts.fs->list(rig.opts.fs->self, "/shard", &a, &names, NULL), ERR_OK);
    out[0] = '\0';
    for (size_t i = 0; i < names.n; i++) {
        if (str_starts(names.v[i], str_of(prefix))
            && (names.v[i].n > strlen(out)
                || (names.v[i].n == strlen(out) && strcmp(names.v[i].p, out) > 0))) {
            snprintf(out, 32, "%s", names.v[i].p);
        }
    }
    ck_assert_str_ne(out, "");
    arena_fini(&a);
}

static void index_one(unsigned id, int64_t n)
{
    struct engine_op op;
    struct engine_result res;
    char id_text[16], text[64];
    rig_make_op(&op, OP_INDEX, id, n, id_text, text);
    ck_assert_int_eq(rig_primary(&rig, &op, &res, NULL), ERR_OK);
}

static void commit(void)
{
    engine_set_global_checkpoint(rig.e, engine_processed_checkpoint(rig.e));
    ck_assert_int_eq(engine_flush(rig.e, true, NULL), ERR_OK);
    ck_assert_int_eq(engine_flush(rig.e, true, NULL), ERR_OK);
}

static void must_be_refused(const char *what)
{
    ERR_LOCAL(em);
    struct engine *e;
    rig.opts.mode = ENGINE_EXISTING;
    ck_assert_int_eq(engine_open(&e, &rig.opts, &em), ERR_CORRUPT);
    ck_assert_msg(strstr(err_reason(&em), what) != NULL, "%s", err_reason(&em));
}

/* One as long, with as many documents, whole: the commit means another one. */
START_TEST(a_segment_of_another_time)
{
    static struct kept k, other;
    char first[32], second[32];
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    index_one(1, 7);
    commit();
    newest("segment_", first);
    index_one(2, 8);
    commit();
    newest("segment_", second);
    ck_assert_str_ne(first, second);
    engine_close(rig.e);
    rig.e = NULL;
    ck_assert(keep(&k, first) && keep(&other, second));
    ck_assert_uint_eq(k.n, other.n);
    put_as(&other, first);
    must_be_refused("not the one of the manifest");
    put_as(&k, first);
    rig_open(&rig, ENGINE_EXISTING);
    rig_fini(&rig);
}
END_TEST

/* A segment that no writer makes, with all checksums right: those of its blocks, and the commit's. */
static void forge(const char *name)
{
    static struct kept k;
    static struct kept commit_file, forged_file;
    struct manifest m;
    struct arena a;
    struct buf b;
    char newest_commit[32];
    newest("manifest_", newest_commit);
    ck_assert(keep(&k, name) && keep(&commit_file, newest_commit));
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(manifest_decode(&m, str_mk(commit_file.bytes, commit_file.n), &a, NULL), ERR_OK);
    ck_assert_uint_eq(m.n_segments, 1);
    for (size_t at = 16;; at++) { /* the first byte that nothing but the structure tells */
        struct segment *s;
        char *p = alloc_get(alloc_default(), k.n);
        ck_assert_uint_lt(at, k.n - 64);
        memcpy(p, k.bytes, k.n);
        p[at] = (char)(p[at] ^ 1);
        mend_segment(p, k.n);
        memcpy(forged_file.bytes, p, k.n);
        if (segment_open_memory(&s, p, k.n, NULL, NULL) != ERR_OK) {
            continue;
        }
        bool forged = segment_check_structure(s, NULL) == ERR_CORRUPT;
        m.segments[0].footer = segment_footer(s);
        segment_unref(s);
        if (forged) {
            break;
        }
    }
    memcpy(k.bytes, forged_file.bytes, k.n);
    m.segments[0].checksum = hash_bytes(k.bytes, k.n, 0);
    manifest_encode(&m, &b);
    put_as(&k, name);
    memcpy(k.bytes, b.p, b.n);
    k.n = b.n;
    put_as(&k, newest_commit);
    buf_fini(&b);
    arena_fini(&a);
}

static void count_damage(void *self, const char *file, const char *what)
{
    (void)what;
    *(unsigned *)self += str_starts(str_of(file), STR("segment_"));
}

START_TEST(a_segment_that_no_writer_makes)
{
    char name[32];
    unsigned damages = 0;
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    for (unsigned id = 1; id < 9; id++) {
        index_one(id, 7 + id);
    }
    commit();
    newest("segment_", name);
    engine_close(rig.e);
    rig.e = NULL;
    struct copy_check c = {.fs = rig.opts.fs, .dir = "/shard", .damaged = count_damage, .self = &damages};
    ck_assert_int_eq(copy_check_run(&c, "uuid", 1, NULL), ERR_OK);
    ck_assert_uint_eq(damages, 0);
    forge(name);
    ck_assert_int_eq(copy_check_run(&c, "uuid", 1, NULL), ERR_OK);
    ck_assert_uint_eq(damages, 1);
    rig.opts.verify = ENGINE_VERIFY_STRUCTURE;
    must_be_refused("resource=[/shard/segment_");
    rig.opts.verify = ENGINE_VERIFY_SUMS;
    rig_open(&rig, ENGINE_EXISTING);
    rig_fini(&rig);
}
END_TEST

/* As many documents live, but not the same ones. */
START_TEST(living_documents_of_another_time)
{
    static struct kept k, right;
    char name[32], now[32];
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    rig.opts.settings.soft_deletes = false;
    index_one(1, 7);
    index_one(2, 8);
    index_one(3, 11);
    commit();
    ck_assert_int_eq(rig_delete(&rig, 1, NULL), ERR_OK);
    commit();
    newest("live_", name);
    ck_assert(keep(&k, name));
    ck_assert_int_eq(rig_delete(&rig, 2, NULL), ERR_OK);
    commit();
    newest("live_", now);
    engine_close(rig.e);
    rig.e = NULL;
    ck_assert(keep(&right, now));
    /* bit 0 is dead in one, bits 0 and 1 in the other: the same number of them */
    ck_assert(k.n == right.n);
    memcpy(k.bytes, right.bytes, right.n);
    k.bytes[32] ^= 5; /* documents 0 and 2 change places */
    uint64_t h = hash_bytes(k.bytes, k.n - 8, (uint64_t)strtoull(strchr(now, '_') + 1, NULL, 10));
    memcpy(k.bytes + k.n - 8, &h, 8);
    put_as(&k, now);
    must_be_refused("not those of the manifest");
    put_as(&right, now);
    rig_open(&rig, ENGINE_EXISTING);
    rig_fini(&rig);
}
END_TEST

/* ---- logs of another copy ---- */

/* A copy with one operation, closed; its folder is the rig's. */
static void one_copy(const char *name, int64_t n)
{
    rig_init(&rig, 1);
    rig.opts.user_data = str_of(name);
    rig_open(&rig, ENGINE_CREATE);
    index_one(1, n);
    ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
    engine_close(rig.e);
    rig.e = NULL;
}

static void count_foreign(void *self, const char *file, const char *what)
{
    *(unsigned *)self +=
        str_starts(str_of(file), STR("translog_")) && strstr(what, "of another copy") != NULL;
}

/* A generation of the same number of another copy of the shard, whole as it is, has operations that are not this copy's. */
START_TEST(a_log_of_another_copy)
{
    static struct kept own, other;
    unsigned damages = 0;
    one_copy("copy a", 7);
    ck_assert(keep(&other, "translog_1"));
    rig_fini(&rig);
    one_copy("copy b", 8);
    ck_assert(keep(&own, "translog_1"));
    ck_assert_uint_eq(own.n, other.n);
    struct copy_check c = {.fs = rig.opts.fs, .dir = "/shard", .damaged = count_foreign, .self = &damages};
    put_as(&other, "translog_1");
    must_be_refused("translog generation [1] is of another copy");
    ck_assert_int_eq(copy_check_run(&c, "uuid", 1, NULL), ERR_OK);
    ck_assert_uint_eq(damages, 1);
    put_as(&own, "translog_1");
    rig_open(&rig, ENGINE_EXISTING);
    ck_assert_int_eq(copy_check_run(&c, "uuid", 1, NULL), ERR_OK);
    ck_assert_uint_eq(damages, 1);
    /* What the copy is called may change, the log's id does not. */
    ck_assert_int_eq(engine_set_user_data(rig.e, STR("copy c"), NULL), ERR_OK);
    index_one(2, 9);
    commit();
    index_one(3, 10);
    ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
    reopen();
    rig_check(&rig, false);
    rig_fini(&rig);
}
END_TEST

static void write_u64(char *p, uint64_t v)
{
    memcpy(p, &v, 8);
}

/* Files of before there were ids of logs are read; what is written to them has one. */
START_TEST(a_log_without_an_id)
{
    static struct kept log, first, later;
    one_copy("copy a", 7);
    ck_assert(keep(&log, "translog_1") && keep(&first, "manifest_1"));
    log.bytes[8] = 2;
    memset(log.bytes + 112, 0, 8);
    write_u64(log.bytes + 120, hash_bytes(log.bytes, 120, 1));
    first.bytes[8] = 2;
    first.n -= 8;
    write_u64(first.bytes + first.n - 8, hash_bytes(first.bytes, first.n - 8, 0));
    put_as(&log, "translog_1");
    put_as(&first, "manifest_1");
    rig_open(&rig, ENGINE_EXISTING);
    index_one(2, 8);
    commit();
    index_one(3, 9);
    ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
    reopen();
    rig_check(&rig, false);
    engine_close(rig.e);
    rig.e = NULL;
    char name[32];
    newest("translog_", name);
    ck_assert(keep(&later, name));
    ck_assert(later.bytes[8] == 3);
    later.bytes[112] ^= 1;
    write_u64(later.bytes + 120, hash_bytes(later.bytes, 120, strtoull(name + 9, NULL, 10)));
    put_as(&later, name);
    must_be_refused("of another copy");
    rig_fini(&rig);
}
END_TEST

/* A source beyond what the caller wants to read is there, and left alone: in the buffer and in a segment. */
START_TEST(a_source_of_more_than_was_asked_for)
{
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    index_one(1, 7);
    for (int round = 0; round < 2; round++) {
        static const size_t max[] = {4, 100000, SIZE_MAX};
        for (size_t i = 0; i < ARRAY_LEN(max); i++) {
            struct arena a;
            struct engine_doc doc;
            arena_init(&a, NULL, ARENA_UNLIMITED);
            ck_assert_int_eq(engine_get_upto(rig.e, STR("id-1"), true, max[i], &a, &doc, NULL), ERR_OK);
            ck_assert(doc.found && doc.large == (i == 0) && (doc.source.n > 0) == (i > 0));
            ck_assert_int_eq(engine_get_upto(rig.e, STR("id-1"), false, max[i], &a, &doc, NULL), ERR_OK);
            ck_assert(doc.found && !doc.large);
            arena_fini(&a);
        }
        ck_assert_int_eq(engine_refresh(rig.e, NULL, NULL), ERR_OK);
        ck_assert_uint_gt(engine_stored_max(rig.e), 4);
    }
    rig_fini(&rig);
}
END_TEST

/* A mark that cannot be written is a failure of the disk: without it nobody would miss what comes before it. */
START_TEST(a_mark_that_is_not_written)
{
    unsigned failed = 0;
    for (uint64_t at = 1; at < 12; at++) {
        rig_init(&rig, 1);
        rig_open(&rig, ENGINE_CREATE);
        index_one(1, 7);
        fs_mem_fail_at(rig.disk, at, FS_MEM_FAIL);
        enum err e = engine_sync(rig.e, NULL);
        ck_assert_int_eq(e == ERR_OK, !fs_mem_fired(rig.disk));
        failed += e != ERR_OK;
        fs_mem_fail_at(rig.disk, 0, FS_MEM_FAIL);
        rig_fini(&rig);
    }
    ck_assert_uint_ge(failed, 3); /* write, sync, patch */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("engine_commits");
    TCase *c = tcase_create("all");
    tcase_add_test(c, names_are_in_a_commit);
    tcase_add_test(c, a_segment_of_another_time);
    tcase_add_test(c, a_segment_that_no_writer_makes);
    tcase_add_test(c, living_documents_of_another_time);
    tcase_add_test(c, a_log_of_another_copy);
    tcase_add_test(c, a_log_without_an_id);
    tcase_add_test(c, a_source_of_more_than_was_asked_for);
    tcase_add_test(c, a_mark_that_is_not_written);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
