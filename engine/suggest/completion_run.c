/* The completion suggester on one shard, collecting as Elasticsearch does: from each segment the best entries
 * are taken, `shard_size` for each beginning of a path that matched; of a document the best one counts; a
 * queue keeps the best `shard_size` by score, then input, and the first that does not get into it ends the
 * segment. */
#include "common/base/arena_list.h"
#include "common/base/map.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/mapping/completion_paths.h"
#include "engine/mapping/field_class.h"
#include "engine/suggest/suggest_int.h"

#define TAKEN_MAX (1 << 20) /* entries of one segment */

struct found {
    float score;
    uint32_t doc; /* in the view */
    struct str input;
    struct str *contexts;
    size_t n_contexts, cap;
};

struct lookup {
    const struct suggest_run *r;
    const struct completion_suggestion *s;
    const struct field *field;
    uint32_t take;           /* shard_size */
    const struct str *words; /* analysed */
    uint32_t n_words;
    const struct dfa *dfa; /* regex; NULL: none */
    struct context_query *contexts;
    size_t n_contexts;
    struct found **queue; /* a heap, the worst on top */
    size_t n;
    struct found **kept; /* skip_duplicates: of the segments before */
    size_t n_kept, cap;
};

/* ---- what is asked for ---- */

static enum err check_request(const struct suggest_run *r, const struct suggestion *s,
                              const struct field **out)
{
    const struct mapping *m = r->cx->query.mapping;
    const struct field *f = mapping_field(m, s->field);
    if (f == NULL || f->class->is_object) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "no mapping found for field [%.*s]", STR_ARG(s->field));
    }
    if (s->analyzer.p != NULL && analysis_analyzer(mapping_analysis(m), s->analyzer) == NULL) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "analyzer [%.*s] doesn't exists", STR_ARG(s->analyzer));
    }
    if (s->shard_size != INT32_MIN && s->shard_size <= 0) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "ShardSize must be positive but was: %d", s->shard_size);
    }
    if (f->class != &field_class_completion) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Field [%.*s] is not a completion suggest field",
                       STR_ARG(s->field));
    }
    *out = f;
    return ERR_OK;
}

static enum err prepare_query(struct lookup *l, struct str text)
{
    const struct suggestion *s = &l->s->common;
    struct str prefix = s->prefix.p != NULL                       ? s->prefix
                        : s->regex.p == NULL || s->text.p != NULL ? text
                                                                  : STR_NULL;
    if (prefix.p != NULL) {
        const struct field *f = l->field;
        struct completion_options o = {f->search_analyzer != NULL ? f->search_analyzer : f->analyzer,
                                       f->preserve_separators, f->preserve_position_increments};
        return completion_paths(&o, prefix, l->r->arena, &l->words, &l->n_words, l->r->em);
    }
    if (l->s->has_fuzzy) {
        return err_set(l->r->em, ERR_ILLEGAL_ARGUMENT, "can not use 'fuzzy' options with 'regex'");
    }
    if (s->regex.n == 0) {
        return ERR_OK;
    }
    uint32_t most = (uint32_t)MAX_OF(l->s->regex_max_states, 1);
    return dfa_regexp(&l->dfa, s->regex, l->s->regex_flags, false, most, l->r->arena, l->r->em);
}

static enum err prepare_contexts(struct lookup *l)
{
    const struct field *f = l->field;
    if (f->n_contexts > 0) {
        return completion_contexts(f, l->s->contexts, l->r->arena, &l->contexts, &l->n_contexts, l->r->em);
    }
    if (l->s->contexts != NULL) {
        return err_set(l->r->em, ERR_ILLEGAL_ARGUMENT, "suggester [%.*s] doesn't expect any context",
                       STR_ARG(f->path));
    }
    return ERR_OK;
}

/* ---- where it is found ---- */

