/* Operations: conditions, versions, and the all-or-nothing application of one to buffer, version map and
 * translog.
 *
 * Everything that can fail comes first and leaves no trace; then what remains cannot fail. */
#include "engine/index/engine_int.h"
#include "engine/index/ignored.h"

#include "common/base/bits.h"
#include "common/base/hash.h"

#define ID_BYTES_MAX 512

struct plan {
    struct engine_op op; /* with its sequence number and version */
    struct found found;
    uint64_t hash;
    bool stale; /* older than what is there */
    enum engine_outcome outcome;
};

/* ---- conditions, as Elasticsearch's VersionType has them ---- */

static bool write_conflicts(enum version_type type, int64_t current, int64_t given, bool absent)
{
    switch (type) {
    case VERSION_EXTERNAL:
        return current != VERSION_NOT_FOUND && (given == VERSION_ANY || current >= given);
    case VERSION_EXTERNAL_GTE:
        return current != VERSION_NOT_FOUND && (given == VERSION_ANY || current > given);
    case VERSION_INTERNAL:
    default:
        return given == VERSION_MUST_BE_NEW ? !absent : given != VERSION_ANY && current != given;
    }
}

static enum err explain_conflict(const struct engine_op *op, int64_t current, struct errmsg *em)
{
    long long now = (long long)current, given = (long long)op->version;
    if (op->version_type == VERSION_EXTERNAL) {
        return err_set(
            em, ERR_CONFLICT,
            "[%.*s]: version conflict, current version [%lld] is higher or equal to the one provided [%lld]",
            STR_ARG(op->id), now, given);
    }
    if (op->version_type == VERSION_EXTERNAL_GTE) {
        return err_set(
            em, ERR_CONFLICT,
            "[%.*s]: version conflict, current version [%lld] is higher than the one provided [%lld]",
            STR_ARG(op->id), now, given);
    }
    if (op->version == VERSION_MUST_BE_NEW) {
        return err_set(em, ERR_CONFLICT,
                       "[%.*s]: version conflict, document already exists (current version [%lld])",
                       STR_ARG(op->id), now);
    }
    if (current == VERSION_NOT_FOUND) {
        return err_set(em, ERR_CONFLICT,
                       "[%.*s]: version conflict, document does not exist (expected version [%lld])",
                       STR_ARG(op->id), given);
    }
    return err_set(
        em, ERR_CONFLICT,
        "[%.*s]: version conflict, current version [%lld] is different than the one provided [%lld]",
        STR_ARG(op->id), now, given);
}

static enum err check_if_seq_no(const struct engine_op *op, const struct found *f, bool absent,
                                struct errmsg *em)
{
    if (op->if_seq_no == SEQ_UNASSIGNED
        || (!absent && f->seq_no == op->if_seq_no && f->primary_term == op->if_primary_term)) {
        return ERR_OK;
    }
    if (absent) {
        return err_set(
            em, ERR_CONFLICT,
            "[%.*s]: version conflict, required seqNo [%lld], primary term [%lld]. but no document was found",
            STR_ARG(op->id), (long long)op->if_seq_no, (long long)op->if_primary_term);
    }
    return err_set(
        em, ERR_CONFLICT,
        "[%.*s]: version conflict, required seqNo [%lld], primary term [%lld]. current document has seqNo "
        "[%lld] and primary term [%lld]",
        STR_ARG(op->id), (long long)op->if_seq_no, (long long)op->if_primary_term, (long long)f->seq_no,
        (long long)f->primary_term);
}

static enum err plan_primary(struct engine *e, struct plan *p, struct errmsg *em)
{
    struct engine_op *op = &p->op;
    struct found *f = &p->found;
    bool expired = f->place == PLACE_TOMB && f->at_ms + e->settings.gc_deletes_ms < clock_mono_ms(e->clock);
    bool known = f->place != PLACE_NONE && !expired, absent = !known || f->place == PLACE_TOMB;
    int64_t current = known ? f->version : VERSION_NOT_FOUND;
    enum err r = check_if_seq_no(op, f, absent, em);
    if (r == ERR_OK && write_conflicts(op->version_type, current, op->version, absent)) {
        r = explain_conflict(op, current, em);
    }
    if (r != ERR_OK) {
        return r;
    }
    op->seq_no = e->processed.max + 1;
    if (op->version_type == VERSION_INTERNAL) {
        op->version = current == VERSION_NOT_FOUND ? 1 : current + 1;
    }
    return ERR_OK;
}

