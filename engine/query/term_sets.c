/* Sets of terms: terms and ids. They are printed as Lucene's TermInSetQuery prints them, and as it prints them once it has been
 * rewritten: sixteen terms or fewer are clauses of a disjunction then. */
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/weight_set.h"

#define CLAUSES_MAX 16    /* TermInSetQuery.BOOLEAN_REWRITE_TERM_COUNT_THRESHOLD */
#define LIST_MAX    2048U /* matches up to which a list is made instead of a bitmap */

/* ---- ids as they are indexed (Uid.encodeId) ---- */

static bool id_char(char c, int *v)
{
    *v = c >= 'A' && c <= 'Z'   ? c - 'A'
         : c >= 'a' && c <= 'z' ? c - 'a' + 26
         : c >= '0' && c <= '9' ? c - '0' + 52
         : c == '-'             ? 62
         : c == '_'             ? 63
                                : -1;
    return *v >= 0;
}

enum id_form {
    ID_DIGITS = 0xFE,
    ID_TEXT = 0xFF,
    ID_BASE64 = 0xFD /* only before bytes that look like a form */
};

static enum id_form id_form(struct str id)
{
    bool digits = id.n > 0 && !(id.n > 1 && id.p[0] == '0'), base64 = id.n > 0 && id.n % 4 != 1;
    int v = 0;
    for (size_t i = 0; i < id.n; i++) {
        digits = digits && id.p[i] >= '0' && id.p[i] <= '9';
        base64 = base64 && id_char(id.p[i], &v);
    }
    if (base64) { /* bits of the last letter that begin another byte have to be 0 */
        base64 = (v & (id.n % 4 == 2 ? 15 : id.n % 4 == 3 ? 3 : 0)) == 0;
    }
    return digits ? ID_DIGITS : base64 ? ID_BASE64 : ID_TEXT;
}

static void encode_id(struct str id, struct buf *out)
{
    enum id_form form = id_form(id);
    uint32_t bits = 0;
    unsigned have = 0;
    if (form != ID_BASE64) {
        buf_char(out, (char)form);
    }
    for (size_t i = 0; i < id.n; i++) {
        int v;
        if (form == ID_TEXT) {
            buf_char(out, id.p[i]);
        } else if (form == ID_DIGITS) {
            int low = i + 1 < id.n ? id.p[i + 1] - '0' : 15;
            buf_char(out, (char)((id.p[i] - '0') << 4 | low));
            i++;
        } else if (id_char(id.p[i], &v)) {
            bits = bits << 6 | (uint32_t)v;
            have += 6;
            if (have >= 8) {
                have -= 8;
                unsigned char byte = (unsigned char)(bits >> have);
                if (i == 1 && byte >= ID_BASE64) {
                    buf_char(out, (char)ID_BASE64);
                }
                buf_char(out, (char)byte);
            }
        }
    }
}

static void print_id(struct str id, struct buf *out)
{
    struct buf b;
    buf_init(&b, NULL, KIB * 2);
    encode_id(id, &b);
    buf_char(out, '[');
    for (size_t i = 0; i < b.n; i++) {
        buf_printf(out, i > 0 ? " %x" : "%x", (unsigned char)b.p[i]);
    }
    buf_char(out, ']');
    buf_fini(&b);
}

static int by_encoded_id(const void *a, const void *b)
{
    struct buf x, y;
    buf_init(&x, NULL, KIB * 2);
    buf_init(&y, NULL, KIB * 2);
    encode_id(*(const struct str *)a, &x);
    encode_id(*(const struct str *)b, &y);
    int by = str_cmp(buf_view(&x), buf_view(&y));
    buf_fini(&x);
    buf_fini(&y);
    return by;
}

