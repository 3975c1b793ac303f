/* The members of every file type as tables, one for each type, by which files are read, checked, written and listed,
 * and the keys of meta and result. The pages of the types (mesh.md, …) agree with them: tests/unit/kinds.c compares
 * them. Conditions that a table cannot express (an element names a vertex that exists, weights sum to 1) are checked by
 * separate functions.
 *
 * An object is the struct that a file is read into; its extents are int64_t, its members pointers. */
#ifndef SP_FORMATS_KINDS_H
#define SP_FORMATS_KINDS_H

#include "formats/facts.h"
#include "formats/file.h"

#include <stddef.h>

/* A symbolic extent in shapes. Unless it is given or derived, the first member with it determines its value; it is 0 if
 * all such members are absent. */
typedef struct sp_symbol {
    const char *name; /* a whole factor of a shape, so that "3 nv" is one, too; NULL after the last */
    size_t at;        /* in the object */
    bool given;       /* the object has it before the file is read; −1: any */
    int64_t (*follows)(const void *object);
} sp_symbol;

typedef struct sp_member_rule {
    const char *name;  /* a name that ends with "/B" represents "name/000000", "name/000001", …: blocks, parts */
    const char *shape; /* "nv, 3": numbers and symbols; "": one value */
    enum sp_type type;
    bool fortran; /* else C order, for two or more dimensions */
    bool optional;
    const char *with; /* present if and only if this is: a symbol (that is not 0), a member, or a key of meta (that is
                         neither false nor 0 nor empty) */
    const char *unit; /* NULL: pure numbers */
    const char *meaning; /* the page says more */
    size_t at;           /* of its pointer in the object */

    /* Values are finite, and: */
    bool ranged, above; /* from low (itself excluded with `above`) to high */
    double low, high;   /* INFINITY: any */
    const char *below;  /* a symbol: indices from 0 to less than it */
    bool increasing;    /* strictly; of integers that `ranged` or `below` keeps under 2⁵³ */
    bool symmetric;     /* rank 2, within 1e-9 of the largest entry */
    int (*check)(sp_context *context, const sp_array *array, void *object); /* NULL: no further check */

    /* For a few members only: */
    const char *other; /* an alternative shape; the bool at other_at of the object tells which one it is. The required
                          member decides, and optional ones have the same. */
    size_t other_at;
    void **(*each)(void *object, int64_t i); /* the pointer of member i of several; NULL after the last */
    /* Writes the member if the pointer is NULL; when read, its data may have been diverted (sp_reader_divert). */
    int (*write)(sp_writer *writer, const char *name, const void *object);
    bool apart; /* of a series: does not count towards the size of a block */
} sp_member_rule;

typedef struct sp_kind {
    const char *name;
    const sp_symbol *symbols;
    const sp_member_rule *rules;  /* in the order of the file; the last one has no name */
    const sp_fact *meta, *result; /* the keys beside those of all files; NULL: none */
} sp_kind;

extern const sp_kind sp_kind_mesh, sp_kind_sparse, sp_kind_modes, sp_kind_derivatives, sp_kind_snapshots, sp_kind_basis,
    sp_kind_polynomials, sp_kind_polynomial_sums, sp_kind_cubature, sp_kind_training, sp_kind_trajectory,
    sp_kind_scene_trajectory, sp_kind_scene_log, sp_kind_field, sp_kind_pointshell, sp_kind_domains, sp_kind_curve,
    sp_kind_certificate, sp_kind_skin, sp_kind_tensor, sp_kind_system_basis, sp_kind_ensemble;

/* All of them, NULL after the last. */
extern const sp_kind *const sp_kinds[];

/* NULL if there is none of this name; the rule for a member of this name ("q/000017"). */
const sp_kind *sp_kind_find(const char *name);
const sp_member_rule *sp_kind_rule(const sp_kind *kind, const char *member);

/* Returns true if files of this type can have a member of this name, so that readers do not keep others in memory. For
 * the type "" (a foreign file, or one whose type is not known yet) any type counts; for a type without a table, every
 * name is known. */
bool sp_member_known(const char *kind, const char *name);

/* Reads the members of a file into `object` in the order of the table, with all checks of the table. SP_INPUT names
 * member and numbers. The file keeps their memory. */
int sp_kind_read(sp_context *context, sp_file *file, const sp_kind *kind, void *object) SP_MUST_USE;

/* Reads one member by its rule, with numeric extents checked; symbols may have any value. */
int sp_kind_take(sp_context *context, sp_members *members, const sp_kind *kind, const char *name,
                 sp_array **array) SP_MUST_USE;

/* The steps of the above, for files in blocks (series.h): type, shape and values of a member that was found; symbols of
 * the object that are still −1 are set from it. */
int sp_rule_read(sp_context *context, sp_members *members, const sp_kind *kind, const sp_member_rule *rule,
                 const char *name, void *object, sp_array **array) SP_MUST_USE;

/* Returns true if the member belongs in the file according to `with`: `members` of a file that is read; NULL: when
 * writing. */
bool sp_rule_belongs(const sp_kind *kind, const sp_member_rule *rule, const void *object, const json_t *meta,
                     const sp_members *members);

/* The shape of the object's member, −1 for unknown extents; returns its rank. */
int sp_rule_shape(const sp_kind *kind, const char *text, const void *object, int64_t shape[SP_RANK_MAX]);

/* A rule of a member in numbered pieces ("q/B"). */
bool sp_rule_numbered(const sp_member_rule *rule);

/* The name of its member i. */
void sp_rule_member(const sp_member_rule *rule, int64_t i, char name[SP_MEMBER_NAME]);

/* Writes meta, then the members of the object in the order of the table, except numbered ones without `each`: optional
 * ones if the pointer is not NULL and there are values, others if they belong in the file and the pointer is not NULL,
 * since readers refuse a file without a required member. The caller adds the
 * result. */
int sp_kind_write(sp_context *context, sp_writer *writer, const sp_kind *kind, const json_t *meta,
                  const void *object) SP_MUST_USE;

/* Writes one member, whose values must be finite: SP_NUMERICAL if one is not. */
int sp_rule_write(sp_context *context, sp_writer *writer, const sp_kind *kind, const sp_member_rule *rule,
                  const char *name, const void *object, const void *data) SP_MUST_USE;

#endif
