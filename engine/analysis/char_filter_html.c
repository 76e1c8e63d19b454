/* The html_strip character filter. It knows tags, comments, declarations, script and style elements and
 * character references; what only looks like them stays as it is. Inline tags vanish, all others become a
 * line end. */
#include "common/base/utf8.h"
#include "engine/analysis/html_entity.h"
#include "engine/analysis/offset_map.h"
#include "engine/analysis/parts.h"

#include <unicode/uchar.h>

struct html_strip {
    struct char_filter base;
    struct word_set escaped; /* tags that stay */
};

struct tag {
    struct str name;
    bool closing;
    bool empty; /* "<x/>" */
    bool cut;   /* the text ends in the middle of it */
    size_t end;
};

static bool is_space(uint32_t c)
{
    return u_isUWhiteSpace((UChar32)c) != 0;
}

static size_t skip_space(struct str s, size_t at)
{
    while (at < s.n) {
        size_t next = at;
        if (!is_space(utf8_next(s, &next))) {
            break;
        }
        at = next;
    }
    return at;
}

static size_t scan_name(struct str s, size_t at)
{
    size_t from = at;
    while (at < s.n) {
        size_t next = at;
        uint32_t c = utf8_next(s, &next);
        bool part =
            c == ':' || c == '_' || u_hasBinaryProperty((UChar32)c, UCHAR_ID_START)
            || (at > from && (c == '-' || c == '.' || u_hasBinaryProperty((UChar32)c, UCHAR_ID_CONTINUE)));
        if (!part) {
            break;
        }
        at = next;
    }
    return at;
}

/* A handler ("onclick = '...'") at `at`: its quoted text may hold anything. Returns its end, or `at`. */
static size_t scan_handler(struct str s, size_t at)
{
    static const char *const events[] = {
        "abort",     "blur",     "change", "click",  "dblclick",  "error",     "focus",
        "keydown",   "keypress", "keyup",  "load",   "mousedown", "mousemove", "mouseout",
        "mouseover", "mouseup",  "reset",  "resize", "select",    "submit",    "unload"};
    size_t name = at + 2, end = name;
    if (s.n - at < 4 || (s.p[at] | 32) != 'o' || (s.p[at + 1] | 32) != 'n') {
        return at;
    }
    while (end < s.n && (s.p[end] | 32) >= 'a' && (s.p[end] | 32) <= 'z') {
        end++;
    }
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(events) && !known; i++) {
        known = str_eq_nocase(str_slice(s, name, end), str_of(events[i]));
    }
    end = skip_space(s, end);
    if (!known || end >= s.n || s.p[end] != '=') {
        return at;
    }
    end = skip_space(s, end + 1);
    if (end >= s.n || (s.p[end] != '"' && s.p[end] != '\'')) {
        return at;
    }
    size_t close = str_find(s, s.p[end], end + 1);
    return close != SIZE_MAX ? close + 1 : at;
}

/* What follows an opening tag's name, up to and with '>'. */
static bool scan_tail(struct str s, size_t at, struct tag *t)
{
    if (at + 1 < s.n && s.p[at] == '/' && s.p[at + 1] == '>') {
        t->empty = true;
        t->end = at + 2;
        return true;
    }
    if (s.p[at] != '>' && s.p[at] != '=' && skip_space(s, at) == at) {
        return false;
    }
    bool blank = true;
    while (at < s.n && s.p[at] != '<' && s.p[at] != '>') {
        size_t handler = blank ? scan_handler(s, at) : at;
        if (handler > at) {
            at = handler;
            continue;
        }
        size_t next = at;
        blank = is_space(utf8_next(s, &next));
        at = next;
    }
    t->end = at + 1;
    return at < s.n && s.p[at] == '>';
}

/* A tag at the '<' at `at`. */
static bool scan_tag(struct str s, size_t at, struct tag *t)
{
    *t = (struct tag){.end = at};
    at = skip_space(s, at + 1);
    if (at < s.n && s.p[at] == '/' && s.p[at - 1] == '<') {
        t->closing = true;
        at = skip_space(s, at + 1);
    }
    size_t end = scan_name(s, at);
    if (end == at) {
        return false;
    }
    t->name = str_slice(s, at, end);
    if (end == s.n) {
        t->cut = true;
        t->end = end;
        return true;
    }
    if (!t->closing) {
        return scan_tail(s, end, t);
    }
    end = skip_space(s, end);
    t->end = end + 1;
    return end < s.n && s.p[end] == '>';
}

