/* _snapshot and _cat/snapshots: what a cluster answers that has no repository. Serai has no type of repository, so none can be registered,
 * and every other request finds the one that it names missing. */
#include "coordinator/rest/table.h"

#include "common/base/num.h"
#include "engine/mapping/java.h"

static const struct table_column snapshots_columns[] = {
    {"id", "id,snapshot", "unique snapshot", false, false},
    {"status", "s,status", "snapshot name", false, false},
    {"start_epoch", "ste,startEpoch", "start time in seconds since 1970-01-01 00:00:00", true, false},
    {"start_time", "sti,startTime", "start time in HH:MM:SS", false, false},
    {"end_epoch", "ete,endEpoch", "end time in seconds since 1970-01-01 00:00:00", true, false},
    {"end_time", "eti,endTime", "end time in HH:MM:SS", false, false},
    {"duration", "dur,duration", "duration", true, false},
    {"indices", "i,indices", "number of indices", true, false},
    {"successful_shards", "ss,successful_shards", "number of successful shards", true, false},
    {"failed_shards", "fs,failed_shards", "number of failed shards", true, false},
    {"total_shards", "ts,total_shards", "number of total shards", true, false},
    {"reason", "r,reason", "reason for failures", false, true},
};

/* Ends a request that was read whole: `e` is what that came to. */
static void snapshot_end(struct rest *r, enum err e, void (*answer)(struct rest *r))
{
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else if (rest_ready(r)) {
        answer(r);
    }
}

static void repository_missing(struct rest *r)
{
    struct str name = rest_param(r, "repository");
    err_set(&r->em, ERR_REPOSITORY_MISSING, "[%.*s] missing", STR_ARG(name));
    rest_fail(r, NULL);
}

static enum err check_times(struct rest *r)
{
    enum err e = rest_check_time(r, "master_timeout");
    return e == ERR_OK ? rest_check_time(r, "timeout") : e;
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

enum member_kind {
    LIST,
    FLAG,
    OPTION, /* of how indices are resolved */
    SECTION,
    SECTION_OR_NULL,
    TEXT
};

struct snapshot_member {
    const char *name;
    enum member_kind kind;
    const char *complaint; /* of sections and texts that are something else */
};

static const struct snapshot_member create_members[] = {
    {"indices", LIST, NULL},
    {"feature_states", LIST, NULL},
    {"partial", FLAG, NULL},
    {"include_global_state", FLAG, NULL},
    {"settings", SECTION, "malformed settings section, should indices an inner object"},
    {"metadata", SECTION_OR_NULL, "malformed metadata, should be an object"},
    {"ignore_unavailable", OPTION, NULL},
    {"allow_no_indices", OPTION, NULL},
    {"expand_wildcards", OPTION, NULL},
};
static const struct snapshot_member restore_members[] = {
    {"indices", LIST, NULL},
    {"feature_states", LIST, NULL},
    {"ignore_index_settings", LIST, NULL},
    {"partial", FLAG, NULL},
    {"include_global_state", FLAG, NULL},
    {"include_aliases", FLAG, NULL},
    {"settings", SECTION, "malformed settings section"},
    {"index_settings", SECTION, "malformed index_settings section"},
    {"rename_pattern", TEXT, "malformed rename_pattern"},
    {"rename_replacement", TEXT, "malformed rename_replacement"},
    {"ignore_unavailable", OPTION, NULL},
    {"allow_no_indices", OPTION, NULL},
    {"expand_wildcards", OPTION, NULL},
};

static enum err check_flag(struct rest *r, const char *name, const struct json *v)
{
    bool ignored;
    struct str text = json_text(v);
    if (v->type == JSON_BOOL || num_parse_bool(text, &ignored)) {
        return ERR_OK;
    }
    err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
            "Failed to parse value [%.*s] as only [true] or [false] are allowed.", STR_ARG(text));
    return err_wrap(&r->em, ERR_ILLEGAL_ARGUMENT, "Could not convert [%s] to boolean", name);
}

static enum err check_option(struct rest *r, const char *name, const struct json *v)
{
    unsigned ignored;
    enum err e = ERR_OK;
    if (strcmp(name, "expand_wildcards") != 0) {
        return v->type == JSON_NULL ? ERR_OK : check_flag(r, name, v);
    }
    if (v->type != JSON_ARRAY) {
        return v->type == JSON_NULL ? ERR_OK : expand_parse(json_text(v), &ignored, &r->em);
    }
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = expand_parse(json_text(&v->items[i]), &ignored, &r->em);
    }
    return e;
}

