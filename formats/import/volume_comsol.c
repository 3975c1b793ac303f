/* COMSOL's mesh in text, .mphtxt. Line breaks have no meaning, and a comment extends from # to the end of its line. The
 * file has a version, tags, types, and objects; the reader takes the first object of class Mesh. */
#include "formats/import/volume_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TYPES = 100 };

struct comsol {
    struct sp_volume_reader in;
    int64_t version; /* of the class Mesh */
};

static const char SECTION[] = "the mesh";

/* Types beside those of the table of element types. */
static const struct comsol_type {
    const char *name;
    int type;
    int dimension, nodes, corners; /* of elements of fewer dimensions */
} types[] = {{"vtx", SP_VOLUME_PASSED, 0, 1, 1},   {"edg", SP_VOLUME_PASSED, 1, 2, 1},
             {"edg2", SP_VOLUME_PASSED, 1, 3, 1},  {"tri", SP_VOLUME_PASSED, 2, 3, 3},
             {"tri2", SP_VOLUME_PASSED, 2, 6, 3},  {"quad", SP_VOLUME_PASSED, 2, 4, 4},
             {"quad2", SP_VOLUME_PASSED, 2, 9, 4}, {.name = "pyr", SP_VOLUME_PYRAMID}};

static int nodes_of(const struct comsol_type *of)
{
    return of->type == SP_VOLUME_PASSED    ? of->nodes
           : of->type == SP_VOLUME_PYRAMID ? 5
                                           : sp_element_types[of->type].nodes;
}

static int integer(struct comsol *comsol, int64_t *value)
{
    return sp_volume_next_integer(&comsol->in, SECTION, value);
}

/* A count of records, each of at least `each` bytes. */
static int counted(struct comsol *comsol, const char *what, int64_t each, int64_t *count)
{
    int status = integer(comsol, count);
    return status == SP_OK ? sp_volume_check_count(&comsol->in, SECTION, what, *count, each) : status;
}

static int skip(struct comsol *comsol, int64_t count)
{
    double unused;
    int status = SP_OK;
    for (int64_t i = 0; i < count && status == SP_OK; i++)
        status = sp_volume_next_number(&comsol->in, SECTION, &unused);
    return status;
}

/* A text: its length and its characters, which have no blanks here. */
static int text(struct comsol *comsol, sp_word *word)
{
    int64_t length;
    int status = integer(comsol, &length);
    if (status == SP_OK)
        status = sp_volume_next_word(&comsol->in, SECTION, word);
    if (status == SP_OK && word->length != length)
        return sp_volume_fail_here(&comsol->in, "a text has %lld bytes where %lld are announced",
                                   (long long)word->length, (long long)length);
    return status;
}

static int parse_header(struct comsol *comsol)
{
    int64_t major, minor, count;
    sp_word word = {0};
    char shown[SP_TEXT_QUOTE];

    SP_PASS(integer(comsol, &major));
    SP_PASS(integer(comsol, &minor));

    /* Two lists of texts, tags and types of the objects, are not used. */
    for (int list = 0; list < 2; list++) {
        SP_PASS(counted(comsol, "tags", 3, &count));
        for (int64_t i = 0; i < count; i++)
            SP_PASS(text(comsol, &word));
    }

    SP_PASS(skip(comsol, 3));
    SP_PASS(text(comsol, &word));
    if (!sp_word_is(word, "Mesh"))
        return sp_volume_fail_here(&comsol->in, "the first object is of class '%s', not Mesh",
                                   sp_word_show(word, shown));

    SP_PASS(integer(comsol, &comsol->version));
    if (comsol->version < 1 || comsol->version > 4)
        return sp_volume_fail_here(&comsol->in, "version %lld of the class Mesh is not supported (1 to 4 are)",
                                   (long long)comsol->version);
    return SP_OK;
}

