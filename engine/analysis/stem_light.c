/* Light stemmers: plurals and the commonest endings only. The rules are those that Jacques Savoy published
 * for the UniNE stemmers, and Harman's S-stemmer for English. */
#include "engine/analysis/stem.h"

#include <string.h>
#include <unicode/uchar.h>

static bool ends(const uint16_t *s, size_t n, const char *suffix)
{
    size_t k = 0;
    uint16_t units[16];
    for (const unsigned char *p = (const unsigned char *)suffix; *p != 0; p++) { /* Latin-1 in UTF-8 */
        units[k++] = *p < 0x80 ? *p : (uint16_t)((*p & 0x1F) << 6 | (p[1] & 0x3F));
        p += *p >= 0x80;
    }
    return n >= k && memcmp(s + (n - k), units, k * sizeof(*s)) == 0;
}

static bool is_one_of(uint16_t c, const char *letters)
{
    return c != 0 && c < 0x80 && strchr(letters, c) != NULL;
}

/* Latin-1 vowels lose their accents; which ones depends on the language. */
static void unaccent(uint16_t *s, size_t n, const uint16_t (*pairs)[2], size_t n_pairs)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; s[i] >= 0x80 && k < n_pairs; k++) {
            if (s[i] == pairs[k][0]) {
                s[i] = pairs[k][1];
                break;
            }
        }
    }
}

size_t stem_english_plural(uint16_t *s, size_t n)
{
    if (n < 3 || s[n - 1] != 's') {
        return n;
    }
    switch (s[n - 2]) {
    case 'u':
    case 's':
        return n;
    case 'e':
        if (n > 3 && s[n - 3] == 'i' && s[n - 4] != 'a' && s[n - 4] != 'e') {
            s[n - 3] = 'y';
            return n - 2;
        }
        if (s[n - 3] == 'i' || s[n - 3] == 'a' || s[n - 3] == 'o' || s[n - 3] == 'e') {
            return n;
        }
        return n - 1;
    default:
        return n - 1;
    }
}

static const uint16_t german_accents[][2] = {
    {0xE4, 'a'}, {0xE0, 'a'}, {0xE1, 'a'}, {0xE2, 'a'}, {0xF6, 'o'}, {0xF2, 'o'}, {0xF3, 'o'}, {0xF4, 'o'},
    {0xEF, 'i'}, {0xEC, 'i'}, {0xED, 'i'}, {0xEE, 'i'}, {0xFC, 'u'}, {0xF9, 'u'}, {0xFA, 'u'}, {0xFB, 'u'},
};

#define GERMAN_ST "bdfghklmnt" /* letters that an ending s or st may follow */

static size_t german_declension(const uint16_t *s, size_t n)
{
    if (n > 5 && ends(s, n, "ern")) {
        return n - 3;
    }
    if (n > 4 && s[n - 2] == 'e' && is_one_of(s[n - 1], "mnrs")) {
        return n - 2;
    }
    if (n > 3 && s[n - 1] == 'e') {
        return n - 1;
    }
    return n > 3 && s[n - 1] == 's' && is_one_of(s[n - 2], GERMAN_ST) ? n - 1 : n;
}

static size_t german_comparison(const uint16_t *s, size_t n)
{
    if (n > 5 && ends(s, n, "est")) {
        return n - 3;
    }
    if (n > 4 && (ends(s, n, "er") || ends(s, n, "en"))) {
        return n - 2;
    }
    return n > 4 && ends(s, n, "st") && is_one_of(s[n - 3], GERMAN_ST) ? n - 2 : n;
}

size_t stem_german_light(uint16_t *s, size_t n)
{
    unaccent(s, n, german_accents, ARRAY_LEN(german_accents));
    return german_comparison(s, german_declension(s, n));
}

size_t stem_german_minimal(uint16_t *s, size_t n)
{
    if (n < 5) {
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        s[i] = s[i] == 0xE4 ? 'a' : s[i] == 0xF6 ? 'o' : s[i] == 0xFC ? 'u' : s[i];
    }
    if (n > 6 && ends(s, n, "nen")) {
        return n - 3;
    }
    if (n > 5 && (ends(s, n, "en") || ends(s, n, "se") || ends(s, n, "es") || ends(s, n, "er"))) {
        return n - 2;
    }
    return is_one_of(s[n - 1], "nesr") ? n - 1 : n;
}

