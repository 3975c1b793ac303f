/* Matrices and reduced forces of other programs: reading, refusals, and round trips. Files are made here byte by byte.
 */
#include "assembly/elastic.h"
#include "bodies.h"
#include "formats/export/matrix_market.h"
#include "formats/export/matrix_write.h"
#include "formats/import/matrix.h"
#include "reduced/mass.h"
#include "test.h"

#include <unistd.h>

OWNER(sp_polynomial_force)

/* ---- a file to write to ---- */

static FILE *file;

static int fresh(void)
{
    if (file)
        fclose(file);
    file = tmpfile();
    return file ? fileno(file) : -1;
}

/* Everything written so far; the caller frees it. */
static char *written(int64_t *size)
{
    *size = lseek(fileno(file), 0, SEEK_END);
    char *data = malloc((size_t)*size + 1);
    if (!data || pread(fileno(file), data, (size_t)*size, 0) != *size)
        abort();
    return data;
}

/* ---- making files ---- */

typedef int (*matrix_reader)(sp_context *, const char *, int64_t, sp_pool *, sp_matrix *);

enum { ROOM = 4096 };

typedef struct bytes {
    char data[ROOM];
    int64_t count;
} bytes;

static void add(bytes *b, const void *data, size_t count)
{
    memcpy(b->data + b->count, data, count);
    b->count += (int64_t)count;
}

static void add_text(bytes *b, const char *text)
{
    add(b, text, strlen(text));
}

static void add_integer(bytes *b, int64_t value)
{
    for (int i = 0; i < 4; i++)
        b->data[b->count++] = (char)(value >> 8 * i);
}

/* A number as f8 or f4, little- or big-endian. */
static void add_number(bytes *b, double value, int size, bool big)
{
    float narrow = (float)value;
    char raw[8];
    memcpy(raw, size == 8 ? (void *)&value : (void *)&narrow, (size_t)size); /* this machine is little-endian */
    for (int i = 0; i < size; i++)
        b->data[b->count++] = raw[big ? size - 1 - i : i];
}

/* An .npy up to its values; `length` −1: the true length of the dictionary. */
static bytes npy(int version, const char *dictionary, int64_t length)
{
    bytes b = {0};
    length = length < 0 ? (int64_t)strlen(dictionary) : length;
    add(&b, "\x93NUMPY", 6);
    b.data[b.count++] = (char)version;
    b.data[b.count++] = 0;
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        b.data[b.count++] = (char)(length >> 8 * i);
    add_text(&b, dictionary);
    return b;
}

/* Value (i, j) of all good matrices here: exact also as f4. */
static double value_of(int64_t i, int64_t j)
{
    return (double)(10 * i + j) + 0.25;
}

static void check_matrix(const sp_matrix *m, int64_t rows, int64_t columns, const char *what)
{
    CHECK(m->rows == rows && m->columns == columns, "%s: %lld x %lld", what, (long long)m->rows, (long long)m->columns);
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->columns; j++)
            CHECK(m->value[j * m->rows + i] == value_of(i, j), "%s: (%lld, %lld) is %g", what, (long long)i,
                  (long long)j, m->value[j * m->rows + i]);
}

/* Read from memory of exactly this size, so that a sanitizer sees a step too far. */
static int read_exact(matrix_reader read, const char *data, int64_t count, sp_pool *pool, sp_matrix *m)
{
    char *copy = malloc(count ? (size_t)count : 1);
    memcpy(copy, data, (size_t)count);
    context.message[0] = 0;
    int status = read(&context, copy, count, pool, m);
    free(copy);
    return status;
}

static void refuse_matrix(matrix_reader read, const bytes *b, const char *words, int line)
{
    OWNED(sp_pool) pool = {0};
    sp_matrix m;
    int status = read_exact(read, b->data, b->count, &pool, &m);
    CHECK(status == SP_INPUT && strstr(context.message, words), "line %d: status %d, \"%s\" instead of \"%s\"", line,
          status, context.message, words);
}

#define REFUSE_MATRIX(read, b, words) refuse_matrix(read, &(b), words, __LINE__)

/* Every prefix is refused, and one byte more. */
static void refuse_other_lengths(matrix_reader read, const bytes *whole, const char *what)
{
    for (int64_t count = 0; count <= whole->count + 1; count++) {
        OWNED(sp_pool) pool = {0};
        sp_matrix m;
        if (count == whole->count)
            continue;
        int status = read_exact(read, whole->data, count, &pool, &m);
        CHECK(status == SP_INPUT && context.message[0], "%s: %lld of %lld bytes: status %d", what, (long long)count,
              (long long)whole->count, status);
    }
}

