/* CHOLMOD, whose header stands in a folder of its own on some systems. */
#ifndef SP_LINEAR_SUITESPARSE_H
#define SP_LINEAR_SUITESPARSE_H

#if __has_include(<suitesparse/cholmod.h>)
#include <suitesparse/cholmod.h>
#else
#include <cholmod.h>
#endif

#endif
