/* _bulk: many writes in one body of lines. The loop only takes the lines apart; documents are parsed on the
 * write pool. */
#include "coordinator/ops/get.h"
#include "coordinator/rest/document.h"
#include "coordinator/rest/source_param.h"
#include "coordinator/rest/types.h"
#include "engine/index/engine.h"

#include <string.h>

struct bulk {
    struct rest *r;
    struct write_set set;
    size_t cap;
    bool roomy;      /* make_room() was called */
    struct str rest; /* lines not yet read */
    uint32_t line;
    struct str index;   /* of the path */
    struct str routing; /* defaults of the URL */
    struct str pipeline;
    bool require_alias;
    const struct json *source_filter;
    struct str type; /* of the path */
    struct write_complaints complaints;
};

static bool next_line(struct bulk *b, struct str *line)
{
    if (b->rest.n == 0) {
        return false;
    }
    *line = str_cut(b->rest, '\n', &b->rest);
    b->line++;
    if (line->n > 0 && line->p[line->n - 1] == '\r') {
        line->n--;
    }
    return true;
}

static enum err malformed(struct bulk *b, const char *wanted, const char *found)
{
    return err_set(&b->r->em, ERR_ILLEGAL_ARGUMENT,
                   "Malformed action/metadata line [%u], expected %s but found [%s]", b->line, wanted, found);
}

/* What a mistake in "_source" of an action is: its value is that of a body's, its place that of the line. */
static enum err read_source(struct bulk *b, struct str line, struct write_entry *e, const struct json *v)
{
    struct source_filter probe = {.enabled = true};
    if (v->type != JSON_OBJECT && v->type != JSON_BOOL && v->type != JSON_STRING) {
        return jr_fail(line, v->off, &b->r->em,
                       "Expected one of [VALUE_BOOLEAN, START_OBJECT] but found [%s]", json_token_name(v));
    }
    e->item.get_filter = v;
    e->item.want_get = !(v->type == JSON_BOOL && !v->b);
    return source_filter_parse(&probe, v, line, b->r->arena, &b->r->em);
}

static enum err read_number(struct bulk *b, const struct json_member *m, struct write_item *it)
{
    struct errmsg *em = &b->r->em;
    if (str_is(m->key, "version")) {
        return jr_long(&m->value, &it->version, em);
    }
    if (str_is(m->key, "retry_on_conflict")) {
        return jr_int(&m->value, &it->retry_on_conflict, em);
    }
    return jr_long(&m->value, str_is(m->key, "if_seq_no") ? &it->if_seq_no : &it->if_primary_term, em);
}

/* Numbers of conditions are checked when the whole action has been read. */
static enum err check_condition(struct bulk *b, const struct write_item *it)
{
    if (it->if_seq_no < 0 && it->if_seq_no != SEQ_UNASSIGNED) {
        return err_set(&b->r->em, ERR_ILLEGAL_ARGUMENT, "sequence numbers must be non negative. got [%lld].",
                       (long long)it->if_seq_no);
    }
    return it->if_primary_term >= 0
               ? ERR_OK
               : err_set(&b->r->em, ERR_ILLEGAL_ARGUMENT, "primary term must be non negative. got [%lld]",
                         (long long)it->if_primary_term);
}

static enum err read_text(struct bulk *b, const struct json_member *m, struct write_entry *e)
{
    struct write_item *it = &e->item;
    struct str key = m->key, text = json_text(&m->value);
    if (str_is(key, "_index")) {
        e->target = text;
    } else if (str_is(key, "_id")) {
        it->id = text;
        e->auto_id = false;
    } else if (str_is(key, "routing")) {
        it->routing = text.n > 0 ? text : STR_NULL;
    } else if (str_is(key, "pipeline")) {
        e->pipeline = e->item.kind == WRITE_INDEX ? text : e->pipeline; /* an update has the request's */
    } else if (str_is(key, "op_type")) {
        if (e->item.kind == WRITE_INDEX && str_is(text, "create")) {
            it->create = true;
            e->action = "create";
        }
    } else if (str_is(key, "version_type")) {
        return get_version_type(text, &it->version_type, &b->r->em);
    } else if (str_is(key, "_type")) {
        e->item.type = text;
        rest_deprecated(b->r, TYPED_BULK);
    } else {
        return err_set(&b->r->em, ERR_ILLEGAL_ARGUMENT,
                       "Action/metadata line [%u] contains an unknown parameter [%.*s]", b->line,
                       STR_ARG(key));
    }
    return ERR_OK;
}

