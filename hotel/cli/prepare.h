/* prepare.h - makes sure that the index of hotels exists, in its final form, before anything is written to it: a
 * write would create it without its mapping. */
#ifndef HOTEL_CLI_PREPARE_H
#define HOTEL_CLI_PREPARE_H

#include "hotel/cli/remote.h"

/* Creates it where there is none, and says so on standard error; recreate: deletes it first. ERR_ILLEGAL_ARGUMENT for an index of another
 * form, which is left as it is; the errors of remote.h. */
enum err index_prepare(const struct remote *r, bool recreate, struct arena *arena, struct errmsg *em);
/* Creates it where there is none; one that is there is taken as it is. */
enum err index_ensure(const struct remote *r, struct arena *arena, bool *created, struct errmsg *em);

#endif
