/* Checks an FMU: prints a line for each fault.
 *
 *     check FOLDER LIBRARY */
#include "importer.h"
#include "model.h"

static const double pull[3] = {30, 200, -400};
static int faults;

static void fault(const char *what, const char *which)
{
    printf("%s: %s\n", what, which);
    faults++;
}

/* A call that must fail, with a message that has this text. */
static void refused(int status, int wanted, const char *text)
{
    if (status != wanted || !strstr(message, text)) {
        printf("status %d, message \"%s\", expected %d, \"%s\"\n", status, message, wanted, text);
        faults++;
    }
    *message = 0;
}

static void done(int status, const char *what)
{
    if (status != fmi3OK)
        fault(what, message);
}

static void vector(fmi3Instance it, const char *first, double value[MODEL_R])
{
    fmi3ValueReference at[MODEL_R];
    for (int i = 0; i < MODEL_R; i++)
        at[i] = reference(first) + (fmi3ValueReference)i;
    if (GetFloat64(it, at, MODEL_R, value, MODEL_R) != fmi3OK)
        die("cannot get", first);
}

static double largest(const double *x)
{
    double most = 0;
    for (int i = 0; i < MODEL_R; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

static void same(const double *x, const double *y, double bound, const char *what)
{
    double off = 0;
    for (int i = 0; i < MODEL_R; i++)
        off = fmax(off, fabs(x[i] - y[i]));
    if (!(off <= bound * largest(y)))
        printf("%s: off by %g of %g\n", what, off, largest(y)), faults++;
}

/* A number in [-1, 1]. */
static double number(void)
{
    static unsigned long long state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(long long)(state >> 11) / (double)(1ll << 52) - 1;
}

/* ---- against the C source ---- */

static void start_source(model_state *state, double force[MODEL_R], double dt)
{
    memset(force, 0, MODEL_R * sizeof *force);
    model_init(state);
    model_set_step(state, dt);
    model_set_damping(state, 0.3, 0.002);
    model_set_gravity(state, 1, 2, -9.81);
    model_set_factors(state, 1.5, 0.75);
    model_add_probe_force(force, MODEL_PROBE_TIP, pull);
    model_start(state, force);
}

static void set_parameters(fmi3Instance it)
{
    if (set(it, "damping.alpha", 0.3) || set(it, "damping.beta", 0.002) || set(it, "gravity.x", 1) ||
        set(it, "gravity.y", 2) || set(it, "gravity.z", -9.81) || set(it, "stiffness_factor", 1.5) ||
        set(it, "density_factor", 0.75))
        die("cannot set", message);
    set_force(it, pull);
}

/* `count` communication steps from t = 0 on. */
static void run(fmi3Instance it, int from, int count, double h)
{
    for (int i = from; i < from + count; i++) {
        fmi3Boolean event = true, terminate = true, early = true;
        double last = 0;
        done(DoStep(it, i * h, h, false, &event, &terminate, &early, &last), "a step");
        if (event || terminate || early || fabs(last - (i + 1) * h) > 1e-12 * last)
            fault("a step", "wrong answers");
    }
}

/* Communication steps of h with internal steps of at most `step`: of the length dt, and `parts` of them. */
static void check_steps(double h, double step, double dt, int parts, int count)
{
    static model_state state;
    double force[MODEL_R], q[MODEL_R], u[3];
    fmi3Instance it = cosimulation(true);
    set_parameters(it);
    done(set(it, "step", step), "step");
    initialize(it);
    start_source(&state, force, dt);
    run(it, 0, count, h);
    for (int i = 0; i < count * parts; i++)
        if (model_step(&state, force) != MODEL_OK)
            die("the C source", "does not converge");
    vector(it, "q[0]", q);
    same(q, state.q, 1e-12, "q");
    vector(it, "v[0]", q);
    same(q, state.v, 1e-11, "v");
    model_probe(&state, MODEL_PROBE_S2, u);
    if (fabs(u[2] - get(it, "s2.displacement.z")) > 1e-12 * fabs(u[2]))
        fault("s2.displacement.z", "is not that of the C source");
    model_probe_velocity(&state, MODEL_PROBE_TIP, u);
    if (fabs(u[1] - get(it, "tip.velocity.y")) > 1e-11 * fabs(u[1]))
        fault("tip.velocity.y", "is not that of the C source");
    if (fabs(model_energy(&state, NULL) - get(it, "energy.strain")) > 1e-11 * model_energy(&state, NULL) ||
        fabs(model_kinetic_energy(&state) - get(it, "energy.kinetic")) > 1e-11 * model_kinetic_energy(&state))
        fault("the energies", "are not those of the C source");
    if (fabs(get(it, "time") - count * h) > 1e-12 * count * h)
        fault("time", "is not that of the last step");
    FreeInstance(it);
}

/* ---- model exchange ---- */

static fmi3Instance moving(double x[2 * MODEL_R])
{
    fmi3Instance it = exchange();
    set_parameters(it);
    initialize(it);
    done(EnterContinuousTimeMode(it), "EnterContinuousTimeMode");
    for (int i = 0; i < 2 * MODEL_R; i++)
        x[i] = (i < MODEL_R ? 0.3 : 2) * number();
    done(SetTime(it, 0.5), "SetTime");
    done(SetContinuousStates(it, x, 2 * MODEL_R), "SetContinuousStates");
    return it;
}

static void check_exchange(void)
{
    static model_state state;
    double x[2 * MODEL_R], y[2 * MODEL_R], d[2 * MODEL_R], a[MODEL_R], force[MODEL_R];
    size_t count = 9;
    fmi3Instance it = moving(x);
    fmi3Boolean yes[5] = {true, true, true, true, true};
    double next;
    start_source(&state, force, 0.01);
    done(GetContinuousStates(it, y, 2 * MODEL_R), "GetContinuousStates");
    if (memcmp(x, y, sizeof x))
        fault("GetContinuousStates", "other states");
    done(GetContinuousStateDerivatives(it, d, 2 * MODEL_R), "GetContinuousStateDerivatives");
    if (memcmp(d, x + MODEL_R, sizeof a))
        fault("derivatives of q", "are not v");
    if (model_acceleration(&state, x, x + MODEL_R, force, a) != MODEL_OK)
        die("the C source", "has no acceleration");
    same(d + MODEL_R, a, 1e-12, "acceleration");
    vector(it, "der(v[0])", a);
    same(d + MODEL_R, a, 0, "der(v[0])");
    if (GetNumberOfContinuousStates(it, &count) || count != 2 * MODEL_R)
        fault("GetNumberOfContinuousStates", "wrong");
    if (GetNumberOfEventIndicators(it, &count) || count)
        fault("GetNumberOfEventIndicators", "wrong");
    done(GetNominalsOfContinuousStates(it, y, 2 * MODEL_R), "GetNominalsOfContinuousStates");
    done(CompletedIntegratorStep(it, true, yes, yes + 1), "CompletedIntegratorStep");
    if (yes[0] || yes[1] || !(y[0] > 0))
        fault("CompletedIntegratorStep", "wants an event");
    done(EnterEventMode(it), "EnterEventMode");
    done(UpdateDiscreteStates(it, yes, yes + 1, yes + 2, yes + 3, yes + 4, &next), "UpdateDiscreteStates");
    if (yes[0] || yes[1] || yes[2] || yes[3] || yes[4])
        fault("UpdateDiscreteStates", "wants something");
    if (get(it, "time") != 0.5)
        fault("time", "is not that of SetTime");
    done(Terminate(it), "Terminate");
    FreeInstance(it);
}

/* The velocity of one short step of co-simulation changes by the acceleration at its start, up to terms of the order
 * of the step. */
static void check_limit(void)
{
    double x[2 * MODEL_R], d[2 * MODEL_R], off[2];
    fmi3Instance it = moving(x);
    done(GetContinuousStateDerivatives(it, d, 2 * MODEL_R), "GetContinuousStateDerivatives");
    FreeInstance(it);
    for (int half = 0; half < 2; half++) {
        const double h = half ? 0.5e-6 : 1e-6;
        double v[MODEL_R], difference[MODEL_R];
        char name[20];
        it = cosimulation(true);
        set_parameters(it);
        for (int i = 0; i < 2 * MODEL_R; i++) {
            snprintf(name, sizeof name, "%c[%d]", i < MODEL_R ? 'q' : 'v', i % MODEL_R);
            done(set(it, name, x[i]), name);
        }
        initialize(it);
        run(it, 0, 1, h);
        vector(it, "v[0]", v);
        for (int i = 0; i < MODEL_R; i++)
            difference[i] = (v[i] - x[MODEL_R + i]) / h - d[MODEL_R + i];
        off[half] = largest(difference) / largest(d + MODEL_R);
        FreeInstance(it);
    }
    if (!(off[0] < 0.1 && off[1] < 0.55 * off[0] && off[1] > 0.45 * off[0]))
        printf("the limit of co-simulation is off by %g and %g\n", off[0], off[1]), faults++;
}

/* ---- directional derivatives ---- */

enum { UNKNOWNS = 2 * MODEL_R + 6 * MODEL_PROBES + 2, KNOWNS = 7 + 3 * MODEL_PROBES + 2 * MODEL_R };

static void list(fmi3ValueReference unknowns[UNKNOWNS], fmi3ValueReference knowns[KNOWNS])
{
    const char *const single[] = {"damping.alpha", "damping.beta",     "gravity.x",     "gravity.y",
                                  "gravity.z",     "stiffness_factor", "density_factor"};
    int u = 0, k = 0;
    for (int i = 0; i < MODEL_R; i++) {
        unknowns[u++] = reference("v[0]") + (fmi3ValueReference)i;
        unknowns[u++] = reference("der(v[0])") + (fmi3ValueReference)i;
        knowns[k++] = reference("q[0]") + (fmi3ValueReference)i;
        knowns[k++] = reference("v[0]") + (fmi3ValueReference)i;
    }
    for (int i = 0; i < 3 * MODEL_PROBES; i++) {
        unknowns[u++] = reference("tip.displacement.x") + (fmi3ValueReference)i;
        unknowns[u++] = reference("tip.velocity.x") + (fmi3ValueReference)i;
        knowns[k++] = reference("tip.force.x") + (fmi3ValueReference)i;
    }
    for (int i = 0; i < 7; i++)
        knowns[k++] = reference(single[i]);
    unknowns[u++] = reference("energy.strain");
    unknowns[u++] = reference("energy.kinetic");
}

/* (y(x + s seed) - y(x - s seed)) / 2s. */
static void difference(fmi3Instance it, const fmi3ValueReference *unknowns, const fmi3ValueReference *knowns,
                       const double *at, const double *seed, double s, double *d)
{
    double x[KNOWNS], y[UNKNOWNS];
    memset(d, 0, UNKNOWNS * sizeof *d);
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int k = 0; k < KNOWNS; k++)
            x[k] = at[k] + sign * s * seed[k];
        done(SetFloat64(it, knowns, KNOWNS, x, KNOWNS), "SetFloat64");
        done(GetFloat64(it, unknowns, UNKNOWNS, y, UNKNOWNS), "GetFloat64");
        for (int u = 0; u < UNKNOWNS; u++)
            d[u] += sign * y[u] / (2 * s);
    }
    done(SetFloat64(it, knowns, KNOWNS, at, KNOWNS), "SetFloat64");
}

