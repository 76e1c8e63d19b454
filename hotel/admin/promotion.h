/* promotion.h - the mark isAD, which the index alone has: shown and set through the search service.
 *
 * On the loop's thread. */
#ifndef HOTEL_ADMIN_PROMOTION_H
#define HOTEL_ADMIN_PROMOTION_H

#include "hotel/admin/routes.h"

/* PUT /hotel/{id}/promotion {"isAD":true} -> {"id":..,"isAD":true}; 404 for a hotel that is not indexed. */
void promotion_set(struct admin_routes *r, struct http_request *req, int64_t id);
/* GET /hotel/promotions?ids=1,2 -> {"indexed":["1","2"],"promoted":["2"]} */
void promotion_list(struct admin_routes *r, struct http_request *req);

#endif
