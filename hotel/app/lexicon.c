#include "hotel/app/lexicon.h"

#include "common/base/jsonw.h"
#include "common/base/utf8.h"
#include "hotel/app/answer.h"
#include "hotel/names.h"

#include <stdlib.h>

#define VALUES_MAX   2000 /* of a field */
#define CITIES_MAX   50   /* of a district */
#define NEAR_MAX     40   /* characters of what is compared */
#define TEXT_MIN     2    /* characters that an ending leaves */
#define INITIALS_MIN 2
#define SLIPS_MAX    2 /* changes that are a slip of the pen, in long texts */
#define PINYIN_MAX \
    3000 /* forms whose pinyin is asked for: an analysis has at most 10,000 tokens, of which each has three */

/* ---- the values ---- */

void lexicon_ask_values(struct buf *out)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_ki64(&w, "size", 0);
    jw_kobj(&w, "aggs");
    for (enum value_kind k = 0; k < VALUE_KINDS_N; k++) {
        jw_kobj(&w, value_kind_name(k));
        jw_kobj(&w, "terms");
        jw_kz(&w, "field", value_kind_field(k));
        jw_ki64(&w, "size", VALUES_MAX);
        jw_obj_end(&w);
        if (k == VALUE_DISTRICT) {
            jw_kobj(&w, "aggs");
            jw_kobj(&w, "city");
            jw_kobj(&w, "terms");
            jw_kz(&w, "field", F_CITY);
            jw_ki64(&w, "size", CITIES_MAX);
            jw_obj_end(&w);
            jw_obj_end(&w);
            jw_obj_end(&w);
        }
        jw_obj_end(&w);
    }
    jw_obj_end(&w);
    jw_obj_end(&w);
}

static bool add_form(struct lexicon *l, const struct words *words, enum form_kind kind, uint32_t value,
                     struct str text)
{
    struct folded f;
    if (!words_form(words, text, &l->arena, &f)) {
        return false;
    }
    if (f.n == 0) {
        return true;
    }
    struct lex_form *forms = arena_grow(&l->arena, l->forms, l->forms_n, &l->forms_cap, sizeof(*forms));
    if (forms == NULL) {
        return false;
    }
    l->forms = forms;
    forms[l->forms_n++] = (struct lex_form){.kind = kind, .text = f, .written = text, .value = value};
    return true;
}

static struct lex_value *value_of(struct lexicon *l, enum value_kind kind, struct str text)
{
    for (size_t i = 0; i < l->values_n; i++) {
        if (l->values[i].kind == kind && str_eq(l->values[i].text, text)) {
            return &l->values[i];
        }
    }
    return NULL;
}

static struct lex_value *add_value(struct lexicon *l, enum value_kind kind, struct str text)
{
    struct lex_value *v = value_of(l, kind, text);
    if (v != NULL) {
        return v;
    }
    v = arena_grow(&l->arena, l->values, l->values_n, &l->values_cap, sizeof(*v));
    if (v == NULL) {
        return NULL;
    }
    l->values = v;
    v = &v[l->values_n];
    *v = (struct lex_value){.kind = kind, .text = arena_str(&l->arena, text)};
    if (v->text.p == NULL) {
        return NULL;
    }
    l->values_n++;
    return v;
}

static bool add_term(struct lexicon *l, struct lex_value *v, struct str term, int64_t hotels)
{
    struct str *terms = arena_grow(&l->arena, v->terms, v->terms_n, &v->terms_cap, sizeof(*terms));
    if (terms == NULL) {
        return false;
    }
    v->terms = terms;
    terms[v->terms_n] = arena_str(&l->arena, term);
    v->hotels += hotels;
    return terms[v->terms_n++].p != NULL;
}

static bool add_cities(struct lexicon *l, struct lex_value *v, const struct json *buckets)
{
    for (uint32_t i = 0; json_is(buckets, JSON_ARRAY) && i < buckets->n; i++) {
        struct str name = json_text(json_get(&buckets->items[i], "key"));
        int64_t hotels = 0;
        size_t at = 0;
        (void)json_i64(json_get(&buckets->items[i], "doc_count"), &hotels);
        while (at < v->cities_n && !str_eq(v->cities[at].name, name)) {
            at++;
        }
        if (at == v->cities_n) {
            struct lex_city *c = arena_grow(&l->arena, v->cities, v->cities_n, &v->cities_cap, sizeof(*c));
            if (c == NULL) {
                return false;
            }
            v->cities = c;
            c[v->cities_n++] = (struct lex_city){.name = arena_str(&l->arena, name)};
            if (c[at].name.p == NULL) {
                return false;
            }
        }
        v->cities[at].hotels += hotels;
    }
    return true;
}