/* The error of central differences falls with the square of their step, for each unknown, until rounding. `which`: the
 * only known of the seed; -1: all. */
static void check_seed(fmi3Instance it, const fmi3ValueReference *unknowns, const fmi3ValueReference *knowns, int which)
{
    double at[KNOWNS], seed[KNOWNS], exact[UNKNOWNS], coarse[UNKNOWNS], fine[UNKNOWNS], value[UNKNOWNS];
    done(GetFloat64(it, knowns, KNOWNS, at, KNOWNS), "GetFloat64");
    done(GetFloat64(it, unknowns, UNKNOWNS, value, UNKNOWNS), "GetFloat64");
    for (int k = 0; k < KNOWNS; k++)
        seed[k] = which < 0 ? (fabs(at[k]) + 0.1) * number() : k == which ? fabs(at[k]) + 0.1 : 0;
    done(GetDirectionalDerivative(it, unknowns, UNKNOWNS, knowns, KNOWNS, seed, KNOWNS, exact, UNKNOWNS),
         "GetDirectionalDerivative");
    done(GetFloat64(it, unknowns, UNKNOWNS, fine, UNKNOWNS), "GetFloat64");
    if (memcmp(value, fine, sizeof fine))
        fault("GetDirectionalDerivative", "changes the instance");
    const double s = 0.004;
    difference(it, unknowns, knowns, at, seed, 2 * s, coarse);
    difference(it, unknowns, knowns, at, seed, s, fine);
    double size[2] = {0}; /* of the accelerations, and of all */
    for (int u = 0; u < UNKNOWNS; u++)
        for (int all = 0; all < 2; all++)
            if (all || (u < 2 * MODEL_R && u % 2))
                size[all] = fmax(size[all], fabs(value[u]) + fabs(exact[u]));
    for (int u = 0; u < UNKNOWNS; u++) {
        const double far = fabs(coarse[u] - exact[u]), near = fabs(fine[u] - exact[u]),
                     rounding = 1e-11 / s * (u < 2 * MODEL_R && u % 2 ? size[0] : fabs(value[u]) + fabs(exact[u]));
        if (!(near <= far / 3.9 + rounding) || !(far <= 0.05 * size[1]))
            printf("known %d, unknown %d: derivative %g, central differences %g and %g\n", which, u, exact[u],
                   coarse[u], fine[u]),
                faults++;
    }
}