static const uint16_t french_accents[][2] = {
    {0xE0, 'a'}, {0xE1, 'a'}, {0xE2, 'a'}, {0xF4, 'o'}, {0xE8, 'e'}, {0xE9, 'e'},
    {0xEA, 'e'}, {0xF9, 'u'}, {0xFB, 'u'}, {0xEE, 'i'}, {0xE7, 'c'},
};

static size_t drop_doubles(uint16_t *s, size_t n)
{
    size_t to = 1;
    for (size_t i = 1; i < n; i++) {
        if (s[i] != s[to - 1] || !u_isalpha(s[i])) {
            s[to++] = s[i];
        }
    }
    return to;
}

static size_t french_norm(uint16_t *s, size_t n)
{
    if (n > 4) {
        unaccent(s, n, french_accents, ARRAY_LEN(french_accents));
        n = drop_doubles(s, n);
    }
    if (n > 4 && ends(s, n, "ie")) {
        n -= 2;
    }
    if (n > 4) {
        n -= s[n - 1] == 'r';
        n -= s[n - 1] == 'e';
        n -= s[n - 1] == 'e';
        n -= s[n - 1] == s[n - 2] && u_isalpha(s[n - 1]);
    }
    return n;
}

/* An ending of words longer than `more` letters: `cut` letters go, then `tail` replaces the last ones. */
struct ending {
    const char *suffix;
    uint8_t more, cut;
    const char *tail;
    bool goes_on; /* to the rules below */
};

static const struct ending french[] = {
    {"issement", 9, 6, "r", false},    {"issant", 8, 4, "r", false},     {"ement", 6, 4, "", false},
    {"ficatrice", 11, 5, "er", false}, {"ficateur", 10, 4, "er", false}, {"catrice", 9, 3, "quer", false},
    {"cateur", 8, 2, "quer", false},   {"atrice", 8, 4, "er", false},    {"ateur", 7, 3, "er", false},
    {"trice", 6, 1, "eur", true},      {"ième", 5, 4, "", false},        {"teuse", 7, 2, "r", false},
    {"teur", 6, 1, "r", false},        {"euse", 5, 2, "", false},        {"ère", 8, 1, "er", false},
    {"ive", 7, 1, "f", false},         {"folle", 4, 2, "u", false},      {"molle", 4, 2, "u", false},
    {"nnelle", 9, 5, "", false},       {"nnel", 9, 3, "", false},        {"ète", 4, 1, "et", true},
    {"ique", 8, 4, "", true},          {"esse", 8, 3, "", false},        {"inage", 7, 3, "", false},
    {"isation", 9, 7, "", false},      {"isateur", 9, 7, "", false},     {"ation", 8, 5, "", false},
    {"ition", 8, 5, "", false},
};

size_t stem_french_light(uint16_t *s, size_t n)
{
    if (n > 5 && s[n - 1] == 'x') {
        if (s[n - 3] == 'a' && s[n - 2] == 'u' && s[n - 4] != 'e') {
            s[n - 2] = 'l';
        }
        n--;
    }
    n -= n > 3 && s[n - 1] == 'x';
    n -= n > 3 && s[n - 1] == 's';
    for (size_t i = 0; i < ARRAY_LEN(french); i++) {
        const struct ending *r = &french[i];
        if (n <= r->more || !ends(s, n, r->suffix)) {
            continue;
        }
        size_t k = strlen(r->tail);
        n -= r->cut;
        for (size_t j = 0; j < k; j++) {
            s[n - k + j] = (unsigned char)r->tail[j];
        }
        if (strcmp(r->suffix, "ement") == 0 && n > 3 && ends(s, n, "ive")) {
            s[--n - 1] = 'f';
        }
        if (strcmp(r->suffix, "isation") == 0 && n > 5 && ends(s, n, "ual")) {
            s[n - 2] = 'e';
        }
        if (!r->goes_on) {
            break;
        }
    }
    return french_norm(s, n);
}

size_t stem_french_minimal(uint16_t *s, size_t n)
{
    if (n < 6) {
        return n;
    }
    if (s[n - 1] == 'x') {
        if (s[n - 3] == 'a' && s[n - 2] == 'u') {
            s[n - 2] = 'l';
        }
        return n - 1;
    }
    n -= s[n - 1] == 's';
    n -= s[n - 1] == 'r';
    n -= s[n - 1] == 'e';
    n -= s[n - 1] == 0xE9;
    n -= s[n - 1] == s[n - 2] && u_isalpha(s[n - 1]);
    return n;
}

