/* service_int.h - the inside of the REST interface, for service.c and dispatch.c alone. */
#ifndef COORDINATOR_REST_SERVICE_INT_H
#define COORDINATOR_REST_SERVICE_INT_H

#include "coordinator/rest/rest.h"
#include "coordinator/rest/service.h"

struct rest_service {
    struct coordinator *co;
    struct router *router;
    struct arena arena; /* has all of it */
};

#endif
