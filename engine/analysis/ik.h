/* ik.h - segmentation of Chinese as the IK plugin does it: the tokenizers ik_smart and ik_max_word, and their
 * words.
 *
 * A dictionary is immutable and reference-counted: whoever analyses keeps the one it began with while a new
 * one takes its place. It comes from IK's own text files in a configuration folder, or from a compiled file
 * that is mapped in milliseconds. It never reads anything over the network. Loading blocks; everything else
 * may run on any thread. */
#ifndef ENGINE_ANALYSIS_IK_H
#define ENGINE_ANALYSIS_IK_H

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "engine/analysis/component.h"

/* The folder below path.conf, and the compiled file's name. */
#define IK_CONFIG_FOLDER "analysis-ik"
#define IK_COMPILED_NAME "ik.dict"

/* *present: does <path_conf>/analysis-ik hold a main dictionary? */
enum err ik_dictionary_present(const struct fs *fs, const char *path_conf, bool *present, struct errmsg *em);

/* Reads <path_conf>/analysis-ik: main.dic (must be there), quantifier.dic, stopword.dic, and the files that
 * ext_dict and ext_stopwords of IKAnalyzer.cfg.xml name. What was left out (files that are missing, remote
 * dictionaries) goes as one line of text each into `warnings` (initialised by the caller; may be NULL).
 * ERR_IO, ERR_NO_MEMORY, ERR_ILLEGAL_ARGUMENT for a configuration file that is none. */
enum err ik_dictionary_load(struct ik_dictionary **out, const struct fs *fs, const char *path_conf,
                            struct buf *warnings, struct errmsg *em);
/* Maps a compiled dictionary; fs must outlive it. ERR_IO, ERR_CORRUPT. */
enum err ik_dictionary_open(struct ik_dictionary **out, const struct fs *fs, const char *path,
                            struct errmsg *em);
/* Changes when a file that ik_dictionary_load would read changes: names, sizes and contents. Reads them all,
 * a few milliseconds. 0 when the folder has no main dictionary. */
enum err ik_dictionary_fingerprint(const struct fs *fs, const char *path_conf, uint64_t *out,
                                   struct errmsg *em);

struct ik_dictionary *ik_dictionary_ref(struct ik_dictionary *d);
void ik_dictionary_unref(struct ik_dictionary *d); /* NULL ok; thread-safe */
/* Equal for equal words, wherever they came from. */
uint64_t ik_dictionary_hash(const struct ik_dictionary *d);

/* Tokenizers of type "ik_smart" and "ik_max_word" (a tokenizer_factory). Options: enable_lowercase (true);
 * use_smart and enable_remote_dict are accepted and change nothing. After run(), out->end_offset is the end
 * of the last token, as in the plugin. ERR_ILLEGAL_STATE when env has no IK dictionary. */
enum err ik_tokenizer_new(const struct tokenizer **out, struct str name, const struct settings *s,
                          const struct analysis_env *env, struct arena *arena, struct errmsg *em);

#endif
