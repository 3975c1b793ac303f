/* The tip of the spoon over time, by libsupple from C: body MESH BASIS POLYNOMIALS LOADS */
#include <supple/supple.h>

#include <stdio.h>

/* Says what the last call said. */
static int fail(void)
{
    fprintf(stderr, "%s\n", supple_error());
    return 1;
}

/* Takes all steps, and prints time and displacement of the vertex. */
static int move(supple_body *body, int64_t vertex, int steps)
{
    double u[3];
    for (int step = 0; step < steps; step++) {
        if (supple_body_step(body) || supple_body_displacements(body, 1, &vertex, u))
            return fail();
        printf("%.17g %.17g %.17g %.17g\n", supple_body_time(body), u[0], u[1], u[2]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const double end[3] = {2.5, 0, 0}; /* of the spoon, m */
    supple_integration how = supple_integration_default();
    supple_body *body = NULL;
    int64_t tip;
    if (argc != 5) {
        fprintf(stderr, "usage: body MESH BASIS POLYNOMIALS LOADS\n");
        return 2;
    }
    const supple_body_files files = {.mesh = argv[1], .basis = argv[2], .polynomials = argv[3]};
    how.step = 0.003;
    int failed = supple_body_open(&files, &body) || supple_body_load_file(body, argv[4]) ||
                 supple_body_nearest(body, end, &tip) || supple_body_start(body, &how, NULL, NULL);
    failed = failed ? fail() : move(body, tip, 132);
    supple_body_close(body);
    return failed;
}
