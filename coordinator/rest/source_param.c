#include "coordinator/rest/source_param.h"

const struct json *rest_source_filter(struct rest *r)
{
    struct str plain = rest_param(r, "_source"), in = rest_param(r, "_source_includes"),
               ex = rest_param(r, "_source_excludes");
    if (plain.p == NULL && in.p == NULL && ex.p == NULL) {
        return NULL;
    }
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    if (str_is(plain, "false") || (str_is(plain, "true") && in.p == NULL && ex.p == NULL)) {
        jw_bool(&w, str_is(plain, "true"));
    } else {
        const char *keys[2] = {"includes", "excludes"};
        struct str lists[2] = {in.p != NULL || str_is(plain, "true") ? in : plain, ex};
        jw_obj(&w);
        for (int i = 0; i < 2; i++) {
            struct str rest = lists[i];
            jw_karr(&w, keys[i]);
            while (rest.n > 0) {
                jw_str(&w, str_trim(str_cut(rest, ',', &rest)));
            }
            jw_arr_end(&w);
        }
        jw_obj_end(&w);
    }
    struct json *v = ARENA_NEW(r->arena, struct json);
    struct str text = arena_str(r->arena, buf_view(&b));
    buf_fini(&b);
    return v != NULL && text.p != NULL
                   && json_parse(v, text, r->arena, &json_limits_default, &r->em) == ERR_OK
               ? v
               : NULL;
}
