/* Short names for writing tables of members (formats/kinds.h); included by the files with such tables. */
#ifndef SP_FORMATS_KIND_TABLES_H
#define SP_FORMATS_KIND_TABLES_H

#include "formats/kinds.h"

#include <math.h>

#define OPTIONAL .optional = true
#define WITH(what) .with = (what)
#define FORTRAN .fortran = true
#define FROM(least) .ranged = true, .low = (least), .high = INFINITY
#define ABOVE(bound) .ranged = true, .above = true, .low = (bound), .high = INFINITY
#define WITHIN(least, most) .ranged = true, .low = (least), .high = (most)
#define BELOW(symbol) .below = (symbol)

#endif
