#include "common/cluster/nodes.h"

#include <stdio.h>

#define SHOWN_SHIFT 8 /* above ROLE_* */

static const struct {
    const char *name;
    char letter;
} roles[NODE_ROLES_N] = {
    [NODE_DATA] = {"data", 'd'},
    [NODE_DATA_COLD] = {"data_cold", 'c'},
    [NODE_DATA_CONTENT] = {"data_content", 's'},
    [NODE_DATA_FROZEN] = {"data_frozen", 'f'},
    [NODE_DATA_HOT] = {"data_hot", 'h'},
    [NODE_DATA_WARM] = {"data_warm", 'w'},
    [NODE_INGEST] = {"ingest", 'i'},
    [NODE_MASTER] = {"master", 'm'},
    [NODE_ML] = {"ml", 'l'},
    [NODE_REMOTE] = {"remote_cluster_client", 'r'},
    [NODE_TRANSFORM] = {"transform", 't'},
    [NODE_VOTING_ONLY] = {"voting_only", 'v'},
};

uint32_t node_roles_pack(unsigned set)
{
    return ((set & 1U << NODE_MASTER) != 0 ? ROLE_MASTER : 0U)
           | ((set & NODE_DATA_ROLES) != 0 ? ROLE_DATA : 0U) | (uint32_t)set << SHOWN_SHIFT;
}

unsigned node_roles(const struct node_meta *n)
{
    unsigned shown = n->roles >> SHOWN_SHIFT & ((1U << NODE_ROLES_N) - 1);
    if (shown != 0) {
        return shown;
    }
    return ((n->roles & ROLE_MASTER) != 0 ? 1U << NODE_MASTER : 0U)
           | ((n->roles & ROLE_DATA) != 0 ? 1U << NODE_DATA : 0U);
}

const char *node_role_name(enum node_role r)
{
    return roles[r].name;
}

struct str node_role_letters(unsigned set, char out[16])
{
    size_t n = 0;
    for (const char *c = "abcdefghijklmnopqrstuvwxyz"; *c != '\0'; c++) {
        for (size_t i = 0; i < NODE_ROLES_N; i++) {
            if ((set >> i & 1) != 0 && roles[i].letter == *c) {
                out[n++] = *c;
            }
        }
    }
    if (n == 0) {
        out[n++] = '-';
    }
    return (struct str){out, n};
}

const char *node_text(const struct node_meta *n, char out[NODE_TEXT_BYTES])
{
    char letters[16];
    struct str l = node_role_letters(node_roles(n), letters);
    snprintf(out, NODE_TEXT_BYTES, "{%.*s}{%.*s}{%.*s}{%.*s}{%.*s}{%.*s}", STR_ARG(n->name), STR_ARG(n->id),
             STR_ARG(n->ephemeral_id), STR_ARG(n->host), STR_ARG(n->transport_address), STR_ARG(l));
    return out;
}

/* ---- filters ------------------------------------------------------------------------------------------- */

/* "data:true", "rack:r1": a role puts nodes in or out, an attribute only in. */
static void apply_pair(const struct node_meta *n, struct str name, struct str value, bool *in)
{
    unsigned set = node_roles(n);
    for (size_t i = 0; i < NODE_ROLES_N; i++) {
        if (str_is(name, roles[i].name)) {
            *in = (set >> i & 1) != 0 ? str_is(value, "true") : *in;
            return;
        }
    }
    if (str_is(name, "coordinating_only")) {
        bool only = (set & (NODE_DATA_ROLES | 1U << NODE_INGEST | 1U << NODE_MASTER)) == 0;
        *in = only ? str_is(value, "true") : *in;
        return;
    }
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        *in |= str_glob(name, n->attrs[i].name) && str_glob(value, n->attrs[i].value);
    }
}

static void node_filter_apply(const struct cluster_state *s, const struct node_meta *n, struct str one,
                              struct str local, bool *in)
{
    if (str_is(one, "_local")) {
        *in |= str_eq(n->id, local);
        return;
    }
    if (str_is(one, "_master")) {
        *in |= s->nodes->master.p != NULL && str_eq(n->id, s->nodes->master);
        return;
    }
    if (cluster_node(s, one) != NULL) {
        *in |= str_eq(n->id, one);
        return;
    }
    *in |= str_is(one, "_all") || str_glob(one, n->name) || str_glob(one, n->host)
           || str_glob(one, n->transport_address);
    struct str value, name = str_cut(one, ':', &value);
    if (value.p != NULL) {
        apply_pair(n, name, value, in);
    }
}

uint32_t nodes_choose(const struct cluster_state *s, struct str list, struct str local, bool *chosen)
{
    uint32_t n = 0;
    for (uint32_t i = 0; s->nodes != NULL && i < s->nodes->n; i++) {
        struct str rest = list;
        chosen[i] = list.n == 0;
        while (rest.p != NULL && rest.n > 0) {
            node_filter_apply(s, &s->nodes->v[i], str_cut(rest, ',', &rest), local, &chosen[i]);
        }
        n += chosen[i];
    }
    return n;
}

enum err nodes_choose_one(const struct cluster_state *s, struct str text, struct str local,
                          const struct node_meta **out, struct errmsg *em)
{
    uint32_t found = 0;
    for (uint32_t i = 0; s->nodes != NULL && i < s->nodes->n; i++) {
        bool in = false;
        node_filter_apply(s, &s->nodes->v[i], text, local, &in);
        if (in) {
            *out = &s->nodes->v[i];
            found++;
        }
    }
    if (found == 1) {
        return ERR_OK;
    }
    return found == 0
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "failed to resolve [%.*s], no matching nodes",
                         STR_ARG(text))
               : err_set(em, ERR_ILLEGAL_ARGUMENT,
                         "resolved [%.*s] into [%u] nodes, where expected to be resolved to a single node",
                         STR_ARG(text), found);
}
