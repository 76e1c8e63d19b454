/* task_print.h - a task as JSON. */
#ifndef COORDINATOR_CORE_TASK_PRINT_H
#define COORDINATOR_CORE_TASK_PRINT_H

#include "coordinator/core/coordinator.h"
#include "coordinator/core/tasks.h"

/* The task as an object. detailed: with its status and description. From inside tasks_each(), tasks_one(), or
 * by the owner. */
void task_write(const struct coordinator *co, const struct task *t, bool detailed, struct jsonw *w);
/* Its members, in an object that is open. */
void task_write_members(const struct coordinator *co, const struct task *t, bool detailed, struct jsonw *w);

#endif
