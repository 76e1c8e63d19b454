#include "common/sys/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

struct tls {
    SSL_CTX *context;
    bool server;
    bool verify_host;
};

static enum err refused(struct errmsg *em, const char *what, const char *file)
{
    char text[160];
    ERR_error_string_n(ERR_get_error(), text, sizeof(text));
    ERR_clear_error();
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s [%s]: %s", what, file != NULL ? file : "", text);
}

static enum err set_version(SSL_CTX *c, const char *least, struct errmsg *em)
{
    int version = least == NULL || strcmp(least, "TLSv1.2") == 0 ? TLS1_2_VERSION
                  : strcmp(least, "TLSv1.3") == 0                ? TLS1_3_VERSION
                                                                 : 0;
    if (version == 0 || SSL_CTX_set_min_proto_version(c, version) != 1) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "no such TLS version [%s]", least);
    }
    return ERR_OK;
}

static enum err set_own(SSL_CTX *c, const struct tls_opts *o, struct errmsg *em)
{
    if (o->certificate == NULL) {
        return ERR_OK;
    }
    if (SSL_CTX_use_certificate_chain_file(c, o->certificate) != 1) {
        return refused(em, "cannot use the certificate", o->certificate);
    }
    if (SSL_CTX_use_PrivateKey_file(c, o->key, SSL_FILETYPE_PEM) != 1) {
        return refused(em, "cannot use the key", o->key);
    }
    return SSL_CTX_check_private_key(c) == 1 ? ERR_OK : refused(em, "not the certificate's key", o->key);
}

static enum err set_peers(SSL_CTX *c, const struct tls_opts *o, bool server, struct errmsg *em)
{
    if (o->authorities != NULL) {
        if (SSL_CTX_load_verify_locations(c, o->authorities, NULL) != 1) {
            return refused(em, "cannot use the authorities", o->authorities);
        }
        if (server) { /* a browser picks its certificate by these names */
            SSL_CTX_set_client_CA_list(c, SSL_load_client_CA_file(o->authorities));
        }
    } else if (!server && SSL_CTX_set_default_verify_paths(c) != 1) {
        return refused(em, "cannot use the system's authorities", NULL);
    }
    int mode = o->verify == TLS_VERIFY_NONE       ? SSL_VERIFY_NONE
               : o->verify == TLS_VERIFY_REQUIRED ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                                                  : SSL_VERIFY_PEER;
    SSL_CTX_set_verify(c, mode, NULL);
    return ERR_OK;
}

static enum err tls_new(struct tls **out, const struct tls_opts *o, bool server, struct errmsg *em)
{
    *out = NULL;
    struct tls *t = calloc(1, sizeof(*t));
    SSL_CTX *c = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
    if (t == NULL || c == NULL) {
        free(t);
        SSL_CTX_free(c);
        return err_no_memory(em);
    }
    t->context = c;
    t->server = server;
    t->verify_host = !server && o->verify != TLS_VERIFY_NONE;
    SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_session_id_context(c, (const unsigned char *)"serai", 5);
    enum err e = set_version(c, o->version_min, em);
    e = e != ERR_OK ? e : set_own(c, o, em);
    e = e != ERR_OK ? e : set_peers(c, o, server, em);
    if (e != ERR_OK) {
        tls_free(t);
        return e;
    }
    *out = t;
    return ERR_OK;
}

enum err tls_server_new(struct tls **out, const struct tls_opts *opts, struct errmsg *em)
{
    *out = NULL;
    if (opts->certificate == NULL || opts->key == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "a server needs a certificate and its key");
    }
    return tls_new(out, opts, true, em);
}

enum err tls_client_new(struct tls **out, const struct tls_opts *opts, struct errmsg *em)
{
    return tls_new(out, opts, false, em);
}

void tls_free(struct tls *t)
{
    if (t != NULL) {
        SSL_CTX_free(t->context);
        free(t);
    }
}

struct ssl_st *tls_session(const struct tls *t, const char *host)
{
    SSL *s = SSL_new(t->context);
    if (s == NULL || t->server || host == NULL) {
        return s;
    }
    X509_VERIFY_PARAM *param = SSL_get0_param(s);
    bool is_address = X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
    bool ok = is_address || SSL_set_tlsext_host_name(s, host) == 1;
    if (ok && t->verify_host && !is_address) {
        ok = X509_VERIFY_PARAM_set1_host(param, host, 0) == 1;
    }
    if (!ok) {
        SSL_free(s);
        return NULL;
    }
    return s;
}

void tls_session_free(struct ssl_st *s)
{
    SSL_free(s);
}
