/* start_settings.h - the checks of the settings that a node is started with. */
#ifndef NODE_START_SETTINGS_H
#define NODE_START_SETTINGS_H

#include "common/base/log.h"
#include "common/base/settings.h"

/* ERR_ILLEGAL_ARGUMENT: a value is not fit, does not go with another, or asks for protection that this program does not have. */
enum err start_settings_check(const struct settings *s, struct errmsg *em);
/* Logs a warning of each that has no effect. */
void start_settings_warn(const struct settings *s, const struct log *log);

#endif
