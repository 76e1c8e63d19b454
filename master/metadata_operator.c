/* Orders of operators: reroute, explanations, voting exclusions. */
#include "master/metadata_int.h"

#include "common/base/num.h"
#include "common/cluster/nodes.h"
#include "master/allocation.h"

static struct alloc_env alloc_env_of(const struct metadata_env *env)
{
    return env->alloc != NULL ? *env->alloc
                              : (struct alloc_env){.now_ms = clock_wall_ms(env->clock), .rng = env->rng};
}

static struct str master_id(const struct cluster_state *s)
{
    return s->nodes != NULL && s->nodes->master.p != NULL ? s->nodes->master : STR("");
}

/* ---- reroute ------------------------------------------------------------------------------------------- */

/* What allocation would make of it now. */
static enum err simulate(const struct alloc_env *env, struct meta_request *rq, struct state_builder *b,
                         struct buf *out, struct errmsg *em)
{
    struct alloc_wants wants = {.again_ms = INT64_MAX, .arena = &rq->arena};
    struct state_builder copy;
    bool changed;
    struct cluster_state *s = NULL;
    if (!state_builder_init(&copy, b->next)) {
        return err_no_memory(em);
    }
    enum err e = allocate(env, &copy, &wants, &changed, em);
    if (e != ERR_OK) {
        state_builder_fini(&copy);
        return e;
    }
    s = state_builder_seal(&copy, b->next->state_uuid.p != NULL ? b->next->state_uuid : STR("_dry_run_"));
    if (s == NULL) {
        return err_no_memory(em);
    }
    cluster_state_encode(s, out);
    cluster_state_unref(s);
    return ERR_OK;
}

enum err meta_reroute(const struct metadata_env *env, struct meta_request *rq, struct state_builder *b,
                      struct errmsg *em)
{
    struct alloc_env alloc = alloc_env_of(env);
    struct reroute_command *commands;
    uint32_t n;
    struct buf why, state, response;
    struct jsonw w;
    buf_init(&why, NULL, BUF_UNLIMITED);
    buf_init(&state, NULL, BUF_UNLIMITED);
    buf_init(&response, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &why, false);
    bool dry = (rq->options & META_DRY_RUN) != 0;
    enum err e = reroute_parse(&commands, &n, &rq->body, rq->text, &rq->arena, em);
    e = e == ERR_OK ? allocation_reroute(&alloc, b, commands, n, master_id(b->next),
                                         (rq->options & META_RETRY_FAILED) != 0,
                                         (rq->options & META_SAY_WHY) != 0 ? &w : NULL, em)
                    : e;
    if (e == ERR_OK && dry && (rq->options & META_WANT_STATE) != 0) {
        e = simulate(&alloc, rq, b, &state, em);
    }
    put_str(&response, buf_view(&why));
    put_str(&response, buf_view(&state));
    rq->response = arena_str(&rq->arena, buf_view(&response));
    if (e == ERR_OK && (rq->response.p == NULL || why.failed || state.failed || response.failed)) {
        e = err_no_memory(em);
    }
    buf_fini(&why);
    buf_fini(&state);
    buf_fini(&response);
    rq->changed = e == ERR_OK && !dry;
    return e;
}

bool meta_reroute_response(struct str response, struct str *explanations, struct cluster_state **state)
{
    struct bytes_in in = bytes_in(response);
    *explanations = get_str(&in);
    struct str bytes = get_str(&in);
    *state = NULL;
    if (in.bad) {
        return false;
    }
    return bytes.n == 0 || cluster_state_decode(state, bytes, NULL) == ERR_OK;
}

enum err meta_explain(const struct metadata_env *env, const struct cluster_state *cur,
                      struct meta_request *rq, struct errmsg *em)
{
    struct alloc_env alloc = alloc_env_of(env);
    struct explain_question q = {.include_yes = (rq->options & META_INCLUDE_YES) != 0,
                                 .include_disk = (rq->options & META_INCLUDE_DISK) != 0};
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    enum err e = explain_parse(&q, &rq->body, rq->text, em);
    e = e == ERR_OK ? allocation_explain(&alloc, cur, &q, master_id(cur), &w, em) : e;
    if (e == ERR_OK) {
        rq->response = arena_str(&rq->arena, buf_view(&b));
        e = b.failed || rq->response.p == NULL ? err_no_memory(em) : ERR_OK;
    }
    buf_fini(&b);
    return e;
}

/* ---- voting exclusions --------------------------------------------------------------------------------- */

static bool excluded(const struct coordination_part *p, struct str id, struct str name)
{
    for (uint32_t i = 0; i < p->n_exclusions; i++) {
        bool id_same = str_eq(p->exclusions[i].node_id, id),
             name_same = str_eq(p->exclusions[i].node_name, name);
        if (str_is(id, EXCLUSION_ABSENT) ? name_same && str_is(p->exclusions[i].node_id, EXCLUSION_ABSENT)
                                         : id_same) {
            return true;
        }
    }
    return false;
}

/* `p` has room. */
static void exclude(struct coordination_part *p, struct str id, struct str name)
{
    struct arena *a = &p->part.arena;
    if (!excluded(p, id, name)) {
        p->exclusions[p->n_exclusions++] = (struct voting_exclusion){arena_str(a, id), arena_str(a, name)};
    }
}

