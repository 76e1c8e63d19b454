/* allow_classes.h - the rows of classes that scripts may name. Private to engine/script. */
#ifndef ENGINE_SCRIPT_ALLOW_CLASSES_H
#define ENGINE_SCRIPT_ALLOW_CLASSES_H

#include <stddef.h>

struct script_class {
    const char *name, *above; /* what it descends from, apart by blanks; every class descends from Object */
    const char
        *members; /* each ends with a semicolon: "static int abs(int);", "new(int);", "static int SIZE;" */
};

/* The classes of java.time. */
extern const struct script_class allow_time[];
extern const size_t allow_time_n;

#endif
