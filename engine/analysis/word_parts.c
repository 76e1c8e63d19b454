#include "engine/analysis/word_parts.h"

#include "common/base/sort_items.h"
#include "common/base/utf8.h"

#include <unicode/uchar.h>

static uint8_t type_of(const struct word_parts_options *o, uint32_t c)
{
    size_t lo = 0, hi = o->n_rules;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (o->rules[mid].c == c) {
            return o->rules[mid].type;
        }
        lo = o->rules[mid].c < c ? mid + 1 : lo;
        hi = o->rules[mid].c < c ? hi : mid;
    }
    if (c < 256) {
        return u_isULowercase((UChar32)c)   ? PART_LOWER
               : u_isUUppercase((UChar32)c) ? PART_UPPER
               : u_isdigit((UChar32)c)      ? PART_DIGIT
                                            : PART_DELIMITER;
    }
    if (c >= 0x10000) { /* never cut a surrogate pair */
        return PART_ALNUM;
    }
    uint32_t kind = part_is_young(c) ? U_GC_CN_MASK : U_MASK(u_charType((UChar32)c));
    if ((kind & U_GC_LU_MASK) != 0) {
        return PART_UPPER;
    }
    if ((kind & U_GC_LL_MASK) != 0) {
        return PART_LOWER;
    }
    if ((kind & (U_GC_LT_MASK | U_GC_LM_MASK | U_GC_LO_MASK | U_GC_M_MASK)) != 0) {
        return PART_ALPHA;
    }
    return (kind & U_GC_N_MASK) != 0 ? PART_DIGIT : PART_DELIMITER;
}

static bool is_break(const struct word_parts_options *o, uint8_t last, uint8_t type)
{
    bool alpha_before = (last & PART_ALPHA) != 0, alpha = (type & PART_ALPHA) != 0;
    if ((type & last) != 0 || (!o->case_change && alpha_before && alpha)
        || ((last & PART_UPPER) != 0 && alpha)) {
        return false;
    }
    bool mixes = (alpha_before && (type & PART_DIGIT) != 0) || ((last & PART_DIGIT) != 0 && alpha);
    return o->numerics || !mixes;
}

/* Do the two characters before `end` read 's, behind a letter and before a delimiter? */
static bool is_possessive(const struct word_parts *w, size_t end)
{
    return w->o->possessive && end > 2 && end <= w->n && w->letters[end - 2] == '\''
           && w->letters[end - 1] == 's' && (w->types[end - 3] & PART_ALPHA) != 0
           && (end == w->last || (w->types[end] & PART_DELIMITER) != 0);
}

void word_parts_next(struct word_parts *w)
{
    w->from = w->to;
    if (w->skip_possessive) {
        w->from += 2;
        w->skip_possessive = false;
    }
    while (w->from < w->last && (w->types[w->from] & PART_DELIMITER) != 0) {
        w->from++;
    }
    if (w->done || w->from >= w->last) {
        w->done = true;
        return;
    }
    for (w->to = w->from + 1; w->to < w->last; w->to++) {
        if (is_break(w->o, w->types[w->to - 1], w->types[w->to])) {
            break;
        }
    }
    w->skip_possessive = w->to + 1 < w->last && is_possessive(w, w->to + 2);
}

bool word_parts_open(struct word_parts *w, const struct word_parts_options *o, struct str text,
                     struct arena *arena)
{
    *w = (struct word_parts){.o = o};
    w->types = arena_alloc(arena, text.n + 1);
    w->letters = arena_alloc(arena, text.n + 1);
    w->at = ARENA_ARRAY(arena, uint32_t, text.n + 1);
    if (w->types == NULL || w->letters == NULL || w->at == NULL) {
        return false;
    }
    for (size_t at = 0; at < text.n; w->n++) {
        w->at[w->n] = (uint32_t)at;
        uint32_t c = utf8_next(text, &at);
        w->types[w->n] = type_of(o, c);
        w->letters[w->n] = c == 'S' ? 's' : c < 0x80 ? (uint8_t)c : 0;
    }
    w->at[w->n] = (uint32_t)text.n;
    w->last = w->n;
    while (w->first < w->n && (w->types[w->first] & PART_DELIMITER) != 0) {
        w->first++;
    }
    while (w->last > w->first && (w->types[w->last - 1] & PART_DELIMITER) != 0) {
        w->last--;
    }
    w->final_possessive = is_possessive(w, w->last);
    w->to = w->first;
    word_parts_next(w);
    return true;
}

bool word_parts_place(struct word_parts *w, struct str source, struct str text, struct arena *arena,
                      bool *exact)
{
    *exact = utf16_length(source) == utf16_length(text);
    w->place = w->at;
    if (source.n == text.n && *exact) {
        return true;
    }
    w->place = ARENA_ARRAY(arena, uint32_t, w->n + 1);
    size_t in_text = 0, in_source = 0, units = 0, seen = 0; /* units up to in_text, and up to in_source */
    for (size_t i = 0; w->place != NULL && i <= w->n; i++) {
        while (seen < units && in_source < source.n) {
            seen += utf8_next(source, &in_source) >= 0x10000 ? 2 : 1;
        }
        w->place[i] = (uint32_t)(seen < units ? source.n + 1 : in_source);
        if (i < w->n) {
            units += utf8_next(text, &in_text) >= 0x10000 ? 2 : 1;
        }
    }
    return w->place != NULL;
}

uint8_t word_parts_type(const struct word_parts *w)
{
    uint8_t type = w->types[w->from];
    return type == PART_LOWER || type == PART_UPPER ? PART_ALPHA : type;
}

