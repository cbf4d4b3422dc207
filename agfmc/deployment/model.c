//@ head
/* A classifier of agfmc, written by mbh2mbm --c: decoder @DECODER@.

   int model_classify(const double *x, double *p) takes the MODEL_FEATURES features of a point, in
   the order of model_feature_names, sets p to the MODEL_CLASSES @GIVES@ of the classes, and
   returns the position of the class in model_class_names and model_labels, or -1 where a feature
   is missing (NAN) that may not be, or numbers are too large. It needs @MEMORY@ kB of stack, and
   changes nothing else, so threads may call it at the same time.

   cc -O3 -std=c99 -c model.c                          to link it to a program
   cc -O3 -std=c99 -DMODEL_MAIN -o model model.c -lm   a program of its own:
   ./model < points.csv > answers.csv                  commas, a heading with the names or none
   ./model --self-test                                 ten points beside the suite's own answers */
#include <math.h>
#include <string.h>
//@ values
struct values {                         /* what is known of one point */
    double z[NORMALISED];               /* its features, normalised */
    double f[CLASSIFIERS];              /* decision value of each binary classifier */
    double r[CLASSIFIERS];              /* P(right side) - P(left side) of each */
};

struct node {                           /* of a tree; a coding matrix is one node alone */
    void (*rule)(const struct node *node, const struct values *v, double *p);
    int first, rows;                    /* its classifiers */
    int count;                          /* its branches */
    const int *branch;                  /* of each the class, or CLASSES + number of a node */
    const signed char *code;            /* rows x count, -1 left, +1 right */
    const double *matrix, *offset;      /* rows x count, and count */
    double (*take)(const struct values *v, int i);
    void (*then)(double *p, int n);
    double (*loss)(double z);
};

//@ scale_features
/* Features that stay apart: z_i = (x_c - mean_c) factor_i, c = column_i */
static void scale_features(const double *x, const double *mean, const int *column,
                           const double *factor, int n, double *z)
{
    for (int i = 0; i < n; i++)
        z[i] = (x[column[i]] - mean[column[i]]) * factor[i];
}

//@ mix_features
/* z = (x - mean) matrix, rows of the matrix for the features */
static void mix_features(const double *x, const double *mean, const double *matrix, int n,
                         double *z)
{
    for (int i = 0; i < n; i++)
        z[i] = 0.0;
    for (int j = 0; j < MODEL_FEATURES; j++)
        for (int i = 0; i < n; i++)
            z[i] += (x[j] - mean[j]) * matrix[j * n + i];
}

//@ kernel_sums
struct kernel_sums {                    /* f_c += sum over i of coef_ic kernel(z, sv_i) */
    double (*kernel)(const double *z, const double *sv, const struct kernel_sums *sums);
    double gamma, coef0;
    int degree;
    int first, width;                   /* the features that it sees */
    int count;                          /* support vectors */
    const double *sv;                   /* count x width */
    int classifiers;                    /* those that they are of */
    const int *classifier;
    const double *coef;                 /* count x classifiers */
};

static void add_kernel_sums(const struct kernel_sums *sums, struct values *v)
{
    double f[CLASSIFIERS];
    const double *coef = sums->coef;
    int n = sums->classifiers;
    for (int c = 0; c < n; c++)
        f[c] = 0.0;
    for (int i = 0; i < sums->count; i++, coef += n) {
        double value = sums->kernel(v->z + sums->first, sums->sv + i * sums->width, sums);
        for (int c = 0; c < n; c++)
            f[c] += coef[c] * value;
    }
    for (int c = 0; c < n; c++)
        v->f[sums->classifier[c]] += f[c];
}

//@ product
static double product(const double *z, const double *sv, int width)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int j = 0;
    for (; j + 4 <= width; j += 4)      /* side by side, which is faster */
        for (int lane = 0; lane < 4; lane++)
            sum[lane] += z[j + lane] * sv[j + lane];
    for (; j < width; j++)
        sum[0] += z[j] * sv[j];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

//@ square
static double square(const double *z, const double *sv, int width)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int j = 0;
    for (; j + 4 <= width; j += 4)
        for (int lane = 0; lane < 4; lane++)
            sum[lane] += (z[j + lane] - sv[j + lane]) * (z[j + lane] - sv[j + lane]);
    for (; j < width; j++)
        sum[0] += (z[j] - sv[j]) * (z[j] - sv[j]);
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

//@ linear product
static double linear(const double *z, const double *sv, const struct kernel_sums *sums)
{
    return product(z, sv, sums->width);
}

//@ polynomial product
static double polynomial(const double *z, const double *sv, const struct kernel_sums *sums)
{
    return pow(sums->gamma * product(z, sv, sums->width) + sums->coef0, sums->degree);
}

//@ sigmoid product
static double sigmoid(const double *z, const double *sv, const struct kernel_sums *sums)
{
    return tanh(sums->gamma * product(z, sv, sums->width) + sums->coef0);
}

//@ rbf square
static double rbf(const double *z, const double *sv, const struct kernel_sums *sums)
{
    return exp(-sums->gamma * square(z, sv, sums->width));
}

//@ exponential square
static double exponential(const double *z, const double *sv, const struct kernel_sums *sums)
{
    return exp(-sums->gamma * sqrt(square(z, sv, sums->width)));
}

