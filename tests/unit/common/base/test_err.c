/* Errors: chains, their bounds, and from one arena to another. */
#include "common/base/err.h"
#include "common/base/utf8.h"

#include <check.h>
#include <stdlib.h>

START_TEST(chains)
{
    ERR_LOCAL(em);
    ck_assert(!err_is(&em) && err_code(&em) == ERR_OK && err_http_status(&em) == 200);
    ck_assert_int_eq(err_set_at(&em, ERR_PARSING, 3, 9, "inner %d", 1), ERR_PARSING);
    struct errmsg before = em;
    err_wrap(&em, ERR_SEARCH_PHASE, "outer of %s", err_reason(&em));
    err_prefix(&em, ERR_SEARCH_PHASE, "a%d", 7);
    ck_assert_str_eq(err_reason(&em), "a7: outer of inner 1");
    ck_assert_str_eq(err_reason(&before), "inner 1"); /* no frame changes */
    ck_assert(err_innermost(&em) == before.frame && err_root(&em) == before.frame);
    ck_assert(em.frame->depth == 2 && before.frame->line == 3 && before.frame->col == 9);
    err_about_status(&em, 429);
    ck_assert(err_http_status(&em) == 429 && err_http_status(&before) == 400);
    err_set(&em, ERR_IO, "other");
    ck_assert(em.frame->depth == 1 && err_http_status(&em) == 500);
}
END_TEST

/* What is copied outlives the arena that it comes from. */
START_TEST(copies)
{
    struct arena a = {0}, b = {0};
    struct errmsg from = err_in(&a), to = err_in(&b);
    ERR_LOCAL(other);
    err_set(&other, ERR_ILLEGAL_ARGUMENT, "first");
    err_set(&from, ERR_JSON, "cause");
    err_wrap(&from, ERR_PARSING, "whole");
    err_about_index(&from, STR("hotel"), STR("u"));
    err_suppress(&from, &other);
    err_set(&other, ERR_ILLEGAL_ARGUMENT, "second");
    err_suppress(&from, &other);
    err_copy(&to, &from);
    struct errmsg *kept = err_keep(&b, &from);
    arena_fini(&a);
    ck_assert(to.frame->depth == 2 && err_code(kept) == ERR_PARSING);
    ck_assert_str_eq(err_innermost(&to)->reason, "cause");
    ck_assert_str_eq(err_about(&to)->index, "hotel");
    ck_assert_uint_eq(to.suppressed->n, 2);
    ck_assert_str_eq(to.suppressed->frame->reason, "second"); /* the newest stands first */
    ck_assert_str_eq(to.suppressed->before->frame->reason, "first");
    arena_fini(&b);
}
END_TEST

START_TEST(bounds)
{
    ERR_LOCAL(em);
    size_t n = ERR_REASON_MAX + 100;
    char *text = malloc(n + 1);
    memset(text, 'x', n);
    text[n] = '\0';
    text[ERR_REASON_MAX / 2] = '\xFF';
    memcpy(text + ERR_REASON_MAX - 1, "\xC3\xA4", 2); /* a character across the end */
    err_set(&em, ERR_IO, "%s", text);
    ck_assert_uint_eq(strlen(err_reason(&em)), ERR_REASON_MAX - 1);
    ck_assert(utf8_valid(str_of(err_reason(&em))) && err_reason(&em)[ERR_REASON_MAX / 2] == '?');
    free(text);
    for (unsigned i = 0; i < 2 * ERR_FRAMES_MAX; i++) {
        err_wrap(&em, ERR_PARSING, "%u", i);
    }
    ck_assert_uint_eq(em.frame->depth, ERR_FRAMES_MAX);
    ck_assert_int_eq(err_innermost(&em)->code, ERR_IO);
    ck_assert_str_eq(err_reason(&em), "127");
}
END_TEST

/* An arena that is full has room for the words, and an error without room for itself keeps its code. */
START_TEST(no_room)
{
    struct arena a;
    arena_init(&a, NULL, 64);
    struct errmsg em = err_in(&a);
    ck_assert_ptr_null(arena_alloc(&a, 1000));
    err_set(&em, ERR_ILLEGAL_STATE, "%s", "said nevertheless");
    ck_assert_str_eq(err_reason(&em), "said nevertheless");
    arena_fini(&a);
    ck_assert_int_eq(err_code(err_out_of_memory()), ERR_NO_MEMORY);
    ck_assert_ptr_nonnull(strstr(err_reason(err_out_of_memory()), "Data too large"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("err");
    TCase *c = tcase_create("all");
    tcase_add_test(c, chains);
    tcase_add_test(c, copies);
    tcase_add_test(c, bounds);
    tcase_add_test(c, no_room);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
