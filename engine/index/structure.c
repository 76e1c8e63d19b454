#include "engine/index/structure_int.h"

#include "common/base/stop.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool structure_wrong(struct structure *x, const char *fmt, ...)
{
    char what[256];
    va_list args;
    if (x->err != ERR_OK) {
        return false;
    }
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    x->err = err_set(x->em, ERR_CORRUPT, "%s%.*s%s%s (resource=[%s])", x->field.n > 0 ? "field [" : "",
                     STR_ARG(x->field), x->field.n > 0 ? "]: " : "", what,
                     x->s->path != NULL ? x->s->path : "memory");
    return false;
}

bool structure_no_memory(struct structure *x)
{
    if (x->err == ERR_OK) {
        x->err = err_no_memory(x->em);
    }
    return false;
}

bool structure_ok(struct structure *x)
{
    if (x->err == ERR_OK && stop_often()) {
        x->err = err_set(x->em, ERR_NODE_CLOSED, "the node closes");
    }
    if (x->err == ERR_OK) {
        x->err = segment_damage(x->s, x->em);
    }
    return x->err == ERR_OK;
}

void structure_clear(struct structure *x)
{
    memset(x->docs, 0, bits_words(x->s->doc_count) * sizeof(*x->docs));
}

static bool is_root(const struct segment *s, doc_id doc)
{
    return s->roots == NULL || bits_test(s->roots, doc);
}

/* ---- documents ---- */

static bool check_roots(struct structure *x)
{
    const struct segment *s = x->s;
    if (s->doc_count > 0 && !is_root(s, s->doc_count - 1)) {
        return structure_wrong(x, "the last document is a nested one without a root");
    }
    return true;
}

static bool check_stored(struct structure *x)
{
    const struct segment *s = x->s;
    struct stored_reader r;
    struct arena arena;
    stored_reader_init(&r, s);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    for (doc_id d = 0; d < s->doc_count && structure_ok(x); d++) {
        struct stored_doc doc;
        arena_reset(&arena);
        x->err = stored_read(&r, d, STORED_ID | STORED_SOURCE | STORED_VALUES, &arena, &doc, x->em);
    }
    arena_fini(&arena);
    stored_reader_fini(&r);
    return structure_ok(x);
}

/* ---- ids ---- */

/* Found by its id in the table, and as a term. */
static bool check_id(struct structure *x, const struct seg_field *f, doc_id doc, struct str id,
                     struct postings *p)
{
    struct term_info t;
    doc_id found;
    bits_set(x->docs, doc); /* several may have that id */
    bool there = seg_find_id(x->s, id, x->docs, &found) && found == doc;
    bits_clear(x->docs, doc);
    if (!there) {
        return structure_wrong(x, "document [%u] is not found by its id", doc);
    }
    bool term = seg_term(f, id, &t);
    if (term) {
        postings_init(p, f, &t, false);
        term = postings_seek(p, doc) == doc;
    }
    return term || structure_wrong(x, "document [%u] is not among those of its id's term", doc);
}

/* Roots have an id, but for the tombstones of no-ops; nested documents have none. */
static bool check_each_id(struct structure *x, uint64_t *with_id, struct postings *p)
{
    const struct segment *s = x->s;
    const struct seg_field *f = segment_field(s, STR("_id")), *dead = segment_field(s, STR("_tombstone"));
    struct num_column c;
    num_column_init(&c, dead != NULL && (dead->has & SEG_NUMS) != 0 ? dead : NULL);
    for (doc_id d = 0; d < s->doc_count && structure_ok(x); d++) {
        struct str id;
        int64_t v;
        bool has = s->id_bytes != NULL && bytes_meta_value(s, s->id_bytes, d, 0, &id);
        *with_id += has;
        if (has != is_root(s, d) && (has || !num_column_first(&c, d, &v))) {
            return structure_wrong(x, "%s document [%u] has %s id", has ? "nested" : "root", d,
                                   has ? "an" : "no");
        }
        if (has && !check_id(x, f, d, id, p)) {
            return false;
        }
    }
    return structure_ok(x);
}

static bool check_ids(struct structure *x)
{
    const struct segment *s = x->s;
    const struct ids_meta *m = &s->ids;
    uint64_t with_id = 0, taken = 0;
    struct postings *p = malloc(sizeof(*p));
    bool ok = p != NULL || structure_no_memory(x);
    ok = ok && check_each_id(x, &with_id, p);
    free(p);
    if (!ok || (m->n_slots > 0 && !seg_check(s, m->tags, m->n_slots))) {
        return structure_ok(x);
    }
    for (uint32_t i = 0; i < m->n_slots; i++) {
        taken += m->tags[i] != 0;
    }
    return taken == with_id
           || structure_wrong(x, "the table of ids has [%llu] entries for [%llu] documents",
                              (unsigned long long)taken, (unsigned long long)with_id);
}

/* What every document has, nested ones too. */
static bool check_own_columns(struct structure *x)
{
    static const char *const names[] = {"_seq_no", "_primary_term", "_version"};
    for (size_t i = 0; i < ARRAY_LEN(names) && x->s->doc_count > 0; i++) {
        const struct seg_field *f = segment_field(x->s, str_of(names[i]));
        struct num_column c;
        num_column_place(&c, f != NULL && (f->has & SEG_NUMS) != 0 ? f : NULL);
        if (!c.dense) {
            return structure_wrong(x, "not every document has a [%s]", names[i]);
        }
    }
    return true;
}

/* ---- all ---- */

static bool check_field(struct structure *x, const struct seg_field *f)
{
    x->field = f->name;
    bool ok = structure_terms(x, f) && structure_values(x, f);
    free(x->term_docs);
    x->term_docs = NULL;
    x->field = STR("");
    return ok && structure_ok(x);
}

enum err segment_check_structure(const struct segment *s, struct errmsg *em)
{
    struct structure x = {.s = s, .em = em, .field = STR("")};
    x.docs = calloc(bits_words(s->doc_count) + 1, sizeof(*x.docs));
    bool ok = x.docs != NULL || structure_no_memory(&x);
    ok = ok && check_roots(&x) && check_own_columns(&x) && check_stored(&x) && check_ids(&x);
    for (uint32_t i = 0; i < s->n_fields && ok; i++) {
        ok = check_field(&x, &s->fields[i]);
    }
    free(x.docs);
    if (x.err != ERR_OK && stop_is_on()) { /* what it found then is of no account */
        x.err = err_set(em, ERR_NODE_CLOSED, "the node closes");
    }
    return x.err;
}

void segment_invariant(const struct segment *s)
{
    ERR_LOCAL(em);
    bool wrong = segment_verify(s, NULL) == ERR_OK && segment_check_structure(s, &em) == ERR_CORRUPT;
    if (wrong) {
        fprintf(stderr, "a segment is wrong: %s\n", err_reason(&em));
    }
    assert(!wrong);
}
