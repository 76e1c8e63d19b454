#include "engine/analysis/word_class.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

/* clang-format off */
#define L WC_LETTER
#define N WC_NUMERIC
#define X WC_EXTEND_NUM_LET
const uint8_t word_class_ascii[128] = {
    ['0'] = N, N, N, N, N, N, N, N, N, N,
    ['A'] = L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    ['a'] = L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    ['_'] = X,
    [':'] = WC_MID_LETTER,
    ['.'] = WC_MID_NUM_LET,
    [','] = WC_MID_NUM,
    [';'] = WC_MID_NUM,
    ['\''] = WC_SINGLE_QUOTE,
    ['"'] = WC_DOUBLE_QUOTE,
};
#undef L
#undef N
#undef X
/* clang-format on */

/* Characters that came after Unicode 9.0 were unassigned to the grammar. */
static bool is_young(uint32_t c)
{
    UVersionInfo age;
    u_charAge((UChar32)c, age);
    return age[0] > 9 || (age[0] == 9 && age[1] > 0);
}

static uint16_t script_class(uint32_t c)
{
    UErrorCode status = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript((UChar32)c, &status);
    return script == USCRIPT_HAN ? WC_HAN : script == USCRIPT_HIRAGANA ? WC_HIRAGANA : WC_OTHER;
}

static uint16_t letter_class(uint32_t c)
{
    UErrorCode status = U_ZERO_ERROR;
    return uscript_getScript((UChar32)c, &status) == USCRIPT_HANGUL ? WC_LETTER | WC_HANGUL : WC_LETTER;
}

static uint16_t break_class(uint32_t c)
{
    switch (u_getIntPropertyValue((UChar32)c, UCHAR_WORD_BREAK)) {
    case U_WB_ALETTER:
        return letter_class(c);
    case U_WB_HEBREW_LETTER:
        return WC_HEBREW;
    case U_WB_NUMERIC:
        return WC_NUMERIC;
    case U_WB_KATAKANA:
        return WC_KATAKANA;
    case U_WB_EXTENDNUMLET:
        return WC_EXTEND_NUM_LET;
    case U_WB_MIDLETTER:
        return WC_MID_LETTER;
    case U_WB_MIDNUMLET:
        return WC_MID_NUM_LET;
    case U_WB_MIDNUM:
        return WC_MID_NUM;
    case U_WB_EXTEND:
    case U_WB_FORMAT:
    case U_WB_ZWJ:
        return WC_EXTEND;
    case U_WB_REGIONAL_INDICATOR:
        return WC_REGIONAL;
    default:
        return script_class(c);
    }
}

/* Characters that became letters of Word_Break after Unicode 9.0, and what the block of legacy symbols was
 * then. */
static bool is_late_letter(uint32_t c)
{
    return (c >= 0x2C2 && c <= 0x2FF
            && (c <= 0x2C5 || (c >= 0x2D2 && c <= 0x2D7) || c == 0x2DE || c == 0x2DF || c >= 0x2E5)
            && c != 0x2EC && c != 0x2EE)
           || (c >= 0x55A && c <= 0x55E && c != 0x55D) || c == 0x58A || c == 0x1CF2 || c == 0x1CF3
           || (c >= 0xA708 && c <= 0xA721 && (c <= 0xA716 || c >= 0xA720)) || c == 0xA789 || c == 0xA78A
           || c == 0xAB5B;
}

uint16_t word_class(uint32_t c)
{
    if (c < 0x80) {
        bool keycap = (c >= '0' && c <= '9') || c == '#' || c == '*';
        return word_class_ascii[c] | (keycap ? WC_KEYCAP_BASE : 0);
    }
    if (c >= 0x4E00 && c <= 0x9FD5) {
        return WC_HAN;
    }
    if (c >= 0xAC00 && c <= 0xD7A3) {
        return WC_LETTER | WC_HANGUL;
    }
    if (is_late_letter(c)) {
        return c == 0x1CF2 || c == 0x1CF3 ? WC_EXTEND : WC_OTHER;
    }
    bool pictographic =
        (c >= 0x1FB00 && c <= 0x1FBFF) || u_hasBinaryProperty((UChar32)c, UCHAR_EXTENDED_PICTOGRAPHIC);
    if (is_young(c)) {
        return pictographic ? WC_EMOJI : WC_OTHER;
    }
    uint16_t flags = pictographic ? WC_EMOJI : 0;
    if (pictographic && u_hasBinaryProperty((UChar32)c, UCHAR_EMOJI_MODIFIER_BASE)) {
        flags |= WC_EMOJI_BASE;
    }
    if (c >= 0x1F3FB && c <= 0x1F3FF) {
        return WC_EMOJI | WC_EMOJI_MOD;
    }
    if (u_getIntPropertyValue((UChar32)c, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT) {
        flags |= WC_SOUTHEAST;
    }
    if (c >= 0xFF10 && c <= 0xFF19) { /* full-width digits: not Numeric in Unicode 9 */
        return WC_NUMERIC;
    }
    return flags | break_class(c);
}
