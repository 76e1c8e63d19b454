/* setting_rows.c - the rows of setting_rows.h. */
#include "common/settings/setting_rows.h"

#include "common/settings/setting_defaults.h"

/* The words of the lists. */
#define FIXED      0
#define DYNAMIC    SETTING_DYNAMIC
#define PRIVATE    SETTING_PRIVATE
#define FINAL      SETTING_FINAL
#define NO_DEFAULT SETTING_NO_DEFAULT
#define REFUSED    SETTING_REFUSED
#define ANY
#define BOUNDS(a, b)                 .min = (a), .max = (b),
#define CHOICES(text)                .choices = (text),
#define HERE(text, reason)           .here = (text), .why = (reason),
#define SHOWN(in_words)              .shown = (in_words),
#define COMPUTED(function, in_words) .computed = (function), .shown = (in_words),

/* Name, kind, flags, default, and what else there is to say. */
#define SETTING_(name_, kind_, flags_, default_, ...) \
    {.name = name_, .kind = SETTING_##kind_, .flags = flags_, .otherwise = default_, __VA_ARGS__},
#define ROW(id, ...)                    SETTING_(__VA_ARGS__)
#define RULE(...)                       SETTING_(__VA_ARGS__)
#define IDLE(name_, kind_, flags_, ...) SETTING_(name_, kind_, flags_ | SETTING_NO_EFFECT, __VA_ARGS__)

const struct setting_def setting_rows[SETTINGS_N] = {
#include "common/settings/setting_rows_cluster.def"
#include "common/settings/setting_rows_index.def"
};

struct str setting_default(const struct setting_def *d, const struct settings *s, char room[SETTING_ROOM])
{
    return d->computed != NULL    ? d->computed(s, room)
           : d->here != NULL      ? str_of(d->here)
           : d->otherwise != NULL ? str_of(d->otherwise)
                                  : STR("");
}
