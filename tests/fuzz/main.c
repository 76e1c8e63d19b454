/* serai-fuzz: libFuzzer's program around all targets. TARGET=name picks one; TARGET=list prints their names. */
#include "tests/fuzz/fuzz.h"

#include "common/base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct fuzz_target *const files[] = {fuzz_base,  fuzz_analysis, fuzz_hotel,
                                                  fuzz_http,  fuzz_ingest,   fuzz_mapping,
                                                  fuzz_query, fuzz_store,    fuzz_wire};
static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("TARGET");
    bool list = name != NULL && str_is(str_of(name), "list");
    (void)argc;
    (void)argv;
    for (size_t f = 0; f < ARRAY_LEN(files); f++) {
        for (const struct fuzz_target *t = files[f]; t->name != NULL; t++) {
            if (list) {
                puts(t->name);
            } else if (name != NULL && str_is(str_of(name), t->name)) {
                target = t;
            }
        }
    }
    if (list) {
        exit(0);
    }
    if (target == NULL) {
        fprintf(stderr, "TARGET names no target; TARGET=list prints those that there are\n");
        exit(64);
    }
    if (target->init != NULL) {
        target->init();
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str input = fuzz_copy(str_mk((const char *)data, n));
    if (target->input == FUZZ_BYTES || utf8_valid(input)) {
        target->one(input);
    }
    free((void *)(uintptr_t)input.p);
    return 0;
}

void fuzz_arena(struct arena *a)
{
    arena_init(a, NULL, FUZZ_ARENA_BYTES);
}

struct str fuzz_copy(struct str input)
{
    char *p = malloc(input.n > 0 ? input.n : 1);
    FUZZ_HOLDS(p != NULL);
    if (input.n > 0) {
        memcpy(p, input.p, input.n);
    }
    return str_mk(p, input.n);
}

struct str fuzz_line(struct str *rest)
{
    size_t end = str_find(*rest, '\n', 0);
    struct str line = end == SIZE_MAX ? *rest : str_mk(rest->p, end);
    size_t next = end == SIZE_MAX ? rest->n : end + 1;
    *rest = str_mk(rest->p + next, rest->n - next);
    return line;
}

_Noreturn void fuzz_fail(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

void fuzz_error(enum err e, const struct errmsg *em)
{
    if (e == ERR_OK) {
        return;
    }
    uint32_t depth = 0;
    for (const struct err_frame *f = em->frame; f != NULL; f = f->cause) {
        FUZZ_HOLDS(strlen(f->reason) <= ERR_REASON_MAX && utf8_valid(str_of(f->reason)));
        depth++;
    }
    FUZZ_HOLDS(depth <= ERR_FRAMES_MAX && (em->frame == NULL || em->frame->depth == depth));
}
