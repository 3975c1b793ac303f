#include "formats/export/usd_write.h"

#include "base/memory.h"
#include "formats/export/stream.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 80 /* of a prim, with its NUL */, UNIT_DECIMALS = 5 /* of normals */, WEIGHT_DECIMALS = 8 };

typedef char prim_name[NAME];

typedef struct document {
    const sp_animation *animation;
    sp_stream *stream;
    prim_name *mesh_name, *body_name; /* unique */
    int64_t *users;                   /* [mesh_count] bodies that show it */
    double *codes;                    /* [frame_count] time codes */
    double rate;                      /* of them, 1/s */
    double *positions, *normals;      /* of a body in a frame: room for the largest mesh */
    sp_pool pool;
} document;

/* ---- names and numbers ---- */

/* An identifier: other characters than letters, digits and _ become _, and a digit does not come first. */
static void identifier(const char *text, int64_t count, const prim_name *others, prim_name name)
{
    size_t length = 0;
    if (!*text || (*text >= '0' && *text <= '9'))
        name[length++] = '_';

    for (; *text && length < NAME - 24; text++)
        name[length++] =
            (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9') ? *text
                                                                                                               : '_';

    name[length] = 0;
    bool taken = true;
    for (long long more = 2; taken; more++) {
        taken = false;
        for (int64_t i = 0; i < count && !taken; i++)
            taken = !strcmp(name, others[i]);
        if (taken)
            snprintf(name + length, NAME - length, "_%lld", more);
    }
}

/* A number with so many decimals at most, which readers take in single precision. */
static void put(sp_stream *stream, double value, int decimals)
{
    char text[400];
    sp_stream_finite(stream, (double)(float)value);
    int length = snprintf(text, sizeof text, "%.*f", decimals, value);
    while (decimals > 0 && (text[length - 1] == '0' || text[length - 1] == '.'))
        if (text[--length] == '.')
            break;
    const bool minus_zero = length == 2 && !memcmp(text, "-0", 2);
    sp_stream_bytes(stream, text + minus_zero, (size_t)(length - minus_zero));
}

static void put_vectors(sp_stream *stream, int64_t count, const double *vectors, int decimals)
{
    sp_stream_print(stream, "[");
    for (int64_t i = 0; i < 3 * count; i++) {
        sp_stream_print(stream, i % 3 ? "," : i ? "),(" : "(");
        put(stream, vectors[i], decimals);
    }
    sp_stream_print(stream, count ? ")]" : "]");
}

/* Least and largest coordinates. */
static void box(int64_t count, const double *positions, double corners[6])
{
    for (int k = 0; k < 3; k++) {
        corners[k] = INFINITY;
        corners[3 + k] = -INFINITY;
    }
    for (int64_t i = 0; i < 3 * count; i++) {
        corners[i % 3] = fmin(corners[i % 3], positions[i]);
        corners[3 + i % 3] = fmax(corners[3 + i % 3], positions[i]);
    }
}

/* Decimals that keep 1e-7 of the size of a mesh. */
static int decimals_of(const sp_animated_mesh *mesh)
{
    double corners[6], side = 0;
    box(mesh->vertex_count, mesh->rest, corners);
    for (int k = 0; k < 3; k++)
        side = fmax(side, corners[3 + k] - corners[k]);
    return side > 0 ? (int)fmax(0, fmin(60, ceil(7 - log10(side)))) : 7;
}

/* ---- time ---- */

/* Frames at equal distances have the codes of consecutive whole numbers. */
static void make_codes(document *d)
{
    const sp_animation *animation = d->animation;
    const int64_t count = animation->frame_count;
    const double *t = animation->times;
    d->rate = count > 1 ? (double)(count - 1) / (t[count - 1] - t[0]) : 1;
    if (fabs(d->rate - rint(d->rate)) < 1e-9 * d->rate)
        d->rate = rint(d->rate);
    for (int64_t f = 0; f < count; f++) {
        const double code = t[f] * d->rate;
        d->codes[f] = fabs(code - rint(code)) < 1e-6 ? rint(code) : code;
    }
}

/* ---- meshes ---- */

/* Points and normals of the body in a frame, without its pose. */
static void deform(document *d, const sp_animated_body *body, int64_t frame)
{
    const sp_animated_mesh *mesh = &d->animation->meshes[body->mesh];
    const double *weights = body->weights ? body->weights + frame * mesh->target_count : NULL;
    sp_animated_mesh turned = *mesh;
    turned.rest = mesh->normals;
    turned.targets = mesh->normal_targets;
    sp_animated_positions(mesh, weights, d->positions);
    sp_animated_positions(&turned, weights, d->normals);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double *n = d->normals + 3 * v, length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        if (length > 0)
            for (int k = 0; k < 3; k++)
                n[k] /= length;
    }
}

