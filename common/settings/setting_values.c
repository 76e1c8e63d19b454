/* setting_values.c - is a value fit for its setting? In Elasticsearch's words where it is not. */
#include "common/base/inet.h"
#include "common/base/num.h"
#include "common/settings/setting_registry.h"
#include "common/settings/setting_rows.h"

#include <stdio.h>

static bool is_bounded(const struct setting_def *d)
{
    return d->min != 0 || d->max != 0;
}

static enum err not_a_number(UNUSED const struct setting_def *d, struct str key, struct str v,
                             struct errmsg *em)
{
    if (v.n == 0) {
        err_set(em, ERR_NUMBER_FORMAT, "empty String");
    } else {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(v));
    }
    return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "Failed to parse value [%.*s] for setting [%.*s]", STR_ARG(v),
                    STR_ARG(key));
}

static enum err check_whole(const struct setting_def *d, struct str key, struct str v, struct errmsg *em)
{
    int64_t n;
    if (!num_parse_i64(v, &n) || (d->kind == SETTING_INT && (n < INT32_MIN || n > INT32_MAX))) {
        return not_a_number(d, key, v, em);
    }
    if (is_bounded(d) && (n < d->min || n > d->max)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Failed to parse value [%.*s] for setting [%.*s] must be %s %lld", STR_ARG(v),
                       STR_ARG(key), n < d->min ? ">=" : "<=", (long long)(n < d->min ? d->min : d->max));
    }
    return ERR_OK;
}

static enum err check_double(const struct setting_def *d, struct str key, struct str v, struct errmsg *em)
{
    double x;
    if (!num_parse_double(v, &x)) {
        return not_a_number(d, key, v, em);
    }
    if (is_bounded(d) && (x < (double)d->min || x > (double)d->max)) {
        bool low = x < (double)d->min;
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Failed to parse value [%.*s] for setting [%.*s] must be %s %s", STR_ARG(v),
                       STR_ARG(key), low ? ">=" : "<=", num_text((double)(low ? d->min : d->max)).s);
    }
    return ERR_OK;
}

static bool name_of(struct str key, char *out, size_t cap)
{
    return snprintf(out, cap, "%.*s", STR_ARG(key)) < (int)cap;
}

static enum err check_time(const struct setting_def *d, struct str key, struct str v, struct errmsg *em)
{
    char name[256];
    int64_t ms;
    name_of(key, name, sizeof(name));
    enum err e = parse_time_ms(v, name, &ms, em);
    if (e != ERR_OK) {
        return e;
    }
    if (ms < -1 || (ms == -1 && !str_is(str_trim(v), "-1") && v.p[0] == '-')) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "failed to parse setting [%s] with value [%.*s] as a time value: negative durations "
                       "are not supported",
                       name, STR_ARG(v));
    }
    if (is_bounded(d) && ms < d->min) {
        return d->choices != NULL
                   ? err_set(em, ERR_ILLEGAL_ARGUMENT,
                             "failed to parse value [%.*s] for setting [%s], must be >= [%s]", STR_ARG(v),
                             name, d->choices)
                   : err_set(em, ERR_ILLEGAL_ARGUMENT,
                             "failed to parse value [%.*s] for setting [%s], must be >= [%lldms]", STR_ARG(v),
                             name, (long long)d->min);
    }
    return ERR_OK;
}

static enum err check_bytes(const struct setting_def *d, struct str key, struct str v, struct errmsg *em)
{
    char name[256];
    int64_t bytes;
    name_of(key, name, sizeof(name));
    if (parse_bytes(v, name, &bytes, em) != ERR_OK) {
        err_set(em, ERR_PARSE,
                "failed to parse setting [%s] with value [%.*s] as a size in bytes: unit is missing or "
                "unrecognized",
                name, STR_ARG(v));
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT,
                        "failed to parse setting [%s] with value [%.*s] as a size in bytes: unit is missing "
                        "or unrecognized",
                        name, STR_ARG(v));
    }
    if (is_bounded(d) && bytes < d->min) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "failed to parse value [%.*s] for setting [%s], must be >= [%lldb]", STR_ARG(v), name,
                       (long long)d->min);
    }
    return ERR_OK;
}

static enum err check_size_or_ratio(const struct setting_def *d, struct str key, struct str v,
                                    struct errmsg *em)
{
    double x;
    bool percent = v.n > 0 && v.p[v.n - 1] == '%';
    if (num_parse_double(str_slice(v, 0, v.n - (percent ? 1 : 0)), &x) && x >= 0
        && x <= (percent ? 100 : 1)) {
        return ERR_OK;
    }
    return check_bytes(d, key, v, em);
}

