#include "common/settings/setting_read.h"

#include "common/base/num.h"

const struct setting *setting_find(const struct settings *s, enum setting_id id)
{
    struct str name = setting_name(id);
    for (; s != NULL; s = s->behind) {
        const struct setting *t = settings_find(s, name);
        if (t != NULL && !t->is_null) {
            return t;
        }
    }
    return NULL;
}

struct str setting_text(const struct settings *s, enum setting_id id, char room[SETTING_ROOM])
{
    const struct setting *t = setting_find(s, id);
    return t != NULL && !t->is_list ? t->value : setting_default(&setting_rows[id], s, room);
}

struct str setting_str(const struct settings *s, enum setting_id id)
{
    char room[SETTING_ROOM];
    return setting_text(s, id, room);
}

/* Numbers, in the unit of their reader. */
typedef bool (*read_number)(struct str text, int64_t *out);

static int64_t setting_number(const struct settings *s, enum setting_id id, read_number read)
{
    char room[SETTING_ROOM];
    int64_t v = 0;
    if (!read(setting_text(s, id, room), &v)) {
        (void)read(setting_default(&setting_rows[id], s, room), &v);
    }
    return v;
}

static bool read_bool(struct str text, int64_t *out)
{
    bool v;
    bool ok = num_parse_bool(text, &v);
    *out = ok && v;
    return ok;
}

static bool read_ms(struct str text, int64_t *out)
{
    return parse_time_ms(text, "", out, NULL) == ERR_OK;
}

static bool read_bytes(struct str text, int64_t *out)
{
    return parse_bytes(text, "", out, NULL) == ERR_OK;
}

bool setting_bool(const struct settings *s, enum setting_id id)
{
    return setting_number(s, id, read_bool) != 0;
}

int64_t setting_i64(const struct settings *s, enum setting_id id)
{
    return setting_number(s, id, num_parse_i64);
}

int64_t setting_ms(const struct settings *s, enum setting_id id)
{
    return setting_number(s, id, read_ms);
}

int64_t setting_bytes(const struct settings *s, enum setting_id id)
{
    return setting_number(s, id, read_bytes);
}

double setting_double(const struct settings *s, enum setting_id id)
{
    char room[SETTING_ROOM];
    double v = 0;
    if (!num_parse_double(setting_text(s, id, room), &v)) {
        (void)num_parse_double(setting_default(&setting_rows[id], s, room), &v);
    }
    return v;
}

static bool read_share(struct str text, uint64_t whole, int64_t *out)
{
    double percent;
    if (text.n == 0 || text.p[text.n - 1] != '%') {
        return parse_bytes(text, "", out, NULL) == ERR_OK;
    }
    bool ok = num_parse_double(str_slice(text, 0, text.n - 1), &percent) && percent >= 0 && percent <= 100;
    *out = ok ? (int64_t)(percent / 100 * (double)whole) : 0;
    return ok;
}

int64_t setting_share(const struct settings *s, enum setting_id id, uint64_t whole)
{
    char room[SETTING_ROOM];
    int64_t v = 0;
    if (!read_share(setting_text(s, id, room), whole, &v)) {
        (void)read_share(setting_default(&setting_rows[id], s, room), whole, &v);
    }
    return v;
}

bool setting_list(const struct settings *s, enum setting_id id, struct arena *arena, struct str **out,
                  uint32_t *n)
{
    const struct setting_def *d = &setting_rows[id];
    const struct settings *at = s;
    char room[SETTING_ROOM];
    *out = NULL;
    *n = 0;
    bool ok = true, is_set = false;
    for (; ok && at != NULL && *out == NULL && !is_set; at = at->behind) {
        const struct setting *t = settings_find(at, setting_name(id));
        ok = settings_list(at, d->name, arena, out, n);
        is_set = t != NULL && !t->is_null; /* an empty list, too */
    }
    struct str otherwise = *out == NULL && !is_set ? setting_default(d, s, room) : STR_NULL;
    if (!ok || otherwise.n == 0) {
        return ok;
    }
    otherwise = arena_str(arena, otherwise);
    return otherwise.p != NULL && settings_split(otherwise, arena, out, n);
}