static void check_derivatives(void)
{
    double x[2 * MODEL_R], seed = 1, out;
    fmi3ValueReference unknowns[UNKNOWNS], knowns[KNOWNS], q = reference("q[0]"), tip = reference("tip.displacement.x"),
                                                           step = reference("step");
    fmi3Instance it = moving(x);
    list(unknowns, knowns);
    done(EnterEventMode(it), "EnterEventMode"); /* where parameters can be set too */
    for (int which = -5; which < KNOWNS; which++)
        check_seed(it, unknowns, knowns, which);
    refused(GetDirectionalDerivative(it, &q, 1, &q, 1, &seed, 1, &out, 1), fmi3Error, "is not an unknown");
    refused(GetDirectionalDerivative(it, &tip, 1, &step, 1, &seed, 1, &out, 1), fmi3Error, "is not a known");
    refused(GetDirectionalDerivative(it, &tip, 1, &q, 1, &seed, 0, &out, 1), fmi3Error, "0 seeds");
    FreeInstance(it);
}

/* ---- states ---- */

/* The bytes of the whole state, from malloc. */
static fmi3Byte *serialized(fmi3Instance it, size_t *size)
{
    fmi3FMUState state = NULL;
    fmi3Byte *bytes = NULL;
    if (GetFMUState(it, &state) || SerializedFMUStateSize(it, state, size) || !(bytes = malloc(*size)) ||
        SerializeFMUState(it, state, bytes, *size) || FreeFMUState(it, &state))
        die("no state", message);
    return bytes;
}

