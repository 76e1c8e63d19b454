#include "common/base/time_text.h"

void time_put_ns(struct buf *b, int64_t ns)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{86400000000000, "d"}, {3600000000000, "h"}, {60000000000, "m"}, {1000000000, "s"},
                 {1000000, "ms"},       {1000, "micros"},     {1, "nanos"}};
    size_t at = 0;
    if (ns <= 0) {
        buf_z(b, ns == 0 ? "0s" : "-1");
        return;
    }
    while (ns < units[at].ns) {
        at++;
    }
    buf_i64(b, ns / units[at].ns);
    int64_t tenth = ns % units[at].ns * 10 / units[at].ns; /* fits: a unit is at most 86400 seconds */
    if (tenth > 0) {
        buf_printf(b, ".%d", (int)tenth);
    }
    buf_z(b, units[at].name);
}
