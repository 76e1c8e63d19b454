/* conf.h - the settings of a process, gathered from all their sources. Start-up only, one thread.
 *
 * Later ones win: built-in defaults, the YAML file, the environment, `-E name=value`. In the file keys may
 * nest or be dotted, lists are lists, `${NAME}` and `${NAME:otherwise}` stand for environment variables. In
 * the environment count names with a dot in lower case ("http.port=9201", as the container images of
 * Elasticsearch take them) and SERAI_SETTING_ names, where
 * '_' is a dot and "__" an underscore (SERAI_SETTING_HTTP_PORT). An unknown setting is refused, and the error names its
 * place. */
#ifndef SYS_CONF_H
#define SYS_CONF_H

#include "common/base/fs.h"
#include "common/base/settings.h"

#define CONF_FILE_BYTES_MAX MIB

struct conf_default {
    const char *name, *value;
};

struct conf_opts {
    const struct conf_default *defaults;
    size_t defaults_n;
    const struct fs *fs;         /* for the file */
    const char *file;            /* NULL: none */
    bool file_optional;          /* absent is fine */
    const char *const *environ_; /* "NAME=value", NULL at the end; NULL: none */
    const char *env_prefix;      /* of the variables that count, instead of SERAI_SETTING_ and dotted names */
    /* Command line without the program's name. */
    int argc;
    char *const *argv;
    /* Names that exist; one that ends in "*" stands for all that begin so. NULL: everything. */
    const char *const *known;
    size_t known_n;
};

/* Fills out (its arena holds everything). *rest, *rest_n (may be NULL): arguments that are not -E, in order.
 * ERR_ILLEGAL_ARGUMENT: "serai.yml:12: unknown setting [htp.port], did you mean [http.port]?". */
enum err conf_load(struct settings *out, const struct conf_opts *opts, struct str **rest, size_t *rest_n,
                   struct errmsg *em);

/* The file alone: text as YAML into out; `name` is for errors; environ_ as above, for ${NAME}. */
enum err conf_yaml(struct settings *out, struct str text, const char *name, const char *const *environ_,
                   struct errmsg *em);

#endif
