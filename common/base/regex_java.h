/* regex_java.h - Java's pattern syntax in ICU's. Pure. */
#ifndef BASE_REGEX_JAVA_H
#define BASE_REGEX_JAVA_H

#include "common/base/buf.h"

/* Appends the pattern as ICU has to be given it for the same meaning. Does not check the syntax: ICU does. */
void regex_java_to_icu(struct buf *out, struct str pattern, bool comments);

#endif
