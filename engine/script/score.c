/* The functions of score scripts, and MovingFunctions. */
#include "engine/script/classes.h"
#include "engine/script/time.h"

#include "common/base/date_math.h"
#include "common/base/settings.h"

#include <math.h>

/* ---- decay ---- */

static double along_line(double distance, double scale, double decay)
{
    double scaling = scale / (1.0 - decay);
    return fmax(0.0, (scaling - distance) / scaling);
}

static double exponential(double distance, double scale, double decay)
{
    return exp(log(decay) / scale * distance);
}

static double gauss(double distance, double scale, double decay)
{
    return exp(0.5 * pow(distance, 2.0) / (0.5 * pow(scale, 2.0) / log(decay)));
}

static enum err decay_numeric(struct script_run *m, const struct builtin *b, struct sv *a, UNUSED uint32_t n,
                              struct sv *out)
{
    double v[5];
    enum err e = ERR_OK;
    for (int i = 0; i < 5 && e == ERR_OK; i++) {
        e = vm_arg_num(m, a[i], &v[i]);
    }
    if (e == ERR_OK) {
        *out = sv_double(b->curve(fmax(0.0, fabs(v[4] - v[0]) - v[2]), v[1], v[3]));
    }
    return e;
}

static enum err texts(struct script_run *m, const struct sv *a, struct str out[3])
{
    enum err e = ERR_OK;
    for (int i = 0; i < 3 && e == ERR_OK; i++) {
        e = vm_arg_str(m, a[i], &out[i]);
    }
    return e;
}

static enum err decay_geo(struct script_run *m, const struct builtin *b, struct sv *a, UNUSED uint32_t n,
                          struct sv *out)
{
    struct str t[3];
    struct geo_point origin;
    double scale = 0, offset = 0, decay = 0;
    enum err e = texts(m, a, t);
    e = e == ERR_OK ? geo_point_of_text(&origin, t[0], false, m->em) : e;
    e = e == ERR_OK ? geo_distance_parse(t[1], 1, &scale, m->em) : e;
    e = e == ERR_OK ? geo_distance_parse(t[2], 1, &offset, m->em) : e;
    e = e == ERR_OK ? vm_arg_num(m, a[3], &decay) : e;
    if (e == ERR_OK && a[4].kind != SV_GEO) {
        e = a[4].kind == SV_NULL ? vm_null(m, "lat()")
                                 : vm_class_cast(m, a[4], "org.elasticsearch.common.geo.GeoPoint");
    }
    if (e == ERR_OK) {
        double distance = geo_arc(origin.lat, origin.lon, a[4].geo->lat, a[4].geo->lon);
        *out = sv_double(b->curve(fmax(0.0, distance - offset), scale, decay));
    }
    return e;
}

static enum err decay_date(struct script_run *m, const struct builtin *b, struct sv *a, UNUSED uint32_t n,
                           struct sv *out)
{
    struct str t[3];
    const struct date_format *f;
    struct instant origin = {0, 0};
    int64_t from = 0, scale = 0, offset = 0;
    double decay = 0;
    enum err e = texts(m, a, t);
    e = e == ERR_OK ? date_format_new(&f, STR(DATE_FORMAT_DEFAULT), &m->mem, m->em) : e;
    e = e == ERR_OK ? date_math(f, t[0], DATE_WITHOUT_NOW, NULL, DATE_FILL_MIN, &origin, m->em) : e;
    e = e == ERR_OK ? instant_to_ms_exact(origin, &from, m->em) : e;
    e = e == ERR_OK ? parse_time_ms(t[1], "scale", &scale, m->em) : e;
    e = e == ERR_OK ? parse_time_ms(t[2], "offset", &offset, m->em) : e;
    e = e == ERR_OK ? vm_arg_num(m, a[3], &decay) : e;
    if (e == ERR_OK && a[4].kind != SV_DATE) {
        e = a[4].kind == SV_NULL ? vm_null(m, "toInstant()")
                                 : vm_class_cast(m, a[4], "JodaCompatibleZonedDateTime");
    }
    if (e == ERR_OK) {
        double diff = fabs((double)instant_to_ms(a[4].date->t) - (double)from);
        *out = sv_double(b->curve(fmax(0.0, diff - (double)offset), (double)scale, decay));
    }
    return vm_spend(m, 50) == ERR_OK ? e : ERR_PAINLESS;
}