static enum err check_member(struct rest *r, const struct snapshot_member *m, const struct json *v)
{
    switch (m->kind) {
    case LIST:
        return v->type == JSON_STRING || v->type == JSON_ARRAY
                   ? ERR_OK
                   : err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                             "malformed %s section, should be an array of strings", m->name);
    case FLAG:
        return check_flag(r, m->name, v);
    case OPTION:
        return check_option(r, m->name, v);
    case TEXT:
        return v->type == JSON_STRING ? ERR_OK : err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "%s", m->complaint);
    case SECTION:
    case SECTION_OR_NULL:
        return v->type == JSON_OBJECT || (m->kind == SECTION_OR_NULL && v->type == JSON_NULL)
                   ? ERR_OK
                   : err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "%s", m->complaint);
    }
    return ERR_OK;
}

/* The members that the list knows; `strict`: there are to be no others. A body that is no object says nothing. */
static enum err check_members(struct rest *r, const struct snapshot_member *known, size_t n, bool strict)
{
    const struct json *body;
    enum err e = rest_body(r, &body);
    for (uint32_t i = 0; e == ERR_OK && body != NULL && body->type == JSON_OBJECT && i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        size_t k = 0;
        while (k < n && !str_is(m->key, known[k].name)) {
            k++;
        }
        if (k < n) {
            e = check_member(r, &known[k], &m->value);
        } else if (strict) {
            e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Unknown parameter %.*s", STR_ARG(m->key));
        }
    }
    return e;
}

/* ---- repositories -------------------------------------------------------------------------------------- */

/* A list of names and patterns: patterns find nothing, and a name that is one is missing. */
static void list_repositories(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    struct str rest = rest_param(r, "repository");
    bool many = str_find(rest, ',', 0) != SIZE_MAX;
    while (rest.n > 0) {
        struct str name = str_cut(rest, ',', &rest);
        if (str_find(name, '*', 0) == SIZE_MAX && (many || !str_is(name, "_all"))) {
            err_set(&r->em, ERR_REPOSITORY_MISSING, "[%.*s] missing", STR_ARG(name));
            rest_fail(r, NULL);
            return;
        }
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

static void get_repositories(struct rest *r)
{
    enum err e = rest_check_bool(r, "local");
    e = e == ERR_OK ? rest_check_time(r, "master_timeout") : e;
    e = e == ERR_OK ? rest_check_bool(r, "flat_settings") : e;
    rest_accept(r, "repository");
    snapshot_end(r, e, list_repositories);
}

static void refuse_repository(struct rest *r)
{
    struct str name = rest_param(r, "repository");
    const struct json *type = json_get(&r->tree, "type");
    struct str text = java_text(type, r->arena);
    if (str_find(name, '#', 0) != SIZE_MAX) {
        err_set(&r->em, ERR_REPOSITORY, "[%.*s] must not contain '#'", STR_ARG(name));
    } else {
        err_set(&r->em, ERR_REPOSITORY, "[%.*s] repository type [%.*s] does not exist", STR_ARG(name),
                STR_ARG(text));
    }
    rest_fail(r, NULL);
}

static void put_repository(struct rest *r)
{
    const struct json *body;
    enum err e = rest_check_bool(r, "verify");
    e = e == ERR_OK ? check_times(r) : e;
    e = e == ERR_OK ? rest_body_required(r, &body) : e;
    if (e == ERR_OK) {
        const struct json *type = json_get(body, "type"), *settings = json_get(body, "settings");
        if (settings != NULL && settings->type != JSON_OBJECT) {
            e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                        "Malformed settings section, should include an inner object");
        } else if (type == NULL || type->type == JSON_NULL) {
            e = err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: type is missing;");
        }
    }
    snapshot_end(r, e, refuse_repository);
}

static void remove_repositories(struct rest *r)
{
    if (str_is(rest_param(r, "repository"), "*")) {
        rest_acknowledge(r);
    } else {
        repository_missing(r);
    }
}

static void delete_repositories(struct rest *r)
{
    snapshot_end(r, check_times(r), remove_repositories);
}

static void verify_repository(struct rest *r)
{
    snapshot_end(r, check_times(r), repository_missing);
}

/* ---- snapshots ----------------------------------------------------------------------------------------- */

static enum err check_snapshot_name(struct rest *r)
{
    struct str repository = rest_param(r, "repository"), name = rest_param(r, "snapshot");
    bool blank = false, forbidden = false, upper = false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        blank = blank || c == ' ';
        upper = upper || (c >= 'A' && c <= 'Z');
        forbidden = forbidden || strchr("\"*\\<|>/?", c) != NULL;
    }
    const char *why = name.n == 0                          ? "cannot be empty"
                      : blank                              ? "must not contain whitespace"
                      : str_find(name, ',', 0) != SIZE_MAX ? "must not contain ','"
                      : str_find(name, '#', 0) != SIZE_MAX ? "must not contain '#'"
                      : name.p[0] == '_'                   ? "must not start with '_'"
                      : upper                              ? "must be lowercase"
                      : forbidden
                          ? "must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]"
                          : NULL;
    return why == NULL
               ? ERR_OK
               : err_set(&r->em, ERR_INVALID_SNAPSHOT_NAME, "[%.*s:%.*s] Invalid snapshot name [%.*s], %s",
                         STR_ARG(repository), STR_ARG(name), STR_ARG(name), why);
}

