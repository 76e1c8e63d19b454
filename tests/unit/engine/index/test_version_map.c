#include "engine/index/version_map.h"

#include "common/base/hash.h"
#include "common/base/rand.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define IDS 300

struct model {
    int kind; /* 0: nothing, 1: document, 2: tombstone */
    int64_t seq, at;
};

static struct str id_of(unsigned i, char buf[16])
{
    snprintf(buf, 16, "id-%u", i);
    return str_of(buf);
}

/* Some of the hashes collide on purpose. */
static uint64_t hash_of(struct str id)
{
    return hash_str(id) & 0x3F;
}

static void compare(const struct version_map *m, const struct model *want)
{
    size_t tombs = 0;
    for (unsigned i = 0; i < IDS; i++) {
        char buf[16];
        struct str id = id_of(i, buf);
        const struct vm_doc *d = version_map_doc(m, id, hash_of(id));
        const struct vm_tomb *t = version_map_tomb(m, id, hash_of(id));
        ck_assert((d != NULL) == (want[i].kind == 1));
        ck_assert((t != NULL) == (want[i].kind == 2));
        ck_assert(d == NULL || d->seq_no == want[i].seq);
        ck_assert(t == NULL || t->seq_no == want[i].seq);
        tombs += t != NULL;
    }
    ck_assert_uint_eq(m->n_tombs, tombs);
}

START_TEST(random_against_model)
{
    struct rng r;
    rng_seed(&r, (uint64_t)_i);
    struct model want[IDS] = {{0}};
    struct version_map m;
    version_map_init(&m, alloc_default());
    for (int64_t seq = 0; seq < 4000; seq++) {
        unsigned i = (unsigned)rng_below(&r, IDS);
        char buf[16];
        struct str id = id_of(i, buf);
        uint64_t h = hash_of(id), what = rng_below(&r, 100);
        if (what < 50) {
            struct vm_doc *d = version_map_prepare_doc(&m, id, h);
            version_map_clear_tomb(&m, id, h);
            d->alive = true;
            d->seq_no = seq;
            want[i] = (struct model){1, seq, 0};
        } else if (what < 90) {
            struct vm_tomb *t = version_map_prepare_tomb(&m, id, h);
            t->seq_no = seq;
            t->at_ms = seq;
            version_map_put_tomb(&m, t);
            want[i] = (struct model){2, seq, seq};
        } else if (what < 95) {
            version_map_free_tomb(&m, version_map_prepare_tomb(&m, id, h));
            version_map_prepare_doc(&m, id, h);
        } else if (what < 97) {
            version_map_forget_docs(&m);
            for (unsigned k = 0; k < IDS; k++) {
                want[k].kind = want[k].kind == 1 ? 0 : want[k].kind;
            }
        } else {
            int64_t before = seq - (int64_t)rng_below(&r, 200), cp = seq - (int64_t)rng_below(&r, 200);
            for (int round = 0; round < 2; round++) { /* one may pass over an entry that wrapped around */
                version_map_prune(&m, before, cp);
            }
            for (unsigned k = 0; k < IDS; k++) {
                if (want[k].kind == 2 && want[k].at < before && want[k].seq <= cp) {
                    want[k].kind = 0;
                }
            }
        }
        if (seq % 50 == 0 || what >= 95) {
            compare(&m, want);
        }
    }
    version_map_fini(&m);
}
END_TEST

START_TEST(no_memory)
{
    struct alloc_failing f;
    unsigned n = 1;
    do {
        alloc_failing_init(&f, n++);
        struct version_map m;
        version_map_init(&m, &f.base);
        struct str id = STR("a");
        struct vm_doc *d = version_map_prepare_doc(&m, id, 1);
        struct vm_tomb *t = version_map_prepare_tomb(&m, id, 1);
        ck_assert(version_map_doc(&m, id, 1) == NULL && version_map_tomb(&m, id, 1) == NULL);
        ck_assert(f.fired == (d == NULL || t == NULL));
        version_map_free_tomb(&m, t);
        version_map_fini(&m);
    } while (f.fired);
    ck_assert_uint_gt(n, 4);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("version_map");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, random_against_model, 0, 20);
    tcase_add_test(c, no_memory);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
