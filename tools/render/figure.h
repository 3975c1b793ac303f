/* The figures of simrender: the skin of a mesh in the frames of a trajectory, with colours and lines. */
#ifndef TOOLS_RENDER_FIGURE_H
#define TOOLS_RENDER_FIGURE_H

#include "assembly/elastic.h"
#include "render/render.h"
#include "tools/common/skin.h"
#include "tools/common/trajectory.h"
#include "tools/render/additions.h"

/* How columns are scaled: snapshots unchanged and others by their largest displacement (auto); each with its largest
 * displacement at AMPLITUDE diagonals; each normalized in the mass metric, and then all by one factor, so that the
 * largest displacement of all is at that size (as in Figure 6 of Barbič & James 2005); unchanged. */
#define TOOL_NORMALIZATIONS "auto|largest|mass|none"
enum tool_normalize { TOOL_NORMALIZE_AUTO, TOOL_NORMALIZE_LARGEST, TOOL_NORMALIZE_MASS, TOOL_NORMALIZE_NONE };

#define TOOL_COLORS "none|displacement|energy|mises|stress|strain"
/* The last four are of the elements: energy density, von Mises stress, largest principal stress (both of Cauchy's
 * stress) and largest principal Green–Lagrange strain, at their centres. */
enum tool_color {
    TOOL_COLOR_NONE,
    TOOL_COLOR_DISPLACEMENT,
    TOOL_COLOR_ENERGY,
    TOOL_COLOR_MISES,
    TOOL_COLOR_STRESS,
    TOOL_COLOR_STRAIN
};

typedef struct tool_figure {
    /* set by the caller */
    sp_context *context;
    tool_trajectory *motion;
    enum tool_color color;
    enum tool_normalize normalize;
    double scale; /* of the displacement */
    bool elements, lines, ghost;
    float transparency; /* of the surface */
    tool_additions additions;
    sp_look look;
    double range[2];  /* of the colours; widened by tool_figure_widen */
    sp_extent extent; /* what the camera shows; widened likewise */
    double seen[2];   /* values of all frames drawn; low > high: none yet */
    /* private to the module */
    sp_pool pool;
    tool_skin skin, cage; /* cage: the elements' boundary, whose edges are the lines on an embedded surface */
    bool has_cage, has_body, relative, unitless;
    sp_fe_space body;
    double diagonal;
    double *weight;    /* with NORMALIZE_MASS: 1/norm of each column [frames] */
    double largest[2]; /* m, the largest displacement after that: of columns, and of derivatives drawn beside modes */
    double *u, *nodal, *element, *strain, *stress, *volume, *positions, *cage_positions, *value;
    float *rgb;
    sp_image rest; /* the undeformed ghost, rendered once per size */
} tool_figure;

/* Fractions of the box's diagonal that modes, derivatives and basis vectors are scaled to. */
#define TOOL_FIGURE_AMPLITUDE 0.12

/* Letters of the longest caption with a time alone, "t = 1.235e-05 s". */
#define TOOL_FIGURE_TIME_LETTERS 15

void tool_figure_open(tool_figure *figure);
void tool_figure_close(tool_figure *figure);

/* The file that the drawn displacements are from, for messages. */
const char *tool_figure_file(const tool_figure *figure);

/* Announces the frames to be drawn, before the first is loaded. */
void tool_figure_prepare(tool_figure *figure, int64_t count, const int64_t *frame);

/* A second figure that loads and draws other frames on another thread: with its own context, range and box, everything
 * else shared. figure must outlive it; tool_figure_twin_close. */
void tool_figure_twin(const tool_figure *figure, sp_context *context, tool_figure *twin);
void tool_figure_twin_close(tool_figure *twin);

/* Computes positions and values of a frame, which must exist. On failure the message is in the figure's context. */
int tool_figure_load(tool_figure *figure, int64_t frame) SP_MUST_USE;

/* Enlarges the range, and what the camera shows, by the loaded frame. */
void tool_figure_widen(tool_figure *figure, bool range, bool view);

/* Draws the loaded frame; every picture of a run has the same camera and size. */
int tool_figure_draw(tool_figure *figure, const sp_camera *camera, sp_image *image) SP_MUST_USE;

/* "t = 0.4 s  displacement × 20", "mode 3  12.34 Hz", … font: in letters of a font, which has ×. */
void tool_figure_caption(const tool_figure *figure, bool font, int64_t frame, char *text, int64_t size);

/* Letters of the longest caption of these frames; of a trajectory those of any time. */
int64_t tool_figure_longest_caption(const tool_figure *figure, int64_t count, const int64_t *frame);

/* Name and unit of the coloured quantity, in lines: "displacement\n[m]". font: likewise, for ³. */
const char *tool_figure_quantity(const tool_figure *figure, bool font);

#endif
