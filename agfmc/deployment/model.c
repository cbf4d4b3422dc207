/* A classifier of agfmc, written by mbh2mbm --c: decoder @DECODER@. @ROWS@

   int model_classify_row(const struct model_row *row, double *p) takes the cells of a row of a
   table: NAN or NULL is a missing one. It sets p to the MODEL_CLASSES @GIVES@ of the classes, and
   returns the position of the class in model_class_names and model_labels, or -1 where a cell is
   not of the kind of its column, a number is missing that may not be, no cell has a known value, or
   numbers are too large.
   int model_classify(const double *x, double *p) takes the MODEL_FEATURES features, which are made
   of the cells, in the order of model_feature_names. Both need @MEMORY@ kB of stack, and change
   nothing else, so threads may call them at the same time.

   cc -O3 -std=c99 -c model.c                          to link it to a program
   cc -O3 -std=c99 -DMODEL_MAIN -o model model.c -lm   a program of its own:
   ./model < new.csv > answers.csv                     a heading with the names of the columns
   ./model --self-test                                 ten points beside the suite's own answers

   Copyright (c) 2026, the agfmc authors. SPDX-License-Identifier: BSD-3-Clause
   The numbers and words of the model are those of whoever trained it. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
@SIZES@
};

struct model_row {                      /* numbers, and the text of words and dates */
@MEMBERS@
};

struct values {                         /* what is known of one point */
    double z[NORMALISED];               /* its features, normalised */
    double f[CLASSIFIERS];              /* decision value of each binary classifier */
    double r[CLASSIFIERS];              /* P(right side) - P(left side) */
    double sign[CLASSIFIERS];           /* of it */
    double odds[CLASSIFIERS];           /* log of P(right side) / P(left side), within [-30, 30] */
};

//@ @NUMBERS@
struct NUMBER_matrix {                  /* as blocks of rows that are 0 but in the same columns */
    int blocks;
    const int *shape;                   /* rows and columns of each block */
    const int *column;                  /* columns of the first block, of the second one ... */
    const NUMBER *value;                /* rows of the first block ... */
};

//@

struct normalisation {                  /* z += (x - mean) matrix */
    const double *mean;
    struct double_matrix matrix;
};

struct kernel {                         /* f += k coef of k = K(z, sv) */
    enum { KERNEL_LINEAR, KERNEL_POLYNOMIAL, KERNEL_RBF, KERNEL_SIGMOID, KERNEL_LAPLACIAN,
           KERNEL_EXPONENTIAL } kind;
    double gamma, coef0;
    int degree;
    int first, width;                   /* the features that it sees */
    int count;                          /* support vectors */
    const @REAL@ *sv;                   /* width x count */
    struct @REAL@_matrix coef;
};

struct tree_node {
    double value;                       /* threshold, or the value of a leaf */
    int feature;                        /* -1: a leaf */
    int left, right;                    /* nodes that follow; they come after this one */
    int missing_left;                   /* where a missing value goes */
};

struct node {                           /* of a tree; a coding matrix is one node alone */
    enum { RULE_MATRIX, RULE_LEAST_SQUARES, RULE_PAIRS, RULE_PRODUCTS, RULE_HAMMING, RULE_LINEAR,
           RULE_HINGE, RULE_EXPONENTIAL, RULE_LOGIT, RULE_QUADRATIC } rule;
    int first, rows;                    /* its classifiers, or scores */
    int count;                          /* its branches */
    const int *branch;                  /* of each the class, or MODEL_CLASSES + number of a node */
    const int *code;                    /* of each row how many branches have a side, and these,
                                           from 1; negative on the left */
    const double *offset;               /* for each branch */
    struct double_matrix matrix;        /* rows x branches */
    enum { TAKES_F, TAKES_R, TAKES_SIGNS, TAKES_LOG_ODDS } takes;
    enum { THEN_NOTHING, THEN_PROJECT, THEN_SHARES, THEN_SOFTMAX, THEN_DIFFERENCES } then;
};

struct map {                            /* softmax(log p weights + offset), mixed with equal p */
    struct double_matrix weights;
    const double *offset;
    double least, floor;
};

struct word {
    const char *text;
    int place;                          /* of its feature, or in its order */
};

struct form {                           /* of the text of numbers */
    const char *unit;                   /* behind them, or before them */
    int before;
    char thousands, decimal;            /* marks among the digits; 0: none */
    int below, above;                   /* the number of the feature of limits, as <5 and >5, or 0 */
    int serial;                         /* days of spreadsheets, counted from 1899-12-30 */
    int count;                          /* of the words for missing values */
    const char *const *blank;
};

struct column {                         /* of a table */
    const char *name;
    size_t offset;                      /* in struct model_row */
    enum { KIND_NUMBER, KIND_WORDS, KIND_ORDER, KIND_DATE } kind;
    int numbers;                        /* how many there are in struct model_row */
    const struct form *form;            /* NULL: plain numbers */
    int pair;                           /* 1, 2: the first or second of two in a cell; 0: all of it */
    int feature, width;                 /* the first one of its features, and how many these are */
    const struct word *word;            /* ascending */
    int count;                          /* of these */
    int other;                          /* place of all other words, or -1 */
    enum { ORDER_YEAR_FIRST, ORDER_DAY_FIRST, ORDER_MONTH_FIRST, ORDER_TIME_OF_DAY,
           ORDER_DURATION } order;
    int first;                          /* the day that is 0, counted from 1970-01-01 */
    int cycle[3];                       /* whether hour, weekday, and day of the year are features */
};

@TABLES@

/* Loops for the vectors of the processor at hand, chosen when the program starts, where the compiler
   can do that (-DVECTORS= : not so, for -fsanitize=thread) */
#if !defined(VECTORS) && defined(__has_attribute) && defined(__x86_64__) && defined(__GLIBC__)
#if __has_attribute(target_clones)
#define VECTORS __attribute__((target_clones("avx2", "default")))
#endif
#endif
#ifndef VECTORS
#define VECTORS
#endif

typedef uint64_t double_bits;
typedef uint32_t float_bits;
#define double_abs fabs
#define float_abs fabsf
#define double_LEAST -700.0
#define float_LEAST -87.0f
#define double_SHIFT 6755399441055744.0 /* 1.5 * 2^52 */
#define float_SHIFT 12582912.0f
#define double_LOG2 0.6931471803691238
#define double_MORE 1.9082149292705877e-10
#define float_LOG2 0.693359375f
#define float_MORE -2.12194440e-4f
#define double_BIAS 1023
#define float_BIAS 127
#define double_DIGITS DBL_MANT_DIG
#define float_DIGITS FLT_MANT_DIG

