/* web_files.h - files of web pages that are compiled into a program (tools/embed.c writes the tables). */
#ifndef BASE_WEB_FILES_H
#define BASE_WEB_FILES_H

#include "common/base/str.h"

struct web_file {
    const char *name; /* "app.js" */
    const char *type; /* its content type */
    const char *etag; /* quoted, weak: the server may pack what it sends */
    const unsigned char *bytes;
    size_t bytes_n;
};

struct web_files {
    const struct web_file *v;
    size_t n;
};

/* NULL: there is none of this name. */
const struct web_file *web_file(const struct web_files *files, struct str name);

#endif
