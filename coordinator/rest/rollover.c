/* _rollover: a new index takes the place of the one that an alias writes to, once that is old, large or full enough. */
#include "coordinator/rest/broadcast.h"
#include "coordinator/rest/meta.h"
#include "coordinator/rest/types.h"

#include "common/base/jsonr_object.h"
#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/time_text.h"

#define NS_PER_MS INT64_C(1000000)

enum rollover_kind { MAX_AGE, MAX_DOCS, MAX_SIZE, MAX_PRIMARY_SHARD_SIZE, ROLLOVER_CONDITIONS };
static const char *const condition_names[ROLLOVER_CONDITIONS] = {"max_age", "max_docs", "max_size",
                                                                 "max_primary_shard_size"};

struct rollover {
    struct rest *r;
    struct json settings, mappings, aliases; /* JSON_NULL: none is given */
    bool given[ROLLOVER_CONDITIONS], met[ROLLOVER_CONDITIONS];
    int64_t limit[ROLLOVER_CONDITIONS]; /* milliseconds, documents, bytes, bytes */
    bool typed, dry_run;
    struct str type; /* of the mapping */
    int64_t timeout_ms;
    struct str alias, provided; /* of the new index: as it was given or made */
    struct str name;            /* and what that comes to */
    const struct index_meta *old;
};

/* ---- body ---------------------------------------------------------------------------------------------- */

static enum err condition_read(struct jr_reader *rd, void *to, const char *field, const struct json *v)
{
    struct rollover *q = to;
    unsigned i = 0;
    while (strcmp(condition_names[i], field) != 0) {
        i++;
    }
    q->given[i] = true;
    if (i == MAX_DOCS) {
        return jr_long(v, &q->limit[i], rd->em);
    }
    if (i == MAX_AGE) {
        return parse_time_ms(json_text(v), field, &q->limit[i], rd->em);
    }
    return parse_bytes(json_text(v), field, &q->limit[i], rd->em) == ERR_OK
               ? ERR_OK
               : err_set(rd->em, ERR_PARSE,
                         "failed to parse setting [%s] with value [%.*s] as a size in bytes: unit is missing "
                         "or unrecognized",
                         field, STR_ARG(json_text(v)));
}

/* The mapping, without its type where there is one. */
static enum err read_mappings(struct rollover *q, const struct json *v)
{
    struct rest *r = q->r;
    bool single = v->n >= 1 && v->members[0].value.type == JSON_OBJECT;
    if (!q->typed && single && v->n == 1 && str_is(v->members[0].key, "_doc")) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "The mapping definition cannot be nested under a type [_doc] unless include_type_name "
                       "is set to true.");
    }
    q->mappings = *v;
    if (q->typed && single) {
        q->type = v->members[0].key;
        q->mappings = v->members[0].value;
    }
    return ERR_OK;
}

static enum err body_read(struct jr_reader *rd, void *to, const char *field, const struct json *v)
{
    static const struct jr_field fields[] = {{"max_age", JR_BY_READER(JR_STRING), JR_SETTER},
                                             {"max_docs", JR_BY_READER(JR_NUMBER | JR_STRING), JR_SETTER},
                                             {"max_size", JR_BY_READER(JR_STRING), JR_SETTER},
                                             {"max_primary_shard_size", JR_BY_READER(JR_STRING), JR_SETTER}};
    static const struct jr_object conditions = {"conditions", fields, ARRAY_LEN(fields), condition_read,
                                                NULL};
    struct rollover *q = to;
    if (field[0] == 'c') {
        return jr_object_at(rd, &conditions, q, v);
    }
    if (field[0] == 'm') {
        return read_mappings(q, v);
    }
    *(field[0] == 's' ? &q->settings : &q->aliases) = *v;
    return ERR_OK;
}

static enum err read_body(struct rollover *q)
{
    static const struct jr_field fields[] = {{"conditions", JR_BY_READER(JR_OBJECT), JR_SETTER},
                                             {"settings", JR_BY_READER(JR_OBJECT), JR_SETTER},
                                             {"mappings", JR_BY_READER(JR_OBJECT), JR_SETTER},
                                             {"aliases", JR_BY_READER(JR_OBJECT), JR_SETTER}};
    static const struct jr_object object = {"rollover", fields, ARRAY_LEN(fields), body_read, NULL};
    struct rest *r = q->r;
    const struct json *body;
    enum err e = rest_body(r, &body);
    struct jr_reader rd = {.text = r->body, .arena = r->arena, .em = &r->em};
    return e == ERR_OK && body != NULL ? jr_object_at(&rd, &object, q, body) : e;
}

/* ---- names --------------------------------------------------------------------------------------------- */

static enum err no_write_index(const struct rollover *q)
{
    return err_set(&q->r->em, ERR_ILLEGAL_ARGUMENT, "rollover target [%.*s] does not point to a write index",
                   STR_ARG(q->alias));
}

