/* commands.h - the commands of `serai-hotel COMMAND`. Each returns the exit status, and says on
 * standard error what went wrong. */
#ifndef HOTEL_CLI_COMMANDS_H
#define HOTEL_CLI_COMMANDS_H

#include "hotel/config.h"
#include "hotel/mysql/db.h"

enum exit_status { /* those of BSD's sysexits that fit */
                   EXIT_DONE = 0,
                   EXIT_FAILED = 1,       /* the search service refused, or only part was done */
                   EXIT_USAGE_ERROR = 64, /* the command line or a setting */
                   EXIT_DATA_ERROR = 65,  /* the CSV file's contents, or an index of another form */
                   EXIT_NO_INPUT = 66,    /* the CSV file cannot be read */
                   EXIT_NO_SERVICE = 69,  /* the search service does not answer, the port is taken */
};

/* The exit status that an error stands for, and its text with the program's name on standard error. */
int command_failed(enum err e, const struct errmsg *em);

/* import FILE.csv [--recreate] */
int command_import(const struct hotel_config *c, const struct str *args, size_t n, struct arena *arena);
/* import --from-mysql: state_file NULL: a name made of the index's, in the working folder */
int command_import_mysql(const struct hotel_config *c, const char *state_file, struct arena *arena);
/* verify */
int command_verify(const struct hotel_config *c, const struct str *args, size_t n);
/* The database of the settings, for one thread. */
enum err database_open(struct db **out, const struct hotel_config *c, struct errmsg *em);
/* promote ID... [--off] */
int command_promote(const struct hotel_config *c, const struct str *args, size_t n, struct arena *arena);
/* generate N [--seed S] */
int command_generate(const struct str *args, size_t n);

#endif
