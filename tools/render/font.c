#include "tools/render/font.h"

#include "tools/common/tool.h"

#include <fontconfig/fontconfig.h>
#include <stdio.h>
#include <string.h>

/* The file of the font that fontconfig has for plain text, NULL if it has none of outlines. */
static char *find_file(sp_pool *pool)
{
    char *path = NULL;
    FcResult result;
    FcChar8 *file;
    FcPattern *wanted = FcNameParse((const FcChar8 *)"sans:scalable=true:weight=80:slant=0"), *found = NULL;

    if (wanted && FcConfigSubstitute(NULL, wanted, FcMatchPattern)) {
        FcDefaultSubstitute(wanted);
        found = FcFontMatch(NULL, wanted, &result);
    }

    if (found && FcPatternGetString(found, FC_FILE, 0, &file) == FcResultMatch) {
        path = tool_allocate(pool, (int64_t)strlen((char *)file) + 1, 1);
        strcpy(path, (char *)file);
    }

    if (found)
        FcPatternDestroy(found);
    if (wanted)
        FcPatternDestroy(wanted);
    FcFini();

    return path;
}

sp_font *tool_font_open(sp_context *context, sp_pool *pool)
{
    enum { MOST = 100000000 };
    sp_font *font = NULL;
    const char *path = find_file(pool);
    FILE *file = path ? fopen(path, "rb") : NULL;
    long size = -1;

    if (file && !fseek(file, 0, SEEK_END))
        size = ftell(file);

    if (size > 0 && size < MOST && !fseek(file, 0, SEEK_SET)) {
        uint8_t *bytes = tool_allocate_raw(pool, size, 1);
        if (fread(bytes, 1, (size_t)size, file) == (size_t)size && sp_font_new(context, bytes, size, &font) != SP_OK)
            font = NULL;
    }

    if (file)
        fclose(file);

    if (!font)
        tool_say("fontconfig finds no font: texts are drawn with dots");
    return font;
}
