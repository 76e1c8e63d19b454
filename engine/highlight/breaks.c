/* Sentence and word boundaries as the Java runtime's BreakIterator sets them.
 *
 * Its rules are older than Unicode's: a full stop ends a sentence only when white space and a letter that is
 * not lower case follow, or opening punctuation before any letter; "!", "?" and their wide forms always do;
 * runs of Han are one word. */
#include "common/base/arena_list.h"
#include "common/base/stop.h"
#include "engine/highlight/highlight_int.h"

#include <unicode/uchar.h>
#include <unicode/utf16.h>

struct scan {
    const uint16_t *u;
    uint32_t n;
    bool ended; /* it was looked behind the text's end: with more of it, what was found may be another */
};

static bool inside(struct scan *s, uint32_t at)
{
    if (LIKELY(at < s->n)) {
        return true;
    }
    s->ended = true;
    return false;
}

static UChar32 char_at(struct scan *s, uint32_t at, uint32_t *next)
{
    uint32_t c = s->u[at];
    *next = at + 1;
    if (U16_IS_LEAD(c) && inside(s, at + 1) && U16_IS_TRAIL(s->u[at + 1])) {
        c = ((c - 0xD800) << 10) + (s->u[at + 1] - 0xDC00U) + 0x10000;
        *next = at + 2;
    }
    return (UChar32)c;
}

static uint32_t mask_of(UChar32 c)
{
    return U_GET_GC_MASK(c);
}

static bool is_ignored(UChar32 c)
{
    return (mask_of(c) & (U_GC_MN_MASK | U_GC_ME_MASK | U_GC_CF_MASK)) != 0;
}

/* ---- sentences
 * ----------------------------------------------------------------------------------------------------- */

enum sentence_class {
    SC_OTHER,
    SC_LOWER,
    SC_LETTER,
    SC_SPACE,
    SC_DIGIT,
    SC_TERM,
    SC_PERIOD,
    SC_COMMA,
    SC_DANDA,
    SC_PARAGRAPH,
    SC_OPEN,
    SC_CLOSE,
    SC_QUOTE
};

static enum sentence_class sentence_class_of(UChar32 c)
{
    switch (c) {
    case '!':
    case '?':
    case 0x3002:
    case 0xFF01:
    case 0xFF1F:
        return SC_TERM;
    case '.':
    case 0xFF0E:
        return SC_PERIOD;
    case ',':
        return SC_COMMA;
    case '"':
    case '\'':
        return SC_QUOTE;
    case '\t':
    case '\r':
    case '\f':
    case '\n':
    case 0x2028:
        return SC_SPACE;
    case 0x2029:
        return SC_PARAGRAPH;
    case 0x0964:
    case 0x0965:
        return SC_DANDA;
    default:
        break;
    }
    uint32_t m = mask_of(c);
    if ((m & U_GC_LL_MASK) != 0) {
        return SC_LOWER;
    }
    if ((m & U_GC_L_MASK) != 0) {
        return SC_LETTER;
    }
    if ((m & U_GC_ZS_MASK) != 0) {
        return SC_SPACE;
    }
    if ((m & U_GC_N_MASK) != 0) {
        return SC_DIGIT;
    }
    if ((m & (U_GC_PS_MASK | U_GC_PI_MASK)) != 0) {
        return SC_OPEN;
    }
    return (m & (U_GC_PE_MASK | U_GC_PF_MASK)) != 0 ? SC_CLOSE : SC_OTHER;
}

/* Moves over characters whose class is in `classes` (bits), ignored ones among them; `last` becomes the last
 * class. */
static uint32_t skip_classes(struct scan *s, uint32_t at, uint32_t classes, enum sentence_class *last)
{
    while (inside(s, at)) {
        uint32_t next;
        UChar32 c = char_at(s, at, &next);
        if (!is_ignored(c)) {
            enum sentence_class k = sentence_class_of(c);
            if ((classes & (1U << k)) == 0) {
                break;
            }
            if (last != NULL) {
                *last = k;
            }
        }
        at = next;
    }
    return at;
}

static enum sentence_class class_at(struct scan *s, uint32_t at)
{
    uint32_t next;
    return inside(s, at) ? sentence_class_of(char_at(s, at, &next)) : SC_COMMA;
}

/* Behind a full stop at `at`: the sentence's end, or 0. `closed_at` becomes the end of what closes it, which holds for each full stop in
 * that. */
