#include "engine/analysis/char_kind.h"

#include "engine/analysis/parts.h"

#include <unicode/uchar.h>

#define SYMBOLS (U_GC_SC_MASK | U_GC_SM_MASK | U_GC_SO_MASK | U_GC_SK_MASK)

static const struct {
    const char *name;
    uint32_t mask;
} kinds[] = {
    {"letter", U_GC_L_MASK},
    {"digit", U_GC_ND_MASK},
    {"whitespace", CHAR_KIND_SPACE},
    {"punctuation", U_GC_P_MASK},
    {"symbol", SYMBOLS},
    {"combining_spacing_mark", U_GC_MC_MASK},
    {"connector_punctuation", U_GC_PC_MASK},
    {"control", U_GC_CC_MASK},
    {"currency_symbol", U_GC_SC_MASK},
    {"dash_punctuation", U_GC_PD_MASK},
    {"decimal_digit_number", U_GC_ND_MASK},
    {"enclosing_mark", U_GC_ME_MASK},
    {"end_punctuation", U_GC_PE_MASK},
    {"final_quote_punctuation", U_GC_PF_MASK},
    {"format", U_GC_CF_MASK},
    {"initial_quote_punctuation", U_GC_PI_MASK},
    {"letter_number", U_GC_NL_MASK},
    {"line_separator", U_GC_ZL_MASK},
    {"lowercase_letter", U_GC_LL_MASK},
    {"math_symbol", U_GC_SM_MASK},
    {"modifier_letter", U_GC_LM_MASK},
    {"modifier_symbol", U_GC_SK_MASK},
    {"non_spacing_mark", U_GC_MN_MASK},
    {"other_letter", U_GC_LO_MASK},
    {"other_number", U_GC_NO_MASK},
    {"other_punctuation", U_GC_PO_MASK},
    {"other_symbol", U_GC_SO_MASK},
    {"paragraph_separator", U_GC_ZP_MASK},
    {"private_use", U_GC_CO_MASK},
    {"space_separator", U_GC_ZS_MASK},
    {"start_punctuation", U_GC_PS_MASK},
    {"surrogate", U_GC_CS_MASK},
    {"titlecase_letter", U_GC_LT_MASK},
    {"unassigned", U_GC_CN_MASK},
    {"uppercase_letter", U_GC_LU_MASK},
};

uint32_t char_kind_mask(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (str_eq_nocase(name, str_of(kinds[i].name))) {
            return kinds[i].mask;
        }
    }
    return 0;
}

const char *char_kind_names(void)
{
    return "symbol, private_use, paragraph_separator, start_punctuation, unassigned, enclosing_mark, "
           "connector_punctuation, "
           "letter_number, other_number, math_symbol, lowercase_letter, space_separator, surrogate, "
           "initial_quote_punctuation, "
           "decimal_digit_number, digit, other_punctuation, dash_punctuation, currency_symbol, "
           "non_spacing_mark, custom, format, modifier_letter, control, uppercase_letter, other_symbol, "
           "end_punctuation, modifier_symbol, other_letter, line_separator, titlecase_letter, letter, "
           "punctuation, combining_spacing_mark, final_quote_punctuation, whitespace";
}

bool char_kind_has(uint32_t mask, uint32_t c)
{
    if ((mask & CHAR_KIND_SPACE) != 0 && u_isWhitespace((UChar32)c)) {
        return true;
    }
    uint32_t kind = part_is_young(c) ? U_GC_CN_MASK : U_MASK(u_charType((UChar32)c));
    return (kind & mask & ~CHAR_KIND_SPACE) != 0;
}
