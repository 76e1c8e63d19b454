/* html_entity.h - HTML's named characters, and texts without HTML. Pure. */
#ifndef ENGINE_ANALYSIS_HTML_ENTITY_H
#define ENGINE_ANALYSIS_HTML_ENTITY_H

#include "common/base/err.h"

/* The code point of "amp", "eacute" ...; 0 for an unknown name. Case matters. */
uint32_t html_entity(struct str name);
/* The text without tags and with its references resolved, in `arena`, or as it was. ERR_NO_MEMORY. */
enum err html_strip_text(struct str *s, struct arena *arena, struct errmsg *em);

#endif
