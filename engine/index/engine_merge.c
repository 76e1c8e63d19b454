/* Merges: planned by the strand, run anywhere over immutable inputs, put in place by the strand. */
#include "engine/index/engine_int.h"
#include "engine/index/merge_policy.h"
#include "engine/index/structure.h"

#include "common/base/bits.h"
#include "common/base/invariant.h"

struct merge_input {
    uint64_t number; /* of the slot */
    struct segment *segment;
    struct live *live;    /* of the moment of the plan; NULL: all */
    const uint64_t *keep; /* what the outcome holds: living documents, and dead ones that history needs */
};

struct engine_merge {
    struct engine_merge *next; /* in the engine's list */
    const struct fs *fs;
    const struct allocator *alloc;
    char *path;
    uint64_t number, epoch;
    size_t memory_bytes_max;
    struct merge_input *inputs;
    size_t n;
    uint64_t bytes, docs; /* docs: retained dead ones too */
    bool retains;
    _Atomic bool cancelled;
    /* the outcome */
    struct arena arena;
    doc_id **remap;
    struct segment *segment; /* NULL: nothing lives */
    const char *memory;
    int64_t begun_ns;
    enum err result;
    struct errmsg em;
};

bool engine_merge_names(const struct engine *e, uint64_t number)
{
    for (const struct engine_merge *m = e->merges; m != NULL; m = m->next) {
        if (m->number == number) {
            return true;
        }
        for (size_t i = 0; i < m->n; i++) {
            if (m->inputs[i].number == number) {
                return true;
            }
        }
    }
    return false;
}

void engine_merge_cancel(struct engine_merge *m)
{
    m->cancelled = true;
}

static void merge_free(struct engine_merge *m)
{
    for (size_t i = 0; i < m->n; i++) {
        segment_unref(m->inputs[i].segment);
        live_unref(m->inputs[i].live);
    }
    segment_unref(m->segment);
    arena_fini(&m->arena);
    alloc_put(m->alloc, m->path);
    alloc_put(m->alloc, m);
}

/* ---- planning ---- */

static size_t choose(struct engine *e, const struct engine_merge_wish *wish, struct arena *arena, bool **pick)
{
    struct merge_candidate *c = ARENA_ARRAY(arena, struct merge_candidate, e->n_slots);
    *pick = ARENA_ARRAY(arena, bool, e->n_slots);
    if (c == NULL || *pick == NULL || e->n_slots == 0) {
        return 0;
    }
    int64_t from = engine_retained_from(e);
    for (size_t i = 0; i < e->n_slots; i++) {
        struct slot *s = e->slots[i];
        uint32_t docs = segment_doc_count(s->segment);
        uint32_t stay = slot_live_docs(s) + slot_count_retained(s, from);
        c[i] = (struct merge_candidate){s->bytes, docs, docs - stay, s->merge != NULL};
    }
    if (wish != NULL && wish->only_expunge_deletes) {
        return merge_policy_expunge(c, e->n_slots, &e->settings.merge, *pick);
    }
    if (wish != NULL && wish->max_segments > 0) {
        return merge_policy_forced(c, e->n_slots, wish->max_segments, *pick);
    }
    return merge_policy_natural(c, e->n_slots, &e->settings.merge, arena, *pick);
}

static enum err take_input(struct engine *e, struct engine_merge *m, struct slot *s, struct errmsg *em)
{
    struct merge_input *in = &m->inputs[m->n];
    *in = (struct merge_input){.number = s->number};
    if (s->next != NULL) {
        in->live = live_copy(s->next);
        if (in->live == NULL) {
            return err_no_memory(em);
        }
    } else {
        in->live = live_ref(s->live);
    }
    in->segment = segment_ref(s->segment);
    m->n++;
    in->keep = in->live != NULL ? in->live->words : NULL;
    int64_t from = engine_retained_from(e);
    uint32_t docs = segment_doc_count(s->segment);
    uint32_t retained = slot_count_retained(s, from), stay = slot_live_docs(s) + retained;
    if (retained > 0) {
        uint64_t *keep = arena_alloc(&m->arena, bits_words(docs) * sizeof(*keep));
        if (keep == NULL) {
            return err_no_memory(em);
        }
        memcpy(keep, in->live->words, bits_words(docs) * sizeof(*keep));
        slot_mark_retained(s, from, keep);
        in->keep = keep;
        m->retains = true;
    }
    m->docs += stay;
    m->bytes += docs == 0 ? 0 : (uint64_t)((double)s->bytes * stay / docs);
    return ERR_OK;
}

