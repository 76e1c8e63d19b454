#include "common/base/torn.h"

#define SECTOR_BYTES 512
#define HOLE_BYTES   16

bool bytes_all_zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != 0) {
            return false;
        }
    }
    return true;
}

bool bytes_have_hole(struct str bytes, uint64_t lo)
{
    uint64_t hi = bytes.n;
    if (hi - lo >= HOLE_BYTES && bytes_all_zero(bytes.p + hi - HOLE_BYTES, HOLE_BYTES)) {
        return true;
    }
    for (uint64_t s = lo / SECTOR_BYTES * SECTOR_BYTES; s < hi; s += SECTOR_BYTES) {
        uint64_t a = MAX_OF(s, lo), b = MIN_OF(s + SECTOR_BYTES, hi);
        if (b - a >= HOLE_BYTES && bytes_all_zero(bytes.p + a, (size_t)(b - a))) {
            return true;
        }
    }
    return false;
}
