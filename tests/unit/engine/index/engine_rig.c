#include "tests/unit/engine/index/engine_rig.h"
#include "engine/mapping/field_class.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const struct field n_field = {
    .path = {"n", 1}, .name = {"n", 1}, .class = &field_class_long, .index = true, .doc_values = true};
static const struct field nested_field = {.path = {"ns", 2}, .name = {"ns", 2}, .class = &field_class_nested};

void rig_make_op(struct engine_op *op, enum engine_op_kind kind, unsigned id, int64_t n, char id_text[16],
                 char text[64])
{
    *op = (struct engine_op)ENGINE_OP_INIT;
    op->kind = kind;
    op->primary_term = 1;
    snprintf(id_text, 16, "id-%u", id);
    snprintf(text, 64, "{\"n\":%lld,\"k\":%u}", (long long)n, (unsigned)(n % 3 == 0 ? n % 4 : 0));
    op->id = kind == OP_NOOP ? STR_NULL : str_of(id_text);
    op->source = kind == OP_INDEX ? str_of(text) : STR_NULL;
    op->routing = n % 5 == 0 ? STR("r") : STR_NULL;
    op->reason = kind == OP_NOOP ? STR("test") : STR_NULL;
}

enum err rig_parse(void *self, const struct engine_op *op, struct arena *arena, struct parsed_doc *out,
                   struct errmsg *em)
{
    (void)self;
    long long n = 0;
    unsigned k = 0;
    struct str z = arena_str(arena, op->source);
    if (z.p == NULL) {
        return err_no_memory(em);
    }
    if (sscanf(z.p, "{\"n\":%lld,\"k\":%u}", &n, &k) != 2) {
        return err_set(em, ERR_MAPPER_PARSING, "not a document");
    }
    *out = (struct parsed_doc){.id = op->id, .routing = op->routing, .source = op->source, .n_parts = k + 1};
    out->parts = ARENA_ARRAY(arena, struct doc_part, k + 1);
    for (unsigned i = 0; out->parts != NULL && i <= k; i++) {
        struct doc_value *v = ARENA_NEW(arena, struct doc_value);
        if (v == NULL) {
            return err_no_memory(em);
        }
        *v = (struct doc_value){
            .field = &n_field, .kind = DOC_NUM, .to_index = true, .to_column = true, .num = n};
        out->parts[i] = (struct doc_part){v, 1, i < k ? &nested_field : NULL};
    }
    return out->parts == NULL ? err_no_memory(em) : ERR_OK;
}

void rig_init(struct rig *r, uint64_t seed)
{
    memset(r, 0, sizeof(*r));
    r->disk = fs_mem_new();
    clock_sim_init(&r->clock, 1600000000000);
    rng_seed(&r->rng, seed);
    r->acked = -1;
    r->term = 1;
    r->opts = (struct engine_opts){.fs = fs_mem_fs(r->disk),
                                   .clock = &r->clock.base,
                                   .dir = "/shard",
                                   .index_uuid = "uuid",
                                   .shard = 1,
                                   .parse = rig_parse,
                                   .user_data = STR("history")};
    engine_settings_init(&r->opts.settings, NULL);
    const struct fs *fs = r->opts.fs;
    fs->make_dir(fs->self, "/shard", NULL);
    fs->sync_dir(fs->self, "/", NULL);
}

void rig_fini(struct rig *r)
{
    engine_close(r->e);
    fs_mem_free(r->disk);
}

void rig_open(struct rig *r, enum engine_open_mode mode)
{
    ERR_LOCAL(em);
    r->opts.mode = mode;
    enum err e = engine_open(&r->e, &r->opts, &em);
    ck_assert_msg(e == ERR_OK, "open: %s", err_reason(&em));
}

enum err rig_primary(struct rig *r, struct engine_op *op, struct engine_result *res, struct errmsg *em)
{
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct parsed_doc doc;
    op->origin = ORIGIN_PRIMARY;
    op->primary_term = r->term;
    if (op->kind == OP_INDEX) {
        ck_assert_int_eq(rig_parse(NULL, op, &a, &doc, NULL), ERR_OK);
        op->doc = &doc;
    }
    enum err e = engine_apply(r->e, op, res, em);
    if (e == ERR_OK && !res->repeated) {
        long long n = 0;
        unsigned id = 0;
        ck_assert_int_eq(res->seq_no, r->next);
        ck_assert_int_lt(r->next, RIG_OPS);
        if (op->kind != OP_NOOP) {
            sscanf(op->id.p, "id-%u", &id);
        }
        if (op->kind == OP_INDEX) {
            sscanf(op->source.p, "{\"n\":%lld", &n);
        }
        r->ops[r->next++] = (struct rig_op){op->kind, id, n, res->version, res->primary_term};
    }
    arena_fini(&a);
    return e;
}

