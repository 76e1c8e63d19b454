/* alias_actions.h - the actions of a request about aliases, before its indices are resolved. */
#ifndef COORDINATOR_REST_ALIAS_ACTIONS_H
#define COORDINATOR_REST_ALIAS_ACTIONS_H

#include "coordinator/rest/meta.h"

/* One action, before its indices are resolved. */
struct given_action {
    enum alias_kind kind;
    const struct str *indices, *aliases;
    uint32_t n_indices, n_aliases;
    struct alias_meta alias;
    bool must_exist, empty;
};

/* The requested action, and the same for each index that it names. */
struct action_list {
    struct rest *r;
    const struct given_action *given;
    uint32_t n_given;
    struct alias_action *v;
    size_t n, cap;
};

/* Reads {"actions": [...]} into l->given, in the request's arena; errors are Elasticsearch's, with their places. */
enum err alias_actions_read(struct rest *r, const struct json *body, struct action_list *l);

#endif
