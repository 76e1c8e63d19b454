/* Settings of indices: read and changed. */
#include "coordinator/rest/meta.h"

#include "common/base/date.h"
#include "common/base/num.h"
#include "common/settings/setting_registry.h"

/* ---- writing ------------------------------------------------------------------------------------------- */

static bool name_requested(struct str key, const struct str *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (str_glob(names[i], key)) {
            return true;
        }
    }
    return n == 0;
}

static bool put_copy(struct settings *to, const struct setting *s)
{
    return s->is_null   ? settings_put_null(to, s->key)
           : s->is_list ? settings_put_list(to, s->key, s->items, s->n)
                        : settings_put(to, s->key, s->value);
}

static enum err filtered(struct rest *r, const struct settings *from, const struct str *names, uint32_t n,
                         struct settings *out)
{
    settings_init(out, r->arena);
    for (size_t i = 0; i < from->n; i++) {
        if (name_requested(from->v[i].key, names, n) && !put_copy(out, &from->v[i])) {
            return err_no_memory(&r->em);
        }
    }
    return ERR_OK;
}

/* What ?human adds: the time and the version in words. */
static enum err put_human(struct rest *r, const struct index_meta *m, const struct str *names, uint32_t n,
                          struct settings *out)
{
    const struct date_format *f;
    struct settings more;
    struct buf b;
    settings_init(&more, r->arena);
    enum err e = date_format_new(&f, STR("strict_date_time"), r->arena, &r->em);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&b, NULL, KIB);
    bool ok = date_print(f, instant_of_ms(m->created_ms), NULL, &b)
              && settings_put(&more, STR("index.creation_date_string"), buf_view(&b))
              && settings_put(&more, STR("index.version.created_string"), STR("7.12.1"));
    buf_fini(&b);
    for (size_t i = 0; ok && i < more.n; i++) {
        ok = !name_requested(more.v[i].key, names, n) || put_copy(out, &more.v[i]);
    }
    return ok ? ERR_OK : err_no_memory(&r->em);
}

static enum err settings_of(struct rest *r, const struct index_meta *m, const struct str *names, uint32_t n,
                            struct settings *out)
{
    bool human = false;
    enum err e = rest_bool(r, "human", false, &human);
    e = e == ERR_OK ? filtered(r, &m->settings, names, n, out) : e;
    return e == ERR_OK && human ? put_human(r, m, names, n, out) : e;
}

enum err index_settings_write(struct rest *r, const struct index_meta *m, const struct str *names, uint32_t n,
                              bool flat, struct jsonw *w)
{
    struct settings s;
    enum err e = settings_of(r, m, names, n, &s);
    if (e == ERR_OK) {
        settings_write(&s, w, flat);
    }
    return e;
}

static enum err defaults_of(struct rest *r, const struct index_meta *m, const struct str *names, uint32_t n,
                            struct settings *out)
{
    struct settings all;
    settings_init(&all, r->arena);
    if (!settings_put_defaults(&setting_registry_index, &m->settings, NULL, &m->settings, &all)) {
        return err_no_memory(&r->em);
    }
    return filtered(r, &all, names, n, out);
}

enum err index_defaults_write(struct rest *r, const struct index_meta *m, const struct str *names, uint32_t n,
                              bool flat, struct jsonw *w)
{
    struct settings s;
    enum err e = defaults_of(r, m, names, n, &s);
    if (e == ERR_OK) {
        settings_write(&s, w, flat);
    }
    return e;
}

/* ---- GET ----------------------------------------------------------------------------------------------- */

struct get_options {
    const struct str *names;
    uint32_t n_names;
    bool flat, defaults;
};

static enum err write_index(struct rest *r, const struct index_meta *m, const struct get_options *o,
                            struct jsonw *w)
{
    struct settings s, d;
    enum err e = settings_of(r, m, o->names, o->n_names, &s);
    settings_init(&d, r->arena);
    if (e == ERR_OK && o->defaults) {
        e = defaults_of(r, m, o->names, o->n_names, &d);
    }
    /* an index that has none of the settings asked for is left out */
    if (e != ERR_OK || (s.n == 0 && d.n == 0)) {
        return e;
    }
    jw_key(w, m->name);
    jw_obj(w);
    jw_k(w, "settings");
    settings_write(&s, w, o->flat);
    if (o->defaults && d.n > 0) {
        jw_k(w, "defaults");
        settings_write(&d, w, o->flat);
    }
    jw_obj_end(w);
    return ERR_OK;
}

static enum err get_options(struct rest *r, struct get_options *g, struct expand_options *o)
{
    *g = (struct get_options){0};
    enum err e = rest_check_bool(r, "local");
    e = e == ERR_OK ? rest_check_time(r, "master_timeout") : e;
    e = e == ERR_OK ? rest_bool(r, "flat_settings", false, &g->flat) : e;
    e = e == ERR_OK ? rest_bool(r, "include_defaults", false, &g->defaults) : e;
    e = e == ERR_OK ? rest_list(r, "name", &g->names, &g->n_names) : e;
    for (uint32_t i = 0; i < g->n_names; i++) {
        if (str_is(g->names[i], "_all")) {
            g->n_names = 0;
        }
    }
    return e == ERR_OK ? rest_index_options(r, o) : e;
}

