//@ head
/* A classifier of agfmc, written by mbh2mbm --c: decoder @DECODER@.

   int model_classify(const double *x, double *p) takes the MODEL_FEATURES features of a point, in
   the order of model_feature_names, sets p to the MODEL_CLASSES @GIVES@ of the classes, and
   returns the position of the class in model_class_names and model_labels, or -1 where a feature
   is missing (NAN) that may not be, or numbers are too large. It needs @MEMORY@ kB of stack, and
   changes nothing else, so threads may call it at the same time.

   cc -O3 -std=c99 -c model.c                          to link it to a program; -march=native makes
                                                       it faster, for processors like this one
   cc -O3 -std=c99 -DMODEL_MAIN -o model model.c -lm   a program of its own:
   ./model < points.csv > answers.csv                  commas, a heading with the names or none
   ./model --self-test                                 ten points beside the suite's own answers */
#include <math.h>
#include <stdint.h>
#include <string.h>

//@ values
struct values {                         /* what is known of one point */
    double z[NORMALISED];        /* its features, normalised */
    double f[CLASSIFIERS];              /* decision value of each binary classifier */
    double t[CLASSIFIERS];              /* half the logarithm of P(right side) / P(left side) */
    double r[CLASSIFIERS];              /* P(right side) - P(left side) */
};

struct node {                           /* of a tree; a coding matrix is one node alone */
    void (*rule)(const struct node *node, const struct values *v, double *p);
    int first, rows;                    /* its classifiers */
    int count;                          /* its branches */
    const int *branch;                  /* of each the class, or CLASSES + number of a node */
    const short *code;                  /* rows x count, -1 left, +1 right */
    const double *matrix, *offset;      /* rows x count and count */
    enum { OF_R, OF_SIGNS, OF_F, OF_LOG_ODDS, OF_POINT } takes;
    enum { AS_IT_IS, PROJECTED, SOFTMAX, ORDERED } then;
    enum { HAMMING, LINEAR_LOSS, HINGE, EXPONENTIAL_LOSS, LOGIT, QUADRATIC } loss;
};

/* y_c = sum over j of x_j m_jc, of |x_j - m_jc| or of (x_j - m_jc)^2, four rows of the matrix m at
   a time, in loops that compilers make vectors of */
enum terms { PRODUCTS, DISTANCES, SQUARES };

static double term(enum terms terms, double x, double m)
{
    return terms == PRODUCTS ? x * m : terms == DISTANCES ? fabs(x - m) : (x - m) * (x - m);
}

static void sums(enum terms terms, const double *restrict x, int rows, const double *restrict m,
                 int columns, double *restrict y)
{
    int j = 0;
    for (int c = 0; c < columns; c++)
        y[c] = 0.0;
    for (; j + 4 <= rows; j += 4, x += 4, m += 4 * columns)
        for (int c = 0; c < columns; c++)
            y[c] += term(terms, x[0], m[c]) + term(terms, x[1], m[c + columns])
                + (term(terms, x[2], m[c + 2 * columns]) + term(terms, x[3], m[c + 3 * columns]));
    for (; j < rows; j++, x++, m += columns)
        for (int c = 0; c < columns; c++)
            y[c] += term(terms, *x, m[c]);
}

/* x_i becomes exp(x_i), x_i < 0 and at least -700: a rational function of the remainder of log 2
   (Cephes), in a loop that compilers make vectors of */
static void exponentials(double *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = x[i] < -700.0 ? -700.0 : x[i];
    for (int i = 0; i < n; i++) {
        double shifted = x[i] * 1.4426950408889634 + 6755399441055744.0;    /* 1.5 * 2^52 */
        double power = shifted - 6755399441055744.0;
        double t = x[i] - power * 0.6931471803691238 - power * 1.9082149292705877e-10, s = t * t;
        double odd = ((1.2617719307481059e-4 * s + 3.0299440770744196e-2) * s + 1.0) * t;
        double even = ((3.001985051386644e-6 * s + 2.524483403496841e-3) * s
                       + 0.22726554820815503) * s + 2.0;
        uint64_t bits;                  /* the last ones are the power: they become the exponent */
        memcpy(&bits, &shifted, sizeof bits);
        bits = (bits + 1023) << 52;
        memcpy(&power, &bits, sizeof power);
        x[i] = power + power * (2.0 * odd / (even - odd));
    }
}