enum terms { PRODUCT, DISTANCE, SQUARE };

//@ @NUMBERS@
static NUMBER NUMBER_term(enum terms terms, NUMBER x, NUMBER m)
{
    return terms == PRODUCT ? x * m : terms == DISTANCE ? NUMBER_abs(x - m) : (x - m) * (x - m);
}

/* y_c = sum over j of x_j m_jc, of |x_j - m_jc| or of (x_j - m_jc)^2, four rows of m at a time */
VECTORS static void NUMBER_sums(enum terms terms, const NUMBER *restrict x, int rows,
                                const NUMBER *restrict m, int columns, NUMBER *restrict y)
{
    int j = 0;
    for (int c = 0; c < columns; c++)
        y[c] = 0;
    for (; j + 4 <= rows; j += 4, x += 4, m += 4 * columns)
        for (int c = 0; c < columns; c++)
            y[c] += NUMBER_term(terms, x[0], m[c]) + NUMBER_term(terms, x[1], m[c + columns])
                + (NUMBER_term(terms, x[2], m[c + 2 * columns])
                   + NUMBER_term(terms, x[3], m[c + 3 * columns]));
    for (; j < rows; j++, x++, m += columns)
        for (int c = 0; c < columns; c++)
            y[c] += NUMBER_term(terms, *x, m[c]);
}

/* y += x m */
static void NUMBER_add_products(const struct NUMBER_matrix *m, const NUMBER *x, double *y)
{
    NUMBER part[WIDEST];
    const int *shape = m->shape, *column = m->column;
    const NUMBER *value = m->value;
    for (int block = 0; block < m->blocks; block++, shape += 2) {
        int rows = shape[0], columns = shape[1];
        NUMBER_sums(PRODUCT, x, rows, value, columns, part);
        for (int c = 0; c < columns; c++)
            y[column[c]] += part[c];
        x += rows;
        column += columns;
        value += rows * columns;
    }
}

/* x_i becomes exp(x_i), x_i < 0 and at least that of the least number: a rational function of the
   remainder of log 2 (Cephes), which is subtracted in two parts */
VECTORS static void NUMBER_exponentials(NUMBER *x, int n)
{
    const NUMBER least = NUMBER_LEAST, shift = NUMBER_SHIFT, per_log2 = 1.4426950408889634,
        log2 = NUMBER_LOG2, more = NUMBER_MORE, odd2 = 1.2617719307481059e-4,
        odd1 = 3.0299440770744196e-2, even3 = 3.001985051386644e-6, even2 = 2.524483403496841e-3,
        even1 = 0.22726554820815503;
    for (int i = 0; i < n; i++)
        x[i] = x[i] < least ? least : x[i];
    for (int i = 0; i < n; i++) {
        NUMBER shifted = x[i] * per_log2 + shift, power = shifted - shift;
        NUMBER t = x[i] - power * log2 - power * more, s = t * t;
        NUMBER odd = ((odd2 * s + odd1) * s + 1) * t, even = ((even3 * s + even2) * s + even1) * s + 2;
        NUMBER_bits bits;               /* the last ones are the power: they become the exponent */
        memcpy(&bits, &shifted, sizeof bits);
        bits = (bits + NUMBER_BIAS) << (NUMBER_DIGITS - 1);
        memcpy(&power, &bits, sizeof power);
        x[i] = power + power * (2 * odd / (even - odd));
    }
}

//@
static void normalise(const double *x, double *z)
{
    double centred[MODEL_FEATURES];
    memset(z, 0, NORMALISED * sizeof *z);
    for (int i = 0; i < NORMALISATIONS; i++) {
        for (int j = 0; j < MODEL_FEATURES; j++)
            centred[j] = x[j] - normalisations[i].mean[j];
        double_add_products(&normalisations[i].matrix, centred, z);
    }
    if (!NORMALISATIONS)
        memcpy(z, x, NORMALISED * sizeof *z);
}

static void add_kernel_sums(const struct kernel *kernel, struct values *v)
{
    @REAL@ z[NORMALISED], k[SUPPORT_VECTORS];
    double gamma = kernel->gamma, coef0 = kernel->coef0;
    int n = kernel->count, kind = kernel->kind, squares = kind == KERNEL_RBF
        || kind == KERNEL_EXPONENTIAL, distances = squares || kind == KERNEL_LAPLACIAN;
    for (int j = 0; j < kernel->width; j++)
        z[j] = v->z[kernel->first + j];
    @REAL@_sums(squares ? SQUARE : distances ? DISTANCE : PRODUCT, z, kernel->width, kernel->sv, n, k);
    for (int i = 0; i < n; i++)
        switch (kind) {
        case KERNEL_POLYNOMIAL: k[i] = pow(gamma * k[i] + coef0, kernel->degree); break;
        case KERNEL_SIGMOID: k[i] = tanh(gamma * k[i] + coef0); break;
        case KERNEL_EXPONENTIAL: k[i] = -gamma * sqrt(k[i]); break;
        case KERNEL_RBF: case KERNEL_LAPLACIAN: k[i] *= -gamma; break;
        }
    if (distances)
        @REAL@_exponentials(k, n);
    @REAL@_add_products(&kernel->coef, k, v->f);
}

static double leaf_value(int at, const double *z)
{
    while (tree_nodes[at].feature >= 0) {
        const struct tree_node *node = &tree_nodes[at];
        double value = z[node->feature];
        int goes_left = isnan(value) ? node->missing_left : value <= node->value;
        at = goes_left ? node->left : node->right;
    }
    return tree_nodes[at].value;
}

/* The nearest point with p >= 0 and sum 1 (Michelot 1986) */
static void project(double *p, int n)
{
    double level = -HUGE_VAL, before;
    do {
        double sum = -1.0;
        int count = 0;
        before = level;
        for (int j = 0; j < n; j++)
            if (p[j] > level) {
                sum += p[j];
                count++;
            }
        level = sum / count;
    } while (level > before);
    for (int j = 0; j < n; j++)
        p[j] = fmax(p[j] - level, 0.0);
}

static void shares(double *p, int n)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        sum += p[j] = fmax(p[j], 0.0);
    for (int j = 0; j < n; j++)
        p[j] = sum > 0.0 ? p[j] / sum : 1.0 / n;
}