static int shorter_first(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Prefixes that no other one covers. */
static void prefix_ranges(struct lookup *l, struct completion_cursor *c, struct str base, float boost,
                          struct str context, struct completion_ranges *out)
{
    struct str *words = ARENA_ARRAY(l->r->arena, struct str, l->n_words);
    size_t last = 0;
    if (words == NULL) {
        out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < l->n_words; i++) {
        struct str w = l->words[i];
        char *p = arena_alloc(l->r->arena, base.n + w.n);
        if (p == NULL) {
            out->failed = true;
            return;
        }
        memcpy(p, base.n > 0 ? base.p : "", base.n);
        memcpy(p + base.n, w.n > 0 ? w.p : "", w.n);
        words[i] = str_mk(p, base.n + w.n);
    }
    sort_items(words, l->n_words, sizeof(*words), shorter_first);
    for (uint32_t i = 0; i < l->n_words; i++) {
        if (i > 0 && str_starts(words[i], words[last])) {
            continue;
        }
        last = i;
        completion_cursor_seek(c, words[i]);
        uint64_t from = c->pos;
        completion_cursor_pass(c, words[i]);
        completion_ranges_add(out, (struct completion_range){from, c->pos, boost, context});
    }
}

/* What stands behind `base` matches. */
static void ranges_below(struct lookup *l, struct completion_cursor *c, struct str base, float boost,
                         struct str context, struct completion_ranges *out)
{
    struct completion_matcher m;
    const struct completion_suggestion *s = l->s;
    if (l->dfa != NULL) {
        out->failed |= !regex_matcher_init(&m, l->dfa, l->r->arena);
    } else if (l->n_words == 0) {
        return;
    } else if (!s->has_fuzzy) {
        prefix_ranges(l, c, base, boost, context, out);
        return;
    } else {
        struct fuzzy_options o = {(uint32_t)s->fuzzy.edits, (uint32_t)s->fuzzy.min_length,
                                  (uint32_t)s->fuzzy.prefix_length, s->fuzzy.transpositions,
                                  s->fuzzy.unicode};
        out->failed |= !fuzzy_matcher_init(&m, &o, l->words, l->n_words, l->r->arena);
    }
    if (!out->failed) {
        completion_walk(c, base, &m, boost, context, out);
        out->failed |= m.failed;
    }
}

/* Lucene looks the boost up by the longest of the asked keys with which the path begins, whether it had to be
 * the whole context or not. */
static float context_boost(const struct lookup *l, struct str path)
{
    const struct context_query *best = NULL;
    for (size_t i = 0; i < l->n_contexts; i++) {
        const struct context_query *q = &l->contexts[i];
        if (str_starts(path, q->key) && (best == NULL || q->key.n >= best->key.n)) {
            best = q;
        }
    }
    return best != NULL ? best->boost : 0;
}

/* The contexts of the section that are asked for, each once. */
static void context_ranges(struct lookup *l, struct completion_cursor *c, struct completion_ranges *out)
{
    struct map done;
    map_init(&done, l->r->arena);
    for (size_t i = 0; i < l->n_contexts && !out->failed; i++) {
        const struct context_query *q = &l->contexts[i];
        bool there = completion_cursor_seek(c, q->key);
        while (there && !stop_often() && str_starts(buf_view(&c->path), q->key) && !out->failed) {
            size_t n = str_find(buf_view(&c->path), COMPLETION_CONTEXT_SEPARATOR, 1);
            if (n == SIZE_MAX) {
                c->corrupt = true;
                return;
            }
            struct str base = arena_str(l->r->arena, str_slice(buf_view(&c->path), 0, n + 1));
            struct str context = str_slice(base, 0, n);
            if (base.p == NULL) {
                out->failed = true;
            } else if ((!q->exact || n == q->key.n) && !map_has(&done, context)) {
                out->failed |= !map_put(&done, context, l);
                ranges_below(l, c, base, context_boost(l, context), context, out);
            }
            there = base.p != NULL && completion_cursor_pass(c, base);
            if (q->exact && n == q->key.n) {
                break;
            }
        }
    }
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct completion_range *)a)->from, y = ((const struct completion_range *)b)->from;
    return (x > y) - (x < y);
}

