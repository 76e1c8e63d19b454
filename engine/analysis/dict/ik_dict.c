#include "engine/analysis/dict/ik_dict.h"

#include "engine/analysis/dict/sources.h"
#include "engine/analysis/dict/xml_properties.h"

#include <stdlib.h>

#define MAIN_FILE   "main.dic"
#define CONFIG_FILE "IKAnalyzer.cfg.xml"
#define CONFIG_LIST \
    0 /* the configuration among the sources: it counts for the fingerprint, and has no words */

/* The dictionary whose image was opened, or not: then nothing is left. */
static enum err ik_dict_finish(struct ik_dictionary **out, struct ik_dictionary *d, enum err opened)
{
    if (opened != ERR_OK) {
        free(d);
        return opened;
    }
    d->main = dat_step(&d->dat, DAT_ROOT, IK_MAIN);
    d->quantifier = dat_step(&d->dat, DAT_ROOT, IK_QUANTIFIER);
    d->stop = dat_step(&d->dat, DAT_ROOT, IK_STOP);
    atomic_init(&d->refs, 1);
    *out = d;
    return ERR_OK;
}

enum err ik_dictionary_of(struct ik_dictionary **out, struct lexicon *words, struct errmsg *em)
{
    struct ik_dictionary *d = calloc(1, sizeof(*d));
    *out = NULL;
    if (d == NULL) {
        return err_no_memory(em);
    }
    return ik_dict_finish(out, d, lexicon_open(words, IMAGE_IK, &d->image, &d->dat, em));
}

enum err ik_dictionary_open(struct ik_dictionary **out, const struct fs *fs, const char *path,
                            struct errmsg *em)
{
    struct ik_dictionary *d = calloc(1, sizeof(*d));
    *out = NULL;
    if (d == NULL) {
        return err_no_memory(em);
    }
    return ik_dict_finish(out, d, image_open(&d->image, &d->dat, fs, path, IMAGE_IK, em));
}

/* The files that a ";"-separated list names. */
static enum err add_named(struct sources *s, uint16_t list, struct str names, struct errmsg *em)
{
    enum err e = ERR_OK;
    while (names.p != NULL && e == ERR_OK) {
        e = sources_add_named(s, list, str_cut(names, ';', &names), em);
    }
    return e;
}

static enum err add_configured(struct sources *s, struct errmsg *em)
{
    bool exists;
    enum err e = sources_exists(s, CONFIG_FILE, &exists, em);
    if (e != ERR_OK || !exists) {
        return e;
    }
    struct str text;
    struct xml_properties props;
    const char *path = arena_printf(s->arena, "%s/%s", s->folder, CONFIG_FILE).p;
    if (path == NULL) {
        return err_no_memory(em);
    }
    e = fs_read_file(s->fs, path, XML_PROPERTIES_BYTES_MAX, s->arena, &text, em);
    if (e == ERR_OK) {
        e = xml_properties_parse(&props, text, s->arena, em);
        e = e == ERR_OK ? e : err_prefix(em, e, "[%s]", path);
    }
    if (e == ERR_OK) {
        e = sources_add(s, CONFIG_LIST, STR(CONFIG_FILE), false, em);
    }
    if (e == ERR_OK) {
        e = add_named(s, IK_MAIN, xml_properties_get(&props, "ext_dict"), em);
    }
    if (e == ERR_OK) {
        e = add_named(s, IK_STOP, xml_properties_get(&props, "ext_stopwords"), em);
    }
    static const char *const remote[] = {"remote_ext_dict", "remote_ext_stopwords"};
    for (size_t i = 0; i < ARRAY_LEN(remote) && e == ERR_OK; i++) {
        if (text_trim(xml_properties_get(&props, remote[i])).n > 0) {
            sources_warn(s, "[%s] is ignored: dictionaries are never fetched", remote[i]);
        }
    }
    return e;
}

static enum err gather(struct sources *s, const struct fs *fs, const char *path_conf, struct buf *warnings,
                       struct arena *arena, struct errmsg *em)
{
    enum err e = sources_init(s, fs, path_conf, IK_CONFIG_FOLDER, warnings, arena, em);
    if (e == ERR_OK) {
        e = sources_add(s, IK_MAIN, STR(MAIN_FILE), true, em);
    }
    if (e == ERR_OK) {
        e = sources_add(s, IK_QUANTIFIER, STR("quantifier.dic"), false, em);
    }
    if (e == ERR_OK) {
        e = sources_add(s, IK_STOP, STR("stopword.dic"), false, em);
    }
    return e == ERR_OK ? add_configured(s, em) : e;
}

static enum err add_words(void *self, uint16_t list, struct str text, struct errmsg *em)
{
    return list == CONFIG_LIST ? ERR_OK : lexicon_add_lines(self, list, text, em);
}

enum err ik_dictionary_load(struct ik_dictionary **out, const struct fs *fs, const char *path_conf,
                            struct buf *warnings, struct errmsg *em)
{
    struct arena arena;
    struct sources s;
    struct lexicon words;
    *out = NULL;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    lexicon_init(&words);
    enum err e = gather(&s, fs, path_conf, warnings, &arena, em);
    if (e == ERR_OK) {
        e = sources_read(&s, add_words, &words, em);
    }
    if (e == ERR_OK) {
        e = ik_dictionary_of(out, &words, em);
    }
    lexicon_fini(&words);
    arena_fini(&arena);
    return e;
}

enum err ik_dictionary_present(const struct fs *fs, const char *path_conf, bool *present, struct errmsg *em)
{
    struct arena arena;
    struct sources s;
    *present = false;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    enum err e = sources_init(&s, fs, path_conf, IK_CONFIG_FOLDER, NULL, &arena, em);
    if (e == ERR_OK) {
        e = sources_exists(&s, MAIN_FILE, present, em);
    }
    arena_fini(&arena);
    return e;
}

enum err ik_dictionary_fingerprint(const struct fs *fs, const char *path_conf, uint64_t *out,
                                   struct errmsg *em)
{
    bool present;
    *out = 0;
    enum err e = ik_dictionary_present(fs, path_conf, &present, em);
    if (e != ERR_OK || !present) {
        return e;
    }
    struct arena arena;
    struct sources s;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    e = gather(&s, fs, path_conf, NULL, &arena, em);
    if (e == ERR_OK) {
        e = sources_fingerprint(&s, out, em);
    }
    arena_fini(&arena);
    return e;
}

struct ik_dictionary *ik_dictionary_ref(struct ik_dictionary *d)
{
    atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
    return d;
}

void ik_dictionary_unref(struct ik_dictionary *d)
{
    if (d != NULL && atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) == 1) {
        image_close(&d->image);
        free(d);
    }
}

uint64_t ik_dictionary_hash(const struct ik_dictionary *d)
{
    return d->image.hash;
}
