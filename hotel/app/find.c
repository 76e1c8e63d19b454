#include "hotel/app/find.h"

#include "common/base/json.h"
#include "common/base/uri.h"
#include "hotel/app/find_answer.h"
#include "hotel/app/params.h"
#include "hotel/names.h"
#include "hotel/respond.h"

#define LEXICON_KEEP_MS  5000 /* how long new values of the index may stay unknown */
#define LITTLE           3    /* fewer hotels: a word may have been meant otherwise */
#define CHOSEN_MAX       100  /* values of a kind that a guest may choose */
#define HOTELS_COMPLETED 3
#define NAMES_READ       12 /* for so many different ones */

/* One request, in its arena. */
struct find {
    struct routes *routes;
    struct http_request *req;
    struct lexicon *lexicon; /* a reference that goes with the request */
    /* What is done with the search service's next answer. */
    enum err (*next)(struct find *f, struct str reply, struct errmsg *em);
    struct hotel_params params;
    struct find_query query;
    struct understanding key;
    struct str text; /* of the key */
    struct str corrected;
    struct str little;                 /* the answer of the first search, when it has few hits but some */
    struct str search;                 /* the last one */
    const struct understood **unknown; /* words that few hotels have */
    size_t unknown_n;
    enum find_match match;
    bool completes, explain;
};

static void find_reply(void *arg, const struct http_reply *reply);

static void find_fail(struct find *f, enum err e, const struct errmsg *em)
{
    if (e == ERR_NO_MEMORY) {
        respond_error(f->req, 429, "overloaded", NULL, err_reason(em));
    } else {
        service_search_failed(f->routes, f->req, em, "");
    }
}

/* ---- the search service ---- */

/* Asks for <index>/<action>; the body is emptied. */
static enum err ask(struct find *f, const char *action, struct str preference, struct buf *body,
                    enum err (*next)(struct find *f, struct str reply, struct errmsg *em), struct errmsg *em)
{
    enum err e = body->failed ? err_no_memory(em) : ERR_OK;
    f->next = next;
    if (e == ERR_OK) {
        e = search_call(f->routes->search[f->req->loop_index], action, preference, buf_view(body),
                        f->req->arena, find_reply, f, em);
    }
    buf_fini(body);
    return e;
}

static void find_reply(void *arg, const struct http_reply *reply)
{
    struct find *f = arg;
    ERR_LOCAL(em);
    if (!service_reply_ok(f->routes, f->req, reply)) {
        return;
    }
    enum err e = f->next(f, reply->body, &em);
    if (e != ERR_OK) {
        find_fail(f, e, &em);
    }
}

/* ---- searching ---- */

static enum err find_hits(struct find *f, struct str reply, struct errmsg *em);

/* What is marked in the hotels: names as the index has them, and words. */
static struct str marked_text(struct find *f)
{
    struct str text = STR_NULL;
    for (size_t i = 0; f->params.highlight && i < f->key.n; i++) {
        const struct understood *u = &f->key.v[i];
        struct str more = u->value != NULL ? u->value->text : u->folded;
        text = arena_printf(f->req->arena, "%.*s %.*s", STR_ARG(text), STR_ARG(more));
    }
    return text;
}

static enum err find_search(struct find *f, struct errmsg *em)
{
    struct buf body;
    f->query.params = &f->params;
    f->query.key = &f->key;
    f->query.some = f->match == FIND_SOME;
    f->query.facets = !f->completes;
    f->query.highlight = marked_text(f);
    buf_init(&body, NULL, BUF_UNLIMITED);
    find_rules_search(&body, &f->query);
    f->search = body.failed ? STR_NULL : arena_str(f->req->arena, buf_view(&body));
    return ask(f, "_search", service_visitor(f->req), &body, find_hits, em);
}

static enum err find_respond(struct find *f, struct str reply, struct errmsg *em)
{
    struct buf out;
    struct found found = {.query = &f->query,
                          .reply = reply,
                          .corrected = f->corrected,
                          .search = f->explain ? f->search : STR_NULL,
                          .match = f->match};
    buf_init(&out, NULL, BUF_UNLIMITED);
    enum err e = find_answer(&out, &found, f->req->arena, em);
    e = e == ERR_OK && out.failed ? err_no_memory(em) : e;
    if (e == ERR_OK) {
        respond_json(f->req, 200, NULL, &out);
    }
    buf_fini(&out);
    return e;
}