static uint32_t end_of_period(struct scan *s, uint32_t at, uint32_t *closed_at)
{
    enum sentence_class last = SC_PERIOD;
    uint32_t closed = *closed_at =
        skip_classes(s, at, 1U << SC_PERIOD | 1U << SC_CLOSE | 1U << SC_QUOTE, &last);
    uint32_t spaced = skip_classes(s, closed, 1U << SC_SPACE, NULL);
    if (spaced > closed && class_at(s, spaced) == SC_LETTER) {
        return spaced;
    }
    uint32_t opened =
        skip_classes(s, spaced, 1U << SC_OPEN | 1U << SC_QUOTE | 1U << SC_OTHER | 1U << SC_DANDA, NULL);
    enum sentence_class k = class_at(s, opened);
    /* A quotation mark straight behind the stop may close the one sentence or open the other. */
    bool opens = opened > spaced || (spaced == closed && last == SC_QUOTE);
    return opens && (k == SC_LETTER || k == SC_LOWER) ? spaced : 0;
}

/* One step of the search for a sentence's end, which needs to know no more than where it is: the end that is found at `*at`; 0: there is
 * none, and `*at` is where to go on. */
static uint32_t step_sentence(struct scan *s, uint32_t *at)
{
    uint32_t next, end = 0;
    UChar32 c = char_at(s, *at, &next);
    switch (is_ignored(c) ? SC_OTHER : sentence_class_of(c)) {
    case SC_PARAGRAPH:
        return next;
    case SC_DANDA:
        return skip_classes(s, next, 1U << SC_SPACE, NULL);
    case SC_PERIOD:
        end = end_of_period(s, next, &next);
        break;
    case SC_TERM:
        end = skip_classes(s, next, 1U << SC_TERM | 1U << SC_PERIOD | 1U << SC_CLOSE | 1U << SC_QUOTE, NULL);
        end = skip_classes(s, end, 1U << SC_SPACE, NULL);
        return class_at(s, end) == SC_PARAGRAPH ? end + 1 : end;
    case SC_OTHER:
    case SC_LETTER:
    case SC_LOWER:
    case SC_SPACE:
    case SC_DIGIT:
    case SC_COMMA:
    case SC_OPEN:
    case SC_CLOSE:
    case SC_QUOTE:
        break;
    }
    *at = next;
    return end;
}

static uint32_t next_sentence(struct scan *s, uint32_t at)
{
    while (at < s->n) {
        uint32_t end = step_sentence(s, &at);
        if (end > 0) {
            return end;
        }
    }
    return s->n;
}

/* ---- words
 * -------------------------------------------------------------------------------------------------------------
 */

enum word_kind { WC_OTHER, WC_LETTER, WC_DIGIT, WC_SPACE, WC_HAN, WC_KATAKANA, WC_HIRAGANA, WC_KANA_MARK };

static enum word_kind word_kind_of(UChar32 c)
{
    if (c == 0x3005 || (c >= 0x4E00 && c <= 0x9FA5) || (c >= 0xF900 && c <= 0xFA2D)) {
        return WC_HAN;
    }
    if ((c >= 0x30A1 && c <= 0x30FA) || c == 0x30FD || c == 0x30FE) {
        return WC_KATAKANA;
    }
    if ((c >= 0x3041 && c <= 0x3094) || c == 0x309D || c == 0x309E) {
        return WC_HIRAGANA;
    }
    if ((c >= 0x3099 && c <= 0x309C) || c == 0x30FB || c == 0x30FC) {
        return WC_KANA_MARK;
    }
    uint32_t m = mask_of(c);
    if ((m & (U_GC_L_MASK | U_GC_MC_MASK)) != 0) {
        return WC_LETTER;
    }
    if ((m & U_GC_N_MASK) != 0) {
        return WC_DIGIT;
    }
    return (m & U_GC_ZS_MASK) != 0 || c == '\t' ? WC_SPACE : WC_OTHER;
}

static bool is_mark(UChar32 c)
{
    return (mask_of(c) & (U_GC_MN_MASK | U_GC_ME_MASK)) != 0;
}

static bool is_mid_word(UChar32 c)
{
    return c == '"' || c == '\'' || c == '.' || c == 0x00AD || c == 0x2027
           || (mask_of(c) & (U_GC_PD_MASK | U_GC_PC_MASK)) != 0;
}

static bool is_mid_number(UChar32 c)
{
    return c == '"' || c == '\'' || c == '.' || c == ',' || c == 0x066B;
}

static bool is_number_prefix(UChar32 c)
{
    return c == '#' || c == '.' || ((mask_of(c) & U_GC_SC_MASK) != 0 && c != 0x00A2);
}

static bool is_number_suffix(UChar32 c)
{
    return c == '%' || c == '&' || c == 0x00A2 || c == 0x066A || c == 0x2030 || c == 0x2031;
}

/* Over one character, and the format characters behind it. */
static uint32_t break_behind(struct scan *s, uint32_t at)
{
    uint32_t next;
    (void)char_at(s, at, &next);
    while (inside(s, next)) {
        uint32_t more;
        UChar32 c = char_at(s, next, &more);
        if ((mask_of(c) & U_GC_CF_MASK) == 0 || c == 0x00AD) {
            break;
        }
        next = more;
    }
    return next;
}