/* The index that the alias writes to. */
static enum err find_old(struct rollover *q)
{
    struct rest *r = q->r;
    const struct cluster_state *s = r->state;
    const struct index_meta *only = NULL;
    uint32_t n = 0;
    if (str_find(q->alias, '*', 0) != SIZE_MAX || str_is(q->alias, "_all")) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "rollover target [%.*s] does not exist",
                       STR_ARG(q->alias));
    }
    if (cluster_index(s, q->alias) != NULL) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "rollover target is a [concrete index] but one of [alias,data_stream] was expected");
    }
    for (uint32_t i = 0; i < s->n_indices; i++) {
        const struct alias_meta *a = index_alias(s->indices[i], q->alias);
        if (a != NULL) {
            only = s->indices[i];
            n++;
            q->old = a->has_is_write && a->is_write ? only : q->old;
        }
    }
    if (n == 0) {
        return index_expression_missing(q->alias, &r->em);
    }
    if (q->old == NULL && n == 1 && !index_alias(only, q->alias)->has_is_write) {
        q->old = only;
    }
    return q->old != NULL ? ERR_OK : no_write_index(q);
}

/* "logs-7": "logs-000008"; "<logs-{now/d}-7>": "<logs-{now/d}-000008>". */
static enum err next_name(struct rollover *q)
{
    struct rest *r = q->r;
    const struct setting *given = settings_find(&q->old->settings, STR("index.provided_name"));
    struct str from = given != NULL ? given->value : q->old->name, resolved;
    enum err e = resolve_date_math(from, clock_wall_ms(r->co->o.clock), r->arena, &resolved, &r->em);
    if (e != ERR_OK) {
        return e;
    }
    bool dated = !str_eq(from, resolved);
    size_t digits = 0, end = from.n - (dated ? 1 : 0), dash = end;
    int64_t number;
    while (digits < resolved.n && resolved.p[resolved.n - 1 - digits] >= '0'
           && resolved.p[resolved.n - 1 - digits] <= '9') {
        digits++;
    }
    if (digits == 0 || digits == resolved.n || resolved.p[resolved.n - 1 - digits] != '-') {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "index name [%.*s] does not match pattern '^.*-\\d+$'",
                       STR_ARG(from));
    }
    while (dash > 0 && from.p[dash - 1] != '-') {
        dash--;
    }
    struct str text = str_slice(from, dash, end);
    if (!num_parse_i64(text, &number) || number < INT32_MIN || number > INT32_MAX) {
        return err_set(&r->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(text));
    }
    q->provided =
        arena_printf(r->arena, "%.*s%06lld%s", (int)dash, from.p, (long long)number + 1, dated ? ">" : "");
    return q->provided.p != NULL ? ERR_OK : err_no_memory(&r->em);
}

static enum err find_names(struct rollover *q)
{
    struct rest *r = q->r;
    q->provided = rest_path(r, "new_index");
    enum err e = find_old(q);
    e = e == ERR_OK && q->provided.p == NULL ? next_name(q) : e;
    e = e == ERR_OK
            ? resolve_date_math(q->provided, clock_wall_ms(r->co->o.clock), r->arena, &q->name, &r->em)
            : e;
    e = e == ERR_OK ? index_name_check(q->name, &r->em) : e;
    return e == ERR_OK ? index_name_free(r->state, q->name, &r->em) : e;
}

/* ---- conditions ---------------------------------------------------------------------------------------- */

static bool any_met(const struct rollover *q)
{
    bool any = false, given = false;
    for (unsigned i = 0; i < ROLLOVER_CONDITIONS; i++) {
        given |= q->given[i];
        any |= q->met[i];
    }
    return any || !given;
}

static void write_condition(struct jsonw *w, const struct rollover *q, unsigned i)
{
    struct buf key;
    buf_init(&key, NULL, 256);
    buf_printf(&key, "[%s: ", condition_names[i]);
    if (i == MAX_AGE) {
        time_put_ns(&key, MIN_OF(q->limit[i], INT64_MAX / NS_PER_MS) * NS_PER_MS);
    } else if (i == MAX_DOCS) {
        buf_i64(&key, q->limit[i]);
    } else if (q->limit[i] < 0) {
        buf_z(&key, "-1b");
    } else {
        memory_print_bytes(&key, (uint64_t)q->limit[i]);
    }
    buf_z(&key, "]");
    jw_key(w, buf_view(&key));
    jw_bool(w, q->met[i]);
    buf_fini(&key);
}

static void rollover_answer(const struct rollover *q, bool acknowledged, bool active)
{
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kbool(&w, "acknowledged", acknowledged);
    jw_kbool(&w, "shards_acknowledged", active);
    jw_kstr(&w, "old_index", q->old->name);
    jw_kstr(&w, "new_index", q->name);
    jw_kbool(&w, "rolled_over", acknowledged);
    jw_kbool(&w, "dry_run", q->dry_run);
    jw_kobj(&w, "conditions");
    for (unsigned i = 0; i < ROLLOVER_CONDITIONS; i++) {
        if (q->given[i]) {
            write_condition(&w, q, i);
        }
    }
    jw_obj_end(&w);
    jw_obj_end(&w);
    rest_send(q->r, 200, &b);
}

/* ---- the change ---------------------------------------------------------------------------------------- */

