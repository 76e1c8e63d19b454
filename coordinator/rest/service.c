/* The REST service: its families of handlers, its life (service.h). */
#include "coordinator/rest/service_int.h"

#include "coordinator/rest/families.h"
#include "coordinator/rest/nodes_stats.h"
#include "coordinator/rest/tasks_listing.h"

#define ROW(name) {routes_##name, &routes_##name##_n},
static const struct {
    const struct route *routes;
    const size_t *n;
} families[] = {REST_FAMILIES(ROW)};

#define SERVICE(NAME, name, number) name##_serve,
static void (*const services[])(struct node_question *q) = {NODE_MESSAGES(SERVICE)};

enum err rest_service_new(struct rest_service **out, struct coordinator *co, struct errmsg *em)
{
    struct arena arena;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    struct rest_service *s = ARENA_NEW(&arena, struct rest_service);
    bool ok = s != NULL && router_new(&s->router, &arena, em) == ERR_OK;
    for (size_t i = 0; ok && i < ARRAY_LEN(families); i++) {
        ok = router_add(s->router, families[i].routes, *families[i].n, &arena);
    }
    if (!ok) {
        arena_fini(&arena);
        return err_no_memory(em);
    }
    s->co = co;
    s->arena = arena;
    node_calls_serve(co, services);
    *out = s;
    return ERR_OK;
}

void rest_service_free(struct rest_service *s)
{
    if (s != NULL) {
        struct arena arena = s->arena;
        arena_fini(&arena);
    }
}
