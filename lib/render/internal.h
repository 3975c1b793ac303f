/* Shared by the parts of the renderer; not for callers outside lib/render.
 *
 * Camera space: x right, y up, z forward from the eye, in metres. Screen space: x right, y down, in samples. */
#ifndef SP_RENDER_INTERNAL_H
#define SP_RENDER_INTERNAL_H

#include "render/normals.h"
#include "render/render.h"
#include "render/vec.h"

typedef struct sp_view {
    double eye[3], right[3], up[3], forward[3]; /* orthonormal axes */
    bool perspective;
    double near;      /* m, near plane */
    double scale;     /* pixels per unit of x/z (perspective) or per metre (parallel) */
    double centre[2]; /* pixels */
    int samples;      /* per pixel and direction */
} sp_view;

/* SP_USAGE for a degenerate camera. */
int sp_view_new(sp_context *context, const sp_camera *camera, int64_t width, int64_t height, int samples,
                sp_view *view) SP_MUST_USE;
void sp_view_point(const sp_view *view, const double point[3], double out[3]);

/* A triangle ready for rasterization: positively oriented on the screen (y down), corners in 2^-12 of a sample. */
enum { SP_SUBSAMPLE_BITS = 12 };
typedef struct sp_primitive {
    int32_t x[3], y[3];
    int32_t drawing;
    int64_t triangle; /* of the drawing; -1: half of a line */
    int cover;        /* the samples that it covers, those of a rank below this (sp_sample_rank); 0: all */
    double key[3];    /* linear on the screen, larger is nearer: 1/z in perspective, -z in parallel view */
} sp_primitive;

/* The largest numbers of primitives from one triangle (clipped by five planes) and from one line. */
enum { SP_TRIANGLE_PRIMITIVES = 6, SP_LINE_PRIMITIVES = 2 };

/* Clips a triangle (corners in camera space) or a line into `out`, of the size above; returns the number of primitives.
 * Those that contain no sample of an image of width × height pixels are left out. */
int sp_primitive_triangle(const sp_view *view, int64_t width, int64_t height, const double *const corner[3],
                          sp_primitive *out);
int sp_primitive_line(const sp_view *view, int64_t width, int64_t height, const double a[3], const double b[3],
                      sp_primitive *out);

/* First and last row of samples that a primitive may cover, within [0, rows). */
void sp_primitive_rows(const sp_primitive *primitive, int64_t rows, int64_t *first, int64_t *last);

/* Samples of the rows [first, first + rows) of the picture; arrays of rows × columns. */
typedef struct sp_band {
    int64_t first, rows, columns;
    int samples;      /* per pixel and direction */
    double *key;      /* -INFINITY: nothing */
    int32_t *visible; /* the number of the visible primitive, -1: none */
    uint8_t *line;    /* 1: covered by a line */
} sp_band;

/* The order in which transparent surfaces cover the samples of a pixel, that at its centre last; with one sample, the
 * pixels of a square of 2 × 2. */
int sp_sample_rank(int samples, int64_t row, int64_t column);
/* The number of ranks that a surface covers; 0: all samples. */
int sp_sample_cover(int samples, float transparency);

void sp_band_clear(sp_band *band);
void sp_band_draw(sp_band *band, const sp_primitive *primitive, int32_t number);

/* The parts of light that reach a point: of the ambient light and of the key light, in [0,1]. */
typedef struct sp_light {
    float open, lit;
} sp_light;

/* The light at the centre of a pixel, and what it shows there. */
typedef struct sp_traced {
    float depth; /* m; INFINITY: nothing */
    sp_light light;
    int8_t normal[3]; /* of the shading, times 127 */
} sp_traced;

/* An infinite ground: normal · x = offset in camera space. */
typedef struct sp_ground {
    sp_vec normal;
    float offset;
} sp_ground;

struct sp_shadow;

/* All data for shading. */
typedef struct sp_scene {
    const sp_view *view;
    const sp_look *look;
    const sp_drawing *drawings;
    const double **vertices; /* per drawing, camera space */
    const float **normals;   /* per drawing and corner; NULL: flat */
    const sp_primitive *primitives;
    const uint8_t *gamma; /* [SP_GAMMA + 1] sRGB byte of linear i / SP_GAMMA */
    int64_t width, height;
    const struct sp_shadow *shadow; /* of opaque surfaces; NULL: no rays are traced */
    const struct sp_shadow *veil;   /* of transparent surfaces, for grounds; NULL: there are none */
    float veil_transparency;        /* the part of the light that passes through them */
    sp_traced *traced;              /* [height, width], with a shadow */
    const sp_vec *sky, *lamp;       /* directions of the rays of a tile */
    const sp_ground *grounds;       /* [ground_count] */
    int64_t ground_count;
} sp_scene;

/* A point that is seen, in camera space. */
typedef struct sp_hit {
    sp_vec place;
    sp_vec start;  /* where rays start: on the smooth surface that the normals of the corners describe */
    sp_vec normal; /* of the shading, unit vector to the side of the eye */
    sp_vec facing; /* of the triangle, the same side */
    sp_vec eye;    /* unit vector to the eye */
    sp_vec albedo;
    float clear; /* of a ground: the part that does not fade into the background, else 1 */
    bool ground;
} sp_hit;

extern const sp_vec sp_key_direction; /* unit vector to the key light, camera space */
#define SP_WRAP 0.12f                 /* The key light reaches surfaces whose normal is up to -SP_WRAP to it. */

enum { SP_TILE = 4 }; /* pixels in a row of a tile that shares a set of directions */

/* Directions to the ambient light, relative to a normal along z, and to the key light: each 2^k of them from a multiple
 * of 2^k on are evenly spread. */
void sp_occlusion_sky(int count, sp_vec *directions);
void sp_occlusion_lamp(int count, sp_vec *directions);

/* The part of the ambient light that reaches a point with a unit normal by some of these directions [rays], and that of
 * the key light. Rays start at `origin`. */
float sp_occlusion_open(const sp_scene *scene, sp_vec origin, sp_vec normal, const sp_vec *sky, int rays);
float sp_occlusion_lit(const sp_scene *scene, sp_vec origin, const sp_vec *lamp, int rays);

/* Traces the rays of pixel (x, y) from a hit in it. */
sp_light sp_occlusion_trace(const sp_scene *scene, const sp_hit *hit, int64_t x, int64_t y);
/* Keeps that of the hit at the centre of a pixel in scene->traced. */
void sp_occlusion_store(const sp_scene *scene, const sp_hit *hit, int64_t x, int64_t y);
/* The mean of what was kept of the same surface around the pixel; traces rays if there is nothing of it. */
sp_light sp_occlusion_gather(const sp_scene *scene, const sp_hit *hit, int64_t x, int64_t y);

/* Fills scene->traced for the pixels of a band. */
void sp_band_trace(const sp_scene *scene, const sp_band *band);

enum { SP_GAMMA = 8192 };
void sp_gamma_table(uint8_t gamma[SP_GAMMA + 1]);

/* sRGB in [0,1] to linear. */
float sp_srgb_linear(double value);

/* Averages the shaded samples of a band into the image rows that it covers. */
void sp_band_resolve(const sp_scene *scene, const sp_band *band, sp_image *image);

#endif
