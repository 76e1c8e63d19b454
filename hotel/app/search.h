/* search.h - the application's calls to the search service: one client a loop, keep-alive connections,
 * time-outs.
 *
 * Knows addresses and failures, not what is asked. On its loop's thread. */
#ifndef HOTEL_APP_SEARCH_H
#define HOTEL_APP_SEARCH_H

#include "common/base/arena.h"
#include "common/sys/http_client.h"
#include "hotel/config.h"

struct search;

/* config is borrowed. */
enum err search_service_new(struct search **out, struct loop *loop, const struct hotel_config *config,
                            struct errmsg *em);
void search_service_free(struct search *s); /* NULL ok; calls under way are dropped */

/* Sends to <search.url>/<index>/<action>; an empty body makes it a GET, else a POST. It may come to several nodes: one that does
 * not answer, or says 502 to 504, is followed by the next one, each with its part of search.timeout. So it must not matter
 * whether it is done twice. What has the same preference (STR_NULL: none; no '_' in front) is answered by the same copies
 * while they are there. done() comes once, later, with the last answer. Texts are copied into the arena, which lives until
 * then. */
enum err search_call(struct search *s, const char *action, struct str preference, struct str body,
                     struct arena *arena, void (*done)(void *arg, const struct http_reply *reply), void *arg,
                     struct errmsg *em);

/* Why a reply is no answer, for people who cannot see the search service (its address is not named); ERR_OK
 * when it is one. ERR_IO, ERR_TIMEOUT, ERR_INDEX_NOT_FOUND, ERR_REJECTED. */
enum err search_failure(const struct http_reply *reply, struct errmsg *em);

#endif
