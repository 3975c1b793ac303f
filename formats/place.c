#include "formats/place.h"

#include "base/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

int64_t sp_place_numbers(sp_word text, double point[3])
{
    int64_t at = 0;
    for (int c = 0; c < 3; c++) {
        while (at < text.length && is_blank(text.at[at]))
            at++;
        int64_t stop = at;
        while (stop < text.length && !memchr(",;:", text.at[stop], 3))
            stop++;
        int64_t end = stop;
        while (end > at && is_blank(text.at[end - 1]))
            end--;
        if (!sp_word_number((sp_word){text.at + at, end - at}, &point[c]))
            return 0;
        at = stop;
        if (c < 2 && (at >= text.length || text.at[at++] != ','))
            return 0;
    }
    return at;
}

static sp_word without_prefix(sp_word word)
{
    const int64_t length = sizeof SP_PLACE_PREFIX - 1;
    const int64_t quote = word.length > 0 && *word.at == '"';
    if (word.length < quote + length || memcmp(word.at + quote, SP_PLACE_PREFIX, (size_t)length) != 0)
        return (sp_word){0};
    return (sp_word){word.at + quote + length, word.length - quote - length};
}

bool sp_place_begins(sp_word word)
{
    return without_prefix(word).at != NULL;
}

void sp_place_distance(const sp_mesh *mesh, double distance, char text[SP_PLACE_TEXT])
{
    double low[3], high[3];
    const int length = snprintf(text, SP_PLACE_TEXT, "%.4g m from there", distance);
    sp_mesh_box(mesh, low, high);
    if (distance > 0.1 * sqrt(sp_distance_squared3(low, high)))
        snprintf(text + length, (size_t)(SP_PLACE_TEXT - length),
                 "; the mesh reaches from %.4g,%.4g,%.4g to %.4g,%.4g,%.4g", low[0], low[1], low[2], high[0], high[1],
                 high[2]);
}

typedef struct found_place {
    bool surface;
    double point[3];
    int64_t vertex;
} found_place;

int sp_places_find(sp_context *context, sp_places *places, const sp_text *text, const char *name, const char *what,
                   sp_word word, bool surface, int64_t *vertex)
{
    char shown[SP_TEXT_QUOTE], away[SP_PLACE_TEXT];
    sp_word numbers = without_prefix(word);
    found_place place = {.surface = surface};
    double distance;

    if (numbers.length > 0 && *word.at == '"')
        numbers.length -= numbers.at[numbers.length - 1] == '"' ? 1 : numbers.length; /* a quote that is not closed */
    if (!numbers.at || numbers.length == 0 || sp_place_numbers(numbers, place.point) != numbers.length)
        return sp_text_fail(context, text, "%s: \"%s\" is not near:X,Y,Z with three numbers", name,
                            sp_word_show(word, shown));

    /* A place that was found before gives the same vertex without a second search and a second remark. */
    const found_place *known = places->found.data;
    for (int64_t i = 0; i < places->found.count; i++)
        if (known[i].surface == surface && !memcmp(known[i].point, place.point, sizeof place.point)) {
            *vertex = known[i].vertex;
            return SP_OK;
        }

    const int status = sp_mesh_nearest(context, places->mesh, surface, place.point, &place.vertex, &distance);
    if (status == SP_INPUT)
        return sp_text_fail(context, text, "%s: %s", name,
                            surface ? "the mesh has no embedded surface"
                                    : "the mesh has no vertex that an element uses");
    if (status != SP_OK)
        return status;

    sp_place_distance(places->mesh, distance, away);
    sp_remark(context, "%s, line %lld: near:%g,%g,%g is %s %lld, %s", places->text, (long long)sp_text_place(text),
              place.point[0], place.point[1], place.point[2], what, (long long)place.vertex, away);

    found_place *to = sp_list_add(&places->found, 1, sizeof *to);
    SP_PASS(sp_allocated(context, to));
    *to = place;
    *vertex = place.vertex;
    return SP_OK;
}

void sp_places_free(sp_places *places)
{
    sp_list_free(&places->found);
}