static int parse_vertices(struct comsol *comsol, int64_t *lowest)
{
    int64_t dimension, count;

    SP_PASS(integer(comsol, &dimension));
    if (dimension != 3)
        return sp_volume_fail_here(&comsol->in, "the dimension is %lld instead of 3", (long long)dimension);

    SP_PASS(counted(comsol, "vertices", 6, &count));
    SP_PASS(integer(comsol, lowest));
    struct sp_volume_node *node = sp_list_add(&comsol->in.nodes, count, sizeof *node);
    SP_PASS(sp_allocated(comsol->in.context, node));

    for (int64_t i = 0; i < count; i++) {
        sp_volume_more(&comsol->in);
        node[i].id = *lowest + i;
        node[i].where = sp_volume_here(&comsol->in);
        for (int k = 0; k < 3; k++)
            SP_PASS(sp_volume_next_number(&comsol->in, SECTION, &node[i].x[k]));
    }
    return SP_OK;
}

/* The nodes of COMSOL's elements: the corners, then all others, both along x, then y, then z of its natural
 * coordinates. place [nodes] receives the place of each of our nodes. */
static void find_order(int type, int place[])
{
    const sp_element_type *of = &sp_element_types[type];
    for (int a = 0; a < of->nodes; a++) {
        const bool corner = a < of->corners;
        double xi[3], other[3];
        sp_element_node(type, a, xi);

        /* The place is the number of corners, or of other nodes, that come before this one. */
        place[a] = corner ? 0 : of->corners;
        for (int b = corner ? 0 : of->corners; b < (corner ? of->corners : of->nodes); b++) {
            sp_element_node(type, b, other);
            int k = 2;
            while (k > 0 && other[k] == xi[k])
                k--;
            place[a] += other[k] < xi[k];
        }
    }
}

/* The parameters of elements of fewer dimensions on their curve or surface: one line for each, of one or two values for
 * each node whatever the count before them says. */
static int skip_parameters(struct comsol *comsol)
{
    int64_t each, count;
    sp_word rest;
    SP_PASS(integer(comsol, &each));
    SP_PASS(counted(comsol, "parameters", 2, &count));
    for (int64_t i = 0; i < count; i++) {
        if (!sp_volume_more(&comsol->in))
            return sp_volume_fail_end(&comsol->in, SECTION);
        sp_text_rest(&comsol->in.text, &rest);
    }
    return SP_OK;
}

/* The solid elements of one type. */
static int parse_solids(struct comsol *comsol, int64_t count, int64_t nodes, int type)
{
    static const int around[5] = {0, 1, 3, 2, 4}; /* of a pyramid, whose base is in the order of a grid */
    int place[SP_ELEMENT_NODES];

    if (type >= 0)
        find_order(type, place);
    for (int64_t i = 0; i < count; i++) {
        int64_t read[SP_ELEMENT_NODES], node[SP_ELEMENT_NODES];
        sp_volume_more(&comsol->in);
        const struct sp_volume_element element = {
            .id = comsol->in.elements.count + 1, .where = sp_volume_here(&comsol->in), .type = type};

        for (int64_t a = 0; a < nodes; a++)
            SP_PASS(integer(comsol, &read[a]));
        for (int a = 0; a < nodes; a++)
            node[a] = read[type >= 0 ? place[a] : around[a]];

        SP_PASS(sp_volume_add_element(&comsol->in, element, node));
    }
    return SP_OK;
}

/* Points, curves and faces. */
static int parse_parts(struct comsol *comsol, int64_t count, const struct comsol_type *of)
{
    int64_t node[9];
    for (int64_t i = 0; i < count; i++) {
        for (int a = 0; a < of->nodes; a++)
            SP_PASS(integer(comsol, &node[a]));
        SP_PASS(sp_volume_add_part(&comsol->in, of->dimension, 0, of->nodes, of->corners, node));
    }
    return SP_OK;
}

/* The geometric entities of the `count` elements that were added last. Domains are numbered from 1; points, curves and
 * faces from 0, but from 1 in COMSOL's windows and here. */