static enum err action_param(struct bulk *b, struct str line, struct write_entry *e,
                             const struct json_member *m)
{
    const struct json *v = &m->value;
    bool is_source = str_is(m->key, "_source");
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    if (v->type == JSON_ARRAY || (v->type == JSON_OBJECT && !is_source)) {
        return err_set(
            &b->r->em, ERR_ILLEGAL_ARGUMENT,
            "Malformed action/metadata line [%u], expected a simple value for field [%.*s] but found [%s]",
            b->line, STR_ARG(m->key), json_token_name(v));
    }
    if (is_source) {
        return read_source(b, line, e, v);
    }
    if (str_is(m->key, "require_alias")) {
        return jr_bool(v, &e->require_alias, &b->r->em);
    }
    if (str_is(m->key, "version") || str_is(m->key, "if_seq_no") || str_is(m->key, "if_primary_term")
        || str_is(m->key, "retry_on_conflict")) {
        return read_number(b, m, &e->item);
    }
    return read_text(b, m, e);
}

/* Whether a value that is no object goes on where it should end: `2020-01-01`, `truex`. */
static bool is_joined(const struct json *v, struct str line, size_t behind)
{
    return behind != SIZE_MAX && v->type != JSON_OBJECT && v->type != JSON_ARRAY && v->type != JSON_STRING
           && behind > 0 && behind < line.n && strchr(" \t\r", line.p[behind - 1]) == NULL;
}

/* The action's line is read as far as its one member goes; of a text or an array only how it begins. */
static enum err parse_line(struct bulk *b, struct str line, struct json *tree)
{
    size_t behind;
    enum err err = json_parse_until(tree, &behind, line, b->r->arena, &json_limits_default, &b->r->em);
    bool action_is_whole =
        json_is(tree, JSON_OBJECT) && tree->n > 1 && json_is(&tree->members[0].value, JSON_OBJECT);
    if (err != ERR_JSON && err != ERR_JSON_EOF) {
        return err;
    }
    struct str begin = str_trim(line);
    if (begin.n > 0 && (begin.p[0] == '"' || begin.p[0] == '[')) {
        *tree = (struct json){.type = begin.p[0] == '"' ? JSON_STRING : JSON_ARRAY};
        return ERR_OK;
    }
    return (behind != SIZE_MAX || action_is_whole) && !is_joined(tree, line, behind) ? ERR_OK : err;
}

static enum err read_action(struct bulk *b, struct str line, struct write_entry *e)
{
    static const char *const actions[] = {"index", "create", "update", "delete"};
    struct json *tree = ARENA_NEW(b->r->arena, struct json);
    enum err err = tree != NULL ? parse_line(b, line, tree) : err_no_memory(&b->r->em);
    if (err != ERR_OK) {
        return err;
    }
    if (tree->type != JSON_OBJECT) {
        return malformed(b, "START_OBJECT", json_token_name(tree));
    }
    if (tree->n == 0) {
        return malformed(b, "FIELD_NAME", "END_OBJECT");
    }
    const struct json_member *m = &tree->members[0];
    if (m->value.type != JSON_OBJECT) {
        return malformed(b, "START_OBJECT or END_OBJECT", json_token_name(&m->value));
    }
    *e = (struct write_entry){
        .target = b->index, .require_alias = b->require_alias, .pipeline = b->pipeline, .auto_id = true};
    e->item = (struct write_item){
        .auto_id_ms = -1, .version = VERSION_ANY, .if_seq_no = SEQ_UNASSIGNED, .routing = b->routing};
    e->item.type = b->type;
    e->item.get_filter = b->source_filter;
    e->item.want_get =
        b->source_filter != NULL && !(b->source_filter->type == JSON_BOOL && !b->source_filter->b);
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        if (str_is(m->key, actions[i])) {
            e->action = actions[i];
            e->item.kind = i == 2 ? WRITE_UPDATE : i == 3 ? WRITE_DELETE : WRITE_INDEX;
            e->item.create = i == 1;
        }
    }
    for (uint32_t i = 0; i < m->value.n; i++) {
        err = action_param(b, line, e, &m->value.members[i]);
        if (err != ERR_OK) {
            return err;
        }
    }
    if (e->item.create
        && e->item.version == VERSION_MUST_BE_NEW) { /* what a creation is anyway; the Java client says so */
        e->item.version = VERSION_ANY;
    }
    if (e->item.kind == WRITE_DELETE) { /* what it does not have is read over */
        e->require_alias = false;
        e->pipeline = STR_NULL;
    }
    return ERR_OK;
}

