/* find_answer.h - the answers of the page's own requests. Pure; any thread; errors as answer.h's. */
#ifndef HOTEL_APP_FIND_ANSWER_H
#define HOTEL_APP_FIND_ANSWER_H

#include "hotel/app/complete.h"
#include "hotel/app/find_rules.h"

/* How the hotels were found. */
enum find_match { FIND_ALL, FIND_CORRECTED, FIND_SOME };

struct found {
    const struct find_query *query;
    struct str reply;     /* the search service's */
    struct str corrected; /* the key as it may have been meant; n == 0: as it is */
    struct str search;    /* the search that was made, told to those who ask; n == 0: not */
    enum find_match match;
};

/* {"total":..,"hotels":[..],"match":"all","didYouMean":null,"understood":[..],"words":[..],"facets":{..}} */
enum err find_answer(struct buf *out, const struct found *f, struct arena *arena, struct errmsg *em);
/* How many hits a reply has. */
enum err find_answer_total(struct str reply, struct arena *arena, int64_t *total, struct errmsg *em);
/* The numbers of hotels of n words. */
enum err find_answer_words(struct str reply, struct arena *arena, int64_t *hotels, size_t n,
                           struct errmsg *em);
/* [{"text":..,"kind":..,"count":..}], completions and then hotels of the reply, at most `hotels`. */
enum err find_answer_completions(struct buf *out, const struct completion *v, size_t n, size_t hotels,
                                 struct str reply, struct arena *arena, struct errmsg *em);

#endif