static int by_term(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* ---- printing and rewriting ---- */

static void print_one(const struct query *q, uint32_t i, struct buf *out)
{
    if (q->ops == &q_ids) {
        print_id(q->terms.v[i], out);
    } else {
        query_print_bytes(q, q->terms.v[i], out);
    }
}

/* Addresses are points, a set of which is a query of its own. */
static bool is_points(const struct query *q)
{
    return q->field != NULL && q->field->class->kind == VALUE_ADDRESS;
}

static void print_set(const struct query *q, bool bare, struct buf *out)
{
    bool clauses = q->terms.clauses, points = is_points(q);
    buf_z(out, clauses && !bare ? "ConstantScore(" : "");
    if (!clauses) {
        buf_printf(out, "%.*s:%c", STR_ARG(q->field_name), points ? '{' : '(');
    }
    for (uint32_t i = 0; i < q->terms.n; i++) {
        buf_z(out, i > 0 ? " " : "");
        if (clauses) {
            buf_printf(out, "%.*s:", STR_ARG(q->field_name));
        }
        print_one(q, i, out);
    }
    buf_z(out, clauses && bare ? "" : points ? "}" : ")");
}

bool terms_as_clauses(const struct query *q)
{
    return (q->ops == &q_terms || q->ops == &q_ids) && q->terms.clauses;
}

static void terms_print(const struct query *q, struct buf *out)
{
    print_set(q, false, out);
}

static void terms_print_bare(const struct query *q, struct buf *out)
{
    print_set(q, true, out);
}

static bool terms_same(const struct query *a, const struct query *b)
{
    return query_same_field(a, b) && a->terms.n == b->terms.n
           && query_same_strs(a->terms.v, b->terms.v, a->terms.n);
}

/* The same terms, those of a small set sorted as the index sorts them, each once. */
static enum err terms_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                              struct errmsg *em)
{
    if (q->terms.clauses || is_points(q)) {
        return ERR_OK;
    }
    struct query *c = ARENA_NEW(sh->cx.arena, struct query);
    struct str *v = ARENA_ARRAY(sh->cx.arena, struct str, q->terms.n);
    uint32_t n = 0;
    if (c == NULL || v == NULL) {
        return err_no_memory(em);
    }
    memcpy(v, q->terms.v, q->terms.n * sizeof(*v));
    sort_items(v, q->terms.n, sizeof(*v), by_term);
    for (uint32_t i = 0; i < q->terms.n; i++) {
        if (n == 0 || !str_eq(v[n - 1], v[i])) {
            v[n++] = v[i];
        }
    }
    if (n > CLAUSES_MAX) {
        return ERR_OK;
    }
    if (q->ops == &q_ids && n > 1) {
        sort_items(v, n, sizeof(*v), by_encoded_id);
    }
    *c = *q;
    c->terms.v = v;
    c->terms.n = n;
    c->terms.clauses = true;
    *out = c;
    return ERR_OK;
}

/* ---- words, costs ---- */

/* Addresses are points: nothing of the text. */
static enum err terms_words(const struct query *q, float boost, const struct word_sink *s, struct errmsg *em)
{
    enum err e = ERR_OK;
    bool text = q->field == NULL || q->field->class->kind != VALUE_ADDRESS;
    for (uint32_t i = 0; text && i < q->terms.n && e == ERR_OK; i++) {
        e = s->term(s->self, q->field_name, q->terms.v[i], boost, em);
    }
    return e;
}

/* A set of points may be anywhere. */
static bool terms_may(const struct nested_question *n, const struct query *q)
{
    return is_points(q) || nested_by_field(n, q);
}

static uint64_t terms_docs(const struct view *v, const struct query *q)
{
    return cost_of_terms(v, q->field_name, q->terms.v, q->terms.n);
}

static uint64_t ids_docs(const struct view *v, const struct query *q)
{
    return cost_times(q->terms.n, v->n_leaves);
}

/* ---- weights ---- */

static void terms_key(struct buf *b, const struct query *q)
{
    for (uint32_t i = 0; i < q->terms.n && !stop_often(); i++) {
        set_key_str(b, q->terms.v[i]);
    }
}

static uint64_t ids_cost(const struct weight *w, UNUSED const struct leaf *leaf)
{
    return w->query->terms.n;
}

static enum err terms_fill(const struct weight *w, const struct scorer_request *rq, const struct seg_field *f,
                           uint64_t *bits)
{
    const struct query *q = w->query;
    struct postings *p = arena_alloc(rq->arena, sizeof(*p));
    if (p == NULL) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < q->terms.n && !stop_often(); i++) {
        struct term_info t;
        if (seg_term(f, q->terms.v[i], &t)) {
            postings_bits(p, f, &t, bits);
        }
    }
    return ERR_OK;
}

/* The objects of a document have its id, too. */
static void add_objects(const struct leaf *leaf, uint64_t *bits)
{
    const uint64_t *roots = leaf->roots;
    for (size_t d = roots != NULL ? bits_next(bits, 0, leaf->doc_count) : leaf->doc_count;
         d < leaf->doc_count; d = bits_next(bits, d + 1, leaf->doc_count)) {
        for (size_t i = d; i > 0 && !bits_test(roots, i - 1); i--) {
            bits_set(bits, i - 1);
        }
    }
}