/* One name or id: the node that has it, or the one that may come with it. */
static void exclude_named(const struct cluster_state *s, struct coordination_part *p, struct str x,
                          bool by_id)
{
    bool there = false;
    for (uint32_t i = 0; s->nodes != NULL && i < s->nodes->n; i++) {
        const struct node_meta *n = &s->nodes->v[i];
        if (str_eq(by_id ? n->id : n->name, x)) {
            there = true;
            if ((n->roles & ROLE_MASTER) != 0) {
                exclude(p, n->id, n->name);
            }
        }
    }
    if (!there) {
        exclude(p, by_id ? x : STR(EXCLUSION_ABSENT), by_id ? STR(EXCLUSION_ABSENT) : x);
    }
}

static enum err exclude_described(const struct cluster_state *s, struct coordination_part *p,
                                  const struct meta_request *rq, struct errmsg *em)
{
    uint32_t found = 0, n_nodes = s->nodes != NULL ? s->nodes->n : 0;
    struct arena scratch;
    struct buf all;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    buf_init(&all, NULL, 64 * KIB);
    bool *chosen = ARENA_ARRAY(&scratch, bool, (size_t)n_nodes + 1);
    for (uint32_t i = 0; chosen != NULL && i < rq->n_names; i++) {
        buf_printf(&all, "%s%.*s", i > 0 ? "," : "", STR_ARG(rq->names[i]));
        nodes_choose(s, rq->names[i], master_id(s), chosen);
        for (uint32_t k = 0; k < n_nodes; k++) {
            if (chosen[k] && (s->nodes->v[k].roles & ROLE_MASTER) != 0) {
                exclude(p, s->nodes->v[k].id, s->nodes->v[k].name);
                found++;
            }
        }
    }
    enum err e = chosen == NULL ? err_no_memory(em)
                 : found == 0   ? err_set(em, ERR_ILLEGAL_ARGUMENT,
                                          "add voting config exclusions request for [%.*s] matched no "
                                            "master-eligible nodes",
                                          STR_ARG(buf_view(&all)))
                                : ERR_OK;
    buf_fini(&all);
    arena_fini(&scratch);
    return e;
}

/* A copy with room for so many more; a state of a node alone has none yet: the master votes for itself. */
static struct coordination_part *coordination_of(const struct cluster_state *cur, size_t more)
{
    struct coordination_part *p =
        cur->coordination != NULL ? coordination_part_copy(cur->coordination) : coordination_part_new();
    if (p == NULL) {
        return NULL;
    }
    struct voting_exclusion *v = ARENA_ARRAY(&p->part.arena, struct voting_exclusion, p->n_exclusions + more);
    bool ok = v != NULL;
    if (ok && p->n_exclusions > 0) {
        memcpy(v, p->exclusions, p->n_exclusions * sizeof(v[0]));
    }
    p->exclusions = v;
    if (ok && cur->coordination == NULL && master_id(cur).n > 0) {
        p->term = MAX_OF(cur->term, (uint64_t)1);
        p->committed = str_set_with(&p->committed, master_id(cur), &p->part.arena);
        p->accepted = str_set_with(&p->accepted, master_id(cur), &p->part.arena);
        ok = p->committed.v != NULL && p->accepted.v != NULL;
    }
    if (!ok) {
        state_part_unref(&p->part);
        return NULL;
    }
    return p;
}

enum err meta_exclude_voters(const struct cluster_state *cur, struct meta_request *rq,
                             struct state_builder *b, struct errmsg *em)
{
    size_t room = MAX_OF((size_t)rq->n_names, (size_t)0) + (cur->nodes != NULL ? cur->nodes->n : 0);
    struct coordination_part *p = coordination_of(cur, room);
    if (p == NULL) {
        return err_no_memory(em);
    }
    uint32_t before = p->n_exclusions;
    bool by_id = (rq->options & META_BY_ID) != 0;
    enum err e = ERR_OK;
    if (by_id || (rq->options & META_BY_NAME) != 0) {
        for (uint32_t i = 0; i < rq->n_names; i++) {
            exclude_named(cur, p, rq->names[i], by_id);
        }
    } else {
        e = exclude_described(cur, p, rq, em);
    }
    int64_t most = cluster_setting_i64(cur, SET_CLUSTER_MAX_VOTING_CONFIG_EXCLUSIONS);
    if (e == ERR_OK && p->n_exclusions > before && p->n_exclusions > most) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "add voting config exclusions request for [] would add [%u] exclusions to the existing "
                    "[%u] which would exceed the maximum of [%d] set by "
                    "[cluster.max_voting_config_exclusions]",
                    p->n_exclusions - before, before, (int)most);
    }
    if (e != ERR_OK || p->n_exclusions == before) {
        state_part_unref(&p->part);
        return e;
    }
    state_put_coordination(b, p);
    rq->changed = true;
    return ERR_OK;
}

enum err meta_clear_exclusions(const struct cluster_state *cur, struct meta_request *rq,
                               struct state_builder *b, struct errmsg *em)
{
    if (cur->coordination == NULL || cur->coordination->n_exclusions == 0) {
        return ERR_OK;
    }
    struct coordination_part *p = coordination_of(cur, 0);
    if (p == NULL) {
        return err_no_memory(em);
    }
    p->n_exclusions = 0;
    state_put_coordination(b, p);
    rq->changed = true;
    return ERR_OK;
}

bool exclusions_pending(const struct cluster_state *s)
{
    const struct coordination_part *c = s->coordination;
    for (uint32_t i = 0; c != NULL && i < c->n_exclusions; i++) {
        struct str id = c->exclusions[i].node_id;
        if (str_set_has(&c->committed, id) || str_set_has(&c->accepted, id)) {
            return true;
        }
    }
    return false;
}
