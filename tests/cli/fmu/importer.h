/* A small importer of FMUs: the library is loaded as any simulator loads it, and variables are found by their names in
 * modelDescription.xml. */
#ifndef IMPORTER_H
#define IMPORTER_H

#include "model_fmi3.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions that the tests call, with the types of the standard */
#define FUNCTIONS(X)                                                                                                   \
    X(fmi3Instance, InstantiateModelExchange,                                                                          \
      (fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3InstanceEnvironment, fmi3LogMessageCallback)) \
    X(fmi3Instance, InstantiateCoSimulation,                                                                           \
      (fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3Boolean, fmi3Boolean,                         \
       const fmi3ValueReference *, size_t, fmi3InstanceEnvironment, fmi3LogMessageCallback,                            \
       fmi3IntermediateUpdateCallback))                                                                                \
    X(const char *, GetVersion, (void))                                                                                \
    X(void, FreeInstance, (fmi3Instance))                                                                              \
    X(fmi3Status, SetDebugLogging, (fmi3Instance, fmi3Boolean, size_t, const fmi3String *))                            \
    X(fmi3Status, EnterInitializationMode,                                                                             \
      (fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Float64))                                 \
    X(fmi3Status, ExitInitializationMode, (fmi3Instance))                                                              \
    X(fmi3Status, EnterEventMode, (fmi3Instance))                                                                      \
    X(fmi3Status, EnterContinuousTimeMode, (fmi3Instance))                                                             \
    X(fmi3Status, Terminate, (fmi3Instance))                                                                           \
    X(fmi3Status, Reset, (fmi3Instance))                                                                               \
    X(fmi3Status, GetFloat64, (fmi3Instance, const fmi3ValueReference *, size_t, fmi3Float64 *, size_t))               \
    X(fmi3Status, SetFloat64, (fmi3Instance, const fmi3ValueReference *, size_t, const fmi3Float64 *, size_t))         \
    X(fmi3Status, GetInt32, (fmi3Instance, const fmi3ValueReference *, size_t, fmi3Int32 *, size_t))                   \
    X(fmi3Status, DoStep,                                                                                              \
      (fmi3Instance, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *,               \
       fmi3Float64 *))                                                                                                 \
    X(fmi3Status, SetTime, (fmi3Instance, fmi3Float64))                                                                \
    X(fmi3Status, SetContinuousStates, (fmi3Instance, const fmi3Float64 *, size_t))                                    \
    X(fmi3Status, GetContinuousStates, (fmi3Instance, fmi3Float64 *, size_t))                                          \
    X(fmi3Status, GetContinuousStateDerivatives, (fmi3Instance, fmi3Float64 *, size_t))                                \
    X(fmi3Status, GetNominalsOfContinuousStates, (fmi3Instance, fmi3Float64 *, size_t))                                \
    X(fmi3Status, GetNumberOfContinuousStates, (fmi3Instance, size_t *))                                               \
    X(fmi3Status, GetNumberOfEventIndicators, (fmi3Instance, size_t *))                                                \
    X(fmi3Status, CompletedIntegratorStep, (fmi3Instance, fmi3Boolean, fmi3Boolean *, fmi3Boolean *))                  \
    X(fmi3Status, UpdateDiscreteStates,                                                                                \
      (fmi3Instance, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Float64 *))        \
    X(fmi3Status, GetFMUState, (fmi3Instance, fmi3FMUState *))                                                         \
    X(fmi3Status, SetFMUState, (fmi3Instance, fmi3FMUState))                                                           \
    X(fmi3Status, FreeFMUState, (fmi3Instance, fmi3FMUState *))                                                        \
    X(fmi3Status, SerializedFMUStateSize, (fmi3Instance, fmi3FMUState, size_t *))                                      \
    X(fmi3Status, SerializeFMUState, (fmi3Instance, fmi3FMUState, fmi3Byte *, size_t))                                 \
    X(fmi3Status, DeserializeFMUState, (fmi3Instance, const fmi3Byte *, size_t, fmi3FMUState *))                       \
    X(fmi3Status, GetDirectionalDerivative,                                                                            \
      (fmi3Instance, const fmi3ValueReference *, size_t, const fmi3ValueReference *, size_t, const fmi3Float64 *,      \
       size_t, fmi3Float64 *, size_t))

#define DECLARE(result, name, parameters) static result(*name) parameters;
FUNCTIONS(DECLARE)

static char *description, token[100], message[1000];
static int messages;

static void die(const char *what, const char *which)
{
    fprintf(stderr, "importer: %s: %s\n", what, which);
    exit(3);
}

static void on_message(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String text)
{
    (void)environment;
    snprintf(message, sizeof message, "%d %s %s", (int)status, category, text);
    messages++;
}

/* The value of an attribute of the element whose attribute `name` has this value; NULL: there is none. */
static const char *attribute(const char *name, const char *wanted)
{
    static char value[200], key[200];
    snprintf(key, sizeof key, " name=\"%s\"", name);
    const char *at = strstr(description, key);
    if (!at)
        die("no variable", name);
    const char *end = strchr(at, '>');
    snprintf(key, sizeof key, " %s=\"", wanted);
    at = strstr(at, key);
    if (!at || at > end)
        return NULL;
    at += strlen(key);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\""), at);
    return value;
}

static fmi3ValueReference reference(const char *name)
{
    return (fmi3ValueReference)strtoul(attribute(name, "valueReference"), NULL, 10);
}

/* Loads FOLDER/modelDescription.xml and the library. */
static void load(const char *folder, const char *library)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/modelDescription.xml", folder);
    FILE *file = fopen(path, "rb");
    description = calloc(1, 1 << 24);
    if (!file || !description || fread(description, 1, (1 << 24) - 1, file) == 0)
        die("cannot read", path);
    fclose(file);
    const char *at = strstr(description, "instantiationToken=\"");
    if (!at)
        die("no token", path);
    snprintf(token, sizeof token, "%.*s", (int)strcspn(at + 20, "\""), at + 20);
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!loaded)
        die(library, dlerror());
#define FIND(result, name, parameters)                                                                                 \
    *(void **)&name = dlsym(loaded, "fmi3" #name);                                                                     \
    if (!name)                                                                                                         \
        die("no function", "fmi3" #name);
    FUNCTIONS(FIND)
}

static fmi3Instance cosimulation(fmi3Boolean logging)
{
    return InstantiateCoSimulation("one", token, NULL, false, logging, false, false, NULL, 0, NULL, on_message, NULL);
}

static fmi3Instance exchange(void)
{
    return InstantiateModelExchange("one", token, NULL, false, true, NULL, on_message);
}

static fmi3Status set(fmi3Instance it, const char *name, double value)
{
    const fmi3ValueReference r = reference(name);
    return SetFloat64(it, &r, 1, &value, 1);
}

static double get(fmi3Instance it, const char *name)
{
    const fmi3ValueReference r = reference(name);
    double value = NAN;
    if (GetFloat64(it, &r, 1, &value, 1) != fmi3OK)
        die("cannot get", name);
    return value;
}

static void set_force(fmi3Instance it, const double force[3])
{
    if (set(it, "tip.force.x", force[0]) || set(it, "tip.force.y", force[1]) || set(it, "tip.force.z", force[2]))
        die("cannot set", "the force");
}

static void initialize(fmi3Instance it)
{
    if (EnterInitializationMode(it, false, 0, 0, false, 0) || ExitInitializationMode(it))
        die("cannot initialize", message);
}

#endif
