/* Composable templates that would be in each other's way, and components that are missing. */
#include "master/template_int.h"

/* Could one name match both patterns? Only `*` is special. */
static bool overlap(struct str a, struct str b)
{
    if (a.n == 0 || b.n == 0) {
        struct str rest = a.n == 0 ? b : a;
        for (size_t i = 0; i < rest.n; i++) {
            if (rest.p[i] != '*') {
                return false;
            }
        }
        return true;
    }
    if (a.p[0] == '*') {
        return overlap(str_slice(a, 1, a.n), b) || overlap(a, str_slice(b, 1, b.n));
    }
    if (b.p[0] == '*') {
        return overlap(a, str_slice(b, 1, b.n)) || overlap(str_slice(a, 1, a.n), b);
    }
    return a.p[0] == b.p[0] && overlap(str_slice(a, 1, a.n), str_slice(b, 1, b.n));
}

/* Overlap is exponential in the stars of both patterns: past this many, patterns are taken to overlap. */
#define STARS_MAX 8

static unsigned stars(struct str p)
{
    unsigned n = 0;
    for (size_t i = 0; i < p.n; i++) {
        n += p.p[i] == '*';
    }
    return n;
}

bool templates_overlap(const struct template_meta *a, const struct template_meta *b)
{
    for (uint32_t i = 0; i < a->n_patterns; i++) {
        for (uint32_t k = 0; k < b->n_patterns; k++) {
            if (stars(a->patterns[i]) + stars(b->patterns[k]) > STARS_MAX
                || overlap(a->patterns[i], b->patterns[k])) {
                return true;
            }
        }
    }
    return false;
}

static void list_patterns(struct buf *b, const struct template_meta *t)
{
    for (uint32_t i = 0; i < t->n_patterns; i++) {
        buf_printf(b, "%s%.*s", i > 0 ? ", " : "", STR_ARG(t->patterns[i]));
    }
}

static enum err refuse_rival(const struct template_meta *t, const struct template_meta *o, struct errmsg *em)
{
    struct buf own, theirs;
    buf_init(&own, NULL, BUF_UNLIMITED);
    buf_init(&theirs, NULL, BUF_UNLIMITED);
    list_patterns(&own, t);
    list_patterns(&theirs, o);
    err_set(em, ERR_ILLEGAL_ARGUMENT,
            "index template [%.*s] has index patterns [%.*s] matching patterns from existing templates "
            "[%.*s] with "
            "patterns (%.*s => [%.*s]) that have the same priority [%lld], multiple index templates may not "
            "match "
            "during index creation, please use a different priority",
            STR_ARG(t->name), STR_ARG(buf_view(&own)), STR_ARG(o->name), STR_ARG(o->name),
            STR_ARG(buf_view(&theirs)), (long long)t->order);
    buf_fini(&own);
    buf_fini(&theirs);
    return ERR_ILLEGAL_ARGUMENT;
}

enum err template_check_rivals(const struct cluster_state *cur, const struct template_meta *t,
                               struct errmsg *em)
{
    for (uint32_t i = 0; i < cur->n_templates; i++) {
        const struct template_meta *o = cur->templates[i];
        if (o->kind != TEMPLATE_COMPOSABLE || str_eq(o->name, t->name) || o->order != t->order
            || !templates_overlap(o, t)) {
            continue;
        }
        return refuse_rival(t, o, em);
    }
    return ERR_OK;
}

enum err template_check_components(const struct cluster_state *cur, const struct template_meta *t,
                                   const struct json *body, struct errmsg *em)
{
    const struct json *parts = json_get(body, "composed_of");
    struct buf missing;
    enum err e = ERR_OK;
    buf_init(&missing, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; parts != NULL && i < (parts->type == JSON_ARRAY ? parts->n : 1); i++) {
        struct str name = json_text(parts->type == JSON_ARRAY ? &parts->items[i] : parts);
        if (cluster_template(cur, TEMPLATE_COMPONENT, name) == NULL) {
            buf_printf(&missing, "%s%.*s", missing.n > 0 ? ", " : "", STR_ARG(name));
        }
    }
    if (missing.n > 0) {
        e = err_set(em, ERR_INVALID_TEMPLATE,
                    "index_template [%.*s] invalid, cause [index template [%.*s] specifies component "
                    "templates [%.*s] that do not exist]",
                    STR_ARG(t->name), STR_ARG(t->name), STR_ARG(buf_view(&missing)));
    }
    buf_fini(&missing);
    return e;
}
