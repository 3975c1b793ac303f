/* The JSON of a .glb file. */
#include "formats/export/gltf_internal.h"

static void print_numbers(sp_stream *stream, const char *name, int count, const double *numbers)
{
    sp_stream_print(stream, ",\"%s\":[", name);
    for (int i = 0; i < count; i++)
        sp_stream_print(stream, "%s%.17g", i ? "," : "", numbers[i]);
    sp_stream_print(stream, "]");
}

static void print_named(sp_stream *stream, const char *name)
{
    sp_stream_print(stream, "{\"name\":");
    sp_stream_quoted(stream, name);
}

static void print_root(sp_stream *stream, const document *d)
{
    static const char *const turn[] = {",\"rotation\":[0,0,0.70710678118654757,0.70710678118654757]", "",
                                       ",\"rotation\":[-0.70710678118654757,0,0,0.70710678118654757]"};
    print_named(stream, d->animation->title);
    sp_stream_print(stream, "%s,\"children\":[", turn[d->animation->up]);
    bool more = false;
    for (int64_t b = 0; b < d->animation->body_count; b++) {
        const sp_animated_skin *skin = d->animation->bodies[b].skin;
        for (int64_t j = 0; j < (skin ? skin->joint_count : 1); j++, more = true)
            if (!skin || skin->parent[j] < 0)
                sp_stream_print(stream, "%s%lld", more ? "," : "", (long long)(skin ? d->bodies[b].joint + j : b + 1));
    }
    sp_stream_print(stream, "]}");
}

/* A joint with its pose in the first frame. */
static void print_joint(sp_stream *stream, const document *d, int64_t b, int64_t joint)
{
    const sp_animated_skin *skin = d->animation->bodies[b].skin;
    const double *p = skin->poses + 7 * d->animation->frame_count * joint;
    bool more = false;
    print_named(stream, skin->names[joint]);
    print_numbers(stream, "translation", 3, p);
    print_numbers(stream, "rotation", 4, (double[]){p[4], p[5], p[6], p[3]});
    for (int64_t j = joint + 1; j < skin->joint_count; j++)
        if (skin->parent[j] == joint) {
            sp_stream_print(stream, "%s%lld", more ? "," : ",\"children\":[", (long long)(d->bodies[b].joint + j));
            more = true;
        }
    sp_stream_print(stream, more ? "]}" : "}");
}

static void print_skins(sp_stream *stream, const document *d)
{
    int64_t count = 0;
    for (int64_t b = 0; b < d->animation->body_count; b++) {
        const sp_animated_skin *skin = d->animation->bodies[b].skin;
        if (!skin)
            continue;
        sp_stream_print(stream, "%s{\"inverseBindMatrices\":%lld,\"skeleton\":0,\"joints\":[",
                        count++ ? "," : ",\"skins\":[", (long long)(d->bodies[b].first + skin->influences / 2));
        for (int64_t j = 0; j < skin->joint_count; j++)
            sp_stream_print(stream, "%s%lld", j ? "," : "", (long long)(d->bodies[b].joint + j));
        sp_stream_print(stream, "]}");
    }
    sp_stream_print(stream, count ? "]" : "");
}

/* The numbers of a body's skin among all of them. */
static int64_t skin_number(const document *d, int64_t body)
{
    int64_t number = 0;
    for (int64_t b = 0; b < body; b++)
        number += d->animation->bodies[b].skin != NULL;
    return number;
}

/* The mesh of a node with its weights in the first frame. */
static void print_shape(sp_stream *stream, const document *d, int64_t b)
{
    const sp_animated_body *body = &d->animation->bodies[b];
    const int64_t targets = d->animation->meshes[body->mesh].target_count;
    const mesh_plan *plan = &d->meshes[body->mesh];
    sp_stream_print(stream, "\"mesh\":%lld", (long long)body->mesh);
    if (body->skin)
        sp_stream_print(stream, ",\"skin\":%lld", (long long)skin_number(d, b));
    if (plan->placed) {
        print_numbers(stream, "translation", 3, plan->offset);
        print_numbers(stream, "scale", 3, (double[]){plan->scale, plan->scale, plan->scale});
    }
    for (int64_t i = 0; i < targets; i++)
        sp_stream_print(stream, "%s%.17g", i ? "," : ",\"weights\":[", (double)(float)d->bodies[b].weights[i]);
    sp_stream_print(stream, targets ? "]}" : "}");
}

