/* torn.h - the traces of a write to an append-only file that power loss cut short.
 *
 * A disk writes sectors whole, or leaves them as they were: zeros, behind a file's synced end. */
#ifndef BASE_TORN_H
#define BASE_TORN_H

#include "common/base/str.h"

/* Did a sector of bytes [lo, bytes.n), or all from some point on, never reach the disk? `bytes` begins at a sector
 * of the file. A run of fewer than 16 zeros proves nothing. */
bool bytes_have_hole(struct str bytes, uint64_t lo);
bool bytes_all_zero(const char *p, size_t n);

#endif
