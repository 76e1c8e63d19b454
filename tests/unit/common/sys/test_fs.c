/* One contract that both implementations keep; then what only the one in memory can do. */
#include "common/sys/fs_posix.h"
#include "tests/seams/fs_mem.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct env {
    const struct fs *fs;
    struct fs_mem *mem; /* NULL: the real one */
    char root[64];
    char path[4][128];
    struct arena arena;
};

static void env_open(struct env *t, int which)
{
    *t = (struct env){0};
    arena_init(&t->arena, NULL, ARENA_UNLIMITED);
    if (which == 0) {
        strcpy(t->root, "/tmp/serai-fs-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(t->root));
        t->fs = fs_posix();
    } else {
        t->mem = fs_mem_new();
        t->fs = fs_mem_fs(t->mem);
        strcpy(t->root, "/data");
        ck_assert_int_eq(t->fs->make_dir(t->fs->self, t->root, NULL), ERR_OK);
    }
}

static void env_close(struct env *t)
{
    ck_assert_int_eq(t->fs->remove_tree(t->fs->self, t->root, NULL), ERR_OK);
    fs_mem_free(t->mem);
    arena_fini(&t->arena);
}

/* "<root>/<name>" in one of four places that take turns. */
static const char *in(struct env *t, const char *name)
{
    static unsigned turn;
    char *p = t->path[turn++ % 4];
    snprintf(p, sizeof(t->path[0]), "%s/%s", t->root, name);
    return p;
}

static enum err put(struct env *t, const char *name, const char *text, bool fresh, bool sync)
{
    struct fs_file *f;
    enum err e = t->fs->open(t->fs->self, in(t, name), fresh, &f, NULL);
    if (e != ERR_OK) {
        return e;
    }
    e = t->fs->write(t->fs->self, f, text, strlen(text), NULL);
    if (e == ERR_OK && sync) {
        e = t->fs->sync(t->fs->self, f, NULL);
    }
    t->fs->close(t->fs->self, f);
    return e;
}

static const char *get(struct env *t, const char *name)
{
    struct str s;
    return fs_read_file(t->fs, in(t, name), 1000, &t->arena, &s, NULL) == ERR_OK ? s.p : NULL;
}

static const char *names(struct env *t, const char *name)
{
    struct fs_names v;
    ck_assert_int_eq(t->fs->list(t->fs->self, in(t, name), &t->arena, &v, NULL), ERR_OK);
    struct str s = STR("");
    for (size_t i = 0; i < v.n; i++) {
        s = arena_printf(&t->arena, "%.*s%.*s;", STR_ARG(s), STR_ARG(v.v[i]));
    }
    return arena_str(&t->arena, s).p;
}

START_TEST(files_hold_what_was_appended)
{
    struct env t;
    env_open(&t, _i);
    ck_assert_int_eq(put(&t, "a", "hello", false, true), ERR_IO); /* absent, and not fresh */
    ck_assert_int_eq(put(&t, "a", "hello", true, true), ERR_OK);
    ck_assert_int_eq(put(&t, "a", " world", false, false), ERR_OK);
    ck_assert_str_eq(get(&t, "a"), "hello world");
    ck_assert_int_eq(put(&t, "a", "new", true, false), ERR_OK);
    ck_assert_str_eq(get(&t, "a"), "new");
    bool exists;
    uint64_t n;
    ck_assert_int_eq(t.fs->size(t.fs->self, in(&t, "a"), &exists, &n, NULL), ERR_OK);
    ck_assert(exists && n == 3);
    ck_assert_int_eq(t.fs->size(t.fs->self, in(&t, "b"), &exists, &n, NULL), ERR_OK);
    ck_assert(!exists);
    ERR_LOCAL(em);
    struct fs_file *f;
    ck_assert_int_eq(t.fs->open(t.fs->self, in(&t, "no/such"), true, &f, &em), ERR_IO);
    ck_assert_ptr_null(f);
    ck_assert_ptr_nonnull(strstr(err_reason(&em), "No such file"));
    ck_assert_int_eq(put(&t, "a/b", "below a file", true, false), ERR_IO);
    env_close(&t);
}
END_TEST

START_TEST(truncate_cuts_and_appends_follow)
{
    struct env t;
    env_open(&t, _i);
    put(&t, "a", "0123456789", true, true);
    struct fs_map map;
    ck_assert_int_eq(t.fs->map(t.fs->self, in(&t, "a"), &map, NULL), ERR_OK);
    ck_assert_int_eq(t.fs->truncate(t.fs->self, in(&t, "a"), 11, NULL), ERR_IO);
    ck_assert_int_eq(t.fs->truncate(t.fs->self, in(&t, "a"), 4, NULL), ERR_OK);
    ck_assert_int_eq(put(&t, "a", "x", false, true), ERR_OK);
    ck_assert_str_eq(get(&t, "a"), "0123x");
    ck_assert_uint_eq(map.n, 10);
    t.fs->unmap(t.fs->self, &map);
    ck_assert_int_eq(t.fs->truncate(t.fs->self, in(&t, "a"), 0, NULL), ERR_OK);
    ck_assert_str_eq(get(&t, "a"), "");
    ck_assert_int_eq(t.fs->truncate(t.fs->self, in(&t, "none"), 0, NULL), ERR_IO);
    env_close(&t);
}
END_TEST

START_TEST(mappings_outlive_their_names)
{
    struct env t;
    env_open(&t, _i);
    put(&t, "a", "first", true, true);
    put(&t, "empty", "", true, true);
    struct fs_map map, empty;
    ck_assert_int_eq(t.fs->map(t.fs->self, in(&t, "empty"), &empty, NULL), ERR_OK);
    ck_assert(empty.p == NULL && empty.n == 0);
    t.fs->unmap(t.fs->self, &empty);
    ck_assert_int_eq(t.fs->map(t.fs->self, in(&t, "a"), &map, NULL), ERR_OK);
    ck_assert_int_eq(t.fs->remove(t.fs->self, in(&t, "a"), NULL), ERR_OK);
    ck_assert_int_eq(t.fs->remove(t.fs->self, in(&t, "a"), NULL), ERR_OK);
    put(&t, "a", "SECOND", true, true);
    ck_assert(map.n == 5 && memcmp(map.p, "first", 5) == 0);
    t.fs->unmap(t.fs->self, &map);
    ck_assert_int_eq(t.fs->map(t.fs->self, in(&t, "none"), &map, NULL), ERR_IO);
    ck_assert_int_eq(t.fs->map(t.fs->self, t.root, &map, NULL), ERR_IO);
    env_close(&t);
}
END_TEST

START_TEST(folders_and_renames)
{
    struct env t;
    env_open(&t, _i);
    ck_assert_int_eq(t.fs->make_dir(t.fs->self, in(&t, "x/y//z/"), NULL), ERR_OK);
    ck_assert_int_eq(t.fs->make_dir(t.fs->self, in(&t, "x/y/z"), NULL), ERR_OK);
    put(&t, "x/b", "B", true, true);
    put(&t, "x/a", "A", true, true);
    ck_assert_int_eq(t.fs->make_dir(t.fs->self, in(&t, "x/a"), NULL), ERR_IO);
    ck_assert_str_eq(names(&t, "x"), "a;b;y;");
    ck_assert_str_eq(names(&t, "none"), "");
    ck_assert_int_eq(t.fs->rename(t.fs->self, in(&t, "x/a"), in(&t, "x/b"), NULL), ERR_OK);
    ck_assert_str_eq(get(&t, "x/b"), "A");
    ck_assert_int_eq(t.fs->rename(t.fs->self, in(&t, "x/b"), in(&t, "x/y/z/c"), NULL), ERR_OK);
    ck_assert_int_eq(t.fs->rename(t.fs->self, in(&t, "x/b"), in(&t, "q"), NULL), ERR_IO);
    ck_assert_int_eq(t.fs->rename(t.fs->self, in(&t, "x/y"), in(&t, "moved"), NULL), ERR_OK);
    ck_assert_str_eq(names(&t, "x"), "");
    ck_assert_str_eq(get(&t, "moved/z/c"), "A");
    ck_assert_int_eq(t.fs->sync_dir(t.fs->self, in(&t, "moved"), NULL), ERR_OK);
    ck_assert_int_eq(t.fs->sync_dir(t.fs->self, in(&t, "none"), NULL), ERR_IO);
    ck_assert_int_eq(t.fs->remove(t.fs->self, in(&t, "moved"), NULL), ERR_IO);
    ck_assert_int_eq(t.fs->remove_tree(t.fs->self, in(&t, "moved"), NULL), ERR_OK);
    ck_assert_int_eq(t.fs->remove_tree(t.fs->self, in(&t, "moved"), NULL), ERR_OK);
    ck_assert_str_eq(names(&t, "."), "x;");
    env_close(&t);
}
END_TEST

START_TEST(one_holds_the_lock)
{
    struct env t;
    env_open(&t, _i);
    void *a, *b;
    ERR_LOCAL(em);
    ck_assert_int_eq(t.fs->lock(t.fs->self, t.root, &a, NULL), ERR_OK);
    ck_assert_int_eq(t.fs->lock(t.fs->self, t.root, &b, &em), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err_reason(&em), "already held"));
    t.fs->unlock(t.fs->self, a);
    ck_assert_int_eq(t.fs->lock(t.fs->self, t.root, &b, NULL), ERR_OK);
    ck_assert_str_eq(names(&t, "."), "node.lock;");
    t.fs->unlock(t.fs->self, b);
    ck_assert_int_eq(t.fs->lock(t.fs->self, in(&t, "none"), &b, NULL), ERR_IO);
    uint64_t total, available;
    ck_assert_int_eq(t.fs->space(t.fs->self, t.root, &total, &available, NULL), ERR_OK);
    ck_assert(total >= available && available > 0);
    env_close(&t);
}
END_TEST

