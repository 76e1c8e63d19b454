/* conf_yaml.c - a YAML file into flat settings: libyaml's events, as far as settings need them. */
#include "common/base/buf.h"
#include "common/sys/conf_int.h"

#include <yaml.h>

#define DEPTH_MAX     32
#define LIST_MAX      1000
#define KEY_BYTES_MAX 1000

struct reader {
    struct settings *out;
    const char *name;
    const char *const *environ_;
    const struct conf_opts *known; /* NULL: everything is */
    struct errmsg *em;
    yaml_parser_t parser;
    struct buf key; /* of where we are, dotted */
};

/* `at`: where it is, 0-based. */
static enum err refuse(struct reader *r, const yaml_mark_t *at, const char *what, struct str about)
{
    return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "%s:%zu: %s%s%.*s%s", r->name, at->line + 1, what,
                   about.p != NULL ? " [" : "", STR_ARG(about), about.p != NULL ? "]" : "");
}

static enum err next_event(struct reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event)) {
        return ERR_OK;
    }
    if (r->parser.error == YAML_MEMORY_ERROR) {
        return err_no_memory(r->em);
    }
    const char *problem = r->parser.problem != NULL ? r->parser.problem : "not YAML";
    return refuse(r, &r->parser.problem_mark, problem, STR_NULL);
}

static struct str scalar_text(const yaml_event_t *event)
{
    return str_mk(event->data.scalar.value, event->data.scalar.length);
}

static bool is_null(const yaml_event_t *event)
{
    struct str s = scalar_text(event);
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
           && (s.n == 0 || str_is(s, "~") || str_is(s, "null") || str_is(s, "Null") || str_is(s, "NULL"));
}

/* A scalar's text with ${NAME} replaced, in the settings' arena. */
static enum err read_scalar(struct reader *r, const yaml_event_t *event, struct str *out)
{
    ERR_LOCAL(why);
    if (is_null(event)) {
        return refuse(r, &event->start_mark, "null-valued setting found for key", buf_view(&r->key));
    }
    enum err e = conf_substitute(scalar_text(event), r->environ_, r->out->arena, out, &why);
    if (e == ERR_ILLEGAL_ARGUMENT) {
        return refuse(r, &event->start_mark, err_reason(&why), STR_NULL);
    }
    return e == ERR_OK ? ERR_OK : err_no_memory(r->em);
}

static enum err check_key(struct reader *r, const yaml_mark_t *at)
{
    ERR_LOCAL(why);
    if (settings_find(r->out, buf_view(&r->key)) != NULL) {
        return refuse(r, at, "duplicate setting", buf_view(&r->key));
    }
    if (r->known != NULL && conf_check_known(r->known, buf_view(&r->key), &why) != ERR_OK) {
        return refuse(r, at, err_reason(&why), STR_NULL);
    }
    return ERR_OK;
}

static enum err read_list(struct reader *r)
{
    struct str *items = NULL;
    size_t n = 0, cap = 0;
    for (;;) {
        yaml_event_t event;
        enum err e = next_event(r, &event);
        if (e != ERR_OK) {
            return e;
        }
        yaml_event_type_t type = event.type;
        if (type == YAML_SCALAR_EVENT) {
            struct str *v = n < LIST_MAX ? arena_grow(r->out->arena, items, n, &cap, sizeof(*v)) : NULL;
            if (v == NULL) {
                e = n < LIST_MAX ? err_no_memory(r->em)
                                 : refuse(r, &event.start_mark, "too long a list", buf_view(&r->key));
            } else {
                items = v;
                e = read_scalar(r, &event, &items[n++]);
            }
        } else if (type != YAML_SEQUENCE_END_EVENT) {
            e = refuse(r, &event.start_mark, "a list may hold single values only, in", buf_view(&r->key));
        }
        yaml_event_delete(&event);
        if (e != ERR_OK) {
            return e;
        }
        if (type == YAML_SEQUENCE_END_EVENT) {
            return settings_put_list(r->out, buf_view(&r->key), items, (uint32_t)n) ? ERR_OK
                                                                                    : err_no_memory(r->em);
        }
    }
}

