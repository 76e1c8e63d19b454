#include "common/base/jsonw.h"
#include "common/base/num.h"
#include "common/base/stop.h"
#include "engine/query/bm25.h"
#include "engine/query/print.h"

#include <stdarg.h>
#include <stdio.h>

struct explanation *explain_new(struct arena *a, bool match, float value, const char *fmt, ...)
{
    struct explanation *e = ARENA_NEW(a, struct explanation);
    char text[1024];
    va_list ap, again;
    if (e == NULL) {
        return NULL;
    }
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n >= sizeof(text)) { /* queries may be long */
        char *whole = arena_alloc(a, (size_t)n + 1);
        if (whole != NULL) {
            vsnprintf(whole, (size_t)n + 1, fmt, again);
            e->description = str_mk(whole, (size_t)n);
        }
    } else {
        e->description = arena_str(a, str_of(text));
    }
    va_end(again);
    e->match = match;
    e->value = value;
    return e->description.p != NULL ? e : NULL;
}

struct explanation *explain_whole(struct arena *a, int64_t value, const char *text)
{
    struct explanation *e = explain_new(a, true, 0, "%s", text);
    if (e != NULL) {
        e->whole = true;
        e->i = value;
    }
    return e;
}

struct explanation *explain_double(struct arena *a, double value, const char *text)
{
    struct explanation *e = explain_new(a, true, 0, "%s", text);
    if (e != NULL) {
        e->is_double = true;
        e->d = value;
    }
    return e;
}

struct explanation *explain_add(struct arena *a, struct explanation *parent, struct explanation *detail)
{
    if (parent == NULL || detail == NULL) {
        return NULL;
    }
    if ((parent->n & (parent->n - 1)) == 0) { /* full at the powers of two */
        struct explanation **v =
            ARENA_ARRAY(a, struct explanation *, parent->n == 0 ? 1 : (size_t)parent->n * 2);
        if (v == NULL) {
            return NULL;
        }
        if (parent->n > 0) {
            memcpy(v, parent->details, parent->n * sizeof(*v));
        }
        parent->details = v;
    }
    parent->details[parent->n++] = detail;
    return parent;
}

struct str query_text_plain(const struct query *q, struct arena *a)
{
    struct query plain = *q;
    plain.boost = 1;
    return query_text(&plain, a);
}

struct str query_text(const struct query *q, struct arena *a)
{
    struct buf b;
    buf_init(&b, NULL, MIB);
    query_print(q, &b);
    struct str s = arena_str(a, buf_view(&b));
    buf_fini(&b);
    return s.p != NULL ? s : STR("");
}

enum err explain_scorer(const struct weight *w, const struct explain_request *rq, struct scorer **out)
{
    struct scorer_request sr = {.leaf = rq->leaf, .arena = rq->arena, .lead_cost = 1, .em = rq->em};
    struct scorer *s = NULL;
    *out = NULL;
    if (weight_cost(w, rq->leaf) == 0) {
        return ERR_OK;
    }
    enum err e = weight_make_scorer(w, &sr, &s);
    if (e != ERR_OK || s == NULL) {
        return e;
    }
    if (s->ops->seek(s, rq->doc) == rq->doc && scorer_accepts(s)) {
        *out = s;
    }
    return weight_error(w, rq->em);
}

/* ConstantScoreWeight's: the query's text. */
static enum err explain_constant(const struct weight *w, const struct explain_request *rq,
                                 struct explanation **out)
{
    struct scorer *s;
    struct buf b;
    buf_init(&b, NULL, MIB);
    query_print_column(w->query, &b);
    struct str text = arena_str(rq->arena, buf_view(&b));
    buf_fini(&b);
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s == NULL) {
        *out = explain_new(rq->arena, false, 0, "%.*s doesn't match id %u", STR_ARG(text), rq->doc);
    } else if (w->boost == 1) {
        *out = explain_new(rq->arena, true, w->boost, "%.*s", STR_ARG(text));
    } else {
        struct buf number;
        buf_init(&number, NULL, 64);
        num_put_float(&number, w->boost);
        *out = explain_new(rq->arena, true, w->boost, "%.*s^%.*s", STR_ARG(text), STR_ARG(buf_view(&number)));
        buf_fini(&number);
    }
    return ERR_OK;
}

static enum err explain_unscored(const struct weight *w, const struct explain_request *rq,
                                 struct explanation **out)
{
    struct scorer *s;
    struct buf b;
    buf_init(&b, NULL, MIB);
    query_print_bare(w->query, &b);
    struct str text = arena_str(rq->arena, buf_view(&b));
    buf_fini(&b);
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    *out = s != NULL ? explain_new(rq->arena, true, 1, "%.*s", STR_ARG(text))
                     : explain_new(rq->arena, false, 0, "%.*s doesn't match id %u", STR_ARG(text), rq->doc);
    return *out != NULL ? ERR_OK : err_no_memory(rq->em);
}

enum err explain_weight(const struct weight *w, const struct explain_request *rq, struct explanation **out)
{
    *out = NULL;
    if (stop_often()) { /* nobody will read it */
        *out = explain_new(rq->arena, false, 0, "stopped");
        return *out != NULL ? ERR_OK : err_no_memory(rq->em);
    }
    /* Elasticsearch's cache stands before whatever is not scored, and explains itself */
    if (w->need == NEED_NO_SCORES) {
        return explain_unscored(w, rq, out);
    }
    enum err e = w->ops->explain != NULL ? w->ops->explain(w, rq, out) : explain_constant(w, rq, out);
    if (e == ERR_OK && *out == NULL) {
        return err_no_memory(rq->em);
    }
    return e;
}

static void write(struct jsonw *w, const struct explanation *e)
{
    jw_obj(w);
    jw_k(w, "value");
    if (e->whole) {
        jw_i64(w, e->i);
    } else if (e->is_double) {
        jw_double(w, e->d);
    } else {
        jw_float(w, e->match ? e->value : 0);
    }
    jw_kstr(w, "description", e->description);
    jw_karr(w, "details");
    for (uint32_t i = 0; i < e->n; i++) {
        write(w, e->details[i]);
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

enum err weight_explain(const struct weight *w, const struct leaf *leaf, doc_id doc, struct arena *arena,
                        struct jsonw *out, bool *matched, struct errmsg *em)
{
    struct explain_request rq = {leaf, doc, arena, em};
    struct explanation *e;
    enum err err = explain_weight(w, &rq, &e);
    if (err != ERR_OK) {
        return err;
    }
    *matched = e->match;
    write(out, e);
    return weight_error(w, em);
}
