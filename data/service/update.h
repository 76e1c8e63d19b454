/* update.h - an update as what it comes to: an index operation, a delete, or nothing, given the current document. */
#ifndef DATA_SERVICE_UPDATE_H
#define DATA_SERVICE_UPDATE_H

#include "common/base/jsonw.h"
#include "engine/index/engine.h"
#include "proto/shard_api.h"

enum update_result { UPDATE_INDEX, UPDATE_DELETE, UPDATE_NOOP, UPDATE_MISSING };
struct update_plan {
    enum update_result result;
    struct str source; /* UPDATE_INDEX: the new one; UPDATE_NOOP: the current one */
};
struct update_input {
    const struct write_item *item;
    const struct engine_doc *current; /* found == false: absent */
    struct str index_name;
    int64_t now_ms;
};
/* {"_seq_no","_primary_term","found":true,"_source":...}: the "get" of an update's answer, its source
 * filtered as asked. */
enum err source_get_object(const struct write_item *item, struct str source, struct arena *arena,
                           struct jsonw *w, struct errmsg *em);
enum err update_plan_make(struct update_plan *out, const struct update_input *in, struct arena *arena,
                          struct errmsg *em);

#endif
