#include "engine/analysis/word_scan.h"

#include "common/base/utf8.h"
#include "engine/analysis/word_class.h"

#define ZWJ                 0x200DU
#define TEXT_PRESENTATION   0xFE0EU
#define EMOJI_PRESENTATION  0xFE0FU
#define ENCLOSING_KEYCAP    0x20E3U
#define TAG_FIRST           0xE0030U
#define TAG_LAST            0xE007AU
#define TAG_END             0xE007FU

/* A character with the Extend, Format and ZWJ characters behind it. */
struct unit {
    uint32_t c;
    uint16_t class;
    size_t next; /* behind all of it */
};

static size_t skip_extend(struct str text, size_t at)
{
    while (at < text.n) {
        size_t next = at;
        if ((word_class(utf8_next(text, &next)) & WC_EXTEND) == 0) {
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

/* emoji, modifier, presentation: one element of a ZWJ sequence. Returns its end, or `at`. */
static size_t emoji_element(struct str text, size_t at)
{
    size_t next, after;
    uint32_t c = char_at(text, at, &next);
    if (next == at || (word_class(c) & WC_EMOJI) == 0) {
        return at;
    }
    uint32_t d = char_at(text, next, &after);
    if (d == TEXT_PRESENTATION) {
        return at;
    }
    if (d == EMOJI_PRESENTATION || (word_class(d) & WC_EMOJI_MOD) != 0) {
        next = after;
    }
    return next;
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

static size_t scan_emoji(struct str text, size_t at)
{
    size_t next, after;
    uint32_t c = char_at(text, at, &next);
    uint16_t class = word_class(c);
    if ((class & WC_REGIONAL) != 0) {
        size_t second = skip_extend(text, next);
        struct unit u = unit_at(text, second);
        return (u.class & WC_REGIONAL) != 0 ? u.next : at;
    }
    if ((class & WC_KEYCAP_BASE) != 0) {
        uint32_t d = char_at(text, next, &after);
        if (d == EMOJI_PRESENTATION) {
            d = char_at(text, after, &after);
        }
        return d == ENCLOSING_KEYCAP ? skip_extend(text, after) : at;
    }
    size_t end = emoji_element(text, at);
    if (end == at) {
        return at;
    }
    size_t tagged = emoji_tags(text, end);
    if (tagged > end) {
        return tagged;
    }
    for (;;) {
        uint32_t z = char_at(text, end, &next);
        size_t more = z == ZWJ ? emoji_element(text, next) : next;
        if (z != ZWJ || more == next) {
            break;
        }
        end = more;
    }
    return skip_extend(text, end);
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
    if (mid == WC_MID_NUM || mid == WC_MID_NUM_LET || mid == WC_SINGLE_QUOTE) {
        return before == WC_NUMERIC && n == WC_NUMERIC;
    }
    return mid == WC_DOUBLE_QUOTE && before == WC_HEBREW && n == WC_HEBREW;
}

static void count(struct word *w, uint16_t class)
{
    unsigned k = class & WC_MASK;
    w->letters += is_letter(class);
    w->hangul += (class & WC_HANGUL) != 0;
    w->numbers += k == WC_NUMERIC;
    w->katakana += k == WC_KATAKANA;
    w->joiners += k == WC_EXTEND_NUM_LET;
}

static size_t scan_word(struct str text, size_t at, const char **type)
{
    struct word w = {0};
    unsigned last = WC_EXTEND_NUM_LET;
    size_t end = at;
    for (;;) {
        struct unit u = unit_at(text, end);
        if (u.next == end) {
            break;
        }
        unsigned k = u.class & WC_MASK;
        bool joins = (k == WC_EXTEND_NUM_LET)
                     || ((is_letter(u.class) || k == WC_NUMERIC) && last != WC_KATAKANA)
                     || (k == WC_KATAKANA && (last == WC_KATAKANA || last == WC_EXTEND_NUM_LET));
        if (joins) {
            count(&w, u.class);
            last = k;
            end = u.next;
            continue;
        }
        struct unit n = unit_at(text, u.next);
        if (end > at && n.next > u.next && mid_joins(last, k, n.class)) {
            w.mids++;
            end = u.next;
            continue;
        }
        if (k == WC_SINGLE_QUOTE && last == WC_HEBREW) {
            w.mids++;
            end = u.next;
            last = WC_OTHER;
            /* Only '_' may still follow a closing quote. */
            n = unit_at(text, end);
            if ((n.class & WC_MASK) == WC_EXTEND_NUM_LET) {
                continue;
            }
        }
        break;
    }
    if (w.letters + w.numbers + w.katakana == 0) {
        return at;
    }
    *type = word_type(&w);
    return end;
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
