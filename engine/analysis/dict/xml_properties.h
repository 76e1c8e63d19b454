/* xml_properties.h - the small XML of Java's property files, as IKAnalyzer.cfg.xml is written.
 *
 *   <?xml ...?>  <!DOCTYPE properties SYSTEM "...">  <properties> <comment>..</comment> <entry
 * key="k">value</entry> ..
 *
 * and nothing else: no internal subset, no entities but the five predefined and character references, nothing
 * fetched, nothing expanded. Comments and CDATA are understood. */
#ifndef ENGINE_ANALYSIS_DICT_XML_PROPERTIES_H
#define ENGINE_ANALYSIS_DICT_XML_PROPERTIES_H

#include "common/base/arena.h"
#include "common/base/err.h"

#define XML_PROPERTIES_BYTES_MAX (64 * KIB)

struct xml_property {
    struct str key, value; /* in the arena */
};

struct xml_properties {
    struct xml_property *v; /* in the file's order */
    size_t n, cap;
};

/* ERR_ILLEGAL_ARGUMENT, with the line, for anything else than such a file; ERR_NO_MEMORY. */
enum err xml_properties_parse(struct xml_properties *out, struct str text, struct arena *arena,
                              struct errmsg *em);
/* The last value of this key; p == NULL when there is none. */
struct str xml_properties_get(const struct xml_properties *p, const char *key);

#endif