static void softmax(double *p, int n)
{
    double top = p[0], sum = 0.0;
    for (int j = 1; j < n; j++)
        top = fmax(top, p[j]);
    for (int j = 0; j < n; j++)
        sum += p[j] = exp(p[j] - top);
    for (int j = 0; j < n; j++)
        p[j] /= sum;
}

/* p from P(among the first i + 1 classes), made not to fall (isotonic regression) */
static void differences(double *p, int n)
{
    double sum[BRANCHES], before = 0.0;
    int size[BRANCHES], blocks = 0, j = 0;
    for (int i = 0; i < n - 1; i++, blocks++) {
        sum[blocks] = p[i];
        size[blocks] = 1;
        for (; blocks && sum[blocks] * size[blocks - 1] < sum[blocks - 1] * size[blocks]; blocks--) {
            sum[blocks - 1] += sum[blocks];
            size[blocks - 1] += size[blocks];
        }
    }
    for (int block = 0; block < blocks; block++) {
        double level = fmin(fmax(sum[block] / size[block], 0.0), 1.0);
        for (int i = 0; i < size[block]; i++, before = level)
            p[j++] = level - before;
    }
    p[n - 1] = 1.0 - before;
}

static void matrix_rule(const struct node *node, const struct values *v, double *p)
{
    const double *taken[] = {v->f, v->r, v->sign, v->odds};
    memcpy(p, node->offset, node->count * sizeof *p);
    double_add_products(&node->matrix, taken[node->takes] + node->first, p);
    switch (node->then) {
    case THEN_NOTHING: break;
    case THEN_PROJECT: project(p, node->count); break;
    case THEN_SHARES: shares(p, node->count); break;
    case THEN_SOFTMAX: softmax(p, node->count); break;
    case THEN_DIFFERENCES: differences(p, node->count); break;
    }
}

static double loss(int rule, double z)
{
    double limit = rule == RULE_EXPONENTIAL ? 500.0 : 1e100;
    z = fmin(fmax(z, -limit), limit);
    switch (rule) {
    case RULE_HAMMING: return (1.0 - ((z > 0.0) - (z < 0.0))) / 2.0;
    case RULE_LINEAR: return -z;
    case RULE_HINGE: return fmax(1.0 - z, 0.0);
    case RULE_EXPONENTIAL: return exp(-z);
    case RULE_LOGIT: return fmax(-2.0 * z, 0.0) + log1p(exp(-2.0 * fabs(z)));
    default: return (1.0 - z) * (1.0 - z);
    }
}

/* Products of the probabilities of the sides of a class, or the negative sum of its losses */
static void code_rule(const struct node *node, const struct values *v, double *p)
{
    const int *code = node->code;
    memcpy(p, node->offset, node->count * sizeof *p);
    for (int i = node->first; i < node->first + node->rows; i++)
        for (int count = *code++; count > 0; count--, code++) {
            double side = *code > 0 ? 1.0 : -1.0, *here = p + abs(*code) - 1;
            if (node->rule == RULE_PRODUCTS)
                *here *= (1.0 + side * v->r[i]) / 2.0;
            else
                *here -= loss(node->rule, side * v->f[i]);
        }
}

/* The least squares with p >= 0 and sum 1, of doubles and, where these are not sure of the end, of
   numbers of 80 digits, sums of doubles: a compiler must not reorder these sums (no -ffast-math) */
typedef struct {
    double part[PARTS];
} wide;

static wide wide_of(double value)
{
    wide result = {{value}};
    return result;
}

static double wide_value(wide a)
{
    return a.part[0];
}

/* a + b c */
static wide wide_add(wide a, wide b, wide c)
{
    double term[PARTS * (PARTS + 2)];
    int count = 0;
    for (int i = 0; i < PARTS; i++)
        term[count++] = a.part[i];
    for (int i = 0; i < PARTS; i++)
        for (int j = 0; i + j < PARTS; j++) {
            term[count] = b.part[i] * c.part[j];
            term[count + 1] = fma(b.part[i], c.part[j], -term[count]);
            count += 2;
        }
    /* term[i] becomes the sum of those behind it, the first one again as its terms may cancel */
    for (int i = -PARTS; i < PARTS; i++)
        for (int j = count - 1; j > i && j > 0; j--) {
            double sum = term[j - 1] + term[j], back = sum - term[j - 1];
            term[j] = (term[j - 1] - (sum - back)) + (term[j] - back);
            term[j - 1] = sum;
        }
    memcpy(a.part, term, sizeof a.part);
    return a;
}

/* - a / b */
static wide wide_ratio(wide a, wide b)
{
    wide x = wide_of(-1.0 / b.part[0]);
    for (int step = 0; step < 3; step++)
        x = wide_add(x, x, wide_add(wide_of(1.0), b, x));
    return wide_add(wide_of(0.0), a, x);
}

#define double_of(value) (value)
#define double_value(a) (a)
#define double_add(a, b, c) ((a) + (b) * (c))
#define double_ratio(a, b) (-(a) / (b))

//@ double wide
/* K = M^T M + 1 1^T of M = A - |A| r, its lower half: the solution of K u = 1 is p but for its sum.
   With a ridge values within 1e-12 of +-1 are made +-1, and ridge |p|^2 is added to what is made
   small, so that of many solutions the shortest is found. */
static void NUMBER_equations(const struct node *node, const struct values *v, double ridge,
                             NUMBER k[CODED][CODED])
{
    const int *code = node->code;
    for (int j = 0; j < node->count; j++)
        for (int l = 0; l <= j; l++)
            k[j][l] = NUMBER_add(NUMBER_of(1.0), NUMBER_of(j == l), NUMBER_of(ridge));
    for (int i = node->first; i < node->first + node->rows; i++) {
        NUMBER m[CODED];
        int at[CODED], count = *code++;
        double r = ridge > 0.0 && fabs(v->r[i]) > 1.0 - 1e-12 ? copysign(1.0, v->r[i]) : v->r[i];
        for (int s = 0; s < count; s++, code++) {
            NUMBER *row = k[at[s] = abs(*code) - 1];
            m[s] = NUMBER_add(NUMBER_of(*code > 0 ? 1.0 : -1.0), NUMBER_of(-1.0), NUMBER_of(r));
            for (int t = 0; t <= s; t++)
                row[at[t]] = NUMBER_add(row[at[t]], m[s], m[t]);
        }
    }
}

/* Solve K u = 1 for the classes in `passive`, where others are 0. y becomes u, and for the others
   K u - 1. Returns whether K is far enough from singular. */
