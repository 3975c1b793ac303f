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
