/* stats.h - sums of shards' statistics and how they print.
 *
 * Pure; any thread. */
#ifndef COORDINATOR_REST_STATS_H
#define COORDINATOR_REST_STATS_H

#include "coordinator/rest/rest.h"

/* Bit i is the metric of that number, in the order that they print. */
#define STATS_ALL 0xFFFFU

/* The metrics in a list ("docs,store", "_all", absent: all). Unknown ones are refused, worded with `what`
 * ("metric"). */
enum err stats_metrics(struct rest *r, struct str list, const char *what, unsigned *out);
void stats_add(struct shard_stats *sum, const struct shard_stats *s);
/* The sections, without braces. */
void stats_write(struct jsonw *w, const struct shard_stats *s, unsigned metrics);

#endif
