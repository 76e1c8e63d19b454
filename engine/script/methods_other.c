/* Methods of points, numbers and the rest, and those that every object has. */
#include "engine/script/collectors.h"
#include "engine/script/time.h"

#include "common/base/utf8.h"

/* ---- small kinds ---- */

METHOD(geo_lat)
{
    *out = sv_double(self.geo->lat);
    return ERR_OK;
}

METHOD(geo_lon)
{
    *out = sv_double(self.geo->lon);
    return ERR_OK;
}

METHOD(entry_key)
{
    *out = self.aux < self.map->n ? self.map->e[self.aux].key : sv_null();
    return ERR_OK;
}

METHOD(entry_value)
{
    *out = self.aux < self.map->n ? self.map->e[self.aux].value : sv_null();
    return ERR_OK;
}

METHOD(entry_set)
{
    enum err e = self.map->frozen ? vm_frozen(m) : ERR_OK;
    if (e == ERR_OK && self.aux < self.map->n) {
        *out = self.map->e[self.aux].value;
        self.map->e[self.aux].value = a[0];
    }
    return e;
}

METHOD(iter_has_next)
{
    *out = sv_bool(self.iter->at < self.iter->n);
    return ERR_OK;
}

METHOD(iter_next)
{
    enum err e;
    if (!vm_next(m, self.iter, out, &e) && e == ERR_OK) {
        return err_set(m->em, ERR_NO_SUCH_ELEMENT, "%s", "");
    }
    return e;
}

METHOD(iter_remove)
{
    struct sv_iter *it = self.iter;
    if (it->at == 0 || it->at > it->list->n) {
        return err_set(m->em, ERR_ILLEGAL_STATE, "remove() without next()");
    }
    if (it->list->frozen) {
        return vm_frozen(m);
    }
    sv_list_remove(it->list, --it->at);
    it->n = it->list->n;
    *out = sv_null();
    return vm_spend(m, it->n / 8);
}

METHOD(optional_get)
{
    if (self.list->n == 0) {
        return err_set(m->em, ERR_NO_SUCH_ELEMENT, "No value present");
    }
    *out = self.list->v[0];
    return ERR_OK;
}

METHOD(optional_present)
{
    *out = sv_bool(self.list->n > 0);
    return ERR_OK;
}

METHOD(optional_or)
{
    *out = self.list->n > 0 ? self.list->v[0] : a[0];
    return ERR_OK;
}

METHOD(optional_or_get)
{
    if (self.list->n > 0) {
        *out = self.list->v[0];
        return ERR_OK;
    }
    return vm_call(m, a[0], NULL, 0, out);
}

METHOD(optional_if_present)
{
    struct sv ignored;
    *out = sv_null();
    return self.list->n > 0 ? vm_call(m, a[0], self.list->v, 1, &ignored) : ERR_OK;
}

METHOD(optional_map)
{
    struct sv v = sv_null();
    enum err e = self.list->n > 0 ? vm_call(m, a[0], self.list->v, 1, &v) : ERR_OK;
    return e == ERR_OK ? optional_of(m, v.kind != SV_NULL, v, out) : e;
}

METHOD(optional_flat_map)
{
    *out = self;
    return self.list->n > 0 ? vm_call(m, a[0], self.list->v, 1, out) : ERR_OK;
}

METHOD(optional_filter)
{
    bool is = false;
    struct sv v;
    enum err e = self.list->n > 0 ? vm_call(m, a[0], self.list->v, 1, &v) : ERR_OK;
    e = e == ERR_OK && self.list->n > 0 ? vm_arg_bool(m, v, &is) : e;
    return e == ERR_OK ? optional_of(m, is, is ? self.list->v[0] : sv_null(), out) : e;
}

METHOD(func_reversed)
{
    return comparator_reversed(m, self, out);
}

METHOD(enum_value)
{
    *out = sv_int((int32_t)self.i);
    return ERR_OK;
}

METHOD(enum_ordinal)
{
    *out = sv_int((int32_t)self.i - 1);
    return ERR_OK;
}

METHOD(func_call)
{
    return vm_call(m, self, a, n, out);
}

METHOD(pattern_matcher)
{
    struct sv_matcher *x = ARENA_NEW(&m->mem, struct sv_matcher);
    if (x == NULL) {
        return vm_no_memory(m);
    }
    x->pattern = self.s;
    x->flags = self.aux;
    *out = (struct sv){.kind = SV_MATCHER, .matcher = x};
    return vm_arg_str(m, a[0], &x->text);
}

METHOD(pattern_split)
{
    struct str text;
    enum err e = vm_arg_str(m, a[0], &text);
    return e == ERR_OK ? regex_split(m, self, text, out) : e;
}

METHOD(matcher_matches)
{
    bool r = false;
    self.matcher->from = 0;
    enum err e = regex_find(m, self.matcher, true, &r);
    *out = sv_bool(r);
    return e;
}