/* ---- NumPy ---- */

TEST(npy_in_every_form)
{
    for (int form = 0; form < 16; form++) {
        bool big = form & 1, fortran = form & 2;
        int size = form & 4 ? 8 : 4, version = form & 8 ? 2 : 1;
        char dictionary[200], what[100];
        snprintf(what, sizeof what, "version %d, %cf%d, %s order", version, big ? '>' : '<', size,
                 fortran ? "Fortran" : "C");
        snprintf(dictionary, sizeof dictionary, "{'descr': '%cf%d', 'fortran_order': %s, 'shape': (6, 3), }   \n",
                 big ? '>' : '<', size, fortran ? "True" : "False");
        bytes b = npy(version, dictionary, -1);
        for (int k = 0; k < 18; k++)
            add_number(&b, fortran ? value_of(k % 6, k / 6) : value_of(k / 3, k % 3), size, big);
        OWNED(sp_pool) pool = {0};
        sp_matrix m;
        CHECK_OK(read_exact(sp_matrix_parse_npy, b.data, b.count, &pool, &m));
        check_matrix(&m, 6, 3, what);
        refuse_other_lengths(sp_matrix_parse_npy, &b, what);
    }
}

/* With 18 finite f8 after the header. */
static bytes full_npy(int version, const char *dictionary, int64_t length)
{
    bytes b = npy(version, dictionary, length);
    for (int k = 0; k < 18; k++)
        add_number(&b, k, 8, false);
    return b;
}

TEST(npy_that_is_none)
{
#define DICTIONARY "{'descr': '<f8', 'fortran_order': False, 'shape': (6, 3), }"
    static const struct {
        const char *dictionary, *words;
    } bad[] = {
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (6, 3), }", "type <i8"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (6, 3), }", "type <c8"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (6, 3), }", "type |O"},
        {"{'descr': 'f8', 'fortran_order': False, 'shape': (6, 3), }", "type f8"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (6, 3), }", "header"},
        {"{'descr': '<f8', 'fortran_order': 0, 'shape': (6, 3), }", "header"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (18,), }", "1 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "0 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2, 3), }", "3 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0), }", "empty"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-6, -3), }", "header"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }", "needs 72"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 3), }", "header"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "header"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 1), }", "header"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (6 3), }", "header"},
        {"{'descr': '<f8', 'fortran_order': False, }", "header"},
        {"{'descr': '<f8', 'shape': (6, 3), }", "header"},
        {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (6, 3), }", "header"},
        {"{'descr': '<f8' 'fortran_order': False 'shape': (6, 3)}", "header"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (6, 3), 'more': 1, }", "header"},
        {DICTIONARY " x", "header"},
        {"", "header"},
        {"{", "header"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bytes b = full_npy(1, bad[i].dictionary, -1);
        refuse_matrix(sp_matrix_parse_npy, &b, bad[i].words, (int)i);
    }
    bytes b = full_npy(3, DICTIONARY, -1);
    REFUSE_MATRIX(sp_matrix_parse_npy, b, "version 3.0");
    b = full_npy(1, DICTIONARY, 60000);
    REFUSE_MATRIX(sp_matrix_parse_npy, b, "its header is to end at byte 60010");
    b = full_npy(2, DICTIONARY, 0xffffffff);
    REFUSE_MATRIX(sp_matrix_parse_npy, b, "its header is to end at byte 4294967307");
    b = full_npy(1, DICTIONARY, -1);
    b.data[10 + (int)strlen(DICTIONARY) - 1] = 0;
    REFUSE_MATRIX(sp_matrix_parse_npy, b, "header");
    b = full_npy(1, DICTIONARY, -1);
    b.data[1] = 'M';
    REFUSE_MATRIX(sp_matrix_parse_npy, b, "no .npy file");
    for (int k = 0; k < 2; k++) {
        b = npy(1, DICTIONARY, -1);
        for (int i = 0; i < 18; i++)
            add_number(&b, i != 7 ? (double)i : k ? (double)NAN : (double)-INFINITY, 8, false);
        REFUSE_MATRIX(sp_matrix_parse_npy, b, "value 7 is not finite");
    }
#undef DICTIONARY
}