bool word_parts_is_single(const struct word_parts *w)
{
    return w->from == w->first && w->to == w->last - (w->final_possessive ? 2 : 0);
}

bool word_parts_joins(const struct word_parts_options *o, uint8_t type)
{
    return (o->join_words && (type & PART_ALPHA) != 0) || (o->join_numbers && (type & PART_DIGIT) != 0);
}

bool word_parts_generates(const struct word_parts_options *o, uint8_t type)
{
    return (o->word_parts && (type & PART_ALPHA) != 0) || (o->number_parts && (type & PART_DIGIT) != 0);
}

/* "$ => DIGIT", "\\u200D => ALPHANUM" */
static enum err read_rule(struct part_rule *rule, struct str text, struct errmsg *em)
{
    static const struct {
        const char *name;
        uint8_t type;
    } types[] = {{"LOWER", PART_LOWER}, {"UPPER", PART_UPPER},    {"ALPHA", PART_ALPHA},
                 {"DIGIT", PART_DIGIT}, {"ALPHANUM", PART_ALNUM}, {"SUBWORD_DELIM", PART_DELIMITER}};
    size_t arrow = SIZE_MAX, at = 0;
    for (size_t i = 0; i + 1 < text.n; i++) {
        arrow = text.p[i] == '=' && text.p[i + 1] == '>' ? i : arrow;
    }
    if (arrow == SIZE_MAX) {
        return err_set(em, ERR_RUNTIME, "Invalid Mapping Rule : [%.*s]", STR_ARG(text));
    }
    struct str key = str_trim(str_slice(text, 0, arrow)), name = str_trim(str_slice(text, arrow + 2, text.n));
    rule->type = 0;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        rule->type = str_is(name, types[i].name) ? types[i].type : rule->type;
    }
    if (key.n == 6 && key.p[0] == '\\' && key.p[1] == 'u') {
        rule->c = 0;
        for (at = 2; at < key.n; at++) {
            rule->c = rule->c << 4 | (uint32_t)MAX_OF(u_digit((unsigned char)key.p[at], 16), 0);
        }
    } else if (key.n == 2 && key.p[0] == '\\') {
        rule->c = (unsigned char)key.p[at++ + 1];
        at++;
    } else if (key.n > 0) {
        rule->c = utf8_next(key, &at);
    }
    if (key.n == 0 || at != key.n) {
        return err_set(em, ERR_RUNTIME, "Invalid Mapping Rule : [%.*s]. Only a single character is allowed.",
                       STR_ARG(text));
    }
    return rule->type != 0
               ? ERR_OK
               : err_set(em, ERR_RUNTIME, "Invalid Mapping Rule : [%.*s]. Illegal type.", STR_ARG(text));
}

static int by_character(const void *a, const void *b)
{
    const struct part_rule *x = a, *y = b;
    return x->c != y->c ? (x->c < y->c ? -1 : 1) : x->line < y->line ? -1 : x->line > y->line;
}

/* By character, each once: the last rule about it holds. */
static void order_rules(struct word_parts_options *o)
{
    size_t kept = 0;
    sort_items(o->rules, o->n_rules, sizeof(*o->rules), by_character);
    for (size_t i = 0; i < o->n_rules; i++) {
        if (kept > 0 && o->rules[kept - 1].c == o->rules[i].c) {
            kept--;
        }
        o->rules[kept++] = o->rules[i];
    }
    o->n_rules = kept;
}

static enum err read_rules(struct word_parts_options *o, const struct settings *s,
                           const struct analysis_env *env, struct arena *arena, struct errmsg *em)
{
    struct str *lines = NULL, path = settings_str(s, "type_table_path", STR_NULL);
    uint32_t n_list = 0;
    size_t n = 0;
    if (path.p == NULL && !settings_list(s, "type_table", arena, &lines, &n_list)) {
        return err_no_memory(em);
    }
    enum err e = path.p != NULL ? config_lines("type_table_path", path, env, arena, &lines, &n, em) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    n += n_list;
    o->rules = ARENA_ARRAY(arena, struct part_rule, n);
    if (o->rules == NULL) {
        return err_no_memory(em);
    }
    for (; o->n_rules < n; o->n_rules++) {
        e = read_rule(&o->rules[o->n_rules], lines[o->n_rules], em);
        if (e != ERR_OK) {
            return path.p != NULL ? config_line_error(e, "type_table_path", em) : e;
        }
        o->rules[o->n_rules].line = o->n_rules;
    }
    order_rules(o);
    return ERR_OK;
}

enum err word_parts_options_read(struct word_parts_options *o, const struct settings *s,
                                 const struct analysis_env *env, struct arena *arena, struct errmsg *em)
{
    const struct {
        const char *key;
        bool otherwise;
        bool *to;
    } flags[] = {
        {"generate_word_parts", true, &o->word_parts}, {"generate_number_parts", true, &o->number_parts},
        {"catenate_words", false, &o->join_words},     {"catenate_numbers", false, &o->join_numbers},
        {"catenate_all", false, &o->join_all},         {"split_on_case_change", true, &o->case_change},
        {"split_on_numerics", true, &o->numerics},     {"stem_english_possessive", true, &o->possessive},
        {"preserve_original", false, &o->preserve},    {"ignore_keywords", false, &o->ignore_keywords},
        {"adjust_offsets", true, &o->adjust_offsets},
    };
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        enum err e = settings_bool(s, flags[i].key, flags[i].otherwise, flags[i].to, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    bool found;
    enum err e = word_set_read(&o->protected_words, &found, s, "protected_words", false, env, arena, em);
    return e == ERR_OK ? read_rules(o, s, env, arena, em) : e;
}
