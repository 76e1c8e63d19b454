/* word_class.h - the classes of characters that word segmentation goes by: Unicode's Word_Break property and
 * what Lucene's grammar asks for besides (scripts, emoji), as Unicode 9.0 had them. Pure. */
#ifndef ENGINE_ANALYSIS_WORD_CLASS_H
#define ENGINE_ANALYSIS_WORD_CLASS_H

#include "common/base/defs.h"

enum word_class {
    WC_OTHER,
    WC_LETTER,
    WC_HEBREW,
    WC_NUMERIC,
    WC_KATAKANA,
    WC_EXTEND_NUM_LET, /* '_' and its like */
    WC_MID_LETTER,
    WC_MID_NUM_LET,
    WC_MID_NUM,
    WC_SINGLE_QUOTE,
    WC_DOUBLE_QUOTE,
    WC_HAN,
    WC_HIRAGANA,
    WC_MASK = 0xF,
    /* flags beside the class */
    WC_HANGUL = 0x10,      /* a letter of the Hangul script */
    WC_SOUTHEAST = 0x20,   /* Line_Break=Complex_Context: Thai, Lao, Khmer, Myanmar ... */
    WC_EXTEND = 0x40,      /* Extend, Format, ZWJ: belongs to the character before */
    WC_REGIONAL = 0x80,    /* half of a flag */
    WC_EMOJI = 0x100,      /* starts an emoji */
    WC_EMOJI_MOD = 0x200,  /* skin tone */
    WC_EMOJI_BASE = 0x800, /* takes a skin tone */
    WC_KEYCAP_BASE = 0x400 /* 0-9 # * */
};

extern const uint8_t word_class_ascii[128]; /* without the flags */

/* Of any code point. */
uint16_t word_class(uint32_t c);

#endif
