/* sources.h - the text files that a dictionary is made of, and the fingerprint by which changes are noticed.
 */
#ifndef ENGINE_ANALYSIS_DICT_SOURCES_H
#define ENGINE_ANALYSIS_DICT_SOURCES_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/fs.h"

struct source {
    const char *path; /* in the arena */
    uint16_t list;    /* the kind of its lines */
};

struct sources {
    struct arena *arena;  /* borrowed */
    const struct fs *fs;  /* borrowed */
    const char *folder;   /* in the arena */
    struct buf *warnings; /* a line each; may be NULL */
    struct source *v;
    size_t n, cap;
};

/* folder: <path_conf>/<name>. */
enum err sources_init(struct sources *s, const struct fs *fs, const char *path_conf, const char *name,
                      struct buf *warnings, struct arena *arena, struct errmsg *em);
/* Is there a file of this name in the folder? */
enum err sources_exists(const struct sources *s, const char *name, bool *exists, struct errmsg *em);
/* Adds a file of the folder. When it is absent: ERR_IO if it is `needed`, else a warning. */
enum err sources_add(struct sources *s, uint16_t list, struct str name, bool needed, struct errmsg *em);
/* Adds a file, or all files below a folder, that a configuration names. Names that lead out of the folder and
 * files that are absent give warnings. */
enum err sources_add_named(struct sources *s, uint16_t list, struct str name, struct errmsg *em);
/* Calls fn with the text of each source in order. Stops at the first error. */
enum err sources_read(const struct sources *s,
                      enum err (*fn)(void *self, uint16_t list, struct str text, struct errmsg *em),
                      void *self, struct errmsg *em);
/* Of the names, sizes and contents; never 0. */
enum err sources_fingerprint(const struct sources *s, uint64_t *out, struct errmsg *em);
/* Adds a line to the warnings. */
void sources_warn(const struct sources *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