START_TEST(replace_file_is_whole)
{
    struct env t;
    env_open(&t, _i);
    ck_assert_int_eq(fs_replace_file(t.fs, in(&t, "s"), STR("one"), NULL), ERR_OK);
    ck_assert_int_eq(fs_replace_file(t.fs, in(&t, "s"), STR("two"), NULL), ERR_OK);
    ck_assert_str_eq(get(&t, "s"), "two");
    ck_assert_str_eq(names(&t, "."), "s;");
    struct str s;
    ck_assert_int_eq(fs_read_file(t.fs, in(&t, "s"), 2, &t.arena, &s, NULL), ERR_IO);
    env_close(&t);
}
END_TEST

START_TEST(power_loss_forgets_what_was_not_synced)
{
    struct env t;
    env_open(&t, 1);
    put(&t, "synced", "kept", true, true);
    put(&t, "nameless", "kept", true, true);
    put(&t, "tail", "kept", true, true);
    t.fs->sync_dir(t.fs->self, t.root, NULL);
    put(&t, "tail", " lost", false, false);
    put(&t, "unnamed", "synced bytes without a synced name", true, true);
    t.fs->remove(t.fs->self, in(&t, "synced"), NULL);
    t.fs->rename(t.fs->self, in(&t, "nameless"), in(&t, "renamed"), NULL);
    struct fs_file *f;
    struct fs_map map;
    void *lock;
    ck_assert_int_eq(t.fs->open(t.fs->self, in(&t, "tail"), false, &f, NULL), ERR_OK);
    ck_assert_int_eq(t.fs->map(t.fs->self, in(&t, "tail"), &map, NULL), ERR_OK);
    ck_assert_int_eq(t.fs->lock(t.fs->self, t.root, &lock, NULL), ERR_OK);
    ck_assert_str_eq(names(&t, "."), "node.lock;renamed;tail;unnamed;");
    fs_mem_drop_unsynced(t.mem);
    ck_assert_str_eq(names(&t, "."), "nameless;synced;tail;");
    ck_assert_str_eq(get(&t, "tail"), "kept");
    ck_assert_int_eq(t.fs->write(t.fs->self, f, "x", 1, NULL), ERR_IO);
    ck_assert_int_eq(t.fs->sync(t.fs->self, f, NULL), ERR_IO);
    put(&t, "tail", "!!!!!", false, true);
    ck_assert(map.n == 9 && memcmp(map.p, "kept lost", 9) == 0);
    void *again;
    ck_assert_int_eq(t.fs->lock(t.fs->self, t.root, &again, NULL), ERR_OK);
    ck_assert_uint_eq(fs_mem_used(t.mem), 4 + 4 + 9);
    env_close(&t); /* f, map and the locks were abandoned: freed with the disk */
}
END_TEST

