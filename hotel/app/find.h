/* find.h - the page's own requests: POST /hotel/find, GET /hotel/complete.
 *
 * A find is one search where its words are all found. Where little is found, words that nothing knows are compared with the
 * names there are, by pinyin and by letters; where nothing is found, the search is made with them, or with some of the words.
 * On the request's loop. */
#ifndef HOTEL_APP_FIND_H
#define HOTEL_APP_FIND_H

#include "hotel/app/service.h"

void find_handle(struct routes *r, struct http_request *req);
void find_complete(struct routes *r, struct http_request *req);

#endif
