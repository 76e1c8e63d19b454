/* fs_posix.h - the real files. Stateless: one value serves the process, any thread.
 *
 * A folder's lock is flock(2) on `<folder>/node.lock`, so that it goes with its process however that ends. */
#ifndef SYS_FS_POSIX_H
#define SYS_FS_POSIX_H

#include "common/base/fs.h"

const struct fs *fs_posix(void);

#endif
