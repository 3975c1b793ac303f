/* Vertices named by place, in options and in CSV: near:X,Y,Z is the vertex nearest to these coordinates at rest. */
#ifndef SP_FORMATS_PLACE_H
#define SP_FORMATS_PLACE_H

#include "base/memory.h"
#include "formats/import/text.h"
#include "mesh/mesh.h"

#define SP_PLACE_PREFIX "near:"
#define SP_SET_PREFIX "set:" /* before the name of a set (mesh/mesh_sets.h) */

/* Reads X,Y,Z [m], three finite numbers with blanks allowed around them, from the start of `text`. Returns the length
 * of that, up to the comma, semicolon, colon or end behind it; 0 if there are no such numbers. */
int64_t sp_place_numbers(sp_word text, double point[3]);

/* Returns true if the word begins with near:, with or without a double quote in front. */
bool sp_place_begins(sp_word word);

enum { SP_PLACE_TEXT = 160 };

/* How far the nearest vertex is from a place, for a message. Beyond a tenth of the diagonal of the mesh's box, where
 * the place is hardly the one that was meant, the text has the box too. */
void sp_place_distance(const sp_mesh *mesh, double distance, char text[SP_PLACE_TEXT]);

/* The places that one text has named so far, so that each is searched for once. */
typedef struct sp_places {
    const sp_mesh *mesh;
    const char *text; /* "loads": what is read, for remarks */
    sp_list found;    /* private */
} sp_places;

/* Parses a word near:X,Y,Z, which may be in double quotes, and finds the vertex nearest to it: of the mesh, or of its
 * embedded surface. `name` and `what` as in sp_csv_index. The first time that a place is named, the context's remark
 * says which vertex it is and how far away. SP_INPUT. */
int sp_places_find(sp_context *context, sp_places *places, const sp_text *text, const char *name, const char *what,
                   sp_word word, bool surface, int64_t *vertex) SP_MUST_USE;
void sp_places_free(sp_places *places);

#endif
