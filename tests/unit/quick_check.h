/* quick_check.h - Check's assertions without the note that each one leaves in a pipe when it holds.
 *
 * Tests against naive models make millions of assertions; a write for each would be most of their time. The
 * place of a failure is still told: it is a failure that looks for it. Included before every test's own text
 * (Makefile). */
#ifndef TESTS_UNIT_QUICK_CHECK_H
#define TESTS_UNIT_QUICK_CHECK_H

#include <check.h>

#undef ck_assert_msg
#define ck_assert_msg(expr, ...) \
    ((expr) ? (void)0 : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", ##__VA_ARGS__))

#endif