static void print_nodes(sp_stream *stream, const document *d)
{
    const int64_t count = d->animation->body_count;
    sp_stream_print(stream, ",\"scene\":0,\"scenes\":[{\"nodes\":[0");
    for (int64_t b = 0; b < count; b++)
        if (d->animation->bodies[b].skin)
            sp_stream_print(stream, ",%lld", (long long)b + 1);
    sp_stream_print(stream, "]}],\"nodes\":[");

    print_root(stream, d);
    for (int64_t b = 0; b < count; b++) {
        const sp_animated_body *body = &d->animation->bodies[b];
        const double *p = body->poses;
        sp_stream_print(stream, ",\n");
        print_named(stream, body->name);
        if (p) {
            print_numbers(stream, "translation", 3, p);
            print_numbers(stream, "rotation", 4, (double[]){p[4], p[5], p[6], p[3]});
        }
        sp_stream_print(stream, ",");
        if (d->bodies[b].node == 1 + b)
            print_shape(stream, d, b);
        else
            sp_stream_print(stream, "\"children\":[%lld]}", (long long)d->bodies[b].node);
    }

    for (int64_t b = 0; b < count; b++)
        if (d->bodies[b].node != 1 + b) {
            sp_stream_print(stream, ",\n{");
            print_shape(stream, d, b);
        }

    for (int64_t b = 0; b < count; b++) {
        const sp_animated_skin *skin = d->animation->bodies[b].skin;
        const int64_t joints = skin ? skin->joint_count : 0;
        for (int64_t j = 0; j < joints; j++) {
            sp_stream_print(stream, ",\n");
            print_joint(stream, d, b, j);
        }
    }
    sp_stream_print(stream, "]");
}

static void print_mesh(sp_stream *stream, const document *d, int64_t m, int64_t plain)
{
    const sp_animated_mesh *mesh = &d->animation->meshes[m];
    const long long first = d->meshes[m].first, target = first + (mesh->colors ? 4 : 3);

    print_named(stream, mesh->name);
    sp_stream_print(stream, ",\"primitives\":[{\"attributes\":{\"POSITION\":%lld,\"NORMAL\":%lld", first, first + 1);
    if (mesh->colors)
        sp_stream_print(stream, ",\"COLOR_0\":%lld", first + 3);

    for (int64_t b = 0; b < d->animation->body_count; b++) {
        const sp_animated_skin *skin = d->animation->bodies[b].skin;
        if (skin && d->animation->bodies[b].mesh == m)
            for (int64_t i = 0; i < skin->influences / 4; i++)
                sp_stream_print(stream, ",\"JOINTS_%d\":%lld,\"WEIGHTS_%d\":%lld", (int)i,
                                (long long)(d->bodies[b].first + 2 * i), (int)i,
                                (long long)(d->bodies[b].first + 2 * i + 1));
    }

    sp_stream_print(stream, "},\"indices\":%lld,\"material\":%lld", first + 2, (long long)(mesh->colors ? 0 : plain));
    for (long long i = 0; i < mesh->target_count; i++)
        sp_stream_print(stream, "%s{\"POSITION\":%lld,\"NORMAL\":%lld}", i ? "," : ",\"targets\":[", target + 2 * i,
                        target + 2 * i + 1);
    sp_stream_print(stream, mesh->target_count ? "]}]" : "}]");

    for (long long i = 0; i < mesh->target_count; i++)
        sp_stream_print(stream, "%s\"target %lld\"", i ? "," : ",\"extras\":{\"targetNames\":[", i);
    sp_stream_print(stream, mesh->target_count ? "]}}" : "}");
}

static void print_meshes(sp_stream *stream, const document *d)
{
    static const char surface[] = "\"metallicFactor\":0,\"roughnessFactor\":0.6},\"doubleSided\":true}";
    int64_t colored = 0;

    for (int64_t m = 0; m < d->animation->mesh_count; m++)
        colored += d->animation->meshes[m].colors != NULL;
    sp_stream_print(stream, ",\"materials\":[");

    if (colored)
        sp_stream_print(stream, "{\"name\":\"colours\",\"pbrMetallicRoughness\":{%s", surface);
    if (colored < d->animation->mesh_count)
        sp_stream_print(stream,
                        "%s{\"name\":\"plain\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.6,0.6,0.6,1],%s",
                        colored ? "," : "", surface);
    sp_stream_print(stream, "],\"meshes\":[");

    for (int64_t m = 0; m < d->animation->mesh_count; m++) {
        sp_stream_print(stream, m ? ",\n" : "");
        print_mesh(stream, d, m, colored ? 1 : 0);
    }
    sp_stream_print(stream, "]");
}