static bool among(const char *choices, struct str v, bool any_case)
{
    struct str rest = str_of(choices);
    while (rest.p != NULL) {
        struct str one = str_cut(rest, ',', &rest);
        if (any_case ? str_eq_nocase(one, v) : str_eq(one, v)) {
            return true;
        }
    }
    return false;
}

/* A list that was given as one text: "master,data". */
static bool all_among(const struct setting_def *d, struct str v)
{
    struct str rest = v;
    while (d->kind == SETTING_LIST && rest.p != NULL) {
        if (!among(d->choices, str_trim(str_cut(rest, ',', &rest)), false)) {
            return false;
        }
    }
    return d->kind == SETTING_LIST;
}

static enum err check_choice(const struct setting_def *d, struct str key, struct str v, struct errmsg *em)
{
    if (d->choices == NULL || all_among(d, v) || among(d->choices, v, d->kind == SETTING_ENUM)
        || (d->kind == SETTING_CHOICE && v.n == 0)) {
        return ERR_OK;
    }
    if (d->kind == SETTING_ENUM) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No enum constant [%.*s] of setting [%.*s]", STR_ARG(v),
                       STR_ARG(key));
    }
    char choices[256];
    size_t n = 0;
    for (const char *c = d->choices; *c != '\0' && n + 3 < sizeof(choices); c++) {
        choices[n++] = *c;
        if (*c == ',') {
            choices[n++] = ' ';
        }
    }
    choices[n] = '\0';
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "unknown value for [%.*s] must be one of [%s] but was: %.*s",
                   STR_ARG(key), choices, STR_ARG(v));
}

static enum err check_expand(struct str key, struct str v, struct errmsg *em)
{
    int32_t min, max;
    size_t dash = str_find(v, '-', 0);
    if (str_is(v, "false")) {
        return ERR_OK;
    }
    if (dash != SIZE_MAX && !num_parse_i32(str_slice(v, 0, dash), &min)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(str_slice(v, 0, dash)));
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "failed to parse [%.*s] from value: [%.*s] at index %zu",
                        STR_ARG(key), STR_ARG(v), dash);
    }
    if (dash == SIZE_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "failed to parse [%.*s] from value: [%.*s] at index -1",
                       STR_ARG(key), STR_ARG(v));
    }
    struct str upper = str_slice(v, dash + 1, v.n);
    if (str_is(upper, "all")) {
        return ERR_OK;
    }
    if (!num_parse_i32(upper, &max)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(upper));
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "failed to parse [%.*s] from value: [%.*s] at index %zu",
                        STR_ARG(key), STR_ARG(v), dash);
    }
    return min <= max ? ERR_OK
                      : err_set(em, ERR_ILLEGAL_ARGUMENT,
                                "[%.*s] minReplicas must be =< maxReplicas but wasn't %d > %d", STR_ARG(key),
                                min, max);
}

static enum err check_active(struct str v, struct errmsg *em)
{
    int32_t n;
    if (str_is(v, "all")) {
        return ERR_OK;
    }
    if (!num_parse_i32(v, &n)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(v));
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "cannot parse ActiveShardCount[%.*s]", STR_ARG(v));
    }
    return n >= 0 ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "shard count cannot be a negative value");
}

/* "true", "false", or patterns, each perhaps after a sign. */
static enum err check_auto_create(struct str v, struct errmsg *em)
{
    struct str rest = v;
    bool flag;
    if (num_parse_bool(v, &flag)) {
        return ERR_OK;
    }
    while (rest.p != NULL) {
        struct str one = str_trim(str_cut(rest, ',', &rest));
        bool bare_sign = one.n == 1 && (one.p[0] == '+' || one.p[0] == '-');
        if (one.n == 0 || bare_sign) {
            ERR_LOCAL(other);
            err_set(&other, ERR_ILLEGAL_ARGUMENT,
                    "Failed to parse value [%.*s] as only [true] or [false] are allowed.", STR_ARG(v));
            err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "Can't parse [%.*s] for setting [action.auto_create_index] must be either [true, false, "
                    "or a comma separated list of "
                    "index patterns]",
                    STR_ARG(v));
            err_suppress(em, &other);
            return ERR_ILLEGAL_ARGUMENT;
        }
    }
    return ERR_OK;
}

static enum err check_list(const struct setting_def *d, const struct setting *s, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && s->is_list && i < s->n; i++) {
        e = check_choice(d, s->key, s->items[i], em);
    }
    return e != ERR_OK || s->is_list || s->value.n == 0 ? e : check_choice(d, s->key, s->value, em);
}

bool setting_is_default(const struct setting_def *d, const struct setting *s)
{
    char room[SETTING_ROOM];
    struct str otherwise = setting_default(d, NULL, room);
    if (s->is_list) {
        return s->n == 0 || (s->n == 1 && str_eq_nocase(s->items[0], otherwise));
    }
    return s->is_null || str_eq_nocase(str_trim(s->value), otherwise);
}