static UChar32 peek(struct scan *s, uint32_t at)
{
    uint32_t next;
    return inside(s, at) ? char_at(s, at, &next) : -1;
}

/* A run of one kind, marks on its characters included. */
static uint32_t run_of(struct scan *s, uint32_t at, enum word_kind kind, bool marks)
{
    uint32_t from = at;
    while (inside(s, at)) {
        UChar32 c = peek(s, at);
        bool on = word_kind_of(c) == kind || (marks && at > from && is_mark(c));
        if (!on && (kind == WC_KATAKANA || kind == WC_HIRAGANA)) {
            on = word_kind_of(c) == WC_KANA_MARK;
        }
        if (!on) {
            break;
        }
        at = break_behind(s, at);
    }
    return at;
}

/* Runs joined by single connecting characters. */
static uint32_t joined(struct scan *s, uint32_t at, enum word_kind kind, bool (*joins)(UChar32))
{
    uint32_t end = run_of(s, at, kind, true);
    while (end > at && inside(s, end) && joins(peek(s, end))) {
        uint32_t inner = break_behind(s, end);
        uint32_t more = run_of(s, inner, kind, true);
        if (more == inner) {
            break;
        }
        end = more;
    }
    return end;
}

/* Words and numbers in turn, a suffix behind a last number. */
static uint32_t words_and_numbers(struct scan *s, uint32_t at)
{
    for (;;) {
        uint32_t word = joined(s, at, WC_LETTER, is_mid_word);
        UChar32 c = peek(s, word);
        if (word > at && (c == 0x0964 || c == 0x0965)) {
            word = break_behind(s, word);
        }
        uint32_t number = joined(s, word, WC_DIGIT, is_mid_number);
        if (number == word) {
            return word;
        }
        if (word_kind_of(peek(s, number)) != WC_LETTER || number >= s->n) {
            return number < s->n && is_number_suffix(peek(s, number)) ? break_behind(s, number) : number;
        }
        at = number;
    }
}

static uint32_t spaces(struct scan *s, uint32_t at)
{
    at = run_of(s, at, WC_SPACE, true);
    at = peek(s, at) == '\r' ? break_behind(s, at) : at;
    UChar32 c = peek(s, at);
    return c == '\n' || c == '\f' || c == 0x2028 || c == 0x2029 ? break_behind(s, at) : at;
}

static uint32_t next_word(struct scan *s, uint32_t at)
{
    uint32_t end = break_behind(s, at);
    UChar32 c = peek(s, at);
    switch (word_kind_of(c)) {
    case WC_HAN:
        end = run_of(s, at, WC_HAN, false);
        break;
    case WC_KATAKANA:
    case WC_HIRAGANA:
        end = run_of(s, at, word_kind_of(c), false);
        break;
    case WC_KANA_MARK:
        end = MAX_OF(run_of(s, at, WC_KATAKANA, false), run_of(s, at, WC_HIRAGANA, false));
        break;
    case WC_LETTER:
    case WC_DIGIT:
        return MAX_OF(words_and_numbers(s, at), end);
    case WC_OTHER:
    case WC_SPACE:
        end = MAX_OF(end, spaces(s, at));
        if (is_number_prefix(c)) {
            uint32_t inner = break_behind(s, at);
            if (word_kind_of(peek(s, inner)) == WC_DIGIT && inner < s->n) {
                return words_and_numbers(s, inner);
            }
        }
        break;
    }
    while (inside(s, end) && is_mark(peek(s, end))) {
        end = break_behind(s, end);
    }
    return end;
}

/* ---- boundaries
 * -------------------------------------------------------------------------------------------------------- */

static bool all_breaks(struct hl_breaks *b, struct scan s, uint32_t (*next)(struct scan *, uint32_t),
                       struct arena *arena)
{
    size_t cap = 0;
    *b = (struct hl_breaks){.u = s.u, .n = s.n};
    uint32_t at = 0;
    for (;;) {
        if (!ARENA_ADD(arena, b->v, b->n_v, cap, at)) {
            return false;
        }
        if (at >= s.n) {
            return true;
        }
        uint32_t end = next(&s, at);
        if (stop_worked(end - at)) {
            return false;
        }
        at = end;
    }
}

bool hl_breaks_sentences(struct hl_breaks *b, const uint16_t *u, uint32_t n, struct arena *arena)
{
    return all_breaks(b, (struct scan){.u = u, .n = n}, next_sentence, arena);
}

bool hl_breaks_words(struct hl_breaks *b, const uint16_t *u, uint32_t n, struct arena *arena)
{
    return all_breaks(b, (struct scan){.u = u, .n = n}, next_word, arena);
}

