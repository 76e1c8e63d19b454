/* collectors.h - comparators and optional values that scripts make. Private to engine/script.
 *
 * A collector and a comparator are functions that keep what they were made of: applied, they are called again with that and what
 * they are applied to. */
#ifndef ENGINE_SCRIPT_COLLECTORS_H
#define ENGINE_SCRIPT_COLLECTORS_H

#include "engine/script/vm.h"

/* The other way round. */
enum err comparator_reversed(struct script_run *m, struct sv of, struct sv *out);
/* A value that may be there. */
enum err optional_of(struct script_run *m, bool has, struct sv v, struct sv *out);

#endif