VECTORS static int NUMBER_solve(NUMBER k[CODED][CODED], int n, const char *passive, double *y)
{
    NUMBER a[CODED][CODED + 1], minus_u[CODED];
    double trace = 0.0, least = HUGE_VAL;
    int set[CODED], count = 0;
    for (int j = 0; j < n; j++)
        if (passive[j])
            set[count++] = j;
    for (int i = 0; i < count; i++) {
        for (int j = i; j < count; j++)
            a[i][j] = k[set[j]][set[i]];
        a[i][count] = NUMBER_of(1.0);
        trace += NUMBER_value(a[i][i]);
    }
    for (int j = 0; j < count; j++) {
        for (int i = j + 1; i < count; i++) {
            NUMBER factor = NUMBER_ratio(a[j][i], a[j][j]);
            for (int t = i; t <= count; t++)
                a[i][t] = NUMBER_add(a[i][t], factor, a[j][t]);
        }
        least = fmin(least, NUMBER_value(a[j][j]));
    }
    for (int i = count - 1; i >= 0; i--) {
        for (int j = i + 1; j < count; j++)
            a[i][count] = NUMBER_add(a[i][count], a[i][j], minus_u[j]);
        minus_u[i] = NUMBER_ratio(a[i][count], a[i][i]);
        y[set[i]] = -NUMBER_value(minus_u[i]);
    }
    for (int j = 0; j < n; j++)
        if (!passive[j]) {
            NUMBER sum = NUMBER_of(1.0);
            for (int i = 0; i < count; i++)
                sum = NUMBER_add(sum, set[i] < j ? k[j][set[i]] : k[set[i]][j], minus_u[i]);
            y[j] = -NUMBER_value(sum);
        }
    return least > 1e-7 * trace;
}

/* Exchange the classes on the wrong side, all at once; when that has failed three times to make
   them fewer, the last one alone, until they are fewer (Portugal, Judice and Vicente 1994).
   Returns 0 where the end is not sure. */
static int NUMBER_least_squares(const struct node *node, const struct values *v, double ridge,
                                double tiny, double *p)
{
    NUMBER k[CODED][CODED];
    char passive[CODED];
    int n = node->count, fewest = n + 1, patience = 3, wrong = 1, sure = 0;
    NUMBER_equations(node, v, ridge, k);
    memset(passive, 1, sizeof passive);
    for (int step = 0; wrong && step < 20 + 4 * n; step++) {
        int last = 0;
        sure = NUMBER_solve(k, n, passive, p);
        wrong = 0;
        for (int j = 0; j < n; j++) {
            if (p[j] < -tiny) {
                wrong++;
                last = j;
            }
            sure = sure && (passive[j] || p[j] >= 10.0 * tiny);
        }
        patience = wrong < fewest ? 3 : patience - 1;
        fewest = wrong < fewest ? wrong : fewest;
        for (int j = 0; j < n; j++)
            passive[j] ^= p[j] < -tiny && (patience >= 0 || j == last);
    }
    for (int j = 0; j < n; j++)
        p[j] = passive[j] ? fmax(p[j], 0.0) : 0.0;
    return sure && !wrong;
}

//@
static void least_squares(const struct node *node, const struct values *v, double *p)
{
    double sum = 0.0;
    if (!double_least_squares(node, v, 0.0, 1e-14 * (node->rows + 10), p))
        wide_least_squares(node, v, 1e-36, 1e-40, p);
    for (int j = 0; j < node->count; j++)
        sum += p[j];
    for (int j = 0; j < node->count; j++)
        p[j] /= sum;
}

/* The probabilities of all classes by the nodes from first to end, one tree */
static void member(const struct values *v, int first, int end, double *p)
{
    double reached[MODEL_CLASSES + NODES] = {0.0}, share[BRANCHES];
    reached[MODEL_CLASSES + first] = 1.0;
    for (int i = first; i < end; i++) {
        const struct node *node = &nodes[i];
        switch (node->rule) {
        case RULE_MATRIX: matrix_rule(node, v, share); break;
        case RULE_PAIRS: case RULE_LEAST_SQUARES:
            if (CODED > 1)              /* else no node has them */
                least_squares(node, v, share);
            break;
        default: code_rule(node, v, share); break;
        }
        for (int j = 0; j < node->count; j++)
            reached[node->branch[j]] = reached[MODEL_CLASSES + i] * share[j];
    }
    memcpy(p, reached, MODEL_CLASSES * sizeof *p);
}

static void average(const struct values *v, double *p)
{
    double q[MODEL_CLASSES];
    memset(p, 0, sizeof q);
    for (int i = 0; i < MEMBERS; i++) {
        member(v, members[i], members[i + 1], q);
        for (int j = 0; j < MODEL_CLASSES; j++)
            p[j] += weights[i] * (GEOMETRIC ? log(fmax(q[j], 1e-16)) : q[j]);
    }
    if (GEOMETRIC)
        softmax(p, MODEL_CLASSES);
}

static void calibrate(const struct map *map, double *p)
{
    double z[MODEL_CLASSES];
    for (int j = 0; j < MODEL_CLASSES; j++)
        z[j] = log(fmax(p[j], map->least));
    memcpy(p, map->offset, sizeof z);
    double_add_products(&map->weights, z, p);
    softmax(p, MODEL_CLASSES);
    for (int j = 0; j < MODEL_CLASSES; j++)
        p[j] = (1.0 - map->floor) * p[j] + map->floor / MODEL_CLASSES;
}

/* The class of the largest p, the first in the order of the tree where there are several */
static int largest(const double *p)
{
    int best = tie_order[0];
    for (int j = 1; j < MODEL_CLASSES; j++)
        if (p[tie_order[j]] > p[best])
            best = tie_order[j];
    return best;
}

int model_classify(const double *x, double *p)
{
    struct values v;
    int answer;
    for (int j = 0; j < MODEL_FEATURES; j++)
        if (isinf(x[j]))
            return -1;
    normalise(x, v.z);
    for (int i = 0; i < NORMALISED; i++)
        if (TAKES_MISSING ? isinf(v.z[i]) : !isfinite(v.z[i]))
            return -1;
    for (int i = 0; i < CLASSIFIERS; i++)
        v.f[i] = -rho[i];
    for (int i = 0; i < KERNELS; i++)
        add_kernel_sums(&kernels[i], &v);
    for (int i = 0; i < CLASSIFIERS; i++) {
        for (int tree = tree_start[i]; tree < tree_start[i + 1]; tree++)
            v.f[i] += leaf_value(tree_roots[tree], v.z);
        if (!isfinite(v.f[i]))
            return -1;
        double odds = 2.0 * (slope[i] * v.f[i] + shift[i]);
        v.r[i] = -fabs(odds);
        v.sign[i] = (odds > 0.0) - (odds < 0.0);
        v.odds[i] = odds < -30.0 ? -30.0 : odds > 30.0 ? 30.0 : odds;
    }
    double_exponentials(v.r, CLASSIFIERS);     /* tanh */
    for (int i = 0; i < CLASSIFIERS; i++)
        v.r[i] = copysign((1.0 - v.r[i]) / (1.0 + v.r[i]), v.odds[i]);
    average(&v, p);
    answer = largest(p);
    for (int i = 0; i < MAPS; i++) {
        calibrate(&maps[i], p);
        answer = CLASS_BEFORE_MAP ? answer : largest(p);
    }
    return isnan(p[answer]) ? -1 : answer;
}

