/* dictionaries.h - the dictionaries of the node: files in path.conf, else those that come with
 * it. */
#ifndef NODE_DICTIONARIES_H
#define NODE_DICTIONARIES_H

#include "common/base/fs.h"
#include "common/base/log.h"
#include "engine/analysis/component.h"

struct dictionaries {
    struct dictionary *ik, *pinyin;              /* references */
    uint64_t ik_fingerprint, pinyin_fingerprint; /* of the files; 0: the shipped ones are in use */
};

/* path_conf and share_dir may be NULL. ERR_IO when neither place has one. */
enum err dictionaries_load(struct dictionaries *d, const struct fs *fs, const char *path_conf,
                           const char *share_dir, const struct log *log, struct errmsg *em);
/* Have the files changed since they were loaded, or since the last call? An error may be a file that is half
 * written. */
enum err dictionaries_changed(struct dictionaries *d, const struct fs *fs, const char *path_conf,
                              bool *changed, struct errmsg *em);
void dictionaries_fini(struct dictionaries *d);

#endif
