/*< origin >*/

/* The model by the Functional Mock-up Interface 3.0: co-simulation, and model exchange with the states q and dq/dt. An
 * instance has no data in common with another. */
#include "model.h"

#include "model_fmi3.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MODEL_TOKEN, and the value reference MODEL_VR_X of the first variable of each group X. All variables are of the type
 * Float64. */
/*< variables >*/

enum { FORCES = 3 * MODEL_PROBES };

enum kind { EXCHANGE = 1, COSIMULATION = 2 };

enum mode { INSTANTIATED = 1, INITIALIZATION = 2, EVENT = 4, CONTINUOUS = 8, STEP = 16, TERMINATED = 32 };

enum { ALL_KINDS = EXCHANGE | COSIMULATION, RUNNING = INITIALIZATION | EVENT | CONTINUOUS | STEP };

enum category { LOG_ERROR = 1, LOG_DISCARD = 2 };

static const char *const model_categories[] = {"logStatusError", "logStatusDiscard"};

/* What fmi3GetFMUState returns, and what is serialized: no pointers. */
typedef struct model_saved {
    char token[sizeof MODEL_TOKEN];
    int32_t kind, mode, stop_defined, jumped;
    double time, stop, step, force[FORCES + 1];
    unsigned char body[offsetof(model_state, scratch)];
} model_saved;

#define MODEL_SERIALIZED (sizeof(model_saved) + sizeof(uint64_t))

typedef struct model_instance {
    enum kind kind;
    enum mode mode;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    unsigned categories; /* that are logged */
    int stop_defined;
    int jumped;               /* a force or parameter has changed since the acceleration was computed */
    double time, stop;        /* s */
    double step;              /* the longest internal step of co-simulation, s */
    double force[FORCES + 1]; /* on the probes, N */
    model_state body;
} model_instance;

/* ---- messages and the order of calls ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static fmi3Status
model_say(const model_instance *it, fmi3Status status, const char *call, const char *format, ...)
{
    char text[300];
    va_list arguments;
    const int discard = status == fmi3Discard;
    if (!it || !it->log || (discard && !(it->categories & LOG_DISCARD)))
        return status;
    int length = snprintf(text, sizeof text, "%s: ", call);
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    it->log(it->environment, status, model_categories[discard], text);
    return status;
}

static const char *model_mode_name(enum mode mode)
{
    switch (mode) {
    case INSTANTIATED:
        return "the state Instantiated";
    case INITIALIZATION:
        return "Initialization Mode";
    case EVENT:
        return "Event Mode";
    case CONTINUOUS:
        return "Continuous-Time Mode";
    case STEP:
        return "Step Mode";
    case TERMINATED:
        break;
    }
    return "the state Terminated";
}

/* Whether the call may be made now, with a message where it may not. */
static int model_may(const model_instance *it, const char *call, unsigned kinds, unsigned modes)
{
    if (!it)
        return 0;
    if (!(it->kind & kinds))
        model_say(it, fmi3Error, call, "is not a function of %s",
                  it->kind == EXCHANGE ? "model exchange" : "co-simulation");
    else if (!(it->mode & modes))
        model_say(it, fmi3Error, call, "is not allowed in %s", model_mode_name(it->mode));
    return (it->kind & kinds) && (it->mode & modes);
}

static int model_is_number(double x)
{
    return x - x == 0;
}

/* ---- instances ---- */

/* Everything but who is told about errors. */
static void model_begin(model_instance *it)
{
    model_init(&it->body);
    it->mode = INSTANTIATED;
    it->time = it->stop = 0;
    it->stop_defined = it->jumped = 0;
    it->step = it->body.dt;
    memset(it->force, 0, sizeof it->force);
}

static fmi3Instance model_new(enum kind kind, const char *call, fmi3String name, fmi3String token, fmi3Boolean logging,
                              fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, const char *refusal)
{
    const model_instance nobody = {.environment = environment, .log = log};

    if (!name || !*name)
        refusal = "the instance needs a name";
    else if (!token || strcmp(token, MODEL_TOKEN))
        refusal = "the instantiation token is not that of this FMU: modelDescription.xml and the library do not belong "
                  "together";

    model_instance *it = refusal ? NULL : calloc(1, sizeof *it);
    if (!it) {
        model_say(&nobody, fmi3Error, call, "%s", refusal ? refusal : "out of memory");
        return NULL;
    }

    it->kind = kind;
    it->environment = environment;
    it->log = log;
    it->categories = logging ? LOG_ERROR | LOG_DISCARD : 0;
    model_begin(it);
    return it;
}

FMI3_API const char *FMI3(GetVersion)(void)
{
    return "3.0";
}

FMI3_API fmi3Instance FMI3(InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources,
                                                     fmi3Boolean visible, fmi3Boolean logging,
                                                     fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)resources, (void)visible;
    return model_new(EXCHANGE, "fmi3InstantiateModelExchange", name, token, logging, environment, log, NULL);
}

FMI3_API fmi3Instance FMI3(InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources,
                                                    fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events,
                                                    fmi3Boolean early_return, const fmi3ValueReference required[],
                                                    size_t required_count, fmi3InstanceEnvironment environment,
                                                    fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    (void)resources, (void)visible, (void)early_return, (void)required, (void)update;
    return model_new(COSIMULATION, "fmi3InstantiateCoSimulation", name, token, logging, environment, log,
                     events           ? "this FMU has no Event Mode in co-simulation: eventModeUsed must be false"
                     : required_count ? "this FMU has no intermediate variables"
                                      : NULL);
}

