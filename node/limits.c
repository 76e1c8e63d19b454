#include "node/limits.h"

#include "common/base/num.h"
#include "common/cluster/script_settings.h"
#include "engine/query/query.h"
#include "engine/script/rate.h"

enum err node_limits_start(const struct settings *own, struct errmsg *em)
{
    static const char clauses_key[] = "indices.query.bool.max_clause_count";
    int64_t clauses;
    struct query_node_settings q;
    enum err e = settings_i64(own, clauses_key, 1024, &clauses, em);
    if (e == ERR_OK && clauses < 1) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "Failed to parse value [%lld] for setting [%s] must be >= 1",
                    (long long)clauses, clauses_key);
    }
    e = e == ERR_OK ? settings_bool(own, "indices.query.query_string.allowLeadingWildcard", true,
                                    &q.leading_wildcard, em)
                    : e;
    e = e == ERR_OK ? settings_bool(own, "indices.query.query_string.analyze_wildcard", false,
                                    &q.analyze_wildcard, em)
                    : e;
    script_allow_regexes(
        !str_is(settings_str(own, "script.painless.regex.enabled", STR("limited")), "false"));
    if (e == ERR_OK) {
        q.clauses_max = (uint32_t)MIN_OF(clauses, INT32_MAX);
        query_node_settings_set(&q);
    }
    return e;
}

static void set_rates(const struct cluster_state *state, const struct clock *clock)
{
    struct script_rates r = {.clock = clock};
    const char *name;
    r.one = script_rate_setting(state, NULL, &r.of[0].count, &r.of[0].window_ms);
    for (unsigned i = 0; !r.one && (name = script_context_name(i)) != NULL; i++) {
        (void)script_rate_setting(state, name, &r.of[i].count, &r.of[i].window_ms);
    }
    script_rates_set(&r);
}

void node_limits_apply(const struct cluster_state *state, const struct clock *clock)
{
    int64_t bytes = SCRIPT_SOURCE_BYTES_MAX;
    num_parse_i64(cluster_setting(state, "script.max_size_in_bytes", STR("")), &bytes);
    script_limit_source((size_t)MAX_OF(bytes, 0));
    set_rates(state, clock);
}