enum err rig_index(struct rig *r, unsigned id, struct errmsg *em)
{
    struct engine_op op;
    struct engine_result res;
    char id_text[16], text[64];
    rig_make_op(&op, OP_INDEX, id, ++r->numbers, id_text, text);
    return rig_primary(r, &op, &res, em);
}

enum err rig_delete(struct rig *r, unsigned id, struct errmsg *em)
{
    struct engine_op op;
    struct engine_result res;
    char id_text[16], text[64];
    rig_make_op(&op, OP_DELETE, id, 0, id_text, text);
    return rig_primary(r, &op, &res, em);
}

void rig_state(const struct rig *r, int64_t upto, struct rig_doc out[RIG_IDS])
{
    memset(out, 0, RIG_IDS * sizeof(*out));
    for (int64_t s = 0; s <= upto; s++) {
        const struct rig_op *op = &r->ops[s];
        if (op->kind != OP_NOOP) {
            out[op->id] = (struct rig_doc){op->kind == OP_INDEX, s, op->version, op->term, op->n};
        }
    }
}

static void check_doc(const struct engine_doc *d, const struct rig_doc *want, unsigned id)
{
    ck_assert_msg(d->found == want->there, "id %u: %s", id, d->found ? "should not be there" : "is missing");
    if (!d->found) {
        return;
    }
    char text[64], id_text[16];
    struct engine_op op;
    rig_make_op(&op, OP_INDEX, id, want->n, id_text, text);
    ck_assert_int_eq(d->seq_no, want->seq_no);
    ck_assert_int_eq(d->version, want->version);
    ck_assert_int_eq(d->primary_term, want->term);
    ck_assert(str_eq(d->source, op.source) && str_eq(d->routing, op.routing));
}

void rig_check_view(const struct view *v, const struct rig_doc want[RIG_IDS])
{
    uint32_t live = 0;
    for (unsigned id = 0; id < RIG_IDS; id++) {
        struct arena a;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        char id_text[16];
        struct engine_doc d;
        snprintf(id_text, sizeof(id_text), "id-%u", id);
        ck_assert_int_eq(engine_view_get(v, str_of(id_text), true, &a, &d, NULL), ERR_OK);
        check_doc(&d, &want[id], id);
        live += want[id].there;
        arena_fini(&a);
    }
    ck_assert_uint_eq(v->live_count, live);
}

void rig_check(struct rig *r, bool refreshed)
{
    static struct rig_doc want[RIG_IDS];
    rig_state(r, r->next - 1, want);
    ck_assert_int_eq(engine_max_seq_no(r->e), r->next - 1);
    for (unsigned id = 0; id < RIG_IDS; id++) {
        struct arena a;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        char id_text[16];
        struct engine_doc d;
        struct engine_version ver;
        snprintf(id_text, sizeof(id_text), "id-%u", id);
        ck_assert_int_eq(engine_get(r->e, str_of(id_text), true, &a, &d, NULL), ERR_OK);
        check_doc(&d, &want[id], id);
        ck_assert_int_eq(engine_version(r->e, str_of(id_text), &ver, NULL), ERR_OK);
        ck_assert(ver.found == want[id].there && (!ver.found || ver.seq_no == want[id].seq_no));
        arena_fini(&a);
    }
    if (refreshed) {
        struct view *v = engine_view_ref(r->e);
        rig_check_view(v, want);
        view_unref(v);
    }
}

void rig_crash(struct rig *r, unsigned how)
{
    if (how == 0) {
        fs_mem_kill(r->disk);
    } else if (how == 1) {
        fs_mem_drop_unsynced(r->disk);
    } else {
        fs_mem_crash(r->disk, &r->rng);
    }
    engine_close(r->e); /* its files are dead: only memory is freed */
    r->e = NULL;
}

void rig_recover(struct rig *r)
{
    rig_open(r, ENGINE_EXISTING);
    engine_invariant(r->e);
    int64_t max = engine_max_seq_no(r->e);
    ck_assert_msg(max >= r->acked, "acknowledged up to %lld, recovered up to %lld", (long long)r->acked,
                  (long long)max);
    ck_assert_int_lt(max, r->next);
    ck_assert_int_eq(engine_persisted_checkpoint(r->e), max);
    r->next = max + 1;
    r->acked = max;
    rig_check(r, true);
}
