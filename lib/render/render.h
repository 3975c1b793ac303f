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

/* What a camera has to show: points, seen from one direction. */
typedef struct sp_extent {
    double low[3], high[3]; /* m, bounding box of the points; low > high: none yet */
    /* private to the module */
    double right[3], up[3], forward[3], angle;
    double slope[4], bound[4]; /* of the right, left, upper and lower border of the picture */
    double near, far;
} sp_extent;

/* For a camera that looks from `direction` (from the points to the eye, need not be normalized) at pictures of this
 * size. `strip`: rows at the lower border where no point shall be. */
sp_extent sp_extent_new(const double direction[3], const double up[3], double angle, int64_t width, int64_t height,
                        int64_t strip);

/* Adds points [count, 3], or the corners of a box, or the points of another frame for the same camera and size. */
void sp_extent_add(sp_extent *frame, int64_t count, const double *points);
void sp_extent_add_box(sp_extent *frame, const double low[3], const double high[3]);
void sp_extent_join(sp_extent *frame, const sp_extent *other);

/* m, of the bounding box. */
double sp_extent_diagonal(const sp_extent *frame);

/* The camera with all points in the picture with a small margin, as large as that allows, and none nearer to the eye
 * than a twentieth of the diagonal. Without points, or with points that are not finite, it shows the unit cube. */
sp_camera sp_extent_camera(const sp_extent *frame);

/* A camera that looks at the box from `direction` (from the box to the eye, need not be normalized), with all eight
 * corners in the picture (sp_extent_camera). */
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
    /* One normal per triangle instead of smooth ones, which are angle-weighted and leave creases above 50 degrees
     * sharp. */
    bool flat;
    bool lines;           /* triangle edges of the drawing's `edges` on top */
    const int64_t *edges; /* [edge_count, 2], drawn as thin dark lines where visible */
    int64_t edge_count;
    /* The plane of the first triangle, seen from the side from which its corners run counterclockwise. It takes
     * shadows, blocks ambient light as an infinite plane, and casts no shadow. It fades into the background between the
     * depths fade[0] < fade[1] m. */
    bool ground;
    double fade[2];
    /* 0: opaque, to 1: the part of the light from behind that a surface lets through, in steps of 1/samples². Of the
     * surfaces of one or several transparent drawings the nearest alone is visible. They take no shadows, and cast them
     * on grounds only: all of them let the least of their transparencies through. With one sample per pixel they cover
     * single pixels. */
    float transparency;
} sp_drawing;

typedef struct sp_look {
    int samples;        /* per pixel and direction, 1 … 4 */
    int shadow_rays;    /* per pixel towards the key light, a disk, 0 … 1024; 0: no shadows */
    int occlusion_rays; /* per pixel over the hemisphere, 0 … 1024; 0: ambient light is not occluded */
    bool dark;          /* a dark background instead of a pale one */
} sp_look;

/* Whether this build has the rays of sp_look, by Embree. */
bool sp_render_has_shadows(void);

/* Renders over a vertical gradient background: two-sided shading with a key light, fill light and soft ambient light in
 * the camera's frame, gamma-corrected. Rays are traced once per pixel and averaged over 4 × 4 pixels of one surface;
 * their directions are fixed. Threads render fixed bands of rows: the same bytes for any number of threads. Triangles
 * that cross the near plane are clipped. Zero-area triangles draw nothing. At equal depth the earlier drawing, and in
 * it the lower triangle, is visible. Lines do not change `depth`. SP_USAGE for an invalid camera or look, also for rays
 * in a build without Embree, SP_INPUT for indices out of range and for vertices or colours that are not finite
 * (coordinates beyond 1e60 count as such). */
int sp_render(sp_context *context, const sp_camera *camera, const sp_drawing *drawings, int64_t drawing_count,
              const sp_look *look, sp_image *image) SP_MUST_USE;

/* Viridis-like colour map: value in [0,1] to linear RGB. */
void sp_colormap(double value, float rgb[3]);

/* A font of outlines. A font belongs to one thread at a time. */
typedef struct sp_font sp_font;

/* Whether this build has fonts, by FreeType. */
bool sp_render_has_fonts(void);

/* From the bytes of a font file, which must live as long as the font; sp_font_free. SP_INPUT if they are no font of
 * outlines, SP_USAGE in a build without FreeType. */
int sp_font_new(sp_context *context, const uint8_t *bytes, int64_t count, sp_font **font) SP_MUST_USE;
void sp_font_free(sp_font *font);

/* Text in UTF-8 for captions and colour bars, with its upper left corner at (x, y) and lines 10 scale pixels apart.
 * With font NULL: letters of 6 × 10 dots of scale × scale pixels, printable ASCII only, and ? for all others. */
void sp_image_text(sp_image *image, sp_font *font, int64_t x, int64_t y, int scale, const uint8_t rgb[3],
                   const char *text);

/* Pixels, of the longest line. */
int64_t sp_text_width(sp_font *font, int scale, const char *text);

#endif
