#include "engine/query/geo_box.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A geohash names a cell; as a corner it is the cell's own corner. */
static enum err parse_corner(struct json_pull *p, bool top, bool left, double *lat, double *lon,
                             struct errmsg *em)
{
    const struct json *v = p->value;
    struct geo_box cell = {0};
    bool hash =
        v->type == JSON_STRING && str_find(v->s, ',', 0) == SIZE_MAX && str_find(v->s, '(', 0) == SIZE_MAX;
    if (hash) {
        enum err bad = geohash_box(v->s, &cell, em);
        *lat = top ? cell.top : cell.bottom;
        *lon = left ? cell.left : cell.right;
        return bad;
    }
    struct geo_point pt;
    json_pull_skip(p);
    enum err e = geo_point_of_json(&pt, v, false, em);
    *lat = pt.lat;
    *lon = pt.lon;
    return e;
}

/* BBOX (left, right, top, bottom) */
static enum err parse_wkt(struct str s, struct geo_box *q, struct errmsg *em)
{
    char text[160];
    double v[4];
    int at = 0;
    if (s.n < sizeof(text)) {
        memcpy(text, s.p, s.n);
        text[s.n] = '\0';
        if ((sscanf(text, " BBOX ( %lf , %lf , %lf , %lf ) %n", &v[0], &v[1], &v[2], &v[3], &at) == 4
             || sscanf(text, " ENVELOPE ( %lf , %lf , %lf , %lf ) %n", &v[0], &v[1], &v[2], &v[3], &at) == 4)
            && at > 0 && text[at] == '\0') {
            q->left = v[0];
            q->right = v[1];
            q->top = v[2];
            q->bottom = v[3];
            return ERR_OK;
        }
    }
    return err_set(em, ERR_PARSE, "failed to parse WKT bounding box");
}

static enum err parse_box_member(struct json_pull *p, struct geo_box *q, struct str name, struct errmsg *em)
{
    struct str s;
    if (str_is(name, "wkt")) {
        enum err e = json_pull_text(p, &s, em);
        return e == ERR_OK ? parse_wkt(s, q, em) : e;
    }
    static const struct {
        const char *name;
        size_t at;
    } sides[] = {{"top", offsetof(struct geo_box, top)},
                 {"bottom", offsetof(struct geo_box, bottom)},
                 {"left", offsetof(struct geo_box, left)},
                 {"right", offsetof(struct geo_box, right)}};
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        if (str_is(name, sides[i].name)) {
            return json_pull_double(p, (double *)(void *)((char *)q + sides[i].at), em);
        }
    }
    if (str_is(name, "top_left") || str_is(name, "topLeft")) {
        return parse_corner(p, true, true, &q->top, &q->left, em);
    }
    if (str_is(name, "bottom_right") || str_is(name, "bottomRight")) {
        return parse_corner(p, false, false, &q->bottom, &q->right, em);
    }
    if (str_is(name, "top_right") || str_is(name, "topRight")) {
        return parse_corner(p, true, false, &q->top, &q->right, em);
    }
    if (str_is(name, "bottom_left") || str_is(name, "bottomLeft")) {
        return parse_corner(p, false, true, &q->bottom, &q->left, em);
    }
    return err_set(em, ERR_PARSE, "failed to parse bounding box. unexpected field [%.*s]", STR_ARG(name));
}

enum err geo_box_read(struct json_pull *p, struct geo_box *out, struct errmsg *em)
{
    *out = (struct geo_box){NAN, NAN, NAN, NAN};
    while (json_pull_until(p, TOK_END_OBJECT)) {
        struct str name = p->name;
        json_pull_next(p);
        enum err e = parse_box_member(p, out, name, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}
