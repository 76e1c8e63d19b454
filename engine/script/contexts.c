#include "engine/script/contexts.h"

const struct script_purpose script_purposes[] = {
    {"aggregation_selector",
     "boolean execute();"
     "java.util.Map getParams();",
     LANG_EXPRESSION | LANG_PAINLESS, SCRIPT_BUCKET_SELECTOR},
    {"aggs",
     "java.lang.Object execute();"
     "java.util.Map getDoc();"
     "java.util.Map getParams();"
     "java.lang.Number get_score();"
     "java.lang.Object get_value();",
     LANG_EXPRESSION | LANG_PAINLESS, SCRIPT_AGG},
    {"aggs_combine",
     "java.lang.Object execute();"
     "java.util.Map getParams();"
     "java.util.Map getState();",
     LANG_PAINLESS, SCRIPT_AGG_COMBINE},
    {"aggs_init",
     "void execute();"
     "java.util.Map getParams();"
     "java.lang.Object getState();",
     LANG_PAINLESS, SCRIPT_AGG_INIT},
    {"aggs_map",
     "void execute();"
     "java.util.Map getDoc();"
     "java.util.Map getParams();"
     "java.util.Map getState();"
     "double get_score();",
     LANG_PAINLESS, SCRIPT_AGG_MAP},
    {"aggs_reduce",
     "java.lang.Object execute();"
     "java.util.Map getParams();"
     "java.util.List getStates();",
     LANG_PAINLESS, SCRIPT_AGG_REDUCE},
    {"analysis", "boolean execute(org.elasticsearch.analysis.common.AnalysisPredicateScript$Token token);",
     LANG_PAINLESS, -1},
    {"bucket_aggregation",
     "java.lang.Number execute();"
     "java.util.Map getParams();",
     LANG_EXPRESSION | LANG_PAINLESS, SCRIPT_BUCKET},
    {"field",
     "java.lang.Object execute();"
     "java.util.Map getDoc();"
     "java.util.Map getParams();",
     LANG_EXPRESSION | LANG_PAINLESS, SCRIPT_FIELD},
    {"filter",
     "boolean execute();"
     "java.util.Map getDoc();"
     "java.util.Map getParams();",
     LANG_EXPRESSION | LANG_PAINLESS, SCRIPT_FILTER},
    {"ingest",
     "void execute(java.util.Map ctx);"
     "java.util.Map getParams();",
     LANG_PAINLESS, SCRIPT_INGEST},
    {"ingest_template",
     "java.lang.String execute();"
     "java.util.Map getParams();",
     LANG_MUSTACHE | LANG_PAINLESS, -1},
    {"interval", "boolean execute(org.elasticsearch.index.query.IntervalFilterScript$Interval interval);",
     LANG_PAINLESS, -1},
    {"moving-function", "double execute(java.util.Map params, double[] values);", LANG_PAINLESS,
     SCRIPT_MOVING_FN},
    {"number_sort",
     "double execute();"
     "java.util.Map getDoc();"
     "java.util.Map getParams();"
     "double get_score();",
     LANG_EXPRESSION | LANG_PAINLESS, SCRIPT_NUMBER_SORT},
    {"processor_conditional",
     "boolean execute(java.util.Map ctx);"
     "java.util.Map getParams();",
     LANG_PAINLESS, SCRIPT_CONDITION},
    {"score",
     "double execute(org.elasticsearch.script.ScoreScript$ExplanationHolder explanation);"
     "java.util.Map getDoc();"
     "java.util.Map getParams();"
     "double get_score();",
     LANG_EXPRESSION | LANG_PAINLESS, SCRIPT_SCORE},
    {"script_heuristic", "double execute(java.util.Map params);", LANG_PAINLESS, -1},
    {"similarity",
     "double execute(double weight, org.elasticsearch.index.similarity.ScriptedSimilarity$Query query, "
     "org.elasticsearch.index.similarity.ScriptedSimilarity$Field field, "
     "org.elasticsearch.index.similarity.ScriptedSimilarity$Term term, "
     "org.elasticsearch.index.similarity.ScriptedSimilarity$Doc doc);",
     LANG_PAINLESS, -1},
    {"similarity_weight",
     "double execute(org.elasticsearch.index.similarity.ScriptedSimilarity$Query query, "
     "org.elasticsearch.index.similarity.ScriptedSimilarity$Field field, "
     "org.elasticsearch.index.similarity.ScriptedSimilarity$Term term);",
     LANG_PAINLESS, -1},
    {"string_sort",
     "java.lang.String execute();"
     "java.util.Map getDoc();"
     "java.util.Map getParams();"
     "double get_score();",
     LANG_PAINLESS, SCRIPT_STRING_SORT},
    {"template",
     "java.lang.String execute();"
     "java.util.Map getParams();",
     LANG_MUSTACHE | LANG_PAINLESS, -1},
    {"terms_set",
     "java.lang.Number execute();"
     "java.util.Map getDoc();"
     "java.util.Map getParams();",
     LANG_EXPRESSION | LANG_PAINLESS, SCRIPT_TERMS_SET},
    {"update",
     "void execute();"
     "java.util.Map getCtx();"
     "java.util.Map getParams();",
     LANG_PAINLESS, SCRIPT_UPDATE},
};
const size_t script_purposes_n = ARRAY_LEN(script_purposes);

static const char *const langs[] = {"expression", "mustache", "painless"};
static const unsigned lang_bits[] = {LANG_EXPRESSION, LANG_MUSTACHE, LANG_PAINLESS};

unsigned script_lang(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(langs); i++) {
        if (str_is(name, langs[i])) {
            return lang_bits[i];
        }
    }
    return 0;
}

const char *script_lang_name(unsigned i)
{
    return i < ARRAY_LEN(langs) ? langs[i] : NULL;
}

static enum err check_compiles(const struct script_text *t, const struct script_purpose *p, struct errmsg *em)
{
    struct script *s;
    enum err e;
    if ((p->langs & script_lang(t->lang)) == 0) { /* which is found once it is compiled */
        e = script_compile(&s, t, SCRIPT_SCORE, em);
        if (e != ERR_OK) {
            return e;
        }
        script_unref(s);
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "%.*s engine does not know how to handle script context [%s]", STR_ARG(t->lang),
                       p->name);
    }
    if (p->context < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "scripts of the context [%s] are not offered here", p->name);
    }
    e = script_compile(&s, t, (enum script_context)p->context, em);
    if (e == ERR_OK) {
        script_unref(s);
    }
    return e;
}

enum err script_context_check(const struct script_text *t, struct str name, struct errmsg *em)
{
    for (size_t i = 0; i < ARRAY_LEN(script_purposes); i++) {
        if (str_is(name, script_purposes[i].name)) {
            return check_compiles(t, &script_purposes[i], em);
        }
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown context [%.*s]", STR_ARG(name));
}
