/* Shared by the tests of readers of surfaces. */
#ifndef TESTS_UNIT_SURFACE_TEST_H
#define TESTS_UNIT_SURFACE_TEST_H

#include "formats/import/surface.h"
#include "geometry/surface.h"
#include "test.h"

static inline int parse_bytes(const char *name, const void *bytes, int64_t count, enum sp_surface_groups groups,
                              sp_surface *surface)
{
    /* in a block of exactly this size, so that the address sanitizer finds any access beyond it */
    char *copy = malloc((size_t)count + (count == 0));
    if (count > 0)
        memcpy(copy, bytes, (size_t)count);
    context = sp_context_default();
    int status = sp_surface_parse(&context, name, copy, count, groups, surface);
    free(copy);
    return status;
}

static inline int parse_text(const char *name, const char *text, enum sp_surface_groups groups, sp_surface *surface)
{
    return parse_bytes(name, text, (int64_t)strlen(text), groups, surface);
}

static inline void check_triangles(const sp_surface *surface, int64_t vertex_count, int64_t triangle_count,
                                   const int64_t *triangles)
{
    CHECK(surface->vertex_count == vertex_count, "%lld vertices", (long long)surface->vertex_count);
    CHECK(surface->triangle_count == triangle_count, "%lld triangles", (long long)surface->triangle_count);
    if (surface->triangle_count != triangle_count)
        return;
    for (int64_t i = 0; i < 3 * triangle_count; i++)
        CHECK(surface->triangles[i] == triangles[i], "triangle %lld corner %lld is %lld", (long long)(i / 3),
              (long long)(i % 3), (long long)surface->triangles[i]);
}

#define TRIANGLES(surface, vertices, ...)                                                                              \
    check_triangles(surface, vertices, (int64_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t) / 3),              \
                    (int64_t[]){__VA_ARGS__})

/* A model that must parse into these triangles. */
#define GOOD(name, text, vertices, ...)                                                                                \
    do {                                                                                                               \
        sp_surface good_;                                                                                              \
        CHECK_OK(parse_text(name, text, SP_GROUPS_NONE, &good_));                                                      \
        TRIANGLES(&good_, vertices, __VA_ARGS__);                                                                      \
        sp_surface_free(&good_);                                                                                       \
    } while (0)

static inline void bad_bytes(const char *name, const void *bytes, int64_t count, const char *message)
{
    OWNED(sp_surface) surface;
    int status = parse_bytes(name, bytes, count, SP_GROUPS_GROUP, &surface);
    CHECK(status == SP_INPUT, "status %d for what must fail with: %s", status, message);
    CHECK(status != SP_INPUT || strcmp(context.message, message) == 0, "\"%s\" is not \"%s\"", context.message,
          message);
    CHECK(!surface.vertices && !surface.triangles, "a surface after an error");
}

static inline void bad(const char *name, const char *text, const char *message)
{
    bad_bytes(name, text, (int64_t)strlen(text), message);
}

#endif
