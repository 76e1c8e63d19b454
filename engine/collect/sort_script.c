/* Sort keys that a script computes: numbers, or texts. */
#include "engine/collect/sort.h"
#include "engine/query/script_use.h"

#include <float.h>

enum err sort_script_bind(const struct search_context *cx, struct sort_key *k, struct sort_plan *p,
                          struct errmsg *em)
{
    const struct sort_spec *s = k->spec;
    k->is_script = true;
    k->is_text = s->script_is_string;
    k->floating = !s->script_is_string;
    enum err e = script_of_form(
        &cx->query, s->script, s->script_is_string ? SCRIPT_STRING_SORT : SCRIPT_NUMBER_SORT, &k->script, em);
    if (e == ERR_OK && script_needs_score(k->script)) {
        p->needs_scores = true;
    }
    return e;
}

enum err sort_script_leaf(struct sort_plan *p, struct sort_key *k, const struct leaf *leaf, struct errmsg *em)
{
    struct script_docs_opts o = {.script = k->script,
                                 .params = script_form_params(k->spec->script),
                                 .mapping = p->cx->shard->view->mapping,
                                 .index_name = p->cx->shard->index_name,
                                 .leaf = leaf,
                                 .arena = p->cx->arena,
                                 .now_ms = p->cx->shard->scope.now_ms};
    return script_docs_new(&k->script_docs, &o, em);
}

/* One document's value. */
static enum err run(struct sort_plan *p, struct sort_key *k, doc_id doc, double *d, struct str *text,
                    struct errmsg *em)
{
    return k->is_text ? script_docs_text(k->script_docs, doc, p->score, text, em)
                      : script_docs_number(k->script_docs, doc, p->score, d, NULL, em);
}

static void set_text(struct sort_cell *out, struct str text)
{
    buf_reset(&out->text);
    buf_str(&out->text, text);
    out->leaf = UINT32_MAX;
    out->null = false;
    out->settled = true;
}

/* The nested documents' values, combined as the mode says. */
static enum err run_nested(struct sort_plan *p, struct sort_key *k, doc_id doc, struct sort_cell *out,
                           struct errmsg *em)
{
    struct sort_children it = {0};
    double sum = 0, best = 0;
    uint32_t n = 0;
    bool most = k->mode == SORT_MODE_MAX;
    out->null = k->is_text;
    while (sort_nested_next(k, doc, &it)) {
        double d = 0;
        struct str text = STR("");
        enum err e = run(p, k, it.at, &d, &text, em);
        if (e != ERR_OK) {
            return e;
        }
        int order = n == 0 || !k->is_text ? 0 : str_cmp(text, buf_view(&out->text));
        if (k->is_text && (n == 0 || (most ? order > 0 : order < 0))) {
            set_text(out, text);
        }
        best = n == 0 || (most ? d > best : d < best) ? d : best;
        sum += d;
        n++;
        it.used++;
    }
    bool summed = k->mode == SORT_MODE_SUM || k->mode == SORT_MODE_AVG;
    double value = !summed ? best : k->mode == SORT_MODE_SUM ? sum : sum / n;
    out->num = num_from_double(n > 0 ? value : k->spec->descending ? -DBL_MAX : DBL_MAX);
    return ERR_OK;
}

void sort_script_load(struct sort_plan *p, struct sort_key *k, doc_id doc, struct sort_cell *out)
{
    double d = 0;
    struct str text = STR("");
    ERR_LOCAL(em);
    enum err e = k->nested != NULL ? run_nested(p, k, doc, out, &em) : run(p, k, doc, &d, &text, &em);
    if (k->nested == NULL && k->is_text) {
        set_text(out, text);
    } else if (k->nested == NULL) {
        out->num = num_from_double(d);
    }
    if (e != ERR_OK && !err_is(&p->error)) {
        err_copy(&p->error, &em);
    }
}