/* ---- VegaFEM ---- */

static bytes vega(int64_t rows, int64_t columns, int count, int size)
{
    bytes b = {0};
    add_integer(&b, rows);
    add_integer(&b, columns);
    for (int k = 0; k < count; k++)
        add_number(&b, value_of(k % 6, k / 6), size, false);
    return b;
}

TEST(vega_matrices)
{
    for (int size = 4; size <= 8; size += 4) {
        bytes b = vega(6, 3, 18, size);
        sp_pool pool = {0};
        sp_matrix m;
        CHECK_OK(read_exact(sp_matrix_parse_vega, b.data, b.count, &pool, &m));
        check_matrix(&m, 6, 3, size == 8 ? "f8" : "f4");
        sp_pool_free(&pool);
        for (int64_t count = 0; count <= b.count + 1; count++) {
            if (count != b.count && count != 8 + 4 * 18) /* which is a matrix of f4 */
                CHECK(read_exact(sp_matrix_parse_vega, b.data, count, &pool, &m) == SP_INPUT,
                      "f%d of %lld bytes passes", size, (long long)count);
            sp_pool_free(&pool);
        }
    }
    static const int64_t sizes[][2] = {{-6, -3},      {0, 3},         {6, 0},
                                       {0, 0},        {3, 3},         {INT32_MAX, INT32_MAX},
                                       {1 << 30, 4},  {INT32_MIN, 2}, {0x06000000, 0x03000000},
                                       {65536, 65536}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bytes b = vega(sizes[i][0], sizes[i][1], 18, 8);
        refuse_matrix(sp_matrix_parse_vega, &b,
                      sizes[i][0] > 0 && sizes[i][1] > 0 ? "need 8 or 4" : "no matrix of VegaFEM", (int)i);
    }
    for (int size = 4; size <= 8; size += 4)
        for (int k = 0; k < 2; k++) {
            bytes b = vega(6, 3, 17, size);
            add_number(&b, k ? NAN : INFINITY, size, false);
            REFUSE_MATRIX(sp_matrix_parse_vega, b, "value 17 is not finite");
        }
}

/* ---- Matrix Market ---- */

static bytes text_bytes(const char *text)
{
    bytes b = {0};
    add_text(&b, text);
    return b;
}

TEST(market_matrices)
{
    static const char *const good[] = {
        "%%MatrixMarket matrix array real general\n% a remark\n\n3 2\n0.25\n10.25\n20.25\n1.25\n11.25\n21.25\n",
        "%%matrixmarket MATRIX Array Real General\r\n3 2\r\n0.25 10.25\r\n20.25 1.25 11.25\r\n2.125e1",
        ("%%MatrixMarket matrix coordinate real general\n%\n3 2 6\n1 1 .25\n3 2 21.25\n1 2 1.25\n2 1 10.25\n3 1 "
         "2025e-2\n2 2 11.25\n"),
    };
    for (int i = 0; i < 3; i++) {
        bytes b = text_bytes(good[i]);
        OWNED(sp_pool) pool = {0};
        sp_matrix m;
        CHECK_OK(read_exact(sp_matrix_parse_market, b.data, b.count, &pool, &m));
        check_matrix(&m, 3, 2, good[i]);
    }
    bytes b = text_bytes("%%MatrixMarket matrix coordinate integer general\n3 2 1\n2 2 -7\n");
    OWNED(sp_pool) pool = {0};
    sp_matrix m;
    CHECK_OK(read_exact(sp_matrix_parse_market, b.data, b.count, &pool, &m));
    for (int k = 0; k < 6; k++)
        CHECK(m.value[k] == (k == 4 ? -7 : 0), "value %d is %g", k, m.value[k]);
}

