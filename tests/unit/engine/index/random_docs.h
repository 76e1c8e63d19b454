/* random_docs.h - parsed documents made by hand from a seed, and a check that a segment holds exactly some of
 * them. */
#ifndef TEST_RANDOM_DOCS_H
#define TEST_RANDOM_DOCS_H

#include "common/base/rand.h"
#include "engine/index/segment_writer.h"
#include "engine/index/structure.h"

struct made_doc {
    struct parsed_doc doc;
    struct doc_meta meta;
};

struct doc_maker {
    struct rng rng;
    struct arena arena;
    uint32_t made;
    unsigned words;  /* size of the vocabulary */
    unsigned length; /* most tokens of a value */
    bool nested;     /* some documents have nested ones */
};

void doc_maker_init(struct doc_maker *m, uint64_t seed);
void doc_maker_fini(struct doc_maker *m);
/* The next document; lives in the maker's arena. */
struct made_doc *doc_maker_next(struct doc_maker *m);

/* Fails the test unless the segment holds these documents, in this order, and nothing else. */
void check_segment(const struct segment *s, struct made_doc *const *docs, size_t n);
/* Reads everything that a segment offers, whatever it says: for damaged ones. Returns a number made of it. */
uint64_t read_everything(const struct segment *s);
/* Makes all checksums of a damaged segment fit again, so that the decoders get to see the damage. */
void mend_segment(char *p, size_t n);
/* The same in parts, of which nothing but the segment is shared: 0 ... read_parts() - 1. */
uint32_t read_parts(const struct segment *s);
uint64_t read_part(const struct segment *s, uint32_t part);

/* Builds a segment in memory. */
struct segment *build_segment(struct made_doc *const *docs, size_t n);

#endif
