#include "node/dictionaries.h"

#include "engine/analysis/ik.h"
#include "engine/analysis/pinyin.h"

#include <stdio.h>

static void log_warnings(const struct log *log, struct buf *w)
{
    struct str rest = buf_view(w);
    while (rest.n > 0) {
        struct str line = str_cut(rest, '\n', &rest);
        if (line.n > 0) {
            log_warn(log, "analysis", "%.*s", STR_ARG(line));
        }
    }
    buf_reset(w);
}

static enum err load_kind(struct dictionary **out, uint64_t *fingerprint, const struct dictionary_kind *k,
                          const struct fs *fs, const char *path_conf, const char *share_dir,
                          struct buf *warnings, struct errmsg *em)
{
    bool present = false;
    char path[1024];
    if (path_conf != NULL && dictionary_present(k, fs, path_conf, &present, em) == ERR_OK && present) {
        /* First, so that a change during the loading is seen as one. */
        enum err e = dictionary_fingerprint(k, fs, path_conf, fingerprint, em);
        return e == ERR_OK ? dictionary_load(out, k, fs, path_conf, warnings, em) : e;
    }
    snprintf(path, sizeof(path), "%s/%s", share_dir != NULL ? share_dir : ".", k->compiled);
    return dictionary_open(out, k, fs, path, em);
}

enum err dictionaries_load(struct dictionaries *d, const struct fs *fs, const char *path_conf,
                           const char *share_dir, const struct log *log, struct errmsg *em)
{
    struct buf warnings;
    *d = (struct dictionaries){0};
    buf_init(&warnings, NULL, 64 * KIB);
    enum err e =
        load_kind(&d->ik, &d->ik_fingerprint, &dictionary_ik, fs, path_conf, share_dir, &warnings, em);
    e = e == ERR_OK ? load_kind(&d->pinyin, &d->pinyin_fingerprint, &dictionary_pinyin, fs, path_conf,
                                share_dir, &warnings, em)
                    : e;
    log_warnings(log, &warnings);
    buf_fini(&warnings);
    if (e != ERR_OK) {
        dictionaries_fini(d);
    }
    return e;
}

enum err dictionaries_changed(struct dictionaries *d, const struct fs *fs, const char *path_conf,
                              bool *changed, struct errmsg *em)
{
    uint64_t ik = 0, pinyin = 0;
    *changed = false;
    if (path_conf == NULL) {
        return ERR_OK;
    }
    enum err e = dictionary_fingerprint(&dictionary_ik, fs, path_conf, &ik, em);
    e = e == ERR_OK ? dictionary_fingerprint(&dictionary_pinyin, fs, path_conf, &pinyin, em) : e;
    if (e == ERR_OK) {
        *changed = ik != d->ik_fingerprint || pinyin != d->pinyin_fingerprint;
        d->ik_fingerprint = ik;
        d->pinyin_fingerprint = pinyin;
    }
    return e;
}

void dictionaries_fini(struct dictionaries *d)
{
    dictionary_unref(d->ik);
    dictionary_unref(d->pinyin);
    *d = (struct dictionaries){0};
}