/* What the field has between '/' or the enumeration comma, one at a time. */
static struct str next_part(struct str *rest)
{
    static const char *const separators[] = {"/", "、"};
    size_t end = SIZE_MAX, skip = 0;
    for (size_t i = 0; i < ARRAY_LEN(separators); i++) {
        size_t at = str_find_str(*rest, str_of(separators[i]));
        if (at < end) {
            end = at;
            skip = strlen(separators[i]);
        }
    }
    struct str part = end == SIZE_MAX ? *rest : str_slice(*rest, 0, end);
    *rest = end == SIZE_MAX ? STR_NULL : str_slice(*rest, end + skip, rest->n);
    return str_trim(part);
}

static bool add_bucket(struct lexicon *l, enum value_kind kind, const struct json *bucket)
{
    struct str term = json_text(json_get(bucket, "key")), rest = term;
    int64_t hotels = 0;
    (void)json_i64(json_get(bucket, "doc_count"), &hotels);
    while (rest.p != NULL) {
        struct str part = kind == VALUE_DISTRICT ? next_part(&rest) : term;
        struct lex_value *v = part.n > 0 ? add_value(l, kind, part) : NULL;
        if (part.n > 0
            && (v == NULL || !add_term(l, v, term, hotels)
                || !add_cities(l, v, json_path(bucket, "city.buckets")))) {
            return false;
        }
        if (kind != VALUE_DISTRICT) {
            break;
        }
    }
    return true;
}

/* ---- their forms ---- */

static bool add_endings(struct lexicon *l, const struct words *words, uint32_t value)
{
    const struct lex_value *v = &l->values[value];
    struct folded text;
    if (!words_form(words, v->text, &l->arena, &text)) {
        return false;
    }
    const struct word_list *endings = &words->endings[v->kind];
    for (size_t i = 0; i < endings->n; i++) {
        const struct folded *e = &endings->v[i];
        bool ends = text.n >= e->n + TEXT_MIN && folded_at(&text, text.n - e->n, e) == e->n;
        struct folded longer = {.c = ARENA_ARRAY(&l->arena, uint32_t, text.n + e->n), .n = text.n + e->n};
        struct lex_form *forms = arena_grow(&l->arena, l->forms, l->forms_n, &l->forms_cap, sizeof(*forms));
        if (longer.c == NULL || forms == NULL) {
            return false;
        }
        l->forms = forms;
        if (ends) {
            if (!add_form(l, words, FORM_TEXT, value, str_slice(v->text, 0, text.at[text.n - e->n]))) {
                return false;
            }
        } else {
            memcpy(longer.c, text.c, text.n * sizeof(*text.c));
            memcpy(longer.c + text.n, e->c, e->n * sizeof(*e->c));
            forms[l->forms_n++] = (struct lex_form){.kind = FORM_SAME, .text = longer, .value = value};
        }
    }
    return true;
}

/* The value that a statement's values stand for: the first that there is; of any kind, in a district's parts with or without
 * its ending. */
static bool same_value(const struct lexicon *l, const struct words *words, const struct same *s,
                       struct arena *arena, uint32_t *out, bool *found)
{
    *found = false;
    for (size_t i = 0; i < s->values_n; i++) {
        struct folded want;
        if (!words_form(words, s->values[i], arena, &want)) {
            return false;
        }
        for (size_t k = 0; k < l->forms_n; k++) {
            const struct lex_form *f = &l->forms[k];
            if (f->kind == FORM_TEXT && f->text.n == want.n && folded_at(&want, 0, &f->text) == want.n) {
                *out = f->value;
                *found = true;
                return true;
            }
        }
    }
    return true;
}

static bool add_same_forms(struct lexicon *l, const struct words *words)
{
    for (size_t i = 0; i < words->same_n; i++) {
        const struct same *s = &words->same[i];
        uint32_t value;
        bool found;
        if (!same_value(l, words, s, &l->arena, &value, &found)) {
            return false;
        }
        for (size_t k = 0; found && k < s->said_n; k++) {
            if (!add_form(l, words, FORM_SAME, value, s->said[k])) {
                return false;
            }
        }
    }
    return true;
}