//@ scale_features
/* Features that stay apart: z_i = (x_c - mean_c) factor_i, c = column_i */
static void scale_features(const double *x, const double *mean, const int *column,
                           const double *factor, int n, double *z)
{
    for (int i = 0; i < n; i++)
        z[i] = (x[column[i]] - mean[column[i]]) * factor[i];
}

//@ mix_features
/* z = (x - mean) matrix */
static void mix_features(const double *x, const double *mean, const double *matrix, int n,
                         double *z)
{
    double centred[MODEL_FEATURES];
    for (int j = 0; j < MODEL_FEATURES; j++)
        centred[j] = x[j] - mean[j];
    sums(PRODUCTS, centred, MODEL_FEATURES, matrix, n, z);
}

//@ kernel
struct coefficients {                   /* f_c += sum over i of k_i coef_ic */
    int first, count;                   /* kernel values */
    int classifiers;                    /* those that they are of */
    const int *classifier;
    const double *coef;                 /* count x classifiers */
};

struct kernel {
    enum { LINEAR, POLYNOMIAL, RBF, SIGMOID, LAPLACIAN, EXPONENTIAL } kind;
    double gamma, coef0;
    int degree;
    int first, width;                   /* the features that it sees */
    int count;                          /* support vectors */
    const double *sv;                   /* width x count */
    int blocks;
    const struct coefficients *coefficients;
};

static void add_kernel_sums(const struct kernel *kernel, struct values *v)
{
    double k[SUPPORT_VECTORS], f[CLASSIFIERS];
    double gamma = kernel->gamma, coef0 = kernel->coef0;
    int n = kernel->count, kind = kernel->kind;
    sums(kind == RBF || kind == EXPONENTIAL ? SQUARES : kind == LAPLACIAN ? DISTANCES : PRODUCTS,
         v->z + kernel->first, kernel->width, kernel->sv, n, k);
    for (int i = 0; i < n; i++)
        switch (kind) {
        case POLYNOMIAL: k[i] = pow(gamma * k[i] + coef0, kernel->degree); break;
        case SIGMOID: k[i] = tanh(gamma * k[i] + coef0); break;
        case RBF: case LAPLACIAN: k[i] *= -gamma; break;
        case EXPONENTIAL: k[i] = -gamma * sqrt(k[i]); break;
        }
    if (kind == RBF || kind == LAPLACIAN || kind == EXPONENTIAL)
        exponentials(k, n);
    for (int b = 0; b < kernel->blocks; b++) {
        const struct coefficients *block = &kernel->coefficients[b];
        sums(PRODUCTS, k + block->first, block->count, block->coef, block->classifiers, f);
        for (int c = 0; c < block->classifiers; c++)
            v->f[block->classifier[c]] += f[c];
    }
}

//@ forest
struct tree_node {
    double value;                       /* threshold, or the value of a leaf */
    int feature;                        /* -1: a leaf */
    int left, right;                    /* nodes that follow; they come after this one */
    int missing_left;                   /* where a missing value goes */
};

static double leaf_value(const struct tree_node *nodes, int at, const double *z)
{
    while (nodes[at].feature >= 0) {
        double value = z[nodes[at].feature];
        int goes_left = isnan(value) ? nodes[at].missing_left : value <= nodes[at].value;
        at = goes_left ? nodes[at].left : nodes[at].right;
    }
    return nodes[at].value;
}

//@ project
/* The nearest point with p >= 0 and sum 1 (Michelot 1986) */
static void project(double *p, int n)
{
    double top = p[0], level = -HUGE_VAL;
    for (int j = 1; j < n; j++)
        top = fmax(top, p[j]);
    for (int above = n + 1, before = n + 2; above < before;) {
        double sum = -1.0;
        before = above;
        above = 0;
        for (int j = 0; j < n; j++)
            if (p[j] - top > level) {
                sum += p[j] - top;
                above++;
            }
        level = sum / above;
    }
    for (int j = 0; j < n; j++)
        p[j] = fmax(p[j] - top - level, 0.0);
}

//@ softmax
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

//@ order
/* p from P(among the first i + 1 classes), made not to fall (isotonic regression) */
static void order(double *p, int n)
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