TEST(market_that_is_none)
{
#define ARRAY "%%MatrixMarket matrix array real general\n"
#define ENTRIES "%%MatrixMarket matrix coordinate real general\n"
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "does not begin"},
        {"%MatrixMarket matrix array real general\n1 1\n1\n", "does not begin"},
        {"\n" ARRAY "1 1\n1\n", "does not begin"},
        {"%%MatrixMarket vector array real general\n1 1\n1\n", "does not begin"},
        {"%%MatrixMarket matrix dense real general\n1 1\n1\n", "array or coordinate"},
        {"%%MatrixMarket matrix array complex general\n1 1\n1 0\n", "real or integer"},
        {"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "real or integer"},
        {"%%MatrixMarket matrix array real symmetric\n1 1\n1\n", "expected general"},
        {"%%MatrixMarket matrix array real general x\n1 1\n1\n", "expected general"},
        {ARRAY, "line of sizes"},
        {ARRAY "3\n1 2 3\n", "columns: expected an integer"},
        {ARRAY "3 1 3\n1 2 3\n", "expected the end of the line"},
        {ARRAY "-3 -1\n1 2 3\n", "no matrix"},
        {ARRAY "3 0\n", "no matrix"},
        {ARRAY "4611686018427387904 4\n1\n", "no matrix"},
        {ARRAY "3000000000 3000000000\n1\n", "no matrix"},
        {ARRAY "3000000 3000\n1\n", "in a file of"},
        {ARRAY "3 1\n1\n2\n", "ends after 2 of 3"},
        {ARRAY "3 1\n1\n2\n3\n4\n", "expected the end of the file"},
        {ARRAY "3 1\n1\nnan\n3\n", "expected a finite number"},
        {ARRAY "3 1\n1\n1e999\n3\n", "expected a finite number"},
        {ARRAY "3 1\n1\nx\n3\n", "expected a finite number"},
        {ENTRIES "3 1\n1 1 1\n", "entries: expected an integer"},
        {ENTRIES "3 1 -1\n", "-1 entries"},
        {ENTRIES "3 1 4\n1 1 1\n2 1 1\n3 1 1\n1 1 1\n", "4 entries"},
        {ENTRIES "3 1 2\n1 1 1\n1 1 2\n", "occurs twice"},
        {ENTRIES "3 1 1\n4 1 1\n", "entry (4, 1)"},
        {ENTRIES "3 1 1\n0 1 1\n", "entry (0, 1)"},
        {ENTRIES "3 1 1\n1 2 1\n", "entry (1, 2)"},
        {ENTRIES "3 1 1\n1 1 inf\n", "expected a finite number"},
        {ENTRIES "3 1 2\n1 1 1\n", "ends after 1 of 2"},
        {ENTRIES "3 1 1\n1 1 1\n2 1 1\n", "expected the end of the file"},
        {ENTRIES "3000000 30000 1\n1 1 1\n", "too sparse"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bytes b = text_bytes(bad[i].text);
        refuse_matrix(sp_matrix_parse_market, &b, bad[i].words, (int)i);
    }
}

/* ---- round trips ---- */

static void comes_back(const char *what, matrix_reader read, int64_t rows, int64_t columns, const double *values)
{
    OWNED(sp_pool) pool = {0};
    sp_matrix m = {0};
    int64_t size;
    char *data = written(&size);
    CHECK_OK(read_exact(read, data, size, &pool, &m));
    CHECK(m.rows == rows && m.columns == columns, "%s: %lld x %lld", what, (long long)m.rows, (long long)m.columns);
    CHECK(m.value && !memcmp(m.value, values, (size_t)(rows * columns) * 8), "%s: other values", what);
    free(data);
}

TEST(every_value_comes_back)
{
    enum { ROWS = 9, COLUMNS = 5 };
    double values[ROWS * COLUMNS] = {0.1,     5e-324, 1.7976931348623157e308, -0.0,
                                     1.0 / 3, 1e-5,   123456789.123456789,    -2.2250738585072014e-308};
    random_field(ROWS * COLUMNS - 8, 3, values + 8);
    for (int format = 0; format < 3; format++) {
        static const char *const what[] = {".npy", ".mtx", ".U"};
        static const matrix_reader reader_of[] = {sp_matrix_parse_npy, sp_matrix_parse_market, sp_matrix_parse_vega};
        int descriptor = fresh();
        CHECK_OK(format == 0   ? sp_npy_write(&context, descriptor, ROWS, COLUMNS, values)
                 : format == 1 ? sp_matrix_market_write_dense(&context, descriptor, "remark", ROWS, COLUMNS, values)
                               : sp_vega_matrix_write(&context, descriptor, false, ROWS, COLUMNS, values));
        comes_back(what[format], reader_of[format], ROWS, COLUMNS, values);
    }
    double narrow[ROWS * COLUMNS];
    int descriptor = fresh();
    for (int i = 0; i < ROWS * COLUMNS; i++)
        narrow[i] = (double)(float)(i == 2 ? 3e38 : values[i]);
    values[2] = 3e38;
    CHECK_OK(sp_vega_matrix_write(&context, descriptor, true, ROWS, COLUMNS, values));
    comes_back(".float", sp_matrix_parse_vega, ROWS, COLUMNS, narrow);
    values[2] = 1e39;
    CHECK(sp_vega_matrix_write(&context, descriptor, true, ROWS, COLUMNS, values) == SP_INPUT, "1e39 as f4 passes");
    CHECK(sp_vega_matrix_write(&context, descriptor, false, INT64_C(1) << 31, 1, values) == SP_INPUT, "2^31 rows pass");
}

