/* mapped.h - the table of mapped files, and of those that were cut off (or could not be read) under their mapping.
 *
 * A page of a mapped file that is not there any more ends a process by SIGBUS. The files of the system (common/sys/fs_posix.c)
 * put zeroes in its place instead, and note it here; who reads a mapping asks afterwards whether what he read counts. One table
 * for the process, as there is one handler of that signal. Any thread; mapped_lose() also from the handler, for nobody touches a
 * mapping while he holds the table. */
#ifndef BASE_MAPPED_H
#define BASE_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

struct mapped; /* an entry */

struct mapped *mapped_add(const void *p, size_t n); /* NULL: no memory */
void mapped_remove(struct mapped *m);               /* NULL ok */
/* Notes that the mapping around an address has lost what is there and behind. false: no mapping is there. *end: where it ends. */
bool mapped_lose(const void *at, const void **end);
/* Has the mapping that begins at p lost anything? Costs a load while nothing has. */
bool mapped_lost(const void *p);

#endif