//@ linear_rule project order softmax
/* p = then(matrix values + offset) */
static void linear_rule(const struct node *node, const struct values *v, double *p)
{
    double value[ROWS];
    for (int i = 0; i < node->rows; i++) {
        int at = node->first + i;
        switch (node->takes) {
        case OF_R: value[i] = v->r[at]; break;
        case OF_SIGNS: value[i] = (v->r[at] > 0.0) - (v->r[at] < 0.0); break;
        case OF_F: value[i] = v->f[at]; break;
        case OF_LOG_ODDS: value[i] = fmin(fmax(2.0 * v->t[at], -30.0), 30.0); break;
        case OF_POINT: value[i] = v->z[i]; break;
        }
    }
    sums(PRODUCTS, value, node->rows, node->matrix, node->count, p);
    for (int j = 0; j < node->count; j++)
        p[j] += node->offset[j];
    switch (node->then) {
    case AS_IT_IS: break;
    case PROJECTED: project(p, node->count); break;
    case SOFTMAX: softmax(p, node->count); break;
    case ORDERED: order(p, node->count); break;
    }
}

//@ product_rule
/* The probabilities of the sides of a class, multiplied */
static void product_rule(const struct node *node, const struct values *v, double *p)
{
    for (int j = 0; j < node->count; j++) {
        p[j] = 1.0;
        for (int i = 0; i < node->rows; i++)
            if (node->code[i * node->count + j])
                p[j] *= (1.0 + node->code[i * node->count + j] * v->r[node->first + i]) / 2.0;
    }
}

//@ loss_rule
/* The negative sum of the losses of a class */
static double loss_of(const struct node *node, double z)
{
    double limit = node->loss == EXPONENTIAL_LOSS ? 500.0 : 1e100;
    z = fmin(fmax(z, -limit), limit);
    switch (node->loss) {
    case HAMMING: return (1.0 - ((z > 0.0) - (z < 0.0))) / 2.0;
    case LINEAR_LOSS: return -z;
    case HINGE: return fmax(1.0 - z, 0.0);
    case EXPONENTIAL_LOSS: return exp(-z);
    case LOGIT: return fmax(-2.0 * z, 0.0) + log1p(exp(-2.0 * fabs(z)));
    case QUADRATIC: return (1.0 - z) * (1.0 - z);
    }
    return 0.0;
}

static void loss_rule(const struct node *node, const struct values *v, double *p)
{
    for (int j = 0; j < node->count; j++) {
        p[j] = 0.0;
        for (int i = 0; i < node->rows; i++)
            p[j] -= loss_of(node, node->code[i * node->count + j] * v->f[node->first + i]);
    }
}

//@ equations
/* K = M^T M + 1 1^T of M = A - |A| r, whose solution K u = 1 is p but for its sum */
struct equations {
    int n;
    double k[CODED][CODED];
};

/* Solve K u = 1 for the classes in `passive`, u = 0 for others, and set w = K u - 1 for these.
   Returns 0 where K is too near to singular to be trusted. */
static int solve(const struct equations *e, const char *passive, double *u, double *w)
{
    double a[CODED][CODED + 2], trace = 0.0, length = 0.0, least = 1.0;
    int set[CODED], count = 0;
    for (int j = 0; j < e->n; j++)
        if (passive[j])
            set[count++] = j;
    for (int i = 0; i < count; i++) {
        for (int j = i; j < count; j++)
            a[i][j] = e->k[set[i]][set[j]];
        a[i][count] = 1.0;
        a[i][count + 1] = cos(1.0 + set[i]);    /* a probe of the condition */
        trace += a[i][i];
    }
    for (int j = 0; j < count; j++) {
        for (int i = j + 1; i < count; i++) {
            double factor = a[j][i] / a[j][j];
            for (int t = i; t < count + 2; t++)
                a[i][t] -= factor * a[j][t];
        }
        least = fmin(least, a[j][j]);
        length += a[j][count + 1] * a[j][count + 1] / a[j][j];
    }
    for (int j = 0; j < e->n; j++) {
        u[j] = 0.0;
        w[j] = -1.0;
    }
    for (int i = count - 1; i >= 0; i--) {
        double x = a[i][count];
        for (int j = i + 1; j < count; j++)
            x -= a[i][j] * u[set[j]];
        u[set[i]] = x / a[i][i];
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < e->n; j++)
            w[j] += e->k[set[i]][j] * u[set[i]];
    return least > 0.0 && length * trace < 1e9;
}

static void positive_shares(double *p, int n)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        sum += p[j] = fmax(p[j], 0.0);
    for (int j = 0; j < n; j++)
        p[j] /= sum;
}

