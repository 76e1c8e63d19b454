/* document_bench.c - document_parse(), one thread: a hotel of 12 fields and some 400 bytes. The second figure has text fields
 * analysed as well. */
#include "engine/mapping/document.h"

#include "bench/micro/bench.h"

#include <stdlib.h>

#define ROUNDS 200000

static const char *const mapping_of[] = {
    "{\"properties\":{\"id\":{\"type\":\"keyword\"},\"name\":{\"type\":\"keyword\"},\"address\":{\"type\":"
    "\"keyword\",\"index\":false},"
    "\"price\":{\"type\":\"integer\"},\"score\":{\"type\":\"integer\"},\"brand\":{\"type\":\"keyword\"},"
    "\"city\":{\"type\":"
    "\"keyword\"},\"starName\":{\"type\":\"keyword\"},\"business\":{\"type\":\"keyword\"},\"location\":{"
    "\"type\":\"geo_point\"},"
    "\"pic\":{\"type\":\"keyword\",\"index\":false},\"opened\":{\"type\":\"date\"}}}",
    "{\"properties\":{\"id\":{\"type\":\"keyword\"},\"name\":{\"type\":\"text\",\"copy_to\":\"all\"},"
    "\"address\":{\"type\":\"keyword\","
    "\"index\":false},\"price\":{\"type\":\"integer\"},\"score\":{\"type\":\"integer\"},\"brand\":{\"type\":"
    "\"keyword\",\"copy_to\":"
    "\"all\"},\"city\":{\"type\":\"keyword\",\"copy_to\":\"all\"},\"starName\":{\"type\":\"keyword\"},"
    "\"business\":{\"type\":"
    "\"keyword\"},\"location\":{\"type\":\"geo_point\"},\"pic\":{\"type\":\"keyword\",\"index\":false},"
    "\"opened\":{\"type\":"
    "\"date\"},\"all\":{\"type\":\"text\"}}}",
};

static const char *const document =
    "{\"id\":\"36934\",\"name\":\"Seven Days Inn Shanghai Baoshan\",\"address\":\"12 Jingjiang Street, Yuepu "
    "town, Baoshan\","
    "\"price\":189,\"score\":37,\"brand\":\"Seven Days Inn\",\"city\":\"Shanghai\",\"starName\":\"two "
    "diamonds\","
    "\"business\":\"Sichuan North Road commercial street\",\"location\":\"31.251433, 121.47522\","
    "\"pic\":\"https://example.net/images/hotels/t0/1/shanghai/"
    "2t1cyptpExe4o1t3_w200_h200.jpg\",\"opened\":\"2021-03-15T08:00:00Z\"}";

static int run(const char *name, const char *body)
{
    struct arena a, docs;
    struct settings none;
    struct analysis *analysis = NULL;
    struct analysis_env env = {0};
    struct mapping *m = NULL;
    struct json v;
    ERR_LOCAL(em);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    arena_init(&docs, NULL, ARENA_UNLIMITED);
    settings_init(&none, &a);
    if (analysis_new(&analysis, &none, &env, &em) != ERR_OK
        || json_parse(&v, str_of(body), &a, &json_limits_default, &em) != ERR_OK
        || mapping_new(&m, &v, analysis, &none, &em) != ERR_OK) {
        fprintf(stderr, "%s\n", err_reason(&em));
        return 1;
    }
    struct source_to_parse in = {
        .index_name = STR("hotel"), .id = STR("36934"), .source = str_of(document), .dynamic_allowed = true};
    double start = now();
    for (int i = 0; i < ROUNDS; i++) {
        struct parsed_doc doc;
        if (document_parse(&doc, m, &in, &docs, &em) != ERR_OK) {
            fprintf(stderr, "%s\n", err_reason(&em));
            return 1;
        }
        arena_reset(&docs);
    }
    double took = now() - start;
    line(name, took * 1e6 / ROUNDS, "us a document");
    mapping_unref(m);
    analysis_unref(analysis);
    arena_fini(&docs);
    arena_fini(&a);
    return 0;
}

int main(void)
{
    return run("parse, without text", mapping_of[0]) | run("parse, with text", mapping_of[1]);
}
