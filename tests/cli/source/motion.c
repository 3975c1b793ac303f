/* A motion of an exported model, as `simulate` takes it: one line of coordinates for each frame.
 *
 *     motion DT STEPS SEMI ALPHA BETA NEWMARK_BETA GAMMA GX GY GZ FX FY FZ END [BEGIN]
 *
 * A force F acts on the first probe from the time BEGIN (0) to END. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

static double number[15];

/* The generalized force: the mean over [from, to]. */
static void load(double from, double to, model_real *force)
{
    const double end = number[13], begin = number[14], acting = (to < end ? to : end) - (from > begin ? from : begin),
                 share = acting > 0 ? acting / (to - from) : 0;
    model_real f[3];
    for (int i = 0; i < MODEL_R; i++)
        force[i] = 0;
    for (int c = 0; c < 3; c++)
        f[c] = (model_real)(share * number[10 + c]);
    if (model_add_probe_force(force, 0, f) != MODEL_OK)
        exit(2);
}

static void print(const model_state *state)
{
    for (int i = 0; i < MODEL_R; i++)
        printf("%.17g%c", (double)state->q[i], i + 1 < MODEL_R ? ' ' : '\n');
}

int main(int argc, char **argv)
{
    static model_state state;
    model_real force[MODEL_R];
    for (int i = 0; i < 15 && i + 1 < argc; i++)
        number[i] = atof(argv[i + 1]);
    const double h = number[0], gamma = number[6];
    model_init(&state);
    if (model_set_step(&state, (model_real)h) || model_set_semi_implicit(&state, (int)number[2]) ||
        model_set_damping(&state, (model_real)number[3], (model_real)number[4]) ||
        model_set_newmark(&state, (model_real)number[5], (model_real)gamma) ||
        model_set_gravity(&state, (model_real)number[7], (model_real)number[8], (model_real)number[9]))
        return 2;
    load(0, (1 - gamma) * h, force);
    if (model_start(&state, force) != MODEL_OK)
        return 3;
    print(&state);
    for (int step = 1; step <= (int)number[1]; step++) {
        const double t = step * h;
        load(t - gamma * h, t + (1 - gamma) * h, force);
        const int status = model_step(&state, force);
        if (status != MODEL_OK) {
            fprintf(stderr, "step %d: status %d\n", step, status);
            return 1;
        }
        print(&state);
    }
    return 0;
}
