/* Shared by the sources of the reader for Abaqus/CalculiX .inp files: cards and their lines, materials, conditions.
 * Functions return a status; errors name their line (sp_volume_fail). */
#ifndef SP_FORMATS_IMPORT_VOLUME_INP_INTERNAL_H
#define SP_FORMATS_IMPORT_VOLUME_INP_INTERNAL_H

#include "formats/import/volume_internal.h"
#include "formats/import/volume_sets.h"

enum { INP_PARAMETERS = 16, INP_KEY = 24, INP_CARD = 40 };

/* A keyword card: its name and the names of its parameters in capitals without blanks. */
struct inp_card {
    char name[INP_CARD];
    struct {
        char key[INP_KEY];
        sp_word value;
    } parameter[INP_PARAMETERS];
    int count;
    int64_t where;
};

/* Sets of the part and of the assembly are different sets, and so are their nodes: numbers of the assembly are those of
 * the file plus INP_OUTSIDE. A file without a part has the level INP_MODEL only. */
enum { INP_MODEL, INP_PART };
static const int64_t INP_OUTSIDE = INT64_C(1) << 60;

/* A line of *BOUNDARY or *CLOAD: a node by number or a set of nodes by name. */
struct inp_condition {
    sp_word target;
    int64_t where;
    int components; /* bits 0 to 2 */
    double value;
};

struct inp_material {
    sp_material material;
    int64_t where;
    bool elastic, density, other;
    sp_word orientation; /* of its sections, if its law has directions; at == NULL: not in a section yet */
};

struct inp_section {
    sp_word set, material, orientation;
    int level;
    int64_t where;
};

/* Local axes of a section. */
struct inp_orientation {
    sp_word name;
    double frame[9]; /* rows are the axes */
    bool known;      /* false: of an unsupported kind */
};

struct inp {
    struct sp_volume_reader in;
    const sp_material *material;
    struct sp_volume_sets nsets, elsets;
    struct {           /* elements of plane or axisymmetric problems, which name faces of solids */
        sp_list names; /* struct sp_volume_set_name, of the groups of faces */
        sp_word type;  /* of the first one */
        int64_t where, count;
    } plane;
    sp_list boundaries, loads, materials, sections, orientations, surfaces, surface_lines;
    int step;
    int level;        /* of the current card */
    sp_word instance; /* its name; at == NULL: none yet */
    bool part, second_step, boundary_in_step, amplitude;
    int64_t skipped, surplus; /* elements that are no solids; elements with more numbers than nodes */
};

/* ---- cards (volume_inp_cards.c) ---- */

/* Copies a word in capitals without blanks, truncated to `size` bytes with its NUL. */
void sp_inp_pack(sp_word word, char *packed, int size);

/* Removes the double quotes around a word, if any. */
sp_word sp_inp_unquote(sp_word word);

/* The value of a parameter, "" if it has none; NULL if the card does not have the parameter. */
const sp_word *sp_inp_parameter(const struct inp_card *card, const char *key);

/* The value of a required parameter, which must have one. */
int sp_inp_need_parameter(struct inp *inp, const struct inp_card *card, const char *key, sp_word *value) SP_MUST_USE;

/* Advances to the next line, following *INCLUDE; found = false at the end. */
int sp_inp_next_line(struct inp *inp, bool *found) SP_MUST_USE;

/* Reads the card of the current line. If it ends with a comma and the next line has NAME=value, that line belongs to
 * the card. */
int sp_inp_read_card(struct inp *inp, struct inp_card *card) SP_MUST_USE;

/* Advances to the next data line of a card; found = false at the next card or the end. */
int sp_inp_data_line(struct inp *inp, bool *found) SP_MUST_USE;

/* ---- keywords (volume_inp_keywords.c) ---- */

/* What becomes of a card: INP_MATERIAL cards make the last material other than elastic, and INP_UNKNOWN ones are of no
 * list. */
enum inp_use { INP_READ, INP_MATERIAL, INP_REMARKED, INP_REFUSED, INP_HARMLESS, INP_UNKNOWN };

/* shown: the name with its blanks, without the asterisk; that of the card if it is unknown. */
enum inp_use sp_inp_use(const char *card, const char **shown);

/* ---- sets and surfaces (volume_inp_sets.c) ---- */

/* *PART, *INSTANCE and their ends set the level of the cards that follow; other cards do nothing. */
int sp_inp_parse_level(struct inp *inp, const struct inp_card *card) SP_MUST_USE;

/* The set that a name means at a level: "set" that of the level, else that of the other one; "instance.set" that of the
 * part; NULL: none. */
struct sp_volume_set *sp_inp_find_set(const struct inp *inp, const struct sp_volume_sets *sets, int level,
                                      sp_word name);

/* The number of a node or an element at a level, also "instance.number"; false if the word is none. */
bool sp_inp_number(const struct inp *inp, const struct sp_volume_sets *sets, int level, sp_word word, int64_t *number);

/* *NSET and *ELSET. */
int sp_inp_parse_set(struct inp *inp, const struct inp_card *card, struct sp_volume_sets *sets,
                     const char *key) SP_MUST_USE;

int sp_inp_parse_surface(struct inp *inp, const struct inp_card *card) SP_MUST_USE;

/* Called after the mesh is built and both kinds of sets are indexed: adds sets of vertices and of elements, and
 * surfaces as sets of faces or of vertices. */
int sp_inp_add_sets(struct inp *inp, sp_mesh *mesh) SP_MUST_USE;

/* ---- materials and sections (volume_inp_materials.c) ---- */

/* *MATERIAL, and the cards with constants of the last one. */
int sp_inp_parse_material(struct inp *inp, const struct inp_card *card) SP_MUST_USE;
int sp_inp_parse_density(struct inp *inp, const struct inp_card *card) SP_MUST_USE;
int sp_inp_parse_elastic(struct inp *inp, const struct inp_card *card) SP_MUST_USE;
int sp_inp_parse_hyperelastic(struct inp *inp, const struct inp_card *card) SP_MUST_USE; /* NEO HOOKE, MOONEY-RIVLIN */
int sp_inp_parse_damping(struct inp *inp, const struct inp_card *card) SP_MUST_USE;

/* *ORIENTATION: axes by two points. */
int sp_inp_parse_orientation(struct inp *inp, const struct inp_card *card) SP_MUST_USE;

/* *SOLID SECTION: the material of a set of elements. */
int sp_inp_parse_section(struct inp *inp, const struct inp_card *card) SP_MUST_USE;

/* Called after the whole file: sets the group of every element to the number of its section's material, or 0 if there
 * is no section at all. The sets of elements must have been indexed. */
int sp_inp_assign_materials(struct inp *inp) SP_MUST_USE;

/* ---- boundary conditions and loads (volume_inp_conditions.c) ---- */

/* Parses the lines of *BOUNDARY or, with `load`, of *CLOAD. */
int sp_inp_parse_conditions(struct inp *inp, const struct inp_card *card, bool load) SP_MUST_USE;

/* Called after the mesh is built and the sets of nodes are indexed: set the fixed components and the loads of its
 * vertices, allocated in its pool. */
int sp_inp_fix_vertices(struct inp *inp, sp_mesh *mesh) SP_MUST_USE;
int sp_inp_collect_loads(struct inp *inp, sp_mesh *mesh, sp_nodal_loads *loads) SP_MUST_USE;

#endif