/* ---- reduced forces ---- */

/* Coefficients of an energy of degree 2 to 4 in its monomials, and those of its gradient, differentiated factor by
 * factor. */
enum { R = 5, PAIRS = R * (R + 1) / 2, TRIPLES = R * (R + 1) * (R + 2) / 6 };

/* Place of a monomial with sorted factors among those of its degree, by counting. */
static int64_t place(int r, int degree, const int *factor)
{
    int at[3] = {0};
    for (int64_t number = 0;; number++) {
        if (!memcmp(at, factor, (size_t)degree * sizeof *at))
            return number;
        int d = degree - 1;
        while (d > 0 && at[d] == r - 1)
            d--;
        at[d]++;
        for (int e = d + 1; e < degree; e++)
            at[e] = at[d];
    }
}

static void add_gradient(int degree, const int *factor, double weight, sp_cubic_force *force)
{
    double *block = degree == 2 ? force->linear : degree == 3 ? force->quadratic : force->cubic;
    int64_t columns = degree == 2 ? force->r : degree == 3 ? PAIRS : TRIPLES;
    for (int p = 0; p < degree; p++) {
        int rest[3] = {0}, count = 0;
        for (int k = 0; k < degree; k++)
            if (k != p)
                rest[count++] = factor[k];
        block[factor[p] * columns + place(R, degree - 1, rest)] += weight;
    }
}

/* A force with an energy; `energy` at q where that is not NULL. */
static double make_force(const double *q, sp_cubic_force *force)
{
    double energy = 0;
    uint64_t number = 0;
    for (int i = 0; i < R; i++)
        for (int j = i; j < R; j++)
            for (int k = j - 1; k < R; k++) /* k < j, l < k: absent */
                for (int l = k < j ? R - 1 : k - 1; l < R; l++) {
                    int factor[4] = {i, j, k, l}, degree = k < j ? 2 : l < k ? 3 : 4;
                    double weight = 2 * sp_random_uniform(5, 0, number++) - 1, term = weight;
                    for (int d = 0; q && d < degree; d++)
                        term *= q[factor[d]];
                    energy += term;
                    if (force)
                        add_gradient(degree, factor, weight, force);
                }
    return energy;
}

/* Σ of coefficients times monomials, directly from the blocks of a file; absolute [r]: sums of absolute terms. */
static void evaluate(int64_t r, const double *linear, const double *quadratic, const double *cubic, const double *q,
                     double *f, double *absolute)
{
    for (int64_t a = 0; a < r; a++) {
        f[a] = absolute[a] = 0;
#define TERM(coefficient, monomial)                                                                                    \
    do {                                                                                                               \
        double term_ = *(coefficient)++ * (monomial);                                                                  \
        f[a] += term_;                                                                                                 \
        absolute[a] += fabs(term_);                                                                                    \
    } while (0)
        for (int64_t i = 0; i < r; i++)
            TERM(linear, q[i]);
        for (int64_t i = 0; i < r; i++)
            for (int64_t j = i; j < r; j++)
                TERM(quadratic, q[i] * q[j]);
        for (int64_t i = 0; i < r; i++)
            for (int64_t j = i; j < r; j++)
                for (int64_t k = j; k < r; k++)
                    TERM(cubic, q[i] * q[j] * q[k]);
#undef TERM
    }
}

