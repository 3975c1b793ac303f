/* Blocked rays by Embree 3 or 4. Its own threads are switched off: the search structure is then built in a fixed order,
 * and the caller's threads trace the rays. */
#include "render/shadow.h"

#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif
#include <math.h>
#include <stdlib.h>

struct sp_shadow {
    RTCDevice device;
    RTCScene scene;
};

bool sp_render_has_shadows(void)
{
    return true;
}

static int add_drawing(sp_context *context, const sp_shadow *shadow, const sp_drawing *drawing, const double *vertices)
{
    if (drawing->vertex_count > UINT32_MAX)
        return sp_fail(context, SP_INPUT, "shadows are of at most %lld vertices, not of %lld", (long long)UINT32_MAX,
                       (long long)drawing->vertex_count);

    RTCGeometry geometry = rtcNewGeometry(shadow->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *vertex = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof *vertex,
                                            (size_t)drawing->vertex_count);
    uint32_t *corner = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof *corner,
                                               (size_t)drawing->triangle_count);

    if (vertex && corner) {
        for (int64_t i = 0; i < 3 * drawing->vertex_count; i++)
            vertex[i] = (float)vertices[i];
        for (int64_t i = 0; i < 3 * drawing->triangle_count; i++)
            corner[i] = (uint32_t)drawing->triangles[i];
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(shadow->scene, geometry);
    }

    rtcReleaseGeometry(geometry);
    return vertex && corner ? SP_OK : sp_fail_memory(context);
}

int sp_shadow_new(sp_context *context, const sp_drawing *drawings, const double *const *vertices, int64_t count,
                  bool transparent, sp_shadow **result)
{
    int status = SP_OK;
    sp_shadow *shadow = *result = calloc(1, sizeof *shadow);
    SP_PASS(sp_allocated(context, shadow));

    shadow->device = rtcNewDevice("threads=1,set_affinity=0");
    shadow->scene = shadow->device ? rtcNewScene(shadow->device) : NULL;
    if (!shadow->scene) {
        status =
            sp_fail(context, SP_SYSTEM, "Embree cannot be started (error %d)", (int)rtcGetDeviceError(shadow->device));
        goto done;
    }

    rtcSetSceneFlags(shadow->scene, RTC_SCENE_FLAG_ROBUST);
    for (int64_t d = 0; d < count; d++)
        if (!drawings[d].ground && (drawings[d].transparency > 0) == transparent && drawings[d].triangle_count > 0)
            SP_TRY(add_drawing(context, shadow, drawings + d, vertices[d]));
    rtcCommitScene(shadow->scene);

    const enum RTCError error = rtcGetDeviceError(shadow->device);
    if (error != RTC_ERROR_NONE)
        status = error == RTC_ERROR_OUT_OF_MEMORY ? sp_fail_memory(context)
                                                  : sp_fail(context, SP_SYSTEM, "Embree failed (error %d)", (int)error);
done:
    if (status != SP_OK) {
        sp_shadow_free(shadow);
        *result = NULL;
    }
    return status;
}

void sp_shadow_free(sp_shadow *shadow)
{
    if (!shadow)
        return;
    if (shadow->scene)
        rtcReleaseScene(shadow->scene);
    if (shadow->device)
        rtcReleaseDevice(shadow->device);
    free(shadow);
}

bool sp_shadow_blocked(const sp_shadow *shadow, const float origin[3], const float direction[3])
{
    struct RTCRay ray = {.org_x = origin[0],
                         .org_y = origin[1],
                         .org_z = origin[2],
                         .dir_x = direction[0],
                         .dir_y = direction[1],
                         .dir_z = direction[2],
                         .tfar = INFINITY,
                         .mask = UINT32_MAX};
#if RTC_VERSION_MAJOR >= 4
    rtcOccluded1(shadow->scene, &ray, NULL);
#else
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcOccluded1(shadow->scene, &context, &ray);
#endif
    return ray.tfar < 0;
}
