/* http_site.h - the check of the web page from which a request comes.
 *
 * A browser sends what any page asks it to, with the rights of the machine that it runs on. It says so: such
 * requests have Origin or Sec-Fetch-* headers. They are taken when the page is the server's own (Origin names
 * Host), and Host is a name by which the server may be called: else a page whose name was made to lead here
 * would be its own. Names are: addresses, "localhost" and below, this machine's name, and those given.
 * Clients that are no browsers are not bothered. Pure but for the machine's name. */
#ifndef SYS_HTTP_SITE_H
#define SYS_HTTP_SITE_H

#include "common/base/arena.h"
#include "common/base/settings.h"
#include "common/sys/http.h"

struct http_site {
    const struct str *hosts; /* further names of the server, without ports */
    size_t hosts_n;
    const struct str
        *origins; /* "https://shop.example:8443" of pages elsewhere whose requests are taken; "*": all */
    size_t origins_n;
    struct str methods, headers, max_age; /* the answer to a preflight from there */
    bool credentials;
    const char *pages; /* paths that begin so are pages; NULL: all are */
};

enum http_site_says {
    SITE_OWN,     /* no browser's, or a page's of this server */
    SITE_SHARED,  /* of a page in `origins`: the answer has the header for it */
    SITE_FOREIGN, /* to be refused */
};

/* Of a request; links on pages elsewhere may lead to pages here: a navigation with GET to one is fine. */
enum http_site_says http_site_check(const struct http_site *site, enum http_verb method, struct str path,
                                    const struct http_header *headers, size_t n);

/* http.cors.* (the hosts of allow-origin are names of the server too), http.publish_host, network.publish_host. Texts in arena. ERR_ILLEGAL_ARGUMENT, ERR_NO_MEMORY. */
enum err http_site_from(struct http_site *out, const struct settings *s, struct arena *arena,
                        struct errmsg *em);

#endif
