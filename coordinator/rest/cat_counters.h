/* cat_counters.h - the counters of shards that several _cat tables have hidden columns for. Any thread. */
#ifndef COORDINATOR_REST_CAT_COUNTERS_H
#define COORDINATOR_REST_CAT_COUNTERS_H

#include "coordinator/rest/table.h"

/* Adds the cell of a column ("get.total"; "pri." in front counts for nothing); null: s is NULL, or there
 * is no such counter. */
void cat_put_counter(struct table *t, const char *column, const struct shard_stats *s);

#endif
