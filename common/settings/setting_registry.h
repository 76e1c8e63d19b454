/* setting_registry.h - the registry of settings: their names, their valid values, and when they may change.
 *
 * Two registries: settings of an index, settings of the cluster and its nodes. A setting is found by its
 * exact name or belongs to a family ("index.analysis.*", "logger.*"). Refusals have Elasticsearch's types and
 * words. Pure; it knows no state and applies nothing. */
#ifndef SETTINGS_SETTING_REGISTRY_H
#define SETTINGS_SETTING_REGISTRY_H

#include "common/base/settings.h"

enum setting_kind {
    SETTING_TEXT,
    SETTING_BOOL,
    SETTING_INT,
    SETTING_LONG,
    SETTING_DOUBLE,
    SETTING_TIME,          /* min in milliseconds */
    SETTING_BYTES,         /* min in bytes */
    SETTING_SIZE_OR_RATIO, /* "10gb", "85%", "0.85" */
    SETTING_ENUM,          /* one of choices, any case */
    SETTING_CHOICE,        /* one of choices, exactly */
    SETTING_LIST,          /* each of choices, when there are any */
    SETTING_EXPAND,        /* "false", "0-5", "0-all" */
    SETTING_ACTIVE,        /* "all" or a number of shard copies */
    SETTING_AUTO_CREATE,   /* a boolean or patterns with signs */
    SETTING_LOG_LEVEL,
    SETTING_BOOL_OR_INT /* all, none, or so many */
};

enum {
    SETTING_DYNAMIC = 1,    /* may change while the index is open, the cluster runs */
    SETTING_PRIVATE = 2,    /* set by the system alone */
    SETTING_FINAL = 4,      /* never changes once the index exists */
    SETTING_NO_DEFAULT = 8, /* not shown among the defaults */
    SETTING_NO_EFFECT = 16, /* accepted, because clients, templates and tools set it; nothing reads it */
    SETTING_REFUSED = 32    /* only the default is taken: any other value asks for what is not offered */
};

#define SETTING_ROOM 64 /* bytes that a computed default needs */

struct setting_def {
    const char *name; /* a family's ends with a dot */
    enum setting_kind kind;
    unsigned flags;
    const char *otherwise; /* the default; NULL: empty. Lists: with commas */
    int64_t min, max;      /* both 0: no bounds */
    const char *choices;   /* with commas; of a time, its least as Elasticsearch writes it */
    /* The default that holds where it is not Elasticsearch's, and why; NULL: it is. */
    const char *here, *why;
    /* The default that other settings say, and how pages say it; NULL: it is the text above. Long texts are made in room. */
    struct str (*computed)(const struct settings *s, char room[SETTING_ROOM]);
    const char *shown;
};

struct setting_registry {
    const struct setting_def *defs; /* sorted by name */
    size_t n;
    const struct setting_def *families;
    size_t n_families;
};
extern const struct setting_registry setting_registry_index, setting_registry_cluster;

/* The definition that `key` has by itself or by its family; NULL: there is no such setting. */
const struct setting_def *setting_def_find(const struct setting_registry *r, struct str key);
/* Is the value fit, and may it be set? Nulls are. ERR_ILLEGAL_ARGUMENT, with what the parser said as its cause. */
enum err setting_check(const struct setting_def *def, const struct setting *value, struct errmsg *em);
/* Does it say what holds anyway? */
bool setting_is_default(const struct setting_def *def, const struct setting *value);
/* ERR_ILLEGAL_ARGUMENT "unknown setting [key] did you mean [x]?". */
enum err setting_unknown(const struct setting_registry *r, struct str key, struct errmsg *em);
/* Checks them all; the first mistake is the error, the others stand beside it. For a change of what there is,
 * keys with `*` are let through, private settings are refused, and values wait for settings_apply. */
enum err settings_check(const struct setting_registry *r, const struct settings *s, bool change,
                        struct errmsg *em);
/* Puts the defaults of all that `given` (and `also`, may be NULL) do not set into out; those that others say are of `of`. false: no
 * memory. */
bool settings_put_defaults(const struct setting_registry *r, const struct settings *given,
                           const struct settings *also, const struct settings *of,
                           struct settings *out) NODISCARD;

/* Appends the names of those that are set to something else than their default and have no effect, with
 * commas. How many there are. */
size_t settings_without_effect(const struct setting_registry *r, const struct settings *s, struct buf *names);

/* Changes target by `given`: values are set, nulls (also by wildcards) reset. What was set is added to
 * `updates` (may be NULL). `what` names the settings in errors ("transient"). only_dynamic: others are
 * refused. */
struct settings_change {
    const struct setting_registry *registry;
    const char *what;
    bool only_dynamic;
    bool changed; /* the answer */
};
enum err settings_apply(struct settings_change *c, struct settings *target, const struct settings *given,
                        struct settings *updates, struct errmsg *em);

#endif
