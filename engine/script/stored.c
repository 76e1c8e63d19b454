#include "engine/script/stored.h"

#include <pthread.h>

struct stored_set {
    struct arena arena; /* has all of it */
    struct script_text *v;
    uint32_t n;
};

static struct {
    pthread_mutex_t lock;
    struct stored_set set;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool same_text(const struct script_text *a, const struct script_text *b)
{
    return str_eq(a->id, b->id) && str_eq(a->lang, b->lang) && str_eq(a->source, b->source);
}

static bool is_current(const struct script_text *v, uint32_t n)
{
    uint32_t i = 0;
    pthread_mutex_lock(&all.lock);
    while (all.set.n == n && i < n && same_text(&all.set.v[i], &v[i])) {
        i++;
    }
    bool same = all.set.n == n && i == n;
    pthread_mutex_unlock(&all.lock);
    return same;
}

static bool keep_text(struct script_text *to, const struct script_text *from, struct arena *a)
{
    *to = (struct script_text){arena_str(a, from->source), arena_str(a, from->lang), arena_str(a, from->id)};
    return to->source.p != NULL && to->lang.p != NULL && to->id.p != NULL;
}

bool stored_scripts_set(const struct script_text *v, uint32_t n)
{
    struct stored_set next = {0};
    if (is_current(v, n)) { /* as with nearly every state */
        return true;
    }
    arena_init(&next.arena, NULL, ARENA_UNLIMITED);
    next.v = ARENA_ARRAY(&next.arena, struct script_text, n);
    while (next.v != NULL && next.n < n && keep_text(&next.v[next.n], &v[next.n], &next.arena)) {
        next.n++;
    }
    bool whole = next.v != NULL && next.n == n;
    if (whole) {
        pthread_mutex_lock(&all.lock);
        struct stored_set was = all.set;
        all.set = next;
        next = was;
        pthread_mutex_unlock(&all.lock);
    }
    if (next.arena.chunks != NULL) {
        arena_fini(&next.arena);
    }
    return whole;
}

/* With the lock held; NULL: there is none. */
static const struct script_text *find_text(struct str id)
{
    uint32_t lo = 0, hi = all.set.n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = str_cmp(all.set.v[mid].id, id);
        if (order == 0) {
            return &all.set.v[mid];
        }
        lo = order < 0 ? mid + 1 : lo;
        hi = order < 0 ? hi : mid;
    }
    return NULL;
}

enum err stored_script_get(struct str id, struct arena *arena, struct script_text *out, struct errmsg *em)
{
    pthread_mutex_lock(&all.lock);
    const struct script_text *found = find_text(id);
    bool kept = found != NULL && keep_text(out, found, arena);
    pthread_mutex_unlock(&all.lock);
    if (found == NULL) {
        return err_set(em, ERR_RESOURCE_NOT_FOUND, "unable to find script [%.*s] in cluster state",
                       STR_ARG(id));
    }
    return kept ? ERR_OK : err_no_memory(em);
}

enum err script_compile_form(struct script **out, const struct json *form, enum script_context context,
                             struct errmsg *em)
{
    const struct json *id = json_get(form, "id"), *source = json_get(form, "source"),
                      *lang = json_get(form, "lang");
    struct script_text t = {STR(""), json_is(lang, JSON_STRING) ? lang->s : STR("painless"), STR_NULL};
    struct arena scratch;
    enum err e = ERR_OK;
    *out = NULL;
    id = id != NULL ? id : json_get(form, "stored");
    source = source != NULL ? source : json_get(form, "inline");
    source = json_is(form, JSON_STRING) ? form : source;
    t.source = json_is(source, JSON_STRING) ? source->s : t.source;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    if (id != NULL) {
        e = stored_script_get(json_text(id), &scratch, &t, em);
    } else if (json_is(source, JSON_OBJECT) && !str_is(t.lang, "mustache")) {
        e = script_template(source, em);
    }
    e = e == ERR_OK ? script_compile(out, &t, context, em) : e;
    arena_fini(&scratch);
    return e;
}
