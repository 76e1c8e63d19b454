/* html_entity.h - HTML's named characters. Pure. */
#ifndef ENGINE_ANALYSIS_HTML_ENTITY_H
#define ENGINE_ANALYSIS_HTML_ENTITY_H

#include "common/base/str.h"

/* The code point of "amp", "eacute" ...; 0 for an unknown name. Case matters. */
uint32_t html_entity(struct str name);

#endif