/* ---- the others ---- */

static enum err saturation(struct script_run *m, UNUSED const struct builtin *b, struct sv *a,
                           UNUSED uint32_t n, struct sv *out)
{
    double v = 0, k = 0;
    enum err e = vm_arg_num(m, a[0], &v);
    e = e == ERR_OK ? vm_arg_num(m, a[1], &k) : e;
    *out = sv_double(v / (k + v));
    return e;
}

static enum err sigmoid(struct script_run *m, UNUSED const struct builtin *b, struct sv *a, UNUSED uint32_t n,
                        struct sv *out)
{
    double v = 0, k = 0, x = 0;
    enum err e = vm_arg_num(m, a[0], &v);
    e = e == ERR_OK ? vm_arg_num(m, a[1], &k) : e;
    e = e == ERR_OK ? vm_arg_num(m, a[2], &x) : e;
    *out = sv_double(pow(v, x) / (pow(k, x) + pow(v, x)));
    return e;
}

static enum err random_score(struct script_run *m, UNUSED const struct builtin *b, struct sv *a, uint32_t n,
                             struct sv *out)
{
    int64_t seed = 0;
    struct str field, text = STR_NULL;
    struct sv values, at = sv_int(0), first;
    enum err e = vm_arg_i64(m, a[0], &seed);
    if (e == ERR_OK && n > 1) {
        e = vm_arg_str(m, a[1], &field);
        e = e == ERR_OK ? vm_field(m, field, &values) : e;
        e = e == ERR_OK ? vm_method(m, values, STR("get"), &at, 1, &first) : e;
        e = e == ERR_OK ? vm_text(m, first, &text) : e;
    }
    *out = sv_double(e == ERR_OK && m->env->random != NULL ? m->env->random(m->env->self, (int32_t)seed, text)
                                                           : 0);
    return e;
}

/* ---- functions of expressions that Java's Math has not ---- */

static double java_acosh(const double *v)
{
    return log(v[0] + sqrt(v[0] * v[0] - 1));
}

static double java_asinh(const double *v)
{
    double x = fabs(v[0]);
    return copysign(log(sqrt(x * x + 1) + x), v[0]);
}

static double java_atanh(const double *v)
{
    double x = fabs(v[0]);
    return copysign(0.5 * log((1 + x) / (1 - x)), v[0]);
}

static double logn(const double *v)
{
    return log(v[1]) / log(v[0]);
}

static double haversin(const double *v)
{
    return geo_arc(v[0], v[1], v[2], v[3]) / 1000;
}

static enum err of_numbers(struct script_run *m, const struct builtin *b, struct sv *a, uint32_t n,
                           struct sv *out)
{
    double v[4] = {0, 0, 0, 0};
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < n && i < ARRAY_LEN(v) && e == ERR_OK; i++) {
        e = vm_arg_num(m, a[i], &v[i]);
    }
    *out = sv_double(b->numbers(v));
    return e;
}

/* ---- all of them ---- */

