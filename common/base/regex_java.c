#include "common/base/regex_java.h"

#define PUNCT "!-/:-@\\[-`{-~"

/* Classes that are ASCII in Java, as the inside of a set. */
static const struct {
    const char *name;
    const char *set;
} posix[] = {
    {"Lower", "a-z"},
    {"Upper", "A-Z"},
    {"ASCII", "\\x00-\\x7F"},
    {"Alpha", "a-zA-Z"},
    {"Digit", "0-9"},
    {"Alnum", "a-zA-Z0-9"},
    {"Punct", PUNCT},
    {"Graph", "a-zA-Z0-9" PUNCT},
    {"Print", "\\x20-\\x7E"},
    {"Blank", " \\t"},
    {"Cntrl", "\\x00-\\x1F\\x7F"},
    {"XDigit", "0-9a-fA-F"},
    {"Space", " \\t\\n\\x0B\\f\\r"},
};

/* Java's names for what ICU calls otherwise. */
static const struct {
    const char *java;
    const char *icu;
} properties[] = {
    {"javaLowerCase", "Lowercase"},
    {"javaUpperCase", "Uppercase"},
    {"javaWhitespace", "White_Space"},
    {"javaAlphabetic", "Alphabetic"},
    {"javaLetter", "L"},
    {"javaDigit", "Nd"},
    {"javaLetterOrDigit", "[\\p{L}\\p{Nd}]"},
    {"IsPunctuation", "P"},
    {"IsLetter", "L"},
    {"IsDigit", "Nd"},
    {"L1", "[\\x00-\\xFF]"},
    {"all", "Any"},
};

static void add_set(struct buf *out, const char *set, bool negated)
{
    /* Brackets work inside another set as well: there they are a union. */
    buf_printf(out, negated ? "[^%s]" : "[%s]", set);
}

static void add_property(struct buf *out, struct str name, bool negated)
{
    for (size_t i = 0; i < ARRAY_LEN(posix); i++) {
        if (str_is(name, posix[i].name)) {
            add_set(out, posix[i].set, negated);
            return;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(properties); i++) {
        if (str_is(name, properties[i].java)) {
            const char *icu = properties[i].icu;
            if (icu[0] == '[') {
                buf_printf(out, negated ? "[^%s]" : "%s", icu);
            } else {
                buf_printf(out, "\\%c{%s}", negated ? 'P' : 'p', icu);
            }
            return;
        }
    }
    struct str rest = name;
    const char *kind = "";
    if (str_starts(name, STR("Is"))) {
        rest = str_slice(name, 2, name.n);
    } else if (str_starts(name, STR("In"))) {
        rest = str_slice(name, 2, name.n);
        kind = "Block=";
    }
    buf_printf(out, "\\%c{%s%.*s}", negated ? 'P' : 'p', kind, STR_ARG(rest));
}

/* A backslash and what follows it; returns where it ends. */
static size_t add_escape(struct buf *out, struct str p, size_t at)
{
    if (at + 1 >= p.n) {
        buf_char(out, '\\');
        return p.n;
    }
    char c = p.p[at + 1];
    switch (c) {
    case 'd':
    case 'D':
        add_set(out, "0-9", c == 'D');
        return at + 2;
    case 'w':
    case 'W':
        add_set(out, "a-zA-Z0-9_", c == 'W');
        return at + 2;
    case 's':
    case 'S':
        add_set(out, " \\t\\n\\x0B\\f\\r", c == 'S');
        return at + 2;
    case 'v':
    case 'V':
        add_set(out, "\\n\\x0B\\f\\r\\u0085\\u2028\\u2029", c == 'V');
        return at + 2;
    case 'p':
    case 'P':
        break;
    case 'z':
        buf_z(out, "\\z");
        return at + 2;
    default:
        buf_add(out, p.p + at, 2);
        return at + 2;
    }
    if (at + 2 < p.n && p.p[at + 2] != '{') { /* \pL */
        add_property(out, str_slice(p, at + 2, at + 3), c == 'P');
        return at + 3;
    }
    size_t close = str_find(p, '}', at);
    if (close == SIZE_MAX) {
        buf_add(out, p.p + at, 2);
        return at + 2;
    }
    add_property(out, str_slice(p, at + 3, close), c == 'P');
    return close + 1;
}

static size_t add_quoted(struct buf *out, struct str p, size_t at)
{
    struct str rest = str_slice(p, at, p.n);
    size_t end = str_find_str(rest, STR("\\E"));
    end = end == SIZE_MAX ? rest.n : end + 2;
    buf_add(out, rest.p, end);
    return at + end;
}

void regex_java_to_icu(struct buf *out, struct str pattern, bool comments)
{
    unsigned depth = 0; /* of sets */
    for (size_t at = 0; at < pattern.n;) {
        char c = pattern.p[at];
        if (c == '\\' && at + 1 < pattern.n && pattern.p[at + 1] == 'Q') {
            at = add_quoted(out, pattern, at);
            continue;
        }
        if (c == '\\') {
            at = add_escape(out, pattern, at);
            continue;
        }
        if (c == '[') {
            bool first = depth == 0;
            depth++;
            buf_char(out, '[');
            at++;
            if (at < pattern.n && pattern.p[at] == '^') {
                buf_char(out, '^');
                at++;
            }
            if (first && at < pattern.n && pattern.p[at] == ']') { /* a literal bracket */
                buf_z(out, "\\]");
                at++;
            }
            continue;
        }
        if (c == ']' && depth > 0) {
            depth--;
        } else if (depth > 0
                   && (c == '{' || c == '}' || c == '$' || c == ':' || c == '#' || (c == ' ' && !comments))) {
            buf_char(out, '\\'); /* plain characters of a set in Java */
        }
        buf_char(out, c);
        at++;
    }
}
