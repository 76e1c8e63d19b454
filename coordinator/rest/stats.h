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
/* The bit of a metric. */
unsigned stats_metric(const char *name);
void stats_add(struct shard_stats *sum, const struct shard_stats *s);
/* The same for what is there by name: groups of searches, fields. In the arena, names borrowed. false: no memory. */
bool stats_add_named(struct shard_stats *sum, const struct shard_stats *s, struct arena *arena);
/* Where numbers go, and whether words go with them. */
struct stats_out {
    struct jsonw *w;
    bool human;                           /* "size": "1.5kb" in front of "size_in_bytes" */
    bool fielddata_fields;                /* fielddata by field was asked for */
    struct str completion_fields, groups; /* patterns; p == NULL: not asked for */
    bool types;                           /* operations by type were asked for, of which there is one */
};
/* Reads the parameters that say in what detail these metrics are wanted: those of stats_out_detailed(), and those that do
 * nothing here. */
enum err stats_details(struct rest *r, unsigned metrics, bool of_nodes);
struct stats_out stats_out_for(struct rest *r, struct jsonw *w);
/* With the details by field and type that the request, whose parameters are read, asks for. */
struct stats_out stats_out_detailed(struct rest *r, struct jsonw *w);
/* A number; words too for those whose names end in _in_bytes or _in_millis, under the name without that. */
void stats_put(const struct stats_out *o, const char *key, uint64_t v);
/* The words under a name of their own (NULL: as above); a number that is no time is one of bytes. */
void stats_put_as(const struct stats_out *o, const char *words, const char *key, uint64_t v);
/* The sections, without braces. */
void stats_write(const struct stats_out *o, const struct shard_stats *s, unsigned metrics);
/* "routing" of a copy; then, with the sections, its commit and sequence numbers. Without braces. */
void stats_write_routing(struct jsonw *w, const struct shard_copy *c, bool relocation);
void stats_write_shard(const struct stats_out *o, const struct shard_copy *c, const struct shard_stats *s,
                       unsigned metrics);

#endif
