#include "engine/analysis/dict/xml_properties.h"

#include "common/base/arena_list.h"
#include "common/base/buf.h"
#include "common/base/utf8.h"

struct parser {
    struct str s;
    size_t at;
    struct arena *arena;
    struct errmsg *em;
};

static enum err xml_fail(struct parser *p, const char *what)
{
    size_t line = 1;
    for (size_t i = 0; i < p->at && i < p->s.n; i++) {
        line += p->s.p[i] == '\n';
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "line [%zu]: %s", line, what);
}

static bool eat(struct parser *p, const char *z)
{
    struct str rest = str_slice(p->s, p->at, p->s.n);
    if (!str_starts(rest, str_of(z))) {
        return false;
    }
    p->at += strlen(z);
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool skip_space(struct parser *p)
{
    size_t from = p->at;
    while (p->at < p->s.n && is_space(p->s.p[p->at])) {
        p->at++;
    }
    return p->at > from;
}

/* Everything up to `end`, which is eaten. */
static bool until(struct parser *p, const char *end, struct str *out)
{
    struct str rest = str_slice(p->s, p->at, p->s.n);
    size_t n = str_find_str(rest, str_of(end));
    if (n == SIZE_MAX) {
        return false;
    }
    *out = str_slice(rest, 0, n);
    p->at += n + strlen(end);
    return true;
}

/* White space and comments. */
static enum err skip_misc(struct parser *p)
{
    struct str ignored;
    for (;;) {
        skip_space(p);
        if (!eat(p, "<!--")) {
            return ERR_OK;
        }
        if (!until(p, "-->", &ignored)) {
            return xml_fail(p, "a comment does not end");
        }
    }
}

/* "#65" or "#x41", without the '&' and the ';'. */
static bool character_reference(struct str name, uint32_t *out)
{
    uint32_t base = 10, v = 0;
    size_t i = 1;
    if (name.n > 1 && name.p[1] == 'x') {
        base = 16;
        i = 2;
    }
    if (i == name.n) {
        return false;
    }
    for (; i < name.n; i++) {
        char c = name.p[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 99;
        if (digit >= base || v > 0x10FFFF) {
            return false;
        }
        v = v * base + digit;
    }
    *out = v;
    return v > 0 && v <= 0x10FFFF && (v < 0xD800 || v > 0xDFFF);
}

static enum err reference(struct parser *p, struct buf *to)
{
    static const struct {
        const char *name, *text;
    } known[] = {{"lt", "<"}, {"gt", ">"}, {"amp", "&"}, {"quot", "\""}, {"apos", "'"}};
    struct str name;
    uint32_t c;
    if (!until(p, ";", &name) || name.n == 0) {
        return xml_fail(p, "a reference does not end");
    }
    if (name.p[0] == '#') {
        if (!character_reference(name, &c)) {
            return xml_fail(p, "no such character");
        }
        buf_utf8(to, c);
        return ERR_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (str_is(name, known[i].name)) {
            buf_z(to, known[i].text);
            return ERR_OK;
        }
    }
    return xml_fail(p, "entities are not supported");
}

/* Text up to the character `end` (which stays), references and, in an element's text, CDATA and comments
 * resolved. */
static enum err characters(struct parser *p, char end, bool element, struct str *out)
{
    struct buf b;
    struct str part;
    enum err e = ERR_OK;
    buf_init(&b, NULL, XML_PROPERTIES_BYTES_MAX);
    while (e == ERR_OK) {
        if (p->at == p->s.n) {
            e = xml_fail(p, "the file ends too early");
        } else if (eat(p, "&")) {
            e = reference(p, &b);
        } else if (element && eat(p, "<![CDATA[")) {
            e = until(p, "]]>", &part) ? ERR_OK : xml_fail(p, "CDATA does not end");
            if (e == ERR_OK) {
                buf_str(&b, part);
            }
        } else if (element && eat(p, "<!--")) {
            e = until(p, "-->", &part) ? ERR_OK : xml_fail(p, "a comment does not end");
        } else if (p->s.p[p->at] == end) {
            break;
        } else if (p->s.p[p->at] == '<') {
            e = xml_fail(p, "markup where text must be");
        } else {
            buf_char(&b, p->s.p[p->at++]);
        }
    }
    if (e == ERR_OK) {
        *out = arena_str(p->arena, buf_view(&b));
        e = b.failed || out->p == NULL ? err_no_memory(p->em) : ERR_OK;
    }
    buf_fini(&b);
    return e;
}

/* <?xml ...?>, <!DOCTYPE properties SYSTEM "...">: their text is not looked at. */
static enum err prolog(struct parser *p)
{
    struct str text;
    if (eat(p, "<?xml") && !until(p, "?>", &text)) {
        return xml_fail(p, "the XML declaration does not end");
    }
    enum err e = skip_misc(p);
    if (e == ERR_OK && eat(p, "<!DOCTYPE")) {
        if (!until(p, ">", &text)) {
            return xml_fail(p, "the document type does not end");
        }
        if (str_find(text, '[', 0) != SIZE_MAX) {
            return xml_fail(p, "a document type with declarations of its own is refused");
        }
        e = skip_misc(p);
    }
    return e;
}

/* key="..." and the end of the start tag; *empty: it was <entry .../>. */
static enum err entry_tag(struct parser *p, struct str *key, bool *empty)
{
    if (!skip_space(p) || !eat(p, "key")) {
        return xml_fail(p, "<entry> needs its key");
    }
    skip_space(p);
    bool equals = eat(p, "=");
    skip_space(p);
    char quote = p->at < p->s.n ? p->s.p[p->at] : '\0';
    if (!equals || (quote != '"' && quote != '\'')) {
        return xml_fail(p, "<entry> needs its key in quotes");
    }
    p->at++;
    enum err e = characters(p, quote, false, key);
    if (e != ERR_OK) {
        return e;
    }
    p->at++;
    skip_space(p);
    *empty = eat(p, "/>");
    return *empty || eat(p, ">") ? ERR_OK : xml_fail(p, "<entry> takes nothing but its key");
}

static enum err entry(struct parser *p, struct xml_properties *out)
{
    struct xml_property prop = {.value = STR("")};
    bool empty = false;
    enum err e = entry_tag(p, &prop.key, &empty);
    if (e == ERR_OK && !empty) {
        e = characters(p, '<', true, &prop.value);
        if (e == ERR_OK && !eat(p, "</entry>")) {
            e = xml_fail(p, "</entry> is missing");
        }
    }
    if (e != ERR_OK) {
        return e;
    }
    return ARENA_ADD(p->arena, out->v, out->n, out->cap, prop) ? ERR_OK : err_no_memory(p->em);
}

static enum err elements(struct parser *p, struct xml_properties *out)
{
    struct str ignored;
    enum err e = skip_misc(p);
    while (e == ERR_OK && !eat(p, "</properties>")) {
        if (eat(p, "<comment>")) {
            e = characters(p, '<', true, &ignored);
            if (e == ERR_OK && !eat(p, "</comment>")) {
                e = xml_fail(p, "</comment> is missing");
            }
        } else if (eat(p, "<entry")) {
            e = entry(p, out);
        } else {
            e = xml_fail(p, "only <comment> and <entry> can be in <properties>");
        }
        e = e == ERR_OK ? skip_misc(p) : e;
    }
    return e;
}

enum err xml_properties_parse(struct xml_properties *out, struct str text, struct arena *arena,
                              struct errmsg *em)
{
    *out = (struct xml_properties){0};
    struct parser p = {text, 0, arena, em};
    if (text.n > XML_PROPERTIES_BYTES_MAX || !utf8_valid(text)) {
        return xml_fail(&p, "too long, or not UTF-8");
    }
    eat(&p, "\xEF\xBB\xBF");
    enum err e = prolog(&p);
    if (e == ERR_OK && !eat(&p, "<properties>")) {
        e = xml_fail(&p, "<properties> must come first");
    }
    e = e == ERR_OK ? elements(&p, out) : e;
    e = e == ERR_OK ? skip_misc(&p) : e;
    if (e == ERR_OK && p.at < p.s.n) {
        e = xml_fail(&p, "nothing can follow </properties>");
    }
    return e;
}

struct str xml_properties_get(const struct xml_properties *p, const char *key)
{
    for (size_t i = p->n; i > 0; i--) {
        if (str_is(p->v[i - 1].key, key)) {
            return p->v[i - 1].value;
        }
    }
    return STR_NULL;
}