static enum err complete_respond(struct find *f, struct str reply, struct errmsg *em)
{
    struct completion v[COMPLETIONS_MAX];
    struct buf out;
    size_t n = complete(v, COMPLETIONS_MAX - HOTELS_COMPLETED, f->text, &f->key, f->routes->words, f->lexicon,
                        f->req->arena);
    if (n == SIZE_MAX) {
        return err_no_memory(em);
    }
    buf_init(&out, NULL, BUF_UNLIMITED);
    enum err e = find_answer_completions(&out, v, n, HOTELS_COMPLETED, reply, f->req->arena, em);
    e = e == ERR_OK && out.failed ? err_no_memory(em) : e;
    if (e == ERR_OK) {
        respond_json(f->req, 200, NULL, &out);
    }
    buf_fini(&out);
    return e;
}

/* ---- what may have been meant ---- */

/* Is it in one of the cities that the key names, or does that name none? */
static bool value_fits(const struct understanding *key, const struct lex_value *v)
{
    bool said = false;
    for (size_t i = 0; i < key->n; i++) {
        const struct lex_value *city = key->v[i].value;
        if (city != NULL && city->kind == VALUE_CITY) {
            if (lexicon_in_city(v, city->text)) {
                return true;
            }
            said = true;
        }
    }
    return !said;
}

/* The key with the nearest names in place of unknown words; n == 0: there is none that is near. */
static enum err correct(struct find *f, const struct str *pinyin, struct str *out, struct errmsg *em)
{
    struct arena *arena = f->req->arena;
    const char *from = f->text.p;
    struct str text = STR_NULL;
    *out = STR_NULL;
    for (size_t i = 0; i < f->unknown_n; i++) {
        const struct understood *u = f->unknown[i];
        struct folded folded, spoken;
        if (!words_form(f->routes->words, u->folded, arena, &folded)
            || !words_form(f->routes->words, pinyin[i], arena, &spoken)) {
            return err_no_memory(em);
        }
        const struct lex_form *near = lexicon_nearest(f->lexicon, &folded, &spoken);
        const struct lex_value *v = near != NULL ? &f->lexicon->values[near->value] : NULL;
        if (v == NULL || !value_fits(&f->key, v)) {
            continue;
        }
        bool english = near->kind == FORM_SAME && folded_all_latin(&near->text) && folded_all_latin(&folded);
        text = arena_printf(arena, "%.*s%.*s%.*s", STR_ARG(text), (int)(u->text.p - from), from,
                            STR_ARG(english ? near->written : v->text));
        from = u->text.p + u->text.n;
        if (text.p == NULL) {
            return err_no_memory(em);
        }
    }
    if (text.n > 0) {
        *out = arena_printf(arena, "%.*s%.*s", STR_ARG(text), (int)(f->text.p + f->text.n - from), from);
    }
    return text.n > 0 && out->p == NULL ? err_no_memory(em) : ERR_OK;
}

