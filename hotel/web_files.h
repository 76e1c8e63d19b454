/* web_files.h - the files that are compiled into the hotel services. */
#ifndef HOTEL_WEB_FILES_H
#define HOTEL_WEB_FILES_H

#include "common/base/web_files.h"

extern const struct web_files hotel_web_files;   /* hotel/web: the search page */
extern const struct web_files hotel_admin_files; /* hotel/web_admin and what it shares: the management page */
extern const struct web_files hotel_word_files;  /* hotel/words: what guests say */
extern const struct web_files hotel_schema_files; /* deploy/mysql */

#endif
