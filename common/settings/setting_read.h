/* setting_read.h - the value of a setting, by its id: the value that is set, or the default of its row.
 *
 * Values were checked when they were set (setting_registry.h), so that reading cannot fail; a text that does not fit its row counts as
 * not set. Nulls do. What `s` does not have is looked for in s->behind. `s` may be NULL: nothing is set. Names are those of the rows, "index." included. Pure; any thread. */
#ifndef SETTINGS_SETTING_READ_H
#define SETTINGS_SETTING_READ_H

#include "common/settings/setting_rows.h"

/* NULL: not set. */
const struct setting *setting_find(const struct settings *s, enum setting_id id);
/* A computed text lies in `room`. */
struct str setting_text(const struct settings *s, enum setting_id id, char room[SETTING_ROOM]);
/* The same of a row whose default is not computed. */
struct str setting_str(const struct settings *s, enum setting_id id);
bool setting_bool(const struct settings *s, enum setting_id id);
int64_t setting_i64(const struct settings *s, enum setting_id id);
double setting_double(const struct settings *s, enum setting_id id);
int64_t setting_ms(const struct settings *s, enum setting_id id);    /* SETTING_TIME; -1 stays */
int64_t setting_bytes(const struct settings *s, enum setting_id id); /* SETTING_BYTES; -1 stays */
/* SETTING_SIZE_OR_RATIO; a share is one of `whole` bytes. -1 stays. */
int64_t setting_share(const struct settings *s, enum setting_id id, uint64_t whole);
/* As settings_list(). false: no memory. */
bool setting_list(const struct settings *s, enum setting_id id, struct arena *arena, struct str **out,
                  uint32_t *n) NODISCARD;

#endif
