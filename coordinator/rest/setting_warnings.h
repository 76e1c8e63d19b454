/* setting_warnings.h - the Warning header of requests that set a setting without effect here. */
#ifndef COORDINATOR_REST_SETTING_WARNINGS_H
#define COORDINATOR_REST_SETTING_WARNINGS_H

#include "coordinator/rest/rest.h"
#include "master/metadata.h"

/* Adds the header, as Elasticsearch writes those of deprecations, when the request sets any such setting. */
void setting_warnings(struct rest *r, const struct meta_request *rq);

#endif