/* Is it an append: an id that nobody can have written before? Then segments need not be asked. */
static bool is_append(const struct engine *e, const struct engine_op *op)
{
    int64_t seq_no = op->origin == ORIGIN_PRIMARY ? e->processed.max + 1 : op->seq_no;
    return op->kind == OP_INDEX && op->auto_id_ms >= 0 && !op->retry && op->auto_id_ms > e->max_auto_id_ms
           && op->if_seq_no == SEQ_UNASSIGNED && op->version_type == VERSION_INTERNAL
           && seq_no > e->append_barrier;
}

static enum err make_plan(struct engine *e, const struct engine_op *op, struct plan *p, struct errmsg *em)
{
    *p = (struct plan){.op = *op, .outcome = OUTCOME_NOOP};
    if (op->kind == OP_NOOP) {
        if (op->origin == ORIGIN_PRIMARY) {
            p->op.seq_no = e->processed.max + 1;
        }
        return ERR_OK;
    }
    p->hash = hash_str(op->id);
    engine_find(e, op->id, p->hash, !is_append(e, op), &p->found);
    enum err r = engine_check(e, em); /* what it looked at may be damaged */
    if (r != ERR_OK) {
        return r;
    }
    if (op->origin == ORIGIN_PRIMARY) {
        r = plan_primary(e, p, em);
        if (r != ERR_OK) {
            return r;
        }
    } else {
        p->stale = p->found.place != PLACE_NONE && p->found.seq_no >= op->seq_no;
    }
    bool there = p->found.place == PLACE_BUFFER || p->found.place == PLACE_SLOT;
    if (op->kind == OP_INDEX) {
        p->outcome = there ? OUTCOME_UPDATED : OUTCOME_CREATED;
    } else {
        p->outcome = there ? OUTCOME_DELETED : OUTCOME_NOT_FOUND;
    }
    if (op->origin == ORIGIN_PRIMARY) {
        p->op.outcome = p->outcome; /* else it is what the primary answered, whatever it looks like here */
    }
    return ERR_OK;
}

/* ---- preparing: may fail, leaves no trace ---- */

/* Room to say of a buffered document that it is dead. */
static enum err prepare_dead(struct engine *e, doc_id doc, struct errmsg *em)
{
    size_t words = bits_words((size_t)doc + 1);
    if (words <= e->buffer_dead_words) {
        return ERR_OK;
    }
    words = MAX_OF(words, e->buffer_dead_words * 2);
    uint64_t *dead = e->alloc->resize(e->alloc->self, e->buffer_dead, words * sizeof(*dead));
    if (dead == NULL) {
        return err_no_memory(em);
    }
    memset(dead + e->buffer_dead_words, 0, (words - e->buffer_dead_words) * sizeof(*dead));
    e->buffer_dead = dead;
    e->buffer_dead_words = words;
    return ERR_OK;
}

static enum err prepare_kill(struct engine *e, const struct found *f, struct errmsg *em)
{
    if (f->place == PLACE_SLOT) {
        return slot_prepare_kill(e, f->slot, em);
    }
    return f->place == PLACE_BUFFER ? prepare_dead(e, f->doc, em) : ERR_OK;
}

static enum err prepare_common(struct engine *e, const struct plan *p, struct errmsg *em)
{
    enum err r = seq_tracker_reserve(&e->processed, p->op.seq_no, em);
    r = r == ERR_OK ? seq_tracker_reserve(&e->persisted, p->op.seq_no, em) : r;
    if (r == ERR_OK && p->op.op_id.session != 0) {
        op_ids_settle(&e->op_ids, p->op.op_id.session, p->op.settled_below);
        op_ids_expire(&e->op_ids, clock_mono_ms(e->clock) - e->settings.op_ids_ms);
        if (e->op_ids.n >= e->settings.op_ids_max) {
            if (p->op.origin == ORIGIN_PRIMARY) {
                return err_set(em, ERR_REJECTED, "too many operations whose answers were not confirmed [%zu]",
                               e->op_ids.n);
            }
            op_ids_pop(&e->op_ids); /* the primary keeps them; a copy with a longer memory must not stop it */
        }
        r = op_ids_reserve(&e->op_ids, em);
    }
    return r;
}

