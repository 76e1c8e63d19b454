/* The result of an update on the current document: by partial document or by script, with their upserts. */
#include "data/service/update.h"
#include "data/service/update_script.h"
#include "engine/mapping/source_filter.h"
#include "engine/query/source.h"

struct merge_state {
    struct arena *arena;
    bool changed;
    bool failed; /* no memory */
};

/* Members of `from` over `into`: objects merge, everything else (arrays too) is replaced. */
static void merge(struct merge_state *m, struct json *into, const struct json *from)
{
    for (uint32_t i = 0; i < from->n && !m->failed; i++) {
        const struct json_member *f = &from->members[i];
        struct json *old = json_member_of(into, f->key);
        if (old != NULL && old->type == JSON_OBJECT && f->value.type == JSON_OBJECT) {
            merge(m, old, &f->value);
        } else if (old == NULL || !json_equal(old, &f->value)) {
            m->changed = true;
            m->failed |= !json_put(into, m->arena, f->key, f->value);
        }
    }
}

static enum err to_text(const struct json *v, struct arena *arena, struct str *out, struct errmsg *em)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_value(&w, v);
    *out = arena_str(arena, buf_view(&b));
    bool ok = !b.failed && out->p != NULL;
    buf_fini(&b);
    return ok ? ERR_OK : err_no_memory(em);
}

static bool flag(const struct json *body, const char *name, bool otherwise)
{
    const struct json *v = json_get(body, name);
    return v == NULL ? otherwise : v->type == JSON_BOOL ? v->b : str_is(json_text(v), "true");
}

static enum err missing(const struct update_input *in, struct errmsg *em)
{
    return err_set(em, ERR_DOCUMENT_MISSING, "[%.*s][%.*s]: document missing",
                   STR_ARG(write_item_type(in->item)), STR_ARG(in->item->id));
}

/* The document is not there: what comes instead. */
static enum err upsert(struct update_plan *out, const struct update_input *in, const struct json *body,
                       struct arena *arena, struct errmsg *em)
{
    const struct json *doc = json_get(body, "doc"), *first = json_get(body, "upsert");
    out->result = UPDATE_INDEX;
    if (first != NULL && flag(body, "scripted_upsert", false) && json_get(body, "script") != NULL) {
        return update_by_script(out, in, body, first, true, arena, em);
    }
    if (flag(body, "doc_as_upsert", in->item->doc_as_upsert) && doc != NULL) {
        first = doc;
    }
    return first != NULL ? to_text(first, arena, &out->source, em) : missing(in, em);
}

static enum err by_document(struct update_plan *out, const struct json *body, const struct json *doc,
                            struct json *source, struct str text, struct arena *arena, struct errmsg *em)
{
    struct merge_state m = {.arena = arena};
    struct json own; /* json_put grows objects in place: they must be of json_copy's making */
    if (!json_copy(&own, source, arena)) {
        return err_no_memory(em);
    }
    merge(&m, &own, doc);
    if (m.failed) {
        return err_no_memory(em);
    }
    if (!m.changed && flag(body, "detect_noop", true)) {
        out->result = UPDATE_NOOP;
        out->source = text;
        return ERR_OK;
    }
    out->result = UPDATE_INDEX;
    return to_text(&own, arena, &out->source, em);
}

enum err update_plan_make(struct update_plan *out, const struct update_input *in, struct arena *arena,
                          struct errmsg *em)
{
    struct json body, source;
    enum err e = json_parse(&body, in->item->source, arena, &json_limits_default, em);
    if (e != ERR_OK) {
        return e;
    }
    if (!in->current->found) {
        return upsert(out, in, &body, arena, em);
    }
    if (in->current->source.n == 0) {
        return err_set(em, ERR_SOURCE_MISSING, "[%.*s][%.*s]: document source missing",
                       STR_ARG(write_item_type(in->item)), STR_ARG(in->item->id));
    }
    e = json_parse(&source, in->current->source, arena, &json_limits_default, em);
    if (e != ERR_OK) {
        return e;
    }
    const struct json *doc = json_get(&body, "doc");
    if (doc != NULL) {
        return by_document(out, &body, doc, &source, in->current->source, arena, em);
    }
    return update_by_script(out, in, &body, &source, false, arena, em);
}

enum err source_get_object(const struct write_item *item, struct str source, struct arena *arena,
                           struct jsonw *w, struct errmsg *em)
{
    struct source_filter f = {.enabled = true};
    if (item->get_filter != NULL) {
        enum err e = source_filter_parse(&f, item->get_filter, STR(""), arena, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    jw_obj(w);
    if (item->seq_no < 0) { /* there is no document, and none was made */
        jw_kbool(w, "found", false);
        jw_obj_end(w);
        return ERR_OK;
    }
    jw_ki64(w, "_seq_no", item->seq_no);
    jw_ki64(w, "_primary_term", item->primary_term);
    jw_kbool(w, "found", true);
    bool whole = f.n_includes == 0 && f.n_excludes == 0;
    if (f.enabled && source.n > 0 && !(whole && item->outcome == WRITE_DELETED)) { /* parts are shown */
        jw_k(w, "_source");
        if (whole) {
            jw_raw(w, source);
        } else {
            struct json tree;
            enum err e = json_parse(&tree, source, arena, &json_limits_default, em);
            if (e != ERR_OK) {
                return e;
            }
            struct source_patterns p = {f.includes, f.excludes, f.n_includes, f.n_excludes};
            source_filter_write(&tree, &p, w);
        }
    }
    jw_obj_end(w);
    return ERR_OK;
}
