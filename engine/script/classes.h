/* classes.h - the behaviour of the classes that scripts may name: one row for each type. Private to engine/script. */
#ifndef ENGINE_SCRIPT_CLASSES_H
#define ENGINE_SCRIPT_CLASSES_H

#include "engine/script/vm.h"

typedef bool class_holds_fn(struct type t, struct sv v);
typedef enum err class_static_fn(struct script_run *m, enum type_id type, struct str name, struct sv *a,
                                 uint32_t n, struct sv *out);
/* `name`: by which of its names it is made. */
typedef enum err class_new_fn(struct script_run *m, enum type_id type, struct str name, struct sv *a,
                              uint32_t n, struct sv *out);

struct class_row {
    enum sv_kind kind;        /* of all of its values; SV_NULL: `holds` says, or there are none */
    class_holds_fn *holds;    /* is v, which is no array, one of its values? */
    class_static_fn *statics; /* NULL: it has none */
    class_new_fn *make;       /* NULL: scripts cannot make one */
};

extern const struct class_row classes[TYPES];

/* No static method of that name with n arguments. */
enum err vm_no_static(struct script_run *m, enum type_id type, struct str name, uint32_t n);

/* statics.c */
class_static_fn static_string, static_objects, static_collections, static_arrays, static_system;
/* statics_number.c */
class_static_fn static_math, static_box, static_character;
/* statics_time.c */
class_static_fn static_moment, static_zone, static_formatter, static_local, static_duration;
/* collectors.c */
class_static_fn static_collectors, static_comparator, static_optional, static_stream, static_function;
/* score.c */
class_static_fn static_moving;
/* constructors.c */
class_new_fn new_list, new_container, new_exception, new_builder, new_string, new_geo;

#endif
