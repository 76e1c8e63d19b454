/* names.h - the names that the search application, the management service and the index share, each written
 * once.
 *
 * It has only names; their users document the meaning. `text_anlyzer` is spelled as the index in
 * the field has it. */
#ifndef HOTEL_NAMES_H
#define HOTEL_NAMES_H

#define HOTEL_INDEX "hotel" /* the default; the setting `index` names another */

/* ---- fields of a hotel document, in the order in which they are written ---- */
#define F_ID         "id"
#define F_NAME       "name"
#define F_ADDRESS    "address"
#define F_PRICE      "price"
#define F_SCORE      "score"
#define F_BRAND      "brand"
#define F_CITY       "city"
#define F_STAR_NAME  "starName"
#define F_BUSINESS   "business"
#define F_LOCATION   "location"
#define F_PIC        "pic"
#define F_DISTANCE   "distance" /* of answers alone, never stored */
#define F_IS_AD      "isAD"
#define F_SUGGESTION "suggestion"
#define F_ALL        "all"       /* of the mapping alone: what copy_to fills */
#define F_HIGHLIGHT  "highlight" /* of answers alone, when it is asked for */

/* Around what matches: characters for private use, which no hotel's text has. */
#define MARK_BEGIN "\xEE\x80\x80" /* U+E000 */
#define MARK_END   "\xEE\x80\x81" /* U+E001 */

/* ---- analysis ---- */
#define A_TEXT          "text_anlyzer"
#define A_COMPLETION    "completion_analyzer"
#define A_PINYIN_FILTER "py"
#define A_SEARCH        "ik_smart"
#define A_TOKENIZER     "ik_max_word"

/* ---- parts of the searches, and how the answers call them ---- */
#define AGG_BRAND       "brandAgg"
#define AGG_CITY        "cityAgg"
#define AGG_STAR        "starAgg"
#define AGG_CHANGES     "changes"
#define SUGGEST_NAME    "suggestions"
#define FILTERS_BRAND   "品牌"
#define FILTERS_CITY    "城市"
#define FILTERS_STAR    "星级"
#define PROMOTED_WEIGHT 10
#define FILTER_VALUES   100 /* buckets of each filter list */
#define SUGGESTIONS_MAX 10
#define RESULT_WINDOW   10000 /* from + size */
#define PAGE_SIZE       10

#endif
