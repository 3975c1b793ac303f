/* A motion by co-simulation, as `simulate` takes it: one line of coordinates for each frame.
 *
 *     motion FOLDER LIBRARY DT EVERY STEPS ALPHA BETA GX GY GZ FX FY FZ
 *
 * with communication steps of EVERY internal steps DT, and a force F on the probe `tip`. */
#include "importer.h"
#include "model.h"

static void print(fmi3Instance it)
{
    fmi3ValueReference q[MODEL_R];
    double value[MODEL_R];
    for (int i = 0; i < MODEL_R; i++)
        q[i] = reference("q[0]") + (fmi3ValueReference)i;
    if (GetFloat64(it, q, MODEL_R, value, MODEL_R) != fmi3OK)
        die("cannot get", "q");
    for (int i = 0; i < MODEL_R; i++)
        printf("%.17g%c", value[i], i + 1 < MODEL_R ? ' ' : '\n');
}

int main(int argc, char **argv)
{
    double number[11] = {0};
    if (argc != 14)
        return 2;
    load(argv[1], argv[2]);
    for (int i = 0; i < 11; i++)
        number[i] = atof(argv[i + 3]);
    static const char *const names[] = {"damping.alpha", "damping.beta", "gravity.x", "gravity.y", "gravity.z"};
    fmi3Instance it = cosimulation(true);
    int bad = set(it, "step", number[0]);
    for (int i = 0; i < 5; i++)
        bad |= set(it, names[i], number[3 + i]);
    set_force(it, number + 8);
    if (bad)
        die("cannot set", message);
    initialize(it);
    print(it);
    const double h = number[0] * number[1];
    for (int step = 0; step < (int)number[2]; step++) {
        if (DoStep(it, step * h, h, true, NULL, NULL, NULL, NULL) != fmi3OK)
            die("step", message);
        print(it);
    }
    if (Terminate(it) != fmi3OK)
        die("cannot terminate", message);
    FreeInstance(it);
    return 0;
}
