#include "common/cluster/script_settings.h"

#include "common/base/num.h"
#include "common/base/settings.h"
#include "common/settings/setting_read.h"

#include <stdio.h>

#define RATE   setting_rows[SET_SCRIPT_MAX_COMPILATIONS_RATE].name
#define PREFIX "script.context."
#define SUFFIX ".max_compilations_rate"

/* "75/5m": so many in a time. `key` names the setting in errors: ERR_ILLEGAL_ARGUMENT, as Elasticsearch words them. */
static enum err script_rate_parse(struct str text, const char *key, uint32_t *count, int64_t *window_ms,
                                  struct errmsg *em)
{
    size_t at = 0;
    int64_t n;
    while (at < text.n && text.p[at] != '/') {
        at++;
    }
    if (at == 0 || at + 1 >= text.n) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "parameter must contain a positive integer and a timevalue, i.e. 10/1m, but was [%.*s]",
            STR_ARG(text));
    }
    struct str number = str_slice(text, 0, at), time = str_slice(text, at + 1, text.n);
    if (!num_parse_i64(number, &n) || n > INT32_MAX || n < INT32_MIN) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "could not parse [%.*s] as integer in value [%.*s]",
                       STR_ARG(number), STR_ARG(text));
    }
    if (n < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "rate [%lld] must be positive", (long long)n);
    }
    enum err e = parse_time_ms(time, key, window_ms, em);
    if (e == ERR_OK && *window_ms <= 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "time value [%.*s] must be positive", STR_ARG(time));
    }
    if (e == ERR_OK && *window_ms < 60000) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "time value [%.*s] must be at least on a one minute resolution", STR_ARG(time));
    }
    *count = (uint32_t)n;
    return e;
}

bool script_rate_setting(const struct cluster_state *s, const char *context, uint32_t *count,
                         int64_t *window_ms)
{
    char key[96];
    snprintf(key, sizeof(key), PREFIX "%s" SUFFIX, context != NULL ? context : "");
    const struct setting *own = context != NULL ? cluster_setting_named(s, str_of(key)) : NULL;
    struct str v = own != NULL       ? own->value
                   : context != NULL ? STR_NULL
                                     : cluster_setting(s, SET_SCRIPT_MAX_COMPILATIONS_RATE);
    return v.p != NULL && script_rate_parse(v, RATE, count, window_ms, NULL) == ERR_OK;
}

/* "filter" of script.context.filter.max_compilations_rate; NULL: another setting. */
static struct str context_of(struct str key)
{
    struct str prefix = STR(PREFIX), suffix = STR(SUFFIX);
    bool is = key.n > prefix.n + suffix.n && str_starts(key, prefix) && str_ends(key, suffix);
    return is ? str_slice(key, prefix.n, key.n - suffix.n) : STR_NULL;
}

static enum err check_context(const struct setting *v, bool use_context, struct errmsg *em)
{
    static const char *const names[] = {"aggregation_selector",
                                        "aggs",
                                        "aggs_combine",
                                        "aggs_init",
                                        "aggs_map",
                                        "aggs_reduce",
                                        "analysis",
                                        "bucket_aggregation",
                                        "field",
                                        "filter",
                                        "ingest",
                                        "ingest_template",
                                        "interval",
                                        "moving-function",
                                        "number_sort",
                                        "processor_conditional",
                                        "score",
                                        "script_heuristic",
                                        "similarity",
                                        "similarity_weight",
                                        "string_sort",
                                        "template",
                                        "terms_set",
                                        "update"};
    struct str name = context_of(v->key);
    uint32_t count;
    int64_t window;
    bool known = name.p == NULL;
    if (name.p != NULL && !use_context) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Context cache settings [%.*s] requires [%s] to be [use-context]", STR_ARG(v->key),
                       RATE);
    }
    for (size_t i = 0; !known && i < ARRAY_LEN(names); i++) {
        known = str_is(name, names[i]);
    }
    if (!known) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Context [%.*s] doesn't exist for setting [%.*s]",
                       STR_ARG(name), STR_ARG(v->key));
    }
    return name.p == NULL || str_is(v->value, "unlimited")
               ? ERR_OK
               : script_rate_parse(v->value, RATE, &count, &window, em);
}

enum err script_settings_check(const struct settings *all, struct errmsg *em)
{
    struct str rate = setting_str(all, SET_SCRIPT_MAX_COMPILATIONS_RATE);
    bool use_context = str_is(rate, "use-context");
    uint32_t count;
    int64_t window;
    enum err e = use_context ? ERR_OK : script_rate_parse(rate, RATE, &count, &window, em);
    for (const struct settings *at = all; at != NULL; at = at->behind) {
        for (size_t k = 0; e == ERR_OK && k < at->n; k++) {
            e = check_context(&at->v[k], use_context, em);
        }
    }
    return e;
}
