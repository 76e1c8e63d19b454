/* Pipelines: a line that defines one, and documents that pass it, a line each. */
#include "tests/fuzz/fuzz.h"

#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/ingest/ingest.h"

#define DOCS_MAX 8

static uint64_t polls; /* of the document under way */

/* Ends what the harness would otherwise report as hanging. */
static bool stop_late(void *self)
{
    (void)self;
    return ++polls > 2000;
}

/* A document that passed is JSON again. */
static void holds_document(struct ingest_doc *d, struct arena *a)
{
    struct json v;
    struct ingest_meta meta = {.index = STR_NULL};
    struct buf b;
    struct jsonw w;
    ERR_LOCAL(em);
    enum err e = ingest_doc_take(d, &meta, &em);
    fuzz_error(e, &em);
    if (e != ERR_OK) {
        return;
    }
    buf_init(&b, NULL, FUZZ_ARENA_BYTES);
    jsonw_init(&w, &b, false);
    jw_value(&w, &d->root);
    FUZZ_HOLDS(b.failed || utf8_valid(buf_view(&b)));
    e = b.failed ? ERR_OK : json_parse(&v, buf_view(&b), a, &json_limits_default, &em);
    FUZZ_HOLDS(e == ERR_OK || e == ERR_NO_MEMORY || e == ERR_JSON);
    buf_fini(&b);
}

static void pass_document(const struct pipeline *p, struct str text, struct arena *a)
{
    struct json doc;
    const struct ingest_meta meta = {.index = STR("i"), .type = STR("_doc"), .id = STR("1")};
    struct stop st = {.asked = stop_late};
    ERR_LOCAL(em);
    struct ingest_doc *d = ARENA_NEW(a, struct ingest_doc);
    if (d == NULL || json_parse(&doc, text, a, &json_limits_default, NULL) != ERR_OK
        || doc.type != JSON_OBJECT) {
        return;
    }
    enum err e = ingest_doc_init(d, &doc, &meta, (struct instant){0, 0}, a, &em);
    polls = 0;
    stop_enter(&st);
    e = e == ERR_OK ? pipeline_run(p, d, &em) : e;
    stop_leave(&st);
    fuzz_error(e, &em);
    if (e == ERR_OK && !d->dropped) {
        holds_document(d, a);
    }
}

static void one_pipeline(struct str in)
{
    struct arena a;
    struct json def;
    struct pipeline *p;
    struct str rest = in, first = fuzz_line(&rest);
    ERR_LOCAL(em);
    fuzz_arena(&a);
    if (json_parse(&def, first, &a, &json_limits_default, NULL) == ERR_OK && def.type == JSON_OBJECT) {
        enum err e = pipeline_read(&p, STR("p"), &def, &a, &em);
        fuzz_error(e, &em);
        for (unsigned i = 0; e == ERR_OK && rest.n > 0 && i < DOCS_MAX; i++) {
            pass_document(p, fuzz_line(&rest), &a);
        }
    }
    arena_fini(&a);
}

const struct fuzz_target fuzz_ingest[] = {
    {"pipeline", one_pipeline, NULL, FUZZ_TEXT},
    {0},
};
