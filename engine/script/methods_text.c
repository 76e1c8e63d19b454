/* Methods of texts; offsets count UTF-16 units as Java's do. */
#include "engine/script/vm.h"

#include "common/base/stop.h"

#include "common/base/base64.h"
#include "common/base/utf8.h"

#include <unicode/uchar.h>

static struct sv part(struct str s, size_t from, size_t to)
{
    return sv_str(str_slice(s, utf16_to_byte(s, from), utf16_to_byte(s, to)));
}

static int32_t units_before(struct str s, size_t byte)
{
    return (int32_t)utf16_length(str_slice(s, 0, byte));
}

METHOD(length)
{
    *out = sv_int((int32_t)utf16_length(self.s));
    return vm_spend(m, self.s.n / 64);
}

METHOD(is_empty)
{
    *out = sv_bool(self.s.n == 0);
    return ERR_OK;
}

METHOD(char_at)
{
    int64_t i = 0;
    enum err e = vm_arg_i64(m, a[0], &i);
    size_t len = utf16_length(self.s);
    if (e == ERR_OK && (i < 0 || (uint64_t)i >= len)) {
        return err_set(m->em, ERR_STRING_BOUNDS, "String index out of range: %lld", (long long)i);
    }
    size_t at = e == ERR_OK ? utf16_to_byte(self.s, (size_t)i) : 0;
    *out = (struct sv){.kind = SV_CHAR, .i = at < self.s.n ? (int64_t)utf8_next(self.s, &at) : 0};
    return e;
}

METHOD(substring)
{
    int64_t from = 0, to = (int64_t)utf16_length(self.s), len = to;
    enum err e = vm_arg_i64(m, a[0], &from);
    e = e == ERR_OK && n > 1 ? vm_arg_i64(m, a[1], &to) : e;
    if (e == ERR_OK && (from < 0 || to > len || from > to)) {
        return err_set(m->em, ERR_STRING_BOUNDS, "begin %lld, end %lld, length %lld", (long long)from,
                       (long long)to, (long long)len);
    }
    if (e == ERR_OK) {
        *out = part(self.s, (size_t)from, (size_t)to);
    }
    return e;
}

static size_t find_last(struct str s, struct str what)
{
    for (size_t i = s.n + 1; i > 0; i--) {
        if (i - 1 + what.n <= s.n && str_eq(str_slice(s, i - 1, i - 1 + what.n), what)) {
            return i - 1;
        }
    }
    return SIZE_MAX;
}

METHOD(index_of)
{
    struct str what;
    int64_t from = 0;
    enum err e = vm_arg_str(m, a[0], &what);
    e = e == ERR_OK && n > 1 ? vm_arg_i64(m, a[1], &from) : e;
    if (e != ERR_OK) {
        return e;
    }
    size_t start = utf16_to_byte(self.s, from > 0 ? (size_t)from : 0);
    size_t at = what.n == 0 ? 0 : str_find_str(str_slice(self.s, start, self.s.n), what);
    *out = sv_int(at == SIZE_MAX ? -1 : units_before(self.s, start + at));
    return vm_spend(m, self.s.n / 16);
}

METHOD(last_index_of)
{
    struct str what;
    enum err e = vm_arg_str(m, a[0], &what);
    if (e == ERR_OK) {
        size_t at = find_last(self.s, what);
        *out = sv_int(at == SIZE_MAX ? -1 : units_before(self.s, at));
        e = vm_spend(m, self.s.n / 8);
    }
    return e;
}

METHOD(contains)
{
    struct str what;
    enum err e = vm_arg_str(m, a[0], &what);
    if (e == ERR_OK) {
        *out = sv_bool(what.n == 0 || str_find_str(self.s, what) != SIZE_MAX);
        e = vm_spend(m, self.s.n / 16);
    }
    return e;
}

METHOD(starts_with)
{
    struct str what;
    int64_t from = 0;
    enum err e = vm_arg_str(m, a[0], &what);
    e = e == ERR_OK && n > 1 ? vm_arg_i64(m, a[1], &from) : e;
    if (e == ERR_OK) {
        bool inside = from >= 0 && (uint64_t)from <= utf16_length(self.s);
        size_t at = utf16_to_byte(self.s, inside ? (size_t)from : 0);
        *out = sv_bool(inside && str_starts(str_slice(self.s, at, self.s.n), what));
    }
    return e;
}

METHOD(ends_with)
{
    struct str what;
    enum err e = vm_arg_str(m, a[0], &what);
    if (e == ERR_OK) {
        *out = sv_bool(str_ends(self.s, what));
    }
    return e;
}

