/* The three segmenters, as the plugin's documentation and its answers describe them. Each sees every unit of
 * the window once, in order, and adds what ends there. */
#include "engine/analysis/ik_int.h"

static void found(struct ik_segmenter *s, uint32_t begin, uint32_t length, enum ik_type type)
{
    struct ik_lexeme x = {(uint16_t)begin, (uint16_t)length, type};
    if (!ik_lexemes_add(&s->found, x, s->arena)) {
        s->no_memory = true;
    }
}

static bool is_open(const struct ik_run *r)
{
    return r->begin >= 0;
}

/* The run is over: it becomes a lexeme. */
static void close_run(struct ik_segmenter *s, struct ik_run *r, enum ik_type type)
{
    found(s, (uint32_t)r->begin, (uint32_t)(r->end - r->begin + 1), type);
    *r = (struct ik_run){-1, -1};
}

/* `belongs`: the cursor's unit is of the run's kind. `joins`: it may stand inside the run; whether it counts
 * if the run ends there is `counts`. */
struct ik_membership {
    bool belongs, joins, counts;
};

static void follow_run(struct ik_segmenter *s, struct ik_run *r, struct ik_membership m, enum ik_type type)
{
    int32_t cursor = (int32_t)s->window->cursor;
    if (!is_open(r)) {
        if (m.belongs) {
            *r = (struct ik_run){cursor, cursor};
        }
    } else if (m.belongs || (m.joins && m.counts)) {
        r->end = cursor;
    } else if (!m.joins) {
        close_run(s, r, type);
    }
    if (is_open(r) && ik_window_consumed(s->window)) {
        close_run(s, r, type);
    }
}

static bool joins_letters(uint16_t c)
{
    return c == '#' || c == '&' || c == '+' || c == '-' || c == '.' || c == '@' || c == '_';
}

/* Words of letters, numbers, and runs of both with connectors in and behind them. */
static void segment_letters(struct ik_segmenter *s, uint16_t c, enum ik_char type)
{
    bool letter = type == IK_ENGLISH, digit = type == IK_ARABIC, useless = type == IK_USELESS;
    if (!letter && !digit && !is_open(&s->letters) && !is_open(&s->arabic)) {
        return;
    }
    follow_run(s, &s->english, (struct ik_membership){letter, false, false}, IK_TYPE_ENGLISH);
    follow_run(s, &s->arabic, (struct ik_membership){digit, useless && (c == ',' || c == '.'), false},
               IK_TYPE_ARABIC);
    follow_run(s, &s->letters, (struct ik_membership){letter || digit, useless && joins_letters(c), true},
               IK_TYPE_LETTER);
}

/* 一二两三四五六七八九十零壹贰叁肆伍陆柒捌玖拾百千万亿佰仟萬億兆卅廿, ascending */
static const uint16_t numerals[] = {
    0x4E00, 0x4E03, 0x4E07, 0x4E09, 0x4E24, 0x4E5D, 0x4E8C, 0x4E94, 0x4EBF, 0x4EDF, 0x4F0D,
    0x4F70, 0x5104, 0x5146, 0x516B, 0x516D, 0x5341, 0x5343, 0x5345, 0x53C1, 0x56DB, 0x58F9,
    0x5EFF, 0x62FE, 0x634C, 0x67D2, 0x7396, 0x767E, 0x8086, 0x842C, 0x8D30, 0x9646, 0x96F6,
};

static bool is_numeral(uint16_t c)
{
    size_t low = 0, high = ARRAY_LEN(numerals);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (numerals[mid] < c) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < ARRAY_LEN(numerals) && numerals[low] == c;
}

/* Walks each open word one unit on, then tries the unit as a first one from `root`. */
static void follow_words(struct ik_segmenter *s, struct ik_hits *hits, uint32_t root, uint16_t c,
                         enum ik_type type)
{
    const struct dat *dat = &s->dict->dat;
    uint32_t cursor = s->window->cursor;
    size_t kept = 0;
    for (size_t i = 0; i < hits->n; i++) {
        struct ik_hit h = {hits->v[i].begin, dat_step(dat, hits->v[i].state, c)};
        if (h.state != 0 && dat_is_word(dat, h.state)) {
            found(s, h.begin, cursor - h.begin + 1, type);
        }
        if (h.state != 0 && dat_has_more(dat, h.state)) {
            hits->v[kept++] = h;
        }
    }
    hits->n = kept;
    uint32_t state = dat_step(dat, root, c);
    if (state != 0 && dat_is_word(dat, state)) {
        found(s, cursor, 1, type);
    }
    if (state != 0 && dat_has_more(dat, state) && hits->n < ARRAY_LEN(hits->v)) {
        hits->v[hits->n++] = (struct ik_hit){cursor, state};
    }
}

/* Measure words are looked for within and right behind numbers only. */
static bool wants_count(const struct ik_segmenter *s)
{
    if (is_open(&s->numerals) || s->counts.n > 0) {
        return true;
    }
    if (s->found.n == 0) {
        return false;
    }
    const struct ik_lexeme *last = &s->found.v[s->found.n - 1];
    return (last->type == IK_TYPE_CNUM || last->type == IK_TYPE_ARABIC)
           && lexeme_end(last) == s->window->cursor;
}

static void segment_quantities(struct ik_segmenter *s, uint16_t c, enum ik_char type)
{
    bool chinese = type == IK_CHINESE;
    bool numeral = chinese && is_numeral(c);
    if (numeral || is_open(&s->numerals)) {
        follow_run(s, &s->numerals, (struct ik_membership){numeral, false, false}, IK_TYPE_CNUM);
    }
    if (!wants_count(s)) {
        return;
    }
    if (chinese) {
        follow_words(s, &s->counts, s->dict->lists[IK_QUANTIFIER], c, IK_TYPE_COUNT);
    } else {
        s->counts.n = 0;
    }
    if (ik_window_consumed(s->window)) {
        s->counts.n = 0;
    }
}

static void segment_words(struct ik_segmenter *s, uint16_t c, enum ik_char type)
{
    if (type != IK_USELESS) {
        follow_words(s, &s->words, s->dict->lists[IK_MAIN], c, IK_TYPE_CNWORD);
    } else {
        s->words.n = 0;
    }
    if (ik_window_consumed(s->window)) {
        s->words.n = 0;
    }
}

void ik_segment(struct ik_segmenter *s)
{
    const struct ik_window *w = s->window;
    uint16_t c = w->units[w->cursor];
    enum ik_char type = (enum ik_char)w->types[w->cursor];
    segment_letters(s, c, type);
    segment_quantities(s, c, type);
    segment_words(s, c, type);
}

bool ik_segment_busy(const struct ik_segmenter *s)
{
    return is_open(&s->letters) || is_open(&s->english) || is_open(&s->arabic) || is_open(&s->numerals)
           || s->counts.n > 0 || s->words.n > 0;
}

void ik_segment_reset(struct ik_segmenter *s)
{
    s->found.n = 0;
    s->letters = s->english = s->arabic = s->numerals = (struct ik_run){-1, -1};
    s->counts.n = s->words.n = 0;
}
