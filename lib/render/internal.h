/* Shared by the parts of the renderer; not for callers outside lib/render.
 *
 * Camera space: x right, y up, z forward from the eye, in metres. Screen space: x right, y down, in samples. */
#ifndef SP_RENDER_INTERNAL_H
#define SP_RENDER_INTERNAL_H

#include "render/render.h"

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
    double *key;      /* -INFINITY: nothing */
    int32_t *visible; /* the number of the visible primitive, -1: none */
    uint8_t *line;    /* 1: covered by a line */
} sp_band;

void sp_band_clear(sp_band *band);
void sp_band_draw(sp_band *band, const sp_primitive *primitive, int32_t number);

/* Unit normals [3 triangle_count, 3] of the triangles' corners from vertices [nv, 3] in camera space. */
int sp_corner_normals(sp_context *context, const double *vertices, int64_t vertex_count, const int64_t *triangles,
                      int64_t triangle_count, float *normals) SP_MUST_USE;

/* All data for shading. */
typedef struct sp_scene {
    const sp_view *view;
    const sp_drawing *drawings;
    const double **vertices; /* per drawing, camera space */
    const float **normals;   /* per drawing and corner; NULL: flat */
    const sp_primitive *primitives;
    const uint8_t *gamma; /* [SP_GAMMA + 1] sRGB byte of linear i / SP_GAMMA */
} sp_scene;

enum { SP_GAMMA = 8192 };
void sp_gamma_table(uint8_t gamma[SP_GAMMA + 1]);

/* sRGB in [0,1] to linear. */
float sp_srgb_linear(double value);

/* Averages the shaded samples of a band into the image rows that it covers. */
void sp_band_resolve(const sp_scene *scene, const sp_band *band, sp_image *image);

#endif