/* The imported force at q against the file's coefficients, its energy and tangent against central differences. */
static void check_force(int64_t r, const sp_cubic_force *stated, const sp_polynomials *polynomials, double size)
{
    OWNED_POINTER(sp_polynomial_force) *force;
    double *q = test_new(r, 8), *f = test_new(r, 8), *g = test_new(r, 8), *absolute = test_new(r, 8),
           *K = test_new(r * r, 8);
    double worst = 0, slope[2] = {0}, scale = 0;
    CHECK_OK(sp_polynomial_force_new(&context, polynomials, r, &force));
    for (uint64_t trial = 0; trial < 3; trial++) {
        random_field(r, 40 + trial, q);
        for (int64_t i = 0; i < r; i++)
            q[i] *= size;
        evaluate(r, stated->linear, stated->quadratic, stated->cubic, q, g, absolute);
        sp_polynomial_force_evaluate(force, q, f, K);
        scale = 0;
        for (int64_t i = 0; i < r; i++)
            scale = fmax(scale, absolute[i]);
        for (int64_t i = 0; i < r; i++)
            worst = fmax(worst, fabs(f[i] - g[i]) / scale);
    }
    for (int half = 0; half < 2; half++) { /* the difference of the energy falls with the square of the step */
        double h = size * (half ? 0.01 : 0.02);
        for (int64_t i = 0; i < r; i++) {
            double kept = q[i], up, down;
            q[i] = kept + h;
            up = sp_polynomial_force_evaluate(force, q, NULL, NULL);
            q[i] = kept - h;
            down = sp_polynomial_force_evaluate(force, q, NULL, NULL);
            q[i] = kept;
            slope[half] = fmax(slope[half], fabs((up - down) / (2 * h) - f[i]) / scale);
        }
    }
    NOTE("r = %lld: force %.1e of the sum of terms, gradient of the energy %.1e, %.1e", (long long)r, worst, slope[0],
         slope[1]);
    CHECK(worst <= 1e-12, "force off by %g", worst);
    CHECK(slope[1] < 1e-3 && slope[1] <= 0.26 * slope[0], "not the gradient of the energy: %g, %g", slope[0], slope[1]);
}

static double largest_difference(int64_t count, const double *a, const double *b, double *largest)
{
    double worst = 0;
    for (int64_t i = 0; i < count; i++) {
        *largest = fmax(*largest, fabs(a[i]));
        worst = fmax(worst, fabs(a[i] - b[i]));
    }
    return worst;
}

/* Coefficients, block by block, within 1e-13 of the largest of the block. */
static void check_same(const sp_cubic_force *a, const sp_cubic_force *b)
{
    int64_t r = a->r, counts[3] = {r * r, r * (r * (r + 1) / 2), r * sp_cubic_triples(r)};
    const double *x[3] = {a->linear, a->quadratic, a->cubic}, *y[3] = {b->linear, b->quadratic, b->cubic};
    CHECK(a->r == b->r, "%lld and %lld coordinates", (long long)a->r, (long long)b->r);
    for (int d = 0; d < 3; d++) {
        double largest = 0, worst = largest_difference(counts[d], x[d], y[d], &largest);
        NOTE("degree %d: difference %.2e of the largest coefficient", d + 1, worst / largest);
        CHECK(worst <= 1e-13 * largest, "degree %d: off by %g of %g", d + 1, worst, largest);
    }
}

TEST(places_of_monomials)
{
    for (int i = 0; i < R; i++)
        for (int j = i; j < R; j++) {
            CHECK(sp_cubic_pair(R, i, j) == place(R, 2, (int[]){i, j}), "pair %d %d", i, j);
            for (int k = j; k < R; k++)
                CHECK(sp_cubic_triple(R, i, j, k) == place(R, 3, (int[]){i, j, k}), "triple %d %d %d", i, j, k);
        }
    CHECK(sp_cubic_triples(R) == TRIPLES && sp_cubic_triples(2000) == INT64_C(1335334000), "count of triples");
}

TEST(a_force_becomes_a_gram_matrix)
{
    FREED_BY(sp_cubic_free) sp_cubic_force force, back;
    OWNED(sp_polynomials) polynomials;
    double asymmetry[3], q[R], energy;
    CHECK_OK(sp_cubic_new(&context, R, &force));
    make_force(NULL, &force);
    CHECK_OK(sp_polynomials_from_cubic(&context, &force, &polynomials, asymmetry));
    for (int d = 0; d < 3; d++)
        CHECK(asymmetry[d] <= 1e-15, "asymmetry %g", asymmetry[d]);
    check_force(R, &force, &polynomials, 0.7);
    OWNED_POINTER(sp_polynomial_force) *evaluated;
    CHECK_OK(sp_polynomial_force_new(&context, &polynomials, R, &evaluated));
    random_field(R, 9, q);
    energy = make_force(q, NULL);
    CHECK_NEAR(sp_polynomial_force_evaluate(evaluated, q, NULL, NULL), energy, 1e-13 * (1 + fabs(energy)));
    CHECK_OK(sp_cubic_from_polynomials(&context, &polynomials, &back));
    check_same(&force, &back);
}

