/* completion_int.h - the bytes of a completion section (docs/segment-format.md) and what its writer keeps. */
#ifndef SUGGEST_COMPLETION_INT_H
#define SUGGEST_COMPLETION_INT_H

#include "engine/suggest/completion.h"

#define COMPLETION_VERSION 1
#define COMPLETION_BLOCK   32 /* entries */
#define COMPLETION_FAN     16 /* greatest weights that one of the next level covers */
#define COMPLETION_HEADER_BYTES 32

/* Takes the newest entries back, until `n` bytes are kept (a value that completion_writer_bytes() had). */
void completion_writer_cut(struct completion_writer *w, size_t bytes);

#endif