FMI3_API fmi3Instance FMI3(InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources,
                                                          fmi3Boolean visible, fmi3Boolean logging,
                                                          fmi3InstanceEnvironment environment,
                                                          fmi3LogMessageCallback log, fmi3ClockUpdateCallback update,
                                                          fmi3LockPreemptionCallback lock,
                                                          fmi3UnlockPreemptionCallback unlock)
{
    (void)resources, (void)visible, (void)update, (void)lock, (void)unlock;
    return model_new(EXCHANGE, "fmi3InstantiateScheduledExecution", name, token, logging, environment, log,
                     "this FMU has no scheduled execution");
}

FMI3_API void FMI3(FreeInstance)(fmi3Instance instance)
{
    free(instance);
}

FMI3_API fmi3Status FMI3(SetDebugLogging)(fmi3Instance instance, fmi3Boolean on, size_t count,
                                          const fmi3String categories[])
{
    model_instance *it = instance;
    unsigned chosen = count ? 0 : LOG_ERROR | LOG_DISCARD;

    if (!it || (count && !categories))
        return model_say(it, fmi3Error, "fmi3SetDebugLogging", "categories is NULL");

    for (size_t i = 0; i < count; i++) {
        unsigned one = 0;
        for (unsigned c = 0; c < 2; c++)
            if (categories[i] && !strcmp(categories[i], model_categories[c]))
                one = 1u << c;
        if (!one)
            return model_say(it, fmi3Error, "fmi3SetDebugLogging", "there is no category \"%.100s\"",
                             categories[i] ? categories[i] : "(NULL)");
        chosen |= one;
    }

    it->categories = on ? it->categories | chosen : it->categories & ~chosen;
    return fmi3OK;
}

/* ---- modes ---- */

FMI3_API fmi3Status FMI3(EnterInitializationMode)(fmi3Instance instance, fmi3Boolean tolerance_defined,
                                                  fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean stop_defined,
                                                  fmi3Float64 stop)
{
    static const char call[] = "fmi3EnterInitializationMode";
    model_instance *it = instance;
    (void)tolerance_defined, (void)tolerance; /* of an error-controlled step, which there is none of */
    if (!model_may(it, call, ALL_KINDS, INSTANTIATED))
        return fmi3Error;
    if (!model_is_number(start) || (stop_defined && (!model_is_number(stop) || stop < start)))
        return model_say(it, fmi3Error, call, "start time %g and stop time %g are not a span of time", start, stop);
    it->time = start;
    it->stop_defined = stop_defined;
    it->stop = stop_defined ? stop : 0;
    it->mode = INITIALIZATION;
    return fmi3OK;
}

/* The generalized force of the forces on the probes. */
static void model_gather(const double force[FORCES + 1], double total[MODEL_R])
{
    for (int i = 0; i < MODEL_R; i++)
        total[i] = 0;
#if MODEL_PROBES > 0
    for (int p = 0; p < MODEL_PROBES; p++)
        model_add_probe_force(total, p, force + 3 * p);
#else
    (void)force;
#endif
}

FMI3_API fmi3Status FMI3(ExitInitializationMode)(fmi3Instance instance)
{
    static const char call[] = "fmi3ExitInitializationMode";
    model_instance *it = instance;
    double total[MODEL_R];
    if (!model_may(it, call, ALL_KINDS, INITIALIZATION))
        return fmi3Error;
    model_gather(it->force, total);
    if (model_start(&it->body, total) != MODEL_OK)
        return model_say(it, fmi3Error, call, "the acceleration at the start is not a finite number");
    it->jumped = 0;
    it->mode = it->kind == EXCHANGE ? EVENT : STEP;
    return fmi3OK;
}