static void coordinates(fmi3Instance it, double x[2 * MODEL_R])
{
    vector(it, "q[0]", x);
    vector(it, "v[0]", x + MODEL_R);
}

static void check_states(void)
{
    enum { ROOM = 1 << 16 };
    static fmi3Byte bytes[ROOM], again[ROOM];
    double first[2 * MODEL_R], second[2 * MODEL_R];
    fmi3FMUState state = NULL, other = NULL;
    size_t size = 0;
    fmi3Instance it = cosimulation(true), fresh = cosimulation(true), foreign = exchange();
    set_parameters(it);
    set(it, "step", 0.004);
    if (EnterInitializationMode(it, false, 0, 0, true, 0.7) || ExitInitializationMode(it))
        die("cannot initialize", message);
    run(it, 0, 20, 0.01);
    done(GetFMUState(it, &state), "GetFMUState");
    run(it, 20, 50, 0.01);
    coordinates(it, first);
    set(it, "stiffness_factor", 3);
    done(SetFMUState(it, state), "SetFMUState");
    run(it, 20, 50, 0.01);
    coordinates(it, second);
    if (memcmp(first, second, sizeof first))
        fault("SetFMUState", "the motion does not go on with the same bytes");
    done(SerializedFMUStateSize(it, state, &size), "SerializedFMUStateSize");
    if (size > ROOM)
        die("a state", "is too large");
    done(SerializeFMUState(it, state, bytes, size), "SerializeFMUState");
    done(DeserializeFMUState(fresh, bytes, size, &other), "DeserializeFMUState");
    done(SerializeFMUState(fresh, other, again, size), "SerializeFMUState");
    if (memcmp(bytes, again, size))
        fault("DeserializeFMUState", "other bytes");
    done(SetFMUState(fresh, other), "SetFMUState");
    run(fresh, 20, 50, 0.01);
    coordinates(fresh, second);
    if (memcmp(first, second, sizeof first))
        fault("a serialized state", "the motion does not go on with the same bytes");
    refused(DoStep(fresh, 0.7, 0.01, false, NULL, NULL, NULL, NULL), fmi3Error, "after the stop time");
    refused(SetFMUState(foreign, state), fmi3Error, "other kind");
    refused(SetFMUState(it, NULL), fmi3Error, "NULL");
    refused(SerializeFMUState(it, state, bytes, size - 1), fmi3Error, "bytes");
    refused(DeserializeFMUState(it, bytes, size - 1, &other), fmi3Error, "bytes");
    for (size_t i = 0; i < size; i++) { /* each bit matters, those of padding too */
        bytes[i] ^= (fmi3Byte)(1 << i % 8);
        refused(DeserializeFMUState(it, bytes, size, &other), fmi3Error, "");
        bytes[i] ^= (fmi3Byte)(1 << i % 8);
    }
    bytes[3] ^= 1;
    refused(DeserializeFMUState(it, bytes, size, &other), fmi3Error, "another FMU");
    bytes[3] ^= 1;
    done(FreeFMUState(it, &state), "FreeFMUState");
    done(FreeFMUState(it, &state), "FreeFMUState of NULL");
    done(FreeFMUState(it, &other), "FreeFMUState");
    done(Reset(it), "Reset");
    set_parameters(it);
    set(it, "step", 0.004);
    initialize(it);
    run(it, 0, 70, 0.01);
    coordinates(it, second);
    if (memcmp(first, second, sizeof first))
        fault("Reset", "another motion");
    FreeInstance(it);
    FreeInstance(fresh);
    FreeInstance(foreign);
    FreeInstance(NULL);
}