/* Nothing is found with all words: with those that were meant, then with some. */
static enum err find_again(struct find *f, struct errmsg *em)
{
    f->match = f->match == FIND_ALL && f->corrected.n > 0 ? FIND_CORRECTED : FIND_SOME;
    if (f->match == FIND_CORRECTED) {
        enum err e = understand(&f->key, f->corrected, f->routes->words, f->lexicon, f->req->arena, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return find_search(f, em);
}

/* Of the unknown words, folded; NULL: no memory. */
static struct str *unknown_texts(struct find *f)
{
    struct str *texts = ARENA_ARRAY(f->req->arena, struct str, f->unknown_n);
    for (size_t i = 0; texts != NULL && i < f->unknown_n; i++) {
        texts[i] = f->unknown[i]->folded;
    }
    return texts;
}

/* What was found, or where that is nothing, another search. */
static enum err find_or_again(struct find *f, struct errmsg *em)
{
    return f->little.n > 0 ? find_respond(f, f->little, em) : find_again(f, em);
}

static enum err find_pinyin(struct find *f, struct str reply, struct errmsg *em)
{
    struct str *texts = unknown_texts(f);
    struct str *pinyin = ARENA_ARRAY(f->req->arena, struct str, f->unknown_n);
    struct str *initials = ARENA_ARRAY(f->req->arena, struct str, f->unknown_n);
    if (texts == NULL || pinyin == NULL || initials == NULL) {
        return err_no_memory(em);
    }
    enum err e = pinyin_reply(reply, texts, f->unknown_n, f->req->arena, pinyin, initials, em);
    e = e != ERR_OK ? e : correct(f, pinyin, &f->corrected, em);
    return e != ERR_OK ? e : find_or_again(f, em);
}

/* Words that few hotels have are unknown: their pinyin is asked for. */
static enum err find_words(struct find *f, struct str reply, struct errmsg *em)
{
    size_t n = understanding_words(&f->key);
    int64_t *hotels = ARENA_ARRAY(f->req->arena, int64_t, n);
    f->unknown = ARENA_ARRAY(f->req->arena, const struct understood *, n);
    if (hotels == NULL || f->unknown == NULL) {
        return err_no_memory(em);
    }
    enum err e = find_answer_words(reply, f->req->arena, hotels, n, em);
    for (size_t i = 0, word = 0; e == ERR_OK && i < f->key.n; i++) {
        if (f->key.v[i].value == NULL && hotels[word++] < LITTLE) {
            f->unknown[f->unknown_n++] = &f->key.v[i];
        }
    }
    if (e != ERR_OK || f->unknown_n == 0) {
        return e != ERR_OK ? e : find_or_again(f, em);
    }
    struct buf body;
    struct str *texts = unknown_texts(f);
    if (texts == NULL) {
        return err_no_memory(em);
    }
    buf_init(&body, NULL, BUF_UNLIMITED);
    pinyin_ask(&body, texts, f->unknown_n);
    return ask(f, "_analyze", STR_NULL, &body, find_pinyin, em);
}

static enum err find_meaning(struct find *f, struct errmsg *em)
{
    struct buf body;
    buf_init(&body, NULL, BUF_UNLIMITED);
    find_rules_words(&body, &f->key);
    return ask(f, "_search", service_visitor(f->req), &body, find_words, em);
}

static enum err find_hits(struct find *f, struct str reply, struct errmsg *em)
{
    int64_t total = 0;
    if (f->completes) {
        return complete_respond(f, reply, em);
    }
    enum err e = find_answer_total(reply, f->req->arena, &total, em);
    if (e != ERR_OK) {
        return e;
    }
    if (f->match == FIND_ALL && total < LITTLE && understanding_words(&f->key) > 0) {
        f->little = total > 0 ? arena_str(f->req->arena, reply) : STR_NULL;
        return total > 0 && f->little.p == NULL ? err_no_memory(em) : find_meaning(f, em);
    }
    if (total == 0 && f->match != FIND_SOME && f->key.n > 0) {
        return find_again(f, em);
    }
    return find_respond(f, reply, em);
}

/* ---- the lexicon ---- */

static void release_lexicon(void *l)
{
    lexicon_unref(l);
}

/* With the lexicon, whose reference becomes the request's. */
static enum err find_begin(struct find *f, struct lexicon *l, struct errmsg *em)
{
    f->lexicon = l;
    if (!arena_defer(f->req->arena, release_lexicon, l)) {
        return err_no_memory(em);
    }
    enum err e = understand(&f->key, f->text, f->routes->words, l, f->req->arena, em);
    return e != ERR_OK ? e : find_search(f, em);
}

/* The new one is the next requests', too. */
static enum err lexicon_made(struct find *f, struct errmsg *em)
{
    struct lexicon **kept = &f->routes->lexicons[f->req->loop_index];
    f->lexicon->made_ms = clock_mono_ms(f->routes->clock);
    lexicon_unref(*kept);
    *kept = lexicon_ref(f->lexicon);
    enum err e = understand(&f->key, f->text, f->routes->words, f->lexicon, f->req->arena, em);
    return e != ERR_OK ? e : find_search(f, em);
}

static enum err lexicon_pinyin(struct find *f, struct str reply, struct errmsg *em)
{
    enum err e = lexicon_add_pinyin(f->lexicon, f->routes->words, reply, f->req->arena, em);
    return e != ERR_OK ? e : lexicon_made(f, em);
}

static enum err lexicon_values(struct find *f, struct str reply, struct errmsg *em)
{
    struct buf body;
    enum err e = lexicon_new(&f->lexicon, f->routes->words, reply, em);
    if (e != ERR_OK) {
        return e;
    }
    if (!arena_defer(f->req->arena, release_lexicon, f->lexicon)) {
        return err_no_memory(em);
    }
    buf_init(&body, NULL, BUF_UNLIMITED);
    if (!lexicon_ask_pinyin(f->lexicon, &body)) {
        return lexicon_made(f, em);
    }
    return ask(f, "_analyze", STR_NULL, &body, lexicon_pinyin, em);
}

static void find_start(struct find *f)
{
    struct routes *r = f->routes;
    struct lexicon *l = r->lexicons[f->req->loop_index];
    ERR_LOCAL(em);
    enum err e;
    if (l != NULL && clock_mono_ms(r->clock) - l->made_ms < LEXICON_KEEP_MS) {
        e = find_begin(f, lexicon_ref(l), &em);
    } else {
        struct buf body;
        buf_init(&body, NULL, BUF_UNLIMITED);
        lexicon_ask_values(&body);
        e = ask(f, "_search", service_visitor(f->req), &body, lexicon_values, &em);
    }
    if (e != ERR_OK) {
        find_fail(f, e, &em);
    }
}

/* ---- requests ---- */

/* A list of texts, or one. */
static enum err read_chosen(struct find *f, const struct json *body, const char *name, struct choice *out,
                            struct errmsg *em)
{
    const struct json *v = json_get(body, name);
    if (v == NULL || v->type == JSON_NULL) {
        return ERR_OK;
    }
    if (v->type != JSON_ARRAY || v->n > CHOSEN_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s must be a list of at most %d texts", name, CHOSEN_MAX);
    }
    struct str *texts = ARENA_ARRAY(f->req->arena, struct str, v->n + 1);
    if (texts == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        texts[i] = json_text(&v->items[i]);
        if (texts[i].p == NULL) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s must be a list of texts", name);
        }
        enum err e = params_text_ok(texts[i], name, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = (struct choice){.v = texts, .n = v->n};
    return ERR_OK;
}

static enum err read_request(struct find *f, const char **field, struct errmsg *em)
{
    static const char *const lists[VALUE_KINDS_N] = {[VALUE_CITY] = "cities",
                                                     [VALUE_DISTRICT] = "districts",
                                                     [VALUE_BRAND] = "brands",
                                                     [VALUE_STAR] = "stars"};
    struct json body;
    enum err e = service_read_params(f->req, &f->params, field, em);
    e = e != ERR_OK ? e : json_parse(&body, f->req->body, f->req->arena, &json_limits_default, em);
    for (enum value_kind k = 0; k < VALUE_KINDS_N && e == ERR_OK; k++) {
        e = read_chosen(f, &body, lists[k], &f->query.chosen[k], em);
        *field = e == ERR_OK ? NULL : lists[k];
    }
    if (e == ERR_OK) {
        f->text = str_trim(f->params.key);
        f->explain = str_is(json_text(json_get(&body, "explain")), "true");
    }
    return e;
}

static enum err read_key(struct find *f, const char **field, struct errmsg *em)
{
    enum err e = service_read_key(f->req, &f->text, field, em);
    f->text = str_trim(f->text);
    f->completes = true;
    f->params = (struct hotel_params){.page = 1, .size = NAMES_READ};
    return e;
}

static void find_run(struct routes *r, struct http_request *req,
                     enum err (*read)(struct find *f, const char **field, struct errmsg *em))
{
    struct find *f = ARENA_NEW(req->arena, struct find);
    ERR_LOCAL(em);
    const char *field = NULL;
    if (f == NULL) {
        err_no_memory(&em);
        respond_error(req, 429, "overloaded", NULL, err_reason(&em));
        return;
    }
    f->routes = r;
    f->req = req;
    enum err e = read(f, &field, &em);
    if (e == ERR_NO_MEMORY) {
        respond_error(req, 429, "overloaded", NULL, err_reason(&em));
    } else if (e != ERR_OK) {
        respond_error(req, 400, "bad_request", field, err_reason(&em));
    } else {
        find_start(f);
    }
}

void find_handle(struct routes *r, struct http_request *req)
{
    find_run(r, req, read_request);
}

void find_complete(struct routes *r, struct http_request *req)
{
    find_run(r, req, read_key);
}
