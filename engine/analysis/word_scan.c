#include "engine/analysis/word_scan.h"

#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/analysis/word_class.h"

#define ZWJ                0x200DU
#define TEXT_PRESENTATION  0xFE0EU
#define EMOJI_PRESENTATION 0xFE0FU
#define ENCLOSING_KEYCAP   0x20E3U
#define TAG_FIRST          0xE0030U
#define TAG_LAST           0xE007AU
#define TAG_END            0xE007FU

/* A character with the Extend, Format and ZWJ characters behind it. */
struct unit {
    uint32_t c;
    uint16_t class;
    size_t next; /* behind all of it */
};

static size_t skip_extend(struct str text, size_t at)
{
    while (at < text.n && !stop_worked(1)) {
        size_t next = at;
        if ((word_class(utf8_next(text, &next)) & WC_EXTEND) == 0) {
            break;
        }
        at = next;
    }
    return at;
}

/* The same, but a presentation selector stays outside. */
static size_t skip_extend_plain(struct str text, size_t at)
{
    while (at < text.n) {
        size_t next = at;
        uint32_t c = utf8_next(text, &next);
        if ((word_class(c) & WC_EXTEND) == 0 || c == TEXT_PRESENTATION || c == EMOJI_PRESENTATION) {
            break;
        }
        at = next;
    }
    return at;
}

static struct unit unit_at(struct str text, size_t at)
{
    struct unit u = {0, 0, at};
    if (at < text.n) {
        u.c = utf8_next(text, &u.next);
        u.class = word_class(u.c);
        u.next = skip_extend(text, u.next);
    }
    return u;
}

static uint32_t char_at(struct str text, size_t at, size_t *next)
{
    *next = at;
    return at < text.n ? utf8_next(text, next) : 0;
}

/* One element of a ZWJ sequence: an emoji, its skin tone, its presentation. Returns its end, or `at`. */
static size_t emoji_element(struct str text, size_t at, bool joined)
{
    size_t next, after;
    uint16_t class = word_class(char_at(text, at, &next));
    bool toned = (class & WC_EMOJI_MOD) != 0;
    if (next == at || (class & WC_EMOJI) == 0 || (toned && joined)) {
        return at;
    }
    size_t end = skip_extend_plain(text, next);
    if ((class & WC_EMOJI_BASE) != 0 && (word_class(char_at(text, end, &after)) & WC_EMOJI_MOD) != 0) {
        end = skip_extend_plain(text, after);
        toned = true;
    }
    return char_at(text, end, &after) == EMOJI_PRESENTATION && !toned ? after : end;
}

static size_t emoji_tags(struct str text, size_t at)
{
    size_t next, end = at;
    uint32_t c;
    while ((c = char_at(text, end, &next)) >= TAG_FIRST && c <= TAG_LAST) {
        end = next;
    }
    return end > at && c == TAG_END ? next : at;
}

/* A keycap: its base (ends at `next`), marks, at most one presentation selector, the cap, marks. */
static size_t scan_keycap(struct str text, size_t at, size_t next)
{
    bool capped = false, presented = false;
    for (size_t after;; next = after) {
        uint32_t c = char_at(text, next, &after);
        if (c == EMOJI_PRESENTATION && !presented && !capped
            && char_at(text, after, &(size_t){0}) == ENCLOSING_KEYCAP) {
            presented = true;
        } else if (after == next || c == EMOJI_PRESENTATION || c == TEXT_PRESENTATION
                   || (word_class(c) & WC_EXTEND) == 0) {
            break;
        }
        capped |= c == ENCLOSING_KEYCAP;
    }
    return capped ? next : at;
}

static size_t scan_emoji(struct str text, size_t at)
{
    size_t next;
    uint32_t c = char_at(text, at, &next);
    uint16_t class = word_class(c);
    if ((class & WC_REGIONAL) != 0) {
        size_t second = skip_extend(text, next);
        struct unit u = unit_at(text, second);
        return (u.class & WC_REGIONAL) != 0 ? u.next : at;
    }
    if ((class & WC_KEYCAP_BASE) != 0) {
        return scan_keycap(text, at, next);
    }
    size_t end = emoji_element(text, c == ZWJ ? next : at, c == ZWJ);
    if (c == ZWJ && end == next) {
        return at;
    }
    if (end == at) {
        return at;
    }
    size_t tagged = emoji_tags(text, end);
    if (tagged > end) {
        return tagged;
    }
    for (;;) {
        /* the joiner is either ahead, or the last of what the element swallowed */
        size_t joint = end;
        bool ahead = char_at(text, end, &next) == ZWJ;
        if (!ahead && utf8_prev(text, &joint) != ZWJ) {
            break;
        }
        size_t from = ahead ? next : end, more = emoji_element(text, from, false);
        if (more == from) {
            break;
        }
        end = more;
    }
    return end;
}

struct word {
    unsigned letters, numbers, katakana, hangul, joiners, mids;
};

