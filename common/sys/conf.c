#include "common/sys/conf.h"

#include "common/base/buf.h"
#include "common/sys/conf_int.h"

#include <ctype.h>

#define ENV_PREFIX     STR("SERAI_SETTING_")
#define NAME_BYTES_MAX 200
#define NEAR_EDITS_MAX 3

/* The variable's value; p == NULL when it is not set. */
static struct str find_env(const char *const *environ_, struct str name)
{
    for (; environ_ != NULL && *environ_ != NULL; environ_++) {
        struct str value, key = str_cut(str_of(*environ_), '=', &value);
        if (value.p != NULL && str_eq(key, name)) {
            return value;
        }
    }
    return STR_NULL;
}

enum err conf_substitute(struct str s, const char *const *environ_, struct arena *arena, struct str *out,
                         struct errmsg *em)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    enum err e = ERR_OK;
    buf_z(&b, "");
    for (size_t at = 0; at < s.n && e == ERR_OK;) {
        if (s.p[at] != '$' || at + 1 >= s.n || s.p[at + 1] != '{') {
            buf_char(&b, s.p[at++]);
            continue;
        }
        size_t end = str_find(s, '}', at);
        if (end == SIZE_MAX) {
            e = err_set(em, ERR_ILLEGAL_ARGUMENT, "a placeholder is not closed in [%.*s]", STR_ARG(s));
            break;
        }
        struct str otherwise, name = str_cut(str_slice(s, at + 2, end), ':', &otherwise);
        struct str value = find_env(environ_, name);
        value = value.p != NULL ? value : otherwise;
        if (value.p == NULL) {
            e = err_set(em, ERR_ILLEGAL_ARGUMENT, "Could not resolve placeholder '%.*s'", STR_ARG(name));
        }
        buf_str(&b, value);
        at = end + 1;
    }
    if (e == ERR_OK) {
        *out = b.failed ? STR_NULL : arena_str(arena, buf_view(&b));
        e = out->p != NULL ? ERR_OK : err_no_memory(em);
    }
    buf_fini(&b);
    return e;
}

/* "name.0": an item of the list `name`. */
static struct str without_index(struct str key)
{
    size_t n = key.n;
    while (n > 0 && key.p[n - 1] >= '0' && key.p[n - 1] <= '9') {
        n--;
    }
    return n > 1 && n < key.n && key.p[n - 1] == '.' ? str_slice(key, 0, n - 1) : key;
}

enum err conf_check_known(const struct conf_opts *opts, struct str key, struct errmsg *em)
{
    struct str base = without_index(key);
    const char *nearest = NULL;
    unsigned least = NEAR_EDITS_MAX + 1;
    for (size_t i = 0; i < opts->known_n; i++) {
        struct str known = str_of(opts->known[i]);
        if (known.n > 0 && known.p[known.n - 1] == '*') {
            if (str_starts(key, str_slice(known, 0, known.n - 1))) {
                return ERR_OK;
            }
            continue;
        }
        if (str_eq(known, key) || str_eq(known, base)) {
            return ERR_OK;
        }
        unsigned d = str_distance(known, base);
        if (d < least) {
            least = d;
            nearest = opts->known[i];
        }
    }
    if (opts->known == NULL) {
        return ERR_OK;
    }
    if (nearest != NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "unknown setting [%.*s], did you mean [%s]?", STR_ARG(key),
                       nearest);
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "unknown setting [%.*s]", STR_ARG(key));
}

/* "[]" is the list without members, which nothing else can say here. */
static enum err conf_put(struct settings *out, const struct conf_opts *opts, struct str key, struct str value,
                         struct errmsg *em)
{
    enum err e = conf_check_known(opts, key, em);
    if (e != ERR_OK) {
        return e;
    }
    bool kept = str_is(value, "[]") ? settings_put_list(out, key, NULL, 0) : settings_put(out, key, value);
    return kept ? ERR_OK : err_no_memory(em);
}

