/* libFuzzer entry for sp_skeleton_file_parse: the text of a skeleton for a row of three cubes. Stops when a parse that
 * succeeded breaks what skeleton.h promises, when one that failed says nothing, or when the library takes bones whose
 * places are not numbers. */
#include "formats/skeleton.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

enum { VERTICES = 16, CUBES = 3 };

/* Vertices i + 4 (j + 2k) at i, j, k; the regions are those of the example of skeleton.md. */
static void make_mesh(sp_mesh *mesh, double vertices[3 * VERTICES], int64_t hex[8 * CUBES], int64_t region[CUBES],
                      sp_material materials[3])
{
    static const char *const names[3] = {"humerus", "flesh", "ulna"};
    *mesh = (sp_mesh){.vertex_count = VERTICES,
                      .vertices = vertices,
                      .block[SP_HEX8].count = CUBES,
                      .block[SP_HEX8].node = hex,
                      .region = region,
                      .material_count = 3,
                      .materials = materials};
    for (int v = 0; v < VERTICES; v++)
        for (int c = 0; c < 3; c++)
            vertices[3 * v + c] = 0.01 * (c == 0 ? v % 4 : c == 1 ? v / 4 % 2 : -25 - v / 8);
    for (int e = 0; e < CUBES; e++) {
        const int64_t corner[8] = {e, e + 1, e + 5, e + 4, e + 8, e + 9, e + 13, e + 12};
        memcpy(hex + 8 * e, corner, sizeof corner);
        region[e] = e;
        strcpy(materials[e].name, names[e]);
    }
}

static void check_bones(const sp_skeleton_file *f)
{
    int owner[VERTICES] = {0};
    require(f->bone_count >= 1 && f->bone_count <= 1000);
    for (int64_t i = 0; i < f->bone_count; i++) {
        const sp_bone *b = &f->bones[i];
        require(f->names[i] && *f->names[i] && strlen(f->names[i]) < SP_SCENE_NAME && b->parent >= -1 && b->parent < i);
        if (b->kind == SP_JOINT_PATH)
            require(f->bone_paths[i] && *f->bone_paths[i]);
        else
            require((b->kind == SP_JOINT_REVOLUTE || b->kind == SP_JOINT_PRISMATIC) && !f->bone_paths[i] &&
                    fabs(sqrt(sp_dot3(b->axis, b->axis)) - 1) < 1e-14);
        require(b->mass >= 0 && b->stiffness >= 0 && b->damping >= 0 && sp_bone_inertia_valid(b->inertia) &&
                b->vertex_count >= 0);
        require(isfinite(b->start) && isfinite(b->rate) && isfinite(b->rest));
        for (int64_t k = 0; k < b->vertex_count; k++) {
            require(b->vertex[k] >= 0 && b->vertex[k] < VERTICES && (k == 0 || b->vertex[k] > b->vertex[k - 1]));
            require(owner[b->vertex[k]]++ == 0);
        }
    }
}

static void check_springs(sp_context *context, sp_skeleton_file *f)
{
    static double time[2] = {0, 1};
    static sp_pose pose[2] = {{{0, 0, 0}, {1, 0, 0, 0}}, {{1, 2, 3}, {1, 0, 0, 0}}};
    const sp_path path = {.count = 2, .time = time, .pose = pose};
    for (int64_t i = 0; i < f->spring_count; i++) {
        const sp_bone_spring *p = &f->springs[i];
        require(p->bone >= 0 && p->bone < f->bone_count && p->stiffness >= 0 && isfinite(p->at[0] + 0 * p->at[1]) &&
                p->count == (f->paths[i] ? 0 : 1));
        if (f->paths[i]) {
            require(*f->paths[i]);
            require(sp_skeleton_file_set_path(context, f, i, &path) == SP_OK);
        }
    }
}

static void check_library(sp_context *context, const sp_mesh *mesh, const sp_skeleton_file *f)
{
    sp_skeleton *s;
    static const double gravity[3] = {0, 0, -9.81}, mass[VERTICES] = {1};
    if (f->bone_count > 50) /* dense matrices */
        return;
    const int status = sp_skeleton_new(context, VERTICES, mesh->vertices, mass, gravity, f->bone_count, f->bones,
                                       f->spring_count, f->springs, &s);
    require(status == SP_OK || (status == SP_INPUT && context->message[0] && !s));
    for (int64_t i = 0; status == SP_OK && i < f->bone_count; i++) {
        sp_pose pose;
        sp_skeleton_pose(s, i, &pose);
        require(isfinite(pose.x[0]) && isfinite(pose.x[1]) && isfinite(pose.x[2]) && fabs(pose.q[0]) <= 1 + 1e-14);
    }
    sp_skeleton_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sp_context context = sp_context_default();
    sp_mesh mesh;
    double vertices[3 * VERTICES];
    int64_t hex[8 * CUBES], region[CUBES];
    static sp_material materials[3];
    make_mesh(&mesh, vertices, hex, region, materials);
    sp_skeleton_file file;
    const int status = sp_skeleton_file_parse(&context, (const char *)data, (int64_t)size, "folder", &mesh, &file);
    require(status == SP_OK || (status == SP_INPUT && context.message[0] && !file.pool.first));
    if (status == SP_OK) {
        check_bones(&file);
        check_springs(&context, &file);
        check_library(&context, &mesh, &file);
    }
    sp_skeleton_file_free(&file);
    return 0;
}
