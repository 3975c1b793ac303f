/* Files of the source, for tests that compare pages with tables. */
#ifndef TESTS_UNIT_SOURCE_FILE_H
#define TESTS_UNIT_SOURCE_FILE_H

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path of this header, as the compiler was told it, leads from the folder of the build, where tests run. */
static inline void source_path(const char *name, char path[4096])
{
    const char *here = strstr(__FILE__, "tests/unit/source_file.h");
    snprintf(path, 4096, "%.*s%s", here ? (int)(here - __FILE__) : 0, __FILE__, name);
}

/* The text of a file of the source; free it. */
static inline char *source_file(const char *name)
{
    char path[4096], *text = NULL;
    source_path(name, path);
    FILE *file = fopen(path, "r");
    CHECK(file, "%s cannot be opened", path);
    if (file) {
        fseek(file, 0, SEEK_END);
        const long size = ftell(file);
        text = calloc((size_t)size + 1, 1);
        rewind(file);
        CHECK(fread(text, 1, (size_t)size, file) == (size_t)size, "%s", path);
        fclose(file);
    }
    return text;
}

#endif