TEST(a_force_without_energy)
{
    for (int d = 0; d < 3; d++)
        for (int little = 0; little < 2; little++) {
            FREED_BY(sp_cubic_free) sp_cubic_force force;
            sp_polynomials polynomials;
            double asymmetry[3];
            CHECK_OK(sp_cubic_new(&context, R, &force));
            make_force(NULL, &force);
            (d == 0 ? force.linear : d == 1 ? force.quadratic : force.cubic)[1] += little ? 1e-11 : 1e-7;
            int status = sp_polynomials_from_cubic(&context, &force, &polynomials, asymmetry);
            CHECK(status == (little ? SP_OK : SP_INPUT), "degree %d, %s: status %d", d + 1,
                  little ? "rounding" : "no energy", status);
            if (status == SP_OK)
                sp_polynomials_free(&polynomials);
            else
                CHECK(strstr(context.message, "no energy"), "%s", context.message);
        }
}

/* A real body with parts by material: writing and reading keep the force. */
TEST(a_body_keeps_its_force)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_polynomials) polynomials, again;
    sp_polynomial_report report;
    sp_polynomial_parameters parameters = {.by_constant = true};
    FREED_BY(sp_cubic_free) sp_cubic_force force, back;
    double asymmetry[3], mass[R * R], gravity[3 * R];
    make_box(3, 2, 2, 0.4, 0.1, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    int64_t rows = 3 * mesh.vertex_count;
    double *U = test_new(rows * R, sizeof *U);
    random_field(rows * R, 21, U);
    CHECK_OK(sp_polynomials_new(&context, &body, R, U, &parameters, &polynomials, &report));
    CHECK(polynomials.part_count == 2, "%lld parts", (long long)polynomials.part_count);
    CHECK_OK(sp_cubic_from_polynomials(&context, &polynomials, &force));
    CHECK_OK(sp_polynomials_from_cubic(&context, &force, &again, asymmetry));
    check_force(R, &force, &polynomials, 0.1);
    check_force(R, &force, &again, 0.1);
    CHECK_OK(sp_cubic_from_polynomials(&context, &again, &back));
    check_same(&force, &back);
    CHECK_OK(sp_reduced_mass(&context, &body, false, R, U, mass, gravity));
    CHECK(!memcmp(mass, polynomials.mass, sizeof mass) && !memcmp(gravity, polynomials.gravity, sizeof gravity),
          "another mass than the polynomials'");
}

/* ---- .cub ---- */

static bytes cub(int64_t r, int64_t second, int64_t pairs, int64_t triples, int count)
{
    bytes b = {0};
    int64_t header[4] = {r, second, pairs, triples};
    for (int i = 0; i < 4; i++)
        add_integer(&b, header[i]);
    for (int k = 0; k < count; k++)
        add_number(&b, k + 1, 8, false);
    return b;
}

static int read_cub(const bytes *b, int64_t count, sp_cubic_force *force)
{
    char *copy = test_new(count + 1, 1);
    memcpy(copy, b->data, (size_t)count);
    context.message[0] = 0;
    int status = sp_cubic_parse(&context, copy, count, force);
    return status;
}