static bool add_forms(struct lexicon *l, const struct words *words)
{
    for (size_t i = 0; i < l->values_n; i++) {
        if (!add_form(l, words, FORM_TEXT, (uint32_t)i, l->values[i].text)
            || !add_endings(l, words, (uint32_t)i)) {
            return false;
        }
    }
    return add_same_forms(l, words);
}

static enum err add_buckets(struct lexicon *l, struct str reply, struct errmsg *em)
{
    struct arena scratch;
    struct json root;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    enum err e = answer_open(reply, &root, &scratch, em);
    for (enum value_kind k = 0; k < VALUE_KINDS_N && e == ERR_OK; k++) {
        const struct json *agg = json_get(json_get(&root, "aggregations"), value_kind_name(k));
        const struct json *buckets = json_get(agg, "buckets");
        if (!json_is(buckets, JSON_ARRAY)) {
            e = err_set(em, ERR_PARSE, "the search service's answer has no %s", value_kind_name(k));
        }
        for (uint32_t i = 0; e == ERR_OK && i < buckets->n; i++) {
            e = add_bucket(l, k, &buckets->items[i]) ? ERR_OK : err_no_memory(em);
        }
    }
    arena_fini(&scratch);
    return e;
}

enum err lexicon_new(struct lexicon **out, const struct words *words, struct str reply, struct errmsg *em)
{
    struct lexicon *l = calloc(1, sizeof(*l));
    *out = NULL;
    if (l == NULL) {
        return err_no_memory(em);
    }
    l->refs = 1;
    arena_init(&l->arena, NULL, ARENA_UNLIMITED);
    enum err e = add_buckets(l, reply, em);
    if (e == ERR_OK && !add_forms(l, words)) {
        e = err_no_memory(em);
    }
    if (e != ERR_OK) {
        lexicon_unref(l);
        return e;
    }
    *out = l;
    return ERR_OK;
}

struct lexicon *lexicon_ref(struct lexicon *l)
{
    l->refs++;
    return l;
}

void lexicon_unref(struct lexicon *l)
{
    if (l != NULL && --l->refs == 0) {
        arena_fini(&l->arena);
        free(l);
    }
}

/* ---- pinyin ---- */

void pinyin_ask(struct buf *out, const struct str *texts, size_t n)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_kz(&w, "analyzer", A_COMPLETION);
    jw_karr(&w, "text");
    for (size_t i = 0; i < n; i++) {
        jw_str(&w, texts[i]);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
}

static bool all_ascii_letters(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < 'a' || s.p[i] > 'z') {
            return false;
        }
    }
    return s.n > 0;
}

/* The whole text is one token with its pinyin at the same place; texts follow each other with one character between. */
enum err pinyin_reply(struct str reply, const struct str *texts, size_t n, struct arena *arena,
                      struct str *pinyin, struct str *initials, struct errmsg *em)
{
    struct json root;
    enum err e = json_parse(&root, reply, arena, &json_limits_default, em);
    const struct json *tokens = e == ERR_OK ? json_get(&root, "tokens") : NULL;
    if (!json_is(tokens, JSON_ARRAY)) {
        return e == ERR_NO_MEMORY ? e : err_set(em, ERR_PARSE, "the search service's answer is no analysis");
    }
    size_t at = 0, begin = 0;
    memset(pinyin, 0, n * sizeof(*pinyin));
    memset(initials, 0, n * sizeof(*initials));
    for (uint32_t i = 0; i < tokens->n; i++) {
        const struct json *t = &tokens->items[i];
        struct str text = json_text(json_get(t, "token"));
        int64_t start;
        if (!json_i64(json_get(t, "start_offset"), &start)) {
            continue;
        }
        while (at < n && (size_t)start > begin + utf16_length(texts[at])) {
            begin += utf16_length(texts[at++]) + 1;
        }
        if (at == n || !all_ascii_letters(text)) {
            continue;
        }
        if (text.n == utf8_length(texts[at])) {
            initials[at] = text;
        } else if (text.n > pinyin[at].n) {
            pinyin[at] = text;
        }
    }
    return ERR_OK;
}

/* The forms whose pinyin is wanted: those without a Latin character. texts NULL: counts them. */
static size_t chinese_forms(const struct lexicon *l, struct str *texts, uint32_t *forms)
{
    size_t n = 0;
    for (size_t i = 0; i < l->forms_n && n < PINYIN_MAX; i++) {
        const struct lex_form *f = &l->forms[i];
        if (f->kind <= FORM_SAME && f->written.n > 0 && folded_no_latin(&f->text)) {
            if (texts != NULL) {
                texts[n] = f->written;
                forms[n] = (uint32_t)i;
            }
            n++;
        }
    }
    return n;
}

