#include "engine/fetch/script_fields.h"

#include "engine/query/script_use.h"

static enum err run_one(struct fetch *f, struct fetch_hit *h, const struct script_field *s, struct json *out,
                        struct errmsg *em)
{
    struct script *script;
    struct script_docs *docs;
    struct query_context cx = f->cx.query;
    cx.arena = h->arena;
    enum err e = script_of_form(&cx, s->script, SCRIPT_FIELD, &script, em);
    struct script_docs_opts o = {.script = script,
                                 .params = script_form_params(s->script),
                                 .mapping = f->shard->view->mapping,
                                 .index_name = f->shard->index_name,
                                 .leaf = h->leaf,
                                 .arena = h->arena,
                                 .now_ms = f->shard->scope.now_ms};
    e = e == ERR_OK ? script_docs_new(&docs, &o, em) : e;
    return e == ERR_OK ? script_docs_value(docs, h->doc, h->arena, out, em) : e;
}

enum err script_fields_check(const struct search_context *cx, struct errmsg *em)
{
    for (uint32_t i = 0; i < cx->source->n_script_fields; i++) {
        struct script *script;
        const struct json *form = cx->source->script_fields[i].script;
        enum err e = form == NULL ? err_set(em, ERR_NULL_POINTER, "a script field has no script")
                                  : script_of_form(&cx->query, form, SCRIPT_FIELD, &script, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err script_fields_write(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    for (uint32_t i = 0; i < f->source->n_script_fields; i++) {
        const struct script_field *s = &f->source->script_fields[i];
        struct json v;
        enum err e = run_one(f, h, s, &v, f->em);
        if (e != ERR_OK && e != ERR_UNWRITABLE && s->ignore_failure) {
            err_clear(f->em);
            continue;
        }
        if (e != ERR_OK) {
            return e;
        }
        if (v.type == JSON_ARRAY && v.n == 0) {
            continue;
        }
        jw_key(w, s->name);
        if (v.type == JSON_ARRAY) {
            jw_value(w, &v);
        } else {
            jw_arr(w);
            jw_value(w, &v);
            jw_arr_end(w);
        }
    }
    return ERR_OK;
}
