#include "hotel/table.h"

static enum err missing_columns(const struct table *t, struct errmsg *em)
{
    char names[256] = "";
    size_t n = 0;
    for (unsigned c = 0; c < HOTEL_COLUMNS_N; c++) {
        const char *name = hotel_column_name((enum hotel_column)c);
        if (t->from[c] == SIZE_MAX && hotel_column_required((enum hotel_column)c)
            && n + strlen(name) + 3 < sizeof(names)) {
            memcpy(names + n, n > 0 ? ", " : "", n > 0 ? 2 : 0);
            n += n > 0 ? 2 : 0;
            memcpy(names + n, name, strlen(name) + 1);
            n += strlen(name);
        }
    }
    return n == 0 ? ERR_OK
                  : err_set(em, ERR_ILLEGAL_ARGUMENT, "line 1: the header has no column named %s", names);
}

static bool column_of(struct str name, unsigned *out)
{
    for (unsigned c = 0; c < HOTEL_COLUMNS_N; c++) {
        if (str_eq_nocase(name, str_of(hotel_column_name((enum hotel_column)c)))) {
            *out = c;
            return true;
        }
    }
    return false;
}

enum err table_open(struct table *t, struct str text, struct arena *arena, struct errmsg *em)
{
    struct str v[CSV_FIELDS_MAX];
    csv_init(&t->csv, text);
    for (unsigned c = 0; c < HOTEL_COLUMNS_N; c++) {
        t->from[c] = SIZE_MAX;
    }
    enum err e = csv_row(&t->csv, arena, v, &t->width, em);
    if (e != ERR_OK) {
        return e;
    }
    if (t->width == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "line 1: there is no header, the file is empty");
    }
    for (size_t i = 0; i < t->width; i++) {
        unsigned c;
        if (!column_of(str_trim(v[i]), &c)) {
            continue;
        }
        if (t->from[c] != SIZE_MAX) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "line 1: column %s is there twice",
                           hotel_column_name((enum hotel_column)c));
        }
        t->from[c] = i;
    }
    return missing_columns(t, em);
}

uint64_t table_line(const struct table *t)
{
    return t->csv.line;
}

enum err table_next(struct table *t, struct arena *arena, struct hotel *out, bool *got, struct errmsg *em)
{
    struct str v[CSV_FIELDS_MAX];
    size_t n;
    *out = (struct hotel){0};
    *got = false;
    enum err e = csv_row(&t->csv, arena, v, &n, em);
    if (e != ERR_OK || n == 0) {
        return e;
    }
    if (n != t->width) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "line %llu: %zu fields, the header has %zu",
                       (unsigned long long)t->csv.line, n, t->width);
    }
    for (unsigned c = 0; c < HOTEL_COLUMNS_N && e == ERR_OK; c++) {
        if (t->from[c] != SIZE_MAX) {
            e = hotel_set(out, (enum hotel_column)c, v[t->from[c]], em);
        }
    }
    e = e == ERR_OK ? hotel_check(out, em) : e;
    if (e != ERR_OK) {
        return err_prefix(em, e, "line %llu", (unsigned long long)t->csv.line);
    }
    *got = true;
    return ERR_OK;
}