static enum err load_file(struct settings *out, const struct conf_opts *opts, struct errmsg *em)
{
    bool exists;
    uint64_t n;
    enum err e = opts->fs->size(opts->fs->self, opts->file, &exists, &n, em);
    if (e != ERR_OK || (!exists && opts->file_optional)) {
        return e;
    }
    struct str text;
    e = fs_read_file(opts->fs, opts->file, CONF_FILE_BYTES_MAX, out->arena, &text, em);
    if (e != ERR_OK) {
        return e;
    }
    struct settings file;
    settings_init(&file, out->arena);
    e = conf_yaml_known(&file, text, opts->file, opts->environ_, opts, em);
    if (e == ERR_OK && !settings_merge(out, &file)) {
        e = err_no_memory(em);
    }
    return e;
}

/* Lower-case words with a dot between the first two, as "http.port". */
static bool is_dotted_name(struct str s)
{
    bool dot = false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (dot && c == '-');
        if (c == '.' && i > 0 && i + 1 < s.n && s.p[i - 1] != '.') {
            dot = true;
        } else if (!word) {
            return false;
        }
    }
    return dot;
}

/* SERAI_SETTING_NODE_ATTR_RACK__ID without its prefix: "node.attr.rack_id". */
static struct str plain_name(struct str s, char *to)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n && n < NAME_BYTES_MAX; i++) {
        char c = s.p[i];
        if (c == '_' && i + 1 < s.n && s.p[i + 1] == '_') {
            to[n++] = '_';
            i++;
        } else {
            to[n++] = c == '_' ? '.' : (char)tolower((unsigned char)c);
        }
    }
    return str_mk(to, n);
}

static enum err load_environment(struct settings *out, const struct conf_opts *opts, struct errmsg *em)
{
    struct str prefix = opts->env_prefix != NULL ? str_of(opts->env_prefix) : ENV_PREFIX;
    for (const char *const *v = opts->environ_; v != NULL && *v != NULL; v++) {
        char text[NAME_BYTES_MAX];
        struct str value, name = str_cut(str_of(*v), '=', &value);
        if (value.p == NULL || value.n == 0) {
            continue;
        }
        enum err e = ERR_OK;
        if (str_starts(name, prefix)) {
            e = conf_put(out, opts, plain_name(str_slice(name, prefix.n, name.n), text), value, em);
        } else if (opts->env_prefix == NULL && is_dotted_name(name)) {
            e = conf_put(out, opts, name, value, em);
        }
        if (e != ERR_OK) {
            return err_prefix(em, e, "environment variable [%.*s]", STR_ARG(name));
        }
    }
    return ERR_OK;
}

/* "-E name=value" and "-Ename=value"; others go to *rest. */
static enum err load_arguments(struct settings *out, const struct conf_opts *opts, struct str **rest,
                               size_t *rest_n, struct errmsg *em)
{
    size_t n = 0;
    struct str *others = ARENA_ARRAY(out->arena, struct str, (size_t)opts->argc);
    if (others == NULL) {
        return err_no_memory(em);
    }
    for (int i = 0; i < opts->argc; i++) {
        struct str arg = str_of(opts->argv[i]);
        if (!str_starts(arg, STR("-E"))) {
            others[n++] = arg;
            continue;
        }
        struct str pair = str_slice(arg, 2, arg.n);
        if (pair.n == 0 && i + 1 < opts->argc) {
            pair = str_of(opts->argv[++i]);
        }
        struct str value, name = str_cut(pair, '=', &value);
        if (name.n == 0 || value.n == 0) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "-E [%.*s]: name=value is expected", STR_ARG(pair));
        }
        enum err e = conf_put(out, opts, name, value, em);
        if (e != ERR_OK) {
            return err_prefix(em, e, "-E");
        }
    }
    if (rest != NULL) {
        *rest = others;
        *rest_n = n;
    } else if (n > 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "unknown argument [%.*s]", STR_ARG(others[0]));
    }
    return ERR_OK;
}

enum err conf_load(struct settings *out, const struct conf_opts *opts, struct str **rest, size_t *rest_n,
                   struct errmsg *em)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < opts->defaults_n && e == ERR_OK; i++) {
        const struct conf_default *d = &opts->defaults[i];
        e = settings_put(out, str_of(d->name), str_of(d->value)) ? ERR_OK : err_no_memory(em);
    }
    if (e == ERR_OK && opts->file != NULL) {
        e = load_file(out, opts, em);
    }
    e = e == ERR_OK ? load_environment(out, opts, em) : e;
    return e == ERR_OK ? load_arguments(out, opts, rest, rest_n, em) : e;
}
