/* A small software renderer: triangles with a depth buffer, smooth shading, colour per vertex, supersampling. */
#ifndef SP_RENDER_RENDER_H
#define SP_RENDER_RENDER_H

#include "base/context.h"
#include "base/memory.h"

/* A perspective (angle > 0) or parallel (angle = 0) camera. Objects nearer than a thousandth of the distance from eye
 * to target (perspective) or behind the eye (parallel) are clipped. An `up` parallel to the view is replaced by another
 * axis. */
typedef struct sp_camera {
    double eye[3], target[3], up[3]; /* m */
    double angle;                    /* vertical opening in degrees; 0: parallel */
    double height;                   /* m, visible height of a parallel camera */
} sp_camera;

/* A camera that looks at the box from `direction` (from the box to the eye, need not be normalized), with all eight
 * corners in the picture with a small margin, as large as that allows, and none nearer to the eye than a twentieth of
 * the diagonal. An empty or infinite box counts as the unit cube. */
sp_camera sp_camera_fit(const double low[3], const double high[3], const double direction[3], const double up[3],
                        double angle, int64_t width, int64_t height);

/* Projects a point to pixel coordinates (x right, y down, pixel centres at +0.5) and depth (m along the view axis,
 * larger is farther). The pixel of a point in or behind the plane of a perspective eye is undefined (depth ≤ 0). */
void sp_camera_project(const sp_camera *camera, int64_t width, int64_t height, const double point[3], double pixel[3]);

typedef struct sp_image {
    sp_pool pool;
    int64_t width, height;
    uint8_t *rgb; /* [height, width, 3] sRGB, row 0 on top */
    float *depth; /* [height, width] m, nearest sample; INFINITY where nothing is drawn */
} sp_image;

/* 1 to 16384 pixels each way; black, with nothing drawn. The image owns its arrays until sp_image_free. */
int sp_image_new(sp_context *context, int64_t width, int64_t height, sp_image *image) SP_MUST_USE;
void sp_image_free(sp_image *image);

typedef struct sp_drawing {
    int64_t vertex_count, triangle_count;
    const double *vertices;   /* [vertex_count, 3] m */
    const int64_t *triangles; /* [triangle_count, 3] */
    const float *color;       /* [vertex_count, 3] linear RGB in [0,1]; NULL: one colour, `base` */
    float base[3];
    bool
        flat; /* one normal per triangle instead of smooth ones (angle-weighted, creases above 50 degrees stay sharp) */
    bool lines;           /* triangle edges of the drawing's `edges` on top */
    const int64_t *edges; /* [edge_count, 2], drawn as thin dark lines where visible */
    int64_t edge_count;
} sp_drawing;

/* Renders over a vertical gradient background: two-sided shading with a key light, fill light and soft ambient light in
 * the camera's frame, gamma-corrected, `samples`×`samples` per pixel (1 … 4). Threads render fixed bands of rows: the
 * same bytes for any number of threads. Triangles that cross the near plane are clipped. Zero-area triangles draw
 * nothing. At equal depth the earlier drawing, and in it the lower triangle, is visible. Lines do not change `depth`.
 * SP_USAGE for an invalid camera or number of samples, SP_INPUT for indices out of range and for vertices or colours
 * that are not finite (coordinates beyond 1e60 count as such). */
int sp_render(sp_context *context, const sp_camera *camera, const sp_drawing *drawings, int64_t drawing_count,
              int samples, sp_image *image) SP_MUST_USE;

/* Viridis-like colour map: value in [0,1] to linear RGB. */
void sp_colormap(double value, float rgb[3]);

/* Small bitmap text (printable ASCII, 6×10 font scaled by `scale`) for captions and colour bars. */
void sp_image_text(sp_image *image, int64_t x, int64_t y, int scale, const uint8_t rgb[3], const char *text);

#endif