/* ---- threads ---- */

typedef struct work {
    fmi3ValueReference force[3], x[2 * MODEL_R];
    double pull[3], result[2 * MODEL_R];
} work;

static void *run_one(void *data)
{
    work *it = data;
    fmi3Instance instance =
        InstantiateCoSimulation("one", token, NULL, false, false, false, false, NULL, 0, NULL, NULL, NULL);
    int bad = !instance || SetFloat64(instance, it->force, 3, it->pull, 3) ||
              EnterInitializationMode(instance, false, 0, 0, false, 0) || ExitInitializationMode(instance);
    for (int step = 0; step < 300 && !bad; step++)
        bad = DoStep(instance, step * 0.01, 0.01, true, NULL, NULL, NULL, NULL);
    if (bad || GetFloat64(instance, it->x, 2 * MODEL_R, it->result, 2 * MODEL_R))
        it->result[0] = NAN;
    FreeInstance(instance);
    return NULL;
}

static void check_threads(void)
{
    work alone[2], beside[2];
    pthread_t thread[2];
    for (int w = 0; w < 2; w++) {
        for (int c = 0; c < 3; c++) {
            alone[w].force[c] = reference("tip.force.x") + (fmi3ValueReference)c;
            alone[w].pull[c] = (w ? -1 : 0.5) * pull[c];
        }
        for (int i = 0; i < 2 * MODEL_R; i++)
            alone[w].x[i] = reference(i < MODEL_R ? "q[0]" : "v[0]") + (fmi3ValueReference)(i % MODEL_R);
        beside[w] = alone[w];
        run_one(alone + w);
    }
    for (int w = 0; w < 2; w++)
        if (pthread_create(thread + w, NULL, run_one, beside + w))
            die("no thread", "");
    for (int w = 0; w < 2; w++) {
        pthread_join(thread[w], NULL);
        if (memcmp(alone[w].result, beside[w].result, sizeof alone[w].result) || isnan(alone[w].result[0]))
            fault("two threads", "other bytes");
    }
    if (!memcmp(alone[0].result, alone[1].result, sizeof alone[0].result))
        fault("two threads", "one motion");
}