/* "index.routing.allocation.require._ip" and the like. */
static bool is_filter_of_ips(struct str key)
{
    return str_find_str(key, STR(".routing.allocation.")) != SIZE_MAX
           && (str_ends(key, STR("._ip")) || str_ends(key, STR("._host_ip"))
               || str_ends(key, STR("_publish_ip")));
}

static enum err check_ips(struct str key, struct str v, struct errmsg *em)
{
    struct str rest = v;
    while (rest.p != NULL) {
        uint8_t bytes[INET_BYTES];
        struct str one = str_trim(str_cut(rest, ',', &rest));
        if (one.n > 0 && str_find(one, '*', 0) == SIZE_MAX && inet_parse(one, bytes, NULL) != ERR_OK) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "invalid IP address [%.*s] for [%.*s]", STR_ARG(one),
                           STR_ARG(key));
        }
    }
    return ERR_OK;
}

#define LIST_TEXT_BYTES 512

/* What is no setting of lists takes a list for its text: "[1, 2]". */
static struct str text_of(const struct setting *s, char *room)
{
    size_t n = 0;
    if (!s->is_list) {
        return s->value;
    }
    room[n++] = '[';
    for (uint32_t i = 0; i < s->n; i++) {
        int wrote =
            snprintf(room + n, LIST_TEXT_BYTES - n, "%s%.*s", i > 0 ? ", " : "", STR_ARG(s->items[i]));
        n = wrote < 0 ? n : MIN_OF(n + (size_t)wrote, LIST_TEXT_BYTES - 2);
    }
    room[n++] = ']';
    return str_slice((struct str){room, n}, 0, n);
}

static enum err unknown_level(struct str v, struct errmsg *em)
{
    struct buf b;
    buf_init(&b, NULL, ERR_REASON_MAX);
    for (size_t i = 0; i < v.n; i++) {
        buf_char(&b, v.p[i] >= 'a' && v.p[i] <= 'z' ? (char)(v.p[i] - 32) : v.p[i]);
    }
    enum err e = err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown level constant [%.*s].", STR_ARG(buf_view(&b)));
    buf_fini(&b);
    return e;
}

enum err setting_check(const struct setting_def *d, const struct setting *s, struct errmsg *em)
{
    char room[LIST_TEXT_BYTES], of_default[SETTING_ROOM];
    bool flag;
    int32_t whole;
    if ((d->flags & SETTING_REFUSED) != 0 && !setting_is_default(d, s)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "[%.*s] can only be [%.*s]: what another value asks for is not offered, and would "
                       "not protect anything",
                       STR_ARG(s->key), STR_ARG(setting_default(d, NULL, of_default)));
    }
    if (s->is_null || d->kind == SETTING_TEXT) {
        return s->is_null || !is_filter_of_ips(s->key) ? ERR_OK : check_ips(s->key, text_of(s, room), em);
    }
    if (d->kind == SETTING_LIST) {
        return check_list(d, s, em);
    }
    struct str v = text_of(s, room);
    switch (d->kind) {
    case SETTING_BOOL_OR_INT:
    case SETTING_BOOL:
        return num_parse_bool(v, &flag)
                       || (d->kind == SETTING_BOOL_OR_INT && (v.n == 0 || num_parse_i32(v, &whole)))
                   ? ERR_OK
                   : err_set(em, ERR_ILLEGAL_ARGUMENT,
                             "Failed to parse value [%.*s] as only [true] or [false] are allowed.",
                             STR_ARG(v));
    case SETTING_INT:
    case SETTING_LONG:
        return check_whole(d, s->key, v, em);
    case SETTING_DOUBLE:
        return check_double(d, s->key, v, em);
    case SETTING_TIME:
        return check_time(d, s->key, v, em);
    case SETTING_BYTES:
        return check_bytes(d, s->key, v, em);
    case SETTING_SIZE_OR_RATIO:
        return check_size_or_ratio(d, s->key, v, em);
    case SETTING_ENUM:
    case SETTING_CHOICE:
        return check_choice(d, s->key, v, em);
    case SETTING_EXPAND:
        return check_expand(s->key, v, em);
    case SETTING_ACTIVE:
        return check_active(v, em);
    case SETTING_AUTO_CREATE:
        return check_auto_create(v, em);
    case SETTING_LOG_LEVEL:
        return among("ALL,TRACE,DEBUG,INFO,WARN,ERROR,FATAL,OFF", v, true) ? ERR_OK : unknown_level(v, em);
    case SETTING_TEXT:
    case SETTING_LIST:
        break;
    }
    return ERR_OK;
}