const struct builtin builtins[] = {{"saturation", 2, 2, .fn = saturation},
                                   {"sigmoid", 3, 3, .fn = sigmoid},
                                   {"decayNumericLinear", 5, 5, decay_numeric, .curve = along_line},
                                   {"decayNumericExp", 5, 5, decay_numeric, .curve = exponential},
                                   {"decayNumericGauss", 5, 5, decay_numeric, .curve = gauss},
                                   {"decayGeoLinear", 5, 5, decay_geo, .curve = along_line},
                                   {"decayGeoExp", 5, 5, decay_geo, .curve = exponential},
                                   {"decayGeoGauss", 5, 5, decay_geo, .curve = gauss},
                                   {"decayDateLinear", 5, 5, decay_date, .curve = along_line},
                                   {"decayDateExp", 5, 5, decay_date, .curve = exponential},
                                   {"decayDateGauss", 5, 5, decay_date, .curve = gauss},
                                   {"randomScore", 1, 2, .fn = random_score},
                                   {"dotProduct", 2, 2, vector_function, .vectors = vector_dot},
                                   {"cosineSimilarity", 2, 2, vector_function, .vectors = vector_cosine},
                                   {"l1norm", 2, 2, vector_function, .vectors = vector_l1},
                                   {"l2norm", 2, 2, vector_function, .vectors = vector_l2},
                                   {"acosh", 1, 1, of_numbers, .numbers = java_acosh},
                                   {"asinh", 1, 1, of_numbers, .numbers = java_asinh},
                                   {"atanh", 1, 1, of_numbers, .numbers = java_atanh},
                                   {"logn", 2, 2, of_numbers, .numbers = logn},
                                   {"haversin", 4, 4, of_numbers, .numbers = haversin}};

const struct builtin *builtin_named(struct str name, bool of_expressions)
{
    for (size_t i = 0; i < ARRAY_LEN(builtins); i++) {
        if (str_is(name, builtins[i].name) && of_expressions == (builtins[i].numbers != NULL)) {
            return &builtins[i];
        }
    }
    return NULL;
}

enum err vm_builtin(struct script_run *m, const struct builtin *b, struct sv *a, uint32_t n, struct sv *out)
{
    if (n < b->least || n > b->most) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "expected [%u] arguments, got [%u]", b->least, n);
    }
    return b->fn(m, b, a, n, out);
}

/* ---- MovingFunctions: values that are not numbers are passed over ---- */

static double moving_extreme(const double *v, uint32_t n, bool max)
{
    double best = NAN;
    for (uint32_t i = 0; i < n; i++) {
        best = i == 0 || (max ? v[i] > best : v[i] < best) ? v[i] : best;
    }
    return best;
}

static double moving_sum(const double *v, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += isnan(v[i]) ? 0 : v[i];
    }
    return sum;
}

static double unweighted(const double *v, uint32_t n)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!isnan(v[i])) {
            sum += v[i];
            count++;
        }
    }
    return count == 0 ? NAN : sum / count;
}

static double deviation(const double *v, uint32_t n, double avg)
{
    double squares = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!isnan(v[i])) {
            squares += (v[i] - avg) * (v[i] - avg);
            count++;
        }
    }
    return isnan(avg) || count == 0 ? NAN : sqrt(squares / count);
}

static double linear(const double *v, uint32_t n)
{
    double sum = 0, total = 1, current = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (!isnan(v[i])) {
            sum += v[i] * current;
            total += current;
            current += 1;
        }
    }
    return total == 1 ? NAN : sum / total;
}

static double ewma(const double *v, uint32_t n, double alpha)
{
    double avg = NAN;
    for (uint32_t i = 0; i < n; i++) {
        if (!isnan(v[i])) {
            avg = isnan(avg) ? v[i] : v[i] * alpha + avg * (1 - alpha);
        }
    }
    return avg;
}

static double holt(const double *v, uint32_t n, double alpha, double beta)
{
    double s = 0, b = 0;
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        if (isnan(v[i])) {
            continue;
        }
        double last = s;
        s = any ? alpha * v[i] + (1.0 - alpha) * (s + b) : v[i];
        b = any ? beta * (s - last) + (1 - beta) * b : 0;
        any = true;
    }
    return any ? s : NAN;
}