/* ---- bad calls ---- */

static void check_instances(void)
{
    const fmi3ValueReference some = 1;
    struct {
        fmi3Instance it;
        const char *text;
    } none[] = {
        {InstantiateModelExchange("", token, NULL, false, false, NULL, on_message), "needs a name"},
        {InstantiateModelExchange("x", "{1}", NULL, false, false, NULL, on_message), "token"},
        {InstantiateModelExchange("x", NULL, NULL, false, false, NULL, NULL), ""},
        {InstantiateCoSimulation("x", token, NULL, 0, 0, true, 0, NULL, 0, NULL, on_message, NULL), "eventModeUsed"},
        {InstantiateCoSimulation("x", token, NULL, 0, 0, 0, 0, &some, 1, NULL, on_message, NULL), "intermediate"},
    };
    if (messages != 4)
        fault("instantiation", "it does not say why it failed");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (none[i].it)
            fault("an instance in spite of", none[i].text);
    if (strcmp(GetVersion(), "3.0"))
        fault("GetVersion", GetVersion());
}

static void check_calls(void)
{
    fmi3Instance it = cosimulation(false), other = exchange();
    const fmi3ValueReference none = 100000, alpha = reference("damping.alpha");
    const double one = 1;
    double out, x[2 * MODEL_R];
    size_t count;
    fmi3Int32 integer;
    *message = 0;
    refused(DoStep(it, 0, 0.01, false, NULL, NULL, NULL, NULL), fmi3Error, "not allowed in the state Instantiated");
    refused(ExitInitializationMode(it), fmi3Error, "not allowed in the state Instantiated");
    refused(Terminate(it), fmi3Error, "not allowed");
    refused(set(it, "damping.alpha", -1), fmi3Error, "is negative");
    refused(set(it, "density_factor", 0), fmi3Error, "is not positive");
    refused(set(it, "step", 0), fmi3Error, "is not positive");
    refused(set(it, "tip.force.x", NAN), fmi3Error, "is not finite");
    refused(set(it, "gravity.x", INFINITY), fmi3Error, "is not finite");
    refused(set(it, "tip.displacement.x", 1), fmi3Error, "cannot be set");
    refused(set(it, "der(v[0])", 1), fmi3Error, "cannot be set");
    refused(SetFloat64(it, &none, 1, &one, 1), fmi3Error, "does not exist");
    refused(GetFloat64(it, &none, 1, &out, 1), fmi3Error, "does not exist");
    refused(SetFloat64(it, &alpha, 1, &one, 2), fmi3Error, "1 variables and 2 values");
    refused(GetFloat64(it, &alpha, 1, &out, 0), fmi3Error, "1 variables and 0 values");
    refused(GetInt32(it, &alpha, 1, &integer, 1), fmi3Error, "Float64");
    done(GetInt32(it, NULL, 0, NULL, 0), "GetInt32 of nothing");
    refused(EnterInitializationMode(it, false, 0, NAN, false, 0), fmi3Error, "span of time");
    refused(EnterInitializationMode(it, false, 0, 1, true, 0), fmi3Error, "span of time");
    done(EnterInitializationMode(it, true, 1e-6, 0, true, 0.1), "EnterInitializationMode");
    refused(EnterInitializationMode(it, false, 0, 0, false, 0), fmi3Error, "not allowed in Initialization Mode");
    done(ExitInitializationMode(it), "ExitInitializationMode");
    refused(set(it, "q[0]", 1), fmi3Error, "cannot be set in Step Mode");
    refused(GetContinuousStates(it, x, 2 * MODEL_R), fmi3Error, "not a function of co-simulation");
    refused(GetNumberOfContinuousStates(it, &count), fmi3Error, "not a function of co-simulation");
    refused(EnterEventMode(it), fmi3Error, "not a function of co-simulation");
    refused(DoStep(it, 0, 0, false, NULL, NULL, NULL, NULL), fmi3Error, "not a positive number");
    refused(DoStep(it, 0, NAN, false, NULL, NULL, NULL, NULL), fmi3Error, "not a positive number");
    refused(DoStep(it, 0.5, 0.01, false, NULL, NULL, NULL, NULL), fmi3Error, "but the model is at 0 s");
    refused(DoStep(it, 0, 0.2, false, NULL, NULL, NULL, NULL), fmi3Error, "after the stop time");
    done(set(it, "step", 1e-12), "step");
    refused(DoStep(it, 0, 0.1, false, NULL, NULL, NULL, NULL), fmi3Error, "too short");
    done(set(it, "step", 0.01), "step");
    run(it, 0, 10, 0.01); /* up to the stop time */
    done(Terminate(it), "Terminate");
    refused(DoStep(it, 0.1, 0.01, false, NULL, NULL, NULL, NULL), fmi3Error, "not allowed in the state Terminated");
    refused(set(it, "tip.force.x", 1), fmi3Error, "not allowed in the state Terminated");
    if (!(fabs(get(it, "time") - 0.1) < 1e-15))
        fault("time", "is not known at the end");
    FreeInstance(it);
    refused(SetContinuousStates(other, x, 2 * MODEL_R), fmi3Error, "not allowed in the state Instantiated");
    initialize(other);
    refused(DoStep(other, 0, 0.01, false, NULL, NULL, NULL, NULL), fmi3Error, "not a function of model exchange");
    refused(SetTime(other, 1), fmi3Error, "not allowed in Event Mode");
    done(EnterContinuousTimeMode(other), "EnterContinuousTimeMode");
    refused(set(other, "damping.alpha", 1), fmi3Error, "cannot be set in Continuous-Time Mode");
    refused(SetContinuousStates(other, x, 3), fmi3Error, "continuous states, not 3");
    refused(GetContinuousStateDerivatives(other, x, 0), fmi3Error, "continuous states, not 0");
    memset(x, 0, sizeof x);
    x[1] = NAN;
    refused(SetContinuousStates(other, x, 2 * MODEL_R), fmi3Discard, "not a finite number");
    if (SetTime(NULL, 0) != fmi3Error || GetFloat64(NULL, &alpha, 1, &out, 1) != fmi3Error)
        fault("an instance that is NULL", "is no error");
    FreeInstance(other);
}