static enum err log_op(struct engine *e, const struct engine_op *op, struct errmsg *em)
{
    return e->replaying ? ERR_OK : translog_append(&e->log, op, em);
}

/* ---- committing: cannot fail ---- */

static void kill_buffered(struct engine *e, doc_id doc)
{
    bits_set(e->buffer_dead, doc);
    e->buffer_dead_n++;
}

static void kill_found(struct engine *e, const struct found *f)
{
    if (f->place == PLACE_SLOT) {
        live_kill(f->slot->next, segment_roots(f->slot->segment), f->doc);
    } else if (f->place == PLACE_BUFFER) {
        kill_buffered(e, f->doc);
    } else {
        return;
    }
    e->changed = e->unseen = true;
}

static void commit_common(struct engine *e, const struct plan *p)
{
    const struct engine_op *op = &p->op;
    if (!is_append(e, op)) {
        e->append_barrier = MAX_OF(e->append_barrier, op->seq_no);
    }
    if (op->kind == OP_INDEX && op->retry) {
        e->max_auto_id_ms = MAX_OF(e->max_auto_id_ms, op->auto_id_ms);
    }
    seq_tracker_mark(&e->processed, op->seq_no);
    if (e->replaying) {
        seq_tracker_mark(&e->persisted, op->seq_no);
    }
    if (op->op_id.session != 0) {
        op_ids_add(&e->op_ids, &(struct op_seen){.id = op->op_id,
                                                 .at_ms = clock_mono_ms(e->clock),
                                                 .seq_no = op->seq_no,
                                                 .primary_term = op->primary_term,
                                                 .version = op->version,
                                                 .outcome = (uint8_t)op->outcome});
    }
    e->uncommitted = true;
}

/* ---- the three kinds ---- */

static enum err apply_index(struct engine *e, struct plan *p, struct errmsg *em)
{
    const struct engine_op *op = &p->op;
    const struct parsed_doc *doc = op->doc;
    struct parsed_doc parsed;
    if (doc == NULL) {
        arena_reset(&e->parse_arena);
        enum err r = e->parse == NULL ? err_set(em, ERR_ILLEGAL_STATE, "nobody parses documents")
                                      : e->parse(e->parse_self, op, &e->parse_arena, &parsed, em);
        if (r != ERR_OK) {
            return r;
        }
        doc = &parsed;
    }
    if (doc->mapping_update != NULL) {
        return err_set(em, ERR_ILLEGAL_STATE, "[%.*s]: the mapping lacks fields of the document",
                       STR_ARG(op->id));
    }
    struct vm_doc *d = version_map_prepare_doc(&e->versions, op->id, p->hash);
    enum err r = d == NULL ? err_no_memory(em) : prepare_kill(e, &p->found, em);
    struct tlog_mark mark = translog_mark(&e->log);
    r = r == ERR_OK ? log_op(e, op, em) : r;
    if (r != ERR_OK) {
        return r;
    }
    struct doc_meta meta = {op->seq_no, op->primary_term, op->version};
    doc_id root;
    r = index_buffer_add(e->buffer, doc, &meta, &root, em);
    if (r != ERR_OK) {
        if (!e->replaying) {
            translog_unappend(&e->log, mark);
        }
        return r;
    }
    kill_found(e, &p->found);
    version_map_clear_tomb(&e->versions, op->id, p->hash);
    d->alive = true;
    d->root = root;
    d->seq_no = op->seq_no;
    d->primary_term = op->primary_term;
    d->version = op->version;
    e->changed = e->unseen = true;
    return ERR_OK;
}