//@ pair_rule equations
/* Least squares of one-vs-one, where no class is negative; the code is rows x (left, right) */
static void pair_rule(const struct node *node, const struct values *v, double *p)
{
    struct equations e;
    char all[CODED];
    double w[CODED];
    e.n = node->count;
    for (int j = 0; j < e.n; j++)
        e.k[j][j] = 1.0;
    for (int i = 0; i < node->rows; i++) {
        int left = node->code[2 * i], right = node->code[2 * i + 1];
        double r = v->r[node->first + i];
        e.k[left][right] = e.k[right][left] = r * r;
        e.k[left][left] += (1.0 + r) * (1.0 + r);
        e.k[right][right] += (1.0 - r) * (1.0 - r);
    }
    memset(all, 1, sizeof all);
    solve(&e, all, p, w);
    positive_shares(p, e.n);
}

//@ least_squares_rule equations
static void fill_equations(const struct node *node, const struct values *v, struct equations *e)
{
    e->n = node->count;
    for (int j = 0; j < e->n; j++)
        for (int l = 0; l < e->n; l++)
            e->k[j][l] = 1.0;
    for (int i = 0; i < node->rows; i++) {
        double m[CODED];
        int class[CODED], count = 0;
        for (int j = 0; j < e->n; j++)
            if (node->code[i * e->n + j]) {
                m[count] = node->code[i * e->n + j] - v->r[node->first + i];
                class[count++] = j;
            }
        for (int s = 0; s < count; s++)
            for (int t = 0; t < count; t++)
                e->k[class[s]][class[t]] += m[s] * m[t];
    }
}

/* Numbers of 80 digits, sums of doubles, for equations that doubles cannot solve: a compiler must
   not reorder these sums (no -ffast-math). */
enum { PARTS = 5 };
struct wide {
    double part[PARTS];
};

static struct wide wide_of(double value)
{
    struct wide result = {{value}};
    return result;
}

/* a + b c */
static struct wide add_product(struct wide a, struct wide b, struct wide c)
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

static struct wide minus_product(struct wide a, struct wide b, struct wide c)
{
    for (int i = 0; i < PARTS; i++)
        b.part[i] = -b.part[i];
    return add_product(a, b, c);
}

static struct wide quotient(struct wide a, struct wide b)
{
    struct wide x = wide_of(1.0 / b.part[0]);
    for (int step = 0; step < 3; step++)
        x = add_product(x, x, minus_product(wide_of(1.0), b, x));
    return add_product(wide_of(0.0), a, x);
}

struct wide_equations {
    int n;
    struct wide k[CODED][CODED];
};

/* As above, with values within 1e-12 of +-1 made +-1, and with 1e-36 |p|^2 added to what is made
   small, so that of many solutions the shortest is found. */
static void fill_wide(const struct node *node, const struct values *v, struct wide_equations *e)
{
    e->n = node->count;
    for (int j = 0; j < e->n; j++)
        for (int l = 0; l < e->n; l++)
            e->k[j][l] = add_product(wide_of(1.0), wide_of(j == l), wide_of(1e-36));
    for (int i = 0; i < node->rows; i++) {
        double r = v->r[node->first + i];
        const short *a = node->code + i * e->n;
        if (1.0 - fabs(r) < 1e-12)
            r = r > 0.0 ? 1.0 : -1.0;
        for (int j = 0; j < e->n; j++)
            for (int l = 0; a[j] && l < e->n; l++)
                if (a[l])
                    e->k[j][l] = add_product(
                        e->k[j][l], minus_product(wide_of(a[j]), wide_of(1.0), wide_of(r)),
                        minus_product(wide_of(a[l]), wide_of(1.0), wide_of(r)));
    }
}