/* What it found before has no part in these. */
static enum err matcher_replaced(struct script_run *m, struct sv self, struct sv with, bool all,
                                 struct sv *out)
{
    const struct sv_matcher *x = self.matcher;
    struct sv pattern = {.kind = SV_PATTERN, .aux = x->flags, .s = x->pattern};
    return regex_replace(m, pattern, x->text, with, all, out);
}

METHOD(matcher_replace_all)
{
    return matcher_replaced(m, self, a[0], true, out);
}

METHOD(matcher_replace_first)
{
    return matcher_replaced(m, self, a[0], false, out);
}

METHOD(matcher_find)
{
    bool r = false;
    enum err e = regex_find(m, self.matcher, false, &r);
    *out = sv_bool(r);
    return e;
}

METHOD(matcher_group)
{
    int64_t i = 0;
    enum err e = n > 0 ? vm_arg_i64(m, a[0], &i) : ERR_OK;
    if (e == ERR_OK && self.matcher->groups == NULL) {
        return err_set(m->em, ERR_ILLEGAL_STATE, "No match found");
    }
    if (e == ERR_OK && (i < 0 || i >= self.matcher->groups->n)) {
        return err_set(m->em, ERR_INDEX_BOUNDS, "No group %lld", (long long)i);
    }
    if (e == ERR_OK) {
        *out = self.matcher->groups->v[i];
    }
    return e;
}

/* Java counts in UTF-16. */
static struct sv units_before(const struct sv_matcher *x, size_t byte)
{
    return sv_int((int32_t)utf16_length(str_slice(x->text, 0, byte)));
}

METHOD(matcher_start)
{
    *out = units_before(self.matcher, self.matcher->start);
    return ERR_OK;
}

METHOD(matcher_end)
{
    *out = units_before(self.matcher, self.matcher->end);
    return ERR_OK;
}

METHOD(matcher_count)
{
    *out = sv_int(self.matcher->groups != NULL ? (int32_t)self.matcher->groups->n - 1 : 0);
    return ERR_OK;
}

/* ---- numbers ---- */

static enum err number_as(struct script_run *m, struct sv self, enum sv_kind kind, struct sv *out)
{
    *out = sv_to_kind(self, kind);
    return sv_is_number(self) ? ERR_OK : vm_class_cast(m, self, "java.lang.Number");
}

METHOD(int_value)
{
    return number_as(m, self, SV_INT, out);
}

METHOD(long_value)
{
    return number_as(m, self, SV_LONG, out);
}

METHOD(float_value)
{
    return number_as(m, self, SV_FLOAT, out);
}

METHOD(double_value)
{
    return number_as(m, self, SV_DOUBLE, out);
}

METHOD(bool_value)
{
    *out = self;
    return ERR_OK;
}

METHOD(is_nan)
{
    *out = sv_bool(!sv_is_whole(self) && self.d != self.d);
    return ERR_OK;
}

METHOD(compare_to)
{
    int r = 0;
    *out = sv_null();
    if (a[0].kind == SV_NULL) {
        return vm_null(m, "compareTo");
    }
    if (!sv_compare(self, a[0], &r)) {
        return vm_class_cast(m, a[0], sv_class(self));
    }
    *out = sv_int(r);
    return ERR_OK;
}

METHOD(compare_back)
{
    return compare_to(m, a[0], &self, n, out);
}

METHOD(formatter_format)
{
    if (a[0].kind != SV_DATE && a[0].kind != SV_INSTANT && a[0].kind != SV_LOCAL) {
        return a[0].kind == SV_NULL ? vm_null(m, "format") : vm_class_cast(m, a[0], "TemporalAccessor");
    }
    return vm_method(m, a[0], STR("format"), &self, 1, out);
}

/* ---- every object ---- */

METHOD(equals)
{
    *out = sv_bool(sv_equals(self, a[0], &m->steps));
    return vm_spend(m, 0);
}

METHOD(hash_code)
{
    enum err e = ERR_OK;
    if (self.kind == SV_FIELD) { /* that of the list of its values */
        struct sv_list *values;
        e = vm_arg_list(m, self, &values);
        self = sv_of_list(values);
    }
    *out = sv_int(e == ERR_OK ? (int32_t)sv_hash(self) : 0);
    return e;
}

METHOD(to_string)
{
    struct str text;
    enum err e = vm_text(m, self, &text);
    *out = sv_str(text);
    return e;
}

/* The message of a caught exception, which is a map. */
METHOD(get_message)
{
    return vm_get(m, self, STR("message"), out);
}

/* ChronoUnit's */
METHOD(unit_between)
{
    if (self.aux != TYPE_CHRONO_UNIT) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "dynamic method [%s, between/2] not found",
                       sv_class(self));
    }
    return date_between(m, self.i, a[0], a[1], out);
}

struct kind_method {
    enum sv_kind kind;
    struct method method;
};