TEST(cub_files)
{
    bytes b = cub(2, 2, 3, 4, 18);
    sp_cubic_force force;
    CHECK_OK(read_cub(&b, b.count, &force));
    CHECK(force.r == 2 && force.linear[3] == 4 && force.quadratic[0] == 5 && force.quadratic[5] == 10 &&
              force.cubic[0] == 11 && force.cubic[7] == 18,
          "blocks are not where they should be");
    int64_t size;
    CHECK_OK(sp_cubic_write(&context, fresh(), &force));
    char *data = written(&size);
    CHECK(size == b.count && !memcmp(data, b.data, (size_t)b.count), "other bytes are written");
    free(data);
    sp_cubic_free(&force);
    for (int64_t count = 0; count <= b.count + 1; count++)
        CHECK(count == b.count || (read_cub(&b, count, &force) == SP_INPUT && context.message[0]),
              "%lld of %lld bytes pass", (long long)count, (long long)b.count);
    static const struct {
        int64_t header[4];
        const char *words;
    } bad[] = {
        {{-2, -2, 3, 4}, "-2 coordinates"},
        {{0, 0, 0, 0}, "0 coordinates"},
        {{2001, 2001, 0, 0}, "2001 coordinates"},
        {{INT32_MAX, INT32_MAX, 0, 0}, "coordinates"},
        {{2, 3, 3, 4}, "3 coefficients of degree 1"},
        {{2, 2, 4, 4}, "4 coefficients of degree 2"},
        {{2, 2, 3, -4}, "-4 coefficients of degree 3"},
        {{3, 3, 6, 10}, "need"},
        {{2000, 2000, 2001000, 1335334000}, "need 21397392000000"},
        {{1, 1, 1, 1}, "need 24"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        b = cub(bad[i].header[0], bad[i].header[1], bad[i].header[2], bad[i].header[3], 18);
        CHECK(read_cub(&b, b.count, &force) == SP_INPUT && strstr(context.message, bad[i].words), "%zu: %s", i,
              context.message);
    }
    b = cub(2, 2, 3, 4, 17);
    add_number(&b, NAN, 8, false);
    CHECK(read_cub(&b, b.count, &force) == SP_INPUT && strstr(context.message, "not finite"), "%s", context.message);
}

/* Published files: import, export, and the force of their coefficients. */
TEST(published_cub_files)
{
    static const char *const names[] = {"vega/simpleBridge.cub", "vega/A.cub"};
    if (!test_meshes())
        SKIP("SUPPLE_MESHES is not set");
    for (int n = 0; n < 2; n++) {
        int64_t count;
        char *data = read_whole(test_meshes(), names[n], &count);
        CHECK(data, "cannot read %s", names[n]);
        if (!data)
            continue;
        sp_cubic_force force, back, stated = {.r = 20};
        OWNED(sp_polynomials) polynomials;
        double asymmetry[3];
        stated.linear = (double *)(data + 16); /* directly from the file, whose layout its README states */
        stated.quadratic = stated.linear + 400;
        stated.cubic = stated.quadratic + 20 * 210;
        CHECK(count == 16 + 8 * (400 + 20 * 210 + 20 * 1540), "%lld bytes", (long long)count);
        CHECK_OK(sp_cubic_parse(&context, data, count, &force));
        CHECK_OK(sp_polynomials_from_cubic(&context, &force, &polynomials, asymmetry));
        NOTE("%s: asymmetry %.1e %.1e %.1e", names[n], asymmetry[0], asymmetry[1], asymmetry[2]);
        for (int d = 0; d < 3; d++) /* the loss of precision in the stored coefficients */
            CHECK(asymmetry[d] <= 1e-13, "asymmetry %g", asymmetry[d]);
        /* large deformations: cubic terms as large as the linear ones */
        double largest[2] = {0};
        largest_difference(400, stated.linear, stated.linear, &largest[0]);
        largest_difference(20 * 1540, stated.cubic, stated.cubic, &largest[1]);
        check_force(20, &stated, &polynomials, sqrt(largest[0] / largest[1]));
        CHECK_OK(sp_cubic_from_polynomials(&context, &polynomials, &back));
        check_same(&stated, &back);
        sp_cubic_free(&force);
        sp_cubic_free(&back);
        free(data);
    }
}

TEST(published_surface_bases)
{
    static const struct {
        const char *name;
        int64_t vertices;
    } files[] = {{"vega/simpleBridge.URendering.float", 16085}, {"vega/A.URendering.float", 575}};
    if (!test_meshes())
        SKIP("SUPPLE_MESHES is not set");
    for (int n = 0; n < 2; n++) {
        int64_t count;
        char *data = read_whole(test_meshes(), files[n].name, &count);
        OWNED(sp_pool) pool = {0};
        sp_matrix m = {0};
        CHECK(data, "cannot read %s", files[n].name);
        CHECK_OK(read_exact(sp_matrix_parse_vega, data, count, &pool, &m));
        CHECK(m.rows == 3 * files[n].vertices && m.columns == 20, "%lld x %lld", (long long)m.rows,
              (long long)m.columns);
        int64_t size;
        CHECK_OK(sp_vega_matrix_write(&context, fresh(), true, m.rows, m.columns, m.value));
        char *again = written(&size);
        CHECK(size == count && !memcmp(again, data, (size_t)count), "%s: other bytes are written", files[n].name);
        free(again);
        free(data);
    }
}

AFTER_TESTS()
{
    if (file)
        fclose(file);
}