static int parse_entities(struct comsol *comsol, int64_t count, const struct comsol_type *of)
{
    const bool solid = of->type != SP_VOLUME_PASSED;
    const int64_t pieces = solid ? (of->type == SP_VOLUME_PYRAMID ? 2 : 1) : of->dimension == 2 ? 1 : of->nodes;
    int64_t entities, entity;

    SP_PASS(counted(comsol, "geometric entities", 2, &entities));
    if (!solid && entities == 0)
        return SP_OK;
    if (entities != count)
        return sp_volume_fail_here(&comsol->in, "%lld elements have %lld geometric entities", (long long)count,
                                   (long long)entities);

    struct sp_volume_element *element = comsol->in.elements.data;
    struct sp_volume_part *part = comsol->in.parts.data;
    const int64_t first = (solid ? comsol->in.elements.count : comsol->in.parts.count) - pieces * count;

    for (int64_t i = 0; i < entities; i++) {
        SP_PASS(integer(comsol, &entity));
        if (!solid && (entity < 0 || entity == INT64_MAX))
            return sp_volume_fail_here(&comsol->in, "the geometric entity %lld", (long long)entity);
        for (int64_t p = 0; p < pieces; p++)
            if (solid)
                element[first + pieces * i + p].group = entity;
            else
                part[first + pieces * i + p].group = entity + 1;
    }
    return SP_OK;
}

static int parse_elements(struct comsol *comsol, const struct comsol_type *of)
{
    int64_t count, pairs;
    const int nodes = nodes_of(of);

    SP_PASS(counted(comsol, "elements", 2 * nodes, &count));
    SP_PASS(of->type == SP_VOLUME_PASSED ? parse_parts(comsol, count, of)
                                         : parse_solids(comsol, count, nodes, of->type));
    if (comsol->version < 4)
        SP_PASS(skip_parameters(comsol));
    SP_PASS(parse_entities(comsol, count, of));

    if (comsol->version < 4) {
        SP_PASS(counted(comsol, "pairs", 4, &pairs));
        SP_PASS(skip(comsol, 2 * pairs));
    }
    return SP_OK;
}

static int parse_type(struct comsol *comsol)
{
    const struct comsol_type *of = NULL;
    struct comsol_type solid;
    sp_word name = {0};
    char shown[SP_TEXT_QUOTE];
    int64_t nodes;

    SP_PASS(text(comsol, &name));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (sp_word_is(name, types[i].name))
            of = &types[i];
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (sp_element_types[t].comsol && sp_word_is(name, sp_element_types[t].comsol)) {
            solid = (struct comsol_type){.type = t};
            of = &solid;
        }
    if (!of)
        return sp_volume_fail_here(&comsol->in, "elements of type %s are not supported", sp_word_show(name, shown));

    SP_PASS(integer(comsol, &nodes));
    if (nodes != nodes_of(of))
        return sp_volume_fail_here(&comsol->in, "elements of type %s have %lld nodes instead of %lld",
                                   sp_word_show(name, shown), (long long)nodes, (long long)nodes_of(of));
    return parse_elements(comsol, of);
}

int sp_volume_parse_comsol(sp_context *context, const char *bytes, int64_t count, const sp_material *material,
                           sp_mesh *mesh, sp_notes *notes)
{
    struct comsol comsol = {0};
    int64_t lowest, kinds;
    int status;

    SP_TRY(sp_volume_start(&comsol.in, context, bytes, count, "", NULL, mesh, notes));
    sp_text_open(&comsol.in.text, bytes, count, "#", "", false);
    SP_TRY(parse_header(&comsol));
    SP_TRY(parse_vertices(&comsol, &lowest));

    SP_TRY(integer(&comsol, &kinds));
    if (kinds < 0 || kinds > MOST_TYPES) {
        status = sp_volume_fail_here(&comsol.in, "%lld types of elements", (long long)kinds);
        goto done;
    }
    for (int64_t i = 0; i < kinds; i++)
        SP_TRY(parse_type(&comsol));

    SP_TRY(sp_volume_build_groups(&comsol.in, "domain", material, 0, NULL, mesh));
    SP_TRY(sp_volume_add_sets(&comsol.in, (const char *const[]){"point", "edge", "boundary"}, 0, NULL, 0, mesh));
done:
    return sp_volume_finish(&comsol.in, status, mesh);
}
