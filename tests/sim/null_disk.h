/* null_disk.h - files that take what is written and keep nothing: for a thousand nodes that never start again. */
#ifndef SIM_NULL_DISK_H
#define SIM_NULL_DISK_H

#include "common/base/fs.h"

const struct fs *null_disk(void); /* stateless; any number of nodes share it */

#endif