START_TEST(kill_keeps_bytes)
{
    struct env t;
    env_open(&t, 1);
    put(&t, "a", "unsynced", true, false);
    struct fs_file *f;
    ck_assert_int_eq(t.fs->open(t.fs->self, in(&t, "a"), false, &f, NULL), ERR_OK);
    fs_mem_kill(t.mem);
    ck_assert_int_eq(t.fs->write(t.fs->self, f, "x", 1, NULL), ERR_IO);
    t.fs->close(t.fs->self, f);
    ck_assert_str_eq(get(&t, "a"), "unsynced");
    env_close(&t);
}
END_TEST

/* Every call of a replacement fails once, in each way; after the crash there is the old or the new file. */
START_TEST(replace_survives_every_fault)
{
    static const enum fs_mem_fault ways[] = {FS_MEM_FAIL, FS_MEM_TEAR, FS_MEM_FAIL_FROM, FS_MEM_AFTERWARDS};
    for (size_t way = 0; way < ARRAY_LEN(ways); way++) {
        bool fired = true;
        uint64_t n;
        for (n = 1; fired; n++) {
            struct env t;
            env_open(&t, 1);
            ck_assert_int_eq(fs_replace_file(t.fs, in(&t, "s"), STR("old"), NULL), ERR_OK);
            fs_mem_fail_at(t.mem, n, ways[way]);
            enum err e = fs_replace_file(t.fs, in(&t, "s"), STR("newer"), NULL);
            fired = fs_mem_fired(t.mem);
            ck_assert_int_eq(e, fired ? ERR_IO : ERR_OK);
            fs_mem_fail_at(t.mem, 0, FS_MEM_FAIL);
            struct rng r;
            rng_seed(&r, n);
            fs_mem_crash(t.mem, n % 2 == 0 ? &r : NULL);
            const char *is = get(&t, "s");
            ck_assert_ptr_nonnull(is);
            ck_assert_msg(strcmp(is, "newer") == 0 || (e != ERR_OK && strcmp(is, "old") == 0), "%s", is);
            env_close(&t);
        }
        ck_assert_uint_eq(
            n, 6 + 2); /* remove, open, write, sync, rename, sync_dir; then a run that meets none */
    }
}
END_TEST