static fmi3Status model_change_mode(fmi3Instance instance, const char *call, unsigned kinds, unsigned modes,
                                    enum mode next)
{
    model_instance *it = instance;
    if (!model_may(it, call, kinds, modes))
        return fmi3Error;
    it->mode = next;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(EnterEventMode)(fmi3Instance instance)
{
    return model_change_mode(instance, "fmi3EnterEventMode", EXCHANGE, CONTINUOUS, EVENT);
}

FMI3_API fmi3Status FMI3(EnterContinuousTimeMode)(fmi3Instance instance)
{
    return model_change_mode(instance, "fmi3EnterContinuousTimeMode", EXCHANGE, EVENT, CONTINUOUS);
}

FMI3_API fmi3Status FMI3(Terminate)(fmi3Instance instance)
{
    return model_change_mode(instance, "fmi3Terminate", ALL_KINDS, EVENT | CONTINUOUS | STEP, TERMINATED);
}

FMI3_API fmi3Status FMI3(Reset)(fmi3Instance instance)
{
    model_instance *it = instance;
    if (!it)
        return fmi3Error;
    model_begin(it);
    return fmi3OK;
}

/* ---- variables ---- */

static int model_is(fmi3ValueReference reference, fmi3ValueReference first, int count)
{
    return reference >= first && reference - first < (fmi3ValueReference)count;
}

/* The place of a variable that can be set; NULL: it cannot. */
static double *model_place(model_instance *it, fmi3ValueReference reference)
{
    model_state *body = &it->body;
    switch (reference) {
    case MODEL_VR_ALPHA:
        return &body->damping_mass;
    case MODEL_VR_BETA:
        return &body->damping_stiffness;
    case MODEL_VR_STIFFNESS:
        return &body->stiffness_factor;
    case MODEL_VR_DENSITY:
        return &body->density_factor;
    case MODEL_VR_STEP:
        return &it->step;
    default:
        break;
    }
    if (model_is(reference, MODEL_VR_GRAVITY, 3))
        return body->gravity + (reference - MODEL_VR_GRAVITY);
    if (model_is(reference, MODEL_VR_FORCE, FORCES))
        return it->force + (reference - MODEL_VR_FORCE);
    if (model_is(reference, MODEL_VR_Q, MODEL_R))
        return body->q + (reference - MODEL_VR_Q);
    if (model_is(reference, MODEL_VR_V, MODEL_R))
        return body->v + (reference - MODEL_VR_V);
    return NULL;
}

/* The modes in which it can be set. */
static unsigned model_settable(const model_instance *it, fmi3ValueReference reference)
{
    if (model_is(reference, MODEL_VR_FORCE, FORCES))
        return INSTANTIATED | INITIALIZATION | EVENT | CONTINUOUS | STEP;
    if (model_is(reference, MODEL_VR_Q, MODEL_R) || model_is(reference, MODEL_VR_V, MODEL_R))
        return INSTANTIATED | INITIALIZATION | (it->kind == EXCHANGE ? EVENT | CONTINUOUS : 0);
    return INSTANTIATED | INITIALIZATION | EVENT | STEP;
}

static const char *model_fault(fmi3ValueReference reference, double value)
{
    const int damping = reference == MODEL_VR_ALPHA || reference == MODEL_VR_BETA,
              factor = reference == MODEL_VR_STIFFNESS || reference == MODEL_VR_DENSITY || reference == MODEL_VR_STEP;
    if (!model_is_number(value))
        return "is not finite";
    if (damping && value < 0)
        return "is negative";
    return factor && value <= 0 ? "is not positive" : NULL;
}

FMI3_API fmi3Status FMI3(SetFloat64)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                     const fmi3Float64 values[], size_t value_count)
{
    static const char call[] = "fmi3SetFloat64";
    model_instance *it = instance;

    if (!model_may(it, call, ALL_KINDS, INSTANTIATED | RUNNING))
        return fmi3Error;
    if (count != value_count || (count && (!references || !values)))
        return model_say(it, fmi3Error, call, "%lu variables and %lu values", (unsigned long)count,
                         (unsigned long)value_count);

    /* All are checked before the first is set, so that a call that fails changes nothing. */
    for (size_t i = 0; i < count; i++) {
        const unsigned long reference = references[i];
        if (!model_place(it, references[i]))
            return model_say(it, fmi3Error, call, "the variable %lu %s", reference,
                             reference < MODEL_VR_END ? "cannot be set" : "does not exist");
        if (!(model_settable(it, references[i]) & it->mode))
            return model_say(it, fmi3Error, call, "the variable %lu cannot be set in %s", reference,
                             model_mode_name(it->mode));
        if (model_fault(references[i], values[i]))
            return model_say(it, fmi3Error, call, "the value %g of the variable %lu %s", values[i], reference,
                             model_fault(references[i], values[i]));
    }

    for (size_t i = 0; i < count; i++) {
        double *place = model_place(it, references[i]);
        it->jumped |= *place != values[i];
        *place = values[i];
    }

    return fmi3OK;
}

/* a at q, v and the forces. Of `it` only the workspace changes. */
static int model_accelerate(model_instance *it, double a[MODEL_R])
{
    double total[MODEL_R];
    model_gather(it->force, total);
    return model_acceleration(&it->body, it->body.q, it->body.v, total, a) == MODEL_OK;
}

/* The value of a variable that exists and is no acceleration. */
static double model_value(model_instance *it, fmi3ValueReference reference)
{
    const double *place = model_place(it, reference);
    if (place)
        return *place;
    if (reference == MODEL_VR_STRAIN)
        return model_energy(&it->body, NULL);
    if (reference == MODEL_VR_KINETIC)
        return model_kinetic_energy(&it->body);
#if MODEL_PROBES > 0
    double out[3];
    const int moving = model_is(reference, MODEL_VR_VELOCITY, FORCES);
    const int i = (int)(reference - (moving ? MODEL_VR_VELOCITY : MODEL_VR_DISPLACEMENT));
    if (moving || model_is(reference, MODEL_VR_DISPLACEMENT, FORCES)) {
        (void)(moving ? model_probe_velocity : model_probe)(&it->body, i / 3, out);
        return out[i % 3];
    }
#endif
    return it->time;
}

FMI3_API fmi3Status FMI3(GetFloat64)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                     fmi3Float64 values[], size_t value_count)
{
    static const char call[] = "fmi3GetFloat64";
    model_instance *it = instance;
    double a[MODEL_R];
    int known = 0;

    if (!it)
        return fmi3Error;
    if (count != value_count || (count && (!references || !values)))
        return model_say(it, fmi3Error, call, "%lu variables and %lu values", (unsigned long)count,
                         (unsigned long)value_count);

    for (size_t i = 0; i < count; i++) {
        const int acceleration = model_is(references[i], MODEL_VR_A, MODEL_R);
        if (references[i] >= MODEL_VR_END)
            return model_say(it, fmi3Error, call, "the variable %lu does not exist", (unsigned long)references[i]);
        if (acceleration && !known && !model_accelerate(it, a))
            return model_say(it, fmi3Discard, call, "the acceleration is not a finite number");
        known |= acceleration;
        values[i] = acceleration ? a[references[i] - MODEL_VR_A] : model_value(it, references[i]);
    }
    return fmi3OK;
}

