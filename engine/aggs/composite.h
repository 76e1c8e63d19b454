/* composite.h - declarations shared by the parts of composite. Internal. */
#ifndef ENGINE_AGGS_COMPOSITE_H
#define ENGINE_AGGS_COMPOSITE_H

#include "engine/aggs/grid.h"
#include "engine/aggs/histogram.h"
#include "engine/aggs/values.h"

struct composite_source {
    struct str name;
    enum { COMPOSITE_TERMS, COMPOSITE_HISTOGRAM, COMPOSITE_DATE, COMPOSITE_GEOTILE } kind;
    struct source_spec vs;
    bool descending, missing_bucket;
    double interval;
    struct date_histogram_params date;
    struct grid_params grid; /* of tiles: precision and bounds */
};
AGG_PARAMS(composite_source)

struct composite_params {
    const struct composite_source *v;
    uint32_t n;
    int64_t size;
    const struct json *after; /* NULL: from the start */
};
AGG_PARAMS(composite_params)

struct composite_result {
    const struct agg_key *after; /* of the last bucket, whatever pipelines take away; NULL: none */
    struct value_shape **shapes; /* one a source */
    uint32_t n_shapes;
};
AGG_RESULT(composite_result)

struct part {  /* a source's value in a combination */
    int64_t v; /* number of a text, whole or sortable number, cell */
    bool null;
};

struct source {
    const struct composite_source *spec;
    struct values v;
    struct rounding rounding;
    bool text;
    bool
        once; /* a document counts once for all its values in a bucket of this source (composite_lead.c); what stands below still meets it once a value */
    /* values of a batch's documents: those of document k are list[start[k] .. start[k + 1]) */
    struct part *list;
    uint32_t *start;
    uint32_t cap;
};

struct composite {
    struct collector c;
    struct source *s;
    uint32_t n;
    struct part *after; /* NULL: from the start */
    uint32_t size;
    struct part *slots; /* size + 1 combinations, one behind the other; the last is the candidate */
    int64_t *counts;
    uint32_t used;
    uint32_t *heap;  /* slots; the last in order at the root */
    uint32_t *table; /* slot + 1 by hash */
    uint32_t n_table;
    struct put_off *noted; /* documents, for the second pass */
    uint32_t n_noted, cap_noted;
    bool second;
    uint32_t *rank; /* second pass: the bucket of each slot */
};

enum err parse_composite(struct agg_parse *p, struct agg *a, const struct json *body);
enum err composite_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em);
/* Its sources, then the combination that it begins after (composite_bind.c). */
enum err composite_bind(struct composite *m, const struct composite_params *p, struct errmsg *em);
/* Whether a document that has several values in one bucket of the first source, of field `f` (NULL: none), counts once.
 * `from_start`: `after` has no value for that source (composite_lead.c). */
bool composite_lead_once(const struct agg_run *r, const struct agg *a, const struct field *f,
                         bool from_start);

#endif
