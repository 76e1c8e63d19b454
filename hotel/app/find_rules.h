/* find_rules.h - the searches of the page: what was understood becomes filters, other words are all wanted, or some of them.
 *
 * Pure; any thread. Bodies are appended to `out`; check out->failed once. */
#ifndef HOTEL_APP_FIND_RULES_H
#define HOTEL_APP_FIND_RULES_H

#include "hotel/app/params.h"
#include "hotel/app/understand.h"

struct choice { /* values of a field, one of which a hotel has; n == 0: any */
    const struct str *v;
    size_t n;
};

struct find_query {
    const struct hotel_params *params;
    struct choice
        chosen[VALUE_KINDS_N]; /* by the guest; what a key says of the same kind does not count then */
    const struct understanding *key;
    struct str highlight; /* what is marked; n == 0: nothing */
    bool some;            /* some of what the key says is enough, and nearly so */
    bool facets;
};

/* Does the key's value count? */
bool find_value_counts(const struct find_query *q, const struct lex_value *v);
/* The page of hotels, with facets. */
void find_rules_search(struct buf *out, const struct find_query *q);
/* How many hotels have each word of a key, whatever else it says: aggregation "words" of filters. */
void find_rules_words(struct buf *out, const struct understanding *key);
/* Where the distance is in a hit's sort values; -1: nowhere. */
int find_rules_distance_at(const struct find_query *q);

#endif