static enum err holt_winters(struct script_run *m, const double *in, uint32_t n, struct sv *a, struct sv *out)
{
    double alpha = 0, beta = 0, gamma = 0, s = 0, b = 0;
    int64_t period = 0;
    bool mult = false;
    uint32_t count = 0;
    enum err e = vm_arg_num(m, a[1], &alpha);
    e = e == ERR_OK ? vm_arg_num(m, a[2], &beta) : e;
    e = e == ERR_OK ? vm_arg_num(m, a[3], &gamma) : e;
    e = e == ERR_OK ? vm_arg_i64(m, a[4], &period) : e;
    e = e == ERR_OK ? vm_arg_bool(m, a[5], &mult) : e;
    *out = sv_double(NAN);
    if (e != ERR_OK || n == 0) {
        return e;
    }
    if (period < 1 || n < 2 * (uint64_t)period) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT,
                       "Holt-Winters aggregation requires at least (2 * period == 2 * %lld == %lld) "
                       "data-points to function.  Only "
                       "[%u] were provided.",
                       (long long)period, (long long)(2 * period), n);
    }
    double *v = ARENA_ARRAY(&m->mem, double, n), *seasonal = ARENA_ARRAY(&m->mem, double, n);
    if (v == NULL || seasonal == NULL) {
        return vm_no_memory(m);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!isnan(in[i])) {
            v[count++] = in[i] + (mult ? 0.0000000001 : 0); /* zeros would divide */
        }
    }
    if (count == 0) {
        return ERR_OK;
    }
    uint32_t p = (uint32_t)period;
    for (uint32_t i = 0; i < p; i++) {
        s += v[i];
        b += (v[i + p] - v[i]) / (double)p;
    }
    s /= (double)p;
    b /= (double)p;
    for (uint32_t i = 0; i < p && s != 0; i++) {
        seasonal[i] = v[i] / s;
    }
    double last_s = s, last_b = 0;
    for (uint32_t i = p; i < n; i++) {
        s = alpha * (mult ? v[i] / seasonal[i - p] : v[i] - seasonal[i - p])
            + (1.0 - alpha) * (last_s + last_b);
        b = beta * (s - last_s) + (1 - beta) * last_b;
        seasonal[i] = gamma * (mult ? v[i] / (last_s + last_b) : v[i] - (last_s - last_b))
                      + (1 - gamma) * seasonal[i - p];
        last_s = s;
        last_b = b;
    }
    *out = sv_double(mult ? (s + b) * seasonal[n - p] : s + b + seasonal[n - p]);
    return ERR_OK;
}

enum err static_moving(struct script_run *m, UNUSED enum type_id type, struct str name, struct sv *a,
                       uint32_t n, struct sv *out)
{
    struct sv_list *list;
    double arg[2] = {0, 0};
    enum err e =
        n < 1 ? err_set(m->em, ERR_ILLEGAL_ARGUMENT, "expected an argument") : vm_arg_list(m, a[0], &list);
    double *v = e == ERR_OK ? ARENA_ARRAY(&m->mem, double, list->n) : NULL;
    if (v == NULL) {
        return e == ERR_OK ? vm_no_memory(m) : e;
    }
    for (uint32_t i = 0; i < list->n && e == ERR_OK; i++) {
        e = vm_arg_num(m, list->v[i], &v[i]);
    }
    if (e == ERR_OK && n == 6 && str_is(name, "holtWinters")) {
        return holt_winters(m, v, list->n, a, out);
    }
    for (uint32_t i = 1; i < n && i < 3 && e == ERR_OK; i++) {
        e = vm_arg_num(m, a[i], &arg[i - 1]);
    }
    if (e != ERR_OK) {
        return e;
    }
    double r;
    if (n == 1 && (str_is(name, "max") || str_is(name, "min"))) {
        r = moving_extreme(v, list->n, str_is(name, "max"));
    } else if (n == 1 && str_is(name, "sum")) {
        r = moving_sum(v, list->n);
    } else if (n == 1 && str_is(name, "unweightedAvg")) {
        r = unweighted(v, list->n);
    } else if (n == 1 && str_is(name, "linearWeightedAvg")) {
        r = linear(v, list->n);
    } else if (n == 2 && str_is(name, "stdDev")) {
        r = deviation(v, list->n, arg[0]);
    } else if (n == 2 && str_is(name, "ewma")) {
        r = ewma(v, list->n, arg[0]);
    } else if (n == 3 && str_is(name, "holt")) {
        r = holt(v, list->n, arg[0], arg[1]);
    } else {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "static method [MovingFunctions, %.*s/%u] not found",
                       STR_ARG(name), n);
    }
    *out = sv_double(r);
    return vm_spend(m, list->n);
}