/* There are no variables of other types. */
static fmi3Status model_absent(const model_instance *it, const char *call, size_t count)
{
    if (!it)
        return fmi3Error;
    return count ? model_say(it, fmi3Error, call, "all variables of this FMU are of the type Float64") : fmi3OK;
}

#define MODEL_ABSENT(type)                                                                                             \
    FMI3_API fmi3Status FMI3(Get##type)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,    \
                                        fmi3##type values[], size_t value_count)                                       \
    {                                                                                                                  \
        (void)references, (void)values;                                                                                \
        return model_absent(instance, "fmi3Get" #type, count + value_count);                                           \
    }                                                                                                                  \
    FMI3_API fmi3Status FMI3(Set##type)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,    \
                                        const fmi3##type values[], size_t value_count)                                 \
    {                                                                                                                  \
        (void)references, (void)values;                                                                                \
        return model_absent(instance, "fmi3Set" #type, count + value_count);                                           \
    }

MODEL_ABSENT(Float32)
MODEL_ABSENT(Int8)
MODEL_ABSENT(UInt8)
MODEL_ABSENT(Int16)
MODEL_ABSENT(UInt16)
MODEL_ABSENT(Int32)
MODEL_ABSENT(UInt32)
MODEL_ABSENT(Int64)
MODEL_ABSENT(UInt64)
MODEL_ABSENT(Boolean)
MODEL_ABSENT(String)

FMI3_API fmi3Status FMI3(GetBinary)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                    size_t sizes[], fmi3Binary values[], size_t value_count)
{
    (void)references, (void)sizes, (void)values;
    return model_absent(instance, "fmi3GetBinary", count + value_count);
}

FMI3_API fmi3Status FMI3(SetBinary)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                    const size_t sizes[], const fmi3Binary values[], size_t value_count)
{
    (void)references, (void)sizes, (void)values;
    return model_absent(instance, "fmi3SetBinary", count + value_count);
}

FMI3_API fmi3Status FMI3(GetClock)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                   fmi3Clock values[])
{
    (void)references, (void)values;
    return model_absent(instance, "fmi3GetClock", count);
}

FMI3_API fmi3Status FMI3(SetClock)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                   const fmi3Clock values[])
{
    (void)references, (void)values;
    return model_absent(instance, "fmi3SetClock", count);
}

/* ---- co-simulation ---- */

/* How many internal steps of which length make a communication step: those of the length `step` where it is a multiple,
 * else the fewest equal ones that are shorter. 0: too many. */
static long model_divide(double communication, double step, double *dt)
{
    const double ratio = communication / step, most = 1e8;
    if (!(ratio < most))
        return 0;
    const long nearest = (long)(ratio + 0.5), less = (long)ratio;
    const double off = ratio - (double)nearest;
    if (nearest > 0 && (off < 0 ? -off : off) <= 1e-9 * ratio) {
        *dt = step;
        return nearest;
    }
    *dt = communication / (double)(less + 1);
    return less + 1;
}