static void put_points(const document *d, int64_t count, int decimals)
{
    put_vectors(d->stream, count, d->positions, decimals);
}

static void put_normals(const document *d, int64_t count, int decimals)
{
    (void)decimals;
    put_vectors(d->stream, count, d->normals, UNIT_DECIMALS);
}

static void put_box(const document *d, int64_t count, int decimals)
{
    double corners[6];
    box(count, d->positions, corners);
    put_vectors(d->stream, 2, corners, decimals);
}

/* The values of an attribute in all frames of a body. */
static void print_samples(document *d, const sp_animated_body *body, const char *attribute,
                          void (*print)(const document *, int64_t count, int decimals))
{
    const sp_animated_mesh *mesh = &d->animation->meshes[body->mesh];
    const int decimals = decimals_of(mesh);
    sp_stream_print(d->stream, "            %s.timeSamples = {\n", attribute);
    for (int64_t f = 0; f < d->animation->frame_count; f++) {
        deform(d, body, f);
        sp_stream_print(d->stream, "                %.15g: ", d->codes[f]);
        print(d, mesh->vertex_count, decimals);
        sp_stream_print(d->stream, ",\n");
    }
    sp_stream_print(d->stream, "            }\n");
}

static void print_triangles(const document *d, const sp_animated_mesh *mesh)
{
    sp_stream_print(d->stream, "            uniform bool doubleSided = 1\n"
                               "            uniform token subdivisionScheme = \"none\"\n"
                               "            int[] faceVertexCounts = [");
    for (int64_t t = 0; t < mesh->triangle_count; t++)
        sp_stream_print(d->stream, t ? ",3" : "3");
    sp_stream_print(d->stream, "]\n            int[] faceVertexIndices = [");
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        sp_stream_print(d->stream, "%s%lld", i ? "," : "", (long long)mesh->triangles[i]);
    sp_stream_print(d->stream, "]\n");

    if (!mesh->colors)
        return;

    sp_stream_print(d->stream, "            color3f[] primvars:displayColor = [");
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        sp_stream_print(d->stream, i % 3 ? "," : i ? "),(" : "(");
        put(d->stream, mesh->colors[i], UNIT_DECIMALS);
    }
    sp_stream_print(d->stream, ")] (\n                interpolation = \"vertex\"\n            )\n");
}

/* Points and normals of `body` in the only frame; of the rest shape without it. */
static void print_still(document *d, const sp_animated_mesh *mesh, const sp_animated_body *body)
{
    const int decimals = decimals_of(mesh);

    if (body)
        deform(d, body, 0);
    else {
        memcpy(d->positions, mesh->rest, 3 * (size_t)mesh->vertex_count * sizeof *d->positions);
        memcpy(d->normals, mesh->normals, 3 * (size_t)mesh->vertex_count * sizeof *d->normals);
    }

    sp_stream_print(d->stream, "            float3[] extent = ");
    put_box(d, mesh->vertex_count, decimals);
    sp_stream_print(d->stream, "\n            point3f[] points = ");
    put_points(d, mesh->vertex_count, decimals);
    sp_stream_print(d->stream, "\n            normal3f[] normals = ");
    put_normals(d, mesh->vertex_count, decimals);
    sp_stream_print(d->stream, " (\n                interpolation = \"vertex\"\n            )\n");
}

static void print_target_names(const document *d, int64_t count, const char *attribute)
{
    sp_stream_print(d->stream, "            uniform token[] %s = [", attribute);
    for (int64_t i = 0; i < count; i++)
        sp_stream_print(d->stream, "%s\"target_%lld\"", i ? ", " : "", (long long)i);
    sp_stream_print(d->stream, "]\n");
}

