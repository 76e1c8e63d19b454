/* `locale` of date fields: "de", "en_US", "fr-CA-x". */
#include "common/base/buf.h"
#include "engine/mapping/mapping_int.h"

#include <ctype.h>

#define LOCALE_PARTS_MAX 3

/* Codes of ISO 639-1, old ones among them, and of ISO 3166: two letters and a space each. */
static const char languages[] =
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv "
    "cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr "
    "ht hu hy hz ia id ie ig ii ik in io is it iu iw ja ji jv ka kg ki kj kk kl km kn ko kr ks "
    "ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb nd ne ng nl "
    "nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm "
    "sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo "
    "wa wo xh yi yo za zh zu ";
static const char countries[] =
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ "
    "BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM "
    "DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS "
    "GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN "
    "KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ "
    "MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM "
    "PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV "
    "SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI "
    "VN VU WF WS YE YT ZA ZM ZW ";

static bool has_code(const char *codes, struct str code)
{
    for (const char *at = codes; code.n == 2 && *at != '\0'; at += 3) {
        if (at[0] == code.p[0] && at[1] == code.p[1]) {
            return true;
        }
    }
    return false;
}

static struct str with_case(struct arena *a, struct str s, int (*change)(int))
{
    char *out = arena_alloc(a, s.n + 1);
    for (size_t i = 0; out != NULL && i < s.n; i++) {
        out[i] = (char)change((unsigned char)s.p[i]);
    }
    return out != NULL ? str_mk(out, s.n) : STR_NULL;
}

/* At '_' where that comes before any '-', else at '-'. */
static enum err split(struct builder *b, struct str s, struct str parts[LOCALE_PARTS_MAX])
{
    size_t line = str_find(s, '_', 0), dash = str_find(s, '-', 0), n = 0;
    char at = line < dash ? '_' : '-';
    struct buf all;
    buf_init(&all, NULL, ERR_REASON_MAX);
    for (struct str rest = s; rest.p != NULL; n++) {
        struct str part = str_cut(rest, at, &rest);
        if (n < LOCALE_PARTS_MAX) {
            parts[n] = part;
        }
        buf_printf(&all, "%s%.*s", n > 0 ? ", " : "", STR_ARG(part));
    }
    enum err e = n <= LOCALE_PARTS_MAX ? ERR_OK
                                       : err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                                                 "Locales can have at most 3 parts but got %zu: [%.*s]", n,
                                                 STR_ARG(buf_view(&all)));
    buf_fini(&all);
    return e;
}

static enum err unknown(struct builder *b, const char *what, struct str given, struct str code)
{
    err_set(b->em, ERR_MISSING_RESOURCE, "Couldn't find 3-letter %s code for %.*s", what, STR_ARG(code));
    return err_wrap(b->em, ERR_ILLEGAL_ARGUMENT, "Unknown %s: %.*s", what, STR_ARG(given));
}

enum err locale_parse(struct builder *b, struct str s, struct str *out)
{
    struct str parts[LOCALE_PARTS_MAX] = {STR(""), STR(""), STR("")};
    enum err e = split(b, s, parts);
    if (e != ERR_OK) {
        return e;
    }
    *out = STR("");
    if (s.n == 0 || str_eq_nocase(s, STR("ROOT"))) {
        return ERR_OK;
    }
    struct str language = with_case(b->arena, parts[0], tolower),
               country = with_case(b->arena, parts[1], toupper);
    if (language.p == NULL || country.p == NULL) {
        return no_memory(b);
    }
    if (language.n != 0 && language.n != 3 && !has_code(languages, language)) {
        return unknown(b, "language", parts[0], language);
    }
    if (country.n != 0 && !has_code(countries, country)) {
        return unknown(b, "country", parts[1], country);
    }
    bool varies = parts[2].n > 0 && (language.n > 0 || country.n > 0);
    *out = arena_printf(b->arena, "%.*s%s%.*s%s%.*s", STR_ARG(language), country.n > 0 || varies ? "_" : "",
                        STR_ARG(country), varies ? "_" : "", STR_ARG(varies ? parts[2] : STR("")));
    return out->p != NULL ? ERR_OK : no_memory(b);
}

bool locale_is_english(struct str s)
{
    return s.n == 0 || str_is(s, "en") || str_starts(s, STR("en_"));
}
