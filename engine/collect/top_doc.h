/* top_doc.h - a found document with its sort values, and their bytes. */
#ifndef ENGINE_COLLECT_TOP_DOC_H
#define ENGINE_COLLECT_TOP_DOC_H

#include "common/base/bytes.h"
#include "common/base/jsonw.h"
#include "engine/query/source.h"

enum sort_value_kind {
    SV_NULL,
    SV_LONG,
    SV_DOUBLE,
    SV_FLOAT, /* d, printed as a float */
    SV_STR,
    SV_BOOL,
    SV_IP, /* s is the address, 16 bytes, or those of `missing`: it is text only where it is printed */
};
struct sort_value {
    enum sort_value_kind kind;
    union {
        int64_t l;
        double d;
        struct str s;
    };
};

struct top_doc {
    uint32_t doc;                  /* in the view */
    uint32_t slot;                 /* of its shard */
    float score;                   /* NaN when not computed */
    const struct sort_value *sort; /* one a sort key; NULL when sorted by score */
    struct sort_value collapse;    /* the group's value, when collapsing */
};

/* Are these the bytes of an address? Those of `missing` need not be. */
static inline bool sort_address_is_one(struct str bytes)
{
    return bytes.n == 4 || bytes.n == 16;
}
/* A comparison of two rows of values under the specs; documents' ties are the caller's. Used by shards and by reduce. */
int sort_values_cmp(const struct sort_spec *specs, uint32_t n, const struct sort_value *a,
                    const struct sort_value *b);
static inline bool sort_value_is_bytes(const struct sort_value *v)
{
    return v->kind == SV_STR || v->kind == SV_IP;
}
/* A sort value as the response prints it. */
void sort_value_write(const struct sort_value *v, struct jsonw *w);
/* Its bytes. What is none sets in->bad; texts are copied into the arena. */
void sort_value_encode(const struct sort_value *v, struct buf *out);
void sort_value_decode(struct sort_value *v, struct bytes_in *in, struct arena *arena);

/* Documents of a result with n_sort values each (when they have any). Decoding sets in->bad on whatever cannot
 * be read. */
void top_docs_encode(const struct top_doc *docs, uint32_t n, uint32_t n_sort, struct buf *out);
void top_docs_decode(struct top_doc **docs, uint32_t *n, uint32_t *n_sort, struct bytes_in *in,
                     struct arena *arena);

#endif