static int solve_wide(const struct wide_equations *e, const char *passive, double *u, double *w)
{
    struct wide a[CODED][CODED], x[CODED];
    int set[CODED], count = 0;
    for (int j = 0; j < e->n; j++)
        if (passive[j])
            set[count++] = j;
    for (int i = 0; i < count; i++) {
        x[i] = wide_of(1.0);
        for (int j = 0; j <= i; j++)
            a[i][j] = e->k[set[i]][set[j]];
    }
    for (int j = 0; j < count; j++)
        for (int i = j + 1; i < count; i++) {
            struct wide factor = quotient(a[i][j], a[j][j]);
            for (int t = j + 1; t <= i; t++)
                a[i][t] = minus_product(a[i][t], factor, a[t][j]);
            x[i] = minus_product(x[i], factor, x[j]);
        }
    for (int i = count - 1; i >= 0; i--) {
        for (int j = i + 1; j < count; j++)
            x[i] = minus_product(x[i], a[j][i], x[j]);
        x[i] = quotient(x[i], a[i][i]);
    }
    for (int j = 0; j < e->n; j++) {
        struct wide sum = wide_of(-1.0);
        for (int i = 0; i < count; i++)
            sum = add_product(sum, e->k[j][set[i]], x[i]);
        u[j] = 0.0;
        w[j] = sum.part[0];
    }
    for (int i = 0; i < count; i++)
        u[set[i]] = x[i].part[0];
    return 1;
}

/* Exchange the classes on the wrong side, all at once; when that has failed three times to make
   them fewer, the last one alone, until they are fewer (Portugal, Judice and Vicente 1994).
   Returns 0 where the end is not sure. */
static int pivot(const struct equations *e, const struct wide_equations *wide, int n, double tiny,
                 double *u)
{
    double w[CODED];
    char passive[CODED];
    memset(passive, 1, sizeof passive);
    for (int step = 0, fewest = n + 1, patience = 3; step < 20 + 4 * n; step++) {
        int sure = wide ? solve_wide(wide, passive, u, w) : solve(e, passive, u, w);
        int wrong = 0, last = 0;
        for (int j = 0; j < n; j++) {
            if ((passive[j] ? u[j] : w[j]) < -tiny) {
                wrong++;
                last = j;
            }
            sure = sure && (passive[j] || w[j] >= 10.0 * tiny);
        }
        if (wrong == 0)
            return sure;
        int single = wrong >= fewest && patience == 0;
        if (wrong < fewest) {
            fewest = wrong;
            patience = 3;
        } else if (!single)
            patience--;
        for (int j = single ? last : 0; j < (single ? last + 1 : n); j++)
            passive[j] ^= (passive[j] ? u[j] : w[j]) < -tiny;
    }
    return 0;
}

/* The least squares with p >= 0 and sum 1; of many solutions the nearest to equal ones */
static void least_squares_rule(const struct node *node, const struct values *v, double *p)
{
    struct equations e;
    fill_equations(node, v, &e);
    if (!pivot(&e, NULL, e.n, 1e-14 * (node->rows + 10), p)) {
        struct wide_equations wide;
        fill_wide(node, v, &wide);
        pivot(NULL, &wide, e.n, 1e-40, p);
    }
    positive_shares(p, e.n);
}

//@ member
/* The probabilities of all classes by the nodes from first to end, one tree */
static void member(const struct values *v, int first, int end, double *p)
{
    double reached[NODES] = {0.0}, share[BRANCHES];
    reached[first] = 1.0;
    for (int node = first; node < end; node++) {
        nodes[node].rule(&nodes[node], v, share);
        for (int j = 0; j < nodes[node].count; j++) {
            int target = nodes[node].branch[j];
            double here = reached[node] * share[j];
            if (target < MODEL_CLASSES)
                p[target] = here;
            else
                reached[target - MODEL_CLASSES] = here;
        }
    }
}

//@ average softmax
static void average(const struct values *v, int count, int geometric, double *p)
{
    double q[MODEL_CLASSES];
    for (int j = 0; j < MODEL_CLASSES; j++)
        p[j] = 0.0;
    for (int i = 0; i < count; i++) {
        member(v, members[i], members[i + 1], q);
        for (int j = 0; j < MODEL_CLASSES; j++)
            p[j] += weights[i] * (geometric ? log(fmax(q[j], 1e-16)) : q[j]);
    }
    if (geometric)
        softmax(p, MODEL_CLASSES);
}

//@ calibrate softmax
static void calibrate(double *p, int diagonal, double least, double floor)
{
    double z[MODEL_CLASSES], y[MODEL_CLASSES];
    for (int j = 0; j < MODEL_CLASSES; j++)
        z[j] = log(fmax(p[j], least));
    if (!diagonal)
        sums(PRODUCTS, z, MODEL_CLASSES, map_weights, MODEL_CLASSES, y);
    for (int j = 0; j < MODEL_CLASSES; j++)
        p[j] = map_offset[j] + (diagonal ? map_weights[j] * z[j] : y[j]);
    softmax(p, MODEL_CLASSES);
    for (int j = 0; j < MODEL_CLASSES; j++)
        p[j] = (1.0 - floor) * p[j] + floor / MODEL_CLASSES;
}