START_TEST(a_failed_sync_is_never_made_good)
{
    struct env t;
    env_open(&t, 1);
    put(&t, "a", "one", true, true);
    t.fs->sync_dir(t.fs->self, t.root, NULL);
    struct fs_file *f;
    ck_assert_int_eq(t.fs->open(t.fs->self, in(&t, "a"), false, &f, NULL), ERR_OK);
    ck_assert_int_eq(t.fs->write(t.fs->self, f, "two", 3, NULL), ERR_OK);
    fs_mem_fail_at(t.mem, 1, FS_MEM_FAIL);
    ck_assert_int_eq(t.fs->sync(t.fs->self, f, NULL), ERR_IO);
    ck_assert_int_eq(t.fs->sync(t.fs->self, f, NULL), ERR_OK);
    t.fs->close(t.fs->self, f);
    fs_mem_drop_unsynced(t.mem);
    ck_assert_str_eq(get(&t, "a"), "one");
    env_close(&t);
}
END_TEST

START_TEST(full_disks_and_flipped_bits)
{
    struct env t;
    env_open(&t, 1);
    fs_mem_set_capacity(t.mem, 10);
    ck_assert_int_eq(put(&t, "a", "1234567", true, true), ERR_OK);
    ck_assert_int_eq(put(&t, "b", "12345", true, true), ERR_IO);
    ck_assert_str_eq(get(&t, "b"), "123");
    t.fs->remove(t.fs->self, in(&t, "b"), NULL);
    ck_assert_uint_eq(fs_mem_used(t.mem), 7);
    struct fs_map map;
    ck_assert_int_eq(t.fs->map(t.fs->self, in(&t, "a"), &map, NULL), ERR_OK);
    ck_assert(fs_mem_flip(t.mem, in(&t, "a"), 0, 1));
    ck_assert(!fs_mem_flip(t.mem, in(&t, "a"), 7, 0));
    ck_assert_int_eq(map.p[0], '3');
    t.fs->unmap(t.fs->self, &map);
    fs_mem_drop_unsynced(t.mem); /* neither name was synced */
    ck_assert_str_eq(names(&t, "."), "");
    env_close(&t);
}
END_TEST