/* A part of the text of a cell */
struct text {
    const char *start;
    size_t length;
};

/* Without the blanks around it */
static struct text bare(const char *cell)
{
    struct text text = {cell + strspn(cell, " \t"), 0};
    text.length = strlen(text.start);
    while (text.length && strchr(" \t", text.start[text.length - 1]))
        text.length--;
    return text;
}

static int compare(struct text text, const char *word)
{
    int order = strncmp(text.start, word, text.length);
    return order ? order : -(word[text.length] != 0);
}

/* Programs write the same truth values and whole numbers in several ways: True is true, 1.0 is 1 */
static struct text plain(struct text text)
{
    size_t digits = 0, end = text.length;
    if (!compare(text, "True") || !compare(text, "TRUE"))
        return bare("true");
    if (!compare(text, "False") || !compare(text, "FALSE"))
        return bare("false");
    while (end && text.start[end - 1] == '0')
        end--;
    if (!end || text.start[end - 1] != '.')
        return text;
    end -= 1;
    while (digits < end && strchr("0123456789", text.start[end - 1 - digits]))
        digits++;
    if (digits && strspn(text.start, "+-") + digits >= end)
        text.length = end;
    return text;
}

static int is_number(struct text text, double *value)
{
    char *end;
    *value = NAN;
    if (!text.length || strspn(text.start, "0123456789+-.eE") < text.length)
        return 0;
    *value = strtod(text.start, &end);
    return end == text.start + text.length && isfinite(*value);
}

static int is_missing(const char *cell)
{
    double value, blank;
    struct text text;
    int numeric;
    if (!cell)
        return 1;
    text = bare(cell);
    numeric = is_number(text, &value);
    for (int i = 0; i < BLANKS; i++)
        if (!compare(text, blanks[i])
            || (numeric && is_number(bare(blanks[i]), &blank) && value == blank))
            return 1;
    return 0;
}

/* The place of a word of a column, or that of all others */
static int place_of(const struct column *column, struct text text)
{
    int low = 0, high = column->count;
    while (low < high) {
        int middle = low + (high - low) / 2, order = compare(text, column->word[middle].text);
        if (!order)
            return column->word[middle].place;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return column->other;
}

/* Read from least to most digits. Returns what follows, NULL where there are fewer. */
static const char *digits(const char *from, int least, int most, double *value)
{
    int count = 0;
    *value = 0;
    for (; from && count < most && *from >= '0' && *from <= '9'; count++)
        *value = 10.0 * *value + (*from++ - '0');
    return count < least ? NULL : from;
}

/* The same of a number that may have a fraction of up to nine digits */
static const char *fraction(const char *from, int least, int most, double *value)
{
    double part, unit = 1.0;
    const char *at = digits(from, least, most, value), *end;
    if (!at || *at != '.')
        return at;
    if (!(end = digits(at + 1, 1, 9, &part)))
        return NULL;
    while (++at < end)
        unit *= 10.0;
    *value += part / unit;
    return end;
}

/* What follows a certain character, NULL where it is another one */
static const char *behind(const char *at, char expected)
{
    return at && *at == expected ? at + 1 : NULL;
}

/* The time behind a date, in minutes; NAN for what is none */
static double minutes_of(const char *at, const char *end)
{
    double hour, minute, second = 0.0, ahead = 0.0, more = 0.0, sign = 0.0;
    if (at == end)
        return 0.0;
    if (*at != 'T' && *at != ' ')
        return NAN;
    at = digits(at + 1, 2, 2, &hour);
    at = digits(behind(at, ':'), 2, 2, &minute);
    if (at && *at == ':')
        at = fraction(at + 1, 2, 2, &second);
    if (at && *at == 'Z')
        at++;
    else if (at && (*at == '+' || *at == '-')) {
        sign = *at == '+' ? 1.0 : -1.0;
        at = digits(at + 1, 2, 2, &ahead);
        at = digits(at && *at == ':' ? at + 1 : at, 2, 2, &more);
    }
    if (at != end || hour > 23.0 || minute > 59.0 || second >= 60.0)
        return NAN;
    return 60.0 * (hour - sign * ahead) + minute - sign * more + second / 60.0;
}

/* A time of day, such as 9:05, 21:30:10 or 9:05 pm, in days */
static double time_of_day(const char *at, const char *end)
{
    double hour, minute, second = 0.0;
    at = digits(at, 1, 2, &hour);
    at = digits(behind(at, ':'), 2, 2, &minute);
    if (at && *at == ':')
        at = fraction(at + 1, 2, 2, &second);
    if (at && at != end) {
        int is_second_half;
        at += *at == ' ';
        is_second_half = *at == 'p' || *at == 'P';
        if ((!is_second_half && *at != 'a' && *at != 'A') || hour < 1.0 || hour > 12.0)
            return NAN;
        at += at[1] == '.' ? 2 : 1;
        if (*at != 'm' && *at != 'M')
            return NAN;
        at += at[1] == '.' ? 2 : 1;
        hour += (hour == 12.0 ? -12.0 : 0.0) + (is_second_half ? 12.0 : 0.0);
    }
    if (at != end || hour > 23.0 || minute > 59.0 || second >= 60.0)
        return NAN;
    return (hour * 3600.0 + minute * 60.0 + second) / 86400.0;
}

/* A duration, such as 36:05:10, 2 days, 12:05:10 or P1DT12H, in days */
static double duration(const char *start, const char *end)
{
    static const double seconds[] = {3600.0, 60.0, 1.0};
    double days = 0.0, value, sum = 0.0;
    const char *at = start, *next;
    if (*at == 'P') {
        if (++at == end)
            return NAN;
        next = behind(digits(at, 1, 6, &value), 'D');
        if (next) {
            days = value;
            at = next;
        }
        if (at != end && (*at++ != 'T' || at == end))
            return NAN;
        for (int i = 0; i < 3; i++) {
            next = i < 2 ? digits(at, 1, 9, &value) : fraction(at, 1, 9, &value);
            if ((next = behind(next, "HMS"[i]))) {
                sum += seconds[i] * value;
                at = next;
            }
        }
        return at == end ? days + sum / 86400.0 : NAN;
    }
    next = behind(digits(at + (*at == '-'), 1, 6, &value), ' ');
    if (next) {
        if (strncmp(next, "day", 3))
            return NAN;
        days = *at == '-' ? -value : value;
        next += next[3] == 's' ? 4 : 3;
        at = behind(next + (*next == ','), ' ');
        if (at && *at == '+')
            at++;
    }
    for (int i = 0; i < 3; i++) {
        at = i ? fraction(behind(at, ':'), 2, 2, &value) : digits(at, 1, 9, &value);
        if (!at || (i && value >= 60.0) || (i == 1 && *at != ':'))
            return NAN;
        sum += seconds[i] * value;
    }
    return at == end ? days + sum / 86400.0 : NAN;
}

/* The days from 1970 to a date, with its time as a fraction; NAN for what is none */
static double day_number(struct text text, int order)
{
    static const int position[][3] = {{0, 1, 2}, {2, 1, 0}, {2, 0, 1}}; /* of year, month, day */
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    double part[3];
    int year, month, day, leap;
    const char *at = text.start;
    char mark = 0;
    if (order == ORDER_TIME_OF_DAY)
        return time_of_day(at, at + text.length);
    if (order == ORDER_DURATION)
        return duration(at, at + text.length);
    for (int i = 0; i < 3; i++) {
        int is_year = i == position[order][0];
        if (i == 1)
            mark = *at;
        if (i && (*at++ != mark || !mark || !strchr("-/.", mark)))
            return NAN;
        if (!(at = digits(at, is_year ? 4 : 1, is_year ? 4 : 2, &part[i])))
            return NAN;
    }
    year = (int)part[position[order][0]];
    month = (int)part[position[order][1]];
    day = (int)part[position[order][2]];
    leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year < 1 || month < 1 || month > 12 || day < 1
        || day > lengths[month - 1] + (leap && month == 2))
        return NAN;
    for (int i = 1; i < month; i++)
        day += lengths[i - 1] + (leap && i == 2);
    year--;
    return 365 * year + year / 4 - year / 100 + year / 400 + day - 719163
        + minutes_of(at, text.start + text.length) / 1440.0;
}

