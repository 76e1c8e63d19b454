/* data_folder.h - the check of a data folder: the node's identity, and that its cluster state is
 * there.
 *
 * Before anything in it is changed. What is damaged or missing is named, with what can be done: nothing is taken for the
 * folder of a new node that holds the data of an old one. docs/damage.md is for who reads such a sentence. */
#ifndef NODE_DATA_FOLDER_H
#define NODE_DATA_FOLDER_H

#include "common/base/fs.h"
#include "common/base/rand.h"

/* The node's id, with a checksum, in <dir>/_state/node; ERR_CORRUPT when it is damaged, *found false when there is none.
 * *older: the file has no checksum yet. In `arena`. */
enum err node_id_read(struct str *out, bool *found, bool *older, const struct fs *fs, const char *dir,
                      struct arena *arena, struct errmsg *em);
/* The same, and drawn when the folder is a new one. ERR_CORRUPT also when the file is missing and other state is
 * there. */
enum err node_id_load(struct str *out, const struct fs *fs, const char *dir, struct rng *rng,
                      struct arena *arena, struct errmsg *em);
/* ERR_CORRUPT when there is the data of indices, and no log of cluster states. */
enum err data_folder_check(const struct fs *fs, const char *dir, struct arena *arena, struct errmsg *em);

#endif
