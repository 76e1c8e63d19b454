/* rescore.h - the combination of the scores of two queries. */
#ifndef ENGINE_COLLECT_RESCORE_H
#define ENGINE_COLLECT_RESCORE_H

#include "engine/query/source.h"

/* Of both scores, each with its weight, in float as in Elasticsearch. */
static inline float rescore_combine(const struct rescore_spec *s, float a, float b)
{
    switch (s->mode) {
    case RESCORE_MULTIPLY:
        return a * b;
    case RESCORE_AVG:
        return (a + b) / 2;
    case RESCORE_MAX:
        return MAX_OF(a, b);
    case RESCORE_MIN:
        return MIN_OF(a, b);
    case RESCORE_TOTAL:
        break;
    }
    return a + b;
}

#endif
