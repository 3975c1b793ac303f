/* AMD of SuiteSparse, whose header is in a separate folder on some systems. */
#ifndef SP_LINEAR_SUITESPARSE_H
#define SP_LINEAR_SUITESPARSE_H

#if __has_include(<suitesparse/amd.h>)
#include <suitesparse/amd.h>
#else
#include <amd.h>
#endif

#endif
