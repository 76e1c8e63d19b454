/* document.h - one JSON document made ready for indexing.
 *
 * Parsing walks the source by the mapping, applies every field's rules (coercion, null_value, ignore_above,
 * copy_to, multi-fields, dynamic mapping), analyses text, and yields flat lists of values per Lucene-like
 * document: nested objects come first, each as a document of its own, the root last. It needs no lock and no
 * index: several threads may parse for one shard at a time. */
#ifndef ENGINE_MAPPING_DOCUMENT_H
#define ENGINE_MAPPING_DOCUMENT_H

#include "engine/mapping/mapping.h"

enum doc_value_kind {
    DOC_TEXT,       /* analysed: tokens */
    DOC_TERM,       /* one exact term: keyword, boolean ("T", "F"), ip (16 bytes), metadata */
    DOC_NUM,        /* sortable int64 */
    DOC_GEO,        /* encoded latitude and longitude */
    DOC_BYTES,      /* binary doc values */
    DOC_COMPLETION, /* input, weight, contexts */
    DOC_FEATURE,    /* a term with its frequency */
    DOC_RANGE       /* from, to (both inclusive), sortable int64, or 16-byte addresses */
};

struct doc_value {
    const struct field *field;
    enum doc_value_kind kind;
    bool to_index;  /* terms, points (field->index) */
    bool to_column; /* doc values */
    bool to_store;  /* a stored field of its own */
    struct str
        stored; /* its text, where the indexed form has lost some of the value; p == NULL: it has not */
    union {
        struct {
            const struct token
                *v; /* of this value; the index buffer adds positions up over the field's values */
            uint32_t n;
            int32_t end_pos_inc; /* positions behind the last token */
            uint32_t end_offset; /* byte length of raw */
            struct str raw;      /* the value's text */
        } text;
        struct str bytes; /* DOC_TERM, DOC_BYTES */
        int64_t num;
        struct {
            int32_t lat, lon; /* quantised as Lucene's GeoEncodingUtils */
        } geo;
        struct {
            struct str
                input; /* as typed, shown as the option's text; p == NULL: none, the field is there alone */
            const struct str *paths; /* the analysed forms (all paths of the token graph), byte strings in
                                        UTF-8 with separators as completion.h says */
            uint32_t n_paths;
            uint32_t weight;
            const struct str *contexts; /* pairs: context name, value */
            uint32_t n_contexts;
        } completion;
        struct {
            struct str name;
            uint32_t freq;
        } feature;
        struct {
            int64_t from, to;
            uint8_t ip_from[16], ip_to[16];
        } range;
    };
};

struct doc_part { /* one document of the segment */
    struct doc_value *values;
    size_t n;
    const struct field *nested; /* NULL: the root */
};

struct parsed_doc {
    struct str id;
    struct str routing;     /* p == NULL: none */
    struct str source;      /* as received (or filtered by the mapping's _source rules); n == 0: disabled */
    struct doc_part *parts; /* nested ones first, the root last */
    size_t n_parts;
    const struct str *ignored; /* fields whose malformed values were left out (_ignored) */
    size_t n_ignored;
    /* What dynamic mapping wants added, as the body of a put-mapping request; NULL when the mapping covers
     * everything. While it is set the values are incomplete: merge it, parse again. */
    const struct json *mapping_update;
};

/* What a document needs so that a query may match it: one of the terms, each a field's path, a 0, and a term of the field. */
#define HELD_QUERY_ANY "*" /* the term instead: any document may match */
struct held_query {
    const struct str *terms;
    uint32_t n; /* 0: none matches */
};
/* Reads queries that documents hold: of those who know queries, as this folder does not. */
struct query_reader {
    /* `query` is part of the text, which places in errors are of; what it gives lives in the arena. The error is the query's. */
    enum err (*read)(const struct query_reader *self, const struct mapping *m, const struct json *query,
                     struct str text, struct arena *arena, struct held_query *out, struct errmsg *em);
};

struct source_to_parse {
    struct str index_name; /* for messages */
    struct str id;
    struct str routing;
    struct str source;
    bool dynamic_allowed;               /* false: behave as if everything unmapped were refused */
    const struct query_reader *queries; /* NULL: queries are kept unread, and may match any document */
};

/* Parses. Everything in *out lives in `arena` or borrows from `in`. ERR_MAPPER_PARSING and friends with their
 * causes. */
enum err document_parse(struct parsed_doc *out, const struct mapping *m, const struct source_to_parse *in,
                        struct arena *arena, struct errmsg *em);

/* The values of one field as they would be indexed, from a parsed source tree: what `fields`, highlighting
 * and script-less updates need. Appends the scalars found at `path` (arrays flattened, dotted keys
 * understood; nulls too), those that lie in fewer lists first, as Elasticsearch's field retrieval has them. */
bool source_values(const struct json *source, struct str path, struct arena *arena, const struct json ***out,
                   size_t *n);
/* The same as XContentMapValues.extractRawValues: the first key that the path begins with counts, a value in no list ends the
 * path early, and nulls are left out. */
bool source_raw_values(const struct json *source, struct str path, struct arena *arena,
                       const struct json ***out, size_t *n);

#endif
