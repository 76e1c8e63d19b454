/* A generator of candidates of the phrase suggester, as it is written. What it says wrongly of modes, orders and
 * frequencies the shards refuse. */
#include "engine/suggest/suggest_int.h"

struct written {
    struct direct_options *o;
    struct str mode, sort, distance;
};

static enum err read_size(struct json_pull *p, UNUSED struct arena *arena, void *base, struct errmsg *em)
{
    struct direct_options *o = ((struct written *)base)->o;
    enum err e = json_pull_i32(p, &o->size, em);
    return e == ERR_OK && o->size <= 0 && o->field.p != NULL
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "Size must be positive")
               : e;
}

static enum err read_max_edits(struct json_pull *p, UNUSED struct arena *arena, void *base, struct errmsg *em)
{
    struct direct_options *o = ((struct written *)base)->o;
    enum err e = json_pull_i32(p, &o->max_edits, em);
    return e == ERR_OK && (o->max_edits < 1 || o->max_edits > 2) && o->field.p != NULL
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "Illegal max_edits value %d", (int)o->max_edits)
               : e;
}

#define NUMBER (OBJ_STRING | OBJ_NUMBER)

static enum err read_into(struct json_pull *p, void *base, size_t at, bool whole, struct errmsg *em)
{
    char *to = (char *)((struct written *)base)->o + at;
    return whole ? json_pull_i32(p, (int32_t *)(void *)to, em) : json_pull_float(p, (float *)(void *)to, em);
}

#define OPTION(name, whole)                                                                              \
    static enum err read_##name(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em) \
    {                                                                                                    \
        (void)arena;                                                                                     \
        return read_into(p, base, offsetof(struct direct_options, name), whole, em);                     \
    }
OPTION(accuracy, false)
OPTION(max_inspections, true)
OPTION(prefix_length, true)
OPTION(min_word_length, true)
OPTION(max_term_freq, false)
OPTION(min_doc_freq, false)

#define TEXT(name)                                                                                       \
    static enum err read_##name(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em) \
    {                                                                                                    \
        (void)arena;                                                                                     \
        return json_pull_text(p, &((struct written *)base)->o->name, em);                                \
    }
TEXT(field)
TEXT(pre_filter)
TEXT(post_filter)

static const struct object_field fields[] = {
    {"field", OBJ_STRING, PARAM_TEXT, 0, read_field},
    {"pre_filter", OBJ_STRING, PARAM_TEXT, 0, read_pre_filter},
    {"post_filter", OBJ_STRING, PARAM_TEXT, 0, read_post_filter},
    {"suggest_mode", OBJ_STRING, PARAM_TEXT, offsetof(struct written, mode), NULL},
    {"min_doc_freq", NUMBER, PARAM_FLOAT, 0, read_min_doc_freq},
    {"accuracy", NUMBER, PARAM_FLOAT, 0, read_accuracy},
    {"size", NUMBER, PARAM_INT, 0, read_size},
    {"sort", OBJ_STRING, PARAM_TEXT, offsetof(struct written, sort), NULL},
    {"string_distance", OBJ_STRING, PARAM_TEXT, offsetof(struct written, distance), NULL},
    {"max_inspections", NUMBER, PARAM_INT, 0, read_max_inspections},
    {"max_term_freq", NUMBER, PARAM_FLOAT, 0, read_max_term_freq},
    {"max_edits", NUMBER, PARAM_INT, 0, read_max_edits},
    {"min_word_length", NUMBER, PARAM_INT, 0, read_min_word_length},
    {"prefix_length", NUMBER, PARAM_INT, 0, read_prefix_length},
};

static bool is_fraction_of_documents(float f)
{
    return f > 1 && !(f < 2147483648.0F && f == (float)(int32_t)f);
}

/* The words that were given, or why shards refuse them. */
static bool settle(const struct written *w, struct arena *arena)
{
    struct direct_options *o = w->o;
    if (w->mode.p != NULL && !term_mode_of(w->mode, &o->mode)) {
        o->refused = arena_printf(arena, "Illegal suggest mode %.*s", STR_ARG(w->mode));
    } else if (w->sort.p != NULL && !term_sort_of(w->sort, &o->by_frequency)) {
        struct str name = arena_upper(arena, w->sort);
        o->refused =
            name.p == NULL
                ? STR_NULL
                : arena_printf(arena, "No enum constant org.elasticsearch.search.suggest.SortBy.%.*s",
                               STR_ARG(name));
    } else if (w->distance.p != NULL && !term_distance_of(w->distance, &o->distance)) {
        o->refused = arena_printf(arena, "Illegal distance option %.*s", STR_ARG(w->distance));
    } else if (is_fraction_of_documents(o->max_term_freq) || is_fraction_of_documents(o->min_doc_freq)) {
        o->refused = STR("Fractional absolute document frequencies are not allowed");
    } else {
        return true;
    }
    return o->refused.p != NULL;
}

enum err generator_parse(struct json_pull *p, struct arena *arena, struct direct_options *o,
                         struct errmsg *em)
{
    struct written w = {.o = o};
    direct_options_init(o);
    enum err e = dsl_parse_object(p, arena, "direct_generator", fields, ARRAY_LEN(fields), &w, em);
    if (e == ERR_OK && o->field.p == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Required [field]");
    }
    if (e == ERR_OK && (o->size <= 0 || o->max_edits < 1 || o->max_edits > 2)) {
        return o->size <= 0
                   ? err_set(em, ERR_ILLEGAL_ARGUMENT, "Size must be positive")
                   : err_set(em, ERR_ILLEGAL_ARGUMENT, "Illegal max_edits value %d", (int)o->max_edits);
    }
    o->prefix_length = MAX_OF(o->prefix_length, 0);
    o->max_inspections = MAX_OF(o->max_inspections, 0);
    return e != ERR_OK || settle(&w, arena) ? e : err_no_memory(em);
}
