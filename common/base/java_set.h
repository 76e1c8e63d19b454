/* java_set.h - the order in which a java.util.HashSet of texts gives them: where Elasticsearch's answers show
 * it. Pure. */
#ifndef BASE_JAVA_SET_H
#define BASE_JAVA_SET_H

#include "common/base/str.h"

/* Sorts n different texts (few: by insertion) as a set would give them that they were put into one after the
 * other. */
void java_set_order(struct str *v, uint32_t n);

#endif
