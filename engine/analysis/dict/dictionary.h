/* dictionary.h - the words of a plugin: IK's (engine/analysis/ik.h) or pinyin's (engine/analysis/pinyin.h).
 *
 * A dictionary is immutable and reference-counted: whoever analyses keeps the one it began with while a new
 * one takes its place. It comes from the plugin's own text files in a configuration folder, or from a compiled
 * file that is mapped in milliseconds. It never reads anything over the network. Loading blocks; everything
 * else may run on any thread. */
#ifndef ENGINE_ANALYSIS_DICT_DICTIONARY_H
#define ENGINE_ANALYSIS_DICT_DICTIONARY_H

#include "engine/analysis/dict/lexicon.h"
#include "engine/analysis/dict/sources.h"

#include <stdatomic.h>

#define DICTIONARY_LISTS 3

struct dictionary {
    struct dat dat;
    uint32_t lists
        [1 + DICTIONARY_LISTS]; /* by number: the state that each list's words start from; 0: it is empty */
    struct image image;
    atomic_uint refs;
};

struct dictionary_kind {
    enum image_kind image;
    const char *folder;   /* below path.conf */
    const char *main;     /* the file that makes it a dictionary */
    const char *compiled; /* the compiled file's name */
    /* Adds the files of the folder. */
    enum err (*gather)(struct sources *s, struct errmsg *em);
    /* Adds the words of a file's text. */
    enum err (*add)(const struct sources *s, struct lexicon *words, uint16_t list, struct str text,
                    struct errmsg *em);
};

/* *present: does the folder hold the main file? */
enum err dictionary_present(const struct dictionary_kind *k, const struct fs *fs, const char *path_conf,
                            bool *present, struct errmsg *em);
/* Reads the folder's files. What was left out (files that are missing, remote dictionaries) goes as one line of
 * text each into `warnings` (initialised by the caller; may be NULL). ERR_IO, ERR_NO_MEMORY,
 * ERR_ILLEGAL_ARGUMENT for a configuration file that is none. */
enum err dictionary_load(struct dictionary **out, const struct dictionary_kind *k, const struct fs *fs,
                         const char *path_conf, struct buf *warnings, struct errmsg *em);
/* Maps a compiled dictionary; fs must outlive it. ERR_IO, ERR_CORRUPT. */
enum err dictionary_open(struct dictionary **out, const struct dictionary_kind *k, const struct fs *fs,
                         const char *path, struct errmsg *em);
/* Makes a dictionary of gathered words, or takes the words and gives their image (for the compiler). */
enum err dictionary_of(struct dictionary **out, const struct dictionary_kind *k, struct lexicon *words,
                       struct errmsg *em);
/* Changes when a file that dictionary_load would read changes: names, sizes and contents. Reads them all, a few
 * milliseconds. 0 when the folder has no main file. */
enum err dictionary_fingerprint(const struct dictionary_kind *k, const struct fs *fs, const char *path_conf,
                                uint64_t *out, struct errmsg *em);

/* NULL ok; thread-safe. */
struct dictionary *dictionary_ref(struct dictionary *d);
void dictionary_unref(struct dictionary *d);

#endif
