#include "render/internal.h"

#include <math.h>

/* From dark violet through blue-green to yellow, with evenly rising lightness, readable for the colour-blind and in
 * grey print: sRGB at equal steps, interpolated by Catmull–Rom curves. */
enum { KNOTS = 9 };
static const double KNOT[KNOTS][3] = {{0.267, 0.005, 0.329}, {0.278, 0.175, 0.483}, {0.230, 0.322, 0.546},
                                      {0.173, 0.449, 0.558}, {0.128, 0.567, 0.551}, {0.158, 0.684, 0.502},
                                      {0.369, 0.789, 0.383}, {0.678, 0.864, 0.190}, {0.993, 0.906, 0.144}};

float sp_srgb_linear(double value)
{
    return (float)(value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4));
}

void sp_colormap(double value, float rgb[3])
{
    /* NaN gets the first colour. */
    double at = (value > 0 ? value < 1 ? value : 1 : 0) * (KNOTS - 1);
    int i = at < KNOTS - 2 ? (int)at : KNOTS - 2;
    double t = at - i;

    for (int k = 0; k < 3; k++) {
        double b = KNOT[i][k], c = KNOT[i + 1][k];

        /* Beyond the ends the knots continue straight. */
        double a = i > 0 ? KNOT[i - 1][k] : 2 * b - c, d = i + 2 < KNOTS ? KNOT[i + 2][k] : 2 * c - b;
        double cubic = b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
        rgb[k] = sp_srgb_linear(fmin(1, fmax(0, cubic)));
    }
}