static void rolled_active(struct active_wait *wait, bool active)
{
    struct meta_request *rq = wait->user;
    const struct rollover *q = rest_of(wait->r)->user;
    rest_meta_free(rq);
    rollover_answer(q, true, active);
}

static void rolled_over(struct rest *r, struct meta_request *rq)
{
    rest_meta_wait_active(r, rq, rolled_active);
}

/* An alias whose write index is named stays on the old one, for reading. */
static void alias_moves(const struct rollover *q, struct alias_action *out)
{
    const struct alias_meta *a = index_alias(q->old, q->alias);
    bool stays = a->has_is_write && a->is_write;
    struct alias_meta alias = {.has_is_write = stays,
                               .is_write = stays,
                               .has_is_hidden = a->has_is_hidden,
                               .is_hidden = a->is_hidden};
    out[0] = (struct alias_action){
        .kind = ALIAS_ADD, .index = q->name, .aliases = &q->alias, .n_aliases = 1, .alias = alias};
    alias.is_write = false;
    out[1] = (struct alias_action){.kind = stays ? ALIAS_ADD : ALIAS_REMOVE,
                                   .index = q->old->name,
                                   .aliases = &q->alias,
                                   .n_aliases = 1,
                                   .alias = alias,
                                   .must_exist = true};
}

static bool put_part(struct meta_request *rq, const char *key, const struct json *v)
{
    return v->type == JSON_NULL || json_put(&rq->body, &rq->arena, str_of(key), *v);
}

static void roll_over(struct rollover *q)
{
    struct rest *r = q->r;
    struct alias_action *moves = ARENA_ARRAY(r->arena, struct alias_action, 2);
    struct meta_request *rq = moves != NULL ? rest_meta(r, META_CREATE_INDEX, &q->name, 1) : NULL;
    if (moves == NULL) {
        err_no_memory(&r->em);
        rest_fail(r, NULL);
    }
    if (rq == NULL) {
        return;
    }
    alias_moves(q, moves);
    rq->body = json_mk_object();
    rq->text = r->body;
    rq->type = q->type;
    rq->provided = q->provided;
    rq->timeout_ms = q->timeout_ms;
    rq->alias_actions = moves;
    rq->n_alias_actions = 2;
    if (!put_part(rq, "settings", &q->settings) || !put_part(rq, "mappings", &q->mappings)
        || !put_part(rq, "aliases", &q->aliases)) {
        rest_meta_free(rq);
        err_no_memory(&r->em);
        rest_fail(r, NULL);
        return;
    }
    rest_meta_then(r, rq, rolled_over);
}

static void sizes_known(struct broadcast *bc)
{
    struct rest *r = rest_of(bc->r);
    struct rollover *q = bc->user;
    int64_t value[ROLLOVER_CONDITIONS] = {[MAX_AGE] = clock_wall_ms(r->co->o.clock) - q->old->created_ms};
    for (uint32_t i = 0; i < bc->n; i++) {
        const struct shard_stats *s = bc->acts[i].stats;
        if (s != NULL && bc->asked[i].primary) {
            int64_t bytes = (int64_t)s->store_bytes;
            value[MAX_DOCS] += (int64_t)s->docs;
            value[MAX_SIZE] += bytes;
            value[MAX_PRIMARY_SHARD_SIZE] = MAX_OF(value[MAX_PRIMARY_SHARD_SIZE], bytes);
        }
    }
    broadcast_fini(bc);
    for (unsigned i = 0; i < ROLLOVER_CONDITIONS; i++) {
        q->met[i] = q->given[i] && value[i] >= q->limit[i];
    }
    if (q->dry_run || !any_met(q)) {
        rollover_answer(q, false, false);
    } else {
        roll_over(q);
    }
}

static void rollover(struct rest *r)
{
    const struct shard_act stats = {.action = SHARD_STATS};
    struct rollover *q = ARENA_NEW(r->arena, struct rollover);
    struct index_target *old = ARENA_NEW(r->arena, struct index_target);
    int32_t ignored;
    enum err e = q != NULL && old != NULL ? ERR_OK : err_no_memory(&r->em);
    if (e == ERR_OK) {
        *q = (struct rollover){.r = r, .alias = rest_path(r, "index")};
        r->user = q;
        e = rest_type_named(r, NAMED_IN_ROLLOVER, &q->typed);
    }
    e = e == ERR_OK ? read_body(q) : e;
    e = e == ERR_OK ? rest_bool(r, "dry_run", false, &q->dry_run) : e;
    e = e == ERR_OK ? rest_meta_timeouts(r, &q->timeout_ms) : e;
    e = e == ERR_OK ? rest_active_shards(r, &ignored) : e;
    if (e == ERR_OK && !rest_ready(r)) {
        return;
    }
    e = e == ERR_OK ? find_names(q) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    *old = (struct index_target){.meta = q->old};
    rest_broadcast(r, old, 1, &stats, sizes_known, q);
}

const struct route routes_rollover[] = {
    {M_POST, "/{index}/_rollover", rollover},
    {M_POST, "/{index}/_rollover/{new_index}", rollover},
};
const size_t routes_rollover_n = ARRAY_LEN(routes_rollover);
