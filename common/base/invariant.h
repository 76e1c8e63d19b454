/* invariant.h - assertions of invariants between two events of a core, compiled in where their cost is acceptable.
 *
 * Each core has a function X_invariant() that asserts it. The simulator calls them after every event; a build
 * with a sanitizer, or with -DINVARIANTS, calls them where INVARIANT(...) stands; others do not. */
#ifndef BASE_INVARIANT_H
#define BASE_INVARIANT_H

#ifdef __has_feature
#define INVARIANT_CLANG (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define INVARIANT_CLANG 0
#endif

#if defined(INVARIANTS) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || INVARIANT_CLANG
#define INVARIANT(check) check
#else
#define INVARIANT(check) ((void)0)
#endif

#endif