/* The targets of the mesh whose prim has this path. */
static void print_blend_shapes(const document *d, const sp_animated_mesh *mesh, const char *path)
{
    const int64_t rows = 3 * mesh->vertex_count;
    const int decimals = decimals_of(mesh);
    print_target_names(d, mesh->target_count, "skel:blendShapes");
    sp_stream_print(d->stream, "            rel skel:blendShapeTargets = [");
    for (int64_t i = 0; i < mesh->target_count; i++)
        sp_stream_print(d->stream, "%s<%s/target_%lld>", i ? ", " : "", path, (long long)i);
    sp_stream_print(d->stream, "]\n");

    for (int64_t i = 0; i < mesh->target_count; i++) {
        sp_stream_print(d->stream,
                        "\n            def BlendShape \"target_%lld\"\n            {\n"
                        "                uniform vector3f[] offsets = ",
                        (long long)i);
        put_vectors(d->stream, mesh->vertex_count, mesh->targets + i * rows, decimals);
        sp_stream_print(d->stream, "\n                uniform vector3f[] normalOffsets = ");
        put_vectors(d->stream, mesh->vertex_count, mesh->normal_targets + i * rows, UNIT_DECIMALS);
        sp_stream_print(d->stream, "\n            }\n");
    }
}

/* Whether the bodies with this mesh have points in each frame, not blend shapes: those are fewer numbers then. */
static bool has_points(const document *d, int64_t mesh)
{
    const int64_t frames = d->animation->frame_count, targets = d->animation->meshes[mesh].target_count;
    return targets > 0 && (frames == 1 || d->users[mesh] * frames < targets);
}

static bool is_shared(const document *d, int64_t mesh)
{
    return d->users[mesh] > 1 && !has_points(d, mesh);
}

static bool has_blend_shapes(const document *d, int64_t mesh)
{
    return d->animation->meshes[mesh].target_count > 0 && !has_points(d, mesh);
}

/* What is in the prim of a mesh without time samples. */
static void print_mesh(document *d, int64_t number, const char *path)
{
    const sp_animated_mesh *mesh = &d->animation->meshes[number];
    print_triangles(d, mesh);
    print_still(d, mesh, NULL);
    if (has_blend_shapes(d, number))
        print_blend_shapes(d, mesh, path);
}

static void print_prototypes(document *d)
{
    bool any = false;
    for (int64_t m = 0; m < d->animation->mesh_count; m++) {
        if (!is_shared(d, m))
            continue;
        char path[NAME + 20];

        snprintf(path, sizeof path, "/Meshes/%s", d->mesh_name[m]);
        sp_stream_print(d->stream, any ? "\n" : "\nclass \"Meshes\"\n{\n");
        sp_stream_print(d->stream, "        def Mesh \"%s\" (\n            displayName = ", d->mesh_name[m]);
        sp_stream_quoted(d->stream, d->animation->meshes[m].name);

        if (has_blend_shapes(d, m))
            sp_stream_print(d->stream, "\n            prepend apiSchemas = [\"SkelBindingAPI\"]");
        sp_stream_print(d->stream, "\n        )\n        {\n");
        print_mesh(d, m, path);
        sp_stream_print(d->stream, "        }\n");
        any = true;
    }
    sp_stream_print(d->stream, any ? "}\n" : "");
}

/* ---- bodies ---- */

/* One value, or where it changes one for each frame; `order` names the columns. */
static void print_track(const document *d, const double *poses, const char *attribute, int count, const int *order)
{
    const int64_t frames = d->animation->frame_count;
    bool changes = false;

    for (int64_t f = 1; f < frames; f++)
        for (int k = 0; k < count; k++)
            changes |= poses[7 * f + order[k]] != poses[order[k]];

    sp_stream_print(d->stream, "        %s%s = %s", attribute, changes ? ".timeSamples" : "", changes ? "{\n" : "");
    for (int64_t f = 0; f < (changes ? frames : 1); f++) {
        if (changes)
            sp_stream_print(d->stream, "            %.15g: ", d->codes[f]);
        for (int k = 0; k < count; k++)
            sp_stream_print(d->stream, "%s%.12g", k ? ", " : "(", sp_stream_finite(d->stream, poses[7 * f + order[k]]));
        sp_stream_print(d->stream, changes ? "),\n" : ")\n");
    }
    sp_stream_print(d->stream, changes ? "        }\n" : "");
}

