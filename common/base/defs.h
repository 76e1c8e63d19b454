/* defs.h - the few compiler facts that every file may use. */
#ifndef BASE_DEFS_H
#define BASE_DEFS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a)      (sizeof(a) / sizeof((a)[0]))
#define NODISCARD         __attribute__((warn_unused_result))
#define UNUSED            __attribute__((unused)) /* a parameter of a row's kind that this one leaves */
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define CLEANUP(f)        __attribute__((cleanup(f))) /* f(&variable) at the end of its block */
#define LIKELY(x)         __builtin_expect(!!(x), 1)
#define UNLIKELY(x)       __builtin_expect(!!(x), 0)

/* Both evaluate an argument twice: none has an effect (tools/layers looks for readers of input). */
#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))

/* The object that *p is the member of. */
#define CONTAINER_OF(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))
#define CONST_CONTAINER_OF(p, type, member) \
    ((const type *)(const void *)((const char *)(p)-offsetof(type, member)))

/* For a library whose prototype lacks a const: tests/docs/test_const.py lists each use. What is written is never const. */
#define UNCONST(type, p) ((type)(uintptr_t)(const void *)(p))

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

#endif