/* What a file says of its end was taken back by a power failure: nobody would miss the end, until the file is synced again. */
START_TEST(no_damage_that_nobody_misses)
{
    struct env t;
    struct fs_file *f;
    struct rng r;
    rng_seed(&r, 1);
    env_open(&t, 1);
    t.fs->make_dir(t.fs->self, in(&t, "d"), NULL);
    ck_assert_int_eq(put(&t, "d/a", "1234567", true, true), ERR_OK);
    ck_assert_int_eq(t.fs->sync_dir(t.fs->self, in(&t, "d"), NULL), ERR_OK);
    ck_assert_int_eq(t.fs->open(t.fs->self, in(&t, "d/a"), false, &f, NULL), ERR_OK);
    ck_assert_int_eq(t.fs->patch(t.fs->self, f, 1, "!", 1, NULL), ERR_OK);
    t.fs->close(t.fs->self, f);
    fs_mem_drop_unsynced(t.mem);
    fs_mem_drop_unsynced(t.mem); /* one more does not make it known */
    ck_assert_str_eq(get(&t, "d/a"), "1234567");
    ck_assert(!fs_mem_harm(t.mem, in(&t, "d/a"), FS_MEM_FLIP, &r));
    ck_assert_int_eq(t.fs->open(t.fs->self, in(&t, "d/a"), false, &f, NULL), ERR_OK);
    ck_assert_int_eq(t.fs->sync(t.fs->self, f, NULL), ERR_OK);
    t.fs->close(t.fs->self, f);
    ck_assert(fs_mem_harm(t.mem, in(&t, "d/a"), FS_MEM_FLIP, &r));
    env_close(&t);
}
END_TEST

/* What a bad disk does is seen by who reads anew, is counted, and can be undone. */
START_TEST(bad_disks)
{
    struct env t;
    struct fs_map map;
    struct fs_file *f;
    struct rng r;
    char text[64];
    rng_seed(&r, 1);
    env_open(&t, 1);
    t.fs->make_dir(t.fs->self, in(&t, "d"), NULL);
    ck_assert_int_eq(put(&t, "d/a", "1234567", true, true), ERR_OK);
    ck_assert_int_eq(t.fs->map(t.fs->self, in(&t, "d/a"), &map, NULL), ERR_OK);
    ck_assert_int_eq(t.fs->sync_dir(t.fs->self, in(&t, "d"), NULL), ERR_OK);
    ck_assert(!fs_mem_harm(t.mem, in(&t, "d/a"), FS_MEM_FLIP, &r)); /* it is in memory */
    t.fs->unmap(t.fs->self, &map);
    ck_assert(!fs_mem_harm(t.mem, in(&t, "d/b"), FS_MEM_FLIP, &r));
    for (int how = FS_MEM_FLIP; how <= FS_MEM_CUT; how++) {
        ck_assert(fs_mem_harm(t.mem, in(&t, "d/a"), (enum fs_mem_harm)how, &r));
        ck_assert_str_ne(get(&t, "d/a"), "1234567");
        fs_mem_kill(t.mem);
        ck_assert_uint_eq(fs_mem_harmed(t.mem, in(&t, "d")), 1);
        snprintf(text, sizeof(text), "%s", get(&t, "d/a"));
        fs_mem_drop_unsynced(t.mem);
        ck_assert_str_eq(get(&t, "d/a"), text);
        fs_mem_heal(t.mem, in(&t, "d"));
        ck_assert_str_eq(get(&t, "d/a"), "1234567");
        ck_assert_uint_eq(fs_mem_harmed(t.mem, in(&t, "d")), 0);
    }
    fs_mem_lose_write(t.mem, in(&t, "d"), false, 1);
    ck_assert_int_eq(put(&t, "d/b", "abc", true, true), ERR_OK);
    ck_assert_str_eq(get(&t, "d/b"), ""); /* zeros */
    ck_assert_int_eq(put(&t, "d/c", "xyz", true, true), ERR_OK);
    ck_assert_str_eq(get(&t, "d/c"), "xyz");
    ck_assert_uint_eq(fs_mem_writes_lost(t.mem), 1);
    fs_mem_heal(t.mem, in(&t, "d/b"));
    ck_assert_str_eq(get(&t, "d/b"), "abc");
    fs_mem_lose_write(t.mem, in(&t, "d"), true, 1);
    ck_assert_int_eq(t.fs->open(t.fs->self, in(&t, "d/b"), false, &f, NULL), ERR_OK);
    ck_assert_int_eq(t.fs->patch(t.fs->self, f, 1, "!", 1, NULL), ERR_OK);
    t.fs->close(t.fs->self, f);
    ck_assert_str_eq(get(&t, "d/b"), "abc");
    ck_assert_uint_eq(fs_mem_harmed(t.mem, in(&t, "d")), 2); /* what lacks it, and what has it */
    t.fs->remove(t.fs->self, in(&t, "d/b"), NULL);
    ck_assert_uint_eq(fs_mem_harmed(t.mem, in(&t, "d")), 1);
    struct fs_mem_trouble often = {.writes = 1000};
    fs_mem_trouble(t.mem, &often, 1);
    ck_assert_int_eq(put(&t, "d/e", "1", true, true), ERR_IO);
    fs_mem_trouble(t.mem, &(struct fs_mem_trouble){0}, 0);
    ck_assert_int_eq(put(&t, "d/e", "1", true, true), ERR_OK);
    env_close(&t);
}
END_TEST

