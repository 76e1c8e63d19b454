/* values.h - the sources of an aggregation's values: columns of a field, scripts, substitutes for missing
 * ones.
 *
 * A source is bound to a field once (values_bind: errors of the request), to each segment (values_leaf), and
 * then yields the values of batches of documents as flat arrays: v->at[k] says to which document of the batch
 * the k-th value belongs. The values of one document come ascending. A document with very many values may end
 * a round early: `pos` goes on there. */
#ifndef ENGINE_AGGS_VALUES_H
#define ENGINE_AGGS_VALUES_H

#include "engine/aggs/collect.h"
#include "engine/mapping/field_class.h"
#include "engine/script/script.h"

enum source_kind {
    SOURCE_NUMBER,
    SOURCE_DATE,
    SOURCE_BOOLEAN,
    SOURCE_TEXT,
    SOURCE_IP,
    SOURCE_GEO,
    SOURCE_RANGE
};
enum {
    TAKES_NUMBER = 1 << SOURCE_NUMBER,
    TAKES_DATE = 1 << SOURCE_DATE,
    TAKES_BOOLEAN = 1 << SOURCE_BOOLEAN,
    TAKES_TEXT = 1 << SOURCE_TEXT,
    TAKES_IP = 1 << SOURCE_IP,
    TAKES_GEO = 1 << SOURCE_GEO,
    TAKES_RANGE = 1 << SOURCE_RANGE,
    TAKES_NUMERIC = TAKES_NUMBER | TAKES_DATE | TAKES_BOOLEAN,
    TAKES_ALL = (1 << 7) - 1
};

/* Texts met in a shard, by dense numbers in the order of their appearance. With a single segment they are
 * known by ordinal and read when asked for. */
struct term_dict {
    struct agg_run *run;
    const struct seg_field *seg; /* of the current segment */
    bool lazy;                   /* one segment: texts by ordinal */
    struct str *text;            /* p == NULL: not read yet */
    uint64_t *ords;              /* lazy: UINT64_MAX for texts that the segment has not */
    uint32_t n, cap_text, cap_ords;
    uint32_t *ids; /* of the segment's ordinals: number + 1 */
    uint64_t n_ids, cap_ids;
    uint32_t *slots; /* by hash: number + 1 */
    uint32_t n_slots;
};
uint32_t dict_of_text(struct term_dict *d, struct str text);
uint32_t dict_of_ord_slow(struct term_dict *d, uint64_t ord);
static inline uint32_t dict_of_ord(struct term_dict *d, uint64_t ord)
{
    return d->ids[ord] != 0 ? d->ids[ord] - 1 : dict_of_ord_slow(d, ord);
}
/* Its bytes; p == NULL: unreadable or no memory (noted). */
struct str dict_text(struct term_dict *d, uint32_t id);

struct agg_script;

struct values {
    struct agg_run *run;
    enum source_kind kind;
    const struct source_spec *spec;
    const struct field *field; /* NULL: unmapped, or a script alone */
    bool none;                 /* neither field nor script nor stand-in: no document has values */
    bool floating;             /* numbers are fractions */
    bool nanos;                /* of the field: its column holds nanoseconds */
    enum num_form form;        /* of the field: what its column holds */
    struct value_shape *shape;
    bool has_missing;
    int64_t missing_i;
    double missing_d;
    struct str missing_s;
    struct geo_point missing_g;
    struct agg_script *script;
    bool script_alone;
    struct term_dict dict;

    struct num_column nums;
    struct ord_column ords;
    const struct segment *of; /* the segment that `seg` is part of */
    const struct seg_field *seg;
    enum { TEXT_NONE, TEXT_ORDS, TEXT_BYTES, TEXT_INDEX, TEXT_UNINVERTED } text_from;
    uint32_t *inverted_starts, *inverted_ords;

    /* one round's output */
    uint32_t *at;
    union {
        int64_t *i;
        double *d;
        uint32_t *id;
        struct geo_point *g;
    };
    uint32_t cap_at, cap_v;
};

/* `takes`: kinds of fields that the aggregation accepts; `otherwise`: the kind when neither field nor
 * value_type tells. */
enum err values_bind(struct values *v, struct agg_run *r, const struct agg *a, const struct source_spec *s,
                     unsigned takes, enum source_kind otherwise, struct errmsg *em);
/* The same for what is no aggregation: `called` is its name in errors. */
enum err values_bind_called(struct values *v, struct agg_run *r, const char *called,
                            const struct source_spec *s, unsigned takes, enum source_kind otherwise,
                            struct errmsg *em);
/* ERR_ILLEGAL_ARGUMENT for kinds that the aggregation does not take: those of a field, or of a value_type without one. For those
 * that are bound to TAKES_ALL, as something else has to be refused first. */
enum err values_supported(const struct values *v, const struct agg *a, unsigned takes, struct errmsg *em);
/* The least and the greatest moment of a date field in the shard's segments, deleted documents included. false: there is none. */
bool values_extremes(const struct values *v, int64_t *min, int64_t *max);
enum err values_leaf(struct values *v, struct errmsg *em);

/* Each starts at document *pos of the batch, moves it, and returns how many values there are now. 0 with *pos
 * == d->n: done; there may be rounds without values before that. */
uint32_t values_doubles(struct values *v, const struct doc_run *d, uint32_t *pos);
/* Whole numbers; dates in milliseconds; fractions in their sortable form. */
uint32_t values_longs(struct values *v, const struct doc_run *d, uint32_t *pos);
/* Numbers of texts in v->dict; each once a document. */
uint32_t values_ids(struct values *v, const struct doc_run *d, uint32_t *pos);
uint32_t values_points(struct values *v, const struct doc_run *d, uint32_t *pos);
/* How many values each document has (v->at[k] is then the count of document k); all kinds. Returns d->n. */
uint32_t values_count(struct values *v, const struct doc_run *d);
/* Ranges of a range field: the i-th of a document, as doubles' or longs' bounds (both inclusive). */
bool values_range(struct values *v, doc_id doc, uint32_t i, double *from, double *to);

/* The term that a text given for a source of texts or addresses names: of a binary field that in base64, of an address its bytes; in the
 * run's arena, or the text itself. ERR_ILLEGAL_ARGUMENT. */
enum err values_term(const struct values *v, struct str text, struct str *out, struct errmsg *em) NODISCARD;
/* A number given as text or JSON in the source's format (dates, decimals): include lists, missing values. */
enum err values_parse(struct values *v, const struct json *given, double *out, int64_t *out_i,
                      struct errmsg *em);

/* ---- scripts (agg_script.c) ---- */
enum err agg_script_new(struct agg_script **out, struct agg_run *r, const struct json *form,
                        struct errmsg *em);
enum err agg_script_leaf(struct agg_script *s, struct errmsg *em);
/* What documents say to scripts, without a script: of a scripted_metric. agg_script_states() hands the states over, to be freed with it;
 * agg_script_at() is the environment at a document. */
enum err agg_script_env(struct agg_script **out, struct agg_run *r, struct errmsg *em);
void agg_script_states(struct agg_script *s, struct script_states *states);
const struct script_env *agg_script_at(struct agg_script *s, doc_id doc, float score);
struct script_given { /* `_value` */
    bool has, whole;
    int64_t i;
    double d;
    struct str s;
};
/* Runs it for a document; an array gives several values, each a number or a text (script_values()). The JSON lives until the next run. */
enum err agg_script_value(struct agg_script *s, doc_id doc, float score, const struct script_given *given,
                          bool numbers, struct json *out, struct errmsg *em);

#endif