//@ largest
/* The class of the largest p, the first in the order of the tree where there are several */
static int largest(const double *p)
{
    int best = tie_order[0];
    for (int j = 1; j < MODEL_CLASSES; j++)
        if (p[tie_order[j]] > p[best])
            best = tie_order[j];
    return best;
}

//@ input
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

struct input {                          /* a column of a table */
    const char *name;
    int feature;
    int has_fill;
    double fill;                        /* in place of a missing value; NAN: it stays missing */
    int indicator;                      /* the feature behind it is 1 where the value is missing */
};

//@ main
static void show(const char *before, const char *text)   /* in one line */
{
    fprintf(stderr, "%s'", before);
    for (int i = 0; text[i] && i < 60; i++)
        fputc((unsigned char)text[i] < ' ' || text[i] == 127 ? ' ' : text[i], stderr);
    fputc('\'', stderr);
}

static void fail(long line, const char *message, const char *cell, const char *column)
{
    fflush(stdout);
    fprintf(stderr, "model: line %ld: %s", line, message);
    if (cell)
        show(", found ", cell);
    if (column)
        show(" in column ", column);
    fputc('\n', stderr);
    exit(1);
}

static void *resized(void *memory, size_t size)
{
    memory = realloc(memory, size);
    if (!memory) {
        fputs("model: not enough memory\n", stderr);
        exit(1);
    }
    return memory;
}

struct record {                         /* one record of CSV */
    long line, next_line;               /* its first line, and that of the next record */
    size_t cells, used, room;
    char *text;                         /* the cells, each with a 0 behind it */
};

static int next_character(struct record *record)
{
    int c = getchar();
    if (c == 0)
        fail(record->next_line, "expected text, found a byte of value 0", NULL, NULL);
    record->next_line += c == '\n';
    return c;
}

static void append(struct record *record, int c)
{
    if (record->used == record->room)
        record->text = resized(record->text, record->room = 2 * record->room + 4096);
    record->text[record->used++] = (char)c;
}

/* Read a record that is not an empty line. Returns 0 at the end of the input. */
static int read_record(struct record *record)
{
    int c, in_quotes = 0, begins = 1;
    record->cells = record->used = 0;
    record->line = record->next_line;
    while ((c = next_character(record)) != EOF) {
        if (in_quotes) {
            if (c != '"' || (c = next_character(record)) == '"') {
                append(record, c);
                continue;
            }
            in_quotes = 0;
            if (c == EOF)
                break;
        } else if (c == '"' && begins) {
            in_quotes = 1;
            begins = 0;
            continue;
        }
        if (c == '\r') {                /* CR LF, or CR alone */
            c = getchar();
            if (c != '\n')
                ungetc(c, stdin);
            c = '\n';
            record->next_line++;
        }
        if (c == '\n' && begins && record->cells == 0) {
            record->line = record->next_line;
            continue;
        }
        begins = c == ',';
        append(record, c == ',' || c == '\n' ? 0 : c);
        record->cells += begins;
        if (c == '\n')
            break;
    }
    if (in_quotes)
        fail(record->line, "a quote is not closed", NULL, NULL);
    if (c == EOF && record->used == 0 && begins)
        return 0;
    if (c == EOF)
        append(record, 0);
    record->cells++;
    return 1;
}

static char *trimmed(char *cell)
{
    cell += strspn(cell, " \t");
    for (size_t length = strlen(cell); length && strchr(" \t", cell[length - 1]);)
        cell[--length] = 0;
    return cell;
}

static int is_number(const char *cell, double *value)
{
    char *end;
    if (!*cell || cell[strspn(cell, "0123456789+-.eE")])
        return 0;
    *value = strtod(cell, &end);
    return !*end && isfinite(*value);
}

static int is_missing(const char *cell)
{
    double value, blank;
    int numeric = is_number(cell, &value);
    for (int i = 0; i < BLANKS; i++)
        if (!strcmp(cell, blanks[i]) || (numeric && is_number(blanks[i], &blank)
                                         && value - blank <= 0.0 && blank - value <= 0.0))
            return 1;
    return 0;
}

