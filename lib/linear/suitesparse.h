/* CHOLMOD, whose header is in a separate folder on some systems. */
#ifndef SP_LINEAR_SUITESPARSE_H
#define SP_LINEAR_SUITESPARSE_H

#if __has_include(<suitesparse/cholmod.h>)
#include <suitesparse/cholmod.h>
#else
#include <cholmod.h>
#endif

#endif
