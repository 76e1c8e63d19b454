/* script_error.h - the position of an error in a script. */
#ifndef COORDINATOR_CORE_SCRIPT_ERROR_H
#define COORDINATOR_CORE_SCRIPT_ERROR_H

#include "common/base/err.h"
#include "common/base/jsonw.h"

/* The keys of a script_exception beside its type and reason: `script_stack`, `script`, `lang`, and `position` where there
 * is one. What of the script is shown has dots where it was cut, when the script did not compile (`cut`). */
void script_error_write(struct jsonw *w, const struct err_about *a, bool cut);

#endif
