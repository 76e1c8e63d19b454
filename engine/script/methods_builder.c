/* Methods of StringBuilder. */
#include "engine/script/vm.h"

#include "common/base/utf8.h"

METHOD(append)
{
    struct str text;
    struct sv_builder *b = self.builder;
    enum err e = vm_text(m, a[0], &text);
    if (e == ERR_OK && b->n + text.n + 1 > b->cap) {
        size_t cap = MAX_OF(b->cap * 2, b->n + text.n + 64);
        char *p = arena_alloc(&m->mem, cap);
        if (p == NULL) {
            return vm_no_memory(m);
        }
        if (b->n > 0) {
            memcpy(p, b->p, b->n);
        }
        b->p = p;
        b->cap = cap;
    }
    if (e == ERR_OK && text.n > 0) {
        memcpy(b->p + b->n, text.p, text.n);
        b->n += text.n;
    }
    *out = self;
    return e == ERR_OK ? vm_spend(m, text.n / 32) : e;
}

METHOD(length)
{
    *out = sv_int((int32_t)utf16_length(str_mk(self.builder->p, self.builder->n)));
    return ERR_OK;
}

/* Puts a text in the place of what stands from one UTF-16 unit to another. */
static enum err splice(struct script_run *m, struct sv_builder *b, int64_t from, int64_t to, struct str text)
{
    struct str all = str_mk(b->p, b->n);
    size_t start = utf16_to_byte(all, (size_t)from), end = utf16_to_byte(all, (size_t)to);
    size_t n = start + text.n + (all.n - end);
    char *p = arena_alloc(&m->mem, n + 1);
    if (p == NULL) {
        return vm_no_memory(m);
    }
    memcpy(p, start > 0 ? all.p : "", start);
    memcpy(p + start, text.n > 0 ? text.p : "", text.n);
    memcpy(p + start + text.n, all.n > end ? all.p + end : "", all.n - end);
    *b = (struct sv_builder){.p = p, .n = n, .cap = n + 1};
    return vm_spend(m, 1 + n / 32);
}

static int64_t units(const struct sv_builder *b)
{
    return (int64_t)utf16_length(str_mk(b->p, b->n));
}

static enum err bounds(struct script_run *m, const char *what, int64_t at, int64_t n)
{
    return err_set(m->em, ERR_STRING_BOUNDS, "%s %lld, length %lld", what, (long long)at, (long long)n);
}

METHOD(insert)
{
    int64_t at = 0;
    struct str text;
    enum err e = vm_arg_i64(m, a[0], &at);
    e = e == ERR_OK ? vm_text(m, a[1], &text) : e;
    if (e == ERR_OK && (at < 0 || at > units(self.builder))) {
        return err_set(m->em, ERR_STRING_BOUNDS, "offset %lld, length %lld", (long long)at,
                       (long long)units(self.builder));
    }
    *out = self;
    return e == ERR_OK ? splice(m, self.builder, at, at, text) : e;
}

METHOD(delete_char)
{
    int64_t at = 0, all = units(self.builder);
    enum err e = vm_arg_i64(m, a[0], &at);
    if (e == ERR_OK && (at < 0 || at >= all)) {
        return bounds(m, "index", at, all);
    }
    *out = self;
    return e == ERR_OK ? splice(m, self.builder, at, at + 1, STR("")) : e;
}

/* delete(from, to), replace(from, to, text): the end may lie behind the text's. */
METHOD(replace)
{
    int64_t from = 0, to = 0, all = units(self.builder);
    struct str text = STR("");
    enum err e = vm_arg_i64(m, a[0], &from);
    e = e == ERR_OK ? vm_arg_i64(m, a[1], &to) : e;
    e = e == ERR_OK && n == 3 ? vm_arg_str(m, a[2], &text) : e;
    to = MIN_OF(to, all);
    if (e == ERR_OK && (from < 0 || from > to)) {
        return err_set(m->em, ERR_STRING_BOUNDS, "start %lld, end %lld, length %lld", (long long)from,
                       (long long)to, (long long)all);
    }
    *out = self;
    return e == ERR_OK ? splice(m, self.builder, from, to, text) : e;
}

METHOD(set_length)
{
    int64_t to = 0, all = units(self.builder);
    enum err e = vm_arg_i64(m, a[0], &to);
    if (e == ERR_OK && to < 0) {
        return err_set(m->em, ERR_STRING_BOUNDS, "String index out of range: %lld", (long long)to);
    }
    *out = sv_null();
    for (; e == ERR_OK && all < to; all++) { /* filled up with NUL */
        e = splice(m, self.builder, all, all, str_mk("", 1));
    }
    return e == ERR_OK ? splice(m, self.builder, to, all, STR("")) : e;
}

METHOD(set_char)
{
    int64_t at = 0, all = units(self.builder);
    struct str text;
    enum err e = vm_arg_i64(m, a[0], &at);
    e = e == ERR_OK ? vm_text(m, a[1], &text) : e;
    if (e == ERR_OK && (at < 0 || at >= all)) {
        return bounds(m, "index", at, all);
    }
    *out = sv_null();
    return e == ERR_OK ? splice(m, self.builder, at, at + 1, text) : e;
}

METHOD(reverse)
{
    struct sv_builder *b = self.builder;
    struct str all = str_mk(b->p, b->n);
    char *p = arena_alloc(&m->mem, b->n + 1);
    if (p == NULL) {
        return vm_no_memory(m);
    }
    for (size_t at = 0, end = all.n; at < all.n;) { /* characters keep their bytes in order */
        size_t start = at;
        (void)utf8_next(all, &at);
        end -= at - start;
        memcpy(p + end, all.p + start, at - start);
    }
    *b = (struct sv_builder){.p = p, .n = all.n, .cap = all.n + 1};
    *out = self;
    return vm_spend(m, 1 + all.n / 32);
}

enum err methods_builder(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                         struct sv *out, bool *found)
{
    static const struct method table[] = {{"append", 1, append},     {"length", 0, length},
                                          {"insert", 2, insert},     {"deleteCharAt", 1, delete_char},
                                          {"delete", 2, replace},    {"replace", 3, replace},
                                          {"reverse", 0, reverse},   {"setLength", 1, set_length},
                                          {"setCharAt", 2, set_char}};
    static const char *const as_text[] = {"charAt",    "codePointAt", "indexOf", "lastIndexOf",
                                          "substring", "subSequence", "chars"};
    enum err e = vm_table(m, table, ARRAY_LEN(table), self, name, a, n, out, found);
    for (size_t i = 0; e == ERR_OK && !*found && i < ARRAY_LEN(as_text); i++) {
        if (str_is(name, as_text[i])) {
            struct sv text = sv_str(str_mk(self.builder->p, self.builder->n));
            return methods_str(m, text, name, a, n, out, found);
        }
    }
    return e;
}
