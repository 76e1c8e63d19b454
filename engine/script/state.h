/* state.h - bytes of values that travel between nodes. Private to engine/script. */
#ifndef ENGINE_SCRIPT_STATE_H
#define ENGINE_SCRIPT_STATE_H

#include "common/base/bytes.h"
#include "engine/script/kinds.h"

struct state_writing {
    struct buf *b;
    bool combined; /* what a shard combined, not what was reduced: errors have other words */
    struct errmsg *em;
};
/* Appends a value; `depth` says in how many it is. ERR_ILLEGAL_ARGUMENT for what cannot travel or holds itself. */
enum err state_put(const struct state_writing *w, struct sv v, unsigned depth);

struct state_reading {
    struct bytes_in *in;
    struct arena *a; /* of the values */
    struct errmsg *em;
};
/* ERR_CORRUPT; the rest is not looked at. */
enum err state_get(const struct state_reading *d, struct sv *out, unsigned depth);

#endif
