/* base64.h - bytes as text in the standard alphabet (RFC 4648), as java.util.Base64 has it. Pure. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "common/base/buf.h"

/* The value of a digit of the alphabet; -1: it is none. */
int base64_digit(char c);
/* The bytes of a text, into `to`, which has room for text.n; *n of them. Padding at the end is passed over, bits of a last digit that
 * make no byte are dropped. false: *n is the place of what is no digit. */
bool base64_decode(struct str text, char *to, size_t *n) NODISCARD;
/* Appends the text of bytes, without padding. */
void base64_put(struct str bytes, struct buf *out);

#endif
