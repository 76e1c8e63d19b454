/* templates.h - dynamic templates: reading them, finding the one for a new field. Inside mapping only. */
#ifndef ENGINE_MAPPING_TEMPLATES_H
#define ENGINE_MAPPING_TEMPLATES_H

#include "engine/mapping/mapping_int.h"

enum err templates_parse(struct builder *b, struct root_def *d, const struct json *v);

#endif