//@ laplacian
static double laplacian(const double *z, const double *sv, const struct kernel_sums *sums)
{
    double sum = 0.0;
    for (int j = 0; j < sums->width; j++)
        sum += fabs(z[j] - sv[j]);
    return exp(-sums->gamma * sum);
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

//@ take_r
/* What a rule takes of each classifier */
static double take_r(const struct values *v, int i)
{
    return v->r[i];
}

//@ take_sign
static double take_sign(const struct values *v, int i)
{
    return (v->r[i] > 0.0) - (v->r[i] < 0.0);
}

//@ take_f
static double take_f(const struct values *v, int i)
{
    return v->f[i];
}

//@ take_point
static double take_point(const struct values *v, int i)
{
    return v->z[i];
}

//@ take_log_odds
static double take_log_odds(const struct values *v, int i)
{
    double most = tanh(15.0);
    return 2.0 * atanh(fmin(fmax(v->r[i], -most), most));
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

//@ linear_rule
/* p = then(matrix values + offset) */
static void linear_rule(const struct node *node, const struct values *v, double *p)
{
    for (int j = 0; j < node->count; j++)
        p[j] = node->offset[j];
    for (int i = 0; i < node->rows; i++) {
        double value = node->take(v, node->first + i);
        for (int j = 0; j < node->count; j++)
            p[j] += node->matrix[i * node->count + j] * value;
    }
    if (node->then)
        node->then(p, node->count);
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
static void loss_rule(const struct node *node, const struct values *v, double *p)
{
    for (int j = 0; j < node->count; j++) {
        p[j] = 0.0;
        for (int i = 0; i < node->rows; i++)
            p[j] -= node->loss(node->code[i * node->count + j] * v->f[node->first + i]);
    }
}

//@ hamming_loss
static double hamming_loss(double z)
{
    return (1.0 - ((z > 0.0) - (z < 0.0))) / 2.0;
}

//@ linear_loss
static double linear_loss(double z)
{
    return -fmin(fmax(z, -1e100), 1e100);
}

//@ hinge_loss
static double hinge_loss(double z)
{
    return fmax(1.0 - fmax(z, -1e100), 0.0);
}

//@ exponential_loss
static double exponential_loss(double z)
{
    return exp(-fmin(fmax(z, -500.0), 500.0));
}

//@ logit_loss
static double logit_loss(double z)
{
    double t = -2.0 * fmin(fmax(z, -1e100), 1e100);
    return fmax(t, 0.0) + log1p(exp(-fabs(t)));
}

//@ quadratic_loss
static double quadratic_loss(double z)
{
    double t = 1.0 - fmin(fmax(z, -1e100), 1e100);
    return t * t;
}

//@ equations
/* K = M^T M + 1 1^T of M = A - |A| r, whose solution K u = 1 is p but for its sum */
struct equations {
    int n;
    double k[CODED][CODED];
};

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

/* Solve K u = 1 for the classes in `passive`, u = 0 for others, and set w = K u - 1 for these.
   Returns 0 where K is too near to singular to be trusted. */
static int solve(const struct equations *e, const char *passive, double *u, double *w)
{
    double l[CODED][CODED], x[CODED], probe[CODED], trace = 0.0, length = 0.0;
    int set[CODED], count = 0;
    for (int j = 0; j < e->n; j++)
        if (passive[j])
            set[count++] = j;
    for (int i = 0; i < count; i++) {
        x[i] = 1.0;
        probe[i] = cos(1.0 + set[i]);
        for (int j = 0; j <= i; j++) {
            l[i][j] = e->k[set[i]][set[j]];
            for (int t = 0; t < j; t++)
                l[i][j] -= l[i][t] * l[j][t];
            if (j < i) {
                l[i][j] /= l[j][j];
                x[i] -= l[i][j] * x[j];
                probe[i] -= l[i][j] * probe[j];
            }
        }
        l[i][i] = sqrt(l[i][i]);
        x[i] /= l[i][i];
        probe[i] /= l[i][i];
        trace += e->k[set[i]][set[i]];
        length += probe[i] * probe[i];
    }
    for (int i = count - 1; i >= 0; i--) {
        for (int j = i + 1; j < count; j++)
            x[i] -= l[j][i] * x[j];
        x[i] /= l[i][i];
    }
    for (int j = 0; j < e->n; j++) {
        u[j] = 0.0;
        w[j] = -1.0;
    }
    for (int i = 0; i < count; i++) {
        u[set[i]] = x[i];
        for (int j = 0; j < e->n; j++)
            w[j] += e->k[j][set[i]] * x[i];
    }
    return length * trace < 1e9;
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
/* Least squares of one-vs-one, where no class is negative */
static void pair_rule(const struct node *node, const struct values *v, double *p)
{
    struct equations e;
    char all[CODED];
    double w[CODED];
    fill_equations(node, v, &e);
    memset(all, 1, sizeof all);
    solve(&e, all, p, w);
    positive_shares(p, e.n);
}

//@ least_squares_rule equations
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
        const signed char *a = node->code + i * e->n;
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
    double z[MODEL_CLASSES];
    for (int j = 0; j < MODEL_CLASSES; j++)
        z[j] = log(fmax(p[j], least));
    for (int j = 0; j < MODEL_CLASSES; j++) {
        p[j] = map_offset[j];
        if (diagonal)
            p[j] += map_weights[j] * z[j];
        for (int l = 0; l < MODEL_CLASSES && !diagonal; l++)
            p[j] += map_weights[j * MODEL_CLASSES + l] * z[l];
    }
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
    *value = strtod(cell, &end);
    return *cell && !*end && !cell[strspn(cell, "0123456789+-.eE")] && isfinite(*value);
}

static int is_missing(const char *cell)
{
    double value, blank;
    for (int i = 0; i < BLANKS; i++)
        if (!strcmp(cell, blanks[i]) || (is_number(cell, &value) && is_number(blanks[i], &blank)
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
            printf(",%.17g", p[j]);
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
