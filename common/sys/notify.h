/* notify.h - tells systemd how the service is doing (sd_notify's datagram, without its library). */
#ifndef SYS_NOTIFY_H
#define SYS_NOTIFY_H

#include "common/base/defs.h"

/* state: "READY=1", "STOPPING=1", "STATUS=...", "WATCHDOG=1", several on lines of their own. socket: the
 * value of NOTIFY_SOCKET; NULL: nothing is done. false: it could not be sent. Never blocks. */
bool notify_send(const char *socket, const char *state);
/* Half of WATCHDOG_USEC in ms, the time between two "WATCHDOG=1"; 0: none is wanted. Values of the
 * environment. */
int64_t notify_watchdog_ms(const char *watchdog_usec, const char *watchdog_pid);

#endif
