/* source_param.h - the source filter of a URL. */
#ifndef COORDINATOR_REST_SOURCE_PARAM_H
#define COORDINATOR_REST_SOURCE_PARAM_H

#include "coordinator/rest/rest.h"

/* _source, _source_includes, _source_excludes of a URL, as the JSON that a body would have; NULL: none
 * given. */
const struct json *rest_source_filter(struct rest *r);

#endif
