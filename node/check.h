/* check.h - `serai-node check PATH`: reads all of a data folder, reports damage, changes nothing. */
#ifndef NODE_CHECK_H
#define NODE_CHECK_H

/* The exit status: 0 nothing is damaged, 1 something is, 2 it could not be read (no data folder, in use, wrong
 * arguments). Findings go to standard output, errors to standard error. */
int check_main(int argc, char **argv);

#endif