enum err engine_merge_plan(struct engine *e, const struct engine_merge_wish *wish, struct engine_merge **out,
                           struct errmsg *em)
{
    *out = NULL;
    enum err r = engine_check(e, em);
    struct engine_merge *m = r == ERR_OK ? alloc_get(e->alloc, sizeof(*m)) : NULL;
    if (m == NULL) {
        return r != ERR_OK ? r : err_no_memory(em);
    }
    *m = (struct engine_merge){.fs = e->fs,
                               .alloc = e->alloc,
                               .epoch = e->epoch,
                               .memory_bytes_max = e->settings.memory_segment_bytes_max,
                               .begun_ns = e->clock->mono_ns(e->clock->self)};
    arena_init(&m->arena, e->alloc, ARENA_UNLIMITED);
    m->em = err_in(&m->arena);
    bool *pick;
    size_t n = choose(e, wish, &m->arena, &pick);
    if (n == 0) {
        merge_free(m);
        return ERR_OK;
    }
    m->number = e->next_number;
    char name[FILE_NAME_BYTES];
    segment_file_name(m->number, name);
    r = engine_path(e, name, &m->path, em);
    m->inputs = ARENA_ARRAY(&m->arena, struct merge_input, n);
    r = r == ERR_OK && m->inputs == NULL ? err_no_memory(em) : r;
    for (size_t i = 0; i < e->n_slots && r == ERR_OK; i++) {
        r = pick[i] ? take_input(e, m, e->slots[i], em) : ERR_OK;
    }
    if (r != ERR_OK) {
        merge_free(m);
        return r;
    }
    for (size_t i = 0; i < e->n_slots; i++) {
        e->slots[i]->merge = pick[i] ? m : e->slots[i]->merge;
    }
    e->next_number++;
    m->next = e->merges;
    e->merges = m;
    e->stats.merges_running++;
    *out = m;
    return ERR_OK;
}

/* ---- running ---- */

static bool is_cancelled(void *self)
{
    struct engine_merge *m = self;
    return m->cancelled;
}

static enum err open_outcome(struct engine_merge *m, struct buf *memory, struct errmsg *em)
{
    if (memory == NULL) {
        return segment_open(&m->segment, m->fs, m->path, em);
    }
    size_t n;
    char *bytes = buf_take(memory, &n);
    if (bytes == NULL) {
        return err_no_memory(em);
    }
    enum err r = segment_open_memory(&m->segment, bytes, n, m->alloc, em);
    if (r != ERR_OK) {
        alloc_put(m->alloc, bytes);
        return r;
    }
    m->memory = bytes;
    return ERR_OK;
}

static enum err run(struct engine_merge *m, struct errmsg *em)
{
    struct merge_source *sources = ARENA_ARRAY(&m->arena, struct merge_source, m->n);
    if (sources == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < m->n; i++) {
        sources[i] = (struct merge_source){m->inputs[i].segment, m->inputs[i].keep};
    }
    struct buf memory;
    buf_init(&memory, m->alloc, BUF_UNLIMITED);
    bool small = m->bytes <= m->memory_bytes_max;
    struct merge_io io = {m->fs, small ? NULL : m->path, small ? &memory : NULL, is_cancelled, m};
    enum err r = segment_merge(sources, m->n, &io, &m->arena, &m->remap, em);
    r = r == ERR_OK ? open_outcome(m, small ? &memory : NULL, em) : r;
    if (r == ERR_OK && segment_doc_count(m->segment) != m->docs) {
        r = err_set(em, ERR_CORRUPT, "merge: [%llu] documents stay, [%u] came out",
                    (unsigned long long)m->docs, segment_doc_count(m->segment));
    }
    buf_fini(&memory);
    return r;
}

void engine_merge_run(struct engine_merge *m)
{
    m->result = m->cancelled ? err_set(&m->em, ERR_CANCELLED, "merge cancelled")
                             : (m->docs > 0 ? run(m, &m->em) : ERR_OK);
}

/* ---- taking over ---- */

static struct slot *find_slot(const struct engine *e, uint64_t number, size_t *at)
{
    for (size_t i = 0; i < e->n_slots; i++) {
        if (e->slots[i]->number == number) {
            *at = i;
            return e->slots[i];
        }
    }
    return NULL;
}