static const uint16_t romance_accents[][2] = {
    {0xE0, 'a'}, {0xE1, 'a'}, {0xE2, 'a'}, {0xE4, 'a'}, {0xF2, 'o'}, {0xF3, 'o'}, {0xF4, 'o'},
    {0xF6, 'o'}, {0xE8, 'e'}, {0xE9, 'e'}, {0xEA, 'e'}, {0xEB, 'e'}, {0xF9, 'u'}, {0xFA, 'u'},
    {0xFB, 'u'}, {0xFC, 'u'}, {0xEC, 'i'}, {0xED, 'i'}, {0xEE, 'i'}, {0xEF, 'i'},
};

size_t stem_spanish_light(uint16_t *s, size_t n)
{
    if (n < 5) {
        return n;
    }
    unaccent(s, n, romance_accents, ARRAY_LEN(romance_accents));
    if (is_one_of(s[n - 1], "oae")) {
        return n - 1;
    }
    if (s[n - 1] != 's') {
        return n;
    }
    if (ends(s, n, "eses")) {
        return n - 2;
    }
    if (ends(s, n, "ces")) {
        s[n - 3] = 'z';
        return n - 2;
    }
    return is_one_of(s[n - 2], "oae") ? n - 2 : n;
}

size_t stem_italian_light(uint16_t *s, size_t n)
{
    if (n < 6) {
        return n;
    }
    unaccent(s, n, romance_accents, ARRAY_LEN(romance_accents));
    switch (s[n - 1]) {
    case 'e':
    case 'i':
        return s[n - 2] == 'i' || s[n - 2] == 'h' ? n - 2 : n - 1;
    case 'a':
    case 'o':
        return s[n - 2] == 'i' ? n - 2 : n - 1;
    default:
        return n;
    }
}

static const uint16_t portuguese_accents[][2] = {{0xE3, 'a'}, {0xF5, 'o'}, {0xE7, 'c'}};

static size_t portuguese_plural(uint16_t *s, size_t n)
{
    if (n > 4 && ends(s, n, "es") && is_one_of(s[n - 3], "rslz")) {
        return n - 2;
    }
    if (n > 3 && ends(s, n, "ns")) {
        s[n - 2] = 'm';
        return n - 1;
    }
    if (n > 4 && (ends(s, n, "eis") || ends(s, n, "éis") || ends(s, n, "ais") || ends(s, n, "óis"))) {
        s[n - 3] = s[n - 3] == 0xE9 ? 'e' : s[n - 3] == 0xF3 ? 'o' : s[n - 3];
        s[n - 2] = 'l';
        return n - 1;
    }
    if (n > 4 && ends(s, n, "is")) {
        s[n - 1] = 'l';
        return n;
    }
    if (n > 3 && (ends(s, n, "ões") || ends(s, n, "ães"))) {
        s[n - 3] = 0xE3;
        s[n - 2] = 'o';
        return n - 1;
    }
    if (n > 6 && ends(s, n, "mente")) {
        return n - 5;
    }
    return n > 3 && s[n - 1] == 's' ? n - 1 : n;
}

static size_t portuguese_feminine(uint16_t *s, size_t n)
{
    static const char *const masculine_o[] = {"osa", "ica", "ida", "ada", "iva", "ama"};
    if (n > 7 && (ends(s, n, "inha") || ends(s, n, "iaca") || ends(s, n, "eira"))) {
        s[n - 1] = 'o';
        return n;
    }
    for (size_t i = 0; n > 6 && i < ARRAY_LEN(masculine_o); i++) {
        if (ends(s, n, masculine_o[i])) {
            s[n - 1] = 'o';
            return n;
        }
    }
    if (n > 6 && ends(s, n, "ona")) {
        s[n - 3] = 0xE3;
        s[n - 2] = 'o';
        return n - 1;
    }
    if (n > 6 && ends(s, n, "ora")) {
        return n - 1;
    }
    if (n > 6 && ends(s, n, "esa")) {
        s[n - 3] = 0xEA;
        return n - 1;
    }
    if (n > 6 && ends(s, n, "na")) {
        s[n - 1] = 'o';
    }
    return n;
}

size_t stem_portuguese_light(uint16_t *s, size_t n)
{
    if (n < 4) {
        return n;
    }
    n = portuguese_plural(s, n);
    if (n > 3 && s[n - 1] == 'a') {
        n = portuguese_feminine(s, n);
    }
    n -= n > 4 && is_one_of(s[n - 1], "eao");
    unaccent(s, n, romance_accents, ARRAY_LEN(romance_accents));
    unaccent(s, n, portuguese_accents, ARRAY_LEN(portuguese_accents));
    return n;
}