/* Logs the operation, and buffers a document that was never alive: what a segment and its statistics have of a delete or a
 * no-op (docs/store-format.md, Tombstones). */
static enum err log_tombstone(struct engine *e, const struct engine_op *op, struct errmsg *em)
{
    if (!e->settings.soft_deletes) {
        return log_op(e, op, em);
    }
    doc_id root = index_buffer_docs(e->buffer);
    enum err r = prepare_dead(e, root, em);
    struct tlog_mark mark = translog_mark(&e->log);
    r = r == ERR_OK ? log_op(e, op, em) : r;
    if (r != ERR_OK) {
        return r;
    }
    struct doc_meta meta = {op->seq_no, op->primary_term, op->version};
    r = index_buffer_add_tombstone(e->buffer, op->kind == OP_DELETE ? op->id : STR(""), &meta, &root, em);
    if (r != ERR_OK) {
        if (!e->replaying) {
            translog_unappend(&e->log, mark);
        }
        return r;
    }
    kill_buffered(e, root);
    e->changed = e->unseen = true;
    return ERR_OK;
}

static enum err apply_delete(struct engine *e, struct plan *p, struct errmsg *em)
{
    const struct engine_op *op = &p->op;
    struct vm_tomb *t = version_map_prepare_tomb(&e->versions, op->id, p->hash);
    enum err r = t == NULL ? err_no_memory(em) : prepare_kill(e, &p->found, em);
    r = r == ERR_OK ? log_tombstone(e, op, em) : r;
    if (r != ERR_OK) {
        version_map_free_tomb(&e->versions, t);
        return r;
    }
    kill_found(e, &p->found);
    t->seq_no = op->seq_no;
    t->primary_term = op->primary_term;
    t->version = op->version;
    t->at_ms = clock_mono_ms(e->clock);
    version_map_put_tomb(&e->versions, t);
    return ERR_OK;
}

static enum err check_op(const struct engine *e, const struct engine_op *op, struct errmsg *em)
{
    if (op->kind != OP_NOOP && (op->id.n == 0 || op->id.n > ID_BYTES_MAX)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "an id has 1 to %d bytes", ID_BYTES_MAX);
    }
    if (op->primary_term <= 0 || (op->origin != ORIGIN_PRIMARY && (op->seq_no < 0 || op->version < 0))
        || (op->kind != OP_INDEX && op->kind != OP_DELETE && op->kind != OP_NOOP)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "operation without a term, sequence number or version");
    }
    if (!e->replaying && e->log.tail_bytes >= e->settings.translog_tail_bytes_max) {
        return err_set(em, ERR_REJECTED, "[%zu] bytes of operations wait for the disk", e->log.tail_bytes);
    }
    return ERR_OK;
}

/* Was it done before? Then its result is in *out. */
static bool was_done(struct engine *e, const struct engine_op *op, struct engine_result *out)
{
    if (op->origin != ORIGIN_PRIMARY) {
        if (!seq_tracker_has(&e->processed, op->seq_no)) {
            return false;
        }
        *out = (struct engine_result){
            OUTCOME_NOOP, op->seq_no, op->primary_term, op->version, e->log.location, true, false};
        return true;
    }
    const struct op_seen *s = op_ids_find(&e->op_ids, op->op_id);
    if (s == NULL || s->at_ms < clock_mono_ms(e->clock) - e->settings.op_ids_ms) {
        return false;
    }
    *out = (struct engine_result){(enum engine_outcome)s->outcome,
                                  s->seq_no,
                                  s->primary_term,
                                  s->version,
                                  e->log.location,
                                  true,
                                  false};
    return true;
}

/* Sent long ago, on a connection that its sender has given up since? Applied again, it would undo what came after it. */
static bool is_late(const struct engine *e, const struct engine_op *op)
{
    return op_ids_answered(&e->op_ids, op->op_id) || op_ids_find(&e->op_ids, op->op_id) != NULL;
}

bool engine_done_before(struct engine *e, const struct engine_op *op, struct engine_result *out)
{
    return op->origin == ORIGIN_PRIMARY && op->op_id.session != 0 && was_done(e, op, out);
}