FMI3_API fmi3Status FMI3(DoStep)(fmi3Instance instance, fmi3Float64 from, fmi3Float64 communication,
                                 fmi3Boolean no_earlier_state, fmi3Boolean *event, fmi3Boolean *terminate,
                                 fmi3Boolean *early, fmi3Float64 *last)
{
    static const char call[] = "fmi3DoStep";
    model_instance *it = instance;
    unsigned char before[offsetof(model_state, scratch)];
    double total[MODEL_R], dt;
    (void)no_earlier_state;
    if (!model_may(it, call, COSIMULATION, STEP))
        return fmi3Error;

    if (!(communication > 0) || !model_is_number(communication) || !model_is_number(from))
        return model_say(it, fmi3Error, call, "the communication step %g is not a positive number", communication);
    const double rounding = 1e-6 * communication + 1e-14 * (from < 0 ? -from : from), end = from + communication;
    if (from > it->time + rounding || from < it->time - rounding)
        return model_say(it, fmi3Error, call, "the step begins at %g s, but the model is at %g s", from, it->time);
    if (it->stop_defined && end > it->stop + rounding)
        return model_say(it, fmi3Error, call, "the step ends at %g s, after the stop time %g s", end, it->stop);

    const long count = model_divide(communication, it->step, &dt);
    memcpy(before, &it->body, sizeof before);
    if (count == 0 || model_set_step(&it->body, dt) != MODEL_OK)
        return model_say(it, fmi3Error, call, "the internal step %g s is too short for a communication step of %g s",
                         it->step, communication);
    model_gather(it->force, total);

    /* Inputs hold from the start of the step on: the acceleration there is that of the new ones. */
    if (it->jumped && model_start(&it->body, total) != MODEL_OK) {
        memcpy(&it->body, before, sizeof before);
        return model_say(it, fmi3Discard, call, "the acceleration at the start is not a finite number");
    }
    for (long i = 0; i < count; i++)
        if (model_step(&it->body, total) != MODEL_OK) {
            memcpy(&it->body, before, sizeof before);
            return model_say(it, fmi3Discard, call,
                             "an internal step of %g s at %g s does not converge: make it shorter", dt,
                             from + (double)i * dt);
        }

    it->time = end;
    it->jumped = 0;
    if (event)
        *event = false;
    if (terminate)
        *terminate = false;
    if (early)
        *early = false;
    if (last)
        *last = end;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(EnterStepMode)(fmi3Instance instance)
{
    return model_say(instance, fmi3Error, "fmi3EnterStepMode", "this FMU has no Event Mode in co-simulation");
}

FMI3_API fmi3Status FMI3(GetOutputDerivatives)(fmi3Instance instance, const fmi3ValueReference references[],
                                               size_t count, const fmi3Int32 orders[], fmi3Float64 values[],
                                               size_t value_count)
{
    (void)references, (void)count, (void)orders, (void)values, (void)value_count;
    return model_say(instance, fmi3Error, "fmi3GetOutputDerivatives", "this FMU does not have this function");
}

/* ---- model exchange ---- */

FMI3_API fmi3Status FMI3(SetTime)(fmi3Instance instance, fmi3Float64 time)
{
    model_instance *it = instance;
    if (!model_may(it, "fmi3SetTime", EXCHANGE, CONTINUOUS))
        return fmi3Error;
    if (!model_is_number(time))
        return model_say(it, fmi3Error, "fmi3SetTime", "the time is not a finite number");
    it->time = time;
    return fmi3OK;
}

static fmi3Status model_check_states(const model_instance *it, const char *call, unsigned modes, const double *values,
                                     size_t count)
{
    if (!model_may(it, call, EXCHANGE, modes))
        return fmi3Error;
    if (count != 2 * MODEL_R || !values)
        return model_say(it, fmi3Error, call, "there are %d continuous states, not %lu", 2 * MODEL_R,
                         (unsigned long)count);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(SetContinuousStates)(fmi3Instance instance, const fmi3Float64 states[], size_t count)
{
    static const char call[] = "fmi3SetContinuousStates";
    model_instance *it = instance;
    if (model_check_states(it, call, CONTINUOUS, states, count) != fmi3OK)
        return fmi3Error;
    for (int i = 0; i < 2 * MODEL_R; i++)
        if (!model_is_number(states[i]))
            return model_say(it, fmi3Discard, call, "the state %d is not a finite number", i);
    memcpy(it->body.q, states, sizeof it->body.q);
    memcpy(it->body.v, states + MODEL_R, sizeof it->body.v);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetContinuousStates)(fmi3Instance instance, fmi3Float64 states[], size_t count)
{
    model_instance *it = instance;
    if (model_check_states(it, "fmi3GetContinuousStates", RUNNING, states, count) != fmi3OK)
        return fmi3Error;
    memcpy(states, it->body.q, sizeof it->body.q);
    memcpy(states + MODEL_R, it->body.v, sizeof it->body.v);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetContinuousStateDerivatives)(fmi3Instance instance, fmi3Float64 derivatives[], size_t count)
{
    static const char call[] = "fmi3GetContinuousStateDerivatives";
    model_instance *it = instance;
    if (model_check_states(it, call, RUNNING, derivatives, count) != fmi3OK)
        return fmi3Error;
    if (!model_accelerate(it, derivatives + MODEL_R))
        return model_say(it, fmi3Discard, call, "the acceleration is not a finite number");
    memcpy(derivatives, it->body.v, sizeof it->body.v);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetNominalsOfContinuousStates)(fmi3Instance instance, fmi3Float64 nominals[], size_t count)
{
    if (model_check_states(instance, "fmi3GetNominalsOfContinuousStates", RUNNING | TERMINATED, nominals, count) !=
        fmi3OK)
        return fmi3Error;
    for (int i = 0; i < 2 * MODEL_R; i++)
        nominals[i] = 1;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count)
{
    if (!model_may(instance, "fmi3GetNumberOfContinuousStates", EXCHANGE, INSTANTIATED | RUNNING | TERMINATED) ||
        !count)
        return fmi3Error;
    *count = 2 * MODEL_R;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count)
{
    if (!model_may(instance, "fmi3GetNumberOfEventIndicators", EXCHANGE, INSTANTIATED | RUNNING | TERMINATED) || !count)
        return fmi3Error;
    *count = 0;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetEventIndicators)(fmi3Instance instance, fmi3Float64 indicators[], size_t count)
{
    (void)indicators;
    if (!model_may(instance, "fmi3GetEventIndicators", EXCHANGE, RUNNING))
        return fmi3Error;
    return count ? model_say(instance, fmi3Error, "fmi3GetEventIndicators", "this FMU has no event indicators")
                 : fmi3OK;
}

FMI3_API fmi3Status FMI3(CompletedIntegratorStep)(fmi3Instance instance, fmi3Boolean no_earlier_state,
                                                  fmi3Boolean *event, fmi3Boolean *terminate)
{
    (void)no_earlier_state;
    if (!model_may(instance, "fmi3CompletedIntegratorStep", EXCHANGE, CONTINUOUS))
        return fmi3Error;
    if (event)
        *event = false;
    if (terminate)
        *terminate = false;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(UpdateDiscreteStates)(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate,
                                               fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                                               fmi3Boolean *next_defined, fmi3Float64 *next)
{
    fmi3Boolean *const answers[] = {again, terminate, nominals_changed, values_changed, next_defined};
    if (!model_may(instance, "fmi3UpdateDiscreteStates", EXCHANGE, EVENT))
        return fmi3Error;
    for (int i = 0; i < 5; i++)
        if (answers[i])
            *answers[i] = false;
    if (next)
        *next = 0;
    return fmi3OK;
}

/* ---- directional derivatives ----
 *
 * Of the acceleration a = M^-1 (F - f - beta K v) + g - alpha v and of the outputs, along changes of the states, the
 * forces and the parameters. M is proportional to the factor of the density, f and K to that of the stiffness. */

typedef struct model_change {
    double time, alpha, beta, gravity[3], stiffness, density, force[FORCES + 1], q[MODEL_R], v[MODEL_R];
} model_change;

static double model_product(const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < MODEL_R; i++)
        sum += x[i] * y[i];
    return sum;
}

static double model_length(const double *x)
{
    double largest = 0;
    for (int i = 0; i < MODEL_R; i++)
        largest = x[i] > largest ? x[i] : -x[i] > largest ? -x[i] : largest;
    return largest;
}

/* to += factor K(q) x, with the workspace K. */
static void model_add_stiff(model_instance *it, const double *q, const double *x, double factor, double *K, double *to)
{
    model_stiffness(&it->body, q, K);
    for (int i = 0; i < MODEL_R; i++)
        to[i] += factor * model_product(K + i * MODEL_R, x);
}

/* to += factor (dK(q) along `change`) x, by a central difference, which is exact: K is quadratic in q. */
static void model_add_bent(model_instance *it, const double *change, const double *x, double factor, double *K,
                           double *to)
{
    const double size = model_length(change), reach = model_length(it->body.q), far = it->step * model_length(x);
    const double s = size > 0 ? (reach > far ? reach : far) / size : 0;
    double place[MODEL_R];
    if (!(s > 0)) /* no change, or x = 0 */
        return;
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int i = 0; i < MODEL_R; i++)
            place[i] = it->body.q[i] + sign * s * change[i];
        model_add_stiff(it, place, x, sign * factor / (2 * s), K, to);
    }
}

