/* GET / : the greeting by which clients know what they talk to. */
#include "coordinator/rest/rest.h"

static void get_root(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    if (!rest_ready(r)) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kstr(&w, "name", r->co->o.node_name);
    jw_kstr(&w, "cluster_name", r->co->o.cluster_name);
    jw_kstr(&w, "cluster_uuid", r->state->cluster_uuid);
    jw_kobj(&w, "version");
    jw_kz(&w, "number", "7.12.1");
    jw_kz(&w, "build_flavor", "default");
    jw_kz(&w, "build_type", "deb");
    jw_kz(&w, "build_hash", BUILD_HASH);
    jw_kz(&w, "build_date", BUILD_DATE);
    jw_kbool(&w, "build_snapshot", false);
    jw_kz(&w, "lucene_version", "8.8.0");
    jw_kz(&w, "minimum_wire_compatibility_version", "6.8.0");
    jw_kz(&w, "minimum_index_compatibility_version", "6.0.0-beta1");
    jw_obj_end(&w);
    jw_kz(&w, "tagline", "You Know, for Search");
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

const struct route routes_root[] = {{M_GET | M_HEAD, "/", get_root}};
const size_t routes_root_n = ARRAY_LEN(routes_root);
