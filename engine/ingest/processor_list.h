/* processor_list.h - the kinds of processors, by name: one row each (`processor_NAME`). Private to engine/ingest. */
#ifndef ENGINE_INGEST_PROCESSOR_LIST_H
#define ENGINE_INGEST_PROCESSOR_LIST_H

#include "engine/ingest/processor.h"

#define PROCESSORS(X)  \
    X(append)          \
    X(bytes)           \
    X(convert)         \
    X(csv)             \
    X(date)            \
    X(date_index_name) \
    X(dissect)         \
    X(dot_expander)    \
    X(drop)            \
    X(fail)            \
    X(foreach)         \
    X(grok)            \
    X(gsub)            \
    X(html_strip)      \
    X(join)            \
    X(json)            \
    X(kv)              \
    X(lowercase)       \
    X(pipeline)        \
    X(remove)          \
    X(rename)          \
    X(script)          \
    X(set)             \
    X(sort)            \
    X(split)           \
    X(trim)            \
    X(uppercase)       \
    X(urldecode)

#define PROCESSOR_ROW(name) extern const struct processor_row processor_##name;
PROCESSORS(PROCESSOR_ROW)

#endif