/* Read the number in a text, with its unit, marks and limit. Returns 0 where it has another form.
   A word for a missing value is NAN. */
static int read_form(const struct form *form, struct text text, double *number)
{
    static const char *const signs[][2] = {
        {"\xc2\xa0", " "}, {"\xe2\x80\x87", " "}, {"\xe2\x80\x89", " "}, {"\xe2\x80\xaf", " "},
        {"\xe2\x88\x92", "-"}, {"\xe2\x80\x99", "'"}, {"\xe2\x89\xa4", "<"}, {"\xe2\x89\xa5", ">"}};
    char plain[256], value[256], *at = plain, *to = plain, *end;
    size_t unit = strlen(form->unit), span;
    int limit = 0, negative;
    memset(number, 0, (1 + (form->below > 0) + (form->above > 0)) * sizeof *number);
    *number = NAN;
    for (int i = 0; i < form->count; i++)
        if (!compare(text, form->blank[i]))
            return 1;
    *number = INFINITY;
    if (text.length >= sizeof plain)
        return 0;
    for (const char *from = text.start; from < text.start + text.length; to++) {
        size_t i = 0, count = sizeof signs / sizeof *signs;
        while (i < count && strncmp(from, signs[i][0], strlen(signs[i][0])))
            i++;
        *to = i < count ? *signs[i][1] : *from;
        from += i < count ? strlen(signs[i][0]) : 1;
    }
    while (to > plain && to[-1] == ' ')
        to--;
    *to = 0;
    at += strspn(at, " ");
    if (*at == '<' || *at == '>') {
        limit = *at == '<' ? form->below : form->above;
        if (!limit)
            return 0;
        at++;
        at += *at == '=';
    }
    at += *at == ' ';
    negative = *at == '-';
    at += negative || *at == '+';
    if (form->before) {
        if (strncmp(at, form->unit, unit))
            return 0;
        at += unit;
        if (unit == 3 && form->unit[0] < 127 && form->unit[0] > 0 && *at != ' ')
            return 0;                   /* EUR 5, and not EUR5 */
    }
    at += *at == ' ';
    to = value;
    span = strspn(at, "0123456789");
    memcpy(to, at, span);
    to += span;
    at += span;
    if (span && span <= 3 && *value != '0')     /* then groups of three digits */
        while (form->thousands && *at == form->thousands && strspn(at + 1, "0123456789") == 3) {
            memcpy(to, at + 1, 3);
            to += 3;
            at += 4;
        }
    if (*at == form->decimal || (*at == '.' && !form->thousands)) {     /* a program's own */
        size_t more = strspn(at + 1, "0123456789");
        if (to == value && !more)
            return 0;
        *to++ = '.';
        memcpy(to, at + 1, more);
        to += more;
        at += 1 + more;
    }
    if (to == value)
        return 0;
    if (*at == 'e' || *at == 'E') {
        size_t sign = 1 + (at[1] == '+' || at[1] == '-'), more = strspn(at + sign, "0123456789");
        if (more) {
            memcpy(to, at, sign + more);
            to += sign + more;
            at += sign + more;
        }
    }
    *to = 0;
    at += *at == ' ';
    if (form->before ? *at : strcmp(at, form->unit))
        return 0;
    *number = strtod(value, &end);
    if (negative)
        *number = -*number;
    if (limit)
        number[limit] = 1.0;
    return 1;
}

/* A year that comes first is never ambiguous */
static int put_date(const struct column *column, struct text text, double *x)
{
    static const double periods[] = {1.0, 7.0, 365.2425};       /* days; weeks begin on Monday */
    int order = column->order, is_date = order <= ORDER_MONTH_FIRST;
    double days = day_number(text, order), serial[3];
    if (isnan(days) && is_date)
        days = day_number(text, ORDER_YEAR_FIRST);
    if (column->form && read_form(column->form, text, serial) && *serial >= 20000.0
        && *serial <= 80000.0) {
        double minutes = rint(1440.0 * *serial) - 1440.0 * 25569.0;
        days = floor(minutes / 1440.0);
        days += (minutes - 1440.0 * days) / 1440.0;     /* to the last digit as of a date */
    }
    *x++ = (days - column->first) * (is_date ? 1.0 : order == ORDER_DURATION ? 86400.0 : 1440.0);
    for (int i = 0; i < 3; i++)
        if (column->cycle[i]) {
            double angle = 2.0 * 3.141592653589793 * (days + (i == 1 ? 3.0 : 0.0)) / periods[i];
            *x++ = sin(angle);
            *x++ = cos(angle);
        }
    return !isnan(days);
}