/* The features of a cell, in single precision, as the suite reads tables. */
static void put(const struct input *input, const char *cell, long line, double *x)
{
    double value = input->has_fill ? input->fill : 0.0;
    int missing = is_missing(cell);
    if (missing && !input->has_fill && !input->indicator)
        fail(line, "a missing value", NULL, input->name);
    if (!missing && !is_number(cell, &value))
        fail(line, "expected a number", cell, input->name);
    if (fabs(value) > FLT_MAX)
        fail(line, "expected a number of single precision", cell, input->name);
    x[input->feature] = (float)value;
    if (input->indicator)
        x[input->feature + 1] = missing;
}

static void print_cell(const char *before, const char *name)
{
    const char *quote = name[strcspn(name, ",\"\r\n")] ? "\"" : "";
    printf("%s%s", quote, before);
    for (; *name; name++)
        printf("%s%c", *name == '"' ? "\"" : "", *name);
    fputs(quote, stdout);
}

/* Whether the first record is a heading. position[i] becomes the column of input i. */
static int is_heading(const struct record *record, char **cell, size_t *position)
{
    double value;
    const char *absent = NULL;
    for (int i = 0; i < INPUTS; i++) {
        for (position[i] = 0; position[i] < record->cells; position[i]++)
            if (!strcmp(cell[position[i]], inputs[i].name))
                break;
        if (position[i] == record->cells)
            absent = inputs[i].name;
    }
    for (size_t j = 0; absent && j < record->cells; j++) {
        char *text = trimmed(cell[j]);
        if (!is_number(text, &value) && !is_missing(text))
            fail(record->line, "the heading lacks a name, or there is no number", text, absent);
    }
    for (int i = 0; absent && i < INPUTS; i++)
        position[i] = (size_t)i;
    return !absent;
}

static int classify_table(void)
{
    struct record record = {0, 1, 0, 0, 0, NULL};
    static size_t position[INPUTS];     /* these may be large */
    char **cell = NULL, message[99];
    static double x[MODEL_FEATURES], p[MODEL_CLASSES];
    size_t columns = 0;
    fputs("class", stdout);
    for (int j = 0; j < MODEL_CLASSES; j++) {
        putchar(',');
        print_cell("p:", model_class_names[j]);
    }
    putchar('\n');
    while (read_record(&record)) {
        char *text = record.text;
        int answer, is_first = columns == 0;
        if (is_first && !strncmp(text, "\xef\xbb\xbf", 3))
            text += 3;                  /* the mark of UTF-8 */
        cell = resized(cell, record.cells * sizeof *cell);
        for (size_t j = 0; j < record.cells; j++, text += strlen(text) + 1)
            cell[j] = text;
        if (is_first) {
            int heading = is_heading(&record, cell, position);
            columns = heading ? record.cells : INPUTS;
            if (heading)
                continue;
        }
        if (record.cells != columns) {
            sprintf(message, "expected %lu columns, found %lu", (unsigned long)columns,
                    (unsigned long)record.cells);
            fail(record.line, message, NULL, NULL);
        }
        for (int i = 0; i < INPUTS; i++)
            put(&inputs[i], trimmed(cell[position[i]]), record.line, x);
        answer = model_classify(x, p);
        if (answer < 0)
            fail(record.line, "no answer: missing values, or numbers too large", NULL, NULL);
        print_cell("", model_class_names[answer]);
        for (int j = 0; j < MODEL_CLASSES; j++)
            printf(",%.12g", p[j]);
        putchar('\n');
    }
    free(record.text);
    free(cell);
    if (ferror(stdin) || fflush(stdout)) {
        fputs("model: an error of reading or writing\n", stderr);
        return 1;
    }
    return 0;
}

static int self_test(void)
{
    double largest = 0.0, p[MODEL_CLASSES];
    for (int i = 0; i < TESTS; i++) {
        int answer = model_classify(test_points + i * MODEL_FEATURES, p);
        for (int j = 0; j < MODEL_CLASSES; j++) {
            double right = test_p[i * MODEL_CLASSES + j];
            double difference = answer < 0 ? HUGE_VAL : fabs(p[j] - right) / fmax(1.0, fabs(right));
            largest = fmax(largest, isnan(difference) ? HUGE_VAL : difference);
        }
    }
    printf("largest difference %.3g\n", largest);
    return largest > 1e-9;
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
