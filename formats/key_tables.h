/* Short names for writing tables of keys (formats/keys.h); included by the files with such tables. */
#ifndef SP_FORMATS_KEY_TABLES_H
#define SP_FORMATS_KEY_TABLES_H

#include "formats/keys.h"

#include <math.h>

#define NUMBER SP_KEY_NUMBER
#define INTEGER SP_KEY_INTEGER
#define BOOLEAN SP_KEY_BOOLEAN
#define WORD SP_KEY_WORD
#define FILE_NAME SP_KEY_FILE
#define OBJECT SP_KEY_OBJECT
#define REQUIRED SP_KEY_REQUIRED
#define DEFAULT SP_KEY_DEFAULT
#define OPTIONAL SP_KEY_OPTIONAL
#define ANY .low = -INFINITY, .high = INFINITY
#define FROM(least) .low = (least), .high = INFINITY
#define ABOVE(bound) .low = (bound), .above = true, .high = INFINITY
#define WITHIN(least, most) .low = (least), .high = (most)
#define OR_NULL .null = true, .standard = {INFINITY}

#endif
