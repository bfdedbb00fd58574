/* The learning programs of benchmarks/learning in float32, for one core: what a user would write in C without the array.
 *
 *   learn IN OUT
 *
 * IN has float32: the models, then the inputs and the labels, each for all samples, in the order of the arrays below. OUT
 * gets the models after one pass over the samples. Then passes are timed, and the samples a second of processor time of
 * the best of RUNS runs are printed. As in the array, every sample is a step: the models change before the next one.
 *
 * Defined at compilation: the kind (LINEAR, LOGISTIC, SVM, RECO or BACKPROP), its sizes, SAMPLES, and MU, the rate.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

enum { RUNS = 3 };
static const double LEAST_SECONDS = 0.2;

#if defined(LOGISTIC) || defined(BACKPROP)
static float sigmoid(float value) { return 1.0f / (1.0f + expf(-value)); }
#endif

#if defined(LINEAR) || defined(LOGISTIC) || defined(SVM)

static float w[FEATURES];
static float x[SAMPLES][FEATURES], y[SAMPLES];
static const struct { void *words; size_t bytes; } models[] = {{w, sizeof w}}, data[] = {{x, sizeof x}, {y, sizeof y}};

static void learn(size_t sample)
{
    const float *at = x[sample];
    float h = 0, e;
    for (size_t i = 0; i < FEATURES; i++)
        h += w[i] * at[i];
#if defined(LINEAR)
    e = h - y[sample];
#elif defined(LOGISTIC)
    e = sigmoid(h) - y[sample];
#else
    e = y[sample] * h < 1 ? -y[sample] : 0;
#endif
    for (size_t i = 0; i < FEATURES; i++)
        w[i] -= MU * e * at[i];
}

#elif defined(RECO)

static float w1[USERS][FACTORS], w2[ITEMS][FACTORS];
static float x1[SAMPLES][FACTORS], x2[SAMPLES][FACTORS], r1[SAMPLES][USERS], r2[SAMPLES][ITEMS];
/* The labels y1 and y2 of the program; `y1` is a function of the C library. */
static float users_y[SAMPLES][USERS], items_y[SAMPLES][ITEMS];
static const struct { void *words; size_t bytes; } models[] = {{w1, sizeof w1}, {w2, sizeof w2}},
    data[] = {{x1, sizeof x1}, {x2, sizeof x2}, {r1, sizeof r1}, {r2, sizeof r2}, {users_y, sizeof users_y},
            {items_y, sizeof items_y}};

static void side(size_t rows, float (*w)[FACTORS], const float *x, const float *r, const float *y)
{
    for (size_t row = 0; row < rows; row++) {
        float e = 0;
        for (size_t l = 0; l < FACTORS; l++)
            e += w[row][l] * x[l];
        e = e * r[row] - y[row];
        for (size_t l = 0; l < FACTORS; l++)
            w[row][l] -= MU * e * x[l];
    }
}

static void learn(size_t sample)
{
    side(USERS, w1, x2[sample], r1[sample], users_y[sample]);
    side(ITEMS, w2, x1[sample], r2[sample], items_y[sample]);
}

#elif defined(BACKPROP)

static float w1[HIDDEN][FEATURES], w2[CLASSES][HIDDEN];
static float x[SAMPLES][FEATURES], y[SAMPLES][CLASSES];
static const struct { void *words; size_t bytes; } models[] = {{w1, sizeof w1}, {w2, sizeof w2}},
    data[] = {{x, sizeof x}, {y, sizeof y}};

static void learn(size_t sample)
{
    float h[HIDDEN], o[CLASSES], d[CLASSES], b[HIDDEN];
    for (size_t j = 0; j < HIDDEN; j++) {
        h[j] = 0;
        for (size_t i = 0; i < FEATURES; i++)
            h[j] += w1[j][i] * x[sample][i];
    }
    for (size_t j = 0; j < HIDDEN; j++)
        h[j] = sigmoid(h[j]);
    for (size_t k = 0; k < CLASSES; k++) {
        o[k] = 0;
        for (size_t j = 0; j < HIDDEN; j++)
            o[k] += w2[k][j] * h[j];
        o[k] = sigmoid(o[k]);
        d[k] = (o[k] - y[sample][k]) * o[k] * (1 - o[k]);
    }
    for (size_t j = 0; j < HIDDEN; j++)
        b[j] = 0;
    for (size_t k = 0; k < CLASSES; k++)
        for (size_t j = 0; j < HIDDEN; j++) {
            b[j] += w2[k][j] * d[k];
            w2[k][j] -= MU * d[k] * h[j];
        }
    for (size_t j = 0; j < HIDDEN; j++) {
        b[j] *= h[j] * (1 - h[j]);
        for (size_t i = 0; i < FEATURES; i++)
            w1[j][i] -= MU * b[j] * x[sample][i];
    }
}

#endif

static void pass(void)
{
    for (size_t sample = 0; sample < SAMPLES; sample++)
        learn(sample);
}

/* The seconds of processor time that so many passes take. */
static double seconds(long passes)
{
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    for (long at = 0; at < passes; at++)
        pass();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    return (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}

int main(int count, char **words)
{
    FILE *in = count == 3 ? fopen(words[1], "rb") : NULL, *out = count == 3 ? fopen(words[2], "wb") : NULL;
    if (!in || !out)
        return 2;
    for (size_t at = 0; at < sizeof models / sizeof *models; at++)
        if (fread(models[at].words, models[at].bytes, 1, in) != 1)
            return 2;
    for (size_t at = 0; at < sizeof data / sizeof *data; at++)
        if (fread(data[at].words, data[at].bytes, 1, in) != 1)
            return 2;
    pass();
    for (size_t at = 0; at < sizeof models / sizeof *models; at++)
        fwrite(models[at].words, models[at].bytes, 1, out);
    if (fclose(out))
        return 2;
    long passes = 1;
    while (seconds(passes) < LEAST_SECONDS)
        passes *= 2;
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        const double rate = (double)passes * SAMPLES / seconds(passes);
        best = rate > best ? rate : best;
    }
    printf("%.0f\n", best);
    return 0;
}