/* Once the document of an action is at hand. */
static enum err read_document(struct bulk *b, struct write_entry *e)
{
    bool versioned = e->item.version != VERSION_ANY || e->item.version_type != VERSION_INTERNAL;
    if (e->item.kind == WRITE_UPDATE && versioned) {
        return err_set(&b->r->em, ERR_ILLEGAL_ARGUMENT,
                       "Update requests do not support versioning. Please use `if_seq_no` and "
                       "`if_primary_term` instead");
    }
    enum err err = check_condition(b, &e->item);
    if (err != ERR_OK || e->item.kind != WRITE_UPDATE) {
        return err;
    }
    return str_trim(e->item.source).n > 0
               ? update_body_read(b->r, e, e->item.source)
               : err_set(&b->r->em, ERR_X_CONTENT,
                         "[1:0] [UpdateRequest] Expected START_OBJECT but was: null");
}

/* ids and conditions of one entry, once its document is at hand. */
static enum err finish_entry(struct bulk *b, struct write_entry *e)
{
    struct rest *r = b->r;
    writes_complain(&b->complaints, e);
    if (e->item.id.n == 0 && e->item.kind == WRITE_INDEX && !e->auto_id) {
        e->error = ARENA_NEW(r->arena, struct errmsg);
        if (e->error == NULL) {
            return err_no_memory(&r->em);
        }
        *e->error = err_in(r->arena);
        err_set(e->error, ERR_ILLEGAL_ARGUMENT, "if _id is specified it must not be empty");
        e->index = e->target;
    }
    return ERR_OK;
}

/* Once one action was read: room for those of the lines that are left, by two lines each. Growing step by step leaves as much
 * behind, and is what remains where lines are so many that there is no room for them, which need not be actions. */
static void make_room(struct bulk *b)
{
    struct write_set *s = &b->set;
    struct str line, rest = b->rest;
    size_t lines = 0;
    while (rest.p != NULL) {
        line = str_cut(rest, '\n', &rest);
        lines += line.n > 1;
    }
    size_t cap = s->n + 1 + lines / 2;
    struct write_entry *v = arena_alloc(b->r->arena, cap * sizeof(*v));
    b->roomy = true;
    if (v != NULL) {
        memcpy(v, s->v, s->n * sizeof(*v));
        s->v = v;
        b->cap = cap;
    }
}

static enum err read_entry(struct bulk *b, struct str line)
{
    struct write_set *s = &b->set;
    if (s->n == 1 && !b->roomy) {
        make_room(b);
    }
    s->v = arena_grow(b->r->arena, s->v, s->n, &b->cap, sizeof(*s->v));
    if (s->v == NULL) {
        return err_no_memory(&b->r->em);
    }
    struct write_entry *e = &s->v[s->n];
    enum err err = read_action(b, line, e);
    if (err != ERR_OK) {
        return err;
    }
    if (e->item.kind != WRITE_DELETE) {
        if (!next_line(b, &e->item.source)) {
            return ERR_OK; /* an action without its document at the end is dropped */
        }
        if (e->action == NULL) {
            return ERR_OK; /* one that nobody knows is read over, and what stands below it */
        }
    }
    err = read_document(b, e);
    err = err == ERR_OK ? finish_entry(b, e) : err;
    s->n += err == ERR_OK;
    return err;
}

