/* template_int.h - declarations shared by the files of templates: putting and deleting them (metadata_template.c), checking
 * (template_check.c), those that would be in each other's way (template_conflict.c), printing (template_print.c). */
#ifndef MASTER_TEMPLATE_INT_H
#define MASTER_TEMPLATE_INT_H

#include "master/metadata_int.h"

/* ---- template_print.c: bodies are kept as the API prints them ---- */

/* `type`: the name that the mapping stands under (n == 0: none). */
enum err template_write_legacy(struct jsonw *w, const struct template_meta *t, const struct json *body,
                               struct str type, struct arena *arena, struct errmsg *em);
enum err template_write_modern(struct jsonw *w, const struct template_meta *t, const struct json *body,
                               struct arena *arena, struct errmsg *em);

/* ---- template_check.c ---- */

enum err template_check_name(struct str name, struct errmsg *em);
enum err template_check_patterns(const struct template_meta *t, struct errmsg *em);
/* Only members that are known, each of its kind. */
enum err template_check_shape(const struct json *body, struct str text, enum template_kind kind,
                              struct errmsg *em);
/* An index could be made by it, as far as that shows without one. */
enum err template_check_recipe(const struct metadata_env *env, const struct cluster_state *cur,
                               const struct template_meta *t, const struct json *body, struct str type,
                               struct arena *arena, struct errmsg *em);

/* ---- template_conflict.c: of composable templates ---- */

enum err template_check_rivals(const struct cluster_state *cur, const struct template_meta *t,
                               struct errmsg *em);
enum err template_check_components(const struct cluster_state *cur, const struct template_meta *t,
                                   const struct json *body, struct errmsg *em);

#endif