bool lexicon_ask_pinyin(const struct lexicon *l, struct buf *out)
{
    struct arena scratch;
    size_t n = chinese_forms(l, NULL, NULL);
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct str *texts = ARENA_ARRAY(&scratch, struct str, n);
    uint32_t *forms = ARENA_ARRAY(&scratch, uint32_t, n);
    if (texts == NULL || forms == NULL) {
        out->failed = true;
    } else if (n > 0) {
        chinese_forms(l, texts, forms);
        pinyin_ask(out, texts, n);
    }
    arena_fini(&scratch);
    return n > 0;
}

enum err lexicon_add_pinyin(struct lexicon *l, const struct words *words, struct str reply,
                            struct arena *arena, struct errmsg *em)
{
    size_t n = chinese_forms(l, NULL, NULL);
    struct str *texts = ARENA_ARRAY(arena, struct str, n), *pinyin = ARENA_ARRAY(arena, struct str, n),
               *initials = ARENA_ARRAY(arena, struct str, n);
    uint32_t *forms = ARENA_ARRAY(arena, uint32_t, n);
    if (texts == NULL || pinyin == NULL || initials == NULL || forms == NULL) {
        return err_no_memory(em);
    }
    chinese_forms(l, texts, forms);
    enum err e = pinyin_reply(reply, texts, n, arena, pinyin, initials, em);
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        uint32_t value = l->forms[forms[i]].value;
        bool same = l->forms[forms[i]].kind == FORM_SAME;
        if ((pinyin[i].n > 0 && !add_form(l, words, same ? FORM_SAME_PINYIN : FORM_PINYIN, value, pinyin[i]))
            || (initials[i].n >= INITIALS_MIN && !add_form(l, words, FORM_INITIALS, value, initials[i]))) {
            e = err_no_memory(em);
        }
    }
    return e;
}

/* ---- questions ---- */

bool lexicon_in_city(const struct lex_value *v, struct str city)
{
    if (v->kind != VALUE_DISTRICT) {
        return true;
    }
    for (size_t i = 0; i < v->cities_n; i++) {
        if (str_eq(v->cities[i].name, city)) {
            return true;
        }
    }
    return false;
}

/* Characters to insert, leave out, change or exchange with their neighbour; NEAR_MAX where a text is longer. */
static unsigned distance(const struct folded *a, const struct folded *b)
{
    unsigned rows[3][NEAR_MAX + 1];
    if (a->n > NEAR_MAX || b->n > NEAR_MAX) {
        return NEAR_MAX;
    }
    for (size_t j = 0; j <= b->n; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a->n; i++) {
        unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b->n; j++) {
            unsigned change = before[j - 1] + (a->c[i - 1] != b->c[j - 1]);
            unsigned least = MIN_OF(change, MIN_OF(before[j], now[j - 1]) + 1);
            bool exchanged = i > 1 && j > 1 && a->c[i - 1] == b->c[j - 2] && a->c[i - 2] == b->c[j - 1];
            now[j] = exchanged ? MIN_OF(least, older[j - 2] + 1) : least;
        }
    }
    return rows[a->n % 3][b->n];
}

/* How many changes are a slip of the pen: more in longer texts, none in short ones. */
static unsigned slips(const struct folded *f)
{
    bool latin = folded_all_latin(f);
    return latin ? (f->n < 4 ? 0 : f->n < 8 ? 1 : 2) : f->n < 3 ? 0 : 1;
}

const struct lex_form *lexicon_nearest(const struct lexicon *l, const struct folded *text,
                                       const struct folded *pinyin)
{
    const struct lex_form *best = NULL;
    unsigned least = UINT32_MAX;
    for (size_t i = 0; i < l->forms_n; i++) {
        const struct lex_form *f = &l->forms[i];
        const struct folded *of = folded_all_latin(&f->text) && pinyin->n > 0 ? pinyin : text;
        if (f->kind == FORM_INITIALS) {
            continue;
        }
        if (of->n > f->text.n + SLIPS_MAX || f->text.n > of->n + SLIPS_MAX) {
            continue;
        }
        unsigned d = distance(of, &f->text);
        int64_t hotels = l->values[f->value].hotels;
        if (d <= MIN_OF(slips(&f->text), slips(of))
            && (d < least || (d == least && hotels > l->values[best->value].hotels))) {
            least = d;
            best = f;
        }
    }
    return best;
}
