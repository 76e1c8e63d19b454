/* config.h - the settings of the hotel services and their commands, gathered and checked. Start-up only.
 *
 * Later ones win: defaults, the YAML file (--config), the environment (SERAI_HOTEL_SEARCH_URL for search.url
 * ...), the command line. docs/hotel.md lists them. */
#ifndef HOTEL_CONFIG_H
#define HOTEL_CONFIG_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/sys/http_site.h"
#include "hotel/services.h"

struct hotel_config {        /* texts are in the arena given to config_read() */
    struct str *search_urls; /* of nodes, at least one: "http://127.0.0.1:9200", without a '/' at the end */
    uint32_t search_urls_n;
    struct str index; /* checked by index_name_ok() */
    int64_t search_ms_max;
    int64_t connect_ms_max;
    unsigned connections_max; /* to the search service, a thread */
    struct str host;          /* to listen on */
    const char *port;         /* "8089" */
    struct http_site site;    /* names by which pages may call the program, and pages elsewhere that may */
    unsigned threads;
    enum log_level log_level;
    bool has_mysql, has_rabbitmq; /* are they configured? */
    struct service_url mysql, rabbitmq;
    int64_t mysql_ms_max, rabbitmq_ms_max;
    unsigned mysql_connections_max;
    unsigned prefetch; /* messages of a queue that the synchronisation has in its hands at once */
};

struct config_args { /* what was no setting */
    struct str *v;   /* the command and its arguments, in order */
    size_t n;
    bool help, version;
};

#define CONFIG_SEARCH_PORT "8089" /* where the programs listen, unless told otherwise */
#define CONFIG_ADMIN_PORT  "8099"

/* argv without the program's name. ERR_ILLEGAL_ARGUMENT with a reason for people; ERR_IO for the file. */
enum err config_read(struct hotel_config *out, struct config_args *args, const char *port_default, int argc,
                     char *const *argv, const char *const *environ_, struct arena *arena, struct errmsg *em);

#endif
