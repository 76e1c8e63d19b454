/* The shard's part: every suggestion over one view, into bytes. */
#include "engine/suggest/suggest_int.h"

static enum err run_one(const struct suggest_run *r, const struct suggestion *s, struct suggest_result *out)
{
    struct str text = s->text.p != NULL     ? s->text
                      : s->prefix.p != NULL ? s->prefix
                      : s->regex.p != NULL  ? s->regex
                                            : r->spec->text;
    switch (s->kind) {
    case SUGGEST_COMPLETION:
        return completion_run(r, (const struct completion_suggestion *)s, text, out);
    case SUGGEST_TERM:
        return term_run(r, (const struct term_suggestion *)s, text, out);
    case SUGGEST_PHRASE:
        break;
    }
    return phrase_run(r, (const struct phrase_suggestion *)s, text, out);
}

/* A name that was given twice counts once, with what came last. */
static bool overridden(const struct suggest_spec *spec, size_t i)
{
    for (size_t k = i + 1; k < spec->n; k++) {
        if (str_eq(spec->v[k]->name, spec->v[i]->name)) {
            return true;
        }
    }
    return false;
}

enum err suggest_run(const struct suggest_spec *spec, const struct search_context *cx, struct buf *out,
                     struct errmsg *em)
{
    struct suggest_run r = {.spec = spec, .cx = cx, .arena = cx->arena, .em = em};
    for (size_t i = 0; i < spec->n; i++) {
        struct suggest_result result = {.n = 0};
        enum err e = overridden(spec, i) ? ERR_OK : run_one(&r, spec->v[i], &result);
        if (e != ERR_OK) {
            return e;
        }
        suggest_result_encode(&result, out);
    }
    return out->failed ? err_no_memory(em) : ERR_OK;
}