/* Changes of a and of both energies. */
static int model_differentiate(model_instance *it, const model_change *by, double da[MODEL_R], double *strain,
                               double *kinetic)
{
    model_state *body = &it->body;
    const double alpha = body->damping_mass, beta = body->damping_stiffness,
                 stiffer = by->stiffness / body->stiffness_factor, denser = by->density / body->density_factor;
    const double rest[MODEL_R] = {0};
    double matrix[MODEL_R * MODEL_R], moved[MODEL_R], load[MODEL_R], f[MODEL_R], total[MODEL_R], gravity[3];

    /* Both energies along the direction: W' = f q' + W stiffness'/stiffness, T' = v M v' + T density'/density. */
    model_force(body, NULL, f);
    *strain = model_product(f, by->q) + stiffer * model_energy(body, NULL);
    model_mass(body, matrix);
    *kinetic = denser * model_kinetic_energy(body);
    for (int i = 0; i < MODEL_R; i++)
        *kinetic += by->v[i] * model_product(matrix + i * MODEL_R, body->v);
    model_gather(it->force, load);

    model_gather(by->force, total);
    for (int i = 0; i < MODEL_R; i++) {
        total[i] += (denser - stiffer) * f[i] - denser * load[i];
        moved[i] = by->q[i] + beta * by->v[i] + (by->beta + beta * (stiffer - denser)) * body->v[i];
    }

    model_add_stiff(it, body->q, moved, -1, matrix, total);
    if (beta > 0)
        model_add_bent(it, by->q, body->v, -beta, matrix, total);

    memcpy(gravity, body->gravity, sizeof gravity); /* at rest, and with the change of gravity, a is linear */
    memcpy(body->gravity, by->gravity, sizeof gravity);
    const int status = model_acceleration(body, rest, rest, total, da);
    memcpy(body->gravity, gravity, sizeof gravity);

    for (int i = 0; i < MODEL_R; i++)
        da[i] -= alpha * by->v[i] + by->alpha * body->v[i];
    return status == MODEL_OK;
}

/* The place of the change of a known; NULL: it is none. */
static double *model_known(model_change *by, fmi3ValueReference reference)
{
    switch (reference) {
    case MODEL_VR_TIME:
        return &by->time;
    case MODEL_VR_ALPHA:
        return &by->alpha;
    case MODEL_VR_BETA:
        return &by->beta;
    case MODEL_VR_STIFFNESS:
        return &by->stiffness;
    case MODEL_VR_DENSITY:
        return &by->density;
    default:
        break;
    }
    if (model_is(reference, MODEL_VR_GRAVITY, 3))
        return by->gravity + (reference - MODEL_VR_GRAVITY);
    if (model_is(reference, MODEL_VR_FORCE, FORCES))
        return by->force + (reference - MODEL_VR_FORCE);
    if (model_is(reference, MODEL_VR_Q, MODEL_R))
        return by->q + (reference - MODEL_VR_Q);
    return model_is(reference, MODEL_VR_V, MODEL_R) ? by->v + (reference - MODEL_VR_V) : NULL;
}

static int model_is_unknown(fmi3ValueReference reference)
{
    return model_is(reference, MODEL_VR_DISPLACEMENT, FORCES) || model_is(reference, MODEL_VR_VELOCITY, FORCES) ||
           reference == MODEL_VR_STRAIN || reference == MODEL_VR_KINETIC || model_is(reference, MODEL_VR_V, MODEL_R) ||
           model_is(reference, MODEL_VR_A, MODEL_R);
}

/* The change of component i of a displacement or a velocity, of which the coordinates change by x. */
static double model_probe_change(int i, const double *x)
{
    double unit[FORCES + 1] = {0}, row[MODEL_R];
    unit[i] = 1;
    model_gather(unit, row);
    return model_product(row, x);
}

