/* The checks of a single entry, with Elasticsearch's messages (writes.h). */
#include "coordinator/ops/writes.h"

#include "engine/index/engine.h"

#define ID_BYTES_MAX 512

static void complain(struct write_complaints *c, const char *what)
{
    buf_printf(&c->text, "%u: %s;", ++c->n, what);
}

/* For any other creation only this error is reported. */
static bool check_creation(struct write_complaints *c, const struct write_item *it)
{
    bool cas = it->if_seq_no != SEQ_UNASSIGNED || it->if_primary_term != 0;
    const char *what = !it->create ? NULL
                       : it->version_type != VERSION_INTERNAL
                           ? "create operations only support internal versioning. use index instead"
                       : it->version != VERSION_ANY
                           ? "create operations do not support explicit versions. use index instead"
                       : cas ? "create operations do not support compare and set. use index instead"
                             : NULL;
    if (what != NULL) {
        complain(c, what);
    }
    return what == NULL;
}

static void check_versions(struct write_complaints *c, const struct write_item *it)
{
    bool cas = it->if_seq_no != SEQ_UNASSIGNED, external = it->version_type != VERSION_INTERNAL;
    bool versioned = it->version != VERSION_ANY;
    bool legal =
        external ? it->version >= 0 : it->version > 0 || !versioned || it->version == VERSION_MUST_BE_NEW;
    if (!legal) {
        buf_printf(&c->text, "%u: illegal version value [%lld] for version type [%s];", ++c->n,
                   (long long)it->version,
                   !external                              ? "INTERNAL"
                   : it->version_type == VERSION_EXTERNAL ? "EXTERNAL"
                                                          : "EXTERNAL_GTE");
    }
    if (!external && versioned && it->version != VERSION_MUST_BE_NEW) {
        complain(c, "internal versioning can not be used for optimistic concurrency control. Please use "
                    "`if_seq_no` and "
                    "`if_primary_term` instead");
    }
    if (cas && (external || versioned)) {
        complain(c, "compare and write operations can not use versioning");
    }
    if (cas && it->if_primary_term == 0) {
        complain(c, "ifSeqNo is set, but primary term is [0]");
    }
    if (!cas && it->if_primary_term != 0) {
        buf_printf(&c->text, "%u: ifSeqNo is unassigned, but primary term is [%lld];", ++c->n,
                   (long long)it->if_primary_term);
    }
}

static void check_update(struct write_complaints *c, const struct write_entry *e)
{
    const struct write_item *it = &e->item;
    const struct update_parts *p = e->update;
    if (it->if_seq_no != SEQ_UNASSIGNED) {
        if (it->retry_on_conflict > 0) {
            complain(c, "compare and write operations can not be retried");
        }
        if (it->doc_as_upsert) {
            complain(c, "compare and write operations can not be used with upsert");
        }
        if (p->upsert) {
            complain(c, "upsert requests don't support `if_seq_no` and `if_primary_term`");
        }
    }
    if (!p->doc && !p->script) {
        complain(c, "script or doc is missing");
    }
    if (p->doc && p->script) {
        complain(c, "can't provide both script and doc");
    }
    if (!p->doc && it->doc_as_upsert) {
        complain(c, "doc must be specified if doc_as_upsert is enabled");
    }
}

void write_complaints_init(struct write_complaints *c)
{
    buf_init(&c->text, NULL, 64 * KIB);
    c->n = 0;
}

void writes_complain(struct write_complaints *c, const struct write_entry *e)
{
    const struct write_item *it = &e->item;
    if (e->target.p == NULL) {
        complain(c, "index is missing");
    }
    if (it->id.n == 0 && it->kind != WRITE_INDEX) {
        complain(c, "id is missing");
    }
    if (it->kind == WRITE_INDEX && e->pipeline.p != NULL && e->pipeline.n == 0) {
        complain(c, "pipeline cannot be an empty string");
    }
    if (it->kind == WRITE_INDEX && !check_creation(c, it)) {
        return;
    }
    if (it->kind == WRITE_INDEX && e->auto_id
        && (it->version_type != VERSION_INTERNAL || it->version != VERSION_ANY)) {
        complain(c, "an id must be provided if version type or value are set");
    }
    check_versions(c, it);
    if (e->update != NULL) {
        check_update(c, e);
    }
    if (it->id.n > ID_BYTES_MAX && it->kind == WRITE_INDEX) {
        buf_printf(&c->text, "%u: id [%.*s] is too long, must be no longer than 512 bytes but was: %zu;",
                   ++c->n, (int)MIN_OF(it->id.n, (size_t)600), it->id.p, it->id.n);
    }
}

enum err writes_complained(struct write_complaints *c, struct errmsg *em)
{
    enum err err = c->n == 0 ? ERR_OK
                             : err_set(em, ERR_ACTION_VALIDATION, "Validation Failed: %.*s",
                                       STR_ARG(buf_view(&c->text)));
    buf_fini(&c->text);
    return err;
}

enum err writes_validate(const struct write_entry *e, struct errmsg *em)
{
    struct write_complaints c;
    write_complaints_init(&c);
    writes_complain(&c, e);
    return writes_complained(&c, em);
}
