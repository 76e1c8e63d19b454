/* rules.h - the application's searches: from request objects to search bodies, by the
 * interface's rules.
 *
 * Pure; any thread. Bodies are appended to `out`; check out->failed once. */
#ifndef HOTEL_APP_RULES_H
#define HOTEL_APP_RULES_H

#include "common/base/jsonw.h"
#include "hotel/app/params.h"

/* POST /hotel/list: keyword, filters, promotion, page, order. */
void rules_list(struct buf *out, const struct hotel_params *p);
/* POST /hotel/filters: the same query, no hits, three lists. */
void rules_filters(struct buf *out, const struct hotel_params *p);
/* GET /hotel/suggestion: completions of a prefix. */
void rules_suggestion(struct buf *out, struct str key);

/* GET /hotel/version: a number that is another one when hotels have changed. */
void rules_version(struct buf *out);

/* Members and clauses that other searches share. An element of a filter, where prices are wanted; */
void rules_price(struct jsonw *w, const struct hotel_params *p);
/* "functions": promoted hotels weigh ten times as much; combined by multiplying, the default; */
void rules_promotion(struct jsonw *w);
/* "sort": equal hits come in the order of their ids: pages do not overlap, whichever copy is asked; */
void rules_sort(struct jsonw *w, const struct hotel_params *p);
/* "highlight": the key is searched in [all]: what it matches of the fields that were copied there is marked in them. A query of
 * its own, so that filters' values are not. */
void rules_highlight(struct jsonw *w, struct str key);

/* Where the distance is in a hit's sort values; -1: nowhere, none was asked for. */
int rules_distance_at(const struct hotel_params *p);

#endif
