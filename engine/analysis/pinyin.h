/* pinyin.h - Chinese as pinyin: the plugin's token filter, tokenizer and analyzer, and the table of readings.
 *
 * The dictionary has the first reading of each character, phrases whose readings differ from that, and the
 * syllables by which Latin letters are split. Immutable and reference-counted, like IK's (ik.h), with the
 * same two origins. */
#ifndef ENGINE_ANALYSIS_PINYIN_H
#define ENGINE_ANALYSIS_PINYIN_H

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "engine/analysis/component.h"

/* The folder below path.conf, and the compiled file's name. */
#define PINYIN_CONFIG_FOLDER "analysis-pinyin"
#define PINYIN_COMPILED_NAME "pinyin.dict"

/* *present: does <path_conf>/analysis-pinyin hold a table of readings? */
enum err pinyin_dictionary_present(const struct fs *fs, const char *path_conf, bool *present,
                                   struct errmsg *em);
/* Reads <path_conf>/analysis-pinyin: pinyin.txt (must be there), polyphone.txt, pinyin_alphabet.dict.
 * `warnings` as in ik_dictionary_load. ERR_IO, ERR_NO_MEMORY. */
enum err pinyin_dictionary_load(struct pinyin_dictionary **out, const struct fs *fs, const char *path_conf,
                                struct buf *warnings, struct errmsg *em);
/* Maps a compiled dictionary; fs must outlive it. ERR_IO, ERR_CORRUPT. */
enum err pinyin_dictionary_open(struct pinyin_dictionary **out, const struct fs *fs, const char *path,
                                struct errmsg *em);
/* Changes when a file that pinyin_dictionary_load would read changes. 0 when there is no table. */
enum err pinyin_dictionary_fingerprint(const struct fs *fs, const char *path_conf, uint64_t *out,
                                       struct errmsg *em);

struct pinyin_dictionary *pinyin_dictionary_ref(struct pinyin_dictionary *d);
void pinyin_dictionary_unref(struct pinyin_dictionary *d); /* NULL ok; thread-safe */
uint64_t pinyin_dictionary_hash(const struct pinyin_dictionary *d);

/* Token filter of type "pinyin" and tokenizer of type "pinyin" or "pinyin_first_letter" (which takes no
 * options), with all the options of the plugin. The analyzer "pinyin" is the tokenizer alone.
 * ERR_ILLEGAL_STATE when env has no pinyin dictionary, ERR_CONFIG_ERROR when the options leave nothing to
 * emit. */
enum err pinyin_filter_new(const struct token_filter **out, struct str name, const struct settings *s,
                           const struct analysis_env *env, struct arena *arena, struct errmsg *em);
enum err pinyin_tokenizer_new(const struct tokenizer **out, struct str name, const struct settings *s,
                              const struct analysis_env *env, struct arena *arena, struct errmsg *em);

#endif