static void op_count(struct engine *e, const struct engine_op *op, int64_t since_ns, bool failed)
{
    uint64_t ns = (uint64_t)(e->clock->mono_ns(e->clock->self) - since_ns);
    if (op->kind == OP_INDEX) {
        e->stats.index_failed += failed ? 1 : 0;
        e->stats.index_total += failed ? 0 : 1;
        e->stats.index_ns += ns;
    } else if (op->kind == OP_DELETE) {
        e->stats.delete_total += failed ? 0 : 1;
        e->stats.delete_ns += ns;
    } else {
        e->stats.noop_total += failed ? 0 : 1;
    }
}

static enum err op_apply(struct engine *e, const struct engine_op *op, struct engine_result *out,
                         struct errmsg *em)
{
    struct plan p;
    enum err r = make_plan(e, op, &p, em);
    r = r == ERR_OK ? prepare_common(e, &p, em) : r;
    if (r == ERR_OK) {
        if (p.stale) {
            r = log_op(e, &p.op, em);
        } else if (op->kind == OP_NOOP) {
            r = log_tombstone(e, &p.op, em);
        } else {
            r = op->kind == OP_INDEX ? apply_index(e, &p, em) : apply_delete(e, &p, em);
        }
    }
    if (r != ERR_OK) {
        return r;
    }
    commit_common(e, &p);
    *out = (struct engine_result){p.outcome, p.op.seq_no, p.op.primary_term, p.op.version, e->log.location,
                                  false,     p.stale};
    return ERR_OK;
}

enum err engine_apply(struct engine *e, const struct engine_op *op, struct engine_result *out,
                      struct errmsg *em)
{
    int64_t since = e->clock->mono_ns(e->clock->self);
    enum err r = engine_check(e, em);
    r = r == ERR_OK ? check_op(e, op, em) : r;
    if (r != ERR_OK || was_done(e, op, out)) {
        return r;
    }
    if (op->origin == ORIGIN_PRIMARY && is_late(e, op)) {
        return err_set(em, ERR_UNAVAILABLE_SHARDS,
                       "[%.*s]: what became of this operation has been told already, or is forgotten",
                       STR_ARG(op->id));
    }
    r = op_apply(e, op, out, em);
    if (!e->replaying) {
        op_count(e, op, since, r != ERR_OK);
    }
    if (r == ERR_OK && index_buffer_bytes(e->buffer) > e->settings.buffer_bytes_max) {
        engine_spill(e, NULL); /* a failure has failed the engine; this operation was applied nevertheless */
    }
    return r;
}

/* ---- gets ---- */

enum err engine_version(struct engine *e, struct str id, struct engine_version *out, struct errmsg *em)
{
    enum err r = engine_check(e, em);
    struct found f = {.place = PLACE_NONE};
    if (r == ERR_OK) {
        engine_find(e, id, hash_str(id), true, &f);
        r = engine_check(e, em);
    }
    *out = (struct engine_version){f.place == PLACE_BUFFER || f.place == PLACE_SLOT, f.seq_no, f.primary_term,
                                   f.version};
    return r;
}

static enum err get_buffered(struct engine *e, const struct found *f, bool want_source, struct arena *arena,
                             struct engine_doc *out, struct errmsg *em)
{
    struct str source, routing;
    if (!index_buffer_stored(e->buffer, f->doc, &source, &routing)) {
        return err_set(em, ERR_INTERNAL, "a buffered document is not there");
    }
    if (routing.p != NULL) {
        out->routing = arena_str(arena, routing);
    }
    if (want_source && source.n > 0) {
        out->source = arena_str(arena, source);
    }
    bool lacks = (routing.p != NULL && out->routing.p == NULL)
                 || (want_source && source.n > 0 && out->source.p == NULL);
    return lacks ? err_no_memory(em) : ERR_OK;
}