static void write_item(struct jsonw *w, const struct write_set *s, const struct write_entry *e)
{
    const struct errmsg *em = e->error != NULL ? e->error : e->item.error;
    jw_obj(w);
    jw_kobj(w, e->action);
    if (em != NULL) {
        jw_kstr(w, "_index", e->meta != NULL ? e->meta->name : e->index.p != NULL ? e->index : e->target);
        jw_kstr(w, "_type", write_item_type(&e->item));
        jw_k(w, "_id");
        if (e->item.id.p != NULL) {
            jw_str(w, e->item.id);
        } else {
            jw_null(w); /* one that is made later */
        }
        jw_ki64(w, "status", writes_status(e));
        jw_kobj(w, "error");
        error_write_cause(w, em);
        jw_obj_end(w);
    } else {
        writes_result(w, e, s->forced_refresh, true);
        jw_ki64(w, "status", writes_status(e));
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static void answer(struct write_set *s)
{
    struct rest *r = rest_of(s->r);
    struct buf b;
    struct jsonw w;
    bool errors = false;
    if (s->blocked && s->n > 0 && s->v[0].error != NULL) {
        rest_fail(r, s->v[0].error);
        return;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        errors |= s->v[i].error != NULL || s->v[i].item.error != NULL;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_ki64(&w, "took", (r->co->o.clock->mono_ns(r->co->o.clock->self) - r->start_ns) / 1000000);
    if (s->ingests) {
        jw_ki64(&w, "ingest_took", s->ingest_ms);
    }
    jw_kbool(&w, "errors", errors);
    jw_karr(&w, "items");
    for (uint32_t i = 0; i < s->n; i++) {
        write_item(&w, s, &s->v[i]);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
    writes_fini(s);
    rest_send(r, 200, &b);
}

static enum err read_all(struct bulk *b)
{
    struct rest *r = b->r;
    struct str line;
    if (r->body.n == 0) {
        return err_set(&r->em, ERR_PARSE, "request body is required");
    }
    if (r->body.p[r->body.n - 1] != '\n') {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "The bulk request must be terminated by a newline [\\n]");
    }
    b->rest = r->body;
    write_complaints_init(&b->complaints);
    while (next_line(b, &line)) {
        if (str_trim(line).n == 0) {
            continue;
        }
        enum err e = read_entry(b, line);
        if (e != ERR_OK) {
            buf_fini(&b->complaints.text);
            return e;
        }
    }
    if (b->set.n == 0) {
        b->complaints.n++;
        buf_z(&b->complaints.text, "1: no requests added;");
    }
    return ERR_OK;
}

static void bulk(struct rest *r)
{
    struct bulk *b = ARENA_NEW(r->arena, struct bulk);
    if (!rest_takes_lines(r)) {
        return;
    }
    if (b == NULL) {
        rest_no_memory(r);
        return;
    }
    *b = (struct bulk){.r = r, .set = {.r = &r->env, .done = answer}};
    b->index = rest_param(r, "index");
    b->routing = rest_param(r, "routing");
    b->pipeline = rest_param(r, "pipeline");
    b->type = rest_type(r, TYPED_BULK);
    b->source_filter = rest_source_filter(r);
    enum err e = rest_write_params(r, &b->set);
    e = e == ERR_OK ? rest_bool(r, "require_alias", false, &b->require_alias) : e;
    e = e == ERR_OK ? read_all(b) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        buf_fini(&b->complaints.text);
    } else if (writes_complained(&b->complaints, &r->em) != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        writes_run(&b->set);
    }
}

const struct route routes_bulk[] = {
    {M_PUT | M_POST, "/_bulk", bulk},
    {M_PUT | M_POST, "/{index}/_bulk", bulk},
    {M_PUT | M_POST, "/{index}/{type}/_bulk", bulk},
};
const size_t routes_bulk_n = ARRAY_LEN(routes_bulk);