static const struct kind_method small[] = {{SV_GEO, {"getLat", 0, geo_lat}},
                                           {SV_GEO, {"getLon", 0, geo_lon}},
                                           {SV_ENTRY, {"getKey", 0, entry_key}},
                                           {SV_ENTRY, {"getValue", 0, entry_value}},
                                           {SV_ENTRY, {"setValue", 1, entry_set}},
                                           {SV_ITER, {"hasNext", 0, iter_has_next}},
                                           {SV_ITER, {"next", 0, iter_next}},
                                           {SV_ITER, {"remove", 0, iter_remove}},
                                           {SV_OPTIONAL, {"get", 0, optional_get}},
                                           {SV_OPTIONAL, {"getAsInt", 0, optional_get}},
                                           {SV_OPTIONAL, {"getAsLong", 0, optional_get}},
                                           {SV_OPTIONAL, {"getAsDouble", 0, optional_get}},
                                           {SV_OPTIONAL, {"isPresent", 0, optional_present}},
                                           {SV_OPTIONAL, {"orElse", 1, optional_or}},
                                           {SV_OPTIONAL, {"orElseGet", 1, optional_or_get}},
                                           {SV_OPTIONAL, {"ifPresent", 1, optional_if_present}},
                                           {SV_OPTIONAL, {"map", 1, optional_map}},
                                           {SV_OPTIONAL, {"flatMap", 1, optional_flat_map}},
                                           {SV_OPTIONAL, {"filter", 1, optional_filter}},
                                           {SV_FUNC, {"reversed", 0, func_reversed}},
                                           {SV_ENUM, {"getValue", 0, enum_value}},
                                           {SV_ENUM, {"ordinal", 0, enum_ordinal}},
                                           {SV_ENUM, {"name", 0, to_string}},
                                           {SV_ZONE, {"getId", 0, to_string}},
                                           {SV_FUNC, {"apply", -1, func_call}},
                                           {SV_FUNC, {"test", -1, func_call}},
                                           {SV_FUNC, {"accept", -1, func_call}},
                                           {SV_FUNC, {"get", -1, func_call}},
                                           {SV_FUNC, {"compare", 2, func_call}},
                                           {SV_FUNC, {"applyAsInt", -1, func_call}},
                                           {SV_FUNC, {"applyAsLong", -1, func_call}},
                                           {SV_FUNC, {"applyAsDouble", -1, func_call}},
                                           {SV_PATTERN, {"matcher", 1, pattern_matcher}},
                                           {SV_PATTERN, {"split", 1, pattern_split}},
                                           {SV_MATCHER, {"matches", 0, matcher_matches}},
                                           {SV_MATCHER, {"find", 0, matcher_find}},
                                           {SV_MATCHER, {"replaceAll", 1, matcher_replace_all}},
                                           {SV_MATCHER, {"replaceFirst", 1, matcher_replace_first}},
                                           {SV_MATCHER, {"group", 0, matcher_group}},
                                           {SV_MATCHER, {"group", 1, matcher_group}},
                                           {SV_MATCHER, {"groupCount", 0, matcher_count}},
                                           {SV_MATCHER, {"start", 0, matcher_start}},
                                           {SV_MATCHER, {"end", 0, matcher_end}},
                                           {SV_FORMATTER, {"format", 1, formatter_format}},
                                           {SV_TYPE, {"between", 2, unit_between}},
                                           {SV_BOOL, {"booleanValue", 0, bool_value}},
                                           {SV_MAP, {"getMessage", 0, get_message}}};

enum err methods_other(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                       struct sv *out, bool *found)
{
    static const struct method numbers[] = {{"intValue", 0, int_value},     {"longValue", 0, long_value},
                                            {"floatValue", 0, float_value}, {"doubleValue", 0, double_value},
                                            {"shortValue", 0, int_value},   {"byteValue", 0, int_value},
                                            {"isNaN", 0, is_nan},           {"compareTo", 1, compare_to}};
    static const struct method all[] = {{"equals", 1, equals},
                                        {"hashCode", 0, hash_code},
                                        {"toString", 0, to_string},
                                        {"compareTo", 1, compare_to},
                                        {"#compareBack", 1, compare_back}};
    for (size_t i = 0; i < ARRAY_LEN(small); i++) {
        if (small[i].kind == self.kind) {
            enum err e = vm_table(m, &small[i].method, 1, self, name, a, n, out, found);
            if (e != ERR_OK || *found) {
                return e;
            }
        }
    }
    if (sv_is_number(self)) {
        enum err e = vm_table(m, numbers, ARRAY_LEN(numbers), self, name, a, n, out, found);
        if (e != ERR_OK || *found) {
            return e;
        }
    }
    if (self.kind == SV_DOCS && n == 1 && (str_is(name, "get") || str_is(name, "containsKey"))) {
        *found = true;
        if (str_is(name, "get")) {
            return vm_get_at(m, self, a[0], out);
        }
        struct str field;
        enum err e = vm_arg_str(m, a[0], &field);
        *out = sv_bool(e == ERR_OK && m->env->has_field != NULL && m->env->has_field(m->env->self, field));
        return e;
    }
    return vm_table(m, all, ARRAY_LEN(all), self, name, a, n, out, found);
}
