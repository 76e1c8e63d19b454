#include "engine/analysis/dict/dictionary.h"

#include <stdlib.h>

/* The dictionary whose image was opened, or not: then nothing is left. */
static enum err dictionary_finish(struct dictionary **out, struct dictionary *d, enum err opened)
{
    if (opened != ERR_OK) {
        free(d);
        return opened;
    }
    for (uint16_t i = 1; i <= DICTIONARY_LISTS; i++) {
        d->lists[i] = dat_step(&d->dat, DAT_ROOT, i);
    }
    atomic_init(&d->refs, 1);
    *out = d;
    return ERR_OK;
}

enum err dictionary_of(struct dictionary **out, const struct dictionary_kind *k, struct lexicon *words,
                       struct errmsg *em)
{
    struct dictionary *d = calloc(1, sizeof(*d));
    *out = NULL;
    if (d == NULL) {
        return err_no_memory(em);
    }
    return dictionary_finish(out, d, lexicon_open(words, k->image, &d->image, &d->dat, em));
}

enum err dictionary_open(struct dictionary **out, const struct dictionary_kind *k, const struct fs *fs,
                         const char *path, struct errmsg *em)
{
    struct dictionary *d = calloc(1, sizeof(*d));
    *out = NULL;
    if (d == NULL) {
        return err_no_memory(em);
    }
    return dictionary_finish(out, d, image_open(&d->image, &d->dat, fs, path, k->image, em));
}

static enum err gather(struct sources *s, const struct dictionary_kind *k, const struct fs *fs,
                       const char *path_conf, struct buf *warnings, struct arena *arena, struct errmsg *em)
{
    enum err e = sources_init(s, fs, path_conf, k->folder, warnings, arena, em);
    return e == ERR_OK ? k->gather(s, em) : e;
}

struct reader {
    const struct dictionary_kind *kind;
    const struct sources *sources;
    struct lexicon *words;
};

static enum err add_words(void *self, uint16_t list, struct str text, struct errmsg *em)
{
    const struct reader *r = self;
    return r->kind->add(r->sources, r->words, list, text, em);
}

enum err dictionary_load(struct dictionary **out, const struct dictionary_kind *k, const struct fs *fs,
                         const char *path_conf, struct buf *warnings, struct errmsg *em)
{
    struct arena arena;
    struct sources s;
    struct lexicon words;
    *out = NULL;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    lexicon_init(&words);
    enum err e = gather(&s, k, fs, path_conf, warnings, &arena, em);
    e = e == ERR_OK ? sources_read(&s, add_words, &(struct reader){k, &s, &words}, em) : e;
    e = e == ERR_OK ? dictionary_of(out, k, &words, em) : e;
    lexicon_fini(&words);
    arena_fini(&arena);
    return e;
}

enum err dictionary_present(const struct dictionary_kind *k, const struct fs *fs, const char *path_conf,
                            bool *present, struct errmsg *em)
{
    struct arena arena;
    struct sources s;
    *present = false;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    enum err e = sources_init(&s, fs, path_conf, k->folder, NULL, &arena, em);
    e = e == ERR_OK ? sources_exists(&s, k->main, present, em) : e;
    arena_fini(&arena);
    return e;
}

enum err dictionary_fingerprint(const struct dictionary_kind *k, const struct fs *fs, const char *path_conf,
                                uint64_t *out, struct errmsg *em)
{
    bool present;
    *out = 0;
    enum err e = dictionary_present(k, fs, path_conf, &present, em);
    if (e != ERR_OK || !present) {
        return e;
    }
    struct arena arena;
    struct sources s;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    e = gather(&s, k, fs, path_conf, NULL, &arena, em);
    e = e == ERR_OK ? sources_fingerprint(&s, out, em) : e;
    arena_fini(&arena);
    return e;
}

struct dictionary *dictionary_ref(struct dictionary *d)
{
    if (d != NULL) {
        atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
    }
    return d;
}

void dictionary_unref(struct dictionary *d)
{
    if (d != NULL && atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) == 1) {
        image_close(&d->image);
        free(d);
    }
}
