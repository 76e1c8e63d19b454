/* copy_data.h - the data of a shard copy's commits beside the documents: the identity of the copy.
 *
 * Kept as the engine's user data, so that it is as durable as what it names. A copy's allocation id tells the
 * master whether it has every acknowledged write; its history uuid tells other copies whether sequence
 * numbers mean the same operations in both. */
#ifndef DATA_SHARD_COPY_DATA_H
#define DATA_SHARD_COPY_DATA_H

#include "common/base/buf.h"
#include "common/base/fs.h"

struct copy_data {
    struct str allocation_id, history_uuid;
};

void copy_data_encode(const struct copy_data *d, struct buf *out);
/* Borrows from bytes. ERR_CORRUPT. */
enum err copy_data_decode(struct copy_data *d, struct str bytes, struct errmsg *em);
/* Of the newest commit in a copy's folder, opened or not; strings in `arena`. *found false: there is none.
 * Any thread. */
enum err copy_data_read(const struct fs *fs, const char *dir, struct arena *arena, struct copy_data *out,
                        bool *found, struct errmsg *em);

#endif
