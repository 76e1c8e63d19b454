/* image.h - the bytes of a compiled dictionary, in memory or in a mapped file (docs/dictionary-format.md).
 *
 * An image is a header, a table of sections and the sections, each with its checksum. Opening verifies all of
 * them (a few milliseconds for 300,000 words) and gives the sections as slices of the image. What the
 * sections mean is their readers' business, who check every number they take out of them. */
#ifndef ENGINE_ANALYSIS_DICT_IMAGE_H
#define ENGINE_ANALYSIS_DICT_IMAGE_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/fs.h"
#include "engine/analysis/dict/dat.h"

enum image_kind { IMAGE_IK = 1, IMAGE_PINYIN = 2 };
enum image_section { SECTION_CODES = 1, SECTION_NODES = 2, SECTION_TEXTS = 3 };

#define IMAGE_SECTIONS_MAX 8
#define IMAGE_BYTES_MAX    (GIB)

struct image {
    uint64_t hash;                           /* of the words and their values, whatever they were read from */
    struct str sections[IMAGE_SECTIONS_MAX]; /* by enum image_section */
    /* where the bytes live; exactly one of them is set */
    const struct fs *fs; /* borrowed */
    struct fs_map map;
    char *heap;
};

struct image_part {
    enum image_section id;
    struct str bytes;
};

/* Appends a whole image to `out`, which then starts with it (empty before). */
enum err image_write(struct buf *out, enum image_kind kind, uint64_t hash, const struct image_part *parts,
                     size_t n, struct errmsg *em);
/* Opens the file at `path` through fs, which must outlive the image. ERR_IO, or ERR_CORRUPT when it is no
 * intact image of this kind and version. */
enum err image_map(struct image *out, const struct fs *fs, const char *path, enum image_kind kind,
                   struct errmsg *em);
/* The same, with its trie: image_map, then image_dat. On failure nothing is open. */
enum err image_open(struct image *out, struct dat *dat, const struct fs *fs, const char *path,
                    enum image_kind kind, struct errmsg *em);
/* Takes the bytes out of `b` (made by image_write). On failure they are freed. */
enum err image_take(struct image *out, struct buf *b, enum image_kind kind, struct errmsg *em);
/* NULL-safe for an image that never opened (all zeroes). */
void image_close(struct image *im);

/* The trie in the sections CODES and NODES. ERR_CORRUPT when their sizes cannot be right. */
enum err image_dat(const struct image *im, struct dat *out, struct errmsg *em);

#endif
