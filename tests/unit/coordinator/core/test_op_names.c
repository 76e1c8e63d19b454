/* Names of operations against a naive model: no two are alike, and none is settled before it has ended. */
#include "common/base/rand.h"
#include "coordinator/core/op_names.h"

#include <check.h>
#include <stdlib.h>

#define SPANS 64

START_TEST(model)
{
    struct op_names o;
    struct op_span spans[SPANS];
    uint64_t sizes[SPANS];
    bool open[SPANS] = {false};
    uint64_t next = 0;
    struct rng rng;
    rng_seed(&rng, 9);
    op_names_init(&o, 0);
    ck_assert_uint_ne(o.session, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t at = rng_below(&rng, SPANS);
        if (open[at]) {
            op_names_end(&o, &spans[at]);
        } else {
            sizes[at] = 1 + rng_below(&rng, 9);
            op_names_begin(&o, &spans[at], sizes[at]);
            ck_assert(spans[at].first > 0 && spans[at].first >= next);
            next = spans[at].first + sizes[at];
        }
        open[at] = !open[at];
        uint64_t least = next == 0 ? 1 : next;
        for (int k = 0; k < SPANS; k++) {
            least = open[k] && spans[k].first < least ? spans[k].first : least;
        }
        ck_assert_uint_eq(op_names_settled(&o), least);
    }
    op_names_fini(&o);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("op_names");
    TCase *c = tcase_create("all");
    tcase_add_test(c, model);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
