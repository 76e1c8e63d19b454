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

static enum err load_ik(struct dictionaries *d, const struct fs *fs, const char *path_conf,
                        const char *share_dir, struct buf *warnings, struct errmsg *em)
{
    bool present = false;
    char path[1024];
    if (path_conf != NULL && ik_dictionary_present(fs, path_conf, &present, em) == ERR_OK && present) {
        /* First, so that a change during the loading is seen as one. */
        enum err e = ik_dictionary_fingerprint(fs, path_conf, &d->ik_fingerprint, em);
        return e == ERR_OK ? ik_dictionary_load(&d->ik, fs, path_conf, warnings, em) : e;
    }
    snprintf(path, sizeof(path), "%s/%s", share_dir != NULL ? share_dir : ".", IK_COMPILED_NAME);
    return ik_dictionary_open(&d->ik, fs, path, em);
}

static enum err load_pinyin(struct dictionaries *d, const struct fs *fs, const char *path_conf,
                            const char *share_dir, struct buf *warnings, struct errmsg *em)
{
    bool present = false;
    char path[1024];
    if (path_conf != NULL && pinyin_dictionary_present(fs, path_conf, &present, em) == ERR_OK && present) {
        enum err e = pinyin_dictionary_fingerprint(fs, path_conf, &d->pinyin_fingerprint, em);
        return e == ERR_OK ? pinyin_dictionary_load(&d->pinyin, fs, path_conf, warnings, em) : e;
    }
    snprintf(path, sizeof(path), "%s/%s", share_dir != NULL ? share_dir : ".", PINYIN_COMPILED_NAME);
    return pinyin_dictionary_open(&d->pinyin, fs, path, em);
}

enum err dictionaries_load(struct dictionaries *d, const struct fs *fs, const char *path_conf,
                           const char *share_dir, const struct log *log, struct errmsg *em)
{
    struct buf warnings;
    *d = (struct dictionaries){0};
    buf_init(&warnings, NULL, 64 * KIB);
    enum err e = load_ik(d, fs, path_conf, share_dir, &warnings, em);
    e = e == ERR_OK ? load_pinyin(d, fs, path_conf, share_dir, &warnings, em) : e;
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
    enum err e = ik_dictionary_fingerprint(fs, path_conf, &ik, em);
    e = e == ERR_OK ? pinyin_dictionary_fingerprint(fs, path_conf, &pinyin, em) : e;
    if (e == ERR_OK) {
        *changed = ik != d->ik_fingerprint || pinyin != d->pinyin_fingerprint;
        d->ik_fingerprint = ik;
        d->pinyin_fingerprint = pinyin;
    }
    return e;
}

void dictionaries_fini(struct dictionaries *d)
{
    ik_dictionary_unref(d->ik);
    pinyin_dictionary_unref(d->pinyin);
    *d = (struct dictionaries){0};
}