/* Crashes at random moments of a random history: every file has at least its synced bytes, and no foreign
 * ones. */
START_TEST(random_crashes_keep_synced_prefixes)
{
    struct rng r;
    rng_seed(&r, 7);
    for (int round = 0; round < 300; round++) {
        struct env t;
        env_open(&t, 1);
        struct fs_file *f[3];
        size_t wrote[3] = {0}, synced[3] = {0};
        const char *name[3] = {"a", "b", "c"};
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(t.fs->open(t.fs->self, in(&t, name[i]), true, &f[i], NULL), ERR_OK);
        }
        t.fs->sync_dir(t.fs->self, t.root, NULL);
        for (uint64_t step = rng_below(&r, 40); step > 0; step--) {
            size_t i = (size_t)rng_below(&r, 3);
            if (rng_below(&r, 3) == 0) {
                t.fs->sync(t.fs->self, f[i], NULL);
                synced[i] = wrote[i];
            } else {
                char c = (char)('A' + wrote[i] % 26);
                t.fs->write(t.fs->self, f[i], &c, 1, NULL);
                wrote[i]++;
            }
        }
        fs_mem_crash(t.mem, &r);
        for (int i = 0; i < 3; i++) {
            const char *text = get(&t, name[i]);
            ck_assert_ptr_nonnull(text);
            size_t n = strlen(text);
            ck_assert(n >= synced[i] && n <= wrote[i]);
            for (size_t k = 0; k < n; k++) {
                ck_assert_int_eq(text[k], (char)('A' + k % 26));
            }
        }
        env_close(&t);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fs");
    TCase *both = tcase_create("contract");
    tcase_add_loop_test(both, files_hold_what_was_appended, 0, 2);
    tcase_add_loop_test(both, truncate_cuts_and_appends_follow, 0, 2);
    tcase_add_loop_test(both, mappings_outlive_their_names, 0, 2);
    tcase_add_loop_test(both, folders_and_renames, 0, 2);
    tcase_add_loop_test(both, one_holds_the_lock, 0, 2);
    tcase_add_loop_test(both, replace_file_is_whole, 0, 2);
    suite_add_tcase(s, both);
    TCase *mem = tcase_create("memory");
    tcase_add_test(mem, power_loss_forgets_what_was_not_synced);
    tcase_add_test(mem, kill_keeps_bytes);
    tcase_add_test(mem, replace_survives_every_fault);
    tcase_add_test(mem, a_failed_sync_is_never_made_good);
    tcase_add_test(mem, full_disks_and_flipped_bits);
    tcase_add_test(mem, bad_disks);
    tcase_add_test(mem, no_damage_that_nobody_misses);
    tcase_add_test(mem, random_crashes_keep_synced_prefixes);
    suite_add_tcase(s, mem);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
