/* lexicon.h - words gathered for a dictionary: several named lists in one, compiled to one image.
 *
 * A word belongs to a list (main words, stop words ...) and may carry a text, its value. Inside the trie a
 * word is spelt with its list's number as a first unit, so that one trie serves all lists. Words are held as
 * UTF-16 units. */
#ifndef ENGINE_ANALYSIS_DICT_LEXICON_H
#define ENGINE_ANALYSIS_DICT_LEXICON_H

#include "common/base/arena.h"
#include "engine/analysis/dict/image.h"

#define LEXICON_WORDS_MAX      ((size_t)16 << 20)
#define LEXICON_FILE_BYTES_MAX (256 * MIB)

struct lexicon_word {
    const uint16_t *units; /* the list's number first */
    uint32_t n;
    uint32_t order; /* of arrival: a word given twice keeps its last value */
    struct str value;
};

struct lexicon {
    struct arena arena;
    struct lexicon_word *v;
    size_t n, cap;
};

void lexicon_init(struct lexicon *l);
void lexicon_fini(struct lexicon *l);

/* Adds a word (UTF-8; empty: nothing is added) to list `list` (1 ..). `value` may be empty; it is copied.
 * Words of more than 254 units are left out. ERR_NO_MEMORY, ERR_ILLEGAL_ARGUMENT past LEXICON_WORDS_MAX. */
enum err lexicon_add(struct lexicon *l, uint16_t list, struct str word, struct str value, struct errmsg *em);
/* Adds each line of `text` as a word, without the BOM that it may start with and the characters up to U+0020
 * around it. */
enum err lexicon_add_lines(struct lexicon *l, uint16_t list, struct str text, struct errmsg *em);
/* Sorts, and makes an image of it in `out` (empty before). A word's value is the place of its text in the
 * section TEXTS (image_text). */
enum err lexicon_compile(struct lexicon *l, enum image_kind kind, struct buf *out, struct errmsg *em);
/* The words as an image in memory, and its trie. On failure nothing is open. */
enum err lexicon_open(struct lexicon *l, enum image_kind kind, struct image *out, struct dat *dat,
                      struct errmsg *em);

/* The text at `value`; empty when there is none. */
struct str image_text(const struct image *im, uint32_t value);

/* `text` without a leading UTF-8 byte order mark. */
struct str text_without_bom(struct str text);
/* Without the characters up to U+0020 at both ends, as Java trims. */
struct str text_trim(struct str text);
/* The next line of *rest (without its "\n", "\r\n" or "\r"), which moves behind it; false at the end. */
bool text_line(struct str *rest, struct str *line);

#endif
