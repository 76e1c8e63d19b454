/* memory_settings.h - the limits of the process's memory, as the settings say now. Pure; any thread. */
#ifndef CLUSTER_MEMORY_SETTINGS_H
#define CLUSTER_MEMORY_SETTINGS_H

#include "common/base/memory_account.h"
#include "common/base/settings.h"

/* `memory` is what the machine or the cgroup gives, in bytes. A part of it (a quarter, at least 16 MiB, at most 1 GiB) is left to
 * what the kernel keeps in the process's name: pages of files, page tables, sockets; percentages are of the rest. `resident` is
 * left to the caller. */
void memory_limits_of(struct memory_limits *out, uint64_t memory, const struct settings *set);

#endif
