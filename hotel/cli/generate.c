/* generate.c - sample hotels as CSV on standard output. */
#include "common/base/num.h"
#include "hotel/cli/commands.h"
#include "hotel/sample/sample.h"

#include <stdio.h>

#define HOTELS_MAX 100000000

static bool write_hotels(uint64_t seed, uint64_t n)
{
    struct arena arena;
    struct buf out;
    bool ok = true;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    buf_init(&out, NULL, BUF_UNLIMITED);
    sample_csv_header(&out);
    for (uint64_t i = 0; i < n && ok; i++) {
        struct hotel h;
        ok = sample_hotel(&h, seed, i, &arena);
        if (ok) {
            sample_csv_hotel(&out, &h);
        }
        if (out.n > 64 * KIB) {
            ok = ok && fwrite(out.p, 1, out.n, stdout) == out.n;
            buf_reset(&out);
            arena_reset(&arena);
        }
    }
    ok = ok && !out.failed && fwrite(out.p, 1, out.n, stdout) == out.n && fflush(stdout) == 0;
    buf_fini(&out);
    arena_fini(&arena);
    return ok;
}

int command_generate(const struct str *args, size_t n)
{
    int64_t count = -1, seed = SAMPLE_SEED;
    for (size_t i = 0; i < n; i++) {
        bool ok;
        if (str_is(args[i], "--seed")) {
            ok = i + 1 < n && num_parse_i64(args[++i], &seed);
        } else if (str_starts(args[i], STR("--seed="))) {
            ok = num_parse_i64(str_slice(args[i], 7, args[i].n), &seed);
        } else {
            ok = count < 0 && num_parse_i64(args[i], &count) && count >= 0 && count <= HOTELS_MAX;
        }
        if (!ok) {
            fprintf(stderr, "serai-hotel generate: [%.*s] is not understood\n",
                    STR_ARG(args[MIN_OF(i, n - 1)]));
            return EXIT_USAGE_ERROR;
        }
    }
    if (count < 0) {
        fputs("usage: serai-hotel generate N [--seed S] > hotels.csv\n", stderr);
        return EXIT_USAGE_ERROR;
    }
    if (!write_hotels((uint64_t)seed, (uint64_t)count)) {
        perror("serai-hotel generate");
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}