static enum err carry_input(struct engine *e, const struct engine_merge *m, size_t i, struct slot *to,
                            struct errmsg *em)
{
    size_t at;
    const struct merge_input *in = &m->inputs[i];
    const struct live *now = slot_live(find_slot(e, in->number, &at));
    if (now == NULL || (now == in->live && !m->retains)) {
        return ERR_OK;
    }
    const uint64_t *roots = segment_roots(in->segment);
    uint32_t n = segment_doc_count(in->segment);
    for (size_t w = 0; w < bits_words(n); w++) {
        uint64_t died = (in->keep != NULL ? in->keep[w] : ~(uint64_t)0) & ~now->words[w];
        died &= roots != NULL ? roots[w] : ~(uint64_t)0;
        for (; died != 0; died &= died - 1) {
            size_t d = w * 64 + (size_t)__builtin_ctzll(died);
            if (d >= n) {
                break;
            }
            enum err r = slot_prepare_kill(e, to, em);
            if (r != ERR_OK) {
                return r;
            }
            if (m->remap[i][d] >= to->next->n_docs) {
                return err_set(em, ERR_INTERNAL, "merge: a living document has no new number");
            }
            live_kill(to->next, segment_roots(to->segment), m->remap[i][d]);
        }
    }
    return ERR_OK;
}

/* Documents deleted in the sources meanwhile are deleted in the result. */
static enum err carry_deaths(struct engine *e, const struct engine_merge *m, struct slot *to,
                             struct errmsg *em)
{
    enum err r = ERR_OK;
    for (size_t i = 0; i < m->n && r == ERR_OK; i++) {
        r = carry_input(e, m, i, to, em);
    }
    return r;
}

static enum err make_slot(struct engine *e, struct engine_merge *m, struct slot **out, struct errmsg *em)
{
    INVARIANT(segment_invariant(m->segment));
    enum err r = slot_new(out, e, m->number, m->segment, em);
    if (r != ERR_OK) {
        return r;
    }
    m->segment = NULL;
    (*out)->memory = m->memory;
    (*out)->in_file = m->memory == NULL;
    return carry_deaths(e, m, *out, em);
}

static void replace(struct engine *e, struct engine_merge *m, struct slot *merged)
{
    size_t first = 0, at = 0;
    for (size_t i = 0; i < m->n; i++) {
        struct slot *s = find_slot(e, m->inputs[i].number, &at);
        first = i == 0 ? at : first;
        e->n_slots--;
        memmove(e->slots + at, e->slots + at + 1, (e->n_slots - at) * sizeof(struct slot *));
        slot_free(e, s);
    }
    if (merged != NULL) {
        memmove(e->slots + first + 1, e->slots + first, (e->n_slots - first) * sizeof(struct slot *));
        e->slots[first] = merged;
        e->n_slots++;
    }
    e->changed = e->uncommitted = true;
}

static void leave(struct engine *e, struct engine_merge *m)
{
    for (struct engine_merge **at = &e->merges; *at != NULL; at = &(*at)->next) {
        if (*at == m) {
            *at = m->next;
            break;
        }
    }
    e->stats.merges_running--;
    for (size_t i = 0; i < e->n_slots; i++) {
        if (e->slots[i]->merge == m) {
            e->slots[i]->merge = NULL;
        }
    }
    for (size_t i = 0; i < m->n; i++) {
        engine_remove_if_unnamed(e, m->inputs[i].number, 0);
    }
    engine_remove_if_unnamed(e, m->number, 0);
}

enum err engine_merge_commit(struct engine *e, struct engine_merge *m, struct errmsg *em)
{
    enum err r = m->result;
    if (r != ERR_OK) {
        err_copy(em, &m->em);
    }
    r = r == ERR_OK ? engine_check(e, em) : r;
    if (r == ERR_OK && (m->epoch != e->epoch || m->cancelled)) {
        r = err_set(em, ERR_CANCELLED, "merge cancelled");
    }
    struct slot *merged = NULL;
    if (r == ERR_OK && m->segment != NULL) {
        r = make_slot(e, m, &merged, em);
    }
    if (r == ERR_OK) {
        if (merged != NULL
            && slot_live_docs(merged) + slot_count_retained(merged, engine_retained_from(e)) == 0) {
            slot_free(e, merged);
            merged = NULL;
        }
        replace(e, m, merged);
        e->stats.merge_total++;
        e->stats.merge_docs += m->docs;
        e->stats.merge_bytes += m->bytes;
        e->stats.merge_ns += (uint64_t)(e->clock->mono_ns(e->clock->self) - m->begun_ns);
    } else {
        slot_free(e, merged);
    }
    leave(e, m);
    merge_free(m);
    return r;
}
