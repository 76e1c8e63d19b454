#include "common/sys/log_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* A line that cannot be written is lost: there is nowhere to report it. */
static void write_line(void *self, struct str line)
{
    const struct log_fd *f = self;
    while (line.n > 0) {
        ssize_t n = write(f->fd, line.p, line.n);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return;
        }
        line = str_slice(line, (size_t)n, line.n);
    }
}

void log_fd_init(struct log_fd *f, int fd)
{
    *f = (struct log_fd){.base = {.self = f, .write = write_line}, .fd = fd};
}

enum err log_fd_open(struct log_fd *f, const char *path, struct errmsg *em)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    log_fd_init(f, fd);
    if (fd < 0) {
        return err_errno(em, errno, path);
    }
    f->owned = true;
    snprintf(f->path, sizeof(f->path), "%s", path);
    return ERR_OK;
}

/* The descriptor's number stays: whoever writes at this moment writes to the old file or to the new one. */
enum err log_fd_reopen(struct log_fd *f, struct errmsg *em)
{
    if (!f->owned) {
        return ERR_OK;
    }
    int fd = open(f->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) {
        return err_errno(em, errno, f->path);
    }
    enum err e = dup3(fd, f->fd, O_CLOEXEC) >= 0 ? ERR_OK : err_errno(em, errno, f->path);
    close(fd);
    return e;
}

void log_fd_close(struct log_fd *f)
{
    if (f->owned) {
        close(f->fd);
        f->owned = false;
    }
}
