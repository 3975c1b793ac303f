/*< origin >*/
#ifndef MODEL_FMI3_H
#define MODEL_FMI3_H

/* The types of the Functional Mock-up Interface 3.0 (https://fmi-standard.org) that the functions of the interface
 * need, so that no other header has to be at hand. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *fmi3Instance, *fmi3InstanceEnvironment, *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8, fmi3Byte;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean, fmi3Clock;
typedef const char *fmi3String;
typedef const fmi3Byte *fmi3Binary;

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String category, fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, fmi3Float64 time, fmi3Boolean set_requested,
                                               fmi3Boolean get_allowed, fmi3Boolean step_finished,
                                               fmi3Boolean can_return_early, fmi3Boolean *return_requested,
                                               fmi3Float64 *return_time);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

/* In a shared library the functions have the names of the standard. For static linking the importer defines
 * FMI3_FUNCTION_PREFIX as model_. */
#define FMI3_JOIN_NOW(a, b) a##b
#define FMI3_JOIN(a, b) FMI3_JOIN_NOW(a, b)
#if defined(FMI3_FUNCTION_PREFIX) && !defined(FMI3_OVERRIDE_FUNCTION_PREFIX)
#define FMI3(name) FMI3_JOIN(FMI3_FUNCTION_PREFIX, fmi3##name)
#elif defined(FMI3_OVERRIDE_FUNCTION_PREFIX) && defined(FMI3_ACTUAL_FUNCTION_PREFIX)
#define FMI3(name) FMI3_JOIN(FMI3_ACTUAL_FUNCTION_PREFIX, fmi3##name)
#else
#define FMI3(name) fmi3##name
#endif

#if defined(_WIN32)
#define FMI3_API __declspec(dllexport)
#elif defined(__GNUC__)
#define FMI3_API __attribute__((visibility("default")))
#else
#define FMI3_API
#endif

#endif
