/* copy_check.h - reads all of a shard copy's folder and says what is damaged in it; changes nothing.
 *
 * Commits and the files they name, by their checksums and by what they hold (structure.h), and every record of the log. The folder must not be in use. One
 * thread. */
#ifndef ENGINE_INDEX_COPY_CHECK_H
#define ENGINE_INDEX_COPY_CHECK_H

#include "common/base/err.h"
#include "common/base/fs.h"

struct copy_check {
    const struct fs *fs;
    const char *dir;
    /* Called for each damage; `file` is a name in the folder, or "" for the folder as a whole. */
    void (*damaged)(void *self, const char *file, const char *what);
    void *self;
    uint64_t files, bytes; /* read so far */
};

/* Says what is damaged by c->damaged. Not ERR_OK: reading itself failed, as without memory. `uuid`: the index's. */
enum err copy_check_run(struct copy_check *c, const char *uuid, uint32_t shard, struct errmsg *em);

#endif
