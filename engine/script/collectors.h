/* collectors.h - collectors, comparators, optional values and streams that scripts make by name. Private to engine/script.
 *
 * A collector and a comparator are functions that keep what they were made of: applied, they are called again with that and what
 * they are applied to. */
#ifndef ENGINE_SCRIPT_COLLECTORS_H
#define ENGINE_SCRIPT_COLLECTORS_H

#include "engine/script/vm.h"

enum err collectors(struct script_run *m, struct str name, struct sv *a, uint32_t n, struct sv *out);
/* Comparator's statics, and those of Map.Entry. */
enum err comparator(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                    struct sv *out);
/* The other way round. */
enum err comparator_reversed(struct script_run *m, struct sv of, struct sv *out);
enum err optional_static(struct script_run *m, struct str name, struct sv *a, uint32_t n, struct sv *out);
enum err stream_static(struct script_run *m, struct str name, struct sv *a, uint32_t n, struct sv *out);
enum err function_static(struct script_run *m, struct str name, struct sv *a, uint32_t n, struct sv *out);
/* A value that may be there. */
enum err optional_of(struct script_run *m, bool has, struct sv v, struct sv *out);

#endif
