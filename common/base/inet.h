/* inet.h - IP addresses and CIDR blocks as the `ip` field has them: 16 bytes, IPv4 mapped into ::ffff:0:0/96.
 * Pure; any thread. */
#ifndef BASE_INET_H
#define BASE_INET_H

#include "common/base/buf.h"
#include "common/base/err.h"

#define INET_BYTES 16

/* Java's InetAddresses.forString: dotted quads without leading zeros, IPv6 with "::" and an embedded quad, no
 * zone. ERR_ILLEGAL_ARGUMENT "'..' is not an IP string literal.". */
enum err inet_parse(struct str text, uint8_t out[INET_BYTES], struct errmsg *em) NODISCARD;
bool inet_is_v4(const uint8_t a[INET_BYTES]);
/* InetAddresses.toAddrString: "192.168.0.1", "2001:db8::1" (the longest run of zeros is left out). */
void inet_print(const uint8_t a[INET_BYTES], struct buf *out);

/* "10.0.0.0/8" into its first and last address. ERR_ILLEGAL_ARGUMENT. */
enum err inet_cidr(struct str text, uint8_t first[INET_BYTES], uint8_t last[INET_BYTES],
                   struct errmsg *em) NODISCARD;
/* Text with a '/' is a CIDR block. */
static inline bool inet_is_cidr(struct str text)
{
    return str_find(text, '/', 0) != SIZE_MAX;
}
/* The address one above or below; false at the end of the range. */
bool inet_next(uint8_t a[INET_BYTES]);
bool inet_prev(uint8_t a[INET_BYTES]);

#endif
