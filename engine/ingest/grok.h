/* grok.h - expressions of grok: regular expressions with patterns by name, and named captures. Private to engine/ingest, but for the
 * list of patterns.
 *
 * An expression is expanded into one regular expression, whose captures are counted: their names and types stay here. What grows beyond
 * GROK_BYTES_MAX, or nests deeper than GROK_DEPTH_MAX, is refused. */
#ifndef ENGINE_INGEST_GROK_H
#define ENGINE_INGEST_GROK_H

#include "common/base/regex.h"
#include "engine/ingest/config.h"

#define GROK_BYTES_MAX (256 * KIB)
#define GROK_DEPTH_MAX 64
#define GROK_TIME      1000 /* of one match, in the matcher's units of about a millisecond */

struct grok_pattern {
    const char *name, *text;
};

extern const struct grok_pattern grok_patterns[];
extern const size_t grok_patterns_n;

enum grok_type { GROK_STRING, GROK_INTEGER, GROK_LONG, GROK_FLOAT, GROK_DOUBLE, GROK_BOOLEAN };

struct grok_capture {
    struct str name;
    enum grok_type type;
    int32_t group;
};

struct grok {
    struct regex *regex; /* lives as long as the arena that it was made in */
    struct grok_capture *captures;
    uint32_t n;
};

/* Of several expressions, of which the first that matches at a place counts; `definitions`: an object of patterns by name, or NULL. `trace`:
 * which one it was is the capture "_ingest._grok_match_index.N". ERR_PARSE of the property "patterns". */
enum err grok_read(struct config *c, const struct str *patterns, uint32_t n, const struct json *definitions,
                   bool trace, struct grok *out);

#endif