static bool is_inline(struct str name)
{
    static const char *const names[] = {"a",     "abbr", "acronym", "b",      "basefont", "bdo",  "big",
                                        "cite",  "code", "dfn",     "em",     "font",     "i",    "img",
                                        "input", "kbd",  "label",   "q",      "s",        "samp", "select",
                                        "small", "span", "strike",  "strong", "sub",      "sup",  "textarea",
                                        "tt",    "u",    "var"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq_nocase(name, str_of(names[i]))) {
            return true;
        }
    }
    return false;
}

static size_t comment_end(struct str s, size_t at)
{
    size_t end =
        stop_worked(1 + (s.n - at) / 64) ? SIZE_MAX : str_find_str(str_slice(s, at, s.n), STR("-->"));
    return end == SIZE_MAX ? s.n : at + end + 3;
}

/* Where the closing tag of a script or style element begins and ends; comments hide it. *end == s.n, *begin
 * == s.n when there is none. */
static void element_end(struct str s, size_t at, struct str name, size_t *begin, size_t *end)
{
    *begin = *end = s.n;
    while (at < s.n && !stop_worked(1)) {
        at = str_find(s, '<', at);
        if (at == SIZE_MAX) {
            return;
        }
        if (str_starts(str_slice(s, at, s.n), STR("<!--"))) {
            at = comment_end(s, at + 4);
            continue;
        }
        struct tag t;
        if (at + 1 < s.n && s.p[at + 1] == '/' && scan_tag(s, at, &t) && !t.cut && t.closing
            && str_eq_nocase(t.name, name)) {
            *begin = at;
            *end = t.end;
            return;
        }
        at++;
    }
}

static void strip_element(const struct html_strip *f, struct remap *r, const struct tag *t)
{
    size_t begin, end;
    element_end(r->in, t->end, t->name, &begin, &end);
    if (word_set_has(&f->escaped, t->name)) { /* its tags stay, what is between them goes */
        remap_copy(r, t->end);
        remap_replace(r, begin, STR(""));
        remap_copy(r, end);
        return;
    }
    remap_replace(r, end, begin < r->in.n ? STR("\n") : STR(""));
}

/* "<![CDATA[", "<!--", "<!...>", "<?...?>" at `at`. */
static bool strip_declaration(struct remap *r, size_t at)
{
    struct str s = r->in, rest = str_slice(s, at, s.n);
    if (str_starts(rest, STR("<![CDATA["))) {
        size_t end = str_find_str(rest, STR("]]>"));
        remap_copy(r, at);
        remap_replace(r, at + 9, STR(""));
        remap_copy(r, end == SIZE_MAX ? s.n : at + end);
        if (end != SIZE_MAX) {
            remap_replace(r, at + end + 3, STR(""));
        }
        return true;
    }
    size_t end = 0;
    if (str_starts(rest, STR("<!--"))) {
        end = comment_end(s, at + 4);
    } else {
        size_t close = str_find(s, '>', at);
        bool question = str_starts(rest, STR("<?"));
        if (close == SIZE_MAX && !question) { /* an open declaration: the rest is plain text */
            remap_copy(r, s.n);
            return true;
        }
        if (close == SIZE_MAX || (question && (s.p[close - 1] != '?' || close < at + 3))) {
            return false;
        }
        end = close + 1;
    }
    remap_copy(r, at);
    remap_replace(r, end, STR(""));
    return true;
}

/* What is between the tags of these is not text. */
static bool is_raw(struct str name)
{
    return str_eq_nocase(name, STR("script")) || str_eq_nocase(name, STR("style"));
}

static bool strip_markup(const struct html_strip *f, struct remap *r, size_t at)
{
    struct str s = r->in;
    struct tag t;
    if (at + 1 < s.n && (s.p[at + 1] == '!' || s.p[at + 1] == '?')) {
        return strip_declaration(r, at);
    }
    if (!scan_tag(s, at, &t)) {
        return false;
    }
    remap_copy(r, at);
    if (!t.closing && !t.empty && !t.cut && is_raw(t.name)) {
        strip_element(f, r, &t);
    } else if (word_set_has(&f->escaped, t.name) && !(t.closing && is_raw(t.name))) {
        remap_copy(r, t.end);
    } else {
        remap_replace(r, t.end, t.cut || is_inline(t.name) ? STR("") : STR("\n"));
    }
    return true;
}

