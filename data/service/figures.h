/* figures.h - a shard's figures: segments, statistics, the course of its recovery.
 *
 * On the shard's strand; its engine is open, but for the recovery. Answers lie in the act's arena. */
#ifndef DATA_SERVICE_FIGURES_H
#define DATA_SERVICE_FIGURES_H

#include "data/shard/shard.h"

void shard_tell_segments(struct shard *sh, struct shard_act *a);
void shard_tell_stats(struct shard *sh, struct shard_act *a);
void shard_tell_recovery(struct shard *sh, struct shard_act *a);

#endif