static enum err ids_fill(const struct weight *w, const struct scorer_request *rq, const struct seg_field *f,
                         uint64_t *bits)
{
    enum err e = terms_fill(w, rq, f, bits);
    add_objects(rq->leaf, bits);
    return e;
}

static int cmp_doc(const void *a, const void *b)
{
    doc_id x = *(const doc_id *)a, y = *(const doc_id *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static enum err list_scorer(const struct weight *w, const struct scorer_request *rq, doc_id *docs, uint32_t n,
                            struct scorer **out)
{
    uint32_t distinct = 0;
    if (n == 0) {
        return ERR_OK;
    }
    sort_items(docs, n, sizeof(*docs), cmp_doc);
    for (uint32_t i = 0; i < n; i++) {
        if (distinct == 0 || docs[distinct - 1] != docs[i]) {
            docs[distinct++] = docs[i];
        }
    }
    return docs_scorer_new(rq->arena, docs, distinct, w->boost, out, rq->em);
}

/* Few documents altogether: a list. *listed tells whether it was made. */
static enum err terms_as_list(const struct weight *w, const struct scorer_request *rq,
                              const struct seg_field *f, bool *listed, struct scorer **out)
{
    const struct query *q = w->query;
    struct term_info *t = ARENA_ARRAY(rq->arena, struct term_info, q->terms.n);
    struct postings *p = arena_alloc(rq->arena, sizeof(*p));
    uint64_t sum = 0;
    uint32_t n = 0, n_docs = 0;
    *listed = false;
    if (t == NULL || p == NULL) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < q->terms.n && sum <= LIST_MAX && !stop_often(); i++) {
        if (seg_term(f, q->terms.v[i], &t[n])) {
            sum += t[n++].doc_freq;
        }
    }
    if (sum > LIST_MAX) {
        return ERR_OK;
    }
    *listed = true;
    doc_id *docs = ARENA_ARRAY(rq->arena, doc_id, sum);
    if (docs == NULL) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        postings_init(p, f, &t[i], false);
        for (doc_id d = postings_next(p); d != DOC_END && n_docs < sum && !stop_often();
             d = postings_next(p)) {
            docs[n_docs++] = d;
        }
    }
    return list_scorer(w, rq, docs, n_docs, out);
}

static enum err set_scorer(const struct weight *w, const struct scorer_request *rq, bool may_list,
                           set_fill fill, struct scorer **out)
{
    const struct seg_field *f = set_field(w, rq->leaf);
    struct set_known known;
    bool listed = false;
    if (f == NULL) {
        return ERR_OK;
    }
    enum err e = set_known_of(w, rq, &known);
    if (e == ERR_OK && known.bits == NULL && may_list) {
        e = terms_as_list(w, rq, f, &listed, out);
    }
    return e != ERR_OK || listed ? e : set_bits_scorer(w, rq, f, &known, fill, out);
}

static enum err terms_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    return set_scorer(w, rq, true, terms_fill, out);
}

/* A list would not have the objects of the documents. */
static enum err ids_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    return set_scorer(w, rq, rq->leaf->roots == NULL, ids_fill, out);
}

static const struct weight_ops terms_weight_ops = {.cost = set_cost, .scorer = terms_scorer};
static const struct weight_ops ids_weight_ops = {.cost = ids_cost, .scorer = ids_scorer};

static enum err terms_weight(struct weight_shared *sh, const struct query *q, float boost,
                             enum score_need need, const struct weight **out, struct errmsg *em)
{
    *out = set_weight_new(sh, sizeof(struct set_weight), &terms_weight_ops, q, boost, need, terms_key);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

static enum err ids_weight(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                           const struct weight **out, struct errmsg *em)
{
    *out = set_weight_new(sh, sizeof(struct set_weight), &ids_weight_ops, q, boost, need, NULL);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

const struct query_ops q_terms = {.name = "terms",
                                  .words = terms_words,
                                  .may = terms_may,
                                  .same = terms_same,
                                  .print = terms_print,
                                  .print_bare = terms_print_bare,
                                  .cost = terms_docs,
                                  .rewrite = terms_rewrite,
                                  .weight = terms_weight};
const struct query_ops q_ids = {.name = "ids",
                                .same = terms_same,
                                .print = terms_print,
                                .print_bare = terms_print_bare,
                                .cost = ids_docs,
                                .rewrite = terms_rewrite,
                                .weight = ids_weight};