static void refuse_snapshot(struct rest *r)
{
    if (check_snapshot_name(r) != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        repository_missing(r);
    }
}

static enum err check_waiting(struct rest *r)
{
    enum err e = rest_check_time(r, "master_timeout");
    return e == ERR_OK ? rest_check_bool(r, "wait_for_completion") : e;
}

static void create_snapshot(struct rest *r)
{
    enum err e = check_waiting(r);
    e = e == ERR_OK ? check_members(r, create_members, ARRAY_LEN(create_members), false) : e;
    rest_accept(r, "snapshot");
    snapshot_end(r, e, refuse_snapshot);
}

static void restore_snapshot(struct rest *r)
{
    enum err e = check_waiting(r);
    e = e == ERR_OK ? check_members(r, restore_members, ARRAY_LEN(restore_members), true) : e;
    snapshot_end(r, e, repository_missing);
}

static void clone_snapshot(struct rest *r)
{
    const struct json *body;
    enum err e = rest_check_time(r, "master_timeout");
    e = e == ERR_OK ? rest_body_required(r, &body) : e;
    const struct json *indices = e == ERR_OK ? json_get(body, "indices") : NULL;
    if (e == ERR_OK && (indices == NULL || (indices->type == JSON_ARRAY && indices->n == 0))) {
        e = err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: indices patterns are empty;");
    }
    snapshot_end(r, e, repository_missing);
}

static void get_snapshots(struct rest *r)
{
    static const char *const flags[] = {"ignore_unavailable", "verbose"};
    enum err e = rest_check_time(r, "master_timeout");
    snapshot_end(r, e == ERR_OK ? rest_check_bools(r, flags, ARRAY_LEN(flags)) : e, repository_missing);
}

static void delete_snapshots(struct rest *r)
{
    snapshot_end(r, rest_check_time(r, "master_timeout"), repository_missing);
}

/* Of snapshots that are being taken: there is none. */
static void write_no_status(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    struct str snapshot = rest_param(r, "snapshot");
    if (snapshot.p != NULL && !str_is(snapshot, "_all")) {
        repository_missing(r);
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_karr(&w, "snapshots");
    jw_arr_end(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

static void snapshot_status(struct rest *r)
{
    enum err e = rest_check_time(r, "master_timeout");
    snapshot_end(r, e == ERR_OK ? rest_check_bool(r, "ignore_unavailable") : e, write_no_status);
}

static void no_snapshots(struct rest *r)
{
    if (rest_param(r, "repository").p != NULL) {
        repository_missing(r);
        return;
    }
    err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: repository is missing;");
    rest_fail(r, NULL);
}

static void cat_snapshots(struct rest *r)
{
    if (table_help(r, snapshots_columns, ARRAY_LEN(snapshots_columns))) {
        return;
    }
    enum err e = rest_check_time(r, "master_timeout");
    e = e == ERR_OK ? rest_check_bool(r, "ignore_unavailable") : e;
    rest_accept(r, "repository");
    snapshot_end(r, e, no_snapshots);
}

const struct route routes_snapshot[] = {
    {M_GET, "/_snapshot", get_repositories},
    {M_GET, "/_snapshot/{repository}", get_repositories},
    {M_PUT | M_POST, "/_snapshot/{repository}", put_repository},
    {M_DELETE, "/_snapshot/{repository}", delete_repositories},
    {M_POST, "/_snapshot/{repository}/_verify", verify_repository},
    {M_POST, "/_snapshot/{repository}/_cleanup", verify_repository},
    {M_GET, "/_snapshot/_status", snapshot_status},
    {M_GET, "/_snapshot/{repository}/_status", snapshot_status},
    {M_GET, "/_snapshot/{repository}/{snapshot}/_status", snapshot_status},
    {M_GET, "/_snapshot/{repository}/{snapshot}", get_snapshots},
    {M_PUT | M_POST, "/_snapshot/{repository}/{snapshot}", create_snapshot},
    {M_DELETE, "/_snapshot/{repository}/{snapshot}", delete_snapshots},
    {M_POST, "/_snapshot/{repository}/{snapshot}/_restore", restore_snapshot},
    {M_PUT, "/_snapshot/{repository}/{snapshot}/_clone/{target_snapshot}", clone_snapshot},
    {M_GET, "/_cat/snapshots", cat_snapshots},
    {M_GET, "/_cat/snapshots/{repository}", cat_snapshots},
};
const size_t routes_snapshot_n = ARRAY_LEN(routes_snapshot);
