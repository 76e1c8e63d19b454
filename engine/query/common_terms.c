/* cutoff_frequency: terms that are in many documents only add to the score of those that the rare terms find. */
#include "common/base/coerce.h"
#include "engine/query/bm25.h"
#include "engine/query/build.h"
#include "engine/query/rewrite_terms.h"

#include <math.h>

/* A term that is nowhere is rare, whatever the cutoff. From 1 on a cutoff is a number of documents as well. */
static bool is_common(const struct weight_shared *sh, const struct query *term, float cutoff)
{
    struct weight_shared own; /* the shard's numbers, not those of all shards */
    struct term_stats ts;
    memcpy(&own.cx, &sh->cx, sizeof(own.cx));
    own.cx.stats = NULL;
    stats_of_term(&own, term->field_name, term->term.term, &ts);
    double share = ceil((double)(cutoff * (float)sh->cx.view->doc_count));
    return ts.doc_freq > 0
           && ((cutoff >= 1 && (float)ts.doc_freq > cutoff) || ts.doc_freq > num_double_to_i32(share));
}

static struct query *bool_of(struct weight_shared *sh, struct bool_clause *v, uint32_t n)
{
    struct query *q = ARENA_NEW(sh->cx.arena, struct query);
    if (q != NULL) {
        *q = (struct query){.ops = &q_bool, .boost = 1};
        q->boolean.v = v;
        q->boolean.n = n;
    }
    return q;
}

enum err split_common(struct weight_shared *sh, const struct bool_clause *v, uint32_t n,
                      const struct common_terms *c, struct query **out, struct errmsg *em)
{
    uint32_t n_rare = 0, n_common = 0;
    struct bool_clause *rare = ARENA_ARRAY(sh->cx.arena, struct bool_clause, n),
                       *common = ARENA_ARRAY(sh->cx.arena, struct bool_clause, n),
                       *both = ARENA_ARRAY(sh->cx.arena, struct bool_clause, 2);
    struct query *of_rare = bool_of(sh, rare, 0), *of_common = bool_of(sh, common, 0);
    *out = bool_of(sh, both, 2);
    if (rare == NULL || common == NULL || both == NULL || of_rare == NULL || of_common == NULL
        || *out == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        bool often = is_common(sh, v[i].query, c->cutoff);
        *(often ? &common[n_common++] : &rare[n_rare++]) = v[i];
    }
    of_rare->boolean.n = n_rare;
    of_common->boolean.n = n_common;
    if (n_rare > 0 && rare[0].occur == OCCUR_SHOULD && c->min_should.p != NULL) {
        enum err e =
            min_should_match(sh->cx.arena, (int32_t)n_rare, c->min_should, &of_rare->boolean.min_should, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (c->apart && c->common_occur == OCCUR_SHOULD && n_common > 0 && c->common_min_should.p != NULL) {
        enum err e = min_should_match(sh->cx.arena, (int32_t)n_common, c->common_min_should,
                                      &of_common->boolean.min_should, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    bool all = n_rare == 0 && of_common->boolean.min_should <= 0; /* common terms alone: all of them */
    for (uint32_t i = 0; i < n_common; i++) {
        common[i].occur = all ? OCCUR_MUST : c->apart ? c->common_occur : common[i].occur;
    }
    if (c->apart && MAX_OF(n_rare, n_common) > query_node_settings()->clauses_max) {
        return err_set(em, ERR_TOO_MANY_CLAUSES, "maxClauseCount is set to %u",
                       query_node_settings()->clauses_max);
    }
    both[0] = (struct bool_clause){.occur = OCCUR_MUST, .query = of_rare};
    both[1] = (struct bool_clause){.occur = OCCUR_SHOULD, .query = of_common};
    *out = n_rare == 0 ? of_common : n_common == 0 ? of_rare : *out;
    return ERR_OK;
}

enum err expand_common(struct weight_shared *sh, const struct query *q, const struct query **out,
                       struct errmsg *em)
{
    struct query *made = NULL;
    if (q->boolean.common->apart && q->boolean.n == 0) {
        return rewrite_to_none(sh, "CommonTermsQuery with no terms", out, em);
    }
    if (q->boolean.common->apart && q->boolean.n == 1) {
        return rewrite_boosted(sh, q->boolean.v[0].query, q->boost, out, em);
    }
    enum err e = split_common(sh, q->boolean.v, q->boolean.n, q->boolean.common, &made, em);
    if (e == ERR_OK) {
        made->boost = q->boost;
        made->name = q->name;
        *out = made;
    }
    return e;
}
