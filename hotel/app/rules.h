/* rules.h - the application's searches: from request objects to search bodies, by the
 * interface's rules.
 *
 * Pure; any thread. Bodies are appended to `out`; check out->failed once. */
#ifndef HOTEL_APP_RULES_H
#define HOTEL_APP_RULES_H

#include "hotel/app/params.h"

/* POST /hotel/list: keyword, filters, promotion, page, order. */
void rules_list(struct buf *out, const struct hotel_params *p);
/* POST /hotel/filters: the same query, no hits, three lists. */
void rules_filters(struct buf *out, const struct hotel_params *p);
/* GET /hotel/suggestion: completions of a prefix. */
void rules_suggestion(struct buf *out, struct str key);

/* GET /hotel/version: a number that is another one when hotels have changed. */
void rules_version(struct buf *out);

/* Where the distance is in a hit's sort values; -1: nowhere, none was asked for. */
int rules_distance_at(const struct hotel_params *p);

#endif
