#include "common/sys/notify.h"

#include "common/base/num.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool notify_send(const char *socket_path, const char *state)
{
    if (socket_path == NULL || socket_path[0] == '\0') {
        return true;
    }
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t n = strlen(socket_path);
    if ((socket_path[0] != '/' && socket_path[0] != '@') || n >= sizeof(a.sun_path)) {
        return false;
    }
    memcpy(a.sun_path, socket_path, n);
    if (a.sun_path[0] == '@') {
        a.sun_path[0] = '\0'; /* the abstract name space */
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return false;
    }
    size_t length = strlen(state);
    ssize_t sent = sendto(fd, state, length, MSG_NOSIGNAL, (const struct sockaddr *)&a,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    close(fd);
    return sent == (ssize_t)length;
}

int64_t notify_watchdog_ms(const char *watchdog_usec, const char *watchdog_pid)
{
    int64_t usec, pid;
    if (watchdog_usec == NULL || !num_parse_i64(str_of(watchdog_usec), &usec) || usec <= 0) {
        return 0;
    }
    if (watchdog_pid != NULL && (!num_parse_i64(str_of(watchdog_pid), &pid) || pid != getpid())) {
        return 0; /* meant for another process */
    }
    return MAX_OF(usec / 2000, (int64_t)1);
}
