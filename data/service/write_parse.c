/* Writes: documents are parsed on the pool, slice by slice; fields that the mapping lacks are asked for. */
#include "common/base/memory_account.h"
#include "data/service/write_int.h"
#include "engine/query/held_query.h"

#define SLICE_SOURCE_BYTES 32768 /* a slice ends with the document that reaches it */
#define MAPPING_ROUNDS_MAX 8     /* a document asks for fields once; more means that it never gets them */

static void mapping_updated(void *arg, const struct errmsg *error)
{
    struct write_run *r = arg;
    if (error != NULL) {
        write_fail_item(r, &r->rq->items[r->at], error);
        r->at++;
        r->mapping_rounds = 0;
    }
    write_resume(r);
}

void write_ask_for_fields(struct write_run *r, const struct json *update)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_value(&w, update);
    struct data_service *s = r->sh->service;
    if (b.failed || ++r->mapping_rounds > MAPPING_ROUNDS_MAX) {
        ERR_LOCAL(em);
        err_set(&em, ERR_ILLEGAL_STATE, "dynamic mapping of [%.*s] does not settle",
                STR_ARG(r->sh->index->name));
        buf_fini(&b);
        mapping_updated(r, &em);
        return;
    }
    struct str type = r->rq->items[r->at].type;
    bool asked = s->o.update_mapping(s->o.node_self, r->sh->index->name, r->sh->index->uuid,
                                     str_is(type, "_doc") ? STR("") : type, buf_view(&b), mapping_updated, r);
    buf_fini(&b); /* r may be gone, if somebody was asked */
    if (!asked) {
        ERR_LOCAL(em);
        err_no_memory(&em);
        mapping_updated(r, &em);
    }
}

/* Borrowed: held until the request ends. */
static struct mapping *newest_mapping(struct write_run *r)
{
    struct mapping *m = index_mapping(r->sh->index, NULL);
    if (r->held != NULL && r->held->m == m) {
        mapping_unref(m);
        return m;
    }
    struct held_mapping *h = ARENA_NEW(&r->rq->rq.arena, struct held_mapping);
    if (h == NULL) {
        mapping_unref(m);
        return NULL;
    }
    *h = (struct held_mapping){m, r->held};
    r->held = h;
    return m;
}

enum err write_until_end(struct stop *st, enum err e, struct errmsg *em)
{
    stop_leave(st);
    return st->on ? err_set(em, ERR_NODE_CLOSED, "the node closes") : e;
}

enum err write_parse_source(struct write_run *r, const struct write_item *it, struct str source,
                            struct parsed_doc *doc, struct errmsg *em)
{
    struct mapping *m = newest_mapping(r);
    struct settings_part *settings = index_settings(r->sh->index);
    struct held_query_reader queries;
    shard_query_reader(&queries, r->sh, settings, false);
    struct source_to_parse in = {.index_name = r->sh->index->name,
                                 .id = it->id,
                                 .routing = it->routing,
                                 .source = source,
                                 .dynamic_allowed = true,
                                 .queries = &queries.base};
    if (m == NULL) {
        state_part_unref(&settings->part);
        return err_no_memory(em);
    }
    const struct clock *clock = r->sh->service->o.clock;
    int64_t since = r->parse_ns != NULL ? clock->mono_ns(clock->self) : 0;
    struct stop st = {.asked = data_ends, .self = r->sh->service};
    stop_enter(&st);
    enum err e = write_until_end(&st, document_parse(doc, m, &in, &r->scratch, em), em);
    state_part_unref(&settings->part);
    if (r->parse_ns != NULL) {
        r->parse_ns[r->at] = clock->mono_ns(clock->self) - since;
    }
    return e;
}

bool write_begin_slice(struct write_run *r, uint32_t from)
{
    const struct shard_write *rq = r->rq;
    size_t bytes = 0;
    arena_reset(&r->scratch);
    r->slice = r->slice_end = r->at = from;
    while (r->slice_end < rq->n && bytes < SLICE_SOURCE_BYTES) {
        bytes += sizeof(struct parsed_doc) + rq->items[r->slice_end++].source.n;
    }
    r->docs = ARENA_ARRAY(&r->scratch, struct parsed_doc, r->slice_end - from);
    r->applying = false;
    return r->docs != NULL;
}

/* A delete makes an index's mapping too. */
static bool lacks_mapping(struct write_run *r)
{
    struct mapping *m = newest_mapping(r);
    return m != NULL && mapping_is_absent(m);
}

bool write_type_differs(struct write_run *r, const struct write_item *it)
{
    if (it->type.n == 0 || str_is(it->type, "_doc")) {
        return false;
    }
    struct mapping *m = newest_mapping(r);
    return m != NULL && !mapping_is_absent(m) && !str_eq(it->type, mapping_type(m));
}

/* The master says what is wrong with the type of the item: it is asked for no fields. */
static void refuse_type(struct write_run *r)
{
    struct json none = json_mk_object();
    write_ask_for_fields(r, &none);
}

/* false: fields are asked for, and the request goes on when they are there. */
static bool parse_slice(struct write_run *r)
{
    for (; r->at < r->slice_end; r->at++, r->mapping_rounds = 0) {
        struct write_item *it = &r->rq->items[r->at];
        struct parsed_doc *doc = &r->docs[r->at - r->slice];
        ERR_LOCAL(em);
        if (it->kind == WRITE_DELETE && lacks_mapping(r)) {
            struct json none = json_mk_object();
            write_ask_for_fields(r, &none);
            return false;
        }
        if (it->kind != WRITE_UPDATE && write_type_differs(r, it)) {
            refuse_type(r);
            return false;
        }
        if (it->kind != WRITE_INDEX) {
            continue;
        }
        if (write_parse_source(r, it, it->source, doc, &em) != ERR_OK) {
            write_fail_item(r, it, &em);
            continue;
        }
        if (doc->mapping_update != NULL) {
            write_ask_for_fields(r, doc->mapping_update);
            return false;
        }
    }
    return true;
}

void write_parse_task(void *arg)
{
    struct write_run *r = arg;
    bool guarded = memory_guard(true), parsed = parse_slice(r);
    memory_guard(guarded);
    if (parsed) {
        r->at = r->slice;
        r->applying = true;
        write_resume(r);
    }
}