/* Case by code point; German's ß and the like, which grow, stay as they are but for upper case. */
static enum err change_case(struct script_run *m, struct str s, bool upper, struct sv *out)
{
    struct buf b;
    buf_init(&b, NULL, m->limits.bytes_max);
    for (size_t at = 0; at < s.n;) {
        uint32_t c = utf8_next(s, &at);
        if (upper && c == 0xDF) {
            buf_z(&b, "SS");
        } else {
            buf_utf8(&b, (uint32_t)(upper ? u_toupper((UChar32)c) : u_tolower((UChar32)c)));
        }
    }
    enum err e = b.failed ? vm_no_memory(m) : vm_str(m, buf_view(&b), out);
    buf_fini(&b);
    return e;
}

METHOD(lower)
{
    return change_case(m, self.s, false, out);
}

METHOD(upper)
{
    return change_case(m, self.s, true, out);
}

METHOD(equals_ignore_case)
{
    struct sv x, y;
    struct str other;
    if (a[0].kind == SV_NULL) {
        *out = sv_bool(false);
        return ERR_OK;
    }
    enum err e = vm_arg_str(m, a[0], &other);
    e = e == ERR_OK ? change_case(m, self.s, false, &x) : e;
    e = e == ERR_OK ? change_case(m, other, false, &y) : e;
    if (e == ERR_OK) {
        *out = sv_bool(str_eq(x.s, y.s));
    }
    return e;
}

METHOD(compare_to)
{
    struct str other;
    enum err e = vm_arg_str(m, a[0], &other);
    size_t i = 0, k = 0;
    while (e == ERR_OK && i < self.s.n
           && k < other.n) { /* the difference of the first characters that differ */
        uint32_t x = utf8_next(self.s, &i), y = utf8_next(other, &k);
        if (x != y) {
            *out = sv_int((int32_t)x - (int32_t)y);
            return ERR_OK;
        }
    }
    if (e == ERR_OK) {
        *out = sv_int((int32_t)utf16_length(self.s) - (int32_t)utf16_length(other));
    }
    return e;
}

METHOD(trim)
{
    *out = sv_str(str_trim(self.s));
    return ERR_OK;
}

METHOD(concat)
{
    struct str other;
    enum err e = vm_arg_str(m, a[0], &other);
    return e == ERR_OK ? vm_binary(m, OP_ADD, self, sv_str(other), out) : e;
}

METHOD(replace)
{
    struct str from, to;
    struct buf b;
    enum err e = vm_arg_str(m, a[0], &from);
    e = e == ERR_OK ? vm_arg_str(m, a[1], &to) : e;
    if (e != ERR_OK || from.n == 0) {
        *out = self;
        return e;
    }
    buf_init(&b, NULL, m->limits.bytes_max);
    for (size_t at = 0; at < self.s.n && !stop_often();) {
        struct str rest = str_slice(self.s, at, self.s.n);
        if (str_starts(rest, from)) {
            buf_str(&b, to);
            at += from.n;
        } else {
            buf_char(&b, self.s.p[at++]);
        }
    }
    e = b.failed ? vm_no_memory(m) : vm_str(m, buf_view(&b), out);
    buf_fini(&b);
    return e;
}

/* Painless's own: by a fixed text, without regular expressions; empty parts at the end go as Java's split
 * drops them. */
METHOD(split_on_token)
{
    struct str token;
    int64_t limit = -1;
    enum err e = vm_arg_str(m, a[0], &token);
    e = e == ERR_OK && n > 1 ? vm_arg_i64(m, a[1], &limit) : e;
    e = e == ERR_OK ? vm_list(m, LIST_ARRAY, out) : e;
    struct str rest = self.s;
    while (e == ERR_OK && token.n > 0 && !stop_often() && (limit <= 0 || (int64_t)out->list->n + 1 < limit)) {
        size_t at = str_find_str(rest, token);
        if (at == SIZE_MAX) {
            break;
        }
        e = vm_push(m, out->list, sv_str(str_slice(rest, 0, at)));
        rest = str_slice(rest, at + token.n, rest.n);
    }
    return e == ERR_OK ? vm_push(m, out->list, sv_str(rest)) : e;
}

METHOD(to_char_array)
{
    enum err e = vm_list(m, LIST_ARRAY, out);
    for (size_t at = 0; at < self.s.n && e == ERR_OK && !stop_often();) {
        e = vm_push(m, out->list, (struct sv){.kind = SV_CHAR, .i = (int64_t)utf8_next(self.s, &at)});
    }
    return e;
}

