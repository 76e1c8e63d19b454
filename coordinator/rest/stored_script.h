/* stored_script.h - stored scripts as requests show them. Any thread. */
#ifndef COORDINATOR_REST_STORED_SCRIPT_H
#define COORDINATOR_REST_STORED_SCRIPT_H

#include "common/base/jsonw.h"
#include "common/cluster/state.h"

/* An object with lang, source, and options where there are any. */
void stored_script_write(struct jsonw *w, const struct script_meta *m);

#endif
