/* The members of every kind of file as tables, one for each kind, from which files are read, checked, written and
 * listed. The pages of the kinds (mesh.md, …) say the same: tests/unit/kinds.c compares. What a table cannot say
 * (an element names a vertex that exists, weights sum to 1) is checked by functions beside it.
 *
 * An object is the struct that a kind is read into: extents are int64_t in it, members pointers. */
#ifndef SP_FORMATS_KINDS_H
#define SP_FORMATS_KINDS_H

#include "formats/file.h"

#include <stddef.h>

/* An extent that snapshots name. Unless it is given or follows, the first member that has it says how much it is; it is
 * 0 where all of them are absent. */
typedef struct sp_symbol {
    const char *name; /* a whole term of a shape, so "3 nv" is one, too; NULL behind the last */
    size_t at;        /* in the object */
    bool given;       /* the object has it before the file is read; −1: any */
    int64_t (*follows)(const void *object);
} sp_symbol;

typedef struct sp_member_rule {
    const char *name;  /* one that ends with "/B" stands for "name/000000", "name/000001", …: blocks, parts */
    const char *shape; /* "nv, 3": numbers and symbols; "": one value */
    enum sp_type type;
    bool fortran; /* C order otherwise, where there are two or more dimensions */
    bool optional;
    const char *with;    /* there with this and only so: a symbol (that is not 0), a member, or a key of meta (that is
                            neither false nor 0 nor empty) */
    const char *unit;    /* NULL: pure numbers */
    const char *meaning; /* the page says more */
    size_t at;           /* of its pointer in the object */

    /* Values are finite, and: */
    bool ranged, above; /* from low (itself excluded with `above`) to high */
    double low, high;   /* INFINITY: any */
    const char *below;  /* a symbol: indices from 0 to less than it */
    bool increasing;    /* strictly; of integers that `ranged` or `below` keeps under 2⁵³ */
    bool symmetric;     /* rank 2, within 1e-9 of the largest entry */
    int (*check)(sp_context *context, const sp_array *array, void *object); /* NULL: that is all */

    /* What few members need: */
    const char *other; /* another shape that will do; the bool at other_at of the object says which one it is. The
                          member that is required decides, those that are optional have the same. */
    size_t other_at;
    void **(*each)(void *object, int64_t i); /* where member i of several has its pointer; NULL behind the last */
    /* Writes it where the pointer is NULL; read, its data may have gone elsewhere (sp_reader_divert). */
    int (*write)(sp_writer *writer, const char *name, const void *object);
    bool apart; /* of a series: does not count for the size of a block */
} sp_member_rule;

typedef struct sp_kind {
    const char *name;
    const sp_symbol *symbols;
    const sp_member_rule *rules; /* in the order of the file; the last one has no name */
} sp_kind;

extern const sp_kind sp_kind_mesh, sp_kind_sparse, sp_kind_modes, sp_kind_derivatives, sp_kind_snapshots, sp_kind_basis,
    sp_kind_polynomials, sp_kind_cubature, sp_kind_training, sp_kind_trajectory, sp_kind_scene_trajectory,
    sp_kind_field, sp_kind_pointshell;

/* All of them, NULL behind the last. */
extern const sp_kind *const sp_kinds[];

/* NULL where there is none of this name; the rule for a member of this name ("q/000017"). */
const sp_kind *sp_kind_find(const char *name);
const sp_member_rule *sp_kind_rule(const sp_kind *kind, const char *member);

/* Whether files of this kind can have a member of this name, so that readers do not keep others in memory. With the
 * kind "" (a foreign file, or one whose kind is not known yet) any kind counts; of a kind that has no table, every name
 * is known. */
bool sp_member_known(const char *kind, const char *name);

/* The members of a file by the table into `object`, in the order of the table, with every check that it names. SP_INPUT
 * names member and numbers. Their memory stays the file's. */
int sp_kind_read(sp_context *context, sp_file *file, const sp_kind *kind, void *object) SP_MUST_USE;

/* One member by its rule, of extents that are numbers in it; symbols may be anything. */
int sp_kind_take(sp_context *context, sp_members *members, const sp_kind *kind, const char *name,
                 sp_array **array) SP_MUST_USE;

/* The pieces of the above, for files in blocks (series.h): type, shape and values of a member that was found, with the
 * symbols that are still −1 in the object set from it. */
int sp_rule_take(sp_context *context, sp_members *members, const sp_kind *kind, const sp_member_rule *rule,
                 const char *name, void *object, sp_array **array) SP_MUST_USE;

/* Whether the member belongs there, going by `with`: `members` of a file that is read; NULL: what is written. */
bool sp_rule_belongs(const sp_kind *kind, const sp_member_rule *rule, const void *object, const json_t *meta,
                     const sp_members *members);

/* The shape of the object's member, −1 where an extent is not known; returns its rank. */
int sp_rule_shape(const sp_kind *kind, const char *text, const void *object, int64_t shape[SP_RANK_MAX]);

/* A rule of a member in numbered pieces ("q/B"). */
bool sp_rule_numbered(const sp_member_rule *rule);

/* The name of its member i. */
void sp_rule_member(const sp_member_rule *rule, int64_t i, char name[SP_MEMBER_NAME]);

/* Writes meta, then the members of the object in the order of the table, but numbered ones without `each`: optional
 * ones where the pointer is not NULL and there are values, others where they belong. The caller ends with the result.
 */
int sp_kind_write(sp_context *context, sp_writer *writer, const sp_kind *kind, const json_t *meta,
                  const void *object) SP_MUST_USE;

/* One member, with values that have to be finite: SP_NUMERICAL where one is not. */
int sp_rule_write(sp_context *context, sp_writer *writer, const sp_kind *kind, const sp_member_rule *rule,
                  const char *name, const void *object, const void *data) SP_MUST_USE;

#endif