static void get_settings(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_READ;
    struct get_options g;
    const struct index_target *t;
    uint32_t n;
    struct buf b;
    struct jsonw w;
    struct str expression = rest_param(r, "index");
    enum err e = get_options(r, &g, &o);
    if (e == ERR_OK && !rest_ready(r)) {
        return;
    }
    e = e == ERR_OK ? resolve_indices(r->state, expression, &o, clock_wall_ms(r->co->o.clock), r->arena, &t,
                                      &n, &r->em)
                    : e;
    e = e == ERR_OK ? rest_metadata_readable(r, t, n) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        e = write_index(r, t[i].meta, &g, &w);
    }
    jw_obj_end(&w);
    rest_send_or_fail(r, e, &b);
}

/* ---- PUT ----------------------------------------------------------------------------------------------- */

/* Is there any setting among groups of groups? */
static bool has_values(const struct json *group)
{
    bool found = false;
    for (uint32_t i = 0; !found && i < group->n; i++) {
        const struct json *v = &group->members[i].value;
        found = v->type != JSON_OBJECT || has_values(v);
    }
    return found;
}

static void put_settings(struct rest *r)
{
    struct expand_options o = {false, false, EXPAND_OPEN | EXPAND_CLOSED, false, false, 0};
    const struct json *body = NULL;
    bool preserve;
    rest_accept(r, "flat_settings");
    enum err e = rest_bool(r, "preserve_existing", false, &preserve);
    e = e == ERR_OK ? rest_body_required(r, &body) : e;
    const struct json *inner = json_get(body, "settings");
    body = json_is(inner, JSON_OBJECT) ? inner : body;
    if (e == ERR_OK && (body->type != JSON_OBJECT || !has_values(body))) {
        e = err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: no settings to update;");
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_meta_indices(r, META_UPDATE_SETTINGS, &o);
    if (rq != NULL) {
        rq->body = *body;
        rq->preserve_existing = preserve;
        rest_meta_acknowledge(r, rq);
    }
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

static void block_answer(struct rest *r, struct meta_request *rq)
{
    struct buf b;
    struct jsonw w;
    if (err_is(&rq->error)) {
        rest_fail(r, &rq->error);
        rest_meta_free(rq);
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kbool(&w, "acknowledged", true);
    jw_kbool(&w, "shards_acknowledged", rq->n_names > 0);
    jw_karr(&w, "indices");
    for (uint32_t i = 0; i < rq->n_names; i++) {
        jw_obj(&w);
        jw_kstr(&w, "name", rq->names[i]);
        jw_kbool(&w, "blocked", true);
        jw_obj_end(&w);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
    rest_meta_free(rq);
    rest_send(r, 200, &b);
}

/* Indices that have the block already are skipped. false: no memory. */
static bool leave_blocked(struct rest *r, struct meta_request *rq, struct str key)
{
    struct str *left = ARENA_ARRAY(&rq->arena, struct str, rq->n_names);
    uint32_t n = 0;
    if (left == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < rq->n_names; i++) {
        const struct index_meta *m = cluster_index(r->state, rq->names[i]);
        const struct setting *s = m != NULL ? settings_find(&m->settings, key) : NULL;
        if (s == NULL || !str_is(s->value, "true")) {
            left[n++] = rq->names[i];
        }
    }
    rq->names = left;
    rq->n_names = n;
    return true;
}

static void put_block(struct rest *r)
{
    static const char *const names[] = {"metadata", "read", "read_only", "write"};
    struct expand_options o = {false, true, EXPAND_OPEN, false, false, 0};
    struct str block = rest_param(r, "block");
    struct json setting = json_mk_object();
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        known |= str_is(block, names[i]);
    }
    if (!known) {
        if (str_is(block, "read_only_allow_delete")) {
            err_set(&r->em, ERR_ACTION_VALIDATION,
                    "Validation Failed: 1: read_only_allow_delete block is for internal use only;");
        } else {
            err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "No block found with name %.*s", STR_ARG(block));
        }
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_meta_indices(r, META_UPDATE_SETTINGS, &o);
    if (rq == NULL) {
        return;
    }
    struct str key = arena_printf(&rq->arena, "index.blocks.%.*s", STR_ARG(block));
    if (key.p == NULL || !json_put(&setting, &rq->arena, key, json_mk_bool(true))
        || !leave_blocked(r, rq, key)) {
        rest_meta_free(rq);
        rest_no_memory(r);
        return;
    }
    rq->body = setting;
    rest_meta_then(r, rq, block_answer);
}

/* ---- what is not offered ------------------------------------------------------------------------------- */

static void resize(struct rest *r)
{
    rest_accept(r, "index");
    err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
            "split, shrink and clone of an index are not supported: reindex into a new one instead");
    rest_fail(r, NULL);
}

const struct route routes_index_settings[] = {
    {M_GET, "/_settings", get_settings},
    {M_GET, "/_settings/{name}", get_settings},
    {M_GET, "/{index}/_settings", get_settings},
    {M_GET, "/{index}/_settings/{name}", get_settings},
    {M_GET, "/{index}/_setting/{name}", get_settings},
    {M_PUT, "/_settings", put_settings},
    {M_PUT, "/{index}/_settings", put_settings},
    {M_PUT, "/{index}/_block/{block}", put_block},
    {M_PUT | M_POST, "/{index}/_split/{target}", resize},
    {M_PUT | M_POST, "/{index}/_shrink/{target}", resize},
    {M_PUT | M_POST, "/{index}/_clone/{target}", resize},
};
const size_t routes_index_settings_n = ARRAY_LEN(routes_index_settings);
