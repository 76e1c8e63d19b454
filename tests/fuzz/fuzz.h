/* fuzz.h - what every fuzz target is made of.
 *
 * A target is a function that gets any bytes and must neither crash, read what is not its own, leak nor run on. All
 * targets are linked into one program; the environment's TARGET names the one that runs. Targets of one file share
 * its set-up, which lives as long as the process. */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include "common/base/arena.h"
#include "common/base/err.h"

#define FUZZ_ARENA_BYTES ((size_t)64 << 20) /* what one input may take */

/* What may come in: texts were found to be UTF-8 before they get that far. */
enum fuzz_input { FUZZ_BYTES, FUZZ_TEXT };

struct fuzz_target {
    const char *name;
    void (*one)(struct str input);
    void (*init)(void); /* NULL: nothing to set up */
    enum fuzz_input input;
};

/* Each file's targets, a NULL name behind them. */
extern const struct fuzz_target fuzz_base[], fuzz_analysis[], fuzz_hotel[], fuzz_http[], fuzz_ingest[],
    fuzz_mapping[], fuzz_query[], fuzz_store[], fuzz_wire[];

/* An arena for one input. */
void fuzz_arena(struct arena *a);
/* A copy of the input in memory of exactly its size, so that a byte read behind it is seen; free() it. */
struct str fuzz_copy(struct str input);
/* Everything up to the first '\n' of *rest, which moves behind it; all of it where there is none. */
struct str fuzz_line(struct str *rest);
/* What must hold whatever came in. */
#define FUZZ_HOLDS(condition)                          \
    do {                                               \
        if (!(condition)) {                            \
            fuzz_fail(#condition, __FILE__, __LINE__); \
        }                                              \
    } while (0)
_Noreturn void fuzz_fail(const char *what, const char *file, int line);
/* The reasons of an error are UTF-8, and their number is within bounds. */
void fuzz_error(enum err e, const struct errmsg *em);

#endif
