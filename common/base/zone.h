/* zone.h - time zones: fixed offsets and IANA zones, with Java's rules for local times that do not exist or
 * are ambiguous.
 *
 * A zone is a table of its changes, read once from ICU when it is opened and immutable from then on: any
 * thread may use it. Times are milliseconds since 1970 UTC; offsets are milliseconds east of Greenwich.
 * "Local" milliseconds are those of a wall clock, counted as if it showed UTC. */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include "common/base/arena.h"
#include "common/base/err.h"

struct zone_change {
    int64_t at; /* UTC: the first millisecond with the offset below */
    int32_t offset;
};

struct zone {
    struct str id;              /* as Java's ZoneId prints it: "Europe/Berlin", "+02:00", "Z", "UTC" */
    int32_t first;              /* offset before the first change */
    uint32_t n;                 /* 0: a fixed offset */
    struct zone_change *change; /* ascending */
    int64_t cycle_at;           /* past here, years repeat those of the last 28 in the table */
};

/* "Z"; needs no arena. */
extern const struct zone zone_utc;

/* java.time.ZoneId.of: "Z", "+8", "+08:00", "+0800", "UTC", "GMT+1", "Asia/Shanghai". The zone lives in the
 * arena. ERR_ZONE_RULES for an unknown name, ERR_DATE_TIME for what cannot be one. */
enum err zone_of(const struct zone **out, struct str id, struct arena *arena, struct errmsg *em) NODISCARD;

int32_t zone_offset(const struct zone *z, int64_t utc);
int64_t zone_to_local(const struct zone *z, int64_t utc);
/* In an overlap the earlier moment; a time inside a gap moves on by the gap's length. */
int64_t zone_to_utc(const struct zone *z, int64_t local);
/* The valid offsets at a local time: 0 in a gap, 1, or 2 in an overlap (earlier moment first). In a gap *gap
 * gets the change that jumps over it. */
int zone_offsets_at_local(const struct zone *z, int64_t local, int32_t offsets[2], struct zone_change *gap);

/* The last change at or before utc; false: there is none. */
bool zone_last_change(const struct zone *z, int64_t utc, struct zone_change *out);

#endif