static void print_pose(const document *d, const sp_animated_body *body)
{
    if (!body->poses)
        return;
    print_track(d, body->poses, "double3 xformOp:translate", 3, (int[]){0, 1, 2});
    print_track(d, body->poses, "quatf xformOp:orient", 4, (int[]){3, 4, 5, 6});
    sp_stream_print(d->stream, "        uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n");
}

static void print_weights(const document *d, const sp_animated_body *body)
{
    const int64_t count = d->animation->meshes[body->mesh].target_count;
    sp_stream_print(d->stream, "                float[] blendShapeWeights.timeSamples = {\n");
    for (int64_t f = 0; f < d->animation->frame_count; f++) {
        sp_stream_print(d->stream, "                    %.15g: [", d->codes[f]);
        for (int64_t i = 0; i < count; i++) {
            sp_stream_print(d->stream, i ? "," : "");
            put(d->stream, body->weights[f * count + i], WEIGHT_DECIMALS);
        }
        sp_stream_print(d->stream, "],\n");
    }
    sp_stream_print(d->stream, "                }\n");
}

/* A box around a body in all frames: a target moves no vertex by more than half the largest side of the box at rest. */
static void print_reach(const document *d, const sp_animated_body *body)
{
    const sp_animated_mesh *mesh = &d->animation->meshes[body->mesh];
    double corners[6], side = 0, reach = 0;

    box(mesh->vertex_count, mesh->rest, corners);
    for (int k = 0; k < 3; k++)
        side = fmax(side, corners[3 + k] - corners[k]);

    for (int64_t f = 0; f < d->animation->frame_count; f++) {
        double sum = 0;
        for (int64_t i = 0; i < mesh->target_count; i++)
            sum += fabs(body->weights[f * mesh->target_count + i]);
        reach = fmax(reach, sum * side / 2);
    }

    for (int k = 0; k < 3; k++) {
        corners[k] -= reach;
        corners[3 + k] += reach;
    }

    sp_stream_print(d->stream, "        float3[] extent = ");
    put_vectors(d->stream, 2, corners, decimals_of(mesh));
    sp_stream_print(d->stream, "\n");
}

/* Blend shapes belong to a skeleton, whose single joint stays where it is. */
static void print_skeleton(const document *d, const sp_animated_body *body, const char *name)
{
    static const char still[] = "[((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))]";
    sp_stream_print(d->stream,
                    "\n        def Skeleton \"Skeleton\" (\n"
                    "            prepend apiSchemas = [\"SkelBindingAPI\"]\n        )\n        {\n"
                    "            uniform token[] joints = [\"root\"]\n"
                    "            uniform matrix4d[] bindTransforms = %s\n"
                    "            uniform matrix4d[] restTransforms = %s\n"
                    "            rel skel:animationSource = </World/%s/Skeleton/Motion>\n\n"
                    "            def SkelAnimation \"Motion\"\n            {\n    ",
                    still, still, name);
    print_target_names(d, d->animation->meshes[body->mesh].target_count, "blendShapes");
    print_weights(d, body);
    sp_stream_print(d->stream, "            }\n        }\n");
}

static void print_surface(document *d, const sp_animated_body *body, const char *name)
{
    const sp_animated_mesh *mesh = &d->animation->meshes[body->mesh];
    const bool shapes = has_blend_shapes(d, body->mesh), shared = is_shared(d, body->mesh);
    char path[NAME + 20];

    sp_stream_print(d->stream, "\n        def Mesh \"Surface\"%s", shapes || shared ? " (\n" : "\n");
    if (shapes)
        sp_stream_print(d->stream, "            prepend apiSchemas = [\"SkelBindingAPI\"]\n");
    if (shared)
        sp_stream_print(d->stream, "            prepend references = </Meshes/%s>\n", d->mesh_name[body->mesh]);
    sp_stream_print(d->stream, shapes || shared ? "        )\n        {\n" : "        {\n");

    if (shapes)
        sp_stream_print(d->stream, "            rel skel:skeleton = </World/%s/Skeleton>\n", name);

    snprintf(path, sizeof path, "/World/%s/Surface", name);
    if (!has_points(d, body->mesh) && !shared)
        print_mesh(d, body->mesh, path);
    else if (has_points(d, body->mesh)) {
        print_triangles(d, mesh);
        if (d->animation->frame_count == 1)
            print_still(d, mesh, body);
        else {
            print_samples(d, body, "float3[] extent", put_box);
            print_samples(d, body, "point3f[] points", put_points);
            sp_stream_print(d->stream, "            normal3f[] normals (\n                interpolation = \"vertex\"\n"
                                       "            )\n");
            print_samples(d, body, "normal3f[] normals", put_normals);
        }
    }

    sp_stream_print(d->stream, "        }\n");
}

