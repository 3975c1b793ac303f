/* Shared by the readers of volume.h: a file with its includes, places in it for messages, and the conversion of the
 * numbered nodes and elements of a file to an sp_mesh. */
#ifndef SP_FORMATS_IMPORT_VOLUME_INTERNAL_H
#define SP_FORMATS_IMPORT_VOLUME_INTERNAL_H

#include "formats/import/text.h"
#include "formats/import/volume.h"
#include "mesh/mesh_sets.h"

enum { VOLUME_DEPTH = 8 };

struct sp_volume_node {
    int64_t id, where;
    double x[3]; /* m */
};

/* Elements that are skipped, and 5-node pyramids, which are split. */
enum { SP_VOLUME_PASSED = -1, SP_VOLUME_PYRAMID = -2 };

struct sp_volume_element {
    int64_t id, where;
    int64_t group; /* index into the list of materials, −1 none yet */
    int64_t first; /* of its nodes in the reader's list */
    int type;      /* mesh/element_type.h, or one of the following */
    bool by_place; /* the middles of edges are in an unknown order, and are found by their places */
};

/* A point (dimension 0), a node of a curve (1) or a face (2) of a group of the file, by the numbers of its nodes: of a
 * face the corners. */
struct sp_volume_part {
    int dimension, corners;
    bool further; /* not the first node of its curve */
    int64_t group, node[4];
};

/* Maps the numbers of a file to 0, 1, …: a table if the numbers are dense, else a sorted list. */
struct sp_volume_ids {
    int64_t count, low, span; /* span > 0: index = table[id − low] */
    int64_t *table;
    struct sp_volume_id {
        int64_t id, index;
    } * sorted;
};

/* A file that is being read. A place in it is one integer, number of the included file << 44 | line or byte. */
struct sp_volume_reader {
    sp_context *context;
    sp_notes *notes;
    sp_text text;        /* of the current file */
    const char *comment; /* mark of lines that sp_volume_line skips, or "" */
    const char *line;    /* begin of its current line, after blanks */
    bool again;          /* sp_volume_line returns that line once more */
    const sp_includes *includes;
    sp_list names;       /* char *, of included files in order of opening; the same file included twice counts twice */
    int64_t file, depth; /* number of the current file, 0 for the first one; depth of inclusion */
    struct {
        sp_text text;
        int64_t file;
    } outer[VOLUME_DEPTH - 1];
    sp_list nodes, elements; /* struct sp_volume_node, struct sp_volume_element */
    sp_list of_elements;     /* int64_t, the nodes of the elements by number; sp_volume_build makes them indices */
    sp_list parts;           /* struct sp_volume_part */
    sp_pool pool;            /* of the following members */
    struct sp_volume_ids node_ids; /* map numbers to indices of nodes */
    int64_t *vertex;               /* [nodes] vertex of the mesh, −1: dropped */
    int64_t *element;              /* [elements] element of the mesh, −1: skipped */
    int64_t pyramids;              /* that were split */
};

/* Empties the mesh and the notes, which may be NULL, and opens the file. */
int sp_volume_start(struct sp_volume_reader *reader, sp_context *context, const char *bytes, int64_t count,
                    const char *comment, const sp_includes *includes, sp_mesh *mesh, sp_notes *notes) SP_MUST_USE;

/* Frees the reader and returns status; on failure the mesh is left empty. */
int sp_volume_finish(struct sp_volume_reader *reader, int status, sp_mesh *mesh);

/* Advances to the next line that is neither blank nor a comment. An included file is followed by the rest of the
 * including one. */
bool sp_volume_line(struct sp_volume_reader *reader);

/* Continues in another file, which the caller's callback opens. */
int sp_volume_include(struct sp_volume_reader *reader, sp_word name) SP_MUST_USE;

/* The current place in the text. */
int64_t sp_volume_here(const struct sp_volume_reader *reader);

/* Like sp_text_fail, for the current place in the text and for an earlier one. */
int sp_volume_fail_here(const struct sp_volume_reader *reader, const char *format, ...) SP_PRINTF(2, 3);
int sp_volume_fail(const struct sp_volume_reader *reader, int64_t where, const char *format, ...) SP_PRINTF(3, 4);

/* Adds a line to the notes, unless they have it already. */
void sp_volume_note(struct sp_volume_reader *reader, const char *format, ...) SP_PRINTF(2, 3);

/* For files in which line breaks have no meaning: advances to the next word, on this line or a later one; returns false
 * at the end of the file. The other functions fail with the name of the current section. */
bool sp_volume_more(struct sp_volume_reader *reader);
int sp_volume_fail_end(const struct sp_volume_reader *reader, const char *section);
int sp_volume_next_word(struct sp_volume_reader *reader, const char *section, sp_word *word) SP_MUST_USE;
int sp_volume_next_integer(struct sp_volume_reader *reader, const char *section, int64_t *value) SP_MUST_USE;
int sp_volume_next_number(struct sp_volume_reader *reader, const char *section, double *value) SP_MUST_USE;

/* Checks that the rest of the file can contain `count` items of at least `each` bytes, before memory is allocated for
 * them. */
