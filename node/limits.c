#include "node/limits.h"

#include "common/cluster/script_settings.h"
#include "common/settings/setting_read.h"
#include "engine/ingest/ingest.h"
#include "engine/query/query.h"
#include "engine/script/rate.h"
#include "engine/script/stored.h"

void node_limits_start(const struct settings *own)
{
    const struct query_node_settings q = {
        .clauses_max = (uint32_t)setting_i64(own, SET_INDICES_QUERY_BOOL_MAX_CLAUSE_COUNT),
        .leading_wildcard = setting_bool(own, SET_INDICES_QUERY_QUERY_STRING_ALLOW_LEADING_WILDCARD),
        .analyze_wildcard = setting_bool(own, SET_INDICES_QUERY_QUERY_STRING_ANALYZE_WILDCARD)};
    query_node_settings_set(&q);
    script_allow_regexes(!str_is(setting_str(own, SET_SCRIPT_PAINLESS_REGEX_ENABLED), "false"));
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
    script_limit_source((size_t)cluster_setting_i64(state, SET_SCRIPT_MAX_SIZE_IN_BYTES));
    set_rates(state, clock);
}

bool node_scripts_apply(const struct cluster_state *state)
{
    struct arena scratch;
    uint32_t n = state->scripts != NULL ? state->scripts->n : 0;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct script_text *v = ARENA_ARRAY(&scratch, struct script_text, n);
    for (uint32_t i = 0; v != NULL && i < n; i++) {
        const struct script_meta *m = &state->scripts->v[i];
        v[i] = (struct script_text){m->source, m->lang, m->id};
    }
    bool kept = v != NULL && stored_scripts_set(v, n);
    arena_fini(&scratch);
    return kept;
}

bool node_pipelines_apply(const struct cluster_state *state)
{
    struct arena scratch;
    uint32_t n = state->pipelines != NULL ? state->pipelines->n : 0;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct ingest_source *v = ARENA_ARRAY(&scratch, struct ingest_source, n);
    for (uint32_t i = 0; v != NULL && i < n; i++) {
        v[i] = (struct ingest_source){state->pipelines->v[i].id, state->pipelines->v[i].body};
    }
    bool kept = v != NULL && ingest_set_replace(v, n);
    arena_fini(&scratch);
    return kept;
}
