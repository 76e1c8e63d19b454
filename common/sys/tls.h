/* tls.h - certificates and keys made into a context for servers and clients. Immutable and shared between
 * threads. */
#ifndef SYS_TLS_H
#define SYS_TLS_H

#include "common/base/err.h"

enum tls_verify { TLS_VERIFY_NONE, TLS_VERIFY_OPTIONAL, TLS_VERIFY_REQUIRED };

struct tls_opts {
    const char *certificate; /* PEM file, with its chain; NULL for a client that shows none */
    const char *key;         /* PEM file */
    const char *authorities; /* PEM file of those trusted; NULL: the system's, for clients */
    enum tls_verify verify;  /* the peer's certificate */
    const char *version_min; /* "TLSv1.2" (default), "TLSv1.3" */
};

struct tls;
struct ssl_st;

/* ERR_ILLEGAL_ARGUMENT for a file that is missing or not what it should be, naming it. */
enum err tls_server_new(struct tls **out, const struct tls_opts *opts, struct errmsg *em);
enum err tls_client_new(struct tls **out, const struct tls_opts *opts, struct errmsg *em);
void tls_free(struct tls *t); /* NULL ok; after every connection that used it */

/* For common/sys alone. host: checked against the certificate when verifying; NULL for servers. NULL: no
 * memory. */
struct ssl_st *tls_session(const struct tls *t, const char *host);
void tls_session_free(struct ssl_st *s); /* one that no connection took over */

#endif
