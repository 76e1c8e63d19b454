/* version.h - the version of the programs, of which packages have their name. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define SERAI_VERSION "0.2.0"

#endif