FMI3_API fmi3Status FMI3(GetDirectionalDerivative)(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                                   size_t unknown_count, const fmi3ValueReference knowns[],
                                                   size_t known_count, const fmi3Float64 seed[], size_t seed_count,
                                                   fmi3Float64 sensitivity[], size_t sensitivity_count)
{
    static const char call[] = "fmi3GetDirectionalDerivative";
    model_instance *it = instance;
    model_change by = {0};
    double da[MODEL_R], strain, kinetic;

    if (!model_may(it, call, ALL_KINDS, RUNNING))
        return fmi3Error;
    if (seed_count != known_count || sensitivity_count != unknown_count || (known_count && (!knowns || !seed)) ||
        (unknown_count && (!unknowns || !sensitivity)))
        return model_say(it, fmi3Error, call, "%lu knowns and %lu seeds, %lu unknowns and %lu sensitivities",
                         (unsigned long)known_count, (unsigned long)seed_count, (unsigned long)unknown_count,
                         (unsigned long)sensitivity_count);

    for (size_t i = 0; i < known_count; i++) {
        double *place = model_known(&by, knowns[i]);
        if (!place)
            return model_say(it, fmi3Error, call, "the variable %lu is not a known", (unsigned long)knowns[i]);
        *place += seed[i];
    }

    for (size_t i = 0; i < unknown_count; i++)
        if (!model_is_unknown(unknowns[i]))
            return model_say(it, fmi3Error, call, "the variable %lu is not an unknown", (unsigned long)unknowns[i]);

    if (!model_differentiate(it, &by, da, &strain, &kinetic))
        return model_say(it, fmi3Discard, call, "the derivative is not a finite number");

    for (size_t i = 0; i < unknown_count; i++) {
        const fmi3ValueReference u = unknowns[i];
        if (u == MODEL_VR_STRAIN || u == MODEL_VR_KINETIC)
            sensitivity[i] = u == MODEL_VR_STRAIN ? strain : kinetic;
        else if (model_is(u, MODEL_VR_A, MODEL_R))
            sensitivity[i] = da[u - MODEL_VR_A];
        else if (model_is(u, MODEL_VR_V, MODEL_R))
            sensitivity[i] = by.v[u - MODEL_VR_V];
        else if (model_is(u, MODEL_VR_DISPLACEMENT, FORCES))
            sensitivity[i] = model_probe_change((int)(u - MODEL_VR_DISPLACEMENT), by.q);
        else
            sensitivity[i] = model_probe_change((int)(u - MODEL_VR_VELOCITY), by.v);
    }
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetAdjointDerivative)(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                               size_t unknown_count, const fmi3ValueReference knowns[],
                                               size_t known_count, const fmi3Float64 seed[], size_t seed_count,
                                               fmi3Float64 sensitivity[], size_t sensitivity_count)
{
    (void)unknowns, (void)unknown_count, (void)knowns, (void)known_count, (void)seed, (void)seed_count;
    (void)sensitivity, (void)sensitivity_count;
    return model_say(instance, fmi3Error, "fmi3GetAdjointDerivative", "this FMU does not have this function");
}

/* ---- saved states ---- */

static void model_save(const model_instance *it, model_saved *to)
{
    memset(to, 0, sizeof *to);
    memcpy(to->token, MODEL_TOKEN, sizeof to->token);
    to->kind = (int32_t)it->kind;
    to->mode = (int32_t)it->mode;
    to->stop_defined = it->stop_defined;
    to->jumped = it->jumped;
    to->time = it->time;
    to->stop = it->stop;
    to->step = it->step;
    memcpy(to->force, it->force, sizeof to->force);
    memcpy(to->body, &it->body, sizeof to->body);
}

/* NULL, or why these bytes are no state of such an instance. */
static const char *model_saved_fault(const model_instance *it, const model_saved *from)
{
    const int32_t mode = from->mode;
    if (memcmp(from->token, MODEL_TOKEN, sizeof from->token))
        return "it belongs to another FMU";
    if (from->kind != (int32_t)it->kind)
        return "it belongs to an instance of the other kind";
    if (mode <= 0 || mode > TERMINATED || (mode & (mode - 1)) ||
        (mode & (it->kind == EXCHANGE ? STEP : EVENT | CONTINUOUS)))
        return "its bytes are damaged";
    return NULL;
}

