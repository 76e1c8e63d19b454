#include "engine/analysis/dict/ik_dict.h"

#include "engine/analysis/dict/xml_properties.h"

#define MAIN_FILE   "main.dic"
#define CONFIG_FILE "IKAnalyzer.cfg.xml"
#define CONFIG_LIST \
    0 /* the configuration among the sources: it counts for the fingerprint, and has no words */

/* The files that a ";"-separated list names. */
static enum err add_named(struct sources *s, uint16_t list, struct str names, struct errmsg *em)
{
    enum err e = ERR_OK;
    while (names.p != NULL && e == ERR_OK) {
        e = sources_add_named(s, list, str_cut(names, ';', &names), em);
    }
    return e;
}

static enum err add_configured(struct sources *s, struct errmsg *em)
{
    bool exists;
    enum err e = sources_exists(s, CONFIG_FILE, &exists, em);
    if (e != ERR_OK || !exists) {
        return e;
    }
    struct str text;
    struct xml_properties props;
    const char *path = arena_printf(s->arena, "%s/%s", s->folder, CONFIG_FILE).p;
    if (path == NULL) {
        return err_no_memory(em);
    }
    e = fs_read_file(s->fs, path, XML_PROPERTIES_BYTES_MAX, s->arena, &text, em);
    if (e == ERR_OK) {
        e = xml_properties_parse(&props, text, s->arena, em);
        e = e == ERR_OK ? e : err_prefix(em, e, "[%s]", path);
    }
    e = e == ERR_OK ? sources_add(s, CONFIG_LIST, STR(CONFIG_FILE), false, em) : e;
    e = e == ERR_OK ? add_named(s, IK_MAIN, xml_properties_get(&props, "ext_dict"), em) : e;
    e = e == ERR_OK ? add_named(s, IK_STOP, xml_properties_get(&props, "ext_stopwords"), em) : e;
    static const char *const remote[] = {"remote_ext_dict", "remote_ext_stopwords"};
    for (size_t i = 0; i < ARRAY_LEN(remote) && e == ERR_OK; i++) {
        if (text_trim(xml_properties_get(&props, remote[i])).n > 0) {
            sources_warn(s, "[%s] is ignored: dictionaries are never fetched", remote[i]);
        }
    }
    return e;
}

static enum err ik_gather(struct sources *s, struct errmsg *em)
{
    enum err e = sources_add(s, IK_MAIN, STR(MAIN_FILE), true, em);
    e = e == ERR_OK ? sources_add(s, IK_QUANTIFIER, STR("quantifier.dic"), false, em) : e;
    e = e == ERR_OK ? sources_add(s, IK_STOP, STR("stopword.dic"), false, em) : e;
    return e == ERR_OK ? add_configured(s, em) : e;
}

static enum err ik_add(UNUSED const struct sources *s, struct lexicon *words, uint16_t list, struct str text,
                       struct errmsg *em)
{
    return list == CONFIG_LIST ? ERR_OK : lexicon_add_lines(words, list, text, em);
}

const struct dictionary_kind dictionary_ik = {IMAGE_IK,  "analysis-ik", MAIN_FILE,
                                              "ik.dict", ik_gather,     ik_add};