/* ---- what is taken ---- */

static enum err add_context(struct lookup *l, struct found *f, struct str context)
{
    if (context.p == NULL) {
        return ERR_OK;
    }
    return ARENA_ADD(l->r->arena, f->contexts, f->n_contexts, f->cap, context) ? ERR_OK
                                                                               : err_no_memory(l->r->em);
}

static int best_first(const void *a, const void *b)
{
    const struct found *x = *(struct found *const *)a, *y = *(struct found *const *)b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    int order = utf16_cmp(x->input, y->input);
    return order != 0 ? order : (x->doc > y->doc) - (x->doc < y->doc);
}

static bool worse(struct found *const *a, struct found *const *b)
{
    return best_first(a, b) > 0;
}

static void queue_down(struct lookup *l, struct found *moving)
{
    size_t i = 0;
    for (size_t child = 1; child < l->n; child = 2 * i + 1) {
        if (child + 1 < l->n && worse(&l->queue[child + 1], &l->queue[child])) {
            child++;
        }
        if (!worse(&l->queue[child], &moving)) {
            break;
        }
        l->queue[i] = l->queue[child];
        i = child;
    }
    l->queue[i] = moving;
}

/* false: it is not among the best. */
static bool queue_add(struct lookup *l, struct found *f)
{
    if (l->n == l->take) {
        if (!worse(&l->queue[0], &f)) {
            return false;
        }
        queue_down(l, f);
        return true;
    }
    size_t i = l->n++;
    while (i > 0 && worse(&f, &l->queue[(i - 1) / 2])) {
        l->queue[i] = l->queue[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    l->queue[i] = f;
    return true;
}

static enum err take_hits(struct lookup *l, const struct leaf *leaf, const struct completion_hit *hits,
                          uint32_t n)
{
    struct map docs;
    map_init(&docs, l->r->arena);
    for (uint32_t i = 0; i < n; i++) {
        struct str key = str_mk(&hits[i].doc, sizeof(hits[i].doc));
        struct found *f = map_get(&docs, key);
        bool fresh = f == NULL;
        if (fresh) {
            f = ARENA_NEW(l->r->arena, struct found);
            if (f == NULL || !map_put(&docs, key, f)) {
                return err_no_memory(l->r->em);
            }
            *f = (struct found){
                .score = hits[i].score, .doc = leaf->base + hits[i].doc, .input = hits[i].input};
        }
        enum err e = add_context(l, f, hits[i].context);
        if (e != ERR_OK) {
            return e;
        }
        if (fresh && !queue_add(l, f)) {
            break;
        }
    }
    return ERR_OK;
}

/* Duplicates are found across all segments: the results of each segment are kept. */
static enum err lay_aside(struct lookup *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (!ARENA_ADD(l->r->arena, l->kept, l->n_kept, l->cap, l->queue[i])) {
            return err_no_memory(l->r->em);
        }
    }
    l->n = 0;
    return ERR_OK;
}

static enum err search_leaf(struct lookup *l, const struct leaf *leaf)
{
    const struct seg_field *f = segment_field(leaf->segment, l->field->path);
    struct completion_section section;
    struct completion_ranges ranges = {.arena = l->r->arena};
    struct completion_cursor c;
    if (f == NULL || (f->has & SEG_COMPLETION) == 0) {
        return ERR_OK;
    }
    if (!completion_section_open(&section, seg_completion_bytes(f))) {
        return err_set(l->r->em, ERR_CORRUPT, "a completion section cannot be read");
    }
    completion_cursor_init(&c, &section);
    if (l->field->n_contexts > 0) {
        context_ranges(l, &c, &ranges);
    } else {
        ranges_below(l, &c, STR_NULL, 0, STR_NULL, &ranges);
    }
    bool no_memory = ranges.failed || c.path.failed, corrupt = c.corrupt;
    completion_cursor_fini(&c);
    if (no_memory || corrupt) {
        return no_memory ? err_no_memory(l->r->em)
                         : err_set(l->r->em, ERR_CORRUPT, "a completion section cannot be read");
    }
    sort_items(ranges.v, ranges.n, sizeof(*ranges.v), by_place);
    uint64_t most = MIN_OF((uint64_t)l->take * ranges.n, (uint64_t)TAKEN_MAX);
    struct completion_request rq = {&section,        &ranges,        leaf->live,
                                    leaf->doc_count, (uint32_t)most, l->s->skip_duplicates};
    struct completion_hit *hits;
    uint32_t n;
    enum err e = completion_search(&rq, &hits, &n, l->r->arena, l->r->em);
    e = e == ERR_OK ? take_hits(l, leaf, hits, n) : e;
    return e == ERR_OK && l->s->skip_duplicates ? lay_aside(l) : e;
}

static enum err completion_show(struct lookup *l, struct suggest_entry *entry)
{
    struct map seen;
    map_init(&seen, l->r->arena);
    struct found **all = l->s->skip_duplicates ? l->kept : l->queue;
    size_t n = l->s->skip_duplicates ? l->n_kept : l->n;
    sort_items(all, n, sizeof(*all), best_first);
    uint32_t most = MIN_OF(l->take, (uint32_t)l->s->common.size);
    entry->options = ARENA_ARRAY(l->r->arena, struct suggest_option, MIN_OF(n, (size_t)most));
    if (entry->options == NULL) {
        return err_no_memory(l->r->em);
    }
    for (size_t i = 0; i < n && entry->n < most; i++) {
        const struct found *f = all[i];
        if (l->s->skip_duplicates && map_has(&seen, f->input)) {
            continue;
        }
        if (l->s->skip_duplicates && !map_put(&seen, f->input, l)) {
            return err_no_memory(l->r->em);
        }
        struct suggest_option *o = &entry->options[entry->n++];
        *o = (struct suggest_option){.text = f->input, .score = f->score, .doc = f->doc};
        enum err e =
            completion_named_contexts(l->field, f->contexts, f->n_contexts, l->r->arena, o, l->r->em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err completion_run(const struct suggest_run *r, const struct completion_suggestion *s, struct str text,
                        struct suggest_result *out)
{
    struct lookup l = {.r = r, .s = s};
    int32_t size = s->common.shard_size != INT32_MIN ? s->common.shard_size : MAX_OF(s->common.size, 5);
    enum err e = check_request(r, &s->common, &l.field);
    e = e == ERR_OK ? prepare_contexts(&l) : e;
    if (e == ERR_OK && text.p == NULL) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "The required text option is missing");
    }
    e = e == ERR_OK ? prepare_query(&l, text) : e;
    l.take = (uint32_t)MIN_OF(size, TAKEN_MAX);
    l.queue = e == ERR_OK ? ARENA_ARRAY(r->arena, struct found *, l.take) : NULL;
    if (e == ERR_OK && l.queue == NULL) {
        return err_no_memory(r->em);
    }
    const struct view *v = r->cx->shard->view;
    for (uint32_t i = 0; e == ERR_OK && i < v->n_leaves; i++) {
        e = search_leaf(&l, &v->leaves[i]);
    }
    struct suggest_entry *entry = ARENA_NEW(r->arena, struct suggest_entry);
    if (e == ERR_OK && entry == NULL) {
        return err_no_memory(r->em);
    }
    if (e == ERR_OK) {
        *entry = (struct suggest_entry){.text = text, .length = (uint32_t)utf16_length(text)};
        *out = (struct suggest_result){entry, 1};
        e = completion_show(&l, entry);
    }
    return e;
}
