/* stored.h - the scripts that the cluster stores, as this node has them: what an `id` in a request means.
 *
 * The node hands all of them over with each state; a request that runs meanwhile finds the ones before or the ones after. Any thread. */
#ifndef ENGINE_SCRIPT_STORED_H
#define ENGINE_SCRIPT_STORED_H

#include "engine/script/script.h"

/* Those from now on: n of them, sorted by id, each with its id. They are copied; without memory those before stay, and false is returned. */
bool stored_scripts_set(const struct script_text *v, uint32_t n) NODISCARD;
/* The one of that id, copied into `arena`. ERR_RESOURCE_NOT_FOUND "unable to find script [id] in cluster state", ERR_NO_MEMORY. */
enum err stored_script_get(struct str id, struct arena *arena, struct script_text *out, struct errmsg *em);

#endif