static enum err read_map(struct reader *r, unsigned depth);

/* What stands behind the key that is in r->key. */
static enum err read_value(struct reader *r, unsigned depth)
{
    yaml_event_t event;
    enum err e = next_event(r, &event);
    if (e != ERR_OK) {
        return e;
    }
    struct str value;
    switch ((int)event.type) {
    case YAML_SCALAR_EVENT:
        e = check_key(r, &event.start_mark);
        e = e != ERR_OK ? e : read_scalar(r, &event, &value);
        if (e == ERR_OK && !settings_put(r->out, buf_view(&r->key), value)) {
            e = err_no_memory(r->em);
        }
        break;
    case YAML_SEQUENCE_START_EVENT:
        e = check_key(r, &event.start_mark);
        e = e != ERR_OK ? e : read_list(r);
        break;
    case YAML_MAPPING_START_EVENT:
        e = depth < DEPTH_MAX ? read_map(r, depth + 1)
                              : refuse(r, &event.start_mark, "nested too deeply", buf_view(&r->key));
        break;
    default:
        e = refuse(r, &event.start_mark, "a value is missing for", buf_view(&r->key));
        break;
    }
    yaml_event_delete(&event);
    return e;
}

/* The members of a mapping whose start was read. */
static enum err read_map(struct reader *r, unsigned depth)
{
    size_t above = r->key.n;
    for (;;) {
        yaml_event_t event;
        enum err e = next_event(r, &event);
        if (e != ERR_OK) {
            return e;
        }
        yaml_event_type_t type = event.type;
        if (type == YAML_SCALAR_EVENT && event.data.scalar.length > 0) {
            if (above > 0) {
                buf_char(&r->key, '.');
            }
            buf_str(&r->key, scalar_text(&event));
            if (r->key.failed) {
                e = refuse(r, &event.start_mark, "too long a name", STR_NULL);
            }
        } else if (type != YAML_MAPPING_END_EVENT) {
            e = refuse(r, &event.start_mark, "a setting's name is expected", STR_NULL);
        }
        yaml_event_delete(&event);
        if (e != ERR_OK || type == YAML_MAPPING_END_EVENT) {
            return e;
        }
        e = read_value(r, depth);
        if (e != ERR_OK) {
            return e;
        }
        buf_truncate(&r->key, above);
    }
}

static enum err read_stream(struct reader *r)
{
    unsigned documents = 0;
    for (;;) {
        yaml_event_t event;
        enum err e = next_event(r, &event);
        if (e != ERR_OK) {
            return e;
        }
        yaml_event_type_t type = event.type;
        if (type == YAML_DOCUMENT_START_EVENT && ++documents > 1) {
            e = refuse(r, &event.start_mark, "there may be one document only", STR_NULL);
        } else if (type == YAML_MAPPING_START_EVENT) {
            e = read_map(r, 0);
        } else if (type == YAML_SEQUENCE_START_EVENT || type == YAML_ALIAS_EVENT
                   || (type == YAML_SCALAR_EVENT && !is_null(&event))) {
            e = refuse(r, &event.start_mark, "\"name: value\" is expected", STR_NULL);
        }
        yaml_event_delete(&event);
        if (e != ERR_OK || type == YAML_STREAM_END_EVENT) {
            return e;
        }
    }
}

enum err conf_yaml_known(struct settings *out, struct str text, const char *name, const char *const *environ_,
                         const struct conf_opts *known, struct errmsg *em)
{
    struct reader r = {.out = out, .name = name, .environ_ = environ_, .known = known, .em = em};
    if (!yaml_parser_initialize(&r.parser)) {
        return err_no_memory(em);
    }
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)(text.n > 0 ? text.p : ""), text.n);
    buf_init(&r.key, NULL, KEY_BYTES_MAX);
    enum err e = read_stream(&r);
    buf_fini(&r.key);
    yaml_parser_delete(&r.parser);
    return e;
}

enum err conf_yaml(struct settings *out, struct str text, const char *name, const char *const *environ_,
                   struct errmsg *em)
{
    return conf_yaml_known(out, text, name, environ_, NULL, em);
}