/* Make the features x of a row. Returns the first column whose cell is wrong, COLUMNS where no cell
   is known, neither missing nor a word that training had not, else -1. */
static int encode(const struct model_row *row, double *x)
{
    int wrong = COLUMNS, known = 0;
    for (int i = 0; i < COLUMNS; i++, x += columns[i - 1].width) {
        const struct column *column = &columns[i];
        const void *member = (const char *)row + column->offset;
        const char *word = NULL;
        const double *number = member;
        int right = 1, place;
        memset(x, 0, column->width * sizeof *x);
        if (column->kind != KIND_NUMBER)
            word = *(const char *const *)member;
        if (column->kind == KIND_NUMBER ? isnan(*number) : is_missing(word)) {
            memcpy(x, if_missing + column->feature, column->width * sizeof *x);
            right = !isinf(*x);
        } else {
            known = known || column->kind != KIND_WORDS || place_of(column, plain(bare(word))) >= 0;
            switch (column->kind) {
            case KIND_NUMBER:
                right = fabs(*number) <= FLT_MAX;
                memcpy(x, number, column->numbers * sizeof *x);
                break;
            case KIND_WORDS:
                place = place_of(column, plain(bare(word)));
                if (place >= 0)
                    x[place] = 1.0;
                break;
            case KIND_ORDER:
                place = place_of(column, plain(bare(word)));
                *x = place;
                right = place >= 0;
                break;
            case KIND_DATE: right = put_date(column, bare(word), x); break;
            }
        }
        for (int j = 0; j < column->width; j++)     /* as the suite reads tables */
            x[j] = fabs(x[j]) <= FLT_MAX ? (float)x[j] : x[j];
        if (!right && wrong == COLUMNS)
            wrong = i;
    }
    return known && wrong == COLUMNS ? -1 : wrong;
}

int model_classify_row(const struct model_row *row, double *p)
{
    double x[MODEL_FEATURES];
    return encode(row, x) < 0 ? model_classify(x, p) : -1;
}

#ifdef MODEL_MAIN
#include <stdio.h>

@MAIN_TABLES@

static long line, next_line = 1;        /* of the record in work, and of what follows */
static char delimiter = DELIMITER, decimal = DECIMAL;   /* 0: what the heading has */
static char *text, **cell;              /* the record, and its cells when it is split */
static size_t used, room;

static void show(const char *before, const char *word)  /* in one line */
{
    if (word) {
        fprintf(stderr, "%s'", before);
        for (int i = 0; word[i] && i < 60; i++)
            putc((unsigned char)word[i] < ' ' || word[i] == 127 ? ' ' : word[i], stderr);
        putc('\'', stderr);
    }
}

static void fail(const char *message, const char *word, const char *column)
{
    fflush(stdout);
    fprintf(stderr, "model: line %ld: %s", line, message);
    show(" ", column);
    show(", found ", word);
    putc('\n', stderr);
    exit(1);
}

static void append(int c)
{
    if (used == room) {
        room = 2 * room + 4096;
        text = realloc(text, room);
        cell = realloc(cell, room * sizeof *cell);
    }
    if (!text || !cell)
        fail("not enough memory", NULL, NULL);
    text[used++] = (char)c;
}

/* Read a record that is not an empty line. Returns 0 at the end. */
static int read_record(void)
{
    int c, quoted = 0;
    do {
        line = next_line;
        used = 0;
        while ((c = getchar()) != EOF) {
            if (c == '\r' && !quoted) {     /* CR LF, or CR alone */
                if ((c = getchar()) != '\n')
                    ungetc(c, stdin);
                c = '\n';
            }
            next_line += c == '\n';
            if (c == '\n' && !quoted)
                break;
            if (c == 0) {
                line = next_line;
                fail("expected text, found a byte of value 0", NULL, NULL);
            }
            quoted ^= c == '"' && QUOTES;
            append(c);
        }
    } while (used == 0 && c != EOF);
    if (quoted)
        fail("a quote is not closed", NULL, NULL);
    append(0);
    return used > 1;
}

/* The delimiter that stands most often in the first record, outside quotes */
static void guess_delimiter(void)
{
    int most = 0;
    for (const char *mark = ",;\t|"; *mark; mark++) {
        int count = 0, quoted = 0;
        for (size_t i = 0; i < used; i++) {
            quoted ^= text[i] == '"' && QUOTES;
            count += text[i] == *mark && !quoted;
        }
        if (count > most || !delimiter) {
            most = count;
            delimiter = *mark;
        }
    }
}

/* Split the record into cells, without quotes and outer blanks. Returns their number. */
static size_t split(void)
{
    size_t cells = 0;
    char *from = text + (strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3), *to = from, separator;
    do {
        char *begin = to;
        if (*from == '"' && QUOTES)
            for (from++; *from && (*from != '"' || *++from == '"'); from++)
                *to++ = *from;
        while (*from && *from != delimiter)
            *to++ = *from++;
        separator = *from++;
        while (to > begin && (to[-1] == ' ' || (to[-1] == '\t')))
            to--;
        *to++ = 0;
        cell[cells++] = begin + strspn(begin, " \t");
    } while (separator);
    return cells;
}

/* Decimal commas become points; where they were said to be there, points become commas, too */
static void set_point(char *word)
{
    char *mark = strpbrk(word, ".,");
    if (decimal == ',' && mark && !strpbrk(mark + 1, ".,")
        && !word[strspn(word, "0123456789+-.,eE")])
        *mark = *mark == ',' || DECIMAL != ',' ? '.' : ',';
}

