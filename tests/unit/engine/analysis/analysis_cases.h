/* Requests and what Elasticsearch 7.12.1 answered to them: the error's type behind '!', or the tokens, each
 * as text|start-end|position:length|type ('~' for a blank). */
#ifndef TESTS_ANALYSIS_CASES_H
#define TESTS_ANALYSIS_CASES_H

static const struct {
    const char *body, *want;
} analysis_cases[] = {
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"truncate\", \"length\": 0}], \"text\": "
     "\"ab\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"truncate\", \"length\": -1}], \"text\": "
     "\"ab\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [\"apostrophe\"], \"text\": \"Türkiye'de 'x x' x’y\"}",
     "Türkiye|0-10|0|word |11-13|1|word x|14-16|2|word x|17-20|3|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"elision\", \"articles_case\": true, \""
     "articles\": [\"L\"]}], \"text\": \"l'avion L’or d'or\"}",
     "avion|0-7|0|word or|8-12|1|word d'or|13-17|2|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [\"elision\"], \"text\": \"l'avion L’or d'or jusqu'a"
     " qu'il lorsqu'il\"}",
     "avion|0-7|0|word or|8-12|1|word or|13-17|2|word a|18-25|3|word il|26-31|4|word il|32-41|5|word"},
    {"{\"tokenizer\": \"classic\", \"filter\": [\"classic\"], \"text\": \"U.S.A. dog's\"}",
     "USA|0-6|0|<ACRONYM> dog|7-12|1|<APOSTROPHE>"},
    {"{\"tokenizer\": \"keyword\", \"filter\": [\"trim\"], \"text\": \"　x  \"}", "x |0-4|0|word"},
    {"{\"tokenizer\": \"keyword\", \"filter\": [\"trim\"], \"text\": \" x​\\u0001 \"}",
     "~x​|0-6|0|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [\"unique\"], \"text\": \"a b a c b A\"}",
     "a|0-1|0|word b|2-3|1|word c|6-7|2|word A|10-11|3|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"unique\", \"only_on_same_position\": f"
     "alse}], \"text\": \"a b a c a d\"}",
     "a|0-1|0|word b|2-3|1|word c|6-7|2|word d|10-11|3|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [\"remove_duplicates\"], \"text\": \"a a b\"}",
     "a|0-1|0|word a|2-3|1|word b|4-5|2|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"edge_ngram\", \"min_gram\": 2, \"max_g"
     "ram\": 3, \"side\": \"back\"}], \"text\": \"abcd ef g\"}",
     "cd|0-4|0|word bcd|0-4|0|word ef|5-7|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"edge_ngram\", \"min_gram\": 2, \"max_g"
     "ram\": 3, \"side\": \"middle\"}], \"text\": \"abcd ef g\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"edge_ngram\", \"min_gram\": 3, \"max_g"
     "ram\": 2}], \"text\": \"abcd ef g\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"edge_ngram\", \"min_gram\": 0, \"max_g"
     "ram\": 2}], \"text\": \"abcd ef g\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"ngram\", \"min_gram\": 2, \"max_gram\""
     ": 3}], \"text\": \"abcd ef g hij\"}",
     "ab|0-4|0|word abc|0-4|0|word bc|0-4|0|word bcd|0-4|0|word cd|0-4|0|word ef|5-7|1|word hi|10-13|3"
     "|word hij|10-13|3|word ij|10-13|3|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"ngram\", \"min_gram\": 2, \"max_gram\""
     ": 3, \"preserve_original\": true}], \"text\": \"abcd ef g hij a\"}",
     "ab|0-4|0|word abc|0-4|0|word bc|0-4|0|word bcd|0-4|0|word cd|0-4|0|word abcd|0-4|0|word ef|5-7|1"
     "|word g|8-9|2|word hi|10-13|3|word hij|10-13|3|word ij|10-13|3|word a|14-15|4|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"edge_ngram\", \"min_gram\": 2, \"max_g"
     "ram\": 3, \"preserve_original\": true}], \"text\": \"abcd ef g hij a\"}",
     "ab|0-4|0|word abc|0-4|0|word abcd|0-4|0|word ef|5-7|1|word g|8-9|2|word hi|10-13|3|word hij|10-1"
     "3|3|word a|14-15|4|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"edge_ngram\", \"min_gram\": 2, \"max_g"
     "ram\": 3}], \"text\": \"g ef g\"}",
     "ef|2-4|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"ngram\", \"min_gram\": 3, \"max_gram\""
     ": 2}], \"text\": \"abcd ef g\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"ngram\"}], \"text\": \"abcd ef g\"}",
     "a|0-4|0|word ab|0-4|0|word b|0-4|0|word bc|0-4|0|word c|0-4|0|word cd|0-4|0|word d|0-4|0|word e|"
     "5-7|1|word ef|5-7|1|word f|5-7|1|word g|8-9|2|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [\"shingle\"], \"text\": \"a b c the d\"}",
     "a|0-1|0|word a~b|0-3|0:2|shingle b|2-3|1|word b~c|2-5|1:2|shingle c|4-5|2|word c~the|4-9|2:2|shi"
     "ngle the|6-9|3|word the~d|6-11|3:2|shingle d|10-11|4|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [\"stop\", \"shingle\"], \"text\": \"a b the c d the\"}",
     "_~b|2-3|0:2|shingle b|2-3|1|word b~_|2-8|1:2|shingle _~c|8-9|2:2|shingle c|8-9|3|word c~d|8-11|3"
     ":2|shingle d|10-11|4|word d~_|10-15|4:2|shingle"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"shingle\", \"min_shingle_size\": 3, \""
     "max_shingle_size\": 4, \"output_unigrams_if_no_shingles\": true, \"output_unigrams\": false}], "
     "\"text\": \"a b\"}",
     "a|0-1|0|word b|2-3|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"shingle\", \"min_shingle_size\": 2, \""
     "max_shingle_size\": 9}], \"text\": \"a b\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"shingle\", \"min_shingle_size\": 4, \""
     "max_shingle_size\": 3}], \"text\": \"a b\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"shingle\", \"min_shingle_size\": 1, \""
     "max_shingle_size\": 3}], \"text\": \"a b\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"shingle\", \"token_separator\": \"\", "
     "\"filler_token\": \"*\", \"max_shingle_size\": 3}], \"text\": \"a b c\"}",
     "a|0-1|0|word ab|0-3|0:2|shingle abc|0-5|0:3|shingle b|2-3|1|word bc|2-5|1:2|shingle c|4-5|2|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"stop\", \"stopwords\": [\"x\", \"y\"]}"
     ", {\"type\": \"shingle\", \"max_shingle_size\": 3}], \"text\": \"a x b y x c x\"}",
     "a|0-1|0|word a~_|0-4|0:2|shingle a~_~b|0-5|0:3|shingle _~b|4-5|1:2|shingle _~b~_|4-10|1:3|shingl"
     "e b|4-5|2|word b~_|4-10|2:2|shingle b~_~_|4-10|2:3|shingle _~_~c|10-11|3:3|shingle _~c|10-11|4:2"
     "|shingle _~c~_|10-13|4:3|shingle c|10-11|5|word c~_|10-13|5:2|shingle"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym\", \"synonyms\": [\"a,b\"]}, {"
     "\"type\": \"shingle\"}], \"text\": \"a x a\"}",
     "a|0-1|0|word a~b|0-1|0:2|shingle b|0-1|1|SYNONYM b~x|0-3|1:2|shingle x|2-3|2|word x~a|2-5|2:2|sh"
     "ingle a|4-5|3|word a~b|4-5|3:2|shingle b|4-5|4|SYNONYM"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [\"fingerprint\"], \"text\": \"b a c a B\"}",
     "B~a~b~c|0-9|0|fingerprint"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"fingerprint\", \"separator\": \"-\", "
     "\"max_output_size\": 4}], \"text\": \"b a c a\"}",
     ""},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"fingerprint\", \"separator\": \"--\"}]"
     ", \"text\": \"b a c a\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"fingerprint\"}], \"text\": \"\"}", ""},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"common_grams\", \"common_words\": [\"t"
     "he\", \"of\"]}], \"text\": \"the quick of the x the\"}",
     "the|0-3|0|word the_quick|0-9|0:2|gram quick|4-9|1|word quick_of|4-12|1:2|gram of|10-12|2|word of"
     "_the|10-16|2:2|gram the|13-16|3|word the_x|13-18|3:2|gram x|17-18|4|word x_the|17-22|4:2|gram th"
     "e|19-22|5|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"common_grams\", \"common_words\": [\"t"
     "he\", \"of\"], \"query_mode\": true}], \"text\": \"the quick of the x the\"}",
     "the_quick|0-9|0|gram quick_of|4-12|1|gram of_the|10-16|2|gram the_x|13-18|3|gram x_the|17-22|4|gram"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"common_grams\", \"common_words\": [\"T"
     "he\"], \"ignore_case\": true}], \"text\": \"x tHE quick\"}",
     "x|0-1|0|word x_tHE|0-5|0:2|gram tHE|2-5|1|word tHE_quick|2-11|1:2|gram quick|6-11|2|word"},
    {"{\"tokenizer\": \"standard\", \"filter\": [{\"type\": \"cjk_bigram\", \"output_unigrams\": true}"
     "], \"text\": \"上海外滩hotel上 한국어 \"}",
     "上|0-1|0|<SINGLE> 上海|0-2|0:2|<DOUBLE> 海|1-2|1|<SINGLE> 海外|1-3|1:2|<DOUBLE> 外|2-3|2|<SINGLE> "
     "外滩|2-"
     "4|2:2|<DOUBLE> 滩|3-4|3|<SINGLE> hotel|4-9|4|<ALPHANUM> 上|9-10|5|<SINGLE> 한|11-12|6|<SINGLE> 한국|1"
     "1-13|6:2|<DOUBLE> 국|12-13|7|<SINGLE> 국어|12-14|7:2|<DOUBLE> 어|13-14|8|<SINGLE>"},
    {"{\"tokenizer\": \"standard\", \"filter\": [{\"type\": \"cjk_bigram\", \"ignored_scripts\": [\"ha"
     "n\", \"hangul\"]}], \"text\": \"上海外滩hotel上 한국어 ひらがな\"}",
     "上|0-1|0|<IDEOGRAPHIC> 海|1-2|1|<IDEOGRAPHIC> 外|2-3|2|<IDEOGRAPHIC> 滩|3-4|3|<IDEOGRAPHIC> hotel|4-"
     "9|4|<ALPHANUM> 上|9-10|5|<IDEOGRAPHIC> 한국어|11-14|6|<HANGUL> ひら|15-17|7|<DOUBLE> "
     "らが|16-18|8|<DOUBL"
     "E> がな|17-19|9|<DOUBLE>"},
    {"{\"tokenizer\": \"standard\", \"filter\": [{\"type\": \"cjk_bigram\", \"ignored_scripts\": [\"fo"
     "o\"]}], \"text\": \"上海外滩hotel上 한국어 ひらがな\"}",
     "上海|0-2|0|<DOUBLE> 海外|1-3|1|<DOUBLE> 外滩|2-4|2|<DOUBLE> hotel|4-9|3|<ALPHANUM> 上|9-10|4|<SINGLE> "
     "한"
     "국|11-13|5|<DOUBLE> 국어|12-14|6|<DOUBLE> ひら|15-17|7|<DOUBLE> らが|16-18|8|<DOUBLE> "
     "がな|17-19|9|<DOUBL"
     "E>"},
    {"{\"tokenizer\": \"standard\", \"filter\": [\"cjk_bigram\"], \"text\": \"上海 外滩。上\"}",
     "上海|0-2|0|<DOUBLE> 外滩|3-5|1|<DOUBLE> 上|6-7|2|<SINGLE>"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"keyword_marker\", \"keywords\": [\"Jum"
     "ping\"], \"ignore_case\": true}, \"porter_stem\"], \"text\": \"running jumping\"}",
     "run|0-7|0|word jumping|8-15|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"keyword_marker\", \"keywords_pattern\""
     ": \"j.*\"}, \"porter_stem\"], \"text\": \"running jumping\"}",
     "run|0-7|0|word jumping|8-15|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"keyword_marker\", \"keywords_pattern\""
     ": \"j.*\", \"keywords\": [\"a\"]}, \"porter_stem\"], \"text\": \"running jumping\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [\"keyword_repeat\", \"porter_stem\", \"remove_dupli"
     "cates\"], \"text\": \"running jump\"}",
     "running|0-7|0|word run|0-7|0|word jump|8-12|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"limit\", \"max_token_count\": 0}], \"t"
     "ext\": \"running jump\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"stemmer_override\", \"rules\": [\"runn"
     "ing, x => runx\", \"a=>b\"]}, \"porter_stem\"], \"text\": \"running x a jumping\"}",
     "runx|0-7|0|word runx|8-9|1|word b|10-11|2|word jump|12-19|3|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"stemmer_override\", \"rules\": [\"runn"
     "ing\"]}, \"porter_stem\"], \"text\": \"running x a jumping\"}",
     "! runtime_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"stemmer\", \"language\": \"klingon\"}]"
     ", \"text\": \"running x a jumping\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"snowball\", \"language\": \"klingon\"}"
     "], \"text\": \"running x a jumping\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"snowball\", \"language\": \"french\"}]"
     ", \"text\": \"running x a jumping\"}",
     "running|0-7|0|word x|8-9|1|word a|10-11|2|word jumping|12-19|3|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"stemmer\", \"name\": \"possessive_engl"
     "ish\"}], \"text\": \"dog's dogs' X’S ＇s\"}",
     "dog|0-5|0|word dogs'|6-11|1|word X|12-15|2|word |16-18|3|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"stemmer\", \"name\": \"minimal_english"
     "\"}], \"text\": \"dogs ponies glass\"}",
     "dog|0-4|0|word pony|5-11|1|word glass|12-17|2|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"delimited_payload\"}], \"text\": \"a|1 b|x "
     "c\"}",
     "! number_format_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"multiplexer\", \"filters\": [\"lowerca"
     "se\", \"lowercase, reverse\"]}], \"text\": \"Ab CdC\"}",
     "Ab|0-2|0|word ab|0-2|0|word ba|0-2|0|word CdC|3-6|1|word cdc|3-6|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"multiplexer\", \"filters\": [\"lowerca"
     "se\", \"uppercase\"], \"preserve_original\": false}], \"text\": \"Ab CdC\"}",
     "ab|0-2|0|word AB|0-2|0|word cdc|3-6|1|word CDC|3-6|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"multiplexer\", \"filters\": [\"nope\"]"
     "}], \"text\": \"Ab CdC\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"multiplexer\", \"filters\": []}], \"te"
     "xt\": \"Ab CdC\"}",
     "Ab|0-2|0|word CdC|3-6|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"multiplexer\"}], \"text\": \"Ab CdC\"}",
     "Ab|0-2|0|word CdC|3-6|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"pattern_capture\", \"patterns\": [\"(a"
     ")(b)\", \"(\\\\d+)\"]}], \"text\": \"xaby12 c\"}",
     "xaby12|0-6|0|word a|0-6|0|word b|0-6|0|word 12|0-6|0|word c|7-8|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"length\", \"min\": -1}], \"text\": \"x"
     "aby12 c\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"length\", \"min\": 4, \"max\": 2}], \""
     "text\": \"xaby12 c\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": {\"type\": \"ngram\", \"min_gram\": 0, \"max_gram\": 1}, \"text\": \"abc\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": {\"type\": \"ngram\", \"min_gram\": 1, \"max_gram\": 2, \"token_chars\": [\"cust"
     "om\"]}, \"text\": \"abc\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": {\"type\": \"ngram\", \"min_gram\": 1, \"max_gram\": 2, \"token_chars\": [\"cust"
     "om\", \"digit\"], \"custom_token_chars\": \"+-\"}, \"text\": \"a+-1bc\"}",
     "+|1-2|0|word +-|1-3|1|word -|2-3|2|word -1|2-4|3|word 1|3-4|4|word"},
    {"{\"tokenizer\": {\"type\": \"edge_ngram\", \"min_gram\": 3, \"max_gram\": 2}, \"text\": \"abc\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": {\"type\": \"edge_ngram\", \"max_gram\": 3, \"token_chars\": \"letter\"}, \"text"
     "\": \"abcd ef-g\"}",
     "a|0-1|0|word ab|0-2|1|word abc|0-3|2|word e|5-6|3|word ef|5-7|4|word g|8-9|5|word"},
    {"{\"tokenizer\": {\"type\": \"path_hierarchy\", \"delimiter\": \"ab\"}, \"text\": \"a/b\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": {\"type\": \"path_hierarchy\", \"replacement\": \"ab\"}, \"text\": \"a/b\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": {\"type\": \"path_hierarchy\", \"replacement\": \"x\"}, \"text\": \"/a//b/\"}",
     "xa|0-2|0|word xax|0-3|0|word xaxxb|0-5|0|word xaxxbx|0-6|0|word"},
    {"{\"tokenizer\": {\"type\": \"path_hierarchy\", \"replacement\": \"x\", \"reverse\": true}, \"tex"
     "t\": \"/a//b/\"}",
     "xaxxbx|0-6|0|word axxbx|1-6|0|word xbx|3-6|0|word bx|4-6|0|word"},
    {"{\"tokenizer\": {\"type\": \"path_hierarchy\", \"skip\": 1, \"reverse\": true}, \"text\": \"a/b/c/\"}",
     "a/b/|0-4|0|word b/|2-4|0|word"},
    {"{\"tokenizer\": {\"type\": \"path_hierarchy\", \"skip\": 3}, \"text\": \"a/b/c\"}", ""},
    {"{\"tokenizer\": {\"type\": \"path_hierarchy\", \"skip\": 1}, \"text\": \"/a/b/c\"}",
     "/b|2-4|0|word /b/c|2-6|0|word"},
    {"{\"tokenizer\": \"path_hierarchy\", \"text\": \"\"}", ""},
    {"{\"tokenizer\": {\"type\": \"simple_pattern\"}, \"text\": \"abc\"}", ""},
    {"{\"tokenizer\": {\"type\": \"simple_pattern\", \"pattern\": \"[abc]+\"}, \"text\": \"abcdcab\"}",
     "abc|0-3|0|word cab|4-7|1|word"},
    {"{\"tokenizer\": {\"type\": \"simple_pattern\", \"pattern\": \"a(\"}, \"text\": \"abcdcab\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": {\"type\": \"simple_pattern_split\"}, \"text\": \"abc\"}", "abc|0-3|0|word"},
    {"{\"tokenizer\": {\"type\": \"simple_pattern_split\", \"pattern\": \"_+\"}, \"text\": \"a_b__c\"}",
     "a|0-1|0|word b|2-3|1|word c|5-6|2|word"},
    {"{\"tokenizer\": \"simple_pattern\", \"text\": \"abc\"}", ""},
    {"{\"tokenizer\": \"simple_pattern_split\", \"text\": \"abc\"}", "abc|0-3|0|word"},
    {"{\"tokenizer\": \"thai\", \"text\": \"ภาษาไทยง่าย abc\"}",
     "ภาษา|0-4|0|word ไทย|4-7|1|word ง่าย|7-11|2|word abc|12-15|3|word"},
    {"{\"tokenizer\": {\"type\": \"classic\", \"max_token_length\": 3}, \"text\": \"abcdef gh\"}",
     "gh|7-9|1|<ALPHANUM>"},
    {"{\"tokenizer\": {\"type\": \"whitespace\", \"max_token_length\": 0}, \"text\": \"abcdef gh\"}",
     "! illegal_argument_exception"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"d e "
     "b => b a a, b, x d\", \"a b c, a d\"], \"expand\": false}], \"text\": \"b the a x b d c\"}",
     "b|0-1|0|word the|2-5|1|word a|6-7|2|word x|8-9|3|word b|10-11|4|word d|12-13|5|word c|14-15|6|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym\", \"synonyms\": [\"x => b, x "
     "e x\", \"a, b\", \"b b\", \"b c, c => a e c\"]}], \"text\": \"c\"}",
     "a|0-1|0|SYNONYM e|0-1|1|SYNONYM c|0-1|2|SYNONYM"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"d d,"
     " e\", \"x\"]}], \"text\": \"c the x b\"}",
     "c|0-1|0|word the|2-5|1|word x|6-7|2|word b|8-9|3|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"c b "
     "x, x b d, d\", \"d c => c x\", \"b c, c d => b c, x x, e x\"], \"expand\": false}], \"text\": \""
     "b c a x c x\"}",
     "b|0-3|0|SYNONYM x|0-3|0:2|SYNONYM e|0-3|0:3|SYNONYM c|0-3|1:3|SYNONYM x|0-3|2:2|SYNONYM x|0-3|3|"
     "SYNONYM a|4-5|4|word x|6-7|5|word c|8-9|6|word x|10-11|7|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"x b "
     "x => d x x, d\", \"d a a, e b => c x\", \"d b => x d d, e x\"], \"expand\": false}], \"text\": "
     "\"a\"}",
     "a|0-1|0|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"d\","
     " \"x e e, b, d\", \"d\"], \"expand\": false}], \"text\": \"d the the\"}",
     "d|0-1|0:3|SYNONYM x|0-1|0|SYNONYM e|0-1|1|SYNONYM e|0-1|2|SYNONYM the|2-5|3|word the|6-9|4|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym\", \"synonyms\": [\"c, b, d\","
     " \"d, x d => a, b d, a a\", \"c, x a e\", \"a e c, c b => a d\"], \"expand\": false}], \"text\":"
     " \"b e the c b the d a x\"}",
     "c|0-1|0|SYNONYM e|2-3|1|word the|4-7|2|word a|8-9|3|SYNONYM d|10-11|4|SYNONYM the|12-15|5|word c"
     "|16-17|6|SYNONYM a|16-17|6|SYNONYM b|16-17|6|SYNONYM a|16-17|6|SYNONYM a|18-19|7|word d|18-19|7|"
     "SYNONYM a|18-19|7|SYNONYM x|20-21|8|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym\", \"synonyms\": [\"d\", \"c a"
     " e, e\", \"e a x, a x b\", \"a a => d b c, b e e, b c\"]}], \"text\": \"b c b x a b d\"}",
     "b|0-1|0|word c|2-3|1|word b|4-5|2|word x|6-7|3|word a|8-9|4|word b|10-11|5|word d|12-13|6|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym\", \"synonyms\": [\"b, d x, a "
     "b\"]}], \"text\": \"c c e a e d\"}",
     "c|0-1|0|word c|2-3|1|word e|4-5|2|word a|6-7|3|word e|8-9|4|word d|10-11|5|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"a\"]"
     "}], \"text\": \"c a d d the\"}",
     "c|0-1|0|word a|2-3|1|word d|4-5|2|word d|6-7|3|word the|8-11|4|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"x c"
     "\"]}], \"text\": \"d\"}",
     "d|0-1|0|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym\", \"synonyms\": [\"x a c => d"
     " e, b b e, a b\", \"e, d\", \"b\"]}], \"text\": \"c\"}",
     "c|0-1|0|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"a, a"
     " e d => b, b c\", \"a c, b b\"], \"expand\": false}], \"text\": \"d e\"}",
     "d|0-1|0|word e|2-3|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"a, c"
     " b c\"], \"expand\": false}], \"text\": \"c b x c a b c d b\"}",
     "c|0-1|0|word b|2-3|1|word x|4-5|2|word c|6-7|3|word a|8-9|4|SYNONYM b|10-11|5|word c|12-13|6|wor"
     "d d|14-15|7|word b|16-17|8|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"a a "
     "=> b, a d\", \"b e, a\", \"b\"]}], \"text\": \"x a\"}",
     "x|0-1|0|word b|2-3|1|SYNONYM a|2-3|1:2|word e|2-3|2|SYNONYM"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym\", \"synonyms\": [\"x, c d d\""
     ", \"x c, x => c, b a\", \"c => c, e, b b\", \"a e, c a d\"]}], \"text\": \"d the the x d\"}",
     "d|0-1|0|word the|2-5|1|word the|6-9|2|word x|10-11|3|word c|10-11|3|SYNONYM c|10-11|3|SYNONYM b|"
     "10-11|3|SYNONYM d|12-13|4|word d|12-13|4|SYNONYM a|12-13|4|SYNONYM d|12-13|5|SYNONYM"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"b e,"
     " e a c => a, c d\", \"a x, a => x, d, d\", \"a => b, x a a\", \"b, c b x => c, d\"]}], \"text\":"
     " \"c e\"}",
     "c|0-1|0|word e|2-3|1|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym\", \"synonyms\": [\"c, a a x, "
     "a c\", \"e\", \"d, e, x\"]}], \"text\": \"b c e\"}",
     "b|0-1|0|word c|2-3|1|word a|2-3|1|SYNONYM a|2-3|1|SYNONYM e|4-5|2|word a|4-5|2|SYNONYM c|4-5|2|S"
     "YNONYM d|4-5|2|SYNONYM x|4-5|2|SYNONYM x|4-5|3|SYNONYM"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym\", \"synonyms\": [\"c e => b, "
     "d b, a c\", \"a a, a d => a, b\"]}], \"text\": \"b a b x c\"}",
     "b|0-1|0|word a|2-3|1|word b|4-5|2|word x|6-7|3|word c|8-9|4|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"d =>"
     " b e, e\", \"d, b => c, x a e, e c\", \"e b, c\"]}], \"text\": \"the c\"}",
     "the|0-3|0|word e|4-5|1|SYNONYM c|4-5|1:2|word b|4-5|2|SYNONYM"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"x a "
     "=> b, a b\"]}], \"text\": \"c e\"}",
     "c|0-1|0|word e|2-3|1|word"},
    {"{\"analyzer\": \"english\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "l'hôtel|4-11|1|<ALPHANUM> de|12-15|2|<ALPHANUM> häuser|16-22|3|<ALPHANUM> run|23-30|4|<ALPHANUM>"
     " bicycl|31-39|5|<ALPHANUM> casa|40-45|6|<ALPHANUM> città|46-51|7|<ALPHANUM>"},
    {"{\"analyzer\": \"english\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "poni|0-6|0|<ALPHANUM> relat|7-17|1|<ALPHANUM> 上|18-19|2|<IDEOGRAPHIC> 海|19-20|3|<IDEOGRAPHIC> 外|"
     "21-22|4|<IDEOGRAPHIC> 滩|22-23|5|<IDEOGRAPHIC> café|24-28|6|<ALPHANUM> русские|29-36|7|<ALPHANUM>"},
    {"{\"analyzer\": \"french\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "the|0-3|0|<ALPHANUM> hotel|4-11|1|<ALPHANUM> häus|16-22|3|<ALPHANUM> runing|23-30|4|<ALPHANUM> b"
     "icycl|31-39|5|<ALPHANUM> casa|40-45|6|<ALPHANUM> cita|46-51|7|<ALPHANUM>"},
    {"{\"analyzer\": \"french\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "pon|0-6|0|<ALPHANUM> relational|7-17|1|<ALPHANUM> 上|18-19|2|<IDEOGRAPHIC> 海|19-20|3|<IDEOGRAPHIC"
     "> 外|21-22|4|<IDEOGRAPHIC> 滩|22-23|5|<IDEOGRAPHIC> café|24-28|6|<ALPHANUM> руские|29-36|7|<ALPHAN"
     "UM>"},
    {"{\"analyzer\": \"german\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "the|0-3|0|<ALPHANUM> l'hotel|4-11|1|<ALPHANUM> haus|16-22|3|<ALPHANUM> running|23-30|4|<ALPHANUM"
     "> bicycl|31-39|5|<ALPHANUM> casas|40-45|6|<ALPHANUM> citta|46-51|7|<ALPHANUM>"},
    {"{\"analyzer\": \"german\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "poni|0-6|0|<ALPHANUM> relational|7-17|1|<ALPHANUM> 上|18-19|2|<IDEOGRAPHIC> 海|19-20|3|<IDEOGRAPHI"
     "C> 外|21-22|4|<IDEOGRAPHIC> 滩|22-23|5|<IDEOGRAPHIC> café|24-28|6|<ALPHANUM> русские|29-36|7|<ALPH"
     "ANUM>"},
    {"{\"analyzer\": \"spanish\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "the|0-3|0|<ALPHANUM> l'hotel|4-11|1|<ALPHANUM> des|12-15|2|<ALPHANUM> hauser|16-22|3|<ALPHANUM> "
     "running|23-30|4|<ALPHANUM> bicycl|31-39|5|<ALPHANUM> cas|40-45|6|<ALPHANUM> citt|46-51|7|<ALPHAN"
     "UM>"},
    {"{\"analyzer\": \"spanish\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "poni|0-6|0|<ALPHANUM> relational|7-17|1|<ALPHANUM> 上|18-19|2|<IDEOGRAPHIC> 海|19-20|3|<IDEOGRAPHI"
     "C> 外|21-22|4|<IDEOGRAPHIC> 滩|22-23|5|<IDEOGRAPHIC> café|24-28|6|<ALPHANUM> русские|29-36|7|<ALPH"
     "ANUM>"},
    {"{\"analyzer\": \"italian\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "the|0-3|0|<ALPHANUM> hôtel|4-11|1|<ALPHANUM> des|12-15|2|<ALPHANUM> hauser|16-22|3|<ALPHANUM> ru"
     "nning|23-30|4|<ALPHANUM> bicycles|31-39|5|<ALPHANUM> casas|40-45|6|<ALPHANUM> città|46-51|7|<ALP"
     "HANUM>"},
    {"{\"analyzer\": \"italian\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "ponies|0-6|0|<ALPHANUM> relational|7-17|1|<ALPHANUM> 上|18-19|2|<IDEOGRAPHIC> 海|19-20|3|<IDEOGRAP"
     "HIC> 外|21-22|4|<IDEOGRAPHIC> 滩|22-23|5|<IDEOGRAPHIC> café|24-28|6|<ALPHANUM> русские|29-36|7|<AL"
     "PHANUM>"},
    {"{\"analyzer\": \"portuguese\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "the|0-3|0|<ALPHANUM> l'hotel|4-11|1|<ALPHANUM> des|12-15|2|<ALPHANUM> hauser|16-22|3|<ALPHANUM> "
     "running|23-30|4|<ALPHANUM> bicycl|31-39|5|<ALPHANUM> casa|40-45|6|<ALPHANUM> citta|46-51|7|<ALPH"
     "ANUM>"},
    {"{\"analyzer\": \"portuguese\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "poni|0-6|0|<ALPHANUM> relational|7-17|1|<ALPHANUM> 上|18-19|2|<IDEOGRAPHIC> 海|19-20|3|<IDEOGRAPHI"
     "C> 外|21-22|4|<IDEOGRAPHIC> 滩|22-23|5|<IDEOGRAPHIC> cafe|24-28|6|<ALPHANUM> русские|29-36|7|<ALPH"
     "ANUM>"},
    {"{\"analyzer\": \"dutch\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "the|0-3|0|<ALPHANUM> l'hôtel|4-11|1|<ALPHANUM> des|12-15|2|<ALPHANUM> hauser|16-22|3|<ALPHANUM> "
     "running|23-30|4|<ALPHANUM> bicycles|31-39|5|<ALPHANUM> casas|40-45|6|<ALPHANUM> città|46-51|7|<A"
     "LPHANUM>"},
    {"{\"analyzer\": \"dutch\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "ponies|0-6|0|<ALPHANUM> relational|7-17|1|<ALPHANUM> 上|18-19|2|<IDEOGRAPHIC> 海|19-20|3|<IDEOGRAP"
     "HIC> 外|21-22|4|<IDEOGRAPHIC> 滩|22-23|5|<IDEOGRAPHIC> caf|24-28|6|<ALPHANUM> русские|29-36|7|<ALP"
     "HANUM>"},
    {"{\"analyzer\": \"cjk\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "l'hôtel|4-11|1|<ALPHANUM> des|12-15|2|<ALPHANUM> häuser|16-22|3|<ALPHANUM> running|23-30|4|<ALPH"
     "ANUM> bicycles|31-39|5|<ALPHANUM> casas|40-45|6|<ALPHANUM> città|46-51|7|<ALPHANUM>"},
    {"{\"analyzer\": \"cjk\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "ponies|0-6|0|<ALPHANUM> relational|7-17|1|<ALPHANUM> 上海|18-20|2|<DOUBLE> 外滩|21-23|3|<DOUBLE> caf"
     "é|24-28|4|<ALPHANUM> русские|29-36|5|<ALPHANUM>"},
    {"{\"analyzer\": \"simple\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "the|0-3|0|word l|4-5|1|word hôtel|6-11|2|word des|12-15|3|word häuser|16-22|4|word running|23-30"
     "|5|word bicycles|31-39|6|word casas|40-45|7|word città|46-51|8|word"},
    {"{\"analyzer\": \"simple\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "ponies|0-6|0|word relational|7-17|1|word 上海|18-20|2|word 外滩|21-23|3|word café|24-28|4|word русск"
     "ие|29-36|5|word"},
    {"{\"analyzer\": \"stop\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "l|4-5|1|word hôtel|6-11|2|word des|12-15|3|word häuser|16-22|4|word running|23-30|5|word bicycle"
     "s|31-39|6|word casas|40-45|7|word città|46-51|8|word"},
    {"{\"analyzer\": \"stop\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "ponies|0-6|0|word relational|7-17|1|word 上海|18-20|2|word 外滩|21-23|3|word café|24-28|4|word русск"
     "ие|29-36|5|word"},
    {"{\"analyzer\": \"pattern\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "the|0-3|0|word l|4-5|1|word h|6-7|2|word tel|8-11|3|word des|12-15|4|word h|16-17|5|word user|18"
     "-22|6|word running|23-30|7|word bicycles|31-39|8|word casas|40-45|9|word citt|46-50|10|word"},
    {"{\"analyzer\": \"pattern\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "ponies|0-6|0|word relational|7-17|1|word caf|24-27|2|word"},
    {"{\"analyzer\": \"fingerprint\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "bicycles~casas~citta~des~hauser~l'hotel~running~the|0-51|0|fingerprint"},
    {"{\"analyzer\": \"fingerprint\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "cafe~ponies~relational~русские~上~外~海~滩|0-36|0|fingerprint"},
    {"{\"analyzer\": \"keyword\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "The~L'hôtel~des~Häuser~running~bicycles~casas~città|0-51|0|word"},
    {"{\"analyzer\": \"keyword\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "ponies~relational~上海~外滩~café~русские|0-36|0|word"},
    {"{\"analyzer\": \"whitespace\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "The|0-3|0|word L'hôtel|4-11|1|word des|12-15|2|word Häuser|16-22|3|word running|23-30|4|word bic"
     "ycles|31-39|5|word casas|40-45|6|word città|46-51|7|word"},
    {"{\"analyzer\": \"whitespace\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "ponies|0-6|0|word relational|7-17|1|word 上海|18-20|2|word 外滩|21-23|3|word café|24-28|4|word русск"
     "ие|29-36|5|word"},
    {"{\"analyzer\": \"classic\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "l'hôtel|4-11|1|<APOSTROPHE> des|12-15|2|<ALPHANUM> häuser|16-22|3|<ALPHANUM> running|23-30|4|<AL"
     "PHANUM> bicycles|31-39|5|<ALPHANUM> casas|40-45|6|<ALPHANUM> città|46-51|7|<ALPHANUM>"},
    {"{\"analyzer\": \"classic\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "ponies|0-6|0|<ALPHANUM> relational|7-17|1|<ALPHANUM> 上|18-19|2|<CJ> 海|19-20|3|<CJ> 外|21-22|4|<CJ"
     "> 滩|22-23|5|<CJ> café|24-28|6|<ALPHANUM> русские|29-36|7|<ALPHANUM>"},
    {"{\"analyzer\": \"snowball\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "l'hôtel|4-11|1|<ALPHANUM> des|12-15|2|<ALPHANUM> häuser|16-22|3|<ALPHANUM> run|23-30|4|<ALPHANUM"
     "> bicycl|31-39|5|<ALPHANUM> casa|40-45|6|<ALPHANUM> città|46-51|7|<ALPHANUM>"},
    {"{\"analyzer\": \"snowball\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "poni|0-6|0|<ALPHANUM> relat|7-17|1|<ALPHANUM> 上|18-19|2|<IDEOGRAPHIC> 海|19-20|3|<IDEOGRAPHIC> 外|"
     "21-22|4|<IDEOGRAPHIC> 滩|22-23|5|<IDEOGRAPHIC> café|24-28|6|<ALPHANUM> русские|29-36|7|<ALPHANUM>"},
    {"{\"analyzer\": \"russian\", \"text\": \"The L'hôtel des Häuser running bicycles casas città\"}",
     "the|0-3|0|<ALPHANUM> l'hôtel|4-11|1|<ALPHANUM> des|12-15|2|<ALPHANUM> häuser|16-22|3|<ALPHANUM> "
     "running|23-30|4|<ALPHANUM> bicycles|31-39|5|<ALPHANUM> casas|40-45|6|<ALPHANUM> città|46-51|7|<A"
     "LPHANUM>"},
    {"{\"analyzer\": \"russian\", \"text\": \"ponies relational 上海 外滩 café русские\"}",
     "ponies|0-6|0|<ALPHANUM> relational|7-17|1|<ALPHANUM> 上|18-19|2|<IDEOGRAPHIC> 海|19-20|3|<IDEOGRAP"
     "HIC> 外|21-22|4|<IDEOGRAPHIC> 滩|22-23|5|<IDEOGRAPHIC> café|24-28|6|<ALPHANUM> русск|29-36|7|<ALPH"
     "ANUM>"},
    {"{\"tokenizer\": \"whitespace\", \"char_filter\": [\"html_strip\"], \"text\": \"<p>a &amp; b</p><"
     "script>x</script>é&#x1F600;z\"}",
     "a|3-4|0|word &|5-10|1|word b|11-12|2|word é😀z|34-45|3|word"},
    {"{\"tokenizer\": \"whitespace\", \"char_filter\": [\"html_strip\"], \"text\": \"a<b x='1'>c<br/>d"
     "<!-- e -->f &nope; &lt\"}",
     "ac|0-11|0|word df|16-28|1|word &nope;|29-35|2|word <|36-39|3|word"},
    {"{\"tokenizer\": \"whitespace\", \"char_filter\": [\"html_strip\"], \"text\": \"<![CDATA[x]]>y\"}",
     "xy|9-14|0|word"},
    {"{\"tokenizer\": \"uax_url_email\", \"text\": \"Email john.smith@global.com, http://x.cn/a?b=1 ww"
     "w.foo.com/x\"}",
     "Email|0-5|0|<ALPHANUM> john.smith@global.com|6-27|1|<EMAIL> http://x.cn/a?b=1|29-46|2|<URL> www."
     "foo.com/x|47-60|3|<URL>"},
    {"{\"tokenizer\": \"standard\", \"text\": \"👍🏽 👨‍👩‍👧 🇨🇳 1️⃣ ☃︎\"}",
     "👍🏽|0-4|0|<EMOJI> 👨‍👩‍👧|5-13|1|<EMOJI> 🇨🇳|14-18|2|<EMOJI> "
     "1️⃣|19-22|3|<EMOJI> "
     "☃|23-24|4|<EMOJI>"},
    {"{\"tokenizer\": \"standard\", \"text\": \"ひらがな カタカナ 한국어 ไทย א\\\"א a.b 1,2 _x_\"}",
     "ひ|0-1|0|<HIRAGANA> ら|1-2|1|<HIRAGANA> が|2-3|2|<HIRAGANA> な|3-4|3|<HIRAGANA> "
     "カタカナ|5-9|4|<KATAKANA"
     "> 한국어|10-13|5|<HANGUL> ไทย|14-17|6|<SOUTHEAST_ASIAN> א\"א|18-21|7|<ALPHANUM> a.b|22-25|8|<ALPHAN"
     "UM> 1,2|26-29|9|<NUM> _x_|30-33|10|<ALPHANUM>"},
    {"{\"tokenizer\": \"standard\", \"text\": \"o'neil U.S.A. 3.14 foo_bar x:y\"}",
     "o'neil|0-6|0|<ALPHANUM> U.S.A|7-12|1|<ALPHANUM> 3.14|14-18|2|<NUM> foo_bar|19-26|3|<ALPHANUM> x:"
     "y|27-30|4|<ALPHANUM>"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"word_delimiter_graph\", \"catenate_wor"
     "ds\": true}], \"text\": \"Wi-Fi PowerShot500 O'Neil's -- x\"}",
     "WiFi|0-5|0:2|word Wi|0-2|0|word Fi|3-5|1|word PowerShot|6-15|2:2|word Power|6-11|2|word Shot|11-"
     "15|3|word 500|15-18|4|word ONeil|19-25|5:2|word O|19-20|5|word Neil|21-25|6|word x|31-32|8|word"},
    {"{\"tokenizer\": \"whitespace\", \"filter\": [{\"type\": \"synonym_graph\", \"synonyms\": [\"wifi"
     ", wireless lan, hot spot zone\"]}, \"flatten_graph\"], \"text\": \"free wifi here\"}",
     "free|0-4|0|word wireless|5-9|1|SYNONYM hot|5-9|1|SYNONYM wifi|5-9|1:3|word lan|5-9|2:2|SYNONYM s"
     "pot|5-9|2|SYNONYM zone|5-9|3|SYNONYM here|10-14|4|word"},
};

#endif