/* A force that is set after the initialization and one that changes later act from the start of a step on: as in the C
 * source, whose accelerations are computed anew there. */
static void check_jumps(void)
{
    static model_state state;
    const double none[3] = {0};
    double force[MODEL_R], q[MODEL_R];
    fmi3Instance it = cosimulation(true);
    set_parameters(it);
    set_force(it, none);
    done(set(it, "step", 0.01), "step");
    initialize(it);
    set_force(it, pull);
    start_source(&state, force, 0.01);
    run(it, 0, 20, 0.01);
    set_force(it, none);
    run(it, 20, 20, 0.01);
    for (int i = 0; i < 40; i++) {
        if (i == 20) {
            memset(force, 0, sizeof force);
            model_start(&state, force);
        }
        if (model_step(&state, force) != MODEL_OK)
            die("the C source", "does not converge");
    }
    vector(it, "q[0]", q);
    same(q, state.q, 1e-12, "q after forces that jump");
    FreeInstance(it);
}

/* A communication step in which Newton's method fails, under a force whose displacements it cannot reach (as in the
 * test of the C source), and after it one with a weak force. */
static void check_discard(void)
{
    const double weak[3] = {0, 30, 20}, strong[3] = {-1e30, 1e25, 1e25};
    const char *const category[] = {"logStatusDiscard"}, *const wrong[] = {"logAll"};
    size_t size = 0;
    fmi3Instance it = cosimulation(true);
    done(set(it, "damping.alpha", 1), "alpha");
    done(set(it, "damping.beta", 0.01), "beta");
    done(set(it, "step", 0.2), "step");
    set_force(it, weak);
    initialize(it);
    done(DoStep(it, 0, 0.2, false, NULL, NULL, NULL, NULL), "the step before");
    set_force(it, strong);
    fmi3Byte *before = serialized(it, &size);
    refused(DoStep(it, 0.2, 1.2, false, NULL, NULL, NULL, NULL), fmi3Discard, "s at 0.2 s does not converge");
    fmi3Byte *after = serialized(it, &size);
    if (memcmp(before, after, size))
        fault("fmi3Discard", "the state is another one");
    free(before);
    free(after);
    refused(SetDebugLogging(it, false, 1, wrong), fmi3Error, "no category");
    done(SetDebugLogging(it, false, 1, category), "SetDebugLogging");
    messages = 0;
    if (DoStep(it, 0.2, 1.2, false, NULL, NULL, NULL, NULL) != fmi3Discard || messages)
        fault("a category that is off", "is logged");
    done(SetDebugLogging(it, true, 0, NULL), "SetDebugLogging");
    if (DoStep(it, 0.2, 1.2, false, NULL, NULL, NULL, NULL) != fmi3Discard || messages != 1)
        fault("a category that is on", "is not logged");
    set_force(it, weak);
    done(DoStep(it, 0.2, 1.2, false, NULL, NULL, NULL, NULL), "the weak force");
    FreeInstance(it);
}