static enum err get_stored(const struct segment *s, doc_id doc, bool want_source, struct arena *arena,
                           struct engine_doc *out, struct errmsg *em)
{
    struct stored_reader r;
    struct stored_doc d;
    stored_reader_init(&r, s);
    enum err e = stored_read(&r, doc, STORED_ID | (want_source ? STORED_SOURCE : 0U), arena, &d, em);
    if (e == ERR_OK) {
        out->routing = d.routing;
        out->source = want_source ? d.source : STR_NULL;
        e = segment_ignored(s, doc, arena, &out->ignored, &out->n_ignored, em);
    }
    if (e == ERR_OK && out->n_ignored > 0 && out->routing.p != NULL) {
        e = stored_read(&r, doc, STORED_VALUES, arena, &d, em);
        out->stores_more = e == ERR_OK && d.n_values > 0;
    }
    stored_reader_fini(&r);
    return e == ERR_OK ? segment_damage(s, em) : e;
}

size_t engine_stored_max(const struct engine *e)
{
    size_t max = 0;
    for (size_t i = 0; i < e->n_slots; i++) {
        max = MAX_OF(max, segment_stored_max(e->slots[i]->segment));
    }
    return max;
}

static bool is_large(struct engine *e, const struct found *f, size_t bytes_max)
{
    struct str source, routing;
    if (f->place == PLACE_SLOT) {
        return segment_stored_max(f->slot->segment) > bytes_max / 255
               && stored_bytes(f->slot->segment, f->doc) > bytes_max;
    }
    return index_buffer_stored(e->buffer, f->doc, &source, &routing) && source.n > bytes_max;
}

enum err engine_get(struct engine *e, struct str id, bool want_source, struct arena *arena,
                    struct engine_doc *out, struct errmsg *em)
{
    return engine_get_upto(e, id, want_source, SIZE_MAX, arena, out, em);
}

enum err engine_get_upto(struct engine *e, struct str id, bool want_source, size_t bytes_max,
                         struct arena *arena, struct engine_doc *out, struct errmsg *em)
{
    int64_t since = e->clock->mono_ns(e->clock->self);
    *out = (struct engine_doc){0};
    enum err r = engine_check(e, em);
    if (r != ERR_OK) {
        return r;
    }
    struct found f;
    engine_find(e, id, hash_str(id), true, &f);
    r = engine_check(e, em);
    if (r == ERR_OK && (f.place == PLACE_BUFFER || f.place == PLACE_SLOT)) {
        *out = (struct engine_doc){
            .found = true, .seq_no = f.seq_no, .primary_term = f.primary_term, .version = f.version};
        if (want_source && bytes_max < SIZE_MAX && is_large(e, &f, bytes_max)) {
            out->large = true;
            return ERR_OK;
        }
        r = f.place == PLACE_BUFFER ? get_buffered(e, &f, want_source, arena, out, em)
                                    : get_stored(f.slot->segment, f.doc, want_source, arena, out, em);
    }
    e->stats.get_total++;
    e->stats.get_missing += out->found ? 0 : 1;
    e->stats.get_ns += (uint64_t)(e->clock->mono_ns(e->clock->self) - since);
    return r;
}

enum err engine_view_get(const struct view *v, struct str id, bool want_source, struct arena *arena,
                         struct engine_doc *out, struct errmsg *em)
{
    *out = (struct engine_doc){0};
    for (uint32_t i = v->n_leaves; i > 0; i--) {
        const struct leaf *l = &v->leaves[i - 1];
        doc_id doc;
        if (!seg_find_id(l->segment, id, l->live, &doc)) {
            enum err r = segment_damage(l->segment, em);
            if (r != ERR_OK) {
                return r;
            }
            continue;
        }
        struct num_column c;
        *out = (struct engine_doc){.found = true, .leaf = i - 1, .doc = doc};
        num_column_init(&c, segment_field(l->segment, STR("_seq_no")));
        num_column_first(&c, doc, &out->seq_no);
        num_column_init(&c, segment_field(l->segment, STR("_primary_term")));
        num_column_first(&c, doc, &out->primary_term);
        num_column_init(&c, segment_field(l->segment, STR("_version")));
        num_column_first(&c, doc, &out->version);
        return get_stored(l->segment, doc, want_source, arena, out, em);
    }
    return ERR_OK;
}
