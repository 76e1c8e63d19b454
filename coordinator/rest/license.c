/* _license and _xpack: what clients ask before they use what Elasticsearch sells. There is a basic licence, and no feature of it. */
#include "coordinator/rest/rest.h"

#define TYPE   "basic"
#define STATUS "active"
/* The moment of BUILD_DATE. */
#define ISSUED_MS INT64_C(1618952199040)
#define ISSUED    "2021-04-20T20:56:39.040Z"
#define MAX_NODES 1000
#define NO_EXPIRY (-1)

/* As Elasticsearch 7.12 lists them. */
static const char *const features[] = {
    "aggregate_metric",
    "analytics",
    "ccr",
    "data_streams",
    "data_tiers",
    "enrich",
    "eql",
    "frozen_indices",
    "graph",
    "ilm",
    "logstash",
    "ml",
    "monitoring",
    "rollup",
    "runtime_fields",
    "searchable_snapshots",
    "security",
    "slm",
    "spatial",
    "sql",
    "transform",
    "vectors",
    "voting_only",
    "watcher",
};

/* Reads what both take; false: it has been answered. */
static bool license_begin(struct rest *r)
{
    if (rest_check_bool(r, "accept_enterprise") != ERR_OK || rest_check_bool(r, "local") != ERR_OK) {
        rest_fail(r, NULL);
        return false;
    }
    return rest_ready(r);
}

static void get_license(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    rest_accept(r, "human");
    if (!license_begin(r)) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kobj(&w, "license");
    jw_kz(&w, "status", STATUS);
    jw_kstr(&w, "uid", r->state->cluster_uuid);
    jw_kz(&w, "type", TYPE);
    jw_kz(&w, "issue_date", ISSUED);
    jw_ki64(&w, "issue_date_in_millis", ISSUED_MS);
    jw_ki64(&w, "max_nodes", MAX_NODES);
    jw_k(&w, "max_resource_units");
    jw_null(&w);
    jw_kstr(&w, "issued_to", r->co->o.cluster_name);
    jw_kz(&w, "issuer", "elasticsearch");
    jw_ki64(&w, "start_date_in_millis", NO_EXPIRY);
    jw_obj_end(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

enum { PART_BUILD = 1, PART_LICENSE = 2, PART_FEATURES = 4, PARTS_ALL = 7 };

static enum err read_parts(struct rest *r, unsigned *out)
{
    const struct str *v;
    uint32_t n;
    enum err e = rest_list(r, "categories", &v, &n);
    *out = n == 0 ? PARTS_ALL : 0;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        unsigned one = str_eq_nocase(v[i], STR("_all"))       ? PARTS_ALL
                       : str_eq_nocase(v[i], STR("build"))    ? PART_BUILD
                       : str_eq_nocase(v[i], STR("license"))  ? PART_LICENSE
                       : str_eq_nocase(v[i], STR("features")) ? PART_FEATURES
                                                              : 0;
        *out |= one;
        if (one == 0) {
            struct str shown = arena_upper(r->arena, v[i]);
            e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                        "No enum constant org.elasticsearch.protocol.xpack.XPackInfoRequest.Category.%.*s",
                        STR_ARG(shown));
        }
    }
    return e;
}

static void write_features(struct jsonw *w)
{
    for (size_t i = 0; i < ARRAY_LEN(features); i++) {
        jw_kobj(w, features[i]);
        jw_kbool(w, "available", false);
        jw_kbool(w, "enabled", false);
        jw_obj_end(w);
    }
}

static void get_xpack(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    unsigned parts = PARTS_ALL;
    bool human = true;
    if (rest_bool(r, "human", true, &human) != ERR_OK || read_parts(r, &parts) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!license_begin(r)) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    if ((parts & PART_BUILD) != 0) {
        jw_kobj(&w, "build");
        jw_kz(&w, "hash", BUILD_HASH);
        jw_kz(&w, "date", BUILD_DATE);
        jw_obj_end(&w);
    }
    if ((parts & PART_LICENSE) != 0) {
        jw_kobj(&w, "license");
        jw_kstr(&w, "uid", r->state->cluster_uuid);
        jw_kz(&w, "type", TYPE);
        jw_kz(&w, "mode", TYPE);
        jw_kz(&w, "status", STATUS);
        jw_obj_end(&w);
    }
    if ((parts & PART_FEATURES) != 0) {
        jw_kobj(&w, "features");
        write_features(&w);
        jw_obj_end(&w);
    }
    if (human) {
        jw_kz(&w, "tagline", "You know, for X");
    }
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

static void get_usage(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    if (!rest_goes_on(r, rest_check_time(r, "master_timeout"))) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    write_features(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

/* Whether another licence could be begun: none can. */
static void no_start(struct rest *r, const char *which)
{
    struct buf b;
    struct jsonw w;
    if (!rest_ready(r)) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kbool(&w, which, false);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

static void basic_status(struct rest *r)
{
    no_start(r, "eligible_to_start_basic");
}

static void trial_status(struct rest *r)
{
    no_start(r, "eligible_to_start_trial");
}

const struct route routes_license[] = {
    {M_GET, "/_license", get_license},
    {M_GET, "/_license/basic_status", basic_status},
    {M_GET, "/_license/trial_status", trial_status},
    {M_GET, "/_xpack", get_xpack},
    {M_GET, "/_xpack/usage", get_usage},
};
const size_t routes_license_n = ARRAY_LEN(routes_license);
