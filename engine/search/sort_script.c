/* Sort keys that a script computes: numbers, or texts. */
#include "engine/query/script_use.h"
#include "engine/search/sort.h"

#include <math.h>

enum err sort_script_bind(const struct search_context *cx, struct sort_key *k, struct sort_plan *p, struct errmsg *em)
{
    const struct sort_spec *s = k->spec;
    k->is_script = true;
    k->is_text = s->script_is_string;
    k->floating = !s->script_is_string;
    enum err e = script_of_form(&cx->query, s->script, s->script_is_string ? SCRIPT_STRING_SORT : SCRIPT_NUMBER_SORT, &k->script, em);
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
                                 .leaf = leaf,
                                 .arena = p->cx->arena,
                                 .now_ms = p->cx->shard->now_ms};
    return script_docs_new(&k->script_docs, &o, em);
}

void sort_script_load(struct sort_plan *p, struct sort_key *k, doc_id doc, struct sort_cell *out)
{
    double d = 0;
    struct str text = STR("");
    struct errmsg em;
    enum err e;
    err_clear(&em);
    if (k->is_text) {
        e = script_docs_text(k->script_docs, doc, p->score, &text, &em);
        buf_reset(&out->text);
        buf_str(&out->text, text);
        out->leaf = UINT32_MAX;
        out->null = false;
        out->settled = true;
    } else {
        e = script_docs_number(k->script_docs, doc, p->score, &d, &em);
        out->num = num_from_double(d);
    }
    if (e != ERR_OK && p->error.n == 0) {
        p->error = em;
    }
}
