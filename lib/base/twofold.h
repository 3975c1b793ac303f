/* Sums of two doubles, x = high + low with |low| at most half a unit in the last place of high: about 32 decimal
 * digits, for the few numbers that must come out right where doubles cancel (T. J. Dekker 1971; the names are those of
 * Shewchuk 1997). Products are written as calls of fma, so that the compiler cannot fuse them with the sums that
 * follow. */
#ifndef SP_BASE_TWOFOLD_H
#define SP_BASE_TWOFOLD_H

#include <math.h>

typedef struct sp_twofold {
    double high, low;
} sp_twofold;

/* a + b, exactly. */
static inline sp_twofold sp_two_sum(double a, double b)
{
    const double sum = a + b, other = sum - a;
    return (sp_twofold){sum, (a - (sum - other)) + (b - other)};
}

/* a b, exactly where nothing underflows. */
static inline sp_twofold sp_two_product(double a, double b)
{
    const double product = fma(a, b, 0.0);
    return (sp_twofold){product, fma(a, b, -product)};
}

static inline sp_twofold sp_twofold_add(sp_twofold a, sp_twofold b)
{
    const sp_twofold high = sp_two_sum(a.high, b.high), low = sp_two_sum(a.low, b.low),
                     middle = sp_two_sum(high.high, high.low + low.high);
    return sp_two_sum(middle.high, middle.low + low.low);
}

static inline sp_twofold sp_twofold_times(sp_twofold a, sp_twofold b)
{
    const sp_twofold product = sp_two_product(a.high, b.high);
    return sp_two_sum(product.high, fma(a.high, b.low, fma(a.low, b.high, product.low)));
}

static inline sp_twofold sp_twofold_minus(sp_twofold a)
{
    return (sp_twofold){-a.high, -a.low};
}

#endif