/* How many boundaries are less than `at`. */
static size_t less_than(const struct hl_breaks *b, int64_t at)
{
    size_t lo = 0, hi = b->n_v;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if ((int64_t)b->v[mid] < at) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

int64_t hl_break_before(const struct hl_breaks *b, int64_t at)
{
    size_t i = less_than(b, at);
    return i > 0 ? (int64_t)b->v[i - 1] : -1;
}

int64_t hl_break_after(const struct hl_breaks *b, int64_t at)
{
    size_t i = less_than(b, at + 1);
    return i < b->n_v ? (int64_t)b->v[i] : -1;
}

/* ---- going backwards ---------------------------------------------------------------------------------------------------- */

static UChar32 char_before(struct scan *s, uint32_t at, uint32_t *start)
{
    *start = at - 1;
    if (U16_IS_TRAIL(s->u[at - 1]) && at >= 2 && U16_IS_LEAD(s->u[at - 2])) {
        *start = at - 2;
    }
    uint32_t next;
    return char_at(s, *start, &next);
}

/* Back over characters of these classes and ignored ones. */
static uint32_t skip_back(struct scan *s, uint32_t at, uint32_t classes)
{
    while (at > 0) {
        uint32_t start;
        UChar32 c = char_before(s, at, &start);
        if (!is_ignored(c) && (classes & (1U << sentence_class_of(c))) == 0) {
            break;
        }
        at = start;
    }
    return at;
}

/* The full stop nearest before `to` that a symbol follows, which begins at or behind `from`, with opening punctuation, blanks and
 * closing punctuation in between at most; 0: there is none. */
static uint32_t safe_place(const uint16_t *u, uint32_t n, uint32_t from, uint32_t to)
{
    struct scan s = {.u = u, .n = n};
    uint32_t at = to;
    while (at > from && !stop_worked(1)) {
        uint32_t start;
        UChar32 c = char_before(&s, at, &start);
        if (!is_ignored(c) && sentence_class_of(c) == SC_OTHER) {
            uint32_t i = skip_back(&s, start, 1U << SC_OPEN | 1U << SC_QUOTE);
            i = skip_back(&s, i, 1U << SC_SPACE);
            i = skip_back(&s, i, 1U << SC_CLOSE | 1U << SC_QUOTE);
            uint32_t stop = i;
            if (i > 0 && sentence_class_of(char_before(&s, i, &stop)) == SC_PERIOD) {
                return stop;
            }
        }
        at = start;
    }
    return 0;
}

int64_t hl_sentence_before(const struct hl_breaks *b, int64_t *known, int64_t at)
{
    if (at <= 0) {
        return -1;
    }
    bool from_known = *known >= 0 && *known < at;
    uint32_t to = (uint32_t)MIN_OF(at, (int64_t)b->n);
    *known = MAX_OF(from_known ? *known : (int64_t)safe_place(b->u, b->n, 0, to), hl_break_before(b, at));
    return *known;
}

int64_t hl_sentence_after(const struct hl_breaks *b, int64_t *known, int64_t at)
{
    *known = hl_break_after(b, at);
    return *known;
}

/* ---- beginnings of a text ----------------------------------------------------------------------------------------------- */

/* Boundaries that are found without a look behind the end stay when there is more text, and so does what is known of the sentence
 * behind the last of them: the next search goes on from there. */
static uint32_t cut_boundary(struct hl_cuts *c, uint32_t at)
{
    struct scan s = {.u = c->u, .n = at};
    uint32_t boundary = c->boundary, next = c->next;
    while (next < at) {
        uint32_t from = next, end = c->words ? next_word(&s, next) : step_sentence(&s, &next);
        if (end >= at) {
            break;
        }
        boundary = end > 0 ? end : boundary;
        next = MAX_OF(end, next);
        if (!s.ended) {
            c->boundary = boundary;
            c->next = next;
        }
        if (stop_worked(next - from)) {
            break;
        }
    }
    return boundary;
}

uint32_t hl_cut_before(struct hl_cuts *c, uint32_t at)
{
    uint32_t boundary = cut_boundary(c, at);
    if (c->words) {
        return boundary;
    }
    uint32_t safe = MAX_OF(safe_place(c->u, at, c->seen, at), c->safe);
    if (at > 0 && !U16_IS_LEAD(c->u[at - 1])) { /* else half a character is none later */
        c->seen = at;
        c->safe = safe;
    }
    return MAX_OF(safe, boundary);
}

uint32_t hl_first_break(const uint16_t *u, uint32_t n, bool words)
{
    struct scan s = {.u = u, .n = n};
    uint32_t end = n == 0 ? 0 : words ? next_word(&s, 0) : next_sentence(&s, 0);
    stop_worked(end);
    return end;
}
