/* kinds.h - the kinds of values: one row for each. Private to engine/script. */
#ifndef ENGINE_SCRIPT_KINDS_H
#define ENGINE_SCRIPT_KINDS_H

#include "engine/script/vm.h"

#define DEPTH_MAX 100 /* of values in values: a list may hold itself */

struct comparing {
    uint64_t steps; /* so far */
    unsigned depth;
};

typedef const char *kind_class_fn(struct sv v);
typedef bool kind_equal_fn(struct sv a, struct sv b, struct comparing *c);
typedef bool kind_compare_fn(struct sv a, struct sv b, int *out);
typedef uint32_t kind_hash_fn(struct sv v, uint32_t *left);
typedef bool kind_text_fn(struct sv v, struct buf *out, unsigned depth);
typedef enum err kind_json_fn(struct json *out, struct sv v, struct arena *a, unsigned depth,
                              struct errmsg *em);
typedef enum err kind_get_fn(struct script_run *m, struct sv object, struct str name, struct sv *out);
typedef enum err kind_get_at_fn(struct script_run *m, struct sv object, struct sv index, struct sv *out);
typedef enum err kind_put_fn(struct script_run *m, struct sv object, struct str name, struct sv v);
typedef enum err kind_put_at_fn(struct script_run *m, struct sv object, struct sv index, struct sv v);
typedef enum err kind_methods_fn(struct script_run *m, struct sv self, struct str name, struct sv *a,
                                 uint32_t n, struct sv *out, bool *found);

struct kind {
    const char *class;        /* in Java */
    kind_class_fn *class_of;  /* NULL: that one */
    kind_equal_fn *equal;     /* two of the kind; NULL: when they are one object */
    kind_compare_fn *compare; /* two of the kind; NULL: they have no order */
    kind_hash_fn *hash;       /* and of what is in it as long as *left is not used up; NULL: 0 */
    kind_text_fn *text;       /* Java's toString; NULL: the class */
    kind_json_fn *json;       /* NULL: it has no JSON form */
    kind_get_fn *get;         /* .name; NULL: a method getName() */
    kind_get_at_fn *get_at;   /* [index]; this one and the next: NULL where there is no such */
    kind_put_fn *put;         /* .name = v */
    kind_put_at_fn *put_at;   /* [index] = v */
    kind_methods_fn *methods; /* NULL: those of methods_other() alone */
};

extern const struct kind kinds[SV_KINDS];

/* Does one value equal the other, of whatever kinds? What nests deeper than any real value, or holds more, does not. */
bool kinds_equal(struct sv a, struct sv b, struct comparing *c);
uint32_t kinds_hash(struct sv v, uint32_t *left);
/* Index of the entry of a key, or UINT32_MAX. */
uint32_t sv_map_find(const struct sv_map *m, struct sv key, uint32_t hash, struct comparing *c);

/* value_compare.c */
kind_equal_fn equal_always, equal_bool, equal_whole, equal_fraction, equal_text, equal_list, equal_map,
    equal_date, equal_instant, equal_geo, equal_named, equal_zone;
kind_compare_fn compare_text, compare_bool, compare_local, compare_date, compare_enum;
/* value_hash.c */
kind_hash_fn hash_bool, hash_int, hash_long, hash_float, hash_double, hash_text, hash_list, hash_map,
    hash_date;
/* value_text.c */
kind_class_fn class_of_list, class_of_map, class_of_field, class_of_local;
kind_text_fn text_null, text_bool, text_whole, text_char, text_float, text_double, text_str, text_optional,
    text_list, text_map, text_entry, text_date, text_geo, text_field, text_zone, text_enum;
/* value_json.c */
kind_json_fn write_null, write_bool, write_whole, write_fraction, write_list, write_map, write_geo,
    write_moment, write_local, write_text;
/* members.c */
kind_get_fn get_of_null, get_of_map, get_of_docs, get_of_list;
kind_get_at_fn get_at_null, get_at_map, get_at_docs, get_at_list, get_at_field;
kind_put_fn put_to_null, put_to_map, put_to_entry;
kind_put_at_fn put_at_null, put_at_map, put_at_list;

#endif