static void print_channel(sp_stream *stream, long long sampler, int64_t node, const char *path)
{
    sp_stream_print(stream, "%s{\"sampler\":%lld,\"target\":{\"node\":%lld,\"path\":\"%s\"}}", sampler ? "," : "",
                    sampler, (long long)node, path);
}

static void print_animation(sp_stream *stream, const document *d)
{
    long long sampler = 0;

    sp_stream_print(stream, ",\"animations\":[{\"name\":\"motion\",\"channels\":[");
    for (int64_t b = 0; b < d->animation->body_count; b++) {
        if (d->bodies[b].deforms)
            print_channel(stream, sampler++, d->bodies[b].node, "weights");
        const sp_animated_skin *skin = d->animation->bodies[b].skin;
        if (skin)
            for (int64_t j = 0; j < skin->joint_count; j++)
                if (d->bodies[b].moving[j] >= 0) {
                    print_channel(stream, sampler++, d->bodies[b].joint + j, "translation");
                    print_channel(stream, sampler++, d->bodies[b].joint + j, "rotation");
                }
        if (d->bodies[b].moves) {
            print_channel(stream, sampler++, 1 + b, "translation");
            print_channel(stream, sampler++, 1 + b, "rotation");
        }
    }

    sp_stream_print(stream, "],\"samplers\":[");
    /* their numbers follow each other in the order of the channels, and the times are the last array */
    for (long long s = 0; s < sampler; s++)
        sp_stream_print(stream, "%s{\"input\":%lld,\"output\":%lld}", s ? "," : "", (long long)d->time,
                        (long long)d->time - sampler + s);
    sp_stream_print(stream, "]}]");
}

static void print_accessor(sp_stream *stream, const array *a, int64_t i)
{
    static const char *const shape[] = {"SCALAR", "", "VEC3", "VEC4"};
    sp_stream_print(stream, "%s{\"bufferView\":%lld,\"componentType\":%d,\"count\":%lld,\"type\":\"%s\"%s",
                    i ? ",\n" : "", (long long)i, (int)a->type, (long long)(a->matrices ? a->count / 16 : a->count),
                    a->matrices ? "MAT4" : shape[a->components - 1], sp_gltf_unit(a) ? ",\"normalized\":true" : "");
    if (a->bounded) {
        print_numbers(stream, "min", a->components, a->low);
        print_numbers(stream, "max", a->components, a->high);
    }
    sp_stream_print(stream, "}");
}

static void print_view(sp_stream *stream, const array *a, int64_t i)
{
    static const char *const target[] = {",\"target\":34962", ",\"target\":34963", ""};
    sp_stream_print(stream, "%s{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld%s", i ? ",\n" : "",
                    (long long)a->begin, (long long)(a->count * sp_gltf_tuple(a)), target[a->use]);
    if (a->use == VERTICES)
        sp_stream_print(stream, ",\"byteStride\":%lld", (long long)sp_gltf_tuple(a));
    sp_stream_print(stream, "}");
}

void sp_gltf_print_json(sp_stream *stream, const document *d)
{
    sp_stream_print(stream, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"Supple " SUPPLE_VERSION
                            "\",\"extras\":{\"title\":");
    sp_stream_quoted(stream, d->animation->title);
    sp_stream_print(stream, "}}");

    if (d->quantize)
        sp_stream_print(stream, ",\"extensionsUsed\":[\"KHR_mesh_quantization\"],"
                                "\"extensionsRequired\":[\"KHR_mesh_quantization\"]");

    print_nodes(stream, d);
    print_meshes(stream, d);
    print_skins(stream, d);
    if (d->animated)
        print_animation(stream, d);

    sp_stream_print(stream, ",\"accessors\":[");
    for (int64_t i = 0; i < d->array_count; i++)
        print_accessor(stream, &d->arrays[i], i);

    sp_stream_print(stream, "],\"bufferViews\":[");
    for (int64_t i = 0; i < d->array_count; i++)
        print_view(stream, &d->arrays[i], i);

    sp_stream_print(stream, "],\"buffers\":[{\"byteLength\":%lld}]}", (long long)d->bytes);
    for (int64_t past = stream->total; past & 3; past++)
        sp_stream_print(stream, " ");
}
