/* text.h - texts of documents: what several kinds of processors do with them. Private to engine/ingest. */
#ifndef ENGINE_INGEST_TEXT_H
#define ENGINE_INGEST_TEXT_H

#include "common/base/regex.h"
#include "engine/ingest/processor.h"

/* A regular expression that lives as long as c->arena. ERR_PATTERN_SYNTAX, as Java says it. */
enum err config_regex(struct config *c, struct str pattern, struct regex **out);
/* Has it freed with c->arena. */
enum err config_keep_regex(struct config *c, struct regex *r);
/* Java's String.split: the parts of a text between matches, with those at the end that are empty, or without them. */
enum err text_split(const struct regex *r, struct str text, bool keep_last, struct ingest_doc *d,
                    struct json *out, struct errmsg *em);
/* Decodes "%41" and "+" as Java's URLDecoder. */
enum err text_urldecode(struct str s, struct arena *arena, struct str *out, struct errmsg *em);

#endif
