/* Microseconds of the parts of a time step, by libsupple on one thread: runtime MESH BASIS POLYNOMIALS
 *
 * Prints lines "name microseconds": the internal force together with the stiffness matrix (Supple evaluates them in
 * one), a whole semi-implicit Newmark step, which has one Newton iteration, and u = Uq at the vertices of the mesh and
 * at those of the drawn surface. Each is the least mean of ROUNDS batches that take about a hundredth of a second each,
 * so that other work on the machine disturbs it little. */
#define _POSIX_C_SOURCE 200809L
#include <supple/supple.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 60 };
#define BATCH 0.01 /* s */

typedef struct job {
    supple_body *body;
    double *q, *force, *u; /* [r], [r], [vertices, 3] */
    float *surface;        /* [surface vertices, 3] */
} job;

static supple_status evaluate(job *j)
{
    j->q[0] += 1e-12; /* at the same point the library would return what it has kept */
    return supple_body_evaluate(j->body, j->q, j->force, NULL, NULL);
}

static supple_status step(job *j)
{
    return supple_body_step(j->body);
}

static supple_status mesh_displacements(job *j)
{
    return supple_body_displacements(j->body, supple_body_vertices(j->body), NULL, j->u);
}

static supple_status surface_displacements(job *j)
{
    return supple_body_surface_displacements(j->body, supple_body_surface_vertices(j->body), NULL, j->surface);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of so many calls; negative after a failure. */
static double seconds(supple_status (*call)(job *), job *j, long count)
{
    const double start = now();
    for (long i = 0; i < count; i++)
        if (call(j) != SUPPLE_OK)
            return -1;
    return now() - start;
}

/* Prints the least mean time of a call. Returns 1 after a failure. */
static int measure(const char *name, supple_status (*call)(job *), job *j)
{
    long count = 1;
    double spent, least;
    while ((spent = seconds(call, j, count)) >= 0 && spent < BATCH)
        count *= 2;
    least = spent;
    for (int i = 0; i < ROUNDS && spent >= 0; i++) {
        spent = seconds(call, j, count);
        least = spent < least ? spent : least;
    }
    if (spent < 0)
        return 1;
    printf("%s %.4g\n", name, 1e6 * least / (double)count);
    return 0;
}

/* The body swings under a hundredth of its weight. */
static int start(job *j)
{
    const double gravity[3] = {0, 0, -0.0981};
    supple_integration how = supple_integration_default();
    how.step = 0.001;
    how.semi_implicit = true;
    return supple_body_set_gravity(j->body, gravity) || supple_body_start(j->body, &how, NULL, NULL);
}

int main(int argc, char **argv)
{
    job j = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: runtime MESH BASIS POLYNOMIALS\n");
        return 2;
    }

    const supple_body_files files = {.mesh = argv[1], .basis = argv[2], .polynomials = argv[3]};
    int failed = supple_body_open(&files, &j.body);
    if (!failed) {
        const size_t r = (size_t)supple_body_coordinates(j.body);
        j.q = calloc(r, sizeof *j.q);
        j.force = calloc(r, sizeof *j.force);
        j.u = calloc((size_t)supple_body_vertices(j.body), 3 * sizeof *j.u);
        j.surface = calloc((size_t)supple_body_surface_vertices(j.body), 3 * sizeof *j.surface);
        if (!j.q || !j.force || !j.u || !j.surface) {
            fprintf(stderr, "runtime: out of memory\n");
            return 4;
        }

        failed = start(&j) || measure("evaluation", evaluate, &j) || measure("step", step, &j) ||
                 measure("mesh", mesh_displacements, &j) || measure("surface", surface_displacements, &j);
    }

    if (failed)
        fprintf(stderr, "runtime: %s\n", supple_error());
    supple_body_close(j.body);
    free(j.q), free(j.force), free(j.u), free(j.surface);
    return failed ? 1 : 0;
}
