#include "common/base/web_files.h"

const struct web_file *web_file(const struct web_files *files, struct str name)
{
    for (size_t i = 0; i < files->n; i++) {
        if (str_is(name, files->v[i].name)) {
            return &files->v[i];
        }
    }
    return NULL;
}