int sp_volume_check_count(const struct sp_volume_reader *reader, const char *section, const char *what, int64_t count,
                          int64_t each) SP_MUST_USE;

/* Adds a copy of one item of `size` bytes. */
int sp_volume_push(struct sp_volume_reader *reader, sp_list *list, const void *item, size_t size) SP_MUST_USE;

/* Adds an element with its nodes [nodes of its type], in the order of mesh/element_type.h unless by_place is set; sets
 * element.first. Of a pyramid [base 4, apex] the two tetrahedra are added, and it is counted for a note. */
int sp_volume_add_element(struct sp_volume_reader *reader, struct sp_volume_element element,
                          const int64_t *node) SP_MUST_USE;

/* Adds a point, a curve or a face with its nodes, of which those of a face begin with its 3 or 4 corners. */
int sp_volume_add_part(struct sp_volume_reader *reader, int dimension, int64_t group, int nodes, int corners,
                       const int64_t *node) SP_MUST_USE;

/* Copies a valid name of a region: not empty, at most 63 bytes, UTF-8 without control characters. */
int sp_volume_name(struct sp_volume_reader *reader, int64_t where, sp_word word, const char *what,
                   char name[SP_NAME_LENGTH]) SP_MUST_USE;

int sp_volume_check_isotropic(struct sp_volume_reader *reader, int64_t where, double young, double poisson) SP_MUST_USE;
/* C of an orthotropic material from p = E1 E2 E3 [Pa], ν12 ν23 ν31, G12 G23 G31 [Pa]: its compliance has 1/Ei on the
 * diagonal and −νij/Ei = −νji/Ej off the diagonal (νij: contraction along j under tension along i). Returns false if it
 * is not positive definite. */
bool sp_volume_orthotropic(const double p[9], double stiffness[21]);

int sp_volume_check_density(struct sp_volume_reader *reader, int64_t where, double density) SP_MUST_USE;

/* Sorts values and removes duplicates; returns how many are left. */
int64_t sp_volume_distinct(int64_t *values, int64_t count);

/* first: the first of `count` records of `stride` bytes that begin with an int64_t number; memory is from the reader's
 * pool. twice: −1, or the index of a record with the number of an earlier one. */
int sp_volume_ids_build(struct sp_volume_reader *reader, int64_t count, const void *first, size_t stride,
                        struct sp_volume_ids *ids, int64_t *twice) SP_MUST_USE;

/* The index of a number, or −1. */
int64_t sp_volume_ids_find(const struct sp_volume_ids *ids, int64_t id);

/* Builds vertices, elements and regions (the elements' groups) of the mesh, for each type in the order of the file.
 * drop: leaves out nodes that no element uses, with a note. */
int sp_volume_build(struct sp_volume_reader *reader, bool drop, sp_mesh *mesh) SP_MUST_USE;

struct sp_volume_group_name {
    int64_t tag;
    char name[SP_NAME_LENGTH];
};

/* sp_volume_build without unused nodes, if the elements' groups are tags of the file: each tag, in increasing order, is
 * a region with the constants of `material`. Tag 0 keeps its name, the others are named by `names`, else
 * "<prefix>-<tag>". */
int sp_volume_build_groups(struct sp_volume_reader *reader, const char *prefix, const sp_material *material,
                           int64_t name_count, const struct sp_volume_group_name *names, sp_mesh *mesh) SP_MUST_USE;

/* The name of a group of points, curves or faces. A group may have several names. */
struct sp_volume_set_name {
    int dimension;
    int64_t group;
    char name[SP_NAME_LENGTH];
};

/* By dimension, then by group. */
int sp_volume_compare_set_names(const void *left, const void *right);

/* Copies a name of a set; false if it is not one (sp_name_check). */
bool sp_volume_set_name(sp_word word, char name[SP_NAME_LENGTH]);

/* Adds entries [its count, width] to a set of the mesh. full: the mesh has as many sets as it can have; then nothing is
 * added, and a note says so. */
int sp_volume_add_set(struct sp_volume_reader *reader, sp_mesh *mesh, const char *name, sp_set_kind kind,
                      const sp_list *index, bool *full) SP_MUST_USE;

/* Called after sp_volume_build: the groups of the reader's parts become sets of vertices (points, curves) and of faces.
 * A face between two elements is that of the element with the lower number. A group without a name is
 * "<prefix of its dimension>-<group>", except group 0, which is left out; prefix NULL: only groups with names are
 * kept. Sorts `names`. A note counts the elements of fewer dimensions that are in no set, with `skipped` others. */
int sp_volume_add_sets(struct sp_volume_reader *reader, const char *const prefix[3], int64_t name_count,
                       struct sp_volume_set_name *names, int64_t skipped, sp_mesh *mesh) SP_MUST_USE;

/* The materials that elements use become the regions, in the order of the list; mesh->region is renumbered. */
int sp_volume_regions(struct sp_volume_reader *reader, sp_mesh *mesh, int64_t count,
                      const sp_material *materials) SP_MUST_USE;

#endif
