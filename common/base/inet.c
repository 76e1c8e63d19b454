#include "common/base/inet.h"

static enum err bad_ip(struct str text, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "'%.*s' is not an IP string literal.", STR_ARG(text));
}

static bool quad(struct str s, uint8_t out[4])
{
    struct str rest = s;
    for (int i = 0; i < 4; i++) {
        if (rest.p == NULL) {
            return false;
        }
        struct str part = str_cut(rest, '.', &rest);
        unsigned v = 0;
        if (part.n == 0 || part.n > 3 || (part.n > 1 && part.p[0] == '0')) {
            return false; /* "010" could be octal: refused, as Java's helper does */
        }
        for (size_t k = 0; k < part.n; k++) {
            if (part.p[k] < '0' || part.p[k] > '9') {
                return false;
            }
            v = v * 10 + (unsigned)(part.p[k] - '0');
        }
        if (v > 255) {
            return false;
        }
        out[i] = (uint8_t)v;
    }
    return rest.p == NULL;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Groups separated by ':'; the last may be a dotted quad. Returns how many 16-bit groups, -1: malformed. */
static int groups(struct str s, uint16_t out[8])
{
    int n = 0;
    struct str rest = s;
    if (s.n == 0) {
        return 0;
    }
    while (rest.p != NULL) {
        struct str part = str_cut(rest, ':', &rest);
        uint8_t four[4];
        if (rest.p == NULL && str_find(part, '.', 0) != SIZE_MAX) {
            if (n > 6 || !quad(part, four)) {
                return -1;
            }
            out[n++] = (uint16_t)(four[0] << 8 | four[1]);
            out[n++] = (uint16_t)(four[2] << 8 | four[3]);
            break;
        }
        if (n == 8 || part.n == 0 || part.n > 4) {
            return -1;
        }
        unsigned v = 0;
        for (size_t k = 0; k < part.n; k++) {
            int d = hex(part.p[k]);
            if (d < 0) {
                return -1;
            }
            v = v << 4 | (unsigned)d;
        }
        out[n++] = (uint16_t)v;
    }
    return n;
}

static bool parse_v6(struct str s, uint8_t out[INET_BYTES])
{
    uint16_t head[8], tail[8];
    size_t gap = str_find_str(s, STR("::"));
    int n_head = groups(gap == SIZE_MAX ? s : str_slice(s, 0, gap), head), n_tail = 0;
    if (gap != SIZE_MAX) {
        struct str after = str_slice(s, gap + 2, s.n);
        if (str_find_str(after, STR("::")) != SIZE_MAX
            || str_find(str_slice(s, 0, gap), '.', 0) != SIZE_MAX) {
            return false;
        }
        n_tail = groups(after, tail);
    }
    if (n_head < 0 || n_tail < 0 || (gap == SIZE_MAX ? n_head != 8 : n_head + n_tail > 7)) {
        return false;
    }
    memset(out, 0, INET_BYTES);
    for (int i = 0; i < n_head; i++) {
        out[2 * i] = (uint8_t)(head[i] >> 8);
        out[2 * i + 1] = (uint8_t)head[i];
    }
    for (int i = 0; i < n_tail; i++) {
        int at = 8 - n_tail + i;
        out[2 * at] = (uint8_t)(tail[i] >> 8);
        out[2 * at + 1] = (uint8_t)tail[i];
    }
    return true;
}

static void map_v4(const uint8_t four[4], uint8_t out[INET_BYTES])
{
    memset(out, 0, 10);
    out[10] = out[11] = 0xFF;
    memcpy(out + 12, four, 4);
}

enum err inet_parse(struct str text, uint8_t out[INET_BYTES], struct errmsg *em)
{
    uint8_t four[4];
    if (str_find(text, ':', 0) != SIZE_MAX) {
        size_t scope = str_find(text, '%', 0); /* an interface's name says nothing of the address */
        return parse_v6(str_slice(text, 0, scope), out) ? ERR_OK : bad_ip(text, em);
    }
    if (!quad(text, four)) {
        return bad_ip(text, em);
    }
    map_v4(four, out);
    return ERR_OK;
}

bool inet_is_v4(const uint8_t a[INET_BYTES])
{
    static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    return memcmp(a, prefix, sizeof(prefix)) == 0;
}

void inet_print(const uint8_t a[INET_BYTES], struct buf *out)
{
    if (inet_is_v4(a)) {
        buf_printf(out, "%u.%u.%u.%u", a[12], a[13], a[14], a[15]);
        return;
    }
    uint16_t g[8];
    int best = -1, best_n = 1; /* a single zero group is written out */
    for (int i = 0; i < 8; i++) {
        g[i] = (uint16_t)(a[2 * i] << 8 | a[2 * i + 1]);
    }
    for (int i = 0; i < 8; i++) {
        int n = 0;
        while (i + n < 8 && g[i + n] == 0) {
            n++;
        }
        if (n > best_n) {
            best = i;
            best_n = n;
        }
    }
    for (int i = 0; i < 8; i++) {
        if (i == best) {
            buf_z(out, "::");
            i += best_n - 1;
            continue;
        }
        buf_printf(out, "%s%x", i == 0 || i == best + best_n ? "" : ":", g[i]);
    }
}

enum err inet_cidr(struct str text, uint8_t first[INET_BYTES], uint8_t last[INET_BYTES], struct errmsg *em)
{
    struct str whole = text, rest, address;
    while (text.n > 0 && text.p[text.n - 1] == '/') { /* as Java's split drops what is empty at the end */
        text.n--;
    }
    address = str_cut(text, '/', &rest);
    enum err e =
        rest.p == NULL || str_find(rest, '/', 0) != SIZE_MAX
            ? err_set(em, ERR_ILLEGAL_ARGUMENT, "Expected [ip/prefix] but was [%.*s]", STR_ARG(whole))
            : inet_parse(address, first, em);
    if (e != ERR_OK) {
        return e;
    }
    unsigned bits = 0, max = str_find(address, ':', 0) == SIZE_MAX ? 32 : 128;
    if (inet_is_v4(first) && max == 128) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "CIDR notation is not allowed with IPv6-mapped IPv4 address [%.*s as it introduces "
            "ambiguity as to whether the prefix length should be interpreted as a v4 prefix length "
            "or a v6 prefix length",
            STR_ARG(address));
    }
    bool ok = rest.n > 0 && rest.n <= 3;
    for (size_t i = 0; ok && i < rest.n; i++) {
        ok = rest.p[i] >= '0' && rest.p[i] <= '9';
        bits = bits * 10 + (unsigned)(rest.p[i] - '0');
    }
    if (!ok || bits > max) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "Illegal prefix length [%.*s] in [%.*s]. Must be 0-32 for IPv4 ranges, 0-128 for IPv6 ranges",
            STR_ARG(rest), STR_ARG(whole));
    }
    bits += max == 32 ? 96 : 0;
    memcpy(last, first, INET_BYTES);
    for (unsigned i = bits; i < 128; i++) {
        uint8_t bit = (uint8_t)(0x80U >> (i & 7));
        first[i >> 3] &= (uint8_t)~bit;
        last[i >> 3] |= bit;
    }
    return ERR_OK;
}

bool inet_next(uint8_t a[INET_BYTES])
{
    for (int i = INET_BYTES - 1; i >= 0; i--) {
        if (++a[i] != 0) {
            return true;
        }
    }
    memset(a, 0xFF, INET_BYTES);
    return false;
}

bool inet_prev(uint8_t a[INET_BYTES])
{
    for (int i = INET_BYTES - 1; i >= 0; i--) {
        if (a[i]-- != 0) {
            return true;
        }
    }
    memset(a, 0, INET_BYTES);
    return false;
}