/* After a reset the values are the start values of the description. */
static void check_starts(void)
{
    fmi3Instance it = cosimulation(true);
    int count = 0;
    set_parameters(it);
    initialize(it);
    run(it, 0, 3, 0.01);
    done(Reset(it), "Reset");
    for (const char *at = strstr(description, "<Float64 "); at; at = strstr(at + 1, "<Float64 ")) {
        char name[200];
        const char *begin = strstr(at, "name=\"") + 6;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(begin, "\""), begin);
        const char *start = attribute(name, "start");
        const double value = start ? atof(start) : 0;
        if (get(it, name) != value)
            fault("another start value", name);
        count++;
    }
    if (count != 11 + 9 * MODEL_PROBES + 3 * MODEL_R)
        fault("modelDescription.xml", "another number of variables");
    FreeInstance(it);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    load(argv[1], argv[2]);
    check_instances();
    check_starts();
    check_steps(0.01, 0.01, 0.01, 1, 1000);
    check_steps(0.05, 0.01, 0.01, 5, 50);
    check_steps(0.025, 0.01, 0.025 / 3, 3, 50);
    check_steps(0.004, 0.01, 0.004, 1, 50);
    check_exchange();
    check_limit();
    check_derivatives();
    check_states();
    check_threads();
    check_calls();
    check_jumps();
    check_discard();
    return faults > 0;
}
