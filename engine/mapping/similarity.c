/* Similarities by name: the built-in ones and those that the index declares ("index.similarity.<name>.type"). */
#include "engine/mapping/mapping_int.h"

#include <stdio.h>

#define NAME_BYTES 260 /* of a similarity; what is longer is none */

#define SIMILARITY_USUAL ((struct similarity){SIM_BM25, 1.2F, 0.75F, true})

/* A setting's name without "index.similarity.", cut into the similarity's and the parameter's. */
static bool split_key(struct str key, struct str *name, struct str *param)
{
    if (!str_starts(key, STR("index.similarity."))) {
        return false;
    }
    *name = str_cut(str_slice(key, sizeof("index.similarity.") - 1, key.n), '.', param);
    return true;
}

static enum err check_number(struct builder *b, const struct setting *s, const char *name, double max,
                             const char *want)
{
    double v = 0;
    char key[NAME_BYTES];
    snprintf(key, sizeof(key), "%.*s", STR_ARG(s->key));
    enum err e = settings_double(b->settings, key, 0, &v, b->em);
    if (e == ERR_OK && !(v >= 0 && v <= max)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "illegal %s value: %.*s, must be %s", name,
                       STR_ARG(s->value), want);
    }
    return e;
}

static enum err check_param(struct builder *b, const struct setting *s, struct str type, struct str param)
{
    bool on, bm25 = str_is(type, "BM25");
    if (str_is(param, "type")) {
        return ERR_OK;
    }
    if (bm25 && str_is(param, "k1")) {
        return check_number(b, s, "k1", 3.4e38, "a non-negative finite value");
    }
    if (bm25 && str_is(param, "b")) {
        return check_number(b, s, "b", 1, "between 0 and 1");
    }
    if (bm25 && str_is(param, "discount_overlaps")) {
        char key[NAME_BYTES];
        snprintf(key, sizeof(key), "%.*s", STR_ARG(s->key));
        return settings_bool(b->settings, key, true, &on, b->em);
    }
    return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Unknown settings for similarity of type [%.*s]: [%.*s]",
                   STR_ARG(type), STR_ARG(param));
}

static enum err check_one(struct builder *b, const struct setting *s, struct str name, struct str param)
{
    char key[NAME_BYTES + 32];
    snprintf(key, sizeof(key), "index.similarity.%.*s.type", STR_ARG(str_slice(name, 0, NAME_BYTES)));
    struct str type = settings_str(b->settings, key, STR_NULL);
    if (str_is(name, "BM25") || str_is(name, "boolean")) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "illegal value for [index.similarity.%.*s] cannot redefine built-in similarity",
                       STR_ARG(name));
    }
    if (type.p == NULL) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Similarity [%.*s] must have an associated type",
                       STR_ARG(name));
    }
    if (str_is(type, "classic")) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "The [classic] similarity may not be used anymore. Please use the [BM25] similarity "
                       "or build a custom "
                       "[scripted] similarity instead.");
    }
    static const char *const others[] = {"DFR", "DFI", "IB", "LMDirichlet", "LMJelinekMercer", "scripted"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (str_is(type, others[i])) {
            return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "similarity type [%s] of [%.*s] is not supported",
                           others[i], STR_ARG(name));
        }
    }
    if (!str_is(type, "BM25") && !str_is(type, "boolean")) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Unknown Similarity type [%.*s] for [%.*s]",
                       STR_ARG(type), STR_ARG(name));
    }
    return check_param(b, s, type, param);
}

enum err similarities_check(struct builder *b)
{
    for (size_t i = 0; i < b->settings->n; i++) {
        const struct setting *s = &b->settings->v[i];
        struct str name, param;
        enum err e = split_key(s->key, &name, &param) && !s->is_null ? check_one(b, s, name, param) : ERR_OK;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err similarity_of(struct builder *b, struct str name, struct similarity *out, bool *known)
{
    char key[NAME_BYTES + 64];
    struct str cut = str_slice(name, 0, NAME_BYTES);
    *out = SIMILARITY_USUAL;
    snprintf(key, sizeof(key), "index.similarity.%.*s.type", STR_ARG(cut));
    struct str type = settings_str(b->settings, key, STR(""));
    bool declared = type.n > 0;
    type = declared ? type : name;
    *known = str_is(type, "BM25") || str_is(type, "boolean");
    out->kind = str_is(type, "boolean") ? SIM_BOOLEAN : SIM_BM25;
    if (!declared) {
        return ERR_OK;
    }
    double k1 = 0, bb = 0;
    snprintf(key, sizeof(key), "index.similarity.%.*s.k1", STR_ARG(cut));
    enum err e = settings_double(b->settings, key, 1.2, &k1, b->em);
    snprintf(key, sizeof(key), "index.similarity.%.*s.b", STR_ARG(cut));
    e = e != ERR_OK ? e : settings_double(b->settings, key, 0.75, &bb, b->em);
    snprintf(key, sizeof(key), "index.similarity.%.*s.discount_overlaps", STR_ARG(cut));
    e = e != ERR_OK ? e : settings_bool(b->settings, key, true, &out->discount_overlaps, b->em);
    out->k1 = (float)k1;
    out->b = (float)bb;
    return e;
}
