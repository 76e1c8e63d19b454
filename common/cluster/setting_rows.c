/* setting_rows.c - the rows of setting_rows.h. */
#include "common/cluster/setting_rows.h"

/* The words of the lists. */
#define FIXED      0
#define DYNAMIC    SETTING_DYNAMIC
#define PRIVATE    SETTING_PRIVATE
#define FINAL      SETTING_FINAL
#define NO_DEFAULT SETTING_NO_DEFAULT
#define REFUSED    SETTING_REFUSED
#define ANY
#define BOUNDS(a, b)  .min = (a), .max = (b),
#define CHOICES(text) .choices = (text),
#define HERE(text)    .here = (text),

#define ROW(id, name_, kind_, flags_, default_, more) \
    {.name = name_, .kind = SETTING_##kind_, .flags = flags_, .otherwise = default_, more},
#define IDLE(name_, kind_, flags_, default_, more) \
    {.name = name_,                                \
     .kind = SETTING_##kind_,                      \
     .flags = flags_ | SETTING_NO_EFFECT,          \
     .otherwise = default_,                        \
     more},

const struct setting_def setting_rows[SETTINGS_N] = {
#include "common/cluster/setting_rows_cluster.def"
#include "common/cluster/setting_rows_index.def"
};

struct str setting_default(const struct setting_def *d)
{
    return d->here != NULL ? str_of(d->here) : d->otherwise != NULL ? str_of(d->otherwise) : STR("");
}
