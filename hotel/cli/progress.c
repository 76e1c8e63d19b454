#include "hotel/cli/progress.h"

#include "common/sys/clock_real.h"

#include <stdio.h>
#include <unistd.h>

#define BAR_CELLS    32
#define BAR_EVERY_MS 50
#define LOG_EVERY_MS 2000

void progress_start(struct progress *p, const char *what, uint64_t total)
{
    *p = (struct progress){
        .what = what, .total = total, .terminal = isatty(STDERR_FILENO) == 1, .clock = clock_real()};
    p->started_ms = clock_mono_ms(p->clock);
    p->shown_ms = p->terminal ? 0 : p->started_ms;
}

static void draw(const struct progress *p, uint64_t done)
{
    unsigned percent = p->total > 0 ? (unsigned)(done * 100 / p->total) : 100;
    if (!p->terminal) {
        fprintf(stderr, "%llu of %llu %s (%u %%)\n", (unsigned long long)done, (unsigned long long)p->total,
                p->what, percent);
        return;
    }
    unsigned full = percent * BAR_CELLS / 100;
    fputs("\r[", stderr);
    for (unsigned i = 0; i < BAR_CELLS; i++) {
        fputc(i < full ? '#' : '.', stderr);
    }
    fprintf(stderr, "] %3u %%  %llu/%llu %s", percent, (unsigned long long)done, (unsigned long long)p->total,
            p->what);
    fflush(stderr);
}

void progress_show(struct progress *p, uint64_t done)
{
    int64_t now = clock_mono_ms(p->clock);
    if (now - p->shown_ms >= (p->terminal ? BAR_EVERY_MS : LOG_EVERY_MS)) {
        p->shown_ms = now;
        draw(p, done);
    }
}

int64_t progress_end(struct progress *p, uint64_t done)
{
    draw(p, done);
    if (p->terminal) {
        fputc('\n', stderr);
    }
    return clock_mono_ms(p->clock) - p->started_ms;
}
