#include "common/base/utf8.h"
#include "engine/analysis/ik_int.h"

bool ik_window_init(struct ik_window *w, struct str text, bool lowercase, struct arena *arena)
{
    *w = (struct ik_window){.text = text, .lowercase = lowercase};
    w->size = text.n < IK_WINDOW ? (uint32_t)text.n + 1 : IK_WINDOW; /* a text has no more units than bytes */
    w->units = arena_alloc(arena, w->size * sizeof(*w->units));
    w->types = arena_alloc(arena, w->size);
    w->changed = arena_alloc(arena, w->size * sizeof(*w->changed));
    w->at = arena_alloc(arena, (w->size + 1) * sizeof(*w->at));
    return w->units != NULL && w->types != NULL && w->changed != NULL && w->at != NULL;
}

/* Reads until the window is full or the text ends; returns the units now in the window. */
static uint32_t read_units(struct ik_window *w, uint32_t n)
{
    if (w->low != 0 && n < w->size) {
        w->at[n] = (uint32_t)w->read;
        w->changed[n] = false;
        w->units[n++] = w->low;
        w->low = 0;
    }
    while (n < w->size && w->read < w->text.n) {
        w->at[n] = (uint32_t)w->read;
        w->changed[n] = false;
        uint32_t c = utf8_next(w->text, &w->read);
        if (c < 0x10000) {
            w->units[n++] = (uint16_t)c;
            continue;
        }
        w->units[n++] = (uint16_t)(0xD800 + ((c - 0x10000) >> 10));
        uint16_t low = (uint16_t)(0xDC00 + ((c - 0x10000) & 0x3FF));
        if (n == w->size) {
            w->low = low;
            break;
        }
        w->at[n] = (uint32_t)w->read;
        w->changed[n] = false;
        w->units[n++] = low;
    }
    w->at[n] = (uint32_t)w->read;
    return n;
}

bool ik_window_fill(struct ik_window *w)
{
    bool ended = w->read == w->text.n && w->low == 0;
    if (!w->moved) {
        if (ended) {
            return false;
        }
        w->available = read_units(w, 0);
    } else {
        /* The unit under the cursor comes once more. When the text has ended, the plugin counts the reader's
         * -1 in, and so loses the last unit of those kept; usually that unit is the cursor's own. */
        uint32_t kept = w->available - w->cursor;
        memmove(w->units, w->units + w->cursor, kept * sizeof(*w->units));
        memmove(w->changed, w->changed + w->cursor, kept * sizeof(*w->changed));
        memmove(w->at, w->at + w->cursor, (kept + 1) * sizeof(*w->at));
        w->available = ended ? kept - 1 : read_units(w, kept);
    }
    w->cursor = 0;
    return w->available > 0;
}

static uint16_t regularise(uint16_t c, bool lowercase)
{
    if (c == 0x3000) {
        return ' ';
    }
    if (c > 0xFF00 && c < 0xFF5F) {
        return (uint16_t)(c - 0xFEE0);
    }
    return lowercase && c >= 'A' && c <= 'Z' ? (uint16_t)(c + 32) : c;
}

static enum ik_char type_of(uint16_t c)
{
    if (c < 0x80) {
        return c >= '0' && c <= '9'                               ? IK_ARABIC
               : (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? IK_ENGLISH
                                                                  : IK_USELESS;
    }
    /* CJK Unified Ideographs, Extension A, Compatibility Ideographs */
    if ((c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0xF900 && c <= 0xFAFF)) {
        return IK_CHINESE;
    }
    /* Hiragana and Katakana; Hangul: Compatibility Jamo, Syllables, Jamo; Katakana Phonetic Extensions; Half-
     * and Fullwidth Forms */
    if ((c >= 0x3040 && c <= 0x30FF) || (c >= 0x3130 && c <= 0x318F) || (c >= 0xAC00 && c <= 0xD7AF)
        || (c >= 0x1100 && c <= 0x11FF) || (c >= 0x31F0 && c <= 0x31FF) || (c >= 0xFF00 && c <= 0xFFEF)) {
        return IK_OTHER_CJK;
    }
    return IK_USELESS;
}

void ik_window_look(struct ik_window *w)
{
    uint16_t c = regularise(w->units[w->cursor], w->lowercase);
    if (c != w->units[w->cursor]) {
        w->units[w->cursor] = c;
        w->changed[w->cursor] = true;
    }
    w->types[w->cursor] = (uint8_t)type_of(c);
}

bool ik_window_next(struct ik_window *w)
{
    if (w->cursor + 1 >= w->available) {
        return false;
    }
    w->cursor++;
    ik_window_look(w);
    return true;
}