static const char *word_type(const struct word *w)
{
    if (w->letters == 0 && w->katakana == 0) {
        return "<NUM>";
    }
    if (w->letters == 0 && w->numbers == 0 && w->joiners == 0) {
        return "<KATAKANA>";
    }
    if (w->hangul == w->letters && w->numbers + w->katakana + w->joiners + w->mids == 0) {
        return "<HANGUL>";
    }
    return "<ALPHANUM>";
}

static bool is_letter(uint16_t class)
{
    unsigned k = class & WC_MASK;
    return k == WC_LETTER || k == WC_HEBREW;
}

/* Whether the mark `mid` joins what stands before it to `next`. */
static bool mid_joins(unsigned before, unsigned mid, uint16_t next)
{
    unsigned n = next & WC_MASK;
    if (mid == WC_MID_LETTER || mid == WC_MID_NUM_LET || mid == WC_SINGLE_QUOTE) {
        if (is_letter((uint16_t)before) && is_letter(next)) {
            return true;
        }
    }
    bool joins_numbers = mid == WC_MID_NUM || mid == WC_MID_NUM_LET || mid == WC_SINGLE_QUOTE;
    return joins_numbers && before == WC_NUMERIC && n == WC_NUMERIC;
}

static void word_scan_count(struct word *w, uint16_t class)
{
    unsigned k = class & WC_MASK;
    w->letters += is_letter(class);
    w->hangul += (class & WC_HANGUL) != 0;
    w->numbers += k == WC_NUMERIC;
    w->katakana += k == WC_KATAKANA;
    w->joiners += k == WC_EXTEND_NUM_LET;
}

/* How the last letter came in: what joined it to the one before bounds what it may be joined to. */
enum joint { JOINT_FREE, JOINT_MID, JOINT_HEBREW };

struct word_scan {
    struct word w;
    unsigned last; /* class of the last character that counts */
    enum joint joint;
    size_t end;
};

/* Takes the unit u when it simply follows. */
static bool take_next(struct word_scan *s, const struct unit *u)
{
    unsigned k = u->class & WC_MASK;
    bool joins = k == WC_EXTEND_NUM_LET
                 || ((is_letter(u->class) || k == WC_NUMERIC) && s->last != WC_KATAKANA)
                 || (k == WC_KATAKANA && (s->last == WC_KATAKANA || s->last == WC_EXTEND_NUM_LET));
    if (joins) {
        word_scan_count(&s->w, u->class);
        s->last = k;
        s->joint = JOINT_FREE;
        s->end = u->next;
    }
    return joins;
}

/* Takes the mark u and what it joins. */
static bool take_mark(struct word_scan *s, struct str text, const struct unit *u)
{
    unsigned k = u->class & WC_MASK;
    struct unit n = unit_at(text, u->next);
    bool has_next = n.next > u->next, hebrew = s->last == WC_HEBREW && s->joint == JOINT_FREE;
    if (s->joint != JOINT_HEBREW && k != WC_DOUBLE_QUOTE && has_next && mid_joins(s->last, k, n.class)) {
        s->joint = JOINT_MID;
    } else if (hebrew && k == WC_DOUBLE_QUOTE && has_next && (n.class & WC_MASK) == WC_HEBREW) {
        s->joint = JOINT_HEBREW;
    } else if (hebrew && k == WC_SINGLE_QUOTE) {
        s->joint = JOINT_HEBREW;
        s->w.mids++;
        s->end = u->next;
        return true;
    } else {
        return false;
    }
    s->w.mids++;
    word_scan_count(&s->w, n.class);
    s->last = n.class & WC_MASK;
    s->end = n.next;
    return true;
}

static size_t scan_word(struct str text, size_t at, const char **type)
{
    struct word_scan s = {.last = WC_EXTEND_NUM_LET, .end = at};
    for (;;) {
        struct unit u = unit_at(text, s.end);
        if (u.next == s.end || (!take_next(&s, &u) && (s.end == at || !take_mark(&s, text, &u)))) {
            break;
        }
    }
    if (s.w.letters + s.w.numbers + s.w.katakana == 0) {
        return at;
    }
    *type = word_type(&s.w);
    return s.end;
}

static size_t scan_southeast(struct str text, size_t at)
{
    struct unit u = unit_at(text, at);
    while (u.next > at && (u.class & WC_SOUTHEAST) != 0) {
        at = u.next;
        u = unit_at(text, at);
    }
    return at;
}

size_t word_scan(struct str text, size_t at, const char **type)
{
    size_t end = scan_word(text, at, type);
    size_t emoji = scan_emoji(text, at);
    if (emoji > at && emoji >= end) {
        *type = "<EMOJI>";
        return emoji;
    }
    if (end > at) {
        return end;
    }
    struct unit u = unit_at(text, at);
    if ((u.class & WC_SOUTHEAST) != 0) {
        *type = "<SOUTHEAST_ASIAN>";
        return scan_southeast(text, at);
    }
    unsigned k = u.class & WC_MASK;
    if (k == WC_HAN || k == WC_HIRAGANA) {
        *type = k == WC_HAN ? "<IDEOGRAPHIC>" : "<HIRAGANA>";
        return u.next;
    }
    return at;
}