FMI3_API fmi3Status FMI3(GetFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    const model_instance *it = instance;
    if (!it || !state)
        return model_say(it, fmi3Error, "fmi3GetFMUState", "FMUState is NULL");
    model_saved *to = *state ? *state : malloc(sizeof *to);
    if (!to)
        return model_say(it, fmi3Error, "fmi3GetFMUState", "out of memory");
    model_save(it, to);
    *state = to;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(SetFMUState)(fmi3Instance instance, fmi3FMUState state)
{
    model_instance *it = instance;
    const model_saved *from = state;
    const char *fault = !it || !from ? "it is NULL" : model_saved_fault(it, from);

    if (fault)
        return model_say(it, fmi3Error, "fmi3SetFMUState", "%s", fault);

    it->mode = (enum mode)from->mode;
    it->stop_defined = from->stop_defined;
    it->jumped = from->jumped != 0;
    it->time = from->time;
    it->stop = from->stop;
    it->step = from->step;
    memcpy(it->force, from->force, sizeof it->force);
    memcpy(&it->body, from->body, sizeof from->body);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(FreeFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    if (!instance)
        return fmi3Error;
    if (state) {
        free(*state);
        *state = NULL;
    }
    return fmi3OK;
}

/* FNV-1a of the bytes, which follows a serialized state. */
static uint64_t model_checksum(const void *data, size_t count)
{
    const unsigned char *bytes = data;
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3;
    return sum;
}

FMI3_API fmi3Status FMI3(SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    if (!instance || !state || !size)
        return model_say(instance, fmi3Error, "fmi3SerializedFMUStateSize", "an argument is NULL");
    *size = MODEL_SERIALIZED;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(SerializeFMUState)(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    if (!instance || !state || !bytes || size < MODEL_SERIALIZED)
        return model_say(instance, fmi3Error, "fmi3SerializeFMUState", "the state needs %lu bytes, not %lu",
                         (unsigned long)MODEL_SERIALIZED, (unsigned long)size);
    const uint64_t sum = model_checksum(state, sizeof(model_saved));
    memcpy(bytes, state, sizeof(model_saved));
    memcpy(bytes + sizeof(model_saved), &sum, sizeof sum);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(DeserializeFMUState)(fmi3Instance instance, const fmi3Byte bytes[], size_t size,
                                              fmi3FMUState *state)
{
    static const char call[] = "fmi3DeserializeFMUState";
    const model_instance *it = instance;
    model_saved from;
    uint64_t sum;
    if (!it || !bytes || !state || size != MODEL_SERIALIZED)
        return model_say(it, fmi3Error, call, "a state has %lu bytes, not %lu", (unsigned long)MODEL_SERIALIZED,
                         (unsigned long)size);
    memcpy(&from, bytes, sizeof from);
    memcpy(&sum, bytes + sizeof from, sizeof sum);
    const char *fault = model_saved_fault(it, &from);
    if (!fault && sum != model_checksum(&from, sizeof from))
        fault = "its bytes are damaged";
    if (fault)
        return model_say(it, fmi3Error, call, "%s", fault);

    model_saved *to = *state ? *state : malloc(sizeof *to);
    if (!to)
        return model_say(it, fmi3Error, call, "out of memory");
    *to = from;
    *state = to;
    return fmi3OK;
}

/* ---- functions for what this FMU does not have ---- */

/* `unused` has the names of the parameters. */
#define MODEL_HAS_NONE(name, what, unused, ...)                                                                        \
    FMI3_API fmi3Status FMI3(name)(fmi3Instance instance, __VA_ARGS__)                                                 \
    {                                                                                                                  \
        unused;                                                                                                        \
        return model_say(instance, fmi3Error, "fmi3" #name, "this FMU has no " what);                                  \
    }
#define MODEL_NO_CLOCK(name, unused, ...)                                                                              \
    MODEL_HAS_NONE(name, "clocks", ((void)references, (void)count, unused), const fmi3ValueReference references[],     \
                   size_t count, __VA_ARGS__)

MODEL_NO_CLOCK(GetIntervalDecimal, ((void)intervals, (void)qualifiers), fmi3Float64 intervals[],
               fmi3IntervalQualifier qualifiers[])
MODEL_NO_CLOCK(GetIntervalFraction, ((void)counters, (void)resolutions, (void)qualifiers), fmi3UInt64 counters[],
               fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
MODEL_NO_CLOCK(GetShiftDecimal, (void)shifts, fmi3Float64 shifts[])
MODEL_NO_CLOCK(GetShiftFraction, ((void)counters, (void)resolutions), fmi3UInt64 counters[], fmi3UInt64 resolutions[])
MODEL_NO_CLOCK(SetIntervalDecimal, (void)intervals, const fmi3Float64 intervals[])
MODEL_NO_CLOCK(SetIntervalFraction, ((void)counters, (void)resolutions), const fmi3UInt64 counters[],
               const fmi3UInt64 resolutions[])
MODEL_NO_CLOCK(SetShiftDecimal, (void)shifts, const fmi3Float64 shifts[])
MODEL_NO_CLOCK(SetShiftFraction, ((void)counters, (void)resolutions), const fmi3UInt64 counters[],
               const fmi3UInt64 resolutions[])
MODEL_HAS_NONE(ActivateModelPartition, "model partitions", ((void)partition, (void)time), fmi3ValueReference partition,
               fmi3Float64 time)
MODEL_HAS_NONE(GetNumberOfVariableDependencies, "dependencies of single elements", ((void)reference, (void)count),
               fmi3ValueReference reference, size_t *count)
MODEL_HAS_NONE(GetVariableDependencies, "dependencies of single elements",
               ((void)dependent, (void)elements, (void)independents, (void)others, (void)kinds, (void)count),
               fmi3ValueReference dependent, size_t elements[], fmi3ValueReference independents[], size_t others[],
               fmi3DependencyKind kinds[], size_t count)

FMI3_API fmi3Status FMI3(EnterConfigurationMode)(fmi3Instance instance)
{
    return model_say(instance, fmi3Error, "fmi3EnterConfigurationMode", "this FMU has no structural parameters");
}

FMI3_API fmi3Status FMI3(ExitConfigurationMode)(fmi3Instance instance)
{
    return model_say(instance, fmi3Error, "fmi3ExitConfigurationMode", "this FMU has no structural parameters");
}

FMI3_API fmi3Status FMI3(EvaluateDiscreteStates)(fmi3Instance instance)
{
    return model_say(instance, fmi3Error, "fmi3EvaluateDiscreteStates", "this FMU has no discrete states");
}