METHOD(replace_all)
{
    return regex_replace(m, a[0], self.s, a[1], true, out);
}

METHOD(replace_first)
{
    return regex_replace(m, a[0], self.s, a[1], false, out);
}

METHOD(repeat)
{
    int64_t times = 0;
    struct buf b;
    enum err e = vm_arg_i64(m, a[0], &times);
    if (e != ERR_OK) {
        return e;
    }
    if (times < 0 || (self.s.n > 0 && (uint64_t)times > m->limits.bytes_max / self.s.n)) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "count is out of range: %lld", (long long)times);
    }
    buf_init(&b, NULL, m->limits.bytes_max);
    for (int64_t i = 0; i < times && self.s.n > 0 && !stop_often(); i++) {
        buf_str(&b, self.s);
    }
    e = b.failed ? vm_no_memory(m) : vm_str(m, buf_view(&b), out);
    buf_fini(&b);
    return e;
}

METHOD(encode_base64)
{
    struct buf b;
    buf_init(&b, NULL, m->limits.bytes_max);
    base64_put(self.s, &b);
    for (size_t i = b.n; i % 4 != 0 && !b.failed; i++) {
        buf_char(&b, '=');
    }
    enum err e = b.failed ? vm_no_memory(m) : vm_str(m, buf_view(&b), out);
    buf_fini(&b);
    return e;
}

METHOD(decode_base64)
{
    char *bytes = arena_alloc(&m->mem, self.s.n + 1);
    size_t k = 0;
    if (bytes == NULL) {
        return vm_no_memory(m);
    }
    if (!base64_decode(self.s, bytes, &k)) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "Illegal base64 character %x",
                       (unsigned)(unsigned char)self.s.p[k]);
    }
    *out = sv_str(str_mk(bytes, k));
    return utf8_valid(out->s) ? vm_spend(m, k / 32)
                              : err_set(m->em, ERR_ILLEGAL_ARGUMENT, "the bytes are no text in UTF-8");
}

METHOD(compare_ignore_case)
{
    struct sv other = a[0], mine = self;
    enum err e = lower(m, self, NULL, 0, &mine);
    if (e == ERR_OK && other.kind == SV_STR) {
        e = lower(m, a[0], NULL, 0, &other);
    }
    return e == ERR_OK ? compare_to(m, mine, &other, 1, out) : e;
}

METHOD(code_point_at)
{
    enum err e = char_at(m, self, a, n, out);
    out->kind = e == ERR_OK ? SV_INT : out->kind;
    return e;
}

/* A stream of numbers. */
METHOD(chars)
{
    enum err e = vm_list(m, LIST_STREAM, out);
    for (size_t at = 0; at < self.s.n && e == ERR_OK;) {
        e = vm_push(m, out->list, sv_int((int32_t)utf8_next(self.s, &at)));
    }
    return e;
}

static const struct method table[] = {{"length", 0, length},
                                      {"isEmpty", 0, is_empty},
                                      {"charAt", 1, char_at},
                                      {"codePointAt", 1, code_point_at},
                                      {"substring", 1, substring},
                                      {"substring", 2, substring},
                                      {"subSequence", 2, substring},
                                      {"indexOf", 1, index_of},
                                      {"indexOf", 2, index_of},
                                      {"lastIndexOf", 1, last_index_of},
                                      {"contains", 1, contains},
                                      {"startsWith", 1, starts_with},
                                      {"startsWith", 2, starts_with},
                                      {"endsWith", 1, ends_with},
                                      {"toLowerCase", 0, lower},
                                      {"toUpperCase", 0, upper},
                                      {"equalsIgnoreCase", 1, equals_ignore_case},
                                      {"compareTo", 1, compare_to},
                                      {"trim", 0, trim},
                                      {"concat", 1, concat},
                                      {"replace", 2, replace},
                                      {"splitOnToken", 1, split_on_token},
                                      {"splitOnToken", 2, split_on_token},
                                      {"toCharArray", 0, to_char_array},
                                      {"replaceAll", 2, replace_all},
                                      {"replaceFirst", 2, replace_first},
                                      {"repeat", 1, repeat},
                                      {"encodeBase64", 0, encode_base64},
                                      {"decodeBase64", 0, decode_base64},
                                      {"compareToIgnoreCase", 1, compare_ignore_case},
                                      {"chars", 0, chars}};

enum err methods_str(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                     struct sv *out, bool *found)
{
    return vm_table(m, table, ARRAY_LEN(table), self, name, a, n, out, found);
}
