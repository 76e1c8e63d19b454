/* conf_int.h - declarations shared by conf.c and conf_yaml.c. */
#ifndef SYS_CONF_INT_H
#define SYS_CONF_INT_H

#include "common/sys/conf.h"

/* Replaces ${NAME} and ${NAME:otherwise}. ERR_ILLEGAL_ARGUMENT for a name that is not set, and for one not
 * closed. */
enum err conf_substitute(struct str s, const char *const *environ_, struct arena *arena, struct str *out,
                         struct errmsg *em);
/* ERR_ILLEGAL_ARGUMENT "unknown setting [...]" with the nearest known one. */
enum err conf_check_known(const struct conf_opts *opts, struct str key, struct errmsg *em);
/* conf_yaml() that refuses unknown names where they stand. known NULL: none is refused. */
enum err conf_yaml_known(struct settings *out, struct str text, const char *name, const char *const *environ_,
                         const struct conf_opts *known, struct errmsg *em);

#endif