static void print_body(document *d, int64_t b)
{
    const sp_animated_body *body = &d->animation->bodies[b];
    const char *name = d->body_name[b];
    const bool shapes = has_blend_shapes(d, body->mesh);
    sp_stream_print(d->stream, "\n    def %s \"%s\" (\n        displayName = ", shapes ? "SkelRoot" : "Xform", name);
    sp_stream_quoted(d->stream, body->name);
    sp_stream_print(d->stream, "\n    )\n    {\n");
    print_pose(d, body);
    if (shapes) {
        print_reach(d, body);
        print_skeleton(d, body, name);
    }
    print_surface(d, body, name);
    sp_stream_print(d->stream, "    }\n");
}

/* ---- the file ---- */

static void print_head(const document *d)
{
    const sp_animation *animation = d->animation;

    sp_stream_print(d->stream,
                    "#usda 1.0\n(\n    customLayerData = {\n        string generator = \"Supple " SUPPLE_VERSION
                    "\"\n    }\n    defaultPrim = \"World\"\n    doc = ");
    sp_stream_quoted(d->stream, animation->title);

    if (animation->frame_count > 1)
        sp_stream_print(d->stream,
                        "\n    endTimeCode = %.15g\n    framesPerSecond = %.15g\n    startTimeCode = %.15g\n"
                        "    timeCodesPerSecond = %.15g",
                        d->codes[animation->frame_count - 1], d->rate, d->codes[0], d->rate);

    sp_stream_print(d->stream, "\n    metersPerUnit = 1\n    upAxis = \"%s\"\n)\n\ndef Xform \"World\"\n{\n",
                    animation->up == 2 ? "Z" : "Y");
    if (animation->up == 0) /* there is no such axis: it is turned into y */
        sp_stream_print(d->stream, "    float xformOp:rotateZ = 90\n"
                                   "    uniform token[] xformOpOrder = [\"xformOp:rotateZ\"]\n");
}

static int prepare(sp_context *context, document *d)
{
    const sp_animation *animation = d->animation;
    int64_t largest = 0;

    for (int64_t m = 0; m < animation->mesh_count; m++)
        largest = animation->meshes[m].vertex_count > largest ? animation->meshes[m].vertex_count : largest;

    d->mesh_name = sp_pool_new(&d->pool, animation->mesh_count, sizeof *d->mesh_name);
    d->body_name = sp_pool_new(&d->pool, animation->body_count, sizeof *d->body_name);
    d->users = sp_pool_new(&d->pool, animation->mesh_count, sizeof *d->users);
    d->codes = sp_pool_new(&d->pool, animation->frame_count, sizeof *d->codes);
    d->positions = sp_pool_raw(&d->pool, 3 * largest, sizeof *d->positions);
    d->normals = sp_pool_raw(&d->pool, 3 * largest, sizeof *d->normals);

    SP_PASS(sp_allocated(context, !d->pool.failed));

    for (int64_t m = 0; m < animation->mesh_count; m++)
        identifier(animation->meshes[m].name, m, d->mesh_name, d->mesh_name[m]);
    for (int64_t b = 0; b < animation->body_count; b++) {
        identifier(animation->bodies[b].name, b, d->body_name, d->body_name[b]);
        d->users[animation->bodies[b].mesh]++;
    }

    make_codes(d);
    return SP_OK;
}

int sp_usd_write(sp_context *context, int descriptor, const sp_animation *animation, int64_t *bytes)
{
    sp_stream stream;
    document d = {.animation = animation, .stream = &stream};
    int status;

    assert(animation->body_count > 0 && animation->frame_count > 0);
    SP_TRY(prepare(context, &d));

    sp_stream_begin(&stream, descriptor);
    print_head(&d);

    for (int64_t b = 0; b < animation->body_count; b++)
        print_body(&d, b);
    sp_stream_print(d.stream, "}\n");
    print_prototypes(&d);

    *bytes = stream.total;
    SP_TRY(sp_stream_end(context, &stream));
done:
    sp_pool_free(&d.pool);
    return status;
}
