/* search.h - the application's calls to the search service: one client a loop, keep-alive connections,
 * time-outs.
 *
 * Knows addresses and failures, not what is asked. On its loop's thread. */
#ifndef HOTEL_APP_SEARCH_H
#define HOTEL_APP_SEARCH_H

#include "common/sys/http_client.h"
#include "hotel/config.h"

struct search;

/* config is borrowed. */
enum err search_service_new(struct search **out, struct loop *loop, const struct hotel_config *config,
                            struct errmsg *em);
void search_service_free(struct search *s); /* NULL ok; calls under way are dropped */

/* Sends to <search.url>/<index>/<action>; an empty body makes it a GET, else a POST, that may be repeated:
 * searches change nothing. done() comes once, later. Texts are copied. */
enum err search_call(struct search *s, const char *action, struct str body,
                     void (*done)(void *arg, const struct http_reply *reply), void *arg, struct errmsg *em);

/* Why a reply is no answer, for people who cannot see the search service (its address is not named); ERR_OK
 * when it is one. ERR_IO, ERR_TIMEOUT, ERR_INDEX_NOT_FOUND, ERR_REJECTED. */
enum err search_failure(const struct http_reply *reply, struct errmsg *em);

#endif