/* Whether the first record is a heading. position[i] becomes the column of column i. */
static int is_heading(size_t cells, size_t *position)
{
    double value;
    const char *absent = NULL;
    int numbers = 1;
    for (int i = 0; i < COLUMNS; i++) {
        for (position[i] = 0; position[i] < cells; position[i]++)
            if (!strcmp(cell[position[i]], columns[i].name))
                break;
        if (position[i] == cells)
            absent = columns[i].name;
        numbers &= columns[i].kind == KIND_NUMBER && !columns[i].pair;
    }
    if (!HEADER)                        /* the names are numbers of columns */
        for (int i = 0; i < COLUMNS; i++)
            position[i] = strtoul(columns[i].name, NULL, 10) - 1;
    if (!HEADER || !absent)
        return HEADER;
    for (size_t j = 0; j < cells; j++)
        if (!numbers || (!is_number(bare(cell[j]), &value) && !is_missing(cell[j])))
            fail(numbers ? "expected numbers, or a heading with the column"
                 : "expected a heading with the column", cell[j], absent);
    for (int i = 0; i < COLUMNS; i++)
        position[i] = (size_t)i;
    return 0;
}

/* Read the first or the second of the two numbers in a text, with decimal points, or with commas */
static int read_pair(struct text text, int number, double *value)
{
    static const char *const marks = ".,", *const between[] = {",;", ";"};
    for (int comma = 0; comma < 2; comma++) {
        const char *at = text.start + (*text.start == '('), *end = text.start + text.length;
        for (int i = 1; i < 3; i++) {
            char word[32], *to = word;
            size_t span = strspn(at + (*at == '-' || *at == '+'), "0123456789");
            if (!span || span > 9)
                break;
            span += *at == '-' || *at == '+';
            memcpy(to, at, span);
            to += span;
            at += span;
            span = *at == marks[comma] ? strspn(at + 1, "0123456789") : 0;
            if (span && span < 16) {
                *to++ = '.';
                memcpy(to, at + 1, span);
                to += span;
                at += 1 + span;
            }
            *to = 0;
            if (i == number)
                *value = strtod(word, NULL);
            if (i == 2) {
                if (at + (*at == ')') == end)
                    return 1;
                break;
            }
            span = strspn(at, " ");
            if (comma && *at == ',')
                span = at[1] == ' ' ? 1 : 0;
            else if (at[span] && strchr(between[comma], at[span]))
                span++;
            if (!span)
                break;
            at += span;
            at += strspn(at, " ");
        }
    }
    return 0;
}

/* Make the features of the cells. Returns what `encode` does. */
static int encode_cells(const size_t *position, double *x)
{
    static struct model_row row;        /* it may be large */
    for (int i = 0; i < COLUMNS; i++) {
        void *member = (char *)&row + columns[i].offset;
        char *word = cell[position[i]];
        double number[3];
        if (columns[i].form && DECIMAL != ',')      /* its marks are those of the form */
            read_form(columns[i].form, bare(word), number);
        if (!columns[i].pair && (!columns[i].form || DECIMAL == ',' || isinf(*number)))
            set_point(word);
        if (columns[i].kind != KIND_NUMBER) {
            memcpy(member, &word, sizeof word);
            continue;
        }
        if (is_missing(word))
            *number = NAN;
        else if (columns[i].form)
            read_form(columns[i].form, bare(word), number);
        else if (columns[i].pair) {
            if (!read_pair(bare(word), columns[i].pair, number))
                *number = INFINITY;
        } else if (!is_number(bare(word), number))
            *number = INFINITY;
        memcpy(member, number, columns[i].numbers * sizeof *number);
    }
    return encode(&row, x);
}

/* One message tells how many rows have no answer, and why the first has none */
static long without_answer;
static char *why;

static void note(const char *message, const char *column, const char *word)
{
    static char room[400];
    if (without_answer++)
        return;
    why = room;
    sprintf(room, "the first in line %ld: %s", line, message);
    if (column)
        sprintf(strchr(room, 0), " in column '%.60s', found '%.60s'", column, word);
    for (char *at = room; *at; at++)    /* in one line */
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = ' ';
}

static int classify_table(void)
{
    static const char *const expected[] = {"expected a number", "expected a word",
        "expected one of the words of training", "expected a date or time as in training"};
    static size_t position[COLUMNS];    /* these may be large */
    static double x[MODEL_FEATURES], p[MODEL_CLASSES];
    char message[99];
    size_t width = 0;
    fputs(heading[0], stdout);
    while (read_record()) {
        int answer = -1, wrong;
        size_t cells;
        if (!width && !delimiter)
            guess_delimiter();
        if (!decimal)
            decimal = delimiter == ';' ? ',' : '.';
        cells = split();
        if (!width) {
            int named = is_heading(cells, position);
            width = HEADER && !named ? COLUMNS : cells;
            for (int i = 0; i < COLUMNS; i++)
                if (position[i] >= width)
                    width = position[i] + 1;
            if (named)
                continue;
        }
        sprintf(message, "expected %lu columns, found %lu", (unsigned long)width,
                (unsigned long)cells);
        if (cells != width)
            fail(message, NULL, NULL);
        wrong = encode_cells(position, x);
        if (wrong == COLUMNS)
            note("no cell has a known value", NULL, NULL);
        else if (wrong >= 0)
            note(columns[wrong].pair ? "expected two numbers" : expected[columns[wrong].kind],
                 columns[wrong].name, cell[position[wrong]]);
        else if ((answer = model_classify(x, p)) < 0)
            note("missing values, or numbers too large", NULL, NULL);
        if (answer >= 0)
            fputs(class_cells[answer], stdout);
        for (int j = 0; j < MODEL_CLASSES; j++)
            if (answer < 0)
                putchar(',');
            else
                printf(",%.12g", p[j]);
        putchar('\n');
    }
    if (ferror(stdin) || fflush(stdout))
        fail("an error of reading or writing", NULL, NULL);
    if (without_answer)
        fprintf(stderr, "model: rows without an answer: %ld, %s\n", without_answer, why);
    return without_answer > 0;
}

static int self_test(void)
{
    double largest = 0.0, p[MODEL_CLASSES];
    for (int i = 0; i < TESTS; i++) {
        int answer = model_classify(test_points + i * MODEL_FEATURES, p);
        for (int j = 0; j < MODEL_CLASSES; j++) {
            double right = test_p[i * MODEL_CLASSES + j];
            double difference = fabs(p[j] - right) / fmax(1.0, fabs(right));
            largest = answer < 0 || isnan(difference) ? HUGE_VAL : fmax(largest, difference);
        }
    }
    printf("largest difference %.3g\n", largest);
    return largest > @TOLERANCE@;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return classify_table();
    if (argc == 2 && !strcmp(argv[1], "--self-test"))
        return self_test();
    fputs("usage: model < points.csv > answers.csv, or model --self-test\n", stderr);
    return 2;
}
#endif
