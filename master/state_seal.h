/* state_seal.h - the length of the log of states, in a file of its own: it shows that the log was deleted, cut or
 * put back.
 *
 * <dir>/seal holds two slots, written in turn after the log's bytes are durable and not synced by themselves: what
 * is found after a power failure may be an older seal, never one of bytes that the log had not. docs/store-format.md
 * draws the bytes. One thread at a time. */
#ifndef MASTER_STATE_SEAL_H
#define MASTER_STATE_SEAL_H

#include "common/base/fs.h"

struct state_seal { /* what the log had: all of <dir>/state-<number>.log up to `bytes` */
    uint64_t number, bytes;
    uint64_t chain; /* of the records' checksums */
};

struct seal_file {
    const struct fs *fs;
    struct fs_file *file; /* NULL: not open */
    unsigned next;        /* the slot to be written */
};

enum seal_found {
    SEAL_NONE,
    SEAL_DAMAGED, /* no slot is whole: nothing is known; it is made again */
    SEAL_WHOLE
};
/* *out: zeros but for SEAL_WHOLE. *next: the older slot. */
enum err state_seal_read(const struct fs *fs, const char *dir, struct state_seal *out, enum seal_found *found,
                         unsigned *next, struct errmsg *em);
/* Opens it for writing; makes it, durably, when it is not there or damaged. */
enum err seal_file_open(struct seal_file *f, const struct fs *fs, const char *dir, struct errmsg *em);
/* `sync`: durable when it returns ERR_OK. After an error it is closed. Nothing when it is not open. */
enum err seal_file_write(struct seal_file *f, const struct state_seal *s, bool sync, struct errmsg *em);
void seal_file_close(struct seal_file *f);

#endif