/* A numeric reference's value at `at` (behind "&#"); returns its end with the ';', or 0. */
static size_t scan_number(struct str s, size_t at, uint32_t *c)
{
    bool hex = at < s.n && (s.p[at] | 32) == 'x';
    size_t digits = hex ? at + 1 : at, end = digits;
    uint64_t v = 0;
    for (; end < s.n && v <= 0x10FFFF; end++) {
        int d = u_digit((unsigned char)s.p[end], hex ? 16 : 10);
        if (d < 0 || (unsigned char)s.p[end] >= 0x80) {
            break;
        }
        v = v * (hex ? 16 : 10) + (uint64_t)d;
    }
    *c = (uint32_t)v;
    if (end == digits || v > 0x10FFFF || (end < s.n && s.p[end] != ';')) {
        return 0;
    }
    return end < s.n ? end + 1 : end;
}

static bool is_surrogate(uint32_t c, uint32_t first)
{
    return c >= first && c < first + 0x400;
}

static enum err html_strip_apply(const struct char_filter *self, struct filtered_text *in,
                                 struct arena *arena, struct errmsg *em);

enum err html_strip_text(struct str *s, struct arena *arena, struct errmsg *em)
{
    const struct html_strip f = {.escaped = {.ignore_case = true}};
    struct filtered_text t = {.text = *s};
    enum err e = html_strip_apply(&f.base, &t, arena, em);
    *s = t.text;
    return e;
}

/* A reference at the '&' at `at`; returns its end, or 0. */
static size_t scan_reference(struct str s, size_t at, uint32_t *c)
{
    if (at + 1 < s.n && s.p[at + 1] == '#') {
        size_t end = scan_number(s, at + 2, c);
        if (end > 0 && is_surrogate(*c, 0xD800) && end + 1 < s.n && s.p[end] == '&' && s.p[end + 1] == '#') {
            uint32_t low;
            size_t pair = scan_number(s, end + 2, &low);
            if (pair > 0 && is_surrogate(low, 0xDC00)) {
                *c = 0x10000 + ((*c - 0xD800) << 10) + (low - 0xDC00);
                return pair;
            }
        }
        return end;
    }
    size_t end = at + 1;
    while (end < s.n
           && ((s.p[end] >= '0' && s.p[end] <= '9') || ((s.p[end] | 32) >= 'a' && (s.p[end] | 32) <= 'z'))) {
        end++;
    }
    *c = html_entity(str_slice(s, at + 1, end));
    if (*c == 0 || (end < s.n && s.p[end] != ';')) {
        return 0;
    }
    return end < s.n ? end + 1 : end;
}

static enum err html_strip_apply(const struct char_filter *self, struct filtered_text *in,
                                 struct arena *arena, struct errmsg *em)
{
    const struct html_strip *f = (const struct html_strip *)self;
    struct remap r;
    struct str s = in->text;
    remap_init(&r, s, arena);
    for (size_t at = 0; at < s.n;) {
        uint32_t c;
        size_t end;
        if (s.p[at] == '<' && strip_markup(f, &r, at)) {
            at = r.at;
        } else if (s.p[at] == '&' && (end = scan_reference(s, at, &c)) > 0) {
            char bytes[4];
            remap_copy(&r, at);
            remap_replace(&r, end, str_mk(bytes, utf8_put(bytes, c)));
            at = end;
        } else {
            at++;
        }
    }
    return remap_end(&r, in, em);
}

PART_FACTORY(html_strip_char_filter_new)
{
    struct html_strip *f = ARENA_NEW(arena, struct html_strip);
    if (f == NULL) {
        return err_no_memory(em);
    }
    bool found;
    f->escaped.ignore_case = true;
    f->base.apply = html_strip_apply;
    *out = &f->base;
    return word_set_read(&f->escaped, &found, s, "escaped_tags", false, env, arena, em);
}
