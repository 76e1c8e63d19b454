/* log_fd.h - log lines to a file descriptor or a file; a line is one write(2). */
#ifndef SYS_LOG_FD_H
#define SYS_LOG_FD_H

#include "common/base/err.h"
#include "common/base/log.h"

struct log_fd {
    struct log_sink base; /* hand &f->base to log_init() */
    int fd;
    bool owned;
    char path[1024]; /* of what it opened */
};

void log_fd_init(struct log_fd *f, int fd); /* borrowed: stderr is 2 */
/* Opens for appending. */
enum err log_fd_open(struct log_fd *f, const char *path, struct errmsg *em);
/* The file of that name again: after the operator has moved the old one away. Lines may be written
 * meanwhile. */
enum err log_fd_reopen(struct log_fd *f, struct errmsg *em);
void log_fd_close(struct log_fd *f); /* closes what it opened */

#endif
